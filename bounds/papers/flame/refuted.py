"""Statements that the audit of the proofs calls false as printed, with the steps that refute them."""

from __future__ import annotations

from bounds.ledger.refuted import Refuted

REFUTED: tuple[Refuted, ...] = (
    Refuted(key="flame/lemma-1", step="flame/lemma-1-41"),
    Refuted(key="flame/theorem-2-unbiased", step="flame/theorem-2-unbiased-40"),
    Refuted(key="flame/theorem-2-biased", step="flame/theorem-2-biased-17"),
)
