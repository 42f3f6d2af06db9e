"""What a curve runs on: its problem, who takes part, and what a round of it costs in communication."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ratecheck.algorithms.cost import cost
from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.participation.build import build, read
from ratecheck.problems import Problem
from ratecheck.problems.build import build as build_problem
from ratecheck.studies.study import Curve

# Problems and costs are the same for many curves.
_problems: dict[str, Problem] = {}
_cost = lru_cache(cost)


def problem_of(curve: Curve) -> Problem:
    """The curve's problem; raises `InputError` for parameters that make none."""
    name = repr((curve.problem, sorted(curve.parameters.items())))
    if name not in _problems:
        try:
            _problems[name] = build_problem(curve.problem, curve.parameters)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"problem {curve.problem!r}: {' '.join(str(error).split())}") from None
    return _problems[name]


def participation_of(curve: Curve, n: int) -> Participation:
    """Who takes part, n clients in all; raises `InputError` for what is no pattern."""
    pattern = curve.pattern
    if not isinstance(pattern, Mapping):
        return build(pattern, n, curve.m)
    try:
        return read(pattern)
    except (KeyError, TypeError) as error:
        raise InputError(f"participation {curve.participation!r}: {' '.join(str(error).split())}") from None


def models_per_round(curve: Curve) -> float:
    """Full-sized models that the participants of a round receive and send, on average over the rounds.

    A model has the coordinates of all blocks; a method whose vectors live on one block counts that block alone.
    """
    problem, once = problem_of(curve), _cost(curve.algorithm)
    sizes = problem.layout
    numbers = sum(count * sizes[block] for way in (once.received, once.sent) for block, count in way.items())
    return participation_of(curve, problem.n).rate * problem.n * numbers / sum(sizes.values())
