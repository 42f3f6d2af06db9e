"""The interface of participation patterns: the participants, their law, and how a pattern is written.

A pattern is one file: a subclass of `Participation` in this folder, or one that another distribution names by an entry
point of the group ``ratecheck.participation``, as in ``mine = "my_package:Mine"``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bounds.assumption import Assumption
from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.kernels.random import stream_keys
from ratecheck.participation.model.law import RoundLaw
from ratecheck.participation.model.repetition import Repetition

Matrix = NDArray[np.bool_]
Masks = NDArray[np.bool_]
Keys = NDArray[np.uint64]
# What makes a simpler pattern of one; raises `InputError` where there is none.
Simpler = Callable[[Any], "Participation"]


class PerRound(Enum):
    """The number of clients in a round of a pattern as it is written."""

    GIVEN = "as many as the caller says"
    OWN = "a number that the pattern sets itself, such as all"
    RANDOM = "a random number"


@dataclass(frozen=True)
class Written:
    """The form of a pattern in ``--participation``: ``name``, or ``name:NUMBER,...`` with numbers as in ``example``.

    ``build``, by default the pattern's class, receives n, the number of participants where `PerRound.GIVEN`, and the
    numbers, all or, where they are ``optional``, none. ``form`` is what help shows, such as ``bernoulli:P``.
    """

    name: str
    build: Callable[..., Participation] | None = None
    per_round: PerRound = PerRound.GIVEN
    example: str = ""
    form: str = ""
    optional: bool = False
    # Whether the numbers are one per client, as many as there are.
    by_client: bool = False

    @property
    def numbers(self) -> int:
        """The count of numbers that follow the name."""
        return self.example.count(",") + 1 if ":" in self.example else 0


class Neighbours(NamedTuple):
    """A matrix (n, n) by its rows: entries ``first[i]`` ... ``first[i + 1]`` - 1 are those of row i, in order.

    ``column`` and ``weight`` have where they are and what they are; all others are 0.
    """

    first: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Array

    @classmethod
    def of(cls, matrix: Array) -> Neighbours:
        """The neighbours in a matrix that is given whole."""
        row, column = np.nonzero(matrix)
        return cls(_starts(row, len(matrix)), column.astype(np.int64), matrix[row, column])

    @classmethod
    def at(cls, n: int, row: NDArray[np.int64], column: NDArray[np.int64], weight: Array) -> Neighbours:
        """Neighbours at the given places, which are different ones."""
        order = np.lexsort([column, row])
        order = order[weight[order] != 0]
        return cls(_starts(row[order], n), column[order], weight[order])

    @property
    def row(self) -> NDArray[np.int64]:
        """The row of every entry."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def matrix(self) -> Array:
        """The whole matrix."""
        found = np.zeros((len(self.first) - 1,) * 2)
        found[self.row, self.column] = self.weight
        return found


