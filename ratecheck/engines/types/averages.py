"""Time averages over any number of rounds: the exact moments by repeated squaring.

Where every round has the same map, the second moment of the state follows one linear map L, X_{t+1} = L X_t, and

    (1/T) sum_{t<T} X_t = (1/T) (I + L + ... + L^{T-1}) X_0

takes O(log T) products: with the sum Y of the moments at the starts of blocks of 2k rounds, Y + L^k Y is that of blocks
of k. The state is measured from a fixed point of its
mean, so that a gradient that vanishes there is not the difference of large numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import check_alike
from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Moments, Recorder
from ratecheck.engines.moments.moment import EPS, TINY, majorant
from ratecheck.engines.setup import Setup
from ratecheck.engines.types.populations import check, moments_of
from ratecheck.errors import InputError
from ratecheck.execution.one_thread import single_threaded

# Entries of the second moment beyond which products of L cost more than they save.
LARGEST = 1000
# Entries up to which its powers are those of longer numbers.
_LONGER = 128
# Moments that grow by more than this in all, as a logarithm, are followed relative to their growth.
_GROWN = 20.0
# Rounds up to which one after the other is quick.
FEW = 100
# The share of its largest eigenvalue by which a matrix that is positive semidefinite may be seen not to be.
_INDEFINITE = 1e-3
# The share of entries that are not 0 up to which a product without zeros is the quicker one, of longer numbers.
_FILLED = 0.4
# Rows up to which it is quicker in any case, as for a vector: so small a product costs less than to prepare the other.
_SMALL = 40
# Added to the diagonal of a matrix of zeros, so that it has a factor.
_NO_SCALE = 1e-300
# How many times its rounding a number is told from it.
_SEEN = 1e3
# How often a bound of the moments of the exact run is widened before there is said to be none.
_WIDENED = 4


@dataclass(frozen=True)
class Average:
    """Averages over rounds t = 0 ... T-1 of expected quantities.

    ``records`` maps a name to its average and ``errors`` to a bound of its rounding error.
    """

    records: dict[str, float]
    errors: dict[str, float]
    weights: dict[str, float]
    T: int

    def __repr__(self) -> str:
        return f"<Average T={self.T}: {', '.join(f'{name}={value:.4g}' for name, value in self.records.items())}>"

    @staticmethod
    def of(setup: Setup, names: Sequence[str], values: Array, errors: Array) -> Average:
        """The averages of these quantities in a run."""
        records, rounding = (dict(zip(names, map(float, numbers), strict=True)) for numbers in (values, errors))
        return Average(records, rounding, setup.metric, setup.T)

    @property
    def metric(self) -> float:
        """The average of what the method's theorems bound."""
        return sum(weight * self.records[name] for name, weight in self.weights.items())

    @property
    def rounding(self) -> float:
        """Rounding error of the metric."""
        return sum(weight * self.errors[name] for name, weight in self.weights.items())


def applies(setup: Setup) -> bool:
    """Whether `average` can be evaluated: a small state and the same law in every round."""
    return _entries(setup) <= LARGEST


def pays(setup: Setup) -> bool:
    """Whether `average` can be evaluated and costs less than one round after the other."""
    return setup.T > FEW and _entries(setup) <= min(LARGEST, setup.T)


def _entries(setup: Setup) -> float:
    """Entries of the second moment; infinite where rounds differ or the run is not affine."""
    if setup.algorithm.projects is not None or setup.algorithm.varying:
        return math.inf
    try:
        check(setup)
    except InputError:
        return math.inf
    repeats = setup.trace.repeats
    if repeats is not None and len(repeats.first) + len(repeats.period) > 1:
        # Rounds differ, and all of them may be too many to write out: see `periodic`.
        return math.inf
    moments = moments_of(setup)
    return moments.size * (moments.size + 1) // 2 if moments.constant else math.inf


def average(setup: Setup) -> Average:
    """Averages over T rounds of all recorded quantities, at a cost that grows with log T and log K.

    Raises `InputError` where the run is not affine, rounds differ from one another or the state is large.
    """
    check(setup)
    check_alike(setup.algorithm, "squaring over rounds")
    if setup.algorithm.projects and math.isfinite(float(setup.step_sizes["r"])):
        raise InputError("repeated squaring cannot see whether the projection acts: use exact, or r=inf")
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        moments = moments_of(setup)
        entries = moments.size * (moments.size + 1) // 2
        if not moments.constant:
            raise InputError("repeated squaring needs the same law in every round: use exact, round by round")
        if entries > LARGEST:
            raise InputError(
                f"the second moment has {entries} entries, more than {LARGEST}: use exact, whose cost grows with T"
            )
        recorder = Recorder(moments)
        values, errors = _Centred(moments).averages(recorder)
    return Average.of(setup, recorder.names, values, errors)


