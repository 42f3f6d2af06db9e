"""Deterministic cyclic participation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bounds.assumption import Assumption
from ratecheck.aliases import Array
from ratecheck.inputs import whole
from ratecheck.participation.model.pattern import Keys, Masks, Participation, Written
from ratecheck.participation.model.repetition import Repetition


class Cyclic(Participation):
    """Blocks of S consecutive clients in a fixed order, round after round: S_t = {(t*S + k) mod n : k < S}.

    Case 3 of the FedSUM paper (Section 2.1): "The process continues sequentially and wraps around at the end". Where S
    does not divide n, a block that reaches client n-1 is filled up from client 0, and the next block starts where it
    ended. Any ceil(n/S) consecutive rounds reach every client, so tau_max = ceil(n/S) - 1 (for T >= ceil(n/S) - 2).
    Raises `InputError` unless 1 <= S <= n.
    """

    kind: ClassVar[str] = "cyclic"
    written: ClassVar[tuple[Written, ...]] = (Written("cyclic"),)
    satisfies: ClassVar[frozenset[Assumption]] = frozenset({Assumption.CYCLIC_BLOCKS})
    stands_for: ClassVar[frozenset[Assumption]] = satisfies

    def __init__(self, n: int, S: int) -> None:
        self.n = whole("n", n, 1)
        self.S = self.size = whole("S", S, 1, self.n, "there are that many clients")

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        return cls(n, size)

    def fields(self) -> dict[str, Any]:
        return {"n": self.n, "S": self.S}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["n"], data["S"])

    @property
    def rate(self) -> float:
        """S/n."""
        return self.S / self.n

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """See `Participation.masks`; the same in every replicate."""
        # Client i plays in round t when it lies less than S places after the first client of that round.
        first = np.arange(first_round, first_round + rounds, dtype=np.int64) * self.S
        matrix = (np.arange(self.n) - first[:, None]) % self.n < self.S
        return np.ascontiguousarray(np.broadcast_to(matrix[:, :, None], (*matrix.shape, keys.shape[1])))

    @property
    def repeats(self) -> Repetition:
        """The n/gcd(n, S) rounds after which the blocks start from client 0 again."""
        rounds = self.n // math.gcd(self.n, self.S)
        return Repetition.of(self.masks(0, rounds, np.zeros((2, 1), dtype=np.uint64))[:, :, 0])