def _starts(row: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Where the entries of every row begin, and their number, from the row of each."""
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)


class Participation(ABC):
    """Which of ``n`` clients take part in each round.

    A random pattern draws anew in every replicate, from the replicate's own random stream. What it draws for a round is
    a function of the stream and the round's number alone: neither the rounds nor the replicates that are requested
    together matter. A round may be empty where a pattern allows it; the server then stays as it is.
    """

    n: int
    # The pattern's name in messages and files.
    kind: ClassVar[str]
    # How the command line writes it; nothing where it cannot.
    written: ClassVar[tuple[Written, ...]] = ()
    # What statements assume about the law of participation, and this pattern meets.
    satisfies: ClassVar[frozenset[Assumption]] = frozenset()
    # What statements assume and `assumed` builds: of several patterns that meet an assumption, the one it is about.
    stands_for: ClassVar[frozenset[Assumption]] = frozenset()
    # Whether participation depends on the state of the run, so that ``masks`` knows the candidates only.
    follows_state: ClassVar[bool] = False
    # Whether every round has the same law.
    constant_law: bool = False
    # The number of participants that the pattern was made with; None where it has none.
    size: int | None = None
    # All rows of a pattern that is a given matrix (T, n), which ends with its last; None of others.
    matrix: Matrix | None = None
    # Of the matrix by which clients on a graph are mixed, the entries that are not 0; None of patterns without one.
    neighbours: Neighbours | None = None
    # The probability with which a round mixes them, all of them at once; rounds are independent of one another.
    mixes: float = 1.0
    # A delta > 0 with P(i in S_t) >= delta for all clients and rounds, where clients are independent; None elsewhere.
    delta: float | None = None
    # S where every n/S rounds take all clients, in blocks of S, in an order that is drawn anew each time; else None.
    partition: int | None = None
    # The weights p_i (n,) in proportion to which clients are drawn; None of patterns without any.
    weights: Array | None = None
    # How often a client may be drawn in a round at most: where it is more than once, ``masks`` are counts.
    copies: int = 1
    # How many of the candidates in ``masks`` a run selects by their scores; 0 where all of them take part.
    selected: int = 0

    def __repr__(self) -> str:
        numbers = {"n": self.n} if self.size is None else {"n": self.n, "size": self.size}
        rows = {} if self.matrix is None else {"T": len(self.matrix)}
        return f"<{type(self).__name__} {' '.join(f'{name}={value}' for name, value in (numbers | rows).items())}>"

    @property
    def says(self) -> str:
        """The words of a verdict about the pattern; empty for most."""
        return ""

    @property
    def mixing(self) -> Array | None:
        """The matrix by which clients on a graph are mixed, (n, n); None of patterns without one."""
        return None

    @property
    def mixing_rate(self) -> float | None:
        """||W - 11'/n||_2 of the matrix that mixes clients; None of patterns without one."""
        return None

    @property
    def mixing_change(self) -> float | None:
        """||I - W||_2 of a symmetric W, infinite for any other; None of patterns without one."""
        return None

    @property
    @abstractmethod
    def rate(self) -> float:
        """Average share of clients per round: m/n for uniform sampling."""

    @abstractmethod
    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """Participation (rounds, n, replicates) from ``first_round`` on; ``keys`` (2, replicates) name the streams."""

    def check_rounds(self, T: int) -> None:  # noqa: B027  # most patterns have no last round
        """Raise `InputError` where the pattern does not reach over T rounds."""

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        """The pattern that an assumption in ``stands_for`` is about, for ``size`` of n clients or probability delta.

        ``weights`` (n,) are those of the clients in the objective.
        """
        raise NotImplementedError

    def probabilities(self, first_round: int, rounds: int) -> Array | None:
        """p_i^t (rounds, n), where every client takes part independently of the others and of the past; else None."""
        return None

    def law(self, t: int) -> RoundLaw | None:
        """The law of participation in round t, if rounds are independent of one another and of the run; else None."""
        return None

    def expected_delays(self, T: int) -> tuple[float, float] | None:
        """E[tau_max] over 0 <= t <= T and E[tau_avg] over t < T, where the pattern knows them itself; else None."""
        return None

    @property
    def selection_skew(self) -> tuple[float, str] | None:
        """The least relative skew of the selection and why, where it is known."""
        return (1.0, "every client is selected") if self.rate == 1.0 else None

    def fields(self) -> dict[str, Any]:
        """The pattern as JSON data, which `read` reads; raises `InputError` where it has no such form."""
        raise InputError(f"a pattern of the kind {self.kind} has no form in a file")

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `fields`; raises `InputError` for what is no such pattern."""
        raise InputError(f"a participation of the kind {cls.kind!r} has no form in a file")

    @property
    def digits(self) -> int:
        """Binary digits by which the pattern is less simple than others: of a given matrix, clients that are away."""
        return 0 if self.matrix is None else int((~self.matrix).sum())

    def without_client(self, i: int) -> Participation:
        """The pattern without client i; raises `InputError` where none is known."""
        raise InputError("not known for fewer clients")

    def simpler(self) -> Iterator[Iterable[Simpler]]:
        """Groups of changes of the pattern's numbers, each from the simplest on: of a group one is kept at most.

        A change is made of this pattern, or of one that an earlier change has made of it.
        """
        yield from ()

    def sentence(self, notation: Notation) -> str:
        """The participants as a part of a sentence; nothing where all clients always take part."""
        return f"{self.kind} participation" if self.n > 1 else ""

    @property
    def repeats(self) -> Repetition | None:
        """The repetition of a pattern that is the same in every replicate; None where it is random or ends."""
        return None

    def fixed(self, T: int) -> Matrix | None:
        """The matrix (T, n) of the first T rounds where it is the same in every replicate, otherwise None.

        Raises `InputError` where the pattern does not reach over T rounds, or its matrix is too large.
        """
        repeats = self.repeats
        return None if repeats is None else repeats.rows(T)

    @property
    def deterministic(self) -> bool:
        """Whether the pattern is the same in every replicate, so that `fixed` is a matrix."""
        return self.fixed(1) is not None

    def draw(self, T: int, seed: int = 0, replicate: int = 0) -> Matrix:
        """The matrix (T, n) of the first T rounds that a simulation with that seed follows in that replicate.

        So a theorem that is conditional on the sequence of participants can be evaluated on one of them:
        ``Trace(pattern.draw(T))``. Raises `InputError` for T < 1, a negative replicate, or a pattern that does not
        reach over T rounds. Raises it, too, where clients may be drawn several times in a round.
        """
        if self.copies > 1:
            raise InputError("clients that are drawn several times in a round are no matrix of zeros and ones")
        T, replicate = whole("T", T, 1), whole("replicate", replicate, 0)
        self.check_rounds(T)
        return np.ascontiguousarray(self.masks(0, T, stream_keys(seed, range(replicate, replicate + 1)))[:, :, 0])
