"""Replicates that are kept from one attempt to the next: only where nothing else would be played."""

import numpy as np
import pytest

import bounds
from ratecheck.engines import setup
from ratecheck.engines.kinds.moment_engine import MomentEngine
from ratecheck.engines.monte_carlo import bilevel_rounds, stepwise
from ratecheck.engines.monte_carlo.played import REACH, Played
from ratecheck.participation import Uniform
from ratecheck.problems import Bilevel, Quadratic
from ratecheck.verification.verify import Options, verify

PROBLEM = Bilevel.synthetic(4, 3, 2, condition=3, seed=1)
SIZES = {"eta_x": 0.1, "eta_y": 0.1, "eta_v": 0.1, "gamma_x": 0.1, "gamma_y": 0.2, "gamma_v": 0.3}


def ready(r, **sizes):
    """A run of a ball of radius r."""
    return setup.prepare(
        "simfbo", PROBLEM, Uniform(4, 2), K=3, T=6, noise={"sigma_f": 0.3, "sigma_g": 0.2},
        step_sizes={**SIZES, **sizes, "r": r},
    )  # fmt: skip


def play(played, run, wanted=range(3), record=bilevel_rounds.simulate):
    """The replicates, and whether they were simulated."""
    called = []

    def simulate():
        called.append(run)
        return record(run, seed=5, wanted=wanted)

    return played.run(run, record.__name__, wanted, simulate), bool(called)


@pytest.mark.parametrize("record", [bilevel_rounds.simulate, bilevel_rounds.steepest])
def test_a_ball_that_nobody_leaves(record):
    """Runs of two balls are one where both are large, and it is what another simulation of the second one gives."""
    played = Played()
    first, _ = play(played, ready(50.0), record=record)
    again, simulated = play(played, ready(40.0), record=record)
    assert not simulated
    assert first.records[REACH].max() < 40.0
    for name, values in record(ready(40.0), seed=5, wanted=range(3)).records.items():
        np.testing.assert_array_equal(again.records[name], values, err_msg=name)


@pytest.mark.parametrize("radii", [(50.0, 0.1), (0.1, 50.0)], ids=["smaller", "larger"])
@pytest.mark.parametrize("record", [bilevel_rounds.simulate, bilevel_rounds.steepest])
def test_a_ball_that_is_left(record, radii):
    """Where the projection acts with one of the radii each has its own run."""
    played = Played()
    for r in radii:
        found, simulated = play(played, ready(r), record=record)
        assert simulated
        alone = record(ready(r), seed=5, wanted=range(3))
        np.testing.assert_array_equal(found.records["steepest"], alone.records["steepest"])


def test_other_step_sizes():
    """Another step size is another run, and so are other replicates."""
    played = Played()
    play(played, ready(50.0))
    assert play(played, ready(50.0), range(3, 5))[1]
    assert not play(played, ready(45.0))[1]
    assert play(played, ready(45.0, gamma_x=0.2))[1]
    assert play(played, ready(45.0))[1]


def test_replicates_of_which_no_reach_is_known():
    """What is played without its reach is another run for another radius, until the reach of all of it is known."""
    played = Played()

    def plain(run, seed, wanted):
        return stepwise.simulate(run, seed=seed, first_replicate=wanted.start, replicates=len(wanted))

    assert play(played, ready(50.0), record=plain)[1]
    assert play(played, ready(45.0), record=plain)[1]
    assert play(played, ready(45.0), record=bilevel_rounds.steepest)[1]
    assert not play(played, ready(40.0), record=plain)[1]


def test_an_attempt_plays_no_run_twice(monkeypatch):
    """A verdict whose L_f is found along its run: the second attempt is the first one's run, with other bounds."""
    count = []
    simulate = bilevel_rounds.simulate

    def counted(run, **given):
        count.append(given["wanted"])
        return simulate(run, **given)

    monkeypatch.setattr(bilevel_rounds, "simulate", counted)
    given = {"P": 2.0, "tau": [1, 4, 2, 3], "T": 10.0, "sigma_f": 0.3, "sigma_g": 0.2}
    verdict = verify(bounds.get("simfbo/lemma-8"), PROBLEM, given, Options(replicates=64))
    assert verdict.constants["L_f"].value > 0
    assert len(count) == len(set(count)) > 0


def test_a_run_is_followed_once_for_its_step_sizes():
    """The last one is kept by what is computed of it, and not where a step size differs."""
    played, followed = Played(), []

    def follow(run, what="expectation"):
        return played.once(run, what, lambda: followed.append(what) or len(followed))

    assert (follow(ready(1.0)), follow(ready(1.0))) == (1, 1)
    assert follow(ready(1.0), "box") == 2
    assert follow(ready(1.0, eta_x=0.2)) == 3
    assert follow(ready(2.0)) == 4
    assert followed == ["expectation", "box", "expectation", "expectation"]


def test_attempts_at_a_run_without_randomness_follow_it_once(monkeypatch):
    """A verdict whose b is found along its run, of which no step size depends on b."""
    followed, attempts, own = [], [], MomentEngine.follow
    monkeypatch.setattr(MomentEngine, "follow", lambda self, *rest: followed.append(rest) or own(self, *rest))
    once = Played.once

    def counted(self, run, what, follow):
        attempts.append(what)
        return once(self, run, what, follow)

    monkeypatch.setattr(Played, "once", counted)
    problem = Quadratic(np.array([[[1.0]], [[0.5]]]), np.array([[1.0], [-2.0]]), 1)
    given = {"T": 20, "K": 1, "m": 2, "gamma": 0.02, "sigma_u": 0, "sigma_v": 0}
    verdict = verify(bounds.get("pfl/theorem-3.7"), problem, given)
    assert verdict.constants["b"].value > 0
    assert attempts.count(MomentEngine.name) > len(followed) == 1
