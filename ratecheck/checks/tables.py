"""Check the tables in which papers compare rates: every row against its theorem, or against what is said about it.

An own row has to be of the order of its theorem's right side, prescribed step sizes put in; where it prints
complexities, the right side at these has to reach the accuracy. For a row about other work the paper's claim is
checked: the own order is at most that of the row, first for all values of the constants, then, where that fails, for
constants that are held fixed while clients, local steps and rounds vary. Only the second failing refutes the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

import bounds
from bounds.statement import Condition
from bounds.symbols import Role
from bounds.tables import OwnRow, QuotedRow, RateTable, Reduction, Row, Versus
from ratecheck.checks.closed import closed_bound
from ratecheck.checks.orders import Direction, Domination, Ordering, compare
from ratecheck.checks.verdict import Outcome


@dataclass(frozen=True)
class Finding:
    """One check: ``says`` is what was checked, ``evidence`` what decided it, ``ordering`` the orders behind it.

    ``fixed`` names the constants that have to be held fixed for the claim (none where it holds for all their values).
    """

    says: str
    outcome: Outcome
    evidence: str
    ordering: Ordering
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowReport:
    """A row and its checks."""

    row: Row
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """VIOLATED where any check is, NOT_APPLICABLE where there is none."""
        return _worst([finding.outcome for finding in self.findings])


@dataclass(frozen=True)
class TableReport:
    """A table, its rows and its reductions, these in the order of ``table.reductions``."""

    table: RateTable
    rows: tuple[RowReport, ...]
    reductions: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """VIOLATED where any row or reduction is, NOT_APPLICABLE where a row has no check."""
        return _worst([*(row.outcome for row in self.rows), *(finding.outcome for finding in self.reductions)])


def check_table(table: RateTable) -> TableReport:
    """Check every row and every reduction of a table."""
    rows = tuple(RowReport(row, tuple(_check_row(table, row))) for row in table.rows)
    return TableReport(table, rows, tuple(_reduces(table, reduction) for reduction in table.reductions))


def _worst(outcomes: list[Outcome]) -> Outcome:
    if Outcome.VIOLATED in outcomes:
        return Outcome.VIOLATED
    return Outcome.HOLDS if {*outcomes} == {Outcome.HOLDS} else Outcome.NOT_APPLICABLE


def _check_row(table: RateTable, row: OwnRow | QuotedRow) -> list[Finding]:
    if isinstance(row, QuotedRow):
        return [_claimed(table, row, versus) for versus in row.versus]
    return [_follows(table, row, case) for case in row.cases]


def _follows(table: RateTable, row: OwnRow, case: Mapping[sp.Symbol, sp.Expr]) -> Finding:
    """An own row against its theorem, in one case."""
    where = "" if not case else "at " + ", ".join(f"{symbol} = {value}" for symbol, value in case.items()) + " "
    bound = closed_bound(bounds.get(row.key)).xreplace(dict(row.put_in)).xreplace(dict(case))
    target = row.order(next(iter(row.orders))) if row.reaches is None else row.reaches
    ordering = _compare(table, bound, target.xreplace(dict(case)), case, row.hides_logarithms)
    if row.reaches is None:
        says = f"{where}the order of {row.key}"
        holds = ordering.same
    else:
        put_in = ", ".join(f"{symbol} = {value}" for symbol, value in row.put_in.items())
        says = f"{where}{row.key} reaches O({row.reaches}) with {put_in}"
        holds = ordering.forward.holds
    if holds:
        hidden = ", up to logarithms" if row.hides_logarithms else ""
        return Finding(says, Outcome.HOLDS, f"{ordering.text}{hidden}; {_certified(ordering)}", ordering)
    parts = []
    if not ordering.forward.holds:
        parts.append(f"the bound exceeds it {_along(ordering.forward)}")
    if row.reaches is None and not ordering.backward.holds:
        parts.append(f"the bound is below it {_along(ordering.backward)}")
    return Finding(says, Outcome.VIOLATED, "; ".join([*parts, *([row.remark] if row.remark else [])]), ordering)


def _claimed(table: RateTable, row: QuotedRow, versus: Versus) -> Finding:
    """What the paper says about a row of other work."""
    own, other = versus.own.order(versus.column), versus.factor * row.order(versus.column)
    factor = "" if versus.factor == 1 else f"{versus.factor}*"
    relation = "same order" if versus.same else "at most"
    columns = f" ({table.headers[versus.column]})" if len(table.headers) > 1 else ""
    says = f"{versus.said}; {versus.own.label} against {factor}{row.label}, {relation}{columns}"
    uniform = _compare(table, own, other)
    if _agrees(uniform, versus):
        return Finding(says, Outcome.HOLDS, f"{_strict(uniform)}; {_certified(uniform)}", uniform)
    failing = uniform.forward if not uniform.forward.holds else uniform.backward
    fails = f"fails for all values at once {_along(failing)}"
    symbols = own.free_symbols | other.free_symbols
    constants = tuple(q.name for q in table.vocabulary if q.role is Role.CONSTANT and q.symbol in symbols)
    pointwise = _compare(table, own, other, fixed=constants) if constants else uniform
    if not _agrees(pointwise, versus):
        return Finding(says, Outcome.VIOLATED, fails, uniform)
    evidence = f"for fixed positive {', '.join(constants)}: {_strict(pointwise)}; {fails}"
    return Finding(says, Outcome.HOLDS, evidence, pointwise, constants)


def _agrees(ordering: Ordering, versus: Versus) -> bool:
    return ordering.same if versus.same else ordering.forward.holds


def _reduces(table: RateTable, reduction: Reduction) -> Finding:
    general, special = reduction.general, reduction.special
    put_in = ", ".join(f"{symbol} = {value}" for symbol, value in reduction.settings.items())
    says = f"{general.label} ({general.key}) at {put_in} is {special.label} ({special.key})"
    left = general.order(reduction.column).xreplace(dict(reduction.settings))
    ordering = _compare(table, left, special.order(reduction.column), reduction.settings)
    if ordering.same:
        return Finding(says, Outcome.HOLDS, f"{ordering.text}; {_certified(ordering)}", ordering)
    failing = ordering.forward if not ordering.forward.holds else ordering.backward
    return Finding(says, Outcome.VIOLATED, f"{ordering.text} {_along(failing)}", ordering)


def _compare(
    table: RateTable,
    left: sp.Expr,
    right: sp.Expr,
    case: Mapping[sp.Symbol, sp.Expr] | None = None,
    hide_logarithms: bool = False,
    fixed: tuple[str, ...] = (),
) -> Ordering:
    put_in = dict(case or {})
    conditions = [_at(condition, put_in) for condition in table.conditions]
    return compare(
        left, right, table.vocabulary, conditions, fixed={*table.hidden, *fixed}, hide_logarithms=hide_logarithms
    )


def _at(condition: Condition, put_in: dict[sp.Symbol, sp.Expr]) -> Condition:
    return replace(condition, left=condition.left.xreplace(put_in), right=condition.right.xreplace(put_in))


def _strict(ordering: Ordering) -> str:
    """The relation, with the direction in which the other side is larger without bound."""
    if ordering.backward.holds:
        return ordering.text
    return f"{ordering.text}: other/own grows {_along(ordering.backward)}"


def _certified(ordering: Ordering) -> str:
    count = len(ordering.forward.certificates) + len(ordering.backward.certificates)
    return f"{count} {'certificate' if count == 1 else 'certificates'}"


def _along(domination: Domination) -> str:
    direction = domination.direction
    assert direction is not None
    return f"along {direction.text} (ratio {ratios(direction)})"


def ratios(direction: Direction) -> str:
    """The quotient at x = 10, 100, 1000."""
    return ", ".join(f"{ratio:.3g}" for ratio in direction.ratios) + " at x = 10, 100, 1000"
