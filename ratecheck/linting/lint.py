"""All checks of one statement, the gravest findings first."""

from __future__ import annotations

from collections.abc import Callable

import bounds
from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.linting import behaviour, conditions, instances, occurrence, units
from ratecheck.linting.draws import Draws, draws
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, Report
from ratecheck.linting.lines import line_of

# Each family by the name under which it is reported where it fails as a whole.
CHECKS: dict[str, Callable[[Statement, Draws], Found]] = {
    units.CHECK: units.check,
    occurrence.CHECK: lambda statement, _: occurrence.check(statement),
    conditions.CHECK: conditions.check,
    behaviour.LIMITS: behaviour.check,
    instances.RUN: instances.check,
}


def lint(statement: Statement, address: str = "") -> Report:
    """What the checks find in a statement; ``address`` is ``path/to/file.py:name`` where it has one."""
    drawn = draws(statement)
    found: list[Finding | NotChecked] = []
    for name, check in CHECKS.items():
        try:
            found += check(statement, drawn)
        except InputError as error:
            found.append(NotChecked(check=name, reason=str(error)))
    findings = [each for each in found if isinstance(each, Finding)]
    findings.sort(key=lambda each: [*Level].index(each.level))
    path, _, name = address.rpartition(":")
    own = bool(address) and bounds.own.is_own(address)
    return Report(
        statement=statement,
        place=bounds.own.place_of(statement) or address,
        findings=tuple(findings),
        lines=tuple(line_of(path, name, each.field, each.part) if own else None for each in findings),
        not_checked=tuple(each for each in found if isinstance(each, NotChecked)),
    )
