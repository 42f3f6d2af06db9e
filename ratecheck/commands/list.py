"""``ratecheck list``."""

from __future__ import annotations

import click

import bounds
from bounds.statement import Statement
from ratecheck.commands.arguments import json_option, print_json, say
from ratecheck.views.text import catalogue_text
from ratecheck.views.width import table


@click.command(name="list")
@click.argument("paper", required=False)
@click.option("--summary", is_flag=True, help="Only how many statements each paper has.")
@json_option
def command(paper: str | None, summary: bool, as_json: bool) -> None:
    """List the statements of the catalogue, or of one PAPER, or of a file of your own.

    The summary counts a statement as repaired where its key says so, and what is left out of the catalogue apart.
    """
    papers = (paper,) if paper is not None else bounds.PAPERS
    if summary:
        counts = {name: count(name) for name in papers}
        if as_json:
            print_json(counts)
        else:
            rows = [["paper", *next(iter(counts.values()))]]
            rows += [[name, *map(str, row.values())] for name, row in counts.items()]
            say(table(rows))
        return
    listed = {address: statement for name in papers for address, statement in _addressed(name).items()}
    if as_json:
        fields = [
            {"key": address, "title": s.title, "number": s.source.number, "order_only": s.order_only}
            for address, s in listed.items()
        ]
        print_json(fields)
    else:
        say(catalogue_text(listed))


def _addressed(paper: str) -> dict[str, Statement]:
    """What commands take for each statement of a paper or of a user's file."""
    if bounds.own.is_own(paper):
        return bounds.own.addresses(paper)
    return {statement.key: statement for statement in bounds.statements(paper)}


def count(paper: str) -> dict[str, int]:
    """How many statements of a paper there are, by kind, and how many are left out of the catalogue."""
    statements = bounds.statements(paper)
    orders = sum(statement.order_only for statement in statements)
    repaired = sum(bool(statement.repairs) for statement in statements)
    return {
        "statements": len(statements),
        "printed": len(statements) - repaired,
        "repaired": repaired,
        "with a value": len(statements) - orders,
        "order only": orders,
        "left out": len(bounds.left_out(paper)),
    }
