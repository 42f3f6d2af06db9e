"""``ratecheck scaling``."""

from __future__ import annotations

from typing import Any

import click

from ratecheck.api.checks.scaling import scaling
from ratecheck.commands import arguments
from ratecheck.exponents.scaling import Agreement

EXIT_CODES = {Agreement.CONSISTENT: 0, Agreement.INCONSISTENT: 1, None: 3}


@click.command(name="scaling")
@arguments.key_argument
@arguments.values_argument
@arguments.problem_option
@click.option(
    "--over",
    metavar="NAMES",
    help="What to vary, such as K,T: symbols of the paper, or K, T, tau, gamma where it has others; by default local "
    "steps, participants, rounds, delay and step size.",
)
@arguments.engine_option
@arguments.seed_option
@arguments.replicates_option
@arguments.threads_option
@arguments.json_option
def command(key: str, assignments: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Compare the exponents of both sides of statement KEY in K, m, T, delay and step size.

    The setting is given as for 'verify'; each parameter is varied alone around it, or over another range where both
    sides follow no one power there. The number of clients is varied on request. Exit code 0 where every exponent is
    consistent with the bound's, 1 where one is not, 3 where there is no conclusion.
    """
    found = scaling(key, parameters=arguments.parse_values(assignments), **options)
    arguments.print_result(found, as_json=as_json)
    return EXIT_CODES[found.agreement]
