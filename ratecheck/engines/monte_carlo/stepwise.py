"""Monte Carlo simulation of local steps, one by one: any problem, any noise, any participation pattern."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array, Progress
from ratecheck.engines.expected_records import weighted
from ratecheck.engines.monte_carlo.asked import compiled, record_arrays
from ratecheck.engines.monte_carlo.prepared import prepared
from ratecheck.engines.monte_carlo.tables import (
    RoundTables,
    compression,
    counted,
    diagonal,
    mixing,
    places,
)
from ratecheck.engines.monte_carlo.traced_rounds import rounds
from ratecheck.engines.records import RecordPlan, plan
from ratecheck.engines.setup import Setup, check_clients
from ratecheck.errors import InputError
from ratecheck.execution.cores import cores
from ratecheck.kernels.constants import SLOTS, WIDTH
from ratecheck.kernels.oracle import Oracle
from ratecheck.kernels.random import stream_keys
from ratecheck.kernels.rounds import MethodArrays, run_rounds, start_gradients

# Replicates per block: enough to fill vector registers, few enough that a block's state stays in the cache.
LANES = 64
# Rounds per kernel call: bounds the memory of participation masks, and is how often progress is reported.
_CHUNK_ENTRIES = 1 << 21
# Rounds whose coefficients are computed together where they vary: most of the time does not depend on how many.
_TABLED_ROUNDS = 1 << 10


@dataclass(frozen=True)
class Run:
    """The records of a simulation.

    ``records`` maps the name of a per-round quantity to an array (replicates, T), taken before the round is played.
    ``weights`` says which of them add up to the quantity that the method's theorems bound; ``rate`` is the average
    share of clients per round.
    """

    records: dict[str, Array]
    weights: dict[str, float]
    rate: float

    def __repr__(self) -> str:
        replicates, rounds = next(iter(self.records.values())).shape if self.records else (0, 0)
        return f"<Run T={rounds}, replicates={replicates}: {', '.join(self.records)}>"

    @property
    def metric(self) -> Array:
        """The quantity that the method's theorems bound, per replicate and round: such as G_u + rate*G_v."""
        return weighted(self.records, self.weights)

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether what was recorded of a replicate ever left the range of floating-point numbers, (replicates,)."""
        return np.asarray(~np.all([np.isfinite(values).all(axis=1) for values in self.records.values()], axis=0))


class _StoppedError(Exception):
    """Ends a block of replicates where another one failed, or the run was interrupted."""


class BlockKernel(Protocol):
    """A kernel that runs a block of replicates: `StepKernel` here, those of `rounds`, or the leap engine's."""

    plan: RecordPlan

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Records (T, names, replicates) of the replicates with these streams."""


def simulate(
    setup: Setup,
    *,
    kernel: BlockKernel | None = None,
    seed: int = 0,
    replicates: int = 1,
    first_replicate: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run the given replicates; the result of a replicate depends on seed and its own number alone.

    ``kernel`` runs a block of them, local step by local step by default: from coefficients where these are all that
    there is to a round, else by calling the method's functions.
    """
    check_clients(setup)
    # As many blocks as there are threads, of whole vectors and not too large.
    threads = threads or cores()
    lanes = min(LANES, WIDTH * math.ceil(replicates / threads / WIDTH))
    starts = range(first_replicate, first_replicate + replicates, lanes)
    blocks = [range(start, min(start + lanes, first_replicate + replicates)) for start in starts]
    done = [0] * len(blocks)

    stop = threading.Event()

    def report(block: int, rounds: int) -> None:
        if stop.is_set():
            raise _StoppedError
        done[block] = rounds
        if progress is not None:
            progress(sum(done) / (len(blocks) * setup.T))

    tabled = setup.algorithm.linear and not setup.algorithm.asks_more
    in_kernel = tabled and setup.problem.compiled and setup.law.compiled and fits(setup)
    runner = kernel or (prepared(StepKernel, setup, setup.method.full, setup.mixes) if in_kernel else rounds(setup))

    def work(block: int) -> Array:
        keys = stream_keys(seed, blocks[block])
        # Whole vectors of lanes are faster than single ones: what is computed too much is left out again.
        padded = np.pad(keys, ((0, 0), (0, max(0, WIDTH - keys.shape[1]))), mode="edge")
        return runner.run(np.ascontiguousarray(padded), lambda rounds: report(block, rounds))[..., : keys.shape[1]]

    with ThreadPoolExecutor(threads) as pool:
        try:
            recorded = np.concatenate(list(pool.map(work, range(len(blocks)))), axis=2)
        except BaseException:
            # An interrupt: the others stop at their next report, within a few rounds.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    records = {
        name: np.maximum(np.ascontiguousarray(recorded[:, q].T), least)
        for q, (name, least) in enumerate(zip(runner.plan.names, runner.plan.least, strict=True))
    }
    return Run(records, setup.metric, setup.trace.rate)


