"""The sharpest constants of a theorem for which its whole proof, implication by implication, still has certificates.

A theorem follows from lemmas, and some of these from others, by checked implications. Going from the first lemmas to
the theorem, every numeric factor of a right side is made as small as the implications that conclude it allow, with the
lemmas as sharp as they have become; one factor after the other, so that all of them hold together. With ``caps`` the
upper limits on step sizes are widened before, at the right sides as printed: what a wider limit costs is no longer
there to be gained in a factor.

What no implication concludes stays as it is: lemmas that are shown by lines of their own, and facts that a proof shows
on its way. So a better theorem may be had from better lemmas.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

import bounds
from bounds.ledger import implications as claimed
from bounds.ledger.implication import Implication, chosen_claim
from bounds.statement import Relation, Statement
from ratecheck.algebra.simplest import simplest_between
from ratecheck.auditing.export.certificates import answered
from ratecheck.auditing.implications import (
    SHARE,
    ConstantPlace,
    How,
    ImplicationVerdict,
    check,
    obligation_steps,
    places_of_caps,
    places_of_terms,
    sharpest_constant,
)
from ratecheck.errors import InputError

# What is said to have been done so far, as a share.
Report = Callable[[float], None]


@dataclass(frozen=True)
class SharperConstant:
    """A factor of a term of a claim, or the number that divides a condition's limit: as printed and as it may be.

    ``least`` is the number with which the same argument still works, to which ``sharper`` is rounded up; ``refuted``
    says that numbers rule out one smaller by a thousandth, in this argument.
    """

    claim: str
    place: str
    is_cap: bool
    printed: sp.Expr
    sharper: sp.Expr
    least: sp.Expr
    refuted: bool


@dataclass(frozen=True)
class SharperStatement:
    """A statement of the proof with the constants that are sharper; ``open`` says why none was looked for."""

    printed: Statement
    sharper: Statement
    implications: tuple[Implication, ...]
    constants: tuple[SharperConstant, ...]
    open: str = ""


@dataclass(frozen=True)
class SharperTheorem:
    """The theorem is the last of ``statements``, which come in the order of the proof.

    ``taken`` are the keys of statements that enter as they are, and ``facts`` where the proof shows what no statement
    says. ``certificates`` are those of all inequalities that the implications come down to, as data that `recheck.py`
    accepts; ``uncertified`` are those without one, and why.
    """

    statements: tuple[SharperStatement, ...]
    taken: tuple[str, ...]
    facts: tuple[str, ...]
    certificates: tuple[Mapping[str, Any], ...] = ()
    uncertified: tuple[tuple[str, str], ...] = ()

    @property
    def theorem(self) -> SharperStatement:
        """The statement whose constants are sharpened."""
        return self.statements[-1]

    @property
    def premises(self) -> dict[str, Statement]:
        """The statements that became sharper, by key."""
        return {each.printed.key: each.sharper for each in self.statements}


def sharpen(key: str, *, caps: bool = False, report: Report | None = None) -> SharperTheorem:
    """The theorem and the lemmas behind it, sharper; raises `InputError` where no implication concludes it."""
    root = bounds.get(key)
    if all(claim.relation is Relation.ORDER for claim in root.claims):
        raise InputError(f"{key} bounds an order: there is no constant to sharpen")
    claimed.of(key)
    order = list(_order(root.key))
    done: list[SharperStatement] = []
    for number, each in enumerate(order):
        begun, share = number / len(order), 1 / len(order)
        known = {one.printed.key: one.sharper for one in done}

        def inner(part: float, begun: float = begun, share: float = share) -> None:
            if report is not None:
                report(begun + share * part)

        done.append(_sharper(bounds.get(each), known, caps=caps, report=inner))
    concluded = {each.printed.key for each in done}
    links = [link for each in done for link in each.implications]
    taken = dict.fromkeys(premise for link in links for premise in link.premises if premise not in concluded)
    facts = dict.fromkeys(fact.location for link in links for fact in link.facts if not fact.by_definition)
    return SharperTheorem(tuple(done), tuple(taken), tuple(facts))


def certified(found: SharperTheorem, report: Report | None = None) -> SharperTheorem:
    """The sharper theorem with the certificates of all its implications."""
    links = [(link, each.sharper) for each in found.statements for link in each.implications]
    steps = [step for link, sharper in links for step in obligation_steps(link, sharper, found.premises)]
    accepted: list[Mapping[str, Any]] = []
    uncertified: list[tuple[str, str]] = []
    for number, step in enumerate(steps, 1):
        answer = answered(step)
        if answer["certificate"] is None:
            uncertified.append((step.id, answer["reason"]))
        else:
            accepted.append(answer["certificate"])
        if report is not None:
            report(number / len(steps))
    return dataclasses.replace(found, certificates=tuple(accepted), uncertified=tuple(uncertified))


def _order(key: str) -> Iterator[str]:
    """The statements behind a statement that implications conclude, premises first, and the statement."""
    paper = key.partition("/")[0]
    known = claimed.implications(paper)
    seen: set[str] = set()

    def visit(each: str) -> Iterator[str]:
        mine = [one for one in known if one.conclusion == each]
        if each in seen or not mine:
            return
        seen.add(each)
        for one in mine:
            for premise in one.premises:
                yield from visit(premise)
        yield each

    return visit(key)


# --- One statement ---


def _places(statement: Statement, links: Sequence[Implication], *, caps: bool) -> list[ConstantPlace]:
    """The constants to look at, in the order in which they are made sharper."""
    concluded = {chosen_claim(statement, link.claim).name for link in links}
    claims = [claim for claim in statement.claims if claim.name in concluded]
    terms = [place for claim in claims for place in places_of_terms(claim)]
    # A limit may be wider where the implications conclude all that the statement says.
    return [*places_of_caps(statement), *terms] if caps and len(claims) == len(statement.claims) else terms


def _sharper(
    statement: Statement, premises: Mapping[str, Statement], *, caps: bool, report: Report
) -> SharperStatement:
    links = tuple(
        link for link in claimed.implications(statement.key.partition("/")[0]) if link.conclusion == statement.key
    )
    why = _open(statement, links, premises)
    if why:
        return SharperStatement(statement, statement, links, (), why)
    now, constants = statement, []
    places = _places(statement, links, caps=caps)
    for number, place in enumerate(places):
        report(number / len(places))
        found = _constant(now, place, links, premises)
        if found is not None:
            constants.append(found)
            now = place.put(now, found.sharper)
    return SharperStatement(statement, now, links, tuple(constants))


def _constant(
    statement: Statement, place: ConstantPlace, links: Sequence[Implication], premises: Mapping[str, Statement]
) -> SharperConstant | None:
    """The constant, smaller than printed, with which all implications still have certificates; None for none."""
    parameter = sp.Dummy("c", positive=True)
    variant = place.put(statement, parameter)
    least, refuted = sp.Integer(0), True
    for link in links:
        if not place.is_cap and chosen_claim(statement, link.claim).name != place.claim:
            continue
        answer = sharpest_constant(link, variant, place.name, place.printed, parameter, premises=premises)
        if answer.sharpest is None or answer.sharpest >= place.printed:
            return None
        if answer.sharpest >= least:
            least, refuted = answer.sharpest, answer.refuted is not None
    value = rounded_up(least)
    if value >= place.printed or (value == 0 and len(chosen_claim(statement, place.claim or None).terms) == 1):
        return None
    if _open(place.put(statement, value), links, premises):
        return None
    return SharperConstant(place.claim, place.name, place.is_cap, place.printed, value, least, refuted)


def _open(statement: Statement, links: Sequence[Implication], premises: Mapping[str, Statement]) -> str:
    """The reason for which a statement does not follow with certificates; nothing where it does."""
    for link in links:
        answer = check(link, statement, sharpest=False, solver=False, premises=premises)
        if answer.verdict is not ImplicationVerdict.PROVED or answer.how is How.SOLVER:
            return f"{link.location}: no certificate that it follows from {', '.join(link.premises)}"
    return ""


def rounded_up(least: sp.Expr) -> sp.Expr:
    """The simplest fraction that is at least the number, by no more than a thousandth of it.

    >>> import sympy as sp
    >>> rounded_up(sp.sqrt(2)), rounded_up(sp.Rational(8, 3)), rounded_up(sp.Integer(0))
    (17/12, 8/3, 0)
    """
    if least == 0:
        return sp.Integer(0)
    low = least if least.is_Rational else sp.Rational(str(sp.N(least * (1 + SHARE / 1000), 30)))
    exact = Fraction(int(low.p), int(low.q))
    found = simplest_between(exact, exact * (1 + Fraction(1, 1000)))
    return sp.Rational(found.numerator, found.denominator)
