"""``ratecheck list``."""

from __future__ import annotations

import click

from ratecheck.api.theory.catalogue import catalogue
from ratecheck.api.theory.vocabulary import KINDS, vocabulary
from ratecheck.commands import arguments


@click.command(name="list")
@click.argument("paper", required=False)
@click.option("--summary", is_flag=True, help="Only how many statements each paper has.")
@arguments.json_option
def command(paper: str | None, summary: bool, as_json: bool) -> None:
    """List the statements of the catalogue, or of one PAPER, or of a file of your own.

    'list methods', 'list symbols' and 'list assumptions' have the words of a theorem; 'show NAME' has what the method
    of that name computes in a round.

    The summary counts a statement as repaired where it repairs another, and what is left out of the catalogue apart.
    """
    if paper in KINDS and not summary:
        arguments.print_result(vocabulary(paper), as_json=as_json)
        return
    arguments.print_result(catalogue(paper, summary=summary), as_json=as_json)
