"""The law of one round's participants, where rounds are independent of one another: what exact engines follow.

Four forms, each with its own recursion: subsets of one size (`Subsets`), clients on their own (`Clients`), independent
draws (`Multinomial`), and any finite mixture of sets (`Sets`), which costs the most. An engine says what it does with
each (`RoundLaw.match`).
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np

from ratecheck.aliases import Array
from ratecheck.inputs import exact_shares

Result = TypeVar("Result")
# A set of clients and its probability.
Weighted = tuple[Fraction, tuple[int, ...]]


class RoundLaw(ABC):
    """The law of S_t, a random subset of n clients."""

    form: ClassVar[str]
    # Whether all sets of one size are equally likely, and no others possible.
    uniform: ClassVar[bool] = False

    def match(
        self,
        *,
        subsets: Callable[[Subsets], Result],
        clients: Callable[[Clients], Result],
        draws: Callable[[Multinomial], Result],
        sets: Callable[[Sets], Result],
    ) -> Result:
        """The value of the function for this form."""
        functions: dict[str, Callable[..., Result]] = {
            "subsets": subsets, "clients": clients, "draws": draws, "sets": sets,
        }  # fmt: skip
        return functions[self.form](self)

    @abstractmethod
    def count(self) -> float:
        """The number of possible sets."""

    @abstractmethod
    def support(self) -> list[Weighted]:
        """Every possible set with its exact probability."""


@dataclass(frozen=True)
class Subsets(RoundLaw):
    """All subsets of m of n clients, equally likely."""

    form: ClassVar[str] = "subsets"
    uniform: ClassVar[bool] = True

    n: int
    m: int

    @property
    def inclusion(self) -> tuple[float, float]:
        """pi_1 = P(i in S) = m/n and pi_2 = P(i, j in S) = m(m-1)/(n(n-1)) for i != j."""
        pairs = self.n * (self.n - 1)
        return self.m / self.n, (self.m * (self.m - 1) / pairs if pairs else 0.0)

    def count(self) -> float:
        """The binomial coefficient C(n, m)."""
        return math.comb(self.n, self.m)

    def support(self) -> list[Weighted]:
        share = Fraction(1, math.comb(self.n, self.m))
        return [(share, members) for members in itertools.combinations(range(self.n), self.m)]


@dataclass(frozen=True, eq=False)
class Clients(RoundLaw):
    """Every client on its own, client i with probability ``p[i]``; p (n,)."""

    form: ClassVar[str] = "clients"

    p: Array

    @property
    def exact(self) -> tuple[Fraction, ...]:
        """The probabilities as the binary fractions that they are."""
        return tuple(Fraction(float(each)) for each in self.p)

    def count(self) -> float:
        """2 for each client whose coming is neither sure nor impossible."""
        return 2.0 ** int(np.count_nonzero((self.p > 0) & (self.p < 1)))

    def support(self) -> list[Weighted]:
        p = self.exact
        choices = [[taken for taken in (False, True) if (q if taken else 1 - q)] for q in p]
        found = []
        for taken in itertools.product(*choices):
            share = math.prod((q if here else 1 - q for q, here in zip(p, taken, strict=True)), start=Fraction(1))
            found.append((share, tuple(i for i, here in enumerate(taken) if here)))
        return found


@dataclass(frozen=True, eq=False)
class Multinomial(RoundLaw):
    """``m`` independent draws of a client, in each client i with probability ``p[i]``; p (n,).

    A client stands in a set as often as it is drawn.
    """

    form: ClassVar[str] = "draws"

    p: Array
    m: int

    @property
    def exact(self) -> tuple[Fraction, ...]:
        """The probabilities as fractions of sum 1."""
        return tuple(exact_shares(self.p))

    def count(self) -> float:
        """Multisets of m of n clients, C(n + m - 1, m)."""
        return math.comb(len(self.p) + self.m - 1, self.m)

    def support(self) -> list[Weighted]:
        """P(counts) = m! prod_i p_i^counts_i/counts_i!."""
        p, last = self.exact, len(self.p) - 1
        found: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(math.factorial(self.m)))]
        for i in range(len(p)):
            found = [
                ((*members, *[i] * count), share * p[i] ** count / math.factorial(count))
                for members, share in found
                for count in range((self.m - len(members)) * (i == last), self.m - len(members) + 1)
            ]
        return [(share, members) for members, share in found]


@dataclass(frozen=True)
class Sets(RoundLaw):
    """One of finitely many sets: pairs of a probability and the members in increasing order; they add up to 1."""

    form: ClassVar[str] = "sets"

    weighted: Sequence[Weighted]

    def count(self) -> float:
        """The number of sets."""
        return len(self.weighted)

    def support(self) -> list[Weighted]:
        return list(self.weighted)
