"""One round as a map of moments, with a bound of its rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.moment import (
    EPS,
    Moment,
    chosen,
    column,
    columns,
    diagonal,
    majorant,
    sandwich,
    scaled_squares,
    squares,
    turned,
)
from ratecheck.kernels.moments.kept import carry_matrices

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Fluctuation:
    """``weight`` * F M F' is added to the covariance at ``rows``, M being the second moment of z at ``columns``."""

    weight: float
    matrix: Array
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]


@dataclass(frozen=True)
class Noise:
    """The covariance of what a round adds at random.

    In units of rounding: the exact noise differs by at most ``off[k]`` in mean square in entry k, and the covariance by
    entries bounded by ``rough[k]*rough[l]``.
    """

    covariance: Array
    off: Array
    rough: Array

    # Sums are those of independent noises.
    @staticmethod
    def none(size: int) -> Noise:
        """No noise, in ``size`` entries."""
        return Noise(np.zeros((size, size)), np.zeros(size), np.zeros(size))

    def __add__(self, other: Noise) -> Noise:
        covariance = self.covariance + other.covariance
        return Noise(covariance, np.hypot(self.off, other.off), np.hypot(self.rough, other.rough))

    def scaled(self, share: float) -> Noise:
        """A noise that is there with this probability."""
        root = math.sqrt(share)
        return Noise(share * self.covariance, root * self.off, root * self.rough)


