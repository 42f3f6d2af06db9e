"""A statement about a run without noise and with every client in every round, as a run on vectors of any kind.

Such a run is decided by the answers of the oracle alone. `DeterministicCase.run` evaluates the algorithm's own
functions on whatever can be added and scaled: points of a performance-estimation problem, coefficients of unknown
vectors, exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bounds.statement import Assumption, Given, Over, Relation, Statement, number
from bounds.symbols import COMMON, Role, Vocabulary
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.algorithm import Algorithm, LinearMaps, Term, U, V, Variables
from ratecheck.algorithms.algorithm import TermOver as Clients
from ratecheck.algorithms.asking import exactly, is_own
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.settings.applicability import foreign
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.feasible_set import step_names
from ratecheck.stepsizes.interval import Interval

# Anything that can be added and scaled, and what the product of two such things is.
Vector = Any
Scalar = Any
Oracle = Callable[[int, Vector], Vector]
Inner = Callable[[Vector, Vector], Scalar]
Convert = Callable[[float], Scalar]

_ASSUMED = {
    Assumption.SMOOTHNESS,
    Assumption.NOISE,
    Assumption.DISSIMILARITY,
    Assumption.UNIFORM_SAMPLING,
    Assumption.FULL_PARTICIPATION,
    Assumption.NO_PERSONAL,
}
_NOISE = Assumption.NOISE.constants
# What an adversary respects: smoothness, the initial gap, dissimilarity, and the clients' gradients at the start.
_RESPECTED = {"L", "F_0", "b", "B_0"}
# Digits in which right sides are computed.
_DIGITS = 50
# Terms of a left side whose units agree to this are in the same.
_SAME = 1e-9
# The symbols that say how long and how wide a run is.
_RUN = {"clients": "n", "participants": "m", "local_steps": "K", "rounds": "T"}


@dataclass(frozen=True)
class Snapshot:
    """The run before one round: the recorded point, the gradients of the f_i there, and what the method records."""

    point: Vector
    gradients: tuple[Vector, ...]
    records: tuple[Mapping[str, tuple[Term, ...]], ...]

    def square(self, inner: Inner) -> Scalar:
        """||grad f||^2, f being the mean of the f_i."""
        gradient = mean(self.gradients)
        return inner(gradient, gradient)

    def squares(self, inner: Inner) -> Scalar:
        """sum_i ||grad f_i||^2."""
        return total([inner(gradient, gradient) for gradient in self.gradients])

    def dissimilarity(self, inner: Inner) -> Scalar:
        """(1/n) sum_i ||grad f_i - grad f||^2."""
        gradient = mean(self.gradients)
        return mean([inner(each - gradient, each - gradient) for each in self.gradients])

    def record(self, name: str, inner: Inner, convert: Convert) -> Scalar:
        """A recorded quantity, such as G_u."""
        values = []
        for terms in zip(*(records[name] for records in self.records), strict=True):
            lefts, rights = [term.left for term in terms], [term.right for term in terms]
            if terms[0].over is Clients.CLIENTS:
                value = mean([inner(left, right) for left, right in zip(lefts, rights, strict=True)])
            else:
                value = inner(mean(lefts), mean(rights))
            values.append(convert(terms[0].factor) * value)
        return total(values)


@dataclass(frozen=True)
class DeterministicCase:
    """A statement at numbers at which its run is deterministic; ``values`` has all of its parameters.

    The variables are shared: personal ones, where the method has them, are absent. ``approached`` maps step sizes that
    are just inside an open end of what is admissible to that end.
    """

    statement: Statement
    values: Mapping[str, float]
    approached: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def of(statement: Statement, given: Given, *, ignore_conditions: bool = False) -> DeterministicCase:
        """Complete the numbers; a step size that the statement leaves open takes its largest admissible value.

        Where that end is open the value is just inside. Raises `InputError` where the statement is about anything but a
        deterministic run of shared variables that asks for gradients, where numbers are missing, and, unless
        ``ignore_conditions``, where they break a condition of the statement.
        """
        _check_kind(statement)
        statement.check_names(given)
        silent = {name: 0.0 for name in _NOISE if name in statement.parameters}
        everyone = {"m": given["n"]} if "n" in given and "m" in statement.parameters else {}
        values, _ = statement.complete({**silent, **everyone, **given})
        values, approached = _with_open_steps(statement, values)
        _check_values(statement, values, ignore_conditions=ignore_conditions)
        return DeterministicCase(statement, values, approached)

    @property
    def method(self) -> Method:
        """The method that the statement is about."""
        return METHODS[self.statement.algorithm or ""]

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.values["n"])

    @property
    def dissimilar(self) -> bool:
        """Whether the statement bounds the dissimilarity of the clients' gradients."""
        return Assumption.DISSIMILARITY in self.statement.assumptions

    @cached_property
    def right(self) -> float:
        """The right side of the first claim, in as many digits as a difference in it may take."""
        return float(self._precise(self.statement.claims[0].bound))

    @cached_property
    def size(self) -> float:
        """How large the right side would be if nothing in it cancelled."""
        parts = sp.Add.make_args(sp.expand(self.statement.claims[0].bound))
        return float(sum(abs(self._precise(part)) for part in parts))

    def _precise(self, expr: sp.Expr) -> sp.Expr:
        exact = {symbol: sp.Rational(*self.values[symbol.name].as_integer_ratio()) for symbol in expr.free_symbols}
        value = expr.xreplace(exact).evalf(_DIGITS)
        if not (value.is_Float or value.is_Rational):
            raise InputError(f"{self.statement.key} has no finite value at these numbers: its right side is {value}")
        return value

    def unit(self, name: str) -> float:
        """What a symbol is measured in where F_0 = 1 and L = 1: F_0^f_degree * (F_0/L)^(x_degree/2)."""
        quantity = self.statement.vocabulary[name]
        gap, L = self.values["F_0"], self.values["L"]
        return math.pow(gap, quantity.f_degree) * math.pow(gap / L, quantity.x_degree / 2)

    @cached_property
    def left_unit(self) -> float:
        """The unit of the left side; raises `InputError` where its terms have different ones."""
        units = {}
        for quantity, weight in self.statement.claims[0].metric.weights.items():
            if scaled := number(weight, self.scaled.values):
                units[quantity.name] = number(weight, self.values) / scaled * self.unit(quantity.name)
        if max(units.values(), default=1.0) > (1 + _SAME) * min(units.values(), default=1.0):
            listed = ", ".join(f"{unit:.6g} of {name}" for name, unit in units.items())
            raise InputError(f"{self.statement.key} has no worst case here: its left side mixes units ({listed})")
        return next(iter(units.values()), 1.0)

    @property
    def square_unit(self) -> float:
        """The unit of a gradient's square."""
        return self.values["F_0"] * self.values["L"]

    @cached_property
    def scaled(self) -> DeterministicCase:
        """The same in units in which F_0 = 1 and L = 1."""
        return DeterministicCase(self.statement, {name: value / self.unit(name) for name, value in self.values.items()})

    def run(self, zero: Vector, oracle: Oracle, convert: Convert = float) -> tuple[Snapshot, ...]:
        """What is recorded before each of the T rounds, from the start 0.

        ``oracle(i, x)`` is grad f_i(x), asked in the order of the run; ``convert`` makes a parameter a number of the
        vectors' kind.
        """
        algorithm, n, K, T = self.method.algorithm, self.n, int(self.values["K"]), int(self.values["T"])
        p = self._parameters(convert)
        recorded = _recorded(algorithm) or ""

        if is_own(type(algorithm)):
            LinearMaps(algorithm).check(self._parameters(float))

        def gradient(i: int, x: Vector) -> Variables:
            return {U: oracle(i, x), V: zero}

        def ask(function: Callable[..., Any], *arguments: Any) -> Any:
            # A float among rationals would make the run inexact.
            return exactly(function, *arguments) if convert is Fraction else function(*arguments)

        start = {U: zero, V: zero}
        clients = [ask(algorithm.start_client, start, gradient(i, zero), p) for i in range(n)]
        averages = {name: mean([client[name] for client in clients]) for name in algorithm.client}
        server = ask(algorithm.start_server, start, averages, p)
        snapshots: list[Snapshot] = []
        while True:
            gradients = [gradient(i, server[recorded]) for i in range(n)]
            records = tuple(ask(algorithm.records, server, clients[i], gradients[i], p) for i in range(n))
            snapshots.append(Snapshot(server[recorded], tuple(each[U] for each in gradients), records))
            if len(snapshots) == T:
                return tuple(snapshots)
            messages = []
            for i in range(n):
                local = ask(algorithm.begin, server, clients[i], p)
                for _ in range(K):
                    local = ask(algorithm.step, local, gradient(i, local[_first(algorithm.local)]), p)
                clients[i], message = ask(algorithm.finish, server, clients[i], local, p)
                messages.append(message)
            sums = {name: total([message[name] for message in messages]) for name in algorithm.message}
            server = ask(algorithm.aggregate, server, sums, p)

    def left(self, run: Sequence[Snapshot], inner: Inner, convert: Convert = float) -> Scalar:
        """The left side of the first claim: the mean over the rounds of its combination of recorded quantities."""
        weights, recorded = self.statement.claims[0].metric.weights, self.statement.vocabulary.facts
        factors = {quantity.name: convert(number(weight, self.values)) for quantity, weight in weights.items()}
        return mean(
            [
                total([f * snapshot.record(recorded[name], inner, convert) for name, f in factors.items()])
                for snapshot in run
            ]
        )

    def _parameters(self, convert: Convert) -> dict[str, Scalar]:
        """What the algorithm's functions receive."""
        K = self.values["K"]
        given = {name: self.values[name] for name in self.method.step_sizes if name in self.values}
        sizes = self.method.resolve(given, self.n)
        fixed = {"n": self.n, "m": self.n, "K": K, "delay": 1, "weight": 1, "norm": K, "mean_norm": K}
        p = {name: convert(value) for name, value in {**fixed, **sizes}.items()}  # type: ignore[arg-type]
        return {**p, "p": 1 / p["n"]}


