"""Plain NumPy twins of FedAvg-P and Scaffold-P, written line by line from the paper, as oracles for the engines.

Source: "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization", Algorithms 3.1 and
4.1. Slow on purpose: one vector at a time, one loop per "for" of the paper, no noise. ``gradient(i, u, v_i)`` returns
(grad_u f_i, grad_v f_i); ``matrix`` (T, n) says who takes part. A round without anybody, which the paper does not have,
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Gradient = Callable[[int, Array, Array], tuple[Array, Array]]
Records = dict[str, Array]


def fedavg_p(
    gradient: Gradient,
    matrix: ArrayLike,
    u0: Array,
    v0: Array,
    *,
    K: int,
    gamma_u: float,
    gamma_v: float,
    eta_u: float,
    eta_v: float,
) -> Records:
    """Algorithm 3.1; per round G_u, G_v and B at (u^t, v^t)."""
    u, v = np.array(u0), np.array(v0)
    records = []
    for participants in np.asarray(matrix, dtype=bool):  # Line 1.
        records.append(quantities(gradient, u, v))
        S = np.flatnonzero(participants)  # Line 2.
        m = len(S)
        received = []
        for i in S:  # Line 3.
            u_i, v_i = u.copy(), v[i].copy()  # Line 4.
            for _ in range(K):  # Line 5.
                g_u, g_v = gradient(i, u_i, v_i)
                u_i = u_i - gamma_u * g_u  # Line 6.
                v_i = v_i - gamma_v * g_v  # Line 7.
            received.append(u_i)  # Line 9.
            v[i] = (1 - eta_v) * v[i] + eta_v * v_i  # Line 9.
        if m:
            u = (1 - eta_u) * u + eta_u / m * sum(received)  # Line 11.
    return _stacked(records)


def scaffold_p(
    gradient: Gradient,
    matrix: ArrayLike,
    u0: Array,
    v0: Array,
    *,
    K: int,
    gamma_u: float,
    gamma_v: float,
    eta_u: float,
    eta_v: float,
) -> Records:
    """Algorithm 4.1; per round G_u, G_v and B at (u^t, v^t)."""
    u, v = np.array(u0), np.array(v0)
    n = len(v)
    c_i = [gradient(i, u, v[i])[0] for i in range(n)]  # Input; without noise all K gradients are the same.
    c = sum(c_i) / n
    records = []
    for participants in np.asarray(matrix, dtype=bool):  # Line 1.
        records.append(quantities(gradient, u, v))
        S = np.flatnonzero(participants)  # Line 2.
        m = len(S)
        received, changes = [], []
        for i in S:  # Line 3.
            u_i, v_i = u.copy(), v[i].copy()  # Line 4.
            for _ in range(K):  # Line 5.
                g_u, g_v = gradient(i, u_i, v_i)
                u_i = u_i - gamma_u * (g_u - c_i[i] + c)  # Line 6.
                v_i = v_i - gamma_v * g_v  # Line 7.
            received.append(u_i)  # Line 9.
            v[i] = (1 - eta_v) * v[i] + eta_v * v_i  # Line 9.
            new = c_i[i] - c + (u - u_i) / (K * gamma_u)  # Line 10.
            changes.append(new - c_i[i])
            c_i[i] = new
        if m:
            u = (1 - eta_u) * u + eta_u / m * sum(received)  # Line 12.
            c = c + sum(changes) / n  # Line 13.
    return _stacked(records)


def quantities(gradient: Gradient, u: Array, v: Array) -> dict[str, float]:
    """G_u = ||grad_u f||^2, G_v = (1/n) sum ||grad_v f_i||^2 and B = sum ||grad_u f_i||^2, as Table 1 defines them."""
    n = len(v)
    pairs = [gradient(i, u, v[i]) for i in range(n)]
    mean = sum(g_u for g_u, _ in pairs) / n
    return {
        "G_u": float(mean @ mean),
        "G_v": sum(float(g_v @ g_v) for _, g_v in pairs) / n,
        "B": sum(float(g_u @ g_u) for g_u, _ in pairs),
    }


def quadratic(H: Array, g: Array, shared: int) -> Gradient:
    """Gradients of f_i(w) = w'H_i w/2 - g_i'w with w = (u, v_i)."""

    def gradient(i: int, u: Array, v: Array) -> tuple[Array, Array]:
        full = H[i] @ np.concatenate([u, v]) - g[i]
        return full[:shared], full[shared:]

    return gradient


def logistic(rows: list[Array], shared: int, rho: float) -> Gradient:
    """Full gradients of Section 5's loss; ``rows[i]`` (any number, d) are the client's samples times their labels."""

    def gradient(i: int, u: Array, v: Array) -> tuple[Array, Array]:
        w = np.concatenate([u, v])
        full = np.zeros_like(w)
        for row in rows[i]:
            full -= row / (1 + np.exp(row @ w)) / len(rows[i])
        pull = [2 * rho * x / (1 + x @ x) ** 2 for x in (u, v)]
        return full[:shared] + pull[0], full[shared:] + pull[1]

    return gradient


def _stacked(records: list[dict[str, float]]) -> Records:
    return {name: np.array([record[name] for record in records]) for name in records[0]}


TWINS = {"fedavg-p": fedavg_p, "scaffold-p": scaffold_p}
