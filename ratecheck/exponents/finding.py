"""The finding of a cell: the exponents of a term and of the worst case found, compared."""

from __future__ import annotations

import enum


class CellFinding(enum.Enum):
    """The finding of a cell of a rate card; the values are printed."""

    ATTAINED = "ATTAINED"
    LOOSE = "LOOSE"
    EXCEEDED = "EXCEEDED"
    OPEN = "OPEN"
    NOT_REACHED = "NOT REACHED"

    @property
    def passes(self) -> bool:
        """Whether a left side above the bound was computed, confirmed by `verify` or not."""
        return self in (CellFinding.EXCEEDED, CellFinding.OPEN)
