"""Monte Carlo by calling a method's functions, once for all clients and all replicates of a block.

So it is where a method is not linear, or has more local variables than compiled rounds keep in registers, and where the
problem's oracle or the noise is called in Python; any other method may run so.

A variable is an array (rows, coordinates of its block). A row of a server variable is a replicate; one of a client
variable is a client in a replicate, client by client, and functions get those of the participants. Oracles, noise,
participation and records are those of the linear methods (`ratecheck.kernels`), from the same random streams.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.asked import record_arrays
from ratecheck.engines.monte_carlo.calls import Calls
from ratecheck.engines.monte_carlo.further import Further
from ratecheck.engines.monte_carlo.rows import ClientRows, Integers, Keys, everybody, split
from ratecheck.engines.monte_carlo.sources import AnswerSource, source
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.clients import add_rows, kept_rows, mix_clients, nudge_gradients, nudge_points, shares_of_rows
from ratecheck.kernels.random import COIN, mixing_rounds, stream_keys, toss

Arrays = dict[str, Array]
Members = NDArray[np.bool_]

# Rounds whose participants are drawn at a time, and local steps between two looks for an interrupt.
_CHUNK, _PATIENCE = 64, 256
# Numbers in an array of rows, above which clients are followed in parts: a part's arrays stay in the cache.
_ENTRIES = 1 << 17
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
                f"{setup.method.spoken} {why}: clients that are selected by their gradients are followed in compiled "
                "rounds of linear methods only"
            )
        if setup.trace.copies > 1:
            raise InputError(f"{setup.method.spoken}: clients drawn with replacement run in compiled rounds only")
        setup = setup.at(0)
        self.setup, self.plan, self.calls, self.every = setup, plan(setup), Calls(setup), every
        self.source, self.measured = (
            source(setup, name) for name in (setup.algorithm.oracle, setup.algorithm.record_oracle)
        )
        self.records = record_arrays(self.plan)
        self.further = Further(setup, self.source, self.places)

    def run(self, keys: Keys, report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, lanes = self.setup, keys.shape[1]
        block = _Block(self, keys, report)
        record = np.empty((setup.T, len(self.plan.records), lanes))
        for first in range(0, setup.T, _CHUNK):
            masks = setup.trace.masks(first, min(_CHUNK, setup.T - first), keys).astype(bool)
            for t, mask in enumerate(masks, first):
                block.record(t, record[t])
                block.round(t, mask)
                report(t + 1)
        return record

    def start(self, keys: Keys) -> tuple[Arrays, Arrays]:
        """The variables of the server, rows being replicates, and of the clients before round 0."""
        block = _Block(self, keys, lambda _: None)
        return block.server, block.clients

    def by_block(self, array: Array) -> Arrays:
        """An array (rows, d) as one (rows, coordinates) per block."""
        found = {}
        for name, (first, last) in self.places.items():
            found[name] = array if last - first == array.shape[1] else np.ascontiguousarray(array[:, first:last])
        return found

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """First and last coordinates of each block."""
        starts = self.setup.starts.tolist()
        return dict(zip(self.setup.algorithm.blocks, itertools.pairwise(starts), strict=True))

    @cached_property
    def points(self) -> list[tuple[str, int, int]]:
        """The variables at which the oracle is evaluated, the first of each block, with their coordinates."""
        first: dict[str, str] = {}
        for name, block in self.setup.algorithm.local.items():
            first.setdefault(block, name)
        return [(name, *self.places[block]) for block, name in first.items() if self.setup.sizes[block]]

    @cached_property
    def measures(self) -> list[tuple[int, str]]:
        """The quantities that the method measures itself, with their places among the records."""
        own = self.setup.algorithm.measures
        return [(place, name) for place, name in enumerate(self.plan.names) if name in own]

    @cached_property
    def weight(self) -> float | None:
        """The weight of all local steps of all clients; None where they differ."""
        weights = self.setup.weights
        return float(weights[0, 0]) if (weights == weights[0, 0]).all() else None

    @cached_property
    def exact(self) -> AnswerSource:
        """The oracle of the records over all data and without noise."""
        return self.measured.exact()

    @cached_property
    def held(self) -> list[tuple[str, int, int]]:
        """The server's variables at which quantities are recorded, with their coordinates."""
        algorithm, found = self.setup.algorithm, []
        for block, (group, slot) in zip(algorithm.blocks, self.setup.maps.point(), strict=True):
            if not self.setup.sizes[block]:
                continue
            if group != "server":
                raise InputError(f"{self.setup.method.spoken} measures at the server, which has no {block!r}")
            found.append(([name for name, of in algorithm.server.items() if of == block][slot], *self.places[block]))
        return found

    @cached_property
    def packed(self) -> tuple[list[tuple[str, int, int, int]], list[tuple[str, int, int, int]]]:
        """Variables of the server and the clients with their slots and coordinates, as far as records use them."""
        algorithm, records = self.setup.algorithm, self.records
        found = []
        used = np.any(records.left, axis=(0, 1)) | np.any(records.right, axis=(0, 1))
        first = 0
        for group, (variables, slots) in enumerate(
            ((algorithm.server, self.setup.maps.server.slots), (algorithm.client, self.setup.maps.client.slots))
        ):
            counted, places = dict.fromkeys(algorithm.blocks, 0), []
            for name, block in variables.items():
                slot, number = counted[block], algorithm.blocks.index(block)
                counted[block] += 1
                recorded = bool(records.group[number] == group and records.slot[number] == slot)
                if self.setup.sizes[block] and (recorded or used[first + slot : first + slot + 1].any()):
                    places.append((name, slot, *self.places[block]))
            first += slots
            found.append(places)
        return found[0], found[1]

    @cached_property
    def edges(self) -> tuple[Integers, Integers, Array]:
        """The entries of the mixing matrix that are not 0: where rows end, columns and entries."""
        W = self.setup.mixing
        assert W is not None
        rows, columns = np.nonzero(W)
        return np.searchsorted(rows, np.arange(len(W) + 1)), columns, W[rows, columns]


