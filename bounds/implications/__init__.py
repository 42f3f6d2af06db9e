"""What the papers claim to follow from what: one module per paper, read by ``ratecheck implications``."""

from __future__ import annotations

import importlib

import bounds
from bounds.errors import InputError
from bounds.implications.argument import Implication

# The papers whose statements follow from one another.
PAPERS: tuple[str, ...] = ("pfl", "fedsum", "flame", "simfbo")


def implications(paper: str) -> tuple[Implication, ...]:
    """The implications of one paper, in the order of their conclusions; raises `InputError` for an unknown paper."""
    bounds.statements(paper)
    if paper not in PAPERS:
        return ()
    found: tuple[Implication, ...] = importlib.import_module(f"bounds.implications.{paper}").IMPLICATIONS
    return found


def audited(paper: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Conclusion, premises, reason: what follows by more than algebra between statements."""
    if paper not in PAPERS:
        return ()
    found: tuple[tuple[str, tuple[str, ...], str], ...] = importlib.import_module(
        f"bounds.implications.{paper}"
    ).AUDITED
    return found


def of(key: str) -> tuple[Implication, ...]:
    """The implications that conclude a statement; raises `InputError` where there is none."""
    statement = bounds.get(key)
    found = tuple(one for one in implications(key.partition("/")[0]) if one.conclusion == statement.key)
    if not found:
        raise InputError(f"{key} is the conclusion of no implication between statements")
    return found