@dataclass(frozen=True)
class RoundMap:
    """One round: z' = (A + F) z + noise, A being the ``mean`` map, F = sum_k F_k random and E F = 0.

    With m = E z and C = cov z before the round, w_k the weights of the ``fluctuations`` and N the noise's covariance,

        E z' = A m,    cov z' = A C A' + sum_k w_k F_k (C + m m') F_k' + N.

    ``fluctuations`` are uncorrelated with one another, of mean zero, and come from who was sampled. In units of
    rounding, ``error`` bounds the entries by which the map is off: in mean square, where participation is random.
    ``terms`` bounds those that are added up to a new covariance, in the sense that it is their root.
    """

    mean: Array
    error: Array
    terms: Array
    noise: Noise
    fluctuations: Sequence[Fluctuation] = ()

    def then(self, P: Array) -> RoundMap:
        """The round and then z -> P z: (P A, P F_k, P N P'), the entries of P being known to a unit of rounding."""
        large, moved, unit = np.abs(P), ~kept(P)[:, None], len(P) + 8
        error = large @ self.error + unit * moved * (large @ (np.abs(self.mean) + self.scatter))
        whole = np.arange(len(P))
        fluctuations = [replace(part, matrix=P[:, part.rows] @ part.matrix, rows=whole) for part in self.fluctuations]
        roots = np.sqrt(np.maximum(np.diagonal(self.noise.covariance), 0.0))
        noise = Noise(
            P @ self.noise.covariance @ P.T,
            large @ (self.noise.off + 4 * roots),
            large @ np.hypot(self.noise.rough, math.sqrt(2 * unit) * roots),
        )
        return RoundMap(P @ self.mean, error, large @ self.terms, noise, fluctuations)

    def sometimes(self, P: Array, share: float) -> RoundMap:
        """The round, and then z -> P z with this probability: z' = (Q + xi D) z with Q = E Q_t, D = P - I.

        xi is the coin less its probability, of variance share (1 - share), and independent of the round.
        """
        if share == 1.0:
            return self.then(P)
        whole, same = np.arange(len(P)), np.eye(len(P))
        usual = self.then(share * P + (1 - share) * same)
        D, variance, moved, unit = P - same, share * (1 - share), ~kept(P)[:, None], len(P) + 8
        # An entry of the diagonal of D is off by as much as that of P is.
        large, root = moved * (np.abs(P) + same), math.sqrt(variance)
        error = root * large @ (self.error + unit * (np.abs(self.mean) + self.scatter))
        coins = [Fluctuation(variance, D @ self.mean, whole, whole)]
        coins += [
            Fluctuation(variance * part.weight, D[:, part.rows] @ part.matrix, whole, part.columns)
            for part in self.fluctuations
        ]
        roots = np.sqrt(np.maximum(np.diagonal(self.noise.covariance), 0.0))
        noise = Noise(
            variance * D @ self.noise.covariance @ D.T,
            root * large @ (self.noise.off + 4 * roots),
            root * large @ np.hypot(self.noise.rough, math.sqrt(2 * unit) * roots),
        )
        return RoundMap(
            usual.mean,
            usual.error + error,
            usual.terms + root * large @ self.terms,
            usual.noise + noise,
            [*usual.fluctuations, *coins],
        )

    @cached_property
    def _wobble(self) -> Array:
        """A bound of the new mean's error, relative to the old state."""
        wobble = self.error + (self._unit + 2) * (np.abs(self.mean) + self.scatter)
        # What a round leaves as it is has no error.
        wobble[self.still & ~self.scatter.any(axis=1)] = 0.0
        return np.asarray(wobble)

    @cached_property
    def _unit(self) -> int:
        """Roundings of an inner product."""
        return int(np.count_nonzero(self.mean, axis=-1).max(initial=0)) + 4

    @cached_property
    def calm(self) -> bool:
        """Whether the round adds nothing random."""
        return not (self.fluctuations or self.noise.covariance.any())

    @cached_property
    def idle(self) -> bool:
        """Whether the round leaves everything as it is, as one without participants does."""
        return self.calm and bool(self.still.all())

    @cached_property
    def still(self) -> NDArray[np.bool_]:
        """The entries that a round leaves as they are, in the mean."""
        return kept(self.mean)

    @cached_property
    def moving(self) -> NDArray[np.intp]:
        """The entries that a round may change."""
        noise = self.noise
        fixed = self.still & ~(self.error.any(axis=1) | noise.covariance.any(axis=1) | (noise.off + noise.rough > 0))
        for part in self.fluctuations:
            fixed[part.rows] &= ~part.matrix.any(axis=1)
        return np.flatnonzero(~fixed)

    def told(self, rows: Array) -> Array:
        """Rows of z' as rows of z, in the mean."""
        return chosen(rows, self.mean)

    def told_sizes(self, sizes: Array) -> Array:
        """The sizes of the terms of which those of z' are made that change."""
        moves = columns(sizes * ~self.still)
        return chosen(sizes[:, moves], np.abs(self.mean[moves]))

    def wrong(self, roots: Array) -> Array:
        """A bound of the error of z' by the error of the map."""
        return np.asarray(self.error @ roots)

    def linear(self, matrices: Array) -> Array:
        """A M A' + sum_k w_k F_k M F_k' for a stack of second moments M."""
        result = self.mean @ matrices @ self.mean.T
        for part in self.fluctuations:
            inner = matrices[:, part.columns[:, None], part.columns]
            result[:, part.rows[:, None], part.rows] += part.weight * (part.matrix @ inner @ part.matrix.T)
        return result

    def from_mean(self, mean: Array) -> tuple[Array, Array]:
        """The covariance sum_k w_k (F_k m)(F_k m)' by sampling, and its diagonal if nothing in it cancelled.

        Contributions of the clients cancel one another where all would move the state alike: F_k m is taken as a whole.
        """
        if not self.fluctuations:
            return np.zeros((1, 1)), np.zeros(())
        spread, size = np.zeros((len(mean), len(mean))), np.zeros(len(mean))
        means = column(mean)
        for part in self.fluctuations:
            shift = part.matrix @ means[part.columns]
            spread[np.ix_(part.rows, part.rows)] += part.weight * (shift @ shift.T)
            size[part.rows] += abs(part.weight) * squares(shift)
        return spread, size

    def spread(self, moment: Moment) -> tuple[Array, Array, Array]:
        """Summands of covariance, ``off`` and ``rounding`` beside the mean map of the state: noise and fluctuations."""
        stack = np.stack([moment.covariance, moment.off, moment.rounding])
        spread = self._scattered(stack, np.asarray(self.moved(moment))) if self.fluctuations else np.zeros_like(stack)
        found, off, rounding = self.beside(moment)
        spread[0] += found
        _add(spread[1], off)
        _add(spread[2], rounding)
        return spread[0], spread[1], spread[2]

    def _scattered(self, matrices: Array, moved: Array) -> Array:
        """Sum_k w_k F_k M F_k' for a stack of second moments M, which `linear` has ``moved``."""
        return np.asarray(moved - self.mean @ matrices @ self.mean.T)

    def spread_of(self, rows: Array, moment: Moment) -> list[Array]:
        """``rows`` times the matrices of `spread` times ``rows'``."""
        if self.fluctuations and 2 * rows.shape[-2] >= rows.shape[-1]:
            return [sandwich(rows, each) for each in self._once("_spread_of_all", moment, lambda: self.spread(moment))]
        # For a few rows no matrix of the state is made.
        found, off, rounding = self.beside(moment)
        results = [sandwich(rows, found), *(scaled_squares(rows, each) for each in (off, rounding))]
        if not self.fluctuations:
            return results
        before, moved = chosen(rows, self.mean), self.moved(moment)
        parts = (moment.covariance, moment.off, moment.rounding)
        return [
            each + sandwich(rows, new) - sandwich(before, part)
            for each, new, part in zip(results, moved, parts, strict=True)
        ]

    def scattered_form(self, form: Array) -> Array:
        """Sum_k w_k F_k' Q F_k for a form Q: that of what fluctuations add, on the state before the round."""
        found = np.zeros_like(form)
        for part in self.fluctuations:
            inner = part.matrix.T @ form[part.rows[:, None], part.rows] @ part.matrix
            found[part.columns[:, None], part.columns] += part.weight * inner
        return found

    def beside(self, moment: Moment) -> tuple[Array, Array, Array]:
        """Terms of noise and of the mean state in a covariance, and the diagonals for ``off`` and ``rounding``."""
        pushed, _ = self.pushed(moment)
        found = pushed + self.noise.covariance if self.fluctuations else self.noise.covariance
        return found, *self._bounds(moment)

    def _bounds(self, moment: Moment) -> tuple[Array, Array]:
        """What a round adds to the diagonals of ``off`` and ``rounding``."""

        def find() -> tuple[Array, Array]:
            off = 2 * majorant(self._loose(moment)) + majorant(self.noise.off)
            return off, self._rough(moment, self.pushed(moment)[1])

        return self._once("_bounds_of", moment, find)

    @property
    def apart(self) -> bool:
        """Whether what changes is given apart from what stays."""
        return False

    @property
    def used(self) -> tuple[NDArray[np.intp], RoundMap]:
        """The entries of which those are made that change, and the round of these alone."""
        return np.arange(self.mean.shape[-1]), self

    @property
    def _variances(self) -> Array:
        return np.diagonal(self.noise.covariance)

    def _mean(self, mean: Array) -> Array:
        return np.asarray(self.mean @ mean)

    def _reach(self, numbers: Array) -> Array:
        """The sizes of what a round adds up, from those before."""
        return np.asarray(self._sizes @ numbers)

    def moved(self, moment: Moment) -> Array | list[Array]:
        """`linear` of the moment's three matrices."""
        return self._once("_moved", moment, lambda: self.followed(moment.covariance, (moment.off, moment.rounding)))

    def pushed(self, moment: Moment) -> tuple[Array, Array]:
        """`from_mean` of the moment's mean."""
        return self._once("_pushed", moment, lambda: self.from_mean(moment.mean))

    def _once(self, name: str, moment: Moment, find: Callable[[], _Found]) -> _Found:
        """What is found of a moment, kept until the next one: whoever follows a round may look into it, too."""
        last: tuple[Moment, _Found] | None = self.__dict__.get(name)
        if last is None or last[0] is not moment:
            last = self.__dict__[name] = moment, find()
        return last[1]

    def followed(self, covariance: Array, bounds: Sequence[Array]) -> Array | list[Array]:
        """`linear` of a covariance, and matrices above that of positive semidefinite bounds: one symmetric stack."""
        return symmetric(self.linear(np.stack([covariance, *bounds])))

    def _loose(self, moment: Moment) -> Array:
        return self._once("_loose_of", moment, lambda: np.asarray(self._wobble @ moment.roots))

    def _rough(self, moment: Moment, pushed: Array) -> Array:
        """Diagonal of a bound of the rounding of the new covariance, ``pushed`` being what the mean adds to it."""
        return self._once("_rough_of", moment, lambda: self._roughened(moment, pushed))

    def _roughened(self, moment: Moment, pushed: Array) -> Array:
        if self.idle:
            return np.zeros_like(moment.spreads)
        moved, own = self._reach(moment.spreads), self._variances
        square = 2 * self._unit * (moved**2 + pushed + own) + self.noise.rough**2
        return majorant(np.sqrt(square))

    @cached_property
    def scatter(self) -> Array:
        """Root of the sum of squares of the fluctuations."""
        square = np.zeros_like(self.mean)
        for part in self.fluctuations:
            square[np.ix_(part.rows, part.columns)] += abs(part.weight) * part.matrix**2
        return np.sqrt(square)

    @cached_property
    def _sizes(self) -> Array:
        """Root of the terms that are added up to a new second moment."""
        return np.asarray(self.terms + self.scatter)

    def advance(self, moment: Moment) -> Moment:
        """The moment after the round."""
        if self.idle:
            return moment
        mean, (fresh, moved) = self._mean(moment.mean), self._errors(moment)
        if self.calm and moment.certain:
            off = symmetric(self.linear(moment.off[None]))[0]
            self._follow_errors(off, moved, fresh)
            return moment.determined(mean, off)
        (covariance, off, rounding), (pushed, size) = self.moved(moment), self.pushed(moment)
        # The new moment takes the place of what was found for it.
        del self.__dict__["_moved"]
        covariance += pushed
        covariance += self.noise.covariance
        self._follow_errors(off, moved, fresh)
        _add(off, majorant(self.noise.off))
        _add(rounding, self._rough(moment, size) + self._guard(rounding))
        nothing = np.zeros_like(moment.loose)
        return Moment(mean, covariance, off, rounding, nothing, nothing)

    def carry(self, moment: Moment) -> Moment:
        """`advance` of a moment that nobody needs any more: it may be used up."""
        return self.advance(moment)

    def _errors(self, moment: Moment) -> tuple[Array, Array]:
        """The diagonal above E[f f'] for the error f that a round adds, and how large that before becomes at most."""
        return majorant(self._loose(moment)), self._reach(np.sqrt(np.maximum(diagonal(moment.off), 0.0)))

    def _follow_errors(self, off: Array, moved: Array, fresh: Array) -> None:
        """Bound E[(e + f)(e + f)'] in the place of E[e e'], ``off``: by (1 + 1/a) and (1 + a) times it and E[f f'].

        ``moved`` and ``fresh`` are those of `_errors`.
        """
        old = diagonal(off)
        here = (fresh > 0) & (old > 0)
        ratios = np.divide(old, fresh, out=np.zeros_like(old), where=here)
        ratio = ratios.max() if old.ndim == 1 else ratios.max(axis=-2, keepdims=True)
        # At least 1: what a small factor adds to old errors would grow with every round.
        a = np.where(ratio < np.inf, np.maximum(np.sqrt(ratio), 1.0), 1.0)
        # A bound is rounded as a moment is: where a map cancels large terms, what is left may bound nothing.
        guard = self._guard(off) + 2 * self._unit * EPS * majorant(moved)
        off *= 1 + 1 / a
        _add(off, (1 + a) * fresh + guard)

    def _guard(self, matrix: Array) -> Array:
        """Covers the rounding of a bound itself, where it is far smaller in some direction than in others."""
        return np.asarray(4 * self._unit * EPS * majorant(np.sqrt(np.maximum(diagonal(matrix), 0.0))))


