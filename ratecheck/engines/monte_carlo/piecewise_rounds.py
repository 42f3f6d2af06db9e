"""One run without randomness on functions that are quadratic piece by piece: all clients of a step at once, in NumPy.

It needs no compiled kernel, so that a search may evaluate many short runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import LinearMaps, Term, TermOver, U, V, Variables
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.problems import Piecewise

# Choices of clients whose functions are kept.
_KEPT = 64
# What points of a run may be off, as a share of the largest so far.
_OFF = 1e-13


def simulate(setup: Setup, report: Callable[[float], None] = lambda _: None) -> tuple[Run, dict[str, Array]]:
    """The run's records (1, T), and what points that are off by rounding make of them.

    For methods that use gradients, with the same parameters for all clients.
    """
    rounds = _Rounds(setup)
    return rounds.run(report), rounds.errors


def covered(setup: Setup) -> bool:
    """Whether `simulate` is for it; that nothing is random is for the caller to see."""
    algorithm = setup.algorithm
    return (
        setup.problem.piecewise
        and setup.alike
        and algorithm.tabled
        and algorithm.asks_gradients
        and not (algorithm.projects or setup.trace.selected or setup.trace.follows_state)
        and setup.weights.shape[1] == 1
    )


class _Pieces(NamedTuple):
    """The pieces (clients, d, J + 1) of some clients' functions: their ends, and where a way from 0 enters them."""

    low: Array
    high: Array
    origin: Array
    curvatures: Array
    slopes: Array
    nothing: Array

    @staticmethod
    def of(problem: Piecewise, rows: NDArray[np.intp]) -> _Pieces:
        kinks = problem.kinks[rows]
        ends = np.full((*kinks.shape[:2], 1), np.inf)
        low, high = np.concatenate([-ends, kinks], axis=2), np.concatenate([kinks, ends], axis=2)
        origin = np.clip(0.0, low, high)
        return _Pieces(low, high, origin, problem.curvatures[rows], problem.slopes[rows], np.zeros((len(rows), 0)))


