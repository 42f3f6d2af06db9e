"""The decision on a claim, by the checker of its form."""

from __future__ import annotations

from bounds.ledger.step import Check, Enumerated, Gram, Identity, Scalar
from ratecheck.auditing import gram, identity, inequality
from ratecheck.auditing.decision import FULL, Answer, Decision, Effort
from ratecheck.auditing.enumerated import EnumeratedInstances


def decide(check: Check, effort: Effort = FULL) -> Decision:
    """Whether the claim of a step holds, by the checker of its form."""
    if isinstance(check, Identity):
        return identity.decide(check, effort)
    if isinstance(check, Scalar):
        return inequality.decide(check, effort)
    if isinstance(check, Gram):
        return gram.decide(check, effort)
    return decide_enumerated(check, EnumeratedInstances(check), effort)


def decide_enumerated(check: Enumerated, family: EnumeratedInstances, effort: Effort = FULL) -> Decision:
    """Whether a claim on instances holds: refuted by one of them, or proved by its form for all values."""
    found = family.decide(check)
    form = check.algebraic if found.true else None
    proved = None if form is None else decide(form, effort)
    if proved is None or not proved.true:
        return found
    evidence = f"{proved.evidence}; besides {found.evidence}"
    return Decision(answer=Answer.TRUE, certified=proved.certified, evidence=evidence)