def total(values: Sequence[Scalar]) -> Scalar:
    """The sum, for things that know no zero."""
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


def mean(values: Sequence[Scalar]) -> Scalar:
    """The average."""
    return total(values) / len(values)


def _first(group: Mapping[str, str]) -> str:
    """The first shared variable of a group."""
    return next(name for name, block in group.items() if block == U)


def _recorded(algorithm: Algorithm) -> str | None:
    """The shared variable at which quantities are recorded."""
    return algorithm.point[U] if algorithm.point else next((k for k, b in algorithm.server.items() if b == U), None)


def _check_kind(statement: Statement) -> None:
    """Raise `InputError` unless the statement bounds a mean over the rounds of a run that can be deterministic."""
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compare with")
    for reason in _unmodelled(statement):
        raise InputError(f"{statement.key} has no worst case here: {reason}")


def _unmodelled(statement: Statement) -> Iterator[str]:
    """What is not modelled, in words.

    What is: methods whose clients ask for gradients of smooth functions, with shared variables, of which the server's
    is recorded; the symbols of the basic setting for clients, steps, rounds and constants; a first claim that bounds
    the mean over the rounds of recorded quantities by numbers.
    """
    yield from foreign(statement)
    if statement.algorithm is None or statement.algorithm not in METHODS or not METHODS[statement.algorithm].shared:
        yield "it is about no method with a shared variable"
        return
    algorithm, vocabulary, claim = METHODS[statement.algorithm].algorithm, statement.vocabulary, statement.claims[0]
    if {algorithm.oracle, algorithm.record_oracle} != {"gradient"}:
        yield f"{statement.algorithm} asks for minimisers of f_i + lambda/2 ||. - w||^2; modelled are gradients"
    if not algorithm.linear:
        yield f"{statement.algorithm} is not linear"
    if algorithm.projects or U not in algorithm.blocks or _recorded(algorithm) not in algorithm.server:
        yield f"the run of {statement.algorithm} is not modelled"
    if others := [a.value for a in statement.assumptions if a not in _ASSUMED]:
        yield f"it assumes {'; '.join(others)}"
    if claim.metric.over is not Over.MEAN_OF_ROUNDS or claim.relation is not Relation.AT_MOST:
        yield "its first claim bounds no mean over the rounds"
    if unknown := sorted(
        q.name for q in claim.metric.weights if vocabulary.facts.get(q.name) not in algorithm.recorded
    ):
        yield f"no run records {', '.join(unknown)}"
    sides = {symbol.name for expr in (claim.bound, *claim.metric.weights.values()) for symbol in expr.free_symbols}
    if moving := sorted(name for name in sides if vocabulary[name].role is Role.MEASURED):
        yield f"{', '.join(moving)} in its bound is measured along the run"
    yield from _other_symbols(statement)


