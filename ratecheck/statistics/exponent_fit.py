"""Scaling exponents: p of a law y = c*x^p by least squares in log-log, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.statistics.confidence import radius

# Error probability of every band and interval.
LEVEL = 0.05
# A fit is called bent where the exponents of its two halves differ by more than this.
_BENT = 0.15
# Numbers that agree to this share of them are the same.
_ALIKE = 1e-10


@dataclass(frozen=True)
class Fit:
    """Exponent p of the law y = c*x^p by least squares in log-log, and an interval ``low <= p <= high``.

    ``ends`` are the exponents of the lower and of the upper half of the points: where they differ there is no one law.
    ``log_scale`` is log c. ``constant`` says that the numbers are all the same up to their rounding: an exponent would
    be that of the rounding.
    """

    exponent: float
    low: float
    high: float
    ends: tuple[float, float]
    log_scale: float
    constant: bool = False

    @property
    def bent(self) -> bool:
        """Whether the two halves tell different exponents, so that the law has not set in over the whole range."""
        return not self.constant and abs(self.ends[1] - self.ends[0]) > _BENT


def fit(values: Array, measured: Array, samples: Array | None = None, rounding: Array | None = None) -> Fit:
    """Fit measured = c * values^p.

    ``values``, ``measured``: (points,), positive; ``samples``: (points, replicates), whose means ``measured`` are;
    ``rounding``: (points,), what ``measured`` may be off by. The
    interval is that of the regression, which takes the scatter about the line as noise. With samples half of the error
    probability goes to the band of Monte Carlo, which widens it; that is computed from one exponent per replicate,
    because a replicate's runs at different points share their random streams.
    Raises `InputError` for fewer than two points.
    """
    if len(values) < 2:
        raise InputError(f"an exponent needs at least 2 points, here is {len(values)}")
    x, y = np.log(values), np.log(measured)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    exponent = float(weights @ y)
    residual = y - y.mean() - exponent * (x - x.mean())
    freedom = len(x) - 2
    level = LEVEL if samples is None else LEVEL / 2
    half = math.inf
    if freedom:
        from scipy.special import stdtrit

        deviation = math.sqrt(float(residual @ residual) / freedom * float(weights @ weights))
        half = float(stdtrit(freedom, 1 - level / 2)) * deviation
    if samples is not None:
        half += float(radius(weights @ (samples / measured[:, None]), level / 2))
    middle = (len(x) + 1) // 2
    ends = [slope(x[part], y[part]) for part in (slice(None, max(middle, 2)), slice(-max(middle, 2), None))]
    log_scale = float(y.mean()) - exponent * float(x.mean())
    constant = bool(np.ptp(measured) <= _ALIKE * np.max(measured) + 2 * (0.0 if rounding is None else np.max(rounding)))
    return Fit(exponent, exponent - half, exponent + half, (ends[0], ends[1]), log_scale, constant)


def slope(x: Array, y: Array) -> float:
    """The slope of least squares."""
    centred = x - x.mean()
    return float(centred @ y / (centred @ centred))
