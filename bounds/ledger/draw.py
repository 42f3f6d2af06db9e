"""Small random instances in rational numbers, and random variables whose expectations are exact.

A `Draw` gives reproducible rational numbers, vectors and sizes. `NoisyRational` is a random variable that is an affine
function of independent noises with mean 0 and variance 1: with quadratic objectives every iterate of the methods is
one, and the expectation of a product of two is a finite sum. `subsets` and `mean` enumerate what is sampled.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Rational = Fraction | int


class Draw:
    """Reproducible rational numbers: the same index and seed give the same instance."""

    def __init__(self, index: int, seed: str = "") -> None:
        # A string seeds the same numbers on every machine and in every process.
        self._random = random.Random(f"{seed}/{index}")  # noqa: S311  # no secret
        self.index = index
        self._seed = seed
        self.shown: dict[str, Rational | Sequence[Rational]] = {}

    def again(self) -> Draw:
        """Draw of the same numbers again, from the first on."""
        return Draw(self.index, self._seed)

    def show(self, **values: Rational | Sequence[Rational]) -> None:
        """Name values of the instance, by the symbols of the paper, for evidence to print them."""
        self.shown.update(values)

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high."""
        return self._random.randint(low, high)

    def rational(self, low: Rational = -3, high: Rational = 3) -> Fraction:
        """A rational number from low to high; a tenth of the time one of the ends."""
        if self._random.random() < 0.1:
            return Fraction(self._random.choice((low, high)))
        parts = self._random.choice((1, 2, 3, 4, 6, 12))
        return Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(self._random.randint(0, parts), parts)

    def positive(self, high: Rational = 3) -> Fraction:
        """A positive rational number up to high, now and then a very small one."""
        if self._random.random() < 0.1:
            return Fraction(high) / 1000
        return self.rational(Fraction(high) / 12, high)

    def vector(self, dimension: int, low: Rational = -3, high: Rational = 3) -> tuple[Fraction, ...]:
        """A vector of such numbers."""
        return tuple(self.rational(low, high) for _ in range(dimension))


def dot(one: Sequence[Rational], other: Sequence[Rational]) -> Fraction:
    """The inner product of two vectors of numbers."""
    return sum((Fraction(a) * b for a, b in zip(one, other, strict=True)), Fraction(0))


def square(vector: Sequence[Rational]) -> Fraction:
    """The squared norm of a vector of numbers."""
    return dot(vector, vector)


def plus(*summands: Sequence[Rational]) -> tuple[Fraction, ...]:
    """The sum of vectors of numbers."""
    return tuple(sum(map(Fraction, entries), Fraction(0)) for entries in zip(*summands, strict=True))


def times(scalar: Rational, vector: Sequence[Rational]) -> tuple[Fraction, ...]:
    """A multiple of a vector of numbers."""
    return tuple(scalar * Fraction(entry) for entry in vector)


def mean(values: Iterable[Rational]) -> Fraction:
    """The average of equally likely values."""
    listed = [Fraction(value) for value in values]
    return sum(listed, Fraction(0)) / len(listed)


def subsets(n: int, m: int) -> Iterator[tuple[int, ...]]:
    """The subsets of size m of 0 ... n-1, which uniform sampling makes equally likely."""
    return itertools.combinations(range(n), m)


@dataclass(frozen=True)
class NoisyRational:
    """``constant + sum_j noises[j] * xi_j`` with independent xi_j of mean 0 and variance 1."""

    constant: Fraction = Fraction(0)
    noises: Mapping[object, Fraction] = field(default_factory=dict)

    def __add__(self, other: NoisyRational | Rational) -> NoisyRational:
        if not isinstance(other, NoisyRational):
            return NoisyRational(self.constant + other, self.noises)
        total = dict(self.noises)
        for name, scale in other.noises.items():
            total[name] = total[name] + scale if name in total else scale
        return NoisyRational(self.constant + other.constant, total)

    __radd__ = __add__

    def __neg__(self) -> NoisyRational:
        return -1 * self

    def __sub__(self, other: NoisyRational | Rational) -> NoisyRational:
        if not isinstance(other, NoisyRational):
            return NoisyRational(self.constant - other, self.noises)
        total = dict(self.noises)
        for name, scale in other.noises.items():
            total[name] = total[name] - scale if name in total else -scale
        return NoisyRational(self.constant - other.constant, total)

    def __rsub__(self, other: Rational) -> NoisyRational:
        return -self + other

    def __rmul__(self, scalar: Rational) -> NoisyRational:
        return NoisyRational(self.constant * scalar, {k: c * scalar for k, c in self.noises.items()})

    def __mul__(self, scalar: Rational) -> NoisyRational:
        return scalar * self

    def __truediv__(self, scalar: Rational) -> NoisyRational:
        return Fraction(1, 1) / Fraction(scalar) * self

    def given(self, known: Iterable[object]) -> NoisyRational:
        """The conditional expectation given the noises named."""
        kept = set(known)
        return NoisyRational(self.constant, {k: c for k, c in self.noises.items() if k in kept})


def noise(name: object, scale: Rational = 1) -> NoisyRational:
    """The noise of that name, times scale: the same name is the same random variable."""
    return NoisyRational(Fraction(0), {name: Fraction(scale)})


def expect(one: NoisyRational, other: NoisyRational | None = None) -> Fraction:
    """E[one], or E[one * other]."""
    if other is None:
        return one.constant
    shared = one.noises.keys() & other.noises.keys()
    return one.constant * other.constant + sum((one.noises[k] * other.noises[k] for k in shared), Fraction(0))


def expect_square(vector: NoisyRational | Sequence[NoisyRational]) -> Fraction:
    """E||vector||^2, for a number or a sequence of coordinates."""
    entries = [vector] if isinstance(vector, NoisyRational) else vector
    return sum((expect(entry, entry) for entry in entries), Fraction(0))
