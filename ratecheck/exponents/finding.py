"""What the exponents of a term and of the worst case found say together."""

from __future__ import annotations

import enum


class Finding(enum.Enum):
    """What a cell of a rate card says; the values are printed."""

    ATTAINED = "ATTAINED"
    LOOSE = "LOOSE"
    EXCEEDED = "EXCEEDED"
    NOT_REACHED = "NOT REACHED"
