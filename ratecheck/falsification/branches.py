"""The rounds of a method, followed along every outcome of what is random: signs of the noise, choices of the clients.

A stochastic gradient at x is the gradient plus or minus a vector e(x), both equally likely, independently of all else:
unbiased, with variance ||e(x)||^2. So a local step has two outcomes, and a round of m clients with K steps each has
2^(m K) for every choice of the clients, all equally likely. Expectations are means over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from ratecheck.algorithms.model.algorithm import Algorithm, Term, U, V, Variables
from ratecheck.algorithms.model.asking import exactly
from ratecheck.falsification.snapshots import Oracle, Scalar, Snapshot, Vector, mean, total


@dataclass(frozen=True)
class State:
    """Variables of the server and of every client between two rounds."""

    server: Variables
    clients: tuple[Variables, ...]


@dataclass(frozen=True, kw_only=True)
class Branches:
    """A method at numbers, on vectors of which ``zero`` is one.

    ``oracles`` are gradient and proximal step by kind, ``noise`` is e, None for exact gradients. ``noisy_start`` says
    that clients remember a stochastic gradient at the start, the mean of ``steps`` of them. ``rational`` requests an
    exact run: a float among rationals would spoil it. ``second`` is the proximal step of a second part of f, where the
    method takes one; its gradient and value have the number after the last client's.
    """

    algorithm: Algorithm
    clients: int
    participants: int
    steps: int
    parameters: Mapping[str, Scalar]
    zero: Vector
    oracles: Mapping[str, Oracle | None]
    noise: Oracle | None
    noisy_start: bool
    rational: bool
    second: Oracle | None = None

    def starts(self) -> list[State]:
        """The states before the first round."""
        point = {U: self.zero, V: self.zero}
        remembered = []
        for i in range(self.clients):
            answers: Sequence[Variables] = [self._answer(self.algorithm.oracle, i, self.zero)]
            if self.noisy_start:
                drawn = product(self._drawn(i, self.zero), repeat=self.steps)
                answers = [{U: mean([answer[U] for answer in each]), V: self.zero} for each in drawn]
            remembered.append([self._value(self.algorithm.start_client, point, answer) for answer in answers])
        states = []
        for clients in product(*remembered):
            averages = {name: mean([client[name] for client in clients]) for name in self.algorithm.client}
            states.append(State(self._value(self.algorithm.start_server, point, averages), clients))
        return states

    def after(self, state: State) -> Iterator[State]:
        """The states that a round may end in, all equally likely."""
        ends = []
        for i, client in enumerate(state.clients):
            local = self._value(self.algorithm.begin, state.server, client)
            ends.append([self._value(self.algorithm.finish, state.server, client, x) for x in self._stepped(i, local)])
        for chosen in combinations(range(self.clients), self.participants):
            for drawn in product(*(ends[i] for i in chosen)):
                messages = [message for _, message in drawn]
                sums = {name: total([message[name] for message in messages]) for name in self.algorithm.message}
                clients = list(state.clients)
                for i, (client, _) in zip(chosen, drawn, strict=True):
                    clients[i] = client
                yield State(self._value(self.algorithm.aggregate, state.server, sums), tuple(clients))

    def snapshot(
        self, state: State, recorded: str, gradient: Oracle | None, value: Oracle | None, *, records: bool
    ) -> Snapshot:
        """What there is at the variable of that name: the method's ``records``, gradients and values, where wanted."""
        points = [state.server.get(recorded, client.get(recorded)) for client in state.clients]
        found: tuple[Mapping[str, tuple[Term, ...]], ...] = ()
        if records:
            answers = [self._answer(self.algorithm.record_oracle, i, x) for i, x in enumerate(points)]
            found = tuple(
                self._value(self.algorithm.records, state.server, client, answer)
                for client, answer in zip(state.clients, answers, strict=True)
            )
        slopes: tuple[Vector, ...] = ()
        heights: tuple[Scalar, ...] = ()
        if gradient is not None:
            if self.second is not None:
                points.append(state.server[recorded])
            slopes = tuple(gradient(i, x) for i, x in enumerate(points))
            heights = () if value is None else tuple(value(i, x) for i, x in enumerate(points))
        return Snapshot(state.server.get(recorded), slopes, found, heights)

    def _stepped(self, i: int, local: Variables) -> list[Variables]:
        """Client i's variables after its local steps."""
        at = next(name for name, block in self.algorithm.local.items() if block == U)
        found = [local]
        for _ in range(self.steps):
            found = [self._value(self.algorithm.step, x, answer) for x in found for answer in self._drawn(i, x[at])]
            if self.second is not None:
                ends = [{U: self.second(self.clients, x[at]), V: self.zero} for x in found]
                found = [self._value(self.algorithm.after, x, end) for x, end in zip(found, ends, strict=True)]
        return found

    def _drawn(self, i: int, x: Vector) -> list[Variables]:
        """What client i's oracle may answer at a point."""
        answer = self._answer(self.algorithm.oracle, i, x)
        if self.noise is None:
            return [answer]
        error = self.noise(i, x)
        return [{**answer, U: answer[U] + error}, {**answer, U: answer[U] - error}]

    def _answer(self, kind: str, i: int, x: Vector) -> Variables:
        known = self.oracles[kind]
        assert known is not None
        return {U: known(i, x), V: self.zero}

    def _value(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The value of a function of the method at its parameters."""
        if self.rational:
            return exactly(function, *arguments, self.parameters)
        return function(*arguments, self.parameters)
