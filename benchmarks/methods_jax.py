"""The five methods of `methods_numpy` in JAX: a compiled scan over rounds, clients and runs batched, in doubles.

``TWINS[name](problem, T, runs)`` gives a function that plays T rounds and records ||grad f||^2 (||grad Phi||^2 on two
levels) in each; its first call compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from methods_numpy import SIGMA, SIZE

jax.config.update("jax_enable_x64", val=True)
jax.config.update("jax_platforms", "cpu")

Play = Callable[[], Any]


class Clients:
    """Gradients M_i x - c_i of clients at points (n, d, runs), with normal noise."""

    def __init__(self, M: Any, c: Any, deviations: Any) -> None:
        self.M, self.c, self.deviations = jnp.asarray(M), jnp.asarray(c)[:, :, None], jnp.asarray(deviations)[:, None]

    def gradients(self, x: Any, key: Any) -> Any:
        """One gradient for every client and run."""
        found = self.M @ x - self.c
        return found + self.deviations * jax.random.normal(key, found.shape)

    def mean(self, x: Any, key: Any) -> Any:
        """The mean of the gradients of all clients at one point (d, runs)."""
        return self.gradients(jnp.broadcast_to(x, (len(self.M), *x.shape)), key).mean(axis=0)


def quadratic(problem: Any) -> Clients:
    """The clients of a quadratic problem."""
    return Clients(problem.H, problem.g, np.full(problem.d, SIGMA / np.sqrt(problem.d)))


def squares(problem: Any) -> Callable[[Any], Any]:
    """||grad f(x)||^2 at points (d, runs)."""
    H, g = jnp.asarray(problem.H.mean(axis=0)), jnp.asarray(problem.g.mean(axis=0))[:, None]
    return lambda x: jnp.sum((H @ x - g) ** 2, axis=0)


def compiled(step: Callable[[Any, Any], tuple[Any, Any]], start: Any, T: int) -> Play:
    """T rounds of ``step(state, key)``, which gives the next state and what is recorded."""

    @jax.jit
    def run(key: Any) -> Any:
        return jax.lax.scan(step, start, jax.random.split(key, T))[1]

    key = jax.random.key(0)
    return lambda: jax.block_until_ready(run(key))


def dsgd(problem: Any, T: int, runs: int) -> Play:
    """DSGD on a ring."""
    clients, square = quadratic(problem), squares(problem)

    def step(x: Any, key: Any) -> tuple[Any, Any]:
        mean = x.mean(axis=0)
        consensus = jnp.mean(jnp.sum((x - mean) ** 2, axis=1), axis=0)
        after = x - SIZE * clients.gradients(x, key)
        mixed = (jnp.roll(after, 1, axis=0) + jnp.roll(after, -1, axis=0) + after) / 3
        return mixed, (square(mean), consensus)

    return compiled(step, jnp.zeros((problem.n, problem.d, runs)), T)


def compressed(problem: Any, T: int, runs: int) -> Play:
    """Compressed SGD, every coordinate being sent with probability 1/2."""
    clients, square, q = quadratic(problem), squares(problem), 0.5

    def step(x: Any, key: Any) -> tuple[Any, Any]:
        noise, masks = jax.random.split(key)
        gradient = clients.gradients(jnp.broadcast_to(x, (problem.n, *x.shape)), noise)
        sent = jnp.where(jax.random.uniform(masks, gradient.shape) < q, gradient, 0.0)
        return x - SIZE / q * sent.mean(axis=0), square(x)

    return compiled(step, jnp.zeros((problem.d, runs)), T)


def fast_gradient(problem: Any, T: int, runs: int) -> Play:
    """Nesterov's fast gradient method."""
    clients, square = quadratic(problem), squares(problem)

    def step(state: Any, key: Any) -> tuple[Any, Any]:
        x, y, theta = state
        after, following = y - SIZE * clients.mean(y, key), (1 + jnp.sqrt(1 + 4 * theta**2)) / 2
        return (after, after + (theta - 1) / following * (after - x), following), square(x)

    x = jnp.zeros((problem.d, runs))
    return compiled(step, (x, x, jnp.asarray(1.0)), T)


def greedy(problem: Any, T: int, runs: int) -> Play:
    """Greedy coordinate descent."""
    clients, square, everywhere = quadratic(problem), squares(problem), jnp.arange(runs)

    def step(x: Any, key: Any) -> tuple[Any, Any]:
        gradient = clients.mean(x, key)
        chosen = jnp.abs(gradient).argmax(axis=0)
        return x.at[chosen, everywhere].add(-SIZE * gradient[chosen, everywhere]), square(x)

    return compiled(step, jnp.zeros((problem.d, runs)), T)


def simfbo(problem: Any, T: int, runs: int) -> Play:
    """SimFBO with one local step."""
    M, c = problem.operator()
    P, r = (jnp.asarray(each) for each in problem.hypergradient_map())
    upper, lower = SIGMA / np.sqrt(problem.d_x + problem.d_y), SIGMA / np.sqrt(problem.d_y)
    clients = Clients(M, c, np.repeat([upper, lower, upper], [problem.d_x, problem.d_y, problem.d_y]))

    def step(z: Any, key: Any) -> tuple[Any, Any]:
        square = jnp.sum((P @ z[: problem.d_x] - r[:, None]) ** 2, axis=0)
        return z - SIZE * clients.mean(z, key), square

    return compiled(step, jnp.zeros((len(c[0]), runs)), T)


TWINS: Mapping[str, Callable[[Any, int, int], Play]] = {
    "dsgd": dsgd,
    "compressed-sgd": compressed,
    "fast-gradient": fast_gradient,
    "greedy-coordinate-descent": greedy,
    "simfbo": simfbo,
}
