"""``ratecheck show``."""

from __future__ import annotations

import sys

import click

from ratecheck.api.result import Result
from ratecheck.api.theory.show import show
from ratecheck.commands import arguments
from ratecheck.errors import InputError, printable


@click.command(name="show")
@arguments.key_argument
@click.option("--latex", is_flag=True, help="Print LaTeX (needs amsmath and amssymb).")
@click.option("--markdown", is_flag=True, help="Print Markdown with formulas between dollar signs.")
@click.option("--ascii", "as_ascii", is_flag=True, help="Print nothing but ASCII.")
@arguments.json_option
def command(key: str, latex: bool, markdown: bool, as_ascii: bool, as_json: bool) -> None:
    """Show the statement KEY: claims, assumptions, conditions, step sizes, and what every symbol means.

    Symbols that the paper defines, such as the constants of its analysis, are explained under "where".

    The name of a method, such as scaffold, shows what it computes in a round.
    """
    if latex + markdown + as_ascii + as_json > 1:
        raise InputError("--latex, --markdown, --ascii and --json exclude each other: give one of them")
    if not {"/", "."} & {*key} and (found := _method(key)):
        if latex or markdown:
            raise InputError(f"{key} is a method, whose formulas are text: --latex and --markdown are for statements")
        arguments.print_result(found, as_json=as_json)
        return
    shown = show(key)
    if as_json:
        arguments.print_result(shown, as_json=True)
    elif latex or markdown:
        click.echo(printable(shown.latex if latex else shown.markdown))
    else:
        text = str(shown)
        click.echo(printable(text if _writable(text) and not as_ascii else shown.ascii))


def _method(name: str) -> Result | None:
    """The method of that name, if there is one; statements need not wait for the methods."""
    from ratecheck.api.theory.method import known, method

    return method(name) if known(name) else None


def _writable(text: str) -> bool:
    """Whether stdout has all characters of the text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
