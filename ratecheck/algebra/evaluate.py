"""Plain evaluation: expressions at rational points, by fractions and, for roots, with sixty digits.

This is the second opinion on every counterexample: it knows nothing of how the point was found and uses no
simplification. Division by zero and roots of negative numbers make an expression `Undefined`, never a large number.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, TypeAlias

import mpmath
import sympy as sp

from bounds.formula import Visitor
from bounds.numbers import exact
from bounds.statement import Condition

DIGITS = 60
# Relative; what differs by less is not told apart from what is equal, and never counts as a violation.
MARGIN = mpmath.mpf(10) ** -40

_CONTEXT = mpmath.MPContext()
_CONTEXT.dps = DIGITS

Value: TypeAlias = Fraction | mpmath.mpf
Point: TypeAlias = Mapping[sp.Symbol, Fraction]


class Undefined(ArithmeticError):  # noqa: N818  # the mathematical term
    """An expression without a real value at a point."""


def evaluate(expr: sp.Expr, point: Point) -> Value:
    """The value as a fraction, or with sixty digits where there are roots; raises `Undefined`."""
    return _AtPoint(point).visit(expr)


def _real(value: Value) -> mpmath.mpf:
    if isinstance(value, Fraction):
        return _CONTEXT.mpf(value.numerator) / value.denominator
    return value


def _sum(values: list[Value]) -> Value:
    if all(isinstance(value, Fraction) for value in values):
        return sum(values, Fraction(0))
    return _CONTEXT.fsum(map(_real, values))


def _product(values: list[Value]) -> Value:
    exact = Fraction(1)
    rest = None
    for value in values:
        if isinstance(value, Fraction):
            exact *= value
        else:
            rest = value if rest is None else rest * value
    return exact if rest is None else rest * _real(exact)


def _power(values: list[Value]) -> Value:
    base, exponent = values
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        if exponent < 0 and base == 0:
            raise Undefined("division by zero")
        if abs(exponent) > 10**5:
            raise Undefined("an exponent beyond 100000")
        return base ** int(exponent)
    if base < 0 or (base == 0 and exponent <= 0):
        raise Undefined(f"{base} to the power {exponent}")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        top, below = (sp.integer_nthroot(part, exponent.denominator) for part in (base.numerator, base.denominator))
        if top[1] and below[1]:
            return Fraction(int(top[0]), int(below[0])) ** exponent.numerator
    return _CONTEXT.power(_real(base), _real(exponent))


class _AtPoint(Visitor[Value]):
    """Fractions and numbers with sixty digits."""

    rules: ClassVar = {
        sp.Add: _sum,
        sp.Mul: _product,
        sp.Pow: _power,
        # A fraction and a number with sixty digits are not compared directly.
        sp.Max: lambda values: max(values, key=_real),
        sp.Min: lambda values: min(values, key=_real),
        sp.Abs: lambda values: abs(values[0]),
    }

    def __init__(self, point: Point) -> None:
        super().__init__()
        self._point = point

    def symbol(self, symbol: sp.Symbol) -> Value:
        return self._point[symbol]

    def number(self, number: sp.Expr) -> Value:
        if number.is_Rational:
            return Fraction(int(number.p), int(number.q))
        return self.number(exact(number)) if number.is_Float else self.other(number)

    def other(self, expr: sp.Expr) -> Value:
        """Any other function, by SymPy."""
        exact = {s: sp.Rational(v.numerator, v.denominator) for s, v in self._point.items() if s in expr.free_symbols}
        value = expr.xreplace(exact).evalf(DIGITS)
        if not value.is_Float and not value.is_Rational:
            raise Undefined(f"{expr} has no value")
        return Fraction(int(value.p), int(value.q)) if value.is_Rational else _CONTEXT.mpf(str(value))


def as_value(value: object) -> Value:
    """A number of any kind that `evaluate` knows: whole, fraction, or SymPy number."""
    if isinstance(value, (Fraction, int)):
        return Fraction(value)
    if isinstance(value, mpmath.mpf):
        return value
    return evaluate(sp.sympify(value), {})


def sign(left: Value, right: Value) -> int:
    """The sign of right - left: exact for fractions, 0 where the digits do not tell."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return (right > left) - (right < left)
    one, other = _real(left), _real(right)
    if abs(other - one) <= MARGIN * max(abs(one), abs(other)):
        return 0
    return 1 if other > one else -1


def holds(left: Value, operator: str, right: Value) -> bool:
    """Whether ``left <operator> right``; with roots, up to the last digits."""
    which = sign(left, right)
    return {"<=": which >= 0, ">=": which <= 0, "==": which == 0, "<": which > 0, ">": which < 0}[operator]


def satisfied(condition: Condition, point: Point) -> bool:
    """Whether a condition has a meaning and holds at a point."""
    try:
        return holds(evaluate(condition.left, point), condition.operator, evaluate(condition.right, point))
    except Undefined:
        return False


def in_domain(symbol: sp.Symbol, value: Fraction) -> bool:
    """Whether a value has the properties that SymPy assumes of a symbol."""
    if symbol.is_integer and value.denominator != 1:
        return False
    if symbol.is_positive:
        return value > 0
    if symbol.is_negative:
        return value < 0
    if symbol.is_nonnegative:
        return value >= 0
    return not symbol.is_nonpositive or value <= 0


def number_text(value: Value) -> str:
    """A number as it is printed in evidence."""
    if isinstance(value, Fraction):
        text = str(value)
        return text if len(text) <= 24 else f"{text} = {float(value):.8g}"
    return str(_CONTEXT.nstr(value, 12))


def point_text(point: Point) -> str:
    """A point as ``n=3, gamma=1/8``."""
    return ", ".join(f"{s.name}={number_text(v)}" for s, v in sorted(point.items(), key=lambda item: item[0].name))


def sides_text(left: Value, operator: str, right: Value) -> str:
    """A false comparison in words, such as ``5/4 <= 1 fails``."""
    return f"{number_text(left)} {operator} {number_text(right)} fails"


def size(point: Point) -> int:
    """The number of digits of a point; points with few are easy to re-check."""
    return sum(len(str(value)) for value in point.values())
