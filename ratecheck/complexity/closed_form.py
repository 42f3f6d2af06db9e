"""A right side with the step sizes that its statement prescribes substituted."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from bounds.statement import Statement, fill_product


def closed_bound(statement: Statement, held: Iterable[str] = (), claim: str | None = None) -> sp.Expr:
    """The right side of a claim, the first by default, in the settings, the constants and the step sizes ``held``."""
    bound = next(each.bound for each in statement.claims if claim in (None, each.name))
    return closed(statement, bound, held)


def closed(statement: Statement, expr: sp.Expr, held: Iterable[str] = ()) -> sp.Expr:
    """An expression of a statement in its settings, its constants and the step sizes ``held``.

    The same steps in the same order as `Statement.complete`, on symbols.
    """
    vocabulary = statement.vocabulary
    steps = {s: s for s in (vocabulary[name].symbol for name in held)}
    _fill_products(statement, steps)
    for rule in statement.step_rules:
        if rule.symbol not in steps:
            steps[rule.symbol] = rule.value.xreplace(steps)
    _fill_products(statement, steps)
    settings = {vocabulary[name].symbol: value for name, value in statement.settings.items()}
    return expr.xreplace(steps).xreplace(settings)


def _fill_products(statement: Statement, steps: dict[sp.Symbol, sp.Expr]) -> None:
    for rule in statement.step_products:
        fill_product(steps, rule.product, rule.local, rule.outer)
