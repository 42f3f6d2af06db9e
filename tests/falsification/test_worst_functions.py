"""Beyond quadratics: wrong theorems that no quadratic contradicts, and true ones that are left alone."""

from __future__ import annotations

import dataclasses
import json
import warnings

import pytest

import bounds
from bounds.errors import InputError
from bounds.theorem import theorem
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.performance_estimation.worst_case import worst_case
from ratecheck.falsification.performance_estimation.worst_functions import worst_functions
from ratecheck.outcome import Outcome
from ratecheck.plain import plain
from ratecheck.views.checks.falsify import falsified_fields, falsified_text

CONVEX = ["smoothness", "convexity", "full_participation", "no_personal"]
STRONGLY = ["smoothness", "strong_convexity", "full_participation", "no_personal"]
QUICKLY = Budget(60, by_term=False)
FAST = ("gamma_u <= 1/L", "gamma_u >= 9/10/L")


@pytest.fixture(autouse=True)
def pepit():
    """Skips where the extra is not installed."""
    pytest.importorskip("clarabel", reason="needs the extra pep")
    with warnings.catch_warnings(action="ignore"):
        pytest.importorskip("PEPit", reason="needs the extra pep")


def descent(right, left="gap", over="every_round_but_first", assumptions=CONVEX, conditions=("gamma_u <= 1/L",)):
    """A theorem on gradient descent."""
    return theorem(
        title="Gradient descent", algorithm="fedavg", left=left, right=right, over=over, assumptions=assumptions,
        conditions=list(conditions), settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
        key="mine/descent",
    )  # fmt: skip


# Gradient descent is slowest on a slope that ends in a bowl; quadratics need less than half of these.
WRONG = {
    "values": descent("dist2_0/(6*gamma_u*t)"),
    "gradients": descent("2*L*F_0/(3*t + 1)", left="G_u", over="every_round", conditions=FAST),
}
TRUE = {
    "values": descent("dist2_0/(4*gamma_u*t)"),
    "gradients": descent("2*F_0/(gamma_u*(2*t + 1))", left="G_u", over="every_round"),
    "values, strongly convex": descent("dist2_0*L/2*(1 - gamma_u*mu)**(2*t)", assumptions=STRONGLY),
    "distances": descent("0", left="nearer", over="every_round", conditions=("gamma_u <= 2/L",)),
}


@pytest.mark.parametrize(
    ("method", "right", "worst"),
    [("fast-gradient", "L*R_0**2/(T + 1)**2", 1.170831), ("optimized-gradient", "L*R_0**2/(T + 1)**2", 0.639599)],
)
def test_the_last_iterate(method, right, worst):
    """After four steps: half of Nesterov's bound is exceeded; 1/(2 theta_4^2) of the optimized method is known."""
    last = theorem(f"last gap <= {right}", method=method, given="smooth, convex", when="gamma == 1/L")
    found = worst_case(last, {"K": 1, "T": 4, "L": 1, "dist2_0": 1})
    assert found.upper.left / found.lower.right == pytest.approx(worst, rel=1e-4)
    assert found.violated is (worst > 1)


def test_a_method_takes_as_many_local_steps_as_it_does():
    """With four the bound of the optimized method, which takes one, would be exceeded."""
    rest = {"given": "smooth, convex", "when": "gamma == 1/L"}
    right = theorem("last gap <= L*R_0**2/(T + 1)**2", method="optimized-gradient", **rest)
    with pytest.raises(InputError, match="takes K=1 local step"):
        worst_case(right, {"K": 4, "T": 2, "L": 1, "dist2_0": 1})
    assert {case.case.values["K"] for case in worst_functions(right).cases} == {1.0}


def test_step_sizes_with_roots_are_prescribed():
    """Whether a condition holds is decided by the numbers of the run: R_0 is the root of one of them."""
    steps = "gamma == R_0*(T - t)/(M*sqrt(T + 1)**3)"
    half = theorem("last gap <= M*R_0/(2*sqrt(T + 1))", method="gd", given="convex", when=steps)
    named = theorem("last gap <= M*R_0/(2*sqrt(T + 1))", method="linearly-decreasing-steps", given="convex",
                    when="gamma == R_0/(M*sqrt(T + 1))")  # fmt: skip
    assert worst_functions(half).violated
    assert worst_functions(named).violated


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_theorem_that_quadratics_do_not_contradict_is_violated(name, monkeypatch):
    """The search finds nothing on quadratics; the answer names the run and how to repeat it, and saves no quadratic."""
    monkeypatch.setattr("ratecheck.families.piecewise.has_pieces", lambda _: False)
    alone = falsify(WRONG[name], Budget(60, by_term=False, functions=False))
    assert alone.outcome is Outcome.INCONCLUSIVE
    found = falsify(WRONG[name], QUICKLY)
    assert found.outcome is Outcome.VIOLATED
    assert found.by_function
    assert not found.by_instance
    assert found.tightness > 1
    text = falsified_text(found)
    assert "the worst convex function, by its values and gradients:" in text
    assert "--pep n=1" in text
    assert "the worst instance" not in text
    fields = json.loads(json.dumps(plain(falsified_fields(found))))
    assert fields["verdict"] == "VIOLATED"
    assert fields["counterexample"] is None
    assert fields["functions"]["worst"]["instance"]["gradients"]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", TRUE)
def test_a_true_theorem_is_left_alone(name):
    """With what the worst functions reach, which is all of it or nearly."""
    found = falsify(TRUE[name], QUICKLY)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.functions.cases
    assert "worst functions of small runs" in falsified_text(found)
    assert name == "distances" or 0.3 < found.functions.tightness <= 1 + 1e-9


def test_what_is_not_asked_says_why():
    """Functions that need not be convex, and methods that are not modelled."""
    plain = descent("2*F_0/(gamma_u*T)", left="G_u", over="mean_of_rounds", assumptions=CONVEX[:1] + CONVEX[2:])
    assert "need not be convex" in worst_functions(plain).reason
    upper = dataclasses.replace(bounds.get("simfbo/theorem-1"), title="Two levels, convex")
    found = worst_functions(upper)
    assert found.worst is None
    assert found.reason == "simfbo/theorem-1 has no worst case here: the run of simfbo is not modelled"


def test_the_same_seed_gives_the_same_answer():
    """Solver and search are functions of their input."""
    first, again = (worst_functions(WRONG["values"]).worst.to_json() for _ in range(2))
    for each in (first, again):
        each.pop("seconds")
        for row in each["rounds"]:
            row.pop("seconds")
    assert first == again
