"""Real numbers enclosed between rationals, and formulas of the catalogue evaluated on them.

Sums, products and quotients of rationals are exact; roots, logarithms and exponentials are rounded outwards. So a
number is known as it is until an irrational function is taken of it, and to `DIGITS` binary digits from then on.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import sympy as sp

from bounds.formula import Visitor
from ratecheck.algebra.outward import rounded

# Binary digits of what is rounded: a step size that is a root enters long products.
DIGITS = 1024
# Beyond 2^(this times the digits) what is rounded is given up, and below the inverse it is between 0 and that.
_RANGE = 8
# Binary digits up to which a power of a rational is exact: a formula's exponent may be a million, and what is done with
# so many digits afterwards takes longer than the power.
_EXACT = 1 << 16


class UndecidedError(Exception):
    """Inconclusive: what cannot be decided rigorously; the message says why."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A real number between two rationals; ``square`` is its square where that is rational and the number is not."""

    low: Fraction
    high: Fraction
    square: Fraction | None = field(default=None, compare=False)

    @staticmethod
    def of(value: Number) -> Enclosure:
        """A number as it is; a float stands for the binary fraction that it is."""
        if isinstance(value, Enclosure):
            return value
        exact = value if type(value) is Fraction else Fraction(value)
        return Enclosure(exact, exact)

    @property
    def exact(self) -> bool:
        """Whether both ends are the same."""
        return self.low == self.high

    @property
    def plain(self) -> Number:
        """The rational itself where there is one."""
        return self.low if self.exact else self

    @property
    def middle(self) -> Fraction:
        """The number half way between the ends."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> Fraction:
        """The distance of the ends."""
        return self.high - self.low

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __add__(self, other: object) -> Enclosure:
        if not isinstance(other, _KINDS):
            return NotImplemented
        x = Enclosure.of(other)
        return Enclosure(self.low + x.low, self.high + x.high)

    def __sub__(self, other: object) -> Enclosure:
        if not isinstance(other, _KINDS):
            return NotImplemented
        x = Enclosure.of(other)
        return Enclosure(self.low - x.high, self.high - x.low)

    def __rsub__(self, other: object) -> Enclosure:
        return -self + other

    def __mul__(self, other: object) -> Enclosure:
        if not isinstance(other, _KINDS):
            return NotImplemented
        x = Enclosure.of(other)
        if x.exact:
            return self._times(x.low)
        if self.exact:
            return x._times(self.low)
        ends = (self.low * x.low, self.low * x.high, self.high * x.low, self.high * x.high)
        return Enclosure(min(ends), max(ends))

    def _times(self, factor: Fraction) -> Enclosure:
        """The product with a rational, by one product for each end."""
        low = self.low * factor
        high = low if self.exact else self.high * factor
        return Enclosure(low, high) if factor.numerator >= 0 else Enclosure(high, low)

    def __truediv__(self, other: object) -> Enclosure:
        return self * Enclosure.of(other).inverse() if isinstance(other, _KINDS) else NotImplemented

    def __rtruediv__(self, other: object) -> Enclosure:
        return self.inverse() * other

    __radd__, __rmul__ = __add__, __mul__

    def inverse(self) -> Enclosure:
        """1/x; raises `UndecidedError` where x may be zero."""
        if self.low <= 0 <= self.high:
            raise UndecidedError("a division by what may be zero")
        return Enclosure(1 / self.high, 1 / self.low)

    def shortened(self, digits: int) -> Enclosure:
        """Ends of more than so many binary digits rounded outwards to these; raises `UndecidedError` for huge ones."""
        if max(_length(self.low), _length(self.high)) <= digits:
            return self
        return Enclosure(_rounded(self.low, digits)[0], _rounded(self.high, digits)[1], self.square)

    def power(self, exponent: Fraction, digits: int = _EXACT) -> Enclosure:
        """x^(p/q), 1 for an exponent of 0; raises `UndecidedError` for a root of what may be negative.

        Powers of more than ``digits`` binary digits are rounded outwards on the way, so that the cost grows with the
        length of the exponent instead of the exponent.
        """
        if exponent < 0:
            return self.power(-exponent, digits).inverse()
        if self.square is not None and exponent.denominator == 1 and exponent.numerator % 2 == 0:
            return Enclosure.of(self.square).power(exponent / 2, digits)
        if exponent.denominator > 1:
            if self.low < 0:
                raise UndecidedError("a root of what may be negative")
            root = Enclosure(_root(self.low, exponent.denominator)[0], _root(self.high, exponent.denominator)[1])
            if self.exact and exponent == Fraction(1, 2) and not root.exact:
                return Enclosure(root.low, root.high, self.low)
            return root.power(Fraction(exponent.numerator), digits)
        low, high = (_power(end, exponent.numerator, digits) for end in (self.low, self.high))
        least, largest = min(low[0], high[0]), max(low[1], high[1])
        crosses = exponent.numerator % 2 == 0 and exponent > 0 and self.low < 0 < self.high
        return Enclosure(Fraction(0) if crosses else least, largest)

    def sqrt(self) -> Enclosure:
        """The square root."""
        return self.power(Fraction(1, 2))


# A rational number, or an enclosure of a real one.
Number = int | float | Fraction | Enclosure
_KINDS = (int, float, Fraction, Enclosure)


def _root(x: Fraction, degree: int) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the root of a number that is not negative; equal where it is found exactly."""
    if x == 0:
        return x, x
    tops = [sp.integer_nthroot(part, degree) for part in (x.numerator, x.denominator)]
    if all(exact for _, exact in tops):
        root = Fraction(int(tops[0][0]), int(tops[1][0]))
        return root, root
    size = (x.numerator.bit_length() - x.denominator.bit_length()) // degree
    shift = max(DIGITS - size + 2, 0)
    below = int(sp.integer_nthroot((x.numerator << (degree * shift)) // x.denominator, degree)[0])
    return Fraction(below, 1 << shift), Fraction(below + 1, 1 << shift)


def _length(x: Fraction) -> int:
    """Binary digits of the longer part of a fraction."""
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _scaled(x: Fraction, digits: int) -> tuple[int, int, int]:
    """Whole numbers low, high and e with low*2^e <= x <= high*2^e, of so many digits or one more; x is positive."""
    shift = digits - x.numerator.bit_length() + x.denominator.bit_length()
    if shift >= 0:
        low, rest = divmod(x.numerator << shift, x.denominator)
    else:
        low, rest = divmod(x.numerator, x.denominator << -shift)
    return low, low + bool(rest), -shift


def _binary(mantissa: int, exponent: int) -> Fraction:
    """Mantissa * 2^exponent."""
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _bounds(low: int, high: int, exponent: int, digits: int) -> tuple[Fraction, Fraction]:
    """Fractions around what lies between low*2^exponent and high*2^exponent; raises `UndecidedError` for huge ones."""
    most = _RANGE * max(digits, DIGITS // 2)
    if exponent > most:
        raise UndecidedError("a number leaves the range of floats by far")
    if exponent < -most - high.bit_length():
        return Fraction(0), Fraction(1, 1 << most)
    return _binary(low, exponent), _binary(high, exponent)


def _rounded(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """A fraction between two binary ones of so many digits."""
    if x == 0:
        return x, x
    low, high = _bounds(*_scaled(abs(x), digits), digits)
    return (low, high) if x > 0 else (-high, -low)


def _power(x: Fraction, exponent: int, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds of x^exponent, which agree where it has at most so many digits; ``exponent`` is not negative."""
    if abs(x) in (0, 1) or _length(x) * exponent <= digits:
        return (x**exponent,) * 2
    first = _scaled(abs(x), digits)
    low, high, shift = first
    for bit in f"{exponent:b}"[1:]:
        low, high, shift = low * low, high * high, 2 * shift
        if bit == "1":
            low, high, shift = low * first[0], high * first[1], shift + first[2]
        # The bits below are dropped on both sides, downwards and upwards.
        spare = max(high.bit_length() - digits, 0)
        low, high, shift = low >> spare, -(-high >> spare), shift + spare
    below, above = _bounds(low, high, shift, digits)
    return (-above, -below) if x < 0 and exponent % 2 else (below, above)


def _by_mpmath(name: str, x: Enclosure) -> Enclosure:
    """A function of mpmath's interval arithmetic; raises `UndecidedError` outside of its domain."""
    from mpmath.ctx_iv import MPIntervalContext

    if name == "log" and x.low <= 0:
        raise UndecidedError("a logarithm of what may be zero or negative")
    context = MPIntervalContext()
    context.prec = DIGITS
    low, high = (context.mpf(end.numerator) / context.mpf(end.denominator) for end in (x.low, x.high))
    function = getattr(context, name)
    return Enclosure(_rational(function(low)._mpi_[0]), _rational(function(high)._mpi_[1]))  # exact ends


def _rational(number: tuple[int, int, int, int]) -> Fraction:
    """A number of mpmath as the binary fraction that it is."""
    sign, mantissa, exponent, _ = number
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value


def enclose(expr: sp.Expr, values: Mapping[str, Number]) -> Enclosure:
    """An expression of the catalogue at numbers; raises `UndecidedError` where it may have no value there."""
    return _Enclosed(values).visit(expr)


def encloser(
    exprs: Sequence[sp.Expr], values: Mapping[str, Number], digits: int
) -> Callable[[Mapping[str, Number]], list[Enclosure]]:
    """Expressions as a function of the numbers that ``values`` lacks, for many of these.

    What depends on ``values`` alone is evaluated once. Numbers of more than ``digits`` binary digits are rounded
    outwards, so that no power in the number of the round grows without an end.
    """
    fixed = _Enclosed(values)
    for expr in exprs:
        for part in sp.postorder_traversal(expr):
            if part.free_symbols and all(symbol.name in values for symbol in part.free_symbols):
                # What has no value is said to have none where it is needed.
                with suppress(UndecidedError):
                    fixed.visit(part)

    def at(others: Mapping[str, Number]) -> list[Enclosure]:
        here = _Enclosed(others, digits, fixed.seen)
        return [here.visit(expr) for expr in exprs]

    return at


class _Enclosed(Visitor[Enclosure]):
    """``seen`` are parts that were evaluated before, ``digits`` binary digits beyond which a number is rounded."""

    rules: ClassVar = {
        sp.Add: functools.partial(functools.reduce, operator.add),
        sp.Mul: functools.partial(functools.reduce, operator.mul),
        sp.Max: lambda parts: Enclosure(max(part.low for part in parts), max(part.high for part in parts)),
        sp.Min: lambda parts: Enclosure(min(part.low for part in parts), min(part.high for part in parts)),
        sp.log: lambda parts: _by_mpmath("log", parts[0]),
        sp.exp: lambda parts: _by_mpmath("exp", parts[0]),
    }

    def __init__(
        self, values: Mapping[str, Number], digits: int | None = None, seen: Mapping[sp.Expr, Enclosure] | None = None
    ) -> None:
        super().__init__()
        self._seen.update(seen or {})
        self._values, self._digits = values, digits

    @property
    def seen(self) -> Mapping[sp.Expr, Enclosure]:
        """The parts that were evaluated."""
        return self._seen

    def symbol(self, symbol: sp.Symbol) -> Enclosure:
        return Enclosure.of(self._values[symbol.name])

    def number(self, number: sp.Expr) -> Enclosure:
        return Enclosure.of(Fraction(int(number.p), int(number.q))) if number.is_Rational else self.other(number)

    def operation(self, expr: sp.Expr) -> Enclosure:
        if expr.is_Pow and (exponent := self.visit(expr.exp)).exact:
            found = self.visit(expr.base).power(exponent.low, _EXACT if self._digits is None else self._digits)
        else:
            found = super().operation(expr)
        return found if self._digits is None else found.shortened(self._digits)

    def other(self, expr: sp.Expr) -> Enclosure:
        raise UndecidedError(f"{expr} has a part that is not evaluated rigorously")


def outward(value: Enclosure) -> tuple[float, float]:
    """The ends of an enclosure as floats, rounded outwards."""
    return rounded(value.low, -math.inf), rounded(value.high, math.inf)