class _Centred:
    """A run in coordinates x = z - centre, second moments being vectors of the entries on and above the diagonal.

    A rounding error made at the start of some block of rounds is carried on as any other moment is. Bounded by a
    positive semidefinite D, it adds at most <Q S, D> to the sum of a quantity <Q, M_t> over the rounds, S being the sum
    of all powers of L: so nothing is lost to cancellation, decay or growth.

    What a wrong map makes of a round is wrong in proportion to the exact moments, which are not known. They are bounded
    by R if R is at least the computed ones and all errors that R causes: were the maps off by a share s of what they
    are, the moments would move continuously with s and could not cross R. Where no R is found, no error is known.
    """

    def __init__(self, moments: Moments) -> None:
        self.T, self.size = moments.setup.T, moments.size
        round_map, start = moments.round_map(0), moments.start()
        size = self.size
        self.shift = np.eye(size)
        A, a = round_map.mean[:-1, :-1], round_map.mean[:-1, -1]
        self.shift[:-1, -1] = fixed_point(np.eye(size - 1) - A, a, start.mean[:-1])
        back = self.shift.copy()
        back[:-1, -1] *= -1
        centre, large = np.abs(self.shift[:, -1]), np.abs(self.shift)
        self.A = back @ round_map.mean @ self.shift
        self.fluctuations = [
            (part.weight, part.matrix @ self.shift[part.columns], part.rows) for part in round_map.fluctuations
        ]
        self.noise, self.unit = round_map.noise, 2 * size + 16
        # In units of rounding, what the maps are off, and the root of the terms of a new second moment.
        scatter, terms = np.zeros((size, size)), np.zeros((size, size))
        for part, (weight, F, rows) in zip(round_map.fluctuations, self.fluctuations, strict=True):
            scatter[rows] += abs(weight) * (np.abs(part.matrix) @ large[part.columns]) ** 2
            terms[rows] += abs(weight) * F**2
        self.wrong = (round_map.error + self.unit * np.abs(round_map.mean)) @ large + self.unit * np.sqrt(scatter)
        self.wrong[:-1, -1] += self.unit * centre[:-1]
        # The constant stays what it is.
        self.wrong[-1] = 0.0
        self.straight, self.spread = np.abs(self.A), np.sqrt(terms)
        self.straight[-1] = 0.0
        self.pairs = np.triu_indices(size)
        self.twice = np.where(self.pairs[0] == self.pairs[1], 1.0, 2.0)
        # Longer numbers cost little where there are few: what squaring rounds is then the least of all.
        self.kind: Any = np.longdouble if len(self.twice) <= _LONGER else np.float64
        self.fine = float(np.finfo(self.kind).eps) / EPS
        self.L = self._map()
        centred = back @ start.mean
        first: Any = centred.astype(self.kind)
        self.first: Array = (start.covariance + np.outer(first, first))[self.pairs]
        self.first_off = start.off + np.diag(majorant(4 * (np.abs(start.mean) + centre)))
        self.first_rounding = start.rounding + np.diag(majorant(2 * (np.abs(centred) + start.roots)))

    def _map(self) -> Array:
        """L on the entries."""
        rows, columns = self.pairs
        twice: Any = np.where(rows == columns, 0.0, 1.0).astype(self.kind)

        def product(F: Array) -> Array:
            straight = F[np.ix_(rows, rows)] * F[np.ix_(columns, columns)]
            return np.asarray(straight + twice * F[np.ix_(rows, columns)] * F[np.ix_(columns, rows)])

        L = product(self.A.astype(self.kind))
        for weight, F, places in self.fluctuations:
            whole = np.zeros(self.A.shape, dtype=self.kind)
            whole[places] = F
            L += self.kind(weight) * product(whole)
        L[:, -1] += self.noise.covariance[self.pairs]
        return L

    def _matrix(self, entries: Array) -> Array:
        matrix = np.zeros((self.size, self.size), dtype=entries.dtype)
        matrix[self.pairs] = entries
        matrix[self.pairs[::-1]] = entries
        return matrix + 0.0

    def _roots(self, entries: Array) -> Array:
        """Roots of the diagonal."""
        return np.sqrt(np.maximum(entries[self.pairs[0] == self.pairs[1]].astype(float), 0.0))

    def averages(self, recorder: Recorder) -> tuple[Array, Array]:
        """Averaged quantities and their errors."""
        lengths, powers = self._powers()
        levels = self._levels(lengths, powers, self.L)
        summed, lost = levels.total, self._lost(levels)
        sound = self._positive(summed, lost)
        forms = recorder.centred(self.shift, self._matrix(summed.astype(float)))
        values = recorder.constants + ((forms.signed @ (self.twice * summed)) / self.T).astype(float)
        # A run that grows by a factor per round is followed as a share of what it has grown to: an error of a late
        # round has few rounds left to grow.
        growth = self._growth(lengths, powers)
        if growth:
            shrunk = [power * math.exp(-k * growth) for k, power in zip(lengths, powers, strict=False)]
            levels = self._levels(lengths, shrunk, self.L * math.exp(-growth))
            lost = self._lost(levels)
            sound = sound and self._positive(levels.total, lost)
        grown = np.exp(np.float64((self.T - 1) * growth))
        forms = recorder.centred(self.shift, self._matrix(levels.total.astype(float))) if growth else forms
        above = forms.above * self.twice
        off, rounding = self._carried(above, levels, lost) if sound else (np.inf, np.inf)
        off, rounding = off + EPS * forms.own, rounding + 4 * self.unit * EPS * forms.scatter
        off, rounding = off * np.sqrt(grown), rounding * grown
        square = np.maximum(above @ summed.astype(float), 0.0) + rounding
        errors = ((2 * np.sqrt(square) + off) * off + rounding + 16 * EPS * square) / self.T
        return values, errors + recorder.doubts + TINY * (square > 0)

    def _carried(self, above: Array, levels: _Levels, lost: Array) -> tuple[Array, Array]:
        """Root of the mean square by which the rows ``above`` of the summed state are off, and what else is rounded.

        Infinite where the maps are too wrong for the moments of the exact run to be bounded. For ``lost`` see `_lost`.
        """
        lengths, total = levels.lengths, levels.total.astype(float)
        places = np.flatnonzero(self.pairs[0] == self.pairs[1])
        # The quantities, then the square of each coordinate.
        rows = np.vstack([above, np.eye(len(total))[places]])
        # Sums of the powers of L under them, level by level.
        sums = [rows]
        for j, k in enumerate(lengths[:-1]):
            doubled = sums[j] + sums[j] @ levels.rounded[j]
            sums.append(doubled if lengths[j + 1] == 2 * k else rows + doubled @ levels.once.astype(float, copy=False))
        forms = self._forms(np.concatenate(sums))
        own, wide = np.maximum(total[places], 0.0), np.zeros(self.size)
        for _ in range(_WIDENED):
            beyond = self._diagonal(wide)
            lost = self._lost(levels, beyond) if wide.any() else lost
            off, rounding = self._errors(levels, sums, forms, beyond, lost)
            squares, others = off[-self.size :], rounding[-self.size :]
            errors = (2 * np.sqrt(own) + squares) * squares + others
            if not np.isfinite(errors).all():
                break
            if (errors <= wide).all():
                return off[: -self.size], rounding[: -self.size]
            wide = 2 * np.maximum(errors, wide)
        nothing = np.full(len(above), np.inf)
        return nothing, nothing

    def _errors(
        self, levels: _Levels, sums: list[Array], forms: Array, beyond: Array, lost: Array
    ) -> tuple[Array, Array]:
        """Bounds of `_carried` for all rows of ``sums``, whose matrices are ``forms``.

        The exact moments are up to ``beyond`` above those that are summed, whose rounding is below ``lost`` then.
        """
        roots, carried = self._roots(levels.total.astype(float) + beyond), sums[-1]
        fresh = majorant(self.straight @ roots) + majorant(np.sqrt(self.T * np.diagonal(self.noise.covariance)))
        # Longer numbers do not help matrices that are rounded, where what they make of a moment cancels.
        fresh = self.fine * fresh + majorant(self.spread @ roots)
        rough = lost + 2 * self.unit * self._diagonal(fresh)
        rough += self.T * self._diagonal(majorant(self.noise.rough)) + self.first_rounding[self.pairs]
        wrong = self._diagonal(majorant(self.wrong @ roots))
        rounding = np.maximum(carried @ rough, 0.0)
        off = self._off(levels, sums, wrong)
        if not (self._positive_at(forms, rough) and self._positive_at(forms, wrong)):
            # Powers in which a bound of an error is itself nothing but rounding bound nothing.
            off = np.full_like(off, np.inf)
        off += np.sqrt(np.maximum(carried @ self.first_off[self.pairs], 0.0))
        off += np.sqrt(self.T * np.maximum(carried @ self._diagonal(majorant(self.noise.off)), 0.0))
        return EPS * off, EPS * rounding

    def _growth(self, lengths: list[int], powers: list[Array]) -> float:
        """Logarithm of the factor by which second moments grow in a round, 0 where they do not by much."""
        if len(powers) < 2:
            return 0.0
        # Entries are of any scale: only how much they grow from one power to the next says something.
        before, after = (float(np.abs(power).max(initial=0.0)) for power in powers[-2:])
        if not 0 < before <= after < math.inf:
            return 0.0
        growth = math.log(after / before) / (lengths[len(powers) - 1] - lengths[len(powers) - 2])
        return growth if growth * self.T > _GROWN else 0.0

    def _diagonal(self, diagonal: Array) -> Array:
        return np.asarray(np.diag(diagonal)[self.pairs])

    def _powers(self) -> tuple[list[int], list[Array]]:
        """Lengths 1 = k_0, k_1, ..., k_J = T, each twice the one before or one more, and L^k of all but the last."""
        lengths, powers = [1], [self.L]
        for bit in f"{self.T:b}"[1:]:
            lengths.append(2 * lengths[-1] + (bit == "1"))
            if lengths[-1] < self.T:
                power = _product(powers[-1], powers[-1])
                powers.append(_product(self.L, power) if bit == "1" else power)
        return lengths, powers

    def _levels(self, lengths: list[int], powers: list[Array], once: Array) -> _Levels:
        """The sum of the second moments over all rounds, by powers of ``once``, the map of one round."""
        starts, single = self.first, np.zeros_like(self.first)
        passed: list[tuple[Array, Array]] = []
        for j in range(len(lengths) - 2, -1, -1):
            before = starts
            if lengths[j + 1] > 2 * lengths[j]:
                single = single + starts
                starts = _product(once, starts)
            starts = starts + _product(powers[j], starts)
            passed.append((before, starts))
        return _Levels(lengths, powers, once, passed[::-1], starts, single)

    def _lost(self, levels: _Levels, beyond: Array | float = 0.0) -> Array:
        """A diagonal above the rounding of a sum of second moments, at the starts of blocks.

        Exact moments are up to the diagonal ``beyond`` above those that are summed.
        """
        rough = np.zeros(len(self.first))
        # The roundings of a product, in those of a float.
        entries, large = self.fine * (2 * len(self.first) + 8), np.abs(levels.once).astype(float, copy=False)
        for j in range(len(levels.passed) - 1, -1, -1):
            before, after = levels.passed[j]
            if levels.lengths[j + 1] > 2 * levels.lengths[j]:
                rough += entries * self._above(large @ self._outer(before + beyond))
            size = levels.sizes[j]
            moved = size @ self._outer(after + beyond)
            # A power is rounded as a product of two; applied, it rounds once more.
            rough += entries * self._above(2 * moved + size @ moved + large @ (size @ moved))
        return rough + entries * self._above(self._outer(levels.starts + levels.single + beyond))

    def _positive(self, total: Array, rough: Array) -> bool:
        """Whether a sum of second moments is one, up to its rounding, a matrix below whose diagonal is ``rough``."""
        matrix = self._matrix(total.astype(float))
        own = np.diagonal(self._matrix(_SEEN * EPS * rough))
        diagonal = np.diagonal(matrix)
        roots = np.sqrt(np.maximum(diagonal, 0.0) + own)
        scaled = (matrix + np.diag(own)) / np.maximum(np.outer(roots, roots), 1e-300)
        return bool(np.isfinite(scaled).all()) and float(np.linalg.eigvalsh(scaled)[0]) >= -_INDEFINITE

    def _forms(self, rows: Array) -> Array:
        """The symmetric matrices (number, size, size) of forms on the entries of a second moment."""
        matrices = np.zeros((len(rows), self.size, self.size))
        matrices[:, *self.pairs] = rows / self.twice
        matrices[:, *self.pairs[::-1]] = matrices[:, *self.pairs]
        return matrices

    def _positive_at(self, forms: Array, weights: Array) -> bool:
        """Whether forms are positive semidefinite where coordinates are as large as the diagonal ``weights``."""
        roots = np.sqrt(np.diagonal(self._matrix(weights)))
        scaled = forms * np.outer(roots, roots)
        return bool(np.isfinite(scaled).all()) and _semidefinite(scaled)

    def _outer(self, entries: Array) -> Array:
        """Bounds of the entries of a sum of second moments by the diagonal."""
        roots = self._roots(entries)
        return np.asarray(roots[self.pairs[0]] * roots[self.pairs[1]])

    def _above(self, bounds: Array) -> Array:
        """A diagonal matrix above all symmetric ones with entries within the bounds, by Gershgorin's discs."""
        matrix = self._matrix(bounds)
        roots = np.sqrt(np.diagonal(matrix))
        roots = np.maximum(roots, 1e-150)
        # The constant's own square is exact.
        matrix[-1, -1] = 0.0
        return self._diagonal(roots * (matrix @ (1 / roots)))

    def _off(self, levels: _Levels, sums: list[Array], fresh: Array) -> Array:
        """Root of the sum over rounds of E||Q e||^2, every round adding to e what ``fresh`` is above of.

        An error made k rounds ago has the mean square <Q L^k, fresh>; over all rounds the roots of these add up, by
        Minkowski's inequality, which is bounded block by block.
        """
        lengths, powers = levels.lengths, levels.rounded
        total = np.sqrt(np.maximum(sums[0] @ fresh, 0.0))
        for j in range(len(lengths) - 1):
            moved = powers[j] @ fresh
            block = sums[j] @ moved
            if lengths[j + 1] > 2 * lengths[j]:
                block = block + sums[0] @ (powers[j] @ moved)
            total += np.sqrt((lengths[j + 1] - lengths[j]) * np.maximum(block, 0.0))
        return np.asarray(total)


