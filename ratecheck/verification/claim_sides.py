"""Both sides of a claim from what a run recorded, and how they compare."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bounds.statement import Claim, Over, Relation, compiled, names_in
from bounds.symbols import PREVIOUS, Role, Vocabulary, is_round, written_out
from ratecheck.algebra.running_error import Rounded, rounded
from ratecheck.aliases import Array
from ratecheck.engines.expected_records import Expectation
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.verification.negative_bounds import nonnegative
from ratecheck.verification.proof import EQUAL
from ratecheck.verification.verdict import Comparison

Records = Mapping[str, Array]

# Conditions on step sizes are checked, and constants certified, up to this share of them.
_STEPS, _CONSTANTS = 1e-12, 1e-13
# What is squared below here is lost: a measured quantity is known no better.
_LOST = 1e-290


def evaluate(expr: sp.Expr, vocabulary: Vocabulary, values: Mapping[str, float], records: Records) -> Array:
    """An expression per round: parameters from ``values``, per-round quantities from ``records`` by symbol.

    Raises `InputError` for a parameter without a value and a quantity that was not recorded.
    """
    arguments: dict[str, object] = {}
    expr = written_out(expr, vocabulary)
    _check_known(expr, vocabulary, values, records)
    expr = _without_zeros(expr, vocabulary, values)
    for name in names_in(expr):
        measured = vocabulary[name].role is Role.MEASURED
        if is_round(name, vocabulary):
            arguments[name] = _rounds(records)
        else:
            arguments[name] = _per_round(name, records) if measured else np.float64(values[name])
    shape = next(iter(records.values())).shape
    # Outside its conditions (--ignore-conditions) a formula may divide by zero, and large numbers overflow.
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(compiled(expr)(**arguments), dtype=float), shape)


def enclosed(
    expr: sp.Expr,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    records: Records,
    errors: Records,
    given: Collection[str] = (),
) -> Rounded:
    """The sides of `evaluate` with a bound of the rounding; ``errors`` are those of the records.

    Parameters are the floats that they are, but for step sizes, known to a share of 1e-12, and for constants that are
    not ``given``, to one of 1e-13.
    """
    expr = written_out(expr, vocabulary)
    _check_known(expr, vocabulary, values, records)
    quantities = {}
    expr = _without_zeros(expr, vocabulary, values)
    for name in names_in(expr):
        role = vocabulary[name].role
        if is_round(name, vocabulary):
            quantities[name] = Rounded.of(_rounds(records))
        elif role is Role.MEASURED:
            value, error = _per_round(name, records), _per_round(name, errors)
            quantities[name] = Rounded.of(value, error + np.where(value == 0, 0.0, _LOST))
        else:
            share = {Role.STEP_SIZE: _STEPS, Role.CONSTANT: 0.0 if name in given else _CONSTANTS}.get(role, 0.0)
            quantities[name] = Rounded.of(values[name], share * abs(values[name]))
    return rounded(expr, quantities).broadcast(next(iter(records.values())).shape)


def _without_zeros(expr: sp.Expr, vocabulary: Vocabulary, values: Mapping[str, float]) -> sp.Expr:
    """The expression without what is 0 times something: nothing, even where what a run measures overflows."""
    given = (name for name in names_in(expr) if vocabulary[name].role is not Role.MEASURED)
    return _without(expr, frozenset(name for name in given if values[name] == 0))


@functools.cache
def _without(expr: sp.Expr, nothing: frozenset[str]) -> sp.Expr:
    """The expression where these are 0; as it is where it has no value then."""
    zero = {symbol: sp.S.Zero for symbol in expr.free_symbols if symbol.name in nothing}
    found = expr.xreplace(zero) if zero else expr
    return expr if found.has(sp.nan, sp.zoo, sp.oo) else found


def _check_known(expr: sp.Expr, vocabulary: Vocabulary, values: Mapping[str, float], records: Records) -> None:
    for name in names_in(expr):
        measured = vocabulary[name].role is Role.MEASURED
        if is_round(name, vocabulary):
            continue
        if name.removesuffix(PREVIOUS) not in (records if measured else values):
            why = "is not recorded in these runs" if measured else "has no value in this statement"
            raise InputError(f"{name} {why}, but a side of the claim is made of it")


def _rounds(records: Records) -> Array:
    """The number t of every round."""
    return np.arange(next(iter(records.values())).shape[-1], dtype=np.float64)


def _per_round(name: str, records: Records) -> Array:
    if name.endswith(PREVIOUS):
        return np.roll(records[name.removesuffix(PREVIOUS)], 1, axis=-1)
    return records[name]


def outcome(claims: Sequence[Claim], comparisons: list[Comparison]) -> tuple[Outcome, tuple[str, ...]]:
    """The verdict of an exact comparison of all claims, and why nothing is decided where nothing is."""
    found = [judged(c, claim) for c, claim in zip(comparisons, claims, strict=True)]
    worst = worst_of({each for each, _ in found})
    return worst, tuple(dict.fromkeys(reason for each, reason in found if each is worst and reason))


def worst_of(outcomes: set[Outcome]) -> Outcome:
    """The outcome of several comparisons together."""
    order = (Outcome.VIOLATED, Outcome.DIVERGED, Outcome.INCONCLUSIVE, Outcome.HOLDS)
    return next(o for o in order if o in outcomes)


def judged(comparison: Comparison, claim: Claim) -> tuple[Outcome, str]:
    """Compare two numbers known up to rounding, and say why where that does not decide."""
    if comparison.missing:
        # A bound without a number says nothing about the run; a run diverges where it overflows, not where its rounding
        # is unknown or fewer rounds were followed.
        diverged = math.isfinite(comparison.right) and comparison.missing.startswith(f"{_LEFT} {_OVERFLOWS}")
        return Outcome.DIVERGED if diverged else Outcome.INCONCLUSIVE, comparison.missing
    gap, error = comparison.left - comparison.right, comparison.error
    equal = claim.relation is Relation.EQUAL
    if (abs(gap) if equal else gap) > error:
        return Outcome.VIOLATED, ""
    # What is 0 is compared with what it is a difference of.
    parts = comparison.size if 0 in (claim.metric.expr, claim.bound) else 0.0
    size = max(abs(comparison.left), abs(comparison.right), parts)
    if error <= max(EQUAL * size, _LOST) if equal else gap <= -error:
        return Outcome.HOLDS, ""
    apart = "are equal" if gap == 0 else f"differ by {abs(gap):.2g}"
    return Outcome.INCONCLUSIVE, f"{claim.name}: the sides {apart}, with a rounding error of up to {error:.2g}"


def first_round(claim: Claim, rounds: int) -> int:
    """The first of the rounds that the claim is about; `InputError` where there is none."""
    first = claim.metric.over.first(rounds)
    if rounds <= first:
        raise InputError(f'T={rounds} breaks "T >= {first + 1}": the claim compares a round with the one before')
    return first


def compared(
    claim: Claim,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    result: Expectation,
    *,
    given: Collection[str] = (),
) -> Comparison:
    """Both sides of a claim: means over rounds, or the entry with the least slack.

    ``given`` are the constants whose values are the caller's own.
    """

    def side(expr: sp.Expr) -> Rounded:
        return enclosed(expr, vocabulary, values, result.records, result.errors, given)

    left, right = side(claim.metric.expr), side(claim.bound)
    terms = {label: evaluate(expr, vocabulary, values, result.records) for label, expr in claim.terms.items()}
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        share = 1.0 if result.rounds is None else len(left.value) / result.rounds
        return _means(claim, (left, right), terms, bounded=nonnegative(claim, vocabulary, values), share=share)
    if claim.metric.over in (Over.LAST_ROUND, Over.AFTER_ROUNDS, Over.BEST_ROUND) and result.places is not None:
        raise InputError(f"{claim.metric.expr} has more than one value in a round, so that none is that of a round")
    first = first_round(claim, len(left.value))
    sure = left.sure & right.sure
    sure[:first] = True
    with np.errstate(all="ignore"):
        gap = np.where(sure, left.value - right.value, 0.0)
        error = np.where(sure, left.error + right.error, 0.0)
        gap = np.abs(gap) if claim.relation is Relation.EQUAL else gap
        size = np.abs(left.value) + sum(np.abs(term) for term in terms.values())
        # A relative excess is at most 1, so that whatever is wrong by more than rounding comes first, then what has no
        # number.
        excess = np.where(sure, gap / np.maximum(size, 1e-300) + 3 * (gap > error), 2.0)
    best = claim.metric.over is Over.BEST_ROUND
    worst = _best(sure, gap, error) if best else first + int(np.argmax(excess[first:]))
    parts = {label: float(term[worst]) for label, term in terms.items()}
    t, client = result.place(worst)
    names = {name for name in names_in(claim.metric.expr) if vocabulary[name].role is Role.MEASURED}
    # How large the left side would be if nothing in it cancelled, where that is known.
    known = bool(names) and names <= result.sizes.keys()
    scale = float(np.abs(evaluate(claim.metric.expr, vocabulary, values, result.sizes))[worst]) if known else 0.0
    missing = "" if sure[worst] else _no_number(left, right, worst)
    return _comparison(claim, t, left.at(worst), right.at(worst), parts, client=client, size=scale, missing=missing)


def _best(sure: NDArray[np.bool_], gap: Array, error: Array) -> int:
    """The round that decides whether one holds: one that surely does, else one without a number, else the closest."""
    holding = sure & (gap <= -error)
    if holding.any():
        return int(np.argmin(np.where(holding, gap, np.inf)))
    return int(np.argmin(sure)) if not sure.all() else int(np.argmin(gap - error))


def _means(claim: Claim, sides: tuple[Rounded, Rounded], terms: Records, *, bounded: bool, share: float) -> Comparison:
    """Both sides as means over the rounds; ``share`` of the rounds are known.

    Where rounds of a left side that cannot be negative (``bounded``) have no number, or were not followed, the others
    bound it from below.
    """
    left, right = sides
    parts = {label: float(Rounded.of(term).mean().value) for label, term in terms.items()}
    mean = left.mean(), right.mean()
    if share == 1.0 and mean[0].sure and mean[1].sure:
        return _comparison(claim, None, mean[0].at(()), mean[1].at(()), parts)
    first = int(np.argmin(left.sure & right.sure))
    missing = _no_number(left, right, first)
    if mean[1].sure and bounded:
        known = Rounded(np.where(left.sure, left.value, 0.0), np.where(left.sure, left.error, 0.0)).mean()
        least, error = (share * x for x in known.at(()))
        if least - error > mean[1].value + mean[1].error:
            return _comparison(claim, None, (least, error), mean[1].at(()), parts)
    value, error = mean[0].at(())
    low = (value, error) if share == 1.0 and math.isfinite(value) else (math.inf, math.inf)
    return _comparison(claim, None, low, mean[1].at(()), parts, missing=missing)


# What has no number, and why.
_LEFT, _RIGHT, _OVERFLOWS = "the left side", "the bound", "overflows float64"


def _no_number(left: Rounded, right: Rounded, place: int) -> str:
    """Which side has no number in an entry, in a sentence."""
    for what, each in ((_RIGHT, right), (_LEFT, left)):
        value, error = each.at(place)
        if math.isinf(value):
            where = f" in round {place}" if what != _RIGHT and len(each.value) > 1 else ""
            return f"{what} {_OVERFLOWS}{where}"
        if math.isfinite(value) and not math.isfinite(error):
            return f"no bound is known for the rounding error of {what}"
        if not math.isfinite(error):
            return f"{what} has no value in float64: a part of it overflows, underflows or divides by 0"
    return "rounds that were not followed decide"


def _comparison(
    claim: Claim,
    t: int | None,
    left: tuple[float, float],
    right: tuple[float, float],
    terms: dict[str, float],
    *,
    client: int | None = None,
    size: float = 0.0,
    missing: str = "",
) -> Comparison:
    return Comparison(
        claim.name, t, left[0], right[0], left[1] + right[1], terms, client, size,
        left_error=left[1], right_error=right[1], missing=missing,
    )  # fmt: skip