def _other_symbols(statement: Statement) -> list[str]:
    """What the vocabulary calls otherwise than the basic setting, in words."""
    vocabulary = statement.vocabulary
    found = [
        f"{role} are {vocabulary.run[role]} there, not {name}"
        for role, name in _RUN.items()
        if vocabulary.run.get(role, name) != name
    ]
    found += [f"it has no {name}" for name in ("n", "K", "T", "L", "F_0") if name not in vocabulary]
    found += [
        f"{name} is another quantity there"
        for name in sorted({*_RESPECTED, *_NOISE})
        if name in vocabulary and vocabulary.facts.get(name) != name
    ]
    steps = METHODS[statement.algorithm or ""].step_sizes
    return found + [
        f"{name} is measured in other units there"
        for name in (*sorted(_RESPECTED), *steps)
        if name in vocabulary and name in COMMON and _degrees(vocabulary, name) != _degrees(COMMON, name)
    ]


def _degrees(vocabulary: Vocabulary, name: str) -> tuple[int, int]:
    return vocabulary[name].f_degree, vocabulary[name].x_degree


def _with_open_steps(statement: Statement, values: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """The values with the largest admissible of each step size that no rule sets, and open ends that they approach."""
    approached: dict[str, float] = {}
    missing = [name for name in step_names(statement) if name not in values]
    while missing:
        admissible = step_sizes(statement, values).admissible if statement.hypotheses else {}
        limited = [name for name in missing if name in admissible and math.isfinite(admissible[name].high)]
        # What no condition limits, such as an outer step size whose product is limited, is 1 where it has no unit.
        outer = [name for name in missing if _degrees(statement.vocabulary, name) == (0, 0)]
        if not limited and not outer:
            raise InputError(f"{statement.key} leaves {missing[0]} open: give {missing[0]}=...")
        name = (limited or outer)[0]
        interval = admissible.get(name, Interval())
        if limited and interval.open[1]:
            approached[name] = interval.high
        values, _ = statement.complete({**values, name: interval.box[1] if limited else interval.nearest(1.0)})
        missing = [name for name in missing if name not in values]
    return values, approached


def _check_values(statement: Statement, values: Mapping[str, float], *, ignore_conditions: bool) -> None:
    """Raise `InputError` where something is missing, noisy, sampled, or beyond a condition of the statement."""
    assumed = [name for assumption in statement.assumptions for name in assumption.constants if name not in _NOISE]
    for name in dict.fromkeys(("n", "K", "T", "F_0", "L", *statement.parameters, *assumed)):
        if name not in values:
            meaning = statement.vocabulary[name].meaning
            raise InputError(f"{statement.key} needs a value for {name} ({meaning}): give {name}=...")
    for name in ("n", "K", "T"):
        whole(name, values[name], 1)
    constants = {name for name in statement.parameters if statement.vocabulary[name].role is Role.CONSTANT}
    if unknown := sorted(constants - _RESPECTED - set(_NOISE)):
        raise InputError(f"{statement.key} has no worst case here: no search respects {', '.join(unknown)}")
    for name in _NOISE:
        if values.get(name, 0.0) != 0.0:
            raise InputError(f'{name}={values[name]:g} breaks "{name} == 0": a run with noise is not deterministic')
    if values.get("m", values["n"]) != values["n"]:
        raise InputError(
            f'm={values["m"]:g} breaks "m == n": {values["m"]:g} == {values["n"]:g} is false, and a run that samples '
            f"clients is not deterministic. Admissible m: {values['n']:g}."
        )
    broken = [check.broken for check in statement.check_conditions(values) if check.holds is False]
    if broken and not ignore_conditions:
        raise InputError(" ".join(broken))
