"""Constants that every run draws: delays, participants, what replicates show. Their means are no numbers of a run."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import bounds
from bounds.theorem import symbol, theorem
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.errors import InputError
from ratecheck.exponents.hard_instances import check_covered
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.problems import Certificate, Constant, Quadratic
from ratecheck.settings.drawn import beyond_means
from ratecheck.verification.along_trajectory import _with_constants
from ratecheck.verification.verdict import Verdict
from ratecheck.verification.verify import verify

P, GAMMA, T = 0.9, 0.9, 2
GIVEN = {"K": 1, "T": T, "delta": P, "gamma_u": GAMMA}
ONE = Quadratic(np.ones((1, 1, 1)), np.zeros((1, 1)), 1)
START = {"x0": np.array([1.0])}
LARGEST, MEAN = (
    symbol(name, "largest delay", fact=name, role="setting", domain="nonnegative")
    for name in ("tau_max", "mean_tau_max")
)
AVERAGE = symbol("tau_avg", "mean delay", fact="tau_avg", role="setting", domain="nonnegative")
DELTA = symbol("delta", "least probability", fact="delta", role="setting")


def descent(right, *symbols, conditions=("gamma_u <= 1/L",), law="independent_participation"):
    """One client that takes a step where it is there."""
    return theorem(
        title="Descent", algorithm="fedavg", left="dist2", over="last_round", right=right, conditions=list(conditions),
        assumptions=["smoothness", "strong_convexity", law, "no_personal"], vocabulary="textbook", key="own/descent",
        settings={"K": 1, "eta_u": 1, "sigma_u": 0, "n": 1}, symbols=[*symbols, DELTA],
    )  # fmt: skip


def runs():
    """Every participation in rounds 0 ... T: its probability, tau_max, tau_avg, and (x^{T-1})^2 from 1 on x^2/2."""
    for there in itertools.product((True, False), repeat=T + 1):
        last, delays = -1, []
        for t, present in enumerate(there):
            last = t if present else last
            delays.append(t - last)
        square = (1 - GAMMA) ** (2 * sum(there[: T - 1]))
        yield np.prod([P if each else 1 - P for each in there]), max(delays), np.mean(delays[:T]), square


def mean(of):
    """Over the runs."""
    return sum(probability * of(*each) for probability, *each in runs())


def asked(statement, **given):
    """The verdict on f = x^2/2."""
    return verify(statement, ONE, {**GIVEN, **given}, start=START)


POWER = "(1 - gamma_u*mu)**(2*(T - 1 - tau_max))*dist2_0"


def test_a_right_theorem_that_is_convex_in_a_delay_is_not_accused():
    """It holds in every run, and so in expectation; at the mean of the delay its bound is below the left side."""
    assert all(square <= (1 - GAMMA) ** (2 * (T - 1 - most)) for _, most, _, square in runs())
    at_mean = (1 - GAMMA) ** (2 * (T - 1 - mean(lambda most, *_: most)))
    assert mean(lambda _, __, square: square) > 2 * at_mean
    found = asked(descent(POWER, LARGEST))
    assert found.outcome is Outcome.NOT_APPLICABLE
    (reason,) = found.reasons
    assert reason.startswith("tau_max is no one number: it differs from run to run under bernoulli participation")
    assert "fact='mean_tau_max'" in reason
    assert falsify(descent(POWER, LARGEST), Budget(20)).outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("factor", [1.0, 0.01])
def test_a_bound_that_is_linear_in_a_delay_is_compared_in_expectation(factor):
    """Then the mean of the bound is the bound at the mean."""
    found = asked(descent(f"{factor}*(1 + tau_max)*dist2_0", LARGEST))
    left, right = mean(lambda _, __, square: square), mean(lambda most, *_: factor * (1 + most))
    assert found.outcome is (Outcome.HOLDS if left <= right else Outcome.VIOLATED)
    assert found.worst.left == pytest.approx(left, rel=1e-12)
    assert found.worst.right == pytest.approx(right, rel=1e-9)


def test_the_expectation_of_a_delay_has_a_symbol_of_its_own():
    """What is claimed of it may be a condition, and any bound: this one is wrong."""
    found = asked(descent(POWER.replace("tau_max", "mean_tau_max"), MEAN, conditions=["gamma_u*mean_tau_max <= 1/L"]))
    expected = mean(lambda most, *_: most)
    assert found.constants["mean_tau_max"].value == pytest.approx(expected, rel=1e-9)
    assert found.outcome is Outcome.VIOLATED
    assert found.worst.right == pytest.approx((1 - GAMMA) ** (2 * (T - 1 - expected)), rel=1e-9)


@pytest.mark.parametrize(
    ("right", "symbols", "conditions", "reason"),
    [
        ("dist2_0", [LARGEST], ["gamma_u*tau_max <= 1/L"], '"gamma_u*tau_max <= 1/L" is meant in every run'),
        ("(1 + tau_max*tau_avg)*dist2_0", [LARGEST, AVERAGE], [], "not linear"),
        ("max(1, tau_max)*dist2_0", [LARGEST], [], "not linear"),
        ("sqrt(1 + tau_avg)*dist2_0", [AVERAGE], [], "not linear"),
        ("dist2_0*square", [LARGEST, symbol("square", "its square", equals="1 + tau_max**2")], [], "not linear"),
        ("(1 + 2*tau_max - tau_avg)*dist2_0", [LARGEST, AVERAGE], [], ""),
    ],
    ids=["condition", "product", "max", "root", "hidden", "linear"],
)
def test_what_means_say_of_a_claim(right, symbols, conditions, reason):
    """Only what is linear in all of them, in formulas that stand for others too; a condition is meant surely."""
    statement = descent(right, *symbols, conditions=conditions)
    names = [each.quantity.name for each in symbols if each.fact]
    assert reason in beyond_means(statement, names)
    assert bool(beyond_means(statement, names)) is bool(reason)
    assert (asked(statement).outcome is Outcome.NOT_APPLICABLE) is bool(reason)


def test_a_participation_that_is_given_has_the_delay_itself():
    """A statement about any participation is asked of each run, with its own delay."""
    statement = descent(POWER, LARGEST, law="oblivious_participation")
    found = verify(
        statement, ONE, {"K": 1, "T": T, "gamma_u": GAMMA}, participation=Trace([[False], [True], [True]]), start=START
    )
    assert (found.outcome, found.values["tau_max"]) == (Outcome.HOLDS, 1)


def test_both_sides_in_expectation_by_assumption():
    """Corollary 4.1 is concave in the mean delay, which stands for its expectation; a convex bound is refused."""
    statement = bounds.get("fedsum/corollary-4.1-repaired")
    assert beyond_means(statement, ["tau_max", "tau_avg"]) == ""
    (claim,) = statement.claims
    convex = dataclasses.replace(claim, terms={"all": 2 ** statement.vocabulary["tau_max"].symbol})
    assert "not linear" in beyond_means(dataclasses.replace(statement, claims=(convex,)), ["tau_max", "tau_avg"])


def test_hard_instances_set_no_delay_that_is_drawn():
    """Otherwise a delay of their own stands on the right of a run of another law."""
    sampled = theorem(
        title="Sampled", algorithm="fedavg", left="G_u", over="mean_of_rounds", vocabulary="textbook",
        assumptions=["smoothness", "uniform_sampling", "no_personal"], right="2*L*F_0/2**tau_max",
        settings={"K": 1, "eta_u": 1, "sigma_u": 0}, symbols=[LARGEST], key="own/sampled",
    )  # fmt: skip
    with pytest.raises(InputError, match="tau_max in it, which no hard instance"):
        check_covered(sampled)


ROUNDS = 30


@pytest.mark.parametrize(
    ("participation", "m", "outcome"),
    [
        (Trace.bernoulli([0.3] * 4), 4, Outcome.NOT_APPLICABLE),
        (Trace([[True, False, False, False]] * (ROUNDS - 1) + [[True] * 4]), 4, Outcome.NOT_APPLICABLE),
        (Trace([[True, False, False, False]] * ROUNDS), 4, Outcome.NOT_APPLICABLE),
        (Trace([[True, False, False, False]] * ROUNDS), 1, Outcome.HOLDS),
    ],
    ids=["drawn", "differs", "fewer", "as many"],
)
def test_m_is_how_many_take_part_in_every_round(participation, m, outcome):
    """Where it is on the right side: sigma^2/m is the noise of m clients, and one alone has more."""
    sgd = theorem(
        title="SGD", algorithm="fedavg", vocabulary="textbook", left="G_u", over="mean_of_rounds", key="own/sgd",
        assumptions=["smoothness", "noise", "oblivious_participation", "no_personal"],
        right="2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2/m", conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "eta_u": 1},
    )  # fmt: skip
    problem = Quadratic(np.ones((4, 1, 1)), np.zeros((4, 1)), 1)
    given = {"m": m, "K": 1, "T": ROUNDS, "gamma_u": 1.0, "sigma_u": 1.0}
    found = verify(sgd, problem, given, participation=participation, start={"x0": np.array([0.1])})
    assert found.outcome is outcome
    assert all("clients take part in a round, says the statement" in reason for reason in found.reasons)


@pytest.mark.parametrize("replicates", [None, 8])
def test_what_replicates_show_is_not_all_that_a_run_may_draw(replicates):
    """A violation rests on it, and says so; where nothing is random it is the constant."""
    statement = bounds.get("simfbo/theorem-1")
    verdict = Verdict(statement, Outcome.VIOLATED, "bilevel", "step", {}, replicates=replicates)
    held = {"L_f": Constant("L_f", 2.0, Certificate.TRAJECTORY, "measured")}
    found = _with_constants(verdict, held, {"L_f": MEASURES["L_f"]})
    assert found.supposes == (() if replicates is None else ("no run needs more than L_f=2",))