def symmetric(matrices: Array) -> Array:
    """The symmetric parts: rounding makes moments asymmetric, and what is not symmetric may grow on its own."""
    matrices = matrices + turned(matrices)
    matrices /= 2
    return matrices


def _add(matrix: Array, numbers: Array) -> None:
    at = np.arange(matrix.shape[-1])
    matrix[..., at, at] += numbers.reshape(matrix.shape[:-1])


def kept(matrix: Array) -> NDArray[np.bool_]:
    """Rows that are those of the identity."""
    ones = np.diagonal(matrix, axis1=-2, axis2=-1) == 1.0
    return np.asarray((np.count_nonzero(matrix, axis=-1) == 1) & ones)


class KeptRound(RoundMap):
    """A round that leaves most entries as they are, and adds nothing to them, for a stack of parts: see `Moment`.

    ``at`` are the entries that change, ``used`` those of which they are made: map, errors and terms are given for
    these, (parts, at, used), and the noise (parts, at, at), (parts, at, 1).
    """

    def __init__(self, at: NDArray[np.intp], used: NDArray[np.intp], size: int, found: RoundMap) -> None:
        self._at, self._used, self._size = at, used, size
        noise = found.noise
        self._rows: tuple[Any, ...] = ..., at, slice(None)
        self._sources: tuple[Any, ...] = ..., used, slice(None)
        noise = Noise(noise.covariance, self._placed(noise.off), self._placed(noise.rough))
        super().__init__(found.mean, found.error, found.terms, noise)

    @cached_property
    def idle(self) -> bool:
        """See `RoundMap.idle`."""
        return not self._at.size

    @cached_property
    def still(self) -> NDArray[np.bool_]:
        """See `RoundMap.still`."""
        found = np.ones(self._size, dtype=bool)
        found[self._at] = False
        return found

    @cached_property
    def moving(self) -> NDArray[np.intp]:
        """See `RoundMap.moving`."""
        return self._at

    def told(self, rows: Array) -> Array:
        """See `RoundMap.told`."""
        found = np.where(self.still, rows, np.zeros((len(self.mean), 1, 1)))
        found[..., self._used] += rows[..., self._at] @ self.mean
        return found

    def told_sizes(self, sizes: Array) -> Array:
        """See `RoundMap.told_sizes`."""
        found = np.zeros((len(self.mean), *sizes.shape[-2:]))
        found[..., self._used] = sizes[..., self._at] @ np.abs(self.mean)
        return found

    def wrong(self, roots: Array) -> Array:
        """See `RoundMap.wrong`."""
        return self._placed(self.error @ roots[self._sources])

    def _placed(self, numbers: Array) -> Array:
        """Columns of what changes as those of all, 0 elsewhere."""
        found = np.zeros((*numbers.shape[:-2], self._size, 1))
        found[self._rows] = numbers
        return found

    def _made(self, matrix: Array, numbers: Array) -> Array:
        """Columns whose changed entries are those of a matrix."""
        found = numbers.copy()
        found[self._rows] = matrix @ numbers[self._sources]
        return found

    def _mean(self, mean: Array) -> Array:
        return self._made(self.mean, mean)

    def _reach(self, numbers: Array) -> Array:
        return self._made(self.terms, numbers)

    @cached_property
    def _wobble(self) -> Array:
        return np.asarray(self.error + (self._unit + 2) * np.abs(self.mean))

    def _loose(self, moment: Moment) -> Array:
        return self._once("_loose_of", moment, lambda: self._placed(self._wobble @ moment.roots[self._sources]))

    @property
    def apart(self) -> bool:
        """See `RoundMap.apart`."""
        return True

    @cached_property
    def used(self) -> tuple[NDArray[np.intp], RoundMap]:
        """See `RoundMap.used`."""
        noise = Noise(self.noise.covariance, self.noise.off[self._rows], self.noise.rough[self._rows])
        found = RoundMap(self.mean, self.error, self.terms, noise)
        at = np.flatnonzero(np.isin(self._used, self._at))
        return self._used, KeptRound(at, np.arange(len(self._used)), len(self._used), found)

    @cached_property
    def _variances(self) -> Array:
        return self._placed(diagonal(self.noise.covariance))

    def beside(self, moment: Moment) -> tuple[Array, Array, Array]:
        """See `RoundMap.beside`."""
        found = np.zeros((len(self.mean), self._size, self._size))
        found[:, self._at[:, None], self._at] = self.noise.covariance
        return found, *self._bounds(moment)

    def spread_of(self, rows: Array, moment: Moment) -> list[Array]:
        """See `RoundMap.spread_of`: what is added is known at the entries that change."""
        bounds = (scaled_squares(rows, each) for each in self._bounds(moment))
        return [sandwich(rows[..., self._at], self.noise.covariance), *bounds]

    def advance(self, moment: Moment) -> Moment:
        """See `RoundMap.advance`."""
        covariance, off, rounding = (each.copy() for each in (moment.covariance, moment.off, moment.rounding))
        return self.carry(replace(moment, covariance=covariance, off=off, rounding=rounding))

    def carry(self, moment: Moment) -> Moment:
        """See `RoundMap.carry`: what a round leaves as it is stays where it is."""
        if self.idle:
            return moment
        mean, moved = self._mean(moment.mean), self._reach(np.sqrt(np.maximum(diagonal(moment.off), 0.0)))
        covariance, off, rounding = moment.covariance, moment.off, moment.rounding
        certain = self.calm and moment.certain
        # Of what is before the round, which the new moment takes the place of.
        rough = np.zeros(()) if certain else self._rough(moment, np.zeros(()))
        carry_matrices(
            self.mean, self._used, float(self._unit), moved, self._loose(moment), self.noise.off,
            self.noise.covariance, certain, covariance, off, rounding,
        )  # fmt: skip
        if certain:
            return moment.determined(mean, off)
        _add(rounding, rough)
        nothing = np.zeros_like(moment.loose)
        return Moment(mean, covariance, off, rounding, nothing, nothing)


