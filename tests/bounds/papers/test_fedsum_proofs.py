"""What the FedSUM ledger computes with, against other ways to the same numbers."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.draw import Draw, expect, expect_square
from bounds.ledger.fault import by_step
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.step import Scalar
from bounds.papers.fedsum.proofs.shared import drift
from bounds.papers.fedsum.proofs.shared.patterns import cyclic, every_reshuffling, expected_delay, independent, uniform
from bounds.papers.fedsum.proofs.shared.runs import ALGORITHMS, small_run, total
from bounds.papers.fedsum.proofs.shared.windows import visits
from ratecheck.auditing.dispatch import decide


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


def _drift_sums(run):
    """What the lines about the drift speak of, with the symbols' names; sums over t, i in A_t and k."""
    p, found = run.p, dict.fromkeys(("T1", "T2", "T3", "T4", "T5", "first", "server", "between"), Fraction(0))
    for i, _, a, b in visits(run.who):
        points, start, before = run.points[i, a], run.x[a], run.at(b)
        found["between"] += expect_square(start - before)
        window = range(a - 1, a) if p.algorithm == "fedsum" else range(b, a)
        server = Fraction(1, len(window)) * total(run.y[max(q, -1)] for q in window)
        for k in range(p.K):
            slopes = [p.grad(i, x) for x in points[:k]]
            noise = [g - s for g, s in zip(run.stochastic[i, a], slopes, strict=False)]
            found["T1"] += expect_square(total(noise))
            found["T2"] += expect_square(total(s - p.grad(i, start) for s in slopes))
            found["T3"] += k**2 * expect_square(p.grad(i, start) - p.grad(i, before))
            found["server"] += k**2 * expect_square(server)
            if b < 0:
                found["first"] += k**2 * expect_square(p.grad(i, run.x[0]))
            else:
                old = total(p.grad(i, before) - p.grad(i, x) for x in run.points[i, b])
                found["T4"] += Fraction(k**2, p.K**2) * expect_square(old)
                found["T5"] += Fraction(k**2, p.K**2) * expect_square(run.noises(i, b))
    settings = {"N": p.N, "K": p.K, "T": p.T, "L": p.L, "sigma": p.sigma, "eta": p.eta, "eta_l": p.eta_l, "F_0": p.F_0}
    return {**found, **settings, "X": run.drifts(), "Gamma": run.gamma(), "tau_max": run.who.tau_max}


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
@pytest.mark.parametrize("index", range(12))
def test_the_lines_of_the_drift_hold_on_runs(algorithm, index):
    """What the repaired eqs. (59) and (95) are put together from, each line by itself, without a cap on the steps."""
    values = _drift_sums(small_run(Draw(index, "lines"), algorithm))
    claim = drift.from_lines()
    for line in (*claim.hypotheses, claim):
        gap = line.right - line.left
        put = {s: sp.Rational(str(Fraction(values[s.name]))) for s in gap.free_symbols}
        assert gap.xreplace(put) >= 0, line


@pytest.mark.parametrize("index", range(20))
def test_what_the_forms_suppose_of_windows_and_noise_holds_on_runs(index):
    """In every round: noise of steps adds up, is not correlated with what is older, and windows contain others."""
    run = small_run(Draw(index, "windows"))
    p, who = run.p, run.who
    for t in run.rounds():
        delay = who.delay(t)
        rounds = [q for i in range(p.N) for q in range(who.last(i, t), t) if q >= 0]
        window = sum((expect_square(run.aggregate(q)) for q in range(t - delay, t) if q >= 0), Fraction(0))
        assert sum(expect_square(run.aggregate(q)) for q in rounds) <= p.N * window
        assert sum(expect_square(run.noise(q)) for q in rounds) <= p.N * delay * p.N * p.K * p.sigma**2
        singles = [
            g - p.grad(i, x)
            for i in run.seen(t)
            for g, x in zip(run.stochastic[i, who.last(i, t)], run.points[i, who.last(i, t)], strict=True)
        ]
        assert expect_square(run.noise(t)) == sum(map(expect_square, singles)) <= len(singles) * p.sigma**2
        assert expect(run.full(t - delay), run.noise(t)) == 0
        differences = [p.grad(i, run.x[t]) - p.grad(i, run.at(who.last(i, t))) for i in range(p.N)]
        moves = [run.x[t] - run.at(who.last(i, t)) for i in range(p.N)]
        assert sum(map(expect_square, differences)) <= p.L**2 * sum(map(expect_square, moves))


def test_every_step_belongs_to_a_statement_and_has_a_name_of_its_own():
    """Ids are unique, and what a step belongs to is in the catalogue."""
    ledger = steps("fedsum")
    assert len({step.id for step in ledger}) == len(ledger)
    assert {step.of for step in ledger} <= set(bounds.keys())


REFUTED = [step for step in steps("fedsum") if isinstance(step.check, Scalar) and step.id in by_step("fedsum")]


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, id=step.id.partition("/")[2], marks=[pytest.mark.long] * (step.id == "fedsum/lemma-e.6-8"))
        for step in REFUTED
    ],
)
def test_a_counterexample_has_delays_and_logarithms_of_a_run(step):
    """Delays are whole numbers up to T with a mean that is no larger, and no logarithm is a number of its own."""
    found = decide(step.check)
    assert found.false
    point = {name: Fraction(value) for name, value in re.findall(r"(\S+)=([-\d/]+)(?:,|:)", found.evidence)}
    assert not [name for name in point if "log" in name]
    longest = point.get("tau_max")
    if longest is not None:
        assert longest.denominator == 1
        assert longest <= point.get("T", longest)
        assert point.get("tau_avg", 0) <= longest
        assert point.get("max(1,tau_avg)", 1) <= max(1, longest)
