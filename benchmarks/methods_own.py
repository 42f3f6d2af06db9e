"""A method of one's own, written as the page on own methods says, beside its twin in batched NumPy.

``python benchmarks/methods_own.py``: clipped local SGD with momentum on the server, 8 of 32 clients drawn in every
round, 5 local steps, 10 variables, noise, 32 runs. Microseconds of the processor per client that takes part, run and
local step, medians of 5 turns that both take; the difference of a long run and a short one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, ClassVar

import methods_numpy  # first, as it sets nothing and NumPy reads its thread count from the caller
import numpy as np

import ratecheck as rc
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.engines.monte_carlo.traced_rounds import way
from ratecheck.engines.setup import prepare
from ratecheck.participation import Uniform
from ratecheck.problems import Quadratic

CLIENTS, DRAWN, STEPS, VARIABLES, RUNS = 32, 8, 5, 10, 32
ROUNDS, TURNS = (40, 240), 5
CLIP, MOMENTUM = 1.0, 0.9
NAME = "clipped-local-sgd"


class ClippedLocalSgd(FedAvgP):
    """Local steps along gradients clipped to norm 1, and momentum on the server."""

    linear = False
    server: ClassVar[dict[str, str]] = {"u": "u", "momentum": "u"}

    def start_server(self, point: Any, clients: Any, p: Any) -> Any:
        """No momentum yet."""
        return {"u": point["u"], "momentum": np.zeros_like(point["u"])}

    def step(self, local: Any, gradient: Any, p: Any) -> Any:
        """A step along the clipped gradient."""
        norm = np.linalg.norm(gradient["u"], axis=-1, keepdims=True)
        return super().step(local, {**gradient, "u": gradient["u"] / np.maximum(1, norm / CLIP)}, p)

    def aggregate(self, server: Any, total: Any, p: Any) -> Any:
        """A step along the momentum."""
        momentum = MOMENTUM * server["momentum"] + total["u"] / p["m"] - server["u"]
        return {"u": server["u"] + p["eta_u"] * momentum, "momentum": momentum}


def twin(problem: Any, T: int, runs: int) -> Any:
    """The same in batched NumPy: arrays (participants, runs, variables)."""
    random, deviation = np.random.default_rng(0), methods_numpy.SIGMA / np.sqrt(problem.d)
    x, momentum, found = np.zeros((runs, problem.d)), np.zeros((runs, problem.d)), np.empty((T, runs))
    H, g = problem.H.mean(axis=0), problem.g.mean(axis=0)
    for t in range(T):
        found[t] = np.sum((x @ H - g) ** 2, axis=1)
        drawn = random.random((runs, problem.n)).argpartition(DRAWN, axis=1)[:, :DRAWN].T
        M, c = problem.H[drawn], problem.g[drawn]
        local = np.repeat(x[None], DRAWN, axis=0)
        for _ in range(STEPS):
            gradient = np.matmul(M, local[..., None])[..., 0] - c
            gradient += deviation * random.standard_normal(gradient.shape)
            gradient /= np.maximum(1, np.linalg.norm(gradient, axis=-1, keepdims=True) / CLIP)
            local -= methods_numpy.SIZE * gradient
        momentum = MOMENTUM * momentum + local.mean(axis=0) - x
        x = x + momentum
    return found


def main() -> None:
    """Print both, and which way the method's functions go."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    METHODS[NAME] = Method(NAME, NAME, ClippedLocalSgd(), {"gamma_v": 1, "eta_v": 1}, personal=False)
    problem, trace = Quadratic.synthetic(n=CLIENTS, d=VARIABLES, shared=VARIABLES), Uniform(CLIENTS, DRAWN)
    sizes = {"gamma_u": methods_numpy.SIZE, "eta_u": 1.0}
    print(way(prepare(NAME, problem, trace, T=1, K=STEPS, step_sizes=sizes, noise={"sigma": methods_numpy.SIGMA})))

    def own(T: int) -> object:
        return rc.simulate(
            NAME, problem, trace, K=STEPS, T=T, replicates=RUNS, threads=1, engine="step", sigma=methods_numpy.SIGMA,
            **sizes,
        )  # fmt: skip

    runs = {"this": own, "NumPy": lambda T: twin(problem, T, RUNS)}
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(TURNS + 1):
        for name, run in runs.items():
            seconds = []
            for T in ROUNDS:
                start = time.process_time()
                run(T)
                seconds.append(time.process_time() - start)
            # The first turn compiles.
            if turn:
                spent[name].append(1e6 * (seconds[1] - seconds[0]) / ((ROUNDS[1] - ROUNDS[0]) * DRAWN * RUNS * STEPS))
    found = {name: statistics.median(values) for name, values in spent.items()}
    print(f"this {found['this']:.3f}, NumPy {found['NumPy']:.3f}: {found['this'] / found['NumPy']:.2f} of it")


if __name__ == "__main__":
    main()
