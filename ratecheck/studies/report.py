"""Findings as plain data, for JSON."""

from __future__ import annotations

import math
from typing import Any

from ratecheck.studies.claims import ClaimComparison, ClaimResult, Findings
from ratecheck.studies.estimate import ConfidenceInterval, EstimateSummary
from ratecheck.studies.study import Curve
from ratecheck.studies.theory import CurveTheory


def fields(findings: Findings) -> dict[str, Any]:
    """Everything that was found; numbers that do not exist (a drift of a diverged curve) are None."""
    study = findings.study
    return {
        "study": study.name,
        "title": study.title,
        "quick": study.quick,
        "metric": "theorem" if study.weights is None else dict(study.weights),
        "level": study.level,
        "level_of_one_interval": findings.error,
        "chosen": list(study.chosen),
        "claims": [_claim(result, findings) for result in findings.claims],
        "curves": [_curve(curve, findings.summaries[curve.title]) for curve in study.curves],
        "theory": [_theory(each) for each in findings.theory],
    }


def _theory(each: CurveTheory) -> dict[str, Any]:
    return {
        "figure": each.curve.figure,
        "curve": each.curve.name,
        "statement": each.statement.key,
        "bound": None if each.bound is None else _finite(each.bound),
        "metric_bound": None if each.metric_bound is None else _finite(each.metric_bound),
        "mean": _finite(each.mean),
        "admissible": each.admissible,
        "broken": list(each.broken),
    }


def _claim(result: ClaimResult, findings: Findings) -> dict[str, Any]:
    claim = result.claim
    return {
        "name": claim.name,
        "figure": ", ".join(claim.over),
        "than": claim.than,
        "says": claim.says,
        "source": claim.source,
        "kind": claim.kind.value,
        "effect": claim.effect.value if claim.effect else None,
        "margin": claim.margin,
        "verdict": result.verdict.value,
        "average": _interval(result.average),
        "noisy": [curve.title for curve in findings.unresolved(claim)],
        "comparisons": [_comparison(comparison) for comparison in result.comparisons],
    }


def _comparison(comparison: ClaimComparison) -> dict[str, Any]:
    return {
        "first": comparison.first.title,
        "second": comparison.second.title,
        "level": comparison.level,
        "ratio": _interval(comparison.ratio),
        "side": comparison.side.value,
        "reason": comparison.reason,
    }


def _curve(curve: Curve, summary: EstimateSummary) -> dict[str, Any]:
    return {
        "figure": curve.figure,
        "curve": curve.name,
        "value": curve.value,
        "algorithm": curve.algorithm,
        "problem": curve.problem,
        "parameters": dict(curve.parameters),
        "participation": curve.participation,
        "m": curve.m,
        "K": curve.K,
        "noise": dict(curve.noise),
        "step_sizes": dict(curve.step_sizes),
        "mean": _finite(float(summary.means.mean())),
        "replicates": len(summary.samples),
        "rounds": summary.T,
        "diverged": summary.diverged,
        "window": [summary.first_round, summary.T],
        "steady_state": _interval(summary.steady),
        "drift": _interval(summary.drift),
        "steadiness": summary.steadiness.value,
        "rounds_to": {f"{level:g}": _finite(float(rounds.mean())) for level, rounds in summary.passages.items()},
        "rounds_to_target": {f"{at:g}": _finite(float(rounds.mean())) for at, rounds in summary.reached.items()},
        "lowest": _finite(float(summary.lowest.mean())),
    }


def _interval(interval: ConfidenceInterval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    return {"value": _finite(interval.value), "low": _finite(interval.low), "high": _finite(interval.high)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
