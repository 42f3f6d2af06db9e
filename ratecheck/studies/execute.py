"""Running the cells of a study on local threads, each cell by itself."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ratecheck.aliases import Progress
from ratecheck.engines.monte_carlo import step
from ratecheck.engines.setup import Setup, prepare
from ratecheck.errors import InputError
from ratecheck.problems import Problem
from ratecheck.studies.instance import participation_of, problem_of
from ratecheck.studies.part import Part
from ratecheck.studies.store import Records, RunStore, cell_key, code_version
from ratecheck.studies.study import Curve, Study

# Seconds between looks at the cells in progress.
_GLANCE = 0.2


@dataclass(frozen=True)
class Cell:
    """A curve ready to run, its seed, its key in the store, and what the store says of it in words."""

    curve: Curve
    setup: Setup
    seed: int
    key: str
    about: Mapping[str, Any]

    @property
    def cost(self) -> float:
        """Gradients to compute: those of the local steps and those of the records."""
        return self.setup.T * (self.setup.trace.rate * self.setup.K + 1) * self.setup.problem.n


@dataclass(frozen=True)
class StudyResult:
    """Records of every curve by its title, how many cells were computed here, and how many found in the store.

    ``damaged`` are the files that were not as they had been written, and were computed again.
    """

    records: dict[str, Records]
    computed: int
    reused: int
    damaged: tuple[Path, ...] = ()


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
    computed = _run_all(sorted(missing.values(), key=lambda cell: -cell.cost), store, threads, progress)
    have |= {key: store.load(key, cell.curve.replicates) for key, cell in missing.items()}
    records = {}
    for cell in cells:
        found = have[cell.key]
        if found is None or _lacking(cell, found):
            raise InputError(f"cell {cell.key} in {store.folder} vanished while the study ran; run it again")
        records[cell.curve.title] = found
    return StudyResult(records, computed, len(have) - computed, tuple(store.damaged))


def cells_of(study: Study) -> list[Cell]:
    """Every curve of the study, checked and ready; raises `InputError` naming file, figure and curve."""
    cells = []
    for curve in study.curves:
        try:
            setup = _setup(curve, problem_of(curve))
        except InputError as error:
            raise InputError(f"{study.path}: figure {curve.figure!r}, {curve.name}: {error}") from None
        seed = curve_seed(study, curve)
        cells.append(Cell(curve, setup, seed, cell_key(setup, seed), _about(study, curve, seed)))
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
    return _count(found) < cell.curve.replicates


def _count(found: Records | None) -> int:
    """How many replicates there are."""
    return 0 if found is None else len(next(iter(found.values())))


class _StoppedError(Exception):
    """Ends a cell in progress when the study is interrupted."""


def _run_all(cells: Iterable[Cell], store: RunStore, threads: int | None, progress: Progress | None) -> int:
    """Run the cells, the longest first; on an error or interrupt, the others stop within a few rounds.

    A cell that another run is at is put off until all others are done. Returns how many were computed here.
    """
    queue, again, stop = deque(cells), set[str](), threading.Event()
    total, finished, computed = sum(cell.cost for cell in queue), 0.0, 0
    # Shares of the cells at work.
    done: dict[str, float] = {}

    def work(cell: Cell) -> bool | None:
        """Whether the cell was computed here; None where another run is at it."""

        def report(fraction: float) -> None:
            if stop.is_set():
                raise _StoppedError
            done[cell.key] = fraction

        if cell.key in again:
            stop.wait(_GLANCE)
        report(0.0)
        with store.taken(cell.key) as part:
            return None if part is None else _run_cell(cell, store, part, report)

    width = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(width) as pool:
        waiting: dict[Future[bool | None], Cell] = {}
        try:
            while queue or waiting:
                # No more than have a thread, and one each that follows: to wait for all would take longer than a cell.
                while queue and len(waiting) < 2 * width:
                    cell = queue.popleft()
                    waiting[pool.submit(work, cell)] = cell
                for future in wait(waiting, timeout=_GLANCE, return_when=FIRST_COMPLETED).done:
                    cell, here = waiting.pop(future), future.result()
                    done.pop(cell.key, None)
                    if here is None:
                        again.add(cell.key)
                        queue.append(cell)
                    else:
                        computed, finished = computed + here, finished + cell.cost
                # From this thread alone: a progress bar is no thread's business but its owner's.
                if progress is not None:
                    at_work = sum(done.get(cell.key, 0.0) * cell.cost for cell in waiting.values())
                    progress(min((finished + at_work) / total, 1.0))
        finally:
            stop.set()
    return computed


def _run_cell(cell: Cell, store: RunStore, part: Part, report: Progress) -> bool:
    """Compute and store the replicates that the store lacks; False where another run has meanwhile done so."""
    wanted = cell.curve.replicates
    first = _count(store.load(cell.key, wanted))
    if first == wanted:
        return False
    run = step.simulate(
        cell.setup,
        seed=cell.seed,
        first_replicate=first,
        replicates=wanted - first,
        threads=1,
        progress=report,
    )
    store.save(part, cell.key, first, run.records, cell.about)
    return True


def _about(study: Study, curve: Curve, seed: int) -> dict[str, Any]:
    """What the cell is, and how the study reads it."""
    reading = {"weights": dict(study.weights), "window": study.window, "tolerance": study.tolerance}
    return {"study": study.name, **reading, **asdict(curve), "seed": seed, "code": code_version()[:12]}
