"""Plain NumPy twins of methods that the papers compare with, as oracles for the engines.

MIFA, FedVARP, FedAU, FedAWE, pFedMe and FedADMM, each from its own publication as remembered, not from a text at
hand: the docstrings name what is uncertain. Slow on purpose and without noise. ``gradient(i, x)`` returns grad f_i; row
t of ``matrix`` (T, N) says who takes part in round t. A trajectory has T + 1 rows: row t is the state before round t,
the last one that after all rounds. K local steps with step size eta_l give the displacement x - x_i^K, eta_l times the
sum of the K local gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Gradient = Callable[[int, Array], Array]
Records = dict[str, Array]


def mifa(gradient: Gradient, matrix: ArrayLike, x0: Array, *, K: int, eta_l: float, eta_g: float = 1.0) -> Records:
    """MIFA (Gu, Huang, Zhang and Huang 2021).

    State: x; per client the memory G_i, its latest displacement, 0 before its first round.

    - i in S^t: G_i <- x^t - x_i^K (K steps from x^t); otherwise G_i stays.
    - x^{t+1} = x^t - eta_g (1/N) sum over all N of G_i.

    The publication stores (x - x_i^K)/eta_t, the sum of the K gradients and not their mean, and multiplies by the eta_t
    of the current round; with a constant step size that is this one with eta_g = 1. It has no eta_g of its own.

    Nobody: x still moves, by the memory. Uncertain: G_i = 0 at the start is a convention; the analysis lets everybody
    take part in the first round.

    Returns ``x`` (T + 1, d) and ``G`` (T + 1, N, d).
    """
    plan = np.asarray(matrix, dtype=bool)
    x = np.array(x0, dtype=float)
    N = plan.shape[1]
    G = np.zeros((N, len(x)))
    path, memory = [x], [G.copy()]
    for participants in plan:
        for i in np.flatnonzero(participants).tolist():
            G[i] = x - _sgd(gradient, i, x, K, eta_l)
        total = np.zeros_like(x)
        for i in range(N):
            total = total + G[i]
        x = x - eta_g / N * total
        path.append(x)
        memory.append(G.copy())
    return {"x": np.array(path), "G": np.array(memory)}


def fedvarp(
    gradient: Gradient,
    matrix: ArrayLike,
    x0: Array,
    *,
    K: int,
    eta_l: float,
    eta_g: float = 1.0,
    empty: str = "skip",
) -> Records:
    """FedVARP (Jhunjhunwala, Sharma, Nagarkatti and Joshi 2022).

    State: x; per client y_i, 0 at the start.

    - i in S^t: Delta_i = (x^t - x_i^K)/(eta_l K), the mean of its K gradients.
    - v^t = (1/N) sum over all N of y_i + (1/|S^t|) sum over S^t of (Delta_i - y_i), with the y_i from before the round.
    - x^{t+1} = x^t - eta_g eta_l K v^t; then y_i <- Delta_i for i in S^t.

    Any other common scale of Delta_i and y_i gives the same x: with displacements, x^{t+1} = x^t - eta_g v^t.

    Nobody: not defined, as the publication samples a fixed number; ``empty`` is "skip" (nothing changes) or "memory"
    (v^t is the mean of the y_i). Uncertain: that choice only.

    Returns ``x`` (T + 1, d) and ``y`` (T + 1, N, d).
    """
    plan = np.asarray(matrix, dtype=bool)
    x = np.array(x0, dtype=float)
    N = plan.shape[1]
    y = np.zeros((N, len(x)))
    path, memory = [x], [y.copy()]
    for participants in plan:
        S = np.flatnonzero(participants).tolist()
        v = np.zeros_like(x)
        for i in range(N):
            v = v + y[i] / N
        fresh = {i: (x - _sgd(gradient, i, x, K, eta_l)) / (eta_l * K) for i in S}
        for i in S:
            v = v + (fresh[i] - y[i]) / len(S)
        if len(S) or empty == "memory":
            x = x - eta_g * eta_l * K * v
        for i in S:
            y[i] = fresh[i]
        path.append(x)
        memory.append(y.copy())
    return {"x": np.array(path), "y": np.array(memory)}


def fedau(
    gradient: Gradient,
    matrix: ArrayLike,
    x0: Array,
    *,
    K: int,
    eta_l: float,
    eta_g: float = 1.0,
    cutoff: float = np.inf,
) -> Records:
    """FedAU (Wang and Ji 2024).

    State: x; per client the weight omega_i (1 in round 0), the number M_i of closed intervals and the length s_i of the
    open one (both 0). ``cutoff`` is the publication's K, here K is the number of local steps.

    - Before each round t >= 1, from the participation in round t - 1: s_i <- s_i + 1; if i took part in round t - 1 or
      s_i = cutoff, then omega_i <- (M_i omega_i + s_i)/(M_i + 1) (that is s_i for M_i = 0), M_i <- M_i + 1, s_i <- 0.
    - i in S^t: Delta_i = x_i^K - x^t.
    - x^{t+1} = x^t + (eta_g/N) sum over S^t of omega_i^t Delta_i, divided by N and not by |S^t|.

    So omega_i^t depends on the rounds before t only, and an interval includes the round of participation that closes
    it: with everybody always there, omega = 1.

    Nobody: x stays, the open intervals grow. Uncertain: nothing of substance; whether an implementation lets round t
    itself count in omega_i^t (it must not) is worth a look.

    Returns ``x`` (T + 1, d) and ``omega`` (T, N), the weights used in round t.
    """
    plan = np.asarray(matrix, dtype=bool)
    x = np.array(x0, dtype=float)
    N = plan.shape[1]
    omega, M, s = np.ones(N), np.zeros(N, dtype=int), np.zeros(N, dtype=int)
    path, weights = [x], []
    for t, participants in enumerate(plan):
        if t:
            for i in range(N):
                s[i] += 1
                if plan[t - 1, i] or s[i] == cutoff:
                    omega[i] = s[i] if M[i] == 0 else (M[i] * omega[i] + s[i]) / (M[i] + 1)
                    M[i] += 1
                    s[i] = 0
        weights.append(omega.copy())
        total = np.zeros_like(x)
        for i in np.flatnonzero(participants).tolist():
            total = total + omega[i] * (_sgd(gradient, i, x, K, eta_l) - x)
        x = x + eta_g / N * total
        path.append(x)
    return {"x": np.array(path), "omega": np.array(weights)}


def fedawe(gradient: Gradient, matrix: ArrayLike, x0: Array, *, K: int, eta_l: float, eta_g: float = 1.0) -> Records:
    """FedAWE (Xiang, Ioannidis, Yeh, Joe-Wong and Su 2024).

    State: the server's x; per client its own x_i (x^0 at the start) and tau_i(t), its last round before t (-1 at the
    start: somebody who comes first in round t has the echo t + 1).

    - i in S^t: G_i = x_i^t - x_i^{(t,K)}, K steps from its own x_i^t, which is the server's model after the last round
      it took part in, not the newest one; x_i^dagger = x_i^t - eta_g (t - tau_i(t)) G_i.
    - x^{t+1} = (1/|S^t|) sum over S^t of x_i^dagger, sent to those in S^t only: x_i^{t+1} = x^{t+1} for them (implicit
      gossip), x_i^{t+1} = x_i^t for the rest.

    Nobody: nothing changes except t, hence the later echoes. Uncertain: what the server holds in that case (its old x
    here), and which point is reported (the analysis has the mean of all x_i, which is not x).

    Returns ``x`` (T + 1, d), ``x_i`` (T + 1, N, d) and ``echo`` (T, N), t - tau_i(t) for everybody.
    """
    plan = np.asarray(matrix, dtype=bool)
    x = np.array(x0, dtype=float)
    N = plan.shape[1]
    x_i = np.array([x] * N)
    tau = np.full(N, -1)
    path, clients, echoes = [x], [x_i.copy()], []
    for t, participants in enumerate(plan):
        S = np.flatnonzero(participants).tolist()
        echoes.append(t - tau)
        total = np.zeros_like(x)
        for i in S:
            G = x_i[i] - _sgd(gradient, i, x_i[i], K, eta_l)
            total = total + x_i[i] - eta_g * (t - tau[i]) * G
        if len(S):
            x = total / len(S)
        for i in S:
            x_i[i] = x
            tau[i] = t
        path.append(x)
        clients.append(x_i.copy())
    return {"x": np.array(path), "x_i": np.array(clients), "echo": np.array(echoes)}


def pfedme(
    gradient: Gradient,
    matrix: ArrayLike,
    w0: Array,
    *,
    R: int,
    eta: float,
    lambda_: float,
    beta: float = 1.0,
    exact: Callable[[int, Array], Array] | None = None,
    H: int = 1,
    eta_inner: float = 0.0,
    warm: bool = False,
) -> Records:
    """The pFedMe algorithm (T. Dinh, Tran and Nguyen 2020).

    State: w. All N clients compute in every round, those in S^t are heard.

    - Everybody: w_i <- w^t; R times: theta_i ~ argmin f_i(theta) + lambda/2 ||theta - w_i||^2 at the current w_i, then
      w_i <- w_i - eta lambda (w_i - theta_i).
    - w^{t+1} = (1 - beta) w^t + beta (1/|S^t|) sum over S^t of w_i.

    theta_i is ``exact(i, w_i)``, or H steps theta <- theta - eta_inner (grad f_i(theta) + lambda (theta - w_i)). These
    start at the current w_i, or with ``warm`` at w^t in the first of the R rounds and at the last theta_i in others.

    Nobody: w stays (not defined there, S is fixed; neither is (1 - beta) w^t). Uncertain: the start of the inner steps,
    which the publication leaves open; ``warm`` is what its code did, as remembered.

    Returns ``w`` (T + 1, d), ``w_i`` (T, N, d) and ``theta`` (T, N, d), what every client has at the end of round t.
    """
    plan = np.asarray(matrix, dtype=bool)
    w = np.array(w0, dtype=float)
    N = plan.shape[1]
    path, models, personal = [w], [], []
    for participants in plan:
        S = np.flatnonzero(participants).tolist()
        w_i, theta = np.array([w] * N), np.array([w] * N)
        for i in range(N):
            for _ in range(R):
                if exact is not None:
                    theta[i] = exact(i, w_i[i].copy())
                else:
                    start = theta[i] if warm else w_i[i]
                    theta[i] = _prox_steps(gradient, i, start, w_i[i], H, eta_inner, lambda_)
                w_i[i] = w_i[i] - eta * lambda_ * (w_i[i] - theta[i])
        if len(S):
            total = np.zeros_like(w)
            for i in S:
                total = total + w_i[i]
            w = (1 - beta) * w + beta / len(S) * total
        path.append(w)
        models.append(w_i)
        personal.append(theta)
    return {"w": np.array(path), "w_i": np.array(models), "theta": np.array(personal)}


def fedadmm(
    gradient: Gradient,
    matrix: ArrayLike,
    theta0: Array,
    *,
    E: int,
    eta_l: float,
    rho: float,
    eta: float = 1.0,
    start: str = "own",
) -> Records:
    """FedADMM (Gong, Li and Freris 2022).

    State: the server's theta; per client w_i (theta^0 at the start) and the dual y_i (0). u_i = w_i + y_i/rho.

    - i in S^t: w <- w - eta_l (grad f_i(w) + y_i + rho (w - theta^t)), E times from its own w_i (``start="own"``) or
      from theta^t (``start="server"``); w_i^{t+1} = w.
    - y_i^{t+1} = y_i^t + rho (w_i^{t+1} - theta^t).
    - Delta_i = u_i^{t+1} - u_i^t; theta^{t+1} = theta^t + (eta/|S^t|) sum over S^t of Delta_i.

    With eta = |S^t|/N the server keeps theta^t = (1/N) sum of all u_i^t, as consensus ADMM asks.

    Nobody: nothing changes. Uncertain: which start the publication calls its default (it compares both), and that E
    counts epochs there, here full-gradient steps.

    Returns ``theta`` (T + 1, d), ``w_i`` and ``y_i`` (T + 1, N, d).
    """
    plan = np.asarray(matrix, dtype=bool)
    theta = np.array(theta0, dtype=float)
    N = plan.shape[1]
    w_i, y_i = np.array([theta] * N), np.zeros((N, len(theta)))
    path, models, duals = [theta], [w_i.copy()], [y_i.copy()]
    for participants in plan:
        S = np.flatnonzero(participants).tolist()
        total = np.zeros_like(theta)
        for i in S:
            old = w_i[i] + y_i[i] / rho
            w = w_i[i].copy() if start == "own" else theta.copy()
            for _ in range(E):
                w = w - eta_l * (gradient(i, w) + y_i[i] + rho * (w - theta))
            w_i[i] = w
            y_i[i] = y_i[i] + rho * (w_i[i] - theta)
            total = total + w_i[i] + y_i[i] / rho - old
        if len(S):
            theta = theta + eta / len(S) * total
        path.append(theta)
        models.append(w_i.copy())
        duals.append(y_i.copy())
    return {"theta": np.array(path), "w_i": np.array(models), "y_i": np.array(duals)}


def _sgd(gradient: Gradient, i: int, x: Array, K: int, eta_l: float) -> Array:
    """K local steps of client i from x."""
    x = x.copy()
    for _ in range(K):
        x = x - eta_l * gradient(i, x)
    return x


def _prox_steps(gradient: Gradient, i: int, start: Array, w_i: Array, H: int, eta: float, lambda_: float) -> Array:
    """H gradient steps on f_i(theta) + lambda/2 ||theta - w_i||^2."""
    theta = start.copy()
    for _ in range(H):
        theta = theta - eta * (gradient(i, theta) + lambda_ * (theta - w_i))
    return theta
