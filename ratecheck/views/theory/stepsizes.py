"""Admissible step sizes and regions of two of them, as text and as JSON data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bounds.ledger.refuted import refuted_fields
from bounds.numbers import inwards
from bounds.statement import names_in, number
from ratecheck.plain import picked
from ratecheck.stepsizes.interval import Interval, point
from ratecheck.stepsizes.typable import end_text, shortest, steps_text, value_text
from ratecheck.views.width import table

if TYPE_CHECKING:
    from ratecheck.stepsizes.admissible import StepSizes
    from ratecheck.stepsizes.nearest import Nearest
    from ratecheck.stepsizes.region import Region
    from ratecheck.verification.negative_bounds import NegativeBound


def interval_text(interval: Interval) -> str:
    """An interval in the usual notation; 0 and infinity are open ends.

    Closed ends are rounded inwards and open ones outwards, so that what is printed is admissible or not as the bracket
    says; a value that is the only one is printed in full.
    """
    if interval.single:
        return f"{shortest(interval.low)} only"
    left, right = "(" if interval.open[0] else "[", ")" if interval.open[1] else "]"
    return f"{left}{end_text(interval, 0)}, {end_text(interval, 1)}{right}"


def step_sizes_text(answer: StepSizes, nearest: Nearest | None = None) -> str:
    """Admissible intervals, prescribed values and optimum; where there are none, what conflicts and what would do."""
    statement = answer.statement
    lines = [f"{statement.key}   {statement.title}"]
    if not answer.feasible:
        lines.append("no step sizes are admissible: these conditions conflict")
        lines += [f"  {name}{_limit(answer, name)}" for name in answer.conflict]
        return "\n".join([*lines, *([] if nearest is None else _nearest_lines(nearest))])
    rules = {rule.symbol.name: rule for rule in statement.step_rules}
    rows = [("step size", "admissible", "prescribed", "minimises the bound")]
    known = answer.values | {rule.symbol: rule.value for rule in answer.problem.fixed}
    typed = steps_text(statement, known, answer.optimal)
    implied = statement.vocabulary.implied
    for name, interval in ((name, each) for name, each in answer.admissible.items() if name not in implied):
        prescribed = ""
        if name in answer.prescribed:
            smallest = Interval(answer.prescribed[name]) if rules[name].at_least else point(answer.prescribed[name])
            prescribed = (">= " if rules[name].at_least else "") + value_text(answer.prescribed[name], smallest)
        elif name in answer.defaults:
            prescribed = f"default {value_text(answer.defaults[name], interval)}"
        rows.append((name, interval_text(interval), prescribed, typed.get(name, "")))
    lines.append(table(rows))
    if answer.optimal_bound is not None:
        infimum = {0.0: "0: it has no positive infimum", -math.inf: "minus infinity"}
        lines.append(f"smallest bound {infimum.get(answer.optimal_bound, f'{answer.optimal_bound:.6g}')}")
    if answer.approached:
        ends = ", ".join(f"{name} -> {end:.6g}" for name, end in answer.approached.items())
        given = "value" if len(answer.approached) == 1 else "values"
        near = f"; at the {given} above the bound is within 1% of it" if answer.optimal else ""
        lines.append(f"approached as {ends}{near}")
    if answer.entangled:
        lines.append("the conditions tie the step sizes together: no minimiser of the bound was found")
    if not statement.hypotheses:
        lines.append("the statement restricts no step size")
    if answer.missing:
        lines.append(f"to minimise the bound, give also {', '.join(answer.missing)}")
    return "\n".join(lines)


def _limit(answer: StepSizes, name: str) -> str:
    """The limit that a condition of the conflict sets to a step size at the given numbers."""
    condition = next((each for each in answer.core if each.text == name), None)
    if condition is None or condition.right.is_number or not condition.left.is_Symbol:
        return ""
    known = answer.values | {rule.symbol: rule.value for rule in answer.problem.fixed}
    names = names_in(condition.right)
    if not names <= known.keys():
        return ""
    limit = inwards(number(condition.right, known), condition.operator)
    point = ", ".join(f"{each}={known[each]:.6g}" for each in sorted(names))
    return f", which is {condition.left} {condition.operator} {limit} at {point}"


def _exact(value: float) -> str:
    """A number that reads back as it is, with few digits where it has few."""
    return f"{value:.10g}" if float(f"{value:.10g}") == value else repr(value)


def region_text(region: Region) -> str:
    """The boundary of a region of two step sizes, and its conditions."""
    x, y = region.axes
    rows = [[f"boundary of ({x}, {y})", "from", "to"]]
    for edge in region.edges:
        if edge.because:
            ends = (f"({end[0]:.6g}, {end[1]:.6g})" for end in (edge.points[0], edge.points[-1]))
            rows.append([", ".join(edge.because), *ends])
    return table(rows)


def _nearest_lines(nearest: Nearest) -> list[str]:
    if not nearest.steps and not nearest.constants:
        return ["no step sizes would do, nor would a multiple of a single constant"]
    lines = []
    if nearest.steps:
        steps = ", ".join(f"{name}={_exact(value)}" for name, value in nearest.steps.items())
        lines.append(f"nearest admissible: {steps}")
    limits = [
        f"{name} {'>=' if limit.upwards else '<='} {_exact(limit.value)}" for name, limit in nearest.constants.items()
    ]
    if limits:
        condition = "or, with the step sizes as given," if nearest.as_given else "with other step sizes"
        lines.append(f"{condition} feasible for one of {'; '.join(limits)}")
    return lines


def step_sizes_fields(
    answer: StepSizes, closest: Nearest | None, negative: tuple[NegativeBound, ...] = ()
) -> dict[str, Any]:
    """The answer as JSON data."""
    admissible = answer.admissible if answer.feasible else {}
    return {
        **picked(answer, key="statement.key", feasible="feasible", prescribed="prescribed"),
        "admissible": {name: [i.low, i.high] for name, i in admissible.items()},
        "open": {name: i.open for name, i in admissible.items()},
        **picked(answer, "defaults", "optimal", "optimal_bound"),
        "approached": list(answer.approached),
        **picked(answer, limits="approached", entangled="entangled", conflict="conflict", missing="missing"),
        "nearest": {} if closest is None else _nearest_fields(closest),
        "impossible": negative,
        "audit": refuted_fields(answer.statement),
    }


def _nearest_fields(closest: Nearest) -> dict[str, Any]:
    limits = {name: {"at_least" if c.upwards else "at_most": c.value} for name, c in closest.constants.items()}
    return {"step_sizes": closest.steps, "constants": limits}


def region_fields(drawn: Region) -> dict[str, Any]:
    """A region as JSON data; an end without a number is null."""
    return {
        **picked(drawn, "axes", "frame", "x"),
        "y": [[interval.low, interval.high] for interval in drawn.y],
        "vertices": drawn.vertices,
        "edges": [picked(edge, "because", "points") for edge in drawn.edges],
    }
