"""``ratecheck tables``."""

from __future__ import annotations

import click

from bounds.ledger import rate_table
from ratecheck.commands.arguments import json_option, print_json, say
from ratecheck.complexity.tables import check_table
from ratecheck.outcome import Outcome
from ratecheck.views.progress import progress
from ratecheck.views.tables import table_fields, table_text


@click.command(name="tables")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> int:
    """Print the papers' tables of rates, or the one called NAME, with a verdict for every row.

    A row of the paper's own is compared with its theorem, a row about other work with what the paper says of it, both
    up to constant factors. The exit code is 1 where a row is refuted, 3 where there is nothing to check a claim
    with.
    """
    chosen = [rate_table.get(name)] if name is not None else list(rate_table.tables().values())
    reports = []
    with progress("checking tables") as report:
        for each in chosen:
            reports.append(check_table(each))
            report(len(reports) / len(chosen))
    if as_json:
        fields = [table_fields(report) for report in reports]
        print_json(fields[0] if name is not None else fields)
    else:
        say("\n\n".join(map(table_text, reports)))
    outcomes = {report.outcome for report in reports}
    return 1 if Outcome.VIOLATED in outcomes else 0 if outcomes == {Outcome.HOLDS} else 3
