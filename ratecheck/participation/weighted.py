"""Clients that are drawn by weights, with and without replacement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.assumption import Assumption
from bounds.printing.notation import Notation, counted
from ratecheck.aliases import Array
from ratecheck.inputs import exact_shares, shares, whole
from ratecheck.kernels.random import weighted_clients
from ratecheck.participation.model.law import Multinomial, RoundLaw, Sets, Subsets, Weighted
from ratecheck.participation.model.pattern import Keys, Masks, Participation, Written
from ratecheck.participation.model.repetition import Repetition

# Sets of clients up to which a law is written out.
_MOST_SETS = 1 << 12


class _ByWeight(Participation):
    """m draws in every round, of client i with a probability in proportion to its weight p_i."""

    constant_law = True

    def __init__(self, p: ArrayLike, m: int) -> None:
        self.weights: Array = shares("p", p)
        self.n = len(self.weights)
        self.m = self.size = whole("m", m, 1)

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        return cls(weights, size)

    def fields(self) -> dict[str, Any]:
        return {"p": self.weights.tolist(), "m": self.m}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["p"], data["m"])

    def without_client(self, i: int) -> Self:
        """See `Participation.without_client`: the weights of the others stay in proportion."""
        left = np.delete(self.weights, i)
        return type(self)(left / left.sum(), self.most(self.n - 1))

    def most(self, n: int) -> int:
        """m, or the most that n clients admit."""
        return self.m

    def sentence(self, notation: Notation) -> str:
        if self.n == 1:
            return ""
        weights = notation.formula(notation.listed(self.weights.tolist()))
        return f"{counted(self.m)} of them drawn in every round {self.how} by the weights {weights}"

    # How, in the words of a sentence.
    how: ClassVar[str]


class WeightedSubsets(_ByWeight):
    """m different clients in every round, drawn one after the other, each by its weight among those that are left.

    The first is client i with probability p_i, the next one j with p_j/(1 - p_i), and so on: successive sampling.
    Inclusion probabilities are not proportional to p, unless m = 1 or the weights are equal.
    Raises `InputError` unless p > 0 has the sum 1, and 1 <= m <= n.
    """

    kind: ClassVar[str] = "weighted-subsets"
    written: ClassVar[tuple[Written, ...]] = (
        Written(
            "weighted-subsets", lambda _, m, *p: WeightedSubsets(p, m), example="weighted-subsets:0.5,0.3,0.2",
            form="weighted-subsets:P1,...", by_client=True,
        ),
    )  # fmt: skip
    satisfies: ClassVar[frozenset[Assumption]] = frozenset({Assumption.WEIGHTED_SUBSETS})
    stands_for: ClassVar[frozenset[Assumption]] = satisfies
    how = "without replacement"

    def __init__(self, p: ArrayLike, m: int) -> None:
        super().__init__(p, m)
        whole("m", m, 1, self.n, "there are that many clients")

    def most(self, n: int) -> int:
        return min(self.m, n)

    @property
    def rate(self) -> float:
        """m/n."""
        return self.m / self.n

    def law(self, t: int) -> RoundLaw | None:
        """See `Participation.law`; None where probabilities are added up over more than 4,096 sets."""
        if (self.weights == self.weights[0]).all():
            return Subsets(self.n, self.m)
        few = sum(math.comb(self.n, k) for k in range(1, self.m + 1)) <= _MOST_SETS
        return Sets(self._sets) if few else None

    @cached_property
    def _sets(self) -> list[Weighted]:
        """Every possible set with its probability: P(S) = sum_{i in S} P(S - i) p_i/(1 - sum_{S - i} p)."""
        p = exact_shares(self.weights)
        found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
        for _ in range(self.m):
            longer: dict[tuple[int, ...], Fraction] = {}
            for members, share in found.items():
                left = 1 - sum((p[i] for i in members), start=Fraction(0))
                for i in range(self.n):
                    if i not in members:
                        key = tuple(sorted((*members, i)))
                        longer[key] = longer.get(key, Fraction(0)) + share * p[i] / left
            found = longer
        return [(share, members) for members, share in found.items()]

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        counts = np.zeros((rounds, self.n, keys.shape[1]), dtype=np.int8)
        weighted_clients(keys, first_round, self.weights, self.m, again=False, masks=counts)
        return counts.view(np.bool_)

    @property
    def repeats(self) -> Repetition | None:
        """Everybody in every round, where m = n."""
        return Repetition.of(np.ones((1, self.n), dtype=np.bool_)) if self.m == self.n else None


class WeightedDraws(_ByWeight):
    """m independent draws in every round, each of client i with its weight p_i: sampling with replacement.

    A client that is drawn several times takes its local steps as often, each time with noise of its own, and counts as
    often in what the server adds up. So methods whose clients remember something are refused. ``masks`` are counts.
    Raises `InputError` unless p > 0 has the sum 1, and 1 <= m <= 127.
    """

    kind: ClassVar[str] = "weighted-draws"
    written: ClassVar[tuple[Written, ...]] = (
        Written(
            "weighted-draws", lambda _, m, *p: WeightedDraws(p, m), example="weighted-draws:0.5,0.3,0.2",
            form="weighted-draws:P1,...", by_client=True,
        ),
    )  # fmt: skip
    satisfies: ClassVar[frozenset[Assumption]] = frozenset({Assumption.WEIGHTED_DRAWS})
    stands_for: ClassVar[frozenset[Assumption]] = satisfies
    how = "with replacement"

    def __init__(self, p: ArrayLike, m: int) -> None:
        super().__init__(p, m)
        self.copies = whole("m", m, 1, 127)

    @property
    def rate(self) -> float:
        """(1/n) sum_i (1 - (1 - p_i)^m), the share of clients that are drawn at least once."""
        return float(np.mean(-np.expm1(self.m * np.log1p(-self.weights)))) if self.n > 1 else 1.0

    def law(self, t: int) -> Multinomial:
        """See `Participation.law`."""
        return Multinomial(self.weights, self.m)

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """See `Participation.masks`: how often each client is drawn."""
        counts = np.zeros((rounds, self.n, keys.shape[1]), dtype=np.int8)
        weighted_clients(keys, first_round, self.weights, self.m, again=True, masks=counts)
        return counts  # type: ignore[return-value]  # a client may be drawn several times
