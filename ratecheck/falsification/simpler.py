"""Passes over an instance that offer simpler ones, and the order in which one instance is simpler than another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from bounds.statement import Statement
from bounds.symbols import Quantity, Role
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.participation import Bernoulli, Graph, Participation, Trace, Uniform
from ratecheck.problems import MinMax, Piecewise, PiecewiseSamples, Quadratic
from ratecheck.settings.applicability import every_participation
from ratecheck.settings.setting import DEFAULTS, resolve
from ratecheck.stepsizes.choose import INDEPENDENT
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

# Binary digits that a step size counts as which is not given but chosen: a short number says more, a long one less.
_CHOSEN = 20
# Up to here every number of rounds or steps is tried, beyond it one digit and zeros.
_FEW = 12
# A run of so many rounds or local steps takes time.
_LONG = 100
# Those that a kink counts as, beside its own.
_BEND = 8
# Binary digits that participants count as which are drawn by a seed, and the longest sequence of them that is written.
_UNNAMED, _LONGEST_TRACE = 10**6, 400
# Problems with kinks.
_BENT = (Piecewise, PiecewiseSamples)
# Arrays of a problem that are no free numbers: clients' weights add up to 1.
_WEIGHTS = "p"
# Graphs with a name in the place of a mixing matrix; from which ||W - 11'/n||_2 on clients do not come together.
_NAMED = ("complete", "path", "ring", "star")
_APART = 0.9999
# Of what couples two kinds of variables, with any entries.
_COUPLING = "B"
# The matrices and the linear terms of problems whose units may be changed.
_IN_UNITS = {Quadratic: (("H",), ("g",)), MinMax: (("A", "B", "C"), ("a", "c"))}
# Binary digits to which numbers are rounded.
_DIGITS = (1, 2, 3, 4, 6, 8, 12)

# What simplicity is compared by, in this order.
SIZES = ("clients", "variables", "rounds", "local_steps", "digits")


class ShrinkingState(Protocol):
    """What a pass works on."""

    instance: Instance
    verdict: Verdict
    numbers: Numbers

    def offer(self, make: Callable[[Instance], Instance]) -> bool:
        """Whether what ``make`` makes of the instance takes its place."""


def bits(value: float) -> int:
    """Binary digits of numerator and denominator, less one, and one for a minus sign; 0 for 0."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator.bit_length() + denominator.bit_length() - 1 + (numerator < 0) if numerator else 0


@dataclass(frozen=True)
class Numbers:
    """What the numbers of a statement's instances are: ``steps`` are its step sizes that nothing else decides.

    ``traces`` says whether it is about every sequence of participants by itself, so that one has to be named.
    """

    statement: Statement
    steps: tuple[str, ...]
    traces: bool

    @staticmethod
    def of(verdict: Verdict) -> Numbers:
        """Those of a verdict."""
        steps = tuple(name for name, why in verdict.chosen.items() if why in INDEPENDENT)
        return Numbers(verdict.statement, steps, every_participation(verdict.statement))

    def size(self, role: str) -> str:
        """The symbol of a size of the run; nothing for one that the statement lacks."""
        return self.statement.vocabulary.run.get(role, "")

    def steps_in(self, given: Mapping[str, Any]) -> str:
        """The name under which local steps are given: the symbol, or one that stands for the clients' own numbers."""
        symbol, aliases = self.size("local_steps"), self.statement.vocabulary.aliases
        return next((name for name in given if name in aliases and symbol in aliases[name].targets), symbol)

    def is_claim(self, name: str) -> bool:
        """Whether a given number is a constant that is certified where it is not given."""
        quantity = _quantity(self.statement, name)
        return quantity is not None and quantity.role is Role.CONSTANT and not self.is_noise(name)

    def is_noise(self, name: str) -> bool:
        """Whether it is a level of noise."""
        return self.statement.vocabulary.facts.get(name, "").startswith("sigma")

    def simplicity(self, instance: Instance) -> tuple[int, ...]:
        """Clients, variables, rounds, local steps, and binary digits of all numbers: the less, the simpler.

        A number of the problem that differs between clients counts for every client.
        """
        problem, given = instance.problem, instance.given
        sizes = [self.size("rounds"), self.steps_in(given)]
        run = [int(np.max(given[name])) if name in given else 0 for name in sizes]
        total = sum(bits(x) for array in arrays(instance).values() for x in np.ravel(array))
        total += _BEND * int(np.count_nonzero(np.diff(problem.curvatures))) if isinstance(problem, _BENT) else 0
        total += sum(bits(x) for array in instance.start.values() for x in np.ravel(np.asarray(array, dtype=float)))
        for name, value in given.items():
            if name not in sizes:
                total += sum(bits(x) for x in np.ravel(value)) + self.is_claim(name)
        total += _CHOSEN * sum(name not in given for name in self.steps)
        unnamed = self.traces and problem.n > 1 and not isinstance(instance.participation, Trace)
        return problem.n, problem.d, *run, total + _pattern_bits(instance.participation) + _UNNAMED * unnamed


