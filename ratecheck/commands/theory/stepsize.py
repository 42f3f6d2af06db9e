"""``ratecheck stepsize``."""

from __future__ import annotations

import click

from ratecheck.api.theory.stepsize import stepsize
from ratecheck.commands import arguments


@click.command(name="stepsize")
@arguments.key_argument
@arguments.values_argument
@click.option(
    "--region", "axes", metavar="X,Y", help="Also the region of two step sizes (or constants), the others free."
)
@arguments.json_option
def command(key: str, assignments: tuple[str, ...], axes: str | None, as_json: bool) -> int:
    """Give the step sizes that statement KEY admits, prescribes, and that minimise its bound.

    Give the constants of the problem (L, F_0, ...) and the setting (n, m, K, T); step sizes given too are taken as
    fixed. Exit code 3 where nothing is admissible; the conflicting conditions are named, and what would do instead.
    Exit code 1 where the bound is negative at admissible step sizes although what it bounds never is.
    """
    found = stepsize(key, region=axes, parameters=arguments.parse_values(assignments))
    arguments.print_result(found, as_json=as_json)
    return (1 if found.impossible else 0) if found.feasible else 3
