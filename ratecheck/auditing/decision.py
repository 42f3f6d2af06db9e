"""The decision of a checker on one claim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Answer(Enum):
    """Whether a claim holds."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """An answer with its evidence.

    ``certified`` is "certificate" for a proof that exact arithmetic re-checks without a solver, "solver" for one on
    z3's word, "instances" for agreement on all instances, "" where nothing is proved. ``used`` are the numbers of the
    hypotheses that the proof uses (None where unknown).
    """

    answer: Answer
    certified: str = ""
    evidence: str = ""
    used: frozenset[int] | None = None

    @property
    def true(self) -> bool:
        """Whether the claim is proved, or holds on all instances."""
        return self.answer is Answer.TRUE

    @property
    def false(self) -> bool:
        """Whether there is a counterexample."""
        return self.answer is Answer.FALSE


def unknown(evidence: str) -> Decision:
    """The decision on a claim that is neither proved nor refuted."""
    return Decision(answer=Answer.UNKNOWN, evidence=evidence)


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The effort of a decision: generations of the search, seconds for certificates and for z3 (0: not)."""

    generations: int = 16
    deep: int = 60
    seconds: float = 6.0
    solver: float = 4.0


FULL = Effort()
QUICK = Effort(generations=16, deep=30, seconds=1.5, solver=1.0)
