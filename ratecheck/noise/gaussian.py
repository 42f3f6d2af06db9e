"""Gaussian noise."""

from __future__ import annotations

import math
from typing import ClassVar

from ratecheck.noise.law import CompiledNoise


class Gaussian(CompiledNoise):
    """Independent standard normal xi_c, drawn by the method of Box and Muller: E xi_c^2 = 1, E xi_c^4 = 3."""

    kind: ClassVar[str] = "gaussian"
    fourth = 3.0
    normal: ClassVar[bool] = True

    @property
    def spoken(self) -> str:
        return "Gaussian noise"

    def moment(self, order: float, d: int) -> float:
        """See `NoiseLaw.moment`: (2/d)^(p/2) Gamma((d+p)/2)/Gamma(d/2), that of a chi variable."""
        if order <= 0:
            return math.inf
        return math.exp(order / 2 * math.log(2 / d) + math.lgamma((d + order) / 2) - math.lgamma(d / 2))

    def sub_gaussian(self, d: int) -> float:
        """See `NoiseLaw.sub_gaussian`: (1 - 2/(d s^2))^(-d/2) = e."""
        return math.sqrt(2 / d / -math.expm1(-2 / d))
