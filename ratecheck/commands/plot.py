"""``ratecheck plot``."""

from __future__ import annotations

from pathlib import Path

import click

import bounds
from ratecheck.commands.arguments import (
    json_option,
    key_argument,
    names,
    note,
    parse_values,
    print_json,
    problem_option,
    say,
    seed_option,
    threads_option,
    values_argument,
)
from ratecheck.commands.audited import audit_fields, warn_of
from ratecheck.commands.stepsize import region_fields
from ratecheck.commands.verify import prepare
from ratecheck.exponents.sweep import COSTLY, DEFAULTS, affordable, check_valued, drawn, rounds_of, survey
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.nearest import nearest
from ratecheck.stepsizes.region import choose_axes, free_constants, region
from ratecheck.verification.setting import Options
from ratecheck.views.plots import check_target, survey_fields, survey_text, write_figure
from ratecheck.views.progress import progress
from ratecheck.views.regions import marks, write_region
from ratecheck.views.text import region_text


class _PlotGroup(click.Group):
    """`plot KEY`, beside which `plot region KEY` is a command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What does not begin with the name of a command is about both sides of a statement."""
        return super().parse_args(ctx, args if args[:1] == [_REGION] else [_SIDES, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Usage lines show the command as it is called."""
        name, found, rest = super().resolve_command(ctx, args)
        return "" if name == _SIDES else name, found, rest


_SIDES, _REGION = "sides", "region"


@click.group(name="plot", cls=_PlotGroup)
def command() -> None:
    """Draw a statement."""


@command.command(name=_SIDES)
@key_argument
@values_argument
@problem_option
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="PNG, SVG or PDF; by default KEY.png here."
)
@click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
@seed_option
@click.option(
    "--replicates",
    type=click.IntRange(min=2),
    help=f"Monte Carlo runs; {DEFAULTS.replicates} by default, {COSTLY} where each of them costs much.",
)
@threads_option
@click.option(
    "--vary",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="What to vary: symbols of the paper, or K, T, tau, gamma where it has others; 'all' are local steps, "
    "participants and step size.",
)
@json_option
def sides(
    key: str,
    assignments: tuple[str, ...],
    problem_name: str | None,
    out: Path | None,
    engine: str,
    seed: int,
    replicates: int | None,
    threads: int | None,
    vary: str,
    as_json: bool,
) -> None:
    """Draw both sides of statement KEY over rounds, and against local steps, participants and step size.

    Fitted and predicted exponents stand in the legends. The setting is given as for 'verify', with 100 rounds by
    default where they cost much; each parameter is varied
    alone around it, as far as the statement leaves it free and admits it. A statement that leaves open who takes part
    is drawn for blocks of clients that go round. One that is not about a mean over rounds is drawn as it is: round by
    round, at pairs of points, or as numbers of whole runs; nothing is varied then.

    The step sizes that it admits are drawn by 'plot region KEY'.
    """
    statement = bounds.get(key)
    path = out or Path(f"{statement.key.replace('/', '-')}.png")
    check_target(path)
    check_valued(statement)
    given = parse_values(assignments, statement.vocabulary)
    statement = statement.at(given)
    problem, values, name = prepare(statement, problem_name, {**rounds_of(statement, given), **given})
    runs = replicates or affordable(statement)
    options = Options(engine=engine, seed=seed, replicates=runs, threads=threads, traces=drawn(statement))
    chosen = None if vary == "all" else names(vary)
    with progress(f"measuring {statement.key}") as report:
        found = survey(statement, problem, values, options, vary=chosen, name=name, progress=report)
    warn_of(statement)
    # What was measured is on the screen before a file can fail.
    if as_json:
        print_json({**survey_fields(found), "file": str(path), "audit": audit_fields(statement)})
    else:
        say(survey_text(found))
    with progress("drawing"):
        write_figure(found, path)
    if not as_json:
        say(f"written to {path}")


@command.command(name=_REGION)
@key_argument
@values_argument
@click.option(
    "--axes", metavar="X,Y", help="Two step sizes or constants; by default the step sizes that conditions tie most."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="PNG, SVG or PDF; by default KEY-region.png here."
)
@json_option
def draw_region(key: str, assignments: tuple[str, ...], axes: str | None, out: Path | None, as_json: bool) -> int:
    """Draw the region of two step sizes that statement KEY admits, every other step size being free.

    Values are given as for 'stepsize'. Given step sizes that are not admissible are left out of the conditions and
    drawn with the nearest that are. An axis may be a constant that is not given. Exit code 3 where nothing is
    admissible whatever the step sizes.
    """
    statement = bounds.get(key)
    path = out or Path(f"{statement.key.replace('/', '-')}-region.png")
    check_target(path)
    given = parse_values(assignments, statement.vocabulary)
    statement = statement.at(given)
    free = free_constants(statement, axes, given)
    closest, points = None, {}
    with progress(f"step sizes of {statement.key}"):
        answer = step_sizes(statement, given, free)
    if not answer.feasible:
        closest = nearest(answer.problem, given, answer.core)
        note(f"not admissible: {'; '.join(answer.conflict)}")
        if not closest.steps:
            return 3
        wrong = {rule.symbol: rule.value for rule in answer.problem.fixed}
        answer = step_sizes(statement, {name: value for name, value in given.items() if name not in wrong}, free)
        axes = axes or (",".join(list(wrong)[:2]) if len(wrong) > 1 else axes)
        points = {"given": wrong, "nearest": closest.steps}
    chosen = choose_axes(answer.problem, answer.admissible, axes)
    points = {name: point for name, point in points.items() if {*chosen} <= point.keys()} | marks(answer, chosen)
    with progress("region"):
        drawn = region(answer.problem, answer.admissible, chosen, *points.values())
    if as_json:
        print_json({"key": statement.key, **region_fields(drawn), "points": points, "file": str(path)})
    else:
        say(f"{key}   {statement.title}\n{region_text(drawn)}")
    with progress("drawing"):
        write_region(answer, drawn, path, points, closest)
    if not as_json:
        say(f"written to {path}")
    return 0
