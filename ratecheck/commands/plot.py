"""``ratecheck plot``."""

from __future__ import annotations

from pathlib import Path

import click

import bounds
from ratecheck.checks.sweep import PARAMETERS, check_measurable, survey
from ratecheck.checks.verify import Options
from ratecheck.commands.arguments import (
    json_option,
    key_argument,
    parse_values,
    print_json,
    problem_option,
    replicates_option,
    seed_option,
    threads_option,
    values_argument,
)
from ratecheck.commands.verify import prepare
from ratecheck.views.plots import check_target, survey_fields, survey_text, write_figure
from ratecheck.views.progress import progress


@click.command(name="plot")
@key_argument
@values_argument
@problem_option
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="PNG, SVG or PDF; by default KEY.png here."
)
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@replicates_option
@threads_option
@click.option("--vary", default="all", show_default=True, type=click.Choice([*PARAMETERS, "all"]), help="What to vary.")
@json_option
def command(
    key: str,
    assignments: tuple[str, ...],
    problem_name: str,
    out: Path | None,
    engine: str,
    seed: int,
    replicates: int,
    threads: int | None,
    vary: str,
    as_json: bool,
) -> None:
    """Draw both sides of statement KEY over rounds, and against K, m and gamma, with fitted and predicted exponents.

    The setting is given as for 'verify'; each of K, m and gamma is varied alone around it, as far as the statement
    leaves it free and admits it.
    """
    statement = bounds.get(key)
    path = out or Path(f"{statement.key.replace('/', '-')}.png")
    check_target(path)
    check_measurable(statement)
    given = parse_values(assignments, statement.vocabulary)
    problem, values, name = prepare(statement, problem_name, given)
    options = Options(engine=engine, seed=seed, replicates=replicates, threads=threads)
    chosen = PARAMETERS if vary == "all" else (vary,)
    with progress(f"measuring {statement.key}") as report:
        found = survey(statement, problem, values, options, vary=chosen, name=name, progress=report)
    write_figure(found, path)
    if as_json:
        print_json({**survey_fields(found), "file": str(path)})
    else:
        click.echo(f"{survey_text(found)}\nwritten to {path}")
