"""Gaussian noise."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Array
from ratecheck.noise.law import Clients, Keys, NoiseLaw


class Gaussian(NoiseLaw):
    """Independent standard normal xi_c: E xi_c^2 = 1, E xi_c^4 = 3. Compiled rounds draw it by the same function."""

    kind: ClassVar[str] = "gaussian"
    fourth = 3.0
    normal: ClassVar[bool] = True
    compiled: ClassVar[bool] = True

    def add(self, scale: Array, i: int, t: int, k: int, out: Array, keys: Keys) -> None:
        """See `NoiseLaw.add`: by the method of Box and Muller."""
        from ratecheck.kernels.oracle import add_gaussian

        add_gaussian(scale, i, t, k, out, keys, out.shape[1])

    def add_rows(self, scale: Array, clients: Clients, firsts: Clients, keys: Keys, t: int, k: int, out: Array) -> None:
        """See `NoiseLaw.add_rows`: by one kernel."""
        from ratecheck.kernels.clients import add_gaussian_rows

        if scale.any():
            add_gaussian_rows(scale, clients, firsts, keys, t, k, out)
