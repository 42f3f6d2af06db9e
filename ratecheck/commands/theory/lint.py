"""``ratecheck lint``."""

from __future__ import annotations

import json

import click

from ratecheck.api.theory.lint import lint, statement_schema
from ratecheck.commands.arguments import json_option, print_result
from ratecheck.commands.exit_codes import DONE, FINDING
from ratecheck.linting.lint import EVALUATIONS


@click.command(name="lint")
@click.argument("statements", metavar="[KEY|PAPER|FILE.py[:NAME]|FILE.json]...", nargs=-1)
@click.option("--schema", is_flag=True, help="Print the JSON schema of a statement, for programs that write one.")
@click.option(
    "--evaluations",
    type=click.IntRange(min=0),
    default=EVALUATIONS,
    show_default=True,
    help="Search every statement that short runs do not refute, with so many instances.",
)
@click.option(
    "--seconds", type=float, help="Time after which a search ends, and says so; the answer then depends on the machine."
)
@json_option
def command(statements: tuple[str, ...], schema: bool, evaluations: int, seconds: float | None, as_json: bool) -> int:
    """Look for mistakes in statements before anything is run.

    Do all terms and conditions keep their truth in other units? Is every symbol and assumption used, can the conditions
    hold together, do the step sizes that are set meet them? Does the bound behave in limits, is it above the left side
    in runs of one and two rounds, and wherever a short search looks? Errors are proved or shown by numbers; what could
    not be checked is listed.

    Exit code 1 for an error or a warning, 0 where there are notes only.
    """
    if schema:
        click.echo(json.dumps(statement_schema(), indent=2))
        return DONE
    found = lint(*statements, evaluations=evaluations, seconds=seconds)
    print_result(found, as_json=as_json)
    return FINDING if found.wrong else DONE
