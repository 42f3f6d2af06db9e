"""Deterministic runs on piecewise quadratic functions in exact numbers, by calling the algorithm's own functions.

Coordinates are apart, and a gradient is a piecewise linear function of one of them. Numbers are rationals or, where a
step size is irrational, enclosures that are rounded outwards after every step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ratecheck.algebra.ball import EXACT
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import Entries
from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import LinearMaps, TermOver, U, V, Variables
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.rigorous.exact_run import ExactInputs, ExactRun, RunSize
from ratecheck.engines.rigorous.linear_forms import exact_answer, exact_parameters, in_round
from ratecheck.engines.setup import Setup
from ratecheck.participation import Participation
from ratecheck.problems import Piecewise, Problem
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.problems.piecewise_quadratic.piecewise import CHANGES

# Gradients of one coordinate that are evaluated in some seconds.
_MOST_GRADIENTS = 50_000
_EPS = float(np.finfo(float).eps)
# Digits to which runs are followed where nothing is to be proved, far more than those of float64, and those of long
# runs: every step may widen what is known of a point by a factor 1 + gamma L, although the exact one comes nearer.
_BITS = (192, 768, 3072, 12288)
# What a derivative of a piecewise quadratic function costs, in products of numbers.
_GRADIENT = 300
# What may be unknown of the largest number of a kind.
_SHARPLY = 2.0**-50


@dataclass(frozen=True)
class PiecewiseRun(ExactRun):
    """A run without randomness on functions that are quadratic piece by piece.

    ``start`` (d,) is that of all clients, ``parameters`` what the algorithm's functions receive as ``p``, per client,
    without m and delay.
    """

    method: Method
    problem: Piecewise
    start: Sequence[Fraction]
    K: int
    T: int
    trace: Participation
    parameters: tuple[Mapping[str, Number], ...]

    doubt: ClassVar[str] = "exact arithmetic does not tell the sides apart"

    @staticmethod
    def form(problem: Problem) -> Piecewise | None:
        return problem.seen_as(Piecewise)

    @staticmethod
    def products(run: RunSize) -> float:
        """See `ExactRun.products`: by derivatives of functions of one variable."""
        return float(_GRADIENT) * run.problem.n * run.problem.d * run.K * run.T

    @classmethod
    def followed(cls, given: ExactInputs) -> PiecewiseRun:
        """See `ExactRun.followed`; raises `UndecidedError` for runs that are random, long, or use another oracle."""
        method, problem, K, T = given.method, given.problem, given.K, given.T
        pieces = cls.form(problem)
        assert pieces is not None
        algorithm = method.algorithm
        if any(level != 0 for level in given.noise.values()) or given.trace.fixed(T) is None:
            raise UndecidedError("a random run on functions that are not quadratic is not followed rigorously")
        if not algorithm.asks_gradients or algorithm.projects:
            raise UndecidedError(f"{method.spoken} on functions that are not quadratic is not followed rigorously")
        if problem.n * K * T * problem.d > _MOST_GRADIENTS:
            raise UndecidedError(f"more than {_MOST_GRADIENTS} gradients are not followed rigorously")
        x0 = given.start.get("x0")
        point = np.zeros(problem.d) if x0 is None else np.asarray(x0, dtype=float)
        parameters = exact_parameters(method, problem.n, K, given.step_sizes)
        return PiecewiseRun(method, pieces, [Fraction(float(x)) for x in point], K, T, given.trace, parameters)

    @property
    def gradients(self) -> int:
        """The number of derivatives of functions of one variable that the run evaluates."""
        return self.problem.n * self.problem.d * self.K * self.T

    def rounds(self, names: Sequence[str], bits: int) -> Iterator[dict[str, Enclosure]]:
        """Recorded quantities before every round in turn, and what changes in it; see `CHANGES`."""
        further = bool(CHANGES & {*names})
        before: _Snapshot | None = None
        for server, clients in self._states(bits, further=further):
            here = self._snapshot(server, clients)
            if not further:
                yield {name: self._recorded(name, here) for name in names}
            elif before is not None:
                yield {
                    name: self._changed(name, before, here) if name in CHANGES else self._recorded(name, before)
                    for name in names
                }
            before = here

    def _states(self, bits: int, *, further: bool) -> Iterator[tuple[Variables, list[Variables]]]:
        """Server and clients before every round, and after the last one where they are wanted ``further``."""
        algorithm, n, last = self.method.algorithm, self.problem.n, [-1] * self.problem.n
        present = self.trace.fixed(self.T)
        assert present is not None
        at_start = {U: _column(self.start), V: _column([])}
        clients = [
            exact_answer(algorithm.start_client, at_start, self._gradient(i, at_start[U]), self._p(i)) for i in range(n)
        ]
        average = {name: sum(each[name] for each in clients) / Fraction(n) for name in algorithm.client}
        server = exact_answer(algorithm.start_server, at_start, average, self._p(0))
        first = next(name for name, block in algorithm.local.items() if block == U)
        for t in range(self.T):
            yield server, clients
            if t == self.T - 1 and not further:
                return
            members = [int(i) for i in np.flatnonzero(present[t])]
            messages, rounds = list[Variables](), list[_ClientRound]()
            for i in members:
                p = self._p(i, delay=t - last[i] if algorithm.uses_delay else 1)
                last[i] = t
                done = next((each for each in rounds if each.serves(self._kinds[i], p, clients[i])), None)
                if done is None:
                    local = exact_answer(algorithm.begin, server, clients[i], p)
                    for step in range(self.K):
                        moved = exact_answer(algorithm.step, local, self._gradient(i, local[first]), p)
                        local = _rounded(moved, bits, {} if step == 0 else local)
                    state, message = exact_answer(algorithm.finish, server, clients[i], local, p)
                    done = _ClientRound(self._kinds[i], p, clients[i], _rounded(state, bits), message)
                    rounds.append(done)
                clients = [*clients[:i], done.after, *clients[i + 1 :]]
                messages.append(done.message)
            if members or not algorithm.averages:
                zero = {name: self._zero(block) for name, block in algorithm.message.items()}
                total = {name: sum((each[name] for each in messages), zero[name]) for name in algorithm.message}
                server = _rounded(exact_answer(algorithm.aggregate, server, total, self._p(0, len(members))), bits)
        yield server, clients

    @cached_property
    def _kinds(self) -> tuple[int, ...]:
        """The first client with the same function as each."""
        curves = self.problem.curves
        return tuple(curves.index(own) for own in curves)

    def _zero(self, block: str) -> Entries:
        return _column([Fraction(0)] * (self.problem.d if block == U else 0))

    def _p(self, i: int, participants: int = 1, delay: int = 1) -> dict[str, Any]:
        return in_round(self.parameters[i], participants, delay)

    def _gradient(self, i: int, point: Entries) -> Variables:
        curves = self.problem.curves[i]
        found = [_range(curve, x) for curve, x in zip(curves, point, strict=True)]
        return {U: _column(found), V: _column([])}

    def _snapshot(self, server: Variables, clients: Sequence[Variables]) -> _Snapshot:
        points = [self._point(server, client) for client in clients]
        gradients = [self._gradient(i, point) for i, point in enumerate(points)]
        terms = [
            exact_answer(self.method.algorithm.records, server, client, gradients[i], self._p(i))
            for i, client in enumerate(clients)
        ]
        return _Snapshot(points, [each[U] for each in gradients], terms)

    def _recorded(self, name: str, here: _Snapshot) -> Enclosure:
        """A quantity before a round."""
        if name in here.terms[0]:
            columns = zip(*(each[name] for each in here.terms), strict=True)
            return sum((self._term(column, here.points) for column in columns), Enclosure.of(0))
        if name == "gap" and self.problem.lowest is not None:
            return self._height(here) - self.problem.lowest
        if name == "distance2" and self.problem.minimiser is not None:
            return _square(here.points[0] - _column(self.problem.minimiser))
        raise UndecidedError(f"{name} is not recorded rigorously")

    def _height(self, here: _Snapshot) -> Enclosure:
        """F at the server's point."""
        return sum(map(self._value, range(self.problem.n), here.points), Enclosure.of(0)) / self.problem.n

    def _changed(self, name: str, here: _Snapshot, after: _Snapshot) -> Enclosure:
        """The change of the state in a round."""
        step = after.points[0] - here.points[0]
        if name in ("change:gap", "descent"):
            return self._height(after) - self._height(here)
        if name == "inner_u":
            return _inner(sum(here.gradients) / Fraction(self.problem.n), step)
        if name == "du2":
            return _square(step)
        if self.problem.minimiser is None:
            raise UndecidedError(f"{name} without a single minimiser")
        # Not as a difference of squares.
        return _inner(step, step + (here.points[0] - _column(self.problem.minimiser)) * Fraction(2))

    def _term(self, column: Sequence[Any], points: Sequence[Entries]) -> Enclosure:
        """A summand of a recorded quantity, given client by client."""
        n, factors = self.problem.n, [Enclosure.of(term.factor) for term in column]
        if column[0].over is TermOver.VALUES:
            values = map(self._value, range(n), points)
            return sum((factor * value for factor, value in zip(factors, values, strict=True)), Enclosure.of(0)) / n
        if column[0].over is TermOver.MEANS:
            left, right = (sum(side) / Fraction(n) for side in zip(*((t.left, t.right) for t in column), strict=True))
            same = all(term.left is term.right for term in column)
            return factors[0] * (_square(left) if same else _inner(left, right))
        products = (
            factor * (_square(term.left) if term.left is term.right else _inner(term.left, term.right))
            for factor, term in zip(factors, column, strict=True)
        )
        return sum(products, Enclosure.of(0)) / n

    def _value(self, i: int, point: Entries) -> Enclosure:
        """f_i at a point, by the derivative where the point is enclosed: |f_i(x) - f_i(y)| <= |x - y| max |f_i'|."""
        total = Enclosure.of(0)
        for curve, x in zip(self.problem.curves[i], point, strict=True):
            enclosed = Enclosure.of(x)
            middle = curve.value(enclosed.middle)
            steep = Enclosure.of(_range(curve, enclosed))
            reach = max(abs(steep.low), abs(steep.high)) * enclosed.width / 2
            total = total + Enclosure(middle - reach, middle + reach)
        return total

    def _point(self, server: Variables, client: Variables) -> Entries:
        """The shared variables at which quantities are recorded."""
        algorithm = self.method.algorithm
        group, slot = LinearMaps(algorithm).point()[algorithm.blocks.index(U)]
        names = algorithm.server if group == "server" else algorithm.client
        name = [name for name, block in names.items() if block == U][slot]
        return np.asarray((server if group == "server" else client)[name], dtype=object)


