"""The parameters of a run that can be varied, their values, and the numbers that change with them.

A parameter is known by its role, which all papers share, and by the paper's symbol for it. Everything else stays as it
is, but for the step sizes that the statement prescribes, with these exceptions:

- clients: every client is copied equally often, and the participants per round are multiplied by as much. The
  objective, its constants and the share of clients per round do not change.
- delay tau: one client participates in every (tau+1)-th round, all others in every round, so that tau_max = tau.
- participants of a statement about any participation: blocks that go round, so that tau_max = ceil(n/participants) - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bounds.statement import Assumption, Statement
from bounds.symbols import Domain, Role
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.errors import InputError
from ratecheck.participation import Cyclic, Participation, Trace
from ratecheck.problems import Problem
from ratecheck.settings.applicability import every_participation
from ratecheck.verification.verdict import Verdict

CLIENTS, PARTICIPANTS, LOCAL_STEPS, ROUNDS = "clients", "participants", "local_steps", "rounds"
DELAY, STEP_SIZE = "delay", "step_size"
ROLES = (LOCAL_STEPS, PARTICIPANTS, ROUNDS, DELAY, STEP_SIZE, CLIENTS)
# Names that are understood where a paper has another symbol, or none.
_WORDS = {"K": LOCAL_STEPS, "T": ROUNDS, "tau": DELAY, "gamma": STEP_SIZE}
# Facts about a participation trace, which move with the participation.
DELAYS = ("tau_max", "tau_avg")

# A sweep reaches from a quarter of the given setting to four times it, or as far below the largest admissible value.
_REACH = 4.0
# Points per sweep. Monte Carlo runs cost more.
_POINTS = {"exact": 7}
_FEWER = 5
# A delay has to recur this often within a run to be more than its beginning.
_RECURRENCES = 8
_LONGEST_DELAY = 64
# Clients are copied up to so many times, as far as n*d stays so small that the exact engine takes the problem.
_COPIES, _ENTRIES = (1, 2, 3, 4, 6, 8), 700


@dataclass(frozen=True)
class Parameter:
    """A role and the paper's symbol for it."""

    role: str
    symbol: str


@dataclass(frozen=True)
class SweepPoint:
    """One setting to be verified: the parameter's ``value``, all other given values, problem, participation, start."""

    value: float
    given: Mapping[str, Any]
    problem: Problem
    participation: Participation | None
    start: Mapping[str, ArrayLike] = field(default_factory=dict)


@dataclass(frozen=True)
class SweepPlan:
    """A sweep to be run, ``at`` among the values; ``held`` are the step sizes that keep their value."""

    parameter: Parameter
    at: float
    points: tuple[SweepPoint, ...]
    held: tuple[str, ...]


def symbol_of(statement: Statement, role: str) -> str | None:
    """The statement's symbol for a role; None where it has none."""
    vocabulary = statement.vocabulary
    if role == DELAY:
        facts = vocabulary.facts.items()
        return next((s for s, fact in facts if fact == DELAYS[0] and s in statement.parameters), None)
    if role == STEP_SIZE:
        steps = [name for name in statement.parameters if vocabulary[name].role is Role.STEP_SIZE]
        free = [name for name in steps if name not in prescribed(statement)]
        return next(iter([*(each.product.name for each in statement.step_products), *free, *steps]), None)
    return vocabulary.run.get(role)


def parameter(statement: Statement, word: str) -> Parameter:
    """The parameter that a word means: the paper's symbol, a role, or one of the usual names K, T, tau, gamma.

    Raises `InputError` where the statement has no such parameter.
    """
    symbols = {role: symbol for role in ROLES if (symbol := symbol_of(statement, role)) is not None}
    for role, symbol in symbols.items():
        if symbol == word:
            return Parameter(role, symbol)
    if word in step_sizes(statement):
        return Parameter(STEP_SIZE, word)
    role = _WORDS.get(word, word)
    # A usual name that means something else in the paper is not taken for it.
    if role not in symbols or (word in _WORDS and word in statement.vocabulary):
        raise InputError(f"{word!r} is not one of what {statement.key} lets vary: {', '.join(symbols.values())}")
    return Parameter(role, symbols[role])


def parameters(statement: Statement, roles: tuple[str, ...]) -> tuple[Parameter, ...]:
    """The statement's parameters in these roles, as far as it has them."""
    pairs = ((role, symbol_of(statement, role)) for role in roles)
    return tuple(Parameter(role, symbol) for role, symbol in pairs if symbol is not None)


def step_sizes(statement: Statement) -> set[str]:
    """Names of the statement's step sizes."""
    return {name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE}


def prescribed(statement: Statement) -> set[str]:
    """Names of the step sizes that the statement sets to one value, by a rule or because two others are set."""
    found = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
    for product in statement.step_products:
        if len(product.names & found) == 2:
            found |= product.names
    return found


