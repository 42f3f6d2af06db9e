"""Processor seconds of the default search, side by side in several checkouts.

``python benchmarks/search.py [--runs 3] ROOT [ROOT ...]`` runs ``ratecheck falsify`` on ten statements in every
checkout, in turn, after a run that fills its caches, and prints the median of the processor seconds of the whole
process, the ratio to the first checkout, and the tightness that was found. ``--statements`` names others.
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


def searched(root: Path, key: str, folder: Path) -> tuple[float, float | None]:
    """Processor seconds of one search by the checkout at ``root``, and the tightness that it found."""
    # Compiled modules are kept, as they are for everybody.
    names = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    cache = folder / root.as_posix().replace("/", "-")
    names |= {"PYTHONPATH": str(root), "RATECHECK_CACHE": str(cache), "NUMBA_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = subprocess.run(  # noqa: S603  # the checkouts are the caller's
        [sys.executable, "-m", "ratecheck", "falsify", key, "--json"], cwd=folder, env=names,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(found.stdout)["tightness"]


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
            cells = (f"{seconds:8.2f} s {seconds / medians[0]:6.3f}  tightness {runs[0][k][1]}"
                     for k, seconds in enumerate(medians))  # fmt: skip
            print(f"{key:36}", " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
