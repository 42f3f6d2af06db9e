"""Sparse matrices column by column, as the conic solver Clarabel reads them.

It asks a matrix for its arrays, so that SciPy's sparse matrices, whose import takes as long as a small search, are not
needed for a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """A matrix of this ``shape``: column j has ``data[k]`` in row ``indices[k]`` for ``indptr[j] <= k < indptr[j+1]``.

    Rows ascend in every column, and none comes twice.

    Examples
    --------
    >>> SparseColumns.of([2.0, 1.0, 3.0], [0, 1, 0], [1, 0, 1], (2, 2)).data.tolist()
    [1.0, 5.0]
    """

    data: Array
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    # What Clarabel asks, which sorts and adds up otherwise.
    has_canonical_format: bool = True

    @classmethod
    def of(
        cls, data: Sequence[float], rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]
    ) -> SparseColumns:
        """The matrix with these entries, the sum of those that are in one place."""
        places = np.asarray(columns, dtype=np.int64) * shape[0] + np.asarray(rows, dtype=np.int64)
        own, which = np.unique(places, return_inverse=True)
        counts = np.bincount(own // max(shape[0], 1), minlength=shape[1])
        return cls(
            np.asarray(np.bincount(which, weights=np.asarray(data, dtype=float), minlength=len(own)), dtype=float),
            own % max(shape[0], 1),
            np.concatenate([[0], np.cumsum(counts)]),
            shape,
        )

    @classmethod
    def zeros(cls, size: int) -> SparseColumns:
        """The square matrix of zeros, the quadratic part of a linear program."""
        return cls.of((), (), (), (size, size))