def held_steps(
    statement: Statement, given: Mapping[str, float], values: Mapping[str, float], varied: str = ""
) -> dict[str, float]:
    """Step sizes that keep their value while ``varied`` changes; the others follow the statement's rules."""
    steps = step_sizes(statement)
    if varied in steps:
        return {k: values[k] for k in _unmoved(statement, varied) if k in values}
    # The local step size of a product follows from the others.
    tied = {product.local.name for product in statement.step_products}
    held = {k: v for k, v in given.items() if k in steps - prescribed(statement)}
    rest = {k: v for k, v in values.items() if k not in steps}
    completed, _ = statement.complete({**rest, **held})
    return {**held, **{k: values[k] for k in (steps & values.keys()) - completed.keys() - tied}}


def _unmoved(statement: Statement, varied: str) -> list[str]:
    """Step sizes that can keep their value while ``varied`` changes: outer ones first, then products, then the rest.

    What products determine by those that are kept moves along.
    """
    products, kept = statement.step_products, []
    order = [
        *(each.outer.name for each in products),
        *(each.product.name for each in products),
        *sorted(step_sizes(statement)),
    ]
    known = {varied}
    for name in dict.fromkeys(order):
        if name in known:
            continue
        kept.append(name)
        known.add(name)
        while determined := [each for each in products if len(each.names & known) == 2]:
            known.update(*(each.names for each in determined))
    return kept


def open_participation(statement: Statement) -> bool:
    """Whether the statement holds for any participation."""
    rest = tuple(each for each in statement.assumptions if each is not Assumption.DRAWN_STEP_SIZES)
    return every_participation(replace(statement, assumptions=rest))


def participation(statement: Statement, problem: Problem, given: Mapping[str, float]) -> Participation | None:
    """Blocks that go round where the statement leaves it open, so that the delay is known; None where it does not."""
    size = given.get(statement.vocabulary.run.get(PARTICIPANTS, ""))
    return Cyclic(problem.n, int(size)) if size is not None and open_participation(statement) else None


def plan(
    statement: Statement, problem: Problem, given: Mapping[str, float], verdict: Verdict, parameter: Parameter
) -> SweepPlan | str:
    """The sweep around the setting of a verdict, or the reason for which the parameter cannot be varied."""
    symbol = parameter.symbol
    if reason := _fixed(statement, verdict, parameter):
        return reason
    if symbol in prescribed(statement):
        return f"{statement.key} prescribes {symbol}"
    held = held_steps(statement, given, verdict.values, symbol)
    fixed = _fixed_values(statement, given, held)
    if parameter.role == DELAY:
        found = _delays(statement, problem, fixed, verdict)
    elif parameter.role == CLIENTS:
        found = _copies(statement, problem, fixed)
    else:
        found = _values(statement, problem, fixed, verdict, parameter, held)
    if isinstance(found, str):
        return found
    at, points = found
    if len(points) < 2:
        return f"no other value than {at:g} is admissible"
    return SweepPlan(parameter, at, points, tuple(sorted(held)))


def point(
    statement: Statement, problem: Problem, given: Mapping[str, float], verdict: Verdict, symbol: str, value: float
) -> SweepPoint:
    """A single further point of a sweep over a number that is substituted as it is."""
    fixed = _fixed_values(statement, given, held_steps(statement, given, verdict.values, symbol))
    return _substituted(statement, problem, fixed, symbol, value)


def _fixed_values(statement: Statement, given: Mapping[str, float], held: Mapping[str, float]) -> dict[str, float]:
    """The given values that a sweep keeps."""
    steps = step_sizes(statement)
    return {**{k: v for k, v in given.items() if k not in steps}, **held}


def _substituted(
    statement: Statement, problem: Problem, fixed: Mapping[str, float], symbol: str, value: float
) -> SweepPoint:
    setting = {**fixed, symbol: value}
    return SweepPoint(value, setting, problem, participation(statement, problem, setting))


def _fixed(statement: Statement, verdict: Verdict, parameter: Parameter) -> str | None:
    """Why the statement itself, or its run, leaves no choice."""
    symbol, role = parameter.symbol, parameter.role
    if symbol in statement.settings:
        return f"{statement.key} is about {symbol} = {statement.settings[symbol]}"
    if role == DELAY and not open_participation(statement):
        return f"{statement.key} fixes the participation"
    if role == PARTICIPANTS and Assumption.INDEPENDENT_PARTICIPATION in statement.assumptions:
        return "the participation is independent across clients, with given probabilities"
    if symbol not in verdict.values:
        return f"{statement.key} has no {symbol}"
    return None


Points = tuple[float, tuple[SweepPoint, ...]]


