"""Sparse matrices by columns, in the form that the solver of semidefinite programs reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """A sparse matrix: column k has the entries ``data`` in the rows ``indices`` from ``indptr[k]`` to the next.

    Clarabel asks for these fields of `scipy.sparse.csc_matrix`, whose import takes longer than most programs do.
    """

    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    data: Array
    # Rows of a column are in order, and each is there once.
    has_canonical_format: bool = True

    @classmethod
    def of(
        cls, shape: tuple[int, int], data: Sequence[float] = (), rows: Sequence[int] = (), columns: Sequence[int] = ()
    ) -> SparseColumns:
        """The matrix with these entries, those at one place added."""
        places = np.asarray(columns, dtype=np.int64) * shape[0] + np.asarray(rows, dtype=np.int64)
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        total = np.add.reduceat(np.asarray(data, dtype=float)[order], first)
        different = ordered[first]
        starts = np.searchsorted(different, np.arange(shape[1] + 1) * shape[0])
        return cls(shape, starts, different % max(shape[0], 1), total)
