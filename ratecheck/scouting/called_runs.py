"""Runs of a batch of instances by calls of a method's functions, a row being a client of an instance.

They serve where no maps do: methods that are not linear, that evaluate further points in a step, or whose coefficients
differ from round to round while clients stay away. Nothing is random, and problems are quadratics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Algorithm
from ratecheck.algorithms.model.answers import Kind
from ratecheck.algorithms.model.nonlinear import Functions
from ratecheck.aliases import Array
from ratecheck.participation import delays
from ratecheck.scouting.coefficients import Unscouted, of_arrays
from ratecheck.scouting.runs import Batch, BatchRun

# Local steps of a client up to which a run is followed: a call takes far longer than a product of small matrices.
_MOST_STEPS = 256
# The share of the largest coordinate so far by which points are moved, and up to which share a record may change by it:
# a step that is not linear makes much of little, such as a sign that is one of rounding.
_NUDGE, _STEADY = 1e-13, 1e-6
# What of an eigenvalue counts as 0.
_ZERO = 1e-12
# Parameters that are whole numbers.
_WHOLE = frozenset({"n", "m", "K"})

Arrays = dict[str, Array]


def by_maps(algorithm: Algorithm) -> bool:
    """Whether rounds of a method are linear maps of the state and of one gradient for each local step."""
    return algorithm.linear and not (algorithm.also or algorithm.steps_per_sample > 1)


def is_called(batch: Batch) -> bool:
    """Whether the runs of a batch have no maps that are followed."""
    return not by_maps(batch.algorithm) or bool(batch.algorithm.varying and batch.law.matrices is not None)


def run_of(batch: Batch) -> BatchRun:
    """The runs of a batch, by maps where there are some."""
    return CalledRun(batch) if is_called(batch) else BatchRun(batch)


class CalledRun(BatchRun):
    """The quantities of runs without randomness, followed row by row: row i N + b is client i of instance b.

    Raises `Unscouted` where something is random, and where a function does not take arrays of parameters.
    """

    most_entries: ClassVar[int] = 1000

    def check(self) -> None:
        batch, law = self.batch, self.batch.law
        if batch.algorithm.compressed or law.mixing is not None or batch.noise.any():
            raise Unscouted("a random run of a method whose functions are called")
        if law.matrices is None and not law.everybody(batch.n):
            raise Unscouted("a random choice of clients of a method whose functions are called")

    @cached_property
    def functions(self) -> Functions:
        """Calls the functions of the method."""
        algorithm = self.batch.algorithm
        return Functions(algorithm, dict(zip(algorithm.blocks, self.batch.sizes, strict=True)))

    @property
    def followed_rounds(self) -> NDArray[np.int64]:
        T = self.batch.T
        return np.where(T * self.batch.steps.max(axis=1) <= _MOST_STEPS, T, 0)

    def by_round(self, names: Sequence[str]) -> Array:
        """See `BatchRun.by_round`: NaN also where a record changes when points are moved by about rounding."""
        N, law = self.batch.count, self.batch.law
        both = self.batch.at(np.tile(np.arange(N), 2))
        law = replace(both.law, matrices=None if law.matrices is None else [*law.matrices] * 2)
        nudges = np.repeat([0.0, _NUDGE], N)
        once, again = np.split(CalledRun(replace(both, law=law)).moved(names, nudges), 2)
        with np.errstate(invalid="ignore"):
            return np.where((np.abs(once - again) <= _STEADY * np.abs(once)) | (once == again), once, np.nan)

    def mean(self, names: Sequence[str]) -> Array:
        return self._mean_of(self.by_round(names), _MOST_STEPS)

    @of_arrays
    def moved(self, names: Sequence[str], nudges: Array) -> Array:
        """Quantities before every round, (N, names, rounds), with points moved by a share ``nudges`` (N,)."""
        algorithm, N, T = self.batch.algorithm, self.batch.count, self.followed_rounds
        measured = [name for name in names if name in algorithm.measures]
        summed = [name for name in names if name not in algorithm.measures]
        value = self._value(summed)
        out = np.full((N, len(names), int(max(T.max(initial=1), 1))), np.nan)
        present = self._present(out.shape[2])
        state = self._start(nudges)
        for t in range(out.shape[2]):
            z = self._vector(state)
            own = dict(zip(summed, value(z).T, strict=True)) | self._measured(measured, state, z, t)
            out[:, :, t] = np.stack([own[name] for name in names], axis=1)
            if t < out.shape[2] - 1:
                self._round(state, t, present[:, t])
        out[np.broadcast_to((np.arange(out.shape[2]) >= T[:, None])[:, None], out.shape)] = np.nan
        return out

    def _value(self, names: Sequence[str]) -> Callable[[Array], Array]:
        """Sums of products as functions of the state (N, D): (N, names)."""
        if not names:
            return lambda z: np.zeros((len(z), 0))
        found = self.quantities(names)
        owners = np.eye(len(names))[found.owner]

        def value(z: Array) -> Array:
            left, right = (np.einsum("brd,bd->br", side, z) for side in (found.left, found.right))
            total = found.constant + (found.factor * left * right) @ owners
            lost = np.abs(total) < _ZERO * np.abs(found.constant)
            return np.where(lost, np.nan, total)

        return value

    def _measured(self, names: Sequence[str], state: _State, z: Array, t: int) -> Arrays:
        """Quantities (N,) that the method measures itself, before round t."""
        if not names:
            return {}
        points, _ = self._points()
        x = np.stack([np.einsum("bid,bd->bi", rows, z) for rows in points])
        mean = (np.einsum("bnij,nbj->bi", self.batch.record_M, x) - self.batch.record_c.sum(axis=1)) / self.batch.n
        (found,) = self.functions("measure", (state.server, self._by_block(mean)), self._of_server(t, self._everybody))
        return {name: found[name][:, 0] for name in names}

    # --- The state ---

    def _vector(self, state: _State) -> Array:
        """The state z = (server, client 1, ..., client n, 1), (N, D)."""
        z = np.ones((self.batch.count, self.size))
        for name, here in self.server.entries.items():
            z[:, here] = state.server[name]
        for name, here in self.client.entries.items():
            rows = state.clients[name].reshape(self.batch.n, self.batch.count, -1)
            for i in range(self.batch.n):
                first = self.server.size + i * self.client.size
                z[:, first + here.start : first + here.stop] = rows[i]
        return z

    def _start(self, nudges: Array) -> _State:
        """The state before round 0."""
        batch = self.batch
        x = batch.start.swapaxes(0, 1).reshape(-1, batch.start.shape[2])
        state = _State({}, {}, np.zeros(len(x)), np.full((batch.count, batch.n), -1), np.tile(nudges, batch.n))
        gradient = self._by_block(self._answer(x, state))
        (clients,) = self.functions("start_client", (self._by_block(x), gradient), self._of_clients(0, 1.0))
        average = {name: self._sum(array) / batch.n for name, array in clients.items()}
        point = self._by_block(x[: batch.count])
        (server,) = self.functions("start_server", (point, average), self._of_server(0, self._everybody))
        state.server, state.clients = server, clients
        return state

    def _round(self, state: _State, t: int, present: NDArray[np.bool_]) -> None:
        """Play round t with the clients that are ``present`` (N, n)."""
        algorithm, batch = self.batch.algorithm, self.batch
        delay = (t - state.last).T.reshape(-1).astype(float) if algorithm.uses_delay else 1.0
        state.last[present] = t
        p = self._of_clients(t, delay)
        server = {name: np.tile(array, (batch.n, 1)) for name, array in state.server.items()}
        (local,) = self.functions("begin", (server, state.clients), p)
        steps = np.where((t < batch.T)[:, None], batch.steps, 0).T.reshape(-1)
        for k in range(int(steps.max())):
            (after,) = self.functions("step", (local, self._answers(local, state)), p)
            local = _where(k < steps, after, local)
        clients, message = self.functions("finish", (server, state.clients, local), p)
        here = present.T.reshape(-1)
        total = {name: self._sum(np.where(here[:, None], array, 0.0)) for name, array in message.items()}
        count = present.sum(axis=1)
        (found,) = self.functions("aggregate", (state.server, total), self._of_server(t, np.maximum(count, 1)))
        if (kept := algorithm.projects) is not None:
            length = np.maximum(np.linalg.norm(found[kept], axis=1, keepdims=True), 1e-300)
            found[kept] = found[kept] * np.minimum(batch.parameters["r"][:, None] / length, 1.0)
        idle = (count == 0) & algorithm.averages
        state.server, state.clients = _where(~idle, found, state.server), _where(here, clients, state.clients)

    def _sum(self, array: Array) -> Array:
        """The sum over the clients, (N, coordinates), of rows."""
        return np.asarray(array.reshape(self.batch.n, self.batch.count, -1).sum(axis=0))

    def _present(self, rounds: int) -> NDArray[np.bool_]:
        """The participants (N, rounds, n)."""
        law = self.batch.law
        if law.matrices is None:
            return np.ones((self.batch.count, rounds, self.batch.n), dtype=np.bool_)
        return delays.stacked(law.matrices, rounds, rest=False)

    # --- The oracle ---

    def _by_block(self, x: Array) -> Arrays:
        """Rows (rows, d) as one array per block."""
        return {block: x[:, here] for block, here in self.reader.point.entries.items()}

    def _answer(self, x: Array, state: _State) -> Array:
        """The oracle's answers at points (rows, d), which are moved."""
        batch = self.batch
        state.farthest = np.maximum(state.farthest, np.abs(x).max(axis=1, initial=0.0))
        x = x + (state.nudges * state.farthest)[:, None] * np.where(np.arange(x.shape[1]) % 2, -1.0, 1.0)
        points = x.reshape(batch.n, batch.count, -1)
        found = np.einsum("bnij,nbj->nbi", batch.M, points) - batch.c.swapaxes(0, 1)
        return np.asarray(found.reshape(x.shape))

    def _answers(self, local: Arrays, state: _State) -> Arrays:
        """All answers that a local step gets, at the first local variables and at what is evaluated also."""
        algorithm = self.batch.algorithm
        x = np.concatenate([local[name] for name in self._at], axis=1)
        found = self._by_block(self._answer(x, state))
        for name, also in algorithm.also.items():
            here = self.reader.point.entries[algorithm.local[also.at]]
            other = x.copy()
            other[:, here] = local[also.at]
            if also.kind.is_gradient:
                found[name] = self._answer(other, state)[:, here]
            else:
                found[name] = self._height(other, also.kind)[:, None]
        return found

    @cached_property
    def _at(self) -> list[str]:
        """The first local variable of each block."""
        found: dict[str, str] = {}
        for name, block in self.batch.algorithm.local.items():
            found.setdefault(block, name)
        return [found[block] for block in self.batch.algorithm.blocks]

    def _height(self, x: Array, kind: Kind) -> Array:
        """The values (rows,) of the clients' functions, above an infimum where the kind says so."""
        batch = self.batch
        points = x.reshape(batch.n, batch.count, -1)
        slope = np.einsum("bnij,nbj->nbi", batch.H, points) / 2 - batch.g.swapaxes(0, 1)
        value = np.einsum("nbi,nbi->nb", slope, points)
        if kind is Kind.GAP:
            value = value - batch.lowest
        if kind is Kind.EXCESS:
            value = value - self._own_lowest.T
        return value.reshape(-1)

    @cached_property
    def _own_lowest(self) -> Array:
        """The infimum (N, n) of each client's function."""
        H, g = self.batch.H, self.batch.g
        values, vectors = np.linalg.eigh(H)
        size = np.abs(values).max(axis=2, keepdims=True)
        along = np.einsum("bnij,bni->bnj", vectors, g)
        flat = np.abs(values) <= _ZERO * size
        steep = np.abs(along) > _ZERO * np.abs(g).max(axis=2, keepdims=True)
        below = ((values < 0) & ~flat).any(axis=2) | (flat & steep).any(axis=2)
        depth = np.where(flat, 0.0, along**2 / np.where(flat, 1.0, values)).sum(axis=2) / 2
        return np.where(below, -np.inf, -depth)

    # --- Parameters ---

    @cached_property
    def _everybody(self) -> NDArray[np.int64]:
        """The number of clients, (N,)."""
        return np.full(self.batch.count, self.batch.n)

    @cached_property
    def _known(self) -> dict[str, Any]:
        """What functions of clients receive in every round."""
        own = [self._parameters(0)] if self._alike else [self._parameters(i) for i in range(self.batch.n)]
        shape = (self.batch.count, 1)
        columns = {name: np.concatenate([np.broadcast_to(each[name], shape) for each in own]) for name in own[0]}
        return {name: self._column(name, value, self.batch.n) for name, value in columns.items()}

    @cached_property
    def _known_server(self) -> dict[str, Any]:
        """What functions of the server receive in every round; what differs by client is not the server's."""
        left_out = () if self._alike else ("K", "norm")
        return {k: self._column(k, v, 1) for k, v in self._parameters(0).items() if k not in left_out}

    def _coefficients(self, t: int) -> Arrays:
        """The parameters (N,) that are those of round t."""
        if not self.batch.algorithm.varying:
            return {}
        own = self._in_rounds(np.arange(self.batch.count), np.minimum(t, self.batch.T - 1)).parameters
        return {name: own[name] for name in self.batch.algorithm.varying}

    def _of_clients(self, t: int, delay: float | Array) -> dict[str, Any]:
        """What functions of clients receive in round t, as columns where it differs by row."""
        varying = {name: self._column(name, value, self.batch.n) for name, value in self._coefficients(t).items()}
        return {**self._known, **varying, "delay": self._column("delay", delay, self.batch.n)}

    def _of_server(self, t: int, participants: NDArray[np.int64]) -> dict[str, Any]:
        """What functions of the server receive in round t."""
        varying = {name: self._column(name, value, 1) for name, value in self._coefficients(t).items()}
        return {**self._known_server, **varying, "m": self._column("m", participants, 1)}

    def _column(self, name: str, value: float | Array | NDArray[np.int64], clients: int) -> Any:
        """A number where all rows have the same, else a column of the rows of so many clients."""
        flat = np.asarray(value, dtype=float).reshape(-1)
        if (flat == flat[0]).all():
            return int(flat[0]) if name in _WHOLE else float(flat[0])
        return np.resize(flat, clients * self.batch.count)[:, None]


@dataclass
class _State:
    """Variables of the server (N, coordinates) and of the clients (rows, coordinates), and when they came ``last``.

    Points are moved by ``nudges`` (rows,) times the ``farthest`` coordinate (rows,) so far.
    """

    server: Arrays
    clients: Arrays
    farthest: Array
    last: NDArray[np.int64]
    nudges: Array


def _where(chosen: NDArray[np.bool_], new: Mapping[str, Array], old: Mapping[str, Array]) -> Arrays:
    """The new variables in the chosen rows, and the old ones in the others."""
    if chosen.all():
        return dict(new)
    return {name: np.where(chosen[:, None], array, old[name]) for name, array in new.items()}
