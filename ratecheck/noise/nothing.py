"""No noise."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Array
from ratecheck.noise.law import Clients, Keys, NoiseLaw


class NoNoise(NoiseLaw):
    """xi_c = 0: gradients are what they are, and a level of noise above 0 is refused."""

    kind: ClassVar[str] = "none"
    variance = fourth = 0.0
    normal: ClassVar[bool] = True
    compiled: ClassVar[bool] = True

    def moment(self, order: float, d: int) -> float:
        del order, d
        return 0.0

    def largest(self, d: int) -> float:
        del d
        return 0.0

    def add(self, scale: Array, i: int, t: int, k: int, out: Array, keys: Keys) -> None:
        """See `NoiseLaw.add`: nothing."""

    def add_rows(self, scale: Array, clients: Clients, firsts: Clients, keys: Keys, t: int, k: int, out: Array) -> None:
        """See `NoiseLaw.add_rows`: nothing."""
