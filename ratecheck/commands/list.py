"""``ratecheck list``."""

from __future__ import annotations

import click

import bounds
from bounds.statement import Statement
from ratecheck.commands.arguments import json_option, print_json
from ratecheck.views.text import catalogue_text, table


@click.command(name="list")
@click.argument("paper", required=False)
@click.option("--summary", is_flag=True, help="Only how many statements each paper has.")
@json_option
def command(paper: str | None, summary: bool, as_json: bool) -> None:
    """List the statements of the catalogue, or of one PAPER."""
    papers = (paper,) if paper else bounds.PAPERS
    found = {name: bounds.statements(name) for name in papers}
    if summary:
        counts = {name: _counts(statements) for name, statements in found.items()}
        if as_json:
            print_json(counts)
        else:
            rows = [["paper", "statements", "with a value", "order only"]]
            rows += [[name, *(str(count) for count in row.values())] for name, row in counts.items()]
            click.echo(table(rows))
        return
    listed = [statement for statements in found.values() for statement in statements]
    if as_json:
        fields = [
            {"key": s.key, "title": s.title, "number": s.source.number, "order_only": s.order_only} for s in listed
        ]
        print_json(fields)
    else:
        click.echo(catalogue_text(listed))


def _counts(statements: tuple[Statement, ...]) -> dict[str, int]:
    orders = sum(statement.order_only for statement in statements)
    return {"statements": len(statements), "with a value": len(statements) - orders, "order only": orders}
