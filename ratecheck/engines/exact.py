"""Expectations without sampling: first and second moments on quadratic problems with additive noise.

The state z = (server, client_1, ..., client_n, 1) of all variables follows z' = A_0 z + sum_{i in S} (B_i z + noise_i).
Its second moment M = E[z z'] therefore follows a linear recursion. Under uniform sampling only the inclusion
probabilities pi_1 = P(i in S) and pi_2 = P(i, j in S) matter, never the subsets themselves:

    M' = A_1 M A_1' + (pi_2 - pi_1^2) Bbar M Bbar' + (pi_1 - pi_2) sum_i B_i M B_i' + pi_1 sum_i N_i,

with Bbar = sum_i B_i and A_1 = A_0 + pi_1 Bbar; a given trace is followed as it is. Recorded quantities are quadratic
in z, so their expectation is the inner product of a matrix with M.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.affine import AffineRounds
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.participation import FixedTrace, UniformTrace
from ratecheck.problems import Quadratic

Array = NDArray[np.float64]
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Expectation:
    """Expected per-round quantities: ``records`` maps a name to an array (T,).

    ``metric`` (T,) is the expectation of G_u + rate*G_v. ``rounding`` is a first-order estimate of the largest relative
    rounding error.
    """

    records: dict[str, Array]
    rate: float
    rounding: float

    @property
    def metric(self) -> Array:
        """E[G_u + rate*G_v] per round."""
        return self.records["G_u"] + self.rate * self.records["G_v"]

    @property
    def diverged(self) -> bool:
        """Whether a moment left the range of floating-point numbers."""
        return not np.isfinite(self.metric).all()


def check_exact(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine: a quadratic problem and state-independent participation."""
    if not isinstance(setup.problem, Quadratic):
        raise InputError(f"the exact engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")
    if not isinstance(setup.trace, (UniformTrace, FixedTrace)):
        raise InputError("the exact engine needs uniform sampling or a given trace: use engine=step")


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """Expectations of all recorded quantities over T rounds; raises `InputError` for a run that is not affine."""
    check_exact(setup)
    moments = Moments(setup)
    forms = moments.quadratic_forms()
    stacked = np.stack([form.ravel() for form in forms.values()])
    values = np.empty((len(forms), setup.T))
    for t, M in enumerate(moments.rounds()):
        values[:, t] = stacked @ M.ravel()
        if progress is not None and t % 64 == 0:
            progress(t / setup.T)
    # Every entry of M passes 2 products of length D per round.
    rounding = 4 * moments.size * setup.T * float(np.finfo(float).eps)
    return Expectation(records=dict(zip(forms, values, strict=True)), rate=setup.trace.rate, rounding=rounding)


