"""Evidence in order of strength: what refutes a theorem as it is printed comes first, with its simplest numbers."""

import dataclasses
import re
from fractions import Fraction

import kept
import pytest

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.fault import Fault, FaultKind, faults
from bounds.ledger.refuted import of_paper
from ratecheck.auditing import ledger
from ratecheck.auditing.errata import errata
from ratecheck.auditing.export.conclusions import ProofStanding, conclude
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.views.review import short
from ratecheck.views.review.data import LEVELS, Requested, Reviewed, review_fields

FLAME = "flame/theorem-2-unbiased"
UNBIASED = f"{FLAME}-40"


def refuted(paper):
    """A finding on every step of a paper that a reader has filed, without examining any."""
    filed = {step: fault for fault in faults(paper) for step in fault.steps}
    return [
        StepResult(
            id=step.id,
            location=step.location,
            claim=step.claim,
            kind=step.kind.value,
            of=step.of,
            verdict=StepVerdict.FALSE,
            basis="",
            evidence="",
            vacuous=False,
            repair=step.repair,
            repaired="PROVED",
            repaired_evidence="",
            witness="",
            unused=(),
            loose=(),
            asked=True,
            remark="",
            seconds=0.0,
        ).filed(filed[step.id])
        for step in steps(paper)
        if step.id in filed
    ]


def wrong(paper):
    """The errata that follow from these."""
    found = refuted(paper)
    return errata(found, conclude(found, bounds.statements(paper)))


# Theorem 2 of FLAME.


def test_the_smallest_counterexample_by_hand():
    """One client, f = x^2/2, lambda = 4, rho = 5, theta = 0, w_i = 1, solved exactly: by the paper's formulas."""
    L, lambda_, rho, alpha = Fraction(1), Fraction(4), Fraction(5), Fraction(1)
    assert (lambda_ * alpha) ** 2 * (1 + rho) / rho**2 < (lambda_ * alpha + rho) / 2
    assert rho >= lambda_ * alpha
    assert lambda_ > 2 * L
    theta, w_i = Fraction(0), Fraction(1)
    pi = lambda_ * alpha * (theta - w_i)
    w = w_i + pi / rho

    def lagrangian(theta, w_i, pi, w):
        return alpha * (theta**2 / 2 + lambda_ / 2 * (theta - w_i) ** 2) + pi * (w_i - w) + rho / 2 * (w_i - w) ** 2

    gradient = (
        alpha * (theta + lambda_ * (theta - w_i)),
        alpha * lambda_ * (w_i - theta) + pi + rho * (w_i - w),
        w_i - w,
        -pi - rho * (w_i - w),
    )
    before = lagrangian(theta, w_i, pi, w)
    # (9) exactly, (10), (11), (12).
    new_theta = lambda_ * w_i / (1 + lambda_)
    new_w_i = (lambda_ * alpha * new_theta + rho * w - pi) / (lambda_ * alpha + rho)
    new_pi = pi + rho * (new_w_i - w)
    after = lagrangian(new_theta, new_w_i, new_pi, new_w_i + new_pi / rho)
    c_1 = (lambda_ * alpha + rho) / 2 - (lambda_ * alpha) ** 2 * (1 + rho) / rho**2
    c_2 = 4 * (lambda_ * alpha) ** 2 * (1 + 1 / rho**2) + 2 * alpha**2 * (L**2 + 2 * lambda_**2) + 2 * rho**2 + 2
    left, right = sum(part**2 for part in gradient), c_2 / c_1 * (before - after)
    assert (left, right) == (Fraction(816, 25), Fraction(467552, 22275))
    assert left > right


def test_it_is_what_the_audit_finds():
    """The step that the catalogue names as the refutation has just these numbers, and so has Lemma 1 simple ones."""
    assert {each.key: each.step for each in of_paper("flame")}[FLAME] == UNBIASED
    (step,) = rc.audit(step=UNBIASED, workers=1).steps
    assert step.verdict is StepVerdict.FALSE
    assert "816/25 <= 467552/22275 fails" in step.evidence
    assert all(f"{name}=1" in step.evidence for name in ("m", "s", "T", "alpha", "h", "w_i"))
    assert len(step.evidence) <= 120
    for other in ("flame/lemma-1-41", "flame/theorem-2-biased-17"):
        (found,) = rc.audit(step=other, workers=1).steps
        assert found.verdict is StepVerdict.FALSE
        assert max(map(len, re.findall(r"\d+", found.evidence))) <= 4


def test_it_comes_first():
    """The condition that is too weak makes Theorem 2 false for a client of weight 1; the missing E is a misprint."""
    first, *others = wrong("flame")
    assert first.rank[0] == 0
    assert first.refutes[0] == FLAME
    assert UNBIASED in [each.id for each in first.findings]
    assert "weight 1" in first.fault.wrong
    without_mean = next(each for each in others if each.first.id == "flame/theorem-2-unbiased-29")
    assert without_mean.kind == "misprint"
    assert LEVELS[without_mean.rank[0]] == "misprints that change a statement"
    assert all(without_mean.rank > each.rank for each in others if each.rank[0] == 0)


