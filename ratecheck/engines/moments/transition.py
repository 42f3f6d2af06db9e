"""One round as a pair: second moments of what the state is before it, z, together with what it is after it, z'.

z' = M z + noise, the noise being independent of z and of mean zero, so that every product of linear functions of z and
z' has its expectation from the moment of z. Both states enter as one linear map, ``before z + after z'``: a difference
is taken of the maps, not of expectations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.moment import (
    EPS,
    SMALL,
    Moment,
    MomentForm,
    Number,
    WideRows,
    chosen,
    diagonal,
    product_error,
    product_errors,
    sandwich,
    single,
    squares,
)
from ratecheck.engines.moments.roundmap import RoundMap, kept


class Transition:
    """The moment before a round and the map of the round."""

    def __init__(self, moment: Moment, round_map: RoundMap) -> None:
        self.moment, self.round_map = moment, round_map

    @cached_property
    def _loose(self) -> Array:
        return self.round_map.wrong(self.moment.roots)

    def of(self, before: Array, after: Array | None = None, size: Array | None = None) -> Moment:
        """The moment of ``before z + after z'``, rows of any number; ``size`` bounds the terms of ``before``."""
        moment, round_map = self.moment, self.round_map
        matrix = before if after is None else before + round_map.told(after)
        matrices: Iterable[Array] = moment.each(lambda part: sandwich(matrix, part))
        size, unit = np.abs(before) if size is None else size, matrix.shape[-1] + 8
        loose = np.abs(matrix) @ moment.loose
        if after is not None:
            spread = self.round_map.spread_of(after, moment)
            matrices = (part + added for part, added in zip(matrices, spread, strict=True))
            # What a round leaves as it is cancels exactly.
            size = np.where(round_map.still, np.minimum(size, np.abs(before + after)), size)
            size = size + round_map.told_sizes(np.abs(after))
            loose = loose + np.abs(after) @ self._loose
        covariance, off, rounding = matrices
        terms = size @ moment.spreads
        rough = np.hypot(np.abs(matrix) @ moment.rough, np.sqrt(2 * unit) * (terms + self._rough(covariance)))
        return Moment(matrix @ moment.mean, covariance, off, rounding, loose + 2 * unit * (size @ moment.roots), rough)

    @staticmethod
    def _rough(covariance: Array) -> Array:
        return np.asarray(np.sqrt(np.abs(diagonal(covariance))))

    def square(self, before: Array, after: Array | None = None, size: Array | None = None) -> Number:
        """E||before z + after z'||^2; ``size`` bounds the terms of both together."""
        rows = self.of(before, after, size)
        lengths = rows.own_lengths()
        value = float(squares(rows.mean).sum()) + float(diagonal(rows.covariance).sum())
        return value, product_error(lengths, lengths)

    def changes(self, rows: Array, groups: int) -> tuple[Array, Array]:
        """E||rows (z' - z)||^2 of each of so many groups of the rows, equally many each, with the errors of `square`.

        Of all rows together nothing but the diagonals of their moments is made.
        """
        own = rows.shape[-2] // groups + 8
        mean, variance, off, rounding, loose, rough = self._changes(rows, groups)
        spread = np.sqrt(np.abs(variance) + EPS * np.maximum(rounding, 0.0))
        roots = np.sqrt(squares(mean) + spread**2) + EPS * np.sqrt(np.maximum(off, 0.0))
        fresh = rough**2 + 2 * own * spread**2

        def summed(each: Array) -> Array:
            return np.asarray(each.reshape(-1, groups, rows.shape[-2] // groups).sum(axis=(0, 2)))

        square, value = summed(squares(mean)), summed(squares(mean) + variance)
        error = EPS * (np.sqrt(np.maximum(summed(off), 0.0)) + np.sqrt(summed((loose + own * roots) ** 2)))
        length = np.sqrt(square + np.abs(summed(variance)))
        there = summed(mean != 0) > 0
        lengths = np.where(there, np.maximum(length, SMALL), length), error
        rounded = EPS * (np.maximum(summed(rounding), 0.0) + summed(fresh))
        return value, product_errors((*lengths, rounded), (*lengths, rounded))

    def _changes(self, rows: Array, groups: int) -> tuple[Array, ...]:
        """Fields of the `Moment` of rows (z' - z), of its matrices the diagonals."""
        if self.round_map.apart:
            at, change = self.change
            part = rows[..., at]
            matrices = (change.covariance, change.off, change.rounding)
            sizes = (np.abs(part) @ each for each in (change.loose, change.rough))
            return part @ change.mean, *(_diagonal(part, each, groups) for each in matrices), *sizes
        moment, round_map, unit = self.moment, self.round_map, rows.shape[-1] + 8
        told, large = round_map.told(rows), np.abs(rows)
        matrix = told - rows
        size = np.where(round_map.still, 0.0, large) + round_map.told_sizes(large)
        found, off, rounding = round_map.beside(moment)
        parts = (moment.covariance, moment.off, moment.rounding)
        diagonals = [_diagonal(matrix, each, groups) for each in parts]
        added = [_diagonal(rows, found, groups), *(rows**2 @ each for each in (off, rounding))]
        if round_map.fluctuations:
            moved = round_map.moved(moment)
            added = [
                more + _diagonal(rows, new, groups) - _diagonal(told, part, groups)
                for more, new, part in zip(added, moved, parts, strict=True)
            ]
        variance, off, rounding = (each + more for each, more in zip(diagonals, added, strict=True))
        loose = np.abs(matrix) @ moment.loose + large @ self._loose + 2 * unit * (size @ moment.roots)
        rough = np.sqrt(2 * unit) * (size @ moment.spreads + np.sqrt(np.abs(variance)))
        rough = np.hypot(np.abs(matrix) @ moment.rough, rough)
        return matrix @ moment.mean, variance, off, rounding, loose, rough

    def inner(
        self,
        left: Array,
        before: Array,
        after: Array | None = None,
        size: Array | None = None,
        more: Array | None = None,
    ) -> Number:
        """E<left z, before z + after z'>; ``size`` bounds the terms of ``left``, ``more`` those of the other."""
        matrix = before if after is None else before + self.round_map.told(after)
        right = self.of(before, after, more)
        return self._inner(left, size, right, self.moment.between(left, matrix))

    def _inner(self, left: Array, size: Array | None, right: Moment, covariance: float) -> Number:
        """E<left z, x> for x of the moment ``right``, the rows of both having that ``covariance``."""
        moment = self.moment
        value = float(((left @ moment.mean) * right.mean).sum()) + covariance
        return value, product_error(moment.lengths(left, size), right.own_lengths())

    @cached_property
    def _used(self) -> tuple[NDArray[np.intp], Transition]:
        """The entries of which the round makes those that it changes, and these alone before and after it."""
        used, part = self.round_map.used
        return used, self if part is self.round_map else Transition(self.moment.part(used), part)

    @cached_property
    def change(self) -> tuple[NDArray[np.intp], Moment]:
        """The entries that the round may change, and the moment of what it adds to them."""
        used, part = self._used
        at = part.round_map.moving
        same = np.eye(len(used))[at]
        return used[at], part.of(-same, same)

    def inner_change(self, left: Array, size: Array) -> Number:
        """E<left z, z' - z> at the entries of `change`, for the rows of the others as well."""
        (at, change), (used, part) = self.change, self._used
        same = np.eye(len(used))[part.round_map.moving]
        left, size = left[..., at, :], size[..., at, :]
        return self._inner(left, size, change, self.moment.between(left, part.round_map.told(same) - same, used))

    @cached_property
    def magnitude(self) -> Array:
        """|E z| + the standard deviations of z, entry by entry."""
        return np.sqrt(squares(self.moment.mean)) + self.moment.spreads


class Displacement:
    """z' - z in rounds of one map, of many rows: forms of its second moments are made once, and kept with the map.

    With z' - z = (D + sum_k F_k) z + noise, N being the covariance of noise and what fluctuations make of the mean m,

        E<l (z' - z), r (z' - z)> = <l D m, r D m> + <D' l'r D + sum_k w_k F_k' l'r F_k, cov z> + <l'r, N>.
    """

    def __init__(self, round_map: RoundMap) -> None:
        self.round_map = round_map
        same = np.eye(len(round_map.mean))
        self.matrix = round_map.mean - same
        self.large = np.abs(self.matrix)
        # The terms of an entry: what a round leaves as it is cancels exactly.
        self.size = np.where(kept(round_map.mean)[:, None], 0.0, np.abs(round_map.mean) + same)
        self._forms: dict[tuple[WideRows, WideRows], tuple[MomentForm, MomentForm]] = {}
        self._before: dict[tuple[WideRows, WideRows], MomentForm] = {}
        self._moved: dict[WideRows, Array] = {}

    def moved(self, rows: WideRows) -> Array:
        """The rows of the mean of z' - z on z."""
        if rows not in self._moved:
            self._moved[rows] = chosen(rows.rows, self.matrix)
        return self._moved[rows]

    def forms(self, left: WideRows, right: WideRows) -> tuple[MomentForm, MomentForm]:
        """Of both sides on z' - z: that on z, and the one on what a round adds."""
        if (left, right) not in self._forms:
            form = left.form if left is right else MomentForm(left.rows.T @ right.rows)
            found = self.moved(left).T @ self.moved(right) + self.round_map.scattered_form(form.matrix)
            self._forms[left, right] = MomentForm(found), form
        return self._forms[left, right]

    def form_before(self, left: WideRows, right: WideRows) -> MomentForm:
        """Of the left side on z, and the right one on z' - z."""
        if (left, right) not in self._before:
            self._before[left, right] = MomentForm(left.rows.T @ self.moved(right))
        return self._before[left, right]

    def at(self, moment: Moment) -> Displaced:
        """At the moment before the round."""
        round_map, size, unit = self.round_map, self.size, len(moment.mean) + 8
        found, off, rounding = round_map.beside(moment)
        terms, scatter = size @ moment.spreads, round_map.scatter
        added = np.sqrt(np.abs(np.diagonal(found)) + EPS * rounding)
        # |D| is below the size of its terms, and what is below a variance was not looked for.
        spreads = terms + scatter @ moment.spreads + added
        wrong = np.sqrt(np.maximum(np.diagonal(moment.off), 0.0))
        wrong = size @ wrong + scatter @ wrong + np.sqrt(off)
        mean = self.matrix @ moment.mean
        return Displaced(
            self, moment, mean, found, off, rounding,
            loose=self.large @ moment.loose + round_map.error @ moment.roots + 2 * unit * (size @ moment.roots),
            rough=np.hypot(self.large @ moment.rough, np.sqrt(2 * unit) * (terms + spreads)),
            spreads=spreads,
            roots=np.sqrt(squares(mean) + spreads**2) + EPS * wrong,
        )  # fmt: skip


@dataclass(frozen=True)
class Displaced:
    """z' - z at one moment: fields of a `Moment`, and ``spreads`` and ``roots`` from above.

    The round adds ``found`` to its covariance, ``off`` and ``rounding`` to the diagonals of the bounds.
    """

    displacement: Displacement
    before: Moment
    mean: Array
    found: Array
    off: Array
    rounding: Array
    loose: Array
    rough: Array
    spreads: Array
    roots: Array

    def _covariance(self, left: WideRows, right: WideRows) -> float:
        """The part of E<left, right> beside the means."""
        form, added = self.displacement.forms(left, right)
        return form.on(self.before.covariance) + added.on(self.found)

    def lengths(self, rows: WideRows) -> tuple[float, float, float]:
        """See `Moment.lengths_of`."""
        (form, added), before = self.displacement.forms(rows, rows), self.before
        diagonal = np.diagonal(added.matrix)
        squares = (
            self._covariance(rows, rows),
            form.on(before.off) + float(diagonal @ self.off),
            form.on(before.rounding) + float(diagonal @ self.rounding),
        )
        own = self.loose + rows.unit * self.roots
        return rows.lengths(rows.rows @ self.mean, squares, own, self.rough, self.spreads)

    def inner(self, left: WideRows, right: WideRows) -> Number:
        """E<left (z' - z), right (z' - z)> and its rounding error."""
        means, lengths = (left.rows @ self.mean) * (right.rows @ self.mean), self.lengths(left)
        error = product_error(lengths, lengths if left is right else self.lengths(right))
        return float(means.sum()) + self._covariance(left, right), error

    def inner_before(self, left: WideRows, right: WideRows) -> Number:
        """E<left z, right (z' - z)> and its rounding error."""
        means = (left.rows @ self.before.mean) * (right.rows @ self.mean)
        value = float(means.sum()) + self.displacement.form_before(left, right).on(self.before.covariance)
        return value, product_error(self.before.lengths_of(left), self.lengths(right))


def _diagonal(rows: Array, matrix: Array, groups: int) -> Array:
    """Of rows matrix rows', for so many groups of rows, each of which may speak of a few entries alone."""
    if not matrix.any():
        return np.zeros(rows.shape[:-1] if rows.ndim == 2 else (*rows.shape[:-1], 1))
    if rows.ndim > 2:
        return ((rows @ matrix) * rows).sum(axis=-1, keepdims=True)
    if (found := single(rows)) is not None:
        at, factors = found
        return np.asarray(factors * matrix[at, at] * factors)
    parts = rows.reshape(groups, -1, len(matrix))
    used = parts.any(axis=1)
    if 2 * (most := int(used.sum(axis=1).max())) > len(matrix):
        return np.asarray(((rows @ matrix) * rows).sum(axis=1))
    at = np.argsort(~used, axis=1, kind="stable")[:, :most]
    own = np.take_along_axis(parts, at[:, None], axis=2)
    return np.asarray(((own @ matrix[at[:, :, None], at[:, None]]) * own).sum(axis=2).ravel())


def scaled(factor: float, number: Number) -> Number:
    """A multiple."""
    return factor * number[0], abs(factor) * number[1]


def total(numbers: Iterable[Number]) -> Number:
    """The sum."""
    values, errors = zip((0.0, 0.0), *numbers, strict=True)
    return float(sum(values)), float(sum(errors))
