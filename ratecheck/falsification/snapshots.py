"""A run before each round, in vectors of any kind: points of a performance-estimation problem, rationals, floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ratecheck.algorithms.model.algorithm import Term
from ratecheck.algorithms.model.algorithm import TermOver as Clients

# Anything that can be added and scaled, and what the product of two such things is.
Vector = Any
Scalar = Any
Oracle = Callable[[int, Vector], Vector]
Inner = Callable[[Vector, Vector], Scalar]
Convert = Callable[[float], Scalar]


@dataclass(frozen=True)
class Snapshot:
    """The run before one round: the recorded point, the gradients of the f_i there, and what the method records.

    ``values`` are the f_i there. Both are empty where the method makes do without them, as one of proximal steps does.
    Where each client records at a point of its own, ``point`` is None.
    """

    point: Vector
    gradients: tuple[Vector, ...]
    records: tuple[Mapping[str, tuple[Term, ...]], ...]
    values: tuple[Scalar, ...] = ()

    def square(self, inner: Inner) -> Scalar:
        """||grad f||^2, f being the mean of the f_i."""
        gradient = mean(self.gradients)
        return inner(gradient, gradient)

    def squares(self, inner: Inner) -> Scalar:
        """sum_i ||grad f_i||^2."""
        return total([inner(gradient, gradient) for gradient in self.gradients])

    def dissimilarity(self, inner: Inner) -> Scalar:
        """(1/n) sum_i ||grad f_i - grad f||^2."""
        gradient = mean(self.gradients)
        return mean([inner(each - gradient, each - gradient) for each in self.gradients])

    def record(self, name: str, inner: Inner, convert: Convert) -> Scalar:
        """A recorded quantity, such as G_u."""
        values = []
        for terms in zip(*(records[name] for records in self.records), strict=True):
            lefts, rights = [term.left for term in terms], [term.right for term in terms]
            if terms[0].over is Clients.CLIENTS:
                value = mean([inner(left, right) for left, right in zip(lefts, rights, strict=True)])
            else:
                value = inner(mean(lefts), mean(rights))
            values.append(convert(terms[0].factor) * value)
        return total(values)


# Before each round the outcomes of what was random until then, all equally likely: one where nothing is random. Those
# that follow from the same outcome of the round before stand together, equally many for each.
Run = Sequence[tuple[Snapshot, ...]]


def offspring(run: Run, t: int, branch: int) -> tuple[Snapshot, ...]:
    """The outcomes before round ``t`` + 1 that follow from one before round ``t``."""
    each = len(run[t + 1]) // len(run[t])
    return run[t + 1][each * branch : each * (branch + 1)]


@dataclass(frozen=True)
class Lowest:
    """Inf f, and the minimiser with the gradients of the f_i there, None and none where none is supposed to exist."""

    value: Scalar
    point: Vector | None = None
    gradients: tuple[Vector, ...] = ()

    def heterogeneity(self, inner: Inner) -> Scalar:
        """(1/n) sum_i ||grad f_i(x*)||^2."""
        return mean([inner(each, each) for each in self.gradients])


def total(values: Sequence[Scalar]) -> Scalar:
    """The sum, for things that know no zero."""
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


def mean(values: Sequence[Scalar]) -> Scalar:
    """The average."""
    return total(values) / len(values)
