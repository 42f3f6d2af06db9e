"""``ratecheck run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ratecheck.api.records.run import ShardResult, measured
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE, of_claims


@click.command(name="run")
@arguments.study_argument
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: results/NAME OF THE STUDY.")
@arguments.study_replicates_option
@arguments.threads_option
@arguments.only_option
@click.option(
    "--quick",
    is_flag=True,
    help="A smoke test: fewer rounds and replicates, verdicts marked as such, one PNG with all figures.",
)
@arguments.theorems_option
@arguments.scheduler_option
@click.option("--shard", metavar="I/N", help="Only the cells of part I of N, and no claims: for arrays of jobs.")
@arguments.json_option
def command(study_file: Path, as_json: bool, **options: Any) -> int:
    """Run the study in STUDY.toml, check its claims and draw its figures.

    What is done is kept in FOLDER/cells: an interrupted run goes on where it stopped, and only what a changed study
    file touches is computed again. With --shard 1/3, 2/3 and 3/3, one after the other or at once, each computes a third
    of the cells; the same command without --shard gathers them. Exit code 0 where every claim is CONFIRMED or, by
    --quick, SKIPPED, 1 where one is REFUTED or MIXED, else 3; 0 for a shard.
    """
    with arguments.printed_first(as_json=as_json):
        found = measured(study_file, **options)
    if isinstance(found, ShardResult):
        arguments.print_result(found, as_json=as_json)
        return DONE
    if as_json:
        with arguments.printed_first(as_json=True):
            found = found.drawn()
        arguments.print_result(found, as_json=True)
    else:
        # What was found is on the screen before a file can fail.
        arguments.say(str(found))
        arguments.print_remarks(found)
        arguments.say(found.drawn().drawn_text)
    return of_claims(found.findings)
