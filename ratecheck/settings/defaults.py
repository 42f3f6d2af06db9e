"""What a statement is verified on by default: the problem, the sizes of the run, the noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import bounds
from bounds.assumption import BOUNDED
from bounds.statement import Assumption, Statement, number
from bounds.symbols import Role, Vocabulary
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.algorithm import Algorithm
from ratecheck.certification.certified_constants import NOISE
from ratecheck.certification.uncertified import of_operators, takes_partial_gradients
from ratecheck.errors import InputError, did_you_mean
from ratecheck.problems import Problem
from ratecheck.problems.build import KINDS, build, features, own_clients, parameters
from ratecheck.settings.applicability import method_parameters, steps_of_method
from ratecheck.settings.convexity import assumes_convexity
from ratecheck.settings.on_trace import on_trace, step_values
from ratecheck.settings.setting import resolve

# Ten clients, nine of them sampled, 25 local steps; by role in the run.
DEFAULTS = {"clients": 10.0, "participants": 9.0, "local_steps": 25.0, "rounds": 400.0}
_NOISE = 0.3
# A default number of clients is looked for below this.
_MOST_CLIENTS = 64
# How often a default is halved or doubled at most.
_HALVINGS = 10
# By fact or by parameter of the method: a client participates with probability 1/2, and the inner problem is convex.
_OTHERS = {"delta": 0.5, "lambda_": 3.0, "q": 0.5}


@dataclass(frozen=True)
class DefaultedInputs:
    """A problem with its name and its own parameters ``parameters``, and the values that go with it in `verify`."""

    problem: Problem
    values: dict[str, float]
    problem_name: str
    parameters: dict[str, Any]


def completed(
    statement: Statement, problem_name: str | None = None, given: Mapping[str, Any] | None = None
) -> DefaultedInputs:
    """The problem and the statement's values with defaults; ``given`` are values and parameters of the problem.

    Without a name the problem is the synthetic one of the kind that the statement's method is about. Raises
    `InputError` for a name in ``given`` that is neither, and for a problem that cannot be built.
    """
    given, vocabulary = given or {}, statement.vocabulary
    if problem_name is None:
        problem_name = kind_of(statement)
        given = {**_of_assumptions(statement, problem_name), **given}
    mine, chosen = _divided(given, parameters(problem_name), vocabulary)
    clients = vocabulary.run.get("clients", "n")
    # A problem from a file brings its own number of clients.
    size: dict[str, Any] = {}
    if not own_clients(problem_name, chosen):
        named = given.get(clients, given.get("n"))
        size = {"n": _clients(statement, given) if named is None else named}
    blocks = _blocks(statement, problem_name, chosen)
    problem = build(problem_name, {**size, **blocks, **{k: v for k, v in chosen.items() if k != "n"}})
    mine = {k: v for k, v in mine.items() if k != "n" or clients == "n"}
    return DefaultedInputs(problem, _with_defaults(statement, problem, mine, given), problem_name, chosen)


def completed_on(statement: Statement, problem: Problem, given: Mapping[str, Any]) -> dict[str, float]:
    """The statement's values on a problem that was given as an object, as `completed` has them for one by name."""
    mine, _ = _divided(given, (), statement.vocabulary)
    return _with_defaults(statement, problem, mine, given)


def _with_defaults(
    statement: Statement, problem: Problem, mine: Mapping[str, float], given: Mapping[str, Any]
) -> dict[str, float]:
    """The statement's values on a problem: defaults, and ``mine``, what of ``given`` is about the statement."""
    # What the statement fixes is not defaulted, so that a contradiction can only come from the caller.
    vocabulary, values = statement.vocabulary, _defaults(statement, problem)
    values = {k: v for k, v in values.items() if k not in statement.settings and not _decided(vocabulary, k, given)}
    values |= mine
    return {**values, **_inside(statement, problem, values, given)}


