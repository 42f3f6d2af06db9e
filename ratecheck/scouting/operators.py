"""Constants of a batch of affine operators z -> M_i z - c_i, those of min-max problems, (N,) each.

Numbers are those of `ratecheck.certification` without their certificates. A constant that does not exist is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.problems import MinMax
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.facts import AffineBatch, ProblemBatch, positive
from ratecheck.scouting.runs import Batch, BatchRun

# Singular values that count as 0, relative to the largest, and what is left of an equation with a solution.
_FLAT, _REST = 1e-14, 1e-12


@dataclass(frozen=True)
class OperatorBatch(AffineBatch):
    """Operators F_i(z) = H_i z - g_i, H_i (N, n, d, d) being what `MinMax.operator` calls M_i, and g_i (N, n, d).

    ``layout`` are the coordinates of blocks: all of them, or x and y by themselves.
    """

    layout: Mapping[str, int]

    @classmethod
    def of(
        cls, problems: Sequence[MinMax], starts: Sequence[Mapping[str, Any]], noise: Mapping[str, Array],
        parameters: Mapping[str, Array],
    ) -> OperatorBatch:  # fmt: skip
        H, g = (np.array(each) for each in zip(*(problem.operator() for problem in problems), strict=True))
        start = np.zeros_like(g)
        for k, own in enumerate(starts):
            start[k] = np.asarray(own.get("x0", 0.0), dtype=float)
        return cls(H, g, problems[0].d_u, start, noise, parameters, problems[0].layout)

    def width(self, block: str) -> int:
        return self.layout[block]

    def followed(self, batch: Batch, rows: NDArray[np.int64], read: Callable[[BatchRun], Array]) -> Array:
        return read(OperatorRun(replace(batch, forms=False)))

    @cached_property
    def _zero(self) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """The zero (N, d) of least norm of the mean operator, and whether there is one, and only one."""
        left, values, right = np.linalg.svd(self.H.mean(axis=1))
        along = np.einsum("bji,bj->bi", left, self.g.mean(axis=1))
        kept = values > _FLAT * values[:, :1]
        rest = np.where(kept, 0.0, np.abs(along)).max(axis=1)
        exists = np.asarray(rest <= _REST * np.abs(along).max(axis=1))
        with np.errstate(all="ignore"):
            point = np.einsum("bji,bj->bi", right, np.where(kept, along / values, 0.0))
        return point, exists, exists & kept.all(axis=1)

    @cached_property
    def centre(self) -> Array:  # type: ignore[override]  # computed when needed
        """The zero as points of the clients, (N, n, d); NaN where there is none."""
        point, exists, _ = self._zero
        return np.repeat(np.where(exists[:, None], point, np.nan)[:, None], self.n, axis=1)

    @cached_property
    def lowest(self) -> Array:  # type: ignore[override]  # there is no function
        """NaN: an operator has no infimum."""
        return np.full(len(self.g), np.nan)

    def _lipschitz(self) -> Array:
        """L, the largest norm of an H_i."""
        return np.asarray(np.linalg.norm(self.H, 2, axis=(2, 3)).max(axis=1))

    @staticmethod
    def _least(H: Array) -> Array:
        """The least eigenvalues of the symmetric parts of (..., d, d)."""
        return np.asarray(np.linalg.eigvalsh((H + np.swapaxes(H, -1, -2)) / 2)[..., 0])

    def _monotone(self) -> Array:
        return positive(self._least(self.H.mean(axis=1)))

    def _monotone_clients(self) -> Array:
        return positive(self._least(self.H).min(axis=1))

    def _distance(self) -> Array:
        """|z^0 - z*|^2 with the zero of least norm."""
        found = np.sum((self.start[:, 0] - self._zero[0]) ** 2, axis=1)
        return np.where(self._zero[1], found, np.inf)

    def _at_zero(self) -> Array:
        """The root of the mean of |F_i(z*)|^2, where z* is the only zero."""
        there = np.einsum("bnij,bj->bni", self.H, self._zero[0]) - self.g
        return np.where(self._zero[2], np.sqrt(np.sum(there**2, axis=2).mean(axis=1)), np.inf)

    _FACTS: ClassVar[Mapping[str, Callable[[Any], Array]]] = {
        "L": _lipschitz,
        "strong_convexity": _monotone,
        "clients_strong_convexity": _monotone_clients,
        "distance2_0": _distance,
        "minimiser_heterogeneity": _at_zero,
        "dimension": ProblemBatch.dimension,
    }


class OperatorRun(BatchRun):
    """The quantities of a batch on operators, which are no gradients of functions with values."""

    def _values(self, i: int, points: list[Array], gradients: list[Array]) -> tuple[Array, Array, float]:
        raise Unscouted("operators have no values")
