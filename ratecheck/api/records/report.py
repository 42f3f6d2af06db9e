"""``rc.report``, the command ``report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bounds.printing.nodes import Document
from ratecheck.api.document import DocumentResult, check_out
from ratecheck.api.records.run import RunResult, measured
from ratecheck.views.document.svg import figure_svg
from ratecheck.views.drawing.studies import sheets
from ratecheck.views.report.data import report_fields
from ratecheck.views.report.document import counted, document, text


@dataclass(frozen=True, eq=False, repr=False)
class ReportResult(DocumentResult):
    """A report of a study: its ``data``, and these as text, Markdown and HTML.

    Every form is made from the data alone but for the figures, which are drawn from the records of the ``run``.
    """

    data: Mapping[str, Any]
    run: RunResult

    @property
    def all_confirmed(self) -> bool:
        """Whether every claim is CONFIRMED or, in a smoke test, SKIPPED."""
        return self.run.all_confirmed

    def _made(self) -> Document:
        figures = sheets(self.run.findings, self.run.records, together=False)
        return document(self._plain, {name: partial(figure_svg, sheet) for name, sheet in figures})

    def __str__(self) -> str:
        return text(self._plain)

    def _headline(self) -> str:
        return f"report of {self.data['of']}: {counted(self.data)}"

    def _fields(self) -> dict[str, Any]:
        return {**self.data}


def report(
    study_file: str | Path,
    *,
    out: str | Path | None = None,
    results: str | Path | None = None,
    replicates: int | None = None,
    threads: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    scheduler: str | None = None,
    theorems: str | Path | Sequence[str | Path] = (),
) -> ReportResult:
    """The report on a study, as one document: claims with verdicts and comparisons, figures, theorems on the curves.

    ``study_file`` is a TOML file as `run` takes it; cells that are in the folder ``results``, by default
    ``results/NAME``, are not computed again, the others are. ``out`` is a file, HTML or Markdown by its ending. The
    other arguments are those of `run`. The same cells and the same code give the same bytes. Raises `InputError` for a
    file that is no study, and for one that cannot be written.

    >>> import ratecheck as rc
    >>> found = rc.report("small.toml", out="report.html")  # doctest: +SKIP
    >>> found.data["counts"]["verdicts"]["CONFIRMED"]  # doctest: +SKIP
    """
    place = None if out is None else check_out(out)
    found = measured(
        study_file, out=results, replicates=replicates, threads=threads, only=only, quick=quick, scheduler=scheduler,
        theorems=theorems,
    )  # fmt: skip
    assert isinstance(found, RunResult)
    # The report stands without the store.
    remarks = (*found.remarks, found.records.unsaved) if found.records.unsaved else found.remarks
    made = ReportResult(report_fields(found.findings, found.left_out), found, remarks=remarks)
    return made if place is None else made.save(place)
