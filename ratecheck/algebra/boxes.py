"""Formulas on many boxes at once: intervals in floating point, rounded outwards, their ends in arrays.

Sums, products and quotients are correctly rounded, so that the next float beyond is a bound. Of the functions NumPy
promises an error of at most 4 units in the last place; `_ULPS` are taken. Ends may be infinite: a box may be the whole
line. What has no value on a part of a box, such as the logarithm of a negative number, is between -inf and inf.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from bounds.formula import Visitor
from ratecheck.algebra.repeated import repeated
from ratecheck.aliases import Array

# Units in the last place by which a function may be off.
_ULPS = 16
_EPS = float(np.finfo(float).eps)
_ROOTS: Mapping[int, Callable[[Array], Array]] = {2: np.sqrt, 3: np.cbrt}


class Softplus(sp.Function):
    """log(1 + exp(x)), which does not overflow."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """The derivative by the argument."""
        del argindex
        return Sigmoid(self.args[0])


class Sigmoid(sp.Function):
    """1/(1 + exp(-x))."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """The derivative by the argument."""
        del argindex
        value = Sigmoid(self.args[0])
        return value * (1 - value)


class Decay(sp.Function):
    """x^k exp(-x) for a whole number k: what is left of a polynomial beside an exponential that falls faster."""


class Same(sp.Function):
    """Two forms of one number: it lies where both allow."""


def softplus(x: Array) -> Array:
    """See `Softplus`."""
    return np.logaddexp(0.0, x)


def sigmoid(x: Array) -> Array:
    """See `Sigmoid`; with |x| in the exponential, so that it never overflows."""
    small = np.exp(-np.abs(x))
    return np.where(np.asarray(x) >= 0, 1.0, small) / (1.0 + small)


@dataclass(frozen=True)
class Boxes:
    """Intervals from ``low`` to ``high``, arrays of one shape."""

    low: Array
    high: Array

    @staticmethod
    def of(value: Any) -> Boxes:
        """Floats as they are."""
        array = np.asarray(value, dtype=float)
        return Boxes(array, array)

    @staticmethod
    def around(number: sp.Expr) -> Boxes:
        """A number of SymPy."""
        if number.is_Integer and abs(number.p) < 2**53:
            return Boxes.of(float(number.p))
        if number.is_Rational and max(abs(number.p), number.q) < 2**53:
            # One division, correctly rounded.
            return _outward(*(np.asarray(number.p / number.q),) * 2)
        value = float(sp.N(number, 30))
        return _outward(*(np.asarray(value),) * 2)

    @property
    def known(self) -> Any:
        """Boolean array: where both ends of the intervals are finite."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    def __neg__(self) -> Boxes:
        return Boxes(-self.high, -self.low)

    def __add__(self, other: Boxes) -> Boxes:
        with np.errstate(all="ignore"):
            low, high = self.low + other.low, self.high + other.high
        return Boxes(
            np.where(_exact_sum(self.low, other.low, low), low, _down(low)),
            np.where(_exact_sum(self.high, other.high, high), high, _up(high)),
        )

    def __sub__(self, other: Boxes) -> Boxes:
        return self + -other

    def __mul__(self, other: Boxes) -> Boxes:
        # All four products of ends in one array: there are few boxes at a time, so that calls are what takes time.
        ends = np.broadcast_arrays(self.low, self.high, other.low, other.high)
        low, high = _product(np.stack([ends[0], ends[0], ends[1], ends[1]]), np.stack([*ends[2:], *ends[2:]]))
        return Boxes(low.min(axis=0), high.max(axis=0))

    def inverse(self) -> Boxes:
        """1/x; from or to infinity where an end is 0, and everything where 0 is inside."""
        low, high = np.broadcast_arrays(self.low, self.high)
        with np.errstate(all="ignore"):
            below = np.where(high == 0, -np.inf, np.where(np.isinf(high), 0.0, _down(1 / high)))
            above = np.where(low == 0, np.inf, np.where(np.isinf(low), 0.0, _up(1 / low)))
        # The sign of an inverse is known.
        below, above = (
            np.where(low >= 0, np.maximum(below, 0.0), below),
            np.where(high <= 0, np.minimum(above, 0.0), above),
        )
        inside = ((low < 0) & (high > 0)) | ((low == 0) & (high == 0))
        return Boxes(np.where(inside, -np.inf, below), np.where(inside, np.inf, above))

    def power(self, exponent: sp.Rational) -> Boxes:
        """x^(p/q)."""
        if exponent < 0:
            return self.power(-exponent).inverse()
        if exponent.q != 1:
            order, root, bad = exponent.q, self, self.low < 0
            for prime, function in _ROOTS.items():
                while order % prime == 0:
                    order, root = order // prime, root.monotone(function, 0.0)
            if order != 1:
                raise TypeError(f"no rule for a power of {exponent}")
            found = root.power(sp.Integer(exponent.p))
            return Boxes(np.where(bad, -np.inf, found.low), np.where(bad, np.inf, found.high))
        if exponent.p == 1:
            return self
        if exponent.p % 2 == 0:
            return repeated(abs(self), exponent.p, operator.mul)
        low, high = (repeated(Boxes.of(end), exponent.p, operator.mul) for end in (self.low, self.high))
        return Boxes(low.low, high.high)

    def __abs__(self) -> Boxes:
        low, high = np.abs(self.low), np.abs(self.high)
        crosses = (self.low <= 0) & (self.high >= 0)
        return Boxes(np.where(crosses, 0.0, np.minimum(low, high)), np.maximum(low, high))

    def monotone(
        self,
        function: Callable[[Array], Array],
        least: float = -math.inf,
        most: float = math.inf,
        known: tuple[float, float] | None = None,
    ) -> Boxes:
        """An increasing function with values between ``least`` and ``most``, and a point and its value as ``known``."""
        with np.errstate(all="ignore"):
            low, high = function(self.low), function(self.high)
        found = _outward(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high), _ULPS)
        low, high = np.clip(found.low, least, most), np.clip(found.high, least, most)
        if known is not None:
            point, value = known
            low = np.where(self.low >= point, np.maximum(low, value), low)
            high = np.where(self.high <= point, np.minimum(high, value), high)
        return Boxes(low, high)

    def wave(self, shift: float) -> Boxes:
        """The cosine of x - shift*pi/2: +-1 where a box may hold an extremum, else the larger and smaller end."""
        with np.errstate(all="ignore"):
            function = np.cos if shift == 0 else np.sin
            ends = [function(self.low), function(self.high)]
            # Multiples of pi where the function is +-1, to within rounding.
            turns = [(x / math.pi) - shift / 2 for x in (self.low, self.high)]
            margin = 1e-9 * (1 + np.abs(turns[0]) + np.abs(turns[1]))
            first, last = np.ceil(turns[0] - margin), np.floor(turns[1] + margin)
            wide = ~(np.abs(self.low) < 1e6) | ~(np.abs(self.high) < 1e6) | (last - first >= 1)
            one = (last >= first) & ~wide
            even = np.mod(first, 2) == 0
        found = _outward(np.minimum(*ends), np.maximum(*ends), _ULPS)
        low = np.where(wide | (one & ~even), -1.0, found.low)
        high = np.where(wide | (one & even), 1.0, found.high)
        return Boxes(np.clip(low, -1, 1), np.clip(high, -1, 1))

    def meet(self, other: Boxes) -> Boxes:
        """The intersection of two arrays of intervals."""
        return Boxes(np.fmax(self.low, other.low), np.fmin(self.high, other.high))


