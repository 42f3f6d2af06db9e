"""Polynomials and rational functions of one variable over the fractions, and polynomials in Bernstein's basis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ratecheck.errors import InputError


@dataclass(frozen=True)
class Polynomial:
    """A polynomial by its coefficients, the constant one first; the last one is not 0."""

    coefficients: tuple[Fraction, ...] = ()

    @staticmethod
    def of(*coefficients: Fraction | int) -> Polynomial:
        """The polynomial with these coefficients.

        >>> Polynomial.of(1, 2, 0).degree
        1
        """
        found = [Fraction(c) for c in coefficients]
        while found and not found[-1]:
            found.pop()
        return Polynomial(tuple(found))

    @staticmethod
    def power(exponent: int) -> Polynomial:
        """x^exponent."""
        return Polynomial.of(*[0] * exponent, 1)

    @staticmethod
    def of_bernstein(values: Sequence[Fraction | int], low: Fraction, high: Fraction) -> Polynomial:
        """sum_k values_k C(d, k) (x - low)^k (high - x)^(d - k)/(high - low)^d.

        >>> Polynomial.of_bernstein([0, 1], Fraction(0), Fraction(2)).coefficients
        (Fraction(0, 1), Fraction(1, 2))
        """
        found = Polynomial()
        for k, value in enumerate(values):
            found = found.plus(bernstein_basis(len(values) - 1, k, low, high).times(value))
        return found

    @property
    def degree(self) -> int:
        """The degree, 0 of the polynomial 0 as well."""
        return max(len(self.coefficients) - 1, 0)

    def __bool__(self) -> bool:
        return bool(self.coefficients)

    def at(self, x: Fraction) -> Fraction:
        """The value at x."""
        value = Fraction(0)
        for c in reversed(self.coefficients):
            value = value * x + c
        return value

    def plus(self, other: Polynomial) -> Polynomial:
        """The sum."""
        longest = max(len(self.coefficients), len(other.coefficients))
        mine, others = (
            each.coefficients + (Fraction(0),) * (longest - len(each.coefficients)) for each in (self, other)
        )
        return Polynomial.of(*(a + b for a, b in zip(mine, others, strict=True)))

    def times(self, other: Polynomial | Fraction | int) -> Polynomial:
        """The product with a polynomial or a number."""
        factors = other.coefficients if isinstance(other, Polynomial) else (Fraction(other),)
        found = [Fraction(0)] * (len(self.coefficients) + len(factors))
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(factors):
                found[i + j] += a * b
        return Polynomial.of(*found)

    def divided(self, by: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder of the division by a polynomial that is not 0."""
        rest, found = list(self.coefficients), [Fraction(0)] * max(len(self.coefficients), 1)
        while len(rest) >= len(by.coefficients):
            share, shift = rest[-1] / by.coefficients[-1], len(rest) - len(by.coefficients)
            found[shift] += share
            for k, c in enumerate(by.coefficients):
                rest[shift + k] -= share * c
            rest.pop()
        return Polynomial.of(*found), Polynomial.of(*rest)

    def common(self, other: Polynomial) -> Polynomial:
        """The greatest common divisor, of leading coefficient 1."""
        a, b = self, other
        while b:
            a, b = b, a.divided(b)[1]
        return a.times(1 / a.coefficients[-1])

    def multiple_of(self, other: Polynomial) -> Polynomial:
        """The least common multiple of two polynomials that are not 0."""
        return self.times(other.divided(self.common(other))[0])

    def positive_on(self, low: Fraction, high: Fraction) -> bool:
        """Whether Bernstein's coefficients show it positive for low < x <= high, and at low where that is not 0.

        A power of x is positive there.
        """
        rest = self
        while rest and not rest.coefficients[0] and low == 0:
            rest = Polynomial(rest.coefficients[1:])
        return bool(rest) and all(c > 0 for c in bernstein(rest, rest.degree, low, high))


def bernstein_basis(degree: int, k: int, low: Fraction, high: Fraction) -> Polynomial:
    """C(d, k) (x - low)^k (high - x)^(d - k)/(high - low)^d."""
    up, down = Polynomial.of(-low, 1).times(1 / (high - low)), Polynomial.of(high, -1).times(1 / (high - low))
    term = Polynomial.of(math.comb(degree, k))
    for factor in [up] * k + [down] * (degree - k):
        term = term.times(factor)
    return term


def bernstein(poly: Polynomial, degree: int, low: Fraction, high: Fraction) -> list[Fraction]:
    """Coefficients in Bernstein's basis of a degree that is at least the polynomial's own.

    >>> bernstein(Polynomial.of(0, 0, 1), 2, Fraction(0), Fraction(1))
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    inner = Polynomial()
    step = Polynomial.of(low, high - low)
    for c in reversed(poly.coefficients):
        inner = inner.times(step).plus(Polynomial.of(c))
    shares = [c / math.comb(degree, i) for i, c in enumerate(inner.coefficients)]
    return [sum((math.comb(j, i) * c for i, c in enumerate(shares[: j + 1])), Fraction(0)) for j in range(degree + 1)]


@dataclass(frozen=True)
class RationalFunction:
    """A rational function in lowest terms, its denominator with leading coefficient 1."""

    above: Polynomial
    below: Polynomial

    def above_of(self, common: Polynomial) -> Polynomial:
        """The numerator over a multiple of the denominator."""
        return self.above.times(common.divided(self.below)[0])


def reconstructed(points: Sequence[Fraction], values: Sequence[Fraction], count: int) -> RationalFunction:
    """The rational function with values at points, by Thiele's continued fraction of the first ``count`` of them.

    Raises `InputError` where the others are not on it.

    >>> q = reconstructed([Fraction(x) for x in range(1, 8)], [Fraction(x, x + 1) for x in range(1, 8)], 6)
    >>> q.above.coefficients, q.below.coefficients
    ((Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 1), Fraction(1, 1)))
    """
    if len({*values}) == 1:
        return RationalFunction(Polynomial.of(values[0]), Polynomial.of(1))
    rest, terms = [*zip(points[:count], values[:count], strict=True)], []
    while rest:
        (x, value), *rest = rest
        terms.append((x, value))
        if all(v == value for _, v in rest):
            break
        if any(v == value for _, v in rest):
            raise InputError("a coefficient is no rational function of low degree on this range")
        rest = [(y, (y - x) / (v - value)) for y, v in rest]
    above, below = Polynomial.of(terms[-1][1]), Polynomial.of(1)
    for x, value in reversed(terms[:-1]):
        above, below = above.times(value).plus(below.times(Polynomial.of(-x, 1))), above
    shared = above.common(below)
    above, below = above.divided(shared)[0], below.divided(shared)[0]
    scale = 1 / below.coefficients[-1]
    found = RationalFunction(above.times(scale), below.times(scale))
    if any(
        not (at := found.below.at(x)) or found.above.at(x) != at * value
        for x, value in zip(points, values, strict=True)
    ):
        raise InputError("a coefficient is no rational function of low degree on this range")
    return found
