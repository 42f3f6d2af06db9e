"""The worst case over sums of a smooth and a convex function: known values, exact instances, and what is refused."""

from __future__ import annotations

import dataclasses
import importlib
import warnings

import numpy as np
import pytest
from extras import needs_pep

import ratecheck as rc
from bounds.papers.classics.symbols import VOCABULARY
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.performance_estimation.interpolation import Answers, recheck
from ratecheck.falsification.performance_estimation.worst_case import worst_case

pytestmark = needs_pep

SUM = ["smoothness", "convexity", "convex_part", "full_participation", "no_personal"]
GIVEN = {"n": 1, "T": 4, "L": 2, "gamma_u": 0.5, "dist2_0": 3}


def own(right, left="gap", over="every_round_but_first", algorithm="proximal-gradient", assumptions=SUM):
    """A statement about the proximal gradient method."""
    settings = {"K": 1, "m": "n", "sigma_u": 0, **({"eta_u": 1} if algorithm == "fedavg" else {})}
    return theorem(
        title="Two parts", algorithm=algorithm, assumptions=assumptions, left=left, over=over, right=right,
        conditions=["gamma_u <= 2/L"], settings=settings, vocabulary=VOCABULARY, key="mine/sum",
    )  # fmt: skip


def test_two_parts_are_worse_than_one():
    """L R^2/(4 t) with a convex part, L R^2/(4 t + 2) without."""
    both = worst_case(own("L*dist2_0/(4*t)"), GIVEN).enclosures[-1]
    alone = [each for each in SUM if each != "convex_part"]
    smooth = worst_case(own("L*dist2_0/(4*t)", algorithm="fedavg", assumptions=alone), GIVEN).enclosures[-1]
    assert both.lower.left == pytest.approx(0.5, rel=1e-3)
    assert both.upper.left == pytest.approx(0.5, rel=1e-3)
    assert smooth.upper.left == pytest.approx(6 / 14, rel=1e-3)


def test_a_bound_that_is_too_good_is_refuted_and_the_instance_is_checked_exactly():
    """Two functions, each interpolable in its class; saved and read again they say the same."""
    statement = own("L*dist2_0/(5*t)")
    found = worst_case(statement, GIVEN)
    assert found.violated
    assert len(found.instance.gradients) == 2
    assert any("plus a convex one" in note for note in found.notes)
    again = Answers.load(found.instance.save(), statement)
    comparison = found.worst.comparison
    assert recheck(again, comparison).left == found.lower.left


@pytest.mark.parametrize(
    ("part", "message"), [(0, "no convex L-smooth function 0 has"), (1, "no convex function 1 has")]
)
def test_an_instance_of_other_functions_is_refused(part, message):
    """Each part is checked in its own class: heights that are moved break one of the two."""
    found = worst_case(own("L*dist2_0/(4*t)"), GIVEN)
    heights = [np.array(each) for each in found.instance.heights]
    heights[part][-1] += 10.0
    with pytest.raises(InputError, match=message):
        recheck(dataclasses.replace(found.instance, heights=tuple(heights)), found.worst.comparison)


def test_a_smooth_part_may_be_steeper_where_it_is_not_flat():
    """With curvature mu of the smooth part distances contract by (1 - gamma mu) a step, which is reached."""
    given = {**GIVEN, "mu": 0.2, "T": 3}
    found = worst_case(own("(1 - gamma_u*mu)**(2*t)*dist2_0", "dist2", assumptions=[*SUM, "strong_convexity"]), given)
    assert found.worst.tight
    assert not found.violated


def test_the_answer_is_in_the_units_of_the_question():
    """A gap has degrees (1, 0)."""
    plain = worst_case(own("L*dist2_0/(4*t)"), GIVEN)
    scaled = worst_case(own("L*dist2_0/(4*t)"), {**GIVEN, "L": 2 * 7 / 9, "gamma_u": 0.5 * 9 / 7, "dist2_0": 27})
    assert scaled.lower.left == pytest.approx(7 * plain.lower.left, rel=1e-5)


@pytest.mark.parametrize(
    ("statement", "given", "message"),
    [
        (own("L*dist2_0", algorithm="fedavg"), {}, "goes with a method that takes proximal steps of it"),
        (own("L*dist2_0", assumptions=SUM[:2] + SUM[3:]), {}, "goes with a method that takes proximal steps of it"),
        (own("L**2*dist2_0", "G_u"), {}, "f has a second part, which need not be smooth, and it speaks of gradients"),
        (own("L*dist2_0", assumptions=[*SUM, "noise"]), {}, "its gradients are exact"),
        (own("L*dist2_0"), {"n": 2}, "one smooth part is followed"),
        (own("L*dist2_0", assumptions=[SUM[0], *SUM[2:]]), {}, "beside a convex part the other one is convex"),
    ],
)
def test_what_is_not_modelled_is_refused(statement, given, message):
    """In one line."""
    with pytest.raises(InputError, match=message):
        worst_case(statement, {**GIVEN, **given})


def test_no_problem_has_a_second_part():
    """Engines refuse the method, and `verify` has no certificate of the part."""
    problem, full = rc.problems.Quadratic.synthetic(n=2, d=2, shared=2), rc.participation.Trace.full(2)
    for run in (rc.exact, rc.simulate):
        with pytest.raises(InputError, match="takes steps of a second part of f, which no problem has"):
            run("proximal-gradient", problem, full, K=1, T=3, gamma_u=0.1)
    verdict = rc.verify(own("L*dist2_0/(4*t)"), T=5)
    assert verdict.outcome.name == "NOT_APPLICABLE"
    assert "a convex part is not certified" in str(verdict)


@pytest.mark.parametrize(
    ("example", "key", "asked"),
    [
        ("proximal_gradient", "proximal-gradient-distances", {"gamma": 0.5, "mu": 0.2}),
        ("accelerated_proximal_gradient", "fast-proximal-gradient-values", {"mu": 0}),
        ("accelerated_proximal_gradient_simplified", "fast-proximal-gradient-simplified-values", {"mu": 0}),
    ],
)
def test_pepit_finds_the_same(example, key, asked):
    """Its examples on sums of two functions, at two steps."""
    with warnings.catch_warnings(action="ignore"):
        module = importlib.import_module(f"PEPit.examples.composite_convex_minimization.{example}")
        ask = next(value for name, value in vars(module).items() if name.startswith("wc_"))
        theirs, _ = ask(**asked, L=2, n=2, wrapper="cvxpy", solver="CLARABEL", verbose=0)
    steps = {"gamma_u": 0.5, "mu": 0.2} if "gamma" in asked else {}
    found = worst_case(rc.get(f"classics/{key}"), {"n": 1, "T": 3, "L": 2, "dist2_0": 1, **steps}).enclosures[-1]
    assert found.lower.left == pytest.approx(theirs, rel=1e-3)
    assert found.upper.left == pytest.approx(theirs, rel=1e-3)
