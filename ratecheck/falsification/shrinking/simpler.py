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
from ratecheck.algebra.simplest import bits, simpler_numbers
from ratecheck.aliases import Array
from ratecheck.engines.kinds.mean_field_engine import MeanFieldEngine
from ratecheck.errors import InputError
from ratecheck.participation import Participation, Trace, Uniform
from ratecheck.participation.model.pattern import Matrix
from ratecheck.problems import Problem
from ratecheck.problems.problem import Known
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
# Numbers that a breakpoint counts as, beside its own.
_BEND = 8
# Digits that functions count as, beside their own, whose mean has no minimum: constants are then those of others.
_ENDLESS = 16
# Binary digits that participants count as which are drawn by a seed, and the longest sequence of them that is written.
_UNNAMED, _LONGEST_TRACE = 10**6, 400

# What simplicity is compared by, in this order.
SIZES = ("clients", "variables", "rounds", "local_steps", "digits")


class ShrinkingState(Protocol):
    """The state of one pass of simplifications."""

    instance: Instance
    verdict: Verdict
    numbers: Numbers

    def offer(self, make: Callable[[Instance], Instance]) -> bool:
        """Whether what ``make`` makes of the instance takes its place."""


@dataclass(frozen=True)
class Numbers:
    """The roles of the numbers of a statement's instances: ``steps`` are its step sizes that nothing else decides.

    ``traces`` says whether it is about every sequence of participants by itself, so that one has to be named.
    """

    statement: Statement
    steps: tuple[str, ...]
    traces: bool

    @staticmethod
    def of(verdict: Verdict) -> Numbers:
        """The step sizes of a verdict that nothing else decides, and whether traces replace participation."""
        steps = tuple(name for name, why in verdict.chosen.items() if why in INDEPENDENT)
        return Numbers(verdict.statement, steps, every_participation(verdict.statement))

    def size(self, role: str) -> str:
        """The symbol of a size of the run; nothing for one that the statement lacks."""
        return self.statement.vocabulary.run.get(role, "")

    def steps_in(self, given: Mapping[str, Any]) -> str:
        """The name under which local steps are given: the symbol, or one that stands for the clients' own numbers."""
        symbol, aliases = self.size("local_steps"), self.statement.vocabulary.aliases
        return next((name for name in given if name in aliases and symbol in aliases[name].targets), symbol)

    def lengths(self, instance: Instance) -> tuple[float, float]:
        """Rounds, and the most local steps of a client in one."""
        given = instance.given
        rounds, steps = (given.get(name, 1.0) for name in (self.size("rounds"), self.steps_in(given)))
        return float(np.max(rounds)), float(np.max(steps))

    def is_claim(self, name: str) -> bool:
        """Whether a given number is a constant that is certified where it is not given."""
        known = quantity(self.statement, name)
        return known is not None and known.role is Role.CONSTANT and not self.is_noise(name)

    def is_noise(self, name: str) -> bool:
        """Whether a name is a level of noise."""
        return self.statement.vocabulary.facts.get(name, "").startswith("sigma")

    def simplicity(self, instance: Instance) -> tuple[int, ...]:
        """Clients, variables, rounds, local steps, and binary digits of all numbers: the less, the simpler.

        A number of the problem that differs between clients counts for every client.
        """
        problem, given = instance.problem, instance.given
        sizes = [self.size("rounds"), self.steps_in(given)]
        run = [int(np.max(given[name])) if name in given else 0 for name in sizes]
        total = sum(bits(x) for array in problem.arrays().values() for x in np.ravel(array))
        total += _BEND * problem.bends + _ENDLESS * (self.statement.algorithm is not None and _endless(problem))
        total += sum(bits(x) for array in instance.start.values() for x in np.ravel(np.asarray(array, dtype=float)))
        for name, value in given.items():
            if name not in sizes:
                total += sum(bits(x) for x in np.ravel(value)) + self.is_claim(name)
        total += _CHOSEN * sum(name not in given for name in self.steps)
        pattern = instance.participation
        unnamed = self.traces and problem.n > 1 and (pattern is None or pattern.matrix is None)
        return problem.n, problem.d, *run, total + (pattern.digits if pattern else 0) + _UNNAMED * unnamed


def unlike_neighbours(instance: Instance) -> int:
    """How often a client's functions are not those of the one before."""
    n = instance.problem.n
    arrays = [array.reshape(n, -1) for array in instance.problem.arrays().values() if array.shape[:1] == (n,)]
    rows = np.concatenate(arrays, axis=1) if arrays else np.zeros((n, 0))
    return int(np.count_nonzero((rows[1:] != rows[:-1]).any(axis=1)))


def _endless(problem: Problem) -> bool:
    """Whether a quadratic objective has no minimum."""
    quadratic = problem.quadratic
    return quadratic is not None and problem.potential and quadratic.minimizer() is None


