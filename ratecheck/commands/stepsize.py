"""``ratecheck stepsize``."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import click

import bounds
from bounds.statement import Statement
from ratecheck.commands.arguments import json_option, key_argument, note, parse_values, print_json, say, values_argument
from ratecheck.commands.audited import audit_fields, warn_of
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import StepSizes, step_sizes
from ratecheck.stepsizes.interval import Interval
from ratecheck.stepsizes.nearest import Nearest, nearest
from ratecheck.stepsizes.region import Region, choose_axes, free_constants, region
from ratecheck.verification.negative_bounds import NegativeBound, of_evaluation
from ratecheck.views.progress import progress
from ratecheck.views.text import region_text, step_sizes_text


@click.command(name="stepsize")
@key_argument
@values_argument
@click.option(
    "--region", "axes", metavar="X,Y", help="Also the region of two step sizes (or constants), the others free."
)
@json_option
def command(key: str, assignments: tuple[str, ...], axes: str | None, as_json: bool) -> int:
    """Give the step sizes that statement KEY admits, prescribes, and that minimise its bound.

    Give the constants of the problem (L, F_0, ...) and the setting (n, m, K, T); step sizes given too are taken as
    fixed. Exit code 3 where nothing is admissible; the conflicting conditions are named, and what would do instead.
    Exit code 1 where the bound is negative at admissible step sizes although what it bounds never is.
    """
    statement = bounds.get(key)
    given = parse_values(assignments, statement.vocabulary)
    statement = statement.at(given)
    with progress(f"step sizes of {statement.key}"):
        answer = step_sizes(statement, given, free_constants(statement, axes, given))
    unused = statement.unused(given)
    if unused:
        note(f"{statement.key} does not depend on {', '.join(unused)}")
    negative = _negative(statement, given, answer)
    with progress("nearest that is admissible"):
        closest = None if answer.feasible else nearest(answer.problem, given, answer.core)
    drawn = None
    if axes is not None:
        if not answer.feasible:
            raise InputError(f"nothing is admissible, so there is no region: {'; '.join(answer.conflict)}")
        with progress("region"):
            drawn = region(answer.problem, answer.admissible, choose_axes(answer.problem, answer.admissible, axes))
    warn_of(statement)
    if as_json:
        print_json(fields(answer, closest, negative) | ({} if drawn is None else {"region": region_fields(drawn)}))
    else:
        say(step_sizes_text(answer, closest) + ("" if drawn is None else f"\n{region_text(drawn)}"))
    for each in negative if not as_json else ():
        say(f"refuted: {each.text}")
    return (1 if negative else 0) if answer.feasible else 3


def _negative(statement: Statement, given: dict[str, Any], answer: StepSizes) -> tuple[NegativeBound, ...]:
    """Bounds that are negative at the step sizes that minimise the first one, near them, or at those prescribed."""
    if not answer.feasible or statement.order_only:
        return ()
    best = {name: value for name, value in answer.optimal.items() if name not in given}
    near = [
        {name: _towards(end, answer.admissible[name], share) for name, end in answer.approached.items()}
        for share in _NEAR
        if answer.approached
    ]
    for chosen in (best, *({**best, **each} for each in near), {}):
        with contextlib.suppress(InputError):
            found = of_evaluation(statement, statement.evaluate(**{**given, **chosen}))
            if found:
                return found
    return ()


# How far from an end that is only approached the bound is looked at, as a share of the way to the other end.
_NEAR = (1e-9, 1e-6, 1e-4, 1e-2, 0.1)


def _towards(end: float, interval: Interval, share: float) -> float:
    """A value inside the interval, a share of the way from one of its ends to the other one."""
    if math.isinf(end):
        return max(interval.low, 1.0) / share
    high = interval.high if math.isfinite(interval.high) else 2 * end + 1
    other = high if end <= interval.low else interval.low
    return end + share * (other - end)


def fields(answer: StepSizes, closest: Nearest | None, negative: tuple[NegativeBound, ...] = ()) -> dict[str, Any]:
    """The answer as JSON data."""
    admissible = answer.admissible if answer.feasible else {}
    return {
        "key": answer.statement.key,
        "feasible": answer.feasible,
        "prescribed": answer.prescribed,
        "admissible": {name: [i.low, i.high] for name, i in admissible.items()},
        "open": {name: list(i.open) for name, i in admissible.items()},
        "defaults": answer.defaults,
        "optimal": answer.optimal,
        "optimal_bound": answer.optimal_bound,
        "approached": list(answer.approached),
        "limits": answer.approached,
        "entangled": answer.entangled,
        "conflict": list(answer.conflict),
        "missing": list(answer.missing),
        "nearest": {} if closest is None else _nearest_fields(closest),
        "impossible": [each.fields() for each in negative],
        "audit": audit_fields(answer.statement),
    }


def _nearest_fields(closest: Nearest) -> dict[str, Any]:
    limits = {name: {"at_least" if c.upwards else "at_most": c.value} for name, c in closest.constants.items()}
    return {"step_sizes": closest.steps, "constants": limits}


def region_fields(drawn: Region) -> dict[str, Any]:
    """A region as JSON data; an end without a number is null."""
    return {
        "axes": list(drawn.axes),
        "frame": [list(ends) for ends in drawn.frame],
        "x": list(drawn.x),
        "y": [[interval.low, interval.high] for interval in drawn.y],
        "vertices": [list(vertex) for vertex in drawn.vertices],
        "edges": [
            {"because": list(edge.because), "points": [list(vertex) for vertex in edge.points]} for edge in drawn.edges
        ],
    }
