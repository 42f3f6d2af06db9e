"""Estimates from a curve: its steady state, whether it is steady at all, and how soon it comes down.

A curve's replicates are independent, so every interval is Student's over one number per replicate; rounds are averaged
first. A ratio of two means has Fieller's interval, the set of ratios r that a t test of mean(a - r*b) = 0 accepts.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ratecheck.aliases import Array


@dataclass(frozen=True)
class ConfidenceInterval:
    """An estimate with its confidence limits."""

    value: float
    low: float
    high: float

    def within(self, low: float, high: float) -> bool:
        """Whether all of it lies between two numbers."""
        return low <= self.low and self.high <= high


class Steadiness(enum.Enum):
    """Whether the last window of rounds is a steady state; the values are printed.

    ``STEADY``: the second half of the window differs from the first by less than the tolerance, with confidence.
    ``UNSTEADY``: it differs significantly, and by more than the tolerance. ``UNRESOLVED``: too noisy to tell.
    """

    STEADY = "steady"
    UNSTEADY = "unsteady"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, eq=False)
class EstimateSummary:
    """One curve in numbers.

    ``samples`` (replicates,) are means over the window, ``steady`` their mean; ``drift`` is the mean over the second
    half of the window divided by that over the first; ``passages`` holds for each level the round, interpolated, in
    which each replicate first is at or below that share of its start (NaN: never). ``diverged`` counts replicates that
    left the range of numbers; the rest is then NaN. ``means`` (replicates,) are means over all rounds, and ``unrest``
    (replicates,) those over the window of |log of the metric in a round / in the round before|; ``lowest``
    (replicates,) are the least values in any round, and ``reached`` holds for each target the first round in which each
    replicate is at or below that number (NaN: never).
    """

    samples: Array
    means: Array
    unrest: Array
    steady: ConfidenceInterval
    drift: ConfidenceInterval
    steadiness: Steadiness
    passages: Mapping[float, Array]
    first_round: int
    T: int
    diverged: int = 0
    lowest: Array = field(default_factory=lambda: np.zeros(0))
    reached: Mapping[float, Array] = field(default_factory=dict)
    # The same of the least and of the largest metric that rounding may have made this of, where it may have.
    ends: tuple[EstimateSummary, EstimateSummary] | None = None
    # Whether some round of the window is nothing but rounding.
    lost: bool = False

    @property
    def below(self) -> EstimateSummary:
        """The estimate at the least value of the metric."""
        return self if self.ends is None else self.ends[0]

    @property
    def above(self) -> EstimateSummary:
        """The estimate at the largest value of the metric."""
        return self if self.ends is None else self.ends[1]


def summarise(
    metric: Array,
    *,
    window: float,
    tolerance: float,
    levels: Sequence[float],
    error: float,
    targets: Sequence[float] = (),
    rounding: Array | None = None,
) -> EstimateSummary:
    """Summarise a metric (replicates, T); each interval fails with probability ``error``.

    ``rounding`` (replicates, T) is what the metric may be off by: intervals contain what that does to them.
    """
    if rounding is not None and _in_range(metric, rounding).all():
        known = partial(summarise, window=window, tolerance=tolerance, levels=levels, error=error, targets=targets)
        least = np.where(metric >= 0, np.maximum(metric - rounding, 0.0), metric - rounding)
        found, low, high = map(known, (metric, least, metric + rounding))
        return _rounded(found, low, high, tolerance, lost=bool((metric <= rounding)[:, found.first_round :].any()))
    T = metric.shape[1]
    # An even number of rounds, so that the halves are equal; all of them where there are too few.
    half = min(max(round(window * T / 2), 1), max(T // 2, 1))
    first = T - 2 * half if T > 1 else 0
    diverged = int(np.count_nonzero(~_in_range(metric, 0.0 if rounding is None else rounding)))
    if diverged:
        nothing, nan = ConfidenceInterval(math.nan, math.nan, math.nan), np.full(len(metric), math.nan)
        never = dict.fromkeys(levels, nan)
        return EstimateSummary(
            nan, nan, nan, nothing, nothing, Steadiness.UNRESOLVED, never, first, T, diverged,
            lowest=nan, reached=dict.fromkeys(targets, nan),
        )  # fmt: skip
    samples, before, after = (
        metric[:, part].mean(axis=1) for part in (slice(first, T), slice(first, first + half), slice(T - half, T))
    )
    drift = ratio_interval(after, before, error, paired=True)
    return EstimateSummary(
        samples=samples,
        means=metric.mean(axis=1),
        unrest=_unrest(metric[:, first:]),
        steady=mean_interval(samples, error),
        drift=drift,
        steadiness=_steadiness(drift, tolerance),
        passages={level: passage(metric, level) for level in levels},
        first_round=first,
        T=T,
        lowest=metric.min(axis=1),
        reached={target: first_at(metric, target) for target in targets},
    )


def _rounded(
    found: EstimateSummary, low: EstimateSummary, high: EstimateSummary, tolerance: float, *, lost: bool
) -> EstimateSummary:
    """The summary with intervals that contain what rounding may have made of the metric; of nothing else, no drift."""
    steady = replace(found.steady, low=low.steady.low, high=high.steady.high)
    drift = replace(found.drift, low=0.0, high=math.inf) if lost else found.drift
    return replace(
        found, steady=steady, drift=drift, steadiness=_steadiness(drift, tolerance), ends=(low, high), lost=lost
    )


def _in_range(metric: Array, rounding: Array | float) -> NDArray[np.bool_]:
    """The replicates whose sums over their rounds, and so means, are within the range of numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.isfinite((metric + rounding).sum(axis=1)))


