"""The contest's rules: what is computed, and how it is timed.

All contestants play FedAvg with the same clients, local steps, rounds and replicates, and record ||grad f||^2 before
every round. A time is that of one local step of one participating client of one replicate.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import ratecheck as rc

Play = Callable[[], object]

GAMMA = 1e-3
REPLICATES = 64


@dataclass(frozen=True)
class Task:
    """One cell of the table: ``m`` of ``n`` clients take part, drawn for every replicate on its own where m < n."""

    problem: rc.problems.Problem
    m: int
    K: int
    T: int
    sigma: float = 0.0

    @property
    def steps(self) -> int:
        """Local steps of participating clients."""
        return self.m * self.K * self.T * REPLICATES


def nanoseconds(contestants: dict[str, tuple[Play, int]], repeats: int) -> dict[str, float]:
    """Median time per local step of each contestant (with its number of steps), their runs interleaved.

    One run each is not timed: it compiles.
    """
    for play, _ in contestants.values():
        play()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, (play, _) in contestants.items():
            start = time.perf_counter()
            play()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(times[name]) / steps * 1e9 for name, (_, steps) in contestants.items()}


def ours(task: Task, engine: str, threads: int) -> Play:
    """The project's engine of that name."""
    trace = rc.participation.Trace.uniform(task.problem.n, task.m)
    return lambda: rc.simulate(
        "fedavg", task.problem, trace, K=task.K, T=task.T, sigma=task.sigma or None, replicates=REPLICATES,
        engine=engine, threads=threads, records=("G_u",), gamma_u=GAMMA, eta_u=1.0,
    )  # fmt: skip
