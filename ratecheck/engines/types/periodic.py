"""Time averages over any number of rounds of participants that are given and repeat: by repeated squaring of a period.

After the first rounds, in which delays settle, round t has the map of round t - p. Nothing being sampled, a round takes
the second moment M to A M A' + N, and p rounds do so as well, with A = I + D. With Y the sum of the moments at the
starts of blocks of 2k periods,

    D_2k = 2 D_k + D_k D_k,    N_2k = A_k N_k A_k' + N_k,    Y + A_k Y A_k' + #blocks N_k

is that sum for blocks of k: O(log T) products of matrices of the state's size s, each O(s^3). One pass through the
period then gives the sums at its other rounds. It is D that is computed, so that eigenvalues 1 - 1e-9 keep their
digits. The state is measured from the mean in the first rounds, then from the cycle to which the mean tends, so that a
gradient that vanishes on it is no difference of large numbers.

The error that is reported bounds to first order what the maps of a round, its noise and the start are off, carried on
as in `averages`. The rounding of the products themselves is estimated, not bounded: everything is computed in numbers
of 64 bits and in ``numpy.longdouble``, and the whole difference is added although it is the error of the shorter
numbers, some 2000 times that of the result. Where ``longdouble`` is no longer than a float it is infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import check_alike
from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Moments, Recorder, check_exact
from ratecheck.engines.moments.moment import EPS, TINY, majorant
from ratecheck.engines.setup import Setup
from ratecheck.engines.types.averages import FEW, Average, fixed_point
from ratecheck.engines.types.grouped import Grouped, GroupedRound, groups
from ratecheck.errors import InputError
from ratecheck.execution.one_thread import single_threaded
from ratecheck.participation.model.repetition import Repetition

# Rounds that are followed one by one times the cube of the state, beyond which products in long numbers take minutes.
_LARGEST = 2 * 10**9
# What one round after the other costs, in such multiplications: by entry of the second moment, and however small it is.
_BY_ENTRY, _BY_ROUND = 4, 40_000
# Entries of a state that is put together before clients are taken together.
_LARGEST_STATE = 4000


def applies(setup: Setup) -> bool:
    """Whether `average` can be evaluated."""
    try:
        _check(setup)
    except InputError:
        return False
    return True


def pays(setup: Setup) -> bool:
    """Whether `average` can be evaluated and costs less than one round after the other."""
    repeats = setup.trace.repeats
    if repeats is None or FEW + 4 * (len(repeats.first) + len(repeats.period)) >= setup.T or not applies(setup):
        return False
    products, size, whole = _work(setup, repeats)
    return products * size**3 <= setup.T * (_BY_ENTRY * whole**2 + _BY_ROUND)


def average(setup: Setup) -> Average:
    """Averages over T rounds of all recorded quantities, at a cost that grows with log T, log K and the period.

    Raises `InputError` where the run is not affine, its participants do not repeat, or the state is large.

    >>> import ratecheck as rc
    >>> problem = rc.problems.Quadratic([[[1.0]], [[1.0]]], [[1.0], [-1.0]], shared=1)
    >>> pattern = rc.participation.Periodic([[1, 0], [0, 1]])
    >>> found = rc.exact_average("fedsum", problem, pattern, K=2, T=10**6, eta_g=1.0, eta_l=0.01, sigma=1.0)
    >>> 1e-3 < found.metric < 1e-2
    True
    """
    _check(setup)
    with single_threaded(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = _PeriodicRun(setup)
        values, errors = run.averages()
    return Average.of(setup, run.recorder.names, values, errors)


def _check(setup: Setup) -> None:
    repeats = setup.trace.repeats
    if repeats is None:
        raise InputError("the rounds of this participation do not repeat: use exact, round by round")
    check_exact(setup)
    if what := setup.algorithm.beyond:
        raise InputError(
            f"{setup.method.spoken} {what}, and its clients are not taken together: use exact, round by round"
        )
    check_alike(setup.algorithm, "squaring over rounds")
    if setup.algorithm.projects and math.isfinite(float(setup.step_sizes["r"])):
        raise InputError("repeated squaring cannot see whether the projection acts: use exact, or r=inf")
    products, size, _ = _work(setup, repeats)
    if products * size**3 > _LARGEST:
        raise InputError(f"{products} products of matrices of {size} rows: use exact, round by round")


def _work(setup: Setup, repeats: Repetition) -> tuple[int, int, int]:
    """Products of matrices, their size, with clients taken together where that matters, and that of all clients."""
    products = len(repeats.first) + 3 * len(repeats.period) + 4 * setup.T.bit_length()
    server, client = (
        sum(count * size for count, size in zip(group.by_block, setup.sizes.values(), strict=True))
        for group in (setup.maps.server, setup.maps.client)
    )
    whole = server + setup.problem.n * client + 1
    much = products * whole**3 > min(_LARGEST, setup.T * (_BY_ENTRY * whole**2 + _BY_ROUND))
    if not much or whole > _LARGEST_STATE:
        return products, whole, whole
    return products, server + len(groups(Moments(replace(setup, T=1)), _all_rows(repeats))) * client + 1, whole


@dataclass(frozen=True)
class _Sums:
    """Of every node, a round of the start or of the period: the centre, and the sum of the second moments about it."""

    centres: list[Array]
    moments: list[Array]


class _PeriodicRun:
    """A run as first rounds and a period of rounds, each followed once."""

    def __init__(self, setup: Setup) -> None:
        self.T = setup.T
        repeats = setup.trace.repeats
        assert repeats is not None
        p = len(repeats.period)
        # Once everybody who comes at all has come in the period, delays repeat.
        settled = len(repeats.first) + (p if setup.algorithm.uses_delay else 0)
        self.periods, self.rest = divmod(max(self.T - settled, 0), p)
        self.first = settled if self.periods else self.T
        moments = Moments(replace(setup, T=1))
        self.recorder = Recorder(moments)
        self.grouped = Grouped(moments, _all_rows(repeats))
        kept: dict[bytes, GroupedRound] = {}
        self.rounds = []
        last = np.full(setup.problem.n, -1)
        for t in range(self.first + (p if self.periods else 0)):
            row = repeats.row(t)
            members = np.flatnonzero(row)
            delays = t - last[members] if setup.algorithm.uses_delay else np.ones(len(members), dtype=int)
            last[members] = t
            key = members.tobytes() + b"/" + delays.tobytes()
            if key not in kept:
                kept[key] = self.grouped.round(members, delays)
            self.rounds.append(kept[key])
        self.start = self.grouped.start()
        self.size = self.grouped.size

    # --- The sums ---

    def sums(self, kind: Any) -> _Sums:
        """In numbers of this kind."""
        centre, moment = self.start.mean.astype(kind), self.start.covariance.astype(kind)
        moment[-1, -1] = 1.0
        centres, moments = [], []
        for each in self.rounds[: self.first]:
            centres.append(centre)
            moments.append(moment)
            step = each.change.astype(kind) @ centre
            following = centre + step
            # About the mean nothing moves but by what is lost in adding the step to it.
            moment = _advanced(moment, _about(each, centre, following, kind), each.noise, 1)
            centre = following
        if not self.periods:
            return _Sums(centres, moments)
        cycle, changes = self._cycle(centre, kind)
        shift = np.eye(self.size, dtype=kind)
        shift[:-1, -1] = (centre - cycle[0])[:-1]
        moment = shift @ moment @ shift.T
        D, N = np.zeros_like(moment), np.zeros_like(moment)
        for change, each in zip(changes, self.period, strict=True):
            N = _advanced(N, change, each.noise, 1)
            D = _after(change, D)
        lengths, powers = _powers(self.periods, D, N)
        # Sums over the starts of blocks, and over those of blocks that are single periods.
        starts, single, blocks = moment, np.zeros_like(moment), 1
        for j in range(len(lengths) - 2, -1, -1):
            if lengths[j + 1] > 2 * lengths[j]:
                single = single + starts
                starts = _advanced(starts, D, N, blocks)
            starts = starts + _advanced(starts, *powers[j], blocks)
            blocks *= 2
        total = starts + single
        tail = _advanced(moment, *powers[-1], 1)
        for j, (change, each) in enumerate(zip(changes, self.period, strict=True)):
            centres.append(cycle[j])
            moments.append(total + tail if j < self.rest else total)
            total = _advanced(total, change, each.noise, self.periods)
            if j < self.rest:
                tail = _advanced(tail, change, each.noise, 1)
        return _Sums(centres, moments)

    @cached_property
    def period(self) -> list[GroupedRound]:
        """The rounds of the period."""
        return self.rounds[self.first :]

    def _cycle(self, start: Array, kind: Any) -> tuple[list[Array], list[Array]]:
        """Points to which the mean tends in turn, and the changes of rounds in coordinates about them."""
        D = np.zeros((self.size, self.size))
        for each in self.period:
            D = _after(each.change, D)
        point = np.append(fixed_point(-D[:-1, :-1], D[:-1, -1], start[:-1].astype(float)), 1.0).astype(kind)
        points = [point]
        for each in self.period[:-1]:
            points.append(points[-1] + each.change.astype(kind) @ points[-1])
        following = [*points[1:], point]
        changes = [
            _about(each, here, there, kind) for each, here, there in zip(self.period, points, following, strict=True)
        ]
        return points, changes

    # --- The averages ---

    def averages(self) -> tuple[Array, Array]:
        """Averaged quantities and their errors."""
        recorder, pairs = self.recorder, np.triu_indices(self.size)
        twice = np.where(pairs[0] == pairs[1], 1.0, 2.0)
        longer, shorter = self.sums(np.longdouble), self.sums(np.float64)
        found = []
        for sums in (shorter, longer):
            forms = [
                recorder.centred(self.grouped.lift @ _shift(centre), moment.astype(float))
                for centre, moment in zip(sums.centres, sums.moments, strict=True)
            ]
            parts: Any = [form.signed @ (twice * m[pairs]) for form, m in zip(forms, sums.moments, strict=True)]
            found.append(sum(parts) / self.T)
        values = recorder.constants + found[1].astype(float)
        own = np.sqrt(sum(form.own**2 for form in forms))
        scatter = 4 * (2 * self.size + 16) * sum(form.scatter for form in forms)
        above = [_matrices(form.above, pairs, self.size) for form in forms]
        square = sum(np.einsum("qab,ab->q", a, m.astype(float)) for a, m in zip(above, longer.moments, strict=True))
        off, spread = self._carried(above, longer)
        off = EPS * (off + own)
        errors = ((2 * np.sqrt(square) + off) * off + EPS * (spread + scatter + 16 * square)) / self.T
        estimate = np.abs(found[1] - found[0]).astype(float)
        if np.finfo(np.longdouble).eps >= EPS:
            estimate = np.full_like(estimate, np.inf)
        return values, errors + estimate + recorder.doubts + TINY * (square > 0)

    def _carried(self, above: list[Array], sums: _Sums) -> tuple[Array, Array]:
        """In units of rounding: the root of the sum of E||Q e||^2 over all rounds, and what covariances are off.

        e is what the maps, the noise and the start are off, carried on. By Minkowski's inequality roots are added up
        over the rounds of the period in which an error is made, and over how many periods ago that was; the latter in
        blocks of 1, 1, 2, 4, ... periods, by Cauchy's.
        """
        fresh, noise = [], []
        for each, centre, moment, count in zip(self.rounds, sums.centres, sums.moments, self._counts(), strict=True):
            large = np.abs(_shift(centre)) @ np.sqrt(np.maximum(np.diagonal(moment).astype(float), 0.0))
            fresh.append(np.diag(majorant(each.error @ large)))
            noise.append(count * np.stack([np.diag(majorant(each.off)), np.diag(majorant(each.rough))]))
        linear = [np.eye(self.size) + each.change for each in self.rounds]
        for A in linear:
            # An error has no constant.
            A[:-1, -1] = 0.0
        off, after = np.zeros(len(above[0])), np.zeros_like(above[0])
        if self.periods:
            period = slice(self.first, None)
            off, after = self._over_periods(above[period], linear[period], fresh[period])
        spread = np.zeros((2, len(above[0])))
        nodes = list(zip(above, linear, fresh, noise, strict=True))
        for t in range(len(nodes) - 1, -1, -1):
            Q, A, F, parts = nodes[t]
            spread += np.einsum("qab,kab->kq", after, parts)
            if t < self.first:
                off = off + np.sqrt(np.maximum(np.einsum("qab,ab->q", after, F), 0.0))
            after = Q + A.T @ after @ A
        first = np.einsum("qab,kab->kq", after, np.stack([self.start.off, self.start.rounding]))
        first, spread = np.maximum(first, 0.0), np.maximum(spread, 0.0)
        return off + np.sqrt(first[0]) + np.sqrt(spread[0]), first[1] + spread[1]

    def _counts(self) -> list[int]:
        """The number of times that every round is played."""
        p = len(self.rounds) - self.first
        return [1] * self.first + [self.periods + (j < self.rest) for j in range(p)]

    def _over_periods(self, above: list[Array], linear: list[Array], fresh: list[Array]) -> tuple[Array, Array]:
        """The root for errors of the period's rounds, and the sum of all that follows a start of a period.

        One period more than is played is counted, which covers a last one that is not played to its end.
        """
        p = len(above)
        within = np.zeros_like(above[0])
        total, onward = np.zeros(len(within)), np.eye(self.size)
        carried = np.empty((p, self.size, self.size))
        for j in range(p - 1, -1, -1):
            total += np.sqrt(np.maximum(np.einsum("qab,ab->q", within, fresh[j]), 0.0))
            carried[j] = onward @ fresh[j] @ onward.T
            within = above[j] + linear[j].T @ within @ linear[j]
            onward = onward @ linear[j]
        total += np.sqrt(np.maximum(np.einsum("qab,pab->qp", within, carried), 0.0)).sum(axis=1)
        length, D = 1, onward - np.eye(self.size)
        while length <= self.periods:
            A = np.eye(self.size) + D
            carried = A @ carried @ A.T
            total += np.sqrt(length * np.maximum(np.einsum("qab,pab->qp", within, carried), 0.0)).sum(axis=1)
            within = within + A.T @ within @ A
            length, D = 2 * length, 2 * D + D @ D
        return total, within


def _all_rows(repeats: Repetition) -> Any:
    return np.concatenate([repeats.first, repeats.period])


def _shift(centre: Array) -> Array:
    """Z as a map of x = z - centre, (x, 1) to (z, 1)."""
    shift = np.eye(len(centre))
    shift[:-1, -1] = centre[:-1]
    return shift


def _about(each: GroupedRound, here: Array, there: Array, kind: Any) -> Array:
    """A round's change in coordinates about ``here`` before and ``there`` after it."""
    change = each.change.astype(kind)
    step = change @ here - (there - here)
    change[:-1, -1] = step[:-1]
    return change


