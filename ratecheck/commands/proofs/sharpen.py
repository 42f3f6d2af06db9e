"""``ratecheck sharpen``."""

from __future__ import annotations

from typing import Any

import click

from ratecheck.api.proofs.sharpen import sharpen
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE, FINDING, OPEN
from ratecheck.outcome import Outcome


@click.command(name="sharpen")
@arguments.key_argument
@click.option("--caps", is_flag=True, help="Widen the upper limits on step sizes first.")
@click.option(
    "--evaluations", default=0, show_default=True, help="Search the sharper theorem for violations so many times."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the search.")
@arguments.certificates_option
@arguments.coq_option
@arguments.json_option
def command(key: str, as_json: bool, **options: Any) -> int:
    """Find the smallest constants for which the proof of KEY, implication by implication, still has certificates.

    Printed are the factors that may be smaller, in the theorem and in the lemmas behind it, all of them together; then
    the theorem with them, and what it rests on. Exit code 1 where a search refutes it, 3 where a link of the theorem
    itself has no certificate.
    """
    with arguments.printed_first(as_json=as_json):
        found = sharpen(key, **options)
    arguments.print_result(found, as_json=as_json)
    if found.search is not None and found.search.outcome is Outcome.VIOLATED:
        return FINDING
    return OPEN if found.theorem.theorem.open else DONE
