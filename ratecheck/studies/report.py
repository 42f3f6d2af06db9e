"""Findings as plain data, for JSON."""

from __future__ import annotations

from typing import Any

from ratecheck.plain import picked, plain
from ratecheck.studies.claims import ClaimResult, Findings
from ratecheck.studies.estimate import EstimateSummary
from ratecheck.studies.study import Curve


def fields(findings: Findings) -> dict[str, Any]:
    """Everything that was found; numbers that do not exist (a drift of a diverged curve) are None."""
    study = findings.study
    found: dict[str, Any] = plain(
        {
            **picked(study, study="name", title="title", quick="quick"),
            "metric": "theorem" if study.weights is None else study.weights,
            **picked(findings, level="study.level", level_of_one_interval="error", chosen="study.chosen"),
            "claims": [_claim(result, findings) for result in findings.claims],
            "curves": [_curve(curve, findings.summaries[curve.title]) for curve in study.curves],
            "theory": [
                {
                    **picked(each, figure="curve.figure", curve="curve.name", statement="statement.key"),
                    **picked(each, "bound", "metric_bound", "mean", "admissible", "broken"),
                }
                for each in findings.theory
            ],
        }
    )
    return found


def _claim(result: ClaimResult, findings: Findings) -> dict[str, Any]:
    compared = {"first": "first.title", "second": "second.title"}
    return {
        "name": result.claim.name,
        "figure": ", ".join(result.claim.over),
        **picked(result.claim, "than", "says", "source", "kind", "effect", "margin"),
        **picked(result, "verdict", "average"),
        "noisy": [curve.title for curve in findings.unresolved(result.claim)],
        "comparisons": [
            {**picked(each, **compared), **picked(each, "level", "ratio", "side", "reason")}
            for each in result.comparisons
        ],
    }


def _curve(curve: Curve, summary: EstimateSummary) -> dict[str, Any]:
    return {
        **picked(curve, "figure", curve="name"),
        **picked(
            curve, "value", "algorithm", "problem", "parameters", "participation", "m", "K", "noise", "step_sizes"
        ),
        "mean": float(summary.means.mean()),
        "replicates": len(summary.samples),
        **picked(summary, rounds="T", diverged="diverged"),
        "window": [summary.first_round, summary.T],
        **picked(summary, steady_state="steady", drift="drift", steadiness="steadiness"),
        "rounds_to": {f"{level:g}": float(rounds.mean()) for level, rounds in summary.passages.items()},
        "rounds_to_target": {f"{at:g}": float(rounds.mean()) for at, rounds in summary.reached.items()},
        "lowest": float(summary.lowest.mean()),
    }
