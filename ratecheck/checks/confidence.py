"""Confidence bounds for a mean that are valid at all numbers of replicates at once, so that one may look and go on.

Two kinds. Where an end of the range is known, betting bounds the mean from that end at any number of replicates and
whatever the distribution. Where it is not, no bound can do that (Bahadur, Savage, Ann. Math. Statist. 27 (1956),
1115-1122: a rare, huge value moves the mean and is not seen); what is left is the t statistic, exact for normal values
and corrected for skewness to first order.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ratecheck.errors import InputError

Array = NDArray[np.float64]


class Kind(enum.Enum):
    """What a confidence bound rests on; the value is the sentence in a verdict."""

    RIGOROUS = "valid at every number of replicates, whatever the distribution"
    ASYMPTOTIC = "valid for normal values, else asymptotic in the replicates; it needs a finite variance"


def kind(end: float) -> Kind:
    """The kind of the bound on the side of the range where the end is ``end`` (infinite: unknown)."""
    return Kind.RIGOROUS if math.isfinite(end) else Kind.ASYMPTOTIC


def shares(level: float, weights: Sequence[float]) -> tuple[float, ...]:
    """One error level divided among several checks in proportion to their weights (Bonferroni).

    Whatever depends on whatever, the probability that any of them errs is at most the sum of the shares. Raises
    `InputError` unless 0 < level < 0.5, no weight is negative and their sum is positive and finite.
    """
    _check_level(level)
    total = math.fsum(weights)
    if not weights or min(weights) < 0 or not 0 < total < math.inf:
        raise InputError(f"weights={list(weights)}: needed numbers, at least 0, that are not all 0")
    return tuple(level * weight / total for weight in weights)


def lower(values: Array, level: float, low: float = -math.inf) -> Array:
    """Lower confidence bounds for the means of the columns of ``values`` (replicates, checks); (checks,).

    Each column holds independent draws of one distribution, none below ``low``. For each check, the probability that
    its bound ever exceeds its mean, at any number of replicates, is at most ``level``. The kind is ``kind(low)``.
    Raises `InputError` for values below ``low`` and unless 0 < level < 0.5.
    """
    _check_level(level)
    # NumPy's sums depend on the layout; a bound is to depend on the numbers alone.
    values = np.ascontiguousarray(values, dtype=float)
    if not math.isfinite(low):
        half = radius(values, level)
        return np.asarray(values.mean(axis=0) - half - _skew(-values, half))
    if (values < low).any():
        raise InputError(f'value {values.min():.10g} breaks "low <= value": low={low:.10g}')
    return np.asarray(low + _least_mean(values - low, level))


def upper(values: Array, level: float, high: float = math.inf) -> Array:
    """Upper confidence bounds for the means of the columns, none of whose values exceeds ``high``; as in `lower`."""
    return -lower(-np.asarray(values, dtype=float), level, -high)


def radius(values: Array, level: float) -> Array:
    """Distance of the sample means of the columns from a one-sided bound that rests on the t statistic; (checks,).

    Infinite for few values, in particular for one; zero for several that are all equal.

    The likelihood of t values with effect size delta = (mean - m)/deviation against delta = 0 at unknown deviation,
    with right Haar measure over deviations and a half-normal delta > 0, is
    E_t(m) = 2 F_t(z) (1 + z^2/t)^(t/2) / sqrt(t+1), where F_t is Student's distribution function with t degrees of
    freedom, z^2 = t a^2/(V - a^2), a = sum(x - m)/sqrt(t+1), V = sum((x - m)^2). For normal values of mean m it is a
    martingale with mean 1, so that it ever reaches 1/level with probability at most level (Ville). It grows with the
    distance d of the sample mean from m; with s the sample deviation (ddof=1) and q = z^2/t where it is 1/level,
    d = s sqrt(q (t^2-1) / (t (t-q))), infinite for q >= t. As t grows this becomes the normal mixture's bound,
    s sqrt(2 (t+1)/t^2 log(sqrt(t+1)/(2 level))), whose coverage for any finite variance is asymptotic.
    Sources: Lai, "On confidence sequences", Ann. Statist. 4 (1976), 265-280; Wang, Ramdas, "Anytime-valid t-tests and
    confidence sequences for Gaussian means with unknown variance", Sequential Analysis 44 (2025), 56-110; asymptotics:
    Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory and asymptotic confidence
    sequences", Ann. Statist. 52 (2024), 2613-2640.
    """
    _check_level(level)
    t = len(values)
    if t < 2:
        return np.full(np.shape(values)[1:], math.inf)
    deviation = np.std(values, axis=0, ddof=1)
    equal = np.ptp(values, axis=0) == 0
    q = _critical(t, level)
    scale = math.sqrt(q * (t * t - 1) / (t * (t - q))) if q < t else math.inf
    with np.errstate(invalid="ignore"):
        return np.where(equal, 0.0, deviation * scale)


def _skew(values: Array, half: Array) -> Array:
    """How much farther than ``half`` an upper bound has to be where values are skewed to the right; (checks,).

    Few values of such a distribution tend to have a small mean and a small deviation at once, which the t statistic
    does not expect. To first order in the skewness g its quantile -z becomes -z - g (1 + 2 z^2)/(6 sqrt(t)); with
    z = half sqrt(t)/s the bound moves by g (half^2/(3 s) + s/(6 t)). A negative g, which would bring the bound closer,
    counts as 0.
    Source: Johnson, "Modified t tests and confidence intervals for asymmetrical populations", J. Amer. Statist. Assoc.
    73 (1978), 536-544.
    """
    t = len(values)
    if t < 3:
        return np.zeros(values.shape[1:])
    centred = values - values.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    # The sample's third moment, without its bias for normal values.
    moment = math.sqrt(t * (t - 1)) / (t - 2) * (centred**3).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.maximum(moment / variance**1.5, 0.0)
        deviation = np.sqrt(variance * t / (t - 1))
        tilt = skewness * (half**2 / (3 * deviation) + deviation / (6 * t))
    return np.where(np.isfinite(half) & (half > 0), tilt, 0.0)


@functools.lru_cache(maxsize=1024)
def _critical(t: int, level: float) -> float:
    """The q at which 2 F_t(sqrt(t q)) (1+q)^(t/2) = sqrt(t+1)/level, rounded up."""
    from scipy.special import stdtr

    def excess(q: float) -> float:
        return math.log(2 * stdtr(t, math.sqrt(t * q))) + t / 2 * math.log1p(q) - 0.5 * math.log1p(t) + math.log(level)

    # Without F_t, which lies between 1/2 and 1, the root is known; with it the left side is larger by 2 at most.
    least, most = (math.expm1(max(0.0, math.log1p(t) - 2 * math.log(c * level)) / t) for c in (2.0, 1.0))
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if excess(middle) < 0 else (least, middle)
    return most


# Columns are handled in blocks of so many values, which stay in the cache.
_BLOCK = 1 << 16


def _least_mean(values: Array, level: float) -> Array:
    """For nonnegative columns: the largest m at which betting on a mean above m has multiplied the stake by 1/level.

    Stakes theta_j = 2^-j, j = 0, 1, ..., with shares w_j = 1/((j+1)(j+2)) of the capital, which sum to one, make
    K_t(m) = sum_j w_j prod_i (1 - theta_j + theta_j x_i/m). At the true mean that is a nonnegative martingale that
    starts at 1, so that it ever reaches 1/level with probability at most level (Ville), and it falls as m grows.
    Sources: Waudby-Smith, Ramdas, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86
    (2024), 1-27; mixtures instead of predicted stakes: Orabona, Jun, "Tight concentrations and confidence sequences
    from the regret of universal portfolio", IEEE Trans. Inf. Theory 70 (2024), 436-455.
    """
    columns = max(1, _BLOCK // len(values))
    blocks = [values[:, first : first + columns] for first in range(0, values.shape[1], columns)]
    return np.concatenate([_root(block, level) for block in blocks] or [np.zeros(0)])


# Newton's steps at most, and the relative step at which the search ends.
_STEPS, _ENOUGH = 100, 1e-10
# The logarithm's longest step: e^50 and its like are no overflow.
_LONGEST = 50.0


def _root(values: Array, level: float) -> Array:
    """The m with K_t(m) = 1/level, rounded down; zero for a column of zeros."""
    mean = values.mean(axis=0)
    found = np.zeros(len(mean))
    # log K is convex and falling in log m: the root of a tangent is never above that of the curve, so that whatever
    # Newton's method has reached is a valid bound.
    (open_,) = np.nonzero(mean > 0)
    point = np.log(mean[open_])
    for _ in range(_STEPS):
        wealth, slope = _log_wealth(values[:, open_], np.exp(point))
        step = np.clip((wealth + math.log(level)) / -slope, -_LONGEST, None)
        point = point + step
        found[open_] = np.exp(point - _ENOUGH)
        going = np.abs(step) > _ENOUGH
        open_, point = open_[going], point[going]
        if not len(open_):
            return found
    # Not reached in practice. The wealth, which decides, is asked once more.
    unsure = _log_wealth(values[:, open_], found[open_])[0] < -math.log(level)
    found[open_[unsure]] = 0.0
    return found


def _log_wealth(values: Array, m: Array) -> tuple[Array, Array]:
    """Log K_t(m) per column, and its derivative in log m.

    Stakes far below 1/sqrt(t) gain nothing worth the work: leaving them out makes K_t smaller, hence bounds wider.
    """
    t = len(values)
    ratio = values / m
    stakes = range(5 + math.ceil(math.log2(t) / 2))
    logs, slopes = np.empty((2, len(stakes), len(m)))
    for j in stakes:
        theta = 0.5**j
        factor = (1 - theta) + theta * ratio
        with np.errstate(divide="ignore", invalid="ignore"):
            logs[j] = np.log(factor).sum(axis=0) - math.log((j + 1) * (j + 2))
            slopes[j] = (1 - theta) * (1 / factor).sum(axis=0) - t if j else -t
    top = logs.max(axis=0)
    shares_ = np.exp(logs - top)
    total = shares_.sum(axis=0)
    return top + np.log(total), (shares_ * slopes).sum(axis=0) / total


def _check_level(level: float) -> None:
    if not 0 < level < 0.5:
        raise InputError(f'level={level:g} breaks "0 < level < 0.5": it is the probability of a wrong bound')
