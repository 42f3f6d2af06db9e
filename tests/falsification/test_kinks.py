"""Functions with kinks in the search: what only they refute, true statements left alone, readable counterexamples."""

import dataclasses

import pytest

import bounds
from bounds.theorem import theorem
from ratecheck.falsification.cube_search import Budget, from_second_round
from ratecheck.falsification.falsify import falsify
from ratecheck.falsification.not_convex import with_not_convex
from ratecheck.falsification.shrink import shrunk
from ratecheck.families.piecewise import PIECEWISE
from ratecheck.outcome import Outcome
from ratecheck.problems import Piecewise
from ratecheck.views.checks.counterexample import WrittenCounterexample
from ratecheck.views.checks.falsify import falsified_fields, falsified_text

CONVEX = ["smoothness", "convexity", "full_participation", "no_personal"]
DOMINATED = ["smoothness", "polyak_lojasiewicz", "full_participation", "no_personal"]
LONGEST = ("gamma_u == 1/L",)
ALONE = Budget(1000, by_term=False, functions=False)


def descent(right, left="gap", over="every_round", assumptions=CONVEX, conditions=LONGEST):
    """A theorem on gradient descent."""
    return theorem(
        title="Gradient descent", algorithm="fedavg", left=left, right=right, over=over, assumptions=list(assumptions),
        conditions=list(conditions), settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
        key="own/descent",
    )  # fmt: skip


# No quadratic contradicts these: with a step of 1/L the gap of one is at most L R^2/(5 t) or so, and less.
WRONG = {
    "values": descent("L*dist2_0/(5*t + 2)"),
    "gradients": descent("2*L*F_0/(3*t + 1)", left="G_u", over="every_round_but_first"),
}
TRUE = {
    "values": descent("L*dist2_0/(4*t + 2)"),
    "gradients": descent("2*L*F_0/(2*t + 1)", left="G_u"),
    "dominated": descent("(1 - mu_PL/L)**t*F_0", assumptions=DOMINATED),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_wrong_rate_of_gradient_descent_is_refuted_by_a_slope_that_ends_in_a_bowl(seed):
    """By one client with one kink in two rounds, whatever the seed."""
    found = shrunk(falsify(WRONG["values"], ALONE, seed=seed))
    assert found.outcome is Outcome.VIOLATED
    instance, verdict = found.shrunk.instance, found.shrunk.verdict
    assert isinstance(instance.problem, Piecewise)
    assert (instance.problem.n, instance.problem.d, instance.given["T"]) == (1, 1, 2)
    text = WrittenCounterexample(instance, verdict).text
    assert text.startswith("one client, f = ")
    assert " for x >= " in text
    assert "left " in text
    assert r"\begin{cases}" in WrittenCounterexample(instance, verdict).latex


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            descent("L*dist2_0/(5*(T - 1) + 2)", over="last_round"),
            "one client, f = -x for x <= 2, x^2/2 - 3x + 2 for x >= 2, T = 2",
        ),
        (
            descent("4*L*F_0/(7*(T - 1)/2 + 2)", left="G_u", over="best_round", assumptions=[CONVEX[0], *CONVEX[2:]]),
            "one client, f = x^2/2 - x for x <= 1/2, -x^2/2 - 1/4 for 1/2 <= x <= 1, x^2/2 - 2x + 3/4 for x >= 1",
        ),
    ],
    ids=["last", "best"],
)
def test_last_and_best_rounds_are_those_of_more_than_one(statement, sentence):
    """One round reaches both bounds; L R^2/(4 T - 2) and 4 L F_0/(3 T - 1) are tight, so 5 and 7/2 are too much."""
    found = shrunk(falsify(statement, ALONE))
    assert found.outcome is Outcome.VIOLATED
    assert WrittenCounterexample(found.shrunk.instance, found.shrunk.verdict).text.startswith(sentence)


def test_gradients_at_the_rate_of_quadratics_are_refuted():
    """The squared gradient is largest on a slope, too."""
    assert falsify(WRONG["gradients"], ALONE).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name == "gradients" else name for name in TRUE]
)
def test_true_rates_are_left_alone_and_nearly_reached(name):
    """Of rounds after the first, since all of them are equal before it. Gradients need the longest search."""
    found = falsify(TRUE[name], ALONE if name == "gradients" else dataclasses.replace(ALONE, evaluations=100))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert 0.99 < found.tightness <= 1 + 1e-5
    assert found.verdict.worst.round != 0


