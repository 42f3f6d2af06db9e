"""Worst cases of theorems' left sides that the literature knows, beside the theorems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import sympy as sp

from bounds.papers.classics.symbols import VOCABULARY
from bounds.parsing import expression
from bounds.statement import Statement


class Standing(Enum):
    """How the known value stands to the worst case; the value is the word that tables print."""

    TIGHT = "tight"
    """Proved, and reached by a function."""
    NUMERICAL = "tight as far as computed"
    """Reached by a function; that nothing is worse is a conjecture, or was computed for some numbers."""
    UPPER = "upper bound"
    """Proved; no function that reaches it is known."""
    UNKNOWN = "none known"
    """Nothing beside the theorem itself."""


@dataclass(frozen=True, kw_only=True)
class KnownTight:
    """The worst left side at the numbers ``at`` is ``value``, a formula, or at most that: see ``standing``.

    Of a theorem about single rounds it is the left side in round T - 1, less whatever of the right side is measured
    along the run: 0 for a claim that something does not increase. ``source`` says where the value is from.
    """

    at: Mapping[str, float]
    value: str
    standing: Standing
    source: str

    @property
    def expr(self) -> sp.Expr | None:
        """The value as an expression, None where none is known."""
        return expression(self.value, VOCABULARY) if self.value else None

    def at_numbers(self, values: Mapping[str, float]) -> float | None:
        """The value in round T - 1 at these numbers, which may be more than ``at``."""
        expr = self.expr
        if expr is None:
            return None
        numbers = {**values, "t": values["T"] - 1}
        return float(expr.xreplace({s: sp.Float(numbers[s.name], 30) for s in expr.free_symbols}).evalf(30))


@dataclass(frozen=True, kw_only=True)
class Classic:
    """A theorem and what is known of its worst case."""

    statement: Statement
    known: KnownTight
