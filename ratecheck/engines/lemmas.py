"""Expectations of the quantities that lemmas speak about, on the exact engine.

Names and definitions are those of `bounds.symbols`. All are moments of the state z = (server, clients, 1) and of the
virtual local iterates l_ik, which every client computes whether sampled or not: l_ik = P_k y_i + noise of covariance
C_k, with y_i = (server, client_i, 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.remembering import Remembering
from ratecheck.engines.exact import Expectation, Moments, RoundMap, check_exact, single_threaded
from ratecheck.engines.setup import Setup
from ratecheck.participation import Trace
from ratecheck.problems import Problem

Array = NDArray[np.float64]
Progress = Callable[[float], None]


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """Expected lemma quantities per round: G_u, G_v, B, E, C, T_1u ... T_3u, S_3u, descent, inner_u ... dv2.

    Raises `InputError` for a run that is not affine.
    """
    check_exact(setup)
    method = replace(setup.method, algorithm=Remembering(setup.method.algorithm))
    rows: list[dict[str, float]] = []
    with single_threaded():
        probe = _Probe(Moments(replace(setup, method=method)))
        for t, (M, round_map) in enumerate(probe.moments.rounds()):
            rows.append(probe.quantities(M, round_map, t))
            if progress is not None:
                progress(t / setup.T)
    records = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Expectation(records=records, rate=setup.trace.rate, rounding=probe.moments.rounding * setup.K)


def sampling(problem: Problem, m: int) -> Expectation:
    """E||mean of m sampled X_i||^2, E||mean||^2 and sum_i ||X_i - mean||^2 for the gradients X_i at the origin."""
    n = problem.n
    X = np.concatenate(problem.gradients(np.zeros(problem.d_u), np.zeros((n, problem.d_v))), axis=1)
    one, two = Trace.uniform(n, m).inclusion
    gram = X @ X.T
    sampled = (one - two) * np.trace(gram) / m**2 + two * gram.sum() / m**2
    values = {"sampled2": sampled, "xbar2": gram.sum() / n**2, "spread": np.trace(gram) - gram.sum() / n}
    rounding = 8 * n * float(np.finfo(float).eps)
    return Expectation({name: np.array([float(v)]) for name, v in values.items()}, rate=one, rounding=rounding)


@dataclass(frozen=True)
class _Local:
    """Sums over the K virtual local iterates of one client, as maps of y_i and noise covariances.

    ``point_sum`` (d, q) is sum_k P_k and ``point_noise`` the covariance of sum_k l_ik; ``square`` (q, q) and
    ``square_noise`` give E sum_k ||l_ik||^2 = <square, M_i> + square_noise, ``drift`` the same for l_ik - l_i0.
    """

    point_sum: Array
    point_noise: Array
    square: Array
    square_noise: float
    drift: Array


class _Probe:
    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.setup = moments.setup
        self.problem = moments.rounds_of.problem
        self.locals = [self._local(i) for i in range(moments.n)]
        self.gradients = [moments.gradient_rows(i) for i in range(moments.n)]
        self.points = [self._point_rows(i) for i in range(moments.n)]
        self.value = self._value_form()
        self.forms = moments.quadratic_forms()
        self.sums = [self._lift(i, self._gradient_sum(i)) for i in range(moments.n)]
        self.last_sums = [self._last_gradient_sum(i) for i in range(moments.n)]
        self.last_square = np.array([self.setup.K * float(point @ point) for point in self.setup.point])

    def _local(self, i: int) -> _Local:
        d, K = self.problem.d, self.setup.K
        step, noise = self.moments.rounds_of.local_step(i)
        power, at = self.moments.rounds_of.begin(), self.moments.rounds_of.local.first
        start = power[at]
        covariance = np.zeros_like(noise)
        accumulated, total_noise = np.zeros_like(step), np.zeros((d, d))
        point_sum = np.zeros_like(start)
        q = start.shape[1]
        square, drift, square_noise = np.zeros((q, q)), np.zeros((q, q)), 0.0
        identity = np.eye(len(step))
        for _ in range(K):
            P = power[at]
            point_sum += P
            square += P.T @ P
            drift += (P - start).T @ (P - start)
            square_noise += float(np.trace(covariance[np.ix_(at, at)]))
            # The noise of a step is in all later iterates: its sum over them is R w with R = sum of powers of step.
            total_noise += accumulated[at] @ noise @ accumulated[at].T
            accumulated = step @ accumulated + identity
            covariance = step @ covariance @ step.T + noise
            power = step @ power
        return _Local(point_sum, total_noise, square, square_noise, drift)

    def _lift(self, i: int, rows: Array) -> Array:
        """A map of y_i as a map of z."""
        lifted = np.zeros((len(rows), self.moments.size))
        lifted[:, self.moments.inputs(i)] = rows
        return lifted

    def _point_rows(self, i: int) -> Array:
        """The iterate (u, v_i) as a map of z."""
        return np.eye(self.moments.size)[self.moments.point(i)]

    def _gradient_sum(self, i: int) -> Array:
        """Mean of sum_k grad f_i(l_ik) as a map of y_i."""
        rows = self.problem.H[i] @ self.locals[i].point_sum
        rows[:, -1] -= self.setup.K * self.problem.g[i]
        return rows

    def _last_gradient_sum(self, i: int) -> Array:
        """Sum over k of grad f_i at the remembered local iterates, as a map of z."""
        rows = self.problem.H[i] @ self._last_rows(i)
        rows[:, -1] -= self.setup.K * self.problem.g[i]
        return rows

    def _last_rows(self, i: int) -> Array:
        """The remembered sum of local iterates as a map of z: the client's last variable of each space."""
        d_u, d_v = self.problem.d_u, self.problem.d_v
        client = self.moments.rounds_of.client
        start = self.moments.server + i * self.moments.client
        columns = np.concatenate(
            [start + client.cut - d_u + np.arange(d_u), start + client.size - d_v + np.arange(d_v)]
        )
        rows = np.zeros((d_u + d_v, self.moments.size))
        rows[np.arange(d_u + d_v), columns] = 1.0
        return rows

    def _value_form(self) -> Array:
        """Q with E f = <Q, M>."""
        form = np.zeros((self.moments.size, self.moments.size))
        for i, point in enumerate(self.points):
            linear = self.problem.g[i] @ point
            form += point.T @ self.problem.H[i] @ point / 2
            form[-1] -= linear / 2
            form[:, -1] -= linear / 2
        return form / self.moments.n

    def quantities(self, M: Array, round_map: RoundMap, t: int) -> dict[str, float]:
        """All quantities of round t from the second moment before it; call in order of t."""
        n, d_u = self.moments.n, self.problem.d_u
        rate = self.setup.trace.rate
        gamma_u = self.setup.step_sizes["gamma_u"] * self.setup.step_sizes["eta_u"]
        gamma_v = self.setup.step_sizes["gamma_v"] * self.setup.step_sizes["eta_v"]
        noise = [self.problem.H[i] @ self.locals[i].point_noise @ self.problem.H[i].T for i in range(n)]
        mean_u = np.mean([rows[:d_u] for rows in self.gradients], axis=0)
        total = np.sum([rows[:d_u] for rows in self.sums], axis=0)
        total2 = _square(total, M) + sum(float(np.trace(c[:d_u, :d_u])) for c in noise)
        each_v = [_square(s[d_u:], M) + float(np.trace(c[d_u:, d_u:])) for s, c in zip(self.sums, noise, strict=True)]
        record = {name: float(np.sum(form * M)) for name, form in self.forms.items()}
        record["T_1u"] = -gamma_u / n * _inner(mean_u, total, M)
        record["T_1v"] = (
            -gamma_v * rate / n
            * sum(_inner(g[d_u:], s[d_u:], M) for g, s in zip(self.gradients, self.sums, strict=True))
        )  # fmt: skip
        record["T_2u"] = gamma_u**2 / n**2 * total2
        record["T_2v"] = gamma_v**2 * rate / n * sum(each_v)
        record["T_3u"] = self._spread(self.sums, noise, M)
        controlled = [s - last for s, last in zip(self.sums, self.last_sums, strict=True)]
        record["S_3u"] = self._spread(controlled, noise, M)
        record["E"] = sum(
            float(np.sum(local.drift * M[np.ix_(columns, columns)])) + local.square_noise
            for local, columns in ((self.locals[i], self.moments.inputs(i)) for i in range(n))
        )
        record["C"] = self._staleness(M)
        record |= self._changes(M, round_map, mean_u)
        self._remember(M, t)
        return record

    def _spread(self, sums: list[Array], noise: list[Array], M: Array) -> float:
        """sum_i E||s_i - mean||^2 of the shared parts, s_i having independent noise."""
        n, d_u = self.moments.n, self.problem.d_u
        traces = [float(np.trace(c[:d_u, :d_u])) for c in noise]
        each = sum(_square(s[:d_u], M) for s in sums) + sum(traces)
        return each - (_square(np.sum([s[:d_u] for s in sums], axis=0), M) + sum(traces)) / n

    def _staleness(self, M: Array) -> float:
        """sum_ik E||remembered l_ik - (u, v_i)||^2."""
        total = 0.0
        for i, point in enumerate(self.points):
            cross = _inner(point, self._last_rows(i), M)
            total += self.last_square[i] - 2 * cross + self.setup.K * _square(point, M)
        return float(total)

    def _remember(self, M: Array, t: int) -> None:
        """Expected square of the remembered iterates after round t."""
        trace = self.setup.trace
        for i, local in enumerate(self.locals):
            columns = self.moments.inputs(i)
            fresh = float(np.sum(local.square * M[np.ix_(columns, columns)])) + local.square_noise
            share = float(trace.matrix[t, i]) if isinstance(trace, Trace) else trace.rate
            self.last_square[i] += share * (fresh - self.last_square[i])

    def _changes(self, M: Array, round_map: RoundMap, mean_u: Array) -> dict[str, float]:
        """Change of f and of the iterates over the round."""
        n, d_u = self.moments.n, self.problem.d_u
        shift, change = round_map.mean - np.eye(self.moments.size), round_map.change(M)
        inner_v = [_inner(g[d_u:], p[d_u:] @ shift, M) for g, p in zip(self.gradients, self.points, strict=True)]
        return {
            "descent": float(np.sum(self.value * (round_map.moment(M) - M))),
            "inner_u": _inner(mean_u, self.points[0][:d_u] @ shift, M),
            "inner_v": sum(inner_v) / n,
            "du2": _square(self.points[0][:d_u], change),
            "dv2": sum(_square(p[d_u:], change) for p in self.points) / n,
        }


def _inner(left: Array, right: Array, M: Array) -> float:
    """E<left z, right z>."""
    return float(np.sum((left @ M) * right))


def _square(rows: Array, M: Array) -> float:
    """E||rows z||^2."""
    return _inner(rows, rows, M)
