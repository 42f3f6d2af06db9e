"""``ratecheck falsify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import bounds
from ratecheck.checks.falsify import Budget, Falsified, falsify
from ratecheck.checks.verdict import Outcome
from ratecheck.commands.arguments import json_option, note, print_json, seed_option
from ratecheck.commands.verify import fields as verdict_fields
from ratecheck.views.falsify import falsified_text
from ratecheck.views.progress import progress

EXIT_CODES = {Outcome.VIOLATED: 1, Outcome.INCONCLUSIVE: 0, Outcome.NOT_APPLICABLE: 3}


@click.command(name="falsify")
@click.argument("key", metavar="KEY")
@click.option("--evaluations", default=1000, show_default=True, help="Instances to try, at most.")
@click.option("--seconds", default=50.0, show_default=True, help="Time after which no new instance is tried.")
@seed_option
@click.option("--out", "path", type=click.Path(path_type=Path), help="Where the worst instance goes.")
@json_option
def command(key: str, evaluations: int, seconds: float, seed: int, path: Path | None, as_json: bool) -> int:
    """Search for an instance on which statement KEY fails, and say how close to failing it comes.

    The search stays inside the assumptions and conditions. A violating instance is saved, by default as
    KEY-violated.json, and "ratecheck verify --instance FILE" asks it again; --out saves the tightest one too. Ctrl-C
    ends the search and keeps the best so far. Exit code 1 where the statement fails.
    """
    statement = bounds.get(key)
    with progress(f"falsifying {statement.key}") as report:
        found = falsify(statement, Budget(evaluations, seconds), seed=seed, report=report)
    if found.outcome is Outcome.VIOLATED and path is None:
        path = Path(f"{statement.key.replace('/', '-').replace(':', '-')}-violated.json")
    if path is not None and found.instance is not None:
        found.instance.save(path)
        note(f"saved {path}: 'ratecheck verify --instance {path}' asks it again")
    if as_json:
        print_json(fields(found))
    else:
        click.echo(falsified_text(found))
    return EXIT_CODES[found.outcome]


def fields(found: Falsified) -> dict[str, Any]:
    """A search as JSON data."""
    return {
        "key": found.statement.key,
        "verdict": found.outcome.value,
        "tightness": found.tightness,
        "evaluations": found.evaluations,
        "applicable": found.applicable,
        "stopped": found.stopped,
        "reasons": list(found.reasons),
        "worst": None if found.verdict is None else verdict_fields(found.verdict),
        "instance": None if found.instance is None else found.instance.fields(),
    }
