"""Processor seconds of the default search, side by side in several checkouts.

``python benchmarks/search.py [--runs 3] ROOT [ROOT ...]`` runs ``ratecheck falsify`` on ten statements in every
checkout, in turn, after a run that fills its caches, and prints the median of the processor seconds of the whole
process, the ratio to the first checkout, the tightness that was found, and instances a second: points that scouts saw
by the time that scouting took, where the checkout scouts, else evaluations by the time of the whole search.
``--statements`` names others.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Two theorems of one's own, and eight of the catalogue and the classics.
OWN = """
from bounds.theorem import theorem

descent = theorem(
    title="Gradient descent", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u", over="mean_of_rounds", right={"gap": "2*F_0/(gamma_u*T)"}, conditions=["gamma_u <= 1/L"],
    settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
)
sgd = theorem(
    title="SGD", algorithm="fedavg", assumptions=["smoothness", "noise", "full_participation", "no_personal"],
    left="G_u", over="mean_of_rounds", right={"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/n"},
    conditions=["gamma_u <= 1/L"], settings={"K": 1, "m": "n", "eta_u": 1},
)
"""
STATEMENTS = (
    "own.py:descent", "own.py:sgd", "pfl/theorem-3.7", "pfl/theorem-4.5", "fedsum/theorem-4.1-repaired",
    "flame/theorem-2-unbiased-repaired", "simfbo/theorem-1-repaired", "classics/heavy-ball-values",
    "classics/dsgd-gradients", "classics/proxskip-distances",
)  # fmt: skip


# Prints points of scouts by their processor seconds, else evaluations by those of the search.
RATE = """
import sys, time
from ratecheck.api.given import one
from ratecheck.falsification.falsify import falsify
spent = [0.0, 0]
try:
    from ratecheck.scouting.scout import Scout
    sight = Scout.sight
    def timed(self, points, *rest):
        begun = time.process_time()
        try:
            return sight(self, points, *rest)
        finally:
            spent[0] += time.process_time() - begun
            spent[1] += len(points)
    Scout.sight = timed
except ImportError:
    pass
statement = one(sys.argv[1])
begun = time.process_time()
found = falsify(statement)
seconds, points = spent if spent[1] else (time.process_time() - begun, found.evaluations)
print(points / seconds)
"""


def output(root: Path, folder: Path, *arguments: str) -> str:
    """The output of Python with these arguments in the checkout at ``root``."""
    # Compiled modules are kept, as they are for everybody.
    names = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    cache = folder / root.as_posix().replace("/", "-")
    names |= {"PYTHONPATH": str(root), "RATECHECK_CACHE": str(cache), "NUMBA_NUM_THREADS": "1"}
    return subprocess.run(  # noqa: S603  # the checkouts are the caller's
        [sys.executable, *arguments], cwd=folder, env=names, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip


def searched(root: Path, key: str, folder: Path) -> tuple[float, float | None]:
    """Processor seconds of one search by the checkout at ``root``, and the tightness that it found."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = output(root, folder, "-m", "ratecheck", "falsify", key, "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(found)["tightness"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--statements", nargs="+", default=STATEMENTS)
    given = parser.parse_args()
    roots = [root.resolve() for root in given.roots]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "own.py").write_text(OWN)
        for key in given.statements:
            # Each statement has kernels of its own to compile.
            for root in roots:
                searched(root, key, folder)
            runs = [[searched(root, key, folder) for root in roots] for _ in range(given.runs)]
            medians = [statistics.median(run[k][0] for run in runs) for k in range(len(roots))]
            rates = [float(output(root, folder, "-c", RATE, key)) for root in roots]
            cells = (f"{seconds:8.2f} s {seconds / medians[0]:6.3f}  tightness {runs[0][k][1]}, {rates[k]:.1f} a second"
                     for k, seconds in enumerate(medians))  # fmt: skip
            print(f"{key:36}", " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
