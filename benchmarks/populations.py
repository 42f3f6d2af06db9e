"""Seconds of the exact engine for all clients one by one, and for a population of three types, side by side.

    python benchmarks/populations.py [--rounds 100] [--repeats 3] [--out FILE]

Every row is the least of some repetitions in one process with one thread for linear algebra, after a first run that is
not counted. ``full`` is missing where it is not tried; ``apart`` is the largest relative difference of the metric.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ratecheck as rc
from ratecheck.participation import Participation, Trace
from ratecheck.problems import Population, Problem, Quadratic

METHODS: dict[str, dict[str, float]] = {
    "fedavg-p": {"gamma_u": 0.05, "gamma_v": 0.05, "eta_u": 1.0, "eta_v": 1.0, "sigma_u": 0.3, "sigma_v": 0.3},
    "scaffold-p": {"gamma_u": 0.05, "gamma_v": 0.05, "eta_u": 1.0, "eta_v": 1.0, "sigma_u": 0.3, "sigma_v": 0.3},
}
# Numbers of clients; one by one up to the second number.
CLIENTS, LARGEST_FULL = (30, 100, 300, 10**4, 10**6), 300


def population(n: int) -> Population:
    rng = np.random.default_rng(0)
    types = Quadratic(np.tile(np.diag([1.0, 0.4]), (3, 1, 1)), rng.standard_normal((3, 2)), 1)
    return Population(types, [n // 2, n // 3, n - n // 2 - n // 3])


def seconds(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    result, least = run(), float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        least = min(least, time.perf_counter() - start)
    return least, result


def measured(name: str, n: int, rounds: int, repeats: int) -> dict[str, Any]:
    problem = population(n)
    trace: Participation = Trace.uniform(n, max(n // 10, 1))

    def run(each: Problem) -> Callable[[], Any]:
        return lambda: rc.exact(name, each, trace, K=10, T=rounds, **METHODS[name])

    by_type, found = seconds(run(problem), repeats)
    row = {"method": name, "n": n, "m": trace.size, "T": rounds, "population": round(by_type, 4)}
    if n <= LARGEST_FULL:
        one_by_one, wanted = seconds(run(problem.full()), 1 if n >= LARGEST_FULL else repeats)
        apart = float(np.max(np.abs(found.metric - wanted.metric) / np.abs(wanted.metric)))
        row |= {"full": round(one_by_one, 4), "apart": float(f"{apart:.1e}")}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name in METHODS:
        for n in CLIENTS:
            rows.append(measured(name, n, options.rounds, options.repeats))
            print(json.dumps(rows[-1]), flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps({"schema": 1, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
