"""Measured and predicted exponents as text and as JSON data."""

from __future__ import annotations

from typing import Any

from ratecheck.exponents.scaling import AROUND, Exponent, Scaling
from ratecheck.exponents.sweep import SweepSurvey
from ratecheck.plain import picked
from ratecheck.statistics.exponent_fit import LEVEL
from ratecheck.views.drawing.panels import engine, interval, signed
from ratecheck.views.drawing.plots import remarks, settings_text, sweep_fields
from ratecheck.views.numbers import number
from ratecheck.views.width import table


def scaling_text(found: Scaling) -> str:
    """The table, why each verdict, and what was left out."""
    survey = found.survey
    if survey is None:
        return f"{found.statement.key}   {found.statement.title}   {overall(found)}\n  {found.reason}"
    verdict = survey.verdict
    lines = [f"{verdict.statement.key}   {verdict.statement.title}   {overall(found)}"]
    lines += [f"  on      {verdict.problem}; {engine(survey)}", f"  with    {settings_text(survey)}"]
    rows: list[tuple[str, ...]] = [
        ("parameter", "range", f"measured [{1 - LEVEL:.0%}]", "bound", "local", "dominant term", "verdict")
    ]
    rows += [_row(each) for each in found.exponents]
    lines += [table(rows)] if found.exponents else []
    for each in found.exponents:
        lines += [f"  {each.sweep.parameter}: {each.reason}"]
        lines += [f"  range   {each.chosen}"] if each.chosen != AROUND else []
        lines += [f"  note    {remark}" for remark in remarks(survey, each.sweep)]
        lines += [f"  left out {reason}" for reason in each.sweep.left_out]
    lines += [f"  not varied: {name}, because {reason}" for name, reason in survey.fixed.items()]
    return "\n".join([*lines, *_caveats(survey)])


def scaling_fields(found: Scaling) -> dict[str, Any]:
    """The exponents as JSON data."""
    survey = found.survey
    verdict = None if survey is None else survey.verdict
    return {
        "key": found.statement.key if verdict is None else verdict.statement.key,
        "scaling": overall(found),
        **picked(verdict, "problem", "engine", "replicates"),
        "level": LEVEL,
        "values": {} if verdict is None else verdict.values,
        "exponents": {} if survey is None else {e.sweep.parameter: _fields(survey, e) for e in found.exponents},
        "not_varied": {} if survey is None else survey.fixed,
        "notes": [found.reason] if survey is None else _caveats(survey),
    }


def _fields(survey: SweepSurvey, each: Exponent) -> dict[str, Any]:
    return {
        **sweep_fields(survey, each.sweep),
        **picked(each, role="sweep.role", terms="sweep.terms", dominant="dominant", verdict="agreement"),
        **picked(each, "tight", "meet", "further", "reason", "chosen"),
    }


def overall(found: Scaling) -> str:
    """The agreement of all exponents."""
    return "NO_CONCLUSION" if found.agreement is None else found.agreement.value


def _row(each: Exponent) -> tuple[str, ...]:
    sweep = each.sweep
    span = f"{number(float(sweep.values[0]))} ... {number(float(sweep.values[-1]))} ({len(sweep.values)})"
    low, high = each.dominant
    verdict = each.agreement.value + (", not tight" if each.tight is False else "")
    return (
        sweep.parameter,
        span,
        interval(sweep.fit),
        signed(sweep.law.exponent),
        signed(sweep.predicted),
        low if low == high else f"{low}, then {high}",
        verdict,
    )


def _caveats(survey: SweepSurvey) -> list[str]:
    """Remarks on how to read the numbers."""
    lines = ["bound: exponent of the right side over the same points; local: its exponent at the given setting"]
    if survey.verdict.engine != "step":
        lines.append("intervals are those of the fits alone: how far the points are from one power law")
    lines.append("one given problem; 'ratecheck rates' of this statement looks for the worst instance, term by term")
    return [*lines, "A matching slope is evidence, never proof."]
