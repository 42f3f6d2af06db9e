"""Which quantities of a statement a run measures."""

from __future__ import annotations

import functools

import sympy as sp

from bounds.statement import Statement, names_in
from bounds.symbols import ROUND, Role, Vocabulary

# What follows the symbol of a quantity in the round before.
PREVIOUS = "_prev"


def measured(statement: Statement) -> frozenset[str]:
    """Symbols of the statement that a run measures, without the suffix for the round before."""
    exprs = [expr for claim in statement.claims for expr in (claim.bound, claim.metric.expr)]
    return frozenset().union(*(measured_in(expr, statement.vocabulary) for expr in exprs))


def wanted(statement: Statement) -> frozenset[str]:
    """The quantities of the run that a statement compares, under the names of the engines."""
    return frozenset(statement.vocabulary.facts[symbol] for symbol in measured(statement))


def measured_in(expr: sp.Expr, vocabulary: Vocabulary) -> frozenset[str]:
    """Symbols of an expression whose values a run measures."""
    names = names_in(written_out(expr, vocabulary))
    return frozenset(
        name.removesuffix(PREVIOUS)
        for name in names
        if vocabulary[name].role is Role.MEASURED and not is_round(name, vocabulary)
    )


def is_round(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a symbol is the number of the round, which nobody needs to record."""
    return vocabulary.facts.get(name) == ROUND


def counts_rounds(statement: Statement) -> bool:
    """Whether a right side depends on the number of the round."""
    return any(is_round(name, statement.vocabulary) for claim in statement.claims for name in names_in(claim.bound))


@functools.cache
def written_out(expr: sp.Expr, vocabulary: Vocabulary) -> sp.Expr:
    """The expression, in which what its paper derives from other quantities of the run is substituted."""
    derived = {s: vocabulary.derived[s.name] for s in expr.free_symbols if s.name in vocabulary.derived}
    return expr.xreplace({s: value for s, value in derived.items() if vocabulary[s.name].role is Role.MEASURED})
