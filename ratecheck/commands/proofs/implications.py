"""``ratecheck implications``."""

from __future__ import annotations

from typing import Any

import click

from ratecheck.api.proofs.implications import implications
from ratecheck.auditing.implications import ImplicationVerdict
from ratecheck.commands import arguments


@click.command(name="implications")
@click.argument("scope", metavar="[PAPER|KEY]", required=False)
@click.option("--sharpest", is_flag=True, help="Find the sharpest constants; takes minutes for a paper.")
@arguments.certificates_option
@arguments.coq_option
@arguments.json_option
def command(scope: str | None, as_json: bool, **options: Any) -> int:
    """Check what the papers say to follow from what, and with which constants it follows at best.

    All implications, or those of a PAPER, or those that conclude the statement KEY. FALSE means that the argument does
    not give the conclusion as printed; the counterexample gives admissible numbers. With --sharpest, and for a KEY,
    constants are printed -> sharpest that the same argument gives; "<=" where no counterexample to a smaller one was
    found.
    """
    with arguments.printed_first(as_json=as_json):
        found = implications(scope, **options)
    arguments.print_result(found, as_json=as_json)
    return {ImplicationVerdict.FALSE: 1, ImplicationVerdict.UNKNOWN: 3, None: 0}[found.verdict]
