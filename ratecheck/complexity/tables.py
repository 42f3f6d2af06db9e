"""Check the tables in which papers compare rates: every row against its theorem, or against what is said about it.

An own row has to be of the order of its theorem's right side, prescribed step sizes substituted; where it prints
complexities, the right side at these has to reach the accuracy. For a row about other work the paper's claim is
checked: the own order is at most that of the row, first for all values of the constants, then, where that fails, for
constants that are held fixed while clients, local steps and rounds vary. Only the second failing refutes the claim.
Where the own row is refuted, the claim is one about the cases in which it is not.

A claim about a rate that the table does not print is not checked: there is nothing to compare.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import sympy as sp

import bounds
from bounds.ledger.rate_table import ONE, OwnRow, QuotedRow, RateTable, Reduction, Row, Unprinted, Versus
from bounds.numbers import counted
from bounds.statement import Condition
from bounds.symbols import Role
from ratecheck.complexity.closed_form import closed_bound
from ratecheck.complexity.orders import Direction, Domination, Ordering, compare
from ratecheck.outcome import Outcome


@dataclass(frozen=True)
class RowResult:
    """One check: ``says`` is what was checked, ``evidence`` what decided it, ``ordering`` the orders behind it.

    ``fixed`` names the constants that have to be held fixed for the claim (none where it holds for all their values),
    ``only`` the cases to which it is confined (none where it holds as it stands). Nothing was compared where
    ``ordering`` is None.
    """

    says: str
    outcome: Outcome
    evidence: str
    ordering: Ordering | None
    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits of the verdict, in words."""
        held = (f"for fixed {', '.join(self.fixed)} only",) if self.fixed else ()
        return (*held, *(f"at {case} only" for case in self.only))


@dataclass(frozen=True)
class RowReport:
    """A row and its checks."""

    row: Row
    findings: tuple[RowResult, ...]

    @property
    def outcome(self) -> Outcome:
        """VIOLATED where any check is, NOT_CHECKED where a claim could not be, NOT_APPLICABLE where there is none."""
        return _worst([finding.outcome for finding in self.findings])

    @property
    def headline(self) -> str:
        """The verdict with what it does not cover."""
        limits = dict.fromkeys(limit for finding in self.findings for limit in finding.limits)
        if self.outcome is Outcome.NOT_CHECKED:
            checked = sum(finding.outcome is Outcome.HOLDS for finding in self.findings)
            return f"{self.outcome.value} in part ({checked} of {len(self.findings)} HOLDS)"
        return " ".join([self.outcome.value, *([", ".join(limits)] if limits else [])])


@dataclass(frozen=True)
class TableReport:
    """A table, its rows and its reductions, these in the order of ``table.reductions``."""

    table: RateTable
    rows: tuple[RowReport, ...]
    reductions: tuple[RowResult, ...]

    @property
    def outcome(self) -> Outcome:
        """VIOLATED where any row or reduction is, else what `RowReport.outcome` says where not everything holds."""
        return _worst([*(row.outcome for row in self.rows), *(finding.outcome for finding in self.reductions)])

    @property
    def headline(self) -> str:
        """The verdict with how many rows it does not cover, or not for all values."""
        missing = sum(row.outcome is Outcome.NOT_CHECKED for row in self.rows)
        word = "HOLDS where checked" if self.outcome is Outcome.NOT_CHECKED else self.outcome.value
        parts = [word, *([f"{counted(missing, 'claim')} not checked"] if missing else [])]
        limited = [row for row in self.rows if any(finding.limits for finding in row.findings)]
        limits = dict.fromkeys(limit for row in limited for finding in row.findings for limit in finding.limits)
        return "; ".join([*parts, *([f"{counted(len(limited), 'row')} {', '.join(limits)}"] if limited else [])])


def check_table(table: RateTable) -> TableReport:
    """Check every row and every reduction of a table."""
    own = {id(row): _own(table, row) for row in table.rows if isinstance(row, OwnRow)}
    rows = []
    for row in table.rows:
        if isinstance(row, OwnRow):
            missing = (_unprinted(claim) for claim in table.unprinted if claim.own is row)
            rows.append(RowReport(row, (*own[id(row)].values(), *missing)))
        else:
            found = (_confined(table, row, versus, own.get(id(versus.own), {})) for versus in row.versus)
            rows.append(RowReport(row, tuple(found)))
    return TableReport(table, tuple(rows), tuple(_reduces(table, reduction) for reduction in table.reductions))


def _worst(outcomes: list[Outcome]) -> Outcome:
    """The first of these that there is; nothing at all is NOT_APPLICABLE."""
    order = (Outcome.VIOLATED, Outcome.NOT_APPLICABLE, Outcome.NOT_CHECKED, Outcome.HOLDS)
    return next((each for each in order if each in outcomes), Outcome.NOT_APPLICABLE)


Case = Mapping[sp.Symbol, sp.Expr]


