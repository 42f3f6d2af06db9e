"""Both sides of a claim from what a run recorded, and how they compare."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bounds.statement import Claim, Over, Relation, Statement, compiled
from bounds.symbols import Role, Vocabulary
from ratecheck.checks.verdict import Comparison, Outcome
from ratecheck.engines.exact import Expectation
from ratecheck.errors import InputError

Array = NDArray[np.float64]
Records = Mapping[str, Array]

_PREVIOUS = "_prev"
# Two sides that agree to this relative accuracy, and differ by no more than rounding, count as equal.
_EQUAL = 1e-6
# Evaluating a formula in floating point costs a few units in the last place.
_FORMULA_ROUNDING = 1e-14


def measured(statement: Statement) -> frozenset[str]:
    """Symbols of the statement that a run measures, without the suffix for the round before."""
    exprs = [expr for claim in statement.claims for expr in (claim.bound, claim.metric.expr)]
    return frozenset().union(*(measured_in(expr, statement.vocabulary) for expr in exprs))


def measured_in(expr: sp.Expr, vocabulary: Vocabulary) -> frozenset[str]:
    """Those of an expression."""
    names = {symbol.name for symbol in written_out(expr, vocabulary).free_symbols}
    return frozenset(name.removesuffix(_PREVIOUS) for name in names if vocabulary[name].role is Role.MEASURED)


@functools.cache
def written_out(expr: sp.Expr, vocabulary: Vocabulary) -> sp.Expr:
    """The expression with what its paper derives from other quantities of the run put in."""
    derived = {s: vocabulary.derived[s.name] for s in expr.free_symbols if s.name in vocabulary.derived}
    return expr.xreplace({s: value for s, value in derived.items() if vocabulary[s.name].role is Role.MEASURED})


def evaluate(expr: sp.Expr, vocabulary: Vocabulary, values: Mapping[str, float], records: Records) -> Array:
    """An expression per round: parameters from ``values``, per-round quantities from ``records`` by symbol.

    Raises `InputError` for a parameter without a value and a quantity that was not recorded.
    """
    arguments: dict[str, object] = {}
    expr = written_out(expr, vocabulary)
    for symbol in expr.free_symbols:
        name = symbol.name
        measured = vocabulary[name].role is Role.MEASURED
        if name.removesuffix(_PREVIOUS) not in (records if measured else values):
            why = "is not recorded in these runs" if measured else "has no value in this statement"
            raise InputError(f"{name} {why}, but a side of the claim is made of it")
        if not measured:
            arguments[name] = np.float64(values[name])
        elif name.endswith(_PREVIOUS):
            arguments[name] = np.roll(records[name.removesuffix(_PREVIOUS)], 1, axis=-1)
        else:
            arguments[name] = records[name]
    shape = next(iter(records.values())).shape
    # Outside its conditions (--anyway) a formula may divide by zero.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.broadcast_to(np.asarray(compiled(expr)(**arguments), dtype=float), shape)


def outcome(statement: Statement, comparisons: list[Comparison]) -> Outcome:
    """The verdict of an exact comparison of all claims."""
    found = {_judged(c, claim) for c, claim in zip(comparisons, statement.claims, strict=True)}
    return worst_of(found)


def worst_of(outcomes: set[Outcome]) -> Outcome:
    """The outcome of several comparisons together."""
    return next(o for o in (Outcome.VIOLATED, Outcome.INCONCLUSIVE, Outcome.HOLDS) if o in outcomes)


def _judged(comparison: Comparison, claim: Claim) -> Outcome:
    """Compare two numbers known up to rounding."""
    gap = comparison.left - comparison.right
    if claim.relation is Relation.EQUAL:
        gap = abs(gap)
    if gap > comparison.error:
        return Outcome.VIOLATED
    size = max(abs(comparison.left), abs(comparison.right), comparison.size)
    decided = gap < -comparison.error or comparison.error <= _EQUAL * size
    return Outcome.HOLDS if decided else Outcome.INCONCLUSIVE


def first_round(claim: Claim, rounds: int) -> int:
    """The first of the rounds that the claim is about; `InputError` where there is none."""
    first = 1 if claim.metric.over is Over.EVERY_ROUND_BUT_FIRST else 0
    if rounds <= first:
        raise InputError(f'T={rounds} breaks "T >= {first + 1}": the claim compares a round with the one before')
    return first


def compared(claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], result: Expectation) -> Comparison:
    """Both sides by the exact engine: means over rounds, or the entry with the least room."""
    left, right = (evaluate(expr, vocabulary, values, result.records) for expr in (claim.metric.expr, claim.bound))
    terms = {label: evaluate(expr, vocabulary, values, result.records) for label, expr in claim.terms.items()}
    size = np.abs(left) + sum(np.abs(term) for term in terms.values())
    error = _rounding(claim, vocabulary, values, terms, result.errors)
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        parts = {label: float(term.mean()) for label, term in terms.items()}
        return Comparison(claim.name, None, float(left.mean()), float(right.mean()), float(error.mean()), parts)
    first = first_round(claim, len(left))
    room = np.abs(left - right) if claim.relation is Relation.EQUAL else left - right
    # A relative excess is at most 1, so that whatever is wrong by more than rounding comes first.
    excess = room / np.maximum(size, 1e-300) + 2 * (room > error)
    worst = first + int(np.argmax(excess[first:]))
    parts = {label: float(term[worst]) for label, term in terms.items()}
    t, client = result.place(worst)
    both = float(left[worst]), float(right[worst])
    names = {symbol.name for symbol in claim.metric.expr.free_symbols if vocabulary[symbol.name].role is Role.MEASURED}
    # How large the left side would be if nothing in it cancelled, where that is known.
    known = bool(names) and names <= result.sizes.keys()
    scale = float(np.abs(evaluate(claim.metric.expr, vocabulary, values, result.sizes))[worst]) if known else 0.0
    return Comparison(claim.name, t, *both, float(error[worst]), parts, client, scale)


def _rounding(
    claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], terms: Records, errors: Records
) -> Array:
    """Rounding error per round: the engine's on the quantities that it computed, the formula's on the rest.

    Claims are linear in the computed quantities or, with roots, concave: an expression changes by no more than it does
    from 0 to their errors.
    """
    none = {name: np.zeros_like(error) for name, error in errors.items()}

    def change(expr: sp.Expr) -> Array:
        computed = any(vocabulary[s.name].role is Role.MEASURED for s in expr.free_symbols)
        if not computed:
            return np.zeros(())
        return np.abs(evaluate(expr, vocabulary, values, errors) - evaluate(expr, vocabulary, values, none))

    error = change(claim.metric.expr)
    for label, term in terms.items():
        share = change(claim.terms[label])
        error = error + share + _FORMULA_ROUNDING * np.abs(term)
    return error
