"""Participants that repeat: some first rounds, then one period over and over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.errors import InputError

# Entries (rounds x clients) of a matrix that is written out.
_LARGEST = 10**9


@dataclass(frozen=True, eq=False)
class Repetition:
    """S_t is row t of ``first`` (q, n), q >= 0, and from round q on row (t - q) mod p of ``period`` (p, n).

    Both hold booleans. Nothing of it costs more where there are more rounds, but for `rows`.
    """

    first: NDArray[np.bool_]
    period: NDArray[np.bool_]

    @staticmethod
    def of(period: NDArray[np.bool_]) -> Repetition:
        """The period from round 0 on."""
        return Repetition(period[:0], period)

    def rows(self, T: int) -> NDArray[np.bool_]:
        """S_0 ... S_{T-1} as an array (T, n); a single row is repeated without copies.

        Raises `InputError` where that is no matrix for a memory.
        """
        q, (p, n) = len(self.first), self.period.shape
        if p == 1 and not q:
            return np.broadcast_to(self.period, (T, n))
        if T * n > _LARGEST:
            raise InputError(
                f"T={T} with {n} clients: participants are written out as matrices of at most {_LARGEST:g} entries"
            )
        if q >= T:
            return self.first[:T]
        return np.concatenate([self.first, self.period[np.arange(T - q) % p]])

    def row(self, t: int) -> NDArray[np.bool_]:
        """S_t, (n,)."""
        q = len(self.first)
        return self.first[t] if t < q else self.period[(t - q) % len(self.period)]

    def delays(self, T: int) -> tuple[int, int]:
        """The maximum and the sum of tau_t over t = 0 ... T-1, tau_t as in `delays.per_round`; O((p+q) n).

        From round q + p on, tau_t repeats; where somebody is in no row of the period it is t - a, a being the last
        round of all of them, -1 for none.
        """
        q, p = len(self.first), len(self.period)
        rows = self.rows(min(T, q + 2 * p))
        rounds = np.arange(len(rows))
        last = np.maximum.accumulate(np.where(rows, rounds[:, None], -1), axis=0)
        tau = rounds - last.min(axis=1)
        if len(rows) < T:
            gone = ~self.period.any(axis=0)
            more = T - len(rows)
            if gone.any():
                # One more in every round.
                longest = int(tau[-1]) + more
                return longest, int(tau.sum()) + more * int(tau[-1]) + more * (more + 1) // 2
            again = tau[-p:]
            whole, rest = divmod(more, p)
            return int(tau.max()), int(tau.sum()) + whole * int(again.sum()) + int(again[:rest].sum())
        return int(tau.max()), int(tau.sum())
