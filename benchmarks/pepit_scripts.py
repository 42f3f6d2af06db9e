"""Worst cases of the textbook's theorems beside PEPit's, each from the program that `falsify --pep --script` writes.

    python benchmarks/pepit_scripts.py [--python PYTHON] [--keys KEY ...] [--out FILE]

Every theorem that `--pep` takes, at the numbers at which its worst case is known, and theorems of the papers with two
clients: the upper value here and PEPit's for the same left side, their difference relative to the size of that side,
and the processor seconds of each without the start of Python and its imports. PYTHON is an interpreter that has PEPit,
by default this one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bounds
from bounds.papers.classics.statements import CLASSICS
from ratecheck.errors import InputError
from ratecheck.falsification.performance_estimation.worst_case import worst_case

# Two clients that differ, a round of two local steps, sampled clients, noise of two values.
PAPERS = {
    "pfl/theorem-3.7": {"n": 2, "L": 2, "F_0": 0.7, "b": 0.9, "K": 2, "T": 2},
    "pfl/theorem-3.11": {"n": 2, "L": 2, "F_0": 0.7, "B_0": 11.2, "K": 2, "T": 2},
    "pfl/fedavg-full": {"n": 2, "L": 1, "F_0": 1, "B_0": 8, "K": 2, "T": 2},
    "pfl/theorem-4.5": {"n": 2, "L": 2, "F_0": 0.7, "K": 2, "T": 2},
}
# Run before the program, and printed after it: imports are not counted.
_TIMED = """
import runpy, sys, time
import cvxpy, PEPit, PEPit.functions, PEPit.operators, PEPit.primitive_steps
start = time.process_time()
runpy.run_path(sys.argv[1])
print("seconds", time.process_time() - start)
"""


def theirs(python: str, script: str) -> dict[str, float]:
    """What the program prints: left, right and processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.py"
        path.write_text(script)
        done = subprocess.run([python, "-c", _TIMED, path], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def compared(key: str, given: dict[str, float], python: str) -> dict[str, object]:
    """Both values and what they took; "reason" where there is none."""
    start = time.process_time()
    try:
        found = worst_case(bounds.get(key), given)
    except InputError as error:
        return {"key": key, "reason": str(error)}
    seconds = time.process_time() - start
    try:
        peer = theirs(python, found.script(""))
    except RuntimeError as error:
        return {"key": key, "reason": f"PEPit: {error}"}
    here = found.upper.left
    # What is 0 in the worst case is so up to what solvers leave open of what it is a difference of.
    size = max(abs(peer["left"]), found.worst.scale)
    return {"key": key, "here": here, "lower": found.lower.left, "pepit": peer["left"],
            "difference": (here - peer["left"]) / size,
            "seconds": seconds, "pepit_seconds": peer["seconds"]}  # fmt: skip


def main() -> None:
    """Print a table, and write it as JSON with --out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--keys", nargs="*")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    known = {each.statement.key: dict(each.known.at) for each in CLASSICS if each.known is not None}
    rows = []
    print(f"{'theorem':55} {'here':>12} {'PEPit':>12} {'difference':>12} {'seconds':>8} {'PEPit':>8}")
    for key, given in {**known, **PAPERS}.items():
        if chosen.keys and key not in chosen.keys:
            continue
        row = compared(key, given, chosen.python)
        rows.append(row)
        if "reason" in row:
            print(f"{key:55} {str(row['reason'])[:100]}", flush=True)
        else:
            print(
                f"{key:55} {row['here']:12.7g} {row['pepit']:12.7g} {row['difference']:12.2e} {row['seconds']:8.2f} "
                f"{row['pepit_seconds']:8.2f}",
                flush=True,
            )
    counted = [row for row in rows if "difference" in row]
    worst = max((abs(float(str(row["difference"]))) for row in counted), default=0.0)
    print(f"{len(counted)} compared, {len(rows) - len(counted)} not; largest difference {worst:.2g}")
    if chosen.out:
        chosen.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
