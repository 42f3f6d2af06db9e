"""``ratecheck compare``."""

from __future__ import annotations

from pathlib import Path

import click

import bounds
from ratecheck.commands.arguments import (
    divide_words,
    json_option,
    keys_argument,
    note,
    parse_values,
    print_json,
    say,
)
from ratecheck.complexity import compare as checks
from ratecheck.views.compare import comparison_fields, comparison_text, write_comparison
from ratecheck.views.plots import check_target
from ratecheck.views.progress import progress


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
    statements = [bounds.get(key) for key in keys]
    given = parse_values(assignments, *(statement.vocabulary for statement in statements))
    if out is not None:
        check_target(out)
    chosen = checks.read_axes(statements, axes)
    with progress("comparing") as report:
        found = checks.compare(statements, given, chosen, progress=report)
    for name in given:
        if all(name in statement.unused({name: given[name]}) for statement in statements):
            note(f"no bound depends on {name}")
    if as_json:
        print_json({**comparison_fields(found), "file": None if out is None else str(out)})
    else:
        say(comparison_text(found))
    if out is not None:
        with progress("drawing"):
            write_comparison(found, out)
        if not as_json:
            say(f"written to {out}")
