"""What the FedSUM paper derives from what: verdicts, sharpest constants, and planted errors that are found.

The oracle for the constants is the paper's own proofs (12 in eq. (38)) and arithmetic by hand, given beside each.
"""

from __future__ import annotations

import dataclasses

import pytest
import sympy as sp

import bounds
from bounds.ledger.implications import audited, implications
from bounds.papers.fedsum import statements as fedsum
from ratecheck.auditing.implications import ImplicationVerdict, check

IMPLICATIONS = implications("fedsum")
# Lemma C.4 counts round T without paying for its noise; E.4 and E.6 contradict eqs. (95) and (98); Case 2 has the
# maximum of the logarithms outside the root.
FALSE = {"lemma-c.4", "lemma-e.4", "lemma-e.6", "corollary-g.1-case-2"}


def of(conclusion):
    """The implications with a conclusion."""
    return [one for one in IMPLICATIONS if one.conclusion == f"fedsum/{conclusion}"]


def with_noise(conclusion, factor):
    """The conclusion with another number in its noise term."""
    statement = bounds.get(f"fedsum/{conclusion}")
    (claim,) = statement.claims
    terms = {**claim.terms, "noise": claim.terms["noise"] * factor}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(6)
@pytest.mark.parametrize("one", IMPLICATIONS, ids=lambda one: f"{one.conclusion} <- {' '.join(one.premises)}")
def test_verdicts(one):
    """Each follows but for the known ones, and nothing is left open."""
    wanted = ImplicationVerdict.FALSE if one.conclusion.removeprefix("fedsum/") in FALSE else ImplicationVerdict.PROVED
    assert check(one, sharpest=False).verdict is wanted


def test_every_edge_is_decided_or_explained():
    """What a statement says that it follows from is a premise of an implication, or listed with a reason."""
    known = {(one.conclusion, premise) for one in IMPLICATIONS for premise in one.premises}
    explained = {(conclusion, premise) for conclusion, premises, _ in audited("fedsum") for premise in premises}
    edges = {(statement.key, premise) for statement in fedsum.STATEMENTS for premise in statement.follows_from}
    assert edges == known | explained
    assert not known & explained


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("conclusion", "sharpest"),
    [
        ("theorem-c.1", 12),  # 2 + 10 at equal entries of the minimum, eq. (38)
        ("theorem-c.1-repaired", 12),
        ("theorem-d.1", 24),  # 9 + 15 at the caps, where 150*eta_l^2*K*sigma^2*L^2/N is 15 times the root
        ("corollary-4.1", 30),  # tau_avg fixed: Jensen with equality
    ],
)
def test_sharpest_noise_constants(conclusion, sharpest):
    """The least number in the noise term, with a counterexample to one smaller by a thousandth."""
    (one,) = of(conclusion)
    noise = next(constant for constant in check(one).constants if constant.place == "noise")
    assert (noise.printed, noise.sharpest) == (30, sharpest)
    assert noise.refuted is not None


@pytest.mark.parametrize(("conclusion", "sharpest"), [("theorem-c.1", 12), ("lemma-c.6", sp.Rational(17, 2))])
def test_a_smaller_constant_is_refuted(conclusion, sharpest):
    """Planted error: a hundredth below the sharpest noise constant the conclusion no longer follows; above it does."""
    (one,) = of(conclusion)
    printed = 30 if conclusion == "theorem-c.1" else 10
    for share, verdict in (
        (sp.Rational(99, 100), ImplicationVerdict.FALSE),
        (sp.Rational(101, 100), ImplicationVerdict.PROVED),
    ):
        changed = with_noise(conclusion, sharpest / sp.Integer(printed) * share)
        assert check(one, changed, sharpest=False).verdict is verdict
