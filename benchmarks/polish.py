"""Which local method ends a search best: each of them in its place, from the same points, with the same evaluations.

    python benchmarks/polish.py [--evaluations 400] [--seeds 2] [--out benchmarks/polish.json] [KEY]...

Nelder and Mead's method, as the search has it; Powell's; and gradients by differences with L-BFGS-B, every difference
being an evaluation. For each statement the largest left side over right side that is reached, by seed.
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

import bounds
from ratecheck.aliases import Array
from ratecheck.falsification import falsify as search

KEYS = (
    "pfl/theorem-3.7", "pfl/theorem-4.5", "pfl/fedavg-full", "fedsum/theorem-d.1-repaired",
    "fedsum/theorem-e.1-repaired", "flame/theorem-2-unbiased-repaired", "simfbo/theorem-1-repaired",
)  # fmt: skip


def _by_scipy(method: str, **options: Any) -> Callable[[Callable[[Array], float], Array, int], None]:
    def descend(room: Callable[[Array], float], point: Array, evaluations: int) -> None:
        from scipy.optimize import minimize

        limit = {"maxfun" if method == "L-BFGS-B" else "maxfev": evaluations}
        minimize(
            room, point.clip(0.0, 1.0), method=method, bounds=[(0.0, 1.0)] * len(point), options={**limit, **options}
        )

    return descend


WAYS = {
    "Nelder-Mead": search.descend,
    "Powell": _by_scipy("Powell"),
    "L-BFGS-B, differences": _by_scipy("L-BFGS-B", eps=1e-4),
}


def main() -> None:
    """Print, and write, a row per statement and way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--evaluations", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    budget, rows = search.Budget(given.evaluations, by_term=False, functions=False), []
    for key in given.keys or KEYS:
        row: dict[str, Any] = {"key": key}
        for name, way in WAYS.items():
            begun = time.perf_counter()
            with patch.object(search, "descend", way):
                found = [search.falsify(bounds.get(key), budget, seed=seed) for seed in range(given.seeds)]
            reached = [each.tightness or 0.0 for each in found]
            row[name] = {"reached": reached, "seconds": (time.perf_counter() - begun) / given.seeds}
        rows.append(row)
        print(key, *(f"{name}: {max(row[name]['reached']):.7g}" for name in WAYS), sep="   ", flush=True)
    for name in WAYS:
        most = [max(max(row[other]["reached"]) for other in WAYS) for row in rows]
        share = statistics.mean(
            statistics.mean(row[name]["reached"]) / best for row, best in zip(rows, most, strict=True) if best
        )
        print(f"{name}: {share:.4f} of the largest, in the mean over statements and seeds")
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
