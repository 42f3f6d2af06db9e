"""Running the cells of a study on local threads, each cell by itself."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any

from ratecheck.algorithms.algorithm import RECORDS
from ratecheck.aliases import Progress
from ratecheck.engines.monte_carlo import step
from ratecheck.engines.setup import Setup, prepare
from ratecheck.errors import InputError
from ratecheck.problems import Problem
from ratecheck.studies.instance import participation_of, problem_of
from ratecheck.studies.store import Records, RunStore, cell_key, merged
from ratecheck.studies.study import Curve, Study

# Seconds between looks at the cells in progress.
_GLANCE = 0.2


@dataclass(frozen=True)
class Cell:
    """A curve ready to run, its seed and its key in the store."""

    curve: Curve
    setup: Setup
    seed: int
    key: str

    @property
    def cost(self) -> float:
        """Gradients to compute: those of the local steps and those of the records."""
        return self.setup.T * (self.setup.trace.rate * self.setup.K + 1) * self.setup.problem.n


@dataclass(frozen=True)
class StudyResult:
    """Records of every curve by its title, and how many cells were computed and how many found in the store."""

    records: dict[str, Records]
    computed: int
    reused: int


def run_study(
    study: Study, store: RunStore, *, threads: int | None = None, progress: Progress | None = None
) -> StudyResult:
    """Run what the store lacks and return everything; what is done is in the store even if this is interrupted.

    The records do not depend on ``threads``, on the order of cells or on the other cells. Raises `InputError` before
    anything runs where a cell cannot be run.
    """
    cells = cells_of(study)
    have = {cell.key: store.load(cell.key, cell.curve.replicates) for cell in cells}
    missing = {cell.key: cell for cell in cells if _lacking(cell, have[cell.key])}
    _run_all(sorted(missing.values(), key=lambda cell: -cell.cost), store, threads, progress)
    records = {}
    for cell in cells:
        found = store.load(cell.key, cell.curve.replicates)
        if found is None or _lacking(cell, found):
            raise InputError(f"{store.path(cell.key)} vanished or was damaged while the study ran; run it again")
        records[cell.curve.title] = found
    return StudyResult(records, computed=len(missing), reused=len(have) - len(missing))


def cells_of(study: Study) -> list[Cell]:
    """Every curve of the study, checked and ready; raises `InputError` naming file, figure and curve."""
    cells = []
    for curve in study.curves:
        try:
            setup = _setup(curve, problem_of(curve))
        except InputError as error:
            raise InputError(f"{study.path}: figure {curve.figure!r}, {curve.name}: {error}") from None
        seed = curve_seed(study, curve)
        cells.append(Cell(curve, setup, seed, cell_key(setup, seed)))
    return cells


def curve_seed(study: Study, curve: Curve) -> int:
    """A seed from the named axes study, figure and curve."""
    axes = f"study={study.name};figure={curve.runs};curve={curve.name};seed={study.seed}"
    return int.from_bytes(hashlib.sha256(axes.encode()).digest()[:7], "big")


def _setup(curve: Curve, problem: Problem) -> Setup:
    return prepare(
        curve.algorithm, problem, participation_of(curve, problem.n), K=curve.K, T=curve.T,
        noise={"sigma_u": curve.sigma_u, "sigma_v": curve.sigma_v}, step_sizes=curve.step_sizes,
    )  # fmt: skip


def _lacking(cell: Cell, found: Records | None) -> bool:
    return found is None or len(found[RECORDS[0]]) < cell.curve.replicates


class _StoppedError(Exception):
    """Ends a cell in progress when the study is interrupted."""


def _run_all(cells: Iterable[Cell], store: RunStore, threads: int | None, progress: Progress | None) -> None:
    """Run the cells, the longest first; on an error or interrupt, the others stop within a few rounds."""
    cells, stop = list(cells), threading.Event()
    done = dict.fromkeys((cell.key for cell in cells), 0.0)
    total = sum(cell.cost for cell in cells)

    def work(cell: Cell) -> None:
        def report(fraction: float) -> None:
            if stop.is_set():
                raise _StoppedError
            done[cell.key] = fraction

        report(0.0)
        _run_cell(cell, store, report)

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        waiting = {pool.submit(work, cell) for cell in cells}
        try:
            while waiting:
                waiting = _collect(waiting)
                # From this thread alone: a progress bar is no thread's business but its owner's.
                if progress is not None:
                    progress(sum(done[cell.key] * cell.cost for cell in cells) / total)
        finally:
            stop.set()


def _collect(waiting: set[Future[None]]) -> set[Future[None]]:
    """Wait a little; raise what a finished cell raised; return those that are not finished."""
    finished, left = wait(waiting, timeout=_GLANCE, return_when=FIRST_COMPLETED)
    for future in finished:
        future.result()
    return left


def _run_cell(cell: Cell, store: RunStore, report: Progress) -> None:
    """Compute the replicates that the store lacks and store all of them."""
    wanted, found = cell.curve.replicates, store.load(cell.key, cell.curve.replicates)
    first = 0 if found is None else len(found[RECORDS[0]])
    run = step.simulate(
        cell.setup,
        seed=cell.seed,
        first_replicate=first,
        replicates=wanted - first,
        threads=1,
        progress=report,
    )
    records = run.records if found is None else merged(found, run.records)
    store.save(cell.key, records, _about(cell))


def _about(cell: Cell) -> dict[str, Any]:
    return {**asdict(cell.curve), "seed": cell.seed}
