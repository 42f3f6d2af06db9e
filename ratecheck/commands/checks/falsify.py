"""``ratecheck falsify``."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bounds.statement import Statement
from ratecheck import files
from ratecheck.api.checks.falsify import FalsifyResult, check_out, falsify
from ratecheck.api.given import select
from ratecheck.commands import arguments, instances
from ratecheck.commands.exit_codes import DONE, FINDING, OPEN, of_search
from ratecheck.errors import InputError
from ratecheck.views.numbers import number


@click.command(name="falsify")
@arguments.keys_argument
@click.option("--evaluations", default=1000, show_default=True, help="Instances to try, at most.")
@click.option(
    "--seconds", type=float, help="Time after which no instance is tried; the answer then depends on the machine."
)
@arguments.seed_option
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that share several KEYs."
)
@arguments.scheduler_option
@click.option("--out", "path", type=click.Path(path_type=Path), help="Where the worst instance goes.")
@click.option(
    "--pep",
    is_flag=True,
    help="The worst run over all smooth functions at the given NAME=VALUE, instead of a search.",
)
@click.option(
    "--script",
    type=click.Path(path_type=Path),
    metavar="FILE.py",
    help="With --pep: write the PEPit program of the same question.",
)
@click.option("--no-shrink", is_flag=True, help="Leave a counterexample as it was found.")
@arguments.json_option
def command(
    words: tuple[str, ...],
    path: Path | None,
    pep: bool,
    script: Path | None,
    no_shrink: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Search for an instance on which statement KEY fails, and say how close to failing it comes.

    The search stays inside the assumptions and conditions. A violating instance is shrunk to few clients, variables,
    rounds and steps and to short numbers, written as a sentence and saved, by default as KEY-violated.json, where it
    stands before it is shrunk; "ratecheck verify --instance FILE" evaluates it again, and --out saves the tightest one
    too. Numbers that are given (sizes,
    noise, step sizes, parameters of the method) are left as they are. Ctrl-C ends the search and prints the best so
    far. Exit code 1 where the statement fails, 3 where nothing could be evaluated, or where something exceeds the bound
    and nothing confirms it; 130 or 143 where it was interrupted before a violation was found. Several KEYs, or a
    paper's name, end in a table; the exit code is then 1 where any of them fails, else 3 where that is the answer for
    one.

    With --pep nothing is searched: at the numbers given (n, K, T, L, F_0, ...) the largest left side is enclosed by
    an exactly checked instance and the value of a semidefinite program, round by round where the claim is about every
    round. Noise (sigma_u) has two opposite values there. Exit code 3 where the two leave open which side is larger.
    --script writes the same question as a program for PEPit, which runs as it stands where PEPit is installed.
    """
    keys, assignments = arguments.divide_words(words)
    statements, options["parameters"] = select(keys), arguments.parse_values(assignments)
    several = len(statements) > 1
    check_out(path, statements)
    _check_script(script, statements, pep=pep)
    if pep:
        cases = falsify(*statements, seed=options["seed"], pep=True, parameters=options["parameters"])
        if not cases.cases:
            arguments.print_remarks(cases)
            return OPEN
        arguments.print_result(cases, as_json=as_json)
        if script is not None:
            files.save(script, cases.pepit())
        return FINDING if cases.violated else OPEN if cases.undecided else DONE
    own = instances.own(keys)

    def save(each: FalsifyResult) -> None:
        violates = each.search.by_instance
        instances.save(each.instance, path, own.get(each.search.statement.key, ""), violates=violates)

    def kept(each: FalsifyResult) -> None:
        key, ratio = each.search.statement.key, each.tightness
        about = (
            f"{key} is violated{'' if ratio is None else f', left / right {number(ratio)}'}, and is made simpler now; "
        )
        # A file that cannot be written is said once, after what was found.
        with contextlib.suppress(InputError):
            instances.save(each.instance, path, own.get(key, ""), violates=True, about=about)

    found = falsify(*statements, shrink=not no_shrink, each=save if several else None, confirmed=kept, **options)
    arguments.print_result(found, as_json=as_json)
    if not several:
        save(found)
    codes = {of_search(each.outcome, unconfirmed=each.unconfirmed is not None) for each in found.searches}
    if FINDING in codes:
        # A violation is one, whatever else would have been found.
        return FINDING
    if found.stop is not None:
        raise found.stop
    return max(codes)


def _check_script(path: Path | None, statements: Sequence[Statement], *, pep: bool) -> None:
    """Raise `InputError` unless the PEPit program of one worst case can be written there."""
    if path is None:
        return
    if not pep:
        raise InputError(f"--script {path} is the program of a worst case: give --pep as well")
    if len(statements) > 1:
        raise InputError(f"--script {path} is for one statement, not for {len(statements)}")
    files.check_target(path)
