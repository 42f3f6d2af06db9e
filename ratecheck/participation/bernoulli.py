"""Independent participation with given probabilities, constant or by round."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.assumption import Assumption
from bounds.printing.notation import Notation
from ratecheck.algebra.simplest import bits, simpler_numbers
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import floats, real, whole
from ratecheck.participation.independent import Independent
from ratecheck.participation.model.pattern import Participation, PerRound, Simpler, Written

Probability = Callable[[int, int], float]


class Bernoulli(Independent):
    """Given probabilities p_i^t in (0, 1]; see `Independent` (Case 2 of the FedSUM paper, Section 2.1).

    ``p`` is a number (with ``n``), a vector (n,) of the clients' probabilities, a matrix (T, n) for probabilities that
    vary over T rounds, or a function p(t, i) (with ``n`` and ``T``), evaluated once for every round and client.
    Pattern P2 of the paper (Appendix H.2) is ``Bernoulli(S / n, n)``.

    Raises `InputError` for a probability outside (0, 1], for another shape, and for n or T missing or contradicting.
    """

    kind: ClassVar[str] = "bernoulli"
    written: ClassVar[tuple[Written, ...]] = (
        Written("bernoulli", lambda n, p: Bernoulli(p, n), PerRound.RANDOM, "bernoulli:0.3", "bernoulli:P"),
    )
    stands_for: ClassVar[frozenset[Assumption]] = Independent.satisfies

    def __init__(self, p: ArrayLike | Probability, n: int | None = None, T: int | None = None) -> None:
        if callable(p):
            table = _tabulated(p, n, T)
        else:
            table = floats("p", p).reshape(np.shape(p))  # floats() makes a vector of a number
            if T is not None:
                raise InputError("T is for probabilities that are a function p(t, i): an array says its rounds itself")
            if table.ndim == 0:
                if n is None:
                    raise InputError("one probability for how many clients? give n=...")
                table = np.full(whole("n", n, 1), float(table))
        if table.ndim not in (1, 2) or 0 in table.shape:
            raise InputError(
                f"p has the shape {table.shape}: it has to be a number, (n,) or (T, n), n and T at least 1"
            )
        if n is not None and n != table.shape[-1]:
            raise InputError(f"n={n}, but p is about {table.shape[-1]} clients")
        _check(table)
        self.n = table.shape[-1]
        self.p = np.array(table)

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        assert delta is not None
        return Bernoulli(delta, n)

    def fields(self) -> dict[str, Any]:
        return {"p": self.p.tolist()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["p"])

    @property
    def digits(self) -> int:
        return sum(bits(x) for x in np.ravel(self.p))

    def without_client(self, i: int) -> Bernoulli:
        return Bernoulli(np.delete(self.p, i, axis=-1))

    def simpler(self) -> Iterator[Iterable[Simpler]]:
        """See `Participation.simpler`: for each probability others, of all clients that have it."""
        for p in sorted({*np.ravel(self.p).tolist()}):
            yield [partial(Bernoulli._with, old=p, new=new) for new in simpler_numbers(p, bits(p))]

    def _with(self, old: float, new: float) -> Bernoulli:
        """One probability in the place of another."""
        return Bernoulli(np.where(self.p == old, new, self.p))

    def sentence(self, notation: Notation) -> str:
        """See `Participation.sentence`: the probability of each client, where one of them is below 1."""
        p = np.ravel(self.p).tolist()
        if {*p} == {1.0}:
            return ""
        listed = notation.listed([p[0]] if len({*p}) == 1 else p)
        return f"{'each ' * (self.n > 1)}taking part with probability {notation.formula(listed)}"

    @property
    def constant_law(self) -> bool:  # type: ignore[override]  # one number per client, or one per client and round
        """Whether every round has the same probabilities."""
        return self.p.ndim == 1

    @property
    def inclusion(self) -> Array:
        """pi_i = P(client i takes part), (n,); (T, n) where it varies by round. Pairs are independent: pi_i * pi_j."""
        return self.p

    @property
    def rate(self) -> float:
        """Mean of all probabilities; over all given rounds where they vary."""
        return math.fsum(self.p.ravel()) / self.p.size

    @property
    def delta(self) -> float:  # type: ignore[override]  # here it always is a number
        """Smallest probability."""
        return float(self.p.min())

    def probabilities(self, first_round: int, rounds: int) -> Array:
        if self.p.ndim == 2:
            return self.p[first_round : first_round + rounds]
        return np.broadcast_to(self.p, (rounds, self.n))

    def check_rounds(self, T: int) -> None:
        """Probabilities that vary by round have to be given for at least T rounds."""
        if self.p.ndim == 2 and len(self.p) < T:
            raise InputError(f'T={T} breaks "T <= rounds for which p is given": there are {len(self.p)}')


def _tabulated(p: Probability, n: int | None, T: int | None) -> Array:
    if n is None or T is None:
        raise InputError("a function p(t, i) of which clients and rounds? give n=... and T=...")
    n, T = whole("n", n, 1), whole("T", T, 1)
    return np.array([[real(f"p({t}, {i})", p(t, i)) for i in range(n)] for t in range(T)])


def _check(p: Array) -> None:
    wrong = np.argwhere(~((p > 0.0) & (p <= 1.0)))
    if len(wrong):
        place = tuple(int(k) for k in wrong[0])
        when = f" in round {place[0]}" if p.ndim == 2 else ""
        raise InputError(f'probability {p[place]:.10g} of client {place[-1]}{when} breaks "0 < p <= 1"')
