"""Processor seconds of `lint` and `review` for every file of theorems in the pages, whole processes on one thread.

``python benchmarks/own_files.py [--only WORD] [--no-review] [ROOT ...]`` writes the files of each page of ``docs`` into
a folder of the page's own, as a reader would, and prints what the commands take in each checkout, in turn: the least of
``--runs``, after one that fills the caches. A file that only holds a method or a problem is passed over.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
_FILE = re.compile(r"^\$? ?cat > (\w+\.py) <<'END'\n(.*?)^END$", re.MULTILINE | re.DOTALL)
# What a file of theorems has, and one of methods, problems or noise alone has not.
_THEOREM = re.compile(r"\btheorem\(|\bstatements?\(|^THEOREM", re.MULTILINE)
ALONE = {f"{name}_NUM_THREADS": "1" for name in ("NUMBA", "OMP", "OPENBLAS", "MKL")}


def seconds(root: Path, folder: Path, *command: str) -> tuple[float, int]:
    """Processor seconds of a command of the checkout at ``root``, and its exit code."""
    names = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    names |= {"PYTHONPATH": str(root), "RATECHECK_CACHE": str(folder / f".cache-{root.name}"), **ALONE}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(  # noqa: S603  # the checkouts are the caller's
        [sys.executable, "-m", "ratecheck", *command], cwd=folder, env=names, capture_output=True, check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended.returncode


def main() -> None:
    """Print a line for every file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", metavar="ROOT", default=[str(DOCS.parent)])
    parser.add_argument("--only", default="", help="files whose PAGE/NAME contains this")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--no-review", action="store_true")
    asked = parser.parse_args()
    commands = [("lint",)] + [("review", "--out", "review.html")] * (not asked.no_review)
    for page in sorted(DOCS.glob("*.md")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, text in _FILE.findall(page.read_text()):
                (folder / file).write_text(text)
                if not _THEOREM.search(text) or asked.only not in f"{page.stem}/{file}":
                    continue
                line = f"{page.stem + '/' + file:32}"
                for command, *rest in commands:
                    for root in map(Path, asked.roots):
                        found = [seconds(root, folder, command, file, *rest) for _ in range(asked.runs + 1)][1:]
                        line += f"  {command} {min(taken for taken, _ in found):6.2f} s (exit {found[-1][1]})"
                print(line, flush=True)


if __name__ == "__main__":
    main()
