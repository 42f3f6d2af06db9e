"""``rc.tables``, the command ``tables``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds.ledger import rate_table
from ratecheck.api.result import Result
from ratecheck.complexity.tables import TableReport, check_table
from ratecheck.outcome import Outcome
from ratecheck.views.progress import progress
from ratecheck.views.theory.tables import table_fields, table_text


@dataclass(frozen=True, eq=False, repr=False)
class TablesResult(Result):
    """Tables of rates with a verdict for every row; ``one`` says that a single table was requested by its name."""

    reports: tuple[TableReport, ...]
    one: bool = False

    @property
    def outcome(self) -> Outcome:
        """VIOLATED where a row is refuted, else HOLDS, or NOT_CHECKED where there is nothing to check a claim with."""
        outcomes = {report.outcome for report in self.reports}
        if Outcome.VIOLATED in outcomes:
            return Outcome.VIOLATED
        return Outcome.HOLDS if outcomes == {Outcome.HOLDS} else Outcome.NOT_CHECKED

    def __str__(self) -> str:
        return "\n\n".join(map(table_text, self.reports))

    def _headline(self) -> str:
        return ", ".join(f"{report.table.name}: {report.headline}" for report in self.reports)

    def _fields(self) -> dict[str, Any]:
        fields = [table_fields(report) for report in self.reports]
        return fields[0] if self.one else {"tables": fields}


def tables(name: str | None = None) -> TablesResult:
    """The papers' tables of rates, or the one of that name, every row checked.

    A row of the paper's own is compared with its theorem, a row about other work with what the paper says of it, both
    up to constant factors. Raises `InputError` for an unknown name.

    >>> import ratecheck as rc
    >>> rc.tables("pfl/table-2").outcome.value
    'HOLDS'
    """
    chosen = [rate_table.get(name)] if name is not None else list(rate_table.tables().values())
    reports: list[TableReport] = []
    with progress("checking tables") as report:
        for each in chosen:
            reports.append(check_table(each))
            report(len(reports) / len(chosen))
    return TablesResult(tuple(reports), one=name is not None)
