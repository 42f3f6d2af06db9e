"""``ratecheck review``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ratecheck.api.checks.review import review
from ratecheck.api.document import check_out
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE, FINDING


@click.command(name="review")
@click.argument("subject", metavar="PAPER|KEY|FILE.py")
@arguments.document_option
@click.option(
    "--evaluations",
    type=click.IntRange(min=0),
    help="Search every statement with so many instances; by default 200 for a FILE.py, else none.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of these searches.")
@click.option("--sharpest", is_flag=True, help="How sharp the constants could be, where the argument is known.")
@click.option("--prove", is_flag=True, help="What of each right side is proved, at the numbers of 'prove'.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; one per core by default, one for searches.")
@arguments.scheduler_option
@arguments.json_option
def command(subject: str, out: Path | None, as_json: bool, **options: Any) -> int:
    """Review a PAPER, a statement or a FILE.py: what was checked, what is wrong, what holds, what nobody checked.

    Prints a summary. With --out it writes the whole review, as one HTML file with the data inside, or as Markdown.
    KEY is a statement: it is reviewed with those that it follows from. FILE.py has statements of your own, with the
    steps of their proofs or without; FILE.py:NAME is one of these. The first time takes minutes; answers are kept.
    Exit code 1 where a step is false, a statement is refuted, or the argument of a proof breaks.
    """
    if out is not None:
        check_out(out)
    found = review(subject, **options)
    arguments.print_document(found, out, as_json=as_json)
    return FINDING if found.finding else DONE