def test_a_bound_that_is_reached_at_the_start_does_not_end_the_search():
    """Claims about every round are looked at from the second one on, other claims as they are."""
    assert from_second_round(WRONG["gradients"]) is None
    later = from_second_round(TRUE["values"])
    assert [claim.metric.over.value for claim in later.claims] == ["every round from the second on"]


def test_what_was_searched_is_said():
    """Families, sizes, whether searches that share nothing agree, and what none of them is."""
    text = falsified_text(falsify(TRUE["values"], Budget(60, by_term=False, functions=False)))
    assert "  among   quadratics, n in {1, 2, 3, 10}, d in {1, 2}, T to " in text
    functions = "convex piecewise quadratic functions with 2 breakpoints, without noise"
    assert f"  among   {functions}, n in {{1, 2, 3}}, d in {{1}}, T to 500" in text
    assert "  missed  functions that are not quadratic, with noise or with sampled clients" in text
    assert "functions that are not convex" not in text
    silent = descent("L*dist2_0/(4*t + 2)", assumptions=[CONVEX[0], *CONVEX[2:]])
    text = falsified_text(falsify(silent, Budget(20, by_term=False, functions=False)))
    assert "  missed  functions that are not convex: what speaks of a minimum is taken to mean convex ones" in text


def local_steps(drift):
    """FedAvg on clients of bounded dissimilarity, which may have curvatures of any sign; 4/3 is enough."""
    return theorem(
        title="FedAvg with local steps", algorithm="fedavg", left="G_u", over="mean_of_rounds",
        right={"gap": "8/3*F_0/(gamma_u*K*T)", "drift": f"{drift}*L**2*gamma_u**2*K*(K - 1)*b**2"},
        assumptions=["smoothness", "full_participation", "no_personal", "dissimilarity"],
        conditions=["gamma_u <= 1/(2*K*L)"], settings={"m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
        key="own/local-steps",
    )  # fmt: skip


def test_clients_beside_a_hill_drift_farther_than_convex_ones():
    """An eighth of L^2 gamma^2 K (K - 1) b^2 is twice what convex clients need, and half of what others do."""
    found = falsify(local_steps("1/8"), Budget(100, by_term=False, functions=False))
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.family is PIECEWISE
    assert min(found.instance.problem.curvatures.ravel()) < 0
    assert falsify(local_steps("4/3"), Budget(100, by_term=False, functions=False)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.every(3)
@pytest.mark.parametrize("key", ["distance-recursion-quadratic", "distance-step-quadratic", "quadratic-gap"])
def test_a_statement_about_quadratics_is_searched_among_those_alone(key):
    """Its title says so; functions with kinks would refute it."""
    found = falsify(bounds.get(f"textbook/{key}"), Budget(150, by_term=False, functions=False))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert not any("piecewise" in family for family in found.searched.families)


def last_gradient(*more):
    """L^2 ||x^0 - x^*||^2/T^2 is a bound of the last squared gradient of convex functions."""
    return theorem(
        title="Gradient descent, last gradient", algorithm="fedavg", left="G_u", over="last_round",
        right="L**2*dist2_0/T**2", assumptions=["smoothness", "full_participation", "no_personal", *more],
        conditions=["gamma_u == 1/L"], settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
        key="own/last-gradient",
    )  # fmt: skip


def test_a_forgotten_convexity_is_no_violation_and_is_said():
    """What speaks of a minimum may mean convex functions: the function that is not is shown, exactly."""
    few = Budget(60, by_term=False, functions=False)
    found = with_not_convex(falsify(last_gradient(), few), 0)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert (found.not_convex.instance.problem.curvatures < 0).any()
    text = falsified_text(found)
    assert "no convexity is assumed, and it fails without" in text
    assert "left 64 > right 441/16" in " ".join(text.split())
    assert falsified_fields(found)["not_convex"]["text"] in " ".join(text.split())
    assumed = falsify(last_gradient("convexity"), few)
    assert with_not_convex(assumed, 0) is assumed


def test_what_holds_without_convexity_has_no_such_function():
    """||grad f||^2 <= 2 L (f - f*) for every smooth function."""
    found = falsify(bounds.get("textbook/self-bounding"), Budget(30, by_term=False, functions=False))
    assert with_not_convex(found, 0).not_convex is None
