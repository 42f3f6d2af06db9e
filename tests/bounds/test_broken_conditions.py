"""What a message says of a condition that is broken: the condition's own order, and digits that show it."""

from __future__ import annotations

import math

import pytest

import ratecheck as rc
from bounds.errors import InputError
from bounds.theorem import theorem


def stated(condition, vocabulary="textbook"):
    """A theorem about gradient descent under one condition."""
    return theorem(
        "A condition",
        algorithm="fedavg",
        assumptions=["smoothness", "strong_convexity", "full_participation", "no_personal"],
        left="gap",
        over="every_round",
        right="L*dist2_0",
        conditions=[condition],
        settings={"m": "n", "sigma_u": 0, "eta_u": 1},
        vocabulary=vocabulary,
    )


def message(condition, **values):
    """What is said of the condition where it is broken."""
    statement = stated(condition)
    check = statement.conditions[0].check("own/key", values)
    assert check.holds is False
    return check.broken


@pytest.mark.parametrize(
    ("condition", "values", "shown"),
    [
        ("gamma_u <= 1/(32*K*L)", {"K": 25.0, "L": 1.0}, "1/(32*25*1) = 0.00125"),
        ("gamma_u <= 1/(32*K*L)", {"K": 2.0, "L": 2.0}, "1/(32*2*2) = 0.0078125"),
        ("gamma_u <= 1/(K + L)", {"K": 25.0, "L": 1.0}, "1/(25 + 1) = 0.0384615"),
        ("gamma_u <= 2/(L + L**2/K)", {"K": 25.0, "L": 1.0}, "2/(1 + 1**2/25) = 1.92308"),
        ("gamma_u <= sqrt(mu/(L*K))", {"K": 30.0, "L": 1.0, "mu": 0.3}, "sqrt(0.3/(30*1)) = 0.1"),
        ("gamma_u <= min(1/L, K**2)", {"K": 3.0, "L": 20.0}, "Min(3**2, 1/20) = 0.05"),
        ("gamma_u <= (1 - 1/(2*L))**K", {"K": 25.0, "L": 1.0}, "(1 - 1/(2*1))**25 = 2.98023e-08"),
    ],
)
def test_factors_stand_where_the_condition_has_them(condition, values, shown):
    """SymPy would sort by the values, and write 2*2 as 2**2."""
    assert f": {shown}. Largest" in message(condition, gamma_u=10.0, **values)


def test_sides_that_are_equal_up_to_rounding_are_called_so():
    """With mu = 1 - 2e-15 it is not below L = 1 as far as it is computed: no comparison is printed that looks false."""
    text = message("mu < L", mu=0.999999999999998, L=1.0)
    assert text == (
        'mu=0.999999999999998 breaks "mu < L" of own/key: L = 1, and the two are equal up to rounding (1e-12 of them), '
        "while the condition is strict. Admissible mu: below 0.999999999999."
    )
    assert stated("mu < L").conditions[0].check("", {"mu": 0.99999999999895, "L": 1.0}).holds
    text = message("L > mu", mu=1.0, L=1.000000000000002)
    assert text.endswith("Admissible L: above 1.000000000001.")
    assert "are equal up to rounding" in message("2*mu < L + 1/L", mu=0.999999999999998, L=1.0)
    # Equal sides and sides apart are as they were.
    assert message("mu < L", mu=1.0, L=1.0).endswith("L = 1. Admissible mu: below 1.")
    assert "equal" not in message("mu < L", mu=1.0, L=1.0 - 1e-9)


def test_bound_says_so_too():
    """The list of conditions has the same words."""
    shown = str(rc.bound(stated("mu < L"), mu=0.999999999999998, L=1, dist2_0=1))
    assert "0.999999999999998 against 1, equal up to rounding" in shown


def test_constants_a_hair_apart_are_printed_apart():
    """A given constant that is weaker in the ninth digit alone."""
    with pytest.raises(InputError, match=r'L=0.9999999 breaks "L >= 1", its exact value'):
        rc.verify("pfl/theorem-3.7", L=1 - 1e-7, n=4, m=4, K=1, T=2)
    assert not math.isclose(1 - 1e-7, 1.0)
