"""``ratecheck falsify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bounds
from bounds.statement import Statement
from ratecheck import ending, files
from ratecheck.commands.arguments import (
    divide_words,
    json_option,
    keys_argument,
    note,
    parse_values,
    print_json,
    say,
    seed_option,
)
from ratecheck.commands.verify import fields as verdict_fields
from ratecheck.commands.verify import select
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import INTERRUPTED, Budget, Falsified, falsify
from ratecheck.outcome import Outcome
from ratecheck.views.falsify import falsified_table, falsified_text, worst_case_text
from ratecheck.views.progress import progress

if TYPE_CHECKING:
    from ratecheck.falsification.worst_case import WorstCase

EXIT_CODES = {Outcome.VIOLATED: 1, Outcome.INCONCLUSIVE: 0, Outcome.NOT_APPLICABLE: 3}


@click.command(name="falsify")
@keys_argument
@click.option("--evaluations", default=1000, show_default=True, help="Instances to try, at most.")
@click.option(
    "--seconds", type=float, help="Time after which no new instance is tried; the answer then depends on the machine."
)
@seed_option
@click.option("--out", "path", type=click.Path(path_type=Path), help="Where the worst instance goes.")
@click.option(
    "--pep",
    is_flag=True,
    help="The worst deterministic run over all smooth functions at the given NAME=VALUE, instead of a search.",
)
@json_option
def command(
    words: tuple[str, ...],
    evaluations: int,
    seconds: float | None,
    seed: int,
    path: Path | None,
    pep: bool,
    as_json: bool,
) -> int:
    """Search for an instance on which statement KEY fails, and say how close to failing it comes.

    The search stays inside the assumptions and conditions. A violating instance is saved, by default as
    KEY-violated.json, and "ratecheck verify --instance FILE" asks it again; --out saves the tightest one too. Ctrl-C
    ends the search and keeps the best so far. Exit code 1 where the statement fails. Several KEYs, or a paper's name,
    end in a table; the exit code is then 1 where any of them fails, else 3 where nothing could be asked about one.

    With --pep nothing is searched: at the numbers given (n, K, T, L, F_0, ...), without noise and with every client in
    every round, the largest left side is enclosed between an exactly checked instance and a bound by PEPit.
    """
    keys, assignments = divide_words(words)
    statements = select(keys)
    if path is not None and len(statements) > 1:
        raise InputError(f"--out {path} is for one statement, not for {len(statements)}")
    if path is not None:
        files.check_target(path)
    if pep:
        return _by_pep(statements, assignments, seed, as_json=as_json)
    if assignments:
        raise InputError(f"{assignments[0]} is chosen by the search; with --pep, or for 'verify', it can be given")
    own = _own(keys)
    found = _searched(statements, Budget(evaluations, seconds), seed, own)
    missing = [statement.key for statement in statements[len(found) :]]
    if missing:
        note(f"interrupted: nothing was asked about {', '.join(missing)}")
    if as_json:
        data = [fields(each) for each in found]
        print_json(data[0] if len(statements) == 1 else data)
    else:
        say(falsified_text(found[0]) if len(statements) == 1 else falsified_table(found))
    if len(statements) == 1:
        _save(found[0], path, own.get(statements[0].key, ""))
    codes = {EXIT_CODES[each.outcome] for each in found} | ({3} if missing else set())
    return 1 if 1 in codes else max(codes)


def _searched(statements: list[Statement], budget: Budget, seed: int, own: dict[str, str]) -> list[Falsified]:
    """The searches that came to an end, or were interrupted; of several, each is saved at once."""
    found: list[Falsified] = []
    try:
        for statement in statements:
            with progress(f"falsifying {statement.key}") as report:
                found.append(falsify(statement, budget, seed=seed, report=report))
            if len(statements) > 1:
                _save(found[-1], None, own.get(statement.key, ""))
            if found[-1].stopped == INTERRUPTED:
                break
    except KeyboardInterrupt:  # between two searches
        if not found:
            raise
        ending.grant()
    return found


def _own(keys: tuple[str, ...]) -> dict[str, str]:
    """What stands before --instance for statements from users' files, which the catalogue does not know, by key."""
    addresses: dict[str, Statement] = {}
    for key in filter(bounds.own.is_own, keys):
        addresses |= bounds.own.addresses(key) if key.endswith(bounds.own.SUFFIX) else {key: bounds.get(key)}
    return {statement.key: f"{address} " for address, statement in addresses.items()}


def _default(statement: Statement) -> Path:
    return Path(f"{statement.key.replace('/', '-').replace(':', '-')}-violated.json")


def _save(found: Falsified, path: Path | None, address: str) -> None:
    """Write the worst instance to a file where it is wanted or violates."""
    wanted = path is not None
    if found.outcome is Outcome.VIOLATED and path is None:
        path = _default(found.statement)
    if path is None or found.instance is None:
        return
    try:
        found.instance.save(path)
    except InputError as error:
        # A file that nobody asked for is no reason to hide the verdict.
        if wanted:
            raise
        note(str(error))
        return
    note(f"saved {path}: 'ratecheck verify {address}--instance {path}' asks it again")


def _by_pep(statements: list[Statement], assignments: tuple[str, ...], seed: int, *, as_json: bool) -> int:
    from ratecheck.falsification.worst_case import worst_case

    found: list[WorstCase] = []
    for statement in statements:
        given = parse_values(assignments, statement.vocabulary)
        try:
            with progress(f"enclosing {statement.key}"):
                found.append(worst_case(statement, given, seed=seed))
        except InputError as error:
            if len(statements) == 1:
                raise
            note(f"{statement.key}: {error}")
    if not found:
        return 3
    if as_json:
        data = [each.to_json() for each in found]
        print_json(data[0] if len(statements) == 1 else data)
    else:
        say("\n\n".join(worst_case_text(each) for each in found))
    return 1 if any(each.violated for each in found) else 0


def fields(found: Falsified) -> dict[str, Any]:
    """A search as JSON data."""
    return {
        "key": found.statement.key,
        "verdict": found.outcome.value,
        "tightness": found.tightness,
        "shape": None if found.shape is None else str(found.shape),
        "evaluations": found.evaluations,
        "applicable": found.applicable,
        "stopped": found.stopped,
        "clocked": found.clocked,
        "reasons": list(found.reasons),
        "worst": None if found.verdict is None else verdict_fields(found.verdict),
        "instance": None if found.instance is None else found.instance.fields(),
    }
