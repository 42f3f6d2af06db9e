"""``ratecheck diff``."""

from __future__ import annotations

import click

from ratecheck.api.theory.diff import diff
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE


@click.command(name="diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--no-audit", is_flag=True, help="Leave out the steps of the proofs, which take minutes to examine.")
@arguments.json_option
def command(old: str, new: str, no_audit: bool, as_json: bool) -> int:
    """What changed between two versions of statements and of their proofs.

    OLD and NEW are a PAPER, a KEY, a FILE.py or FILE.py:NAME. Statements are matched by name, then the only ones left.
    Formulas are compared as mathematics: "same" is proved, unless it says at how many random points. Says which terms,
    conditions, step rules, assumptions and settings changed, which claim is weaker, and which findings are gone or new.

    Exit code 0 whatever changed.
    """
    arguments.print_result(diff(old, new, audit=not no_audit), as_json=as_json)
    return DONE
