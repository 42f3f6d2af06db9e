"""What the FedSUM ledger computes with, against other ways to the same numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.draw import Draw
from bounds.ledger.participation import ParticipationMatrix
from bounds.papers.fedsum.proofs.patterns import cyclic, every_reshuffling, expected_delay, independent, uniform
from bounds.papers.fedsum.proofs.runs import ALGORITHMS, small_run
from bounds.papers.fedsum.proofs.windows import visits


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("index", range(8))
def test_runs_agree_with_the_exact_engine(algorithm, index):
    """E||grad f(x^t)||^2 of every round is that of the engine, which works with moments and not with named noises."""
    run = small_run(Draw(index, "engine"), algorithm, capped=True)
    p = run.p
    problem = rc.problems.Quadratic(
        np.array(p.h, float).reshape(p.N, 1, 1), np.array(p.g, float).reshape(p.N, 1), shared=1
    )
    trace = rc.participation.Trace(np.array(p.who.matrix))
    settings = {"K": p.K, "eta_g": float(p.eta_g), "eta_l": float(p.eta_l), "sigma": float(p.noise)}
    found = rc.exact(algorithm, problem, trace, **settings, x0=np.array([float(p.x0)])).metric
    assert float(run.metric()) == pytest.approx(np.mean(found), rel=1e-9, abs=1e-12)


def test_visits_are_the_last_two_rounds_of_a_client():
    """By hand, for three rounds of two clients."""
    who = ParticipationMatrix(((True, False), (False, True), (True, True)))
    assert list(visits(who)) == [
        (0, 0, 0, -1),
        (0, 1, 0, -1),
        (1, 1, 1, -1),
        (0, 2, 2, 0),
        (1, 2, 2, 1),
    ]


def test_longest_delay_counts_the_round_after_the_last_by_hand():
    """Everybody always, and a client that comes in the first of two rounds."""
    assert (ParticipationMatrix(((True,),)).tau_max, ParticipationMatrix(((True,),)).tau_max_T) == (0, 1)
    assert (ParticipationMatrix(((True,), (False,))).tau_max, ParticipationMatrix(((True,), (False,))).tau_max_T) == (
        1,
        2,
    )


def test_delays_of_the_patterns_by_hand():
    """N = 2, S = 1, two rounds: somebody is away in round 0 and, half the time, in both."""
    assert expected_delay(uniform(2, 1, 2)) == Fraction(3, 2)
    assert expected_delay(independent((Fraction(1, 3),), 2)) == Fraction(2, 3) ** 2 * 2 + 2 * Fraction(2, 9)
    assert cyclic(5, 2, 3).matrix[2] == (True, False, False, False, True)
    law = every_reshuffling(3, 2, 2)
    assert len(law) == math.factorial(3)
    assert all(len(who.seen(1)) == 3 for _, who in law)


def test_every_step_belongs_to_a_statement_and_has_a_name_of_its_own():
    """Ids are unique, and what a step belongs to is in the catalogue."""
    ledger = steps("fedsum")
    assert len({step.id for step in ledger}) == len(ledger)
    assert {step.of for step in ledger} <= set(bounds.keys())
