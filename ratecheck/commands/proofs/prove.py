"""``ratecheck prove``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ratecheck.api.proofs.prove import prove
from ratecheck.api.result import target
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE, FINDING, OPEN
from ratecheck.errors import InputError


@click.command(name="prove")
@arguments.key_argument
@arguments.values_argument
@click.option(
    "--evaluations", default=300, show_default=True, help="Search so many instances for a violation; 0 for none."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the search.")
@click.option("--certificate", metavar="FILE.json", help="Write the proof to a file that recheck.py checks.")
@arguments.coq_option
@click.option("--sharpest", is_flag=True, help="The smallest proved factor of each term, the others as they are.")
@click.option("--best", metavar="NAME", help="The value of a parameter, such as a step size, with the smallest bound.")
@click.option("--over", metavar="NAME=LOW:HIGH[:POINTS]", help="What is proved and found along a range.")
@click.option("--within", metavar="NAME=LOW:HIGH", help="A proof for all values in a range, as in gamma=0:1/L.")
@click.option("--potential", default="", metavar="FORMULA", help="Check this potential, as in 'gap + (x - before)**2'.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Draw --over: PNG, SVG or PDF.")
@arguments.json_option
def command(key: str, assignments: tuple[str, ...], out: Path | None, as_json: bool, **options: Any) -> int:
    """Prove statement KEY at given numbers from its method alone, by a potential that is found.

    The verdict holds for all functions that are assumed, in every dimension, and for noise of every law; it is one of
    exact arithmetic. Numbers that are not given are of order 1, and are listed. A short search looks for a violation at
    any numbers: exit code 1 where an instance refutes KEY. Exit code 3 where no proof of the right side is found: that
    refutes nothing, and the smallest multiple of it that is proved is printed. With --within the verdict is about all
    values of a parameter in a range.
    """
    file = target(out)
    if file is not None and options["over"] is None:
        raise InputError("--out draws what --over varies: give --over, as in --over K=1:16")
    found = prove(key, parameters=arguments.parse_values(assignments), **options)
    arguments.print_and_save(replace(found, file=file), as_json=as_json)
    if found.refuted:
        return FINDING
    return DONE if found.proved else OPEN