def _quantity(statement: Statement, name: str) -> Quantity | None:
    """What a name stands for; None for an alias such as alpha, which stands for several symbols."""
    return next((each for each in statement.vocabulary if each.name == name), None)


def _pattern_bits(pattern: Participation | None) -> int:
    if isinstance(pattern, Trace):
        # Clients that are away are what there is to say.
        return int((~pattern.matrix).sum())
    if isinstance(pattern, Graph):
        shares = {*np.ravel(pattern.edges).tolist()}
        return bits(pattern.mixes) + (0 if pattern.name else sum(map(bits, shares)))
    return sum(bits(x) for x in np.ravel(pattern.p)) if isinstance(pattern, Bernoulli) else 0


def arrays(instance: Instance) -> dict[str, Array]:
    """The arrays of numbers of the problem, the first axis being clients; none where it has no form as data."""
    try:
        found = instance.problem.fields()
    except InputError:
        return {}
    return {
        name: np.asarray(value, dtype=float)
        for name, value in found.items()
        if isinstance(value, list) and name != _WEIGHTS
    }


def with_arrays(instance: Instance, changed: Mapping[str, Array], **others: Any) -> Instance:
    """The instance with other arrays in its problem."""
    problem = instance.problem
    data = {**problem.fields(), **{name: array.tolist() for name, array in changed.items()}, **others}
    return replace(instance, problem=type(problem).read(data))


def with_given(instance: Instance, **values: float) -> Instance:
    """The instance with other given numbers."""
    return replace(instance, given={**instance.given, **values})


def _given(instance: Instance, new: float, name: str) -> Instance:
    return with_given(instance, **{name: new})


def _at(make: Callable[[Instance, Any], Instance], place: Any) -> Callable[[Instance], Instance]:
    return lambda instance: make(instance, place)


def consistent(instance: Instance) -> Instance:
    """The instance with given numbers that follow from who takes part set to what they are."""
    pattern, statement = instance.participation, instance.statement
    name = statement.vocabulary.run.get("participants", "")
    given = dict(instance.given)
    if isinstance(pattern, Trace) and name in given:
        given[name] = float(pattern.matrix.sum(axis=1).max())
    if pattern is not None and pattern.delta is not None and "delta" in given:
        given["delta"] = pattern.delta
    return replace(instance, given=given)


# --- Passes ---


def release(state: ShrinkingState) -> None:
    """Certified constants and chosen step sizes in place of given ones."""
    loose = [name for name in state.instance.given if state.numbers.is_claim(name) or name in state.numbers.steps]
    if not state.offer(partial(_without, names=loose)):
        for name in loose:
            state.offer(partial(_without, names=[name]))


def _without(instance: Instance, names: Sequence[str]) -> Instance:
    return replace(instance, given={name: value for name, value in instance.given.items() if name not in names})


def fewer(state: ShrinkingState) -> None:
    """Fewer clients, variables, rounds, local steps and participants."""
    rounds, steps = state.numbers.size("rounds"), state.numbers.steps_in(state.instance.given)
    both = [name for name in (rounds, steps) if name in state.instance.given]
    for k in (1, 2, 3):
        if state.offer(partial(_resized, numbers=state.numbers, sizes=dict.fromkeys(both, k))):
            break
    # Long runs first: each of what follows would take as long.
    _shorten(state, both, least=_LONG)
    equal, counted = (
        isinstance(state.instance.problem, PiecewiseSamples),
        state.instance.problem.multiplicities is not None,
    )
    if equal or counted:
        any(state.offer(_at(_of_clients, k)) for k in _sizes(state.instance.problem.n))
    else:
        _drop(state, lambda instance: range(instance.problem.n), _without_client)
    _drop(state, lambda instance: range(instance.problem.d), _without_variable)
    _shorten(state, both)
    _shorten_each(state, steps)
    _drop(state, _rows, partial(_without_round, rounds=rounds))
    most = state.numbers.size("participants")
    now = int(np.max(state.instance.given.get(most, 1)))
    # Equal clients take part all of them.
    for k in () if equal else _sizes(now) if counted else range(1, now):
        if state.offer(partial(_given, new=float(k), name=most)):
            break


