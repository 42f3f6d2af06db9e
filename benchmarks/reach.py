"""How close to tight theorems the search comes and what that takes, beside the worst case over functions and PEPit.

    python benchmarks/reach.py [--budgets 30 100 300 1000] [--seeds 3] [--out FILE]

Every theorem is tight: some function attains it, at any round from the second on. For each budget the search, and the
same without functions with kinks, over some seeds: the least and the largest left side over right side found, and the
median of the seconds. Then the worst case over functions of `falsify --pep` in four rounds: left over right on an
exactly checked instance of the last one, the upper value over the right side, and seconds of all rounds; and PEPit's
example of the theorem, where it has one: its value over the right side, and seconds. All in one process, after a first
run of each that is not counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bounds.statement import Statement
from bounds.theorem import theorem
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.performance_estimation.worst_case import worst_case
from ratecheck.families import piecewise

SMOOTH = ["smoothness", "full_participation", "no_personal"]
CONVEX = [*SMOOTH, "convexity"]
STRONGLY = [*SMOOTH, "strong_convexity"]
# Rounds of the enclosure; smoothness, convexity and the start are those of PEPit's examples.
T, L, MU = 4, 1.0, 0.1


def _descent(
    title: str, assumptions: list[str], left: str, right: str, over: str = "every_round_but_first"
) -> Statement:
    return theorem(
        title=title, algorithm="fedavg", assumptions=assumptions, left=left, right=right, over=over,
        conditions=["gamma_u <= 1/L", "gamma_u >= 1/L"], vocabulary="textbook", key=f"tight/{title.replace(' ', '-')}",
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip


def _values() -> float:
    from PEPit.examples.unconstrained_convex_minimization import wc_gradient_descent

    found, _ = wc_gradient_descent(L=L, gamma=1 / L, n=T - 1, solver="CLARABEL", verbose=-1)
    return float(found) / (L / (4 * (T - 1) + 2))


def _gradients() -> float:
    from PEPit.examples.nonconvex_optimization import wc_gradient_descent

    # Theirs is the least squared gradient of n + 1 iterates, which is no more than the mean.
    found, _ = wc_gradient_descent(L=L, gamma=1 / L, n=T - 1, solver="CLARABEL", verbose=-1)
    return float(found) / (2 * L / T)


THEOREMS: dict[str, tuple[Statement, dict[str, float], Callable[[], float] | None]] = {
    "values, convex": (
        _descent("values, convex", CONVEX, "gap", "L*dist2_0/(4*t + 2)"), {"dist2_0": 1.0}, _values
    ),
    "gradients, convex": (_descent("gradients, convex", CONVEX, "G_u", "2*L*F_0/(2*t + 1)"), {"F_0": 1.0}, None),
    "distances, strongly convex": (
        _descent("distances, strongly convex", STRONGLY, "dist2", "(1 - mu/L)**(2*t)*dist2_0"),
        {"dist2_0": 1.0, "mu": MU}, None,
    ),
    "gradients, not convex": (
        _descent("gradients, smooth", SMOOTH, "G_u", "2*L*F_0/T", "mean_of_rounds"), {"F_0": 1.0}, _gradients
    ),
}  # fmt: skip


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = run()
    return time.perf_counter() - begun, found


def _searched(statement: Statement, budget: int, seeds: int) -> dict[str, Any]:
    """How close the search comes, over some seeds."""
    runs = [
        _timed(lambda seed=seed: falsify(statement, Budget(budget, by_term=False, functions=False), seed=seed))  # type: ignore[misc]
        for seed in range(seeds)
    ]
    tight = [search.tightness or 0.0 for _, search in runs]
    return {
        "evaluations": budget, "least": min(tight), "largest": max(tight),
        "seconds": statistics.median(seconds for seconds, _ in runs),
    }  # fmt: skip


def rows(budgets: list[int], seeds: int) -> list[dict[str, Any]]:
    """One row per theorem."""
    found = []
    for name, (statement, constants, theirs) in THEOREMS.items():
        given = {"n": 1.0, "T": float(T), "L": L, "gamma_u": 1 / L, **constants}
        falsify(statement, Budget(5, by_term=False, functions=False))
        worst_case(statement, given)
        searches = [_searched(statement, budget, seeds) for budget in budgets]
        with patch.object(piecewise, "has_pieces", return_value=False):
            quadratics = [_searched(statement, budget, seeds) for budget in budgets]
        seconds, enclosed = _timed(lambda: worst_case(statement, given))  # noqa: B023
        last = enclosed.enclosures[-1]
        row: dict[str, Any] = {
            "theorem": name,
            "search": searches,
            "quadratics": quadratics,
            "functions": {
                "lower": last.lower.left / last.lower.right,
                "upper": last.upper.left / last.lower.right,
                "seconds": seconds,
                "programs": len(enclosed.enclosures),
            },
        }
        if theirs is not None:
            theirs()
            seconds, ratio = _timed(theirs)
            row["pepit"] = {"ratio": ratio, "seconds": seconds, "programs": 1}
        found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budgets", type=int, nargs="+", default=[30, 100, 300, 1000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = rows(options.budgets, options.seeds)
    text = json.dumps(found, indent=1)
    if options.out:
        options.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
