"""What follows from what: every verdict, planted errors, tampered certificates, sharpest constants by another way."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import kept
import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.ledger.implication import Implication, Use, case
from bounds.ledger.implications import PAPERS, audited, implications, of
from bounds.statement import Condition, Over
from ratecheck.algebra.positivity.polynomial import systems
from ratecheck.algebra.positivity.smt import refute
from ratecheck.algebra.search import Search
from ratecheck.auditing.implications import SHARE, ImplicationVerdict, check, variants
from ratecheck.plain import plain
from ratecheck.views.proofs.implications import implication_fields, implication_text

PFL = implications("pfl")
QUICK = {
    "pfl/corollary-3.8": {"noise and dissimilarity": sp.Integer(8), "1/T": sp.Rational(1025, 8)},
    "pfl/theorem-3.11-tuned": {"noise": sp.Integer(8), "1/T": sp.Integer(337)},
    "pfl/corollary-4.6": {"noise": sp.Integer(8), "1/T": sp.Integer(288)},
}


def named(implication):
    """A test's name."""
    return implication.conclusion


# Those that take long, here and below.
SLOW = ("pfl/theorem-4.5", "pfl/theorem-3.11", "pfl/corollary-3.8")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "implication",
    [pytest.param(each, marks=pytest.mark.long) if each.conclusion in SLOW[:2] else each for each in PFL],
    ids=named,
)
def test_every_implication_of_the_first_paper_is_proved(implication):
    """By certificates that replay, or as an identity."""
    answer = check(implication, sharpest=False)
    assert answer.verdict is ImplicationVerdict.PROVED, implication_text(answer)
    assert all(certificate.check(interior=True) for certificate in answer.certificates)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("key", "verdict"),
    [
        ("flame/theorem-2-unbiased", ImplicationVerdict.FALSE),
        ("flame/theorem-2-unbiased-repaired", ImplicationVerdict.PROVED),
        ("flame/theorem-2-unbiased-wide-repaired", ImplicationVerdict.PROVED),
        ("flame/theorem-2-biased", ImplicationVerdict.FALSE),
        ("flame/theorem-2-biased-repaired", ImplicationVerdict.PROVED),
        ("flame/theorem-2-biased-wide-repaired", ImplicationVerdict.PROVED),
    ],
)
def test_theorem_2_of_flame_follows_where_repaired(key, verdict):
    """The printed forms do not follow from the printed lemma; the numbers are admissible and break an inequality."""
    (implication,) = of(key)
    answer = check(implication, sharpest=False)
    assert answer.verdict is verdict
    if verdict is ImplicationVerdict.FALSE:
        found = answer.counterexample
        assert found.left > found.right
        for condition in case(implication).hypotheses:
            sides = (sp.N(side.xreplace(dict(found.values)), 40) for side in (condition.left, condition.right))
            assert sp.Rel(*sides, condition.operator) == sp.true


@pytest.mark.parametrize("paper", ["pfl", "flame"])
def test_every_edge_of_the_catalogue_is_checked_or_explained(paper):
    """Each premise in ``follows_from`` is one of a checked implication, or of an entry that says why it is not."""
    for statement in bounds.statements(paper):
        used = {key for one in implications(paper) if one.conclusion == statement.key for key in one.premises}
        used |= {key for conclusion, keys, why in audited(paper) if conclusion == statement.key and why for key in keys}
        # A repaired form stands in where the proof gives no more than that.
        covered = used | {key.removesuffix("-repaired") for key in used}
        assert set(statement.follows_from) - covered <= INDIRECT.get(statement.key, set())


# By way of another statement in between.
INDIRECT = {"pfl/scaffold": {"pfl/corollary-4.6"}}


def test_indirect_premises_are_reached():
    """What the catalogue names directly is reached through the implications."""
    for key, premises in INDIRECT.items():
        reached = {name for one in of(key) for between in one.premises for way in of(between) for name in way.premises}
        assert premises <= reached


def with_constant(implication, place, value):
    """The conclusion with the constant at that place replaced."""
    c = sp.Symbol("c", positive=True)
    statement = bounds.get(implication.conclusion)
    variant = next(each for name, _, each in variants(implication, statement, c) if name == place)
    claims = tuple(
        dataclasses.replace(claim, terms={k: sp.sympify(v).xreplace({c: value}) for k, v in claim.terms.items()})
        for claim in variant.claims
    )
    conditions = tuple(dataclasses.replace(each, right=each.right.xreplace({c: value})) for each in variant.conditions)
    return dataclasses.replace(variant, claims=claims, conditions=conditions)


