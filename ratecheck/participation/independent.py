"""Clients that take part independently of each other and of the past."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from bounds.assumption import Assumption
from ratecheck.aliases import Array
from ratecheck.kernels.random import independent_clients
from ratecheck.participation.model.law import Clients
from ratecheck.participation.model.pattern import Keys, Masks, Participation


class Independent(Participation):
    """Client i takes part in round t with probability p_i^t, independently of everything else.

    Case 2 of the FedSUM paper (Section 2.1), which requires delta <= p_i^t <= 1 with a delta > 0. A round may be empty.
    Probabilities are met exactly up to 2**-32.
    """

    satisfies: ClassVar[frozenset[Assumption]] = frozenset({Assumption.INDEPENDENT_PARTICIPATION})

    @abstractmethod
    def probabilities(self, first_round: int, rounds: int) -> Array:
        """p_i^t as an array (rounds, n), from ``first_round`` on."""

    @property
    @abstractmethod
    def delta(self) -> float:  # type: ignore[override]  # here it always is a number
        """A delta > 0 with p_i^t >= delta for every client and round."""

    def law(self, t: int) -> Clients:
        """Every client on its own."""
        return Clients(self.probabilities(t, 1)[0])

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        masks = np.empty((rounds, self.n, keys.shape[1]), dtype=np.bool_)
        thresholds = np.ascontiguousarray(self.probabilities(first_round, rounds) * 2.0**32)
        independent_clients(keys, first_round, thresholds, masks)
        return masks
