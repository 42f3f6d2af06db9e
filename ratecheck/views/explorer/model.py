"""A statement as formulas in JavaScript, in the order in which its numbers follow from those that are chosen.

A browser evaluates what `bounds.statement.Statement.evaluate` does: chosen numbers, what the statement itself sets
(``steps``, in order), the terms of every claim, and both sides of every condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter

from bounds.statement import Condition, Statement, names_in
from bounds.symbols import Domain, Role
from ratecheck.errors import InputError
from ratecheck.stepsizes.filling import defaulted, filled

# What a slider's ends are, relative to the number at which it starts.
_BELOW, _ABOVE = 1e-3, 1e3
# How a slider moves: through whole numbers, or by factors, from 0 where that is admitted.
_KINDS = {Domain.POSITIVE_INTEGER: "whole", Domain.POSITIVE: "positive", Domain.NONNEGATIVE: "nonnegative"}


def chosen(statement: Statement) -> tuple[str, ...]:
    """The parameters that a user of the page chooses: those that nothing in the statement sets, step sizes last."""
    found = defaulted(statement)
    ordered = sorted(statement.parameters, key=lambda name: statement.vocabulary[name].role is Role.STEP_SIZE)
    for name in ordered:
        follows = {each for each, _ in filled(statement, found)}
        if name not in found and name not in follows and name not in statement.settings:
            found.append(name)
    needed = {name for expr in _formulas(statement) for name in names_in(expr)}
    for name, expr in reversed(filled(statement, found)):
        if name in needed:
            needed |= names_in(expr)
    return tuple(name for name in statement.parameters if name in found and name in needed)


def _formulas(statement: Statement) -> Iterator[sp.Expr]:
    for claim in statement.claims:
        yield from claim.terms.values()
    for condition in statement.hypotheses:
        yield condition.left
        yield condition.right


class _Printer(JavascriptCodePrinter):
    """JavaScript in which parameters are the fields of ``v``."""

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        # Not by replacing symbols: SymPy would then compare the arguments of every Max anew.
        return f"v.{expr.name}"


_PRINTER = _Printer({"strict": True})


def javascript(expr: sp.Expr) -> str:
    """The expression in JavaScript, of parameters that are the fields of ``v``."""
    try:
        written: str = _PRINTER.doprint(expr)
    except NotImplementedError as error:
        # What has no counterpart there is no formula of numbers.
        raise InputError(f"a page cannot compute {expr}: {str(error).splitlines()[0]}") from None
    return written


def model(
    statement: Statement, start: Mapping[str, float], measured: Mapping[str, Any], measured_on: str
) -> dict[str, Any]:
    """What the page computes with; ``start`` are the numbers at which its sliders begin.

    ``measured`` has left sides by the size of the run along which they were measured, on the problem ``measured_on``.
    Raises `InputError` for a statement without a value, and where a number is missing.
    """
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compute")
    free = chosen(statement)
    missing = [name for name in free if name not in start and statement.vocabulary[name].role is not Role.STEP_SIZE]
    if missing:
        raise InputError(f"{statement.key} needs a value for {missing[0]}: give {missing[0]}=...")
    return {
        "key": statement.key,
        "parameters": [_parameter(statement, name, start.get(name)) for name in free],
        "steps": [
            {"name": name, "needs": sorted(names_in(expr)), "f": javascript(expr)}
            for name, expr in filled(statement, free)
        ],
        "claims": [
            {"name": claim.name, "terms": [{"label": k, "f": javascript(v)} for k, v in claim.terms.items()]}
            for claim in statement.claims
        ],
        "conditions": [*map(_condition, statement.hypotheses), *_ordered(statement, free)],
        "measured": dict(measured),
        "measuredAt": measured_on,
    }


def _parameter(statement: Statement, name: str, value: float | None) -> dict[str, Any]:
    quantity = statement.vocabulary[name]
    step, whole = quantity.role is Role.STEP_SIZE, quantity.domain is Domain.POSITIVE_INTEGER
    at = abs(value or 1.0)
    return {
        "name": name,
        "meaning": quantity.meaning,
        "kind": _KINDS.get(quantity.domain, "real"),
        "step": step,
        "value": value,
        "low": 1.0 if whole else _BELOW * at,
        "high": max(_ABOVE, 10 * at) if whole else _ABOVE * at,
    }


def _ordered(statement: Statement, free: Collection[str]) -> Iterator[dict[str, Any]]:
    """Sizes of which one is at most the other, such as m and n."""
    for smaller, larger in statement.vocabulary.ordered:
        if {smaller, larger} <= {*free}:
            left, right = (statement.vocabulary[name].symbol for name in (smaller, larger))
            yield _condition(Condition(name=smaller, left=left, operator="<=", right=right))


def _condition(condition: Condition) -> dict[str, Any]:
    return {
        "text": condition.text,
        "needs": sorted(condition.symbols),
        "operator": condition.operator,
        "left": javascript(sp.sympify(condition.left)),
        "right": javascript(sp.sympify(condition.right)),
    }
