"""Monte Carlo, local step by local step: any problem, any noise, any participation pattern."""

from __future__ import annotations

import copy
import itertools
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Counts
from ratecheck.aliases import Array, Progress
from ratecheck.engines.expectation import weighted
from ratecheck.engines.moments.exact import single_threaded
from ratecheck.engines.monte_carlo.asked import compiled, record_arrays
from ratecheck.engines.monte_carlo.own_rounds import OwnRounds
from ratecheck.engines.monte_carlo.prepared import prepared
from ratecheck.engines.records import RecordPlan, plan
from ratecheck.engines.setup import Setup, check_clients
from ratecheck.errors import InputError
from ratecheck.execution.cores import cores
from ratecheck.kernels.constants import SLOTS, WIDTH
from ratecheck.kernels.diagonal import Diagonal
from ratecheck.kernels.oracle import AFFINE, Oracle
from ratecheck.kernels.random import stream_keys
from ratecheck.kernels.rounds import MethodArrays, run_rounds, start_gradients

# Replicates per block: enough to fill vector registers, few enough that a block's state stays in the cache.
LANES = 64
# Rounds per kernel call: bounds the memory of participation masks, and is how often progress is reported.
_CHUNK_ENTRIES = 1 << 21


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
    """A kernel that runs a block of replicates: `StepKernel` here, `OwnRounds`, or the leap engine's."""

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

    tabled = setup.algorithm.tabled and setup.problem.compiled and setup.law.compiled
    runner = kernel or (prepared(StepKernel, setup) if tabled else OwnRounds(setup))

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
    records = {name: np.ascontiguousarray(recorded[:, q].T) for q, name in enumerate(runner.plan.names)}
    return Run(records, setup.metric, setup.trace.rate)


