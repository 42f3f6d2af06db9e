"""Step sizes that conditions admit between two values: found by sampling, and searched."""

import math

import pytest

from bounds.theorem import theorem
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.stepsizes.sampled import sampled


def descent(right, over, *, gap="2/5"):
    """The condition gamma (1 - L gamma/2) L > gap holds between 1 -+ sqrt(1 - 2 gap), over L."""
    return theorem(
        title="A coordinate at a time", algorithm="greedy-coordinate-descent", left="gap", right=right, over=over,
        assumptions=["smoothness", "full_participation"], conditions=[f"gamma_u*(1 - gamma_u*L/2)*L > {gap}"],
        settings={"n": 1, "m": "n", "sigma_u": 0}, vocabulary="textbook", key="own/two-sided",
    )  # fmt: skip


@pytest.mark.parametrize("L", [1e-3, 1.0, 50.0])
def test_the_ends_are_the_roots(L):
    """By hand: (1 -+ sqrt(1/5))/L for 2/5."""
    found = sampled(descent("F_0", "every_round"), "gamma_u", {"L": L, "n": 1.0, "m": 1.0})
    assert found.low == pytest.approx((1 - math.sqrt(0.2)) / L, rel=1e-6)
    assert found.high == pytest.approx((1 + math.sqrt(0.2)) / L, rel=1e-6)
    assert found.low * (1 - found.low * L / 2) * L > 0.4 < found.high * (1 - found.high * L / 2) * L


def test_nothing_is_made_up_where_nothing_is_admissible():
    """The left side is at most 1/2."""
    assert sampled(descent("F_0", "every_round", gap="3/5"), "gamma_u", {"L": 1.0, "n": 1.0, "m": 1.0}) is None


def test_values_without_an_upper_end_are_open():
    """Where a condition fails nowhere above, nothing limits the step."""
    statement = theorem(
        title="Large steps", algorithm="fedavg", left="G_u", right="F_0", over="last_round", assumptions=["smoothness"],
        conditions=["gamma_u >= 1/L"], settings={"K": 1}, vocabulary="textbook", key="own/large",
    )  # fmt: skip
    found = sampled(statement, "gamma_u", {"L": 2.0})
    assert found.low == pytest.approx(0.5, rel=1e-6)
    assert math.isinf(found.high)


def test_a_step_size_chosen_later_has_to_exist():
    """gamma_u eta_u >= 1 and eta_u <= 1/10 leave gamma_u >= 10."""
    statement = theorem(
        title="Two steps", algorithm="fedavg", left="G_u", right="F_0", over="last_round", assumptions=["smoothness"],
        conditions=["gamma_u*eta_u >= 1", "eta_u <= 1/10"], settings={"K": 1}, vocabulary="textbook", key="own/two",
    )  # fmt: skip
    found = sampled(statement, "gamma_u", {"L": 1.0}, ["eta_u"])
    assert found.low == pytest.approx(10.0, rel=0.5)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_statements_with_such_conditions_are_searched(seed):
    """A wrong one is accused, a right one is not; no instance had been admissible."""
    budget = Budget(60, by_term=False, functions=False, later=0)
    wrong, right = (
        falsify(descent(*each), budget, seed=seed) for each in (("F_0/10", "last_round"), ("F_0", "every_round"))
    )
    assert wrong.outcome is Outcome.VIOLATED
    assert right.outcome is Outcome.INCONCLUSIVE
    assert right.applicable > 20


def test_parameters_that_the_statement_sets_are_left_alone():
    """Every instance had another q, which contradicts it."""
    statement = theorem(
        title="Half of the coordinates", algorithm="compressed-sgd", left="gap", right="F_0/100", over="last_round",
        assumptions=["smoothness", "full_participation"], conditions=["gamma_u <= 1/(4*L)"],
        settings={"K": 1, "n": 1, "m": 1, "sigma_u": 0, "q": "1/2"}, vocabulary="textbook", key="own/half",
    )  # fmt: skip
    found = falsify(statement, Budget(40, by_term=False, functions=False, later=0))
    assert found.outcome is Outcome.VIOLATED
    assert found.verdict.values["q"] == 0.5
