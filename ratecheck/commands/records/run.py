"""``ratecheck run``."""

from __future__ import annotations

from pathlib import Path

import click

from ratecheck.api.records.run import ShardResult, measured
from ratecheck.commands.arguments import (
    json_option,
    print_remarks,
    print_result,
    printed_first,
    say,
    scheduler_option,
    theorems_option,
    threads_option,
)
from ratecheck.commands.exit_codes import DONE, of_claims


@click.command(name="run")
@click.argument("study_file", metavar="STUDY.toml", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: results/NAME OF THE STUDY.")
@click.option("--replicates", type=click.IntRange(min=2), help="Replicates of every curve, instead of the file's.")
@threads_option
@click.option("--only", multiple=True, metavar="NAME", help="Only this figure; may be given several times.")
@click.option(
    "--quick",
    is_flag=True,
    help="A smoke test: fewer rounds and replicates, verdicts marked as such, one PNG with all figures.",
)
@theorems_option
@scheduler_option
@click.option("--shard", metavar="I/N", help="Only the cells of part I of N, and no claims: for arrays of jobs.")
@json_option
def command(
    study_file: Path,
    out: Path | None,
    replicates: int | None,
    threads: int | None,
    only: tuple[str, ...],
    quick: bool,
    theorems: tuple[str, ...],
    scheduler: str | None,
    shard: str | None,
    as_json: bool,
) -> int:
    """Run the study in STUDY.toml, check its claims and draw its figures.

    What is done is kept in FOLDER/cells: an interrupted run goes on where it stopped, and only what a changed study
    file touches is computed again. With --shard 1/3, 2/3 and 3/3, one after the other or at once, each computes a third
    of the cells; the same command without --shard gathers them. Exit code 0 where every claim is CONFIRMED or, by
    --quick, SKIPPED, 1 where one is REFUTED or MIXED, else 3; 0 for a shard.
    """
    with printed_first(as_json=as_json):
        found = measured(
            study_file, out=out, replicates=replicates, threads=threads, only=only, quick=quick, scheduler=scheduler,
            shard=shard, theorems=theorems,
        )  # fmt: skip
    if isinstance(found, ShardResult):
        print_result(found, as_json=as_json)
        return DONE
    # What was found is on the screen before a file can fail.
    if not as_json:
        say(str(found))
        print_remarks(found)
        found = found.drawn()
    else:
        with printed_first(as_json=True):
            found = found.drawn()
    if as_json:
        print_result(found, as_json=True)
    else:
        say(found.drawn_text)
    return of_claims(found.findings)