class _Block:
    """The state of the replicates of a block, and how a round changes it.

    Functions return what may be their arguments. So arrays that a function gets are never written to, but for the state
    of the clients, which is kept apart from all that functions return.
    """

    def __init__(self, shared: OwnRounds, keys: Keys, report: Callable[[int], None]) -> None:
        self.shared, self.setup, self.calls, self.keys, self.report = shared, shared.setup, shared.calls, keys, report
        setup, (n, self.lanes) = shared.setup, (shared.setup.problem.n, keys.shape[1])
        self.nudge = _Nudge(self.lanes, shared.every) if shared.every else None
        self.coins: Array | None = None
        self.most = max(1, _ENTRIES // max(1, setup.problem.d))
        self.last = np.full((n, self.lanes), -1) if setup.algorithm.uses_delay else None
        maps, d = setup.maps, setup.problem.d
        self._packed = np.zeros((maps.server.slots, d, self.lanes)), np.zeros((n, maps.client.slots, d, self.lanes))
        self._everybody = list(split(np.ones((n, self.lanes), dtype=bool), keys, self.most))
        self._start()

    def _start(self) -> None:
        """The state before round 0."""
        setup, calls, n = self.setup, self.calls, self.setup.problem.n
        source = self.shared.source.exact() if setup.algorithm.full_start else self.shared.source
        mean = np.ascontiguousarray(source.start(setup.local_steps, setup.point, self.keys))
        everyone = everybody(n, self.keys)
        point = self.shared.by_block(np.repeat(setup.point, self.lanes, axis=0))
        gradient = self.shared.by_block(mean.reshape(n * self.lanes, -1))
        (clients,) = calls.by_clients("start_client", 0, (point, gradient), everyone.by_row)
        average = {}
        for name, array in clients.items():
            total = np.zeros((self.lanes, array.shape[1]))
            add_rows(array, everyone.lanes, total)
            average[name] = total / n
        first = {name: array[: self.lanes] for name, array in point.items()}
        (self.server,) = calls.by_server("start_server", 0, (first, average))
        self.clients = {name: array.copy() for name, array in clients.items()}

    def round(self, t: int, mask: Members) -> None:
        """Play round t with the clients in mask (n, replicates)."""
        setup = self.setup
        sizes = setup.sizes
        total = {name: np.zeros((self.lanes, sizes[block])) for name, block in setup.algorithm.message.items()}
        self.coins = self._toss(t)
        parts = self._everybody if mask.all() else split(mask, self.keys, self.most)
        for rows in parts:
            self._local(t, rows, total)
        if setup.mixing is not None:
            self._mix(t)
        self._aggregate(t, total, mask.sum(axis=0))

    def _toss(self, t: int) -> Array | None:
        """The coins of round t (replicates,), None for methods without one."""
        if self.setup.algorithm.coin is None:
            return None
        heads = np.empty(self.lanes, dtype=np.bool_)
        toss(COIN, self.keys, t, self.setup.chance * 2.0**32, heads)
        return heads.astype(float)

    def _coin(self, lanes: Integers | slice) -> dict[str, Array]:
        """The coins of rows in these replicates, by the name under which functions find them."""
        return {} if self.coins is None else {"coin": self.coins[lanes]}

    def _local(self, t: int, rows: ClientRows, total: Arrays) -> None:
        """The local steps of some clients in round t; their messages are added to ``total``."""
        calls, clients = self.calls, rows.by_row
        places = self._places(rows)
        before = {name: array[places] for name, array in self.clients.items()}
        server = {name: np.take(array, rows.lanes, axis=0) for name, array in self.server.items()}
        coin = self._coin(rows.lanes)
        values = dict(coin)
        if self.last is not None:
            values["delay"] = (t - self.last[clients, rows.lanes]).astype(float)
            self.last[clients, rows.lanes] = t
        (local,) = calls.by_clients("begin", t, (server, before), clients, values)
        local = self._steps(t, rows, local)
        after, message = calls.by_clients("finish", t, (server, before, local), clients, coin)
        if self.setup.algorithm.compressed:
            message = self._compressed(t, rows, message)
            (after,) = calls.by_clients("sent", t, (after, message), clients, coin)
        # Messages first, and copies of all before any is written to: they may be what client variables were.
        for name, array in message.items():
            add_rows(array, rows.lanes, total[name])
        new = {name: array.copy() for name, array in after.items() if array is not before[name]}
        for name, array in new.items():
            self.clients[name][places] = array

    def _places(self, rows: ClientRows) -> slice | Integers:
        """Where rows are in the state of all clients."""
        if rows.whole:
            return slice(int(rows.clients[0]) * self.lanes, (int(rows.clients[-1]) + 1) * self.lanes)
        return rows.by_row * self.lanes + rows.lanes

    def _steps(self, t: int, rows: ClientRows, local: Arrays) -> Arrays:
        """Local variables after the clients' local steps; who has taken all of them leaves the rows."""
        setup = self.setup
        here, ended, places = rows, None, None
        for k in range(int(setup.local_steps[rows.clients].max())):
            if k % _PATIENCE == _PATIENCE - 1:
                self.report(t)
            steps = setup.local_steps[here.clients]
            if (done := steps <= k).any():
                if ended is None or places is None:
                    ended = {name: np.empty_like(array) for name, array in local.items()}
                    places = np.arange(len(rows.lanes))
                here, kept = here.only(~done)
                for name, array in local.items():
                    ended[name][places[~kept]] = array[~kept]
                local, places = {name: array[kept] for name, array in local.items()}, places[kept]
            gradient = self._gradient(t, k, here, local)
            values = {"weight": self._weight(k, here), **self._coin(here.lanes)}
            (local,) = self.calls.by_clients("step", t, (local, gradient), here.by_row, values)
        if ended is None or places is None:
            return local
        for name, array in local.items():
            ended[name][places] = array
        return ended

    def _weight(self, k: int, rows: ClientRows) -> float | Array:
        """The weights of local step k, (rows,), or one for all."""
        if self.shared.weight is not None:
            return self.shared.weight
        weights = self.setup.weights
        return np.repeat(weights[rows.clients, min(k, weights.shape[1] - 1)], rows.counts)

    def _gradient(self, t: int, k: int, rows: ClientRows, local: Arrays) -> Arrays:
        """The oracle's answers in local step k of round t: at the first local variables, and what is evaluated also."""
        # Steps of one sample have the number of the first of them.
        k -= k % self.setup.algorithm.steps_per_sample
        d, points = self.setup.problem.d, self.shared.points
        if len(points) == 1 and points[0][1:] == (0, d):
            x = local[points[0][0]]
        else:
            x = np.zeros((len(rows.lanes), d))
            for name, first, last in points:
                x[:, first:last] = local[name]
        if self.nudge is None:
            found = self.shared.by_block(self.shared.source.answers(rows, t, k, x))
        else:
            x, move = self.nudge.moved(x, rows)
            found = self.shared.by_block(move(self.shared.source.answers(rows, t, k, x)))
        if self.setup.algorithm.also:
            found.update(self.shared.further.answers(rows, t, k, x, local, self.nudge))
        return found

    def _compressed(self, t: int, rows: ClientRows, message: Arrays) -> Arrays:
        """The messages of the clients in round t: each coordinate of what is compressed with probability q, over q."""
        q, found = float(self.setup.step_sizes["q"]), dict(message)
        names = self.setup.algorithm.compressed
        ends = np.cumsum([0, *(message[name].shape[1] for name in names)])
        kept = np.empty((len(rows.lanes), int(ends[-1])), dtype=np.bool_)
        kept_rows(q * 2.0**32, rows.clients, rows.firsts, rows.keys, t, kept)
        for name, first, last in zip(names, ends[:-1], ends[1:], strict=True):
            found[name] = np.where(kept[:, first:last], message[name] / q, 0.0)
        return found

    def _mix(self, t: int) -> None:
        """Average what is mixed with the neighbours', in the replicates whose round t mixes."""
        coins = np.ones(self.lanes, dtype=np.bool_)
        if self.setup.mixes < 1:
            mixing_rounds(self.keys, t, self.setup.mixes * 2.0**32, coins)
        for name in self.setup.algorithm.mixed:
            state = self.clients[name]
            mixed = np.empty_like(state)
            flat = (self.setup.problem.n, self.lanes * state.shape[1])
            mix_clients(*self.shared.edges, state.reshape(flat), mixed.reshape(flat))
            mixes = np.tile(coins, self.setup.problem.n)
            self.clients[name] = mixed if coins.all() else np.where(mixes[:, None], mixed, state)

    def _aggregate(self, t: int, total: Arrays, participants: Integers) -> None:
        """The server's state after round t."""
        algorithm, server = self.setup.algorithm, self.server
        idle = participants == 0
        m = np.maximum(participants, 1)
        if not (algorithm.averages and idle.any()):
            values = {"m": m, **self._coin(slice(None))}
            (found,) = self.calls.by_server("aggregate", t, (server, total), values)
        elif idle.all():
            return
        else:
            busy = ~idle
            arguments = tuple({name: array[busy] for name, array in group.items()} for group in (server, total))
            (new,) = self.calls.by_server("aggregate", t, arguments, {"m": m[busy], **self._coin(busy)})
            found = {name: array.copy() for name, array in server.items()}
            for name, array in new.items():
                found[name][busy] = array
        if (kept := algorithm.projects) is not None:
            length = np.sqrt(np.sum(found[kept] ** 2, axis=1, keepdims=True))
            radius = float(self.setup.step_sizes["r"])
            outside = (length > radius) & ~idle[:, None]
            found[kept] = found[kept] * np.where(outside, radius / np.where(outside, length, 1.0), 1.0)
        self.server = found

    def record(self, t: int, record: Array) -> None:
        """Fill record (names, replicates) with what there is before round t."""
        server, clients = self._packed
        of_server, of_clients = self.shared.packed
        for name, slot, first, last in of_server:
            server[slot, first:last] = self.server[name].T
        for name, slot, first, last in of_clients:
            state = self.clients[name].reshape(len(clients), self.lanes, last - first)
            clients[:, slot, first:last] = state.swapaxes(1, 2)
        self.shared.measured.record(self.shared.records, self.setup.starts, server, clients, record)
        if self.shared.measures:
            (found,) = self.calls.by_server("measure", t, (self.server, self._mean_gradient(t)))
            for place, name in self.shared.measures:
                record[place] = found[name][:, 0]

    def _mean_gradient(self, t: int) -> Arrays:
        """The mean of the clients' gradients at the server's point, by block (replicates, coordinates)."""
        setup, rows = self.setup, everybody(self.setup.problem.n, self.keys)
        x = np.zeros((self.lanes, setup.problem.d))
        for name, first, last in self.shared.held:
            x[:, first:last] = self.server[name]
        answers = self.shared.exact.answers(rows, t, 0, np.tile(x, (setup.problem.n, 1)))
        total = np.zeros_like(x)
        add_rows(answers, rows.lanes, total)
        return self.shared.by_block(total / setup.problem.n)


def rounding(setup: Setup, *, seed: int = 0, wanted: range = range(1)) -> dict[str, Array]:
    """The rounding of the records of these replicates, (replicates, T) each; see `with_rounding`."""
    return with_rounding(setup, seed=seed, wanted=wanted)[1]


def with_rounding(
    setup: Setup, *, seed: int = 0, wanted: range = range(1), report: Callable[[int], None] = lambda _: None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The records of these replicates and their rounding, (replicates, T) each: measured, not proved.

    A step that is not linear may make much of little: a sign changes with a last digit. So every replicate is repeated,
    on the same streams, with points and gradients moved at random by a little more than rounding, and the error is a
    multiple of how far the repetitions get away from it, up to each round.
    """
    # Of a mean over replicates many of them tell; a single one has to tell by itself.
    lanes = 1 + (_MOVED if len(wanted) == 1 else _MOVED_OF_MANY)
    runner, away, still = OwnRounds(setup, every=lanes), list[Array](), list[Array]()
    for first in range(0, len(wanted), _LANES // lanes):
        keys = stream_keys(seed, wanted[first : first + _LANES // lanes])
        record = runner.run(np.ascontiguousarray(np.repeat(keys, lanes, axis=1)), report)
        record = record.reshape(*record.shape[:2], -1, lanes)
        with np.errstate(all="ignore"):
            apart = np.abs(record[..., 1:] - record[..., :1]).max(axis=3)
        away.append(_MARGIN * np.maximum.accumulate(np.where(np.isnan(apart), np.inf, apart), axis=0))
        still.append(record[..., 0])
    records, errors = (np.concatenate(each, axis=2) for each in (still, away))
    names = {name: q for q, name in enumerate(runner.plan.names)}
    return ({name: np.ascontiguousarray(records[:, q].T) for name, q in names.items()},
            {name: np.ascontiguousarray(errors[:, q].T) for name, q in names.items()})  # fmt: skip


def rounding_matters(setup: Setup) -> bool:
    """Whether `rounding` may show more than that of a linear method.

    Where every coordinate has noise, none is at a threshold but with a probability as small as rounding.
    """
    return not setup.algorithm.linear and not setup.noise.all()


class _Nudge:
    """Moves points and gradients (rows, d) by about rounding, those of every so many replicates by nothing.

    Of the others every second one has no point moved, but coordinates of gradients that may be rounding set to 0: a
    function may do at 0 what it does nowhere near it, as a sign does.
    """

    def __init__(self, lanes: int, every: int) -> None:
        self._random, self._largest, self._steepest = np.random.default_rng(0), np.zeros(lanes), np.zeros(lanes)
        place = np.arange(lanes) % every
        self._sizes = np.where(place % 2 == 1, _NUDGE, 0.0)
        self._zero = np.where((place > 0) & (place % 2 == 0), _ZERO, -1.0)

    def moved(self, x: Array, rows: ClientRows) -> tuple[Array, Callable[[Array], Array]]:
        """Points moved by a share of the largest coordinate so far, and what moves the gradients there."""
        shares, out = np.empty((2, *x.shape)), np.empty_like(x)
        shares_of_rows(self._random.uniform(-1, 1, shares.size), rows.firsts, shares)
        nudge_points(x, shares[0], rows.lanes, self._sizes, self._largest, out)

        def gradients(g: Array) -> Array:
            """Each coordinate moved by a share of itself, or to 0 where it is small against the largest so far."""
            nudge_gradients(g, shares[1], rows.lanes, self._sizes, self._zero, self._steepest)
            return g

        return out, gradients
