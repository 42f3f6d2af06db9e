"""Matrices of problems: random ones for synthetic instances, and linear algebra that knows what rounding is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.errors import InputError

# Relative size below which a residual counts as the zero that it is in exact arithmetic.
_ZERO = 1e-12
# Numbers that are added without rounding.
_MOST_EXACT = 20_000


def spd(rng: np.random.Generator, d: int, condition: float) -> Array:
    """A random positive definite matrix with spectrum from 1/condition to 1, both ends attained where d > 1."""
    if d == 0:
        return np.zeros((0, 0))
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    spectrum = np.concatenate([[1.0], condition ** -rng.random(max(d - 2, 0)), [1.0 / condition]])[:d]
    matrix = (basis * spectrum) @ basis.T
    return (matrix + matrix.T) / 2


def unit(matrix: Array) -> Array:
    """The matrix scaled to norm 1."""
    return matrix / np.linalg.norm(matrix, 2) if matrix.size else matrix


def spread(g: Array, size: float) -> Array:
    """Deviations from the mean, rescaled so that the root of their mean square norm is ``size``."""
    deviation = g - g.mean(axis=0)
    norm = math.sqrt(float(np.mean(np.sum(deviation**2, axis=1))))
    return deviation * (size / norm) if norm > 0 else deviation


def symmetric(name: str, matrices: Array) -> Array:
    """Hessians without what rounding may have left of asymmetry; raises `InputError` where one has more."""
    flipped = matrices.transpose(0, 2, 1)
    if (matrices == flipped).all():
        return matrices.copy()
    asymmetry = np.abs(matrices - flipped).max(axis=(1, 2))
    for i, (off, size) in enumerate(zip(asymmetry, np.abs(matrices).max(axis=(1, 2)), strict=True)):
        if off > 1e-9 * size:
            raise InputError(f"{name}[{i}] differs from its transpose by {off:.3g}; a Hessian is symmetric")
    return np.asarray((matrices + flipped) / 2)


def rounded_mean(values: Array, counts: NDArray[np.int64] | None = None) -> Array:
    """The mean over the first axis, each row counted so often; every entry is off by its own last digit alone.

    Clients that pull apart leave a mean that is far smaller than they are, of which a plain sum would lose the rest.
    """
    shape, n = values.shape[1:], len(values) if counts is None else int(counts.sum())
    if values.size > _MOST_EXACT:
        weights = np.ones(len(values)) if counts is None else counts
        return np.asarray(np.tensordot(weights, values.astype(np.longdouble), axes=1) / n, dtype=np.float64)
    columns = values.reshape(len(values), -1).T.tolist()
    if counts is None:
        found = [math.fsum(column) / n for column in columns]
    else:
        each = [int(count) for count in counts]
        found = [
            float(sum((k * Fraction(x) for k, x in zip(each, column, strict=True)), Fraction(0)) / n)
            for column in columns
        ]
    return np.array(found).reshape(shape)


def largest_norm(blocks: Array) -> float:
    """The largest spectral norm of a stack of matrices (n, a, b); 0 where there are none."""
    return float(np.linalg.norm(blocks, 2, axis=(1, 2)).max()) if blocks.size else 0.0


def is_diagonal(matrix: Array) -> bool:
    """Whether all entries off the diagonal are 0, so that the eigenvalues are entries; of a stack, of all."""
    return not (matrix * (1 - np.eye(matrix.shape[-1]))).any()


def flat_share(size: int) -> float:
    """The share of the largest eigenvalue that the rounding of a symmetric matrix makes of an eigenvalue 0."""
    return 4 * min(size, 8) * float(np.finfo(float).eps)


def least_solution(matrix: Array, right: Array) -> Array:
    """The solution of least norm of a symmetric system; eigenvalues that are `flat_share` of the largest count as 0.

    A diagonal matrix has the eigenvalues that it shows, however different they are.
    """
    if len(matrix) and is_diagonal(matrix):
        values = np.diagonal(matrix)
        with np.errstate(over="ignore"):
            return np.where(values != 0, right / np.where(values != 0, values, 1.0), 0.0)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=flat_share(len(matrix)))[0], dtype=np.float64)


def pseudo_inverse(matrix: Array, cut: float) -> Array | None:
    """Pseudo-inverse of a positive semidefinite matrix; None with an eigenvalue below -cut, or beyond floats.

    Eigenvalues of size up to ``cut`` are the zeros that they are without rounding.
    """
    if matrix.size == 0:
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -cut:
        return None
    # The inverse of a subnormal number overflows.
    with np.errstate(over="ignore"):
        inverted = np.where(values > cut, 1.0 / np.where(values > cut, values, 1.0), 0.0)
    return (vectors * inverted) @ vectors.T if np.isfinite(inverted).all() else None


def in_range(matrix: Array, cut: float, columns: Array, sizes: Array) -> bool:
    """Whether every column lies in the range of a symmetric matrix, each measured against its size.

    Eigenvalues of size up to ``cut`` are zeros. A badly conditioned matrix of full rank has everything in its range:
    what is measured is the part of a column along the eigenvectors of the zeros, and not the residual of a solution.
    """
    if matrix.size == 0:
        return True
    values, vectors = np.linalg.eigh(matrix)
    null = vectors[:, np.abs(values) <= cut]
    # What leaves the range of floats is in no range that could be told.
    with np.errstate(over="ignore", invalid="ignore"):
        outside = np.abs(null @ (null.T @ columns)).max(axis=0, initial=0.0)
        return bool((outside <= _ZERO * sizes).all())


def condition_number(matrix: Array, cut: float) -> float:
    """The largest eigenvalue over the least that is above ``cut``; 1 where none is."""
    values = np.linalg.eigvalsh(matrix) if matrix.size else np.zeros(0)
    kept = values[values > cut]
    return float(kept[-1] / kept[0]) if kept.size else 1.0


def solution_error(matrix: Array, right: Array, point: Array) -> tuple[float, float]:
    """Bounds of a solution's distance to the exact one of least norm, and in the matrix's own norm; units of rounding.

    The error is the pseudo-inverse of what is left over, which is as large as its own rounding at least.
    """
    eps = float(np.finfo(float).eps)
    if not len(matrix):
        return 0.0, 0.0
    if is_diagonal(matrix):
        # Every coordinate is an equation of its own, and its curvature is as it is stored.
        entries = np.diagonal(matrix)
        kept = np.where(entries > 0, entries, math.inf)
        off = np.abs(matrix @ point - right) / eps + 4 * (np.abs(entries * point) + np.abs(right))
        return float(np.linalg.norm(off / kept)), float(np.linalg.norm(off / np.sqrt(kept)))
    values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    top, terms = float(values[-1]), len(values) + 4
    # As in `least_solution`, smaller ones count as the zeros that they are without rounding.
    cut = flat_share(len(values)) * top
    least = float(values[values > cut].min(initial=top)) - terms * eps * top
    if not least > 0:
        return (math.inf, math.inf) if top > 0 else (0.0, 0.0)
    left_over = np.abs(matrix @ point - right)
    rest = float(np.linalg.norm(left_over + terms * eps * (np.abs(matrix) @ np.abs(point) + np.abs(right)))) / eps
    flat = bool((values <= cut).any())
    tilted = terms * top / least * float(np.linalg.norm(point)) if flat else 0.0
    return rest / least + tilted, rest / math.sqrt(least) + tilted * math.sqrt(eps * top)
