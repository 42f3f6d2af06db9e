"""Statements that the audit of the proofs calls false as printed, with the steps that refute them."""

from __future__ import annotations

from bounds.ledger.refuted import Refuted

REFUTED: tuple[Refuted, ...] = (
    Refuted(key="simfbo/proposition-1", step="simfbo/proposition-1-1"),
    Refuted(key="simfbo/proposition-2", step="simfbo/proposition-2-2"),
    Refuted(key="simfbo/proposition-3", step="simfbo/proposition-3-1"),
    Refuted(key="simfbo/lemma-2", step="simfbo/lemma-2-7"),
    Refuted(key="simfbo/lemma-4", step="simfbo/lemma-4-18"),
    Refuted(key="simfbo/lemma-7", step="simfbo/lemma-7-7"),
    Refuted(key="simfbo/lemma-8", step="simfbo/lemma-8-13"),
    Refuted(key="simfbo/lemma-8-simplified", step="simfbo/lemma-8-13", form_of="simfbo/lemma-8"),
    Refuted(key="simfbo/lemma-9", step="simfbo/lemma-9-15"),
    Refuted(key="simfbo/lemma-10", step="simfbo/lemma-10-19"),
)
