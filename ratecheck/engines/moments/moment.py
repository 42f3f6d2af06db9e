"""Mean and covariance of the state together with a bound of their rounding.

What is computed are the moments of a random state that differs from the exact one by e, plus what rounding the
covariance itself adds. E[e e'] and this rounding are bounded by positive semidefinite matrices, which a round carries
on by its own linear map: errors decay, grow and cancel as the run does, whatever its length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.kernels.moments.kept import symmetric_forms

# A value and its rounding error.
Number = tuple[float, float]

EPS = float(np.finfo(float).eps)
# Below it products leave the range in which floats have all their digits.
TINY = 1e-305
SMALL = 1e-150
# A form of at most one entry in so many is taken at these alone; forms that speak of one in so many, together.
_SPARSE, _FEW = 16, 4
# A row that speaks of at most one entry in so many is taken with others that do.
_NARROW = 8
# Forms of a stack with at most so many rows are found by a kernel.
_ROWS = 4


@dataclass(frozen=True)
class Moment:
    """Mean and covariance of a random vector, and how much rounding they carry, in units of rounding u.

    ``mean`` is (size,), or (size, columns): the second moment is the covariance plus the sum over the columns of their
    products, the first being the mean of the vector. The others are known parts of a second moment, kept apart since
    rows that make them small keep their digits so.

    Parts that have nothing to do with one another may be stacked, along a first axis: all vectors are columns then,
    (parts, size, 1), matrices are (parts, size, size), and an expectation is the sum over the parts. Runs that are
    followed together stand along an axis before it, (runs, parts, ...), each with an expectation of its own.

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
        # Where anything is random, a variance mostly is not 0.
        parts = (each for matrix in (self.covariance, self.rounding) for each in (diagonal(matrix), matrix))
        return not any(each.any() for each in parts)

    def each(self, find: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
        """What is found, linearly, of ``covariance``, ``off`` and ``rounding``: 0 of what is 0 if nothing is random."""
        off = find(self.off)
        if self.certain:
            return np.zeros_like(off), off, np.zeros_like(off)
        return find(self.covariance), off, find(self.rounding)

    def determined(self, mean: Array, off: Array) -> Moment:
        """The moment of this mean and bound of errors after a round that adds nothing random, of a `certain` one."""
        nothing = np.zeros_like(self.loose)
        found = Moment(mean, self.covariance, off, self.rounding, nothing, nothing)
        # Known without a look at every entry.
        found.__dict__["certain"] = self.certain
        return found

    @cached_property
    def spreads(self) -> Array:
        """Roots above the variances of the entries, whatever rounding has made of these."""
        rounding = EPS * np.maximum(diagonal(self.rounding), 0.0)
        return np.asarray(np.sqrt(np.abs(diagonal(self.covariance)) + rounding))

    @cached_property
    def roots(self) -> Array:
        """Roots above the expected squares of the entries of the exact vector.

        What a wrong map adds to the error is a share of the exact vector, which may be far larger than what is found.
        """
        square, off = squares(self.mean) + self.spreads**2, np.maximum(diagonal(self.off), 0.0)
        if stacked(self.mean):
            # What parts were made of is all of them, and so is what they are wrong by.
            square, off = (np.broadcast_to(each.sum(axis=-3, keepdims=True), each.shape) for each in (square, off))
        return np.asarray(np.sqrt(square) + EPS * np.sqrt(off))

    def part(self, positions: NDArray[np.intp]) -> Moment:
        """The moment of some entries of the state."""
        at: Any = (..., positions, slice(None)) if stacked(self.mean) else positions
        covariance, off, rounding = self.each(lambda matrix: matrix[..., positions[:, None], positions])
        return Moment(self.mean[at], covariance, off, rounding, self.loose[at], self.rough[at])

    def lengths(self, rows: Array, sizes: Array | None = None) -> tuple[float, float, float]:
        """Of ``rows`` x: the root of its expected square, that of its error, and the rounding of its covariance.

        ``sizes`` bounds the terms that were added up to the rows.
        """
        sizes = np.abs(rows) if sizes is None else sizes
        # Rows that speak of a few entries cost little, unless they are taken with others.
        few = np.count_nonzero(sizes.any(axis=tuple(range(sizes.ndim - 2))), axis=-1) * _NARROW <= sizes.shape[-1]
        groups = [few, ~few] if few.any() and not few.all() else [slice(None)]
        sums = [self._squares(rows[..., at, :], sizes[..., at, :]) for at in groups]
        square, off, rounding, own, fresh = map(sum, zip(*sums, strict=True))
        return _lengths(rows @ self.mean, square, off, rounding, own, fresh)

    def own_lengths(self) -> tuple[float, float, float]:
        """`lengths` of the rows of the identity: of x itself."""
        unit = self.mean.shape[-2 if stacked(self.mean) else 0] + 8
        found = self.each(lambda matrix: np.asarray(diagonal(matrix).sum()))
        own = ((self.loose + unit * self.roots) ** 2).sum()
        fresh = (self.rough**2).sum() + 2 * unit * (self.spreads**2).sum()
        square, off, rounding = map(float, found)
        return _lengths(self.mean, square, off, rounding, float(own), float(fresh))

    def _squares(self, rows: Array, sizes: Array) -> tuple[float, ...]:
        """Sums over the rows of which `lengths` are made, beside the squares of their means."""
        used = columns(sizes)
        vectors = [self.loose, self.rough, self.roots, self.spreads]
        square_of: tuple[Any, ...] = (...,)
        if 2 * len(used) < rows.shape[-1]:
            rows, sizes, square_of = rows[..., used], sizes[..., used], (..., used[:, None], used)
            at = (..., used, slice(None)) if stacked(self.mean) else used
            vectors = [vector[at] for vector in vectors]
        loose, carried, roots, spreads = vectors
        unit = rows.shape[-1] + 8
        found = self.each(lambda matrix: np.asarray(((rows @ matrix[square_of]) * rows).sum()))
        own, spread, rough = sizes @ (loose + unit * roots), sizes @ spreads, np.abs(rows) @ carried
        fresh = (rough**2).sum() + 2 * unit * (spread**2).sum()
        return *map(float, found), float((own**2).sum()), float(fresh)

    def lengths_of(self, wide: WideRows) -> tuple[float, float, float]:
        """`lengths` of many rows, by their form."""
        square, off, rounding = (wide.form.on(each) for each in (self.covariance, self.off, self.rounding))
        own, rough = self.loose + wide.unit * self.roots, self.rough
        return wide.lengths(wide.rows @ self.mean, (square, off, rounding), own, rough, self.spreads)

    def square_of(self, wide: WideRows) -> Number:
        """`square` of many rows."""
        mean, lengths = wide.rows @ self.mean, self.lengths_of(wide)
        return float((mean * mean).sum()) + wide.form.on(self.covariance), product_error(lengths, lengths)

    def inner(self, left: Array, right: Array, sizes: tuple[Array | None, Array | None] = (None, None)) -> Number:
        """E<left z, right z> and its rounding error."""
        value = float(((left @ self.mean) * (right @ self.mean)).sum()) + self.between(left, right)
        lengths = self.lengths(left, sizes[0])
        same = left is right and sizes[0] is sizes[1]
        return value, product_error(lengths, lengths if same else self.lengths(right, sizes[1]))

    def between(self, left: Array, right: Array, entries: NDArray[np.intp] | None = None) -> float:
        """The sum over the rows of the covariances of left z and right z, the right ones given at ``entries`` of z."""
        if self.certain:
            return 0.0
        used = columns(right)
        other = used if entries is None else entries[used]
        return float((product(left, self.covariance, columns(left), other) * right[..., used]).sum())

    def square(self, rows: Array, sizes: Array | None = None) -> Number:
        """E||rows z||^2 and its rounding error."""
        return self.inner(rows, rows, (sizes, sizes))


class MomentForm:
    """A matrix Q by which <Q, M> is taken of one matrix M after another: of its entries that are not 0, where few."""

    def __init__(self, matrix: Array) -> None:
        self.matrix, at = matrix, np.flatnonzero(matrix)
        self._at = at if _SPARSE * len(at) <= matrix.size else None
        self._entries = matrix.ravel()[self._at] if self._at is not None else matrix.ravel()

    def on(self, other: Array) -> float:
        """<Q, M>."""
        if self._at is None:
            return paired(self.matrix, other)
        return float((self._entries * other.ravel()[self._at]).sum())


@dataclass(frozen=True)
class MomentForms:
    """Forms by the entries of a matrix that they speak of, which are those ``at``, or all of them."""

    entries: Array
    at: NDArray[np.intp] | None

    @classmethod
    def of(cls, forms: Array) -> MomentForms:
        """Forms (quantities, entries): what is recorded of a server speaks of a few entries of the state."""
        used = columns(forms)
        return cls(forms[:, used], used) if _FEW * len(used) < forms.shape[1] else cls(forms, None)

    def on(self, matrices: Array) -> Array:
        """<form, matrix> of each, for the entries (..., entries) of matrices."""
        entries = matrices if self.at is None else matrices[..., self.at]
        # Matrix by matrix: what is found of one does not depend on the others.
        return np.asarray((self.entries @ entries[..., None])[..., 0])


class WideRows:
    """Many rows on a state, evaluated at one moment after another: E||rows z||^2 = ||rows m||^2 + <rows' rows, cov z>.

    ``sizes`` bounds the terms that were added up to the rows.
    """

    def __init__(self, rows: Array, sizes: Array | None = None) -> None:
        self.rows, self.large = rows, np.abs(rows)
        self.sizes = self.large if sizes is None else sizes
        # Roundings of a product: of its terms, or of an entry of the form.
        self.unit = max(len(rows), len(columns(self.sizes))) + 8

    @cached_property
    def form(self) -> MomentForm:
        """Rows' rows."""
        return MomentForm(self.rows.T @ self.rows)

    def lengths(
        self, mean: Array, squares: tuple[float, float, float], own: Array, rough: Array, spreads: Array
    ) -> tuple[float, float, float]:
        """`Moment.lengths` of the rows, whose ``mean`` it is.

        Covariance, ``off`` and ``rounding`` have the ``squares`` of the rows. Entries of the state are wrong by ``own``
        in mean square, and vary by ``spreads``.
        """
        square, off, rounding = squares
        wrong, carried, spread = self.sizes @ own, self.large @ rough, self.sizes @ spreads
        error = EPS * (np.sqrt(max(off, 0.0)) + float(np.sqrt(wrong @ wrong)))
        length = float(np.sqrt((mean * mean).sum() + abs(square)))
        fresh = float(carried @ carried + 2 * self.unit * (spread @ spread))
        return max(length, SMALL) if mean.any() else length, error, EPS * (max(rounding, 0.0) + fresh)


class LocalMoments:
    """The moments of parts of the state (parts, entries), such as what each client sees, one beside the other."""

    def __init__(self, moment: Moment, positions: NDArray[np.intp]) -> None:
        square = ..., positions[:, :, None], positions[:, None, :]
        self._certain = moment.certain
        self._covariance, self._off, self._rounding = moment.each(lambda each: each[square])
        self._mean, self._loose, self._rough, self._roots, self._spreads = (
            column(each)[..., positions, :]
            for each in (moment.mean, moment.loose, moment.rough, moment.roots, moment.spreads)
        )

    def inner(self, left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        """E<left x, right x> of every part, and their rounding errors, for stacks (parts, rows, entries) and sizes."""
        rows, others = left[0], right[0]
        means = ((rows @ self._mean) * (others @ self._mean)).sum(axis=(-2, -1))
        values = means if self._certain else means + ((rows @ self._covariance) * others).sum(axis=(-2, -1))
        lengths = self._lengths(*left)
        errors = product_errors(lengths, lengths if left is right else self._lengths(*right))
        return added_up(values), added_up(errors)

    def _lengths(self, rows: Array, sizes: Array) -> tuple[Array, Array, Array]:
        """`Moment.lengths`, of every part."""
        mean, unit = rows @ self._mean, rows.shape[-1] + 8
        off = ((rows @ self._off) * rows).sum(axis=(-2, -1))
        square = rounding = np.zeros_like(off)
        if not self._certain:
            random = self._covariance, self._rounding
            square, rounding = (((rows @ matrix) * rows).sum(axis=(-2, -1)) for matrix in random)
        own, spread = sizes @ (self._loose + unit * self._roots), sizes @ self._spreads
        rough = np.abs(rows) @ self._rough
        error = EPS * (np.sqrt(np.maximum(off, 0.0)) + np.sqrt((own**2).sum(axis=(-2, -1))))
        fresh = (rough**2 + 2 * unit * spread**2).sum(axis=(-2, -1))
        length = np.sqrt((mean**2).sum(axis=(-2, -1)) + np.abs(square))
        # What is too small to be squared is there all the same.
        length = np.where(mean.any(axis=(-2, -1)), np.maximum(length, SMALL), length)
        return length, error, EPS * (np.maximum(rounding, 0.0) + fresh)


def _lengths(
    mean: Array, square: float, off: float, rounding: float, own: float, fresh: float
) -> tuple[float, float, float]:
    """`Moment.lengths`, of sums over rows with this ``mean``."""
    length = float(np.sqrt((mean * mean).sum() + abs(square)))
    # What is too small to be squared is there all the same.
    length = max(length, SMALL) if mean.any() else length
    return length, EPS * float(np.sqrt(max(off, 0.0)) + np.sqrt(own)), EPS * (max(rounding, 0.0) + fresh)


def product_errors(left: tuple[Array, Array, Array], right: tuple[Array, Array, Array]) -> Array:
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
    return np.asarray((mean**2).sum(axis=1) if mean.ndim == 2 else mean**2)


def stacked(mean: Array) -> bool:
    """True for a stack of parts, see `Moment`."""
    return mean.ndim > 2


def column(vector: Array) -> Array:
    """A vector as a column; of a stack it is one."""
    return vector[:, None] if vector.ndim == 1 else vector


def turned(matrix: Array) -> Array:
    """The transposed matrix, or those of a stack."""
    return matrix.swapaxes(-1, -2)


def diagonal(matrix: Array) -> Array:
    """The diagonal, as vectors of a `Moment` are given."""
    found = np.diagonal(matrix, axis1=-2, axis2=-1)
    return found if matrix.ndim == 2 else found[..., None]


def added_up(values: Array) -> Array:
    """The sum over the parts of a stack, of numbers that are a vector otherwise."""
    return values if values.ndim == 1 else values.sum(axis=-2)


def columns(rows: Array) -> NDArray[np.intp]:
    """The entries of the state that rows speak of: mostly one client's, where the state is that of all."""
    used = np.asarray(rows.any(axis=tuple(range(rows.ndim - 1))))
    return used.nonzero()[0]


def paired(one: Array, other: Array) -> float:
    """The sum of the products of the entries, row by row."""
    return float(np.einsum("ij,ij->i", one, other).sum())


def product(rows: Array, matrix: Array, used: NDArray[np.intp], others: NDArray[np.intp]) -> Array:
    """Columns ``others`` of ``rows matrix``, ``used`` being the entries that the rows speak of."""
    if 2 * len(used) >= matrix.shape[-1]:
        # The copy of a part would take longer than the product.
        found = rows @ matrix
        return found if len(others) == found.shape[-1] else found[..., others]
    return np.asarray(rows[..., used] @ matrix[..., used[:, None], others])


def single(rows: Array) -> tuple[NDArray[np.intp], Array] | None:
    """The entry of which every row speaks, and its coefficient; None where one speaks of several."""
    if not rows.size or rows.ndim > 2 or np.count_nonzero(rows, axis=1).max() > 1:
        return None
    at = (rows != 0).argmax(axis=1)
    return at, rows[np.arange(len(rows)), at]


def chosen(rows: Array, matrix: Array) -> Array:
    """``rows matrix``, quickly where every row speaks of one entry."""
    if (found := single(rows)) is None:
        return np.asarray(rows @ matrix)
    at, factors = found
    return np.asarray(factors[:, None] * matrix[..., at, :])


def sandwich(rows: Array, matrix: Array) -> Array:
    """``rows matrix rows'`` for a symmetric matrix, of the entries that the rows speak of."""
    if rows.ndim == 3 and rows.shape[-2] <= _ROWS:
        return np.asarray(symmetric_forms(np.ascontiguousarray(rows), np.ascontiguousarray(matrix)))
    if (found := single(rows)) is not None:
        at, factors = found
        return np.asarray(factors[:, None] * matrix[..., at[:, None], at] * factors)
    used = columns(rows)
    if 2 * len(used) < rows.shape[-1]:
        rows, matrix = rows[..., used], matrix[..., used[:, None], used]
    return np.asarray(rows @ matrix @ turned(rows))


def scaled_squares(rows: Array, numbers: Array) -> Array:
    """``rows diag(numbers) rows'``, quickly where every row speaks of one entry."""
    if (found := single(rows)) is None:
        return np.asarray(rows @ (column(numbers) * turned(rows)))
    at, factors = found
    return np.asarray(column(numbers)[..., at, :] * np.outer(factors, factors) * (at[:, None] == at))


def majorant(roots: Array) -> Array:
    """Diagonal of a matrix above every vv' with ``|v| <= roots``, and every matrix of entries up to their products.

    Of a stack, those of every part.
    """
    if roots.ndim == 1:
        return np.asarray(np.count_nonzero(roots) * roots**2)
    return np.asarray(np.count_nonzero(roots, axis=-2, keepdims=True) * roots**2)
