"""What the audit says against a statement, for commands that meet it."""

from __future__ import annotations

from typing import Any

from bounds.ledger.refuted import refuted
from bounds.statement import Statement
from ratecheck.commands.arguments import note


def warn_of(statement: Statement) -> None:
    """A note on stderr where the audit calls the statement false."""
    against = refuted(statement)
    if against is not None:
        note(against.text)


def audit_fields(statement: Statement) -> dict[str, Any] | None:
    """The same as JSON data; None where it does not."""
    against = refuted(statement)
    return None if against is None else against.fields()
