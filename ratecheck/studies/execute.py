"""Running the cells of a study, each cell by itself: on threads of this machine, or wherever an executor has workers.

Records come here, and this process writes them: workers need no folder in common with it.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ratecheck.algorithms import METHODS
from ratecheck.aliases import Progress
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.execution import Executor, Threads
from ratecheck.files import UnsavedError
from ratecheck.problems import Problem
from ratecheck.studies.instance import setup_of, tested_on, weights_of
from ratecheck.studies.remote import computed, simulated
from ratecheck.studies.storage.part import Part
from ratecheck.studies.storage.shard import Shard
from ratecheck.studies.storage.store import Records, RunStore, cell_key, code_version, merged
from ratecheck.studies.study import MEASURES, Curve, Study

# Numbers of a recorded quantity in one cell: 16 GiB.
_LARGEST = 2**31


@dataclass(frozen=True)
class Cell:
    """A curve ready to run, its seed, its key in the store, and what the store says of it in words."""

    curve: Curve
    setup: Setup
    seed: int
    key: str
    about: Mapping[str, Any]
    # Test samples, where the models' losses and errors are measured.
    test: Problem | None = None
    # What is recorded besides what the method does.
    more: tuple[str, ...] = ()

    @property
    def cost(self) -> float:
        """Gradients to compute: those of the local steps and those of the records."""
        return self.setup.T * (self.setup.trace.rate * self.setup.K + 1) * self.setup.problem.n


@dataclass(frozen=True)
class StudyResult:
    """Records of every curve by its title, how many cells were computed here, and how many found in the store.

    ``damaged`` are the files that were not as they had been written, and were computed again; ``unsaved`` says why a
    cell could not be written, where one could not.
    """

    records: dict[str, Records]
    computed: int
    reused: int
    damaged: tuple[Path, ...] = ()
    unsaved: str = ""


@dataclass(frozen=True)
class ShardRun:
    """The run of one shard: its ``curves`` by title, cells computed here and found; ``stored`` of ``total``.

    The last two count the cells of the whole study. ``unsaved`` as in `StudyResult`.
    """

    study: Study
    shard: Shard
    curves: tuple[str, ...]
    computed: int
    reused: int
    stored: int
    total: int
    damaged: tuple[Path, ...] = ()
    unsaved: str = ""


def run_study(
    study: Study,
    store: RunStore,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> StudyResult:
    """Run what the store lacks and return everything; what is done is in the store even if this is interrupted.

    On ``threads`` of this machine, or where the ``executor`` has workers. The records do not depend on that, on the
    order of cells or on the other cells. Raises `InputError` before anything runs where a cell cannot be run.
    """
    cells = cells_of(study)
    have = {cell.key: store.load(cell.key, cell.curve.replicates) for cell in cells}
    sweep = _Sweep(_missing(cells, have), store, progress)
    sweep.run(executor or Threads(threads))
    have |= sweep.records
    records = {}
    for cell in cells:
        found = have[cell.key]
        if found is None or _lacking(cell, found):
            raise InputError(f"cell {cell.key} in {store.folder} vanished while the study ran; run it again")
        records[cell.curve.title] = found
    return StudyResult(records, sweep.computed, len(have) - sweep.computed, tuple(store.damaged), sweep.unsaved)


def run_shard(
    study: Study,
    store: RunStore,
    shard: Shard,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> ShardRun:
    """Run the cells of one shard that the store lacks; arguments as for `run_study`.

    Which cells are whose depends on the study alone: the costliest first, they are dealt to the shards in turn.
    """
    cells = cells_of(study)
    every = sorted({cell.key: cell for cell in cells}.values(), key=lambda cell: -cell.cost)
    mine = {cell.key: cell for cell in shard.of(every)}
    have = {key: store.load(key, cell.curve.replicates) for key, cell in mine.items()}
    sweep = _Sweep(_missing([*mine.values()], have), store, progress)
    sweep.run(executor or Threads(threads))
    stored = sum(store.count(cell.key) >= cell.curve.replicates for cell in every)
    titles = tuple(cell.curve.title for cell in cells if cell.key in mine)
    return ShardRun(
        study, shard, titles, sweep.computed, len(mine) - sweep.computed, stored, len(every), tuple(store.damaged),
        sweep.unsaved,
    )  # fmt: skip


def _missing(cells: Sequence[Cell], have: Mapping[str, Records | None]) -> list[Cell]:
    """The cells that lack replicates, each once, the costliest first."""
    found = {cell.key: cell for cell in cells if _lacking(cell, have[cell.key])}
    return sorted(found.values(), key=lambda cell: -cell.cost)


def cells_of(study: Study) -> list[Cell]:
    """Every curve of the study, checked and ready; raises `InputError` naming file, figure and curve."""
    cells = []
    for curve in study.curves:
        try:
            more = _more(study, curve)
            setup = setup_of(curve, more)
            if curve.replicates * curve.T > _LARGEST:
                raise InputError(
                    f"replicates={curve.replicates} of T={curve.T} rounds: {curve.replicates * curve.T:.3g} numbers of "
                    f"each recorded quantity, at most {_LARGEST:.3g} are handled"
                )
        except InputError as error:
            raise InputError(f"{study.path}: figure {curve.figure!r}, {curve.name}: {error}") from None
        seed, test = curve_seed(study, curve), tested_on(curve) if study.measures_models(curve) else None
        cells.append(Cell(curve, setup, seed, cell_key(setup, seed, test), _about(study, curve, seed), test, more))
    return cells


def curve_seed(study: Study, curve: Curve) -> int:
    """A seed from the named axes study, figure and curve."""
    axes = f"study={study.name};figure={curve.runs};curve={curve.name};seed={study.seed}"
    return int.from_bytes(hashlib.sha256(axes.encode()).digest()[:7], "big")


def _more(study: Study, curve: Curve) -> tuple[str, ...]:
    """The quantities that figures with this run show and the method does not record."""
    shown = [each for each in study.curves if (each.runs, each.name) == (curve.runs, curve.name)]
    own = METHODS[curve.algorithm].algorithm.recorded
    return tuple(sorted({name for each in shown for name in weights_of(study, each)}.difference(own, MEASURES)))


def _lacking(cell: Cell, found: Records | None) -> bool:
    return _count(found) < cell.curve.replicates


def _count(found: Records | None) -> int:
    """The number of replicates."""
    return 0 if found is None else len(next(iter(found.values())))


class _CellStoppedError(Exception):
    """Ends a cell in progress when the study is interrupted."""


@dataclass
class _AtWork:
    """A cell that was handed out, the replicates that there are, and the lock and file that are its own meanwhile."""

    cell: Cell
    first: int
    before: Records | None
    part: Part
    held: contextlib.ExitStack
    share: float = 0.0


class _Sweep:
    """Cells on their way from the file of the study to the store; ``records`` are those that went through here."""

    def __init__(self, cells: Sequence[Cell], store: RunStore, progress: Progress | None) -> None:
        self._queue, self._store, self._progress = deque(cells), store, progress
        self._total, self._finished = sum(cell.cost for cell in cells), 0.0
        self._at_work: dict[int, _AtWork] = {}
        self.computed, self.records, self.unsaved = 0, dict[str, Records](), ""

    def run(self, executor: Executor) -> None:
        """Run the cells; on an error or interrupt, the others stop within a few rounds."""
        if not self._queue:
            return
        try:
            if isinstance(executor, Threads):
                executor.run(self._watched(executor), self._tasks(lambda number, _: (number,)), self._done,
                             glance=self._glance)  # fmt: skip
            else:
                executor.run(computed, self._tasks(_written), self._done, glance=self._glance)
        finally:
            for each in self._at_work.values():
                each.held.close()

    def _tasks(self, task: Callable[[int, _AtWork], tuple[Any, ...]]) -> Iterator[tuple[Any, ...] | None]:
        """A task for every cell that can be had; None where other runs are at all that are left."""
        number, refused = 0, 0
        while self._queue:
            cell = self._queue.popleft()
            taken = self._take(cell)
            if taken is None:
                # Put off until all others are done.
                self._queue.append(cell)
                refused += 1
                if refused >= len(self._queue):
                    refused = 0
                    yield None
                continue
            refused = 0
            if taken.first == cell.curve.replicates:  # another run has meanwhile computed it
                taken.held.close()
                self._finish(cell, taken.before)
                continue
            self._at_work[number] = taken
            yield task(number, taken)
            number += 1

    def _take(self, cell: Cell) -> _AtWork | None:
        taken = None
        with contextlib.ExitStack() as stack:
            part = stack.enter_context(self._store.taken(cell.key))
            if part is not None:
                before = self._store.load(cell.key, cell.curve.replicates)
                taken = _AtWork(cell, _count(before), before, part, stack.pop_all())
        return taken

    def _watched(self, threads: Threads) -> Callable[[int], Records]:
        """The work of a thread on a cell; it reports how far it is, and stops where it has to."""

        def work(number: int) -> Records:
            each = self._at_work[number]

            def report(fraction: float) -> None:
                if threads.stop.is_set():
                    raise _CellStoppedError
                each.share = fraction

            report(0.0)
            cell = each.cell
            return simulated(
                cell.setup, cell.test, cell.seed, each.first, cell.curve.replicates - each.first, progress=report
            )

        return work

    def _done(self, number: int, records: Records) -> None:
        """Store what a worker computed."""
        each = self._at_work[number]
        with each.held, self._said_later():
            self._store.save(each.part, each.cell.key, each.first, records, each.cell.about)
        del self._at_work[number]
        self.computed += 1
        self._finish(each.cell, records if each.before is None else merged(each.before, records))

    @contextlib.contextmanager
    def _said_later(self) -> Iterator[None]:
        """A cell that cannot be written, such as to a full disk, is noted, and the others go on."""
        try:
            yield
        except UnsavedError as error:
            self.unsaved = self.unsaved or str(error)

    def _finish(self, cell: Cell, records: Records | None) -> None:
        self._finished += cell.cost
        if records is not None:
            self.records[cell.key] = records

    def _glance(self) -> None:
        # From this thread alone: a progress bar is no thread's business but its owner's.
        if self._progress is not None:
            at_work = sum(each.share * each.cell.cost for each in self._at_work.values())
            self._progress(min((self._finished + at_work) / self._total, 1.0))


def _written(_number: int, each: _AtWork) -> tuple[Any, ...]:
    """A cell as a task that can be sent."""
    cell = each.cell
    return (
        cell.curve,
        cell.more,
        cell.test is not None,
        cell.seed,
        cell.key,
        each.first,
        cell.curve.replicates - each.first,
    )


def _about(study: Study, curve: Curve, seed: int) -> dict[str, Any]:
    """The description of a cell, and how the study reads it."""
    reading = {"weights": dict(weights_of(study, curve)), "window": study.window, "tolerance": study.tolerance}
    return {"study": study.name, **reading, **asdict(curve), "seed": seed, "code": code_version()[:12]}
