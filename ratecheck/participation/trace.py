"""Participation: which clients play in round t, for every replicate.

`Trace` follows a given matrix; `Trace.uniform` and `Trace.full` are patterns that need none. A pattern draws anew in
every replicate, from the replicate's own random stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratecheck.errors import InputError
from ratecheck.inputs import floats, whole
from ratecheck.kernels.random import uniform_subsets

Masks = NDArray[np.bool_]
Keys = NDArray[np.uint64]


class Participation(ABC):
    """Which of ``n`` clients take part in each round."""

    n: int

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


class Uniform(Participation):
    """Uniform sampling of m of n clients without replacement, anew in every round; m = n is full participation."""

    def __init__(self, n: int, m: int) -> None:
        self.n = whole("n", n, 1)
        self.m = whole("m", m, 1, self.n, "there are that many clients")

    @property
    def rate(self) -> float:
        """m/n."""
        return self.m / self.n

    @property
    def inclusion(self) -> tuple[float, float]:
        """Probability that a client is sampled, and that two different clients both are."""
        pairs = self.n * (self.n - 1)
        return self.m / self.n, (self.m * (self.m - 1) / pairs if pairs else 0.0)

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """See `Participation.masks`."""
        masks = np.ones((rounds, self.n, keys.shape[1]), dtype=np.bool_)
        if self.m < self.n:
            uniform_subsets(keys, first_round, self.n, self.m, masks)
        return masks

    def check_rounds(self, T: int) -> None:
        """Any number of rounds will do."""


class Trace(Participation):
    """A given matrix (T, n) of booleans (or zeros and ones), the same in every replicate.

    Raises `InputError` for any other matrix.
    """

    @staticmethod
    def uniform(n: int, m: int) -> Uniform:
        """In every round m of the n clients, all subsets of that size equally likely."""
        return Uniform(n, m)

    @staticmethod
    def full(n: int) -> Uniform:
        """Every client in every round."""
        return Uniform(n, n)

    def __init__(self, matrix: ArrayLike) -> None:
        array = floats("participation matrix", matrix)
        if array.ndim != 2 or 0 in array.shape:
            raise InputError(
                f"a participation matrix of shape {array.shape} does not do: it has to be T x n, both at least 1"
            )
        if not np.isin(array, (0, 1)).all():
            t, i = (int(k) for k in np.argwhere(~np.isin(array, (0, 1)))[0])
            raise InputError(
                f"participation of client {i} in round {t} is {array[t, i]:g}: it has to be true or false (0 or 1)"
            )
        self.matrix = array.astype(np.bool_)
        self.n = self.matrix.shape[1]

    @property
    def rate(self) -> float:
        """Average share of clients per round."""
        return float(self.matrix.mean())

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """See `Participation.masks`."""
        part = self.matrix[first_round : first_round + rounds]
        return np.ascontiguousarray(np.broadcast_to(part[:, :, None], (*part.shape, keys.shape[1])))

    def check_rounds(self, T: int) -> None:
        """The matrix has to have at least T rows."""
        if len(self.matrix) < T:
            raise InputError(f'T={T} breaks "T <= rows of the participation matrix": it has {len(self.matrix)} rows')