def test_the_review_begins_with_it():
    """The short answers show what refutes the theorem before the line in which it is made."""
    found = ledger.audit([ledger.module_of("flame")], (UNBIASED, "flame/lemma-1-24"), workers=1)
    conclusions = conclude(found, bounds.statements("flame"))
    asked = Requested("flame", "FLAME", 0, 0, sharpest=False, papers=("flame",))
    reviewed = [Reviewed(bounds.get(FLAME), FLAME, main=True), Reviewed(bounds.get("flame/lemma-1"), "l", main=False)]
    data = review_fields(asked, reviewed, found, conclusions, errata(found, conclusions))
    (check,) = [lines for question, lines in short.answers(data) if question.startswith("How")]
    said = ["".join(part if isinstance(part, str) else part.text for part in line) for line in check]
    assert UNBIASED in said[0]
    assert "lemma-1-24" in said[1]


# What errata change.


def test_constants_under_an_order_do_not_change_the_printed_theorem():
    """Of SimFBO three faults change (9) or (10); those that change constants alone are a level of their own."""
    found = wrong("simfbo")
    printed = [each for each in found if each.rank[0] == 0]
    assert [each.first.id for each in printed] == ["simfbo/lemma-8-2", "simfbo/theorem-1-27", "simfbo/theorem-1-12"]
    for each in found:
        orders = {"simfbo/theorem-1-order", "simfbo/theorem-2-order"} & {*each.fault.changes}
        assert bool(orders) or each.rank[0] != 0
    constants = [each for each in found if LEVELS[each.rank[0]].startswith("changing explicit constants")]
    assert len(constants) == 15
    assert all("under an O(.)" in each.consequence for each in constants)


@pytest.mark.parametrize("paper", ["pfl", "fedsum", "flame"])
def test_theorems_that_are_printed_with_constants_keep_their_level(paper):
    """Where no order is printed, a fault of a theorem is one of what is printed."""
    levels = {LEVELS[each.rank[0]] for each in wrong(paper)}
    assert not any(level.startswith("changing explicit constants") for level in levels)


@pytest.mark.long
@pytest.mark.parametrize("step", ["fedsum/lemma-f.3-5", "fedsum/lemma-f.4-4"])
def test_swapped_cases_are_false_as_printed(step):
    """Section 2.1 of FedSUM and its Appendices F and G number cyclic and reshuffled participation differently."""
    (found,) = rc.audit(step=step, workers=1).steps
    assert (found.verdict, found.repaired) == (StepVerdict.TYPO, "CHECKED")


def test_swapped_cases_are_an_erratum():
    """What the kept review found of the printed step, and what the erratum says."""
    (found,) = (each for each in kept.load("reviews")["fedsum"]["errata"] if each["step"] == "fedsum/lemma-f.3-5")
    assert found["repaired"] == "CHECKED"
    assert "fails" in found["evidence"]
    swapped = next(each for each in wrong("fedsum") if "fedsum/lemma-f.3-5" in [f.id for f in each.findings])
    assert "Case 3" in swapped.fault.wrong
    assert LEVELS[swapped.rank[0]] == "misprints that change a statement"


# A statement that is right although its proof is not.


def mended(of, fault=None):
    """A false line with a repaired form."""
    (line,) = [each for each in refuted("pfl") if each.id == "pfl/lemma-4.1-12"]
    return dataclasses.replace(line, of=of, fault=fault, verdict=StepVerdict.FALSE)


@pytest.mark.parametrize(
    ("changes", "filed", "standing"),
    [
        ((), True, ProofStanding.PROOF),
        (("pfl/lemma-a.3",), True, ProofStanding.REPAIR),
        (("pfl/theorem-4.5",), True, ProofStanding.PROOF),
        ((), False, ProofStanding.REPAIR),
    ],
)
def test_a_right_statement_whose_proof_needs_a_repair(changes, filed, standing):
    """It says so where readers filed the line and no fault changes the statement; what nobody filed may change it."""
    kind = FaultKind.WRONG_TERM
    fault = Fault(steps=("pfl/lemma-4.1-12",), kind=kind, wrong="w", meant="m", changes=changes) if filed else None
    conclusion = conclude([mended("pfl/lemma-a.3", fault)], bounds.statements("pfl"))["pfl/lemma-a.3"]
    assert conclusion.standing is standing
    assert ("its proof needs a repair" in conclusion.text) == (standing is ProofStanding.PROOF)


def test_a_refuted_statement_is_not_called_unaffected():
    """Where the whole statement fails, in an edge case say, the repair is the statement's, whatever a fault lists."""
    fault = Fault(steps=("pfl/lemma-4.1-12",), kind=FaultKind.EDGE_CASE, wrong="w", meant="m")
    whole = dataclasses.replace(mended("pfl/lemma-a.3", fault), kind="end-to-end")
    assert conclude([whole], bounds.statements("pfl"))["pfl/lemma-a.3"].standing is ProofStanding.REPAIR
