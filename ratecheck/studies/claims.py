"""Are a study's claims true of its curves: every comparison that a claim implies, at one common error level.

The study's error budget is divided equally over all intervals that its file implies (comparisons, steady states,
drifts), so that with probability 1 - level all of them are right at once; a run of some figures only decides alike.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ratecheck.aliases import Array
from ratecheck.studies.estimate import ConfidenceInterval, EstimateSummary, Steadiness, ratio_interval, summarise
from ratecheck.studies.instance import models_per_round
from ratecheck.studies.store import Records
from ratecheck.studies.study import ClaimKind, Curve, Effect, HorizontalAxis, Study, StudyClaim, pairs
from ratecheck.studies.theory import CurveTheory, theory


class ClaimVerdict(enum.Enum):
    """What is found about a claim; the values are printed.

    ``CONFIRMED``: every comparison goes the claimed way, significantly. ``REFUTED``: more than half go significantly
    the other way. ``MIXED``: some go the one way and some the other, significantly. ``UNRESOLVED``: anything else.
    ``SKIPPED``: a smoke test left it unresolved, which says nothing about the study.
    """

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    MIXED = "MIXED"
    UNRESOLVED = "UNRESOLVED"
    SKIPPED = "SKIPPED"


class Side(enum.Enum):
    """Which way a comparison goes."""

    AGREES = "agrees"
    OPPOSES = "opposes"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class ClaimComparison:
    """Two curves compared: ``ratio`` is the quantity of ``second`` divided by that of ``first``.

    The quantity is that of the claim's kind, with a ``level`` the way down to it along the figure's x. ``reason`` says
    why nothing was compared, where nothing was, or which curve is not down in some replicates: it counts as down at the
    end there, and the ratio is bounded on one side only.
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
    theory: tuple[CurveTheory, ...] = ()

    @property
    def all_confirmed(self) -> bool:
        """Whether no claim is refuted, mixed or unresolved."""
        return all(result.verdict in (ClaimVerdict.CONFIRMED, ClaimVerdict.SKIPPED) for result in self.claims)

    def unresolved(self, claim: StudyClaim) -> list[Curve]:
        """The curves whose steady state a claim is about although noise hides whether it is one."""
        if not claim.about_steady_state:
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
    return Findings(study, results, summaries, error, theory(study))


def metric(study: Study, records: Records) -> Array:
    """The weighted sum of the recorded quantities that the study compares, (replicates, T)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(sum(weight * records[name] for name, weight in study.weights.items()))


def _levels(study: Study, figure: str) -> tuple[float, ...]:
    levels = {level for claim in study.claims if figure in claim.over for level in claim.levels}
    return tuple(sorted(levels, reverse=True))


def _judge(claim: StudyClaim, study: Study, summaries: Mapping[str, EstimateSummary], error: float) -> ClaimResult:
    levels: tuple[float | None, ...] = claim.levels or (None,)
    comparisons = tuple(
        _compare(claim, first, second, level, study, summaries, error)
        for level in levels
        for first, second in pairs(claim, study)
    )
    sides = [comparison.side for comparison in comparisons]
    if all(side is Side.AGREES for side in sides):
        verdict = ClaimVerdict.CONFIRMED
    elif 2 * sides.count(Side.OPPOSES) > len(sides):
        verdict = ClaimVerdict.REFUTED
    elif Side.AGREES in sides and Side.OPPOSES in sides:
        verdict = ClaimVerdict.MIXED
    else:
        verdict = ClaimVerdict.SKIPPED if study.quick else ClaimVerdict.UNRESOLVED
    return ClaimResult(claim, verdict, comparisons)


def _compare(
    claim: StudyClaim,
    first: Curve,
    second: Curve,
    level: float | None,
    study: Study,
    summaries: Mapping[str, EstimateSummary],
    error: float,
) -> ClaimComparison:
    reason = "; ".join(filter(None, (_unusable(claim, curve, summaries[curve.title]) for curve in (first, second))))
    if reason:
        return ClaimComparison(first, second, level, None, Side.UNDECIDED, reason)
    if level is None:
        lower, upper = (_quantity(claim, curve, summaries[curve.title]) for curve in (first, second))
        ratio = ratio_interval(upper, lower, error)
        return ClaimComparison(first, second, level, ratio, _side(claim, ratio))
    (lower, early), (upper, late) = (_way(curve, summaries[curve.title], level, study) for curve in (first, second))
    if early and late:
        return ClaimComparison(first, second, level, None, Side.UNDECIDED, f"{early}; {late}")
    scale = _power(claim, first), _power(claim, second)
    ratio = ratio_interval(upper / scale[1], lower / scale[0], error)
    # Who is not down at the end takes at least as long as that.
    ratio = replace(ratio, low=0.0 if early else ratio.low, high=math.inf if late else ratio.high)
    return ClaimComparison(first, second, level, ratio, _side(claim, ratio), early or late)


def _quantity(claim: StudyClaim, curve: Curve, summary: EstimateSummary) -> Array:
    """What the claim compares, per replicate; less is better."""
    by_kind = {ClaimKind.MEAN: summary.means, ClaimKind.UNREST: summary.unrest}
    return by_kind.get(claim.kind, summary.samples) / _power(claim, curve)


def _power(claim: StudyClaim, curve: Curve) -> float:
    return float(curve.value) ** claim.power if claim.power else 1.0


def _way(curve: Curve, summary: EstimateSummary, level: float, study: Study) -> tuple[Array, str]:
    """How far along the figure's x each replicate comes down, or the end, and in how many it does not, in words."""
    passages = summary.passages[level]
    never = np.isnan(passages)
    unit = models_per_round(curve) if study.figure(curve.figure).axis is HorizontalAxis.COMMUNICATION else 1.0
    short, count = int(np.count_nonzero(never)), len(passages)
    said = f"{curve.title} is not down to {level:g} after {summary.T} rounds in {short} of {count}" if short else ""
    # The start is the end of no round.
    return unit * np.maximum(np.where(never, summary.T, passages), 1e-9), said


def _side(claim: StudyClaim, ratio: ConfidenceInterval) -> Side:
    """Whether the ratio, that of the second curve to the first, lies where the claim says."""
    low, high = _claimed(claim)
    if (low == 0 or ratio.low > low) and (math.isinf(high) or ratio.high < high):
        return Side.AGREES
    return Side.OPPOSES if ratio.high < low or ratio.low > high else Side.UNDECIDED


def _claimed(claim: StudyClaim) -> tuple[float, float]:
    """The open interval in which the claim has the ratio."""
    most = 1 + claim.margin
    if claim.effect is Effect.NONE:
        return 1 / most, most
    if claim.effect is Effect.BOUNDED:
        return 0.0, most
    if claim.effect in (Effect.BETTER, Effect.NO_WORSE):
        return 1 / most, math.inf
    up = claim.kind is ClaimKind.BELOW or claim.effect is Effect.RISES
    # The faster a curve, the fewer rounds it takes.
    return (1.0, math.inf) if up is not (claim.kind is ClaimKind.SPEED) else (0.0, 1.0)


def _unusable(claim: StudyClaim, curve: Curve, summary: EstimateSummary) -> str:
    """Why a curve cannot be compared; empty where it can."""
    if summary.diverged:
        return f"{curve.title} diverged in {summary.diverged} of {len(summary.samples)} replicates"
    if claim.about_steady_state and summary.steadiness is Steadiness.UNSTEADY:
        drift = summary.drift
        return f"{curve.title} is not steady: drift {drift.value:.3g} [{drift.low:.3g}, {drift.high:.3g}] in the window"
    return ""