@dataclass(frozen=True)
class _ClientRound:
    """What a client of a ``kind`` with these parameters makes of a round from ``before``: ``after``, and a message."""

    kind: int
    parameters: Mapping[str, Any]
    before: Variables
    after: Variables
    message: Variables

    def serves(self, kind: int, parameters: Mapping[str, Any], before: Variables) -> bool:
        """True for the round of another client, who is alike in all that a round depends on."""
        alike = (kind, parameters) == (self.kind, self.parameters)
        return alike and all(np.array_equal(before[name], array) for name, array in self.before.items())


@dataclass(frozen=True)
class _Snapshot:
    """Before a round, client by client: recorded points, gradients there, and the terms of what is recorded."""

    points: Sequence[Entries]
    gradients: Sequence[Entries]
    terms: Sequence[Mapping[str, Sequence[Any]]]


def _column(values: Sequence[Any]) -> Entries:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _inner(left: Any, right: Any) -> Enclosure:
    """The inner product."""
    return sum((Enclosure.of(a) * b for a, b in zip(np.ravel(left), np.ravel(right), strict=True)), Enclosure.of(0))


def _square(vector: Any) -> Enclosure:
    """The squared norm, no negative number whatever the vector's entries are known to."""
    return sum((Enclosure.of(x).power(Fraction(2)) for x in np.ravel(vector)), Enclosure.of(0))


