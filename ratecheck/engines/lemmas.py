"""Expectations of the quantities that lemmas speak about, on the exact engine.

Names and definitions are those of `bounds.symbols`. All are moments of the state z = (server, clients, 1) and of the
virtual local iterates l_ik, which every client computes whether sampled or not: l_ik = P_k y_i + noise of covariance
C_k, with y_i = (server, client_i, 1).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.base import RECORDS
from ratecheck.algorithms.remembering import Remembering
from ratecheck.engines.exact import (
    Expectation,
    Moment,
    Moments,
    Recorder,
    RoundMap,
    check_exact,
    single_threaded,
)
from ratecheck.engines.setup import Setup
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic, SingleLevel

Array = NDArray[np.float64]
Progress = Callable[[float], None]


# What `expect` gives and what `vectors` gives.
NAMES = frozenset({*RECORDS, "E", "C", "T_1u", "T_1v", "T_2u", "T_2v", "T_3u", "S_3u", "descent", "inner_u", "inner_v"})
NAMES |= {"du2", "dv2", "sampled2", "xbar2", "spread", "sum2", "squares"}


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """Expected lemma quantities per round: G_u, G_v, B, E, C, T_1u ... T_3u, S_3u, descent, inner_u ... dv2.

    Raises `InputError` for a run that is not affine.
    """
    check_exact(setup)
    method = replace(setup.method, algorithm=Remembering(setup.algorithm))
    rows: list[Record] = []
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        probe = _Probe(Moments(replace(setup, method=method, records=RECORDS)))
        for t, (moment, round_map) in enumerate(probe.moments.rounds()):
            rows.append(probe.quantities(moment, round_map, t))
            if progress is not None:
                progress(t / setup.T)
    # The local iterates add K products to the rounding of every quantity.
    units = (1.0, float(setup.K))
    with np.errstate(over="ignore"):
        records, errors = (
            {name: unit * np.array([row[name][k] for row in rows]) for name in rows[0]} for k, unit in enumerate(units)
        )
    return Expectation(records, errors, setup.algorithm.metric(setup.trace.rate, setup.problem.n), setup.trace.rate)


# Quantities of the gradients at the origin, and of martingale differences made of them.
VECTORS = (frozenset({"sampled2", "xbar2", "spread"}), frozenset({"sum2", "squares"}))


def vectors(problem: SingleLevel, m: int) -> Expectation:
    """Quantities of random vectors made of the gradients X_i at the origin.

    E||mean of m sampled X_i||^2, E||mean||^2 and sum_i ||X_i - mean||^2; and E||sum||^2 and sum_i E||.||^2 for the
    martingale differences of `_martingale`.
    """
    n = problem.n
    X = np.concatenate(problem.gradients(np.zeros(problem.d_u), np.zeros((n, problem.d_v))), axis=1)
    one, two = Trace.uniform(n, m).inclusion
    gram = X @ X.T
    sampled = (one - two) * np.trace(gram) / m**2 + two * gram.sum() / m**2
    values = {"sampled2": sampled, "xbar2": gram.sum() / n**2, "spread": np.trace(gram) - gram.sum() / n}
    values["sum2"], values["squares"] = _martingale(X)
    records = {name: np.array([float(value)]) for name, value in values.items()}
    errors = {name: 8 * n * float(np.finfo(float).eps) * np.abs(value) for name, value in records.items()}
    return Expectation(records, errors, {}, one)


# Signs of at most so many vectors are enumerated.
_SIGNS = 10


def _martingale(X: Array) -> tuple[float, float]:
    """E||sum_i Y_i||^2 and sum_i E||Y_i||^2 for Y_i = s_i*(1 + s_1 + ... + s_{i-1})*X_i with fair signs s_i.

    Each Y_i has mean zero given the earlier ones, but depends on them. All sequences of signs are enumerated, for the
    first ten vectors.
    """
    X = X[:_SIGNS]
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(X))))
    before = np.cumsum(signs, axis=1) - signs
    weights = signs * (1 + before)
    sums = weights @ X
    return float(np.mean(np.sum(sums**2, axis=1))), float(np.mean(weights**2, axis=0) @ np.sum(X**2, axis=1))


# A value and its rounding error.
Number = tuple[float, float]
Record = dict[str, Number]


def _scaled(factor: float, number: Number) -> Number:
    return factor * number[0], abs(factor) * number[1]


def _sum(numbers: Iterable[Number]) -> Number:
    values, errors = zip(*numbers, strict=True)
    return float(sum(values)), float(sum(errors))


@dataclass(frozen=True)
class _Local:
    """Sums over the K virtual local iterates of one client, as maps of y_i and noise covariances.

    ``point_sum`` (d, q) is sum_k P_k and ``point_noise`` the covariance of sum_k l_ik; ``points`` (K*d, q) stacks the
    P_k and ``drifts`` the P_k - P_0; ``noise`` is sum_k tr C_k.
    """

    point_sum: Array
    point_noise: Array
    points: Array
    drifts: Array
    noise: float


class _Probe:
    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.setup = moments.setup
        assert isinstance(moments.setup.problem, Quadratic)
        self.problem = moments.setup.problem
        self.locals = [self._local(i) for i in range(moments.n)]
        self.gradients = [moments.gradient_rows(i) for i in range(moments.n)]
        self.points = [self._point_rows(i) for i in range(moments.n)]
        self.recorder = Recorder(moments)
        self.sums = [self._lift(i, self._gradient_sum(i)) for i in range(moments.n)]
        self.last_sums = [self._last_gradient_sum(i) for i in range(moments.n)]
        self.noise = [H @ local.point_noise @ H.T for H, local in zip(self.problem.H, self.locals, strict=True)]
        self.last_square: list[Number] = [(self.setup.K * float(point @ point), 0.0) for point in self.setup.point]

    def _local(self, i: int) -> _Local:
        d, K = self.problem.d, self.setup.K
        step, noise = self.moments.rounds_of.local_step(i)
        power, at = self.moments.rounds_of.begin(i), self.moments.rounds_of.local.first
        start = power[at]
        covariance = np.zeros_like(noise)
        accumulated, total_noise = np.zeros_like(step), np.zeros((d, d))
        points, square_noise = [], 0.0
        identity = np.eye(len(step))
        for _ in range(K):
            points.append(power[at])
            square_noise += float(np.trace(covariance[np.ix_(at, at)]))
            # The noise of a step is in all later iterates: its sum over them is R w with R = sum of powers of step.
            total_noise += accumulated[at] @ noise @ accumulated[at].T
            accumulated = step @ accumulated + identity
            covariance = step @ covariance @ step.T + noise
            power = step @ power
        drifts = np.concatenate([P - start for P in points])
        return _Local(np.sum(points, axis=0), total_noise, np.concatenate(points), drifts, square_noise)

    def _lift(self, i: int, rows: Array) -> Array:
        """A map of y_i as a map of z."""
        lifted = np.zeros((len(rows), self.moments.size))
        lifted[:, self.moments.inputs(i)] = rows
        return lifted

    def _point_rows(self, i: int) -> Array:
        """The iterate (u, v_i) as a map of z."""
        return self.moments.point_rows(i)

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
        client = self.moments.rounds_of.client
        start = self.moments.server + i * self.moments.client
        columns = np.concatenate(
            [client.variable(block, count - 1) for block, count in enumerate(client.counts.by_block)]
        )
        rows = np.zeros((self.problem.d, self.moments.size))
        rows[np.arange(self.problem.d), start + columns] = 1.0
        return rows

    def quantities(self, moment: Moment, round_map: RoundMap, t: int) -> Record:
        """All quantities of round t from the moment before it; call in order of t."""
        n, d_u, rate = self.moments.n, self.problem.d_u, self.setup.trace.rate
        steps = self.setup.parameters()
        gamma_u, gamma_v = steps["gamma_u"] * steps["eta_u"], steps["gamma_v"] * steps["eta_v"]
        mean_u = np.mean([rows[:d_u] for rows in self.gradients], axis=0)
        total = np.sum([rows[:d_u] for rows in self.sums], axis=0)
        personal = [_inner(moment, g[d_u:], s[d_u:]) for g, s in zip(self.gradients, self.sums, strict=True)]
        squares_u = _sum([_inner(moment, total, total), (sum(_trace(c[:d_u, :d_u]) for c in self.noise), 0.0)])
        squares_v = _sum(
            (_square(moment, s[d_u:])[0] + _trace(c[d_u:, d_u:]), _square(moment, s[d_u:])[1])
            for s, c in zip(self.sums, self.noise, strict=True)
        )
        controlled = [s - last for s, last in zip(self.sums, self.last_sums, strict=True)]
        values, errors = self.recorder.record(moment)
        record: Record = {name: (float(v), float(e)) for name, v, e in zip(RECORDS, values, errors, strict=True)}
        record |= {
            "T_1u": _scaled(-gamma_u / n, _inner(moment, mean_u, total)),
            "T_1v": _scaled(-gamma_v * rate / n, _sum(personal)),
            "T_2u": _scaled(gamma_u**2 / n**2, squares_u),
            "T_2v": _scaled(gamma_v**2 * rate / n, squares_v),
            "T_3u": self._spread(self.sums, moment),
            "S_3u": self._spread(controlled, moment),
            "E": self._local_squares(moment, "drifts"),
            "C": self._staleness(moment),
        }
        record |= self._changes(moment, round_map, mean_u)
        self._remember(moment, t)
        return record

    def _spread(self, sums: list[Array], moment: Moment) -> Number:
        """sum_i E||s_i - mean||^2 of the shared parts, s_i having independent noise."""
        n, d_u = self.moments.n, self.problem.d_u
        mean = np.mean([s[:d_u] for s in sums], axis=0)
        noise = (1 - 1 / n) * sum(_trace(c[:d_u, :d_u]) for c in self.noise)
        return _sum([*(_square(moment, s[:d_u] - mean) for s in sums), (noise, 0.0)])

    def _local_squares(self, moment: Moment, rows: str) -> Number:
        """sum_ik E||l_ik||^2 over ``points``, or of the drift l_ik - l_i0 over ``drifts``."""
        return _sum(self._local_square(moment, i, rows) for i in range(self.moments.n))

    def _local_square(self, moment: Moment, i: int, rows: str) -> Number:
        local = self.locals[i]
        value, error = moment.part(self.moments.inputs(i)).square(getattr(local, rows))
        return value + local.noise, error

    def _staleness(self, moment: Moment) -> Number:
        """sum_ik E||remembered l_ik - (u, v_i)||^2."""
        numbers = []
        for i, point in enumerate(self.points):
            numbers.append(self.last_square[i])
            numbers.append(_scaled(-2.0, _inner(moment, point, self._last_rows(i))))
            numbers.append(_scaled(self.setup.K, _square(moment, point)))
        return _sum(numbers)

    def _remember(self, moment: Moment, t: int) -> None:
        """Expected square of the remembered iterates after round t."""
        trace = self.setup.trace
        for i in range(self.moments.n):
            share = trace.rate if self.moments.fixed is None else float(self.moments.fixed[t, i])
            fresh = self._local_square(moment, i, "points")
            self.last_square[i] = _sum([_scaled(share, fresh), _scaled(1 - share, self.last_square[i])])

    def _changes(self, moment: Moment, round_map: RoundMap, mean_u: Array) -> Record:
        """Change of f and of the iterates over the round."""
        n, d_u = self.moments.n, self.problem.d_u
        shift, change = round_map.mean - np.eye(self.moments.size), round_map.change(moment)
        inner_u = _inner(moment, mean_u, self.points[0][:d_u] @ shift)
        inner_v = [_inner(moment, g[d_u:], p[d_u:] @ shift) for g, p in zip(self.gradients, self.points, strict=True)]
        # f is quadratic: f(z') - f(z) = <grad f, change> + (1/2n) sum_i change' H_i change, without cancellation.
        second = [_inner(change, p, H @ p) for p, H in zip(self.points, self.problem.H, strict=True)]
        first = _sum([inner_u, *(_scaled(1 / n, inner) for inner in inner_v)])
        return {
            "descent": _sum([first, _scaled(1 / (2 * n), _sum(second))]),
            "inner_u": inner_u,
            "inner_v": _scaled(1 / n, _sum(inner_v)),
            "du2": _square(change, self.points[0][:d_u]),
            "dv2": _scaled(1 / n, _sum(_square(change, p[d_u:]) for p in self.points)),
        }


def _inner(moment: Moment, left: Array, right: Array) -> Number:
    return moment.inner(left, right)


def _square(moment: Moment, rows: Array) -> Number:
    return moment.square(rows)


def _trace(matrix: Array) -> float:
    return float(np.trace(matrix))
