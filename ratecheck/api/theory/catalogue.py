"""``rc.catalogue``, the command ``list``: ``list`` itself is Python's, which a star import would hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import bounds
from bounds.statement import Statement
from ratecheck.api.result import Result
from ratecheck.views.theory.catalogue import catalogue_fields, catalogue_text, count, counts_text


@dataclass(frozen=True, eq=False, repr=False)
class CatalogueResult(Result):
    """The ``statements`` by what the functions take for them; ``counts`` by paper, where only these are wanted."""

    statements: Mapping[str, Statement]
    counts: Mapping[str, Mapping[str, int]] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        return catalogue_text(self.statements) if self.counts is None else counts_text(self.counts)

    def _headline(self) -> str:
        return f"{len(self.statements)} statements"

    def _fields(self) -> dict[str, Any]:
        if self.counts is None:
            return {"statements": catalogue_fields(self.statements)}
        return {"papers": self.counts}


def catalogue(paper: str | None = None, *, summary: bool = False) -> CatalogueResult:
    """The statements of the catalogue, or of one paper, or of a file ``path/to/file.py`` of your own.

    With ``summary`` only how many each paper has: repaired ones where they repair another, what is left out apart.
    Raises `InputError` for an unknown paper.

    >>> import ratecheck as rc
    >>> "pfl/theorem-3.7" in set(rc.catalogue("pfl"))
    True
    """
    papers = (paper,) if paper is not None else bounds.PAPERS
    listed = {address: statement for name in papers for address, statement in _addressed(name).items()}
    return CatalogueResult(listed, {name: count(name) for name in papers} if summary else None)


def _addressed(paper: str) -> dict[str, Statement]:
    """The arguments that stand for each statement of a paper or of a user's file."""
    if bounds.own.is_own(paper):
        return bounds.own.addresses(paper)
    return {statement.key: statement for statement in bounds.statements(paper)}
