"""Monte Carlo by leaps: on quadratics with additive Gaussian noise, the cost of a round does not depend on K.

A client's K local steps are one affine map; their noise is one Gaussian of the same law. Distribution of the recorded
quantities: that of the step engine, though not the same numbers draw by draw.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.affine import AffineRounds, Layout
from ratecheck.engines.monte_carlo.asked import oracle, record_arrays
from ratecheck.engines.monte_carlo.prepared import prepared
from ratecheck.engines.monte_carlo.stepwise import aligned
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup, check_clients, check_tabled
from ratecheck.errors import InputError
from ratecheck.execution.one_thread import single_threaded
from ratecheck.kernels.leap import Leap, fill_normals, run_leaps
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.kernels.vectors import add_product

# Eigenvalues of a noise covariance below this share of the largest are rounding.
_RANK = 1e-14
_CHUNK = 256
# Entries of the state per kernel call, about: how soon a run can be interrupted.
_CHUNK_ENTRIES = 1 << 28


def check_leap(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine given the participants: a quadratic problem, no biased selection."""
    check_clients(setup)
    check_tabled(setup, "the leap engine")
    if not setup.problem.affine:
        raise InputError(f"the leap engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")
    if not setup.law.normal:
        raise InputError(f"the leap engine adds normal noise, and {setup.law.kind} noise is not: use engine=step")
    if setup.trace.copies > 1:
        raise InputError("the leap engine takes a client once in a round at most: use engine=step")
    if setup.trace.follows_state:
        raise InputError("selecting the largest gradients is not affine, as the leap engine needs: use engine=step")


