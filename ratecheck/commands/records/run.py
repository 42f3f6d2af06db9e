"""``ratecheck run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ratecheck.api.records.run import ShardResult, measured
from ratecheck.commands.arguments import (
    json_option,
    only_option,
    print_remarks,
    print_result,
    printed_first,
    say,
    scheduler_option,
    study_argument,
    study_replicates_option,
    theorems_option,
    threads_option,
)
from ratecheck.commands.exit_codes import DONE, of_claims


@click.command(name="run")
@study_argument
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: results/NAME OF THE STUDY.")
@study_replicates_option
@threads_option
@only_option
@click.option(
    "--quick",
    is_flag=True,
    help="A smoke test: fewer rounds and replicates, verdicts marked as such, one PNG with all figures.",
)
@theorems_option
@scheduler_option
@click.option("--shard", metavar="I/N", help="Only the cells of part I of N, and no claims: for arrays of jobs.")
@json_option
def command(study_file: Path, as_json: bool, **options: Any) -> int:
    """Run the study in STUDY.toml, check its claims and draw its figures.

    What is done is kept in FOLDER/cells: an interrupted run goes on where it stopped, and only what a changed study
    file touches is computed again. With --shard 1/3, 2/3 and 3/3, one after the other or at once, each computes a third
    of the cells; the same command without --shard gathers them. Exit code 0 where every claim is CONFIRMED or, by
    --quick, SKIPPED, 1 where one is REFUTED or MIXED, else 3; 0 for a shard.
    """
    with printed_first(as_json=as_json):
        found = measured(study_file, **options)
    if isinstance(found, ShardResult):
        print_result(found, as_json=as_json)
        return DONE
    if as_json:
        with printed_first(as_json=True):
            found = found.drawn()
        print_result(found, as_json=True)
    else:
        # What was found is on the screen before a file can fail.
        say(str(found))
        print_remarks(found)
        say(found.drawn().drawn_text)
    return of_claims(found.findings)