def _range(curve: ScalarFunction, x: Number) -> Number:
    """The range of phi' on {x} or an interval."""
    enclosed = Enclosure.of(x)
    if enclosed.exact:
        return curve.gradient(enclosed.low)
    return Enclosure(*curve.gradients(enclosed.low, enclosed.high))


def _rounded(variables: Variables, bits: int, before: Variables | None = None) -> Variables:
    """With enclosures on a grid of 2^-bits, rounded outwards; rationals stay exact where no bits are given.

    What is the same as in ``before`` is on the grid.
    """
    kept = before or {}
    if bits == EXACT:
        if any(isinstance(x, Enclosure) and not x.exact for array in variables.values() for x in np.ravel(array)):
            raise UndecidedError("a number of the run is irrational")
        return variables
    return {
        name: array if array is kept.get(name) else _column([_on_grid(x, bits) for x in np.ravel(array)])
        for name, array in variables.items()
    }


def _on_grid(x: Number, bits: int) -> Number:
    enclosed = Enclosure.of(x)
    low = (enclosed.low.numerator << bits) // enclosed.low.denominator
    high = -((-enclosed.high.numerator << bits) // enclosed.high.denominator)
    below = Fraction(low, 1 << bits)
    return below if low == high else Enclosure(below, Fraction(high, 1 << bits))


def followed(setup: Setup) -> PiecewiseRun:
    """The run of a setup, whose floats are the binary fractions that they are; raises `UndecidedError` as `of`."""
    problem, K = setup.problem.seen_as(Piecewise), int(setup.local_steps[0])
    assert problem is not None
    if (setup.local_steps != K).any() or (setup.weights != 1.0).any():
        raise UndecidedError("local steps that differ by client are not followed rigorously")
    sizes: dict[str, Any] = {
        name: [Fraction(float(x)) for x in value] if isinstance(value, np.ndarray) else Fraction(value)
        for name, value in setup.step_sizes.items()
        if np.isfinite(value).all()
    }
    return PiecewiseRun.of(
        setup.method, problem, setup.trace, K=K, T=setup.T, noise={"sigma_u": Fraction(float(setup.noise.max()))},
        step_sizes=sizes, start={"x0": setup.point[0, : problem.d]},
    )  # fmt: skip


def expect(setup: Setup, names: Iterable[str]) -> Expectation:
    """The recorded quantities of a deterministic run, round by round; raises `UndecidedError` as `followed`.

    Nothing is lost in the run; numbers are rounded to floats in the end.
    """
    wanted, run = sorted({*names, *setup.records}), followed(setup)
    for bits in _BITS:
        followed_rounds = [*run.rounds(wanted, bits)]
        found = {name: [each[name] for each in followed_rounds] for name in wanted}
        with np.errstate(over="ignore"):
            records = {name: np.array([_nearest(x.middle) for x in values]) for name, values in found.items()}
            widths = {name: np.array([_nearest(x.width) for x in values]) for name, values in found.items()}
        if all(widths[name].max() <= _SHARPLY * max(np.abs(records[name]).max(), _SHARPLY) for name in wanted):
            break
    errors = {name: widths[name] + _EPS * np.abs(records[name]) for name in wanted}
    weights = setup.metric
    return Expectation(records, errors, weights, setup.trace.rate)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
