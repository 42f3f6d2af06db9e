"""``ratecheck new``."""

from __future__ import annotations

import click

from ratecheck.api.theory.new import METHOD, new
from ratecheck.commands.arguments import json_option, print_result
from ratecheck.errors import InputError


@click.command(name="new")
@click.argument("kind", metavar="theorem")
@click.argument("file", metavar="FILE.py")
@click.option("--name", default="descent", show_default=True, help="What the file calls the theorem.")
@click.option("--sentence", help="The theorem, such as 'mean grad2 <= 2*F_0/(gamma*T)'.")
@click.option("--latex", help=r"The theorem in LaTeX, such as 'mean grad2 \le \frac{2 F_0}{\gamma T}'.")
@click.option("--method", default=METHOD, show_default=True, help="The method; 'ratecheck list methods' has them.")
@click.option("--given", help="What is assumed, such as 'smooth, convex'.")
@click.option("--when", help="Conditions, such as 'gamma <= 1/L'.")
@json_option
def command(
    kind: str, file: str, name: str, sentence: str | None, latex: str | None, method: str, given: str | None,
    when: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Write a theorem in one sentence to FILE.py: one that holds, ready to be changed, or yours.

    Every command takes it as FILE.py:NAME. A file that exists is left as it is, and the exit code is 2.
    """
    if sentence is not None and latex is not None:
        raise InputError("give the theorem once: --sentence or --latex, which takes either")
    said = latex if sentence is None else sentence
    print_result(new(kind, file, name=name, sentence=said, method=method, given=given, when=when), as_json=as_json)
