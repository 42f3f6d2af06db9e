"""A verdict by Monte Carlo: replicates are added until the confidence bounds decide, or their number is used up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ratecheck.aliases import Array
from ratecheck.outcome import Outcome
from ratecheck.statistics.confidence import OF_NORMAL, Validity, lower, upper, upper_by_spread

# Left and right sides, (replicates, checks) each, of the replicates in a range.
Draw = Callable[[range], tuple[Array, Array]]
# What rounding does to the mean of either side per check, over so many replicates.
Tie = Callable[[int], tuple[Array, Array]]
# Upper confidence bounds for left - right per check, and what they rest on, at a level.
Above = Callable[[Array, Array, float], tuple[Array, Validity]]

# Fewer decide nothing but with a known end of the range, and then only what is clear.
FIRST = 32
_NO_NUMBER = "left minus right is no finite number in some replicate"
# Runs that are drawn where each is a check of its own.
_RUNS = 256
# Where nothing is random the sides may agree to the last digits; rounding decides nothing.
TIE = 1e-12


@dataclass(frozen=True)
class SequentialDecision:
    """The decision on one claim from its replicates.

    ``worst`` is the check (a round, for a claim about every round) with the least slack. Of it are the sample means of
    both sides, and ``lower`` and ``upper``, the confidence bounds for the mean of left - right. ``caveat`` says what
    the outcome rests on, in a sentence; ``supposes`` what of that nobody certifies, empty where it is nothing.
    """

    outcome: Outcome
    worst: int
    left: float
    right: float
    lower: float
    upper: float
    replicates: int
    caveat: str
    supposes: str = ""

    @property
    def error(self) -> float:
        """The distance of left - right from the bound that decided; from the farther one where none did."""
        below, above = self.left - self.right - self.lower, self.upper - (self.left - self.right)
        if self.outcome is Outcome.INCONCLUSIVE:
            return max(below, above)
        return below if self.lower > 0 else above


def decide(
    draw: Draw, level: float, most: int, *, nonnegative: bool, by_check: bool = False, equal: bool = False,
    normal: bool = False, largest: float = math.inf, share: float | None = None, first: int = FIRST,
    tie: Tie | None = None,
) -> SequentialDecision:  # fmt: skip
    """Whether the mean of left - right is at most 0 in every check; with ``equal``, whether it is 0.

    ``draw(range(a, b))`` gives both sides of replicates a ... b-1, independent and of one distribution; their number
    is doubled from ``first`` until the claim is decided or ``most`` are reached. The verdict is wrong with probability
    at most ``level``, by confidence bounds that allow this:

    VIOLATED errs only where the claim is true. Some lower bound is then wrong, so the level is divided among all
    checks; ``share`` is this claim's share of it where several are decided together, the whole level by default.
    HOLDS errs only where the claim is false. Then the upper bound of one check in particular, whose mean is above 0, is
    wrong, so each has the whole level, and claims that must all hold need not divide it (an intersection-union test:
    Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982), 295-300).

    ``nonnegative`` promises that no left side is below 0 and that right sides are not random. VIOLATED then rests on a
    bound without further assumptions, and so does HOLDS where ``largest``, which no left side exceeds, is finite and
    the values are near enough to it for that bound to decide. ``by_check`` says that right sides differ by check: HOLDS
    then rests on the kurtosis of left - right, as where they are random. ``normal`` promises that both sides are
    quadratic functions of normal variables, whose moments are known well enough. All else supposes a moment, which the
    caveat names. Where two bounds may decide they share the level. ``tie`` says what rounding does to the sides, 1e-12
    of them by default; nothing within it is decided. Raises `ValueError` where right sides differ all the same.
    """
    share = level if share is None else share
    upper_of = partial(_above, nonnegative=nonnegative and not by_check, normal=normal, largest=largest)
    left, right = draw(range(min(first, most)))
    while True:
        within = _rounding(left, right, tie)
        decision = _judged(left, right, level, share, upper_of, within, nonnegative=nonnegative, equal=equal)
        drawn = len(left)
        if (
            decision.outcome is not Outcome.INCONCLUSIVE
            or drawn >= most
            or not math.isfinite(decision.left - decision.right)
        ):
            return decision
        more = draw(range(drawn, min(2 * drawn, most)))
        left, right = (np.concatenate(pair) for pair in zip((left, right), more, strict=True))


def _rounding(left: Array, right: Array, tie: Tie | None) -> Array:
    """A bound of the rounding error of left - right, per check."""
    with np.errstate(all="ignore"):
        least = np.asarray(TIE * (np.abs(left) + np.abs(right)).mean(axis=0))
        return least if tie is None else np.maximum(least, sum(tie(len(left))))


def of_numbers(draw: Draw, first: int, *, equal: bool = False, tie: Tie | None = None) -> SequentialDecision:
    """Whether left is at most right, or equal to it, in every check where no side is random: one look decides.

    Where they differ by their rounding errors more looks would decide nothing either.
    """
    left, right = draw(range(first))
    with np.errstate(all="ignore"):
        excess = (left - right)[0]
    if not np.isfinite(excess).all():
        return _decision(Outcome.INCONCLUSIVE, 0, left, right, (-math.inf, math.inf), _NO_NUMBER)
    within = _rounding(left, right, tie)
    over = (np.abs(excess) if equal else excess) - within
    outcome = Outcome.VIOLATED if (over > 0).any() else Outcome.HOLDS
    if outcome is Outcome.HOLDS and not equal and (excess > -within).any():
        outcome = Outcome.INCONCLUSIVE
    worst = int(np.argmax(over))
    caveat = "the sides differ by no more than their rounding errors" if outcome is Outcome.INCONCLUSIVE else ""
    return _decision(outcome, worst, left, right, (float(excess[worst]),) * 2, caveat)


def of_every_run(draw: Draw, most: int, tie: Tie | None = None) -> SequentialDecision:
    """Whether left is at most right in every check of every run, where a claim is about each and not about a mean.

    One run refutes it. That it holds in those that were drawn does not say that it does in all that may happen.
    """
    left, right = draw(range(min(most, _RUNS)))
    with np.errstate(all="ignore"):
        excess = left - right
    if not np.isfinite(excess).all():
        return _decision(Outcome.INCONCLUSIVE, 0, left, right, (-math.inf, math.inf), _NO_NUMBER)
    run, worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
    sides = float(left[run, worst]), float(right[run, worst])
    # The mean of the errors of so many runs, of which one decides.
    violated = sides[0] - sides[1] > len(left) * _rounding(left, right, tie)[worst]
    caveat = (
        f"VIOLATED by run {run} alone, since the claim is about every run"
        if violated
        else f"HOLDS in each of the {len(left)} runs that were drawn, not in all that may happen"
    )
    outcome = Outcome.VIOLATED if violated else Outcome.HOLDS
    supposes = "" if violated else "runs that were not drawn are like those that were"
    return SequentialDecision(
        outcome, int(worst), *sides, sides[0] - sides[1], sides[0] - sides[1], len(left), caveat, supposes
    )


def _judged(
    left: Array,
    right: Array,
    level: float,
    share: float,
    upper_of: Above,
    tie: Array,
    *,
    nonnegative: bool,
    equal: bool,
) -> SequentialDecision:
    with np.errstate(all="ignore"):
        excess = left - right
    finite = np.isfinite(excess).all(axis=0)
    if not finite.all():
        return _decision(Outcome.INCONCLUSIVE, int(np.argmin(finite)), left, right, (-math.inf, math.inf), _NO_NUMBER)
    if nonnegative and np.ptp(right, axis=0).any():
        raise ValueError("right sides are said not to be random, but they differ between replicates")
    apart = share / excess.shape[1] / (2 if equal else 1)
    low = lower(left, apart, 0.0) - right[0] if nonnegative else lower(excess, apart)
    high, rests_on = upper_of(left, right, apart if equal else level)
    above, below = low > tie, (high < -tie) & equal
    # Equal sides are equal up to rounding; an inequality has to hold by more than that.
    holds = (high <= tie).all() and (low >= -tie).all() if equal else (high <= -tie).all()
    outcome = Outcome.HOLDS if holds else Outcome.INCONCLUSIVE
    slack = np.maximum(high, -low) if equal else high
    if above.any() or below.any():
        outcome, slack = Outcome.VIOLATED, np.where(above, low - tie, np.where(below, -high - tie, -math.inf))
    # Few replicates have no upper bound in any check: then it is the one with the largest mean.
    slack = np.where(np.isnan(slack), math.inf, slack)
    nearest = np.flatnonzero(slack == slack.max())
    worst = int(nearest[np.argmax(excess.mean(axis=0)[nearest])])
    if outcome is Outcome.VIOLATED:
        rests_on = Validity.RIGOROUS if nonnegative and above[worst] else rests_on
    supposes = "" if outcome is Outcome.INCONCLUSIVE else rests_on.supposes
    bounds = float(low[worst]), float(high[worst])
    return _decision(outcome, worst, left, right, bounds, _caveat(outcome, rests_on), supposes)


def _above(
    left: Array, right: Array, level: float, *, nonnegative: bool, normal: bool, largest: float
) -> tuple[Array, Validity]:
    """Upper confidence bounds for left - right, each wrong with probability at most ``level``, and their kind."""
    if not nonnegative:
        return upper(left - right, level), Validity.NORMAL if normal else Validity.KURTOSIS
    if normal:
        return upper_by_spread(left, level, OF_NORMAL) - right[0], Validity.NORMAL
    if not math.isfinite(largest):
        return upper_by_spread(left, level) - right[0], Validity.SPREAD
    ranged, spread = upper(left, level / 2, largest) - right[0], upper_by_spread(left, level / 2) - right[0]
    return np.minimum(ranged, spread), Validity.RIGOROUS if (ranged <= 0).all() else Validity.SPREAD


def _decision(
    outcome: Outcome,
    worst: int,
    left: Array,
    right: Array,
    bounds: tuple[float, float],
    caveat: str,
    supposes: str = "",
) -> SequentialDecision:
    sides = float(left[:, worst].mean()), float(right[:, worst].mean())
    return SequentialDecision(outcome, worst, *sides, *bounds, len(left), caveat, supposes)


def _caveat(outcome: Outcome, rests_on: Validity) -> str:
    if outcome is Outcome.INCONCLUSIVE:
        return "the confidence bounds for left minus right lie on both sides of zero"
    return f"{outcome.value} by a confidence bound that is {rests_on.value}"
