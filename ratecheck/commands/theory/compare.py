"""``ratecheck compare``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ratecheck.api.result import target
from ratecheck.api.theory.compare import compare
from ratecheck.commands.arguments import divide_words, json_option, keys_argument, parse_values, print_and_save


@click.command(name="compare")
@keys_argument
@click.option(
    "--over", "axes", multiple=True, metavar="NAME=LOW:HIGH[:POINTS]", help="An axis; give it twice for a map."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Draw it: PNG, SVG or PDF.")
@json_option
def command(words: tuple[str, ...], axes: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Tell which of the bounds of the statements KEY KEY ... is smaller, at one setting, along an axis or over two.

    Numbers are given by the names of the papers, each statement taking those that it knows; an axis may move several
    names together, as in --over m,S=1:10. Step sizes follow each statement's rules; those that it leaves open minimise
    its bound.
    """
    keys, assignments = divide_words(words)
    file = target(out)
    print_and_save(replace(compare(*keys, over=axes, parameters=parse_values(assignments)), file=file), as_json=as_json)