def _shorten(state: ShrinkingState, names: Sequence[str], least: int = 1) -> None:
    """The smallest number of rounds or local steps, one after the other, from ``least`` on."""
    for name in names:
        for k in _sizes(int(np.max(state.instance.given[name]))):
            if k >= least and state.offer(partial(_resized, numbers=state.numbers, sizes={name: k})):
                break


def _shorten_each(state: ShrinkingState, name: str) -> None:
    """The smallest number of local steps of one client after the other, where they have numbers of their own."""
    for i in range(len(given) if isinstance(given := state.instance.given.get(name), Sequence) else 0):
        for k in _sizes(int(state.instance.given[name][i])):
            if state.offer(_at(partial(_with_steps, name=name, i=i), float(k))):
                break


def _with_steps(instance: Instance, k: float, name: str, i: int) -> Instance:
    steps = list(instance.given[name])
    steps[i] = k
    return replace(instance, given={**instance.given, name: steps})


def _drop(
    state: ShrinkingState, places: Callable[[Instance], Sequence[int]], without: Callable[[Instance, int], Instance]
) -> None:
    """One after the other, from the last one on."""
    for place in reversed(places(state.instance)):
        state.offer(_at(without, place))


def _sizes(now: int) -> Iterator[int]:
    """Smaller numbers of rounds or steps, ascending."""
    yield from range(1, min(now, _FEW + 1))
    for power in itertools.count(1):
        for digit in (1, 2, 3, 5):
            size = digit * 10**power
            if size >= now:
                return
            if size > _FEW:
                yield size


def _resized(instance: Instance, numbers: Numbers, sizes: Mapping[str, int]) -> Instance:
    """The instance with other numbers of rounds or local steps; no size grows."""
    given = {**instance.given}
    for name, size in sizes.items():
        given[name] = np.minimum(given[name], float(size)).tolist()
    pattern, T = instance.participation, int(given.get(numbers.size("rounds"), 1))
    if isinstance(pattern, Trace):
        pattern = Trace(pattern.matrix[:T])
    return replace(instance, given=given, participation=pattern)


def _rows(instance: Instance) -> Sequence[int]:
    pattern = instance.participation
    return range(len(pattern.matrix)) if isinstance(pattern, Trace) and len(pattern.matrix) > 1 else ()


def _without_round(instance: Instance, t: int, rounds: str) -> Instance:
    """Without round t of a given participation."""
    assert isinstance(instance.participation, Trace)
    matrix = np.delete(instance.participation.matrix, t, axis=0)
    return replace(with_given(instance, **{rounds: float(len(matrix))}), participation=Trace(matrix))


def _of_clients(instance: Instance, n: int) -> Instance:
    """With fewer equal clients, all of which take part; of several types as many of each in proportion."""
    sizes = {instance.statement.vocabulary.run.get(role, "") for role in ("participants", "clients")}
    counts = arrays(instance).get("counts")
    if counts is not None:
        fewer = np.maximum(np.round(counts * (n / counts.sum())), 1)
        n = int(fewer.sum())
        given = {name: min(value, float(n)) if name in sizes else value for name, value in instance.given.items()}
        return replace(with_arrays(instance, {"counts": fewer}), given=given)
    given = {name: float(n) if name in sizes else value for name, value in instance.given.items()}
    pattern = None if instance.participation is None else Uniform(n, n)
    return replace(with_arrays(instance, {}, clients=n), given=given, participation=pattern)


