"""Which steps examine less than the printed line, or more, as two readers found beside the paper."""

from __future__ import annotations

from bounds.ledger.reading import Reading

READINGS: tuple[Reading, ...] = ()
