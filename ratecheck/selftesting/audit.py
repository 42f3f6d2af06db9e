"""The audit of implications before mutants: those that it tells from their originals.

A mutant takes the place of the conclusion in every implication that ends in its original. Where the argument then
breaks, by an inequality that fails at admissible parameters, or because a premise needs what is no longer assumed, the
paper's proof does not give the mutant, and the audit says so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

import bounds
from bounds.ledger.implication import Implication, Obligation, ProofObligations, Use, case, chosen_claim
from bounds.ledger.implications import PAPERS, implications
from bounds.roots import shown
from bounds.statement import Assumption, Statement
from ratecheck.algebra.counterexample import SearchRegion
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.aliases import Array
from ratecheck.auditing.implications import ImplicationCounterexample, ImplicationVerdict, check, confirmed
from ratecheck.selftesting.mutants import Mutant

# Computing time for one mutant and one implication.
SECONDS = 10.0
# The search for a counterexample: generations, points tried of each, the least relative gap, the distance from ends.
_GENERATIONS, _CANDIDATES, _VISIBLE, _OFF = 15, 3, 1e-9, 1e-9

Function: TypeAlias = Callable[..., Any]


class AuditStatus(Enum):
    """The answer of the audit on a mutant."""

    CAUGHT = "caught"
    HARMLESS = "follows as well"
    OPEN = "undecided"
    UNTOUCHED = "no argument is about it"


@dataclass(frozen=True)
class Audited:
    """The answer of the audit on a mutant, with the reason."""

    status: AuditStatus
    how: str = ""
    evidence: str = ""


def audited(mutant: Mutant, seconds: float = SECONDS) -> Audited:
    """The answer on the mutant from all implications that end in its original.

    It is harmless where every claim that was changed still follows by the same argument; with other hypotheses that
    are all claims. Where facts are taken for granted on the way, or hypotheses that the original does not state, nobody
    knows which of its own they need: without one of these it is undecided.
    """
    answers = [_under(mutant, place, seconds) for place in range(len(_ending_in(mutant.original.key)))]
    if mutant.kind.of_hypotheses and not mutant.weaker and answers and (without := _unargued(mutant.original)):
        answers.append(Audited(AuditStatus.OPEN, evidence=f"no argument gives {', '.join(without)}"))
    caught = next((answer for answer in answers if answer.status is AuditStatus.CAUGHT), None)
    if caught is not None:
        return caught
    told = [answer for answer in answers if answer.status is not AuditStatus.UNTOUCHED]
    if not told:
        return Audited(AuditStatus.UNTOUCHED)
    return next((answer for answer in told if answer.status is AuditStatus.OPEN), told[0])


@functools.cache
def _ending_in(key: str) -> tuple[Implication, ...]:
    """The implications that end in a statement."""
    paper = key.partition("/")[0]
    if paper not in PAPERS:
        return ()
    return tuple(one for one in implications(paper) if one.conclusion == key)


def _unargued(original: Statement) -> list[str]:
    """The claims in which no implication ends."""
    argued = {chosen_claim(original, one.claim).name for one in _ending_in(original.key)}
    return [claim.name for claim in original.claims if claim.name not in argued]


@functools.cache
def _proved_itself(conclusion: str, place: int) -> bool:
    """Whether the implication at a place is proved for the original, whose obligations are then granted to mutants."""
    return check(_ending_in(conclusion)[place], sharpest=False).verdict is ImplicationVerdict.PROVED


@functools.cache
def _original(conclusion: str, place: int) -> ProofObligations:
    """The proof obligations of the implication at a place for the original."""
    return case(_ending_in(conclusion)[place])


def _under(mutant: Mutant, place: int, seconds: float) -> Audited:
    """The answer on the mutant from one of the implications that end in the original."""
    implication = _ending_in(mutant.original.key)[place]
    for premise, assumption in _unassumed(mutant, implication):
        return Audited(AuditStatus.CAUGHT, "assumption", f"rests on {premise}, which assumes {assumption.value}")
    for symbol in _unfixed(mutant) & _substituted(implication):
        return Audited(AuditStatus.CAUGHT, "setting", f"rests on {symbol} = {mutant.original.settings[symbol]}")
    try:
        with limit(seconds):
            answer = _decided(mutant, implication, _original(mutant.original.key, place))
    except OutOfTime:
        return Audited(AuditStatus.OPEN, evidence=f"no answer in {seconds:g} s of computing")
    except ValueError as error:
        # The argument has no form for it, such as a quantity that is no longer linear.
        return Audited(AuditStatus.OPEN, evidence=str(error))
    if answer.status is AuditStatus.HARMLESS and not mutant.weaker and not _proved_itself(mutant.original.key, place):
        return Audited(AuditStatus.OPEN, evidence="that the original follows is not proved either")
    return answer


def _decided(mutant: Mutant, implication: Implication, original: ProofObligations) -> Audited:
    """A search refutes most wrong mutants in no time; what is left is for the certificates."""
    changed = case(implication, mutant.statement)
    if changed == original:
        # Another claim was changed, or a hypothesis that the algebra does not need.
        return _proved(mutant, implication) if mutant.kind.of_hypotheses else Audited(AuditStatus.UNTOUCHED)
    granted = original.obligations if changed.hypotheses == original.hypotheses else ()
    found, verdict, unknown = _searched(changed, granted), ImplicationVerdict.PROVED, ""
    if found is None and not mutant.weaker:
        answer = check(implication, mutant.statement, sharpest=False, solver=False, granted=granted)
        found, verdict, unknown = answer.counterexample, answer.verdict, ", ".join(answer.open)
    if found is not None:
        return Audited(AuditStatus.CAUGHT, "counterexample", _text(implication, found))
    if verdict is ImplicationVerdict.UNKNOWN:
        return Audited(AuditStatus.OPEN, evidence=f"undecided: {unknown}")
    return _proved(mutant, implication)


def _searched(problem: ProofObligations, granted: Sequence[Obligation]) -> ImplicationCounterexample | None:
    """A counterexample found by a search in floating point; it counts where 60 digits confirm it."""
    for obligation in problem.obligations if problem.complete else ():
        if obligation in granted:
            continue
        goal = obligation.goal
        region = SearchRegion(problem.hypotheses, goal.left.free_symbols | goal.right.free_symbols)
        left, right = region.function(goal.left), region.function(goal.right)
        sign = -1 if goal.operator in (">=", ">") else 1
        for z in region.descend(functools.partial(_slack, left, right, sign), _GENERATIONS):
            with np.errstate(all="ignore"):
                points = region.points(_inside(region, z))
                slacks = np.where(region.broken(points) == 0, _slack(left, right, sign, points), np.inf)
            for column in np.argsort(slacks)[:_CANDIDATES]:
                if slacks[column] < -_VISIBLE and np.isfinite(points[:, column]).all():
                    values = dict(zip(region.symbols, map(_rational, points[:, column]), strict=True))
                    found = confirmed(problem, obligation, {s: _whole(s, value) for s, value in values.items()})
                    if found is not None:
                        return found
    return None


def _slack(left: Function, right: Function, sign: int, points: Array) -> Array:
    """The relative slack (right - left)/(|left| + |right|), times the ``sign`` of the relation."""
    small, large = left(points), right(points)
    return sign * (large - small) / (np.abs(small) + np.abs(large) + 1e-300)


def _inside(region: SearchRegion, z: Array) -> Array:
    """Coordinates off the ends of what the hypotheses allow, where rounding would break them."""
    bounded = np.array([bool(place.lows or place.highs) for place in region.places])[:, None]
    return np.where(bounded, np.clip(z, _OFF, 1 - _OFF), z)


def _rational(value: float) -> sp.Rational:
    return sp.Rational(*float(value).as_integer_ratio())


def _whole(symbol: sp.Symbol, value: sp.Rational) -> sp.Rational:
    return sp.Integer(round(value)) if symbol.is_integer else value


def _unassumed(mutant: Mutant, implication: Implication) -> Iterator[tuple[str, Assumption]]:
    """Premises that need an assumption which the original makes and the mutant does not."""
    dropped = set(mutant.original.assumptions) - set(mutant.statement.assumptions)
    for key in implication.premises:
        for assumption in bounds.get(key).assumptions:
            if assumption in dropped:
                yield key, assumption


def _substituted(implication: Implication) -> set[str]:
    """The symbols for which an argument puts something else."""
    uses = [part.at for part in (*implication.parts, *implication.known) if isinstance(part, Use)]
    return {str(symbol) for at in (implication.at, *uses) for symbol in at}


def _unfixed(mutant: Mutant) -> set[str]:
    """The settings that the original fixes and the mutant does not."""
    return {*mutant.original.settings} - {*mutant.statement.settings}


def _proved(mutant: Mutant, implication: Implication) -> Audited:
    if mutant.weaker:
        return Audited(AuditStatus.HARMLESS, evidence="follows from the original")
    if mutant.kind.of_hypotheses:
        needy = [fact.location for fact in implication.facts]
        needy += [given.name for given in implication.given if given.symbols & _changed(mutant)]
        if needy:
            return Audited(
                AuditStatus.OPEN, evidence=f"the algebra holds, but {', '.join(needy)} may need what was changed"
            )
    return Audited(AuditStatus.HARMLESS, evidence=f"follows from {', '.join(implication.premises)} as well")


def _changed(mutant: Mutant) -> set[str]:
    """The symbols in conditions and rules that the mutant and its original do not share."""
    before, after = {*mutant.original.hypotheses}, {*mutant.statement.hypotheses}
    return {name for condition in before ^ after for name in condition.symbols}


def _text(implication: Implication, found: ImplicationCounterexample) -> str:
    goal = found.obligation.goal
    at = ", ".join(f"{symbol}={shown(value)}" for symbol, value in found.values.items())
    sides = f"{float(found.left):.6g} {goal.operator} {float(found.right):.6g}"
    return f"{found.obligation.name} ({implication.location}): {sides} is false at {at}"
