"""Mutants of statements: they are statements, their directions are right, and the audit tells the wrong ones."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.ledger.implications import of
from bounds.statement import Over, number
from bounds.symbols import Domain, Role
from ratecheck.auditing.implications import ImplicationVerdict, check
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.selftesting.audit import AuditStatus, audited
from ratecheck.selftesting.mutants import Mutant, MutationKind, Strength, mutants, sound
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.verification.verify import verify

KEYS = (
    "pfl/theorem-3.7",
    "pfl/corollary-3.8",
    "pfl/theorem-3.11",
    "pfl/lemma-4.4",
    "pfl/corollary-4.6",
    "fedsum/theorem-4.1-repaired",
    "fedsum/lemma-c.6-repaired",
    "fedsum/lemma-d.4-repaired",
    "flame/theorem-1-repaired",
    "simfbo/proposition-3-repaired",
    "simfbo/lemma-9-repaired",
)
CLAIM_KINDS = (MutationKind.CONSTANT, MutationKind.SCALED_TERM, MutationKind.EXPONENT, MutationKind.DROPPED_TERM)


def of_kind(key: str, *kinds: MutationKind) -> list[Mutant]:
    """The mutants of a statement of these kinds."""
    return [mutant for mutant in mutants(bounds.get(key)) if mutant.kind in kinds]


def named(key: str, text: str) -> Mutant:
    """The mutant of which that is said."""
    (mutant,) = [mutant for mutant in mutants(bounds.get(key)) if mutant.text == text]
    return mutant


# --- Statements ---


def test_every_kind_is_there():
    """A theorem with a cap and step rules has every kind; terms with a number in front are scaled as constants."""
    assert {mutant.kind for mutant in mutants(bounds.get("pfl/theorem-3.7"))} == set(MutationKind) - {
        MutationKind.SCALED_TERM
    }
    assert {mutant.kind for mutant in mutants(bounds.get("pfl/theorem-3.11"))} == set(MutationKind)
    assert {mutant.kind for mutant in mutants(bounds.get("simfbo/theorem-1-repaired"))} == set(MutationKind)


def test_orders_have_no_mutants():
    """What is known up to a constant has none to change."""
    assert mutants(bounds.get("pfl/scaffold")) == []


LARGE = [pytest.param(paper, marks=pytest.mark.long) for paper in ("flame", "simfbo")]


@pytest.mark.parametrize("paper", ["pfl", "fedsum", *LARGE])
def test_mutants_differ_from_their_originals_and_from_each_other(paper):
    """Keys are unique; every mutant has another claim, condition, rule, setting or assumption."""
    parts = ("claims", "conditions", "step_rules", "assumptions", "settings")
    for statement in sound(bounds.statements(paper)):
        found = mutants(statement)
        keys = [mutant.statement.key for mutant in found]
        assert len(set(keys)) == len(keys)
        for mutant in found:
            assert mutant.statement.key.startswith(f"{statement.key}~{mutant.kind.value}-")
            assert any(getattr(mutant.statement, part) != getattr(statement, part) for part in parts), mutant.text
            assert mutant.original is statement


def test_sound_statements_leave_out_printed_forms_orders_and_algebra():
    """The repaired form stands in; what is about no run has no mutants that a run could tell."""
    keys = {statement.key for statement in sound(bounds.statements("fedsum"))}
    assert "fedsum/theorem-4.1-repaired" in keys
    assert "fedsum/theorem-4.1" not in keys
    keys = {statement.key for statement in sound(bounds.statements("pfl"))}
    assert not keys & {"pfl/scaffold", "pfl/lemma-a.1", "pfl/lemma-a.2"}


def drawn(statement, rng):
    """Random settings and constants of a statement, in their domains and orders; step sizes are not among them."""
    values = {}
    for name in statement.parameters:
        quantity = statement.vocabulary[name]
        if quantity.role is Role.STEP_SIZE or name in statement.settings:
            continue
        if quantity.domain is Domain.POSITIVE_INTEGER:
            values[name] = float(rng.integers(2, 30))
        else:
            values[name] = float(10 ** rng.uniform(-1.5, 1.5))
    for smaller, larger in statement.vocabulary.ordered:
        if {smaller, larger} <= values.keys():
            values[smaller], values[larger] = sorted((values[smaller], values[larger]))
    return values


def admissible(statement, rng):
    """The same with a step size of everything that no rule sets, within its interval where there are conditions."""
    values = drawn(statement, rng)
    measured = {name for name in statement.parameters if statement.vocabulary[name].role is Role.MEASURED}
    known = {name: value for name, value in values.items() if name not in measured}
    if statement.step_rules or any(
        statement.vocabulary[name].role is Role.STEP_SIZE for c in statement.conditions for name in c.symbols
    ):
        region = step_sizes(statement, known)
        if not region.feasible:
            return None
        for name, interval in region.admissible.items():
            if name not in statement.complete(values)[0] and math.isfinite(interval.high):
                values[name] = float(interval.high * 10 ** rng.uniform(-2, 0))
    for name in statement.required:
        if name not in statement.complete(values)[0]:
            values[name] = float(10 ** rng.uniform(-2, 0))
    evaluation = statement.evaluate(**values)
    return evaluation.values if evaluation.applicable else None


def points(statement, count):
    """So many admissible points."""
    rng = np.random.default_rng(1)
    drawn_points = (admissible(statement, rng) for _ in range(50 * count))
    found = list(itertools.islice((point for point in drawn_points if point is not None), count))
    assert len(found) == count
    return found


@pytest.mark.parametrize("key", KEYS)
def test_mutants_are_statements_that_every_check_takes(key):
    """They evaluate, their conditions are checked, and step sizes are found, wherever those of the original are."""
    statement = bounds.get(key)
    point = points(statement, 1)[0]
    given = {name: value for name, value in point.items() if statement.vocabulary[name].role is not Role.STEP_SIZE}
    for mutant in mutants(statement):
        evaluation = mutant.statement.evaluate(**{**point, **settled(mutant.statement, point)})
        assert evaluation.key == mutant.statement.key
        assert evaluation.claims.keys() == {claim.name for claim in mutant.statement.claims}
        assert len(mutant.statement.check_conditions(evaluation.values)) == len(mutant.statement.hypotheses)
        restricted = {name for condition in mutant.statement.hypotheses for name in condition.symbols}
        if any(statement.vocabulary[name].role is Role.STEP_SIZE for name in restricted):
            step_sizes(mutant.statement, given)


def settled(statement, point):
    """What a statement itself fixes, at a point of its original."""
    return {name: point[str(value)] if value.is_Symbol else float(value) for name, value in statement.settings.items()}


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/corollary-4.6"])
def test_mutants_are_verified_like_statements(key):
    """Every verdict is one of the five, and weaker mutants hold where the original does."""
    problem = Quadratic.synthetic(n=3, d=2, shared=1, condition=2.0, heterogeneity=0.5, seed=3)
    statement = bounds.get(key)
    full = "m" in statement.settings
    given = {"m": 3.0 if full else 2.0, "K": 2.0, "T": 20.0, "sigma_u": 0.1, "sigma_v": 0.1}
    assert verify(statement, problem, given).outcome is Outcome.HOLDS
    for mutant in mutants(statement)[::3]:
        outcome = verify(mutant.statement, problem, given).outcome
        assert isinstance(outcome, Outcome)
        if mutant.weaker and mutant.kind is not MutationKind.STEP_RULE:
            assert outcome is Outcome.HOLDS, mutant.text


def test_a_dropped_noise_term_is_violated_by_a_run():
    """A mutant that claims no noise floor at all is refuted by the exact engine in a long run."""
    problem = Quadratic.synthetic(n=3, d=2, shared=1, condition=1.0, heterogeneity=0.0, seed=3)
    (mutant,) = [m for m in of_kind("pfl/theorem-4.5", MutationKind.DROPPED_TERM) if m.text == "noise: dropped"]
    given = {"m": 2.0, "K": 2.0, "T": 2e4, "sigma_u": 3.0, "sigma_v": 3.0}
    assert verify(mutant.original, problem, given).outcome is Outcome.HOLDS
    assert verify(mutant.statement, problem, given).outcome is Outcome.VIOLATED


# --- Directions ---


@pytest.mark.parametrize("key", KEYS)
def test_directions_of_right_sides_are_right_at_admissible_points(key):
    """Weaker: nowhere smaller. Stronger: nowhere larger, and smaller somewhere."""
    at = points(bounds.get(key), 8)
    before = [right_sides(bounds.get(key), point) for point in at]
    for mutant in of_kind(key, *CLAIM_KINDS):
        after = [right_sides(mutant.statement, point) for point in at]
        changes = np.array(after) - np.array(before)
        size = 1e-12 * np.abs(before).max(axis=1, keepdims=True)
        if mutant.direction is Strength.WEAKER:
            assert (changes >= -size).all(), mutant.text
        if mutant.direction is Strength.STRONGER:
            assert (changes <= size).all(), mutant.text
            assert (changes < 0).any(), mutant.text


def right_sides(statement, point):
    """The right side of every claim."""
    return [number(sp.sympify(claim.bound), point) for claim in statement.claims]


@pytest.mark.parametrize("key", KEYS)
def test_directions_of_hypotheses_are_right_at_random_points(key):
    """Where a stronger mutant does not apply the original does not; where a weaker applies the original does."""
    statement = bounds.get(key)
    rng = np.random.default_rng(2)
    changed = of_kind(key, MutationKind.RELAXED_CONDITION, MutationKind.DROPPED_CONDITION, MutationKind.STEP_RULE)
    for _ in range(200):
        values = drawn(statement, rng)
        names = [name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE]
        values |= {name: float(10 ** rng.uniform(-4, 2)) for name in names}
        holds = all(each.holds for each in statement.check_conditions(values) if each.holds is not None)
        for mutant in changed:
            applies = all(each.holds for each in mutant.statement.check_conditions(values) if each.holds is not None)
            if mutant.direction is Strength.STRONGER:
                assert applies or not holds, mutant.text
            if mutant.direction is Strength.WEAKER:
                assert holds or not applies, mutant.text


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "flame/theorem-2-biased-repaired"])
def test_directions_of_left_sides_are_right(key):
    """At random quantities a stronger mutant's left side is nowhere smaller, a weaker's nowhere larger."""
    statement = bounds.get(key)
    rng = np.random.default_rng(3)
    claim = statement.claims[0]
    for mutant in of_kind(key, MutationKind.WRONG_METRIC):
        other = mutant.statement.claims[0]
        if other.metric.over is not claim.metric.over:
            assert (claim.metric.over, other.metric.over) == (Over.MEAN_OF_ROUNDS, Over.EVERY_ROUND)
            assert mutant.direction is Strength.STRONGER
            continue
        for _ in range(50):
            values = {**drawn(statement, rng)}
            symbols = claim.metric.expr.free_symbols | other.metric.expr.free_symbols
            put = {s: values.get(s.name) or float(rng.exponential()) for s in symbols}
            old, new = (float(each.metric.expr.subs(put)) for each in (claim, other))
            if mutant.direction is Strength.STRONGER:
                assert new >= old * (1 - 1e-12), mutant.text
            if mutant.direction is Strength.WEAKER:
                assert new <= old * (1 + 1e-12), mutant.text


def degrees(statement, expr):
    """Scaling degrees, from the value in other units; None where the expression has none."""
    symbols = sorted(expr.free_symbols, key=str)
    start = {symbol.name: 7.0 + 2 * place for place, symbol in enumerate(symbols)}
    found = []
    for name in ("f_degree", "x_degree"):
        values = [
            number(expr, {each: x * unit ** getattr(statement.vocabulary[each], name) for each, x in start.items()})
            for unit in (1.0, 2.0, 4.0)
        ]
        one, two = np.log2(np.abs(values[1:])) - np.log2(np.abs(values[:-1]))
        if abs(one - two) > 1e-9:
            return None
        found.append(round(one, 9))
    return tuple(found)


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/corollary-4.6", "fedsum/lemma-d.4-repaired"])
def test_changed_terms_keep_their_scaling_degrees(key):
    """Numbers and the length and width of a run have no units, so no check of units can tell these mutants."""
    statement = bounds.get(key)
    wanted = {name: degrees(statement, term) for claim in statement.claims for name, term in claim.terms.items()}
    assert None not in wanted.values()
    for mutant in of_kind(key, *CLAIM_KINDS)[::3]:
        for claim in mutant.statement.claims:
            for name, term in claim.terms.items():
                assert degrees(statement, term) == wanted[name], mutant.text


# --- The audit ---


@pytest.mark.parametrize("text", ["noise: 8 -> 4", "1/T: 288 -> 144"])
def test_the_constants_of_corollary_4_6_are_exact(text):
    """Half of either no longer follows from Theorem 4.5."""
    found = audited(named("pfl/corollary-4.6", text))
    assert (found.status, found.how) == (AuditStatus.CAUGHT, "counterexample")


def test_the_constant_of_corollary_3_8_has_its_room():
    """129 could be 1025/8: a mutant a little above is none that the audit could tell, half of it is."""
    assert audited(named("pfl/corollary-3.8", "1/T: 129 -> 129/2")).status is AuditStatus.CAUGHT
    whole = named("pfl/corollary-3.8", "1/T: 129 -> 258")
    for constant, fate in (("128.2", AuditStatus.HARMLESS), ("128.1", AuditStatus.CAUGHT)):
        claim = whole.original.claims[0]
        terms = {**claim.terms, "1/T": claim.terms["1/T"] * sp.Rational(constant) / 129}
        statement = dataclasses.replace(whole.original, claims=(dataclasses.replace(claim, terms=terms),))
        mutant = dataclasses.replace(whole, statement=statement, direction=Strength.STRONGER)
        assert audited(mutant).status is fate


@pytest.mark.long
def test_a_smaller_share_of_dissimilarity_is_not_proved():
    """The root of a difference is not bounded by the root of its first part, which once proved this false mutant."""
    mutant = named("pfl/corollary-3.8", "noise and dissimilarity: 12 -> 6")
    point = {"F_0": 2.8, "K": 1.0, "L": 0.29, "T": 5125.0, "b": 2e5, "m": 4.0, "n": 8.0, "sigma_u": 0.1, "sigma_v": 0.7}
    tuned = mutant.original.evaluate(**point)
    theorem = bounds.get("pfl/theorem-3.7").evaluate(
        **{name: value for name, value in tuned.values.items() if not name.startswith("gamma_")}
    )
    assert mutant.statement.evaluate(**point).value < theorem.value <= tuned.value
    (implication,) = of("pfl/corollary-3.8")
    assert check(implication, mutant.statement, sharpest=False).verdict is not ImplicationVerdict.PROVED
    assert audited(mutant).status is AuditStatus.CAUGHT


@pytest.mark.every(2)
@pytest.mark.parametrize("key", ["pfl/corollary-3.8", "pfl/theorem-3.7", "fedsum/theorem-4.1-repaired"])
def test_no_weaker_mutant_is_accused(key):
    """What follows from the original follows from its premises."""
    for mutant in mutants(bounds.get(key)):
        if mutant.weaker:
            assert audited(mutant).status is not AuditStatus.CAUGHT, mutant.text


def test_a_mean_over_the_rounds_is_not_every_round():
    """The argument telescopes; what it says of a single round is only T times as much."""
    (mutant,) = [m for m in of_kind("pfl/theorem-3.7", MutationKind.WRONG_METRIC) if m.text.startswith("every round")]
    found = audited(mutant)
    assert found.status is AuditStatus.CAUGHT
    assert "every round" in found.evidence


def test_a_dropped_assumption_is_missed_by_a_premise():
    """Without the dissimilarity bound Lemma 3.4 has no say."""
    (mutant,) = [m for m in of_kind("pfl/theorem-3.7", MutationKind.DROPPED_ASSUMPTION) if "b = 0" in m.text]
    found = audited(mutant)
    assert (found.status, found.how) == (AuditStatus.CAUGHT, "assumption")


def test_what_concludes_no_argument_is_untouched():
    """Lemma 3.2 is shown with vectors, not by other statements."""
    assert {audited(mutant).status for mutant in mutants(bounds.get("pfl/lemma-3.2"))} == {AuditStatus.UNTOUCHED}


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("key", "text", "outcome"),
    [
        ("fedsum/corollary-4.1-repaired", "noise_square instead of G_u", Outcome.VIOLATED),
        ("simfbo/lemma-7-repaired", "psi_change instead of Phi_w_change", Outcome.NOT_APPLICABLE),
        ("simfbo/lemma-8-simplified", "g: grad_Phi2 instead of drift_g", Outcome.NOT_APPLICABLE),
    ],
)
def test_left_sides_from_other_engines(key, text, outcome):
    """Another quantity is computed where an engine has it; where none has, or a parameter is missing, that is said."""
    found = falsify(named(key, text).statement, Budget(30))
    assert found.outcome is outcome
    if outcome is Outcome.NOT_APPLICABLE:
        assert "but a side of the claim is made of it" in found.reasons[0]


def test_other_forms_of_what_was_repaired_are_not_sound():
    """A simplified form has the defects of the statement that it simplifies; repaired forms stand for both."""
    keys = {statement.key for statement in sound(bounds.statements("simfbo"))}
    assert keys & {"simfbo/lemma-8", "simfbo/lemma-8-simplified", "simfbo/theorem-2-appendix"} == set()
    assert {"simfbo/lemma-8-repaired", "simfbo/theorem-2-repaired"} <= keys
    assert "pfl/lemma-3.6-recursion" in {statement.key for statement in sound(bounds.statements("pfl"))}
