"""``rc.run``, the command ``run``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ratecheck import files
from ratecheck.api.result import Result
from ratecheck.studies import ClaimResult, Findings, RunStore, Study, judge, load, run_study
from ratecheck.studies.execute import StudyResult
from ratecheck.studies.report import fields
from ratecheck.views.drawing.studies import check_labels, draw
from ratecheck.views.progress import progress
from ratecheck.views.study import study_text


@dataclass(frozen=True, eq=False, repr=False)
class RunResult(Result):
    """What a study found: its ``findings`` with every claim, the ``records`` of the runs, and its ``figures``."""

    findings: Findings
    records: StudyResult
    folder: Path
    # Whether all figures of the study are wanted, and not some.
    complete: bool
    figures: tuple[Path, ...] = ()

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
        """Where the figures are."""
        return f"\nfigures in {self.folder}: {', '.join(path.name for path in self.figures)}"

    def _headline(self) -> str:
        confirmed = sum(claim.verdict.value == "CONFIRMED" for claim in self.claims)
        return f"{self.findings.study.name}: {confirmed} of {len(self.claims)} claims confirmed"

    def _fields(self) -> dict[str, Any]:
        return {**fields(self.findings), "figures": [str(path) for path in self.figures]}

    def drawn(self) -> RunResult:
        """The same with its figures, which are written to the folder, as is claims.json where they are all wanted."""
        with progress(f"drawing {self.findings.study.name}"):
            figures = draw(self.findings, self.records, self.folder, together=self.complete)
        found = replace(self, figures=tuple(figures))
        if self.complete:
            files.save(self.folder / "claims.json", json.dumps(found.to_dict(), indent=2) + "\n")
        return found


def measured(
    study_file: str | Path,
    *,
    out: str | Path | None = None,
    replicates: int | None = None,
    threads: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
) -> RunResult:
    """The result of `run` before its figures are drawn."""
    study = _chosen(load(Path(study_file)), (only,) if isinstance(only, str) else tuple(only), replicates, quick)
    check_labels(study)
    folder = Path("results") / (study.name + ("-quick" if quick else "")) if out is None else Path(out)
    with progress(f"running {study.name}") as report:
        records = run_study(study, RunStore(folder / "cells"), threads=threads, progress=report)
    with progress(f"judging {study.name}"):
        findings = judge(study, records.records)
    remark = f"{records.computed} cells computed, {records.reused} found in {folder / 'cells'}"
    again = ", ".join(str(path.relative_to(folder / "cells")) for path in records.damaged)
    said = (remark, f"damaged, and computed again where needed: {again}") if again else (remark,)
    return RunResult(findings, records, folder, complete=not only, remarks=said)


def run(
    study_file: str | Path,
    *,
    out: str | Path | None = None,
    replicates: int | None = None,
    threads: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
) -> RunResult:
    """Run the study in a TOML file, check its claims and draw its figures.

    ``out`` is the folder, by default ``results/NAME``; cells that are there already are not computed again.
    ``replicates`` replaces the file's, ``only`` names the figures that are wanted, ``quick`` is a smoke test with fewer
    rounds and replicates. Raises `InputError` for a file that is no study.
    """
    return measured(
        study_file, out=out, replicates=replicates, threads=threads, only=only, quick=quick
    ).drawn()  # fmt: skip


def _chosen(study: Study, only: tuple[str, ...], replicates: int | None, quick: bool) -> Study:
    study = study.only(only) if only else study
    study = study.shortened() if quick else study
    return study.with_replicates(replicates) if replicates else study