def _own(table: RateTable, row: OwnRow) -> dict[str, RowResult]:
    """The checks of an own row by case."""
    return {_named(case): _follows(table, row, case) for case in row.cases}


def _named(case: Case) -> str:
    """A case in words, such as ``P = n``; nothing for the row as it stands."""
    return ", ".join(f"{symbol} = {value}" for symbol, value in case.items())


def _unprinted(claim: Unprinted) -> RowResult:
    evidence = f"not checked: no rate printed; {claim.key} has the own rate in its place"
    return RowResult(claim.said, Outcome.NOT_CHECKED, evidence, None)


def _follows(table: RateTable, row: OwnRow, case: Case) -> RowResult:
    """An own row against its theorem, in one case."""
    where = f"at {_named(case)} " if case else ""
    bound = _bound(row, row.substituted, case)
    target = row.order(next(iter(row.orders))) if row.reaches is None else row.reaches
    ordering = _compare(table, bound, target.xreplace(dict(case)), case, row.hides_logarithms)
    if row.reaches is None:
        says = f"{where}the order of {row.key}"
        holds = ordering.same
    else:
        put_in = ", ".join(f"{symbol} = {value}" for symbol, value in row.substituted.items())
        says = f"{where}{row.key} reaches O({row.reaches}) with {put_in}"
        holds = ordering.forward.holds
    if holds:
        hidden = ", up to logarithms" if row.hides_logarithms else ""
        return RowResult(says, Outcome.HOLDS, f"{ordering.text}{hidden}; {_certified(ordering)}", ordering)
    parts = []
    if not ordering.forward.holds:
        parts.append(f"the bound exceeds it {_along(ordering.forward)}")
    if row.reaches is None and not ordering.backward.holds:
        parts.append(f"the bound is below it {_along(ordering.backward)}")
    for symbol in row.free.values():
        other = _other_value(table, row, case, symbol, target.xreplace(dict(case)))
        if isinstance(other, RowResult):
            return other
        parts.append(other)
    return RowResult(says, Outcome.VIOLATED, "; ".join([*parts, *([row.remark] if row.remark else [])]), ordering)


def _bound(row: OwnRow, put_in: Case, case: Case) -> sp.Expr:
    return closed_bound(bounds.get(row.key)).xreplace(dict(put_in)).xreplace(dict(case))


def _other_value(table: RateTable, row: OwnRow, case: Case, symbol: sp.Symbol, target: sp.Expr) -> RowResult | str:
    """Whether another value of a parameter that the columns leave open reaches the accuracy; else why none does.

    A term of the bound at the value 1 that no value of at least 1 makes smaller, up to constants, and that exceeds the
    accuracy, excludes all of them.
    """
    rest = {name: value for name, value in row.substituted.items() if name != symbol}
    free = _bound(row, rest, case)
    least = replace(table, conditions=(*table.conditions, _at_least_one(symbol)))
    terms = free.args if free.is_Add else (free,)
    for term in sorted(terms, key=sp.default_sort_key):
        floor = term.xreplace({symbol: ONE})
        below = _compare(least, floor, free, case, row.hides_logarithms)
        above = _compare(table, floor, target, case, row.hides_logarithms)
        if below.forward.holds and not above.forward.holds:
            return (
                f"no {symbol} >= 1 reaches it: whatever {symbol} is, the bound is at least of the order of its value "
                f"at {symbol} = 1, in one term ({_certified(below)}), which exceeds it {_along(above.forward)}"
            )
    for value in _powers(table, row, symbol):
        ordering = _compare(table, _bound(row, {**rest, symbol: value}, case), target, case, row.hides_logarithms)
        if ordering.forward.holds:
            put_in = ", ".join(f"{name} = {each}" for name, each in {**rest, symbol: value}.items())
            says = f"{row.key} reaches O({row.reaches}) with {put_in}"
            return RowResult(says, Outcome.HOLDS, f"{ordering.text}; {_certified(ordering)}", ordering)
    return f"no power of {', '.join(map(str, _scales(row, symbol)))} that was tried for {symbol} reaches it"


def _at_least_one(symbol: sp.Symbol) -> Condition:
    return Condition(name=symbol.name, left=ONE, operator="<=", right=symbol)


def _scales(row: OwnRow, symbol: sp.Symbol) -> list[sp.Symbol]:
    """The symbols of the substituted value."""
    return sorted(row.substituted[symbol].free_symbols, key=str)


def _powers(table: RateTable, row: OwnRow, symbol: sp.Symbol) -> Iterator[sp.Expr]:
    """Products of powers, at least 1 and at most of the order of what was substituted: what the columns admit."""
    tried = [sp.Rational(k, 2) for k in range(-6, 7)]
    scales = _scales(row, symbol)
    for powers in itertools.product(tried, repeat=len(scales)):
        value = sp.Mul(*(scale**power for scale, power in zip(scales, powers, strict=True)))
        if _compare(table, value, row.substituted[symbol]).forward.holds and _compare(table, ONE, value).forward.holds:
            yield value


