"""The textbook before the worst case over all functions, and its false twins before the search."""

from __future__ import annotations

from dataclasses import dataclass

from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.falsification.performance_estimation.worst_case import worst_case
from ratecheck.outcome import Outcome
from ratecheck.selftesting.seeds import seed_of

# Where the worst case is evaluated: small, and in no units in which a forgotten factor is 1.
_SMALL = {"n": 1.0, "K": 1.0, "T": 2.0, "L": 2.0, "F_0": 0.7, "b": 0.5, "dist2_0": 1.3, "mu": 0.4, "lambda_": 0.5}
# A step size for statements that hold at any.
_STEP = {"gamma_u": 0.3}
_STARTS = 2


@dataclass(frozen=True)
class Twin:
    """A textbook statement with a number wrong: whether the search ``caught`` it, and after how many evaluations."""

    key: str
    caught: bool
    evaluations: int


@dataclass(frozen=True)
class OverFunctions:
    """A true statement over all smooth functions: ``accused``, or the ``reason`` for which it was not evaluated."""

    key: str
    accused: bool
    reason: str = ""


def twin(statement: Statement, budget: Budget, seed: int) -> Twin:
    """Search for an instance that violates it."""
    found = falsify_to_the_end(statement, budget, seed=seed_of(seed, statement.key, "twin"))
    return Twin(statement.key, found.outcome is Outcome.VIOLATED, found.evaluations)


def over_functions(statement: Statement, seed: int) -> OverFunctions:
    """The worst case at small numbers, where the statement is one that it covers."""
    given = {name: value for name, value in _SMALL.items() if name not in statement.settings}
    reason = ""
    for more in ({}, _STEP):
        try:
            found = worst_case(statement, {**given, **more}, starts=_STARTS, seed=seed)
        except InputError as error:
            reason = reason or str(error)
        else:
            return OverFunctions(statement.key, accused=found.violated)
    return OverFunctions(statement.key, accused=False, reason=reason)
