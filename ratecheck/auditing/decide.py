"""The decision on a claim, by the checker of its form."""

from __future__ import annotations

from bounds.ledger.step import Check, Gram, Identity, Scalar
from ratecheck.auditing import gram, identity, inequality
from ratecheck.auditing.decision import FULL, Decision, Effort
from ratecheck.auditing.enumerated import EnumeratedInstances


def decide(check: Check, effort: Effort = FULL) -> Decision:
    """Whether the claim of a step holds, by the checker of its form."""
    if isinstance(check, Identity):
        return identity.decide(check, effort)
    if isinstance(check, Scalar):
        return inequality.decide(check, effort)
    if isinstance(check, Gram):
        return gram.decide(check, effort)
    return EnumeratedInstances(check).decide(check)
