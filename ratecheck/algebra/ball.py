"""Matrices of reals enclosed in fixed-point numbers: integers times 2^-bits, all known to one common radius.

Rounding is bounded by what it adds to the radius, entry by entry, so that a result contains the true matrix whatever
the numbers are. Integers have no largest value: nothing overflows, and what is small needs more bits. A product beyond
any float is given up all the same, since a run that grows for 10^9 rounds would fill the memory with digits. With
`EXACT` for bits entries are rationals and nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import identity, product, whole_product
from ratecheck.algebra.repeated import repeated

# Entries are whole numbers, or exact numbers before they are rounded.
Entries = NDArray[np.object_]
# In place of a number of bits: entries are rationals.
EXACT = 0
# Binary digits before the point beyond which a product is given up; the largest float has 1024, its square twice that.
_DIGITS = 1 << 13


@dataclass(frozen=True)
class Ball:
    """All matrices whose entries differ from ``middle``/2^bits by at most ``radius``/2^bits."""

    middle: Entries
    radius: int
    bits: int

    @staticmethod
    def of(entries: Any, bits: int) -> Ball:
        """The smallest that contains a matrix of numbers; raises `UndecidedError` where it cannot be `EXACT`."""
        entries = np.asarray(entries, dtype=object)
        if bits == EXACT:
            return Ball(_rational(entries), 0, EXACT)
        middle = np.zeros(entries.shape, dtype=object)
        radius = 0
        for place, entry in np.ndenumerate(entries):
            if type(entry) is int:
                middle[place] = entry << bits
                continue
            enclosed = Enclosure.of(entry)
            low = (enclosed.low.numerator << bits) // enclosed.low.denominator
            high = -((-enclosed.high.numerator << bits) // enclosed.high.denominator)
            centre = (low + high) // 2
            middle[place] = centre
            radius = max(radius, high - centre, centre - low)
        return Ball(middle, radius, bits)

    @staticmethod
    def identity(size: int, bits: int) -> Ball:
        """The identity matrix."""
        return Ball(identity(size, 1 << bits), 0, bits)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.middle.shape

    @property
    def T(self) -> Ball:
        """The transpose."""
        return Ball(self.middle.T, self.radius, self.bits)

    def __add__(self, other: Ball) -> Ball:
        return Ball(self.middle + other.middle, self.radius + other.radius, self.bits)

    def __sub__(self, other: Ball) -> Ball:
        return Ball(self.middle - other.middle, self.radius + other.radius, self.bits)

    def __matmul__(self, other: Ball) -> Ball:
        if self.bits == EXACT:
            return Ball(product(self.middle, other.middle), 0, EXACT)
        # |sum_k a_k b_k - (...)| <= sum_k |a_k| r_b + r_a sum_k |b_k| + k r_a r_b, and one unit by each rounding.
        inner = self.shape[1]
        rows = max((sum(map(abs, row)) for row in self.middle), default=0) if other.radius else 0
        columns = max((sum(map(abs, column)) for column in other.middle.T), default=0) if self.radius else 0
        spread = rows * other.radius + self.radius * columns + inner * self.radius * other.radius
        found = whole_product(self.middle, other.middle)
        largest = max((entry.bit_length() for entry in (spread, *found.flat)), default=0)
        if largest > 2 * self.bits + _DIGITS:
            raise UndecidedError("the run leaves the range of floats by far")
        return Ball(found >> self.bits, (spread >> self.bits) + 2, self.bits)

    def times(self, other: Ball) -> Ball:
        """The product entry by entry, with a matrix of the same shape or with a single number."""
        if self.bits == EXACT:
            return Ball(self.middle * other.middle, 0, EXACT)
        mine, its = (max(map(abs, each.middle.ravel()), default=0) for each in (self, other))
        spread = mine * other.radius + self.radius * its + self.radius * other.radius
        return Ball((self.middle * other.middle) >> self.bits, (spread >> self.bits) + 2, self.bits)

    def scaled(self, factor: Number) -> Ball:
        """A multiple."""
        return (
            self if isinstance(factor, int | Fraction) and factor == 1 else self.times(Ball.of([[factor]], self.bits))
        )

    def taken(self, rows: Any, columns: Any) -> Ball:
        """The entries at these places, indexed as by ``numpy.ix_``."""
        return Ball(self.middle[np.ix_(rows, columns)], self.radius, self.bits)

    def placed(self, size: int, rows: Sequence[int], columns: Sequence[int]) -> Ball:
        """A square matrix that has this one at these rows and columns, and zeros elsewhere."""
        middle = identity(size, 0)
        middle[np.ix_(rows, columns)] = self.middle
        return Ball(middle, self.radius, self.bits)

    def inner(self, other: Ball) -> Enclosure:
        """Sum over all entries of the products."""
        return (Ball(self.middle.reshape(1, -1), self.radius, self.bits) @ _column(other)).entry(0, 0)

    def entry(self, row: int, column: int) -> Enclosure:
        """An entry as a number."""
        unit = 1 << self.bits
        middle = Fraction(self.middle[row, column])
        return Enclosure(Fraction(middle - self.radius, unit), Fraction(middle + self.radius, unit))

    def power(self, noise: Ball, times: int) -> tuple[Ball, Ball]:
        """A^times and the sum over k < times of A^k noise A^k', by squaring, for times >= 1."""

        def then(first: tuple[Ball, Ball], second: tuple[Ball, Ball]) -> tuple[Ball, Ball]:
            (A, N), (B, M) = first, second
            return B @ A, B @ N @ B.T + M

        return repeated((self, noise), times, then)


def stacked(*parts: Ball) -> Ball:
    """Matrices one above the other."""
    return Ball(np.concatenate([part.middle for part in parts]), max(part.radius for part in parts), parts[0].bits)


def _rational(entries: Entries) -> Entries:
    """Numbers that are known exactly, as fractions."""
    exact = np.empty(entries.shape, dtype=object)
    for place, entry in np.ndenumerate(entries):
        number = Enclosure.of(entry)
        if not number.exact:
            raise UndecidedError("a number of the run is irrational")
        exact[place] = number.low
    return exact


def _column(ball: Ball) -> Ball:
    return Ball(ball.middle.reshape(-1, 1), ball.radius, ball.bits)
