"""`ratecheck prove` beside PEPit and AutoLyap: ``python benchmarks/proofs_peers.py [PYTHON]``.

Ten methods, for three steps from a start at distance 1, or from f(x^0) - f* = 1, at the same constants: the bound that
each finds of the last round's left side, its processor seconds, and what kind of answer it is. PYTHON is an interpreter
with autolyap; without one its column stays empty. Where AutoLyap's method starts from another state, there is no number
of it. Where a theorem holds no better factor is looked for, so that a proved bound may be above the worst case; PEPit's
example of constant momentum limits f(x^0) - f* + mu/2 ||x^0 - x*||^2, not each of them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import bounds
from ratecheck.proving.prove import prove
from ratecheck.proving.question import Question
from ratecheck.views.width import table

_STEPS = 3
_KEYS = (
    "gradient-descent-values", "gradient-descent-distances", "strongly-convex-distances", "proximal-point-values",
    "heavy-ball-values", "constant-momentum-values", "triple-momentum-values", "optimized-gradient-values",
    "item-distances", "extragradient-distances",
)  # fmt: skip
# What AutoLyap is told: method, class, first and last left side; numbers are those of the statement.
_AUTOLYAP = """
import json, sys, time
import numpy as np
from autolyap import IterationDependent as D, SolverOptions
from autolyap.algorithms import *
from autolyap.problemclass import InclusionProblem, SmoothConvex, SmoothStronglyConvex, Convex
options = SolverOptions(backend="cvxpy", cvxpy_solver="CLARABEL")
found = {}
for key, v in json.load(sys.stdin).items():
    L, mu, gamma, T = v["L"], v["mu"], v["gamma"], v["T"]
    made = {
        "gradient-descent-values": lambda: (GradientMethod(gamma), SmoothConvex(L), "value"),
        "gradient-descent-distances": lambda: (GradientMethod(gamma), SmoothConvex(L), "distance"),
        "strongly-convex-distances": lambda: (GradientMethod(gamma), SmoothStronglyConvex(mu, L), "distance"),
        "proximal-point-values": lambda: (ProximalPoint(gamma), Convex(), "value"),
        "optimized-gradient-values": lambda: (OptimizedGradientMethod(L, T), SmoothConvex(L), "value"),
    }
    if key not in made:
        continue
    begun = time.process_time()
    try:
        method, kind, left = made[key]()
        problem = InclusionProblem([kind])
        Q0, q0 = D.get_parameters_distance_to_solution(method, 0)
        value = left == "value"
        last = D.get_parameters_function_value_suboptimality if value else D.get_parameters_distance_to_solution
        QK, qK = last(method, T)
        answer = D.search_lyapunov(problem, method, T, Q0, QK, q0, qK, solver_options=options, verbosity=0)
        found[key] = [answer["c_K"], time.process_time() - begun]
    except Exception as error:
        found[key] = [f"{type(error).__name__}: {error}"[:60], time.process_time() - begun]
print(json.dumps(found))
"""


def ours(key: str) -> tuple[dict[str, float], float, float, str]:
    """Numbers, the bound that is proved of the last round, seconds, and the verdict."""
    statement = bounds.get(f"classics/{key}").written
    given = {"T": _STEPS + 1.0} if "T" not in statement.settings else {}
    given |= {} if "n" in statement.settings else {"n": 1.0, "m": 1.0}
    begun = time.process_time()
    proof = prove(statement, {k: v for k, v in given.items() if k in statement.vocabulary})
    seconds = time.process_time() - begun
    right = float(Question(statement, proof.values).compared[-1].right)
    factor = float("nan") if proof.factor is None else float(proof.factor)
    return dict(proof.values), factor * right, seconds, f"{proof.verdict}, {factor:.6g} of the right side"


def peps(key: str, v: dict[str, float]) -> tuple[float, float]:
    """The worst case by PEPit's own example of the method, and its seconds."""
    examples: Any = importlib.import_module("PEPit.examples.unconstrained_convex_minimization")
    L, mu, n = v.get("L", 1.0), v.get("mu", 0.1), int(v["T"]) - 1
    gamma = v.get("gamma_u", 1 / v.get("lambda_", 1.0))
    quiet = {"verbose": 0}
    makers: dict[str, Callable[[], Any]] = {
        "gradient-descent-values": lambda: examples.wc_gradient_descent(L=L, gamma=gamma, n=n, **quiet),
        "proximal-point-values": lambda: examples.wc_proximal_point(gamma=gamma, n=n, **quiet),
        "heavy-ball-values": lambda: examples.wc_heavy_ball_momentum(
            mu=mu, L=L, alpha=gamma, beta=v["momentum"], n=n, **quiet
        ),
        "triple-momentum-values": lambda: examples.wc_triple_momentum(mu=mu, L=L, n=n, **quiet),
        "optimized-gradient-values": lambda: examples.wc_optimized_gradient(L=L, n=n, **quiet),
        "item-distances": lambda: examples.wc_information_theoretic(mu=mu, L=L, n=n, **quiet),
        "constant-momentum-values": lambda: examples.wc_accelerated_gradient_strongly_convex(mu=mu, L=L, n=n, **quiet),
    }
    begun = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        value = makers[key]()[0]
    return float(value), time.process_time() - begun


def main(python: str | None) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rows: list[tuple[str, ...]] = []
    numbers: dict[str, list[str]] = {}
    given: dict[str, dict[str, float]] = {}
    for key in _KEYS:
        values, bound, seconds, verdict = ours(key)
        try:
            worst, took = peps(key, values)
            pep = f"{worst:.8g} in {took:.2f} s"
        except KeyError:
            pep = "no example"
        numbers[key] = [f"{bound:.8g} in {seconds:.2f} s", verdict, pep]
        gamma = values.get("gamma_u", 1 / values.get("lambda_", 1.0))
        given[key] = {"L": values.get("L", 1.0), "mu": values.get("mu", 0.1), "gamma": gamma, "T": int(values["T"]) - 1}
        print(key, *numbers[key], sep=" | ", file=sys.stderr, flush=True)
    lyap: dict[str, list[float | str]] = {}
    if python is not None:
        done = subprocess.run(  # noqa: S603
            [python, "-W", "ignore", "-c", _AUTOLYAP],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
        lyap = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {}
        print(done.stderr[-600:] if done.returncode else "", file=sys.stderr)
    for key, (bound, verdict, pep) in numbers.items():
        answer = lyap.get(key)
        told = "" if answer is None else str(answer[0])
        if answer is not None and not isinstance(answer[0], str):
            told = f"{answer[0]:.8g} in {answer[1]:.2f} s"
        rows.append((key, bound, verdict, pep, told))
    head = "method", "proved, in fractions", "verdict", "PEPit, a solver's number", "AutoLyap, a solver's number"
    print(table([head, *rows]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