def mixture(maps: Sequence[tuple[float, RoundMap]], fluctuations: Sequence[Fluctuation]) -> RoundMap:
    """The round map of a mixture of (probability, map), whose parts fluctuate as given."""
    whole = np.arange(len(maps[0][1].mean))
    mean = np.asarray(sum(q * each.mean for q, each in maps))
    noise = maps[0][1].noise.scaled(maps[0][0])
    for q, each in maps[1:]:
        noise = noise + each.noise.scaled(q)
    error, terms = (
        np.sqrt(sum((q * part**2 for q, part in parts), np.zeros_like(mean)))
        for parts in ([(q, each.error) for q, each in maps], [(q, each.terms) for q, each in maps])
    )
    apart = [Fluctuation(q, each.mean - mean, whole, whole) for q, each in maps if len(maps) > 1]
    kept = [part for part in (*fluctuations, *apart) if part.weight != 0.0]
    return RoundMap(mean, error, terms, noise, _compressed(kept))


def _compressed(fluctuations: Sequence[Fluctuation]) -> list[Fluctuation]:
    """The sum of weight * F M F' over fewer matrices F.

    Matrices in the same place that are combinations of few (such as multiples of one another) are replaced by those:
    with G = (sqrt(weight_k) F_k)_k, the sum over k is unchanged by an orthogonal transformation of the F_k. One of them
    is dropped where every entry of it is rounding of the entries that it was made of.
    """
    groups: dict[tuple[bytes, bytes, bool], list[Fluctuation]] = {}
    for part in fluctuations:
        groups.setdefault((part.rows.tobytes(), part.columns.tobytes(), part.weight > 0), []).append(part)
    result = []
    for (_, _, positive), parts in groups.items():
        if len(parts) == 1:
            result += parts
            continue
        G = np.stack([math.sqrt(abs(part.weight)) * part.matrix.ravel() for part in parts], axis=1)
        products = G.T @ G
        if not np.isfinite(products).all():
            # A run that leaves the range of floats, which its moments say.
            result += parts
            continue
        _, vectors = np.linalg.eigh(products)
        shape, weight = parts[0].matrix.shape, 1.0 if positive else -1.0
        turned, least = G @ vectors, 16 * len(parts) * EPS * np.linalg.norm(G, axis=1)
        for k in np.flatnonzero((np.abs(turned) > least[:, None]).any(axis=0)):
            matrix = np.ascontiguousarray(turned[:, k].reshape(shape))
            result.append(replace(parts[0], weight=weight, matrix=matrix))
    return result
