"""Uniform sampling without replacement."""

from __future__ import annotations

import numpy as np

from ratecheck.inputs import whole
from ratecheck.kernels.random import uniform_subsets
from ratecheck.participation.pattern import Keys, Masks, Matrix, Participation


class Uniform(Participation):
    """Uniform sampling of m of n clients without replacement, anew in every round; m = n is full participation.

    Every subset of m clients has probability 1/C(n, m). Case 1 of the FedSUM paper (Section 2.1, where m is S).
    Raises `InputError` unless 1 <= m <= n.
    """

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

    def fixed(self, T: int) -> Matrix | None:
        """All ones for full participation, one row repeated without copies."""
        return np.broadcast_to(np.ones((1, self.n), dtype=np.bool_), (T, self.n)) if self.m == self.n else None