def first_at(metric: Array, target: float) -> Array:
    """The first round with ``metric <= target``, (replicates,); NaN for never."""
    below = metric <= target
    return np.where(below.any(axis=1), below.argmax(axis=1), math.nan)


def _unrest(metric: Array) -> Array:
    logs = np.log(np.maximum(metric, np.finfo(float).tiny))
    return np.abs(np.diff(logs, axis=1)).mean(axis=1) if logs.shape[1] > 1 else np.full(len(logs), math.nan)


def _steadiness(drift: ConfidenceInterval, tolerance: float) -> Steadiness:
    low, high = 1 / (1 + tolerance), 1 + tolerance
    if drift.within(low, high):
        return Steadiness.STEADY
    changed = drift.high < 1 or drift.low > 1
    return Steadiness.UNSTEADY if changed and not low <= drift.value <= high else Steadiness.UNRESOLVED


def passage(metric: Array, level: float) -> Array:
    """First round with ``metric <= level * metric[0]``, interpolated on the logarithm, (replicates,); NaN for never."""
    below = metric <= level * metric[:, :1]
    reached, t = below.any(axis=1), np.maximum(below.argmax(axis=1), 1)
    rows = np.arange(len(metric))
    after = np.maximum(metric[rows, t], np.finfo(float).tiny)
    before = np.maximum(metric[rows, t - 1], after)
    target = np.clip(level * metric[:, 0], after, before)
    span = np.log(before / after)
    share = np.divide(np.log(before / target), span, out=np.ones_like(span), where=span > 0)
    return np.where(reached, t - 1 + share, math.nan)


def mean_interval(values: Array, error: float) -> ConfidenceInterval:
    """Student's interval for a mean."""
    values, exponent = scaled(values)
    mean, radius = float(np.mean(values)), _quantile(len(values), error) * _standard_error(values)
    return _times(ConfidenceInterval(mean, mean - radius, mean + radius), exponent)


def ratio_interval(a: Array, b: Array, error: float, *, paired: bool = False) -> ConfidenceInterval:
    """Fieller's interval for mean(a) / mean(b) of positive quantities; unbounded where mean(b) may be 0.

    Unpaired samples take the smaller number of degrees of freedom, which is on the safe side of Welch's.
    """
    (a, up), (b, down) = scaled(a), scaled(b)
    mean_a, mean_b = float(np.mean(a)), float(np.mean(b))
    if mean_b <= 0 or not math.isfinite(mean_a) or not math.isfinite(mean_b):
        return ConfidenceInterval(math.nan, 0.0, math.inf)
    t = _quantile(min(len(a), len(b)), error)
    var_a, var_b = (t * _standard_error(a)) ** 2, (t * _standard_error(b)) ** 2
    both = t * t * float(np.cov(a, b)[0, 1]) / len(a) if paired and len(a) > 1 else 0.0
    # The ratios r with (mean_a - r*mean_b)^2 <= var_a - 2*r*both + r^2*var_b.
    square, cross, constant = mean_b**2 - var_b, mean_a * mean_b - both, mean_a**2 - var_a
    if not square > 0 or math.isinf(constant):
        low, high = 0.0, math.inf
    else:
        root = math.sqrt(max(cross**2 - square * constant, 0.0))
        low, high = max((cross - root) / square, 0.0), (cross + root) / square
    return _times(ConfidenceInterval(mean_a / mean_b, low, high), up - down)


def scaled(values: Array) -> tuple[Array, NDArray[np.int32]]:
    """Columns of values of at most 1, whose squares are numbers, and exponents of the powers of two taken out of them.

    Nothing is rounded but what is far below the largest of its column.
    """
    exponents = np.frexp(np.abs(values).max(axis=0))[1]
    return np.ldexp(values, -exponents), exponents


def _times(interval: ConfidenceInterval, exponent: NDArray[np.int32]) -> ConfidenceInterval:
    with np.errstate(over="ignore"):
        ends = np.ldexp([interval.value, interval.low, interval.high], exponent)
    return ConfidenceInterval(*ends.tolist())


def _standard_error(values: Array) -> float:
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _quantile(count: int, error: float) -> float:
    """Student's quantile for a two-sided interval over that many values."""
    return float(stdtrit(count - 1, 1 - error / 2)) if count > 1 else math.inf
