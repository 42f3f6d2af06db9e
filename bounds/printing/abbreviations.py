"""Names for what a paper defines: M_1 in place of its formula, which is then given once, under "where".

A definition is a claim that sets a symbol equal to a formula, whatever the run: the catalogue has such claims where a
paper lists the constants of its analysis. Nothing is stored twice: the formulas of a statement are searched for those
of the definitions of its paper. That a statement prints M_1 thus means that what it is evaluated with is M_1.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy as sp

from bounds.printing.formula import (
    ONE,
    Base,
    Factors,
    FormulaReader,
    Order,
    PrintedProduct,
    Sum,
    collect,
    flat,
    power,
    times,
)
from bounds.statement import Claim, Over, Relation, Statement
from bounds.symbols import Role


def definitions(statement: Statement) -> dict[str, sp.Expr]:
    """The symbols that a statement defines, with their formulas."""
    return {defined: claim.bound for claim in statement.claims if (defined := _defined(statement, claim))}


def is_definition(statement: Statement, claim: Claim) -> bool:
    """Whether a claim sets a symbol equal to a formula; a lemma that is an equality of measured quantities does not."""
    return _defined(statement, claim) is not None


def _defined(statement: Statement, claim: Claim) -> str | None:
    weights = claim.metric.weights
    if claim.relation is not Relation.EQUAL or claim.metric.over is not Over.NO_RUN or len(weights) != 1:
        return None
    ((defined, weight),) = weights.items()
    measured = (statement.vocabulary[s.name].role is Role.MEASURED for s in claim.bound.free_symbols)
    return None if weight != 1 or any(measured) else defined.name


@dataclass(frozen=True)
class Definition:
    """A symbol and its formula, the symbols of smaller definitions in it."""

    name: str
    expr: sp.Expr
    formula: PrintedProduct

    @cached_property
    def symbols(self) -> set[sp.Basic]:
        """The symbols in its formula, none abbreviated."""
        found: set[sp.Basic] = self.expr.free_symbols
        return found

    @cached_property
    def total(self) -> tuple[dict[Factors, Fraction], PrintedProduct] | None:
        """The terms of the one sum in the formula, and what that sum is in terms of the symbol; None without one.

        From K = 5*(a + b)/c follows a + b = c*K/5, from s = sqrt(a + b) follows a + b = s^2.
        """
        sums = self._sums
        if len(sums) != 1:
            return None
        base, exponent = sums[0]
        rest = PrintedProduct(self.formula.number, self.formula.factors - {(base, exponent)})
        value = power(times(PrintedProduct.of(self.name), power(rest, -ONE)), 1 / exponent)
        return dict(base.terms), value

    @cached_property
    def bases(self) -> frozenset[Base]:
        """Factors of the formula, whole numbers aside."""
        return frozenset(base for base in self.formula.bases if not isinstance(base, int))

    @property
    def _sums(self) -> list[tuple[Sum, Fraction]]:
        return [(b, e) for b, e in self.formula.factors if isinstance(b, Sum) and isinstance(e, Fraction)]

    def in_product(self, product: PrintedProduct) -> PrintedProduct:
        """The product with the symbol for as high a power of the formula as all its factors have in it."""
        if not self.bases <= product.bases:
            return product
        powers = dict(product.factors)
        ratio = None
        for base, exponent in self.formula.factors:
            found = powers.get(base)
            if isinstance(base, int):
                continue
            if not isinstance(found, Fraction) or not isinstance(exponent, Fraction):
                return product
            if ratio not in {None, found / exponent} or found / exponent <= 0:
                return product
            ratio = found / exponent
        if ratio is None:
            return product
        return times(product, power(self.formula, -ratio), power(PrintedProduct.of(self.name), ratio))

    def in_terms(self, terms: dict[Factors, Fraction]) -> dict[Factors, Fraction] | None:
        """The terms of a sum with the symbol for those that are a multiple of the formula; None where not all are."""
        if self.total is None:
            return None
        own, value = self.total
        if not own.keys() <= terms.keys():
            return None
        first = next(iter(own))
        ratio = terms[first] / own[first]
        if any(terms[factors] != ratio * number for factors, number in own.items()):
            return None
        kept = {factors: number for factors, number in terms.items() if factors not in own}
        kept[value.factors] = kept.get(value.factors, Fraction(0)) + ratio * value.number
        return kept


class Abbreviations:
    """Reads expressions with the symbols of definitions in them."""

    def __init__(self, formulas: Iterable[tuple[str, sp.Expr]]) -> None:
        self._known: list[Definition] = []
        self._readers: dict[frozenset[str], FormulaReader] = {}
        # A definition may have those before it inside.
        for name, expr in sorted(formulas, key=lambda pair: sum(1 for _ in sp.preorder_traversal(pair[1]))):
            formula = self.read(expr)
            # A second name for the same formula is of no use.
            if not formula.is_symbol:
                self._known.append(Definition(name, expr, formula))

    def read(self, expr: sp.Expr) -> PrintedProduct:
        """The expression as a product, abbreviated by definitions whose symbols all occur in it."""
        # Else a + b would become K*c, with K = (a + b)/c and a c that was not there.
        symbols = expr.free_symbols
        usable = [known for known in self._known if known.symbols <= symbols]
        names = frozenset(known.name for known in usable)
        if names not in self._readers:
            self._readers[names] = FormulaReader(lambda product: _fold(product, usable))
        return self._readers[names].read(expr)

    def definition(self, name: str, expr: sp.Expr) -> Definition | None:
        """The definition of a symbol as that expression; None where there is none."""
        return next((known for known in self._known if known.name == name and known.expr == expr), None)

    def used(self, formulas: Iterable[PrintedProduct], order: Order) -> list[Definition]:
        """The definitions of the symbols in the formulas, then of those in the definitions, each once."""
        by_name = {known.name: known for known in self._known}
        found: list[Definition] = []
        level = {name for formula in formulas for name in formula.symbols}
        while level:
            names = [name for name in order.rank if name in level] + sorted(level - order.rank.keys())
            new = [by_name[name] for name in names if name in by_name and by_name[name] not in found]
            found += new
            level = {name for definition in new for name in definition.formula.symbols}
        return found


def _fold(product: PrintedProduct, usable: list[Definition]) -> PrintedProduct:
    """The product or sum with symbols for what they are defined as, as often as there is something to replace."""
    while True:
        folded = _folded(product, usable)
        if folded == product:
            return product
        product = folded


def _folded(product: PrintedProduct, usable: list[Definition]) -> PrintedProduct:
    # The largest first: a sum that is defined may be part of another.
    terms = dict(flat(product))
    if len(terms) > 1:
        for known in reversed(usable):
            terms = known.in_terms(terms) or terms
        return collect(*(PrintedProduct(number, factors) for factors, number in terms.items()))
    for known in reversed(usable):
        if known.total is None:
            product = known.in_product(product)
    return product


def chosen(statement: Statement, paper: Iterable[Statement], expressions: Iterable[sp.Expr]) -> Abbreviations:
    """The abbreviations of a statement: of each symbol that its paper defines one formula.

    Where a paper's form and a repaired one have the same symbol, it is the one that occurs in the statement's
    expressions, the first of them if both do. What the statement defines itself has no other meaning in it.
    """
    own = definitions(statement)
    found: dict[str, list[sp.Expr]] = {}
    for each in (*paper, statement):
        if each.vocabulary is not statement.vocabulary:
            continue
        for name, expr in definitions(each).items():
            formulas = found.setdefault(name, [])
            if expr not in formulas and own.get(name, expr) == expr:
                formulas.append(expr)
    # A symbol's second formula has a number after its name for the time being.
    tagged = {
        f"{name} {k}" if k else name: (name, expr)
        for name, formulas in found.items()
        for k, expr in enumerate(formulas)
    }
    everything = _abbreviations(tuple((tag, expr) for tag, (_, expr) in tagged.items()))
    occurring = everything.used(map(everything.read, expressions), Order({}, frozenset(), frozenset()))
    if all(tagged[each.name][0] == each.name for each in occurring):
        return everything
    names = {tagged[each.name][0]: each.expr for each in reversed(occurring)}
    return _abbreviations(tuple((name, names.get(name, formulas[0])) for name, formulas in found.items()))


@functools.lru_cache(maxsize=64)
def _abbreviations(formulas: tuple[tuple[str, sp.Expr], ...]) -> Abbreviations:
    """The abbreviations by these formulas, read once: most statements of a paper have the same."""
    return Abbreviations(formulas)
