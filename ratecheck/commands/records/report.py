"""``ratecheck report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ratecheck.api.document import check_out
from ratecheck.api.records.report import report
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import of_claims


@click.command(name="report")
@arguments.study_argument
@arguments.document_option
@click.option(
    "--results", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: results/NAME OF THE STUDY."
)
@arguments.study_replicates_option
@arguments.threads_option
@arguments.only_option
@click.option("--quick", is_flag=True, help="A smoke test: fewer rounds and replicates, verdicts marked as such.")
@arguments.theorems_option
@arguments.scheduler_option
@arguments.json_option
def command(study_file: Path, out: Path | None, as_json: bool, **options: Any) -> int:
    """Report what the study in STUDY.toml finds: which claims hold, by which comparisons, and what was not checked.

    Prints a summary. With --out it writes the whole report, as one HTML file with figures and data inside, or as
    Markdown. Cells that 'ratecheck run' has stored in FOLDER are used, and what is missing is computed first. Exit code
    0 where every claim is CONFIRMED or, by --quick, SKIPPED, 1 where one is REFUTED or MIXED, else 3.
    """
    if out is not None:
        check_out(out)
    found = report(study_file, **options)
    arguments.print_document(found, out, as_json=as_json)
    return of_claims(found.run.findings)
