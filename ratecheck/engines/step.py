"""Monte Carlo, local step by local step: any problem, any noise, any participation pattern."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.records import Plan, plan, weighted
from ratecheck.engines.setup import Setup
from ratecheck.kernels.lanes import WIDTH
from ratecheck.kernels.oracle import AFFINE, LOGISTIC, PROXIMAL, Oracle
from ratecheck.kernels.random import stream_keys
from ratecheck.kernels.records import Records
from ratecheck.kernels.rounds import Method, run_rounds, start_state
from ratecheck.participation import Largest
from ratecheck.problems import Logistic

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


class BlockKernel(Protocol):
    """What runs a block of replicates: `StepKernel` here, or the leap engine's."""

    plan: Plan

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
        keys = stream_keys(seed, blocks[block])
        # Whole vectors of lanes are faster than single ones: what is computed too much is left out again.
        padded = np.pad(keys, ((0, 0), (0, max(0, WIDTH - keys.shape[1]))), mode="edge")
        return runner.run(np.ascontiguousarray(padded), lambda rounds: report(block, rounds))[..., : keys.shape[1]]

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        recorded = np.concatenate(list(pool.map(work, range(len(blocks)))), axis=2)
    records = {name: np.ascontiguousarray(recorded[:, q].T) for q, name in enumerate(runner.plan.names)}
    return Run(records, setup.algorithm.metric(setup.trace.rate, setup.problem.n), setup.trace.rate)


class StepKernel:
    """Everything that the blocks of one simulation share."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.plan = setup, plan(setup)
        self.source, self.measured = (
            oracle(setup, name) for name in (setup.algorithm.oracle, setup.algorithm.record_oracle)
        )
        self.records = record_arrays(self.plan)
        clients = range(1) if setup.alike else range(setup.problem.n)
        per_client = [
            (
                *setup.begin(i),
                setup.steps(i),
                setup.finish(i),
                setup.maps.start_client(setup.parameters(i)),
                setup.maps.score(setup.parameters(i)),
            )
            for i in clients
        ] * (setup.problem.n // len(clients))
        begin, rate, step, finish, start, score = (
            np.ascontiguousarray(np.stack(tables)) for tables in zip(*per_client, strict=True)
        )
        self.start = start, setup.maps.start_server(setup.parameters())
        self.method = Method(
            block=np.repeat(np.arange(len(setup.sizes)), list(setup.sizes.values())),
            K=setup.local_steps,
            begin=begin,
            begin_rate=rate,
            step=step,
            finish=finish,
            aggregate=np.stack([setup.aggregate(count) for count in range(setup.problem.n + 1)]),
            projected=setup.projected,
            radius=float(setup.step_sizes["r"]) if setup.algorithm.projects else np.inf,
            select=setup.trace.s if isinstance(setup.trace, Largest) else 0,
            score=score,
        )

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, maps, problem, lanes = self.setup, self.setup.maps, self.setup.problem, keys.shape[1]
        server = np.zeros((maps.server.slots, problem.d, lanes))
        client = np.zeros((problem.n, maps.client.slots, problem.d, lanes))
        start_state(self.source, self.method, *self.start, setup.point, server, client, keys)
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


def oracle(setup: Setup, name: str) -> Oracle:
    """The named oracle of the setup's problem as the kernels take it."""
    problem = setup.problem
    none2, none3 = np.zeros((1, 1)), np.zeros((1, 1, 1))
    if isinstance(problem, Logistic):
        kind, lambda_ = (PROXIMAL, float(setup.step_sizes["lambda_"])) if name == "prox" else (LOGISTIC, 0.0)
        batch = int(problem.batch or 0)
        return Oracle(kind, none3, none2, problem.A, float(problem.rho), problem.d_u, batch, lambda_, setup.noise)
    M, c = (np.ascontiguousarray(array) for array in setup.operator(name))
    return Oracle(AFFINE, M, c, none3, 0.0, 0, 0, 0.0, setup.noise)


def record_arrays(plan: Plan) -> Records:
    """The plan as the kernels take it."""
    n, d = plan.anchor.shape
    terms = [(q, column) for q, record in enumerate(plan.records) for column in record.terms]
    width = len(terms[0][1][0].left) if terms else 0

    def coefficients(side: str) -> Array:
        table = np.zeros((n, len(terms), width))
        for j, (_, column) in enumerate(terms):
            table[:, j] = [getattr(term, side) for term in column]
        return table

    return Records(
        rows=np.concatenate([record.rows for record in plan.records] or [np.zeros((0, d))]),
        offset=np.concatenate([record.offset for record in plan.records] or [np.zeros(0)]),
        row_owner=np.repeat(np.arange(len(plan.records)), [len(record.rows) for record in plan.records]),
        group=plan.groups,
        slot=plan.slots,
        over=np.array([int(column[0].over) for _, column in terms], dtype=np.int64),
        owner=np.array([q for q, _ in terms], dtype=np.int64),
        block=np.array([column[0].block for _, column in terms], dtype=np.int64),
        factor=np.array([[term.factor for term in column] for _, column in terms]).reshape(len(terms), n).T.copy(),
        left=coefficients("left"),
        right=coefficients("right"),
        anchor=np.ascontiguousarray(plan.anchor),
        constant=np.array([record.constant for record in plan.records]),
    )