@pytest.mark.every(2)
@pytest.mark.parametrize("key", [pytest.param(key, marks=pytest.mark.long) if key in SLOW else key for key in QUICK])
def test_sharpest_constants_are_bracketed(key):
    """Proved at the sharpest constant, refuted by plain evaluation of both bounds just below it."""
    (implication,) = of(key)
    answer = check(implication)
    assert {each.place: each.sharpest for each in answer.constants} == QUICK[key]
    for constant in answer.constants:
        at = with_constant(implication, constant.place, constant.sharpest)
        assert check(implication, at, sharpest=False).verdict is ImplicationVerdict.PROVED
        below = with_constant(implication, constant.place, constant.sharpest * (1 - SHARE))
        refuted = check(implication, below, sharpest=False)
        assert refuted.verdict is ImplicationVerdict.FALSE
        values = {symbol.name: float(value) for symbol, value in refuted.counterexample.values.items()}
        values |= {name: 1.0 for name in ("eta_u", "eta_v") if name not in values}
        known = {name: value for name, value in values.items() if name != "gamma"}
        larger, smaller = plain_values(key, below, known)
        assert larger > smaller


def plain_values(key, conclusion, known):
    """The premise's and the conclusion's right sides in floats, at the conclusion's own step sizes."""
    values, _ = conclusion.complete({name: x for name, x in known.items() if x or name not in ("eta_u", "eta_v")})
    premise = bounds.get(of(key)[0].premises[0])
    theorem = premise.evaluate(**{name: x for name, x in values.items() if not name.startswith("gamma_")})
    return theorem.value, conclusion.evaluate(**values).value


@pytest.mark.every(4)
@pytest.mark.parametrize(("place", "printed"), [("initial gap", 4), ("noise", 12), ("drift", 128), ("gamma", 32)])
def test_sharpest_constants_of_theorem_3_7_against_random_search(place, printed):
    """The needed constant at random admissible points never exceeds the sharpest, and comes within 1%."""
    (implication,) = of("pfl/theorem-3.7")
    sharpest = float(next(c.sharpest for c in check(implication).constants if c.place == place))
    assert sharpest < printed
    assert needed_in_theorem_3_7(place, np.random.default_rng(0), 200_000) == pytest.approx(sharpest, rel=0.01)


