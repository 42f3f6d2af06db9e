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

# What a slider's ends are, relative to the number at which it starts.
_BELOW, _ABOVE = 1e-3, 1e3
# How a slider moves: through whole numbers, or by factors, from 0 where that is admitted.
_KINDS = {Domain.POSITIVE_INTEGER: "whole", Domain.POSITIVE: "positive", Domain.NONNEGATIVE: "nonnegative"}


class _Filling:
    """The numbers that follow from known ones, each by a formula of those before it."""

    def __init__(self, statement: Statement, known: Collection[str]) -> None:
        self.statement, self.known = statement, {*known}
        self.steps: list[tuple[str, sp.Expr]] = []

    def take(self, name: str, expr: sp.Expr) -> None:
        """Let a number be that, where it is not known and can be computed."""
        if name not in self.known and names_in(expr) <= self.known:
            self.known.add(name)
            self.steps.append((name, expr))

    def follow(self) -> None:
        """Step sizes by their products, and what equals a formula."""
        for each in self.statement.step_products:
            self.take(each.product.name, each.local * each.outer)
            self.take(each.local.name, each.product / each.outer)
            self.take(each.outer.name, each.product / each.local)
        for name in self.statement.parameters:
            if name in self.statement.vocabulary.equal:
                self.take(name, self.statement.formula(name))

    def rules(self, *, at_least: bool, free: bool) -> None:
        """Step sizes that rules of that kind set."""
        for rule in self.statement.step_rules:
            if (rule.at_least, rule.free) == (at_least, free):
                self.take(rule.symbol.name, rule.value)
        self.follow()


def derived(statement: Statement, chosen: Collection[str]) -> tuple[tuple[str, sp.Expr], ...]:
    """What `Statement.complete` fills in where the chosen parameters are given, in its order."""
    filling = _Filling(statement, chosen)
    for name in _defaulted(statement):
        filling.take(name, sp.Float(statement.vocabulary[name].default, 17))
    for name, expr in statement.settings.items():
        filling.take(name, sp.sympify(expr))
    filling.follow()
    filling.rules(at_least=False, free=False)
    filling.rules(at_least=True, free=False)
    filling.rules(at_least=False, free=True)
    return tuple(filling.steps)


def _defaulted(statement: Statement) -> list[str]:
    """The parameters that have a default number."""
    named = [name for name in statement.parameters if statement.vocabulary[name].default is not None]
    return [name for name in named if name not in statement.settings]


def chosen(statement: Statement) -> tuple[str, ...]:
    """The parameters that a user of the page chooses: those that nothing in the statement sets, step sizes last."""
    found = _defaulted(statement)
    ordered = sorted(statement.parameters, key=lambda name: statement.vocabulary[name].role is Role.STEP_SIZE)
    for name in ordered:
        follows = {each for each, _ in derived(statement, found)}
        if name not in found and name not in follows and name not in statement.settings:
            found.append(name)
    needed = {name for expr in _formulas(statement) for name in names_in(expr)}
    for name, expr in reversed(derived(statement, found)):
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
            for name, expr in derived(statement, free)
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
