"""Formulas in floating point with a bound of how wrong they are: running error analysis.

Every part of a formula is a value and a bound of its distance from what it would be in real numbers at the true
quantities. A part takes over what its own parts are wrong by, at the worst point within their bounds, and adds its own
rounding, in proportion to its size before anything cancels. What is wrong by an unknown amount (something overflowed, a
divisor may be 0) is wrong by infinity. Arrays are treated entry by entry.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bounds.formula import Visitor
from ratecheck.aliases import Array

# One operation, with slack for functions that are not rounded correctly; a result that underflows.
_EPS, _LEAST = 4 * float(np.finfo(float).eps), 16 * math.ulp(0.0)
# Whole numbers below are floats, and so are their sums and products.
_WHOLE = 2.0**53
# Errors are themselves computed in floating point.
_OWN = 1 + 1e-6


@dataclass(frozen=True)
class Rounded:
    """Values, and bounds of how far they are from the numbers that they stand for."""

    value: Array
    error: Array

    @staticmethod
    def of(value: object, error: object = 0.0) -> Rounded:
        """A value known up to an error; without one it is what it is."""
        return _checked(np.asarray(value, dtype=float), np.asarray(error, dtype=float))

    @property
    def sure(self) -> NDArray[np.bool_]:
        """Boolean array: where value and error are finite."""
        return np.isfinite(self.value) & np.isfinite(self.error)

    def broadcast(self, shape: tuple[int, ...]) -> Rounded:
        """Numbers and their errors, repeated along new axes."""
        return Rounded(np.broadcast_to(self.value, shape), np.broadcast_to(self.error, shape))

    def at(self, place: int | tuple[()]) -> tuple[float, float]:
        """Value and error of one entry."""
        return float(self.value[place]), float(self.error[place])

    def mean(self) -> Rounded:
        """The mean over the last axis."""
        with np.errstate(all="ignore"):
            count = self.value.shape[-1]
            if (self.value == self.value[..., :1]).all():
                return _checked(self.value[..., 0], self.error.max(axis=-1))
            # Divided first, so that a sum of large numbers does not overflow.
            parts = self.value / count
            # NumPy adds in blocks: up to 128 numbers in a row, then in pairs.
            depth = min(count, 128) + math.log2(count)
            own = np.where((parts == 0).all(axis=-1), 0.0, depth * _EPS * np.abs(parts).sum(axis=-1) + count * _LEAST)
            return _checked(parts.sum(axis=-1), (self.error / count).sum(axis=-1) + own)


def rounded(expr: sp.Expr, values: Mapping[str, Rounded]) -> Rounded:
    """An expression at quantities by name."""
    with np.errstate(all="ignore"):
        return _Running(values).visit(expr)


def _checked(value: Array, error: Array) -> Rounded:
    """Values with infinite errors where they are not finite."""
    known = np.isfinite(value) & np.isfinite(error)
    return Rounded(value, np.where(known, error * _OWN, math.inf))


def _own(value: Array, exact: NDArray[np.bool_] | bool = False) -> Array:
    """The rounding error of an operation; 0 where ``exact``."""
    return np.where(exact, 0.0, _EPS * np.abs(value) + _LEAST)


@functools.cache
def _constant(expr: sp.Expr) -> Rounded:
    try:
        value = expr.p / expr.q if expr.is_Rational else float(expr)
    except OverflowError:
        return Rounded.of(math.inf)
    exact = expr.is_Rational and math.isfinite(value) and Fraction(value) == Fraction(int(expr.p), int(expr.q))
    return Rounded.of(value, 0.0 if exact else _own(np.asarray(value)))


def _sum(parts: Sequence[Rounded]) -> Rounded:
    total, error, size = parts[0].value, parts[0].error, np.abs(parts[0].value)
    for part in parts[1:]:
        total, error, size = total + part.value, error + part.error, size + np.abs(part.value)
    own = np.where(_counted(parts) & (size < _WHOLE), 0.0, len(parts) * _EPS * size)
    return _checked(total, error + own)


def _counted(parts: Sequence[Rounded]) -> NDArray[np.bool_]:
    """Boolean array: where all parts are known whole numbers, whose sums are not rounded."""
    known = [(part.error == 0) & (part.value == np.trunc(part.value)) for part in parts]
    return np.asarray(functools.reduce(operator.and_, known))


def _product(one: Rounded, two: Rounded) -> Rounded:
    value = one.value * two.value
    error = np.abs(one.value) * two.error + (np.abs(two.value) + two.error) * one.error
    # A factor of exactly 1, -1 or 0 is no rounding.
    exact = [
        (np.abs(each.value) <= 1) & (each.value == np.trunc(each.value)) & (each.error == 0) for each in (one, two)
    ]
    counted = _counted((one, two)) & (np.abs(value) < _WHOLE)
    return _checked(value, error + _own(value, exact[0] | exact[1] | counted))


def _power(base: Rounded, exponent: Rounded) -> Rounded:
    """A power."""
    if exponent.value.ndim or exponent.error != 0:
        return _powers(base, exponent)
    p = float(exponent.value)
    if p < 0:
        return _inverse(_power(base, Rounded.of(-p)))
    if p in (0, 1):
        return base if p else Rounded.of(1.0)
    x, e = base.value, base.error
    known = np.isin(x, (0.0, 1.0)) & (e == 0)
    if p.is_integer():
        value = x**p
        known = known | (_counted((base,)) & (np.abs(value) < _WHOLE))
        # |x^p - y^p| <= p max(|x|, |y|)^(p-1) |x - y|
        return _checked(value, p * (np.abs(x) + e) ** (p - 1) * e + _own(value, known))
    # Roots are not steep away from 0, where the value itself bounds them; what stands for a number that is not negative
    # may be below 0 by its error.
    low, here, high = np.maximum(x - e, 0.0), np.maximum(x, 0.0), x + e
    value = np.sqrt(here) if p == 0.5 else here**p
    spread = np.maximum(high**p - value, value - low**p)
    # The exponent itself is rounded, too.
    own = 2 * _own(high**p, known) * (1 + p * np.abs(np.log(np.where(high > 0, high, 1.0))))
    return _checked(np.where(high < 0, math.nan, value), spread + own)


def _powers(base: Rounded, exponent: Rounded) -> Rounded:
    """Powers whose exponents differ by entry or are not known exactly."""
    p = exponent.value
    if not exponent.error.any() and (p == np.trunc(p)).all():
        if (p <= 0).all() and p.any():
            return _inverse(_powers(base, Rounded.of(-p)))
        if (p >= 0).all():
            x, e = base.value, base.error
            value = x**p
            # |x^p - y^p| <= p max(|x|, |y|)^(p-1) |x - y|
            spread = np.where(e > 0, p * (np.abs(x) + e) ** np.maximum(p - 1, 0) * e, 0.0)
            return _checked(value, spread + _own(value, (p == 0) | (np.isin(x, (0.0, 1.0)) & (e == 0))))
    return _exp(_product(exponent, _log(base)))


def _inverse(base: Rounded) -> Rounded:
    value = 1 / base.value
    slack = np.abs(base.value) - base.error
    error = np.where(base.error > 0, base.error / np.abs(base.value) / slack, 0.0)
    return _checked(value, np.where(slack > 0, error + _own(value), math.inf))


def _extreme(choose: Callable[[Array, Array], Array], parts: Sequence[Rounded]) -> Rounded:
    value = functools.reduce(choose, [part.value for part in parts])
    return _checked(value, functools.reduce(np.maximum, [part.error for part in parts]))


def _log(base: Rounded) -> Rounded:
    value = np.log(base.value)
    share = base.error / base.value
    return _checked(value, np.where(share < 1, -np.log1p(-share), math.inf) + _own(value) + _EPS)


def _exp(base: Rounded) -> Rounded:
    value = np.exp(base.value)
    # The argument's own last digit is part of its error where it was computed.
    return _checked(value, value * np.expm1(base.error) + _own(value))


class _Running(Visitor[Rounded]):
    rules: ClassVar = {
        sp.Add: _sum,
        sp.Mul: functools.partial(functools.reduce, _product),
        sp.Pow: lambda parts: _power(*parts),
        sp.Max: functools.partial(_extreme, np.maximum),
        sp.Min: functools.partial(_extreme, np.minimum),
        sp.log: lambda parts: _log(*parts),
        sp.exp: lambda parts: _exp(*parts),
        sp.Abs: lambda parts: Rounded(np.abs(parts[0].value), parts[0].error),
    }

    def __init__(self, values: Mapping[str, Rounded]) -> None:
        super().__init__()
        self._values = values

    def symbol(self, symbol: sp.Symbol) -> Rounded:
        return self._values[symbol.name]

    def number(self, number: sp.Expr) -> Rounded:
        return _constant(number)

    def operation(self, expr: sp.Expr) -> Rounded:
        if expr.is_Pow and expr.exp.is_Rational:
            # The float next to a rational exponent is as good as it, but for the rounding that a power adds.
            return _power(self.visit(expr.base), Rounded.of(self.visit(expr.exp).value))
        return super().operation(expr)

    def other(self, expr: sp.Expr) -> Rounded:
        """An operation outside of the catalogue: its error is unknown."""
        return Rounded.of(math.nan)
