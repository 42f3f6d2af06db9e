"""``ratecheck prove``."""

from __future__ import annotations

import click

from ratecheck.api.proofs.prove import prove
from ratecheck.commands.arguments import (
    coq_option,
    json_option,
    key_argument,
    parse_values,
    print_result,
    values_argument,
)
from ratecheck.commands.exit_codes import DONE, FINDING, OPEN


@click.command(name="prove")
@key_argument
@values_argument
@click.option(
    "--evaluations", default=300, show_default=True, help="Search so many instances for a violation; 0 for none."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the search.")
@click.option("--certificate", metavar="FILE.json", help="Write the proof to a file that recheck.py checks.")
@coq_option
@json_option
def command(
    key: str,
    assignments: tuple[str, ...],
    evaluations: int,
    seed: int,
    certificate: str | None,
    coq: str | None,
    as_json: bool,
) -> int:
    """Prove statement KEY at given numbers from its method alone, by a potential that is found.

    The verdict holds for all functions that are assumed, in every dimension, and for noise of every law; it is one of
    exact arithmetic. Numbers that are not given are of order 1, and are listed. A short search looks for a violation at
    any numbers: exit code 1 where an instance refutes KEY. Exit code 3 where no proof of the right side is found: that
    refutes nothing, and the smallest multiple of it that is proved is printed.
    """
    found = prove(
        key,
        evaluations=evaluations,
        seed=seed,
        certificate=certificate,
        coq=coq,
        parameters=parse_values(assignments),
    )
    print_result(found, as_json=as_json)
    if found.refuted:
        return FINDING
    return DONE if found.proved else OPEN