class LeapKernel:
    """Everything that the blocks of one simulation share; `run` simulates a block."""

    def __init__(self, setup: Setup) -> None:
        check_leap(setup)
        self.setup, self.plan = setup, plan(setup)
        self.measured, self.records = oracle(setup, setup.algorithm.record_oracle), record_arrays(self.plan)
        n = setup.problem.n
        with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
            affine = AffineRounds(setup)
            rounds = [affine.client_round(i) for i in range(n)]
            rows = np.stack([np.vstack([r.client_rows, r.message_rows]) for r in rounds])
            rates, delayed = np.zeros_like(rows), setup.algorithm.uses_delay
            if delayed:
                slow = [affine.client_round(i, 1.0) for i in range(n)]
                rates = np.stack([np.vstack([r.client_rows, r.message_rows]) for r in slow]) - rows
            noises = [r.noise for r in rounds]
            # Without client state, the messages of all clients are one affine map of the server's state.
            whole = [np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0))]
            summed = not affine.client.size and not delayed
            if summed:
                added = rows.sum(axis=0)
                whole = [added[:, :-1], -added[:, -1], _factors([np.sum(noises, axis=0)])[0]]
            self.together = _together(setup)
            unused = summed and self.together.all()
            factors = np.zeros((*rows.shape[:2], 0)) if unused else _factors(noises)
            self.start = affine.start()
        slot, block = setup.projected
        self.leap = Leap(
            rows=np.ascontiguousarray(rows[:, :, :-1]),
            offset=np.ascontiguousarray(-rows[:, :, -1]),
            rates=np.ascontiguousarray(rates[:, :, :-1]),
            delayed=delayed,
            factors=factors,
            whole_rows=np.ascontiguousarray(whole[0]),
            whole_offset=np.ascontiguousarray(whole[1]),
            whole_factor=np.ascontiguousarray(whole[2]),
            aggregate=setup.aggregates(np.arange(n + 1)),
            places=np.concatenate([_starts(affine.server), _starts(affine.message)], axis=1),
            starts=setup.starts,
            server_place=_places(affine.server),
            client_place=_places(affine.client),
            projected=affine.server.variable(block, slot) if slot >= 0 else np.zeros(0, dtype=np.intp),
            radius=float(setup.step_sizes["r"]) if setup.algorithm.projects else np.inf,
        )

    def serving(self, setup: Setup | None) -> Self:
        """The kernel for another run with the same tables; see `prepared`."""
        found: Any = copy.copy(self)
        found.setup = setup
        found.together = None if setup is None else _together(setup)
        return found

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, lanes = self.setup, keys.shape[1]
        server, client = self._start(keys)
        last = np.full((setup.problem.n, lanes), -1)
        record = np.empty((setup.T, len(self.plan.records), lanes))
        chunk = max(1, min(_CHUNK, _CHUNK_ENTRIES // (setup.problem.n * setup.problem.d**2 * lanes)))
        for first in range(0, setup.T, chunk):
            rounds = min(chunk, setup.T - first)
            masks = np.require(setup.trace.masks(first, rounds, keys), requirements=("C", "W")).view(np.int8)
            run_leaps(
                self.measured, self.leap, self.records, self.together[first : first + rounds],
                server, client, last, keys, masks, first, record[first : first + rounds],
            )  # fmt: skip
            report(first + rounds)
        return record

    def _start(self, keys: NDArray[np.uint64]) -> tuple[Array, Array]:
        """Server and client state before round 0, with the noise of the first gradients."""
        lanes = keys.shape[1]
        start = self.start
        server = aligned(np.repeat(start.server[:, None], lanes, axis=1))
        client = aligned(np.repeat(start.means[:, :, None], lanes, axis=2))
        z = np.empty((start.roots[0].shape[1], lanes))
        for i, noise in enumerate(start.roots):
            if noise.any():
                fill_normals(z, BEFORE_FIRST_ROUND, i, keys, lanes)
                add_product(noise, z, client[i], lanes)
                add_product(start.from_clients @ noise, z, server, lanes)
        return server, client


def leaps(setup: Setup) -> LeapKernel:
    """The kernel of a run, from those that are kept where there is one."""
    check_leap(setup)
    return prepared(LeapKernel, setup, bool(_together(setup).all()))


def _together(setup: Setup) -> NDArray[np.bool_]:
    """(T,): whether everybody takes part in that round in every replicate, so that no result depends on others."""
    fixed = setup.trace.fixed(setup.T)
    return np.zeros(setup.T, dtype=np.bool_) if fixed is None else np.asarray(fixed.all(axis=1))


def _factors(covariances: list[Array]) -> Array:
    """Factors F with F F' = covariance, of one common rank."""
    factors = []
    for covariance in covariances:
        if not np.isfinite(covariance).all():
            # The local steps diverge: so does the run.
            factors.append(np.full_like(covariance, np.nan))
            continue
        values, vectors = np.linalg.eigh(covariance) if covariance.size else (np.zeros(0), covariance)
        kept = values > _RANK * max(float(values.max(initial=0.0)), 1e-300)
        factors.append(vectors[:, kept] * np.sqrt(values[kept]))
    rank = max((factor.shape[1] for factor in factors), default=0)
    return np.stack([np.pad(factor, ((0, 0), (0, rank - factor.shape[1]))) for factor in factors])


def _starts(layout: Layout) -> NDArray[np.int64]:
    """(blocks, slots): the first row of each variable in the flat state, -1 where there is none."""
    starts = np.full((len(layout.sizes), layout.counts.slots), -1, dtype=np.int64)
    for block, count in enumerate(layout.counts.by_block):
        for slot in range(count):
            starts[block, slot] = layout.starts[block] + slot * layout.sizes[block]
    return starts


def _places(layout: Layout) -> NDArray[np.int64]:
    """(slots, d): the position in the flat state of each coordinate of each slot, -1 where a block has no such slot."""
    columns = []
    for block, (count, size) in enumerate(zip(layout.counts.by_block, layout.sizes, strict=True)):
        part = np.full((layout.counts.slots, size), -1, dtype=np.int64)
        for slot in range(count):
            part[slot] = layout.variable(block, slot)
        columns.append(part)
    return np.ascontiguousarray(np.concatenate(columns, axis=1))
