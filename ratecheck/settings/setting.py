"""The resolved inputs of one verification: what a caller gave, and all that statement, problem and method add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bounds.statement import Assumption, Given, Over, Statement, number
from bounds.symbols import Role, Vocabulary
from ratecheck.algorithms import Method
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE, CertifiedCase
from ratecheck.certification.local_work import Work
from ratecheck.engines import setup
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import real, whole
from ratecheck.noise import NoiseLaw
from ratecheck.noise.build import build
from ratecheck.participation import Graph, Participation, Uniform
from ratecheck.participation.build import assumed
from ratecheck.participation.trace import drawn
from ratecheck.problems import Problem
from ratecheck.settings import pointwise as points
from ratecheck.settings.applicability import (
    LAWS,
    NO_SIZE,
    averages,
    counts,
    every_participation,
    method_of,
    miscounted,
    steps_of_all,
    within,
)

_ENGINES = ("auto", "exact", "step")
# The graph of a method that mixes, where no other is given; and the one on which all take the mean over everybody.
GRAPH, AVERAGING = "ring", "complete"
# The probability with which a round mixes where a statement is about that, and no other is given.
_MIXES = 0.5
# Rounds times clients of a participation that is drawn beforehand.
_LARGEST_TRACE = 10**8


@dataclass(frozen=True)
class Options:
    """How to verify: engine ("auto", "exact", "step"), seed, replicates at most, error level, whether conditions count.

    ``level`` is the probability of a wrong verdict that Monte Carlo may have. ``ignore_conditions`` compares the two
    sides even where a step size breaks the statement's conditions. ``traces`` is the number of sampled participation
    traces for a statement about each of them, or about their mean. ``vacuity`` computes the T from which on the bound
    is not vacuous. ``rigorous`` lets the interval engine decide where rounding alone leaves a claim inconclusive.
    ``noise`` is the law of the noise, or its name as `ratecheck.noise.build` takes it; None for that of the problem.
    Raises `InputError` for values that make no sense.
    """

    engine: str = "auto"
    seed: int = 0
    replicates: int = 1024
    level: float = 0.01
    ignore_conditions: bool = False
    threads: int | None = None
    traces: int = 3
    vacuity: bool = True
    rigorous: bool = True
    noise: str | NoiseLaw | None = None

    def __post_init__(self) -> None:
        if self.engine not in _ENGINES:
            raise InputError(f"no engine {self.engine!r}; {did_you_mean(str(self.engine), _ENGINES)}")
        whole("seed", self.seed, 0)
        whole("replicates", self.replicates, 2, why="one run has no confidence bound")
        whole("traces", self.traces, 1)
        if self.threads is not None:
            whole("threads", self.threads, 1)
        if isinstance(self.noise, str):
            object.__setattr__(self, "noise", build(self.noise))
        if not 0 < real("level", self.level) < 0.5:
            raise InputError(f'level={self.level:g} breaks "0 < level < 0.5": it is the probability of a wrong verdict')


DEFAULTS = Options()


@dataclass(frozen=True)
class Values:
    """Numbers by the paper's symbols, and where each comes from, in words."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def plus(self, found: Mapping[str, float], source: str) -> Values:
        """The values together with ``found`` ones, which take precedence."""
        return Values({**self.numbers, **found}, {**self.sources, **dict.fromkeys(found, source)})


