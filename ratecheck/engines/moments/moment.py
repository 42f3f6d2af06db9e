"""Mean and covariance of the state together with a bound of their rounding.

What is computed are the moments of a random state that differs from the exact one by e, plus what rounding the
covariance itself adds. E[e e'] and this rounding are bounded by positive semidefinite matrices, which a round carries
on by its own linear map: errors decay, grow and cancel as the run does, whatever its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array

# A value and its rounding error.
Number = tuple[float, float]

EPS = float(np.finfo(float).eps)
# Below it products leave the range in which floats have all their digits.
TINY = 1e-305
_SMALL = 1e-150


@dataclass(frozen=True)
class Moment:
    """Mean and covariance of a random vector, and how much rounding they carry, in units of rounding u.

    ``mean`` is (size,), or (size, columns): the second moment is the covariance plus the sum over the columns of their
    products, the first being the mean of the vector. The others are known parts of a second moment, kept apart since
    rows that make them small keep their digits so.

    The exact vector differs by e with E[e e'] <= u^2 (``off`` + an error of mean square at most ``loose[k]``^2 in entry
    k), and the covariance by at most u (``rounding`` + entries bounded by ``rough[k]*rough[l]``).
    """

    mean: Array
    covariance: Array
    off: Array
    rounding: Array
    loose: Array
    rough: Array

    @cached_property
    def certain(self) -> bool:
        """Whether nothing is random."""
        return not (self.covariance.any() or self.rounding.any())

    @cached_property
    def spreads(self) -> Array:
        """Roots above the variances of the entries, whatever rounding has made of these."""
        rounding = EPS * np.maximum(np.diagonal(self.rounding), 0.0)
        return np.asarray(np.sqrt(np.abs(np.diagonal(self.covariance)) + rounding))

    @cached_property
    def roots(self) -> Array:
        """Roots above the expected squares of the entries of the exact vector.

        What a wrong map adds to the error is a share of the exact vector, which may be far larger than what is found.
        """
        found = np.sqrt(squares(self.mean) + self.spreads**2)
        return np.asarray(found + EPS * np.sqrt(np.maximum(np.diagonal(self.off), 0.0)))

    def part(self, positions: NDArray[np.intp]) -> Moment:
        """The moment of some entries of the state."""
        square = positions[:, None], positions
        return Moment(
            self.mean[positions],
            self.covariance[square],
            self.off[square],
            self.rounding[square],
            self.loose[positions],
            self.rough[positions],
        )

    def lengths(self, rows: Array, sizes: Array | None = None) -> tuple[float, float, float]:
        """Of ``rows`` x: the root of its expected square, that of its error, and the rounding of its covariance.

        ``sizes`` bounds the terms that were added up to the rows.
        """
        sizes = np.abs(rows) if sizes is None else sizes
        used = columns(sizes)
        vectors = [self.mean, self.loose, self.rough, self.roots, self.spreads]
        matrices = [self.covariance, self.off, self.rounding]
        if 2 * len(used) < rows.shape[1]:
            rows, sizes, square_of = rows[:, used], sizes[:, used], (used[:, None], used)
            vectors = [vector[used] for vector in vectors]
            matrices = [matrix[square_of] for matrix in matrices]
        means, loose, carried, roots, spreads = vectors
        mean = rows @ means
        square, off, rounding = (float(((rows @ matrix) * rows).sum()) for matrix in matrices)
        unit = rows.shape[1] + 8
        own = sizes @ (loose + unit * roots)
        spread = sizes @ spreads
        rough = np.abs(rows) @ carried
        error = EPS * (np.sqrt(max(off, 0.0)) + float(np.sqrt(own @ own)))
        fresh = float(rough @ rough + 2 * unit * (spread @ spread))
        length = float(np.sqrt((mean * mean).sum() + abs(square)))
        # What is too small to be squared is there all the same.
        length = max(length, _SMALL) if mean.any() else length
        return length, error, EPS * (max(rounding, 0.0) + fresh)

    def inner(self, left: Array, right: Array, sizes: tuple[Array | None, Array | None] = (None, None)) -> Number:
        """E<left z, right z> and its rounding error."""
        one, other = columns(left), columns(right)
        between = left[:, one] @ self.covariance[one[:, None], other]
        value = float(((left @ self.mean) * (right @ self.mean)).sum() + (between * right[:, other]).sum())
        lengths = self.lengths(left, sizes[0])
        same = left is right and sizes[0] is sizes[1]
        return value, product_error(lengths, lengths if same else self.lengths(right, sizes[1]))

    def square(self, rows: Array, sizes: Array | None = None) -> Number:
        """E||rows z||^2 and its rounding error."""
        return self.inner(rows, rows, (sizes, sizes))


class LocalMoments:
    """The moments of parts of the state (parts, entries), such as what each client sees, one beside the other."""

    def __init__(self, moment: Moment, positions: NDArray[np.intp]) -> None:
        square = positions[:, :, None], positions[:, None, :]
        self._mean, self._covariance = moment.mean.reshape(len(moment.mean), -1)[positions], moment.covariance[square]
        self._off, self._rounding = moment.off[square], moment.rounding[square]
        self._loose, self._rough, self._roots, self._spreads = (
            each[positions][..., None] for each in (moment.loose, moment.rough, moment.roots, moment.spreads)
        )

    def inner(self, left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        """E<left x, right x> of every part, and their rounding errors, for stacks (parts, rows, entries) and sizes."""
        rows, others = left[0], right[0]
        means = ((rows @ self._mean) * (others @ self._mean)).sum(axis=(1, 2))
        values = means + ((rows @ self._covariance) * others).sum(axis=(1, 2))
        lengths = self._lengths(*left)
        errors = _product_errors(lengths, lengths if left is right else self._lengths(*right))
        return values, errors

    def _lengths(self, rows: Array, sizes: Array) -> tuple[Array, Array, Array]:
        """`Moment.lengths`, of every part."""
        mean, unit = rows @ self._mean, rows.shape[2] + 8
        square, off, rounding = (
            ((rows @ matrix) * rows).sum(axis=(1, 2)) for matrix in (self._covariance, self._off, self._rounding)
        )
        own, spread = sizes @ (self._loose + unit * self._roots), sizes @ self._spreads
        rough = np.abs(rows) @ self._rough
        error = EPS * (np.sqrt(np.maximum(off, 0.0)) + np.sqrt((own**2).sum(axis=(1, 2))))
        fresh = (rough**2 + 2 * unit * spread**2).sum(axis=(1, 2))
        length = np.sqrt((mean**2).sum(axis=(1, 2)) + np.abs(square))
        # What is too small to be squared is there all the same.
        length = np.where(mean.any(axis=(1, 2)), np.maximum(length, _SMALL), length)
        return length, error, EPS * (np.maximum(rounding, 0.0) + fresh)


def _product_errors(left: tuple[Array, Array, Array], right: tuple[Array, Array, Array]) -> Array:
    """`product_error` of every part."""
    (a, da, ra), (b, db, rb) = left, right
    error = a * db + b * da + da * db + np.sqrt(ra) * np.sqrt(rb) + 16 * EPS * a * b
    return np.asarray(error + TINY * (error > 0))


def product_error(left: tuple[float, float, float], right: tuple[float, float, float]) -> float:
    """The error of an inner product whose factors have these `Moment.lengths`."""
    (a, da, ra), (b, db, rb) = left, right
    error = a * db + b * da + da * db + float(np.sqrt(ra) * np.sqrt(rb)) + 16 * EPS * a * b
    return error + TINY if error > 0 else 0.0


def squares(mean: Array) -> Array:
    """Entry by entry, the sum of squares over the columns of a mean."""
    return np.asarray(mean**2 if mean.ndim == 1 else (mean**2).sum(axis=1))


def columns(rows: Array) -> NDArray[np.intp]:
    """The entries of the state that rows speak of: mostly one client's, where the state is that of all."""
    used = np.asarray(rows.any(axis=0))
    return used.nonzero()[0]


def sandwich(rows: Array, matrix: Array) -> Array:
    """``rows matrix rows'``, of the entries that the rows speak of."""
    used = columns(rows)
    if 2 * len(used) < rows.shape[1]:
        rows, matrix = rows[:, used], matrix[used[:, None], used]
    return np.asarray(rows @ matrix @ rows.T)


def majorant(roots: Array) -> Array:
    """Diagonal of a matrix above every vv' with ``|v| <= roots``, and every matrix of entries up to their products."""
    return np.asarray(np.count_nonzero(roots) * roots**2)
