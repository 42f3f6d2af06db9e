"""Statements that the audit of their proofs refutes as printed, for those who meet them elsewhere.

The audit takes minutes, so its answers are kept with the papers, in their modules ``refuted``, as a tuple REFUTED of
`Refuted`; a test compares them with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bounds
from bounds import papers
from bounds.ledger.fault import FaultKind, by_step
from bounds.statement import Statement

# What is said of a statement by the kind of its fault; of others that it is false as printed.
_FALSE = "is false as printed"
_LACKING = {
    FaultKind.ASSUMPTION.text: "needs an assumption that is not printed",
    FaultKind.EDGE_CASE.text: "is false as printed in an edge case",
    FaultKind.MISPRINT.text: "has a misprint",
}


def said_of(fault: str | None) -> str:
    """Words for a statement with a fault of that kind: that it is false, or what it lacks."""
    return _FALSE if fault is None else _LACKING.get(fault, _FALSE)


@dataclass(frozen=True, kw_only=True)
class Refuted:
    """The statement ``key`` does not hold as printed: ``step`` is the end-to-end step of the ledger that refutes it.

    ``form_of`` is the key of the statement of which it is another form, with the same defects. ``assumed`` is what
    repairs the printed form, where the catalogue's form of that key assumes it already.
    """

    key: str
    step: str
    form_of: str = ""
    assumed: str = ""

    @property
    def repaired(self) -> str | None:
        """The key of the repaired form."""
        found = (bounds.repaired_form(bounds.get(key)) for key in (self.key, self.form_of) if key)
        return next((statement.key for statement in found if statement is not None), None)

    @property
    def what(self) -> str:
        """Words for the statement: that it is false, or what it lacks."""
        fault = by_step(self.step.partition("/")[0]).get(self.step)
        return said_of(None if fault is None else fault.kind.text)

    @property
    def text(self) -> str:
        """In one line."""
        form = f", with the defects of {self.form_of}," if self.form_of else ""
        here = f"; the form here assumes what mends it: {self.assumed}" if self.assumed else ""
        repaired = "" if self.repaired is None else f"; repaired: {self.repaired}"
        return f"{self.key}{form} {self.what} ('ratecheck audit --step {self.step}'){here}{repaired}"

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        false = self.what == _FALSE
        return {"false_as_printed": false, "step": self.step, "repaired": self.repaired, "text": self.text}


def of_paper(paper: str) -> tuple[Refuted, ...]:
    """Statements of a paper that the audit refutes; raises `InputError` for an unknown paper."""
    if not papers.has(paper, "refuted"):
        return ()
    found: tuple[Refuted, ...] = papers.part(paper, "refuted").REFUTED
    return found


def refuted(statement: Statement) -> Refuted | None:
    """Refutation of a statement of the catalogue by the audit; None where there is none."""
    printed = next((each for each in bounds.siblings(statement.key) if each.key == statement.key), None)
    # A user's own statement may bear the key of one of the catalogue.
    if printed is None or printed.vocabulary is not statement.vocabulary:
        return None
    return next((each for each in of_paper(statement.key.partition("/")[0]) if each.key == statement.key), None)


def refuted_fields(statement: Statement) -> dict[str, Any] | None:
    """Refutation of a statement by the audit as JSON data; None where there is none."""
    against = refuted(statement)
    return None if against is None else against.fields()
