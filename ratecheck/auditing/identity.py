"""Equalities: the difference over one denominator and expanded, or a rational point where the sides differ."""

from __future__ import annotations

import sympy as sp

from bounds.ledger.step import Identity, scalar_of
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import FULL, Answer, Decision, Effort, unknown
from ratecheck.auditing.export.coordinates import Coordinates
from ratecheck.auditing.inequality import prove, refuted, searched, vanishes


def decide(claim: Identity, effort: Effort = FULL) -> Decision:
    """Whether both sides are equal for all values of the symbols (in their domains) and all vectors."""
    scalar = scalar_of(claim)
    difference = sp.sympify(claim.left) - sp.sympify(claim.right)
    try:
        with limit(effort.seconds):
            if vanishes(difference):
                return _same("both sides expand to the same")
            found = searched(Coordinates(claim.left, claim.right).scalar(scalar, 2), effort.generations)
            if found is not None:
                return refuted(scalar, found)
            if sp.simplify(difference) == 0:
                return _same("the difference simplifies to 0")
    except OutOfTime:
        pass
    return prove(scalar, effort) or unknown(
        "the difference does not expand to 0, and no point was found where it is not 0"
    )


def _same(evidence: str) -> Decision:
    return Decision(answer=Answer.TRUE, certified="certificate", evidence=evidence, used=frozenset())
