"""Monte Carlo by leaps: on quadratics with additive Gaussian noise, the cost of a round does not depend on K.

A client's K local steps are one affine map; their noise is one Gaussian of the same law. Distribution of the recorded
quantities: that of the step engine, though not the same numbers draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.affine import AffineRounds, Layout
from ratecheck.engines.exact import single_threaded
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup
from ratecheck.engines.step import oracle, record_arrays
from ratecheck.errors import InputError
from ratecheck.kernels.leap import Leap, fill_normals, run_leaps
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.participation import Largest
from ratecheck.problems import Logistic

Array = NDArray[np.float64]

# Eigenvalues of a noise covariance below this share of the largest are rounding.
_RANK = 1e-14
_CHUNK = 256


def check_leap(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine given who takes part: a quadratic problem, no biased selection."""
    if isinstance(setup.problem, Logistic):
        raise InputError(f"the leap engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")
    if isinstance(setup.trace, Largest):
        raise InputError("selecting the largest gradients is not affine, as the leap engine needs: use engine=step")


class LeapKernel:
    """Everything that the blocks of one simulation share; `run` simulates a block."""

    def __init__(self, setup: Setup) -> None:
        check_leap(setup)
        self.setup, self.plan = setup, plan(setup)
        self.measured, self.records = oracle(setup, setup.algorithm.record_oracle), record_arrays(self.plan)
        n = setup.problem.n
        with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
            self.affine = affine = AffineRounds(setup)
            rounds = [affine.client_round(i) for i in range(n)]
            rows = np.stack([np.vstack([r.client_rows, r.message_rows]) for r in rounds])
            rates = np.zeros_like(rows)
            if setup.algorithm.uses_delay:
                slow = [affine.client_round(i, 1.0) for i in range(n)]
                rates = np.stack([np.vstack([r.client_rows, r.message_rows]) for r in slow]) - rows
            tables = [affine.aggregate(count) for count in range(n + 1)]
            factors = _factors([r.noise for r in rounds])
        keep, to_server = (np.ascontiguousarray(np.stack(part)) for part in zip(*tables, strict=True))
        slot, block = setup.projected
        self.leap = Leap(
            rows=rows,
            rates=rates,
            factors=factors,
            keep=keep,
            to_server=to_server,
            block=np.repeat(np.arange(len(setup.sizes)), list(setup.sizes.values())),
            server_place=_places(affine.server),
            client_place=_places(affine.client),
            projected=affine.server.variable(block, slot) if slot >= 0 else np.zeros(0, dtype=np.intp),
            radius=float(setup.step_sizes["r"]) if setup.algorithm.projects else np.inf,
        )

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, names, replicates)."""
        setup, lanes = self.setup, keys.shape[1]
        server, client = self._start(keys)
        last = np.full((setup.problem.n, lanes), -1)
        record = np.empty((setup.T, len(self.plan.records), lanes))
        for first in range(0, setup.T, _CHUNK):
            rounds = min(_CHUNK, setup.T - first)
            masks = np.require(setup.trace.masks(first, rounds, keys), requirements=("C", "W"))
            run_leaps(
                self.measured, self.leap, self.records,
                server, client, last, keys, masks, first, record[first : first + rounds],
            )  # fmt: skip
            report(first + rounds)
        return record

    def _start(self, keys: NDArray[np.uint64]) -> tuple[Array, Array]:
        """Server and client state before round 0, with the noise of the first gradients."""
        lanes, n = keys.shape[1], self.setup.problem.n
        server_mean, from_clients, means, noises = self.affine.start()
        server = np.repeat(server_mean[:, None], lanes, axis=1)
        client = np.stack([np.repeat(mean[:, None], lanes, axis=1) for mean in means])
        z = np.empty((noises[0].shape[1], lanes))
        for i in range(n):
            fill_normals(z, BEFORE_FIRST_ROUND, i, keys, lanes)
            client[i] += noises[i] @ z
            server += from_clients @ (noises[i] @ z)
        return np.ascontiguousarray(server), np.ascontiguousarray(client)


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


def _places(layout: Layout) -> NDArray[np.int64]:
    """(slots, d): the position in the flat state of each coordinate of each slot, -1 where a block has no such slot."""
    columns = []
    for block, (count, size) in enumerate(zip(layout.counts.by_block, layout.sizes, strict=True)):
        part = np.full((layout.counts.slots, size), -1, dtype=np.int64)
        for slot in range(count):
            part[slot] = layout.variable(block, slot)
        columns.append(part)
    return np.ascontiguousarray(np.concatenate(columns, axis=1))
