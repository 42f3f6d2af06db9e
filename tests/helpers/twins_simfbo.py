"""Plain NumPy twins of SimFBO and ShroFBO, written line by line from the paper, as oracles for the engines.

Source: "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning", Algorithm 1 and
equations (2)-(8). Slow on purpose and without noise. ``oracle(i, x, y, v)`` returns, for client i,

    (grad_x f_i(x, y) - grad_xy g_i(x, y) v,  grad_y g_i(x, y),  grad_yy g_i(x, y) v - grad_y f_i(x, y)),

the estimate of the hypergradient, grad_y g_i and grad_v R_i. Row t of ``matrix`` (T, n) is C^(t).

Readings, where the printed text leaves a choice or is wrong:

- Algorithm 1 lists the lines of both methods; (4) and (5) belong to SimFBO, (6)-(8) to ShroFBO, never both. Its loop
  from 0 to T is read as T rounds, t = 0..T-1. v^(0) is not among its inputs but needed.
- The local sums run over k = 0..tau_i - 1 as in (4); Appendix B prints k = 1..tau_i.
- (6) is written for full participation, and gives q_{x,i} an index k that has been summed over.
- rho^(t) of (8) is the sum over all n clients, as (6) prints it: the server must know ||a_j||_1 of those that are
  absent too. The weights in (7) are those of C^(t).
- Appendix B sums h with the weights w~_i = n w_i / |C| instead of p~_i: that is SimFBO written with rho^(t), since
  rho w_i h_i = p_i q_i, and not ShroFBO.
- The projection is the server's alone, and after the step; the local v_i are not projected. P_r(0) = 0.
- A round without anybody, which the paper does not have (|C| = 0 in p~_i), changes nothing, not even by projection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Oracle = Callable[[int, Array, Array, Array], tuple[Array, Array, Array]]
Records = dict[str, Array]


def simfbo(
    oracle: Oracle,
    matrix: ArrayLike,
    x0: Array,
    y0: Array,
    v0: Array,
    *,
    tau: Sequence[int],
    a: Sequence[ArrayLike],
    p: ArrayLike,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    gamma_x: float,
    gamma_y: float,
    gamma_v: float,
    r: float = np.inf,
) -> Records:
    """Algorithm 1 with (4) and (5): ``x``, ``y`` and ``v`` with T + 1 rows, row t before round t, the last after all.

    ``tau[i]`` local steps of client i with the coefficients ``a[i][k]``, k < tau[i]; further coefficients are not used.
    """
    p = np.asarray(p, dtype=float)
    x, y, v = _vectors(x0, y0, v0)
    states = [(x, y, v)]
    for participants in np.asarray(matrix, dtype=bool):  # Line 2.
        C = np.flatnonzero(participants).tolist()
        n = len(participants)
        q_x, q_y, q_v = np.zeros_like(x), np.zeros_like(y), np.zeros_like(v)
        for i in C:  # Line 3.
            q_xi, q_yi, q_vi = local(oracle, i, x, y, v, tau=tau[i], a=a[i], eta_x=eta_x, eta_y=eta_y, eta_v=eta_v)
            weight = n / len(C) * p[i]
            q_x, q_y, q_v = q_x + weight * q_xi, q_y + weight * q_yi, q_v + weight * q_vi  # (4).
        if len(C):
            y, v, x = y - gamma_y * q_y, project(v - gamma_v * q_v, r), x - gamma_x * q_x  # (5).
        states.append((x, y, v))
    return _trajectory(states)


def shrofbo(
    oracle: Oracle,
    matrix: ArrayLike,
    x0: Array,
    y0: Array,
    v0: Array,
    *,
    tau: Sequence[int],
    a: Sequence[ArrayLike],
    p: ArrayLike,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    gamma_x: float,
    gamma_y: float,
    gamma_v: float,
    r: float = np.inf,
) -> Records:
    """Algorithm 1 with (6)-(8); arguments and result as in `simfbo`."""
    p = np.asarray(p, dtype=float)
    x, y, v = _vectors(x0, y0, v0)
    states = [(x, y, v)]
    for participants in np.asarray(matrix, dtype=bool):  # Line 2.
        C = np.flatnonzero(participants).tolist()
        n = len(participants)
        rho = 0.0
        for j in range(n):  # (6), over all clients.
            rho += p[j] * norm1(a[j], tau[j])
        h_x, h_y, h_v = np.zeros_like(x), np.zeros_like(y), np.zeros_like(v)
        for i in C:  # Line 3.
            q_xi, q_yi, q_vi = local(oracle, i, x, y, v, tau=tau[i], a=a[i], eta_x=eta_x, eta_y=eta_y, eta_v=eta_v)
            size = norm1(a[i], tau[i])
            weight = n / len(C) * p[i]
            h_x = h_x + weight * q_xi / size  # (6) and (7).
            h_y = h_y + weight * q_yi / size
            h_v = h_v + weight * q_vi / size
        if len(C):
            y = y - rho * gamma_y * h_y  # (8).
            v = project(v - rho * gamma_v * h_v, r)
            x = x - rho * gamma_x * h_x
        states.append((x, y, v))
    return _trajectory(states)


def local(
    oracle: Oracle,
    i: int,
    x: Array,
    y: Array,
    v: Array,
    *,
    tau: int,
    a: ArrayLike,
    eta_x: float,
    eta_y: float,
    eta_v: float,
) -> tuple[Array, Array, Array]:
    """Lines 4-8: the steps (3) of client i, all three at the same point; returns its q_x, q_y and q_v of (4)."""
    coefficients = np.asarray(a, dtype=float)
    q_x, q_y, q_v = np.zeros_like(x), np.zeros_like(y), np.zeros_like(v)
    for k in range(tau):  # Line 5.
        by_x, by_y, by_v = oracle(i, x, y, v)
        a_k = coefficients[k]
        q_x, q_y, q_v = q_x + a_k * by_x, q_y + a_k * by_y, q_v + a_k * by_v
        y, v, x = y - a_k * eta_y * by_y, v - a_k * eta_v * by_v, x - a_k * eta_x * by_x  # (3).
    return q_x, q_y, q_v


def norm1(a: ArrayLike, tau: int) -> float:
    """||a_i||_1 over the tau coefficients in use."""
    return sum(abs(float(a_k)) for a_k in np.asarray(a, dtype=float)[:tau])


def project(v: Array, r: float) -> Array:
    """P_r(v) = min(1, r / ||v||) v."""
    size = float(np.sqrt(v @ v))
    if size <= r:
        return v
    return r / size * v


def reweighted(tau: Sequence[int], a: Sequence[ArrayLike], p: ArrayLike) -> Array:
    """w_i of (6), the weights of the objective whose stationary points SimFBO approaches."""
    p = np.asarray(p, dtype=float)
    parts = [p[i] * norm1(a[i], tau[i]) for i in range(len(p))]
    return np.array([part / sum(parts) for part in parts])


def _vectors(x0: Array, y0: Array, v0: Array) -> tuple[Array, Array, Array]:
    return np.array(x0, dtype=float), np.array(y0, dtype=float), np.array(v0, dtype=float)


def _trajectory(states: list[tuple[Array, Array, Array]]) -> Records:
    return {name: np.array([state[place] for state in states]) for place, name in enumerate(("x", "y", "v"))}
