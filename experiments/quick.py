"""Every study of this folder in its quick form, beside what is kept of the whole ones (docs/kept/claims.json).

    python experiments/quick.py [--jobs 2] [--out FOLDER] [--all]

Without ``--all`` studies are left out whose quick form decides no claim and runs no code that another does not run, and
only one study's figures are drawn; labels are tried of all. Prints a table of claims. The exit code is 1 where a study
cannot be run or drawn, and where a claim that a quick form decides is the opposite of the kept one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from ratecheck.api.records.run import RunResult, measured
from ratecheck.errors import InputError

HERE = Path(__file__).parent
KEPT = HERE.parent / "docs" / "kept" / "claims.json"
OPPOSITE = {"CONFIRMED": "REFUTED", "REFUTED": "CONFIRMED"}
# Eight claims, none of which so few rounds decide; it is flame-table-3 with the algorithm of flame-published-figures.
UNDECIDED = ("flame-published-table-3",)
# Figures take as long as quick runs, and differ between studies by their labels, which are tried before a run.
DRAWN = ("fedsum-figures",)


def run(path: Path, out: Path, *, all_drawn: bool) -> tuple[float, dict[str, Any] | InputError]:
    """Seconds, and the result's fields or why there is none."""
    begun = time.monotonic()
    try:
        found = measured(path, quick=True, threads=1, out=out / path.stem)
        assert isinstance(found, RunResult)
        if all_drawn or path.stem in DRAWN:
            found = found.drawn()
        result = found.to_dict()
    except InputError as error:
        return time.monotonic() - begun, error
    return time.monotonic() - begun, result


def faults(found: dict[str, Any] | InputError, kept: dict[str, Any]) -> Iterator[str]:
    """Print the study's claims, and yield what is wrong."""
    if isinstance(found, InputError):
        yield str(found)
        return
    whole = {claim["name"]: claim["verdict"] for claim in kept[found["study"]]["claims"]}
    for claim in found["claims"]:
        verdict, before = claim["verdict"], whole.get(claim["name"], "not kept")
        print(f"  {verdict:11} {before:11} {claim['says']}")
        if OPPOSITE.get(verdict) == before:
            yield f"{claim['name']}: {verdict}, but {before} of the whole study"


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
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(given.jobs) as pool:
        task = partial(run, out=given.out or Path(temporary), all_drawn=given.all)
        for path, (seconds, found) in zip(paths, pool.map(task, paths), strict=True):
            print(f"{path.stem}, quick: {seconds:.0f} s; quick verdict, kept verdict, claim")
            for fault in faults(found, kept):
                wrong += 1
                print(f"  WRONG: {fault}")
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
