"""``ratecheck stepsize``."""

from __future__ import annotations

import click

import bounds
from ratecheck.checks.admissible import step_sizes
from ratecheck.commands.arguments import json_option, key_argument, note, parse_values, print_json, values_argument
from ratecheck.views.text import step_sizes_text


@click.command(name="stepsize")
@key_argument
@values_argument
@json_option
def command(key: str, assignments: tuple[str, ...], as_json: bool) -> int:
    """Give the step sizes that statement KEY admits, prescribes, and that minimise its bound.

    Give the constants of the problem (L, F_0, ...) and the setting (n, m, K, T); step sizes given too are taken as
    fixed. Exit code 3 where nothing is admissible; the conflicting conditions are named.
    """
    statement = bounds.get(key)
    given = parse_values(assignments, statement.vocabulary)
    answer = step_sizes(statement, given)
    unused = statement.unused(given)
    if unused:
        note(f"{statement.key} does not depend on {', '.join(unused)}")
    if as_json:
        print_json(
            {
                "key": statement.key,
                "feasible": answer.feasible,
                "prescribed": answer.prescribed,
                "admissible": {name: [i.low, i.high] for name, i in answer.admissible.items()}
                if answer.feasible
                else {},
                "open": {name: list(i.open) for name, i in answer.admissible.items()} if answer.feasible else {},
                "defaults": answer.defaults,
                "optimal": answer.optimal,
                "optimal_bound": answer.optimal_bound,
                "approached": list(answer.approached),
                "limits": answer.approached,
                "entangled": answer.entangled,
                "conflict": list(answer.conflict),
                "missing": list(answer.missing),
            }
        )
    else:
        click.echo(step_sizes_text(answer))
    return 0 if answer.feasible else 3
