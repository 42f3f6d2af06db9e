"""Five methods in batched NumPy: on a graph, compressed, on two levels, with a schedule, by greedy coordinates.

Every twin plays T rounds with the noise of the problem and records ||grad f||^2 (||grad Phi||^2 on two levels).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

SIZE = 0.01
SIGMA = 0.1

Array = np.ndarray[Any, Any]


class Clients:
    """Gradients M_i x - c_i of clients at points (n, d, runs), with normal noise."""

    def __init__(self, M: Array, c: Array, deviations: Array) -> None:
        self.M, self.c, self.deviations = M, c[:, :, None], deviations[:, None]
        self.random = np.random.default_rng(0)

    def gradients(self, x: Array) -> Array:
        """One gradient for every client and run."""
        found = self.M @ x
        found -= self.c
        noise = self.random.standard_normal(found.shape)
        noise *= self.deviations
        found += noise
        return found


def quadratic(problem: Any) -> Clients:
    """The clients of a quadratic problem."""
    return Clients(problem.H, problem.g, np.full(problem.d, SIGMA / np.sqrt(problem.d)))


def squares(problem: Any, x: Array) -> Array:
    """||grad f(x)||^2 at points (d, runs)."""
    return np.sum((problem.H.mean(axis=0) @ x - problem.g.mean(axis=0)[:, None]) ** 2, axis=0)


def dsgd(problem: Any, T: int, runs: int) -> Array:
    """DSGD on a ring."""
    clients, n = quadratic(problem), problem.n
    x, found = np.zeros((n, problem.d, runs)), np.empty((T, runs))
    for t in range(T):
        mean = x.mean(axis=0)
        found[t] = squares(problem, mean)
        np.mean(np.sum((x - mean) ** 2, axis=1), axis=0)
        x -= SIZE * clients.gradients(x)
        mixed = np.roll(x, 1, axis=0)
        mixed += np.roll(x, -1, axis=0)
        mixed += x
        mixed /= 3
        x = mixed
    return found


def compressed(problem: Any, T: int, runs: int) -> Array:
    """Compressed SGD, every coordinate being sent with probability 1/2."""
    clients, n = quadratic(problem), problem.n
    x, found, q = np.zeros((problem.d, runs)), np.empty((T, runs)), 0.5
    for t in range(T):
        found[t] = squares(problem, x)
        gradient = clients.gradients(np.broadcast_to(x, (n, *x.shape)))
        gradient *= clients.random.random(gradient.shape) < q
        x -= SIZE / q * gradient.mean(axis=0)
    return found


def fast_gradient(problem: Any, T: int, runs: int) -> Array:
    """Nesterov's fast gradient method."""
    clients, n, theta = quadratic(problem), problem.n, 1.0
    x, found = np.zeros((problem.d, runs)), np.empty((T, runs))
    y = x
    for t in range(T):
        found[t] = squares(problem, x)
        after, following = (
            y - SIZE * clients.gradients(np.broadcast_to(y, (n, *y.shape))).mean(axis=0),
            (1 + np.sqrt(1 + 4 * theta**2)) / 2,
        )
        x, y, theta = after, after + (theta - 1) / following * (after - x), following
    return found


def greedy(problem: Any, T: int, runs: int) -> Array:
    """Greedy coordinate descent."""
    clients, n = quadratic(problem), problem.n
    x, found, everywhere = np.zeros((problem.d, runs)), np.empty((T, runs)), np.arange(runs)
    for t in range(T):
        found[t] = squares(problem, x)
        gradient = clients.gradients(np.broadcast_to(x, (n, *x.shape))).mean(axis=0)
        chosen = np.abs(gradient).argmax(axis=0)
        x[chosen, everywhere] -= SIZE * gradient[chosen, everywhere]
    return found


def simfbo(problem: Any, T: int, runs: int) -> Array:
    """SimFBO with one local step."""
    M, c = problem.operator()
    P, r = problem.hypergradient_map()
    upper, lower = SIGMA / np.sqrt(problem.d_x + problem.d_y), SIGMA / np.sqrt(problem.d_y)
    clients = Clients(M, c, np.repeat([upper, lower, upper], [problem.d_x, problem.d_y, problem.d_y]))
    z, found = np.zeros((len(c[0]), runs)), np.empty((T, runs))
    for t in range(T):
        found[t] = np.sum((P @ z[: problem.d_x] - r[:, None]) ** 2, axis=0)
        z -= SIZE * clients.gradients(np.broadcast_to(z, (problem.n, *z.shape))).mean(axis=0)
    return found


TWINS: Mapping[str, Callable[[Any, int, int], Array]] = {
    "dsgd": dsgd,
    "compressed-sgd": compressed,
    "fast-gradient": fast_gradient,
    "greedy-coordinate-descent": greedy,
    "simfbo": simfbo,
}
