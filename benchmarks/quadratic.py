"""FedAvg on quadratics: this project's engines beside batched NumPy and JAX, in one run.

Every contestant plays the same rounds: n clients, full participation, K local steps on f_i(w) = w'H_i w/2 - g_i'w with
additive Gaussian noise, R replicates, and records ||grad f||^2 per round. Reported is the time per local step of one
client of one replicate, the median over repeats, and the ratio to JAX. Compilation is not timed.

    python benchmarks/quadratic.py [--cores 1]

JAX comes with the extra ``benchmark``; without it that column is left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--cores", type=int, default=1, help="cores for every contestant")
parser.add_argument("--repeats", type=int, default=5)
ARGUMENTS = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(ARGUMENTS.cores)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: ARGUMENTS.cores])

import numpy as np  # noqa: E402  # the thread counts have to be set first

import ratecheck as rc  # noqa: E402

GAMMA = 1e-3


def ours(
    problem: rc.problems.Quadratic, engine: str, sigma: float, replicates: int, K: int, T: int
) -> Callable[[], object]:
    """The project's engine of that name."""
    trace = rc.participation.Trace.full(problem.n)
    return lambda: rc.simulate(
        "fedavg", problem, trace, K=K, T=T, sigma=sigma, replicates=replicates, engine=engine,
        threads=ARGUMENTS.cores, gamma_u=GAMMA, eta_u=1.0,
    )  # fmt: skip


def batched_numpy(
    problem: rc.problems.Quadratic, sigma: float, replicates: int, K: int, T: int
) -> Callable[[], object]:
    """All clients and replicates in one array (n, d, R); one batched product per local step."""
    H, g, n, d = problem.H, problem.g, problem.n, problem.d
    scale, rng = sigma / np.sqrt(d), np.random.default_rng(0)

    def run() -> object:
        u, norms = np.zeros((d, replicates)), np.empty((T, replicates))
        for t in range(T):
            norms[t] = np.sum(((H @ u) - g[:, :, None]).mean(axis=0) ** 2, axis=0)
            w = np.broadcast_to(u, (n, d, replicates)).copy()
            for _ in range(K):
                gradient = H @ w
                gradient -= g[:, :, None]
                if sigma:
                    gradient += scale * rng.standard_normal(gradient.shape)
                gradient *= GAMMA
                w -= gradient
            u = w.mean(axis=0)
        return norms

    return run


def jax_scan(
    problem: rc.problems.Quadratic, sigma: float, replicates: int, K: int, T: int
) -> Callable[[], object] | None:
    """``jit(scan(scan(...)))`` over rounds and local steps, batched over clients and replicates, in doubles."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", val=True)
    jax.config.update("jax_platforms", "cpu")
    H, g, d = jnp.asarray(problem.H), jnp.asarray(problem.g)[:, :, None], problem.d
    scale = sigma / np.sqrt(d)

    def local(state: object, _: object) -> object:
        w, key = state
        gradient = H @ w - g
        if sigma:
            key, draw = jax.random.split(key)
            gradient = gradient + scale * jax.random.normal(draw, w.shape)
        return (w - GAMMA * gradient, key), None

    def play(state: object, _: object) -> object:
        u, key = state
        norm = jnp.sum(jnp.mean(H @ u - g, axis=0) ** 2, axis=0)
        w = jnp.broadcast_to(u, (problem.n, d, replicates))
        (w, key), _ = jax.lax.scan(local, (w, key), None, length=K)
        return (w.mean(axis=0), key), norm

    @jax.jit
    def run(key: object) -> object:
        return jax.lax.scan(play, (jnp.zeros((d, replicates)), key), None, length=T)[1]

    key = jax.random.key(0)
    return lambda: run(key).block_until_ready()


def nanoseconds(function: Callable[[], object] | None, steps: int) -> float | None:
    """Median time per local step, after one run that is not timed."""
    if function is None:
        return None
    function()
    times = []
    for _ in range(ARGUMENTS.repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) / steps * 1e9


def main() -> None:
    """Print one row per setting."""
    print(f"ns per local step on {ARGUMENTS.cores} core(s), median of {ARGUMENTS.repeats}; in brackets: times JAX")
    print(f"{'noise':>5} {'n':>4} {'d':>4} {'K':>4}  {'step':>16} {'leap':>16} {'NumPy':>10} {'JAX':>10}")
    for sigma in (0.0, 0.3):
        for n, d in ((10, 20), (100, 20), (10, 100)):
            for K in (1, 10, 100):
                T = max(2, 2000 // (K * (n // 10) * (d // 20) ** 2))
                replicates = 64
                problem = rc.problems.Quadratic.synthetic(n=n, d=d, shared=d, seed=1)
                steps = n * K * T * replicates
                jax_time = nanoseconds(jax_scan(problem, sigma, replicates, K, T), steps)
                cells = []
                for engine in ("step", "leap"):
                    spent = nanoseconds(ours(problem, engine, sigma, replicates, K, T), steps)
                    ratio = f" ({jax_time / spent:.1f}x)" if jax_time else ""
                    cells.append(f"{spent:.1f}{ratio}".rjust(16))
                numpy_time = nanoseconds(batched_numpy(problem, sigma, replicates, K, T), steps)
                last = f"{jax_time:10.1f}" if jax_time else f"{'-':>10}"
                print(f"{sigma:>5} {n:>4} {d:>4} {K:>4}  {' '.join(cells)} {numpy_time:10.1f} {last}", flush=True)


if __name__ == "__main__":
    main()
