"""What a cell of a study costs beside its simulation (docs/design.md).

    python benchmarks/store.py [--cells 200] [--folder FOLDER]

Milliseconds per cell, for records of 16 replicates over 2000 rounds. ``in all`` is a whole run of a study, in which a
simulation is a copy of the records of the first one: what is stored while another cell is simulated could not be told
from it otherwise. ``found`` is a second run, which finds every cell.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ratecheck.engines.monte_carlo import stepwise
from ratecheck.studies import RunStore, load, run_study
from ratecheck.studies.execute import cells_of
from ratecheck.studies.storage.index import table
from ratecheck.studies.storage.store import cell_key

STUDY = """
name = "overhead"
metric = {{ G_u = 1, G_v = 1 }}
problem = {{ name = "quadratic" }}
run = {{ algorithm = "fedavg-p", m = 5, K = 1, T = 2000, replicates = 16, eta_u = 3, eta_v = 3 }}
figure = [{{ name = "a", vary = "gamma", values = {values} }}]
"""


class Clock:
    """Seconds by the clock and of the processor, added up by name: a busy machine shows in the first alone."""

    def __init__(self) -> None:
        self.spent: dict[str, list[tuple[float, float]]] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time the block."""
        clock, processor = time.perf_counter(), time.process_time()
        yield
        spent = (time.perf_counter() - clock, time.process_time() - processor)
        self.spent.setdefault(name, []).append(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where the store is made; by default among temporary files")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        clock = measured(Path(name), given.cells)
    for what, spent in clock.spent.items():
        seconds, processor = (1e3 * sum(each) / given.cells for each in zip(*spent, strict=True))
        print(f"{what:14} {seconds:8.2f} ms  {processor:8.2f} ms of the processor")


def measured(folder: Path, count: int) -> Clock:
    values = [round(1e-3 * (1 + k / count), 9) for k in range(count)]
    (folder / "study.toml").write_text(STUDY.format(values=values))
    study, clock = load(folder / "study.toml"), Clock()
    first = cells_of(study)[0]
    run = stepwise.simulate(first.setup, seed=first.seed, replicates=16, threads=1)

    def copied(*_arguments: Any, **_options: Any) -> Any:
        return replace(run, records={name: array.copy() for name, array in run.records.items()})

    stepwise.simulate = copied
    store, other = RunStore(folder / "cells"), RunStore(folder / "other")
    with clock("in all"):
        run_study(study, store, threads=1)
    with clock("found"):
        run_study(study, RunStore(folder / "cells"), threads=1)
    for cell in cells_of(study):
        records = store.load(cell.key, 16)
        with clock("name"):
            cell_key(cell.setup, cell.seed)
        with clock("write"), other.taken(cell.key) as part:
            other.save(part, cell.key, 0, records, cell.about)
        with clock("read"):
            other.load(cell.key, 16)
    for what in ("row", "row, indexed"):
        with clock(what):
            table(store)
    return clock


if __name__ == "__main__":
    main()
