"""``ratecheck explore``."""

from __future__ import annotations

from pathlib import Path

import click

from ratecheck.api.theory.explore import explore
from ratecheck.commands.arguments import json_option, key_argument, parse_values, print_result, values_argument


@click.command(name="explore")
@key_argument
@values_argument
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="PAGE.html", help="Where the page goes.")
@click.option("--points", default=5, show_default=True, help="Left sides to measure along each size of the run.")
@json_option
def command(key: str, assignments: tuple[str, ...], out: Path, points: int, as_json: bool) -> None:
    """Write a page with sliders for the numbers of statement KEY.

    The browser computes the bound by terms, its conditions and the admissible step sizes from the statement's own
    formulas; left sides that "verify" measured stand beside the bound. The page needs no network. Its address restores
    a setting, and it names the command that repeats it. The sliders begin at NAME=VALUE, and at the numbers of "verify"
    for what is not given.
    """
    print_result(explore(key, out=out, points=points, parameters=parse_values(assignments)), as_json=as_json)