class Moments:
    """The second-moment recursion of one setup."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.rounds_of = AffineRounds(setup)
        self.n = setup.problem.n
        self.server, self.client = self.rounds_of.server.size, self.rounds_of.client.size
        self.size = self.server + self.n * self.client + 1
        self.clients = [self.rounds_of.client_round(i) for i in range(self.n)]

    def inputs(self, i: int) -> NDArray[np.intp]:
        """Positions of y_i = (server, client_i, 1) in z."""
        start = self.server + i * self.client
        return np.concatenate([np.arange(self.server), np.arange(start, start + self.client), [self.size - 1]])

    def outputs(self, i: int) -> NDArray[np.intp]:
        """Positions of (server, client_i) in z, the part that client i changes."""
        return self.inputs(i)[:-1]

    def start(self) -> Array:
        """Second moment of the starting state."""
        server, server_noise, means, noises = self.rounds_of.start()
        z = np.concatenate([server, *means, [1.0]])
        M = np.outer(z, z)
        for i, noise in enumerate(noises):
            rows = self.outputs(i)
            loading = np.vstack([server_noise, noise])
            M[np.ix_(rows, rows)] += loading @ loading.T
        return M

    def increment(self, i: int, to_server: Array) -> tuple[Array, Array]:
        """What client i adds: rows ``outputs(i)`` on columns ``inputs(i)``, and the covariance of its noise."""
        part = self.clients[i]
        change = part.client_rows.copy()
        change[:, self.server : self.server + self.client] -= np.eye(self.client)
        load = np.zeros((self.server + self.client, self.client + len(part.message_rows)))
        load[: self.server, self.client :] = to_server
        load[self.server :, : self.client] = np.eye(self.client)
        return np.vstack([to_server @ part.message_rows, change]), load @ part.noise @ load.T

    def rounds(self) -> Iterator[Array]:
        """M before round 0, 1, ..., T-1."""
        M, advance = self.start(), self._advance()
        for t in range(self.setup.T):
            yield M
            if t + 1 < self.setup.T:
                M = advance(M, t)

    def _advance(self) -> Callable[[Array, int], Array]:
        trace = self.setup.trace
        if isinstance(trace, UniformTrace):
            step = self._uniform(trace)
            return lambda M, t: step(M)
        assert isinstance(trace, FixedTrace)
        matrix = trace.matrix
        steps: dict[bytes, Callable[[Array], Array]] = {}

        def advance(M: Array, t: int) -> Array:
            key = matrix[t].tobytes()
            if key not in steps:
                steps[key] = self._given(np.flatnonzero(matrix[t]))
            return steps[key](M)

        return advance

    def _base(self, keep: Array) -> Array:
        A_0 = np.eye(self.size)
        A_0[: self.server, : self.server] = keep
        return A_0

    def _uniform(self, trace: UniformTrace) -> Callable[[Array], Array]:
        one, two = trace.inclusion
        keep, to_server = self.rounds_of.aggregate(trace.m)
        Bbar, noise = np.zeros((self.size, self.size)), np.zeros((self.size, self.size))
        parts = []
        for i in range(self.n):
            B, N = self.increment(i, to_server)
            rows, columns = self.outputs(i), self.inputs(i)
            Bbar[np.ix_(rows, columns)] += B
            noise[np.ix_(rows, rows)] += one * N
            parts.append((B, np.ix_(rows, rows), np.ix_(columns, columns)))
        A_1 = self._base(keep) + one * Bbar

        def step(M: Array) -> Array:
            new = A_1 @ M @ A_1.T + noise
            if one < 1.0:
                new += (two - one * one) * (Bbar @ M @ Bbar.T)
                for B, rows, columns in parts:
                    new[rows] += (one - two) * (B @ M[columns] @ B.T)
            return (new + new.T) / 2

        return step

    def _given(self, members: NDArray[np.intp]) -> Callable[[Array], Array]:
        keep, to_server = self.rounds_of.aggregate(len(members))
        A, noise = self._base(keep), np.zeros((self.size, self.size))
        for i in members:
            B, N = self.increment(int(i), to_server)
            rows = self.outputs(int(i))
            A[np.ix_(rows, self.inputs(int(i)))] += B
            noise[np.ix_(rows, rows)] += N
        return lambda M: A @ M @ A.T + noise

    def gradient_rows(self, i: int) -> Array:
        """grad f_i at (u, v_i) as a matrix (d, size) on z: u is the first server slot, v_i the first client slot."""
        problem = self.setup.problem
        assert isinstance(problem, Quadratic)
        d, d_u = problem.d, problem.d_u
        rows = np.zeros((d, self.size))
        start = self.server + i * self.client
        rows[:, :d_u] = problem.H[i][:, :d_u]
        rows[:, start + d_u : start + d] = problem.H[i][:, d_u:]
        rows[:, -1] = -problem.g[i]
        return rows

    def quadratic_forms(self) -> dict[str, Array]:
        """Matrices Q with E[quantity] = <Q, M>: the records of the step engine, and f itself."""
        d_u = self.setup.problem.d_u
        gradients = [self.gradient_rows(i) for i in range(self.n)]
        mean_u = np.mean([rows[:d_u] for rows in gradients], axis=0)
        G_v = sum(rows[d_u:].T @ rows[d_u:] for rows in gradients) / self.n
        B = sum(rows[:d_u].T @ rows[:d_u] for rows in gradients)
        return {"G_u": mean_u.T @ mean_u, "G_v": np.asarray(G_v), "B": np.asarray(B)}


def mean_rounding(values: Array) -> float:
    """Rounding error of a mean of that many numbers, relative to their largest."""
    return float(np.finfo(float).eps) * math.log2(max(values.size, 2)) * float(np.abs(values).max(initial=0.0))
