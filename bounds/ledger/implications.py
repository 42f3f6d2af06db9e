"""Implications that the papers claim: their modules ``implications``."""

from __future__ import annotations

import bounds
from bounds import papers
from bounds.errors import InputError
from bounds.ledger.implication import Implication

# The papers whose statements follow from one another.
PAPERS: tuple[str, ...] = tuple(paper for paper in papers.names() if papers.has(paper, "implications"))


def implications(paper: str) -> tuple[Implication, ...]:
    """The implications of one paper, in the order of their conclusions; raises `InputError` for an unknown paper."""
    bounds.statements(paper)
    if paper not in PAPERS:
        return ()
    found: tuple[Implication, ...] = papers.part(paper, "implications").IMPLICATIONS
    return found


def audited(paper: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Conclusion, premises, reason: what follows by more than algebra between statements."""
    if paper not in PAPERS:
        return ()
    found: tuple[tuple[str, tuple[str, ...], str], ...] = papers.part(paper, "implications").AUDITED
    return found


def of(key: str) -> tuple[Implication, ...]:
    """The implications that conclude a statement; raises `InputError` where there is none."""
    statement = bounds.get(key)
    found = tuple(one for one in implications(key.partition("/")[0]) if one.conclusion == statement.key)
    if not found:
        raise InputError(f"{key} is the conclusion of no implication between statements")
    return found
