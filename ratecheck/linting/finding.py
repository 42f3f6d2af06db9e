"""The result of a check on a statement: a finding of some weight, or why it could not be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from bounds.statement import Statement
from ratecheck.plain import picked


class Level(Enum):
    """The certainty of a finding.

    An error is proved, or shown by numbers: the statement is false, or says nothing. A warning is a fact that a right
    statement seldom has. A note is what a reader may not expect.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One remark about ``field``, or a part of it, with numbers in ``text`` and what would do in ``remedy``.

    ``part`` is the name of a term, a condition or a symbol in the field; ``settings`` says at how many random settings
    it was looked, 0 where none was needed.
    """

    level: Level
    check: str
    field: str
    text: str
    remedy: str
    part: str = ""
    settings: int = 0


@dataclass(frozen=True, kw_only=True)
class NotChecked:
    """A check that could not be made, and why."""

    check: str
    reason: str


Found: TypeAlias = Iterator[Finding | NotChecked]


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found about one statement; ``lines`` are those of a finding's place in the user's file, if known."""

    statement: Statement
    place: str
    findings: tuple[Finding, ...]
    lines: tuple[int | None, ...]
    not_checked: tuple[NotChecked, ...]

    @property
    def wrong(self) -> bool:
        """Whether there is more than notes."""
        return any(finding.level is not Level.NOTE for finding in self.findings)

    def fields(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            **picked(self, key="statement.key", place="place"),
            "findings": [
                {
                    **picked(each, "level", "check", "field", "part"),
                    "line": line,
                    **picked(each, "text", "remedy", "settings"),
                }
                for each, line in zip(self.findings, self.lines, strict=True)
            ],
            "not_checked": self.not_checked,
        }


def at(values: Mapping[str, float], names: Iterator[str] | list[str]) -> str:
    """Numbers as they are typed: ``L=2, T=100``."""
    return ", ".join(f"{name}={values[name]:.6g}" for name in names if name in values)
