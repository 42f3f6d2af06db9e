"""``ratecheck rates``."""

from __future__ import annotations

from pathlib import Path

import click

from ratecheck import files
from ratecheck.api.checks.rates import rates
from ratecheck.commands import instances
from ratecheck.commands.arguments import json_option, key_argument, print_result, scheduler_option
from ratecheck.commands.exit_codes import of_card
from ratecheck.execution import cores


@click.command(name="rates")
@key_argument
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
    "given",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="An instance of 'falsify --out' that takes part in the worst case, scaled and continued; may be repeated.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Processes; one per core by default.")
@scheduler_option
@json_option
def command(
    key: str,
    over: str | None,
    seed: int,
    path: Path | None,
    given: tuple[Path, ...],
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> int:
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
    count = workers or (1 if scheduler else cores())
    found = rates(key, over=over, seed=seed, workers=count, scheduler=scheduler, instances=given)
    print_result(found, as_json=as_json)
    address = instances.own((key,)).get(found.card.statement.key, "")
    instances.save(found.instance, path, address, violates=True)
    return of_card(found.card)
