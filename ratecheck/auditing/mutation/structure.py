"""Formulas with something in another's place: a quantity, a vector, the end of a sum, < for <=.

There are many such claims; a few of them are taken, always the same ones.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import sympy as sp

from bounds.ledger.step import Algebraic, Check, Enumerated, Identity
from bounds.ledger.vectors import factors, product_symbol
from ratecheck.auditing.mutation import mutants
from ratecheck.auditing.mutation.mutants import MutantKind

Item = TypeVar("Item")

_STRICT = {"<=": "<", ">=": ">"}
# What `bounds.ledger.families` makes of the name of a vector of every client.
_OF_FAMILY = re.compile(r"(?P<before>sum )?(?P<own>.+?)(?P<after>(_i)?( from the mean of (clients|steps))?)", re.DOTALL)


@dataclass(frozen=True)
class ClaimMutant:
    """A claim with something else in one place; ``change`` is what, ``by`` where."""

    kind: MutantKind
    check: Check
    change: str
    by: str


def strict(check: Check) -> ClaimMutant | None:
    """The claim with < for <=; None where it is printed strict or an equality, since <= for < does no harm."""
    if isinstance(check, Identity) or check.operator not in _STRICT:
        return None
    claimed = _STRICT[check.operator]
    changed = mutants.with_operator(check, claimed)
    return ClaimMutant(MutantKind.STRICT, changed, "inequality", f"{claimed} for {check.operator}")


def constants_exchanged(check: Enumerated) -> list[ClaimMutant]:
    """Claims on instances with two of the printed numbers exchanged, in the code and in the form."""
    found = []
    for one, other in itertools.combinations(check.constants, 2):
        if check.constants[one] != check.constants[other]:
            put = {one: check.constants[other], other: check.constants[one]}
            changed = dataclasses.replace(check, constants={**check.constants, **put})
            found.append(ClaimMutant(MutantKind.SWAP, changed, f"{one} and {other}", "exchanged"))
    return found


def swapped(check: Algebraic, most: int) -> list[ClaimMutant]:
    """At most so many claims with one quantity in the place of another, or two exchanged, on one of the sides."""
    listed = [[*_sums(check)], [*_renamed(check, exchanged=True)], [*_renamed(check, exchanged=False)]]
    return spread(listed, most)


def spread(kinds: Sequence[Sequence[Item]], most: int) -> list[Item]:
    """At most so many, in turn of every kind, and of a kind from all over it; always the same ones."""
    orders = [[listed[k] for k in _from_all_over(len(listed))] for listed in kinds]
    rounds = itertools.zip_longest(*orders, fillvalue=None)
    return [each for row in rounds for each in row if each is not None][:most]


def _from_all_over(count: int) -> list[int]:
    """0 ... count-1 in an order whose beginnings are spread: multiples of the golden section."""
    return sorted(range(count), key=lambda k: (k * 0.6180339887498949) % 1)


def _sums(check: Algebraic) -> Iterator[ClaimMutant]:
    """Sums over one index more or less."""
    for side in ("left", "right"):
        expr = sp.sympify(getattr(check, side))
        for each in sorted(expr.atoms(sp.Sum), key=str):
            if len(each.limits) != 1 or len(each.limits[0]) != 3:
                continue
            index, low, high = each.limits[0]
            for first, last in ((low, high - 1), (low + 1, high), (low, high + 1), (low - 1, high)):
                new = expr.xreplace({each: sp.Sum(each.function, (index, first, last))})
                said = f"{index} = {first} ... {last} for {low} ... {high}"
                yield ClaimMutant(MutantKind.RANGE, dataclasses.replace(check, **{side: new}), said, f"on the {side}")


def _renamed(check: Algebraic, *, exchanged: bool) -> Iterator[ClaimMutant]:
    """Two quantities exchanged on one side, or one in the place of another."""
    for side in ("left", "right"):
        expr = sp.sympify(getattr(check, side))
        for one, other in itertools.permutations(_quantities(check), 2):
            if exchanged and one.name > other.name:
                continue
            if not (one.fits(other) and (other.fits(one) or not exchanged)):
                continue
            put = one.put(other, expr, exchanged=exchanged)
            new = expr.xreplace(put)
            if not put or new == expr or sp.expand(new - expr) == 0:
                continue
            said = f"{one.name} and {other.name} exchanged" if exchanged else f"{other.name} for {one.name}"
            changed = dataclasses.replace(check, **{side: new})
            yield ClaimMutant(MutantKind.SWAP, changed, said, f"on the {side}")


@dataclass(frozen=True)
class _Quantity:
    """A number, or a vector with all that is made of it: ``forms`` are the names of these around its own."""

    name: str
    symbol: sp.Symbol | None = None
    forms: frozenset[tuple[str, str]] = frozenset()

    def fits(self, other: _Quantity) -> bool:
        """Whether another may stand in its place: it is of its kind and within its domain."""
        if self.symbol is None or other.symbol is None:
            return self.symbol is other.symbol and self.forms <= other.forms
        facts = ("real", "nonnegative", "positive", "integer")
        return all(getattr(other.symbol, f"is_{fact}") for fact in facts if getattr(self.symbol, f"is_{fact}"))

    def put(self, other: _Quantity, expr: sp.Expr, *, exchanged: bool) -> Mapping[sp.Symbol, sp.Expr]:
        """The substitution that puts the other quantity in its place, and vice versa if exchanged."""
        if self.symbol is not None and other.symbol is not None:
            here = {self.symbol: other.symbol, **({other.symbol: self.symbol} if exchanged else {})}
            return here if expr.has(*here) else {}
        names = {self.name: other.name, **({other.name: self.name} if exchanged else {})}
        put = {}
        for symbol in expr.free_symbols:
            pair = factors(symbol)
            if pair is not None:
                one, two = (_with_own(each, names) for each in pair)
                if (one, two) != pair:
                    put[symbol] = product_symbol(one, two)
        return put


def _quantities(check: Algebraic) -> list[_Quantity]:
    """The quantities of a claim, by name."""
    symbols = sp.sympify(check.left).free_symbols | sp.sympify(check.right).free_symbols
    numbers = [_Quantity(symbol.name, symbol) for symbol in symbols if factors(symbol) is None]
    forms: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for pair in filter(None, map(factors, symbols)):
        for name in pair:
            before, own, after = _parts(name)
            forms[own].add((before, after))
    vectors = [_Quantity(name, None, frozenset(around)) for name, around in forms.items()]
    return sorted([*numbers, *vectors], key=lambda each: (each.symbol is None, each.name))


def _parts(name: str) -> tuple[str, str, str]:
    """A vector's name in a claim about families: what stands before its own name, this, and what stands after it."""
    if not name.startswith("sum ") and " from the mean of " not in name:
        return "", name, ""
    found = _OF_FAMILY.fullmatch(name)
    assert found is not None
    return found["before"] or "", found["own"], found["after"]


def _with_own(name: str, names: Mapping[str, str]) -> str:
    before, own, after = _parts(name)
    return f"{before}{names.get(own, own)}{after}"
