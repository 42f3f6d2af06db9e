"""Findings of a study as text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ratecheck.algorithms import METHODS
from ratecheck.studies import ClaimResult, Findings
from ratecheck.studies.claims import ClaimComparison, Side
from ratecheck.studies.estimate import ConfidenceInterval
from ratecheck.studies.execute import ShardRun
from ratecheck.views.numbers import number
from ratecheck.views.width import table


def study_text(findings: Findings) -> str:
    """Curves, claims with their comparisons, and how many of each verdict there are."""
    study = findings.study
    lines = [study.title, "", *(f"chosen here: {text}" for text in study.chosen)]
    lines += [*([""] if study.chosen else []), *_curves(findings), "", *_theory(findings)]
    for result in findings.claims:
        lines += _claim(result, findings)
    counts = Counter(result.verdict.value for result in findings.claims)
    lines.append(f"{len(findings.claims)} claims: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    lines.append(
        f"intervals: each fails with probability {findings.error:.2g}, all {study.level:g} together; "
        "ratios: second curve / first"
    )
    return "\n".join(lines)


def shard_text(done: ShardRun, cells: Path) -> str:
    """Whose cells they were, and what is missing still."""
    mine = f"{done.computed + done.reused} of {done.total} cells, {done.computed} computed here, {done.reused} found"
    there = "all" if done.stored == done.total else f"{done.stored} of"
    lines = [f"{done.study.name}, shard {done.shard}: {mine}", *(f"  {title}" for title in done.curves)]
    lines.append(f"{there} {done.total} cells of the study are in {cells}")
    lines.append("'ratecheck run' without --shard computes what is missing and judges the claims")
    return "\n".join(lines)


def _curves(findings: Findings) -> list[str]:
    rows = [("figure", "curve", "steady state", "", "drift", "within the window", "", "rounds to a share of the start")]
    for curve in findings.study.curves:
        summary = findings.summaries[curve.title]
        passages = [f"{level:g}: {number(float(rounds.mean()))}" for level, rounds in summary.passages.items()]
        passages += [f"to {at:g}: {number(float(rounds.mean()))}" for at, rounds in summary.reached.items()]
        state = "DIVERGED" if summary.diverged else summary.steadiness.value
        steady, drift = _interval(summary.steady), _interval(summary.drift)
        rows.append((curve.figure, curve.name, *steady, *drift, state, ", ".join(passages)))
    return table(rows).splitlines()


def _theory(findings: Findings) -> list[str]:
    """The theorems on the curves, with the mean over all rounds that most of them bound."""
    if not findings.theory:
        return []
    rows: list[tuple[str, ...]] = [
        ("figure", "curve", "statement", "bound", "of the metric", "mean over rounds", "", "")
    ]
    for each in findings.theory:
        mean = number(each.mean)
        bounds = ("" if bound is None else number(bound) for bound in (each.bound, each.metric_bound))
        exceeded = "VIOLATED: the mean is above the bound" if findings.exceeded(each) else ""
        said = ("admissible", exceeded) if each.admissible else ("not admissible", "; ".join(each.broken))
        rows.append((each.curve.figure, each.curve.name, each.statement.key, *bounds, mean, *said))
    return [*table(rows).splitlines(), "", *_admissible(findings)]


def _admissible(findings: Findings) -> list[str]:
    """The step sizes of the curves that are repeated at admissible ones."""
    rows = [("figure", "curve", "largest admissible step sizes")]
    for figure in findings.study.figures:
        for curve in figure.curves if figure.repeats else ():
            fixed = METHODS[curve.algorithm].fixed
            sizes = (f"{name}={number(size)}" for name, size in curve.step_sizes.items() if name not in fixed)
            rows.append((figure.name, curve.name, ", ".join(sizes)))
    return [*table(rows).splitlines(), ""] if len(rows) > 1 else []


def _claim(result: ClaimResult, findings: Findings) -> list[str]:
    claim, mark = result.claim, " (quick)" if findings.study.quick else ""
    figure = " ".join(claim.over) if claim.than is None else f"{claim.over[0]} / {claim.than}"
    agree = sum(comparison.side is Side.AGREES for comparison in result.comparisons)
    noisy = [curve.title for curve in findings.unresolved(claim)]
    unsure = ", not known to be steady" if noisy else ""
    lines = [f"{figure}   {result.verdict.value}{unsure}{mark}   {claim.says}"]
    lines.append(f"    {agree} of {len(result.comparisons)} comparisons agree")
    if result.average is not None:
        lines.append(f"    on average   ratio {' '.join(_interval(result.average))}")
    several = len(claim.over) > 1
    lines += [f"    {_comparison(comparison, several=several)}" for comparison in result.comparisons]
    return [*lines, *([f"    too noisy to tell whether steady: {', '.join(noisy)}"] if noisy else []), ""]


def _comparison(comparison: ClaimComparison, *, several: bool = False) -> str:
    first, second = comparison.first, comparison.second
    names = f"{first.title} : {second.title}" if first.figure != second.figure else f"{first.name} : {second.name}"
    names = f"{first.figure} {names}" if several and first.figure == second.figure else names
    at = "" if comparison.level is None else f" at {comparison.level:g}"
    if comparison.ratio is None:
        return f"{names}{at}   {comparison.side.value}: {comparison.reason}"
    reason = f": {comparison.reason}" if comparison.reason else ""
    return f"{names}{at}   ratio {' '.join(_interval(comparison.ratio))}   {comparison.side.value}{reason}"


def _interval(interval: ConfidenceInterval) -> tuple[str, str]:
    return number(interval.value), f"[{number(interval.low)}, {number(interval.high)}]"
