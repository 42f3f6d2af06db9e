"""A verdict on a claim in probability: runs that keep it are counted, and the exact binomial bound decides.

Of n independent runs the number that keep the claim is binomial, whatever the distribution of what they measure, so
that the bounds suppose nothing. Source: Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the
case of the binomial", Biometrika 26 (1934), 404-413.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ratecheck.aliases import Array
from ratecheck.outcome import Outcome
from ratecheck.statistics.sequential_test import FIRST, TIE, Draw, SequentialDecision

# What rounding does to left - right in each of the first replicates, (replicates, checks).
Errors = Callable[[int], Array]


def chance_bounds(kept: int, runs: int, level: float) -> tuple[float, float]:
    """The lower and the upper bound of a chance of which ``kept`` of ``runs`` came; each errs with chance ``level``."""
    from scipy.special import betaincinv

    low = float(betaincinv(kept, runs - kept + 1, level)) if kept else 0.0
    high = float(betaincinv(kept + 1, runs - kept, 1 - level)) if kept < runs else 1.0
    return low, high


def decide_chance(
    draw: Draw, chance: float, level: float, most: int, *, any_check: bool = False, share: float | None = None,
    first: int = FIRST, errors: Errors | None = None,
) -> SequentialDecision:  # fmt: skip
    """Whether P(left <= right in every check) >= chance, or with ``any_check`` in some check.

    Arguments as for `sequential_test.decide`: replicates are doubled from ``first`` until the claim is decided or
    ``most`` are reached. The levels are divided equally among these looks. A run keeps the claim for HOLDS only if it
    does by more than rounding, and breaks it for VIOLATED only if it does by more than that.
    """
    share = level if share is None else share
    left, right = draw(range(min(first, most)))
    looks = 1
    drawn = len(left)
    while drawn < most:
        drawn, looks = min(2 * drawn, most), looks + 1
    while True:
        decision = _judged(left, right, chance, (level / looks, share / looks), errors, any_check=any_check)
        drawn = len(left)
        if decision.outcome is not Outcome.INCONCLUSIVE or drawn >= most:
            return decision
        more = draw(range(drawn, min(2 * drawn, most)))
        left, right = (np.concatenate(pair) for pair in zip((left, right), more, strict=True))


def quantile(values: Array, chance: float) -> Array:
    """The least number that a share ``chance`` of the replicates (first axis) do not exceed; NaN counts as infinite."""
    ordered = np.sort(np.where(np.isnan(values), np.inf, values), axis=0)
    # Up to rounding of the share, so that 0.95 of 20 are 19.
    place = math.ceil(chance * len(values) * (1 - 1e-12)) - 1
    return np.asarray(ordered[min(max(place, 0), len(values) - 1)])


def quantile_bounds(values: Array, chance: float, level: float) -> tuple[Array, Array]:
    """The lower and the upper bound of the quantiles of the columns, each wrong with chance ``level``; maybe infinite.

    They are order statistics (David, Nagaraja, "Order Statistics", 2003, Section 7.1).
    """
    from scipy.special import bdtr, bdtrc

    places = np.arange(len(values))
    ordered = np.sort(np.where(np.isnan(values), np.inf, values), axis=0)
    # The j-th least value is below the quantile only if B >= j, and above it only if B < j, for a binomial B.
    upper = np.flatnonzero(bdtrc(places, len(values), chance) <= level)
    lower = np.flatnonzero(bdtr(places, len(values), chance) <= level)
    infinite = np.full(ordered.shape[1:], math.inf)
    return ordered[lower[-1]] if len(lower) else -infinite, ordered[upper[0]] if len(upper) else infinite


def _judged(
    left: Array, right: Array, chance: float, levels: tuple[float, float], errors: Errors | None, *, any_check: bool
) -> SequentialDecision:
    runs, (level, share) = len(left), levels
    with np.errstate(all="ignore"):
        excess = left - right
        within = TIE * (np.abs(left) + np.abs(right))
        within = within if errors is None else np.maximum(within, errors(runs))
        # What overflows exceeds every bound, and what has no number neither meets nor exceeds one.
        most, least = np.where(np.isnan(excess + within), np.inf, excess + within), excess - within
    least = np.where(np.isposinf(left) & np.isfinite(right), np.inf, np.where(np.isnan(least), -np.inf, least))
    overall = np.min if any_check else np.max
    surely_kept, surely_broken = overall(most, axis=1) <= 0, overall(least, axis=1) > 0
    kept, broken = int(surely_kept.sum()), int(surely_broken.sum())
    outcome = Outcome.INCONCLUSIVE
    if chance_bounds(runs - broken, runs, share)[1] < chance:
        outcome = Outcome.VIOLATED
    elif chance_bounds(kept, runs, level)[0] >= chance:
        outcome = Outcome.HOLDS
    of_left, of_right = quantile(left, chance), right.mean(axis=0)
    with np.errstate(all="ignore"):
        gaps = of_left - of_right
    worst = int((np.argmin if any_check else np.argmax)(np.where(np.isnan(gaps), np.inf, gaps)))
    low, high = (float(each) for each in quantile_bounds(left[:, worst], chance, min(level, share)))
    sides = float(of_left[worst]), float(of_right[worst])
    return SequentialDecision(
        outcome,
        worst,
        *sides,
        low - sides[1],
        high - sides[1],
        runs,
        _said(outcome, kept, broken, runs, chance, levels),
    )


def _said(outcome: Outcome, kept: int, broken: int, runs: int, chance: float, levels: tuple[float, float]) -> str:
    low, high = chance_bounds(kept, runs, levels[0])[0], chance_bounds(runs - broken, runs, levels[1])[1]
    claimed = f"and the claim is {chance:.6g}"
    if outcome is Outcome.VIOLATED:
        found = (
            f"{broken} of {runs} runs exceed the bound: it is met with a probability of at most {high:.4g}, {claimed}"
        )
    elif outcome is Outcome.HOLDS:
        found = f"{kept} of {runs} runs meet the bound: it is met with a probability of at least {low:.4g}, {claimed}"
    else:
        between = f"between {low:.4g} and {high:.4g}"
        found = f"{kept} of {runs} runs meet the bound: it is met with a probability {between}, {claimed}"
    return f"{found} (exact binomial bound, valid whatever the distribution)"
