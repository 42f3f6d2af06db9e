"""``ratecheck prove``."""

from __future__ import annotations

import click

from ratecheck.api.proofs.prove import prove
from ratecheck.commands.arguments import json_option, key_argument, parse_values, print_result, values_argument
from ratecheck.commands.exit_codes import DONE, OPEN


@click.command(name="prove")
@key_argument
@values_argument
@click.option("--certificate", metavar="FILE", help="Write what was proved to FILE, as exact data (.json).")
@json_option
def command(key: str, assignments: tuple[str, ...], certificate: str | None, as_json: bool) -> int:
    """Prove statement KEY at given numbers from its method alone, by a potential that is found.

    The verdict holds for all functions that are assumed, in every dimension, and for noise of every law; it is one of
    exact arithmetic. Numbers that are not given are of order 1, and are listed. Exit code 3 where no proof of the right
    side is found: that refutes nothing, and the smallest multiple of it that is proved is printed.
    """
    found = prove(key, certificate=certificate, parameters=parse_values(assignments))
    print_result(found, as_json=as_json)
    return DONE if found.proved else OPEN
