"""The search on min-max problems: wrong theorems about operators are refuted, true ones are left alone."""

from __future__ import annotations

import dataclasses

import pytest
import sympy as sp

import ratecheck as rc
from bounds.papers.classics.statements import CHAPTERS
from bounds.theorem import theorem
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.shrink import shrink
from ratecheck.outcome import Outcome
from ratecheck.problems import MinMax, Quadratic
from ratecheck.verification import instance as instances
from ratecheck.views.checks.counterexample import WrittenCounterexample

MONOTONE, STRONG, COCOERCIVE = (
    ("lipschitz_operator", "monotone_operator"),
    ("lipschitz_operator", "strongly_monotone_operator"),
    ("cocoercive_operator",),
)
ONE = {"n": 1, "m": 1, "K": 2, "sigma_u": 0}
ALL = {"K": 1, "m": "n", "sigma_u": 0}
EXPANSION = "1 - 2*gamma_u*mu + gamma_u**2*L**2"


def about(algorithm, assumptions, right, *conditions, settings=ALL, left="dist2", over="every_round", **more):
    """A theorem about operators and everybody."""
    return theorem(
        title="A theorem",
        algorithm=algorithm,
        assumptions=[*assumptions, "full_participation", "no_personal"],
        left=left,
        over=over,
        right=right,
        conditions=conditions,
        settings=settings,
        vocabulary="textbook",
        **more,
    )


WRONG = {
    "gda turns outwards": about("gda", MONOTONE, "dist2_0", "gamma_u <= 1/L"),
    "without the square": about("gda", STRONG, "(1 - gamma_u*mu)**t*dist2_0", "gamma_u <= 1/L"),
    "a smaller square": about("gda", STRONG, f"({EXPANSION} - gamma_u**2*L**2/10)**t*dist2_0", "gamma_u <= 1/L"),
    "steps beyond 2/L": about("gda", COCOERCIVE, "dist2_0", "gamma_u <= 21/(10*L)"),
    "extragradient beyond 1/L": about("extragradient", MONOTONE, "dist2_0", "gamma_u <= 11/(10*L)", settings=ONE),
    "each client by itself": about("extragradient", MONOTONE, "dist2_0", "gamma_u <= 1/L", settings={**ALL, "K": 2}),
    "alternating steps": about("alternating-gda", MONOTONE, "dist2_0", "gamma_u <= 1/L", settings=ONE),
    "optimistic beyond": about("optimistic-gradient", MONOTONE, "(1 + 2*gamma_u**2*L**2)*dist2_0", "gamma_u <= 1/L"),
}
TRUE = {
    "gda": about("gda", STRONG, f"({EXPANSION})**t*dist2_0"),
    "gda, cocoercive": about("gda", COCOERCIVE, "dist2_0", "gamma_u <= 2/L"),
    "extragradient": about("extragradient", MONOTONE, "dist2_0", "gamma_u <= 1/L", settings=ONE),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_theorem_is_refuted_and_its_counterexample_is_small_and_kept(name, tmp_path):
    """Few rounds of two variables, proved in rationals; saved, read and asked again it says the same."""
    found = falsify(WRONG[name], Budget(300, by_term=False, functions=False, later=0))
    assert found.outcome is Outcome.VIOLATED
    small = shrink(found.instance)
    assert small.after <= small.before
    assert small.instance.problem.d <= 2
    proof = small.instance.proof()
    assert proof.outcome is Outcome.VIOLATED
    small.instance.save(tmp_path / "it.json")
    again = instances.load(tmp_path / "it.json", WRONG[name])
    assert again.verdict().outcome is Outcome.VIOLATED
    assert again.fields() == small.instance.fields()


@pytest.mark.every(2)
@pytest.mark.parametrize("name", TRUE)
def test_a_true_theorem_is_left_alone(name):
    """And it is nearly reached, so that the search has seen the hard instances; saddles are among them."""
    found = falsify(TRUE[name], Budget(200, by_term=False, functions=False, later=0))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.tightness == pytest.approx(1, abs=1e-3)
    assert any("min-max problems" in each for each in found.searched.families)
    assert any("neither affine nor gradients" in each for each in found.searched.missed)


def test_a_counterexample_that_no_function_is_says_its_saddle():
    """Gradients of convex functions never turn: only a min-max problem refutes it, and its f is printed."""
    found = falsify(WRONG["gda turns outwards"], Budget(300, by_term=False, functions=False, later=0))
    small = shrink(found.instance)
    assert isinstance(small.instance.problem, MinMax)
    assert "x y" in WrittenCounterexample(small.instance, small.verdict).text


def test_statements_about_functions_see_no_saddles():
    """They would be about something else."""
    function = about("gda", ("smoothness", "convexity"), "dist2_0", "gamma_u <= 2/L")
    found = falsify(function, Budget(60, by_term=False, functions=False, later=0))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert not any("min-max" in each for each in found.searched.families)
    assert isinstance(found.instance.problem, Quadratic) or not isinstance(found.instance.problem, MinMax)


def test_partial_gradients_are_looked_at_on_saddles_alone():
    """Ordinary problems have no variables x and y."""
    found = falsify(WRONG["alternating steps"], Budget(40, by_term=False, functions=False, later=0))
    assert [each.partition(",")[0] for each in found.searched.families] == [
        "quadratic min-max problems of pairs of variables"
    ]


CLASSICS = {each.statement.key: each.statement for each in CHAPTERS["saddle_points"]}


@pytest.mark.every(2)
@pytest.mark.parametrize("key", CLASSICS)
def test_a_classic_holds_and_says_too_much_with_two_fifths_of_its_right_side(key):
    """On the default min-max problem by the exact engine; the search refutes what is smaller."""
    verdict = rc.verify(key, T=20)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.verdict.engine == "exact"
    assert verdict.verdict.problem.startswith("minmax")
    (claim,) = CLASSICS[key].claims
    less = {name: sp.Rational(2, 5) * term for name, term in claim.terms.items()}
    false = dataclasses.replace(CLASSICS[key], claims=(dataclasses.replace(claim, terms=less),))
    found = falsify(false, Budget(150, by_term=False, functions=False, later=0))
    assert found.outcome is Outcome.VIOLATED


def test_the_factor_of_a_step_is_reached():
    """1 - 2 gamma mu + gamma^2 L^2, the known worst case, by mu I and a turn, in every round."""
    mu, turn, gamma = 0.2, 0.6, 0.3
    tight = MinMax([[[mu]]], [[[turn]]], [[[mu]]], [[1.0]], [[-2.0]])
    for key in ("classics/gda-strongly-monotone-distances", "classics/gda-strongly-monotone-noise"):
        noisy = {"sigma_u": 0.5} if key.endswith("noise") else {}
        verdict = rc.verify(key, problem=tight, T=6, gamma_u=gamma, **noisy).verdict
        assert verdict.outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE)
        assert verdict.worst.left == pytest.approx(verdict.worst.right, rel=1e-9)
        assert verdict.values["L"] == pytest.approx((mu**2 + turn**2) ** 0.5)
