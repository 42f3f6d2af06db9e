"""Every study of this folder in its quick form, beside what is kept of the whole ones (docs/kept/claims.json).

    python experiments/quick.py [--jobs 2] [--out FOLDER] [--all]

Without ``--all`` studies are left out whose quick form decides no claim and runs no code that another does not run.
Prints a table of claims. The exit code is 1 where a study cannot be run or drawn, and where a claim that a quick form
decides is the opposite of the kept one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = HERE.parent / "docs" / "kept" / "claims.json"
OPPOSITE = {"CONFIRMED": "REFUTED", "REFUTED": "CONFIRMED"}
# Eight claims, none of which so few rounds decide; it is flame-table-3 with the algorithm of flame-published-figures.
UNDECIDED = ("flame-published-table-3",)
# All claims are confirmed, or some are not.
RAN = (0, 1)


def run(path: Path, out: Path) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Seconds, and the process."""
    words = ["run", str(path), "--quick", "--threads", "1", "--out", str(out / path.stem)]
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "ratecheck", *words], capture_output=True, text=True, check=False)
    return time.monotonic() - begun, done


def faults(path: Path, out: Path, done: subprocess.CompletedProcess[str], kept: dict[str, Any]) -> Iterator[str]:
    """Print the study's claims, and yield what is wrong."""
    if done.returncode not in RAN:
        yield f"exit code {done.returncode}: {done.stderr.strip()}"
        return
    found = json.loads((out / path.stem / "claims.json").read_text())
    whole = {claim["name"]: claim["verdict"] for claim in kept[found["study"]]["claims"]}
    for claim in found["claims"]:
        verdict, before = claim["verdict"], whole.get(claim["name"], "not kept")
        print(f"  {verdict:11} {before:11} {claim['says']}")
        if OPPOSITE.get(verdict) == before:
            yield f"{claim['name']}: {verdict}, but {before} of the whole study"
    if not [*(out / path.stem).glob("*.png")]:
        yield "nothing was drawn"


def main() -> int:
    """Run all, several at a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    kept = json.loads(KEPT.read_text())
    paths = [path for path in sorted(HERE.glob("*.toml")) if given.all or path.stem not in UNDECIDED]
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(given.jobs) as pool:
        out = given.out or Path(temporary)
        for path, (seconds, done) in zip(paths, pool.map(lambda path: run(path, out), paths), strict=True):
            print(f"{path.stem}, quick: {seconds:.0f} s; quick verdict, kept verdict, claim")
            for fault in faults(path, out, done, kept):
                wrong += 1
                print(f"  WRONG: {fault}")
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