def _without_client(instance: Instance, i: int) -> Instance:
    """Without client i; of everybody still everybody takes part, else as many as before where there are so many."""
    problem, pattern = instance.problem, instance.participation
    n = problem.n
    changed = {name: np.delete(array, i, axis=0) for name, array in arrays(instance).items()}
    if n == 1 or not changed:
        raise InputError("no client to leave out")
    weights = problem.fields().get(_WEIGHTS)
    left = np.delete(np.asarray(weights), i) if weights else None
    found = with_arrays(instance, changed, **({} if left is None else {_WEIGHTS: (left / left.sum()).tolist()}))
    given = {k: np.delete(v, i).tolist() if np.shape(v) == (n,) else v for k, v in instance.given.items()}
    for name in (instance.statement.vocabulary.run.get(role, "") for role in ("participants", "clients")):
        if name in given:
            given[name] = min(float(np.max(given[name])), n - 1.0)
    if isinstance(pattern, Trace):
        left_over = np.delete(pattern.matrix, i, axis=1)
        if (pattern.matrix.any(axis=1) & ~left_over.any(axis=1)).any():
            raise InputError("a round would be empty, which a statement need not admit")
        pattern = Trace(left_over)
    elif isinstance(pattern, Bernoulli):
        pattern = Bernoulli(np.delete(pattern.p, i, axis=-1))
    elif isinstance(pattern, Uniform):
        pattern = Uniform(n - 1, min(pattern.m, n - 1))
    elif isinstance(pattern, Graph):
        pattern = _joined(pattern.without(i))
    elif pattern is not None:
        raise InputError("not known for fewer clients")
    start = {
        k: np.delete(v, i, axis=0) if np.shape(v)[:1] == (n,) and k == "v0" else v for k, v in instance.start.items()
    }
    return replace(found, given=given, participation=pattern, start=start)


def _without_variable(instance: Instance, c: int) -> Instance:
    """Without coordinate c of a quadratic; a block that is empty has no noise."""
    problem = instance.problem
    if isinstance(problem, Piecewise) and problem.d > 1:
        changed = {name: np.delete(array, c, axis=1) for name, array in arrays(instance).items()}
        start = {k: np.delete(np.asarray(v), c) if k == "x0" else v for k, v in instance.start.items()}
        return replace(with_arrays(instance, changed), start=start)
    if isinstance(problem, MinMax):
        return _without_pair(instance, problem, c)
    if not isinstance(problem, Quadratic) or problem.d == 1:
        raise InputError("no variable to leave out")
    H, g = (np.delete(array, c, axis=1) for array in (problem.H, problem.g))
    shared = problem.d_u - (c < problem.d_u)
    smaller = Quadratic(np.delete(H, c, axis=2), g, shared)
    given = {
        name: value if smaller.has_noise(instance.statement.vocabulary.facts.get(name, "")) else 0.0
        for name, value in instance.given.items()
    }
    block, own = ("x0", c) if c < problem.d_u else ("v0", c - problem.d_u)
    start = {k: np.delete(np.asarray(v), own, axis=-1) if k == block else v for k, v in instance.start.items()}
    return replace(instance, problem=smaller, given=given, start=start)


def _without_pair(instance: Instance, problem: MinMax, c: int) -> Instance:
    """Without coordinate c, of x or of y; of each one is left."""
    over_x = c < problem.d_x
    if (problem.d_x if over_x else problem.d_y) == 1:
        raise InputError("no variable to leave out")
    own, found = c - (0 if over_x else problem.d_x), arrays(instance)
    curved, linear = ("A", "a") if over_x else ("C", "c")
    changed = {
        curved: np.delete(np.delete(found[curved], own, axis=1), own, axis=2),
        linear: np.delete(found[linear], own, axis=1),
        "B": np.delete(found["B"], own, axis=1 if over_x else 2),
    }
    start = {k: np.delete(np.asarray(v), c) if k == "x0" else v for k, v in instance.start.items()}
    return replace(with_arrays(instance, changed), start=start)


def straight(state: ShrinkingState) -> None:
    """Fewer kinks: one of all clients less, then pieces bent as their neighbours are."""
    if not isinstance(state.instance.problem, _BENT):
        return
    _drop(state, lambda instance: range(_kinks(instance)), _without_kink)
    problem = state.instance.problem
    assert isinstance(problem, _BENT)
    for i, c, j in np.ndindex(*problem.curvatures.shape):
        for neighbour in (j - 1, j + 1):
            if 0 <= neighbour < problem.curvatures.shape[2]:
                state.offer(partial(_bent_as, place=(i, c, j), other=(i, c, neighbour)))


def _kinks(instance: Instance) -> int:
    assert isinstance(instance.problem, _BENT)
    return int(instance.problem.kinks.shape[2])


def _without_kink(instance: Instance, j: int) -> Instance:
    found = arrays(instance)
    return with_arrays(instance, {name: np.delete(found[name], j, axis=2) for name in ("kinks", "curvatures")})