@dataclass(frozen=True)
class Setting:
    """The resolved inputs of one verification, by the paper's symbols; built by `resolve`, and whole when built.

    ``given`` and ``participation`` (None: the one that the statement assumes) are what the caller gave, ``start`` maps
    x0, y0, v0 to arrays. ``values`` are the numbers that are given, or fixed by statement, problem or participation,
    and ``sources`` says by which. ``parameters`` are the method's own parameters that are no step sizes of the paper,
    such as weights; ``sizes`` clients, participants, local steps and rounds by role. ``steps`` (n,) and
    ``coefficients`` (n,) are the local steps of the clients and their coefficients; ``noise`` maps names of `NOISE` to
    levels. ``pattern`` is the participation.

    ``recorded`` are the quantities of the run that the statement compares, under the names of the engines.
    ``pointwise``: it is about points of a bilevel problem. ``by_itself``: it is about every participation by itself.
    """

    statement: Statement
    problem: Problem
    options: Options
    given: Given
    participation: Participation | None
    start: Mapping[str, ArrayLike]
    method: Method | None
    values: Mapping[str, float]
    sources: Mapping[str, str]
    parameters: Mapping[str, ArrayLike]
    sizes: Mapping[str, float]
    steps: Array
    coefficients: Array
    noise: Mapping[str, float]
    pattern: Participation
    recorded: frozenset[str]
    pointwise: bool
    by_itself: bool

    def size(self, role: str, default: int = 0) -> int:
        """A size of the run by role; raises `InputError` where it is no integer, or too large."""
        name = self.statement.vocabulary.run.get(role, role)
        return whole(name, self.sizes.get(role, default), 0, setup.LARGEST_RUN)

    @property
    def law(self) -> NoiseLaw:
        """The law of the noise."""
        given = self.options.noise
        assert not isinstance(given, str)
        return self.problem.law if given is None else given

    @property
    def rounds(self) -> int:
        """The rounds at whose start the run is recorded: T, 0 where there is none, and one more for claims on x^T."""
        T = self.size("rounds")
        return T + max(claim.metric.over.further for claim in self.statement.claims) if T else T

    def traces(self) -> list[Participation]:
        """The pattern itself, or draws of it where the statement is about every participation by itself."""
        T, pattern = self.rounds, self.pattern
        if not self.by_itself or pattern.follows_state or pattern.deterministic:
            return [pattern]
        check_drawn(self.problem)
        if T * pattern.n > _LARGEST_TRACE:
            raise InputError(
                f"T={T} with {pattern.n} clients: participations are drawn as matrices of at most "
                f"{_LARGEST_TRACE:g} entries. Largest T here: {_LARGEST_TRACE // pattern.n}."
            )
        return [drawn(pattern, T, self.options.seed, r) for r in range(self.options.traces)]

    def on(self, trace: Participation) -> Setting:
        """The setting with this participation, such as one of `traces`, as if the caller had given it."""
        return replace(self, participation=trace, pattern=trace)

    def case(self, trace: Participation) -> CertifiedCase:
        """The problem, the run and this participation, for which constants are certified."""
        return self._case.on(trace)

    @cached_property
    def _case(self) -> CertifiedCase:
        assumed = self.statement.assumptions
        samples, cocoercive = (each in assumed for each in (Assumption.EVERY_SAMPLE, Assumption.COCOERCIVE_OPERATOR))
        return CertifiedCase(
            self.problem, None, self.rounds or None, self.noise, self.parameters, self.start, self._work, samples,
            cocoercive, None if self.options.noise is None else self.law,
            self.method is not None and self.method.algorithm.own_functions,
        )  # fmt: skip

    @cached_property
    def _work(self) -> Work:
        shares = self.problem.shares
        if self.method is None:
            return Work(self.steps, self.coefficients, shares, shares)
        weights = self.method.algorithm.weights(shares, self.steps * self.coefficients)
        return Work(self.steps, self.coefficients, shares, weights)

    def fixed(self, name: str) -> float | None:
        """The value at which the statement's settings fix a constant that a problem certifies; None for no such."""
        expr = self.statement.settings.get(name)
        return number(expr, self.values) if expr is not None and within(expr, self.values) else None

    def used_sizes(self, trace: Participation) -> set[str]:
        """Symbols of the sizes that a run on this participation has: of those alone a verdict prints a number."""
        roles = {"clients"}
        if self.method is not None:
            roles |= {"local_steps", "rounds", "coefficients"}
            roles -= {"local_steps"} if self.method.fixed.get("K") else set()
        if any(claim.metric.over is not Over.NO_RUN for claim in self.statement.claims):
            # Delays without a method's run have rounds all the same.
            roles |= {"rounds"}
        if trace.size is not None or (self.participation is not None and self.participation.matrix is not None):
            roles |= {"participants"}
        run = self.statement.vocabulary.run
        return {run[role] for role in roles if role in run} | {*run.values()} & {*self.statement.parameters}

    def values_on(self, trace: Participation) -> dict[str, float]:
        """The values without sizes that a run on this participation does not have."""
        unused = {*self.statement.vocabulary.run.values()} - self.used_sizes(trace)
        return {name: value for name, value in self.values.items() if name not in unused}

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """The least and largest number of participants, by symbol, where a given matrix has different ones."""
        symbol = self.statement.vocabulary.run.get("participants")
        given = self.participation
        if symbol is None or given is None or given.matrix is None or given.size is not None:
            return {}
        numbers = given.matrix[: self.rounds or None].sum(axis=1)
        return {symbol: (int(numbers.min()), int(numbers.max()))}