def kind_of(statement: Statement) -> str:
    """The first kind of problem that the method is about; of a statement without one, that of its paper's first."""
    names = (statement.algorithm, *(each.algorithm for each in bounds.siblings(statement.key)))
    method = METHODS.get(next((name for name in names if name is not None), ""))
    usual = Algorithm.default_problem
    kind = usual if method is None else method.algorithm.default_problem
    if kind == usual and BOUNDED & {*statement.assumptions}:
        # Gradients of quadratics grow without limit; logistic losses are not known to be convex, nor where they end.
        return "piecewise" if assumes_convexity(statement) else "logistic"
    # What follows operators follows gradients as well, and what does not say so is no statement about operators.
    operators = kind in KINDS and not KINDS[kind].potential
    return (
        usual
        if operators and not (of_operators(statement.assumptions) or takes_partial_gradients(statement.algorithm))
        else kind
    )


def _of_assumptions(statement: Statement, problem_name: str) -> dict[str, Any]:
    """Parameters with which the default problem has what the statement assumes, such as one common minimiser."""
    known, assumed = parameters(problem_name), {*statement.assumptions}
    if BOUNDED & assumed and "tails" in known:
        return {"tails": 0.0}
    facts = statement.vocabulary.facts
    nothing = {facts.get(name) for name, value in statement.settings.items() if value == 0}
    if Assumption.INTERPOLATION not in assumed and not nothing & {"b", "minimiser_heterogeneity"}:
        return {}
    if "interpolation" in known:
        # Where a dissimilarity bound has to exist Hessians are the same, and so are clients.
        return {
            "interpolation": 1.0,
            "curvature": 0.0 if Assumption.DISSIMILARITY in assumed or "b" in nothing else 1.0,
        }
    return {"heterogeneity": 0.0} if "heterogeneity" in known else {}


def _clients(statement: Statement, given: Mapping[str, Any]) -> float:
    """The default number of clients: ten, or the first number that fits what is given and what is fixed."""
    vocabulary, ten = statement.vocabulary, int(DEFAULTS["clients"])
    # A given number of participants that a setting decides is checked against the setting.
    decided = vocabulary.run.get("participants") in {*statement.settings} & given.keys()
    if decided or "clients" not in vocabulary.run:
        return DEFAULTS["clients"]
    numbers = {name: value for name, value in given.items() if name in vocabulary and isinstance(value, float)}
    sizes = {vocabulary.run[role] for role in ("clients", "participants") if role in vocabulary.run}
    fixed = [number(expr, {}) for name, expr in statement.settings.items() if name in sizes and expr.is_number]
    named = [math.ceil(size) for size in (*fixed, *(numbers[name] for name in sizes if name in numbers))]
    candidates = [ten, max([ten, *named]), *range(ten - 1, 0, -1), *range(ten + 1, _MOST_CLIENTS)]
    fitting = (n for n in candidates if _fits(statement, {**numbers, vocabulary.run["clients"]: float(n)}, n))
    return float(next(fitting, ten))


def _participants(statement: Statement, n: int) -> dict[str, float]:
    """The default number of participants of n clients: all but one, at most nine; all with full participation."""
    symbol = statement.vocabulary.run.get("participants")
    if symbol is None or symbol in statement.settings:
        return {}
    everybody = Assumption.FULL_PARTICIPATION in statement.assumptions
    return {symbol: float(n) if everybody else min(DEFAULTS["participants"], max(1.0, n - 1.0))}


def _fits(statement: Statement, values: Mapping[str, float], n: int) -> bool:
    """Whether the numbers agree with the settings, and with the conditions that the sizes of the run decide."""
    try:
        completed, _ = statement.bare.complete({**_participants(statement, n), **values})
    except InputError:
        return False
    run = {*statement.vocabulary.run.values()}
    if not all(statement.vocabulary[name].domain.admits(value) for name, value in completed.items() if name in run):
        return False
    conditions = (each for each in statement.conditions if each.symbols <= run)
    return all(each.check(statement.key, completed).holds is not False for each in conditions)


def _decided(vocabulary: Vocabulary, symbol: str, given: Mapping[str, object]) -> bool:
    """Whether an alias was given that decides the symbol."""
    return any(symbol in vocabulary.reach(name) for name in given if name in vocabulary)


