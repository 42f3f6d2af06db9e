"""Statements that the audit of the proofs calls false as printed, with the steps that refute them."""

from __future__ import annotations

from bounds.ledger.refuted import Refuted

REFUTED: tuple[Refuted, ...] = (
    Refuted(
        key="fedsum/theorem-4.1",
        step="fedsum/theorem-4.1-5",
        assumed="a participation that does not depend on the noise",
    ),
    Refuted(key="fedsum/corollary-g.1-case-2", step="fedsum/corollary-g.1-case-2-4"),
)
