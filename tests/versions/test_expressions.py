"""Formulas of two versions: the same, larger, by a factor; conditions: tighter, looser."""

import pytest
import sympy as sp

from bounds.statement import Condition
from ratecheck.versions.expressions import Larger, Sameness, SamplePoints, Tightness, compare, tightness

x, y = sp.symbols("x y", positive=True)
POINTS = SamplePoints(values=tuple({"x": a, "y": b} for a in (0.3, 1.1, 1.5, 7.0) for b in (0.5, 1.5, 4.0)), of="here")


@pytest.mark.parametrize("other", [(x + y) ** 2, x**2 + 2 * x * y + y**2, (x**2 * y + 2 * x * y**2 + y**3) / y])
def test_what_is_written_otherwise_is_the_same(other):
    """By simplification."""
    assert compare(x * (x + y) + y * (x + y), other, POINTS).same is Sameness.PROVED


def test_a_small_difference_is_one():
    """Of one part in 10^15, which floating-point numbers would hide."""
    change = compare(x + y, x + y + x * sp.Rational(1, 10**17), POINTS)
    assert (change.same, change.side) == (Sameness.DIFFERENT, Larger.LARGER)


def test_a_changed_constant_is_a_factor():
    """With both numbers, and the exact ratio."""
    change = compare(4 * x / y, 48 * x / y, POINTS)
    assert (change.coefficients, change.ratio, change.ratio_proved) == ((4, 48), 12, True)
    assert (change.side, change.side_proved) == (Larger.LARGER, True)


def test_a_power_is_larger_at_some_points_only():
    """x^2 against x."""
    change = compare(x, x**2, POINTS)
    assert (change.side, change.ratio) == (Larger.MIXED, None)


def test_a_condition_decides_which_is_larger():
    """x^2 <= x for x <= 1, proved."""
    small = Condition(name="small", left=x, operator="<=", right=sp.Integer(1))
    change = compare(x, x**2, SamplePoints(values=({"x": 0.5}, {"x": 0.2}), of="here", hypotheses=(small,)))
    assert (change.side, change.side_proved) == (Larger.SMALLER, True)


def test_without_values_nothing_is_said():
    """No point, and no proof."""
    assert compare(x, x**2, SamplePoints(values=(), of="nowhere")).same is Sameness.UNDECIDED


def test_numbers_that_agree_without_a_proof_say_so(monkeypatch):
    """Where simplification finds nothing."""
    monkeypatch.setattr("ratecheck.versions.expressions._zero", lambda _: False)
    change = compare((x + y) ** 2, x**2 + 2 * x * y + y**2, POINTS)
    assert (change.same, change.points) == (Sameness.AT_POINTS, 12)


def _below(left, right):
    return Condition(name="c", left=left, operator="<=", right=right)


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        (_below(x, 1 / y), _below(x, 1 / (2 * y)), (Tightness.TIGHTER, True)),
        (_below(x, 1 / (2 * y)), _below(x, 1 / y), (Tightness.LOOSER, True)),
        (_below(x, 1 / y), _below(x * y, sp.Integer(1)), (Tightness.SAME, True)),
        (_below(x, 1 / y), _below(x, y / 2), (Tightness.NEITHER, True)),
    ],
)
def test_conditions(old, new, answer):
    """Each with its direction."""
    assert tightness(old, new, POINTS) == answer
