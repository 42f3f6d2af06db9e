"""FedAvg in JAX: ``jit(scan(scan(...)))`` over rounds and local steps, batched over clients and replicates, in doubles.

Clients and replicates are batched by array operations on (n, d, R), which is what ``vmap`` would make of them, with the
replicates innermost.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from contest import GAMMA, REPLICATES, Play, Task

from ratecheck.problems import Logistic, Quadratic

jax.config.update("jax_enable_x64", val=True)
jax.config.update("jax_platforms", "cpu")


def contestants(task: Task) -> dict[str, Play]:
    """The variants; the fastest one counts."""
    if isinstance(task.problem, Logistic):
        return {"JAX": _compiled(_logistic, task)}
    if task.m < task.problem.n:
        return {"JAX, masked": _compiled(_quadratic, task), "JAX, gathered": _compiled(_gathered, task)}
    return {"JAX": _compiled(_quadratic, task)}


def _compiled(make: Any, task: Task) -> Play:
    run, key = jax.jit(make(task, task.problem)), jax.random.key(0)
    return lambda: run(key).block_until_ready()


def _members(key: Any, task: Task) -> Any:
    """Uniform subsets (m, R), one per replicate."""
    uniform = jax.random.uniform(key, (task.problem.n, REPLICATES))
    return jnp.argsort(uniform, axis=0)[: task.m]


def _quadratic(task: Task, problem: Quadratic) -> Any:
    """State (n, d, R), all clients computed; those that are away do not count."""
    H, g, n, d = jnp.asarray(problem.H), jnp.asarray(problem.g)[:, :, None], problem.n, problem.d
    mean_H, mean_g, scale = H.mean(axis=0), g.mean(axis=0), task.sigma / d**0.5

    def local(state: Any, _: Any) -> Any:
        w, key = state
        gradient = H @ w - g
        if task.sigma:
            key, draw = jax.random.split(key)
            gradient = gradient + scale * jax.random.normal(draw, w.shape)
        return (w - GAMMA * gradient, key), None

    def play(state: Any, _: Any) -> Any:
        u, key = state
        norm = jnp.sum((mean_H @ u - mean_g) ** 2, axis=0)
        w = jnp.broadcast_to(u, (n, d, REPLICATES))
        (w, key), _ = jax.lax.scan(local, (w, key), None, length=task.K)
        if task.m == n:
            return (w.mean(axis=0), key), norm
        key, draw = jax.random.split(key)
        mask = jnp.zeros((n, REPLICATES)).at[_members(draw, task), jnp.arange(REPLICATES)].set(1.0 / task.m)
        return (jnp.einsum("nr,ndr->dr", mask, w), key), norm

    return lambda key: jax.lax.scan(play, (jnp.zeros((d, REPLICATES)), key), None, length=task.T)[1]


def _gathered(task: Task, problem: Quadratic) -> Any:
    """State (m, R, d): the participants' matrices are gathered for every replicate."""
    H, g, d = jnp.asarray(problem.H), jnp.asarray(problem.g), problem.d
    mean_H, mean_g, scale = H.mean(axis=0), g.mean(axis=0), task.sigma / d**0.5

    def play(state: Any, _: Any) -> Any:
        u, key = state
        norm = jnp.sum((u @ mean_H - mean_g) ** 2, axis=1)
        key, draw = jax.random.split(key)
        members = _members(draw, task)
        own_H, own_g = H[members], g[members]

        def local(state: Any, _: Any) -> Any:
            w, key = state
            gradient = jnp.einsum("mrab,mrb->mra", own_H, w) - own_g
            if task.sigma:
                key, draw = jax.random.split(key)
                gradient = gradient + scale * jax.random.normal(draw, w.shape)
            return (w - GAMMA * gradient, key), None

        w = jnp.broadcast_to(u, (task.m, REPLICATES, d))
        (w, key), _ = jax.lax.scan(local, (w, key), None, length=task.K)
        return (w.mean(axis=0), key), norm

    return lambda key: jax.lax.scan(play, (jnp.zeros((REPLICATES, d)), key), None, length=task.T)[1]


def _logistic(task: Task, problem: Logistic) -> Any:
    """State (n, d, R); mini-batches of samples drawn with replacement for every client and replicate."""
    A, rho, n, d, N, batch = jnp.asarray(problem.A), problem.rho, problem.n, problem.d, problem.N, problem.batch

    def regulariser(w: Any) -> Any:
        return 2 * rho * w / (1 + jnp.sum(w**2, axis=1, keepdims=True)) ** 2

    def full(w: Any) -> Any:
        weights = jax.nn.sigmoid(-(A @ w)) / -N
        return A.transpose(0, 2, 1) @ weights + regulariser(w)

    def sampled(w: Any, key: Any) -> Any:
        index = jax.random.randint(key, (n, REPLICATES, batch), 0, N)
        drawn = A[jnp.arange(n)[:, None, None], index]
        margins = jnp.einsum("nrbd,ndr->nrb", drawn, w)
        return jnp.einsum("nrbd,nrb->ndr", drawn, jax.nn.sigmoid(-margins) / -batch) + regulariser(w)

    def local(state: Any, _: Any) -> Any:
        w, key = state
        if not batch:
            return (w - GAMMA * full(w), key), None
        key, draw = jax.random.split(key)
        return (w - GAMMA * sampled(w, draw), key), None

    def play(state: Any, _: Any) -> Any:
        u, key = state
        w = jnp.broadcast_to(u, (n, d, REPLICATES))
        norm = jnp.sum(full(w).mean(axis=0) ** 2, axis=0)
        (w, key), _ = jax.lax.scan(local, (w, key), None, length=task.K)
        return (w.mean(axis=0), key), norm

    return lambda key: jax.lax.scan(play, (jnp.zeros((d, REPLICATES)), key), None, length=task.T)[1]
