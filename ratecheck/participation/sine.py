"""Independent participation with a probability that follows a sine."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import positive, real, whole
from ratecheck.participation.independent import Independent
from ratecheck.participation.model.pattern import Written


class Sine(Independent):
    """Every client takes part in round t with p_t = (S/n) * (amplitude * sin(2 pi t / period) + level), independently.

    The defaults are pattern P3 of the FedSUM paper (Section 5 and Appendix H.2: 0.3 sin(pi t/5) + 0.7, with S = 20 and
    n = 100). The probability is that of all clients alike, although it is printed p_i^t. On average level * S, not S,
    clients take part: 14 in the paper, where its patterns P1 and P2 have 20.

    Raises `InputError` unless 1 <= S <= n, period > 0, level > |amplitude| and (S/n) * (level + |amplitude|) <= 1, so
    that p_t is a positive probability in every round.
    """

    kind: ClassVar[str] = "sine"
    written: ClassVar[tuple[Written, ...]] = (Written("sine"),)

    def __init__(self, n: int, S: int, amplitude: float = 0.3, level: float = 0.7, period: float = 10.0) -> None:
        self.n = whole("n", n, 1)
        self.S = self.size = whole("S", S, 1, self.n, "there are that many clients")
        self.amplitude, self.level = real("amplitude", amplitude), real("level", level)
        self.period = positive("period", period)
        swing = abs(self.amplitude)
        if self.level <= swing:
            raise InputError(
                f'level={self.level:g} breaks "level > |amplitude|" = {swing:g}: probabilities are positive'
            )
        if (top := self.S / self.n * (self.level + swing)) > 1.0:
            raise InputError(
                f'level={self.level:g}, amplitude={self.amplitude:g} break "S/n * (level + |amplitude|) <= 1": {top:g}'
            )

    @property
    def rate(self) -> float:
        """Long-run average, level * S/n: over its cycle the sine averages to 0."""
        return self.level * self.S / self.n

    @property
    def delta(self) -> float:  # type: ignore[override]  # here it always is a number
        """(S/n) * (level - |amplitude|), attained where the sine reaches its extreme in a round."""
        return self.S / self.n * (self.level - abs(self.amplitude))

    def probabilities(self, first_round: int, rounds: int) -> Array:
        sines = [math.sin(2.0 * math.pi * t / self.period) for t in range(first_round, first_round + rounds)]
        column = self.S / self.n * (self.amplitude * np.array(sines) + self.level)
        return np.broadcast_to(column[:, None], (rounds, self.n))
