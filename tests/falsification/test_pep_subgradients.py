"""The worst case over convex functions with bounded subgradients: known values, units, and what is refused."""

from __future__ import annotations

import dataclasses
import importlib
import math
import warnings

import numpy as np
import pytest
from extras import needs_pep

import ratecheck as rc
from bounds.papers.classics.symbols import VOCABULARY
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.performance_estimation.interpolation import recheck
from ratecheck.falsification.performance_estimation.worst_case import worst_case

LIPSCHITZ = ["convexity", "bounded_subgradients", "full_participation", "no_personal"]
pytestmark = needs_pep


def own(right, left="gap", over="best_round", assumptions=LIPSCHITZ, **settings):
    """A statement on the subgradient method with one step a round."""
    return theorem(
        title="Subgradients", algorithm="fedavg", assumptions=assumptions, left=left, over=over, right=right,
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0, **settings}, vocabulary=VOCABULARY, key="mine/best",
    )  # fmt: skip


BEST = "dist2_0/(2*gamma_u*T) + gamma_u*M**2/2"


@pytest.mark.parametrize("T", [1, 3])
def test_the_best_value_is_that_of_the_literature(T):
    """M R/sqrt(T) at the step R/(M sqrt(T)), from below on a checked function and from above."""
    given = {"n": 1, "T": T, "M": 3, "dist2_0": 4, "gamma_u": 2 / (3 * math.sqrt(T))}
    found = worst_case(own(BEST), given)
    assert found.upper.safe
    assert found.worst.tight
    assert found.lower.left == pytest.approx(6 / math.sqrt(T), rel=1e-5)
    assert found.upper.left == pytest.approx(6 / math.sqrt(T), rel=1e-5)


def test_a_bound_that_is_a_tenth_too_good_is_refuted():
    """By a function given by its values and subgradients, which is checked in rationals."""
    given = {"n": 1, "T": 3, "M": 1, "dist2_0": 1, "gamma_u": 1 / math.sqrt(3)}
    found = worst_case(own(f"9/10*({BEST})"), given)
    assert found.violated
    steepest = max(float(np.sum(g**2)) for g in found.instance.gradients[0])
    assert 0.99 <= steepest <= 1
    assert any("bounded subgradients" in note for note in found.notes)


def test_an_instance_with_a_steeper_slope_is_no_instance():
    """The exact check has the bound on subgradients, not the solver alone."""
    given = {"n": 1, "T": 2, "M": 1, "dist2_0": 1, "gamma_u": 0.5}
    found = worst_case(own(BEST), given)
    case = dataclasses.replace(found.case, values={**found.case.values, "M": 0.9})
    with pytest.raises(InputError, match=r"\|\|g\|\|\^2 <= M\^2"):
        recheck(dataclasses.replace(found.instance, case=case))


def test_the_answer_is_in_the_units_of_the_question():
    """A gap has degrees (1, 0), M (1, -1) and a step (-1, 2)."""
    plain = worst_case(own(BEST), {"n": 1, "T": 3, "M": 1, "dist2_0": 1, "gamma_u": 0.4})
    scaled = worst_case(own(BEST), {"n": 1, "T": 3, "M": 5 / 7, "dist2_0": 49, "gamma_u": 0.4 * 49 / 5})
    assert scaled.lower.left == pytest.approx(5 * plain.lower.left, rel=1e-6)
    assert scaled.upper.left == pytest.approx(5 * plain.upper.left, rel=1e-6)


def test_a_limit_on_the_gap_is_a_limit_too():
    """A step lets values rise by at most gamma M^2. The instance has no lower value than those that the run sees."""
    found = worst_case(
        own("F_0 + gamma_u*M**2", over="every_round"), {"n": 1, "T": 2, "M": 2, "F_0": 3, "gamma_u": 0.25}
    )
    last = found.enclosures[-1]
    assert last.upper.left == pytest.approx(4, rel=1e-5)
    assert last.lower.left == pytest.approx(1, rel=1e-5)
    assert not found.violated


def test_two_clients_are_as_one():
    """The mean of Lipschitz functions is Lipschitz."""
    given = {"T": 2, "M": 1, "dist2_0": 1, "gamma_u": 1 / math.sqrt(2)}
    one, two = (worst_case(own(BEST), {"n": n, **given}) for n in (1, 2))
    assert two.lower.left == pytest.approx(one.upper.left, rel=1e-4)
    assert two.upper.left == pytest.approx(one.upper.left, rel=1e-4)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (own("dist2_0 + gamma_u**2*M**2*T", left="dist2"), "may have many minimisers, and dist2 is about one"),
        (own(BEST, assumptions=LIPSCHITZ[1:]), "of functions that are assumed to be convex"),
        (own(BEST, assumptions=[*LIPSCHITZ, "strong_convexity"]), "strongly convex and has bounded subgradients"),
    ],
)
def test_what_such_functions_are_not_is_refused(statement, message):
    """In one line."""
    with pytest.raises(InputError, match=message):
        worst_case(statement, {"n": 1, "T": 2, "M": 1, "mu": 0.1, "dist2_0": 1, "gamma_u": 0.5})


def test_pepit_finds_the_same():
    """Its model of the subgradient method, whose n steps are those of n + 1 rounds."""
    with warnings.catch_warnings(action="ignore"):
        example = importlib.import_module("PEPit.examples.unconstrained_convex_minimization.subgradient_method")
        theirs, _ = example.wc_subgradient_method(M=2, n=3, gamma=0.2, wrapper="cvxpy", solver="CLARABEL", verbose=0)
    found = worst_case(own(BEST), {"n": 1, "T": 4, "M": 2, "dist2_0": 1, "gamma_u": 0.2})
    assert found.lower.left == pytest.approx(theirs, rel=1e-4)
    assert found.upper.left == pytest.approx(theirs, rel=1e-4)


def test_functions_that_are_linear_far_away_have_it():
    """By default; quadratics have gradients without limit, and the verdict says so."""
    verdict = rc.verify(own(BEST), T=3)
    assert (verdict.outcome.name, verdict.verdict.problem.endswith("tails=0")) == ("HOLDS", True)
    assert "minimises the bound" in str(verdict)
    assert "because M does not exist" in str(rc.verify(own(BEST), problem="quadratic", T=3))
