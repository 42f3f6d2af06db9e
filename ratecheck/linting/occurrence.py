"""Assumptions that exclude each other, symbols and assumptions without a use, constants without an assumption."""

from __future__ import annotations

import bounds
from bounds import papers
from bounds.incompatible import incompatible
from bounds.sentences.words import LATE, PLAIN
from bounds.statement import Assumption, Over, Statement, names_in
from bounds.symbols import COMMON, Role, Vocabulary
from ratecheck.linting.finding import Finding, Found, Level

CHECK, TOGETHER = "symbols", "assumptions"


def check(statement: Statement) -> Found:
    """Assumptions that exclude each other; what is declared, assumed or used without the other."""
    yield from _excluded(statement)
    yield from _declared(statement)
    yield from _assumed(statement)
    yield from _unassumed(statement)


def used(statement: Statement) -> frozenset[str]:
    """Every symbol that occurs in the statement, or in what one of these is derived from."""
    names = {*statement.parameters}
    for claim in statement.claims:
        names |= names_in(claim.metric.expr)
        names |= set() if claim.metric.trivial is None else names_in(claim.metric.trivial)
    derived = statement.vocabulary.derived
    while new := {each for name in names & derived.keys() for each in names_in(derived[name])} - names:
        names |= new
    return frozenset(names)


def own(vocabulary: Vocabulary) -> list[str]:
    """The symbols that are not those of the vocabulary that it builds on."""
    # A vocabulary that builds on a paper's has that paper's own symbols, and has imported them.
    read = filter(papers.imported, (*bounds.PAPERS, *bounds.BESIDE))
    bases = [COMMON, PLAIN, LATE, *map(bounds.vocabulary, read)]
    mine = {one.name: one for one in vocabulary}
    # An alias may have taken a symbol's place: K_bar, K_min and K_max that of K.
    replaced = {name for name in vocabulary.aliases if name not in mine}
    inside = [base for base in bases if all(mine.get(one.name) is one for one in base if one.name not in replaced)]
    base = max(inside, key=lambda each: sum(1 for _ in each), default=None)
    known = {quantity.name for quantity in base} if base is not None else {each.name for each in COMMON}
    known |= {target for name in replaced & known for target in vocabulary.reach(name)}
    return [quantity.name for quantity in vocabulary if quantity.name not in known]


def _excluded(statement: Statement) -> Found:
    for entry in incompatible(statement.assumptions):
        yield Finding(
            level=Level.ERROR,
            check=TOGETHER,
            field="assumptions",
            text=f"{entry.text}; which is proved: the statement is about nothing",
            remedy=f"assume instead {entry.instead}",
        )


def _declared(statement: Statement) -> Found:
    vocabulary, occurring = statement.vocabulary, used(statement)
    for name in own(vocabulary):
        quantity = vocabulary[name]
        if name not in occurring:
            yield Finding(
                level=Level.WARNING,
                check=CHECK,
                field="symbols",
                part=name,
                text=f"{name} ({quantity.meaning}) is declared and occurs nowhere",
                remedy=f"leave it out, or write {name} where it is meant",
            )
        elif (
            quantity.role in (Role.CONSTANT, Role.MEASURED)
            and name not in vocabulary.facts
            and name not in vocabulary.derived
            and not statement.order_only
        ):
            yield Finding(
                level=Level.NOTE,
                check=CHECK,
                field="symbols",
                part=name,
                text=f"nothing says which fact of a problem or a run {name} ({quantity.meaning}) is, so no verdict of "
                "'verify' applies",
                remedy="give fact=..., or equals=..., or the role 'free' if the statement holds whatever it is",
            )


def _assumed(statement: Statement) -> Found:
    vocabulary, occurring = statement.vocabulary, used(statement)
    # Where quantities of the run stand on the right, a constant may be hidden in them.
    if any(
        vocabulary[each.name].role is Role.MEASURED for claim in statement.claims for each in claim.bound.free_symbols
    ):
        return
    for assumption in statement.assumptions:
        known = [name for name in map(vocabulary.called, assumption.constants) if name in vocabulary]
        if not known or {*known} & (occurring | {*statement.settings}):
            continue
        yield Finding(
            level=Level.WARNING,
            check=CHECK,
            field="assumptions",
            part=assumption.name.lower(),
            text=f"{assumption.name.lower()} is assumed, and of its constants ({', '.join(known)}) none is in the "
            "bound or in a condition",
            remedy=f"leave the assumption out, or add the term with {' or '.join(known)} that is missing",
        )


def _unassumed(statement: Statement) -> Found:
    called = statement.vocabulary.called
    given = {called(name) for assumption in statement.assumptions for name in assumption.constants}
    giving: dict[str, list[str]] = {}
    for assumption in Assumption:
        for name in map(called, assumption.constants):
            giving.setdefault(name, []).append(assumption.name.lower())
    mine = {*own(statement.vocabulary)}
    # Definitions and algebra assume nothing of their letters.
    algebra = all(claim.metric.over is Over.NO_RUN for claim in statement.claims)
    if algebra or Assumption.QUOTED in statement.assumptions:
        return
    for name in sorted(used(statement), key=statement.vocabulary.order.__getitem__):
        constant = statement.vocabulary[name].role is Role.CONSTANT
        if constant and name in giving and name not in given | mine and name not in statement.settings:
            yield Finding(
                level=Level.WARNING,
                check=CHECK,
                field="assumptions",
                part=name,
                text=f"{name} ({statement.vocabulary[name].meaning}) occurs, and no assumption gives it",
                remedy=f"assume {' or '.join(giving[name])}",
            )
