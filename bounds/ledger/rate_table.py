"""Tables in which papers compare their rates with other work, as data.

A row of the paper's own names the theorem whose order it prints; a row about other work names its statement in
`bounds.papers.baselines` and what the paper says about the two. The module ``tables`` of a paper has its TABLES.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

import bounds
from bounds import papers
from bounds.errors import InputError, did_you_mean
from bounds.statement import Condition, Source
from bounds.symbols import Vocabulary

ONE = sp.Integer(1)
# The heads of a table with one column of rates.
RATE = {"main": "Convergence Rate"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: ``orders`` has the terms of each printed order by column, ``columns`` what the others say in words.

    ``key`` is the statement in the catalogue whose order it is. Logarithms are hidden with ``hides_logarithms``.
    """

    label: str
    key: str
    orders: Mapping[str, tuple[sp.Expr, ...]]
    columns: Mapping[str, str]
    hides_logarithms: bool

    def order(self, column: str) -> sp.Expr:
        """The printed order."""
        return sp.Add(*self.orders[column])


@dataclass(frozen=True, kw_only=True)
class OwnRow(Row):
    """A row about the paper's own theorem.

    Where the columns are complexities, ``substituted`` says which parameters of the theorem they are, and its bound
    then has to be at most of the order ``reaches``; else (None) the bound has the printed order. ``free`` has by
    column the parameter, at least 1, that this column alone does not fix: where the bound does not reach the accuracy
    with the value substituted, another value is tried. ``cases`` are what the row is checked for, such as {P: n}; {}
    is the row as it is printed. ``remark`` is what the paper says elsewhere.
    """

    substituted: Mapping[sp.Symbol, sp.Expr]
    reaches: sp.Expr | None
    free: Mapping[str, sp.Symbol]
    cases: tuple[Mapping[sp.Symbol, sp.Expr], ...]
    remark: str


@dataclass(frozen=True, kw_only=True)
class Versus:
    """A comparison of two rows, as it is ``said``: ``own`` is at most of the order ``factor`` times the other one.

    With ``same`` it is of the same order.
    """

    own: OwnRow
    column: str
    factor: sp.Expr
    same: bool
    said: str


@dataclass(frozen=True, kw_only=True)
class QuotedRow(Row):
    """A row about other work."""

    versus: tuple[Versus, ...]


@dataclass(frozen=True, kw_only=True)
class Unprinted:
    """Other work that row ``own`` is said to match, in the words ``said``, and whose rate the table does not print.

    Nothing can be compared. ``key`` is the statement under which the catalogue has what is said.
    """

    own: OwnRow
    key: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """``general`` with ``settings`` substituted is of the order of ``special``."""

    general: Row
    settings: Mapping[sp.Symbol, sp.Expr]
    special: Row
    column: str


@dataclass(frozen=True, kw_only=True)
class RateTable:
    """A table: ``headers`` are the printed heads of the columns with orders; ``hidden`` constants count as 1 in these.

    ``conditions`` hold beside the domains of the vocabulary, such as delta <= 1. ``unprinted`` are the claims about
    rates that the table does not print.
    """

    name: str
    title: str
    source: Source
    vocabulary: Vocabulary
    headers: Mapping[str, str]
    hidden: tuple[str, ...]
    conditions: tuple[Condition, ...]
    rows: tuple[OwnRow | QuotedRow, ...]
    reductions: tuple[Reduction, ...]
    unprinted: tuple[Unprinted, ...] = ()

    @property
    def quoted(self) -> tuple[QuotedRow, ...]:
        """The rows about other work."""
        return tuple(row for row in self.rows if isinstance(row, QuotedRow))


def tables() -> dict[str, RateTable]:
    """All tables of the catalogue by name."""
    parts = [papers.part(paper, "tables").TABLES for paper in papers.names() if papers.has(paper, "tables")]
    return {table.name: table for part in parts for table in part}


def get(name: str) -> RateTable:
    """The table of that name; raises `InputError` for an unknown one."""
    found = tables()
    if name not in found:
        raise InputError(f"no table {name!r}; {did_you_mean(name, found)}")
    return found[name]


def own_row(
    label: str, key: str, *terms: sp.Expr, columns: Mapping[str, str] | None = None, hides_logarithms: bool = False
) -> OwnRow:
    """A row with a rate of the paper's own."""
    return OwnRow(
        label=label,
        key=key,
        orders={"main": terms},
        columns=columns or {},
        hides_logarithms=hides_logarithms,
        substituted={},
        reaches=None,
        free={},
        cases=({},),
        remark="",
    )


def quoted_row(label: str, key: str, *versus: Versus, columns: Mapping[str, str] | None = None) -> QuotedRow:
    """A row whose orders are those of the statement of other work."""
    statement = bounds.get(key)
    orders = {claim.name: tuple(claim.terms.values()) for claim in statement.claims}
    return QuotedRow(label=label, key=key, orders=orders, columns=columns or {}, hides_logarithms=False, versus=versus)


def better(own: OwnRow, said: str) -> Versus:
    """Sentence where the own rate is at most of the order of the other one."""
    return Versus(own=own, column="main", factor=ONE, same=False, said=said)


def at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    """A condition that holds beside the domains of a vocabulary."""
    return Condition(name=name, left=left, operator="<=", right=right)


def special_case(general: Row, special: Row, **settings: sp.Expr) -> Reduction:
    """The rate of ``general`` with these values is of the order of ``special``."""
    substituted = {
        symbol: settings[symbol.name] for symbol in general.order("main").free_symbols if symbol.name in settings
    }
    return Reduction(general=general, settings=substituted, special=special, column="main")
