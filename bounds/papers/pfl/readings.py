"""Which steps examine less than the printed line, or more, as two readers found beside the paper."""

from __future__ import annotations

from bounds.ledger.reading import Reading, assumed, special

READINGS: tuple[Reading, ...] = (
    assumed("a fresh sample in every local step; Assumption 2.2 says so of clients alone", "pfl/lemma-3.5-3"),
    special("that the root of the bound does not grow from K to K + 1", "pfl/corollary-3.8-8"),
)
