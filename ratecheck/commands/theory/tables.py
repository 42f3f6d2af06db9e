"""``ratecheck tables``."""

from __future__ import annotations

import click

from ratecheck.api.theory.tables import tables
from ratecheck.commands import arguments
from ratecheck.outcome import Outcome


@click.command(name="tables")
@click.argument("name", required=False)
@arguments.json_option
def command(name: str | None, as_json: bool) -> int:
    """Print the papers' tables of rates, or the one called NAME, with a verdict for every row.

    A row of the paper's own is compared with its theorem, a row about other work with what the paper says of it, both
    up to constant factors. The exit code is 1 where a row is refuted, 3 where there is nothing to check a claim
    with.
    """
    found = tables(name)
    arguments.print_result(found, as_json=as_json)
    return {Outcome.VIOLATED: 1, Outcome.HOLDS: 0}.get(found.outcome, 3)
