"""``ratecheck bound``."""

from __future__ import annotations

import math

import click

from ratecheck.api.theory.bound import bound
from ratecheck.commands import arguments
from ratecheck.errors import InputError


@click.command(name="bound")
@arguments.key_argument
@arguments.values_argument
@arguments.json_option
def command(key: str, assignments: tuple[str, ...], as_json: bool) -> int:
    """Evaluate the bound of statement KEY and check its conditions.

    Step sizes that the statement itself sets are filled in. A step size outside its condition is reported with the
    largest admissible value, and the exit code is 2: the number printed then bounds nothing. So it is for a bound that
    is infinite or leaves the range of floats. Exit code 1 where all conditions hold and the bound is negative although
    what it bounds never is.
    """
    found = bound(key, parameters=arguments.parse_values(assignments))
    arguments.print_result(found, as_json=as_json)
    evaluation = found.evaluation
    if not evaluation.applicable:
        raise InputError(" ".join(check.broken for check in evaluation.broken))
    infinite = [f"{name} = {value}" for name, value in evaluation.claims.items() if not math.isfinite(value)]
    if infinite:
        raise InputError(
            f"the bound of {found.statement.key} overflows float64 ({', '.join(infinite)}), or divides by zero"
        )
    return 1 if found.impossible else 0
