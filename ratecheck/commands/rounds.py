"""``ratecheck rounds``."""

from __future__ import annotations

import click

import bounds
from ratecheck.commands.arguments import json_option, key_argument, note, parse_values, print_json, say, values_argument
from ratecheck.complexity.rounds import horizon
from ratecheck.errors import InputError
from ratecheck.views.horizon import horizon_fields, horizon_text
from ratecheck.views.progress import progress


@click.command(name="rounds")
@key_argument
@values_argument
@click.option(
    "--best", is_flag=True, help="Let every step size that the statement leaves a choice take its best value."
)
@json_option
def command(key: str, assignments: tuple[str, ...], best: bool, as_json: bool) -> int:
    """Give the smallest T for which the bound of statement KEY is at most eps=..., and what so many rounds cost.

    Also the smallest T from which the bound says more than smoothness alone; without eps that alone. Step sizes follow
    the statement's rules at every T, smallest admissible values and defaults included; those that it leaves open
    minimise the bound, unless given. Exit code 3 where no T up to 2^53 will do.
    """
    statement = bounds.get(key)
    given = parse_values(assignments, statement.vocabulary)
    statement = statement.at(given)
    eps = given.pop("eps", None) if "eps" not in statement.vocabulary else None
    if statement.order_only:
        raise InputError(
            f"{statement.key} is known only up to a constant (the paper prints O(...)), so it asks for no number of "
            "rounds; 'show' prints the order"
        )
    with progress(f"searching rounds of {statement.key}"):
        answer = horizon(statement, given, eps, best=best)
    unused = statement.unused(given)
    if unused:
        note(f"{statement.key} does not depend on {', '.join(unused)}")
    if as_json:
        print_json(horizon_fields(answer))
    else:
        say(horizon_text(answer))
    return 3 if eps is not None and answer.rounds is None else 0
