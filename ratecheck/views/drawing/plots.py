"""The figure and the table about one statement: measurement against theory over rounds and what is varied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bounds.ledger.refuted import refuted
from ratecheck.exponents.sweep import Sweep, SweepSurvey
from ratecheck.plain import picked, picked_or_none
from ratecheck.problems import Certificate
from ratecheck.statistics.exponent_fit import LEVEL
from ratecheck.views.checks.verdict import outcome_text
from ratecheck.views.drawing import style
from ratecheck.views.drawing.panels import (
    contained,
    draw,
    engine,
    interval,
    own_participation,
    settings_of,
    signed,
    steps_of,
)
from ratecheck.views.numbers import number, sides
from ratecheck.views.width import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def survey_figure(found: SweepSurvey) -> Figure:
    """The survey as a picture."""
    with style.styled():
        return draw(found)


def survey_text(found: SweepSurvey) -> str:
    """The exponents as a table, and what was left out."""
    verdict = found.verdict
    slack = "" if verdict.slack is None else f"   slack {number(verdict.slack)}"
    lines = [f"{verdict.statement.key}   {verdict.statement.title}   {outcome_text(verdict)}{slack}"]
    lines += [f"  on      {verdict.problem}; {engine(found)}", f"  with    {settings_text(found)}"]
    lines += _entries_lines(found)
    rows = [("parameter", "predicted exponent", f"fitted exponent [{1 - LEVEL:.0%}]", "points")]
    rows += [(s.parameter, signed(s.predicted), interval(s.fit), _points(s)) for s in found.sweeps]
    lines += [table(rows)] if found.sweeps else []
    for sweep in found.sweeps:
        lines += [f"  note    {remark}" for remark in (*remarks(found, sweep), *_bends(sweep))]
        lines += [f"  left out {reason}" for reason in sweep.left_out]
    lines += [f"  not varied: {name}, because {reason}" for name, reason in found.fixed.items()]
    return "\n".join(lines)


def _entries_lines(found: SweepSurvey) -> list[str]:
    """The claims of a statement that is not about a mean over rounds, where each has the least slack."""
    if not found.courses:
        return []
    rows = [("claim", "round", "left side", "right side", "slack")]
    for each in found.verdict.comparisons:
        place = "-" if each.round is None else str(each.round)
        slack = "-" if each.slack is None else number(each.slack)
        rows.append((each.claim, place, *sides(each), slack))
    return [table(rows)]


def survey_fields(found: SweepSurvey) -> dict[str, Any]:
    """The survey as JSON data."""
    verdict = found.verdict
    rounds = ("T", "metric", "metric_error", "mean", "mean_error", "bound")
    return {
        **picked(verdict, key="statement.key", verdict="outcome"),
        "false_as_printed": refuted(verdict.statement),
        **picked(verdict, "problem", "engine", "replicates"),
        "level": LEVEL,
        **picked(verdict, values="values", step_sizes="chosen"),
        "rounds": picked_or_none(
            found.rounds, *rounds, bound_has_step_sizes_of_its_own_T="own_steps", trivial="trivial"
        ),
        "sweeps": {sweep.parameter: sweep_fields(found, sweep) for sweep in found.sweeps},
        "courses": [
            {
                **picked(course, "claim", "along", "x", "left", "left_error"),
                **picked(course, left_rounding="rounding", right="right", right_error="right_error"),
            }
            for course in found.courses
        ],
        "not_varied": found.fixed,
    }


def sweep_fields(found: SweepSurvey, sweep: Sweep) -> dict[str, Any]:
    """One parameter's numbers as JSON data."""
    fit = sweep.fit
    return {
        **picked(sweep, "at", "held", "values", "measured", "error", "bound", predicted_exponent="predicted"),
        "fitted_exponent": None if fit.constant else fit.exponent,
        "interval": [None] * 2 if fit.constant else [fit.low, fit.high],
        "half_exponents": [None] * 2 if fit.constant else fit.ends,
        "constant": fit.constant,
        **picked(sweep, bound_exponent="law.exponent", left_out="left_out"),
        "notes": [*remarks(found, sweep), *_bends(sweep)],
    }


def remarks(found: SweepSurvey, sweep: Sweep) -> Iterator[str]:
    """Caveats for a comparison of the two exponents."""
    for constant in found.verdict.constants.values():
        if constant.certificate is Certificate.TRAJECTORY:
            yield f"{constant.name} is measured anew at every {sweep.parameter}; the predicted exponent holds it fixed"
    if sweep.fit.constant:
        yield f"the left side does not change with {sweep.parameter} up to rounding: no exponent is fitted"
    if own_participation(sweep):
        name = sweep.parameter
        yield f"each {name} has its own participation: one client in every ({name}+1)-th round, all others in each"
    if contained(found.verdict.statement, sweep):
        left = found.verdict.statement.claims[0].metric.expr
        yield f"the left side {left} contains {sweep.parameter} itself"


def _bends(sweep: Sweep) -> Iterator[str]:
    """The caveat where no single exponent fits."""
    if sweep.fit.bent:
        low, high = (signed(end) for end in sweep.fit.ends)
        yield f"no single power law over {sweep.parameter}: exponent {low} in its lower half, {high} in its upper half"


def _points(sweep: Sweep) -> str:
    first, *_, last = sweep.values
    near = "predicted at" if own_participation(sweep) else "around"
    points = f"{len(sweep.values)} from {number(first)} to {number(last)}, {near} {number(sweep.at)}"
    return f"{points}, {', '.join(sweep.held)} fixed" if sweep.held else points


def settings_text(found: SweepSurvey) -> str:
    """Every number that went in, on one line."""
    values = found.verdict.values
    return " ".join(f"{name}={values[name]:.4g}" for name in (*settings_of(found), *steps_of(found)) if name in values)