@dataclass(frozen=True)
class _Levels:
    """A sum of second moments over rounds by doubling: over lengths k_0 = 1, ..., k_J = T of blocks, `_powers`.

    ``passed`` has the sums of moments at the starts of blocks before and after each length, ``starts`` those of single
    rounds; ``single`` is what odd lengths leave over.
    """

    lengths: list[int]
    powers: list[Array]
    once: Array
    passed: list[tuple[Array, Array]]
    starts: Array
    single: Array

    @cached_property
    def total(self) -> Array:
        """The sum over all rounds."""
        return self.starts + self.single

    @cached_property
    def rounded(self) -> list[Array]:
        """The powers as floats."""
        return [power.astype(float, copy=False) for power in self.powers]

    @cached_property
    def sizes(self) -> list[Array]:
        """The sizes of the powers' entries, as floats."""
        return [np.abs(power) for power in self.rounded]


def _product(left: Array, right: Array) -> Array:
    """The product of two matrices.

    There is no BLAS for longer numbers, whose sums ``@`` writes to memory term by term: `numpy.dot` keeps them in a
    register, and where most entries of ``left`` are 0 their terms are left out. Both add in the same order, and differ
    only where ``right`` is not finite.
    """
    if left.dtype == np.float64:
        return np.asarray(left @ right)
    if np.count_nonzero(left) > _FILLED * left.size or (
        (right.ndim == 1 or len(left) <= _SMALL) and np.isfinite(right).all()
    ):
        return np.asarray(np.dot(left, right))
    from scipy.sparse import csr_array

    return np.asarray(csr_array(left) @ right)