class StepKernel:
    """Everything that the blocks of one simulation share."""

    def __init__(self, setup: Setup) -> None:
        # Records are those of the first round's parameters where these vary.
        setup = setup.at(0)
        self.setup, self.plan = setup, plan(setup)
        self.source, self.measured = (
            compiled(setup, name) for name in (setup.algorithm.oracle, setup.algorithm.record_oracle)
        )
        self.records = record_arrays(self.plan)
        if not fits(setup):
            raise InputError(f"{setup.method.spoken}: more than {SLOTS} local variables in a block are not simulated")
        maps, starts, (kinds, kind) = setup.maps, setup.starts, setup.kinds
        tables, varies = RoundTables.of(setup), bool(setup.algorithm.varying)
        self.start_client = maps.many("start_client", setup.of_clients(kinds))[kind]
        self.start_server = maps.start_server(setup.parameters())
        slot, block = setup.projected
        self.method = MethodArrays(
            **tables.arrays(),
            kind=kind,
            kinds=len(kinds),
            varies=varies,
            starts=starts,
            counts=np.array([group.by_block for group in (maps.server, maps.client, maps.local, maps.message)]),
            K=setup.local_steps,
            delayed=setup.algorithm.uses_delay and bool(varies or tables.rate.any()),
            weights=tables.step.shape[1],
            diagonal=diagonal(setup, self.source, tables.step),
            compression=compression(setup, tables.sent),
            mixing=mixing(setup),
            counted=counted(setup),
            places=np.concatenate([places(maps.server, starts), places(maps.message, starts)], axis=1),
            projected=slot * setup.problem.d + np.arange(*starts[block : block + 2]) if slot >= 0 else np.arange(0),
            radius=float(setup.step_sizes["r"]) if setup.algorithm.projects else np.inf,
            select=setup.trace.selected,
            known_start=self.records.answers and known_start(setup, self.plan, self.source, tables),
            copies=setup.trace.copies,
        )
        self.ahead: tuple[range, MethodArrays] = range(0), self.method

    def serving(self, setup: Setup | None) -> Self:
        """The kernel for another run with the same tables; see `prepared`."""
        found: Any = copy.copy(self)
        found.setup = None if setup is None else setup.at(0)
        # Coefficients may depend on how long a run is.
        found.ahead = range(0), self.method
        if setup is not None:
            # Graphs are no part of what kept kernels are known by.
            found.method = self.method._replace(mixing=mixing(setup))
        return found

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, problem, lanes = self.setup, self.setup.problem, keys.shape[1]
        server, client = self.start(keys)
        last = np.full((problem.n, lanes), -1)
        record = np.empty((setup.T, len(self.plan.records), lanes))
        chunk = max(1, _CHUNK_ENTRIES // (problem.n * lanes * setup.K * problem.d))
        for first in range(0, setup.T, chunk):
            rounds = min(chunk, setup.T - first)
            self.play(first, server, client, last, keys, record[first : first + rounds])
            report(first + rounds)
        return record

    def play(
        self,
        first: int,
        server: Array,
        client: Array,
        last: NDArray[np.int64],
        keys: NDArray[np.uint64],
        record: Array,
    ) -> None:
        """Advance the state by as many rounds from ``first`` on as ``record`` (rounds, names, replicates) has."""
        # Zeros and ones, or counts: one form for the compiled rounds.
        masks = np.require(self.setup.trace.masks(first, len(record), keys), requirements=("C", "W")).view(np.int8)
        method = self._varied(range(first, first + len(record))) if self.method.varies else self.method
        run_rounds(self.source, self.measured, method, self.records, server, client, last, keys, masks, first, record)

    def _varied(self, rounds: range) -> MethodArrays:
        """The method with its coefficients in these rounds."""
        # Threads on other blocks set it too, in one go.
        known, method = self.ahead
        if rounds[0] not in known or rounds[-1] not in known:
            known = range(rounds[0], max(rounds.stop, min(self.setup.T, rounds[0] + _TABLED_ROUNDS)))
            tables = RoundTables.of(self.setup, known)
            sent = self.method.compression._replace(sent=np.ascontiguousarray(tables.sent))
            method = self.method._replace(**tables.arrays(), compression=sent)
            self.ahead = known, method
        first, last = rounds.start - known.start, rounds.stop - known.start

        def of_rounds(rows: Array) -> Array:
            each = len(rows) // len(known)
            return rows[first * each : last * each]

        return method._replace(
            **{name: of_rounds(getattr(method, name)) for name in RoundTables.VARIED},
            compression=method.compression._replace(sent=of_rounds(method.compression.sent)),
        )

    def start(self, keys: NDArray[np.uint64]) -> tuple[Array, Array]:
        """Server (slots, d, lanes) and client state (n, slots, d, lanes) before round 0."""
        point, lanes, blocks = self.setup.point, keys.shape[1], self.setup.block_of
        mean = np.zeros((*point.shape, lanes))
        if self.start_client[..., 1].any():
            start_gradients(self.source, self.method.K, point, keys, mean)
        on_point, on_gradient = np.moveaxis(self.start_client[:, blocks], -1, 0)
        client = on_point.swapaxes(1, 2)[..., None] * point[:, None, :, None]
        client = client + on_gradient.swapaxes(1, 2)[..., None] * mean[:, None]
        table = self.start_server[blocks]
        server = np.repeat((table[:, :, 0].T * point[0])[:, :, None], lanes, axis=2)
        # One after the other: NumPy's own sums depend on the number of lanes.
        for one in client:
            for slot, variable in enumerate(one):
                server += table[:, :, 1 + slot].T[:, :, None] * variable / len(client)
        return aligned(server), aligned(client)


def fits(setup: Setup) -> bool:
    """Whether there is code that keeps the method's local variables in registers."""
    return setup.maps.local.slots <= SLOTS


def known_start(setup: Setup, plan: RecordPlan, source: Oracle, tables: RoundTables) -> bool:
    """Whether recording computes the gradients of the first local steps: at the same points, over all samples."""
    begin, fixed = tables.begin, not (setup.algorithm.varying or tables.rate.any())
    if setup.algorithm.oracle != setup.algorithm.record_oracle or source.batch or not fixed:
        return False
    for block, size in enumerate(setup.sizes.values()):
        unit = np.zeros(begin.shape[-1])
        unit[plan.slots[block] + (setup.maps.server.slots if plan.groups[block] else 0)] = 1.0
        if size and (plan.slots[block] < 0 or (begin[:, block, 0] != unit).any()):
            return False
    return True


def aligned(array: Array) -> Array:
    """A copy at an address that is a multiple of 64: rows of lanes then are whole cache lines."""
    buffer = np.empty(array.size + 8)
    first = -buffer.ctypes.data % 64 // 8
    copy = buffer[first : first + array.size].reshape(array.shape)
    copy[...] = array
    return copy