class _Rounds:
    """Variables of clients are arrays (clients, d), those of the server (1, d)."""

    def __init__(self, setup: Setup) -> None:
        problem = setup.problem.seen_as(Piecewise)
        assert problem is not None
        self.setup, self.problem, self.algorithm = setup, problem, setup.algorithm
        self.n, self.d = self.problem.slopes.shape
        group, slot = LinearMaps(self.algorithm).point()[self.algorithm.blocks.index(U)]
        names = self.algorithm.server if group == "server" else self.algorithm.client
        self.point = [name for name, block in names.items() if block == U][slot]
        self.of_server = group == "server"
        self.pieces: dict[bytes, _Pieces] = {}
        self.everybody = np.arange(self.n)
        self.errors = {name: np.zeros((1, setup.T)) for name in setup.records}
        self.farthest = 0.0
        self.L = float(np.abs(self.problem.curvatures).max())
        if reason := self.problem.undefined(setup.records, setup.records):
            raise InputError(reason)
        if self.problem.lowest is not None:
            self.minimum = np.array([float(curve.lowest_point) for curve in self.problem.means])
        self.reach = np.abs(self.minimum).max() if self.problem.lowest is not None else 0.0
        self.steepest = float(np.abs(self.problem.slopes).max())

    def run(self, report: Callable[[float], None]) -> Run:
        setup, algorithm, n, p = self.setup, self.algorithm, self.n, self.setup.parameters()
        weight = float(setup.weights[0, 0])
        start = {U: setup.point[:, : self.d].copy(), V: np.zeros((n, 0))}
        clients = dict(algorithm.start_client(start, self.gradient(self.everybody, start[U]), p))
        average = {name: array.mean(axis=0, keepdims=True) for name, array in clients.items()}
        server = dict(algorithm.start_server({name: array[:1] for name, array in start.items()}, average, p))
        masks = setup.trace.fixed(setup.T)
        assert masks is not None
        last = np.full(n, -1)
        records = {name: np.empty((1, setup.T)) for name in setup.records}
        first = next(name for name, block in algorithm.local.items() if block == U)
        for t in range(setup.T):
            self.record(server, clients, p, records, t)
            if t == setup.T - 1:
                break
            members = np.flatnonzero(masks[t])
            total = {name: np.zeros((1, self.size(block))) for name, block in algorithm.message.items()}
            delays = t - last[members] if algorithm.uses_delay else np.ones(len(members), dtype=int)
            last[members] = t
            for delay, same in groupby(sorted(range(len(members)), key=lambda k: delays[k]), key=lambda k: delays[k]):
                rows = members[[*same]]
                own = {**p, "delay": float(delay), "weight": weight}
                before = {name: array[rows] for name, array in clients.items()}
                local = dict(algorithm.begin(server, before, own))
                for _ in range(int(setup.local_steps[0])):
                    point = _rows(local[first], len(rows), self.d)
                    local = dict(algorithm.step(local, self.gradient(rows, point), own))
                state, message = algorithm.finish(server, before, local, own)
                for name, array in state.items():
                    clients[name] = clients[name].copy()
                    clients[name][rows] = array
                sent = {k: _rows(message[k], len(rows), v.shape[1]) for k, v in total.items()}
                total = {k: v + sent[k].sum(axis=0, keepdims=True) for k, v in total.items()}
            if len(members) or not algorithm.averages:
                server = dict(algorithm.aggregate(server, total, setup.parameters(participants=len(members))))
            if t % 64 == 0:
                report(t / setup.T)
        return Run(records, algorithm.metric(setup.trace.rate, n), setup.trace.rate)

    def size(self, block: str) -> int:
        """Coordinates of a block."""
        return self.d if block == U else 0

    def gradient(self, rows: NDArray[np.intp], x: Array) -> Variables:
        """Gradients of these clients at points (clients, d)."""
        pieces = self._pieces(rows)
        way = x[..., None].clip(pieces.low, pieces.high) - pieces.origin
        return {U: pieces.slopes + (pieces.curvatures * way).sum(axis=2), V: pieces.nothing}

    def _pieces(self, rows: NDArray[np.intp]) -> _Pieces:
        """Pieces of these clients' functions, put together once for each choice of clients."""
        key = rows.tobytes()
        if key not in self.pieces:
            if len(self.pieces) >= _KEPT:
                self.pieces.clear()
            self.pieces[key] = _Pieces.of(self.problem, rows)
        return self.pieces[key]

    def values(self, x: Array) -> Array:
        """f_i at points (n, d), (n,)."""
        pieces = self._pieces(self.everybody)
        at = x[..., None].clip(pieces.low, pieces.high)
        way = at - pieces.origin
        bent = self.problem.curvatures * way * (0.5 * way + (x[..., None] - at))
        return np.asarray((self.problem.slopes * x + bent.sum(axis=2)).sum(axis=1))

    def gap(self, x: Array) -> float:
        """The gap f - inf f at a point (d,): how f rises from its minimum, so that nothing cancels."""
        total = 0.0
        for pieces, point in zip(self.rises, x.tolist(), strict=True):
            for h, low, high, start in pieces:
                end = min(max(point, low), high)
                way = end - start
                total += h * way * (0.5 * way + (point - end))
        return total

    @cached_property
    def rises(self) -> list[list[tuple[float, float, float, float]]]:
        """Curvature and ends of each piece of f by coordinate, and where the way from the minimum enters it."""
        found = []
        for curve, start in zip(self.problem.means, self.minimum.tolist(), strict=True):
            ends = [-np.inf, *(float(kink) for kink in curve.kinks), np.inf]
            pieces = zip(curve.curvatures, ends, ends[1:], strict=False)
            found.append([(float(h), low, high, min(max(start, low), high)) for h, low, high in pieces])
        return found

    def record(
        self, server: Variables, clients: Variables, p: dict[str, float], records: dict[str, Array], t: int
    ) -> None:
        """Fill column t of the records and of their errors."""
        x = _rows(server[self.point] if self.of_server else clients[self.point], self.n, self.d)
        gradient = self.gradient(self.everybody, x)
        terms = self.algorithm.records(server, clients, gradient, p)
        self.farthest = max(self.farthest, float(np.abs(x).max(initial=0.0)))
        off = _OFF * (self.farthest + self.reach)
        # A gradient is off by L times as much, and by its own rounding.
        steep = float(np.linalg.norm(gradient[U], axis=1).max()) + self.L * off
        bent = self.L * off + _OFF * self.steepest
        for name, array in records.items():
            if name == "gap" and name not in terms:
                array[0, t] = self.gap(x[0])
                self.errors[name][0, t] = off * (float(np.linalg.norm(gradient[U].mean(axis=0))) + bent)
            elif name == "distance2" and name not in terms:
                away = float(np.linalg.norm(x[0] - self.minimum))
                array[0, t], self.errors[name][0, t] = away**2, off * (2 * away + off)
            else:
                array[0, t] = sum(self._term(term, x) for term in terms[name])
                self.errors[name][0, t] = bent * (2 * steep + bent) * self.n
                if any(term.over is TermOver.VALUES for term in terms[name]):
                    self.errors[name][0, t] += off * steep + _OFF * abs(array[0, t])

    def _term(self, term: Term, x: Array) -> float:
        if term.over is TermOver.VALUES:
            return float(term.factor * self.values(x).mean())
        left, right = (_rows(side, self.n, np.shape(side)[-1]) for side in (term.left, term.right))
        if term.over is TermOver.MEANS:
            return float(term.factor * (left.mean(axis=0) @ right.mean(axis=0)))
        return float(term.factor * (left * right).sum() / self.n)


def _rows(array: Array, rows: int, columns: int) -> Array:
    """An array (rows, columns), where the one given may have a single row for all."""
    return array if np.shape(array) == (rows, columns) else np.broadcast_to(array, (rows, columns))