def _semidefinite(matrices: Array) -> bool:
    """Whether no symmetric matrix of these (number, size, size) has a clearly negative eigenvalue.

    That is one beyond a share of the largest. With half of that share of its largest diagonal entry on the diagonal a
    matrix has a factor then, which costs a tenth of what eigenvalues do.
    """
    diagonals = np.einsum("nii->ni", matrices)
    shift = _INDEFINITE / 2 * np.maximum(diagonals.max(axis=1, initial=0.0), _NO_SCALE)
    try:
        np.linalg.cholesky(matrices + shift[:, None, None] * np.eye(matrices.shape[1]))
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(matrices)
        return not (values[:, 0] < -_INDEFINITE * np.maximum(values[:, -1], 0.0)).any()
    return True


def fixed_point(change: Array, a: Array, start: Array) -> Array:
    """A solution of ``change`` x = a, a fixed point of x - change x + a; else the start itself.

    It agrees with the start in what is preserved.
    """
    residual = a - change @ start
    if not (np.isfinite(change).all() and np.isfinite(residual).all()):
        return start
    left, values, _ = np.linalg.svd(change)
    kept = left[:, values <= len(change) * EPS * max(1.0, values[0] if len(values) else 0.0)]
    system = np.vstack([change, kept.T])
    step = np.linalg.lstsq(system, np.concatenate([residual, np.zeros(kept.shape[1])]), rcond=None)[0]
    point = start + step
    left_over = np.abs(a - change @ point).max(initial=0.0)
    found = np.isfinite(point).all() and left_over <= 1e-8 * (
        np.abs(a).max(initial=0.0) + np.abs(point).max(initial=0.0)
    )
    return np.asarray(point if found else start)
