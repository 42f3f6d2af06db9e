"""Delays: how long clients stay away (Section 2.2 of the FedSUM paper).

Three numbers are taken from a matrix (rounds, n): a_{i,t}, the last round up to t in which client i took part
(`last_selection`), tau_t, the longest absence at t (`per_round`), and its maximum and average over the rounds. For a
random pattern `distribution` samples the latter two and `expectation` computes their means where that is simple; Lemmas
F.1 to F.4 bound E[tau_max].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.kernels.random import stream_keys
from ratecheck.participation.model.pattern import Keys, Matrix, Participation
from ratecheck.participation.trace import Trace

Integers = NDArray[np.int64]

# Replicates that are followed together, and entries (rounds x clients x replicates) that are looked at together.
_BLOCK = 64
_ENTRIES = 1 << 20


def last_selection(matrix: ArrayLike | Trace) -> Integers:
    """a_{i,t} = max {j <= t : i in S_j} as an array (rounds, n), eq. (2); -1 as long as client i has not taken part.

    ``matrix`` (rounds, n) holds zeros and ones, row t is S_t. Raises `InputError` for any other.
    """
    return _last(_rows(matrix))


def _last(taken: NDArray[np.bool_]) -> Integers:
    """`last_selection` of matrices (..., rounds, n)."""
    rounds = np.arange(taken.shape[-2])[:, None]
    return np.maximum.accumulate(np.where(taken, rounds, -1), axis=-2)


def of_clients(taken: NDArray[np.bool_]) -> Integers:
    """Delays t - a_{i,t-1} of clients by matrices (..., rounds, n): 1 for one that was there in the round before."""
    before = np.concatenate([np.full_like(taken[..., :1, :], -1, dtype=np.int64), _last(taken)[..., :-1, :]], axis=-2)
    return np.asarray(np.arange(taken.shape[-2])[:, None] - before)


def stacked(matrices: Sequence[Matrix], rounds: int, *, rest: bool) -> NDArray[np.bool_]:
    """The first rounds of matrices (rounds, n) as one array (matrices, rounds, n), ``rest`` after their last rows."""
    found = np.full((len(matrices), rounds, matrices[0].shape[1]), rest)
    for row, matrix in zip(found, matrices, strict=True):
        row[: len(matrix)] = matrix[:rounds]
    return found


def counted_together(matrices: Sequence[Matrix], T: Integers) -> tuple[Array, Array]:
    """`counted` of many matrices, of T (N,) rounds each: tau_max and tau_avg, (N,), NaN where rows are missing."""
    taken = stacked(matrices, int(T.max()) + 1, rest=True)
    delays, rounds = np.arange(taken.shape[1]) - _last(taken).min(axis=-1), np.arange(taken.shape[1])
    longest = np.where(rounds <= T[:, None], delays, 0).max(axis=1)
    mean = np.where(rounds < T[:, None], delays, 0).sum(axis=1) / T
    there = np.array([len(matrix) for matrix in matrices]) >= T
    return np.where(there, longest, np.nan), np.where(there, mean, np.nan)


def per_round(matrix: ArrayLike | Trace) -> Integers:
    """tau_t = max_i (t - a_{i,t}) as an array (rounds,), eq. (4): the rounds that somebody has been away for, up to t.

    Before its first participation a client counts as away since the start: tau_t = t + 1 while somebody has never
    taken part. ``matrix`` as for `last_selection`.
    """
    last = last_selection(matrix)
    return np.asarray(np.arange(len(last)) - last.min(axis=1))


def maximum(matrix: ArrayLike | Trace, T: int | None = None) -> int:
    """tau_max = max_{0 <= t <= T} tau_t (Section 2.2); 0 under full participation.

    The definition includes t = T, hence a round T that a run of T rounds (0 ... T-1) never plays: ``matrix`` has to
    have T + 1 rows, and `InputError` is raised where it has fewer. Without ``T`` the maximum is over all rows that
    there are: for the T rows of a run that is the maximum over t <= T-1, which falls short of tau_max by at most 1
    (where tau_{T-1} is the largest and a client that has been away for so long is away in round T too).
    """
    delays = per_round(matrix)
    if T is None:
        return int(delays.max())
    T = whole("T", T, 1)
    if len(delays) <= T:
        raise InputError(
            f"tau_max over 0 <= t <= T={T} needs {T + 1} rows, S_0 to S_{T}; the matrix has {len(delays)} "
            "(without T: the maximum over its rows)"
        )
    return int(delays[: T + 1].max())


def average(matrix: ArrayLike | Trace, T: int | None = None) -> float:
    """tau_avg = (1/T) sum_{t < T} tau_t (Section 2.2), over the first T rows; all rows without ``T``.

    Raises `InputError` where the matrix has fewer than T rows.
    """
    delays = per_round(matrix)
    T = len(delays) if T is None else whole("T", T, 1, len(delays), "the matrix has that many rows")
    return float(delays[:T].mean())


def rows_until(pattern: Participation, T: int) -> Matrix:
    """S_0 ... S_T of a pattern that is the same in every run, as an array (T + 1, n).

    Where the pattern ends with round T - 1, everybody takes part in round T: a run of T rounds never plays it, and so
    no delay becomes longer in it. Raises `InputError` for a random pattern.
    """
    try:
        found = pattern.fixed(T + 1)
    except InputError:
        played = pattern.fixed(T)
        found = None if played is None else np.vstack([played, np.ones((1, pattern.n), dtype=np.bool_)])
    if found is None:
        raise InputError("who takes part is random: draw a trace")
    return found


class Delays(NamedTuple):
    """A number for tau_max and one for tau_avg."""

    tau_max: float
    tau_avg: float


def counted(pattern: Participation, T: int) -> Delays:
    """tau_max (over 0 <= t <= T) and tau_avg (over t < T) of a pattern that is the same in every run.

    Where it repeats, the cost is that of two periods, whatever T is; else that of `rows_until`. Raises `InputError` for
    a random pattern.
    """
    longest, mean = counted_exactly(pattern, T)
    return Delays(float(longest), float(mean))


def counted_exactly(pattern: Participation, T: int) -> tuple[int, Fraction]:
    """tau_max and tau_avg as `counted` has them, before they are rounded."""
    if (repeats := pattern.repeats) is not None:
        return repeats.delays(T + 1)[0], Fraction(repeats.delays(T)[1], T)
    found = per_round(rows_until(pattern, T))
    return int(found.max()), Fraction(int(found[:T].sum()), T)


@dataclass(frozen=True)
class Distribution:
    """``tau_max`` (over 0 <= t <= T) and ``tau_avg`` (over t < T) of independent replicates, arrays (replicates,)."""

    T: int
    tau_max: Integers
    tau_avg: Array

    @property
    def mean(self) -> Delays:
        """Estimates of E[tau_max] and E[tau_avg]."""
        return Delays(float(self.tau_max.mean()), float(self.tau_avg.mean()))

    @property
    def standard_error(self) -> Delays:
        """Standard errors of ``mean``; infinite for a single replicate."""
        return Delays(_standard_error(self.tau_max), _standard_error(self.tau_avg))


def distribution(pattern: Participation, T: int, replicates: int = 1000, seed: int = 0) -> Distribution:
    """The delays of ``replicates`` independent draws of a pattern, rounds 0 ... T each.

    Replicate r has the participants that replicate r of a simulation with the same seed has; its delays depend on
    nothing else. Set ``mean`` beside the bounds on E[tau_max] of Lemmas F.1 to F.4.
    Raises `InputError` for T or replicates below 1 and for a pattern that does not reach over T + 1 rounds.
    """
    T, replicates = whole("T", T, 1), whole("replicates", replicates, 1)
    _check_reach(pattern, T)
    starts = range(0, replicates, _BLOCK)
    parts = [_follow(pattern, T, stream_keys(seed, range(r, min(r + _BLOCK, replicates)))) for r in starts]
    longest, total = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Distribution(T, longest, total / T)


def expectation(pattern: Participation, T: int) -> Delays | None:
    """E[tau_max] and E[tau_avg] where nothing is random, clients are independent or the pattern knows; else None.

    Independent clients: with Q_i(t, l) the probability that client i misses the l rounds up to t,
    E[tau_t] = sum_{l >= 1} (1 - prod_i (1 - Q_i(t, l))), and E[tau_max] = sum_{l >= 1} (1 - prod_i P(L_i < l)), where
    L_i is the longest run of misses. The sums are cut where what is left is below 1e-16. Cost O(T * l_max) for each
    different client, where l_max is about ln(n T) / delta.
    Raises `InputError` for T below 1 and for a pattern that does not reach over T + 1 rounds.
    """
    T = whole("T", T, 1)
    _check_reach(pattern, T)
    if pattern.deterministic:
        return counted(pattern, T)
    chances = pattern.probabilities(0, T + 1)
    if chances is None or pattern.delta is None:
        found = pattern.expected_delays(T)
        return None if found is None else Delays(*found)
    return _Misses(chances, pattern.delta, T).delays()


def _rows(matrix: ArrayLike | Trace) -> Matrix:
    return (matrix if isinstance(matrix, Trace) else Trace(matrix)).matrix


def _standard_error(values: Integers | Array) -> float:
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _check_reach(pattern: Participation, T: int) -> None:
    if pattern.follows_state:
        raise InputError("who takes part depends on the state of the run: there are no delays without one")
    try:
        pattern.check_rounds(T + 1)
    except InputError as error:
        raise InputError(f"tau_max over 0 <= t <= T={T} needs round {T} too: {error}") from None


def _follow(pattern: Participation, T: int, keys: Keys) -> tuple[Integers, Integers]:
    """tau_max and the sum of tau_t over t < T, per replicate."""
    replicates = keys.shape[1]
    last = np.full((pattern.n, replicates), -1, dtype=np.int64)
    longest, total = np.zeros(replicates, dtype=np.int64), np.zeros(replicates, dtype=np.int64)
    chunk = max(1, _ENTRIES // (pattern.n * replicates))
    for first in range(0, T + 1, chunk):
        rounds = np.arange(first, min(first + chunk, T + 1))
        taken = np.where(pattern.masks(first, len(rounds), keys), rounds[:, None, None], -1)
        np.maximum(taken[0], last, out=taken[0])
        np.maximum.accumulate(taken, axis=0, out=taken)
        last = taken[-1]
        delays = rounds[:, None] - taken.min(axis=1)
        longest = np.maximum(longest, delays.max(axis=0))
        total += delays[: max(T - first, 0)].sum(axis=0)
    return longest, total


class _Misses:
    """Runs of missed rounds of independent clients, clients with the same probabilities taken together."""

    def __init__(self, chances: Array, delta: float, T: int) -> None:
        self.T = T
        misses = 1.0 - chances
        self.misses, self.clients = np.unique(misses, axis=1, return_counts=True)
        certain = self.misses == 0.0
        start = np.zeros((1, len(self.clients)))
        # Over the first r rounds: the sum of log P(miss), and the number of rounds that cannot be missed.
        self.logs = np.concatenate([start, np.cumsum(np.log(np.where(certain, 1.0, self.misses)), axis=0)])
        self.certain = np.concatenate([start, np.cumsum(certain, axis=0)])
        self.lengths = np.arange(1, self._longest(delta, chances.shape[1]) + 1)

    def _longest(self, delta: float, n: int) -> int:
        """The l beyond which sum_l P(tau_max >= l) <= n (T+1) (1-delta)^l / delta is below 1e-16."""
        if delta == 1.0:
            return 0
        return min(self.T + 1, math.ceil(math.log(1e16 * n * (self.T + 1) / delta) / -math.log1p(-delta)))

    def delays(self) -> Delays:
        """E[tau_max] and E[tau_avg]."""
        with np.errstate(divide="ignore"):  # a client that surely was away: log(0)
            return Delays(self._expected_maximum(), self._expected_average())

    def all_missed(self, r: int, lengths: Integers) -> Array:
        """P(client missed the last l of the first r rounds), (lengths, clients)."""
        before = r - lengths
        return np.exp(self.logs[r] - self.logs[before]) * (self.certain[r] == self.certain[before])

    def _somebody(self, probabilities: Array) -> float:
        """Sum over the lengths (first axis) of P(it happens to at least one client)."""
        capped = np.minimum(probabilities, 1.0)  # rounding
        return float(-np.expm1(np.log1p(-capped) @ self.clients).sum())

    def _expected_average(self) -> float:
        return sum(self._somebody(self.all_missed(t + 1, self.lengths[: t + 1])) for t in range(self.T)) / self.T

    def _expected_maximum(self) -> float:
        slab = max(1, 8 * _ENTRIES // ((self.T + 2) * len(self.clients)))
        parts = [self.lengths[k : k + slab] for k in range(0, len(self.lengths), slab)]
        return sum(self._somebody(self._had_run(part)) for part in parts)

    def _had_run(self, lengths: Integers) -> Array:
        """P(client misses l rounds in a row somewhere in rounds 0 ... T), (lengths, clients).

        A first such run ends with round r (counting from 1) when rounds r-l+1 ... r are missed, round r-l is not (or
        does not exist), and there was none up to round r-l-1.
        """
        had = np.zeros((self.T + 2, len(lengths), len(self.clients)))
        for r in range(1, self.T + 2):
            fitting = lengths[lengths <= r]
            before = r - fitting
            starts = (1.0 - self.misses[before - 1]) * (1.0 - had[before - 1, np.arange(len(fitting))])
            starts[before == 0] = 1.0
            had[r] = had[r - 1]
            had[r, : len(fitting)] += self.all_missed(r, fitting) * starts
        return had[self.T + 1]
