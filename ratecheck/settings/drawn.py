"""Constants that every run draws anew, such as the largest delay where participation is random.

A statement means the number of its own run by them. In expectation over the runs, of which a verdict speaks, their
means say all that is claimed where nothing but a bound depends on them, and that one linearly: then the mean of the
bound is the bound at the means. A condition or a step size is meant in every run, and of any other bound the value at
the means is not the mean.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations_with_replacement

import sympy as sp

from bounds.statement import Assumption, Statement
from bounds.symbols import Role


def beyond_means(statement: Statement, drawn: Collection[str]) -> str:
    """What a statement makes of constants that a run draws beside what their means say, in words; empty for nothing.

    Where it assumes step sizes of the participation that is drawn, both sides are in expectation by what it says, and
    its symbols stand for the means; then a concave bound, which is no smaller at the means than in the mean, will do.
    """
    symbols = {statement.vocabulary[name].symbol for name in drawn}
    by_means = Assumption.DRAWN_STEP_SIZES in statement.assumptions

    def depends(expr: object) -> bool:
        return bool(_full(statement, expr).free_symbols & symbols)

    conditions = () if by_means else statement.hypotheses
    if surely := next((each for each in conditions if depends(each.left - each.right)), None):
        return f'"{surely.text}" is meant in every run'
    rules = [*((rule.symbol, rule.value) for rule in statement.step_rules), *statement.settings.items()]
    if own := next((what for what, value in rules if depends(value)), None) if not by_means else None:
        return f"{own} is set by the delays of its own run"
    weights = [weight for claim in statement.claims for weight in claim.metric.weights.values()]
    bounds = [_full(statement, claim.bound) for claim in statement.claims]
    if any(map(depends, weights)) or any(_bends(bound, symbols, concave=by_means) for bound in bounds):
        return "what is claimed is not linear in it, so that its value at the mean is not its mean"
    return ""


def _bends(bound: sp.Expr, symbols: Collection[sp.Symbol], *, concave: bool) -> bool:
    """Whether a bound is not linear in the symbols, nor a sum of concave functions of one each where these will do."""
    for a, b in combinations_with_replacement(sorted(bound.free_symbols & {*symbols}, key=str), 2):
        bend = sp.expand(sp.diff(bound, a, b))
        if bend != 0 and not (concave and a == b and bend.is_nonpositive):
            return True
    return False


def _full(statement: Statement, expr: object) -> sp.Expr:
    """An expression with the formulas of all symbols that have one."""
    vocabulary, found = statement.vocabulary, sp.sympify(expr)
    while inside := [
        symbol
        for symbol in found.free_symbols
        if symbol.name in vocabulary.derived and vocabulary[symbol.name].role is not Role.MEASURED
    ]:
        found = found.xreplace({symbol: statement.formula(symbol.name) for symbol in inside})
    return found
