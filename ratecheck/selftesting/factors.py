"""The factor by which a claim is false, and the evaluated instances from which it is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.statement import Claim, Statement, compiled
from bounds.symbols import Role
from ratecheck.errors import InputError
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance, read
from ratecheck.verification.verdict import Comparison, Verdict

# Where both sides are computed anew, so many instances are evaluated at most.
_EVALUATED = 40
# Errors that change no ratio visibly.
_NEGLIGIBLE = 1e-3
# A formula in floating point.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class EvaluatedInstances:
    """An instance as data, all numbers of the statement there, and left sides with their errors by claim."""

    instance: dict[str, Any]
    values: dict[str, float]
    lefts: dict[str, float]
    errors: dict[str, float]

    @staticmethod
    def of(instance: Instance, verdict: Verdict) -> EvaluatedInstances:
        """The sides from a verdict on the instance; of several participations those with the least slack."""
        worst: dict[str, Comparison] = {}
        for comparison in verdict.comparisons:
            if comparison.claim not in worst or _slack(comparison) < _slack(worst[comparison.claim]):
                worst[comparison.claim] = comparison
        lefts = {name: comparison.left for name, comparison in worst.items()}
        errors = {name: comparison.error for name, comparison in worst.items()}
        return EvaluatedInstances(instance.fields(), dict(verdict.values), lefts, errors)


def _slack(comparison: Comparison) -> float:
    return comparison.right - comparison.left


def factor(left: float, right: float) -> float:
    """The factor by which a claim left <= right has to be weakened to hold; at most 1 where it holds.

    left/right where both are positive, right/left where both are negative, infinite where only the left side is
    positive or where it is 0 and the right side negative.
    """
    if not (math.isfinite(left) and math.isfinite(right)):
        return 0.0
    if left > 0:
        return left / right if right > 0 else math.inf
    if right < 0:
        return right / left if left < 0 else math.inf
    return 0.0


def verdict_factor(verdict: Verdict | None) -> float:
    """The largest factor over the claims, where left sides exceed right ones by more than their errors."""
    comparisons = () if verdict is None else verdict.comparisons
    return max((factor(c.left, c.right) for c in comparisons if c.left - c.right > c.error), default=0.0)


def from_numbers(statement: Statement) -> bool:
    """Whether the right sides are formulas in numbers, none of which a run measures."""
    symbols = {symbol for claim in statement.claims for symbol in claim.bound.free_symbols}
    return all(statement.vocabulary[symbol.name].role is not Role.MEASURED for symbol in symbols)


def largest(
    statement: Statement, pool: Sequence[EvaluatedInstances], options: Options
) -> tuple[float, EvaluatedInstances | None]:
    """The largest factor by which a statement is false on a pool of its original, whose left sides it shares.

    Where right sides contain what a run measures, some of the instances are verified again.
    """
    if not pool:
        return 0.0, None
    found = _formulas(statement, pool) if from_numbers(statement) else _verified(statement, pool[-_EVALUATED:], options)
    best = int(np.argmax(found))
    return found[best], pool[-len(found) :][best] if found[best] > 0 else None


def _formulas(statement: Statement, pool: Sequence[EvaluatedInstances]) -> list[float]:
    found = np.zeros(len(pool))
    for claim in statement.claims:
        right = right_sides(claim, [known.values for known in pool])
        for k, known in enumerate(pool):
            left, size = known.lefts[claim.name], abs(known.lefts[claim.name]) + abs(right[k])
            if left - right[k] > known.errors[claim.name] + _ROUNDING * size:
                found[k] = max(found[k], factor(left, float(right[k])))
    return [float(x) for x in found]


def tightest(statement: Statement, pool: Sequence[EvaluatedInstances]) -> float:
    """The largest left side / right side on a pool, where right sides are positive formulas in numbers; 0 elsewhere."""
    ratios = [0.0]
    for claim in statement.claims if from_numbers(statement) else ():
        rights = right_sides(claim, [known.values for known in pool])
        ratios += [
            known.lefts[claim.name] / right
            for known, right in zip(pool, rights, strict=True)
            if right > 0 and known.errors[claim.name] <= _NEGLIGIBLE * right
        ]
    return float(max(ratio for ratio in ratios if math.isfinite(ratio)))


def right_sides(claim: Claim, values: Sequence[Mapping[str, float]]) -> np.ndarray:
    """The right side of a claim at many sets of numbers; NaN where one of them is missing."""
    names = [symbol.name for symbol in claim.bound.free_symbols]
    columns = {name: np.array([each.get(name, math.nan) for each in values], dtype=float) for name in names}
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(compiled(claim.bound)(**columns), dtype=float), (len(values),))


def _verified(statement: Statement, pool: Sequence[EvaluatedInstances], options: Options) -> list[float]:
    found = []
    for known in pool:
        try:
            found.append(verdict_factor(read(known.instance, statement=statement).verdict(options)))
        except InputError:
            found.append(0.0)
    return found
