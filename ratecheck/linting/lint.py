"""All checks of one statement, the gravest findings first."""

from __future__ import annotations

from collections.abc import Callable

import bounds
from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.linting import behaviour, conditions, instances, occurrence, units
from ratecheck.linting.draws import DrawnSettings, draws
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, Report
from ratecheck.linting.lines import line_of

# Each family by the name under which it is reported where it fails as a whole; the budget is that of the search.
CHECKS: dict[str, Callable[[Statement, DrawnSettings, Budget | None], Found]] = {
    units.CHECK: lambda statement, drawn, _: units.check(statement, drawn),
    occurrence.CHECK: lambda statement, *_: occurrence.check(statement),
    conditions.CHECK: lambda statement, drawn, _: conditions.check(statement, drawn),
    behaviour.LIMITS: lambda statement, drawn, _: behaviour.check(statement, drawn),
    instances.RUN: instances.check,
}
# Instances of the search of a statement by default: a second or two.
EVALUATIONS = 40


def lint(
    statement: Statement, address: str = "", evaluations: int = EVALUATIONS, seconds: float | None = None
) -> Report:
    """The findings of all checks in a statement; ``address`` is ``path/to/file.py:name`` where it has one.

    Where no run refutes it, so many instances are searched, none with 0, and none begins after so many seconds.
    """
    drawn = draws(statement)
    budget = Budget(evaluations, seconds, by_term=False, functions=False) if evaluations else None
    found: list[Finding | NotChecked] = []
    for name, check in CHECKS.items():
        try:
            found += check(statement, drawn, budget)
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
