"""Confidence bounds for a mean that are valid at all numbers of replicates at once, so that one may look and go on.

Where an end of the range is known, betting bounds the mean from that end at any number of replicates and whatever the
distribution. Where it is not, no bound can do that (Bahadur, Savage, Ann. Math. Statist. 27 (1956), 1115-1122: a rare,
huge value moves the mean and is not seen). One number then has to be supposed, `SPREAD`: how large a second moment is
at most, in squares of the mean. For nonnegative values it is that of the values themselves, for others that of their
squared differences, which is their kurtosis. Given that, the bounds hold at any number of replicates as well.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.one_dimensional import bisect, bisect_each
from ratecheck.aliases import Array
from ratecheck.errors import InputError

# What a second moment is supposed to be at most, in squares of the mean of a nonnegative variable: 1 for a constant, 2
# for exponential values, 1/p for what is there with probability p and is else 0.
SPREAD = 10.0
# What it is for squares of normal values of any mean, and by Minkowski's inequality for their sums: a nonnegative
# quadratic function of normal variables is such a sum.
OF_NORMAL = 3.0
# Half the squared difference of two replicates has the second moment (kurtosis + 3)/2 in squares of its mean. For any
# quadratic function of normal variables, sum a_i (z_i + m_i)^2 plus a linear one, the kurtosis is at most
# 3 + 12 sum a_i^4 (1 + 4 m_i^2) / (sum a_i^2 (1 + 2 m_i^2))^2 <= 15.
KURTOSIS = 2 * SPREAD - 3


class Validity(enum.Enum):
    """The validity of a confidence bound; the value is the sentence in a verdict."""

    RIGOROUS = "valid at every number of replicates, whatever the distribution"
    SPREAD = f"valid at every number of replicates if E X^2 <= {SPREAD:g} (E X)^2 for the left side X"
    NORMAL = "valid at every number of replicates, both sides being quadratic functions of normal variables"
    KURTOSIS = f"valid at every number of replicates if the kurtosis of left minus right is at most {KURTOSIS:g}"

    @property
    def supposes(self) -> str:
        """The assumption of the bound on unknown moments; empty where there is none."""
        return {
            Validity.SPREAD: f"E X^2 <= {SPREAD:g} (E X)^2 for the left side X",
            Validity.KURTOSIS: f"the kurtosis of left minus right is at most {KURTOSIS:g}",
        }.get(self, "")


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
    its bound ever exceeds its mean, at any number of replicates, is at most ``level``; where ``low`` is infinite, for
    a kurtosis of at most `KURTOSIS`.
    Raises `InputError` for values below ``low`` and unless 0 < level < 0.5.
    """
    _check_level(level)
    # NumPy's sums depend on the layout; a bound is to depend on the numbers alone.
    values = np.ascontiguousarray(values, dtype=float)
    if not math.isfinite(low):
        return _by_kurtosis(values, level)
    if (values < low).any():
        raise InputError(f'value {values.min():.10g} breaks "low <= value": low={low:.10g}')
    return np.asarray(low + _least_mean(values - low, level))


def upper(values: Array, level: float, high: float = math.inf) -> Array:
    """Upper confidence bounds for the means of the columns, none of whose values exceeds ``high``; as in `lower`."""
    return -lower(-np.asarray(values, dtype=float), level, -high)


def upper_by_spread(values: Array, level: float, spread: float = SPREAD) -> Array:
    """Upper confidence bounds for the means of nonnegative columns, in which E X^2 <= spread (E X)^2; (checks,).

    For each check, the probability that its bound is ever below its mean is at most ``level``. It is infinite for few
    values. For mean m, s >= 0 and Y = X/m: E e^(-cY) <= phi = 1 - (1 - e^(-c s))/s with s = spread, since the quadratic
    that agrees with e^(-cy) at 0, and to first order at s, is nowhere below it for y >= 0 and has a nonnegative leading
    coefficient. Hence sum_j w_j exp(-c_j sum_i x_i/m) phi_j^(-t) is a nonnegative supermartingale that starts at 1, for
    c_j = 2^(2-j)/s and w_j = 1/((j+1)(j+2)). It ever reaches 1/level with probability at most level (Ville) and grows
    with m, so that the bound is the sample mean times a number, that of `_stretch`.
    Source: the moment inequality is the one for two moments on a half-line, Hoeffding, "The extrema of the expected
    value of a function of independent random variables", Ann. Math. Statist. 26 (1955), 268-275.
    Raises `InputError` for negative values and unless 0 < level < 0.5 and spread >= 1.
    """
    _check_level(level)
    values = np.ascontiguousarray(values, dtype=float)
    if (values < 0).any():
        raise InputError(f'value {values.min():.10g} breaks "value >= 0"')
    if not spread >= 1:
        raise InputError(f'spread={spread:g} breaks "spread >= 1": no second moment is below the square of the mean')
    with np.errstate(invalid="ignore"):
        return np.asarray(values.mean(axis=0) * _stretch(len(values), level, spread))


@functools.lru_cache(maxsize=1024)
def _stretch(t: int, level: float, spread: float) -> float:
    """t/s, rounded up, where sum_j w_j exp(-c_j s) phi_j^(-t) = 1/level; infinite where that is below 1/level at 0."""
    # Smaller c gain nothing worth the work: leaving them out makes the sum smaller, hence the bound wider.
    j = np.arange(6 + math.ceil(math.log2(t * spread) / 2))
    c = 2.0 ** (2 - j) / spread
    start = -t * np.log1p(np.expm1(-c * spread) / spread) - np.log((j + 1) * (j + 2))

    def enough(s: float) -> bool:
        logs = start - c * s
        return bool(logs.max() + math.log(np.exp(logs - logs.max()).sum()) >= -math.log(level))

    if not enough(0.0):
        return math.inf
    least, _ = bisect(enough, 0.0, float(t), steps=_HALVINGS)
    return t / least if least > 0 else math.inf


