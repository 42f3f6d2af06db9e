"""``ratecheck scaling``."""

from __future__ import annotations

import click

import bounds
from ratecheck.commands.arguments import (
    json_option,
    key_argument,
    names,
    parse_values,
    print_json,
    problem_option,
    replicates_option,
    say,
    seed_option,
    threads_option,
    values_argument,
)
from ratecheck.commands.verify import prepare
from ratecheck.exponents.scaling import Agreement, scaling
from ratecheck.exponents.sweep import check_measurable
from ratecheck.verification.setting import Options
from ratecheck.views.progress import progress
from ratecheck.views.scaling import scaling_fields, scaling_text

EXIT_CODES = {Agreement.CONSISTENT: 0, Agreement.INCONSISTENT: 1, None: 3}


@click.command(name="scaling")
@key_argument
@values_argument
@problem_option
@click.option(
    "--over",
    metavar="NAMES",
    help="What to vary, such as K,T: symbols of the paper, or K, T, tau, gamma where it has others; by default local "
    "steps, participants, rounds, delay and step size.",
)
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@replicates_option
@threads_option
@json_option
def command(
    key: str,
    assignments: tuple[str, ...],
    problem_name: str | None,
    over: str | None,
    engine: str,
    seed: int,
    replicates: int,
    threads: int | None,
    as_json: bool,
) -> int:
    """Compare the exponents of both sides of statement KEY in K, m, T, delay and step size.

    The setting is given as for 'verify'; each parameter is varied alone around it. The number of clients is varied on
    request. Exit code 0 where every exponent is consistent with the bound's, 1 where one is not, 3 where there is no
    conclusion.
    """
    statement = bounds.get(key)
    check_measurable(statement)
    given = parse_values(assignments, statement.vocabulary)
    statement = statement.at(given)
    problem, values, name = prepare(statement, problem_name, given)
    options = Options(engine=engine, seed=seed, replicates=replicates, threads=threads)
    chosen = None if over is None else names(over)
    with progress(f"measuring {statement.key}") as report:
        found = scaling(statement, problem, values, options, over=chosen, name=name, progress=report)
    if as_json:
        print_json(scaling_fields(found))
    else:
        say(scaling_text(found))
    return EXIT_CODES[found.agreement]