def _defaults(statement: Statement, problem: Problem) -> dict[str, float]:
    """Settings of the run, noise and parameters of the method under the paper's symbols."""
    vocabulary = statement.vocabulary
    values = {symbol: DEFAULTS[role] for role, symbol in vocabulary.run.items() if role in DEFAULTS}
    if "clients" in vocabulary.run:
        values[vocabulary.run["clients"]] = float(problem.n)
    values |= _participants(statement, problem.n) | steps_of_method(statement)
    for symbol, fact in vocabulary.facts.items():
        if fact in NOISE:
            values[symbol] = 0.0 if _absent(fact, problem) else _NOISE
        elif fact in _OTHERS:
            values[symbol] = _OTHERS[fact]
    return values | {
        name: _OTHERS[name] for name in method_parameters(statement.algorithm, vocabulary) if name in _OTHERS
    }


def _absent(fact: str, problem: Problem) -> bool:
    """Whether the noise belongs to a block of variables that the problem lacks."""
    return not problem.has_noise(fact)


def _blocks(statement: Statement, problem_name: str, given: dict[str, float]) -> dict[str, float]:
    """Give a statement without personal (or without shared) variables a problem without them."""
    method = METHODS.get(statement.algorithm or "")
    if method is None or "shared" in given or method.algorithm.bilevel or "shared" not in parameters(problem_name):
        return {}
    if not method.shared or Assumption.NO_SHARED in statement.assumptions:
        return {"shared": 0}
    if not method.personal or Assumption.NO_PERSONAL in statement.assumptions:
        return {"shared": features(problem_name, given)}
    return {}


def _divided(
    values: Mapping[str, Any], of_problem: tuple[str, ...], vocabulary: Vocabulary
) -> tuple[dict[str, float], dict[str, Any]]:
    """Tell the statement's parameters from those of the problem; raises `InputError` for a name that is neither."""
    for name in values:
        if name not in vocabulary and name not in of_problem:
            given = {quantity.name for quantity in vocabulary if quantity.role is not Role.MEASURED}
            known = given | vocabulary.aliases.keys() | set(of_problem)
            raise InputError(f"no parameter {name!r} of the statement or the problem; {did_you_mean(name, known)}")
    mine = {k: v for k, v in values.items() if k in vocabulary}
    return mine, {k: v for k, v in values.items() if k in of_problem}


# --- Defaults inside a statement's own conditions ---


def _inside(
    statement: Statement, problem: Problem, values: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, float]:
    """Parameters of the method that nobody gave, such that the conditions on them can be met; empty where they are.

    The default is halved or doubled until then, whichever takes fewer times, all others staying as they are. Empty as
    well where ten times are not enough.
    """
    for name, default in _open(statement, given):
        tried = default(problem.n)
        for k in sorted(range(-_HALVINGS, _HALVINGS + 1), key=lambda k: (abs(k), k)):
            if _admits(statement, problem, {**values, name: tried * 2.0**k}):
                return {name: tried * 2.0**k} if k else {}
    return {}


def _open(statement: Statement, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters with a default that no one gave and that conditions of the statement are about."""
    method, vocabulary = METHODS.get(statement.algorithm or ""), statement.vocabulary
    own = {} if method is None else {**method.algorithm.optional}
    others = {name: _OTHERS[name] for name in method_parameters(statement.algorithm, vocabulary) if name in _OTHERS}
    for name, default in (own | {name: partial(_same, value) for name, value in others.items()}).items():
        targets = {*vocabulary.reach(name)} if name in vocabulary.aliases else {name} & others.keys()
        conditions = [each for each in statement.conditions if targets & each.symbols]
        if conditions and not any({*vocabulary.reach(key)} & targets for key in given if key in vocabulary):
            yield name, default


def _same(value: float, _: int) -> float:
    """A default that does not depend on the number of clients."""
    return value


def _admits(statement: Statement, problem: Problem, values: Mapping[str, Any]) -> bool:
    """Whether all conditions hold at these values, with the step sizes that are taken by default."""
    try:
        setting = resolve(statement, problem, None, values)
        numbers = step_values(on_trace(setting, setting.traces()[0])).values
    except InputError:
        return False
    return all(check.holds is not False for check in statement.check_conditions(numbers))
