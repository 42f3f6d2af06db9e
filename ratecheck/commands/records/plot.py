"""``ratecheck plot``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ratecheck.api.checks.rates import RatesResult
from ratecheck.api.given import one
from ratecheck.api.records.plot import plot, plot_participation, plot_region
from ratecheck.api.result import DrawnResult, target
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE, of_card
from ratecheck.errors import InputError
from ratecheck.exponents.sweep import COSTLY, DEFAULTS


class _PlotGroup(click.Group):
    """`plot KEY`, beside which `plot region KEY` is a command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Words that do not begin with the name of a command are about both sides of a statement."""
        return super().parse_args(ctx, args if args[:1] and args[0] in (_REGION, _PARTICIPATION) else [_SIDES, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Usage lines show the command as it is called."""
        name, found, rest = super().resolve_command(ctx, args)
        return "" if name == _SIDES else name, found, rest


_SIDES, _REGION, _PARTICIPATION = "sides", "region", "participation"


@click.group(name="plot", cls=_PlotGroup)
def command() -> None:
    """Draw a statement."""


@command.command(name=_SIDES)
@arguments.keys_argument
@arguments.problem_option
@click.option(
    "--instance",
    type=click.Path(path_type=Path),
    help="Draw the run of the instance in this file, which 'ratecheck falsify' wrote; no KEY is needed then.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="PNG, SVG or PDF; by default KEY.png here."
)
@arguments.engine_option
@arguments.seed_option
@click.option(
    "--replicates",
    type=click.IntRange(min=2),
    help=f"Monte Carlo runs; {DEFAULTS.replicates} by default, {COSTLY} where each of them costs much.",
)
@arguments.threads_option
@click.option(
    "--vary",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="What to vary: symbols of the paper, or K, T, tau, gamma where it has others; 'all' are local steps, "
    "participants and step size.",
)
@click.option("--rates", is_flag=True, help="The rate card: bound, worst case found and a typical instance per term.")
@click.option("--over", metavar="NAMES", help="With --rates, what varies, such as K,T.")
@arguments.json_option
def sides(words: tuple[str, ...], out: Path | None, as_json: bool, **options: Any) -> int:
    """Draw both sides of statement KEY over rounds, and against local steps, participants and step size.

    Fitted and predicted exponents stand in the legends. The setting is given as for 'verify', with 100 rounds by
    default where they cost much; each parameter is varied alone around it, as far as the statement leaves it free and
    admits it. A statement that leaves open who takes part is drawn for blocks of clients that go round. One that is not
    about a mean over rounds is drawn as it is: round by round, at pairs of points, or as numbers of whole runs; nothing
    is varied then.

    The step sizes that it admits are drawn by 'plot region KEY', its rate card (see 'rates') by --rates; exit code 1
    where that has a cell that is EXCEEDED, else 3 where one is OPEN.
    """
    keys, assignments = arguments.divide_words(words) if words or options["instance"] is None else ((), ())
    if len(keys) > 1:
        raise InputError(f"{len(keys)} statements: one is drawn at a time")
    plain = options["instance"].with_suffix("").name if options["instance"] else _plain(keys[0])
    file = target(out or Path(f"{plain}{'-rates' if options['rates'] else ''}.png"))
    found: DrawnResult = plot(*keys, parameters=arguments.parse_values(assignments), **options)
    arguments.print_and_save(replace(found, file=file), as_json=as_json)
    return of_card(found.card) if isinstance(found, RatesResult) else DONE


@command.command(name=_REGION)
@arguments.key_argument
@arguments.values_argument
@click.option(
    "--axes", metavar="X,Y", help="Two step sizes or constants; by default the step sizes that conditions tie most."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="PNG, SVG or PDF; by default KEY-region.png here."
)
@arguments.json_option
def draw_region(key: str, assignments: tuple[str, ...], axes: str | None, out: Path | None, as_json: bool) -> int:
    """Draw the region of two step sizes that statement KEY admits, every other step size being free.

    Values are given as for 'stepsize'. Given step sizes that are not admissible are left out of the conditions and
    drawn with the nearest that are. An axis may be a constant that is not given. Exit code 3 where nothing is
    admissible whatever the step sizes.
    """
    file = target(out or Path(f"{_plain(key)}-region.png"))
    found = plot_region(key, axes=axes, parameters=arguments.parse_values(assignments))
    if found.region is None:
        if as_json:
            arguments.print_result(found, as_json=True)
        else:
            arguments.print_remarks(found)
        return 3
    arguments.print_and_save(replace(found, file=file), as_json=as_json)
    return 0


@command.command(name=_PARTICIPATION)
@click.argument("pattern", metavar="PATTERN")
@arguments.values_argument
@arguments.seed_option
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="PNG, SVG or PDF; by default participation.png here."
)
@arguments.json_option
def draw_participation(pattern: str, assignments: tuple[str, ...], seed: int, out: Path | None, as_json: bool) -> int:
    """Draw who takes part in which round, and how long clients stay away.

    PATTERN as for 'verify --participation'; n=10 clients, T=60 rounds, and m of the clients in a round where the
    pattern leaves that open.
    """
    file = target(out or Path("participation.png"))
    values = arguments.parse_values(assignments)
    if wrong := [name for name in values if name not in ("n", "m", "T")]:
        raise InputError(f"{wrong[0]}: a participation has n, m and T")
    arguments.print_and_save(replace(plot_participation(pattern, seed=seed, **values), file=file), as_json=as_json)
    return DONE


def _plain(key: str) -> str:
    """The key as a part of a file's name; raises `InputError` for an unknown one."""
    return one(key).key.replace("/", "-")
