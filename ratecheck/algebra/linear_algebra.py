"""Linear algebra without rounding: matrices of rationals, and where noted of rational functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Entries = NDArray[np.object_]
# Types whose numerators and denominators are read.
_RATIONAL = (int, Fraction)


def rationals(array: Any) -> Entries:
    """An array of floats as the binary fractions that they are."""
    floats = np.asarray(array, dtype=float)
    exact = np.empty(floats.shape, dtype=object)
    for place, value in np.ndenumerate(floats):
        exact[place] = Fraction(float(value))
    return exact


def identity(size: int, one: Fraction | int = Fraction(1)) -> Entries:
    """The identity matrix times a number, of whose type all entries are."""
    matrix = np.full((size, size), 0 * one, dtype=object)
    np.fill_diagonal(matrix, one)
    return matrix


def product(left: Entries, right: Entries) -> Entries:
    """The product of two exact matrices.

    Rows of the first and columns of the second are brought over a common denominator, so that whole numbers are
    multiplied, and one fraction is reduced for each entry of the result.

    >>> product(rationals([[0.5, 0.25]]), rationals([[2], [4]])).tolist()
    [[Fraction(2, 1)]]
    """
    rows, columns = _whole(left), _whole(right.T)
    if rows is None or columns is None:
        return np.asarray(left.dot(right), dtype=object)
    found = whole_product(rows[0], columns[0].T)
    for (i, j), entry in np.ndenumerate(found):
        found[i, j] = Fraction(entry, rows[1][i] * columns[1][j])
    return found


def whole_product(left: Entries, right: Entries) -> Entries:
    """The product of two matrices of whole numbers, in which zeros of sparse ones are passed over."""
    (size, inner), last = left.shape, right.shape[1]
    kept = list(zip(left.T.astype(bool), right.astype(bool), strict=True))
    if not inner or 2 * sum(int(a.sum()) * int(b.sum()) for a, b in kept) > size * inner * last:
        return left.dot(right) if inner else np.full((size, last), 0, dtype=object)
    found = np.full((size, last), 0, dtype=object)
    for k, (a, b) in enumerate(kept):
        if a.any() and b.any():
            found[np.ix_(a, b)] += np.multiply.outer(left[a, k], right[k, b])
    return found


def _whole(matrix: Entries) -> tuple[Entries, list[int]] | None:
    """A matrix times the common denominators of its rows, and these; None where a number is no rational."""
    whole, denominators = np.full(matrix.shape, 0, dtype=object), []
    for i, row in enumerate(matrix):
        if not all(type(entry) in _RATIONAL for entry in row):
            return None
        common = math.lcm(*(entry.denominator for entry in row))
        whole[i] = [entry.numerator * (common // entry.denominator) for entry in row]
        denominators.append(common)
    return whole, denominators


def inverse(matrix: Entries) -> Entries:
    """The inverse of a positive definite matrix, by elimination."""
    found = _solved(matrix, identity(len(matrix)))
    if found is None:
        raise ZeroDivisionError("a singular matrix has no inverse")
    return found


def zero_of(matrix: Entries, right: Entries) -> Entries | None:
    """The only x with A x = b, A of any kind; None where there is none, or several.

    >>> zero_of(rationals([[0, 2], [-1, 0]]), rationals([1, 1])).tolist()
    [Fraction(-1, 1), Fraction(1, 2)]
    """
    found = _solved(matrix, np.reshape(right, (len(matrix), 1)))
    return None if found is None else found[:, 0]


def _solved(matrix: Entries, right: Entries) -> Entries | None:
    """The only X with A X = B, by elimination; None where there is none, or several."""
    size = len(matrix)
    rows = np.concatenate([matrix, right], axis=1) + Fraction(0)
    for k in range(size):
        pivot = next((j for j in range(k, size) if rows[j, k] != 0), None)
        if pivot is None:
            return None
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] = rows[k] / rows[k, k]
        for j in range(size):
            if j != k and rows[j, k] != 0:
                rows[j] = rows[j] - rows[j, k] * rows[k]
    return rows[:, size:]


def definite(matrix: Entries) -> bool:
    """Whether a symmetric matrix is positive definite: all pivots are positive."""
    found = squares(matrix.tolist())
    return found is not None and len(found) == len(matrix)


def semidefinite(matrix: Entries) -> bool:
    """Whether a symmetric matrix is positive semidefinite."""
    return squares(matrix.tolist()) is not None


def minimum(matrix: Entries, slope: Entries) -> Fraction | None:
    """Least value of x'Ax/2 - b'x; None where it is unbounded below."""
    found, b, least = squares(matrix.tolist()), slope.tolist(), Fraction(0)
    if found is None:
        return None
    for k, pivot, row in found:
        entry = b[k]
        least -= Fraction(entry * entry) / (2 * pivot)
        b = [value - entry * share for value, share in zip(b, row, strict=True)]
    return None if any(b) else least


Field = TypeVar("Field", bound=Any)


def squares(
    matrix: Sequence[Sequence[Field]],
    nonnegative: Callable[[Field], bool] = lambda pivot: pivot >= 0,
    *,
    simplified: Callable[[Field], Field] = lambda entry: entry,
    order: Callable[[int, Field], Any] = lambda k, _: k,
) -> list[tuple[int, Field, list[Field]]] | None:
    """Positions k, pivots d_k != 0 and rows l_k with A = sum_k d_k l_k l_k' and l_k[k] = 1, for a symmetric matrix.

    None where a pivot is not ``nonnegative``, or is 0 beside another entry: then A is not positive semidefinite. The
    entries may be rational functions; ``simplified`` brings one into a form that is 0 where it vanishes, and the pivot
    of the least ``order(k, entry)`` is next.
    """
    rest = [list(row) for row in matrix]
    size, open_ = len(rest), list(range(len(rest)))
    found: list[tuple[int, Field, list[Field]]] = []
    while open_:
        zero = [k for k in open_ if rest[k][k] == 0]
        if any(rest[k][j] != 0 for k in zero for j in open_):
            return None
        open_ = [k for k in open_ if k not in zero]
        if not open_:
            break
        k = min(open_, key=lambda i: order(i, rest[i][i]))
        pivot = rest[k][k]
        if not nonnegative(pivot):
            return None
        row = [simplified(rest[k][j] / pivot) if j in open_ else pivot - pivot for j in range(size)]
        found.append((k, pivot, row))
        open_.remove(k)
        for i, j in itertools.combinations_with_replacement(open_, 2):
            if row[i] != 0 and row[j] != 0:
                rest[i][j] = rest[j][i] = simplified(rest[i][j] - pivot * row[i] * row[j])
    return found


def solve(rows: Iterable[Mapping[int, Fraction]], unknowns: int) -> list[Fraction] | None:
    """The x with ``sum_j row[j]*x[j] == row[unknowns]`` in sparse rows, free unknowns 0; None where there is none."""
    lines = [{j: entry for j, entry in row.items() if entry} for row in rows]
    pivots: list[tuple[int, dict[int, Fraction]]] = []
    for j in range(unknowns):
        candidates = [line for line in lines if j in line]
        if not candidates:
            continue
        pivot = min(candidates, key=len)
        lines.remove(pivot)
        pivot = {k: c / pivot[j] for k, c in pivot.items()}
        lines = [line for line in (_reduced(line, pivot, j) for line in lines) if line]
        pivots = [*((p, _reduced(line, pivot, j)) for p, line in pivots), (j, pivot)]
    if any(lines):
        return None
    solution = [Fraction(0)] * unknowns
    for j, line in pivots:
        solution[j] = line.get(unknowns, Fraction(0))
    return solution


def _reduced(line: dict[int, Fraction], pivot: dict[int, Fraction], j: int) -> dict[int, Fraction]:
    factor = line.get(j)
    if factor is None:
        return line
    result = {k: line.get(k, Fraction(0)) - factor * pivot.get(k, Fraction(0)) for k in line.keys() | pivot.keys()}
    return {k: c for k, c in result.items() if c}
