"""What every participation pattern offers to the engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.inputs import whole
from ratecheck.kernels.random import stream_keys

Matrix = NDArray[np.bool_]
Masks = NDArray[np.bool_]
Keys = NDArray[np.uint64]


class Participation(ABC):
    """Which of ``n`` clients take part in each round.

    A random pattern draws anew in every replicate, from the replicate's own random stream. What it draws for a round is
    a function of the stream and the round's number alone: neither the rounds nor the replicates that are asked for
    together matter. A round may be empty where a pattern allows it; the server then stays as it is.
    """

    n: int
    # Whether who takes part depends on the state of the run, so that ``masks`` knows the candidates only.
    follows_state: ClassVar[bool] = False

    @property
    @abstractmethod
    def rate(self) -> float:
        """Average share of clients per round: m/n for uniform sampling."""

    @abstractmethod
    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """Participation (rounds, n, replicates) from ``first_round`` on; ``keys`` (2, replicates) name the streams."""

    @abstractmethod
    def check_rounds(self, T: int) -> None:
        """Raise `InputError` where the pattern does not reach over T rounds."""

    def fixed(self, T: int) -> Matrix | None:
        """The matrix (T, n) of the first T rounds where it is the same in every replicate, otherwise None.

        Raises `InputError` where the pattern does not reach over T rounds.
        """
        return None

    def draw(self, T: int, seed: int = 0, replicate: int = 0) -> Matrix:
        """The matrix (T, n) of the first T rounds that a simulation with that seed follows in that replicate.

        So a theorem that is conditional on the sequence of participants can be asked about one of them:
        ``Trace(pattern.draw(T))``. Raises `InputError` for T < 1, a negative replicate, or a pattern that does not
        reach over T rounds.
        """
        T, replicate = whole("T", T, 1), whole("replicate", replicate, 0)
        self.check_rounds(T)
        return np.ascontiguousarray(self.masks(0, T, stream_keys(seed, range(replicate, replicate + 1)))[:, :, 0])
