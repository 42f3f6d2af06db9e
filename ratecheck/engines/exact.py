"""Expectations without sampling: first and second moments on quadratic problems with additive noise.

The state z = (server, client_1, ..., client_n, 1) of all variables follows z' = A_0 z + sum_{i in S} (B_i z + noise_i).
Its second moment M = E[z z'] therefore follows a linear recursion. Under uniform sampling only the inclusion
probabilities pi_1 = P(i in S) and pi_2 = P(i, j in S) matter, never the subsets themselves:

    M' = A_1 M A_1' + (pi_2 - pi_1^2) Bbar M Bbar' + (pi_1 - pi_2) sum_i B_i M B_i' + pi_1 sum_i N_i,

with Bbar = sum_i B_i and A_1 = A_0 + pi_1 Bbar; a given trace is followed as it is. Recorded quantities are quadratic
in z, so their expectation is the inner product of a matrix with M.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ratecheck.engines.affine import AffineRounds
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.participation import Participation, Trace, Uniform
from ratecheck.problems import Quadratic

Array = NDArray[np.float64]
Progress = Callable[[float], None]

# The quantities that `expect` records.
RECORDS = ("G_u", "G_v", "B")


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
        return not bool(np.isfinite(self.metric).all())


def check_exact(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine: a quadratic problem and state-independent participation."""
    if not isinstance(setup.problem, Quadratic):
        raise InputError(f"the exact engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")
    if not isinstance(setup.trace, (Uniform, Trace)):
        raise InputError("the exact engine needs uniform sampling or a given trace: use engine=step")


def single_threaded() -> threadpool_limits:
    """Context with one thread for linear algebra: matrices are small, and results must not depend on threads."""
    return threadpool_limits(1, user_api="blas")


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """Expectations of all recorded quantities over T rounds; raises `InputError` for a run that is not affine."""
    check_exact(setup)
    with single_threaded():
        moments = Moments(setup)
        forms = moments.quadratic_forms()
        stacked = np.stack([form.ravel() for form in forms.values()])
        values = np.empty((len(forms), setup.T))
        for t, (M, _) in enumerate(moments.rounds()):
            values[:, t] = stacked @ M.ravel()
            if progress is not None and t % 64 == 0:
                progress(t / setup.T)
    records = dict(zip(forms, values, strict=True))
    return Expectation(records=records, rate=setup.trace.rate, rounding=moments.rounding)


Part = tuple[Array, tuple[Any, ...], tuple[Any, ...]]


@dataclass(frozen=True)
class RoundMap:
    """One round: z' = (mean + fluctuation) z + noise.

    ``between`` weighs Bbar M Bbar' and ``within`` the single B_i M B_i' of ``parts``; both vanish without sampling.
    """

    mean: Array
    noise: Array
    total: Array | None = None
    parts: Sequence[Part] = ()
    between: float = 0.0
    within: float = 0.0

    def spread(self, M: Array) -> Array:
        """Second moment of what is not mean: noise, and which clients were sampled."""
        spread = self.noise.copy()
        if self.total is not None:
            spread += self.between * (self.total @ M @ self.total.T)
            for B, rows, columns in self.parts:
                spread[rows] += self.within * (B @ M[columns] @ B.T)
        return spread

    def moment(self, M: Array) -> Array:
        """E[z' z''] from M = E[z z']."""
        new = self.mean @ M @ self.mean.T + self.spread(M)
        return (new + new.T) / 2

    def change(self, M: Array) -> Array:
        """E[(z'-z)(z'-z)']."""
        shift = self.mean - np.eye(len(M))
        return shift @ M @ shift.T + self.spread(M)


