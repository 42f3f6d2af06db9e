"""The admissible next to what is not: the nearest step sizes, and for each constant alone the nearest value."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Condition, Statement
from bounds.symbols import Domain, Role
from ratecheck.algebra.one_dimensional import bisect, geometric
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible_intervals import is_empty
from ratecheck.stepsizes.constraints import Intervals
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.minimise import Objective, descend
from ratecheck.stepsizes.typable import rounded, triples

# Factors by which a constant is changed, in both directions, until something is admissible.
_FACTORS = (1.5, 2.0, 4.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e6, 1e9, 1e12)
_FINE = 1e-9
# Answers are rounded inwards to so many digits, so that they can be typed.
_DIGITS = 6


@dataclass(frozen=True)
class Limit:
    """The value of one constant from which on (``upwards``), or up to which, step sizes are admissible.

    A value somewhat beyond it may be inadmissible again.
    """

    value: float
    upwards: bool


@dataclass(frozen=True)
class Nearest:
    """Changes that would make an empty region non-empty, rounded inwards to six digits.

    ``steps`` are the admissible values of the fixed step sizes with the least sum of squared log ratios to those given
    (empty where none are). ``constants`` are changes of one constant, all others as given: with the step
    sizes as given if others are admissible (``as_given``), with all step sizes free otherwise.
    """

    steps: dict[str, float]
    constants: dict[str, Limit]
    as_given: bool = False


def nearest(problem: FeasibleSet, given: Mapping[str, float], core: Sequence[Condition]) -> Nearest:
    """The nearest admissible step sizes and constants; ``core`` are the conditions in the conflict."""
    free = replace(problem, fixed=(), kept={})
    admissible = {} if problem.broken else free.admissible()
    would_do = bool(problem.fixed) and not problem.broken and not is_empty(admissible)
    steps = _nearest_steps(problem, free, admissible) if would_do else {}
    kept = problem.fixed if would_do else ()
    fixed = {rule.symbol for rule in problem.fixed}
    constants = {name: value for name, value in given.items() if name not in fixed}
    held = constants | {rule.symbol: rule.value for rule in kept}
    # What the conflict is about has to be mended in any case, and is soon evaluated.
    lean = replace(problem.statement, conditions=tuple(core), step_rules=())
    limits = {}
    for name, start in _candidates(problem, constants, core).items():
        found = _limit(lean, held, name, start)
        if found is not None and not _admits(problem.statement, held, name, found.value):
            found = _limit(problem.statement, held, name, start)
        if found is not None:
            limits[name] = found
    return Nearest(steps, limits, as_given=would_do)


def _nearest_steps(problem: FeasibleSet, free: FeasibleSet, admissible: Intervals) -> dict[str, float]:
    given = {rule.symbol: rule.value for rule in problem.fixed}
    if len(given) == 1:
        ((name, value),) = given.items()
        found: dict[str, float] | None = {name: admissible[name].nearest(value)}
    else:
        clamped = {name: admissible[name].nearest(value) for name, value in given.items()}
        found = clamped
        if not free.admits(clamped):
            whole = descend(free, admissible, functools.partial(_distance, given))
            found = None if whole is None else {name: whole[name] for name in given}
    return _rounded(free, found, given) if found else {}


def _distance(given: Mapping[str, float], names: Sequence[str]) -> Objective:
    """The sum of squared logarithms of the ratios to the given step sizes, and its gradient."""
    prescribed = np.array([name in given for name in names])
    target = np.array([math.log(given.get(name, 1.0)) for name in names])

    def at(logs: Array) -> tuple[float, Array]:
        away = np.where(prescribed, logs - target, 0.0)
        return float(away @ away), 2 * away

    return at


def _rounded(problem: FeasibleSet, steps: dict[str, float], given: Mapping[str, float]) -> dict[str, float]:
    """The step sizes with few digits where these are admissible; what was admissible as given stays."""
    kept = {name: given[name] for name, x in steps.items() if math.isclose(x, given[name], rel_tol=1e-9)}
    point = {**steps, **kept} if problem.admits({**steps, **kept}) else steps
    return rounded(point, triples(problem.statement.step_products), kept, problem.admits)


def _neighbours(x: float) -> tuple[float, ...]:
    """The two numbers with few digits next to x, the closer one first."""
    unit = 10.0 ** (math.floor(math.log10(x)) - _DIGITS + 1)
    below, above = math.floor(x / unit), math.ceil(x / unit)
    places = _DIGITS - 1 - math.floor(math.log10(x))
    values = {round(k * unit, places) if places > 0 else float(round(k * unit)) for k in (below, above)}
    return tuple(sorted(values, key=lambda value: abs(value - x)))


def _candidates(problem: FeasibleSet, given: Mapping[str, float], core: Sequence[Condition]) -> dict[str, float]:
    """The constants and settings in the conflict that were given, each by the name it was given by."""
    vocabulary = problem.statement.vocabulary
    inside = {name for condition in core for name in condition.symbols}
    chosen: dict[str, float] = {}
    for name, value in given.items():
        alias = vocabulary.aliases.get(name)
        targets = {name} if alias is None else set(alias.targets)
        roles = {vocabulary[target].role for target in targets}
        given_once = roles <= {Role.SETTING, Role.FREE, Role.CONSTANT} and isinstance(value, (int, float))
        if targets & inside and given_once and value:
            chosen[name] = float(value)
    return chosen


def _limit(statement: Statement, given: Mapping[str, float], name: str, start: float) -> Limit | None:
    """The value of one constant closest to the given one at which something is admissible, by its log ratio."""
    whole = name not in statement.vocabulary.aliases and statement.vocabulary[name].domain is Domain.POSITIVE_INTEGER

    def admits(value: float) -> bool:
        return _admits(statement, given, name, value)

    found = []
    for upwards in (True, False):
        limit = _walk(admits, start, upwards=upwards, whole=whole)
        if limit is not None:
            found.append(Limit(limit, upwards))
    return min(found, key=lambda limit: abs(math.log(limit.value / start)), default=None)


def _admits(statement: Statement, given: Mapping[str, float], name: str, value: float) -> bool:
    """Whether something is admissible with another value of one constant."""
    try:
        return FeasibleSet.of(statement, {**given, name: value}).admits({})
    except InputError:
        # Outside its domain, or against another constant.
        return False


def _walk(admits: Callable[[float], bool], start: float, *, upwards: bool, whole: bool) -> float | None:
    """The first admissible value in one direction: growing factors, then bisection of the last step."""
    last = start
    for factor in _FACTORS:
        value = start * factor if upwards else start / factor
        if whole:
            value = float(math.ceil(value) if upwards else math.floor(value))
        if admits(value):
            return _between(admits, last, value, whole=whole)
        last = value
    return None


def _between(admits: Callable[[float], bool], outside: float, inside: float, *, whole: bool) -> float:
    def middle(one: float, other: float) -> float:
        return float(round(geometric(one, other))) if whole else geometric(one, other)

    def close(one: float, other: float) -> bool:
        return abs(math.log(one / other)) <= _FINE or (whole and abs(one - other) <= 1)

    inside, _ = bisect(admits, inside, outside, middle=middle, close=close)
    return inside if whole else next(filter(admits, _neighbours(inside)), inside)
