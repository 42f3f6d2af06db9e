"""Which symbols of a formula a run measures."""

from __future__ import annotations

import functools

import sympy as sp

from bounds.symbols import ROUND, Role, Vocabulary

# What follows the symbol of a quantity in the round before.
PREVIOUS = "_prev"


def measured_in(expr: sp.Expr, vocabulary: Vocabulary) -> frozenset[str]:
    """Symbols of an expression whose values a run measures, without the suffix for the round before."""
    names = {symbol.name for symbol in written_out(expr, vocabulary).free_symbols}
    return frozenset(
        name.removesuffix(PREVIOUS)
        for name in names
        if vocabulary[name].role is Role.MEASURED and not is_round(name, vocabulary)
    )


def is_round(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a symbol is the number of the round, which nobody needs to record."""
    return vocabulary.facts.get(name) == ROUND


@functools.cache
def written_out(expr: sp.Expr, vocabulary: Vocabulary) -> sp.Expr:
    """The expression, in which what its paper derives from other quantities of the run is substituted."""
    derived = {s: vocabulary.derived[s.name] for s in expr.free_symbols if s.name in vocabulary.derived}
    return expr.xreplace({s: value for s, value in derived.items() if vocabulary[s.name].role is Role.MEASURED})
