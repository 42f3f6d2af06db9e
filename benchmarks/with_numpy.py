"""FedAvg in batched NumPy: all clients and replicates in one array."""

from __future__ import annotations

import numpy as np
from contest import GAMMA, REPLICATES, Play, Task

from ratecheck.problems import Logistic, Quadratic


def contestants(task: Task) -> dict[str, Play]:
    """The variants; the fastest one counts."""
    if isinstance(task.problem, Logistic):
        return {"NumPy": lambda: _logistic(task, task.problem)}
    if task.m < task.problem.n:
        return {
            "NumPy, masked": lambda: _quadratic(task, task.problem),
            "NumPy, gathered": lambda: _gathered(task, task.problem),
        }
    return {"NumPy": lambda: _quadratic(task, task.problem)}


def _subsets(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Members (m, R) of a uniform subset for every replicate."""
    return np.argpartition(rng.random((n, REPLICATES)), m - 1, axis=0)[:m]


def _quadratic(task: Task, problem: Quadratic) -> np.ndarray:
    """State (n, d, R): one batched product per local step, for all clients; those that are away do not count."""
    H, g, n, d = problem.H, problem.g[:, :, None], problem.n, problem.d
    scale, rng = task.sigma / np.sqrt(d), np.random.default_rng(0)
    mean_H, mean_g = H.mean(axis=0), g.mean(axis=0)
    u, norms = np.zeros((d, REPLICATES)), np.empty((task.T, REPLICATES))
    for t in range(task.T):
        norms[t] = np.sum((mean_H @ u - mean_g) ** 2, axis=0)
        w = np.broadcast_to(u, (n, d, REPLICATES)).copy()
        for _ in range(task.K):
            gradient = H @ w
            gradient -= g
            if task.sigma:
                gradient += scale * rng.standard_normal(gradient.shape)
            gradient *= GAMMA
            w -= gradient
        if task.m < n:
            mask = np.zeros((n, REPLICATES))
            np.put_along_axis(mask, _subsets(rng, n, task.m), 1.0 / task.m, axis=0)
            u = np.einsum("nr,ndr->dr", mask, w)
        else:
            u = w.mean(axis=0)
    return norms


def _gathered(task: Task, problem: Quadratic) -> np.ndarray:
    """State (R, m, d, 1): the participants' matrices are gathered for every replicate."""
    H, g, n, d = problem.H, problem.g[:, :, None], problem.n, problem.d
    scale, rng = task.sigma / np.sqrt(d), np.random.default_rng(0)
    mean_H, mean_g = H.mean(axis=0), g.mean(axis=0)
    u, norms = np.zeros((REPLICATES, 1, d, 1)), np.empty((task.T, REPLICATES))
    for t in range(task.T):
        norms[t] = np.sum((mean_H @ u[:, 0] - mean_g) ** 2, axis=(1, 2))
        members = _subsets(rng, n, task.m).T
        own_H, own_g = H[members], g[members]
        w = np.broadcast_to(u, (REPLICATES, task.m, d, 1)).copy()
        for _ in range(task.K):
            gradient = own_H @ w
            gradient -= own_g
            if task.sigma:
                gradient += scale * rng.standard_normal(gradient.shape)
            gradient *= GAMMA
            w -= gradient
        u = w.mean(axis=1, keepdims=True)
    return norms


def _logistic(task: Task, problem: Logistic) -> np.ndarray:
    """State (n, d, R); mini-batches of samples drawn with replacement for every client and replicate."""
    A, rho, n, d = problem.A, problem.rho, problem.n, problem.d
    rng, clients = np.random.default_rng(0), np.arange(problem.n)[:, None, None]

    def full(w: np.ndarray) -> np.ndarray:
        weights = -1.0 / (1.0 + np.exp(A @ w)) / problem.N
        return A.transpose(0, 2, 1) @ weights + _regulariser(w, rho)

    def batch(w: np.ndarray) -> np.ndarray:
        drawn = A[clients, rng.integers(0, problem.N, (n, REPLICATES, problem.batch))]
        margins = drawn @ w.transpose(0, 2, 1)[..., None]
        weights = -1.0 / (1.0 + np.exp(margins)) / problem.batch
        return (drawn.transpose(0, 1, 3, 2) @ weights)[..., 0].transpose(0, 2, 1) + _regulariser(w, rho)

    gradient = batch if problem.batch else full
    u, norms = np.zeros((d, REPLICATES)), np.empty((task.T, REPLICATES))
    for t in range(task.T):
        norms[t] = np.sum(full(np.broadcast_to(u, (n, d, REPLICATES))).mean(axis=0) ** 2, axis=0)
        w = np.broadcast_to(u, (n, d, REPLICATES)).copy()
        for _ in range(task.K):
            w -= GAMMA * gradient(w)
        u = w.mean(axis=0)
    return norms


def _regulariser(w: np.ndarray, rho: float) -> np.ndarray:
    """Gradient of rho*s/(1+s), s the squared norm along the second last axis."""
    return 2 * rho * w / (1 + np.sum(w**2, axis=-2, keepdims=True)) ** 2
