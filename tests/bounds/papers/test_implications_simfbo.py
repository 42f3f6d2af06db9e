"""What the SimFBO paper derives from what: verdicts, sharpest constants, and planted errors that are found.

The oracle for the constants is the mean of (rho^(t))^2 by hand: at rho^(t) that alternate between rho_bar/2 and
3*rho_bar/2 it is 5/4 of rho_bar^2, where the paper takes 3/2.
"""

from __future__ import annotations

import dataclasses

import pytest
import sympy as sp

import bounds
from bounds.ledger.implications import audited, implications
from bounds.papers.simfbo import statements as simfbo
from ratecheck.auditing.implications import ImplicationVerdict, check

IMPLICATIONS = implications("simfbo")


def of(conclusion):
    """The implication with a conclusion."""
    (found,) = [one for one in IMPLICATIONS if one.conclusion == f"simfbo/{conclusion}"]
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize("one", IMPLICATIONS, ids=lambda one: f"{one.conclusion} {one.claim} <- {one.premises[:1]}")
def test_verdicts(one):
    """Each follows."""
    assert check(one, sharpest=False).verdict is ImplicationVerdict.PROVED


def test_every_edge_is_decided_or_explained():
    """What a statement says that it follows from is a premise of an implication, or listed with a reason."""
    known = {(one.conclusion, premise) for one in IMPLICATIONS for premise in one.premises if premise != one.conclusion}
    explained = {(conclusion, premise) for conclusion, premises, _ in audited("simfbo") for premise in premises}
    edges = {(statement.key, premise) for statement in simfbo.STATEMENTS for premise in statement.follows_from}
    assert edges == known | explained
    assert not known & explained


def test_the_theorem_needs_five_sixths_of_its_printed_constants():
    """5/4 of 3/2 for what has rho^2; 2/3 for the drift, which has rho once; the initial gap as printed."""
    constants = check(of("theorem-1-repaired")).constants
    assert {constant.place: constant.sharpest / constant.printed for constant in constants} == {
        "initial gap": 1,
        "partial participation": sp.Rational(5, 6),
        "full synchronisation": sp.Rational(5, 6),
        "local updates": sp.Rational(2, 3),
    }


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(sp.Rational(5, 6), ImplicationVerdict.PROVED), (sp.Rational(4, 5), ImplicationVerdict.UNKNOWN)],
)
def test_a_smaller_constant_does_not_follow(share, verdict):
    """Planted error: below five sixths of the synchronisation term there is no proof of the theorem."""
    statement = bounds.get("simfbo/theorem-1-repaired")
    (claim,) = statement.claims
    terms = {**claim.terms, "full synchronisation": claim.terms["full synchronisation"] * share}
    changed = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
    assert check(of("theorem-1-repaired"), changed, sharpest=False).verdict is verdict


def test_a_smaller_drift_does_not_follow():
    """Planted error: eq. (21) with 3 for 4 in the error of y."""
    one = next(each for each in IMPLICATIONS if (each.conclusion, each.claim) == ("simfbo/lemma-8-simplified", "y"))
    statement = bounds.get(one.conclusion)
    claims = tuple(
        dataclasses.replace(each, terms={**each.terms, "error of y": each.terms["error of y"] * sp.Rational(3, 4)})
        if each.name == "y"
        else each
        for each in statement.claims
    )
    assert check(one, dataclasses.replace(statement, claims=claims), sharpest=False).verdict is ImplicationVerdict.FALSE
