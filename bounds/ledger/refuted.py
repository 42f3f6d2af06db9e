"""Statements that the audit of their proofs calls false as printed, for those who meet them elsewhere.

The audit takes minutes, so its answers are kept with the papers, in their modules ``refuted``, as a tuple REFUTED of
`Refuted`; a test compares them with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bounds
from bounds import papers
from bounds.statement import Statement


@dataclass(frozen=True, kw_only=True)
class Refuted:
    """The statement ``key`` is false as printed: ``step`` is the end-to-end step of the ledger that refutes it.

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
    def text(self) -> str:
        """In one line."""
        form = f", with the defects of {self.form_of}," if self.form_of else ""
        here = f"; the form here assumes what mends it: {self.assumed}" if self.assumed else ""
        repaired = "" if self.repaired is None else f"; repaired: {self.repaired}"
        return f"{self.key}{form} is false as printed ('ratecheck audit --step {self.step}'){here}{repaired}"

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        return {"false_as_printed": True, "step": self.step, "repaired": self.repaired, "text": self.text}


def of_paper(paper: str) -> tuple[Refuted, ...]:
    """What the audit calls false among the statements of a paper; raises `InputError` for an unknown paper."""
    if not papers.has(paper, "refuted"):
        return ()
    found: tuple[Refuted, ...] = papers.part(paper, "refuted").REFUTED
    return found


def refuted(statement: Statement) -> Refuted | None:
    """What the audit says against a statement of the catalogue; None where it does not call it false."""
    printed = next((each for each in bounds.siblings(statement) if each.key == statement.key), None)
    # A user's own statement may bear the key of one of the catalogue.
    if printed is None or printed.vocabulary is not statement.vocabulary:
        return None
    return next((each for each in of_paper(statement.key.partition("/")[0]) if each.key == statement.key), None)


def refuted_fields(statement: Statement) -> dict[str, Any] | None:
    """What the audit says against a statement that it calls false, as JSON data; None where it does not."""
    against = refuted(statement)
    return None if against is None else against.fields()