class StepKernel:
    """Everything that the blocks of one simulation share."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.plan = setup, plan(setup)
        self.source, self.measured = (
            compiled(setup, name) for name in (setup.algorithm.oracle, setup.algorithm.record_oracle)
        )
        self.records = record_arrays(self.plan)
        clients = range(1) if setup.alike else range(setup.problem.n)
        per_client = [
            (
                *setup.begin(i),
                setup.steps(i),
                setup.finish(i),
                setup.start_client(i),
                setup.maps.score(setup.parameters(i)),
            )
            for i in clients
        ] * (setup.problem.n // len(clients))
        begin, rate, step, finish, self.start_client, score = (
            np.ascontiguousarray(np.stack(tables)) for tables in zip(*per_client, strict=True)
        )
        maps, starts = setup.maps, setup.starts
        if maps.local.slots > SLOTS:
            raise InputError(f"{setup.method.name}: more than {SLOTS} local variables in a block are not simulated")
        slot, block = setup.projected
        self.method = MethodArrays(
            starts=starts,
            counts=np.array([group.by_block for group in (maps.server, maps.client, maps.local, maps.message)]),
            K=setup.local_steps,
            begin=begin,
            begin_rate=rate,
            delayed=bool(rate.any()),
            # Columns (local, gradient, 1): nothing is added that does not depend on them.
            step=_flat(np.concatenate([step, np.zeros_like(step[..., :1])], axis=-1)),
            weights=step.shape[1],
            diagonal=diagonal(setup, self.source, step),
            finish=finish,
            aggregate=aggregate_tables(setup),
            places=np.concatenate([_places(maps.server, starts), _places(maps.message, starts)], axis=1),
            projected=slot * setup.problem.d + np.arange(*starts[block : block + 2]) if slot >= 0 else np.arange(0),
            radius=float(setup.step_sizes["r"]) if setup.algorithm.projects else np.inf,
            select=setup.trace.selected,
            score=score,
            known_start=known_start(setup, self.plan, self.source, begin, bool(rate.any())),
        )

    def serving(self, setup: Setup | None) -> Self:
        """The kernel for another run with the same tables; see `prepared`."""
        found: Any = copy.copy(self)
        found.setup = setup
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
            masks = np.require(setup.trace.masks(first, rounds, keys), requirements=("C", "W"))
            run_rounds(
                self.source, self.measured, self.method, self.records,
                server, client, last, keys, masks, first, record[first : first + rounds],
            )  # fmt: skip
            report(first + rounds)
        return record

    def start(self, keys: NDArray[np.uint64]) -> tuple[Array, Array]:
        """Server (slots, d, lanes) and client state (n, slots, d, lanes) before round 0."""
        point, lanes, blocks = self.setup.point, keys.shape[1], self.setup.block_of
        mean = np.zeros((*point.shape, lanes))
        if self.start_client[..., 1].any():
            start_gradients(self.source, self.method.K, point, keys, mean)
        on_point, on_gradient = np.moveaxis(self.start_client[:, blocks], -1, 0)
        client = on_point.swapaxes(1, 2)[..., None] * point[:, None, :, None]
        client = client + on_gradient.swapaxes(1, 2)[..., None] * mean[:, None]
        table = self.setup.maps.start_server(self.setup.parameters())[blocks]
        server = np.repeat((table[:, :, 0].T * point[0])[:, :, None], lanes, axis=2)
        # One after the other: NumPy's own sums depend on the number of lanes.
        for one in client:
            for slot, variable in enumerate(one):
                server += table[:, :, 1 + slot].T[:, :, None] * variable / len(client)
        return aligned(server), aligned(client)


def known_start(setup: Setup, plan: RecordPlan, source: Oracle, begin: Array, delayed: bool) -> bool:
    """Whether recording computes the gradients of the first local steps: at the same points, over all samples."""
    same = setup.algorithm.oracle == setup.algorithm.record_oracle and not source.batch and not delayed
    if not same or not any(record.terms for record in plan.records):
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


def diagonal(setup: Setup, source: Oracle, step: Array) -> Diagonal:
    """Local steps in eigenbases, for every client that takes enough of them to repay the two changes of basis.

    The coefficients ``step`` (n, 1 or K, blocks, locals, locals + 1) must be the same in every step, the matrices
    symmetric without entries between blocks, and the noise equal within each block.
    """
    n, slots = setup.problem.n, step.shape[3]
    none = Diagonal(np.zeros(n, dtype=np.bool_), np.zeros((n, 0, 0)), np.zeros((n, 0, 0)), noisy=False)
    used, blocks, starts = setup.local_steps > 2 * slots, setup.block_of, setup.starts
    if source.kind != AFFINE or step.shape[1] > 1 or not used.any():
        return none
    apart = blocks[:, None] != blocks
    if np.any(source.M.swapaxes(1, 2) != source.M) or source.M[:, apart].any():
        return none
    if any(np.ptp(setup.noise[blocks == block]) for block in set(blocks)):
        return none
    basis, values = np.zeros_like(source.M), np.zeros_like(source.c)
    with single_threaded():
        for first, last in itertools.pairwise(starts):
            here = slice(first, last)
            values[:, here], basis[:, here, here] = np.linalg.eigh(source.M[:, here, here])
    # The gradient in a coordinate is value * point - c + noise * normal.
    table = np.zeros((n, setup.problem.d, slots, slots + 2))
    steps = step[:, 0][:, blocks]
    table[..., :-2], on_gradient = steps[..., :-1], steps[..., -1]
    table[..., 0] += on_gradient * values[..., None]
    table[..., -2] = on_gradient * setup.noise[:, None]
    table[..., -1] = -on_gradient * (basis.swapaxes(1, 2) @ source.c[..., None])
    return Diagonal(used, basis, _flat(table), noisy=bool(setup.noise.any()))


def _flat(tables: Array) -> Array:
    """Tables (..., outputs, inputs) as rows (..., outputs*inputs)."""
    return np.ascontiguousarray(tables.reshape(*tables.shape[:-2], -1))


def aggregate_tables(setup: Setup) -> Array:
    """Coefficients of ``aggregate``, (n + 1, ...) by the number of participants."""
    return np.stack([setup.aggregate(count) for count in range(setup.problem.n + 1)])


def _places(counts: Counts, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """(blocks, slots): in which row of an array (slots*d, B) each variable begins, -1 where there is none."""
    slots = np.arange(counts.slots)
    return np.where(slots < np.array(counts.by_block)[:, None], slots * starts[-1] + starts[:-1, None], -1)
