"""Monte Carlo, local step by local step: any problem, any noise, any participation pattern."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.setup import Setup
from ratecheck.kernels import rounds as kernels
from ratecheck.kernels.oracle import LOGISTIC, QUADRATIC
from ratecheck.kernels.random import stream_keys
from ratecheck.kernels.rounds import RECORDS as RECORDS  # noqa: PLC0414  # exported
from ratecheck.problems import Logistic, Quadratic

Array = NDArray[np.float64]
Progress = Callable[[float], None]

# Replicates per block: enough to fill vector registers, few enough that a block's state stays in the cache.
LANES = 64
# Rounds per kernel call: bounds the memory of participation masks, and is how often progress is reported.
_CHUNK_ENTRIES = 1 << 21


@dataclass(frozen=True)
class Run:
    """What a simulation recorded.

    ``records`` maps the name of a per-round quantity to an array (replicates, T), taken before the round is played.
    ``metric`` is the quantity that the method's theorems bound: G_u + rate*G_v, rate being the average share of
    clients per round. ``diverged`` (replicates,) marks runs that left the range of floating-point numbers.
    """

    records: dict[str, Array]
    rate: float

    @property
    def metric(self) -> Array:
        """G_u + rate*G_v per replicate and round."""
        return self.records["G_u"] + self.rate * self.records["G_v"]

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether a replicate's metric ever was not finite."""
        return np.asarray(~np.isfinite(self.metric).all(axis=1))


class BlockKernel(Protocol):
    """What runs a block of replicates: `StepKernel` here, or the leap engine's."""

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Records (T, len(RECORDS), replicates) of the replicates with these streams."""


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

    ``kernel`` runs a block of them, local step by local step by default.
    """
    starts = range(first_replicate, first_replicate + replicates, LANES)
    blocks = [range(start, min(start + LANES, first_replicate + replicates)) for start in starts]
    done = [0] * len(blocks)

    def report(block: int, rounds: int) -> None:
        done[block] = rounds
        if progress is not None:
            progress(sum(done) / (len(blocks) * setup.T))

    runner = StepKernel(setup) if kernel is None else kernel

    def work(block: int) -> Array:
        return runner.run(stream_keys(seed, blocks[block]), lambda rounds: report(block, rounds))

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        recorded = np.concatenate(list(pool.map(work, range(len(blocks)))), axis=2)
    records = {name: np.ascontiguousarray(recorded[:, q].T) for q, name in enumerate(RECORDS)}
    return Run(records=records, rate=setup.trace.rate)


class StepKernel:
    """Everything that the blocks of one simulation share."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.maps = setup.maps(setup.problem.n)
        self.begin = setup.begin()
        self.aggregate = np.stack([setup.aggregate(count) for count in range(setup.problem.n + 1)])
        self.oracle = (*_problem_arrays(setup), setup.noise)

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, len(RECORDS), replicates)."""
        setup, maps, problem, lanes = self.setup, self.maps, self.setup.problem, keys.shape[1]
        server = np.zeros((maps.server.slots, problem.d, lanes))
        client = np.zeros((problem.n, maps.client.slots, problem.d, lanes))
        kernels.start_state(
            *self.oracle, setup.K, maps.start_client, maps.start_server, setup.point, server, client, keys
        )  # fmt: skip
        last = np.full((problem.n, lanes), -1)
        record = np.empty((setup.T, len(RECORDS), lanes))
        chunk = max(1, _CHUNK_ENTRIES // (problem.n * lanes * setup.K * problem.d))
        for first in range(0, setup.T, chunk):
            rounds = min(chunk, setup.T - first)
            masks = setup.trace.masks(first, rounds, keys)
            kernels.run_rounds(
                *self.oracle, setup.K, maps.local.slots, *self.begin, maps.step, maps.finish, self.aggregate,
                server, client, last, keys, masks, first, record[first : first + rounds],
            )  # fmt: skip
            report(first + rounds)
        return record


def _problem_arrays(setup: Setup) -> tuple[object, ...]:
    problem = setup.problem
    none2, none3 = np.zeros((1, 1)), np.zeros((1, 1, 1))
    if isinstance(problem, Quadratic):
        return QUADRATIC, problem.H, problem.g, none3, 0.0, problem.d_u, 0
    assert isinstance(problem, Logistic)
    return LOGISTIC, none3, none2, problem.A, float(problem.rho), problem.d_u, int(problem.batch or 0)
