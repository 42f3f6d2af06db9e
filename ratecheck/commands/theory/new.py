"""``ratecheck new``."""

from __future__ import annotations

import click

from ratecheck.api.theory.new import new
from ratecheck.commands.arguments import json_option, print_result


@click.command(name="new")
@click.argument("kind", metavar="theorem")
@click.argument("file", metavar="FILE.py")
@click.option("--name", default="descent", show_default=True, help="What the file calls the theorem.")
@json_option
def command(kind: str, file: str, name: str, as_json: bool) -> None:
    """Write a theorem that holds to FILE.py, ready to be changed into your own.

    Every command takes it as FILE.py:NAME. A file that exists is left as it is, and the exit code is 2.
    """
    print_result(new(kind, file, name=name), as_json=as_json)
