"""The card of what speaks of the last round, of values, or of a minimum: worst cases that are known in closed form."""

import functools
import math

import numpy as np
import pytest

from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.exponents.card import CellFinding, card
from ratecheck.exponents.families import alike
from ratecheck.exponents.hard_instances import worst
from ratecheck.outcome import Outcome

CONVEX = ("smoothness", "convexity", "full_participation", "no_personal")
SETTINGS = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}


def descent(
    right, left="gap", over="last_round", assumptions=CONVEX, conditions=("gamma_u == 1/L",), settings=SETTINGS
):
    """A theorem on gradient descent."""
    return theorem(
        title="Gradient descent", algorithm="fedavg", left=left, right=right, over=over, assumptions=list(assumptions),
        conditions=list(conditions), settings=settings, vocabulary="textbook", key="own/descent",
    )  # fmt: skip


# N = T - 1 steps of 1/L: L R^2/(4N + 2) is the worst gap, 2 L F_0/(2N + 1) the worst squared gradient of convex f.
TIGHT = {
    "gap": descent("L*dist2_0/(4*(T - 1) + 2)"),
    "gradient": descent("2*L*F_0/(2*(T - 1) + 1)", left="G_u"),
    "best": descent("2*L*F_0/(2*(T - 1) + 1)", left="G_u", over="best_round"),
}


@functools.cache
def over_rounds(name):
    """The cell of T."""
    (cell,) = card(TIGHT[name], over=["T"]).cells
    return cell


@pytest.mark.parametrize("name", TIGHT)
def test_worst_convex_functions_have_the_exponent_and_the_constant(name):
    """Minus one, and the whole bound, to far less than a percent: by a slope that ends in a bowl, at both ends."""
    cell = over_rounds(name)
    assert cell.finding is CellFinding.ATTAINED
    assert cell.worst.measured.exponent == pytest.approx(-1, abs=0.01)
    np.testing.assert_allclose(cell.worst.left / cell.worst.bound, 1.0, rtol=1e-4)
    assert {*cell.worst.families} == {"equal clients on a slope that ends in a bowl"}


@pytest.mark.parametrize("T", [2, 3, 10, 40])
@pytest.mark.parametrize("name", TIGHT)
def test_verify_says_so_too(name, T):
    """It follows the run step by step: it reaches the bound, without passing it."""
    values = {"n": 1.0, "T": float(T), "L": 2.0, "dist2_0": 3.0, "F_0": 5.0, "gamma_u": 0.5}
    hard = worst(TIGHT[name], {k: v for k, v in values.items() if k in (*TIGHT[name].parameters, "L")})
    verdict = hard.instance().verdict()
    assert verdict.outcome is not Outcome.VIOLATED
    assert verdict.comparisons[0].left == pytest.approx(hard.left, rel=1e-9)
    assert verdict.comparisons[0].left == pytest.approx(verdict.comparisons[0].right, rel=1e-4)


def test_quadratics_alone_are_not_as_hard():
    """They have the exponent, and of the constant 1/e: h/2 (1 - h)^(2N) is largest at h = 1/(2N + 1)."""
    N = 10**4
    values = {"n": 1.0, "T": N + 1.0, "L": 1.0, "dist2_0": 1.0, "gamma_u": 1.0}
    bowl, slope = (each.worst(*each.glanced()) for each in alike.curves(TIGHT["gap"], values))
    assert bowl.left == pytest.approx(1 / (4 * N * math.e), rel=1e-3)
    assert slope.left == pytest.approx(1 / (4 * N + 2), rel=1e-6)
    assert slope.kink == pytest.approx(1 / (2 * N + 1), rel=1e-2)


def test_a_wrong_constant_and_a_wrong_exponent_are_exceeded():
    """Five in place of four, which no quadratic contradicts; and T^-2."""
    for right in ("L*dist2_0/(5*(T - 1) + 2)", "L*dist2_0/T**2"):
        (cell,) = card(descent(right), over=["T"]).cells
        assert cell.finding is CellFinding.EXCEEDED, right
        assert cell.violation.verdict is Outcome.VIOLATED
        assert cell.violation.hard.instance().verdict().outcome is Outcome.VIOLATED


def test_values_on_average_and_local_steps():
    """Mean of the gaps at most R^2/(2 gamma K T): with K steps of a lone function a round is K rounds."""
    settings = {**SETTINGS, "n": 1}
    del settings["K"]
    statement = descent(
        "dist2_0/(2*gamma_u*K*T) + L*dist2_0/(2*T)", over="mean_of_rounds", conditions=["gamma_u <= 1/L"],
        settings=settings,
    )  # fmt: skip
    cells = card(statement, over=["T"]).cells
    assert all(cell.finding is not CellFinding.EXCEEDED for cell in cells)
    assert any(cell.finding is CellFinding.ATTAINED for cell in cells)


def test_what_noise_does_to_values_is_not_known():
    """The row has a reason; the other one is as without noise."""
    noisy = descent(
        {"distance": "dist2_0/(gamma_u*T)", "noise": "gamma_u*sigma_u**2"}, over="mean_of_rounds",
        assumptions=("smoothness", "noise", *CONVEX[1:]), conditions=["gamma_u <= 1/(4*L)"],
        settings={"K": 1, "m": "n", "eta_u": 1},
    )  # fmt: skip
    cells = {cell.row.term: cell for cell in card(noisy, over=["T"]).cells}
    assert cells["distance"].finding is CellFinding.ATTAINED
    assert cells["noise"].finding is CellFinding.NOT_REACHED
    assert "no hard instances are known on which sigma_u alone" in cells["noise"].reason


def test_rates_that_are_geometric_have_no_card():
    """Strong convexity makes them so."""
    statement = descent("(1 - mu/L)**T*F_0", assumptions=(*CONVEX, "strong_convexity"))
    with pytest.raises(InputError, match="strongly convex"):
        card(statement)
    with pytest.raises(InputError, match="a rate for strong convexity, which is no power of T"):
        card(descent("(1 - mu/L)**T*F_0"))