def check_drawn(problem: Problem) -> None:
    """Raise `InputError` where participations cannot be drawn, since the problem counts its clients by type."""
    if problem.multiplicities is not None:
        raise InputError(
            f"the statement is about participations that are drawn client by client, which a {problem.kind} has not: "
            "use its full(), or give everybody's participation"
        )


def resolve(
    statement: Statement,
    problem: Problem,
    participation: Participation | None,
    given: Given,
    options: Options = DEFAULTS,
    start: Mapping[str, ArrayLike] | None = None,
) -> Setting:
    """The resolved inputs of one verification; the arguments are those of `verify`.

    Aliases are replaced by the symbols they stand for; the number of clients is the problem's; what the statement fixes
    of the run and its noise, and the method's own defaults, are filled in. Raises `InputError` for what contradicts one
    of these, for what is missing, and for a problem that the method is not about.
    """
    method = method_of(statement)
    if method is not None:
        method.check_problem(problem)
    vocabulary = statement.vocabulary
    given, unequal = steps_of_all(statement, given, problem.n)
    if unequal:
        raise InputError(unequal)
    counted, by_itself, recorded = counts(statement), every_participation(statement), statement.recorded
    pointwise = method is None and problem.bilevel and recorded <= points.NAMES
    found = Values().plus(statement.resolve(given), "given")
    # What contradicts the statement's own settings is refused before anything is computed.
    statement.bare.complete({k: v for k, v in found.numbers.items() if vocabulary[k].role is Role.SETTING})
    found = found.plus(_clients(statement, problem, found.numbers), "the problem")
    chosen = (Role.SETTING, Role.FREE)
    known = [] if method is None else [name for name in method.step_sizes if name in vocabulary.order]
    parameters_set = [name for name in known if vocabulary[name].role in chosen]
    found = found.plus(_defaults(vocabulary, [*counted, *parameters_set], found.numbers), "the default")
    found = found.plus(_fixed(statement, found.numbers), "fixed by the statement")
    parameters, entailed = _method_parameters(statement, problem, method, given, found.numbers)
    found = found.plus(entailed, "the method's parameters")
    sizes = _sizes(statement, method, participation, found.numbers, pointwise=pointwise)
    participants = vocabulary.run.get("participants")
    if participants is not None and "participants" in sizes and participants not in found.numbers:
        found = found.plus({participants: sizes["participants"]}, "the participation")
    steps = _local_steps(statement, problem, method, given, sizes)
    coefficients = _coefficients(statement, problem, given)
    _check_participants(statement, participation, sizes)
    values = found.numbers
    return Setting(
        statement=statement,
        problem=problem,
        options=options,
        given=dict(given),
        participation=participation,
        start=start or {},
        method=method,
        values=values,
        sources=found.sources,
        parameters=parameters,
        sizes=sizes,
        steps=steps,
        coefficients=coefficients,
        noise={fact: values.get(symbol, 0.0) for symbol, fact in vocabulary.facts.items() if fact in NOISE},
        pattern=_pattern(statement, method, problem, participation, values, sizes),
        recorded=recorded,
        pointwise=pointwise,
        by_itself=by_itself,
    )


# --- Values ---


def _clients(statement: Statement, problem: Problem, values: Mapping[str, float]) -> dict[str, float]:
    """The number of clients is that of the problem; raises `InputError` where another was given."""
    symbol = statement.vocabulary.run.get("clients")
    if symbol is None:
        return {}
    if symbol not in values:
        return {symbol: float(problem.n)}
    if values[symbol] != problem.n:
        clients = "1 client" if problem.n == 1 else f"{problem.n} clients"
        raise InputError(f"{symbol}={values[symbol]:g} does not fit the problem, which has {clients}")
    return {}


