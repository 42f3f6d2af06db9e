"""How many instances a search asks about per second, and what a run on a known problem costs, beside another version.

    python benchmarks/search.py --old TREE [--evaluations 60] [--times 2] [--out FILE]

Both versions are measured by turns, each time in a process of its own and in seconds of the processor: what else the
machine does counts little. Both have to find the same instance with the same sides, to the last bit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

KEYS = (
    "pfl/theorem-3.7",
    "pfl/theorem-4.5",
    "pfl/lemma-3.5",
    "fedsum/theorem-d.1-repaired",
    "fedsum/theorem-e.1-repaired",
    "flame/theorem-2-unbiased-repaired",
    "simfbo/theorem-1-repaired",
    "descent",
)
# Clients, participants and variables; FedAvg with K = 10, noise, one round and one replicate.
RUNS = ((10, 5, 20), (100, 50, 20), (100, 50, 100))
_CALLS = 11


def descent() -> Any:
    """Gradient descent on convex functions, which the search asks about on functions with kinks."""
    from bounds.theorem import theorem

    return theorem(
        title="Gradient descent",
        algorithm="fedavg",
        assumptions=["smoothness", "convexity", "full_participation", "no_personal"],
        left="gap",
        over="every_round",
        right="2*L*dist2_0/(t + 4)",
        conditions=["gamma_u == 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
        vocabulary="textbook",
    )


def search(key: str, evaluations: int) -> dict[str, Any]:
    """Evaluations per second of the processor, and what was found; a first short search is not timed."""
    import bounds
    from ratecheck.falsification.falsify import Budget, falsify

    statement = descent() if key == "descent" else bounds.get(key)
    falsify(statement, Budget(40, by_term=False, functions=False), seed=99)
    begun = time.process_time()
    found = falsify(statement, Budget(evaluations, by_term=False, functions=False), seed=1)
    spent = time.process_time() - begun
    instance = None if found.instance is None else found.instance.fields()
    sides = None if found.verdict is None else repr(found.verdict.comparisons)
    same = found.evaluations, found.applicable, repr(found.tightness), instance, sides
    return {"rate": found.evaluations / spent, "found": json.dumps(same)}


def known_problem(engine: str, n: int, m: int, d: int) -> dict[str, Any]:
    """Milliseconds of the processor of a call of one round on a problem that was run before: the median of some."""
    import ratecheck as rc

    problem, trace = rc.problems.Quadratic.synthetic(n=n, d=d, shared=d, seed=1), rc.participation.Trace.uniform(n, m)
    spent, found = [], None
    for seed in range(_CALLS + 1):
        begun = time.process_time()
        found = rc.simulate(
            "fedavg", problem, trace, K=10, T=1, sigma=0.3, engine=engine, threads=1, records=("G_u",), seed=seed,
            gamma_u=1e-3, eta_u=1.0,
        )  # fmt: skip
        spent.append(time.process_time() - begun)
    return {"milliseconds": 1e3 * statistics.median(spent[1:]), "found": repr(found and found.records["G_u"].tolist())}


def asked(tree: Path, what: list[str]) -> dict[str, Any]:
    """One measurement by the version in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--measure", *what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def beside(old: Path, what: list[str], times: int, unit: str) -> dict[str, Any]:
    """Both versions by turns; raises `SystemExit` where they find different things."""
    new = Path(__file__).parents[1]
    both = [(asked(old, what), asked(new, what)) for _ in range(times)]
    if len({each["found"] for pair in both for each in pair}) > 1:
        raise SystemExit(f"{' '.join(what)}: the versions find different things")
    before, after = (statistics.median(pair[k][unit] for pair in both) for k in (0, 1))
    ratio = after / before if unit == "rate" else before / after
    print(f"{' '.join(what):<45}{before:10.2f}{after:10.2f}{ratio:8.2f}", flush=True)
    return {"what": " ".join(what), "unit": unit, "old": before, "new": after, "times": ratio}


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, help="folder of the other version")
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        kind, *rest = arguments.measure
        found = search(rest[0], int(rest[1])) if kind == "search" else known_problem(rest[0], *map(int, rest[1:]))
        print(json.dumps(found))
        return
    played = [(["run", engine, *map(str, run)], "milliseconds") for engine in ("step", "leap") for run in RUNS]
    searched = [(["search", key, str(arguments.evaluations)], "rate") for key in KEYS]
    rows = [beside(arguments.old, what, arguments.times, unit) for what, unit in (*played, *searched)]
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
