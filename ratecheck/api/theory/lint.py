"""``rc.lint``, the command ``lint``, and ``rc.statement_schema``, what it prints with ``--schema``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bounds
from bounds import statement_data
from bounds.statement import Statement
from ratecheck.api.given import StatementLike, one, warning
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.inputs import positive, whole
from ratecheck.linting.finding import Level, Report
from ratecheck.linting.lint import EVALUATIONS
from ratecheck.linting.lint import lint as linted
from ratecheck.views.progress import progress
from ratecheck.views.theory.lint import counts, reports_text


@dataclass(frozen=True, eq=False, repr=False)
class LintResult(Result):
    """One report for each statement, in the order in which they were given."""

    reports: tuple[Report, ...]

    @property
    def wrong(self) -> bool:
        """Whether there is an error or a warning."""
        return any(report.wrong for report in self.reports)

    def level(self, level: str) -> int:
        """The number of findings of a level: "error", "warning" or "note"."""
        wanted = Level(level)
        return sum(finding.level is wanted for report in self.reports for finding in report.findings)

    def __str__(self) -> str:
        return reports_text(self.reports)

    def _headline(self) -> str:
        return counts(self.reports)

    def _fields(self) -> dict[str, Any]:
        return {
            "statements": [report.fields() for report in self.reports],
            **{f"{level.value}s": self.level(level.value) for level in Level},
        }


def lint(*statements: StatementLike, evaluations: int = EVALUATIONS, seconds: float | None = None) -> LintResult:
    """Look for mistakes in statements before anything is run: units, symbols, conditions, limits, short runs.

    A statement is a key, a paper, ``path/to/file.py`` or ``path/to/file.py:name``, a ``.json`` file in the form of
    `statement_schema`, or a `bounds.statement.Statement`. An error is proved or shown by numbers, a warning is a fact
    that a right statement seldom has, a note is what a reader may not expect; nothing found proves nothing. Where short
    runs refute nothing, so many ``evaluations`` of both sides go into a search for an instance that does, none with 0;
    it ends after so many ``seconds``, and the report then says what was left out.

    Raises `InputError` for what is none of them, and for a statement that cannot be built.

    >>> import ratecheck as rc
    >>> rc.lint("pfl/theorem-3.7").wrong
    False
    """
    whole("evaluations", evaluations, 0)
    if seconds is not None:
        positive("seconds", seconds)
    if not statements:
        raise InputError("which statement? give a key, path/to/file.py, or a .json file")
    meant = [pair for each in statements for pair in _meant(each)]
    with progress("looking"):
        reports = tuple(linted(statement, address, evaluations, seconds) for address, statement in meant)
    return LintResult(reports, remarks=tuple(text for _, statement in meant for text in warning(statement)))


def _meant(statement: StatementLike) -> list[tuple[str, Statement]]:
    """The statements that are meant, each with what a command takes for it."""
    if isinstance(statement, str):
        if statement.endswith(statement_data.SUFFIX):
            return [*statement_data.read(statement).items()]
        if statement.endswith(bounds.own.SUFFIX):
            return [*bounds.own.addresses(statement).items()]
        if statement in (*bounds.PAPERS, bounds.CLASSICS):
            return [(each.key, each) for each in bounds.statements(statement)]
        return [(statement if bounds.own.is_own(statement) else "", one(statement))]
    return [("", one(statement))]


def statement_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a statement: the fields of `bounds.theorem.theorem`, formulas as text.

    >>> import ratecheck as rc
    >>> rc.statement_schema()["$defs"]["statement"]["required"]
    ['title', 'algorithm', 'assumptions', 'left', 'over', 'right']
    """
    return statement_data.schema((*bounds.PAPERS, *bounds.BESIDE))