def _defaults(vocabulary: Vocabulary, names: Sequence[str], values: Mapping[str, float]) -> dict[str, float]:
    """Defaults of symbols that are not given, such as whole numbers that fix a size of the run."""
    defaults = {name: vocabulary[name].default for name in names if name not in values}
    return {name: default for name, default in defaults.items() if default is not None}


def _fixed(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """The sizes of the run and its noise that the statement fixes, where they are not given."""
    vocabulary, found = statement.vocabulary, dict[str, float]()
    unknown = dict(statement.settings)
    while known := [name for name, expr in unknown.items() if within(expr, {**values, **found})]:
        for name in known:
            value = number(unknown.pop(name), {**values, **found})
            if name not in values and (vocabulary[name].role is Role.SETTING or vocabulary.facts.get(name) in NOISE):
                found[name] = value
    return found


def _method_parameters(
    statement: Statement, problem: Problem, method: Method | None, given: Given, values: Mapping[str, float]
) -> tuple[dict[str, ArrayLike], dict[str, float]]:
    """Parameters of the method that are no step sizes of the paper, such as weights; the symbols that they entail."""
    found: dict[str, ArrayLike] = {}
    entailed: dict[str, float] = {}
    if method is None:
        return found, entailed
    vocabulary = statement.vocabulary
    for name in _own_parameters(statement, method, given):
        targets = [target for target in vocabulary.reach(name) if name in vocabulary]
        if not targets or vocabulary[targets[0]].role is Role.STEP_SIZE:
            continue
        here = {**values, **entailed}
        numbers = {here[target] for target in targets if target in here}
        default = method.algorithm.optional.get(name)
        if name in given:
            array = np.ravel(np.asarray(given[name], dtype=float))
            found[name] = float(array[0]) if array.size == 1 else array
        elif len(numbers) == 1:
            found[name] = numbers.pop()
        elif numbers:
            raise InputError(f"{' and '.join(targets)} differ: give {name}=..., one number per client")
        elif default is not None:
            found[name] = default(problem.n)
        else:
            raise InputError(f"{method.spoken} needs {vocabulary[targets[0]].meaning}: give {targets[0]}=...")
        for target, choose in getattr(vocabulary.aliases.get(name), "targets", {}).items():
            entailed[target] = choose(list(np.ravel(np.asarray(found[name], dtype=float))))
    return found, entailed


def _own_parameters(statement: Statement, method: Method, given: Given) -> tuple[str, ...]:
    """The method's parameters but for those that the paper computes from others; these cannot be given."""
    derived = statement.vocabulary.derived
    for name in method.step_sizes:
        if name in derived and name in given:
            raise InputError(f"{name} is not free: {statement.key} has {name} = {derived[name]}")
    return tuple(name for name in method.step_sizes if name not in derived)


# --- Sizes of the run ---


def _sizes(
    statement: Statement,
    method: Method | None,
    participation: Participation | None,
    values: Mapping[str, float],
    *,
    pointwise: bool,
) -> dict[str, float]:
    """Clients, participants, local steps and rounds by role; raises `InputError` for what is missing."""
    roles = statement.vocabulary.run
    found = {role: values[s] for role, s in roles.items() if s in values}
    # A given matrix may have fewer participants than m in its rounds.
    if participation is not None and participation.matrix is None and (size := participation.size) is not None:
        found.setdefault("participants", float(size))
        if found["participants"] != size:
            # Where everybody takes part, how many do follows from the clients, and nobody may have given it.
            everybody = participation.n == size and found.get("clients") == found["participants"]
            name, what = (
                ("clients", f"a pattern of {size} clients") if everybody else ("participants", f"a pattern with {size}")
            )
            raise InputError(f"{roles[name]}={found['participants']:g} contradicts {what}")
    if method is not None and "K" in method.fixed:
        # A statement about such a method need not speak of it.
        found.setdefault("local_steps", method.fixed["K"])
    needed = set()
    if participation is None and not NO_SIZE & {*statement.assumptions} and not pointwise:
        needed |= {"participants"}
    if roles.get("participants") in statement.parameters and not pointwise:
        needed |= {"participants"}
    if method is not None:
        needed |= {"local_steps", "rounds"}
    if "rounds" in roles and roles["rounds"] in statement.parameters:
        needed |= {"rounds"}
    for role in sorted(needed & {*roles} - {*found}):
        raise InputError(f"how many {statement.vocabulary[roles[role]].meaning}? give {roles[role]}=...")
    return found


def _local_steps(
    statement: Statement, problem: Problem, method: Method | None, given: Given, sizes: Mapping[str, float]
) -> Array:
    """Local steps (n,) of the clients, of which the paper's symbol may be the mean; 1 each without a method."""
    symbol = statement.vocabulary.run.get("local_steps", "K")
    if method is None:
        return np.ones(problem.n)
    lists = [name for name in given if name != symbol and symbol in statement.vocabulary.reach(name)]
    name = lists[0] if lists else symbol
    steps = _per_client(name, given[name] if lists else sizes.get("local_steps", 1), problem.n)
    for each in sorted({*(steps[:1] if (steps == steps[0]).all() else steps).tolist()}):
        method.check_steps(whole(name, each, 1))
    return steps


def _coefficients(statement: Statement, problem: Problem, given: Given) -> Array:
    """The coefficient (n,) of each client's local steps, 1 by default."""
    name = statement.vocabulary.run.get("coefficients", "a")
    return _per_client(name, given.get(name, 1.0), problem.n)


def _per_client(name: str, value: float | Sequence[float], n: int) -> Array:
    numbers = np.ravel(np.asarray(value, dtype=float))
    if len(numbers) not in (1, n):
        raise miscounted(name, len(numbers), n)
    return np.asarray(np.broadcast_to(numbers, (n,)))


# --- Participation ---


def _check_participants(statement: Statement, participation: Participation | None, sizes: Mapping[str, float]) -> None:
    """Raise `InputError` where a round of a given matrix has more participants than were given."""
    if participation is None or participation.matrix is None or "participants" not in sizes:
        return
    most, given = int(participation.matrix.sum(axis=1).max()), sizes["participants"]
    if given < most:
        symbol = statement.vocabulary.run["participants"]
        raise InputError(f'{symbol}={given:g} breaks "{symbol} >= {most}": a round of the trace has {most} clients')


def default_graph(statement: Statement, method: Method | None, n: int) -> Graph | None:
    """The default graph of n clients; None for a statement whose method mixes none."""
    if method is None or not method.algorithm.mixed:
        return None
    name = AVERAGING if averages(statement) else GRAPH
    return Graph.named(name, n, _MIXES if Assumption.RANDOM_MIXING in statement.assumptions else 1.0)


def _pattern(
    statement: Statement,
    method: Method | None,
    problem: Problem,
    participation: Participation | None,
    values: Mapping[str, float],
    sizes: Mapping[str, float],
) -> Participation:
    """The participation that was given, or the one that the statement assumes, of n clients."""
    assumptions, n = statement.assumptions, problem.n
    participation = participation or default_graph(statement, method, n)
    if participation is not None:
        if participation.n != n:
            raise InputError(f"the participation is about {participation.n} clients, but the problem has {n}")
        return participation
    symbol = statement.vocabulary.run.get("participants", "participants")
    size = whole(symbol, sizes.get("participants", n), 0, setup.LARGEST_RUN)
    if Assumption.FULL_PARTICIPATION in assumptions:
        return Uniform(n, size or n)
    delta = None
    if Assumption.INDEPENDENT_PARTICIPATION in assumptions:
        symbol = next((s for s, fact in statement.vocabulary.facts.items() if fact == "delta"), "delta")
        if symbol not in values:
            raise InputError(f"with which probability does a client participate? give {symbol}=...")
        delta = values[symbol]
    laws = (each for each in (Assumption.INDEPENDENT_PARTICIPATION, *LAWS) if each in assumptions)
    found = (assumed(each, n, size, delta, problem.shares) for each in laws)
    return next((each for each in found if each is not None), None) or Uniform(n, size)