def quantity(statement: Statement, name: str) -> Quantity | None:
    """What a name stands for; None for an alias such as alpha, which stands for several symbols."""
    return next((each for each in statement.vocabulary if each.name == name), None)


def with_given(instance: Instance, **values: float) -> Instance:
    """The instance with other given numbers."""
    return replace(instance, given={**instance.given, **values})


def _given(instance: Instance, new: float, name: str) -> Instance:
    return with_given(instance, **{name: new})


def _at(make: Callable[[Instance, Any], Instance], place: Any) -> Callable[[Instance], Instance]:
    return lambda instance: make(instance, place)


def consistent(instance: Instance) -> Instance:
    """The instance with given numbers that follow from participation set to what they are."""
    pattern, statement = instance.participation, instance.statement
    name = statement.vocabulary.run.get("participants", "")
    given = dict(instance.given)
    if pattern is not None and pattern.matrix is not None and name in given:
        given[name] = float(pattern.matrix.sum(axis=1).max())
    if pattern is not None and pattern.delta is not None and "delta" in given:
        given["delta"] = pattern.delta
    return replace(instance, given=given)


# --- Passes ---


def release(state: ShrinkingState) -> None:
    """Certified constants and chosen step sizes in place of given ones."""
    loose = [name for name in state.instance.given if state.numbers.is_claim(name) or name in state.numbers.steps]
    if not state.offer(partial(without, names=loose)):
        for name in loose:
            state.offer(partial(without, names=[name]))


def without(instance: Instance, names: Sequence[str]) -> Instance:
    """The instance without these given numbers, which are certified or chosen then."""
    return replace(instance, given={name: value for name, value in instance.given.items() if name not in names})


def fewer(state: ShrinkingState) -> None:
    """Fewer clients, variables, rounds, local steps and participants."""
    rounds, steps = state.numbers.size("rounds"), state.numbers.steps_in(state.instance.given)
    both = [name for name in (rounds, steps) if name in state.instance.given]
    for k in (1, 2, 3):
        if state.offer(partial(resized, numbers=state.numbers, sizes=dict.fromkeys(both, k))):
            break
    # Long runs first: each of what follows would take as long.
    _shorten(state, both, least=_LONG)
    knows = state.instance.problem.knows
    everybody, counted = MeanFieldEngine.needs <= knows, Known.TYPES in knows
    if counted:
        any(state.offer(_at(_of_clients, k)) for k in _sizes(state.instance.problem.n))
    else:
        _drop(state, lambda instance: range(instance.problem.n), _without_client)
    _drop(state, lambda instance: range(instance.problem.d), _without_variable)
    _shorten(state, both)
    _shorten_each(state, steps)
    _drop(state, _rows, partial(_without_round, rounds=rounds))
    most = state.numbers.size("participants")
    now = int(np.max(state.instance.given.get(most, 1)))
    for k in () if everybody else _sizes(now) if counted else range(1, now):
        if state.offer(partial(_given, new=float(k), name=most)):
            break


def _shorten(state: ShrinkingState, names: Sequence[str], least: int = 1) -> None:
    """The smallest number of rounds or local steps, one after the other, from ``least`` on."""
    for name in names:
        for k in _sizes(int(np.max(state.instance.given[name]))):
            if k >= least and state.offer(partial(resized, numbers=state.numbers, sizes={name: k})):
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
    """Changes that drop one element, from the last one on."""
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


def resized(instance: Instance, numbers: Numbers, sizes: Mapping[str, int]) -> Instance:
    """The instance with other numbers of rounds or local steps; no size grows."""
    given = {**instance.given}
    for name, size in sizes.items():
        given[name] = np.minimum(given[name], float(size)).tolist()
    pattern, T = instance.participation, int(given.get(numbers.size("rounds"), 1))
    if pattern is not None and pattern.matrix is not None:
        pattern = Trace(pattern.matrix[:T])
    return replace(instance, given=given, participation=pattern)


def _rows(instance: Instance) -> Sequence[int]:
    matrix = _matrix(instance)
    return range(len(matrix)) if matrix is not None and len(matrix) > 1 else ()


def _matrix(instance: Instance) -> Matrix | None:
    """The given participation, round by round, where it is one."""
    return None if instance.participation is None else instance.participation.matrix


def _without_round(instance: Instance, t: int, rounds: str) -> Instance:
    """Without round t of a given participation."""
    matrix = _matrix(instance)
    assert matrix is not None
    matrix = np.delete(matrix, t, axis=0)
    return replace(with_given(instance, **{rounds: float(len(matrix))}), participation=Trace(matrix))


def _of_clients(instance: Instance, n: int) -> Instance:
    """With fewer clients that are counted by type, all of which take part where a pattern is given."""
    problem, pattern = instance.problem.with_clients(n), instance.participation
    sizes = {instance.statement.vocabulary.run.get(role, "") for role in ("participants", "clients")}
    given = {k: min(value, float(problem.n)) if k in sizes else value for k, value in instance.given.items()}
    if pattern is not None and pattern.rate < 1:
        raise InputError("not known for fewer clients")
    return replace(
        instance,
        problem=problem,
        given=given,
        participation=None if pattern is None else Uniform(problem.n, problem.n),
    )


