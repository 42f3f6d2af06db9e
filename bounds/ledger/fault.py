"""Faults of the printed steps that the audit refutes: one per cause, with the charitable reading.

The audit finds that a claim is false; what kind of fault that is, and what the authors may have meant, is a reader's
judgement. It is kept with the papers, in their modules ``faults``, as a tuple FAULTS of `Fault`. A test compares them
with the audit: every refuted step has one fault, and no other step has any.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum
from typing import Any

from bounds import papers
from bounds.assumption import Assumption


class FaultKind(Enum):
    """Kinds of faults; the earlier, the more it weighs."""

    WRONG_TERM = "wrong-term"
    MISSING_TERM = "missing-term"
    ASSUMPTION = "hidden-assumption"
    EDGE_CASE = "edge-case"
    MISPRINT = "misprint"

    @property
    def text(self) -> str:
        """In words."""
        return self.value.replace("-", " ")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault of a paper.

    ``steps`` are the ids of the refuted steps that it explains, first the one where it is made. ``wrong`` says what is
    wrong, ``meant`` is the charitable reading: what the authors may have meant, and what holds then. ``changes`` are
    the keys of the statements of which a constant, a condition or the claim has to be printed differently even in that
    reading, the statement that matters most first; empty where no numbered statement changes. ``headline``: what the
    paper says of its results is wrong, in a remark, a table or its introduction, though the statements are not.
    ``assumption`` is what the statements of the catalogue assume for it, and the paper does not print.
    """

    steps: tuple[str, ...]
    kind: FaultKind
    wrong: str
    meant: str
    changes: tuple[str, ...] = ()
    headline: bool = False
    assumption: Assumption | None = None

    @property
    def id(self) -> str:
        """The id of the step where it is made."""
        return self.steps[0]

    def fields(self) -> dict[str, Any]:
        """As JSON data, without the steps."""
        return {
            "kind": self.kind.value,
            "wrong": self.wrong,
            "meant": self.meant,
            "changes": list(self.changes),
            "headline": self.headline,
        }


# A fault of each kind, as the ledgers of the papers write it.
wrong_term = functools.partial(Fault, kind=FaultKind.WRONG_TERM)
missing_term = functools.partial(Fault, kind=FaultKind.MISSING_TERM)
hidden_assumption = functools.partial(Fault, kind=FaultKind.ASSUMPTION)
edge_case = functools.partial(Fault, kind=FaultKind.EDGE_CASE)
misprint = functools.partial(Fault, kind=FaultKind.MISPRINT)


def faults(paper: str) -> tuple[Fault, ...]:
    """The faults of a paper; none where it is not in the catalogue, or its package has no such module."""
    if paper not in papers.packages() or not papers.has(paper, "faults"):
        return ()
    found: tuple[Fault, ...] = papers.part(paper, "faults").FAULTS
    return found


@functools.cache
def by_step(paper: str) -> dict[str, Fault]:
    """Id of a step -> its fault."""
    return {step: fault for fault in faults(paper) for step in fault.steps}
