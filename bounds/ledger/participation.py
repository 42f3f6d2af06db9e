"""Participation traces, in small: the quantities that proofs about delays count with.

Rounds are 0 ... T-1, clients 0 ... N-1. ``last(i, t)`` is a_{i,t}, the last round up to t in which client i took part,
-1 if there is none; ``delay(t)`` is tau_t = max_i (t - a_{i,t}); ``seen(t)`` is A_t, the clients that took part up to
round t.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class ParticipationMatrix:
    """A matrix of T rows (rounds) and N columns (clients) of True and False."""

    matrix: tuple[tuple[bool, ...], ...]

    def again(self) -> ParticipationMatrix:
        """Instance itself, which nothing has changed."""
        return self

    @property
    def T(self) -> int:  # the papers' symbol
        """Rounds."""
        return len(self.matrix)

    @property
    def N(self) -> int:  # the papers' symbol
        """Clients."""
        return len(self.matrix[0])

    def present(self, t: int) -> tuple[int, ...]:
        """The clients that take part in round t."""
        return tuple(i for i, there in enumerate(self.matrix[t]) if there)

    def last(self, i: int, t: int) -> int:
        """a_{i,t}; for t = T the matrix goes on with a round in which nobody participates."""
        return max((r for r in range(min(t, self.T - 1) + 1) if self.matrix[r][i]), default=-1)

    def before(self, i: int, t: int) -> int:
        """The last round before t in which client i took part, -1 if there is none."""
        return max((r for r in range(min(t, self.T)) if self.matrix[r][i]), default=-1)

    def delay(self, t: int) -> int:
        """tau_t."""
        return max(t - self.last(i, t) for i in range(self.N))

    def seen(self, t: int) -> tuple[int, ...]:
        """A_t."""
        return tuple(i for i in range(self.N) if self.last(i, t) >= 0)

    @property
    def tau_max(self) -> int:
        """The largest delay over rounds 0 ... T-1."""
        return max(self.delay(t) for t in range(self.T))

    @property
    def tau_max_T(self) -> int:
        """The largest delay over rounds 0 ... T, where nobody participates in round T: at least 1."""
        return max(self.delay(t) for t in range(self.T + 1))

    @property
    def tau_avg(self) -> Fraction:
        """The mean delay over rounds 0 ... T-1."""
        return Fraction(sum(self.delay(t) for t in range(self.T)), self.T)


def every(N: int, T: int) -> Iterator[ParticipationMatrix]:  # the papers' symbols
    """All participation matrices of a size."""
    rows = list(itertools.product((False, True), repeat=N))
    for matrix in itertools.product(rows, repeat=T):
        yield ParticipationMatrix(matrix)