class Moments:
    """The second-moment recursion of one setup."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.rounds_of = AffineRounds(setup)
        self.n = setup.problem.n
        self.server, self.client = self.rounds_of.server.size, self.rounds_of.client.size
        self.size = self.server + self.n * self.client + 1
        self.clients = [self.rounds_of.client_round(i) for i in range(self.n)]
        self._maps: dict[bytes, RoundMap] = {}

    @property
    def rounding(self) -> float:
        """First-order estimate of the relative rounding error: two products of length ``size`` per round."""
        return 4 * self.size * self.setup.T * float(np.finfo(float).eps)

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

    def rounds(self) -> Iterator[tuple[Array, RoundMap]]:
        """M before round t and the map of round t, for t = 0, 1, ..., T-1; all NaN once a moment has overflowed."""
        M = self.start()
        for t in range(self.setup.T):
            round_map = self.round_map(t)
            yield M, round_map
            if t + 1 < self.setup.T:
                with np.errstate(over="ignore", invalid="ignore"):
                    M = round_map.moment(M)
                if not np.isfinite(M).all():
                    M = np.full_like(M, np.nan)

    def round_map(self, t: int) -> RoundMap:
        """How round t changes the moments; maps are kept per set of participants."""
        trace = self.setup.trace
        if isinstance(trace, Trace):
            row = trace.matrix[t]
            return self._kept(row.tobytes(), lambda: self._given(np.flatnonzero(row)))
        return self._kept(b"", lambda: self._uniform(trace))

    def _kept(self, key: bytes, build: Callable[[], RoundMap]) -> RoundMap:
        if key not in self._maps:
            self._maps[key] = build()
        return self._maps[key]

    def _base(self, keep: Array) -> Array:
        A_0 = np.eye(self.size)
        A_0[: self.server, : self.server] = keep
        return A_0

    def _uniform(self, trace: Participation) -> RoundMap:
        assert isinstance(trace, Uniform)
        one, two = trace.inclusion
        keep, to_server = self.rounds_of.aggregate(trace.m)
        Bbar, noise, parts = self._sum(range(self.n), to_server)
        if one == 1.0:
            return RoundMap(self._base(keep) + Bbar, noise)
        return RoundMap(self._base(keep) + one * Bbar, one * noise, Bbar, parts, two - one * one, one - two)

    def _given(self, members: NDArray[np.intp]) -> RoundMap:
        keep, to_server = self.rounds_of.aggregate(len(members))
        B, noise, _ = self._sum([int(i) for i in members], to_server)
        return RoundMap(self._base(keep) + B, noise)

    def _sum(self, members: Iterable[int], to_server: Array) -> tuple[Array, Array, list[Part]]:
        """Sum over clients of B_i and of the noise covariance, and the B_i one by one."""
        total, noise, parts = np.zeros((self.size, self.size)), np.zeros((self.size, self.size)), []
        for i in members:
            B, N = self.increment(i, to_server)
            rows, columns = self.outputs(i), self.inputs(i)
            total[np.ix_(rows, columns)] += B
            noise[np.ix_(rows, rows)] += N
            parts.append((B, np.ix_(rows, rows), np.ix_(columns, columns)))
        return total, noise, parts

    def gradient_rows(self, i: int) -> Array:
        """Grad f_i at (u, v_i) as a matrix (d, size) on z."""
        problem = self.rounds_of.problem
        rows = np.zeros((problem.d, self.size))
        rows[:, self.point(i)] = problem.H[i]
        rows[:, -1] = -problem.g[i]
        return rows

    def point(self, i: int) -> NDArray[np.intp]:
        """Positions of (u, v_i) in z: the server's first shared variable and the client's first personal one."""
        d_u, server, client = self.setup.problem.d_u, self.rounds_of.server, self.rounds_of.client
        start = self.server + i * self.client + client.cut
        return np.concatenate([server.first[:d_u], start + np.arange(self.setup.problem.d_v)])

    def quadratic_forms(self) -> dict[str, Array]:
        """Matrices Q with E[quantity] = <Q, M>, for the names in `RECORDS`."""
        d_u = self.setup.problem.d_u
        gradients = [self.gradient_rows(i) for i in range(self.n)]
        mean_u = np.mean([rows[:d_u] for rows in gradients], axis=0)
        G_v = sum(rows[d_u:].T @ rows[d_u:] for rows in gradients) / self.n
        B = sum(rows[:d_u].T @ rows[:d_u] for rows in gradients)
        return {"G_u": mean_u.T @ mean_u, "G_v": np.asarray(G_v), "B": np.asarray(B)}
