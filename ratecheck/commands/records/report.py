"""``ratecheck report``."""

from __future__ import annotations

from pathlib import Path

import click

from ratecheck.api.document import check_out
from ratecheck.api.records.report import report
from ratecheck.commands.arguments import (
    json_option,
    note,
    print_result,
    scheduler_option,
    theorems_option,
    threads_option,
)
from ratecheck.commands.exit_codes import of_claims


@click.command(name="report")
@click.argument("study_file", metavar="STUDY.toml", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write FILE.html or FILE.md.")
@click.option(
    "--results", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: results/NAME OF THE STUDY."
)
@click.option("--replicates", type=click.IntRange(min=2), help="Replicates of every curve, instead of the file's.")
@threads_option
@click.option("--only", multiple=True, metavar="NAME", help="Only this figure; may be given several times.")
@click.option("--quick", is_flag=True, help="A smoke test: fewer rounds and replicates, verdicts marked as such.")
@theorems_option
@scheduler_option
@json_option
def command(
    study_file: Path,
    out: Path | None,
    results: Path | None,
    replicates: int | None,
    threads: int | None,
    only: tuple[str, ...],
    quick: bool,
    theorems: tuple[str, ...],
    scheduler: str | None,
    as_json: bool,
) -> int:
    """Report what the study in STUDY.toml finds: which claims hold, by which comparisons, and what was not checked.

    Prints a summary. With --out it writes the whole report, as one HTML file with figures and data inside, or as
    Markdown. Cells that 'ratecheck run' has stored in FOLDER are used, and what is missing is computed first. Exit code
    0 where every claim is CONFIRMED or, by --quick, SKIPPED, 1 where one is REFUTED or MIXED, else 3.
    """
    if out is not None:
        check_out(out)
    found = report(
        study_file, results=results, replicates=replicates, threads=threads, only=only, quick=quick,
        scheduler=scheduler, theorems=theorems,
    )  # fmt: skip
    # The answer may have taken hours: it is on the screen before a full disk can lose it.
    print_result(found, as_json=as_json)
    if out is not None:
        found.save(out)
        note(f"written to {out}")
    return of_claims(found.run.findings)
