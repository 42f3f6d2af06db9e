"""Proximal steps of functions that are weakly convex alone, whose minimum lies where they turn up."""

from typing import ClassVar

import pytest

from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsify import falsify
from ratecheck.outcome import Outcome
from ratecheck.views.checks.counterexample import WrittenCounterexample

_SENTENCE = "mean step2 <= F_0/({}*T)"
_WHEN = {"method": "proximal-point", "given": "weakly convex", "when": "lambda_ > rho_weak"}


def test_weak_convexity_is_not_forgotten():
    """Along -x^2/2 a step is up to twice as long as along functions that are convex."""
    found = falsify(theorem(_SENTENCE.format("lambda_"), **_WHEN), Budget(40, by_term=False))
    assert found.verdict is not None
    assert found.verdict.outcome is Outcome.VIOLATED
    assert (
        "of functions that turn up sharply beyond the box" in WrittenCounterexample(found.instance, found.verdict).text
    )
    right = falsify(theorem(_SENTENCE.format("(lambda_ - rho_weak/2)"), **_WHEN), Budget(60, by_term=False))
    assert right.tightness <= 1 + 1e-9


class _Proximal(OneStep):
    """The mean of the clients' proximal steps."""

    name = "averaged-proximal-steps"
    title = "averaged proximal steps"
    step_sizes = ("lambda_",)
    oracle = "prox"
    server: ClassVar = {"x": "u"}

    def step(self, local, gradient, p):
        return {**local, "x": gradient["u"]}


@pytest.fixture
def averaged(monkeypatch):
    """The method is registered for the test."""
    monkeypatch.setitem(
        METHODS,
        "averaged-proximal-steps",
        Method("averaged-proximal-steps", "averaged", _Proximal(), {"K": 1}, personal=False),
    )


@pytest.mark.usefixtures("averaged")
def test_proximal_steps_that_do_not_meet():
    """Clients of unequal curvature, which no scout sees, lead away from the minimiser by L zeta/lambda."""
    more = {"method": "averaged-proximal-steps", "given": "smooth, full participation", "when": "lambda_ >= 5*L"}
    gap, apart = "4*lambda_*F_0/T", "4*L**2/(lambda_ - L)**2*zeta**2"
    found = falsify(theorem(f"mean grad2 <= {gap} + {apart}/10**6", **more), Budget(30, by_term=False))
    assert found.verdict is not None
    assert found.verdict.outcome is Outcome.VIOLATED
    right = falsify(theorem(f"mean grad2 <= {gap} + {apart}", **more), Budget(60, by_term=False))
    assert right.tightness <= 1 + 1e-9