def _bent_as(instance: Instance, place: tuple[int, ...], other: tuple[int, ...]) -> Instance:
    curvatures = arrays(instance)["curvatures"]
    curvatures[place] = curvatures[other]
    return with_arrays(instance, {"curvatures": curvatures})


def units(state: ShrinkingState) -> None:
    """Other units of functions and variables: largest curvature 1, then largest slope 1.

    Every number is multiplied as its scaling degrees say (`bounds.symbols`).
    """
    if isinstance(state.instance.problem, (*_IN_UNITS,)):
        for of_functions in (True, False):
            state.offer(partial(_in_units, functions=of_functions))


def _in_units(instance: Instance, *, functions: bool) -> Instance:
    found, (matrices, linear) = arrays(instance), _IN_UNITS[type(instance.problem)]
    size = max(float(np.abs(found[name]).max()) for name in (matrices if functions else linear))
    if size == 0.0:
        raise InputError("nothing to measure by")
    # f -> a f and x -> c x take H to a H/c^2 and g to a g/c.
    a, c = (1 / size, 1.0) if functions else (size**-2, 1 / size)
    given = {}
    for name, value in instance.given.items():
        quantity = _quantity(instance.statement, name)
        factor = 1.0 if quantity is None else a**quantity.f_degree * c**quantity.x_degree
        given[name] = (np.asarray(value) * factor).tolist()
    start = {name: np.asarray(value) * c for name, value in instance.start.items()}
    changed = {name: found[name] * (a / c**2) for name in matrices} | {name: found[name] * (a / c) for name in linear}
    return replace(with_arrays(instance, changed), given=given, start=start)


def problem_numbers(state: ShrinkingState) -> None:
    """Simpler numbers in the problem: all that are equal at once, then one by one, matrices staying symmetric."""
    for name in arrays(state.instance):
        array = arrays(state.instance)[name]
        for value in sorted({*np.ravel(array).tolist()}, key=lambda x: (-bits(x), x)):
            _simplify(state, value, partial(_replaced, name=name, old=value))
        for place in np.ndindex(*array.shape):
            if _of_matrices(state.instance, name) and place[1] > place[2]:
                continue
            value = float(arrays(state.instance)[name][place])
            _simplify(state, value, partial(_placed, name=name, place=place))


def _of_matrices(instance: Instance, name: str) -> bool:
    """Whether an array holds a symmetric matrix for every client; couplings of x and y may be square, too."""
    array = arrays(instance)[name]
    square = array.ndim == 3 and array.shape[1] == array.shape[2]
    return square and name != _COUPLING and not isinstance(instance.problem, _BENT)


def _replaced(instance: Instance, new: float, name: str, old: float) -> Instance:
    array = arrays(instance)[name]
    return with_arrays(instance, {name: np.where(array == old, new, array)})


def _placed(instance: Instance, new: float, name: str, place: tuple[int, ...]) -> Instance:
    array = arrays(instance)[name]
    array[place] = new
    if _of_matrices(instance, name):
        array[place[0], place[2], place[1]] = new
    return with_arrays(instance, {name: array})


def other_numbers(state: ShrinkingState) -> None:
    """Simpler noise, start, parameters, claimed constants and probabilities."""
    sizes = {*state.instance.statement.vocabulary.run.values()} | {*state.numbers.steps, "delta"}
    for name in state.instance.given:
        if name not in sizes and np.ndim(state.instance.given[name]) == 0:
            value = float(state.instance.given[name])
            _simplify(state, value, partial(_given, name=name))
    for name in state.instance.start:
        for place in np.ndindex(*np.shape(state.instance.start[name])):
            value = float(np.asarray(state.instance.start[name])[place])
            _simplify(state, value, partial(_begun, name=name, place=place))
    pattern = state.instance.participation
    if isinstance(pattern, Bernoulli):
        for p in sorted({*np.ravel(pattern.p).tolist()}):
            _simplify(state, p, partial(_likely, old=p))
    if isinstance(pattern, Graph):
        _simplify(state, pattern.mixes, _mixing)
        for name in _NAMED:
            if state.offer(partial(_on, name=name)):
                return
        _simplify(state, float(pattern.edges.max()), _weighed)


def _begun(instance: Instance, new: float, name: str, place: tuple[int, ...]) -> Instance:
    array = np.array(instance.start[name], dtype=float)
    array[place] = new
    return replace(instance, start={**instance.start, name: array})


def _likely(instance: Instance, new: float, old: float) -> Instance:
    assert isinstance(instance.participation, Bernoulli)
    p = instance.participation.p
    return replace(instance, participation=Bernoulli(np.where(p == old, new, p)))