def needed_in_theorem_3_7(place, rng, count):
    """The largest needed constant, from the lemmas put together by hand with x = L*K*gamma, in units L = F_0 = 1.

    With r = m/n, a = 1/K and the smallest outer step sizes the coefficients of G_u, G_v*m/n and the rest are those of
    eq. (3.4) with Lemmas 3.5 and 3.6.
    """
    m, K = (np.floor(10.0 ** rng.uniform(0, top, count)) for top in (4, 9))
    m[: count // 2], K[: count // 4] = 1, 10**9
    n = m * np.where(rng.random(count) < 0.3, 1, np.floor(10.0 ** rng.uniform(0, 6, count)))

    def fall(x):
        drift = (1 + m / n) + 8 * x * (1 + m / n) + 48 * x * (n - m) / (m * n)
        u = 0.5 - 4 * x - drift * 8 * x**2 * (K - 1) / K / m
        v = 0.5 - 4 * x - drift * 8 * x**2
        return np.minimum(u, v), drift

    if place == "gamma":
        low, high = np.full(count, 1.0), np.full(count, 200.0)
        for _ in range(60):
            middle = (low + high) / 2
            enough = fall(1 / middle)[0] >= 1 / 4
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high.max()
    x = 1 / 32
    least, drift = fall(x)
    if place == "drift":
        # The other term with b^2 helps, where clients are sampled.
        K, other, own = np.maximum(K, 2), x * (n - m) / (m * n), x**2 / m
        own *= (K - 1) / K
        least, drift = fall(x)
        return np.max(((12 * other + 8 * drift * own) / least - 48 * other) / own)
    rest = {"initial gap": 1.0, "noise": 2 + 4 * x * drift}[place]
    return np.max(rest / least)


def test_a_dropped_condition_is_refuted():
    """Theorem 3.7 without its limit on gamma does not follow, and the counterexample breaks that limit."""
    (implication,) = of("pfl/theorem-3.7")
    statement = bounds.get("pfl/theorem-3.7")
    answer = check(implication, dataclasses.replace(statement, conditions=()), sharpest=False)
    assert answer.verdict is ImplicationVerdict.FALSE
    values = {symbol.name: float(value) for symbol, value in answer.counterexample.values.items()}
    assert values["gamma"] > 1 / (32 * values["L"] * values["K"])


def test_a_wrong_premise_is_refuted():
    """Corollary 4.6 does not follow from Theorem 3.7, which speaks of b."""
    wrong = Implication(conclusion="pfl/corollary-4.6", start=Use(key="pfl/theorem-3.7"), location="nowhere")
    assert check(wrong, sharpest=False).verdict is ImplicationVerdict.FALSE


def test_what_is_left_at_the_end_is_bounded_from_the_right_side():
    """L^0 - L^T is at most L^0 - F^* since L^T >= F^*; of L^0 + L^T that says nothing."""
    (right,) = of("flame/theorem-2-unbiased-repaired")
    assert check(right, sharpest=False).verdict is ImplicationVerdict.PROVED
    end = bounds.get("flame/lemma-3").vocabulary["lagrangian"].symbol
    wrong = dataclasses.replace(right, telescoped=right.telescoped + 2 * end)
    answer = check(wrong, sharpest=False)
    assert answer.verdict is ImplicationVerdict.UNKNOWN
    assert "coefficient of lagrangian" in answer.open


@pytest.mark.parametrize(
    ("premise", "conclusion", "wanted"),
    [
        (Over.MEAN_OF_ROUNDS, Over.MEAN_OF_ROUNDS, None),
        (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND, None),
        (Over.MEAN_OF_ROUNDS, Over.LAST_ROUND, "the last round, from a mean over the rounds"),
        (Over.LAST_ROUND, Over.BEST_ROUND, None),
        (Over.LAST_ROUND, Over.EVERY_ROUND, "every round, from the last round"),
        (Over.BEST_ROUND, Over.MEAN_OF_ROUNDS, "a mean over the rounds, from the best round"),
        (Over.BEST_ROUND, Over.LAST_ROUND, "the last round, from the best round"),
        (Over.EVERY_ROUND, Over.LAST_ROUND, None),
        (Over.EVERY_ROUND_BUT_FIRST, Over.BEST_ROUND, "a round after the first"),
    ],
)
def test_rounds_that_a_premise_says_nothing_of(premise, conclusion, wanted):
    """Some round is no worse than the mean; the last one may be, and what holds of one round need not of others."""

    def about(key, over):
        (claim,) = bounds.get(key).claims
        return dataclasses.replace(
            bounds.get(key),
            claims=(dataclasses.replace(claim, metric=dataclasses.replace(claim.metric, over=over)),),
        )

    (implication,) = of("pfl/corollary-3.8")
    start = implication.start.key
    obligations = case(implication, about("pfl/corollary-3.8", conclusion), {start: about(start, premise)}).obligations
    named = {each.name for each in case(implication).obligations}
    assert {each.name for each in obligations} - named == ({wanted} if wanted else set())


def test_a_tampered_certificate_is_rejected():
    """A changed coefficient, a dropped substitution or a substitution of another hypothesis does not replay."""
    (implication,) = of("pfl/corollary-3.8")
    certificate = max(check(implication, sharpest=False).certificates, key=lambda each: len(each.pivots))
    assert certificate.check(interior=True)
    goal = certificate.goal
    larger = dataclasses.replace(goal, numerator=goal.numerator + 1)
    negative = dataclasses.replace(goal, numerator=-goal.numerator)
    first = dataclasses.replace(certificate.pivots[0], slope=certificate.pivots[0].slope * 2)
    assert not dataclasses.replace(certificate, goal=larger).check(interior=True)
    assert not dataclasses.replace(certificate, goal=negative).check(interior=True)
    assert not dataclasses.replace(certificate, pivots=certificate.pivots[1:]).check(interior=True)
    assert not dataclasses.replace(certificate, pivots=(first, *certificate.pivots[1:])).check(interior=True)


def test_the_solver_agrees_and_is_stopped():
    """z3 proves a condition that has a certificate, finds a point where a wrong one fails, and gives up in time."""
    (implication,) = of("pfl/corollary-3.8")
    problem = case(implication)
    system = next(systems(problem.obligations[0].goal, problem.hypotheses))
    assert refute(system) is True
    wrong = dataclasses.replace(system, goal=system.goal - 1)
    point = refute(wrong)
    assert isinstance(point, dict)
    assert wrong.goal.subs({k: sp.Rational(v.numerator, v.denominator) for k, v in point.items()}) < 0
    assert refute(system, seconds=0.001) is False


def test_a_whole_number_from_zero_on_may_be_zero():
    """1 <= tau is no consequence of tau >= 0, though it is one of being a positive whole number."""
    zero, one = sp.Symbol("tau", integer=True, nonnegative=True), sp.Symbol("K", integer=True, positive=True)
    for symbol, found in ((zero, False), (one, True)):
        goal = Condition(name="", left=sp.Integer(1), operator="<=", right=symbol)
        (system,) = systems(goal, ())
        assert any(True for _ in Search(system).run()) == found


def test_reduction_to_polynomials_keeps_the_values():
    """The goal of a system equals large - small at its restored symbols, at random points with roots."""
    (implication,) = of("pfl/theorem-3.11-tuned")
    problem = case(implication)
    goal = problem.obligations[-1].goal
    (system,) = systems(goal, problem.hypotheses)
    rng = np.random.default_rng(1)
    for _ in range(5):
        values = {symbol: sp.Rational(int(rng.integers(1, 50)), 7) for symbol in Search(system).symbols}
        original = {old: new.xreplace(values) for old, new in system.restored.items()}
        difference = (goal.right - goal.left).xreplace({**values, **original})
        assert abs(sp.N(difference - system.goal.xreplace(values), 30)) < 1e-20


def test_the_command_says_what_it_found(cli):
    """One line per implication; JSON; exit code 0 where all are proved and 2 for what is no key."""
    command = [sys.executable, "-m", "ratecheck", "implications", "pfl/corollary-3.8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("PROVED   pfl/corollary-3.8 <- pfl/theorem-3.7  [certificate]")
    assert "1/T: 129 -> 1025/8" in done.stdout
    (found,) = json.loads(cli("implications", "pfl/corollary-4.6", "--json").stdout)["implications"]
    assert (found["verdict"], found["premises"]) == ("PROVED", ["pfl/theorem-4.5"])
    for wrong in ("pfl/lemma-3.2", "pfl/none", "none"):
        done = cli("implications", wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1


KEPT = kept.load("implications")


def test_the_kept_answers_are_about_every_implication():
    """In the same order."""
    every = [one for paper in PAPERS for one in implications(paper)]
    assert [one.conclusion for one in every] == [each["conclusion"] for each in KEPT]


def same(answer, before):
    """Whether an answer is the one that was kept, up to where a search stops."""
    [found] = kept.implications([plain(implication_fields(answer))])
    assert (found["verdict"], found["how"]) == (before["verdict"], before["how"])
    for (place, printed, sharpest, _), other in zip(found["constants"], before["constants"], strict=True):
        assert [place, printed] == other[:2]
        assert sharpest == (None if other[2] is None else pytest.approx(other[2], rel=1e-6))


@pytest.mark.every(2)
@pytest.mark.parametrize("key", [*QUICK, "fedsum/theorem-c.1", "fedsum/theorem-g.1", "fedsum/corollary-c.3"])
def test_kept_answers_are_those_of_the_checker(key):
    """Verdict, certificate or solver, and every sharpest constant, for some that are quick."""
    for one, before in zip(of(key), [k for k in KEPT if k["conclusion"] == key], strict=True):
        same(check(one, sharpest=True), before)


@pytest.mark.long
@pytest.mark.parametrize("paper", PAPERS)
def test_all_kept_answers_are_those_of_the_checker(paper):
    """Everything that is kept."""
    every = [k for k in KEPT if k["conclusion"].startswith(f"{paper}/")]
    for one, before in zip(implications(paper), every, strict=True):
        same(check(one, sharpest=True), before)
