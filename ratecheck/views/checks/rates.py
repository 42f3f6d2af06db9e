"""Rate cards as text and as JSON data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bounds.numbers import apart
from bounds.symbols import Role
from ratecheck.exponents.card import TOLERANCE, Card, RateCell, Violation, Worst
from ratecheck.exponents.curves import Curves
from ratecheck.exponents.families.drawn_delays import stand_in
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.regimes import SHARE, TermRow
from ratecheck.plain import picked, picked_or_none
from ratecheck.statistics.exponent_fit import LEVEL, Fit
from ratecheck.views.numbers import number
from ratecheck.views.width import table

# A table of more columns than this is no longer readable at a hundred characters; a term's name takes so many of them.
_COLUMNS, _NAME = 7, 24
HOW_TO_READ = (
    f"term: its exponent where it is at least {SHARE:.0%} of the bound; worst: that of the largest left side found",
    f"ATTAINED: equal within {TOLERANCE:g}, up to the constant; evidence that this power cannot be improved",
    "LOOSE: the worst case found falls behind the term; that says what was searched, not that nothing is worse",
)


def rates_text(card: Card) -> str:
    """The tables, what stands behind each row, why cells are not attained, and how to read it."""
    statement = card.statement
    lines = [f"{statement.key}   {statement.title}   {overall(card)}"]
    if said := stand_in(statement):
        lines += ["", f"participation: {said}"]
    for columns in _split(card):
        lines += ["", *_table(card, columns)]
    for row in card.rows:
        lines += ["", row.name, *_behind(card, row)]
    return "\n".join([*lines, "", *HOW_TO_READ])


def overall(card: Card) -> str:
    """The number of cells per finding, the worst first."""
    counts = Counter(cell.finding for cell in card.cells)
    order = (CellFinding.EXCEEDED, CellFinding.OPEN, CellFinding.LOOSE, CellFinding.NOT_REACHED, CellFinding.ATTAINED)
    return ", ".join(f"{counts[finding]} {finding.value}" for finding in order if counts[finding])


def two(value: float) -> str:
    """An exponent with two decimals, never a negative zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def _split(card: Card) -> list[tuple[str, ...]]:
    """Parameters by table: sizes of the run and step sizes, then constants of the problem."""
    vocabulary = card.statement.vocabulary
    constants = [name for name in card.parameters if vocabulary[name].role is Role.CONSTANT]
    sizes = [name for name in card.parameters if name not in constants]
    found = [names[k : k + _COLUMNS] for names in (sizes, constants) for k in range(0, len(names), _COLUMNS)]
    return [tuple(each) for each in found]


def _table(card: Card, columns: Sequence[str]) -> list[str]:
    """Three lines per row: exponents of the term, exponents of the worst case, verdicts."""
    found = [("", "", *columns)]
    for row in card.rows:
        cells = [_cell(card.cell(row, name)) for name in columns]
        if any(any(cell) for cell in cells):
            name = _broken(row.name)
            labels = ("term", "worst", "")
            found += [
                (name[k] if k < len(name) else "", labels[k] if k < len(labels) else "", *(_part(c, k) for c in cells))
                for k in range(max(len(labels), len(name)))
            ]
    return table(found).split("\n")


def _part(cell: Sequence[str], k: int) -> str:
    return cell[k] if k < len(cell) else ""


def _cell(cell: RateCell | None) -> tuple[str, ...]:
    if cell is None:
        return ()
    if cell.exponents is None or cell.finding is CellFinding.NOT_REACHED:
        return ("-", "-", *cell.finding.value.split())[-3:]
    term, worst = cell.exponents
    return two(term), two(worst), cell.finding.value


def _broken(name: str) -> list[str]:
    """A row's name in lines of few characters."""
    import textwrap

    return textwrap.wrap(name, _NAME)


def _behind(card: Card, row: TermRow) -> list[str]:
    cells = [cell for cell in card.cells if cell.row == row]
    seen = [(cell, cell.worst) for cell in cells if cell.worst is not None]
    lines = []
    if seen:
        lines.append(f"  left/right {_constants([worst for _, worst in seen])}")
        ranges = (f"{cell.parameter} {_ends(worst)}" for cell, worst in seen)
        lines.append(f"  ranges  {', '.join(ranges)}")
        lines.append(f"  hardest {max((w for _, w in seen), key=lambda w: w.constant).hardest.text}")
        for cell, worst in seen:
            first, last = worst.families
            if first != last:
                lines.append(f"  hardest in {cell.parameter}: at first {first}; at last {last}")
    checked = Counter(cell.check.outcome.value for cell in cells if cell.check is not None)
    if checked:
        said = ", ".join(f"{outcome} on {count}" for outcome, count in checked.items())
        lines.append(f"  verify  says {said} of {len(seen)}; the others are too large for it")
    if orders := [cell.order for cell in cells if cell.order is not None and len(cell.order.values)]:
        ranges = (f"{o.parameter} {number(float(o.values[0]))} ... {number(float(o.values[-1]))}" for o in orders)
        lines += ["  left/right known only up to a constant", f"  ranges  {', '.join(ranges)}"]
    for reason, names in _reasons(cells).items():
        finding, text = reason
        lines.append(f"  {finding.value} in {', '.join(names)}: {text}")
    lines += [line for cell in cells if cell.violation is not None for line in _violation(cell, cell.violation)]
    return lines


