"""How much faster two workers are than one (docs/design.md).

    python benchmarks/workers.py [--cells 12] [--rounds 20000] [--times 3]

Seconds that the cells of one study take on one and on two workers, by turns, so that other work on the machine meets
both; the best time of each counts. ``threads`` are those of `ratecheck run`, ``processes`` those of `rates` and others.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from ratecheck.execution import Executor, Processes, Threads
from ratecheck.studies import RunStore, Study, load, run_study

STUDY = """
name = "workers"
metric = {{ G_u = 1, G_v = 1 }}
problem = {{ name = "quadratic" }}
run = {{ algorithm = "fedavg-p", m = 5, K = 5, T = {rounds}, replicates = 16, eta_u = 3, eta_v = 3, sigma_u = 0.5 }}
figure = [{{ name = "a", vary = "gamma", values = {values} }}]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", choices=["threads", "processes"])
    given = parser.parse_args()
    kinds: dict[str, type[Threads | Processes]] = {"threads": Threads, "processes": Processes}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        values = [round(1e-3 * (1 + k / given.cells), 9) for k in range(given.cells)]
        (folder / "study.toml").write_text(STUDY.format(rounds=given.rounds, values=values))
        study = load(folder / "study.toml")
        # Kernels are loaded.
        run_study(study.with_replicates(2).only(["a"]), RunStore(folder / "warm"), threads=1)
        for what, kind in kinds.items():
            if given.only in (None, what):
                one, two = times(study, folder, kind, given.times)
                print(f"{what:10} one {one:7.2f} s, two {two:7.2f} s: {one / two:.2f} times", flush=True)


def times(study: Study, folder: Path, kind: type[Threads | Processes], number: int) -> tuple[float, float]:
    """The best times of one and of two workers."""
    found: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(number):
        for count, seconds in found.items():
            seconds.append(timed(study, folder / f"{kind.__name__}-{count}-{turn}", kind(count)))
    return min(found[1]), min(found[2])


def timed(study: Study, folder: Path, executor: Executor) -> float:
    begun = time.perf_counter()
    run_study(study, RunStore(folder), executor=executor)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
