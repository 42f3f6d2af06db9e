"""The verdict of a check, and everything needed to judge it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bounds.statement import Assumption, ConditionCheck, Statement
from ratecheck.outcome import Outcome

if TYPE_CHECKING:
    from ratecheck.problems.constants import Constant
    from ratecheck.verification.negative_bounds import NegativeBound

# The engine of a verdict for which nothing was run.
NO_ENGINE = "none"


def lost(value: float, error: float) -> bool:
    """Whether a number is nothing but rounding."""
    return error > 0 and abs(value) <= error


@dataclass(frozen=True)
class Comparison:
    """Left and right side of one claim, in the round and for the client named.

    ``round`` is None for a claim about the mean over rounds or the whole run, ``client`` where it is about no single
    client. ``error`` is the uncertainty of left minus right: rounding for the exact engine, the distance of the
    confidence bound that decided for Monte Carlo; ``left_error`` and ``right_error`` are what rounding alone does to
    either side. ``size`` says, where ``left`` is a difference, how large it would be if nothing cancelled. ``missing``
    says in a sentence why a side has no number; such a comparison decides nothing. ``at_least``: the left side is known
    to be no smaller than ``left``, and may be larger.
    """

    claim: str
    round: int | None
    left: float
    right: float
    error: float
    terms: dict[str, float]
    client: int | None = None
    size: float = 0.0
    left_error: float = 0.0
    right_error: float = 0.0
    missing: str = ""
    at_least: bool = False

    def __repr__(self) -> str:
        return f"<Comparison {self.claim}: left {self.left:.4g}, right {self.right:.4g}>"

    @property
    def significant(self) -> bool:
        """Whether both sides are numbers and more than their rounding: what a ratio of them may be made of."""
        sides = ((self.left, self.left_error), (self.right, self.right_error))
        return not self.missing and all(math.isfinite(value) and not lost(value, error) for value, error in sides)

    @property
    def relative_slack(self) -> float:
        """The slack right - left relative to the larger side, in [-2, 2]; minus infinity where a side has no number."""
        size = max(abs(self.right), abs(self.left))
        if self.missing or not math.isfinite(size):
            return -math.inf
        return (self.right - self.left) / max(size, math.ulp(0))

    @property
    def slack(self) -> float | None:
        """Right side / left side; None where the left side is not positive or a side is nothing but rounding."""
        return self.right / self.left if self.significant and self.left > 0 else None

    @property
    def tightness(self) -> float | None:
        """Left side / right side; infinite where the right side is not positive and exceeded.

        None where a side is nothing but rounding, or neither side is positive.
        """
        if not self.significant:
            return None
        if self.right > 0:
            return self.left / self.right
        return math.inf if self.left > self.right else None


def at_least(comparison: Comparison) -> Comparison:
    """The comparison with the least that the left side may be."""
    least = comparison.left - comparison.left_error
    return replace(comparison, left=least, error=comparison.right_error, left_error=0.0, at_least=True)


@dataclass(frozen=True)
class Verdict:
    """The answer of ``verify``.

    ``constants`` are the certified constants of the statement's assumptions, ``required`` what the assumptions require
    that the vocabulary has no symbol for, ``values`` all numbers that went in,
    ``chosen`` says for a step size where its value comes from. ``vacuous_until`` is the smallest T from which the bound
    says more than smoothness alone does (None: never, or nothing is known). ``reasons`` explain any outcome but HOLDS
    and VIOLATED, ``notes`` are caveats. ``supposes`` says what the outcome rests on that nobody certifies, such as
    moments of the left side. ``ranges`` are the least and largest of a size that differs by round, such as the number
    of participants in a file. ``impossible`` are claims whose right side is negative although the left one never is.
    """

    statement: Statement
    outcome: Outcome
    problem: str
    engine: str
    values: dict[str, float]
    chosen: dict[str, str] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    required: dict[Assumption, tuple[Constant, ...]] = field(default_factory=dict)
    conditions: tuple[ConditionCheck, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    replicates: int | None = None
    level: float | None = None
    vacuous: bool | None = None
    vacuous_until: int | None = None
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    supposes: tuple[str, ...] = ()
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    impossible: tuple[NegativeBound, ...] = ()

    def __repr__(self) -> str:
        slack = "" if self.slack is None else f", slack {self.slack:.4g}"
        return f"<Verdict {self.statement.key}: {self.outcome.value}{slack}>"

    @property
    def unrun(self) -> bool:
        """True where no engine has run."""
        return self.engine == NO_ENGINE

    @property
    def slack(self) -> float | None:
        """Smallest slack over the claims."""
        slacks = [c.slack for c in self.comparisons if c.slack is not None]
        return min(slacks, default=None)

    @property
    def worst(self) -> Comparison | None:
        """The comparison with the least slack."""
        return min(self.comparisons, key=lambda each: each.relative_slack, default=None)
