"""The numbers of a worst case: step sizes that are not given are those of `verify`, and formulas are evaluated."""

from __future__ import annotations

import pytest

from bounds.errors import InputError
from bounds.theorem import symbol, theorem
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.problems import Quadratic
from ratecheck.verification.verify import verify

AT = {"n": 1, "K": 1, "T": 2, "L": 2.0, "F_0": 1.0}


def stated(right, **more):
    """A theorem about gradient descent."""
    return theorem(
        "Descent",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right=right,
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
        **more,
    )


@pytest.mark.parametrize(
    ("statement", "step"),
    [
        (stated("2*L*F_0"), 1 / 16),
        (stated("2*F_0/(gamma_u*T) + L*gamma_u"), 1 / 16),
        (stated("2*F_0/(gamma_u*T) + L**2*gamma_u*F_0", conditions=["L*gamma_u >= 1/10"]), 1 / 2),
        (stated("2*F_0/(gamma_u*T)", conditions=["L*gamma_u == 1/3"]), 1 / 6),
    ],
)
def test_step_sizes_are_those_of_verify(statement, step):
    """One about which nothing is said, one that nothing limits, a minimiser of the bound, the root of an equality."""
    # Where a bound is flat, its minimiser is known to half the digits.
    assert DeterministicCase.of(statement, AT).values["gamma_u"] == pytest.approx(step, rel=1e-7)
    problem = Quadratic([[[2.0]]], [[2.0]], shared=1)
    assert verify(statement, problem, {"T": 2}).values["gamma_u"] == pytest.approx(step, rel=1e-7)


def test_without_a_scale_a_step_size_is_asked_for():
    """1/(8 L K) needs L."""
    with pytest.raises(InputError, match="leaves gamma_u open: give gamma_u="):
        DeterministicCase.of(stated("2*F_0/(gamma_u*T)"), {"n": 1, "K": 1, "T": 2, "F_0": 1.0})


def test_symbols_that_equal_a_formula_have_its_value():
    """M = 2 L stands in the bound and in a condition; both sides are those of the statement without it."""
    M = symbol("M", "twice the smoothness", degrees=(1, -2), equals="2*L")
    named = DeterministicCase.of(stated("M*F_0/(L*gamma_u*T)", conditions=["gamma_u <= 2/M"], symbols=[M]), AT)
    plain = DeterministicCase.of(stated("2*F_0/(gamma_u*T)", conditions=["gamma_u <= 1/L"]), AT)
    assert named.comparisons[0].right == plain.comparisons[0].right == pytest.approx(2.0)
    assert named.values["gamma_u"] == plain.values["gamma_u"] == pytest.approx(0.5)
