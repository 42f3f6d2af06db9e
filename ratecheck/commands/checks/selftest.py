"""``ratecheck selftest``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

import bounds
from ratecheck import files
from ratecheck.api.checks.selftest import SelfTest
from ratecheck.commands.arguments import json_option, note, print_result, scheduler_option, seed_option, workers_option
from ratecheck.selftesting.run import SelfTestReport


def _count(text: str) -> int | str:
    """The number of mutants; text that is no whole number is returned as it is."""
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text) else text


@click.command(name="selftest")
@click.argument("scopes", metavar="[KEY|PAPER|textbook]...", nargs=-1)
@click.option("--mutants", default="60", show_default=True, metavar="N", help="Mutants to try in all; or 'all'.")
@click.option("--instances", default=200, show_default=True, help="Valid instances of sound statements in all.")
@click.option("--planted", default=100, show_default=True, help="Monte Carlo verdicts at a known truth.")
@click.option("--evaluations", default=150, show_default=True, help="Instances that the search tries per mutant.")
@click.option(
    "--seconds", type=float, help="Time after which a search on a mutant ends; the counts then depend on the machine."
)
@workers_option
@scheduler_option
@seed_option
@json_option
def command(
    scopes: tuple[str, ...], mutants: str, workers: int | None, scheduler: str | None, as_json: bool, **options: Any
) -> int:
    """Measure whether the checks notice wrong statements and leave right ones alone.

    Sound statements are made wrong on purpose, one change at a time, and audit, falsify and verify examine
    each. The sound statements themselves are evaluated on random valid instances, and Monte Carlo where the truth is
    known. All statements by default; the long form is --mutants all --instances 10000 --planted 2000. A sound statement
    that is called violated is saved as KEY-alarm-NUMBER.json, and "ratecheck verify --instance FILE" evaluates it again
    (with path/to/file.py:name before it for a statement of your own). "textbook" is a set of true statements in forms
    of all kinds, with false twins, which have to be caught; it is part of the default.
    Exit code 1 where a share is missed or there is a false alarm.
    """
    prepared = SelfTest.of(*scopes, mutants=_count(mutants), **options)
    kept = prepared.kept
    if kept.found:
        note(f"going on where the same self-test was interrupted: {kept.found} parts are kept in {kept.folder}")
    try:
        found = prepared.run(workers, scheduler)
    except KeyboardInterrupt:
        note("what is finished is kept; the same command goes on from there")
        raise
    print_result(found, as_json=as_json)
    _save_alarms(found.report)
    return 1 if found.failures else 0


def _save_alarms(found: SelfTestReport) -> None:
    for place, alarm in enumerate(found.alarms, start=1):
        path = Path(f"{alarm.key.replace('/', '-').replace(':', '-')}-alarm-{place}.json")
        files.save(path, json.dumps(alarm.instance, indent=1) + "\n")
        address = f"{alarm.key} " if bounds.own.is_own(alarm.key) else ""
        note(f"saved {path}: 'ratecheck verify {address}--instance {path}' evaluates it again")
