"""One-sided confidence bounds for a mean that stay valid when replicates are added until a verdict is reached."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# The number of replicates at which the bounds are narrowest for the given level.
_TUNED_FOR = 64


def radius(values: NDArray[np.float64], level: float) -> float:
    """Distance from the sample mean to a one-sided bound that fails at any sample size with probability ``level``.

    Asymptotic confidence sequence with a normal mixture: with sample deviation s, t values and r > 0 the radius is
    s*sqrt(2*(t*r^2+1)/(t^2*r^2) * log(1 + sqrt(t*r^2+1)/(2*level))). Its coverage needs a finite variance and is
    asymptotic in t; infinite for fewer than two values.
    Source: Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory and asymptotic confidence
    sequences", Ann. Statist. 52 (2024), one-sided form.
    """
    t = len(values)
    if t < 2:
        return math.inf
    target = -2.0 * math.log(2.0 * level)
    r_squared = (target + math.log1p(target)) / _TUNED_FOR
    scale = t * r_squared + 1.0
    mixture = 2.0 * scale / (t * t * r_squared) * math.log1p(math.sqrt(scale) / (2.0 * level))
    return float(np.std(values, ddof=1)) * math.sqrt(mixture)
