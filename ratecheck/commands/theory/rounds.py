"""``ratecheck rounds``."""

from __future__ import annotations

import click

from ratecheck.api.theory.rounds import rounds
from ratecheck.commands import arguments


@click.command(name="rounds")
@arguments.key_argument
@arguments.values_argument
@click.option(
    "--best", is_flag=True, help="Let every step size that the statement leaves a choice take its best value."
)
@arguments.json_option
def command(key: str, assignments: tuple[str, ...], best: bool, as_json: bool) -> int:
    """Give the smallest T for which the bound of statement KEY is at most eps=..., and what so many rounds cost.

    Also the smallest T from which the bound says more than smoothness alone; without eps that alone. Step sizes follow
    the statement's rules at every T, smallest admissible values and defaults included; those that it leaves open
    minimise the bound, unless given. Exit code 3 where no T up to 2^53 will do.
    """
    found = rounds(key, best=best, parameters=arguments.parse_values(assignments))
    arguments.print_result(found, as_json=as_json)
    return 3 if found.horizon.eps is not None and found.rounds is None else 0
