"""Uniform sampling without replacement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bounds.assumption import Assumption
from bounds.printing.notation import Notation, counted
from ratecheck.aliases import Array
from ratecheck.inputs import whole
from ratecheck.kernels.random import uniform_subsets
from ratecheck.participation.model.law import Subsets
from ratecheck.participation.model.pattern import Keys, Masks, Participation, PerRound, Written
from ratecheck.participation.model.repetition import Repetition


class Uniform(Participation):
    """Uniform sampling of m of n clients without replacement, anew in every round; m = n is full participation.

    Every subset of m clients has probability 1/C(n, m). Case 1 of the FedSUM paper (Section 2.1, where m is S).
    Raises `InputError` unless 1 <= m <= n.
    """

    kind: ClassVar[str] = "uniform"
    written: ClassVar[tuple[Written, ...]] = (
        Written("full", lambda n: Uniform(n, n), PerRound.OWN),
        Written("uniform"),
    )
    satisfies: ClassVar[frozenset[Assumption]] = frozenset(
        {Assumption.UNIFORM_SAMPLING, Assumption.UNIFORM_SUBSETS, Assumption.UNBIASED_SELECTION}
    )
    stands_for: ClassVar[frozenset[Assumption]] = satisfies
    constant_law = True

    def __init__(self, n: int, m: int) -> None:
        self.n = whole("n", n, 1)
        self.m = self.size = whole("m", m, 1, self.n, "there are that many clients")

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        return cls(n, size)

    def fields(self) -> dict[str, Any]:
        return {"n": self.n, "m": self.m}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["n"], data["m"])

    def without_client(self, i: int) -> Uniform:
        """See `Participation.without_client`: m of those that are left, or all of them."""
        return Uniform(self.n - 1, min(self.m, self.n - 1))

    def sentence(self, notation: Notation) -> str:
        return f"{counted(self.m)} of them drawn in every round" if self.m < self.n else ""

    @property
    def rate(self) -> float:
        """m/n."""
        return self.m / self.n

    @property
    def selection_skew(self) -> tuple[float, str] | None:
        """1: whatever the clients' values are, those of the sampled ones have the mean of all of them."""
        return 1.0, "all clients are selected equally often"

    @property
    def inclusion(self) -> tuple[float, float]:
        """Probability that a client is sampled, and that two different clients both are."""
        return Subsets(self.n, self.m).inclusion

    def law(self, t: int) -> Subsets:
        """All subsets of m clients, equally likely."""
        return Subsets(self.n, self.m)

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        masks = np.ones((rounds, self.n, keys.shape[1]), dtype=np.bool_)
        if self.m < self.n:
            uniform_subsets(keys, first_round, self.n, self.m, masks)
        return masks

    @property
    def repeats(self) -> Repetition | None:
        """Everybody in every round, for full participation."""
        return Repetition.of(np.ones((1, self.n), dtype=np.bool_)) if self.m == self.n else None
