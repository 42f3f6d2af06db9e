"""Checked tables as plain text and as data."""

from __future__ import annotations

from bounds.ledger.rate_table import Row
from bounds.roots import shown
from ratecheck.complexity.orders import Domination
from ratecheck.complexity.tables import RowResult, TableReport
from ratecheck.plain import picked
from ratecheck.views.width import table_rows


def order_text(row: Row, column: str) -> str:
    """The printed order, its terms as they stand in the table; with a tilde where it hides logarithms."""
    terms = " + ".join(str(shown(term)) for term in row.orders[column])
    return f"O{'~' if row.hides_logarithms else ''}({terms})"


def table_text(report: TableReport) -> str:
    """The table, and below each row what was checked and why."""
    printed = report.table
    words = list(dict.fromkeys(column for row in printed.rows for column in row.columns))
    source = printed.source
    hidden = ", ".join(printed.hidden) if len(printed.hidden) <= 4 else "all constants of the problem"
    lines = [
        f"{printed.name}   {printed.title}   {report.headline}",
        f"{source.number} ({source.location}), {source.paper}" + (f"; hides {hidden}" if hidden else ""),
        "",
    ]
    cells = [["row", *printed.headers.values(), *words, "statement", "verdict"]]
    for checked in report.rows:
        row = checked.row
        orders = [order_text(row, column) for column in printed.headers]
        cells.append([row.label, *orders, *(row.columns.get(w, "") for w in words), row.key, checked.headline])
    head, *rows = table_rows(cells)
    lines.append(head)
    for line, checked in zip(rows, report.rows, strict=True):
        lines += [line, *(text for finding in checked.findings for text in _finding(finding))]
    if report.reductions:
        lines += ["", "special cases", *(text for finding in report.reductions for text in _finding(finding))]
    return "\n".join(lines)


def _finding(finding: RowResult) -> list[str]:
    limits = "".join(f" ({limit})" for limit in finding.limits)
    return [f"    {finding.outcome.value:8}  {finding.says}{limits}", f"              {finding.evidence}"]


def table_fields(report: TableReport) -> dict[str, object]:
    """The report as data."""
    printed = report.table
    return {
        **picked(printed, "name", "title"),
        **picked(printed.source, "paper", "number", "location"),
        "hidden": printed.hidden,
        "conditions": [condition.text for condition in printed.conditions],
        **picked(report, verdict="outcome", headline="headline"),
        "rows": [
            {
                **picked(checked.row, "label", "key"),
                "orders": {column: order_text(checked.row, column) for column in printed.headers},
                **picked(checked, columns="row.columns", verdict="outcome", headline="headline"),
                "checks": [_finding_fields(finding) for finding in checked.findings],
            }
            for checked in report.rows
        ],
        "special_cases": [_finding_fields(finding) for finding in report.reductions],
    }


def _finding_fields(finding: RowResult) -> dict[str, object]:
    return {
        **picked(finding, says="says", verdict="outcome", evidence="evidence", fixed="fixed", only="only"),
        "forward": None if finding.ordering is None else _domination_fields(finding.ordering.forward),
        "backward": None if finding.ordering is None else _domination_fields(finding.ordering.backward),
    }


def _domination_fields(domination: Domination) -> dict[str, object]:
    direction = domination.direction
    if direction is None:
        return {"holds": True, "certificates": len(domination.certificates)}
    return {
        "holds": False,
        "direction": direction.powers,
        "zero": sorted(direction.zero),
        "growth": str(direction.growth),
        "ratios": direction.ratios,
    }
