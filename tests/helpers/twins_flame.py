"""Plain NumPy twin of FLAME, written line by line from the paper, as an oracle for the engines.

Source: "Personalized Federated Learning via ADMM with Moreau Envelope", Algorithm 1 and equations (5)-(13). Slow on
purpose and without noise. ``gradient(i, theta)`` returns grad f_i; row t of ``matrix`` (T, m) is S^t. Arrays with one
row per client are (m, d).

Readings, where the printed text leaves a choice or is wrong:

- Algorithm 1 sets theta_i^{t+1} = theta_i^{t,H-1} after a loop that has computed theta_i^{t,H}: the latter is meant, so
  that ``K`` gradient steps are K gradient steps. Without noise the loop over batches is one step per h.
- theta_i^{t,0} is not defined; it is theta_i^t, the state that the client keeps.
- The gradient step and ``exact`` leave out the factor alpha_i of L_i, as Algorithm 1 does: the minimiser of (9) is the
  same, but the factor belongs to grad_theta_i L, hence to (13) and to the metrics.
- The score g_i of line 31 uses theta_i^{t,h}, where no h exists yet: theta_i^t. It uses the client's w_i^t, not the
  server's w^t, and no alpha_i, although Section 4.3 calls it an estimate of grad_theta_i L_i: with unequal weights the
  two orders differ.
- (41) has the wrong sign between its terms: grad_w L = -sum_i (pi_i + rho (w_i - w)). It vanishes at w^t by (12).
- (3) lacks a square, as do the middle of (41) and the last term of the fourth line of (43).
- Lemma 2 needs the initialisation (28), which Algorithm 1 does not ask for: ``pi0=None`` takes it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Gradient = Callable[[int, Array], Array]
Value = Callable[[int, Array], float]
Records = dict[str, Array]


def flame(
    gradient: Gradient,
    matrix: ArrayLike | None,
    theta0: Array,
    w0: Array,
    pi0: Array | None = None,
    *,
    K: int,
    eta: float,
    rho: float,
    lambda_: float,
    alpha: ArrayLike,
    exact: Callable[[int, Array], Array] | None = None,
    published: bool = False,
    value: Value | None = None,
    select: Callable[[int, Array], ArrayLike] | None = None,
    rounds: int | None = None,
) -> Records:
    """Algorithm 1; K is the paper's H.

    ``exact(i, w_i)`` = argmin f_i(theta) + lambda/2 ||theta - w_i||^2 replaces the K steps; with ``published``
    they are drawn to the server's w, as in the authors' code. With ``matrix=None``, ``select(t, scores)`` returns S^t
    (booleans) from the norms of line 31, for ``rounds`` rounds.

    Returns, one row per round, at P^t = (Theta^t, W^t, Pi^t, w^t) before round t is played: ``grad_L2``, ``theta2``,
    ``wi2``, ``pi2`` and ``w2`` (see `metrics`), ``scores`` (T, m), ``selected`` (T, m) and, with ``value``,
    ``lagrangian``; with one more row, the state after the last round: ``theta``, ``wi``, ``pi`` and ``z`` (T + 1, m, d)
    and ``w`` (T + 1, d), w^t being the mean of the z_i^t.
    """
    alpha = np.asarray(alpha, dtype=float)
    theta, wi = np.array(theta0, dtype=float), np.array(w0, dtype=float)
    pi = initial_duals(theta, wi, lambda_, alpha) if pi0 is None else np.array(pi0, dtype=float)
    z = wi + pi / rho  # Line 1.
    plan = None if matrix is None else np.asarray(matrix, dtype=bool)
    T = rounds if plan is None else len(plan)
    assert T is not None
    rows: list[dict[str, ArrayLike]] = []
    states = []
    for t in range(T):  # Line 2.
        w = z.mean(axis=0)  # The server's average; everybody's z_i counts, also those that never changed.
        states.append((theta.copy(), wi.copy(), pi.copy(), z.copy(), w))
        found = scores(gradient, theta, wi, lambda_)
        if plan is not None:
            participants = plan[t]
        else:
            assert select is not None
            participants = np.asarray(select(t, found), dtype=bool)
        row: dict[str, ArrayLike] = {"scores": found, "selected": participants}
        row.update(metrics(gradient, theta, wi, pi, w, rho=rho, lambda_=lambda_, alpha=alpha))
        if value is not None:
            row["lagrangian"] = lagrangian(value, theta, wi, pi, w, rho=rho, lambda_=lambda_, alpha=alpha)
        rows.append(row)
        for i in np.flatnonzero(participants).tolist():
            if exact is None:
                new = inner(gradient, i, theta[i], w if published else wi[i], K=K, eta=eta, lambda_=lambda_)
            else:
                new = exact(i, wi[i].copy())  # (9).
            theta[i] = new
            wi[i] = (lambda_ * alpha[i] * theta[i] + rho * w - pi[i]) / (lambda_ * alpha[i] + rho)  # (10).
            pi[i] = pi[i] + rho * (wi[i] - w)  # (11), with the w_i just computed.
            z[i] = wi[i] + pi[i] / rho
        # Clients outside S^t keep everything; with S^t empty nothing changes.
    states.append((theta.copy(), wi.copy(), pi.copy(), z.copy(), z.mean(axis=0)))
    records = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    for place, name in enumerate(("theta", "wi", "pi", "z", "w")):
        records[name] = np.array([state[place] for state in states])
    return records


def inner(gradient: Gradient, i: int, theta: Array, w_i: Array, *, K: int, eta: float, lambda_: float) -> Array:
    """K gradient steps on f_i(theta) + lambda/2 ||theta - w_i||^2 from theta."""
    theta = theta.copy()
    for _ in range(K):
        theta = theta - eta * (gradient(i, theta) + lambda_ * (theta - w_i))
    return theta


def initial_duals(theta: Array, wi: Array, lambda_: float, alpha: Array) -> Array:
    """(28): pi_i^0 = lambda alpha_i (theta_i^0 - w_i^0)."""
    return np.array([lambda_ * alpha[i] * (theta[i] - wi[i]) for i in range(len(theta))])


def lemma2(theta: Array, wi: Array, pi: Array, *, lambda_: float, alpha: ArrayLike) -> Array:
    """The norms of pi_i - lambda alpha_i (theta_i - w_i), which Lemma 2 says are zero.

    (10) and (11) alone give zero at t + 1 for a client of S^t, whatever theta_i^{t+1} and pi_i^t are. A client that has
    not been selected yet keeps the value of the initialisation, which is zero for (28) only.
    """
    alpha = np.asarray(alpha, dtype=float)
    return np.array([float(np.linalg.norm(pi[i] - lambda_ * alpha[i] * (theta[i] - wi[i]))) for i in range(len(theta))])


def metrics(
    gradient: Gradient, theta: Array, wi: Array, pi: Array, w: Array, *, rho: float, lambda_: float, alpha: ArrayLike
) -> dict[str, float]:
    """The squared norms of Theorem 2 at any point, without the use of Lemma 2 or (12).

    ``theta2``, ``wi2`` and ``pi2`` are sums over the clients, ``w2`` is ||grad_w L||^2, and ``grad_L2`` is all four.
    """
    alpha = np.asarray(alpha, dtype=float)
    theta2 = wi2 = pi2 = 0.0
    by_w = np.zeros_like(w)
    for i in range(len(theta)):
        by_theta = alpha[i] * (gradient(i, theta[i]) + lambda_ * (theta[i] - wi[i]))
        by_wi = alpha[i] * lambda_ * (wi[i] - theta[i]) + pi[i] + rho * (wi[i] - w)
        by_pi = wi[i] - w
        by_w = by_w - pi[i] - rho * (wi[i] - w)
        theta2 += float(by_theta @ by_theta)
        wi2 += float(by_wi @ by_wi)
        pi2 += float(by_pi @ by_pi)
    w2 = float(by_w @ by_w)
    return {"grad_L2": w2 + theta2 + wi2 + pi2, "theta2": theta2, "wi2": wi2, "pi2": pi2, "w2": w2}


def lagrangian(
    value: Value, theta: Array, wi: Array, pi: Array, w: Array, *, rho: float, lambda_: float, alpha: ArrayLike
) -> float:
    """(8), with ``value(i, theta)`` = f_i(theta)."""
    alpha = np.asarray(alpha, dtype=float)
    total = 0.0
    for i in range(len(theta)):
        pull, gap = theta[i] - wi[i], wi[i] - w
        total += alpha[i] * (value(i, theta[i]) + lambda_ / 2 * float(pull @ pull))
        total += float(pi[i] @ gap) + rho / 2 * float(gap @ gap)
    return total


def scores(gradient: Gradient, theta: Array, wi: Array, lambda_: float) -> Array:
    """||g_i|| of line 31 for all clients: g_i = grad f_i(theta_i^t) + lambda (theta_i^t - w_i^t)."""
    norms = []
    for i in range(len(theta)):
        g = gradient(i, theta[i]) + lambda_ * (theta[i] - wi[i])
        norms.append(float(np.sqrt(g @ g)))
    return np.array(norms)


def biased_select(scores: ArrayLike, candidates: ArrayLike, s: int) -> NDArray[np.bool_]:
    """Lines 27-32: the s clients of C^t with the largest score, as booleans (m,).

    ``candidates`` is C^t, booleans (m,) or indices. Of equal scores the lower index goes first (the paper does not
    say); fewer than s candidates are all selected.
    """
    norms = np.asarray(scores, dtype=float)
    C = np.asarray(candidates)
    left = [int(i) for i in (np.flatnonzero(C) if C.dtype == bool else C)]
    chosen = np.zeros(len(norms), dtype=bool)
    for _ in range(min(s, len(left))):
        best = min(left)
        for i in sorted(left):
            if norms[i] > norms[best]:
                best = i
        chosen[best] = True
        left.remove(best)
    return chosen
