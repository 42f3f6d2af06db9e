"""Noise whose variance grows with the gradient."""

from __future__ import annotations

import math
from typing import ClassVar

from ratecheck.errors import InputError
from ratecheck.kernels.constants import RELATIVE
from ratecheck.noise.law import CompiledNoise


class Relative(CompiledNoise):
    """Normal noise of the variance s_c^2 + rho ||g||^2/d in every coordinate: ``relative:RHO``.

    g is the gradient to which it is added: E||noise||^2 = sigma^2 + rho ||g||^2. ``fourth`` is that of the part that
    sigma measures.
    """

    kind: ClassVar[str] = "relative"
    fourth = 3.0
    additive: ClassVar[bool] = False
    code: ClassVar[int] = RELATIVE

    def __init__(self, rho: float) -> None:
        if not 0 <= rho < math.inf:
            raise InputError(f'relative noise: rho={rho:g} breaks "rho >= 0"')
        self.relative = float(rho)
        self.shape = (self.relative, 0.0)

    def __str__(self) -> str:
        return f"{self.kind}:{self.relative:g}"