def _confined(table: RateTable, row: QuotedRow, versus: Versus, own: Mapping[str, RowResult]) -> RowResult:
    """The claim of the paper on a row of other work, confined to the cases in which the own row is not refuted."""
    found = _claimed(table, row, versus, {})
    refuted = own.get("")
    # Another column may be reached in another way.
    if refuted is None or refuted.outcome is not Outcome.VIOLATED or versus.column not in versus.own.free:
        return found
    if found.outcome is not Outcome.HOLDS:
        return found
    cases = {_named(case): case for case in versus.own.cases if case}
    left = [name for name in cases if own[name].outcome is Outcome.HOLDS]
    kept = [name for name in left if _claimed(table, row, versus, cases[name]).outcome is Outcome.HOLDS]
    printed = f"as printed {found.evidence}; {versus.own.label} does not have its own order, as its row says"
    if not kept:
        return replace(found, outcome=Outcome.NOT_CHECKED, evidence=f"not checked: {printed}")
    evidence = f"{printed}, but at {' and '.join(kept)}"
    return replace(found, evidence=evidence, only=tuple(kept))


def _claimed(table: RateTable, row: QuotedRow, versus: Versus, case: Case) -> RowResult:
    """The claim of the paper on a row of other work, in one case."""
    own, other = versus.own.order(versus.column), versus.factor * row.order(versus.column)
    own, other = own.xreplace(dict(case)), other.xreplace(dict(case))
    factor = "" if versus.factor == 1 else f"{versus.factor}*"
    relation = "same order" if versus.same else "at most"
    columns = f" ({table.headers[versus.column]})" if len(table.headers) > 1 else ""
    says = f"{versus.said}; {versus.own.label} against {factor}{row.label}, {relation}{columns}"
    uniform = _compare(table, own, other, case)
    if _agrees(uniform, versus):
        return RowResult(says, Outcome.HOLDS, f"{_strict(uniform)}; {_certified(uniform)}", uniform)
    failing = uniform.forward if not uniform.forward.holds else uniform.backward
    fails = f"fails for all values at once {_along(failing)}"
    symbols = own.free_symbols | other.free_symbols
    constants = tuple(q.name for q in table.vocabulary if q.role is Role.CONSTANT and q.symbol in symbols)
    pointwise = _compare(table, own, other, case, fixed=constants) if constants else uniform
    if not _agrees(pointwise, versus):
        return RowResult(says, Outcome.VIOLATED, fails, uniform)
    evidence = f"for fixed positive {', '.join(constants)}: {_strict(pointwise)}; {fails}"
    return RowResult(says, Outcome.HOLDS, evidence, pointwise, constants)


def _agrees(ordering: Ordering, versus: Versus) -> bool:
    return ordering.same if versus.same else ordering.forward.holds


def _reduces(table: RateTable, reduction: Reduction) -> RowResult:
    general, special = reduction.general, reduction.special
    put_in = ", ".join(f"{symbol} = {value}" for symbol, value in reduction.settings.items())
    says = f"{general.label} ({general.key}) at {put_in} is {special.label} ({special.key})"
    left = general.order(reduction.column).xreplace(dict(reduction.settings))
    ordering = _compare(table, left, special.order(reduction.column), reduction.settings)
    if ordering.same:
        return RowResult(says, Outcome.HOLDS, f"{ordering.text}; {_certified(ordering)}", ordering)
    failing = ordering.forward if not ordering.forward.holds else ordering.backward
    return RowResult(says, Outcome.VIOLATED, f"{ordering.text} {_along(failing)}", ordering)


def _compare(
    table: RateTable,
    left: sp.Expr,
    right: sp.Expr,
    case: Case | None = None,
    hide_logarithms: bool = False,
    fixed: tuple[str, ...] = (),
) -> Ordering:
    conditions = [condition.put(case or {}) for condition in table.conditions]
    return compare(
        left, right, table.vocabulary, conditions, fixed={*table.hidden, *fixed}, hide_logarithms=hide_logarithms
    )


def _strict(ordering: Ordering) -> str:
    """The relation, with the direction in which the other side is larger without bound."""
    if ordering.backward.holds:
        return ordering.text
    return f"{ordering.text}: other/own grows {_along(ordering.backward)}"


def _certified(ordering: Ordering) -> str:
    return counted(len(ordering.forward.certificates) + len(ordering.backward.certificates), "certificate")


def _along(domination: Domination) -> str:
    direction = domination.direction
    assert direction is not None
    return f"along {direction.text} (ratio {ratios(direction)})"


def ratios(direction: Direction) -> str:
    """The quotient at x = 10, 100, 1000."""
    return ", ".join(f"{ratio:.3g}" for ratio in direction.ratios) + " at x = 10, 100, 1000"
