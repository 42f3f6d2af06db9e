"""The findings of the linter, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bounds.numbers import counted
from ratecheck.linting.finding import Finding, Level, Report


def reports_text(reports: Sequence[Report]) -> str:
    """One block per statement with findings, then what was found in all."""
    blocks = [_report(report) for report in reports if report.findings or len(reports) == 1]
    return "\n\n".join([*blocks, counts(reports)])


def counts(reports: Sequence[Report]) -> str:
    """The counts in words, such as ``3 statements: 1 error, 0 warnings, 2 notes; 1 checked in part``."""
    found = Counter(finding.level for report in reports for finding in report.findings)
    listed = ", ".join(counted(found[level], level.value) for level in Level)
    part = sum(bool(report.not_checked) for report in reports)
    # Of a single statement it is said what was not.
    rest = (
        f"; {part} checked in part: lint one of them, or --json, says what was not" if part and len(reports) > 1 else ""
    )
    return f"{counted(len(reports), 'statement')}: {listed}{rest}"


def _report(report: Report) -> str:
    head = report.statement.key + (f"   {report.place}" if report.place else "")
    lines = [head if report.findings else f"{head}   nothing found"]
    for finding, line in zip(report.findings, report.lines, strict=True):
        lines += [
            f"  {finding.level.value:7}  {_where(finding, line)}: {finding.text}",
            f"           do: {finding.remedy}",
        ]
    reasons: dict[str, list[str]] = {}
    for each in report.not_checked:
        reasons.setdefault(each.reason, []).append(each.check)
    lines += [f"  not checked  {', '.join(dict.fromkeys(checks))}: {reason}" for reason, checks in reasons.items()]
    return "\n".join(lines)


def _where(finding: Finding, line: int | None) -> str:
    part = f"[{finding.part!r}]" if finding.part and len(finding.part) <= 40 else ""
    return f"{'' if line is None else f'line {line}, '}{finding.field}{part}"
