"""Are a study's claims true of its curves: every comparison that a claim implies, at one common error level.

The study's error budget is divided equally over all intervals that its file implies (comparisons, steady states,
drifts), so that with probability 1 - level all of them are right at once; a run of some figures only decides alike.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.studies.estimate import ConfidenceInterval, EstimateSummary, Steadiness, ratio_interval, summarise
from ratecheck.studies.store import Records
from ratecheck.studies.study import ClaimKind, Curve, Effect, Study, StudyClaim, pairs


class ClaimVerdict(enum.Enum):
    """What is found about a claim; the values are printed.

    ``CONFIRMED``: every comparison goes the claimed way, significantly. ``REFUTED``: more than half go significantly
    the other way. ``MIXED``: anything else.
    """

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    MIXED = "MIXED"


class Side(enum.Enum):
    """Which way a comparison goes."""

    AGREES = "agrees"
    OPPOSES = "opposes"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class ClaimComparison:
    """Two curves compared: ``ratio`` is the quantity of ``second`` divided by that of ``first``.

    The quantity is the steady-state mean, or with a ``level`` the number of rounds down to it. ``reason`` says why
    nothing was compared, where nothing was.
    """

    first: Curve
    second: Curve
    level: float | None
    ratio: ConfidenceInterval | None
    side: Side
    reason: str = ""


@dataclass(frozen=True)
class ClaimResult:
    """A claim, its verdict and the comparisons behind it."""

    claim: StudyClaim
    verdict: ClaimVerdict
    comparisons: tuple[ClaimComparison, ...]


@dataclass(frozen=True)
class Findings:
    """All claims and all curves of a study; ``error`` is the level of each single interval."""

    study: Study
    claims: tuple[ClaimResult, ...]
    summaries: Mapping[str, EstimateSummary]
    error: float

    @property
    def all_confirmed(self) -> bool:
        """Whether no claim is refuted or mixed."""
        return all(result.verdict is ClaimVerdict.CONFIRMED for result in self.claims)

    def unresolved(self, claim: StudyClaim) -> list[Curve]:
        """The curves whose steady state a claim is about although noise hides whether it is one."""
        if claim.kind is ClaimKind.SPEED:
            return []
        curves = {curve.title: curve for pair in pairs(claim, self.study) for curve in pair}
        return [c for title, c in curves.items() if self.summaries[title].steadiness is Steadiness.UNRESOLVED]


def judge(study: Study, records: Mapping[str, Records]) -> Findings:
    """Check every claim on the records of every curve, by the curve's title."""
    error = study.level / study.intervals
    summaries = {
        curve.title: summarise(
            metric(study, records[curve.title]),
            window=study.window,
            tolerance=study.tolerance,
            levels=_levels(study, curve.figure),
            error=error,
        )
        for curve in study.curves
    }
    results = tuple(_judge(claim, study, summaries, error) for claim in study.claims)
    return Findings(study, results, summaries, error)


def metric(study: Study, records: Records) -> Array:
    """The weighted sum of the recorded quantities that the study compares, (replicates, T)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(sum(weight * records[name] for name, weight in study.weights.items()))


def _levels(study: Study, figure: str) -> tuple[float, ...]:
    levels = {level for claim in study.claims if claim.figure == figure for level in claim.levels}
    return tuple(sorted(levels, reverse=True))


def _judge(claim: StudyClaim, study: Study, summaries: Mapping[str, EstimateSummary], error: float) -> ClaimResult:
    levels: tuple[float | None, ...] = claim.levels or (None,)
    comparisons = tuple(
        _compare(claim, first, second, level, summaries, error)
        for level in levels
        for first, second in pairs(claim, study)
    )
    sides = [comparison.side for comparison in comparisons]
    if all(side is Side.AGREES for side in sides):
        verdict = ClaimVerdict.CONFIRMED
    elif 2 * sides.count(Side.OPPOSES) > len(sides):
        verdict = ClaimVerdict.REFUTED
    else:
        verdict = ClaimVerdict.MIXED
    return ClaimResult(claim, verdict, comparisons)


def _compare(
    claim: StudyClaim,
    first: Curve,
    second: Curve,
    level: float | None,
    summaries: Mapping[str, EstimateSummary],
    error: float,
) -> ClaimComparison:
    reason = "; ".join(filter(None, (_unusable(curve, summaries[curve.title], level) for curve in (first, second))))
    if reason:
        return ClaimComparison(first, second, level, None, Side.UNDECIDED, reason)
    lower, upper = (
        summaries[curve.title].samples if level is None else summaries[curve.title].passages[level]
        for curve in (first, second)
    )
    ratio = ratio_interval(upper, lower, error)
    return ClaimComparison(first, second, level, ratio, _side(claim, ratio))


def _side(claim: StudyClaim, ratio: ConfidenceInterval) -> Side:
    """Where the ratio of the curve with the larger value to that with the smaller one lies (of upper to lower)."""
    if claim.effect is Effect.NONE:
        low, high = 1 / (1 + claim.margin), 1 + claim.margin
        if ratio.within(low, high):
            return Side.AGREES
        return Side.OPPOSES if ratio.high < low or ratio.low > high else Side.UNDECIDED
    up = claim.kind is ClaimKind.BELOW or claim.effect is Effect.RISES
    # The faster a curve, the fewer rounds it takes.
    up = up is not (claim.kind is ClaimKind.SPEED)
    if ratio.low > 1:
        return Side.AGREES if up else Side.OPPOSES
    if ratio.high < 1:
        return Side.OPPOSES if up else Side.AGREES
    return Side.UNDECIDED


def _unusable(curve: Curve, summary: EstimateSummary, level: float | None) -> str:
    """Why a curve cannot be compared; empty where it can."""
    if summary.diverged:
        return f"{curve.title} diverged in {summary.diverged} of {len(summary.samples)} replicates"
    if level is not None:
        short = int(np.count_nonzero(np.isnan(summary.passages[level])))
        replicates = len(summary.samples)
        return (
            f"{curve.title} is not down to {level:g} after {summary.T} rounds in {short} of {replicates}"
            if short
            else ""
        )
    if summary.steadiness is Steadiness.UNSTEADY:
        drift = summary.drift
        return f"{curve.title} is not steady: drift {drift.value:.3g} [{drift.low:.3g}, {drift.high:.3g}] in the window"
    return ""
