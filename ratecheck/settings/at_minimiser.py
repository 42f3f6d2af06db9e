"""Statements at a start that is a minimiser: their bounds have a value there unless they divide by a distance to it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from bounds.statement import Statement
from bounds.symbols import Vocabulary
from ratecheck.certification.certified_constants import NOISE
from ratecheck.problems import Certificate, Constant

# What is 0 where the start is a minimiser; papers, which leave that out, call them positive.
OF_START = ("F_0", "distance2_0")


def from_minimiser(
    statement: Statement, constants: Mapping[str, Constant], values: Mapping[str, float]
) -> Statement | None:
    """The statement for a run with noise that starts at a minimiser; None for one that does not, or says nothing there.

    It says nothing where it divides by the initial gap or distance, or sets a step size by it. Without noise the start
    may be where the run stays.
    """
    facts = statement.vocabulary.facts
    zero = [
        name
        for name, constant in constants.items()
        if facts.get(name) in OF_START and constant.certificate is not Certificate.ABSENT and constant.value == 0
    ]
    noisy = any(fact in NOISE and values.get(name, 0.0) > 0 for name, fact in facts.items())
    if not zero or not noisy or not admits_minimiser(statement, zero):
        return None
    return with_zero(statement, zero)


def with_zero(statement: Statement, names: list[str]) -> Statement:
    """The statement whose symbols of these names may be 0; its formulas are the same."""
    vocabulary = Vocabulary(statement.vocabulary)
    for name in names:
        vocabulary.admit_zero(name)
    return replace(statement, vocabulary=vocabulary)


def admits_minimiser(statement: Statement, names: list[str]) -> bool:
    """Whether all of its formulas have a value where these symbols are 0, and none is a step size that would be 0."""
    own = frozenset(statement.vocabulary[name].symbol for name in names)
    if any(rule.value.free_symbols & own for rule in statement.step_rules):
        return False
    formulas = [term for claim in statement.claims for term in claim.terms.values()]
    formulas += [claim.metric.expr for claim in statement.claims]
    formulas += [side for condition in statement.hypotheses for side in (condition.left, condition.right)]
    formulas += [
        *statement.settings.values(),
        *(statement.vocabulary.derived.get(name, sp.S.Zero) for name in statement.parameters),
    ]
    return not any(_has_pole(sp.sympify(formula), own) for formula in formulas)


@functools.cache
def _has_pole(formula: sp.Expr, own: frozenset[sp.Symbol]) -> bool:
    """Whether an expression has a power of these symbols that is no positive number, or a logarithm of them."""
    powers = any(power.base.free_symbols & own and not power.exp.is_positive for power in formula.atoms(sp.Pow))
    return powers or any(each.free_symbols & own for each in formula.atoms(sp.log))
