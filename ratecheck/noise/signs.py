"""Noise of two values: the same size to either side."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from ratecheck.aliases import Array
from ratecheck.noise.law import IndependentNoise


class Signs(IndependentNoise):
    """xi_c is 1 or -1 with probability 1/2 each: E xi_c^2 = E xi_c^4 = 1.

    Of a problem whose samples have this law verdicts follow all outcomes, and draw none.
    """

    kind: ClassVar[str] = "signs"
    fourth = 1.0
    compiled: ClassVar[bool] = True
    signs: ClassVar[bool] = True
    outcomes: ClassVar[tuple[tuple[Fraction, Fraction], ...]] = (
        (Fraction(1, 2), Fraction(-1)),
        (Fraction(1, 2), Fraction(1)),
    )

    def quantile(self, u: Array) -> Array:
        """See `IndependentNoise.quantile`."""
        return np.where(u < 0.5, -1.0, 1.0)
