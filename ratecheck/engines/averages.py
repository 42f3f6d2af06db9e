"""Time averages over any number of rounds: the exact moments by repeated squaring.

Where every round has the same map, the second moment of the state follows one linear map L, X_{t+1} = L X_t, and

    (1/T) sum_{t<T} X_t = (1/T) (I + L + ... + L^{T-1}) X_0

takes O(log T) products, by sum_{t<2k} L^t = (I + L^k) sum_{t<k} L^t. The state is measured from a fixed point of its
mean, so that a gradient that vanishes there is not the difference of large numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.exact import Moments, Recorder, RoundMap, check_exact, single_threaded
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError

Array = NDArray[np.float64]

# Entries of the second moment beyond which products of L cost more than they save.
LARGEST = 1000
# Rounds up to which one after the other is quick.
FEW = 100
_EPS = float(np.finfo(float).eps)
# Runs with coefficients perturbed by a unit of rounding, whose spread is the error estimate, and the margin on it.
_PERTURBED, _MARGIN = 3, 8.0


@dataclass(frozen=True)
class Average:
    """Averages over rounds t = 0 ... T-1 of expected quantities.

    ``records`` maps a name to its average and ``errors`` to an estimate of its rounding error: how much it moves when
    every coefficient of a round is perturbed by a few units of rounding.
    """

    records: dict[str, float]
    errors: dict[str, float]
    weights: dict[str, float]
    T: int

    @property
    def metric(self) -> float:
        """The average of what the method's theorems bound."""
        return sum(weight * self.records[name] for name, weight in self.weights.items())

    @property
    def rounding(self) -> float:
        """Rounding error of the metric."""
        return sum(weight * self.errors[name] for name, weight in self.weights.items())


def applies(setup: Setup) -> bool:
    """Whether `average` can be asked: a small state and the same law in every round."""
    return _entries(setup) <= LARGEST


def pays(setup: Setup) -> bool:
    """Whether `average` can be asked and costs less than one round after the other."""
    return setup.T > FEW and _entries(setup) <= min(LARGEST, setup.T)


def _entries(setup: Setup) -> float:
    """Entries of the second moment; infinite where rounds differ or the run is not affine."""
    if setup.algorithm.projects is not None:
        return math.inf
    try:
        check_exact(setup)
    except InputError:
        return math.inf
    moments = Moments(setup)
    return moments.size * (moments.size + 1) // 2 if moments.constant else math.inf


def average(setup: Setup) -> Average:
    """Averages over T rounds of all recorded quantities, at a cost that grows with log T and log K.

    Raises `InputError` where the run is not affine, rounds differ from one another or the state is large.
    """
    check_exact(setup)
    if setup.algorithm.projects and math.isfinite(float(setup.step_sizes["r"])):
        raise InputError("repeated squaring cannot see whether the projection acts: use exact, or r=inf")
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        moments = Moments(setup)
        entries = moments.size * (moments.size + 1) // 2
        if not moments.constant:
            raise InputError("repeated squaring needs the same law in every round: use exact, round by round")
        if entries > LARGEST:
            raise InputError(
                f"the second moment has {entries} entries, more than {LARGEST}: use exact, whose cost grows with T"
            )
        recorder = Recorder(moments)
        round_map = moments.round_map(0)
        values = _averages(round_map, moments, recorder, None)
        spread = np.zeros_like(values)
        for k in range(_PERTURBED):
            moved = _averages(round_map, moments, recorder, np.random.default_rng(k))
            spread = np.maximum(spread, np.abs(moved - values))
    weights = setup.algorithm.metric(setup.trace.rate, setup.problem.n)
    errors = _MARGIN * spread + _EPS * np.abs(values)
    records, rounding = (dict(zip(recorder.names, map(float, numbers), strict=True)) for numbers in (values, errors))
    return Average(records, rounding, weights, setup.T)


def _averages(round_map: RoundMap, moments: Moments, recorder: Recorder, rng: np.random.Generator | None) -> Array:
    """The averaged quantities, with coefficients perturbed by a unit of rounding if ``rng`` is given."""

    def moved(matrix: Array, size: Array | None = None) -> Array:
        if rng is None:
            return matrix
        # Entries whose terms nearly cancel carry the rounding of their terms.
        return np.asarray(matrix + _EPS * (np.abs(matrix) if size is None else size) * rng.uniform(-1, 1, matrix.shape))

    start = moments.start()
    mean = moved(round_map.mean, round_map.size)
    mean[-1] = round_map.mean[-1]
    shift = np.eye(moments.size)
    shift[:-1, -1] = _centre(mean, start.mean)
    back = shift.copy()
    back[:-1, -1] *= -1
    A = back @ mean @ shift
    fluctuations = [
        (part.weight, moved(part.matrix) @ shift[part.columns], part.rows) for part in round_map.fluctuations
    ]
    noise = moved(round_map.noise)
    pairs = np.triu_indices(moments.size)
    L = np.empty((len(pairs[0]), len(pairs[0])))
    for column, (a, b) in enumerate(zip(*pairs, strict=True)):
        basis = np.zeros((moments.size, moments.size))
        basis[a, b] = basis[b, a] = 1.0
        image = A @ basis @ A.T
        for weight, F, rows in fluctuations:
            image[np.ix_(rows, rows)] += weight * (F @ basis @ F.T)
        if a == b == moments.size - 1:
            image += noise
        L[:, column] = image[pairs]
    centred = back @ start.mean
    first = start.covariance + np.outer(centred, centred)
    total = _sum_of_powers(L, moments.setup.T) @ first[pairs] / moments.setup.T
    second = np.zeros((moments.size, moments.size))
    second[pairs] = total
    second = second + np.triu(second, 1).T
    return recorder.of_second_moment(second, shift)


def _centre(mean: Array, start: Array) -> Array:
    """A fixed point of the mean that agrees with the start in what every round preserves; else the start itself."""
    A, a = mean[:-1, :-1], mean[:-1, -1]
    change = np.eye(len(A)) - A
    residual = a - change @ start[:-1]
    if not (np.isfinite(change).all() and np.isfinite(residual).all()):
        return np.asarray(start[:-1])
    left, values, _ = np.linalg.svd(change)
    kept = left[:, values <= len(A) * _EPS * max(1.0, values[0] if len(values) else 0.0)]
    system = np.vstack([change, kept.T])
    step = np.linalg.lstsq(system, np.concatenate([residual, np.zeros(kept.shape[1])]), rcond=None)[0]
    point = start[:-1] + step
    left_over = np.abs(a - change @ point).max(initial=0.0)
    found = np.isfinite(point).all() and left_over <= 1e-8 * (
        np.abs(a).max(initial=0.0) + np.abs(point).max(initial=0.0)
    )
    return np.asarray(point if found else start[:-1])


def _sum_of_powers(L: Array, T: int) -> Array:
    """I + L + ... + L^(T-1)."""
    identity = np.eye(len(L))
    power, total = identity, np.zeros_like(L)
    for bit in f"{T:b}":
        total = total + power @ total
        power = power @ power
        if bit == "1":
            total = identity + L @ total
            power = L @ power
    return total
