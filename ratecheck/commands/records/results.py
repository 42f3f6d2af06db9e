"""``ratecheck results``."""

from __future__ import annotations

from pathlib import Path

import click

from ratecheck.api.records.results import results
from ratecheck.commands import arguments
from ratecheck.errors import InputError


@click.command(name="results")
@click.argument("store", required=False, default="results", type=click.Path(path_type=Path))
@click.option(
    "--where", multiple=True, metavar="NAME=VALUE[,...]", help="Only cells with one of these; may be repeated."
)
@click.option("--columns", metavar="NAME,...", help="These columns; with --json and --out all by default.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write FILE.csv or FILE.parquet.")
@arguments.json_option
def command(store: Path, where: tuple[str, ...], columns: str | None, out: Path | None, as_json: bool) -> None:
    """Tabulate what studies have stored in STORE, by default 'results': settings, replicates, steady states.

    STORE is the folder of one study's results or of several. Whoever runs the study again, with the same code, is given
    these cells.
    """
    with arguments.printed_first(as_json=as_json):
        found = results(
            store, where=_conditions(where), columns=None if columns is None else columns.split(","), out=out
        )
    arguments.print_result(found, as_json=as_json)


def _conditions(words: tuple[str, ...]) -> dict[str, list[str]]:
    conditions: dict[str, list[str]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InputError(f"{word!r} is not of the form NAME=VALUE, such as K=5")
        if name in conditions:
            raise InputError(f"{name} is given twice; {name}=VALUE,VALUE takes either")
        conditions[name] = text.split(",")
    return conditions
