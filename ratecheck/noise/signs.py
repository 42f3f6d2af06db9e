"""Noise of two values: the same size to either side."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from ratecheck.kernels.constants import SIGNS
from ratecheck.noise.law import CompiledNoise


class Signs(CompiledNoise):
    """xi_c is 1 or -1 with probability 1/2 each: E xi_c^2 = E xi_c^4 = 1, and ||noise|| = sigma.

    Of a problem whose samples have this law verdicts follow all outcomes, and draw none.
    """

    kind: ClassVar[str] = "signs"
    fourth = 1.0
    code: ClassVar[int] = SIGNS
    outcomes: ClassVar[tuple[tuple[Fraction, Fraction], ...]] = (
        (Fraction(1, 2), Fraction(-1)),
        (Fraction(1, 2), Fraction(1)),
    )

    def moment(self, order: float, d: int) -> float:
        """See `NoiseLaw.moment`: 1, whatever the order."""
        del order, d
        return 1.0

    def largest(self, d: int) -> float:
        del d
        return 1.0
