"""``rc.run``, the command ``run``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from ratecheck import files
from ratecheck.api.given import place_of, several
from ratecheck.api.result import Result
from ratecheck.execution import Executor, scheduled
from ratecheck.files import UnsavedError
from ratecheck.inputs import whole
from ratecheck.studies import ClaimResult, Findings, RunStore, Study, judge, load, run_study
from ratecheck.studies.admissible import with_admissible
from ratecheck.studies.execute import ShardRun, StudyResult, run_shard
from ratecheck.studies.report import fields
from ratecheck.studies.storage.shard import Shard
from ratecheck.views.drawing.studies import check_labels, draw
from ratecheck.views.progress import progress
from ratecheck.views.records.study import shard_text, study_text


@dataclass(frozen=True, eq=False, repr=False)
class RunResult(Result):
    """The results of a study: its ``findings`` with every claim, the ``records`` of the runs, and its ``figures``."""

    findings: Findings
    records: StudyResult
    folder: Path
    # Whether all figures of the study are wanted, and not some.
    complete: bool
    figures: tuple[Path, ...] = ()
    # Names of the figures that are not wanted.
    left_out: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[ClaimResult, ...]:
        """Each claim with its verdict and comparisons."""
        return tuple(self.findings.claims)

    @property
    def all_confirmed(self) -> bool:
        """Whether every claim is CONFIRMED or, in a smoke test, SKIPPED."""
        return self.findings.all_confirmed

    def __str__(self) -> str:
        return study_text(self.findings) + (f"\n{self.drawn_text}" if self.figures else "")

    @property
    def drawn_text(self) -> str:
        """The places of the figures, in words."""
        return f"\nfigures in {self.folder}: {', '.join(path.name for path in self.figures)}"

    def _headline(self) -> str:
        confirmed = sum(claim.verdict.value == "CONFIRMED" for claim in self.claims)
        return f"{self.findings.study.name}: {confirmed} of {len(self.claims)} claims confirmed"

    def _fields(self) -> dict[str, Any]:
        return {**fields(self.findings), "figures": self.figures}

    def drawn(self) -> RunResult:
        """The result with its figures written to the folder, and claims.json where all of them are wanted.

        Raises `UnsavedError`, an `InputError`, where a file cannot be written, or a cell could not be.
        """
        with progress(f"drawing {self.findings.study.name}"), self.kept():
            figures = draw(self.findings, self.records, self.folder, together=self.complete)
        found = replace(self, figures=tuple(figures))
        if self.complete:
            files.save(self.folder / "claims.json", json.dumps(found.to_dict(), indent=2) + "\n")
        with found.kept():
            _check_saved(self.records.unsaved)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class ShardResult(Result):
    """The run of one shard of a study; claims are judged by a run without a shard, after all others."""

    done: ShardRun
    folder: Path

    @property
    def complete(self) -> bool:
        """Whether the store has all cells of the study."""
        return self.done.stored == self.done.total

    def __str__(self) -> str:
        return shard_text(self.done, self.folder / "cells")

    def _headline(self) -> str:
        done = self.done
        return f"{done.study.name}, shard {done.shard}: {done.computed} cells computed, {done.reused} found"

    def _fields(self) -> dict[str, Any]:
        done = self.done
        return {
            "study": done.study.name, "shard": str(done.shard), "curves": list(done.curves), "computed": done.computed,
            "found": done.reused, "stored": done.stored, "cells": done.total,
        }  # fmt: skip


def measured(
    study_file: str | Path,
    *,
    out: str | Path | None = None,
    replicates: int | None = None,
    threads: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    scheduler: str | None = None,
    shard: str | None = None,
    theorems: str | Path | Sequence[str | Path] = (),
) -> RunResult | ShardResult:
    """The result of `run` before its figures are drawn."""
    mine = None if shard is None else Shard.read(shard)
    replicates = (
        None if replicates is None else whole("replicates", replicates, 2, why="one run has no confidence bound")
    )
    threads = None if threads is None else whole("threads", threads, 1)
    place = None if out is None else place_of("out", out)
    complete = load(place_of("study_file", study_file), several("theorems", theorems, (str, Path)))
    names = several("only", only)
    study = _chosen(complete, names, replicates, quick)
    wanted = {figure.name for figure in study.figures}
    left_out = tuple(figure.name for figure in complete.figures if figure.name not in wanted)
    check_labels(study)
    if any(figure.admissible for figure in study.figures):
        with progress(f"admissible step sizes of {study.name}"):
            study = with_admissible(study)
    folder = Path("results") / (study.name + ("-quick" if quick else "")) if place is None else place
    with _workers(scheduler, threads) as executor, progress(f"running {study.name}") as report:
        store = RunStore(folder / "cells")
        if mine is not None:
            done = run_shard(study, store, mine, threads=threads, progress=report, executor=executor)
            found = ShardResult(done, folder, remarks=_damaged(done.damaged, store))
            with found.kept():
                _check_saved(done.unsaved)
            return found
        records = run_study(study, store, threads=threads, progress=report, executor=executor)
    with progress(f"judging {study.name}"):
        findings = judge(study, records.records)
    remark = f"{records.computed} cells computed, {records.reused} found in {folder / 'cells'}"
    said = (remark, *_damaged(records.damaged, store))
    return RunResult(findings, records, folder, complete=not names, left_out=left_out, remarks=said)


@contextmanager
def _workers(scheduler: str | None, threads: int | None) -> Iterator[Executor | None]:
    """Workers of the scheduler, where there is one."""
    if scheduler is None:
        yield None
        return
    with scheduled(scheduler, "threads", threads) as found:
        yield found


def _check_saved(unsaved: str) -> None:
    """Raise `UnsavedError` where a cell could not be written."""
    if unsaved:
        raise UnsavedError(unsaved)


def _damaged(paths: Sequence[Path], store: RunStore) -> tuple[str, ...]:
    again = ", ".join(str(path.relative_to(store.folder)) for path in paths)
    return (f"damaged, and computed again where needed: {again}",) if again else ()


class StudyOptions(TypedDict, total=False):
    """The arguments of `run` beside the study and its part."""

    out: str | Path | None
    replicates: int | None
    threads: int | None
    only: Sequence[str]
    quick: bool
    scheduler: str | None
    theorems: str | Path | Sequence[str | Path]


@overload
def run(study_file: str | Path, *, shard: None = None, **options: Unpack[StudyOptions]) -> RunResult: ...
@overload
def run(study_file: str | Path, *, shard: str, **options: Unpack[StudyOptions]) -> ShardResult: ...
def run(
    study_file: str | Path,
    *,
    out: str | Path | None = None,
    replicates: int | None = None,
    threads: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    scheduler: str | None = None,
    shard: str | None = None,
    theorems: str | Path | Sequence[str | Path] = (),
) -> RunResult | ShardResult:
    """Run the study in a TOML file, check its claims and draw its figures.

    ``out`` is the folder, by default ``results/NAME``; cells that are there already are not computed again.
    ``replicates`` replaces the file's, ``only`` names the figures that are wanted, ``quick`` is a smoke test with fewer
    rounds and replicates, and one PNG with all figures. ``scheduler`` is the address of a Dask scheduler, whose workers
    compute the cells. With ``shard``, such as "3/100", that part of the cells is computed and nothing else: a run
    without it gathers them. ``theorems`` are the Python files of whose statements the study may speak, as in
    ``"mine.py:descent"``: a study runs no others.
    Raises `InputError` for a file that is no study, where no scheduler answers, and for what is no shard.
    """
    found = measured(
        study_file, out=out, replicates=replicates, threads=threads, only=only, quick=quick, scheduler=scheduler,
        shard=shard, theorems=theorems,
    )  # fmt: skip
    return found.drawn() if isinstance(found, RunResult) else found


def _chosen(study: Study, only: tuple[str, ...], replicates: int | None, quick: bool) -> Study:
    study = study.only(only) if only else study
    study = study.shortened() if quick else study
    return study.with_replicates(replicates) if replicates is not None else study
