"""The project's engines beside batched NumPy and JAX, all in one run.

    python benchmarks/run.py --cores 1 [--repeats 5] [--only noisy] [--clients 10] [--out FILE]

Prints one row per setting: median times per local step in nanoseconds, and the ratios. JAX comes with the extra
``benchmark``. Compilation is not timed.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--cores", type=int, default=1, help="cores for every contestant")
parser.add_argument("--repeats", type=int, default=5)
parser.add_argument("--only", default="", help="settings whose name contains this")
parser.add_argument("--clients", type=int, nargs="+", default=[10, 100])
parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
ARGUMENTS = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(ARGUMENTS.cores)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: ARGUMENTS.cores])

import with_jax  # noqa: E402  # the thread counts have to be set first
import with_numpy  # noqa: E402
from contest import Play, Task, nanoseconds, ours  # noqa: E402

from ratecheck.problems import Logistic, Quadratic  # noqa: E402

# Floating-point operations per contestant and repeat, roughly.
WORK = 5e9
LEAP_ROUNDS = 1000


def tasks() -> Iterator[tuple[str, Task]]:
    """Every cell with its name."""
    for name, sigma, share in (("noise-free", 0.0, 1.0), ("noisy", 0.3, 1.0), ("noisy, half of the clients", 0.3, 0.5)):
        for n in ARGUMENTS.clients:
            for d in (20, 100):
                for K in (1, 10, 100):
                    problem = Quadratic.synthetic(n=n, d=d, shared=d, seed=1)
                    step = 64 * n * (2 * d * d + (300 * d if sigma else 0))
                    yield name, Task(problem, int(n * share), K, max(4, int(WORK / (step * K))), sigma)
    for name, batch in (("logistic, all samples", None), ("logistic, batches of 10", 10)):
        for n in ARGUMENTS.clients:
            for d in (20, 100):
                for K in (1, 10, 100):
                    problem = Logistic.synthetic(n=n, N=50, d=d, shared=d, rho=0.1, seed=1, batch=batch)
                    step = 64 * n * 4 * d * ((4 * batch) if batch else 50)
                    rounds = step * K + (64 * n * 4 * d * 50 if batch else 0)
                    yield name, Task(problem, n, K, max(4, int(WORK / rounds)))


def contestants(task: Task) -> dict[str, tuple[Play, int]]:
    """Everybody who can play the task, and how many local steps that is.

    Leaps are so fast that a few rounds would say more about preparing a run than about running it: they play longer.
    """
    found = {"step": ours(task, "step", ARGUMENTS.cores), **with_jax.contestants(task), **with_numpy.contestants(task)}
    played = {name: (play, task.steps) for name, play in found.items()}
    if isinstance(task.problem, Quadratic):
        longer = replace(task, T=max(task.T, LEAP_ROUNDS))
        played["leap"] = ours(longer, "leap", ARGUMENTS.cores), longer.steps
    return played


def best(times: dict[str, float], family: str) -> float:
    """The fastest variant of a family counts."""
    return min(spent for name, spent in times.items() if name.startswith(family))


def main() -> None:
    """Print and keep the table."""
    print(f"ns per local step, {ARGUMENTS.cores} core(s), median of {ARGUMENTS.repeats} interleaved runs")
    print(
        f"{'':<27}{'n':>4}{'d':>5}{'K':>5}{'step':>9}{'leap':>9}{'JAX':>9}{'NumPy':>9}   step/JAX  step/NumPy  leap/JAX"
    )
    rows = []
    for name, task in tasks():
        if ARGUMENTS.only not in name:
            continue
        times = nanoseconds(contestants(task), ARGUMENTS.repeats)
        row = {
            "task": name, "n": task.problem.n, "d": task.problem.d, "K": task.K, "T": task.T, "cores": ARGUMENTS.cores,
            "step": times["step"], "leap": times.get("leap"),
            "JAX": best(times, "JAX"), "NumPy": best(times, "NumPy"),
        }  # fmt: skip
        rows.append(row)
        leap, gain = (f"{row['leap']:9.1f}", f"{row['JAX'] / row['leap']:10.1f}") if row["leap"] else (" " * 9, "")
        print(
            f"{name:<27}{row['n']:>4}{row['d']:>5}{row['K']:>5}{row['step']:9.1f}{leap}{row['JAX']:9.1f}"
            f"{row['NumPy']:9.1f}{row['JAX'] / row['step']:11.1f}{row['NumPy'] / row['step']:12.1f}{gain}",
            flush=True,
        )
        if ARGUMENTS.out:
            ARGUMENTS.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
