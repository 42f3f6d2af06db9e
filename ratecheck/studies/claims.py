"""Are a study's claims true of its curves: every comparison that a claim implies, at one common error level.

The study's error budget is divided equally over all intervals that its file implies (comparisons, steady states,
drifts), so that with probability 1 - level all of them are right at once; a run of some figures only decides alike.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bounds.symbols import COMMON
from ratecheck.algorithms import METHODS
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.rounding import step_rounding
from ratecheck.studies.estimate import (
    ConfidenceInterval,
    EstimateSummary,
    Steadiness,
    mean_interval,
    ratio_interval,
    summarise,
)
from ratecheck.studies.instance import models_per_round, participation_of, problem_of, weights_of
from ratecheck.studies.storage.store import Records
from ratecheck.studies.study import MEASURES, ClaimKind, Curve, Effect, HorizontalAxis, Study, StudyClaim, pairs
from ratecheck.studies.theory import CurveTheory, theory


class ClaimVerdict(enum.Enum):
    """The verdict on a claim; the values are printed.

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
    """The direction of a comparison."""

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
    # The mean of the ratios, of a claim about that.
    average: ConfidenceInterval | None = None


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

    @property
    def contradicted(self) -> bool:
        """Whether a claim is refuted or mixed."""
        return any(result.verdict in (ClaimVerdict.REFUTED, ClaimVerdict.MIXED) for result in self.claims)

    def exceeded(self, each: CurveTheory) -> bool:
        """Whether a curve's mean over all rounds is above the bound of an admissible theorem, rounding included."""
        if each.metric_bound is None or not each.admissible:
            return False
        return mean_interval(self.summaries[each.curve.title].below.means, self.error).low > each.metric_bound

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
            metric(study, curve, records[curve.title]),
            window=study.window,
            tolerance=study.tolerance,
            levels=_levels(study, curve.figure),
            error=error,
            targets=_targets(study, curve.figure),
            rounding=rounding(study, curve, records[curve.title]),
        )
        for curve in study.curves
    }
    results = tuple(_judge(claim, study, summaries, error) for claim in study.claims)
    means = {title: float(summary.means.mean()) for title, summary in summaries.items()}
    beside = (replace(each, mean=_mean(study, each.curve, records, means)) for each in theory(study))
    return Findings(study, results, summaries, error, tuple(beside))


def metric(study: Study, curve: Curve, records: Records) -> Array:
    """The weighted sum of the recorded quantities that the curve's figure shows, (replicates, T)."""
    return _weighted(weights_of(study, curve), records)


def rounding(study: Study, curve: Curve, records: Records) -> Array:
    """The error bound of the metric, (replicates, T): squares of vectors whose entries cancel, as a verdict has it."""
    off = step_rounding(records, COMMON)
    return _weighted({name: abs(weight) for name, weight in weights_of(study, curve).items()}, off)


def _weighted(weights: Mapping[str, float], records: Records) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(sum(weight * records[name] for name, weight in weights.items()))


def _mean(study: Study, curve: Curve, records: Mapping[str, Records], means: Mapping[str, float]) -> float:
    """The mean over all rounds of what a theorem bounds: the figure's metric, unless that is none of the method's."""
    if not any(name in MEASURES for name in weights_of(study, curve)):
        return means[curve.title]
    n = problem_of(curve).n
    weights = METHODS[curve.algorithm].algorithm.metric(participation_of(curve, n).rate, n)
    return float(_weighted(weights, records[curve.title]).mean())


def _levels(study: Study, figure: str) -> tuple[float, ...]:
    levels = {level for claim in study.claims if figure in claim.over for level in claim.levels}
    return tuple(sorted(levels, reverse=True))


def _targets(study: Study, figure: str) -> tuple[float, ...]:
    found = (zip(claim.over, claim.targets, strict=True) for claim in study.claims if claim.targets)
    return tuple(sorted({target for each in found for name, target in each if name == figure}))


def _judge(claim: StudyClaim, study: Study, summaries: Mapping[str, EstimateSummary], error: float) -> ClaimResult:
    levels: tuple[float | None, ...] = claim.levels or (None,)
    comparisons = tuple(
        _compare(claim, first, second, level, study, summaries, error)
        for level in levels
        for first, second in pairs(claim, study)
    )
    if claim.average:
        average = _average(comparisons)
        verdict = _ALONE.get(_side(claim, average), ClaimVerdict.UNRESOLVED) if average else ClaimVerdict.UNRESOLVED
        skipped = study.quick and verdict is ClaimVerdict.UNRESOLVED
        return ClaimResult(claim, ClaimVerdict.SKIPPED if skipped else verdict, comparisons, average)
    sides = _by_figure(comparisons) if claim.most else [comparison.side for comparison in comparisons]
    if claim.most and 2 * sides.count(Side.AGREES) > len(sides):
        verdict = ClaimVerdict.CONFIRMED
    elif claim.most and 2 * sides.count(Side.OPPOSES) >= len(sides):
        verdict = ClaimVerdict.REFUTED
    elif claim.most:
        verdict = ClaimVerdict.SKIPPED if study.quick else ClaimVerdict.UNRESOLVED
    elif all(side is Side.AGREES for side in sides):
        verdict = ClaimVerdict.CONFIRMED
    elif 2 * sides.count(Side.OPPOSES) > len(sides):
        verdict = ClaimVerdict.REFUTED
    elif Side.AGREES in sides and Side.OPPOSES in sides:
        verdict = ClaimVerdict.MIXED
    else:
        verdict = ClaimVerdict.SKIPPED if study.quick else ClaimVerdict.UNRESOLVED
    return ClaimResult(claim, verdict, comparisons)


