"""Monte Carlo by calling a method's functions, all replicates of a block at once: no table of coefficients serves it.

So it is where a method is not linear, or has more local variables than compiled rounds keep in registers, and where the
problem's oracle or the noise is called in Python.

Every variable of a client or the server is an array (replicates, coordinates of its block). Oracles, noise,
participation and records are those of the linear methods (`ratecheck.kernels`), from the same random streams.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Group
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.asked import record_arrays
from ratecheck.engines.monte_carlo.sources import source
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.random import kept_coordinates, mixing_rounds, stream_keys

Arrays = dict[str, Array]

# Rounds whose participants are drawn at a time, and local steps between two looks for an interrupt.
_CHUNK, _PATIENCE = 64, 256
# By how much points and gradients are moved where the effect of rounding is measured, relative to the largest so far.
_NUDGE = 1e-13
# What is taken for a 0 that was rounded, relative to the largest so far.
_ZERO = 1e-12
# Replicates that are moved so, and how far beyond the farthest of them rounding is taken to reach.
_MOVED, _MOVED_OF_MANY, _MARGIN = 7, 2, 10.0
# Replicates, with those that are moved, at a time.
_LANES = 64


class OwnRounds:
    """Everything that the blocks of one simulation share; ``run`` simulates a block.

    Where ``every`` is not 0 all replicates of a block but every so many have points and gradients moved by about
    rounding.
    Raises `InputError` where participants are selected by their gradients.
    """

    def __init__(self, setup: Setup, *, every: int = 0) -> None:
        if setup.trace.selected:
            why = "is followed by calls" if setup.algorithm.linear else "is not linear"
            raise InputError(
                f"{setup.method.name} {why}: clients that are selected by their gradients are followed in compiled "
                "rounds of linear methods only"
            )
        setup = setup.at(0)
        self.setup, self.plan, self.functions = setup, plan(setup), setup.functions
        self.source, self.measured = (
            source(setup, name) for name in (setup.algorithm.oracle, setup.algorithm.record_oracle)
        )
        self.records, self._every = record_arrays(self.plan), every
        self._parameters = _of_clients(setup)

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, lanes = self.setup, keys.shape[1]
        nudge = _Nudge(lanes, self._every) if self._every else None
        server, clients = self._start(keys)
        last = np.full((setup.problem.n, lanes), -1)
        record = np.empty((setup.T, len(self.plan.records), lanes))
        for first in range(0, setup.T, _CHUNK):
            masks = setup.trace.masks(first, min(_CHUNK, setup.T - first), keys).astype(bool)
            for t, mask in enumerate(masks, first):
                self._record(server, clients, record[t])
                server = self._round(t, mask, server, clients, last, keys, nudge, lambda: report(t))  # noqa: B023
                report(t + 1)
        return record

    def _start(self, keys: NDArray[np.uint64]) -> tuple[Arrays, list[Arrays]]:
        """Server and client state before round 0."""
        setup, lanes = self.setup, keys.shape[1]
        mean = self.source.start(setup.local_steps, setup.point, keys)
        points = [self._by_block(np.repeat(row[:, None], lanes, axis=1)) for row in setup.point]
        clients = [
            self.functions("start_client", (points[i], self._by_block(mean[i])), p)[0]
            for i, p in enumerate(self._parameters)
        ]
        average = {name: sum(each[name] for each in clients) / len(clients) for name in setup.algorithm.client}
        (server,) = self.functions("start_server", (points[0], average), setup.parameters())
        return server, clients

    def _round(
        self,
        t: int,
        mask: NDArray[np.bool_],
        server: Arrays,
        clients: list[Arrays],
        last: NDArray[np.int64],
        keys: NDArray[np.uint64],
        nudge: _Nudge | None,
        patience: Callable[[], None],
    ) -> Arrays:
        """The server's state after round t; ``clients`` and ``last`` are brought up to date."""
        setup, lanes = self.setup.at(t), mask.shape[1]
        parameters = _of_clients(setup) if setup.algorithm.varying else self._parameters
        total = {name: np.zeros((lanes, setup.sizes[block])) for name, block in setup.algorithm.message.items()}
        for i, members in enumerate(map(np.flatnonzero, mask)):
            if not members.size:
                continue
            before = {name: array[members] for name, array in clients[i].items()}
            theirs = {name: array[members] for name, array in server.items()}
            local = self._begin(parameters[i], theirs, before, t - last[i, members])
            last[i, members] = t
            packed = np.ascontiguousarray(keys[:, members])
            for k in range(int(setup.local_steps[i])):
                if k % _PATIENCE == _PATIENCE - 1:
                    patience()
                gradient = self._gradient(i, t, k, local, packed, members, nudge)
                local = self.functions("step", (local, gradient), self._weighed(parameters[i], i, k))[0]
            after, message = self._finished(t, i, (theirs, before, local), parameters[i], packed)
            for name, array in after.items():
                clients[i][name][members] = array
            for name, array in message.items():
                total[name][members] += array
        self._mix(t, clients, keys)
        return self._aggregate(setup, server, total, mask.sum(axis=0))

    def _finished(
        self, t: int, i: int, arguments: tuple[Arrays, ...], parameters: dict[str, float], keys: NDArray[np.uint64]
    ) -> tuple[Arrays, Arrays]:
        """Client i after round t, and what it sends."""
        after, message = self.functions("finish", arguments, parameters)
        if self.setup.algorithm.compressed:
            message = self._compressed(t, i, message, keys)
            (after,) = self.functions("sent", (after, message), parameters)
        return after, message

    def _mix(self, t: int, clients: list[Arrays], keys: NDArray[np.uint64]) -> None:
        """Average what is mixed with the neighbours', in the replicates whose round t mixes."""
        if self.setup.mixing is None:
            return
        coins = np.ones(keys.shape[1], dtype=np.bool_)
        if self.setup.mixes < 1:
            mixing_rounds(keys, t, self.setup.mixes * 2.0**32, coins)
        for name in self.setup.algorithm.mixed:
            mixed = np.tensordot(self.setup.mixing, np.stack([each[name] for each in clients]), axes=1)
            for client, array in zip(clients, mixed, strict=True):
                client[name] = np.where(coins[:, None], array, client[name])

    def _compressed(self, t: int, i: int, message: Arrays, keys: NDArray[np.uint64]) -> Arrays:
        """What client i sends in round t: each coordinate of what is compressed with probability q, over q."""
        q, found = float(self.setup.step_sizes["q"]), dict(message)
        names = self.setup.algorithm.compressed
        sizes = [message[name].shape[1] for name in names]
        kept = np.empty((sum(sizes), keys.shape[1]), dtype=np.bool_)
        kept_coordinates(keys, t, i, q * 2.0**32, kept)
        for name, part in zip(names, np.split(kept, np.cumsum(sizes)[:-1]), strict=True):
            found[name] = np.where(part.T, message[name] / q, 0.0)
        return found

    def _begin(self, parameters: dict[str, float], server: Arrays, client: Arrays, delays: NDArray[np.int64]) -> Arrays:
        """Local variables; a parameter is a number, so that replicates with another delay are evaluated apart."""
        if not self.setup.algorithm.uses_delay:
            return self.functions("begin", (server, client), parameters)[0]
        found = self._empty(self.setup.algorithm.local, len(delays))
        for delay in np.unique(delays):
            rows = delays == delay
            p = {**parameters, "delay": float(delay)}
            (here,) = self.functions("begin", (_rows(server, rows), _rows(client, rows)), p)
            for name, array in here.items():
                found[name][rows] = array
        return found

    def _gradient(
        self,
        i: int,
        t: int,
        k: int,
        local: Arrays,
        keys: NDArray[np.uint64],
        members: NDArray[np.intp],
        nudge: _Nudge | None,
    ) -> Arrays:
        """The oracle's answer at the first local variables."""
        setup, lanes = self.setup, len(members)
        x = np.zeros((setup.problem.d, lanes))
        self._put(setup.algorithm.local, local, x[None], first_only=True)
        if nudge is not None:
            nudge.point(x, members)
        out = self.source.answer(i, t, k, x, keys)
        if nudge is not None:
            nudge.gradient(out, members)
        return self._by_block(out)

    def _weighed(self, parameters: dict[str, float], i: int, k: int) -> dict[str, float]:
        weights = self.setup.weights[i]
        return {**parameters, "weight": float(weights[min(k, len(weights) - 1)])}

    def _aggregate(self, setup: Setup, server: Arrays, total: Arrays, participants: NDArray[np.int64]) -> Arrays:
        found = {name: array.copy() for name, array in server.items()}
        for count in np.unique(participants):
            if count == 0 and setup.algorithm.averages:
                continue
            rows = participants == count
            p = setup.parameters(participants=int(count))
            (new,) = self.functions("aggregate", (_rows(server, rows), _rows(total, rows)), p)
            for name, array in new.items():
                found[name][rows] = array
        if (kept := setup.algorithm.projects) is not None:
            length = np.sqrt(np.sum(found[kept] ** 2, axis=1, keepdims=True))
            radius = float(setup.step_sizes["r"])
            outside = (length > radius) & (participants > 0)[:, None]
            found[kept] *= np.where(outside, radius / np.where(outside, length, 1.0), 1.0)
        return found

    def _record(self, server: Arrays, clients: list[Arrays], record: Array) -> None:
        """Fill record (names, replicates)."""
        setup, lanes, maps = self.setup, record.shape[1], self.setup.maps
        d, n = setup.problem.d, setup.problem.n
        packed = np.zeros((maps.server.slots, d, lanes))
        self._put(setup.algorithm.server, server, packed)
        states = np.zeros((n, maps.client.slots, d, lanes))
        for state, client in zip(states, clients, strict=True):
            self._put(setup.algorithm.client, client, state)
        self.measured.record(self.records, setup.starts, packed, states, record)

    def _put(self, group: Group, arrays: Arrays, slots: Array, *, first_only: bool = False) -> None:
        """Put variables into their slots (slots, d, replicates)."""
        used = dict.fromkeys(self.setup.algorithm.blocks, 0)
        for name, block in group.items():
            number = self.setup.algorithm.blocks.index(block)
            if not first_only or used[block] == 0:
                slots[used[block], self.setup.starts[number] : self.setup.starts[number + 1]] = arrays[name].T
            used[block] += 1

    def _by_block(self, array: Array) -> Arrays:
        """An array (d, replicates) as one (replicates, coordinates) per block."""
        starts = self.setup.starts
        return {
            block: np.ascontiguousarray(array[starts[b] : starts[b + 1]].T)
            for b, block in enumerate(self.setup.algorithm.blocks)
        }

    def _empty(self, group: Group, rows: int) -> Arrays:
        return {name: np.empty((rows, self.setup.sizes[block])) for name, block in group.items()}


