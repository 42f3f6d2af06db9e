"""Deterministic participation that repeats itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.participation.files import as_text, of_text, zeros_and_ones
from ratecheck.participation.model.pattern import Keys, Masks, Participation, PerRound, Written
from ratecheck.participation.model.repetition import Repetition

# Entries (rounds x clients) of a schedule that is made from numbers.
_LARGEST = 10**8


class Periodic(Participation):
    """Some first rounds, if wished, then a schedule over and over, the same in every replicate.

    ``schedule`` (p, n) and ``first`` (q, n) hold zeros and ones: S_t is row t of ``first`` for t < q, and row
    (t - q) mod p of ``schedule`` after. So rounds without end are written in p + q rows, and delays are counted in them
    (`Repetition.delays`). Raises `InputError` for other entries and shapes.

    >>> Periodic([[1, 0], [0, 1], [0, 1]]).fixed(5).astype(int).tolist()
    [[1, 0], [0, 1], [0, 1], [1, 0], [0, 1]]
    """

    kind: ClassVar[str] = "periodic"
    written: ClassVar[tuple[Written, ...]] = (
        Written("periodic", lambda *sizes: Periodic.staggered(*sizes), PerRound.OWN, "periodic:8", "periodic:P"),  # noqa: PLW0108  # the class has no name yet
    )

    def __init__(self, schedule: ArrayLike, first: ArrayLike | None = None) -> None:
        self.schedule = zeros_and_ones("schedule", schedule)
        self.n = self.schedule.shape[1]
        self.first = self.schedule[:0] if first is None or np.size(first) == 0 else zeros_and_ones("first", first)
        if self.first.shape[1] != self.n:
            raise InputError(f"first has {self.first.shape[1]} clients, but the schedule has {self.n}")
        sizes = np.concatenate([self.first, self.schedule]).sum(axis=1)
        self.size = int(sizes[0]) if (sizes == sizes[0]).all() else None

    @classmethod
    def staggered(cls, n: int, period: float) -> Self:
        """Every client once in ``period`` rounds: client i in the rounds t with t mod period = i mod period.

        tau_max is period - 1 where n >= period, and after period - 1 rounds. Raises `InputError` for a period below 1.
        """
        n = whole("n", n, 1)
        p = whole("period", period, 1, max(_LARGEST // n, 1), f"at most {_LARGEST:g} entries for {n} clients")
        return cls(np.arange(p)[:, None] == np.arange(n) % p)

    @classmethod
    def every(cls, periods: Sequence[int], offsets: Sequence[int] | None = None) -> Self:
        """Client i in the rounds t with t mod periods[i] = offsets[i], by default 0: a delay of periods[i] - 1 at most.

        The schedule has the least common multiple of the periods as its rows. Raises `InputError` for a period below 1,
        an offset outside 0 <= offset < period, and for other numbers of offsets.
        """
        steps = [whole(f"periods[{i}]", p, 1) for i, p in enumerate(periods)]
        starts = [0] * len(steps) if offsets is None else list(offsets)
        if len(starts) != len(steps) or not steps:
            raise InputError(f"{len(steps)} periods and {len(starts)} offsets: needed are one each per client")
        starts = [
            whole(f"offsets[{i}]", s, 0, p - 1, "offset < period")
            for i, (s, p) in enumerate(zip(starts, steps, strict=True))
        ]
        period, most = math.lcm(*steps), _LARGEST // len(steps)
        if period > most:
            raise InputError(
                f"periods: their least common multiple is more than {most} rounds, at most {_LARGEST:g} entries for "
                f"{len(steps)} clients"
            )
        rounds = np.arange(period)[:, None]
        return cls(rounds % np.array(steps) == np.array(starts))

    def fields(self) -> dict[str, Any]:
        """See `Participation.fields`: a string of zeros and ones per round."""
        first = {"first": as_text(self.first)} if len(self.first) else {}
        return {"schedule": as_text(self.schedule), **first}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(of_text(data["schedule"]), of_text(data.get("first", [])) or None)

    @property
    def repeats(self) -> Repetition:
        return Repetition(self.first, self.schedule)

    @property
    def rate(self) -> float:
        """Average share of clients per round of the schedule; below 1 where not everybody is in a first round."""
        rate = float(self.schedule.mean())
        return rate if rate < 1.0 or self.first.all() else float(np.nextafter(1.0, 0.0))

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """See `Participation.masks`; the same in every replicate."""
        t, q = np.arange(first_round, first_round + rounds), len(self.first)
        every = np.concatenate([self.first, self.schedule])
        matrix = every[np.where(t < q, t, q + (t - q) % len(self.schedule))]
        return np.ascontiguousarray(np.broadcast_to(matrix[:, :, None], (*matrix.shape, keys.shape[1])))
