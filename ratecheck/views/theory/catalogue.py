"""The catalogue as text and as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bounds
from bounds.statement import Statement
from ratecheck.views.width import table


def catalogue_text(statements: Mapping[str, Statement]) -> str:
    """The address of each statement, its number and its title."""
    rows = [
        (address, s.source.number, s.title + ("   (order only)" if s.order_only else ""))
        for address, s in statements.items()
    ]
    return table(rows)


def catalogue_fields(statements: Mapping[str, Statement]) -> list[dict[str, Any]]:
    """The catalogue as JSON data."""
    return [
        {"key": address, "title": s.title, "number": s.source.number, "order_only": s.order_only}
        for address, s in statements.items()
    ]


def counts_text(counts: Mapping[str, Mapping[str, int]]) -> str:
    """The number of statements of each paper, as a table."""
    rows = [["paper", *next(iter(counts.values()))]]
    rows += [[name, *map(str, row.values())] for name, row in counts.items()]
    return table(rows)


def count(paper: str) -> dict[str, int]:
    """The number of statements of a paper by kind, and of those left out of the catalogue."""
    statements = bounds.statements(paper)
    orders = sum(statement.order_only for statement in statements)
    repaired = sum(bool(statement.repairs) for statement in statements)
    return {
        "statements": len(statements),
        "printed": len(statements) - repaired,
        "repaired": repaired,
        "with a value": len(statements) - orders,
        "order only": orders,
        "left out": len(bounds.left_out(paper)),
    }
