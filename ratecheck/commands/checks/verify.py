"""``ratecheck verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ratecheck.api.checks.verify import VerifyResult, verify
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import FINDING, OF_VERDICT
from ratecheck.participation.build import forms


@click.command(name="verify")
@arguments.keys_argument
@arguments.problem_option
@arguments.engine_option
@arguments.seed_option
@click.option(
    "--replicates", default=1024, show_default=True, help="Monte Carlo runs at most; fewer where they decide."
)
@arguments.threads_option
@click.option("--level", default=0.01, show_default=True, help="Error probability of a Monte Carlo verdict.")
@click.option(
    "--participation",
    metavar="PATTERN",
    help=f"Who takes part: {', '.join(form.form or form.name for form in forms().values())} or a file.",
)
@click.option("--traces", default=3, show_default=True, help="Participations that are drawn, where each is a check.")
@click.option(
    "--instance",
    type=click.Path(path_type=Path),
    help="Evaluate the instance in this file again, which 'ratecheck falsify' wrote; no KEY then.",
)
@click.option(
    "--ignore-conditions", is_flag=True, help="Compare even where a step size breaks the statement's conditions."
)
@arguments.noise_option
@click.option("--prove", is_flag=True, help="Look for a proof for all instances with the constants of this one.")
@arguments.json_option
def command(words: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Compare both sides of statement KEY on a problem and certify every assumption.

    Several KEYs, or a paper's name for all of its statements, end in a table. By default there are 10 clients, 9 of
    them per round, 25 local steps, 400 rounds and noise of size 0.3. Who takes part is what the statement assumes; one
    about any participation is checked on several drawn ones. Step sizes default to the prescribed ones, else to the
    largest admissible product and the smallest outer ones. Other names are parameters of the problem, such
    as coupling=0.3.
    """
    keys, assignments = arguments.divide_words(words) if words or options["instance"] is None else ((), ())

    def shown(each: VerifyResult) -> None:
        arguments.say(f"{each}\n")

    found = verify(*keys, each=None if as_json else shown, parameters=arguments.parse_values(assignments), **options)
    if as_json or options["instance"] is not None:
        arguments.print_result(found, as_json=as_json)
    else:
        arguments.print_remarks(found)
        if len(found.verdicts) > 1:
            arguments.say(found.table)
    codes = {OF_VERDICT[verdict.outcome] for verdict in found.verdicts}
    return FINDING if FINDING in codes else max(codes)