def _values(
    statement: Statement,
    problem: Problem,
    fixed: Mapping[str, float],
    verdict: Verdict,
    parameter: Parameter,
    held: Mapping[str, float],
) -> Points:
    """Values of a number that is substituted as it is."""
    vocabulary, symbol = statement.vocabulary, parameter.symbol
    at = verdict.values[symbol]
    constants = {k: v for k, v in verdict.values.items() if vocabulary[k].role is not Role.STEP_SIZE}

    def admissible(value: float) -> bool:
        values, _ = statement.complete({**constants, **held, symbol: value})
        return all(check.holds is not False for check in statement.check_conditions(values))

    limits = (1.0, float(problem.n)) if parameter.role == PARTICIPANTS else None
    # A paper may count the local steps by their mean; each client takes a whole number of them.
    whole = vocabulary[symbol].domain is Domain.POSITIVE_INTEGER or parameter.role == LOCAL_STEPS
    count = _POINTS.get(verdict.engine, _FEWER)
    values = ladder(at, limits, count, admissible, whole=whole)
    return at, tuple(_substituted(statement, problem, fixed, symbol, value) for value in values)


def _delays(statement: Statement, problem: Problem, fixed: Mapping[str, float], verdict: Verdict) -> Points | str:
    """One client that comes back every (tau+1)-th round, all others always there."""
    vocabulary = statement.vocabulary
    if problem.n < 2:
        return "a single client cannot be away while others participate"
    T = int(verdict.values[vocabulary.run[ROUNDS]])
    longest = min(T // _RECURRENCES, _LONGEST_DELAY)
    if longest < 2:
        return f"{T} rounds are too few for delays that recur: at least {2 * _RECURRENCES} are needed"
    values = sorted({int(x) for x in np.rint(np.geomspace(1, longest, _POINTS.get(verdict.engine, _FEWER)))})
    # The setting's own delay, where there is one, or the nearest to it.
    known = (verdict.values[s] for s, fact in vocabulary.facts.items() if fact == DELAYS[0] and s in verdict.values)
    own = next(known, math.nan)
    if own in range(1, longest + 1):
        values = sorted({*values, int(own)})
    at = min(map(float, values), key=lambda value: abs(value - own)) if math.isfinite(own) else float(values[0])
    away = {s for s, fact in vocabulary.facts.items() if fact in DELAYS} | {vocabulary.run.get(PARTICIPANTS)}
    rest = {k: v for k, v in fixed.items() if k not in away}
    points = tuple(SweepPoint(float(tau), rest, problem, returning(problem.n, tau, T)) for tau in values)
    return at, points


def returning(n: int, tau: int, T: int) -> Trace:
    """A participation of T rounds in which the last client is there in every (tau+1)-th, and the others always are."""
    matrix = np.ones((T, n), dtype=bool)
    matrix[:, -1] = np.arange(T) % (tau + 1) == 0
    return Trace(matrix)


def _copies(statement: Statement, problem: Problem, fixed: Mapping[str, float]) -> Points | str:
    """Every client several times over, and as many times as many participants."""
    if problem.quadratic is None:
        return f"clients are copied on quadratic problems only, not on one of the kind {problem.kind}"
    if many := [name for name, alias in statement.vocabulary.aliases.items() if alias.many and name in fixed]:
        return f"{many[0]} has one number per client"
    run = statement.vocabulary.run
    points = []
    for count in _COPIES:
        if count > 1 and count * problem.n * problem.d > _ENTRIES:
            break
        larger = problem.scaled(np.tile(np.arange(problem.n), count), 1.0, 1.0)
        scaled = {run[role]: count * fixed[run[role]] for role in (CLIENTS, PARTICIPANTS) if run.get(role) in fixed}
        setting = {**fixed, **scaled}
        points.append(SweepPoint(float(larger.n), setting, larger, participation(statement, larger, setting)))
    return float(problem.n), tuple(points)


def ladder(
    at: float,
    limits: tuple[float, float] | None,
    count: int,
    admissible: Callable[[float], bool],
    *,
    whole: bool,
) -> tuple[float, ...]:
    """About ``count`` geometrically spaced admissible values, ``at`` among them."""

    def usable(value: float) -> bool:
        return admissible(float(round(value)) if whole else value)

    low, high = limits or (at / _REACH, at * _REACH)
    high = _edge(at, high, usable)
    if limits is None:
        low = max(high / _REACH**2, 1.0) if whole else high / _REACH**2
    grid = np.geomspace(_edge(at, min(low, at), usable), high, count)
    if whole:
        return tuple(sorted({float(round(value)) for value in grid} | {at}))
    # The end is kept however close it is, because it is the largest admissible value.
    apart = [math.log(grid[-1] / grid[0]) / (3 * (count - 1))] * (count - 1) + [1e-9]
    kept = (float(value) for value, gap in zip(grid, apart, strict=True) if abs(math.log(value / at)) > gap)
    return tuple(sorted([at, *kept]))


def _edge(inside: float, outside: float, usable: Callable[[float], bool]) -> float:
    """The value next to ``outside`` that is still usable, by bisection of the logarithm from ``inside``."""
    if usable(outside):
        return outside
    return bisect(usable, inside, outside, middle=lambda one, other: math.sqrt(one * other), steps=60)[0]
