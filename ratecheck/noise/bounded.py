"""Bounded noise: uniform in an interval, or of one length in a random direction."""

from __future__ import annotations

import math
from typing import ClassVar

from ratecheck.kernels.constants import RADIAL, UNIFORM
from ratecheck.noise.law import CompiledNoise


class UniformNoise(CompiledNoise):
    """Independent xi_c, uniform between -3^(1/2) and 3^(1/2): E xi_c^2 = 1, E xi_c^4 = 9/5."""

    kind: ClassVar[str] = "uniform"
    fourth = 9 / 5
    code: ClassVar[int] = UNIFORM

    def moment(self, order: float, d: int) -> float:
        """See `NoiseLaw.moment`: by Jensen's inequality, above the order 2 that of one coordinate."""
        return super().moment(order, d) if order <= 2 else 3 ** (order / 2) / (order + 1)

    def largest(self, d: int) -> float:
        del d
        return math.sqrt(3.0)


class Sphere(CompiledNoise):
    """Noise that is uniform on the sphere of radius sigma: E xi_c^2 = 1, E xi_c^4 = 3d/(d + 2) < 3."""

    kind: ClassVar[str] = "sphere"
    fourth = 3.0
    code: ClassVar[int] = RADIAL

    def moment(self, order: float, d: int) -> float:
        """See `NoiseLaw.moment`: 1, whatever the order."""
        del order, d
        return 1.0

    def largest(self, d: int) -> float:
        del d
        return 1.0