def _without_client(instance: Instance, i: int) -> Instance:
    """Without client i; of everybody still everybody takes part, else as many as before where there are so many."""
    n, pattern = instance.problem.n, instance.participation
    problem = instance.problem.without_client(i)
    given = {k: np.delete(v, i).tolist() if np.shape(v) == (n,) else v for k, v in instance.given.items()}
    for name in (instance.statement.vocabulary.run.get(role, "") for role in ("participants", "clients")):
        if name in given:
            given[name] = min(float(np.max(given[name])), n - 1.0)
    start = {
        k: np.delete(v, i, axis=0) if np.shape(v)[:1] == (n,) and k == "v0" else v for k, v in instance.start.items()
    }
    fewer = None if pattern is None else pattern.without_client(i)
    return replace(instance, problem=problem, given=given, participation=fewer, start=start)


def _without_variable(instance: Instance, c: int) -> Instance:
    """Without coordinate c of the joint variable; a block that is empty has no noise."""
    smaller, facts = instance.problem.without_variable(c), instance.statement.vocabulary.facts
    given = {name: value if smaller.has_noise(facts.get(name, "")) else 0.0 for name, value in instance.given.items()}
    block, own = _place(instance.problem, c)
    start = {k: np.delete(np.asarray(v), own, axis=-1) if k == block else v for k, v in instance.start.items()}
    return replace(instance, problem=smaller, given=given, start=start)


def _place(problem: Problem, c: int) -> tuple[str, int]:
    """The part of a starting point that has coordinate c of the joint variable, and its place there."""
    for name, shape in problem.starts.items():
        if c < shape[-1]:
            return name, c
        c -= shape[-1]
    raise InputError("no variable to leave out")


def _of_problem(instance: Instance, change: Callable[[Any], Any]) -> Instance:
    return replace(instance, problem=change(instance.problem))


def straight(state: ShrinkingState) -> None:
    """Fewer breakpoints, where the problem has some."""
    for change in state.instance.problem.straighter():
        state.offer(partial(_of_problem, change=change))


def problem_numbers(state: ShrinkingState) -> None:
    """Simpler numbers in the problem: all that are equal at once, then one by one, matrices staying symmetric."""
    for name in state.instance.problem.arrays():
        array = state.instance.problem.arrays()[name]
        for value in sorted({*np.ravel(array).tolist()}, key=lambda x: (-bits(x), x)):
            _simplify(state, value, partial(_replaced, name=name, old=value))
        for place in np.ndindex(*array.shape):
            if name in state.instance.problem.symmetric and place[1] > place[2]:
                continue
            value = float(state.instance.problem.arrays()[name][place])
            _simplify(state, value, partial(_placed, name=name, place=place))


def _replaced(instance: Instance, new: float, name: str, old: float) -> Instance:
    array = instance.problem.arrays()[name]
    return _with_array(instance, name, np.where(array == old, new, array))


def _placed(instance: Instance, new: float, name: str, place: tuple[int, ...]) -> Instance:
    array = instance.problem.arrays()[name]
    array[place] = new
    if name in instance.problem.symmetric:
        array[place[0], place[2], place[1]] = new
    return _with_array(instance, name, array)


def _with_array(instance: Instance, name: str, array: Array) -> Instance:
    return replace(instance, problem=instance.problem.with_arrays({name: array}))


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
    for changes in () if pattern is None else pattern.simpler():
        any(state.offer(partial(_of_pattern, change=change)) for change in changes)


def _of_pattern(instance: Instance, change: Callable[[Any], Participation]) -> Instance:
    return replace(instance, participation=change(instance.participation))


def _begun(instance: Instance, new: float, name: str, place: tuple[int, ...]) -> Instance:
    array = np.array(instance.start[name], dtype=float)
    array[place] = new
    return replace(instance, start={**instance.start, name: array})


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
    matrix = _matrix(state.instance)
    for place in () if matrix is None else np.argwhere(~matrix).tolist():
        state.offer(partial(_present, place=place))


def _present(instance: Instance, place: Sequence[int]) -> Instance:
    matrix = _matrix(instance)
    assert matrix is not None
    present = matrix.copy()
    present[tuple(place)] = True
    return replace(instance, participation=Trace(present))


PASSES: tuple[Callable[[ShrinkingState], None], ...] = (
    release, fewer, named, presence, straight, problem_numbers, other_numbers, step_sizes,
)  # fmt: skip


# --- Numbers ---


def _simplify(
    state: ShrinkingState, value: float, make: Callable[[Instance, float], Instance], limit: int | None = None
) -> None:
    """Simpler numbers in the place of one, the simplest first, until one is kept."""
    for new in simpler_numbers(value, bits(value) if limit is None else limit):
        if state.offer(_at(make, new)):
            return
