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

from ratecheck.engines.exact import Moment, RoundMap

Array = NDArray[np.float64]
# A value and its rounding error.
Number = tuple[float, float]

_EPS = float(np.finfo(float).eps)


class Transition:
    """The moment before a round and the map of the round."""

    def __init__(self, moment: Moment, round_map: RoundMap) -> None:
        self.moment, self.round_map = moment, round_map

    @cached_property
    def _spread(self) -> Array:
        return self.round_map.spread(self.moment)

    def of(self, before: Array, after: Array | None = None) -> Moment:
        """The moment of ``before z + after z'``, rows of any number."""
        moment, matrix, size, spread = self.moment, before, np.abs(before), np.zeros(2 * (len(before),))
        if after is not None:
            matrix = before + after @ self.round_map.mean
            size = size + np.abs(after) @ self.round_map.size
            spread = after @ self._spread @ after.T
        unit = len(moment.mean) * _EPS
        roots = np.sqrt(np.maximum(np.diagonal(moment.covariance), 0.0))
        fresh = np.sqrt(np.maximum(np.diagonal(spread), 0.0))
        return Moment(
            matrix @ moment.mean,
            matrix @ moment.covariance @ matrix.T + spread,
            np.abs(matrix) @ moment.mean_error + unit * (size @ np.abs(moment.mean)),
            np.abs(matrix) @ moment.root_error + np.sqrt(unit) * (size @ roots + fresh),
        )

    def square(self, before: Array, after: Array | None = None) -> Number:
        """E||before z + after z'||^2."""
        rows = self.of(before, after)
        value = float(rows.mean @ rows.mean + np.trace(rows.covariance))
        error = (2 * np.abs(rows.mean) + rows.mean_error) @ rows.mean_error + rows.root_error @ rows.root_error
        return value, float(error)

    def inner(self, left: Array, before: Array, after: Array | None = None) -> Number:
        """E<left z, before z + after z'>."""
        first, second = self.of(left), self.of(before, after)
        matrix = before if after is None else before + after @ self.round_map.mean
        value = float(first.mean @ second.mean + np.sum((left @ self.moment.covariance) * matrix))
        error = np.abs(first.mean) @ second.mean_error + np.abs(second.mean) @ first.mean_error
        return value, float(error + first.mean_error @ second.mean_error + first.root_error @ second.root_error)

    @cached_property
    def magnitude(self) -> Array:
        """How large the entries of z are."""
        return np.abs(self.moment.mean) + np.sqrt(np.maximum(np.diagonal(self.moment.covariance), 0.0))


def scaled(factor: float, number: Number) -> Number:
    """A multiple."""
    return factor * number[0], abs(factor) * number[1]


def total(numbers: Iterable[Number]) -> Number:
    """The sum."""
    values, errors = zip((0.0, 0.0), *numbers, strict=True)
    return float(sum(values)), float(sum(errors))