_ALONE = {Side.AGREES: ClaimVerdict.CONFIRMED, Side.OPPOSES: ClaimVerdict.REFUTED}


def _average(comparisons: Sequence[ClaimComparison]) -> ConfidenceInterval | None:
    """The mean ratio: the intervals hold together, so it lies between the means of their ends."""
    ratios = [comparison.ratio for comparison in comparisons]
    if None in ratios:
        return None
    ends = [(ratio.value, ratio.low, ratio.high) for ratio in ratios if ratio is not None]
    return ConfidenceInterval(*(float(np.mean(column)) for column in zip(*ends, strict=True)))


def _by_figure(comparisons: Sequence[ClaimComparison]) -> list[Side]:
    """Each figure's side: it agrees where all its comparisons do, and opposes where one of them does."""
    sides: dict[str, set[Side]] = {}
    for comparison in comparisons:
        sides.setdefault(comparison.first.figure, set()).add(comparison.side)
    return [
        Side.OPPOSES if Side.OPPOSES in found else Side.AGREES if found == {Side.AGREES} else Side.UNDECIDED
        for found in sides.values()
    ]


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
    of = summaries[first.title], summaries[second.title]
    if level is None and claim.kind is not ClaimKind.ROUNDS:

        def compared(lower: EstimateSummary, upper: EstimateSummary) -> ConfidenceInterval:
            return ratio_interval(_quantity(claim, second, upper), _quantity(claim, first, lower), error)

        ratio, reason = _with_rounding(claim, compared, *of)
        return ClaimComparison(first, second, level, ratio, _side(claim, ratio), reason)
    early, late = (
        _way(claim, curve, each.above, level, study)[1] for curve, each in zip((first, second), of, strict=True)
    )
    if early and late:
        return ClaimComparison(first, second, level, None, Side.UNDECIDED, f"{early}; {late}")

    def ways(lower: EstimateSummary, upper: EstimateSummary) -> ConfidenceInterval:
        (before, _), (after, _) = (
            _way(claim, curve, each, level, study) for curve, each in ((first, lower), (second, upper))
        )
        return ratio_interval(after / _power(claim, second), before / _power(claim, first), error)

    ratio, reason = _with_rounding(claim, ways, *of)
    # Who is not down at the end takes at least as long as that.
    ratio = replace(ratio, low=0.0 if early else ratio.low, high=math.inf if late else ratio.high)
    return ClaimComparison(first, second, level, ratio, _side(claim, ratio), early or late or reason)


def _with_rounding(
    claim: StudyClaim,
    ratio: Callable[[EstimateSummary, EstimateSummary], ConfidenceInterval],
    first: EstimateSummary,
    second: EstimateSummary,
) -> tuple[ConfidenceInterval, str]:
    """A ratio that grows with the second curve and falls with the first, with all that rounding may make of it.

    And in words that this is what leaves the comparison undecided, where it is.
    """
    found, low, high = ratio(first, second), ratio(first.above, second.below), ratio(first.below, second.above)
    wide = replace(found, low=min(found.low, low.low), high=max(found.high, high.high))
    hidden = _side(claim, wide) is Side.UNDECIDED and _side(claim, found) is not Side.UNDECIDED
    return wide, "rounding may make as large a difference" if hidden else ""


def _quantity(claim: StudyClaim, curve: Curve, summary: EstimateSummary) -> Array:
    """The quantity that the claim compares, per replicate; less is better."""
    by_kind = {ClaimKind.MEAN: summary.means, ClaimKind.UNREST: summary.unrest, ClaimKind.LOWEST: summary.lowest}
    with np.errstate(over="ignore"):
        return by_kind.get(claim.kind, summary.samples) / _power(claim, curve)


def _power(claim: StudyClaim, curve: Curve) -> float:
    return float(curve.value) ** claim.power if claim.power else 1.0


def _way(
    claim: StudyClaim, curve: Curve, summary: EstimateSummary, level: float | None, study: Study
) -> tuple[Array, str]:
    """The figure's x at which each replicate comes down, or the end, and in how many it does not, in words."""
    if level is None:
        level = claim.targets[claim.over.index(curve.figure)]
        passages = summary.reached[level]
    else:
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
        return claim.factor / most, math.inf
    up = claim.kind is ClaimKind.BELOW or claim.effect is Effect.RISES
    # The faster a curve, the fewer rounds it takes.
    return (1.0, math.inf) if up is not (claim.kind in (ClaimKind.SPEED, ClaimKind.ROUNDS)) else (0.0, 1.0)


def _unusable(claim: StudyClaim, curve: Curve, summary: EstimateSummary) -> str:
    """The reason for which a curve cannot be compared; empty where it can."""
    if summary.diverged:
        return f"{curve.title} diverged in {summary.diverged} of {len(summary.samples)} replicates"
    if claim.kind is ClaimKind.UNREST and summary.lost:
        return f"{curve.title} is nothing but rounding in some round of the window"
    if claim.about_steady_state and summary.steadiness is Steadiness.UNSTEADY:
        drift = summary.drift
        return f"{curve.title} is not steady: drift {drift.value:.3g} [{drift.low:.3g}, {drift.high:.3g}] in the window"
    return ""
