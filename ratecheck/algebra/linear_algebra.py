"""Linear algebra on matrices of rationals, without rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Entries = NDArray[np.object_]


def rationals(array: Any) -> Entries:
    """An array of floats as the binary fractions that they are."""
    floats = np.asarray(array, dtype=float)
    exact = np.empty(floats.shape, dtype=object)
    for place, value in np.ndenumerate(floats):
        exact[place] = Fraction(float(value))
    return exact


def identity(size: int) -> Entries:
    """The identity matrix."""
    matrix = np.full((size, size), Fraction(0), dtype=object)
    np.fill_diagonal(matrix, Fraction(1))
    return matrix


def inverse(matrix: Entries) -> Entries:
    """The inverse of a positive definite matrix, by elimination."""
    size = len(matrix)
    rows = np.concatenate([matrix + Fraction(0), identity(size)], axis=1)
    for k in range(size):
        rows[k] = rows[k] / rows[k, k]
        for j in range(size):
            if j != k:
                rows[j] = rows[j] - rows[j, k] * rows[k]
    return rows[:, size:]


def definite(matrix: Entries) -> bool:
    """Whether a symmetric matrix is positive definite: all pivots are positive."""
    found = _pivots(matrix, np.full(len(matrix), Fraction(0), dtype=object))
    return found is not None and all(pivot > 0 for pivot, _ in found)


def semidefinite(matrix: Entries) -> bool:
    """Whether a symmetric matrix is positive semidefinite."""
    return _pivots(matrix, np.full(len(matrix), Fraction(0), dtype=object)) is not None


def minimum(matrix: Entries, slope: Entries) -> Fraction | None:
    """Least value of x'Ax/2 - b'x; None where it is unbounded below."""
    found = _pivots(matrix, slope)
    if found is None or any(pivot == 0 and entry != 0 for pivot, entry in found):
        return None
    return -sum((entry * entry / (2 * pivot) for pivot, entry in found if pivot != 0), Fraction(0))


def _pivots(matrix: Entries, right: Entries) -> list[tuple[Fraction, Fraction]] | None:
    """D and L^-1 b of A = L D L'; None where A is not positive semidefinite.

    A pivot of zero has only zeros beside it in a semidefinite matrix.
    """
    A, b = matrix + Fraction(0), right + Fraction(0)
    found = []
    for k in range(len(A)):
        pivot = A[k, k]
        if pivot < 0 or (pivot == 0 and any(entry != 0 for entry in A[k, k + 1 :])):
            return None
        found.append((pivot, b[k]))
        if pivot:
            for j in range(k + 1, len(A)):
                share = A[j, k] / pivot
                A[j, k:] = A[j, k:] - share * A[k, k:]
                b[j] = b[j] - share * b[k]
    return found