def _of_clients(setup: Setup) -> list[dict[str, float]]:
    """The parameters of every client, in the round of the setup."""
    return [setup.parameters(i) for i in range(setup.problem.n)]


def rounding(setup: Setup, *, seed: int = 0, wanted: range = range(1)) -> dict[str, Array]:
    """The rounding of the records of these replicates, (replicates, T) each: measured, not proved.

    A step that is not linear may make much of little: a sign changes with a last digit. So every replicate is repeated,
    on the same streams, with points and gradients moved at random by a little more than rounding, and the error is a
    multiple of how far the repetitions get away from it, up to each round.
    """
    # Of a mean over replicates many of them tell; a single one has to tell by itself.
    lanes = 1 + (_MOVED if len(wanted) == 1 else _MOVED_OF_MANY)
    runner, away = OwnRounds(setup, every=lanes), []
    for first in range(0, len(wanted), _LANES // lanes):
        keys = stream_keys(seed, wanted[first : first + _LANES // lanes])
        record = runner.run(np.ascontiguousarray(np.repeat(keys, lanes, axis=1)), lambda _: None)
        record = record.reshape(*record.shape[:2], -1, lanes)
        with np.errstate(all="ignore"):
            apart = np.abs(record[..., 1:] - record[..., :1]).max(axis=3)
        away.append(_MARGIN * np.maximum.accumulate(np.where(np.isnan(apart), np.inf, apart), axis=0))
    found = np.concatenate(away, axis=2)
    return {name: np.ascontiguousarray(found[:, q].T) for q, name in enumerate(runner.plan.names)}


def rounding_matters(setup: Setup) -> bool:
    """Whether `rounding` may show more than that of a linear method.

    Where every coordinate has noise, none is at a threshold but with a probability as small as rounding.
    """
    return not setup.algorithm.linear and not setup.noise.all()


class _Nudge:
    """Moves points and gradients (d, replicates) by about rounding, those of every so many by nothing.

    Of the others every second one has no point moved, but coordinates of gradients that may be rounding set to 0: a
    function may do at 0 what it does nowhere near it, as a sign does.
    """

    def __init__(self, lanes: int, every: int) -> None:
        self._random, self._largest, self._steepest = np.random.default_rng(0), np.zeros(lanes), np.zeros(lanes)
        place = np.arange(lanes) % every
        self._sizes = np.where(place % 2 == 1, _NUDGE, 0.0)
        self._zero = np.where((place > 0) & (place % 2 == 0), _ZERO, -1.0)

    def point(self, x: Array, members: NDArray[np.intp]) -> None:
        """By a share of the largest coordinate so far."""
        self._largest[members] = np.maximum(self._largest[members], np.abs(x).max(axis=0, initial=0.0))
        x += self._random.uniform(-1, 1, x.shape) * (self._sizes * self._largest)[members]

    def gradient(self, g: Array, members: NDArray[np.intp]) -> None:
        """Each coordinate by a share of itself, or to 0 where it is small against the largest so far."""
        self._steepest[members] = np.maximum(self._steepest[members], np.abs(g).max(axis=0, initial=0.0))
        g *= 1 + self._random.uniform(-1, 1, g.shape) * self._sizes[members]
        g[np.abs(g) <= (self._zero * self._steepest)[members]] = 0.0


def _rows(arrays: Arrays, rows: NDArray[np.bool_]) -> Arrays:
    return {name: array[rows] for name, array in arrays.items()}
