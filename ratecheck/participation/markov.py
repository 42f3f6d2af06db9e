"""Availability that follows a Markov chain, each client its own."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import floats, whole
from ratecheck.kernels.random import two_state_chains
from ratecheck.participation.model.pattern import Keys, Masks, Participation, PerRound, Written


class Markov(Participation):
    """Independent two-state chains: an absent client joins, a present one leaves, with given probabilities per round.

    P(i in S_{t+1} | i not in S_t) = join_i and P(i not in S_{t+1} | i in S_t) = leave_i. The stationary probability of
    taking part is pi_i = join_i / (join_i + leave_i), and presence in rounds s and t has correlation
    (1 - join_i - leave_i)^|t-s|; join + leave = 1 is independent participation. Round 0 has the law ``start``:
    pi_i by default. A round may be empty.

    The FedSUM paper names "participation modeled by Markov processes with non-independent and non-stationary client
    availability" (Section 2.1) as a case of arbitrary participation, but states no chain; this is the simplest one.
    A mean of ``start`` other than pi_i makes it non-stationary.

    ``join``, ``leave`` and ``start`` are numbers (with ``n``) or vectors (n,). Probabilities are met up to 2**-32.
    A call of ``masks`` looks back from its first round to the last one whose draw decides the state whatever came
    before, for each replicate: a round is decisive with probability 1 - |1 - join - leave|, so that is a geometric
    number of rounds, never more than there are, whatever the round's number. The result is exact: it is the chain that
    starts in round 0.

    Raises `InputError` unless 0 < join <= 1, 0 <= leave <= 1 and 0 <= start <= 1, and for shapes that do not fit.
    """

    kind: ClassVar[str] = "markov"
    written: ClassVar[tuple[Written, ...]] = (
        Written(
            "markov", lambda n, join, leave: Markov(join, leave, n), PerRound.RANDOM, "markov:0.3,0.1",
            "markov:JOIN,LEAVE",
        ),
    )  # fmt: skip

    def __init__(
        self, join: ArrayLike, leave: ArrayLike, n: int | None = None, *, start: ArrayLike | None = None
    ) -> None:
        said = {"join": join, "leave": leave} | ({} if start is None else {"start": start})
        given = {name: floats(name, values).reshape(np.shape(values)) for name, values in said.items()}
        self.n = _clients(given, n)
        for name, values in given.items():
            _check(name, values)
        self.join, self.leave = (np.array(np.broadcast_to(given[name], self.n)) for name in ("join", "leave"))
        self.start = np.array(np.broadcast_to(given.get("start", self.stationary), self.n))

    @property
    def stationary(self) -> Array:
        """pi_i = join_i / (join_i + leave_i), (n,)."""
        return self.join / (self.join + self.leave)

    @property
    def rate(self) -> float:
        """Mean of pi_i: the average share of clients per round, in the long run where ``start`` is not stationary."""
        return math.fsum(self.stationary) / self.n

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        masks = np.empty((rounds, self.n, keys.shape[1]), dtype=np.bool_)
        thresholds = [np.ascontiguousarray(p * 2.0**32) for p in (self.start, self.join, 1.0 - self.leave)]
        two_state_chains(keys, first_round, *thresholds, masks)
        return masks


def _clients(given: dict[str, Array], n: int | None) -> int:
    """The number of clients that every vector and ``n`` agree on."""
    counts = {} if n is None else {"n": whole("n", n, 1)}
    for name, values in given.items():
        if values.ndim > 1 or values.size == 0:
            raise InputError(f"{name} has the shape {values.shape}: it has to be a number or (n,), n at least 1")
        if values.ndim == 1:
            counts[name] = len(values)
    if not counts:
        raise InputError("one probability for how many clients? give n=...")
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name}: {count}" for name, count in counts.items())
        raise InputError(f"the numbers of clients contradict each other ({said})")
    return next(iter(counts.values()))


def _check(name: str, values: Array) -> None:
    low_open = name == "join"
    good = (values <= 1.0) & ((values > 0.0) if low_open else (values >= 0.0))
    if not good.all():
        i = int(np.flatnonzero(~np.atleast_1d(good))[0])
        allowed = f"0 {'<' if low_open else '<='} {name} <= 1"
        raise InputError(f'{name}={np.atleast_1d(values)[i]:.10g} of client {i} breaks "{allowed}"')
