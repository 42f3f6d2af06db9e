"""What a claim compares, at one round or over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bounds.symbols import PREVIOUS

# Facts about what a round changes of the quantities that a method records, and about steps of its variables.
CHANGE, STEP = "change:", "step:"
# What may be negative of what is measured beside the records of methods.
_SIGNED = {"change:gap", "change:distance2", "descent", "inner_u"}
# Changes that are no record's.
OF_POINTS = {*_SIGNED, "du2"}


def is_signed(fact: str) -> bool:
    """Whether a quantity may be negative whatever a method records."""
    return fact in _SIGNED or fact.startswith(CHANGE)


def is_change(fact: str) -> bool:
    """Whether a quantity is about what a round changes."""
    return fact in OF_POINTS or fact.startswith((CHANGE, STEP))


@dataclass(frozen=True)
class Compared:
    """A claim at one round, or at all together where ``round`` is None: weights of measured facts, and the right side.

    The right side is ``kept`` and a factor times ``scaled``; both are exact where they are rational, and else a little
    less, weights a little more. ``changes`` says whether the claim is about what a round changes.
    """

    round: int | None
    weights: Mapping[str, Fraction]
    scaled: Fraction
    kept: Fraction
    changes: bool

    @property
    def right(self) -> Fraction:
        """The right side as it stands, where the factor is 1."""
        return self.scaled + self.kept

    @property
    def played(self) -> int | None:
        """The round that changes what is compared: what is beside the round before is changed by that one."""
        before = any(fact.endswith(PREVIOUS) for fact in self.weights)
        return self.round - 1 if before and self.round is not None else self.round
