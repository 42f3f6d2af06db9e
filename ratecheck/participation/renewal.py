"""Participation after random delays: a law of the rounds between two returns of a client, bounded for sure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import floats, whole
from ratecheck.kernels.random import renewals
from ratecheck.participation.model.pattern import Keys, Masks, Participation, PerRound, Simpler, Written


class Renewal(Participation):
    """Stationary renewals: client i returns after a number of rounds D, drawn anew each time with P(D = k) = gaps_k.

    ``gaps`` (D_max,) are the probabilities of k = 1, ..., D_max, the same for all ``n`` clients, which are independent
    of each other. So a client that trains for D rounds and reports then is late by D - 1 rounds: by ``longest`` =
    D_max - 1 at most, which holds for sure, and by E[D] - 1 on average. With ``a`` the rounds since a client's last
    report, P(a = k) = P(D > k)/E[D] in every round, and a round brings a report with probability ``rate`` = 1/E[D].
    ``Renewal([1 - q, q])`` is a Markov chain, and geometric gaps would be independent participation.

    A call of ``masks`` looks back from its first round until all delays that were possible have become one, at worst to
    round 0, at a cost of D_max per client and round. Probabilities are met up to 2**-32.

    Raises `InputError` for n < 1, and unless gaps are at least 0, sum to 1 within 1e-9, and the last is not 0.

    >>> from ratecheck.participation import Renewal, delays
    >>> late = Renewal([0, 0.5, 0.5], n=2)
    >>> late.rate, late.longest
    (0.4, 2)
    >>> round(delays.expectation(late, T=1000).tau_avg, 3)
    1.2
    """

    kind: ClassVar[str] = "renewal"
    written: ClassVar[tuple[Written, ...]] = (
        Written(
            "renewal", lambda n, low, high: Renewal.between(low, high, n), PerRound.RANDOM, "renewal:1,5",
            "renewal:LOW,HIGH",
        ),
    )  # fmt: skip

    def __init__(self, gaps: ArrayLike, n: int) -> None:
        self.n = whole("n", n, 1)
        self.gaps = floats("gaps", gaps)
        if self.gaps.ndim != 1 or not len(self.gaps):
            raise InputError(f"gaps has the shape {self.gaps.shape}: it has to be (D_max,), D_max at least 1")
        total = math.fsum(self.gaps)
        if not (self.gaps >= 0).all() or abs(total - 1) > 1e-9 or self.gaps[-1] == 0:
            raise InputError(
                f"gaps {self.gaps.tolist()} sum to {total:.10g}: they have to be probabilities of 1, 2, ... rounds, "
                "at least 0 with the sum 1, and the last one above 0"
            )
        self.gaps = self.gaps / total

    @classmethod
    def between(cls, low: float, high: float, n: int) -> Renewal:
        """Gaps that are uniform on low, ..., high; raises `InputError` unless 1 <= low <= high are whole."""
        low, high = whole("LOW", low, 1), whole("HIGH", high, 1)
        if low > high:
            raise InputError(f'LOW={low}, HIGH={high} breaks "LOW <= HIGH"')
        return cls([0.0] * (low - 1) + [1 / (high - low + 1)] * (high - low + 1), n)

    @cached_property
    def _later(self) -> Array:
        """P(D > k) for k = 0, ..., D_max - 1, from the back: no term is lost to rounding."""
        return np.asarray(np.cumsum(self.gaps[::-1])[::-1])

    @cached_property
    def _hazards(self) -> Array:
        """P(D = k + 1 | D > k): with it a client that has been away for k rounds reports; the last one is 1."""
        return np.asarray(np.append((self.gaps / self._later)[:-1], 1.0))

    @property
    def rate(self) -> float:
        """1/E[D], the average share of clients per round."""
        return 1.0 / math.fsum(self._later)

    @property
    def longest(self) -> int:
        """The longest delay, D_max - 1 rounds."""
        return len(self.gaps) - 1

    @property
    def says(self) -> str:
        """The delays of the pattern in words."""
        return f"delays of {math.fsum(self._later) - 1:.4g} rounds on average, at most {self.longest}"

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        masks = np.empty((rounds, self.n, keys.shape[1]), dtype=np.bool_)
        ages = np.append(np.cumsum(self._later)[:-1] * self.rate, 1.0)
        renewals(keys, first_round, ages * 2.0**32, self._hazards * 2.0**32, masks)
        return masks

    def expected_delays(self, T: int) -> tuple[float, float]:
        """E[tau_max] over 0 <= t <= T and E[tau_avg] over t < T.

        A client that has been away for ``a`` rounds counts min(a, t + 1) in round t, so that
        E[tau_t] = sum_{l=1}^{t+1} (1 - P(a < l)^n), and E[tau_max] = sum_l (1 - P(a < l in all rounds)^n), by the
        recursion of the ages below l.
        """
        below = np.cumsum(self._later)[:-1] * self.rate
        some = -np.expm1(self.n * np.log(below))
        average = math.fsum(some[length - 1] * max(T - length + 1, 0) for length in range(1, len(some) + 1)) / T
        return math.fsum(self._longer(away, T) for away in range(1, min(self.longest, T + 1) + 1)), average

    def _longer(self, length: int, T: int) -> float:
        """P(tau_max >= length): at least one client is away for so many rounds in a row among rounds 0, ..., T."""
        hazards = self._hazards
        # Rounds since the last report, or since before round 0 where there was none: those are a state of their own,
        # (age before, none yet), since only rounds of the run count.
        age = self._later * self.rate
        never, since = age.copy(), np.zeros(length)
        since[0], never[0] = age[0], 0.0
        for t in range(T + 1):
            if t:
                reported = float(never @ hazards) + float(since @ hazards[:length])
                never[1:] = (never * (1 - hazards))[:-1]
                since[1:] = (since * (1 - hazards[:length]))[:-1]
                never[0], since[0] = 0.0, reported
            if t + 1 >= length:
                never[:] = 0.0
        kept = math.fsum(never) + math.fsum(since)
        return -math.expm1(self.n * math.log(kept)) if kept > 0 else 1.0

    @property
    def digits(self) -> int:
        return len(self.gaps)

    def without_client(self, i: int) -> Renewal:
        return Renewal(self.gaps, self.n - 1)

    def simpler(self) -> Iterator[Iterable[Simpler]]:
        """Uniform gaps, from the shortest on."""
        yield [partial(Renewal._up_to, high=high) for high in range(1, self.longest + 1)]

    def _up_to(self, high: int) -> Renewal:
        """Uniform gaps of at most so many rounds."""
        return Renewal.between(1, high, self.n)

    def sentence(self, notation: Notation) -> str:
        steps = [f"{k} with probability {p:.4g}" for k, p in enumerate(self.gaps, 1) if p]
        return f"every client on its own, again after a number of rounds that is {', '.join(steps)}"

    def fields(self) -> dict[str, Any]:
        return {"n": self.n, "gaps": self.gaps.tolist()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["gaps"], data["n"])