def _down(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.nextafter(x, -np.inf)


def _up(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.nextafter(x, np.inf)


def _outward(low: Any, high: Any, ulps: int = 0) -> Boxes:
    """The next floats, or so many units in the last place beyond."""
    with np.errstate(all="ignore"):
        below, above = (np.where(np.isfinite(x), ulps * _EPS * np.abs(x), 0.0) for x in (low, high))
        return Boxes(np.asarray(_down(low - below)), np.asarray(_up(high + above)))


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Bounds of a product; 0 times infinity is 0, as an end that is infinite is never reached."""
    zero = (a == 0) | (b == 0)
    with np.errstate(all="ignore"):
        found = np.where(zero, 0.0, a * b)
    exact = zero | _exact_product(a, b, found)
    low, high = np.where(exact, found, _down(found)), np.where(exact, found, _up(found))
    # A product of numbers of one sign is not negative, although it may underflow.
    same = (a >= 0) == (b >= 0)
    low, high = np.where(same & (low < 0), 0.0, low), np.where(~same & (high > 0), 0.0, high)
    return np.where(zero, 0.0, low), np.where(zero, 0.0, high)


# A product of numbers with half the digits is exact, unless it leaves the range of floats on either side.
_SPLIT, _TINY = 134217729.0, 2.0**-960


def _exact_sum(a: Any, b: Any, total: Any) -> Any:
    """Whether a sum was not rounded: Knuth's error of it is 0."""
    with np.errstate(all="ignore"):
        other = total - a
        return (a - (total - other)) + (b - other) == 0


def _exact_product(a: Any, b: Any, product: Any) -> Any:
    """Whether a product was not rounded: Dekker's error of it is 0."""
    with np.errstate(all="ignore"):
        (high_a, low_a), (high_b, low_b) = (_halves(x) for x in (a, b))
        error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
    return (error == 0) & (np.abs(product) > _TINY)


def _halves(x: Any) -> tuple[Any, Any]:
    """A float as a sum of two of half the digits."""
    large = _SPLIT * np.asarray(x, dtype=float)
    high = large - (large - x)
    return high, x - high


def _increasing(
    function: Callable[[Array], Array],
    least: float = -math.inf,
    most: float = math.inf,
    known: tuple[float, float] | None = (0.0, 0.0),
) -> Callable[[Any], Boxes]:
    return lambda parts: parts[0].monotone(function, least, most, known)


def _logarithm(parts: Sequence[Boxes]) -> Boxes:
    (x,) = parts
    found = x.monotone(np.log, known=(1.0, 0.0))
    bad = x.low < 0
    return Boxes(np.where(bad | (x.low <= 0), -np.inf, found.low), np.where(bad, np.inf, found.high))


def _decay(x: Boxes, k: int) -> Boxes:
    """`Decay` where x >= 0: rising up to k, falling from there on; everything where x may be negative."""

    def at(end: Array) -> Boxes:
        found = Boxes.of(end).power(sp.Integer(k)) * (-Boxes.of(end)).monotone(np.exp, 0.0)
        return Boxes(np.where(np.isinf(end), 0.0, found.low), np.where(np.isinf(end), 0.0, found.high))

    first, last = at(x.low), at(x.high)
    top = _outward(*(np.asarray(float(k) ** k * math.exp(-k)),) * 2, _ULPS * (k + 1))
    inside = (x.low <= k) & (x.high >= k)
    low, high = np.minimum(first.low, last.low), np.where(inside, top.high, np.maximum(first.high, last.high))
    known = x.low >= 0
    return Boxes(np.where(known, np.maximum(low, 0.0), -np.inf), np.where(known, high, np.inf))


class _OnBoxes(Visitor[Boxes]):
    rules: ClassVar[Mapping[Any, Callable[..., Boxes]]] = {
        sp.Add: lambda parts: functools.reduce(Boxes.__add__, parts),
        sp.Mul: lambda parts: functools.reduce(Boxes.__mul__, parts),
        sp.exp: _increasing(np.exp, 0.0, known=(0.0, 1.0)),
        sp.log: _logarithm,
        sp.sin: lambda parts: parts[0].wave(1.0),
        sp.cos: lambda parts: parts[0].wave(0.0),
        sp.tanh: _increasing(np.tanh, -1.0, 1.0),
        sp.sinh: _increasing(np.sinh),
        sp.cosh: lambda parts: abs(parts[0]).monotone(np.cosh, 1.0),
        sp.atan: _increasing(np.arctan, -1.5707963267948968, 1.5707963267948968),
        sp.asinh: _increasing(np.arcsinh),
        Same: lambda parts: parts[0].meet(parts[1]),
        Softplus: _increasing(softplus, 0.0, known=None),
        Sigmoid: _increasing(sigmoid, 0.0, 1.0, known=(0.0, 0.5)),
        sp.Abs: lambda parts: abs(parts[0]),
    }

    def __init__(self, values: Mapping[str, Boxes]) -> None:
        super().__init__()
        self._values = values

    def symbol(self, symbol: sp.Symbol) -> Boxes:
        return self._values[symbol.name]

    def number(self, number: sp.Expr) -> Boxes:
        if number.is_number and number.is_extended_real and number.is_finite:
            return Boxes.around(number)
        return self.other(number)

    def operation(self, expr: sp.Expr) -> Boxes:
        if expr.is_number:
            return self.number(expr)
        if expr.is_Pow and expr.exp.is_Rational:
            return self.visit(expr.base).power(expr.exp)
        if isinstance(expr, Decay):
            return _decay(self.visit(expr.args[1]), int(expr.args[0]))
        return super().operation(expr)


# The functions that there are rules for, by name.
KNOWN: tuple[str, ...] = ("Abs", "asinh", "atan", "cos", "cosh", "exp", "log", "sin", "sinh", "sqrt", "tanh")


def on_boxes(expr: sp.Expr, values: Mapping[str, Boxes]) -> Boxes:
    """Bounds of an expression where its symbols are anywhere in their boxes.

    Raises TypeError for a function that there is no rule for.
    """
    return bounds_in(values)(expr)


def bounds_in(values: Mapping[str, Boxes]) -> Callable[[sp.Expr], Boxes]:
    """`on_boxes` of several expressions: a part that they share is bounded once."""
    visitor = _OnBoxes(values)

    def bounds(expr: sp.Expr) -> Boxes:
        found = visitor.visit(expr)
        shape = np.broadcast_shapes(*(np.shape(box.low) for box in values.values()), np.shape(found.low))
        low, high = (np.broadcast_to(end, shape) for end in (found.low, found.high))
        return Boxes(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))

    return bounds
