"""The worst case where the oracle answers with an operator: known values, and what gradients cannot do."""

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
from ratecheck.falsification.performance_estimation.interpolation import recheck
from ratecheck.falsification.performance_estimation.worst_case import worst_case

pytestmark = needs_pep


def own(kind, right="dist2_0", left="du2", algorithm="proximal-point", **fields):
    """A statement about an operator, of proximal steps unless another method is named."""
    settings = {"K": 1, "m": "n", "sigma_u": 0, **({"eta_u": 1} if algorithm == "fedavg" else {})}
    return theorem(
        title="An operator", algorithm=algorithm, assumptions=[kind, "full_participation", "no_personal"], left=left,
        over="every_round", right=right, settings=settings, vocabulary=VOCABULARY, key="mine/operator", **fields,
    )  # fmt: skip


GIVEN = {"n": 1, "T": 4, "lambda_": 0.5, "dist2_0": 3}


def test_an_operator_is_worse_than_a_gradient():
    """The step of proximal point in round t: t^t/(t+1)^(t+1) R^2 of an operator, R^2/(t+1)^2 of a gradient."""
    operator = worst_case(own("monotone_operator"), GIVEN).enclosures[-1]
    gradient = worst_case(own("convexity"), GIVEN).enclosures[-1]
    assert operator.lower.left == pytest.approx(3 * 27 / 256, rel=1e-5)
    assert operator.upper.left == pytest.approx(3 * 27 / 256, rel=1e-5)
    assert gradient.upper.left == pytest.approx(3 / 16, rel=1e-5)


def test_a_cocoercive_operator_is_asked_along_its_values():
    """One step of 1/L: ||A x^1||^2 is at most that of ||A x^0||^2 <= L^2 R^2, and a quarter is reached."""
    given = {"n": 1, "T": 2, "L": 2, "gamma_u": 0.5, "dist2_0": 3}
    found = worst_case(own("cocoercive_operator", "L**2*dist2_0/4", "G_u", "fedavg"), given)
    assert found.violated
    last = found.enclosures[-1]
    assert last.lower.left == pytest.approx(last.upper.left, rel=1e-4)
    assert last.upper.left == pytest.approx(3, rel=1e-4)


def test_an_instance_that_is_no_operator_is_refused():
    """Exactly, by the two points that say so: a turned answer is not monotone."""
    found = worst_case(own("monotone_operator", "dist2_0/100"), GIVEN)
    assert found.violated
    turned = dataclasses.replace(found.instance, gradients=tuple(-each for each in found.instance.gradients))
    with pytest.raises(InputError, match="no monotone operator 0 has these answers at its points"):
        recheck(turned)


def test_the_answer_is_in_the_units_of_the_question():
    """A step has degrees (0, 2), lambda (1, -2)."""
    plain = worst_case(own("monotone_operator"), GIVEN)
    scaled = worst_case(own("monotone_operator"), {**GIVEN, "lambda_": 0.5 * 7, "dist2_0": 3 * 4})
    assert scaled.lower.left == pytest.approx(4 * plain.lower.left, rel=1e-6)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (own("monotone_operator", left="gap", right="lambda_*dist2_0"), "an operator has no values"),
        (own("monotone_operator", left="dist2"), "many zeros, and it speaks of the distance to one"),
        (own("monotone_operator", "G_u*gamma_u**2 + dist2_0", algorithm="fedavg"), "followed where it is cocoercive"),
    ],
)
def test_what_an_operator_has_not_is_refused(statement, message):
    """In one line."""
    with pytest.raises(InputError, match=message):
        worst_case(statement, {**GIVEN, "gamma_u": 0.5})


def test_one_operator_alone_is_followed():
    """Several clients with an operator each are refused."""
    with pytest.raises(InputError, match='n=2 breaks "n == 1"'):
        worst_case(own("monotone_operator"), {**GIVEN, "n": 2})


@pytest.mark.parametrize(
    ("module", "key", "asked", "here", "unit"),
    [
        ("fixed_point_problems.halpern_iteration", "fixed-point-halpern", {}, {"L": 2}, 1),
        (
            "fixed_point_problems.krasnoselskii_mann_constant_step_sizes",
            "fixed-point-krasnoselskii-mann",
            {"gamma": 0.75},
            {"L": 2, "gamma_u": 0.75},
            4,
        ),
        (
            "monotone_inclusions_variational_inequalities.proximal_point",
            "monotone-proximal-point-steps",
            {"alpha": 2.0},
            {"lambda_": 0.5},
            1,
        ),
    ],
)
def test_pepit_finds_the_same(module, key, asked, here, unit):
    """Its examples on operators; the second measures a quarter of the squared residual x - N x."""
    with warnings.catch_warnings(action="ignore"):
        example = importlib.import_module(f"PEPit.examples.{module}")
        ask = next(value for name, value in vars(example).items() if name.startswith("wc_"))
        theirs, _ = ask(**asked, n=3, wrapper="cvxpy", solver="CLARABEL", verbose=0)
    rounds = 3 if "steps" in key else 4
    found = worst_case(rc.get(f"classics/{key}"), {"n": 1, "T": rounds, "dist2_0": 1, **here}).enclosures[-1]
    assert found.lower.left == pytest.approx(unit * theirs, rel=1e-3)
    assert found.upper.left == pytest.approx(unit * theirs, rel=1e-3)


def test_gradients_of_convex_functions_certify_it():
    """On quadratics the statement is asked, and the verdict names what certifies the operator."""
    verdict = rc.verify(rc.get("classics/monotone-proximal-point-steps"), T=10, lambda_=0.5)
    assert verdict.outcome.name == "HOLDS"
    assert "maximal monotone operator" in str(verdict)
    concave = rc.problems.Quadratic(np.array([[[-0.1]]]), np.array([[1.0]]), shared=1)
    other = rc.verify(rc.get("classics/monotone-proximal-point-steps"), problem=concave, T=10, lambda_=0.5)
    assert other.outcome.name == "NOT_APPLICABLE"
