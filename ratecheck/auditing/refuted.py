"""Statements that the audit of their proofs calls false as printed, for those who meet them elsewhere.

The audit takes minutes, so its answers are kept here by key; a test compares them with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bounds
from bounds.statement import Statement

_REPAIRED = "-repaired"
# Key -> the end-to-end step that refutes it.
FALSE = {
    "pfl/lemma-a.2": "pfl/lemma-a.2-1",
    "fedsum/theorem-4.1": "fedsum/theorem-4.1-5",
    "fedsum/corollary-g.1-case-2": "fedsum/corollary-g.1-case-2-4",
    "flame/lemma-1": "flame/lemma-1-31",
    "flame/lemma-2": "flame/lemma-2-4",
    "flame/theorem-2-unbiased": "flame/theorem-2-unbiased-33",
    "flame/theorem-2-biased": "flame/theorem-2-biased-14",
    "simfbo/proposition-1": "simfbo/proposition-1-1",
    "simfbo/proposition-2": "simfbo/proposition-2-2",
    "simfbo/proposition-3": "simfbo/proposition-3-1",
    "simfbo/lemma-2": "simfbo/lemma-2-7",
    "simfbo/lemma-4": "simfbo/lemma-4-18",
    "simfbo/lemma-7": "simfbo/lemma-7-7",
    "simfbo/lemma-8": "simfbo/lemma-8-13",
    "simfbo/lemma-9": "simfbo/lemma-9-15",
    "simfbo/lemma-10": "simfbo/lemma-10-19",
}
# Other forms of them with the same defects.
FORMS = {"simfbo/lemma-8-simplified": "simfbo/lemma-8"}
# What mends the printed form, where the catalogue's form of that key assumes it already.
MENDED_HERE = {
    "fedsum/theorem-4.1": "a participation that does not depend on the noise",
    "flame/lemma-2": "dual variables that start at (28)",
}


@dataclass(frozen=True)
class Refuted:
    """A statement that is false as printed: the ``step`` that refutes it, and the key of the ``repaired`` form."""

    key: str
    step: str
    repaired: str | None

    @property
    def text(self) -> str:
        """In one line."""
        form = f", with the defects of {FORMS[self.key]}," if self.key in FORMS else ""
        here = f"; the form here assumes what mends it: {MENDED_HERE[self.key]}" if self.key in MENDED_HERE else ""
        repaired = "" if self.repaired is None else f"; repaired: {self.repaired}"
        return f"{self.key}{form} is false as printed ('ratecheck audit --step {self.step}'){here}{repaired}"

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        return {"false_as_printed": True, "step": self.step, "repaired": self.repaired, "text": self.text}


def refuted(statement: Statement) -> Refuted | None:
    """What the audit says against a statement of the catalogue; None where it does not call it false."""
    key, others = statement.key, {each.key: each for each in bounds.siblings(statement)}
    source = FORMS.get(key, key)
    if source not in FALSE or key not in others or statement.vocabulary is not others[key].vocabulary:
        return None
    repaired = next((k for k in (f"{key}{_REPAIRED}", f"{source}{_REPAIRED}") if k in others), None)
    return Refuted(key, FALSE[source], repaired)


def refuted_fields(statement: Statement) -> dict[str, Any] | None:
    """What the audit says against a statement that it calls false, as JSON data; None where it does not."""
    against = refuted(statement)
    return None if against is None else against.fields()
