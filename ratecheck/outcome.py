"""The outcome of a check, in one word."""

from enum import Enum


class Outcome(Enum):
    """The five possible verdicts, and what a table's claim is with nothing to compare; the values are printed."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    INCONCLUSIVE = "INCONCLUSIVE"
    DIVERGED = "DIVERGED"
    NOT_CHECKED = "NOT_CHECKED"
