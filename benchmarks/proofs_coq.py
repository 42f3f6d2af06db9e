"""Which proofs of `ratecheck prove` Coq compiles: ``python benchmarks/proofs_coq.py [--cap SECONDS] [KEY ...]``.

For every statement a line: the verdict, how many lemmas its file has, and whether ``coqc`` accepts them within
``--cap`` processor seconds, 120 by default.
"""

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

import ratecheck as rc
from ratecheck.errors import InputError
from ratecheck.views.width import table

_KEYS = (
    "nonconvex-mean-gradient", "nonconvex-sgd", "nonconvex-step", "gradient-descent-nearer",
    "gradient-descent-gradients-fall", "gradient-descent-distances", "sgd-nearer", "heavy-ball-values",
    "strongly-convex-distances", "strongly-convex-values", "strongly-convex-values-polyak",
    "gradient-dominated-values", "sgd-distances", "proximal-point-nearer", "proximal-point-mean-gradient",
    "proximal-point-strongly-convex", "subgradient-best-value-any-step", "ef21-gradients",
    "coordinate-descent-gradients", "coordinate-descent-values", "compressed-sgd-gradients", "ef-sgd-gradients",
    "dsgd-gradients", "ef21-gradient-dominated", "clients-values",
)  # fmt: skip


def row(key: str, cap: int, folder: Path) -> tuple[str, ...]:
    """One line of the table."""
    path = folder / f"{key.rpartition('/')[2].replace('-', '_')}.v"
    try:
        found = rc.prove(key, evaluations=0, coq=path)
    except InputError as error:
        return key, "", "", str(error)[:80]
    verdict = str(found.to_dict()["verdict"])
    lemmas = path.read_text("utf-8").count("Lemma classics_")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # A limit of the child alone, where it counts processor seconds.
    command = f"ulimit -t {cap}; exec coqc -q {path.name}"
    done = subprocess.run(["/bin/bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    lines = done.stderr.strip().splitlines()
    accepted = "compiled" if done.returncode == 0 else f"not compiled: {(lines or ['out of time'])[-1][:60]}"
    return key, verdict, str(lemmas), f"{accepted} in {seconds:.1f} s"


def main() -> None:
    """Print the table and how many are compiled."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cap", type=int, default=120)
    parser.add_argument("keys", nargs="*", default=[f"classics/{key}" for key in _KEYS])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for key in asked.keys:
            rows.append(row(key, asked.cap, Path(folder)))
            print(" | ".join(rows[-1]), flush=True)
    print(table([("statement", "verdict", "lemmas", "Coq"), *rows]))
    print(f"{sum('compiled in' in each[-1] and 'not' not in each[-1] for each in rows)} of {len(rows)} compiled")


if __name__ == "__main__":
    main()
