"""A run in exact numbers: what all kinds of them tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import Entries
from ratecheck.algorithms import Method
from ratecheck.participation import Participation
from ratecheck.problems import Problem, SingleLevel


@dataclass(frozen=True)
class RunSize:
    """The sizes that decide the cost of a run: ``means`` wants means over its rounds only."""

    method: Method
    problem: SingleLevel
    trace: Participation
    K: int
    T: int
    means: bool


@dataclass(frozen=True)
class ExactInputs:
    """The numbers of a run whose floats are the binary fractions that they are.

    ``noise`` has the totals sigma_u and sigma_v, ``step_sizes`` those of `Method.resolve`, a list where one differs by
    client; a default may be missing.
    """

    method: Method
    problem: Problem
    trace: Participation
    K: int
    T: int
    noise: Mapping[str, Number]
    step_sizes: Mapping[str, Number | Sequence[Number]]
    start: Mapping[str, Any]


class ExactRun(ABC):
    """T rounds of a run, of which every number is a rational or enclosed.

    ``doubt`` is what a verdict says where the exact run does not bear out floats that only estimate it, empty where
    floats stand by themselves; ``must_be_proved``: also where the run was not followed exactly.
    """

    doubt: ClassVar[str] = ""
    must_be_proved: ClassVar[bool] = False
    T: int

    @staticmethod
    @abstractmethod
    def form(problem: Problem) -> SingleLevel | None:
        """The problem in the form in which `of` takes it; None where it has none."""

    @staticmethod
    @abstractmethod
    def products(run: RunSize) -> float:
        """Products of numbers by which such a run is followed once."""

    @classmethod
    def of(cls, method: Method, problem: Problem, trace: Participation, **numbers: Any) -> Self:
        """The run with the other `ExactInputs` by name; raises `UndecidedError` for what is not followed so."""
        return cls.followed(ExactInputs(method, problem, trace, **numbers))

    @classmethod
    @abstractmethod
    def followed(cls, given: ExactInputs) -> Self:
        """The run with these numbers; raises `UndecidedError` for what is not followed so."""

    @abstractmethod
    def rounds(self, names: Sequence[str], bits: int) -> Iterator[dict[str, Enclosure]]:
        """Expectations of recorded quantities before every round in turn; raises `UndecidedError` as `averages`."""

    def averages(self, names: Sequence[str], bits: int) -> dict[str, Enclosure]:
        """Means over the rounds of recorded quantities; raises `UndecidedError` for a run that is not followed."""
        totals = dict.fromkeys(names, Enclosure.of(0))
        for each in self.rounds(names, bits):
            totals = {name: totals[name] + each[name] for name in names}
        return {name: total / self.T for name, total in totals.items()}

    def forms(self, names: Sequence[str]) -> dict[str, Entries]:
        """Recorded quantities as quadratic forms in the state before a round, in rationals.

        Raises `UndecidedError` for what is not rational and for a state that is large.
        """
        raise UndecidedError("gradients that are not linear give no quadratic forms")

    def participants(self, names: Sequence[str]) -> Iterator[dict[str, Entries]]:
        """The effect of a client that takes part, as quadratic forms in (server, client, 1), client by client.

        Names are those of `ratecheck.engines.moments.quantities`. Raises `UndecidedError` for what is not rational.
        """
        raise UndecidedError("gradients that are not linear give no quadratic forms")
