"""Statements that the audit of the proofs calls false as printed, with the steps that refute them."""

from __future__ import annotations

from bounds.ledger.refuted import Refuted

REFUTED: tuple[Refuted, ...] = (Refuted(key="pfl/lemma-a.2", step="pfl/lemma-a.2-1"),)
