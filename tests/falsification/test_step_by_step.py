"""Piecewise quadratic functions for methods that only the step engine follows: what they refute, and leave alone."""

from typing import ClassVar

import pytest

from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsify import falsify
from ratecheck.families.piecewise import STEP_BY_STEP
from ratecheck.families.registry import later_shapes, shapes
from ratecheck.outcome import Outcome
from ratecheck.problems import Piecewise

FEW, MORE = Budget(10, by_term=False, functions=False), Budget(30, by_term=False, functions=False)


def apart(right):
    """How far clients on a graph are from their mean where gradients are bounded (Yuan, Ling, Yin, 2016)."""
    return theorem(
        f"consensus2 <= {right}", method="dsgd", given="smooth, bounded gradients", when="lambda_W < 1", key="own/apart"
    )


def test_a_power_that_is_lost_on_graphs():
    """Gradients that pull clients apart for as long as a graph needs to mix."""
    found = falsify(apart("(gamma*G*lambda_W)**2/(1 - lambda_W)"), FEW)
    assert found.outcome is Outcome.VIOLATED
    assert isinstance(found.instance.problem, Piecewise)
    assert found.shape.graph


def test_with_its_power_nothing_is_found():
    """The theorem is right, and most instances meet what it assumes."""
    found = falsify(apart("(gamma*G*lambda_W/(1 - lambda_W))**2"), MORE)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.applicable > MORE.evaluations // 2


class Waning(OneStep):
    """Gradient descent whose step in round t is gamma/sqrt(t + 1)."""

    step_sizes = ("gamma_u",)
    varying = ("share",)
    server: ClassVar[dict[str, str]] = {"x": "u"}

    def coefficients(self, t, T, p):
        return {"share": (t + 1) ** -0.5}

    def aggregate(self, server, total, p):
        return {"x": server["x"] + p["share"] * (total["x"] / p["m"] - server["x"])}


@pytest.fixture
def waning(monkeypatch):
    """Theorems about it, by right side."""
    monkeypatch.setitem(METHODS, "waning", Method("waning", "waning", Waning(), {"K": 1}, personal=False))

    def claim(right, given="smooth, convex"):
        return theorem(
            f"last gap <= {right}", method="waning", given=given, when="gamma == 1/L, n == 1, m == 1", key="own/waning"
        )

    return claim


def test_values_that_only_a_slope_keeps_high(waning):
    """On a slope as long as the run f falls no faster than steps add up, which is 2 sqrt(T) at most."""
    found = falsify(waning("L*dist2_0/(8*sqrt(T) + 4)"), FEW)
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.family == STEP_BY_STEP
    # ||x - x*|| does not grow, f falls in every round, and the steps add up to 2 (sqrt(T + 1) - 1)/L at least.
    assert falsify(waning("L*dist2_0/(4*(sqrt(T + 1) - 1))"), FEW).outcome is not Outcome.VIOLATED


def test_searched_last(waning):
    """They do not take evaluations of other families, but where these have nothing that the statement assumes."""
    statement = waning("L*dist2_0/(4*(sqrt(T + 1) - 1))")
    assert STEP_BY_STEP not in [each.family for each in shapes(statement)]
    assert STEP_BY_STEP in [each.family for each in later_shapes(statement)]
    bounded = shapes(apart("(gamma*G*lambda_W/(1 - lambda_W))**2"))
    assert {each.family for each in bounded} == {STEP_BY_STEP}
    assert all(each.graph or each.n == 1 for each in bounded)


def test_not_of_what_is_drawn():
    """Compression is random, also without noise."""
    drawn = theorem("last gap <= F_0", method="compressed-sgd", given="smooth, convex, full participation")
    assert STEP_BY_STEP not in [each.family for each in later_shapes(drawn)]
