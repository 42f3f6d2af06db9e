"""Bounds below 0 of what cannot be below 0: a refutation that needs no run.

Conditions are met up to 1e-12 only, and formulas round. So a bound counts as negative where it is so in 50 digits and
stays so when every number that goes in moves by a little more than that.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.statement import Claim, Evaluation, Relation, names_in, number
from bounds.symbols import Domain, Role, Vocabulary, is_round

_DIGITS = 50
# How far each number may be off, relative to it.
_OFF = 1e-11


@dataclass(frozen=True)
class NegativeBound:
    """A claim whose right side is negative although its left side, ``left`` in symbols, never is."""

    claim: str
    right: float
    left: str

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        return (
            f"the bound is {self.right:.6g}, but {self.left} >= 0: at these admissible values the statement is false, "
            "whatever the run"
        )

    def fields(self) -> dict[str, Any]:
        """The finding as JSON data."""
        return {"claim": self.claim, "right": self.right, "left": self.left, "text": self.text}


def impossible(
    claims: Iterable[Claim], vocabulary: Vocabulary, values: Mapping[str, float]
) -> tuple[NegativeBound, ...]:
    """The claims that no run can meet at completed values; conditions are not looked at."""
    found = (_of_claim(claim, vocabulary, values) for claim in claims)
    return tuple(each for each in found if each is not None)


def of_evaluation(claims: Iterable[Claim], vocabulary: Vocabulary, evaluation: Evaluation) -> tuple[NegativeBound, ...]:
    """Negative right sides of a statement at given numbers, where all conditions are decided and hold."""
    if any(check.holds is not True for check in evaluation.conditions):
        return ()
    return impossible(claims, vocabulary, evaluation.values)


def not_random(claim: Claim, vocabulary: Vocabulary) -> bool:
    """Whether the right side is a number in every round, and not measured."""
    return not any(
        vocabulary[name].role is Role.MEASURED and not is_round(name, vocabulary) for name in names_in(claim.bound)
    )


def nonnegative(claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float]) -> bool:
    """Whether the left side can never be below 0."""
    domains = {vocabulary[symbol.name].domain for symbol in claim.metric.weights}
    return Domain.REAL not in domains and all(number(w, values) >= 0 for w in claim.metric.weights.values())


def _of_claim(claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float]) -> NegativeBound | None:
    names = names_in(claim.bound)
    weights = {name for weight in claim.metric.weights.values() for name in names_in(weight)}
    if claim.relation is Relation.ORDER or not names | weights <= values.keys():
        return None
    if not not_random(claim, vocabulary) or not nonnegative(claim, vocabulary, values):
        return None
    right = _robustly_negative(claim.bound, {name: values[name] for name in names})
    return None if right is None else NegativeBound(claim.name, right, str(claim.metric.expr))


def _robustly_negative(expr: sp.Expr, values: Mapping[str, float]) -> float | None:
    """The value where it is negative whatever rounding did to the numbers that went in; None otherwise."""
    import mpmath

    if not math.isfinite(number(expr, values)):
        # Beyond floats a number may have more digits than anybody waits for.
        return None
    names = sorted(values)
    function = _precise(expr, tuple(names))
    with mpmath.workdps(_DIGITS):
        numbers = [mpmath.mpf(values[name]) for name in names]
        try:
            middle = function(*numbers)
            if middle >= 0:
                return None
            spread = mpmath.mpf(0)
            for place, each in enumerate(numbers):
                moved = (
                    function(*numbers[:place], each * (1 + sign * _OFF), *numbers[place + 1 :]) for sign in (1, -1)
                )
                spread += max(abs(other - middle) for other in moved)
            if middle + spread < 0:
                return float(middle)
        except (ArithmeticError, ValueError, TypeError):
            # No value, or none that is real: not this sentence's business.
            return None
    return None


@functools.lru_cache(maxsize=256)
def _precise(expr: sp.Expr, names: tuple[str, ...]) -> Callable[..., Any]:
    symbols = {symbol.name: symbol for symbol in expr.free_symbols}
    function: Callable[..., Any] = sp.lambdify([symbols[name] for name in names], expr, modules="mpmath")
    return function
