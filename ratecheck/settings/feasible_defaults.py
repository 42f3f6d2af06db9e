"""Defaults inside a statement's own conditions, where parameters of its method have to be smaller than usual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bounds.statement import Statement
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.problems import Problem
from ratecheck.settings.on_trace import on_trace, step_values
from ratecheck.settings.setting import resolve

# How often a default is halved at most.
_HALVINGS = 10


def inside(
    statement: Statement, problem: Problem, values: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, float]:
    """Parameters of the method that nobody gave, such that the conditions on them can be met; empty where they are.

    The method's own default is halved until then, all others staying as they are. Empty as well where ten halvings are
    not enough.
    """
    for name, default in _open(statement, given):
        tried = default(problem.n)
        for k in range(_HALVINGS + 1):
            if _admits(statement, problem, {**values, name: tried / 2**k}):
                return {name: tried / 2**k} if k else {}
    return {}


def _open(statement: Statement, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters with a default of the method that no one gave and that conditions of the statement are about."""
    method, vocabulary = METHODS.get(statement.algorithm or ""), statement.vocabulary
    for name, default in ({} if method is None else method.algorithm.optional).items():
        targets = {*vocabulary.reach(name)} if name in vocabulary.aliases else set()
        conditions = [each for each in statement.conditions if targets & each.symbols]
        if conditions and not any({*vocabulary.reach(key)} & targets for key in given if key in vocabulary):
            yield name, default


def _admits(statement: Statement, problem: Problem, values: Mapping[str, Any]) -> bool:
    """Whether all conditions hold at these values, with the step sizes that are taken by default."""
    try:
        setting = resolve(statement, problem, None, values)
        numbers = step_values(on_trace(setting, setting.traces()[0])).values
    except InputError:
        return False
    return all(check.holds is not False for check in statement.check_conditions(numbers))
