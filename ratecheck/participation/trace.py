"""A given participation matrix, and every pattern by name.

`Trace` follows a given matrix; `Trace.uniform`, `Trace.cyclic` and the others are patterns that need none.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation
from ratecheck.errors import InputError
from ratecheck.participation.bernoulli import Bernoulli, Probability
from ratecheck.participation.biased import Biased
from ratecheck.participation.cyclic import Cyclic
from ratecheck.participation.files import as_text, of_text, read_matrix, zeros_and_ones
from ratecheck.participation.largest import Largest
from ratecheck.participation.markov import Markov
from ratecheck.participation.model.pattern import Keys, Masks, Matrix, Participation
from ratecheck.participation.periodic import Periodic
from ratecheck.participation.reshuffled import Reshuffled
from ratecheck.participation.sine import Sine
from ratecheck.participation.uniform import Uniform
from ratecheck.participation.weighted import WeightedDraws, WeightedSubsets


class Trace(Participation):
    """A given matrix (T, n) of booleans (or zeros and ones), the same in every replicate.

    Raises `InputError` for any other matrix.
    """

    kind: ClassVar[str] = "trace"

    @staticmethod
    def uniform(n: int, m: int) -> Uniform:
        """In every round m of the n clients, all subsets of that size equally likely."""
        return Uniform(n, m)

    @staticmethod
    def full(n: int) -> Uniform:
        """Every client in every round."""
        return Uniform(n, n)

    @staticmethod
    def cyclic(n: int, S: int) -> Cyclic:
        """Blocks of S consecutive clients in a fixed order, wrapping around: see `Cyclic`."""
        return Cyclic(n, S)

    @staticmethod
    def periodic(schedule: ArrayLike, first: ArrayLike | None = None) -> Periodic:
        """The rows of a schedule over and over, after some first ones: see `Periodic`."""
        return Periodic(schedule, first)

    @staticmethod
    def reshuffled(n: int, S: int, *, wrap: bool = True, epoch: int | None = None) -> Reshuffled:
        """Blocks of S consecutive clients in an order drawn anew in each epoch: see `Reshuffled`."""
        return Reshuffled(n, S, wrap=wrap, epoch=epoch)

    @staticmethod
    def bernoulli(p: ArrayLike | Probability, n: int | None = None, T: int | None = None) -> Bernoulli:
        """Every client on its own with probability p, p_i or p_i^t: see `Bernoulli`."""
        return Bernoulli(p, n, T)

    @staticmethod
    def sine(n: int, S: int, amplitude: float = 0.3, level: float = 0.7, period: float = 10.0) -> Sine:
        """Every client on its own with probability (S/n)(amplitude*sin(2 pi t/period) + level): see `Sine`."""
        return Sine(n, S, amplitude, level, period)

    @staticmethod
    def biased(n: int = 100, group: int = 11, first: float = 0.5, step: float = 0.05) -> Biased:
        """Every client on its own, with a probability that falls from group to group: see `Biased`."""
        return Biased(n, group, first, step)

    @staticmethod
    def weighted(p: ArrayLike, m: int, *, again: bool = False) -> WeightedSubsets | WeightedDraws:
        """M clients by weights p, without replacement (`WeightedSubsets`) or, ``again``, with it (`WeightedDraws`)."""
        return WeightedDraws(p, m) if again else WeightedSubsets(p, m)

    @staticmethod
    def largest(n: int, s: int, c: int | None = None) -> Largest:
        """Of c uniformly drawn candidates the s with the largest gradients: see `Largest`."""
        return Largest(n, s, c)

    @staticmethod
    def markov(join: ArrayLike, leave: ArrayLike, n: int | None = None, *, start: ArrayLike | None = None) -> Markov:
        """Every client on its own, joining and leaving with given probabilities: see `Markov`."""
        return Markov(join, leave, n, start=start)

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Trace:
        """The matrix in a ``.csv`` or ``.npz`` file: see `read_matrix`."""
        return Trace(read_matrix(path))

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix: Matrix = zeros_and_ones("participation matrix", matrix)
        self.n = self.matrix.shape[1]

    @cached_property
    def size(self) -> int | None:  # type: ignore[override]  # counted when requested
        """The number of clients in each round; None where that varies."""
        sizes = self.matrix.sum(axis=1)
        return int(sizes[0]) if (sizes == sizes[0]).all() else None

    def fields(self) -> dict[str, Any]:
        """See `Participation.fields`: a string of zeros and ones per round."""
        return {"rows": as_text(self.matrix)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(of_text(data["rows"]))

    def without_client(self, i: int) -> Trace:
        """See `Participation.without_client`; raises `InputError` where a round would be empty."""
        left = np.delete(self.matrix, i, axis=1)
        if (self.matrix.any(axis=1) & ~left.any(axis=1)).any():
            raise InputError("a round would be empty, which a statement need not admit")
        return Trace(left)

    def sentence(self, notation: Notation) -> str:
        """See `Participation.sentence`: round after round."""
        if self.n == 1 and self.matrix.all():
            return ""
        rows = [tuple((np.flatnonzero(row) + 1).tolist()) for row in self.matrix]
        spans = [(who, len([*span])) for who, span in itertools.groupby(rows)]
        if len(spans) == 1:
            return f"{clients(spans[0][0], self.n)} in every round"
        found, first = [], 0
        for who, length in spans:
            at = f"round {first}" if length == 1 else f"rounds {first} to {first + length - 1}"
            found.append(f"{clients(who, self.n)} in {at}")
            first += length
        return ", ".join(found)

    @property
    def rate(self) -> float:
        """Average share of clients per round."""
        return float(self.matrix.mean())

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        part = self.matrix[first_round : first_round + rounds]
        return np.ascontiguousarray(np.broadcast_to(part[:, :, None], (*part.shape, keys.shape[1])))

    def check_rounds(self, T: int) -> None:
        """The matrix has to have at least T rows."""
        if len(self.matrix) < T:
            raise InputError(f'T={T} breaks "T <= rows of the participation matrix": it has {len(self.matrix)} rows')

    def fixed(self, T: int) -> Matrix:
        """The first T rows."""
        self.check_rounds(T)
        return self.matrix[:T]


def drawn(pattern: Participation, T: int, seed: int, replicate: int) -> Trace:
    """A replicate's rounds 0 ... T of a pattern, or 0 ... T - 1 where it ends there; see `Participation.draw`."""
    try:
        return Trace(pattern.draw(T + 1, seed, replicate))
    except InputError:
        return Trace(pattern.draw(T, seed, replicate))


def clients(who: Sequence[int], n: int) -> str:
    """Some of n clients, numbered from 1, in words."""
    if len(who) in (0, n):
        return "nobody" if not who else "the client" if n == 1 else "both" if n == 2 else "all"
    return f"client{'s' * (len(who) > 1)} {', '.join(map(str, who))}"
