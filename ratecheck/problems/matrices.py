"""Matrices of problems: random ones for synthetic instances, and linear algebra that knows what rounding is."""

from __future__ import annotations

import math

import numpy as np

from ratecheck.aliases import Array

# Relative size below which a residual counts as the zero that it is in exact arithmetic.
_ZERO = 1e-12


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


def largest_norm(blocks: Array) -> float:
    """The largest spectral norm of a stack of matrices (n, a, b); 0 where there are none."""
    return float(np.linalg.norm(blocks, 2, axis=(1, 2)).max()) if blocks.size else 0.0


def pseudo_inverse(matrix: Array, cut: float) -> Array | None:
    """Pseudo-inverse of a positive semidefinite matrix; None where it has an eigenvalue below -cut.

    Eigenvalues of size up to ``cut`` are the zeros that they are without rounding.
    """
    if matrix.size == 0:
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -cut:
        return None
    # The inverse of a subnormal number overflows; so does the minimum then, and F_0 does not exist as a float.
    with np.errstate(over="ignore"):
        inverted = np.where(values > cut, 1.0 / np.where(values > cut, values, 1.0), 0.0)
    return (vectors * inverted) @ vectors.T


def in_range(matrix: Array, inverse: Array, columns: Array, sizes: Array) -> bool:
    """Whether every column lies in the range of the matrix, each measured against its size."""
    # What leaves the range of floats is in no range that could be told.
    with np.errstate(over="ignore", invalid="ignore"):
        residual = np.abs(columns - matrix @ (inverse @ columns)).max(axis=0, initial=0.0)
        return bool((residual <= _ZERO * sizes).all())