def _weighed(instance: Instance, new: float) -> Instance:
    """On a graph whose edges have other weights, in the same proportions, the largest being ``new``."""
    graph = instance.participation
    assert isinstance(graph, Graph)
    return replace(instance, participation=_joined(graph.moved(new / float(graph.edges.max()))))


def _joined(graph: Graph) -> Graph:
    """The graph; raises `InputError` for one that never brings all clients together, which theorems are not about."""
    if graph.mixing_rate > _APART:
        raise InputError("not known for clients that never hear of each other")
    return graph


def _on(instance: Instance, name: str) -> Instance:
    graph = instance.participation
    assert isinstance(graph, Graph)
    return replace(instance, participation=Graph.named(name, graph.n, graph.mixes))


def _mixing(instance: Instance, new: float) -> Instance:
    """On the same graph, whose rounds mix with another probability."""
    assert isinstance(instance.participation, Graph)
    graph = instance.participation
    return replace(instance, participation=Graph(graph.mixing, graph.name, new))


def step_sizes(state: ShrinkingState) -> None:
    """Short step sizes in place of chosen ones, where the statement is still violated."""
    for name in state.numbers.steps:
        value = state.verdict.values.get(name)
        if value is not None and math.isfinite(value):
            limit = _CHOSEN if name not in state.instance.given else bits(value)
            _simplify(state, value, partial(_given, name=name), limit)


def named(state: ShrinkingState) -> None:
    """The participants that are drawn for a statement about every sequence of them, one after the other."""
    if state.numbers.traces:
        state.offer(_named)


def _named(instance: Instance) -> Instance:
    setting = resolve(
        instance.statement.at(instance.given), instance.problem, instance.participation, instance.given, DEFAULTS,
        instance.start,
    )  # fmt: skip
    if setting.rounds * instance.problem.n > _LONGEST_TRACE:
        raise InputError("too many rounds to write down")
    trace = setting.traces()[0].fixed(setting.rounds)
    if trace is None:
        raise InputError("the participants follow the run")
    return replace(instance, participation=Trace(trace))


def presence(state: ShrinkingState) -> None:
    """Clients that are away in a given participation take part."""
    pattern = state.instance.participation
    if not isinstance(pattern, Trace):
        return
    for place in np.argwhere(~pattern.matrix).tolist():
        state.offer(partial(_present, place=place))


def _present(instance: Instance, place: Sequence[int]) -> Instance:
    assert isinstance(instance.participation, Trace)
    matrix = instance.participation.matrix.copy()
    matrix[tuple(place)] = True
    return replace(instance, participation=Trace(matrix))


PASSES: tuple[Callable[[ShrinkingState], None], ...] = (
    release, fewer, named, presence, straight, units, problem_numbers, other_numbers, step_sizes,
)  # fmt: skip


# --- Numbers ---


def _simplify(
    state: ShrinkingState, value: float, make: Callable[[Instance, float], Instance], limit: int | None = None
) -> None:
    """Simpler numbers in the place of one, the simplest first, until one is kept."""
    for new in simpler_numbers(value, bits(value) if limit is None else limit):
        if state.offer(_at(make, new)):
            return


def simpler_numbers(value: float, limit: int) -> list[float]:
    """Numbers of fewer than ``limit`` binary digits in the place of one, simplest first.

    0, 1, -1 and 2, the number without its sign, powers of 2 between 1 and the number, and the number to a few binary
    digits. All of them are floats as they are: what is printed is what is meant.
    """
    if value == 0.0 or not math.isfinite(value):
        return [0.0, 1.0][: limit > 1 and value == 0.0]
    mantissa, exponent = math.frexp(abs(value))
    sign = math.copysign(1.0, value)
    near = {0.0, 1.0, -1.0, 2.0, 0.5, abs(value)}
    near |= {sign * math.ldexp(0.5, 1 + round((exponent - 1) * share)) for share in (0.25, 0.5, 0.75, 0.9, 1.0)}
    for digits in _DIGITS:
        scaled = math.ldexp(mantissa, digits)
        roundings = {math.floor(scaled), math.ceil(scaled)} if digits <= 3 else {round(scaled)}
        near |= {sign * math.ldexp(each, exponent - digits) for each in roundings}
    return sorted((x for x in near if bits(x) < limit), key=lambda x: (bits(x), abs(x - value)))
