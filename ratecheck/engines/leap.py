"""Monte Carlo by leaps: on quadratics with additive Gaussian noise, the cost of a round does not depend on K.

A client's K local steps are one affine map; their noise is one Gaussian of the same law. Distribution of the recorded
quantities: that of the step engine, though not the same numbers draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.affine import AffineRounds
from ratecheck.engines.exact import single_threaded
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.leap import fill_normals, run_leaps
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.kernels.rounds import RECORDS
from ratecheck.problems import Quadratic

Array = NDArray[np.float64]

# Eigenvalues of a noise covariance below this share of the largest are rounding.
_RANK = 1e-14
_CHUNK = 256


def check_leap(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine given who takes part: a quadratic problem."""
    if not isinstance(setup.problem, Quadratic):
        raise InputError(f"the leap engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")


class LeapKernel:
    """Everything that the blocks of one simulation share; `run` simulates a block."""

    def __init__(self, setup: Setup) -> None:
        check_leap(setup)
        self.setup = setup
        with single_threaded():
            self.affine = affine = AffineRounds(setup)
            rounds = [affine.client_round(i) for i in range(setup.problem.n)]
            self.rows = np.stack([np.vstack([r.client_rows, r.message_rows]) for r in rounds])
            self.rates = np.zeros_like(self.rows)
            if setup.method.algorithm.uses_delay:
                slow = [affine.client_round(i, 1.0) for i in range(setup.problem.n)]
                self.rates = np.stack([np.vstack([r.client_rows, r.message_rows]) for r in slow]) - self.rows
            self.factors = _factors([r.noise for r in rounds])
            tables = [affine.aggregate(count) for count in range(setup.problem.n + 1)]
        self.keep, self.to_server = (np.ascontiguousarray(np.stack(part)) for part in zip(*tables, strict=True))

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        """Simulate one block of replicates; records (T, len(RECORDS), replicates)."""
        setup, problem, lanes = self.setup, self.affine.problem, keys.shape[1]
        server, client = self._start(keys)
        last = np.full((problem.n, lanes), -1)
        record = np.empty((setup.T, len(RECORDS), lanes))
        layout = self.affine.server.first[: problem.d_u], self.affine.client.cut + np.arange(problem.d_v)
        for first in range(0, setup.T, _CHUNK):
            rounds = min(_CHUNK, setup.T - first)
            masks = setup.trace.masks(first, rounds, keys)
            run_leaps(
                problem.H, problem.g, problem.d_u, *layout, self.rows, self.rates, self.factors, self.keep,
                self.to_server, server, client, last, keys, masks, first, record[first : first + rounds],
            )  # fmt: skip
            report(first + rounds)
        return record

    def _start(self, keys: NDArray[np.uint64]) -> tuple[Array, Array]:
        """Server and client state before round 0, with the noise of the first gradients."""
        lanes, n = keys.shape[1], self.setup.problem.n
        server_mean, server_noise, means, noises = self.affine.start()
        server = np.repeat(server_mean[:, None], lanes, axis=1)
        client = np.stack([np.repeat(mean[:, None], lanes, axis=1) for mean in means])
        words, floats, pair = np.empty((4, lanes), dtype=np.uint64), np.empty(lanes), np.empty((2, lanes))
        z = np.empty((noises[0].shape[1], lanes))
        for i in range(n):
            fill_normals(z, BEFORE_FIRST_ROUND, i, keys, words, floats, floats.view(np.int64), pair, lanes)
            client[i] += noises[i] @ z
            server += server_noise @ z
        return np.ascontiguousarray(server), np.ascontiguousarray(client)


def _factors(covariances: list[Array]) -> Array:
    """Factors F with F F' = covariance, of one common rank."""
    factors = []
    for covariance in covariances:
        values, vectors = np.linalg.eigh(covariance) if covariance.size else (np.zeros(0), covariance)
        kept = values > _RANK * max(float(values.max(initial=0.0)), 1e-300)
        factors.append(vectors[:, kept] * np.sqrt(values[kept]))
    rank = max((factor.shape[1] for factor in factors), default=0)
    return np.stack([np.pad(factor, ((0, 0), (0, rank - factor.shape[1]))) for factor in factors])
