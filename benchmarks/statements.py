"""Processor seconds that `verify` takes for every statement of the catalogue, in several checkouts.

``python benchmarks/statements.py [--limit 60] [--clients 50] [--only WORD] [--keep FOLDER] ROOT [ROOT ...]`` verifies
every statement that can be verified, at its default numbers and with that many clients, all of them in one warm process
per checkout, and prints the seconds of those that take more than ``--above`` in any, and the sums. ``--profile`` prints
where the first checkout spends them. A verdict that takes more than ``--limit`` is given up, and counts as the limit.
``--keep`` names a folder for what was measured, where a run that was ended goes on.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

LIMIT, CLIENTS, ABOVE = 60.0, 50, 5.0
# A verdict faster than that may be mostly what only the first one of its kind costs: the second counts.
AGAIN = 2.0
# One thread, so that processor seconds are those of the work.
ALONE = {f"{name}_NUM_THREADS": "1" for name in ("NUMBA", "OMP", "OPENBLAS", "MKL")}


def statements(only: str) -> list[tuple[str, str]]:
    """The key of every statement, and its name for the number of clients."""
    import bounds  # of the checkout that is measured

    found = {each.key: each for paper in (*bounds.PAPERS, *bounds.BESIDE) for each in bounds.statements(paper)}
    return [(key, each.vocabulary.run.get("clients", "n")) for key, each in found.items() if only in key]


def seconds(key: str, numbers: dict[str, Any]) -> tuple[float, str]:
    """Processor seconds of a verdict of the warm process, and the verdict."""
    import ratecheck as rc

    found: list[float] = []
    outcome = ""
    while not found or (len(found) == 1 and found[0] > AGAIN):
        begun = time.process_time()
        try:
            outcome = rc.verify(key, parameters=numbers).outcome.value
        except rc.InputError as error:
            outcome = f"refused: {error}"
        found.append(time.process_time() - begun)
    return min(found), outcome


def bounded(key: str, numbers: dict[str, Any], limit: float, then: Callable[[], None]) -> tuple[float, str]:
    """`seconds` in a copy of this process, which ends when the limit is reached; ``then`` is called there."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        # Twice, as the second verdict may be the one that counts; threads that compute cannot be told to stop.
        resource.setrlimit(resource.RLIMIT_CPU, (int(2 * limit + time.process_time()), -1))
        os.write(writing, json.dumps(seconds(key, numbers)).encode())
        os.close(writing)
        then()
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    taken, outcome = json.loads(text) if text else (limit, "GIVEN UP")
    return min(taken, limit), outcome


def work(out: Path, only: str, clients: int, limit: float, above: float, *, profiled: bool) -> None:
    """Write seconds and verdicts of every statement at its defaults and with so many clients."""
    import ratecheck as rc

    warnings.simplefilter("ignore")
    # What every statement needs is imported and compiled.
    warm = ("classics/sampled-values", "pfl/theorem-3.7", "fedsum/theorem-4.1", "flame/theorem-2-unbiased")
    for key in (*warm, "simfbo/proposition-2"):
        rc.verify(key, parameters={"T": 2})
    found: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    # In a drawn order: what a run that was ended has is a sample.
    listed = statements(only)
    random.Random(0).shuffle(listed)  # noqa: S311  # nothing secret
    for key, symbol in listed:
        for name, numbers in (("defaults", {}), (f"{symbol}={clients}", {symbol: clients})):
            if f"{key} {name}" in found:
                continue
            taken, outcome = bounded(key, numbers, limit, lambda: None)
            found[f"{key} {name}"] = {"seconds": taken, "outcome": outcome}
            out.write_text(json.dumps(found))
            if profiled and above < taken < limit:
                bounded(key, numbers, limit, partial(profile, key, numbers))


def profile(key: str, numbers: dict[str, Any]) -> None:
    """Print where a verdict spends its time."""
    import ratecheck as rc

    profiler = cProfile.Profile()
    profiler.enable()
    rc.verify(key, parameters=numbers)
    profiler.disable()
    print(key, numbers)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(8)
    sys.stdout.flush()


def measured(root: Path, python: str, arguments: list[str], folder: Path) -> dict[str, Any]:
    """What a checkout takes, in a process of its own."""
    name = root.as_posix().strip("/").replace("/", "-")
    out, cache = folder / f"{name}.json", folder / name
    names = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    names |= {"PYTHONPATH": str(root), "RATECHECK_CACHE": str(cache), **ALONE}
    command = [python, str(Path(__file__).resolve()), "--work", str(out), *arguments]
    subprocess.run(command, cwd=folder, env=names, check=True)  # noqa: S603  # the checkouts are the caller's
    return dict(json.loads(out.read_text()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--above", type=float, default=ABOVE)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, given.only, given.clients, given.limit, given.above, profiled=given.profile)
        return
    arguments = [f"--only={given.only}", f"--clients={given.clients}", f"--limit={given.limit}"]
    arguments.append(f"--above={given.above}")
    roots = [root.resolve() for root in given.roots] or [Path(__file__).resolve().parents[1]]
    with tempfile.TemporaryDirectory() as name:
        folder = (given.keep or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        found = [
            measured(root, given.python, arguments + ["--profile"] * (given.profile and k == 0), folder)
            for k, root in enumerate(roots)
        ]
    for each in sorted(found[0], key=lambda each: -max(part[each]["seconds"] for part in found if each in part)):
        cells = [f"{part[each]['seconds']:8.2f} s {part[each]['outcome'][:14]:14}" for part in found if each in part]
        if any(part[each]["seconds"] > given.above for part in found if each in part):
            print(f"{each:60}", " | ".join(cells))
    sums, above = (
        [f"{sum(row['seconds'] for row in part.values()):8.1f} s {'':14}" for part in found],
        [f"{sum(row['seconds'] > given.above for row in part.values()):8} {'':16}" for part in found],
    )
    print(f"{'sum of ' + str(len(found[0])):60}", " | ".join(sums))
    print(f"{f'above {given.above:g} s':60}", " | ".join(above))


if __name__ == "__main__":
    main()
