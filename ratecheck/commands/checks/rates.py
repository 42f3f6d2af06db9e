"""``ratecheck rates``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ratecheck import files
from ratecheck.api.checks.rates import rates
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import of_card
from ratecheck.commands.instances import own, save
from ratecheck.execution import cores


@click.command(name="rates")
@arguments.key_argument
@click.option(
    "--over",
    metavar="NAMES",
    help="What varies, such as K,T: symbols of the paper, or K, T, tau, gamma where it has others; by default sizes of "
    "the run, delays, step sizes that are not prescribed, and constants.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the search for settings.")
@click.option("--out", "path", type=click.Path(path_type=Path), help="Where an instance goes that passes the bound.")
@click.option(
    "--instance",
    "instances",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="An instance of 'falsify --out' that takes part in the worst case, scaled and continued; may be repeated.",
)
@click.option("--prove", is_flag=True, help="Say what of the right side is proved too, at the numbers of 'prove'.")
@arguments.workers_option
@arguments.scheduler_option
@arguments.json_option
def command(key: str, path: Path | None, as_json: bool, **options: Any) -> int:
    """Say for every term of statement KEY whether the worst case moves with K, m, n, T, ... as the term does.

    For each term and parameter the settings are chosen so that the term is nearly all of the bound. Its exponent stands
    beside that of the largest left side over hard instances: ATTAINED where both agree, LOOSE where the worst case
    found falls behind, EXCEEDED where it passes the bound and 'verify' says so too, OPEN where it passes the bound and
    nothing confirms it, NOT REACHED where the conditions leave no such settings. An
    instance that passes the bound is saved, by default as KEY-violated.json, and "ratecheck verify --instance FILE"
    evaluates it again. Exit code 1 where a cell is EXCEEDED, else 3 where one is OPEN.

    'scaling' is about one given problem; 'plot --rates' draws the card.
    """
    if path is not None:
        files.check_target(path)
    options["workers"] = options["workers"] or (1 if options["scheduler"] else cores())
    found = rates(key, **options)
    arguments.print_result(found, as_json=as_json)
    save(found.instance, path, own((key,)).get(found.card.statement.key, ""), violates=True)
    return of_card(found.card)