def _after(change: Array, D: Array) -> Array:
    """(I + change)(I + D) - I."""
    rows = np.flatnonzero(change.any(axis=1))
    result = D.copy()
    result[rows] += change[rows] + change[rows] @ D
    return result


def _advanced(moment: Array, change: Array, noise: Array, count: int) -> Array:
    """(I + change) moment (I + change)' + count * noise."""
    rows = np.flatnonzero(change.any(axis=1))
    half = change[rows] @ moment
    result = moment + count * noise
    result[rows] += half
    result[:, rows] += half.T
    square = half @ change[rows].T
    result[np.ix_(rows, rows)] += (square + square.T) / 2
    return result


def _powers(count: int, D: Array, N: Array) -> tuple[list[int], list[tuple[Array, Array]]]:
    """Lengths 1 = k_0, k_1, ..., k_J = count, each twice the one before or one more, and all (D_k, N_k)."""
    lengths, powers = [1], [(D, N)]
    for bit in f"{count:b}"[1:]:
        double, noise = powers[-1]
        noise = _advanced(noise, double, noise, 1)
        double = 2 * double + double @ double
        if bit == "1":
            noise = _advanced(noise, D, N, 1)
            double = _after(D, double)
        lengths.append(2 * lengths[-1] + (bit == "1"))
        powers.append((double, noise))
    return lengths, powers


def _matrices(entries: Array, pairs: Any, size: int) -> Array:
    """Symmetric matrices from their entries on and above the diagonal."""
    matrices = np.zeros((len(entries), size, size))
    matrices[:, *pairs] = entries
    matrices[:, pairs[1], pairs[0]] = entries
    return matrices
