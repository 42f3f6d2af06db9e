"""One round as a pair: second moments of what the state is before it, z, together with what it is after it, z'.

z' = M z + noise, the noise being independent of z and of mean zero, so that every product of linear functions of z and
z' has its expectation from the moment of z. Both states enter as one linear map, ``before z + after z'``: a difference
is taken of the maps, not of expectations.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.moment import Moment, Number, chosen, columns, product, product_error, sandwich, squares
from ratecheck.engines.moments.roundmap import RoundMap, kept


class Transition:
    """The moment before a round and the map of the round."""

    def __init__(self, moment: Moment, round_map: RoundMap) -> None:
        self.moment, self.round_map = moment, round_map

    @cached_property
    def _spread(self) -> tuple[Array, Array, Array]:
        return self.round_map.spread(self.moment)

    def _added(self, after: Array) -> list[Array]:
        """The terms that the round adds to the second moments of these rows of z'."""
        if 2 * len(after) < after.shape[1]:
            return self.round_map.spread_of(after, self.moment)
        return [sandwich(after, added) for added in self._spread]

    @cached_property
    def _still(self) -> NDArray[np.bool_]:
        return kept(self.round_map.mean)

    @cached_property
    def _sizes(self) -> Array:
        return np.abs(self.round_map.mean)

    @cached_property
    def _loose(self) -> Array:
        """A bound of the error of z' by the error of the map."""
        return np.asarray(self.round_map.error @ self.moment.roots)

    def of(self, before: Array, after: Array | None = None, size: Array | None = None) -> Moment:
        """The moment of ``before z + after z'``, rows of any number; ``size`` bounds the terms of ``before``."""
        moment, round_map = self.moment, self.round_map
        matrix = before if after is None else before + chosen(after, round_map.mean)
        matrices = [sandwich(matrix, part) for part in (moment.covariance, moment.off, moment.rounding)]
        size, unit = np.abs(before) if size is None else size, len(moment.mean) + 8
        loose = np.abs(matrix) @ moment.loose
        if after is not None:
            matrices = [part + added for part, added in zip(matrices, self._added(after), strict=True)]
            # What a round leaves as it is cancels exactly.
            still = self._still
            size = np.where(still, np.minimum(size, np.abs(before + after)), size)
            moves = columns(after * ~still)
            size = size + chosen(np.abs(after[:, moves]), self._sizes[moves])
            loose = loose + np.abs(after) @ self._loose
        covariance, off, rounding = matrices
        terms = size @ moment.spreads
        rough = np.hypot(np.abs(matrix) @ moment.rough, np.sqrt(2 * unit) * (terms + self._rough(covariance)))
        return Moment(matrix @ moment.mean, covariance, off, rounding, loose + 2 * unit * (size @ moment.roots), rough)

    @staticmethod
    def _rough(covariance: Array) -> Array:
        return np.asarray(np.sqrt(np.abs(np.diagonal(covariance))))

    def square(self, before: Array, after: Array | None = None, size: Array | None = None) -> Number:
        """E||before z + after z'||^2; ``size`` bounds the terms of both together."""
        rows = self.of(before, after, size)
        return rows.square(np.eye(len(before)))

    def inner(
        self,
        left: Array,
        before: Array,
        after: Array | None = None,
        size: Array | None = None,
        more: Array | None = None,
    ) -> Number:
        """E<left z, before z + after z'>; ``size`` bounds the terms of ``left``, ``more`` those of the other."""
        first, second = self.of(left, size=size), self.of(before, after, more)
        matrix = before if after is None else before + chosen(after, self.round_map.mean)
        one, other = columns(left), columns(matrix)
        between = product(left, self.moment.covariance, one, other)
        value = float((first.mean * second.mean).sum() + np.sum(between * matrix[:, other]))
        each = np.eye(len(left))
        return value, product_error(first.lengths(each), second.lengths(each))

    @cached_property
    def magnitude(self) -> Array:
        """|E z| + the standard deviations of z, entry by entry."""
        return np.sqrt(squares(self.moment.mean)) + self.moment.spreads


def scaled(factor: float, number: Number) -> Number:
    """A multiple."""
    return factor * number[0], abs(factor) * number[1]


def total(numbers: Iterable[Number]) -> Number:
    """The sum."""
    values, errors = zip((0.0, 0.0), *numbers, strict=True)
    return float(sum(values)), float(sum(errors))