def _constants(seen: Sequence[Worst]) -> str:
    constants = [worst.constant for worst in seen if worst.constant == worst.constant]
    if not constants:
        return "known only up to a constant"
    low, high = (f"{value:.3g}" for value in (min(constants), max(constants)))
    return low if low == high else f"{low} ... {high}"


def _ends(worst: Worst) -> str:
    return f"{number(float(worst.values[0]))} ... {number(float(worst.values[-1]))}"


def _reasons(cells: Sequence[RateCell]) -> dict[tuple[CellFinding, str], list[str]]:
    """The reasons for cells that are not attained, each once, with its parameters."""
    found: dict[tuple[CellFinding, str], list[str]] = {}
    for cell in cells:
        if cell.finding is CellFinding.ATTAINED:
            continue
        # The reason names the parameter, so that only the same words for different parameters are one reason.
        text = cell.reason.replace(f"while {cell.parameter} runs", "while it runs")
        text = f"{cell.parameter}^{two(cell.loose)}; {text}" if cell.loose is not None else text
        found.setdefault((cell.finding, text), []).append(cell.parameter)
    return found


def _violation(cell: RateCell, violation: Violation) -> list[str]:
    verdict = violation.doubt
    if violation.verdict is not None:
        verdict = f"'verify' says {violation.verdict.value}"
    left, right = apart(violation.left, violation.bound, 4)
    sides = f"left {left}, right {right}"
    return [f"  at {cell.parameter}={number(violation.at)}: {sides}; {violation.hard.text}; {verdict}"]


def rates_fields(card: Card, curves: Sequence[Curves] = ()) -> dict[str, Any]:
    """The card as JSON data, with what a picture has beside it."""
    found: dict[str, Any] = {
        **picked(card, key="statement.key", title="statement.title"),
        "card": overall(card),
        **picked(card, "exceeded", "open", "seed"),
        "level": LEVEL,
        "tolerance": TOLERANCE,
        "rows": [row.name for row in card.rows],
        "parameters": card.parameters,
        "cells": [_cell_fields(cell) for cell in card.cells],
        "notes": HOW_TO_READ,
    }
    if curves:
        found["curves"] = [
            {
                **picked(each.cell, row="row.name", parameter="parameter"),
                **picked(each, values="values", term_values="term", bound="bound", worst="worst", typical="typical"),
            }
            for each in curves
        ]
    return found


def _cell_fields(cell: RateCell) -> dict[str, Any]:
    worst, order = cell.worst, cell.order
    found: dict[str, Any] = {
        **picked(cell, row="row.name", term="row.term", scale="row.scale"),
        **picked(cell, parameter="parameter", verdict="finding", reason="reason", loose="loose"),
        **picked(cell.regime, setting="base", share="share"),
        "constant": None if worst is None else worst.constant,
        "predicted": None if worst is None else _fit_fields(worst.predicted),
        "measured": None if worst is None else _fit_fields(worst.measured),
        "gain": None if worst is None else _fit_fields(worst.gain),
    }
    if worst is not None:
        found |= picked(worst, values="values", term_values="term", bound="bound", left="left")
    if order is not None:
        found |= {
            "predicted": {"exponent": order.predicted},
            "measured": {"exponent": order.measured, "interval": [order.low, order.high]},
            **picked(order, values="values", left="lefts", errors="errors"),
        }
    return {
        **found,
        "check": picked_or_none(cell.check, at="at", verdict="outcome", left="left", error="error"),
        "hardest": None if worst is None else _hard_fields(worst.hardest),
        "families": None if worst is None else worst.families,
        "violation": None if cell.violation is None else _violation_fields(cell.violation),
    }


def _fit_fields(fit: Fit) -> dict[str, Any]:
    return {"exponent": fit.exponent, "interval": [fit.low, fit.high], "halves": list(fit.ends)}


def _hard_fields(hard: Hard) -> dict[str, Any]:
    """The instance in a line, and group by group."""
    return {
        **picked(hard, "text", "family", "block", "sizes", "curvatures", "slopes", "start"),
        "period": [{"groups": sorted(each.groups), "rounds": each.rounds} for each in hard.period],
        "left": hard.left,
    }


def _violation_fields(violation: Violation) -> dict[str, Any]:
    found = picked(violation, "at", "left", "bound", "verdict")
    return {**found, "hard": _hard_fields(violation.hard), "instance": violation.instance}