# Halvings of an interval for one number; half as many for every number of an array.
_HALVINGS = 60
# Columns are handled in blocks of so many values, which stay in the cache.
_BLOCK = 1 << 16
# Replicates that only set the scale of `_by_kurtosis`, and the rate that they suggest, in units of 1/deviation: 2^-3.
_FOR_SCALE, _MIDDLE = 8, 3


def _by_kurtosis(values: Array, level: float) -> Array:
    """Lower confidence bounds for the means of columns whose kurtosis is at most `KURTOSIS`; (checks,).

    Half of the level bounds the variance: V, by `upper_by_spread` from halves of squared differences of two replicates
    each. Where it is at most V, E exp(phi(c (x - m))) <= exp(c^2 V/2) for phi(x) = sign(x) log(1 + |x| + x^2/2), and
    sum_j w_j exp(sum_i phi(c_j (x_i - m)) - t c_j^2 V/2) is a nonnegative supermartingale that starts at 1. It ever
    reaches 2/level with probability at most level/2 (Ville), and falls as m grows. The c_j = 2^-j/s, for all whole j,
    with weights 1/(1.5 (k+1) (k+2)), k = |j - 3|, take their scale s from the first 8 replicates, which are left out;
    it is 1 where these are equal.
    Sources: Catoni, "Challenging the empirical mean and empirical variance: a deviation study", Ann. Inst. H. Poincare
    Probab. Statist. 48 (2012), 1148-1185; Wang, Ramdas, "Catoni-style confidence sequences for heavy-tailed mean
    estimation", Stochastic Process. Appl. 163 (2023), 168-202.
    """
    t = len(values) - _FOR_SCALE
    if t < 1:
        return np.full(values.shape[1], -math.inf)
    pairs = values[: 2 * (len(values) // 2)].reshape(-1, 2, values.shape[1])
    size = np.maximum(np.abs(values).max(axis=0), 1e-300)
    values, differences = values / size, np.diff(pairs / size, axis=1)[:, 0] / math.sqrt(2)
    variance = upper_by_spread(np.square(differences), level / 2)
    # Of columns that are all equal few replicates tell as little: their bound is then infinite times zero.
    equal = (np.ptp(values, axis=0) == 0) & (variance == 0)
    found = np.where(equal, values.mean(axis=0), -math.inf)
    (random,) = np.nonzero(np.isfinite(variance) & (variance > 0))
    columns = max(1, _BLOCK // len(values))
    for block in np.split(random, range(columns, len(random), columns)):
        found[block] = _catoni(values[:, block], variance[block], 1 / size[block], level / 2)
    return np.asarray(found * size)


def _catoni(values: Array, variance: Array, unit: Array, level: float) -> Array:
    """The largest m, rounded down, at which the supermartingale of `_by_kurtosis` has reached 1/level.

    ``unit`` is what 1 was before the values were divided by a number that depends on all of them.
    """
    first, rest = values[:_FOR_SCALE], values[_FOR_SCALE:]
    t = len(rest)
    scale = first.std(axis=0)
    scale = np.where(scale > 0, scale, unit)
    # Rates other than the three that are best gain nothing worth the work; without them the sum is smaller.
    best = np.rint(-np.log2(scale * np.sqrt(2 * math.log(1 / level) / (t * variance))))
    j = best + np.array([[-1.0], [0.0], [1.0]])
    k, c = np.abs(j - _MIDDLE), 2.0**-j / scale
    start = -np.log(1.5 * (k + 1) * (k + 2)) - t * c**2 * variance / 2

    def enough(m: Array) -> NDArray[np.bool_]:
        logs = start.copy()
        for place, rate in enumerate(c):
            x = rate * (rest - m)
            logs[place] += (np.sign(x) * np.log1p(np.abs(x) + x * x / 2)).sum(axis=0)
        top = logs.max(axis=0)
        return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)) >= -math.log(level))

    high = rest.mean(axis=0)
    step = 4 * np.sqrt(variance * math.log(1 / level) / t)
    low = high - step
    while not (reached := enough(low)).all():
        step = 2 * step
        low = np.where(reached, low, high - step)
    return np.asarray(bisect_each(enough, low, high, _HALVINGS // 2)[0])


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


@functools.lru_cache(maxsize=1024)
def _critical(t: int, level: float) -> float:
    """The q at which 2 F_t(sqrt(t q)) (1+q)^(t/2) = sqrt(t+1)/level, rounded up."""
    from scipy.special import stdtr

    def excess(q: float) -> float:
        return math.log(2 * stdtr(t, math.sqrt(t * q))) + t / 2 * math.log1p(q) - 0.5 * math.log1p(t) + math.log(level)

    # Without F_t, which lies between 1/2 and 1, the root is known; with it the left side is larger by 2 at most.
    least, most = (math.expm1(max(0.0, math.log1p(t) - 2 * math.log(c * level)) / t) for c in (2.0, 1.0))
    return bisect(lambda q: excess(q) < 0, least, most, steps=_HALVINGS)[1]


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
    # Not reached in practice. The wealth, which decides, is evaluated once more.
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
