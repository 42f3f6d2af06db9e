"""The audit: every checker proves what is true, refutes what is false, and notices when it is deceived."""

import contextlib
import dataclasses
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from fractions import Fraction
from pathlib import Path

import kept
import mpmath
import pytest
import sympy as sp

import bounds
import bounds.ledger
from bounds.ledger.draw import NoisyRational, expect_square, mean, noise, subsets
from bounds.ledger.fault import Fault, FaultKind, faults
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.step import (
    Draws,
    Enumerated,
    Gram,
    Identity,
    Matrices,
    Scalar,
    Step,
    StepKind,
    above,
    below,
    equal,
    positive,
)
from bounds.ledger.vectors import dot, square, vectors
from ratecheck.algebra.counterexample import SearchRegion, confirmed
from ratecheck.algebra.evaluate import Undefined, evaluate, holds, satisfied
from ratecheck.algebra.positivity import chain
from ratecheck.algebra.positivity import handelman as combination
from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.positivity.smt import Solver
from ratecheck.algebra.positivity.smt import decide as ask_solver
from ratecheck.algebra.search import Search, first_certificate
from ratecheck.algebra.time_limit import OutOfTime
from ratecheck.api.proofs import audit as public
from ratecheck.auditing import cache_key as content
from ratecheck.auditing import errata, finding, inequality, ledger
from ratecheck.auditing import gram as quadratic
from ratecheck.auditing import sanity as hygiene
from ratecheck.auditing.decision import FULL, QUICK, Answer, Decision
from ratecheck.auditing.dispatch import decide
from ratecheck.auditing.export import conclusions
from ratecheck.auditing.mutation import analysis, probe
from ratecheck.plain import plain as data_of
from ratecheck.plain import read
from ratecheck.views.proofs import audit as audit_view

x, y, z, q, gamma, L, A, B = sp.symbols("x y z q gamma L A B", positive=True)
K, n, m = sp.symbols("K n m", integer=True, positive=True)
a_, r, s = sp.symbols("a r s", real=True)
c = sp.Symbol("c", nonnegative=True)
HALF = sp.Rational(1, 2)


def scalar(left, operator, right, *hypotheses):
    """A scalar claim."""
    return Scalar(left=sp.sympify(left), operator=operator, right=sp.sympify(right), hypotheses=hypotheses)


TRUE = {
    "AM-GM": scalar(2 * x * y, "<=", x**2 + y**2),
    "AM-GM with roots": scalar(sp.sqrt(x * y), "<=", (x + y) / 2),
    "Young": scalar(2 * r * s, "<=", q * r**2 + s**2 / q),
    "Cauchy in two dimensions": scalar((x * z + y * q) ** 2, "<=", (x**2 + y**2) * (z**2 + q**2)),
    "a step size": scalar(1 + 18 * (L * K * gamma) ** 2, "<=", sp.Rational(41, 32), below(gamma, 1 / (8 * L * K))),
    "absorbed": scalar(x, "<=", 2 * A, below(x, A + c * x), below(c, HALF)),
    "a root of a sum": scalar(sp.sqrt(x + y), "<=", sp.sqrt(x) + sp.sqrt(y)),
    "a maximum": scalar(x + y, "<=", 2 * sp.Max(x, y)),
    "a minimum": scalar(sp.Min(x, y), "<=", sp.sqrt(x * y)),
    "whole numbers": scalar((1 + 1 / K) ** 2, "<=", 4),
    "sampling": scalar(m * (n - m) / (n - 1), "<=", m, below(m, n), above(n, 2)),
    "one client or more": scalar(n * (n - m), "<=", 2 * (n - m) * (n - 1), below(m, n)),
    "a chain": scalar(r, "<=", A - B, below(r, A - s), above(s, B)),
    "a geometric sum": scalar(1 / (1 - x), "<=", 1 + 2 * x, below(x, HALF)),
    "strict": scalar(x, "<", z, below(x, y), positive(z - y)),
    "an equality": scalar(r**2 - s**2, "==", (r - s) * (r + s)),
    "of roots": scalar(sp.sqrt(q**2 + 2 * q + 1), "==", q + 1),
    "given an equality": scalar(x * y, "<=", sp.Rational(1, 4), equal(x + y, 1)),
    "put in": scalar(x, "<=", 6 * A, below(x, 2 * y), below(y, 3 * A)),
    "two lower bounds": scalar(
        52 * K**2 * gamma**2 * z, "<=", x, below(52 * K * gamma, 1), below(z, y), below(y, x), below(K * gamma, 1)
    ),
}

FALSE = {
    "AM-GM, too strong": scalar(2 * x * y, "<=", sp.Rational(99, 100) * x**2 + y**2),
    "AM-GM with roots, too strong": scalar(sp.sqrt(x * y), "<=", sp.Rational(49, 100) * (x + y)),
    "Young, a lost factor": scalar(2 * r * s, "<=", q * r**2 + s**2 / (2 * q)),
    "Young, no sign assumed": scalar(2 * r * s, "<=", a_ * r**2 + s**2 / a_),
    "Cauchy, too strong": scalar((x * z + y * q) ** 2, "<=", x**2 * z**2 + y**2 * q**2),
    "a step size too large": scalar(
        1 + 18 * (L * K * gamma) ** 2, "<=", sp.Rational(41, 32), below(gamma, 1 / (7 * L * K))
    ),
    "not absorbed": scalar(x, "<=", sp.Rational(19, 10) * A, below(x, A + c * x), below(c, HALF)),
    "a root of a sum, turned": scalar(sp.sqrt(x) + sp.sqrt(y), "<=", sp.sqrt(x + y)),
    "a maximum, too small": scalar(x + y, "<=", sp.Rational(9, 5) * sp.Max(x, y)),
    "whole numbers, too small": scalar((1 + 1 / K) ** 2, "<=", 3),
    "sampling, n = 1": scalar(n - m, "<=", (n - m) * (n - 1), below(m, n + 1)),
    "not strict": scalar(x, "<", y, below(x, y)),
    "a sign": scalar(r**2 + s**2, "==", (r - s) * (r + s)),
    "a missing hypothesis": scalar(1 / (1 - r), ">=", 1, above(r, 0)),
    "given an equality, too small": scalar(x * y, "<=", sp.Rational(6, 25), equal(x + y, 1)),
    "last round": scalar(n - 1, ">=", 1),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_scalar_claims_are_certified(name):
    """Without z3's word, and the certificates check."""
    decision = inequality.decide(TRUE[name])
    assert (decision.answer, decision.certified) == (Answer.TRUE, "certificate"), decision


def test_evidence_is_in_the_symbols_of_the_claim():
    """A proof may be in powers of them, under names of its own, which no reader sees."""
    (step,) = (each for each in ledger.load(ledger.module_of("pfl")) if each.id == "pfl/theorem-3.7-4")
    evidence = inequality.prove(step.check).evidence
    assert "after m = m' + 1; n = n' + 1; n' = m'*(n'' + 1); eta_u**2 = eta_u' + m' + 1; " in evidence
    assert not re.search(r"_\d+_\d+", evidence)
    # The same of a chain; a symbol of the claim that is called so is none of a proof's own.
    square = sp.Symbol("x_2_1", positive=True)
    system = System(square * y - 6, strict=False, hypotheses=(square - 2, y - 3), positive=(False, False))
    proof = inequality.InequalityProof((chain.chain(system),))
    assert "after x**2 = x' + 2; y = y' + 3" in inequality.describe(proof, {x, y})
    assert "after x_2_1 = x_2_1' + 2; y = y' + 3" in inequality.describe(proof, {x, y, square})


@pytest.mark.parametrize("name", FALSE)
def test_false_scalar_claims_are_refuted_by_numbers(name):
    """At a point at which SymPy's own substitution agrees: hypotheses hold, the claim does not."""
    claim = FALSE[name]
    assert inequality.decide(claim).false
    found = inequality.searched(claim, 60)
    point = {symbol: sp.Rational(value.numerator, value.denominator) for symbol, value in found.point.items()}

    def at(expr):
        value = sp.sympify(expr).subs(point)
        assert value.is_finite
        return value

    relation = {"<=": sp.Le, "<": sp.Lt, ">=": sp.Ge, ">": sp.Gt, "==": sp.Eq}
    for hypothesis in claim.hypotheses:
        assert relation[hypothesis.operator](at(hypothesis.left), at(hypothesis.right)) == True  # noqa: E712  # SymPy's
    assert relation[claim.operator](at(claim.left), at(claim.right)) == False  # noqa: E712  # SymPy's
    for symbol, value in point.items():
        assert not symbol.is_positive or value > 0
        assert not symbol.is_integer or value.is_integer


def test_refutation_never_rests_on_division_by_zero():
    """1/r >= 0 has no value at r = 0; what is refuted is the sign, not the pole."""
    found = inequality.searched(scalar(1 / r, ">=", 0), 30)
    assert found.point[r] < 0
    assert inequality.searched(scalar(1 / r**2, ">=", 0), 60) is None
    with pytest.raises(Undefined):
        evaluate(1 / r, {r: Fraction(0)})
    with pytest.raises(Undefined):
        evaluate(sp.sqrt(r), {r: Fraction(-1)})


def test_what_is_not_algebraic_is_left_open():
    """A claim with an exponential is neither proved nor refuted, unless numbers refute it."""
    assert inequality.decide(scalar(sp.exp(x), ">=", 1 + x)).answer is Answer.UNKNOWN
    assert inequality.decide(scalar(sp.exp(x), "<=", 1 + x)).false


def test_solver_has_the_last_word_only():
    """A positive form that has no certificate of the kinds sought is proved by z3, and said to be."""
    decision = inequality.decide(scalar(x**4 + y**4 + z**4, ">=", x * y * z * (x + y + z)))
    assert decision.certified in ("certificate", "solver")
    assert decision.true
    schur = x * (x - y) * (x - z) + y * (y - x) * (y - z) + z * (z - x) * (z - y)
    assert inequality.decide(scalar(schur, ">=", 0)).true
    answer, _ = ask_solver(System(schur, strict=False, hypotheses=(), positive=()), 10)
    assert answer == "unsat"


def test_solver_asserts_denominators():
    """1/r == 1/r holds everywhere: no model with r = 0 makes the sides differ."""
    answer, _ = ask_solver(System(1 / r - 1 / r + (1 / r) ** 2, strict=False, hypotheses=(), positive=()), 10)
    assert answer == "unsat"
    answer, model = ask_solver(System(1 / r, strict=False, hypotheses=(), positive=()), 10)
    assert (answer, model[r] < 0) == ("sat", True)


def test_solver_is_killed_when_late():
    """A question that cannot be answered in time ends, and the next one gets a new process."""
    solver = Solver()
    names = [f"v{i}" for i in range(12)]
    declared = "".join(f"(declare-const {name} Int)" for name in names)
    hard = (
        declared
        + f"(assert (= (+ {' '.join(f'(* {v} {v} {v} {w})' for v, w in itertools.pairwise(names))}) 987654321987))"
    )
    answer, _ = solver.check(hard, 0.2)
    assert answer in ("unknown", "sat", "unsat")
    assert solver.check("(declare-const v Real)(assert (< v v))", 5)[0] == "unsat"
    solver.close()


# Certificates.


def test_tampered_combinations_are_rejected():
    """A wrong coefficient, a negative one, a monomial of no sign, a wrong hypothesis."""
    system = System(2 * y - x, strict=False, hypotheses=(y - x,), positive=(False,))
    found = combination.combine(system)
    assert found.check()
    for k, summand in enumerate(found.summands):
        for change in (
            {"coefficient": summand.coefficient + 1},
            {"monomial": summand.monomial * x},
            {"hypotheses": (*summand.hypotheses, 0)},
            {"root": x - y},
        ):
            altered = dataclasses.replace(summand, **change)
            parts = (*found.summands[:k], altered, *found.summands[k + 1 :])
            assert not dataclasses.replace(found, summands=parts).check()
    # -x = (-1)*x is an identity and no proof; nor is a*1 for an a of no sign.
    summand = combination.Summand(sp.Integer(-1), x, ())
    assert not combination.Combination(System(-x, strict=False, hypotheses=(), positive=()), (summand,)).check()
    assert not combination.Combination(
        System(a_, strict=False, hypotheses=(), positive=()), (combination.Summand(sp.Integer(1), a_, ()),)
    ).check()
    assert not dataclasses.replace(found, multiplier=-sp.Integer(1)).check()


def test_tampered_chains_are_rejected():
    """A bound larger than what the hypothesis says."""
    system = System(
        x * y - 6,
        strict=False,
        hypotheses=(x - 2, y - 3),
        positive=(
            False,
            False,
        ),
    )
    found = chain.chain(system)
    assert found.check()
    first = dataclasses.replace(found.puts[0], bound=found.puts[0].bound + 1)
    assert not dataclasses.replace(found, puts=(first, *found.puts[1:])).check()
    assert not dataclasses.replace(found, puts=()).check()


def test_tampered_substitutions_are_rejected():
    """A certificate for one claim is none for a stronger one."""
    [system] = inequality.split(TRUE["a geometric sum"])
    found = first_certificate(system)
    assert found.check()
    stronger = dataclasses.replace(system, goal=system.goal - sp.Rational(1, 1000))
    assert not dataclasses.replace(found, system=stronger).check()


def test_substitutions_are_expanded_and_not_tried_at_points():
    """A goal that is right modulo a prime is wrong."""
    certificate = first_certificate(System(x - 1 / y, strict=False, hypotheses=(y - 1 / x,), positive=(False,)))
    goal = dataclasses.replace(certificate.goal, numerator=certificate.goal.numerator * 2**61)
    assert not dataclasses.replace(certificate, goal=goal).check()
    goal = dataclasses.replace(certificate.goal, numerator=certificate.goal.numerator + 2**61 - 1)
    assert not dataclasses.replace(certificate, goal=goal).check()


def test_a_multiplier_of_which_only_denominators_speak_is_no_error():
    """Its symbol is none of the polynomials'."""
    system = System((x + y) / z, strict=False, hypotheses=((x - y) / z,), positive=(False,))
    assert combination.combine(system, multiplier=z).check()


def test_an_isolated_border_is_not_lost():
    """From x*t <= 1 and t <= t**2 follows x <= 1 for t >= 1, but not at t = 0, where x is free."""
    x = sp.Symbol("x", positive=True)
    for t, follows in ((sp.Symbol("t", positive=True), True), (sp.Symbol("t", nonnegative=True), False)):
        system = System(1 - x, strict=False, hypotheses=(1 - x * t, t**2 - t), positive=(False, False))
        assert (first_certificate(system) is not None) == follows
    assert all(not found.check() for found in Search(system).run())


def test_random_polynomials_are_never_certified_wrongly():
    """Whatever is called proved holds at random points, whatever is refuted is a counterexample."""
    rng = random.Random(1)  # noqa: S311  # no secrets
    counts = dict.fromkeys(Answer, 0)
    for _ in range(60):
        terms = [x**2, y**2, x * y, x, y, sp.Integer(1)]
        left, right = (sum(rng.randint(-1, 3) * term for term in terms) for _ in range(2))
        claim = scalar(left, "<=", right, below(x, 2 * y), above(x, 1))
        decision = inequality.decide(claim)
        counts[decision.answer] += 1
        if decision.true:
            for _ in range(200):
                point = {y: Fraction(rng.randint(50, 900), 100)}
                point[x] = 1 + (2 * point[y] - 1) * Fraction(rng.randint(0, 100), 100)
                assert holds(evaluate(left, point), "<=", evaluate(right, point)), decision
        elif decision.false:
            found = inequality.searched(claim, 60)
            assert found is None or confirmed(found, claim.hypotheses, left, "<=", right)
    assert counts[Answer.TRUE] >= 5
    assert counts[Answer.FALSE] >= 5
    assert counts[Answer.UNKNOWN] == 0


# Vectors.

u, v, w, g, h = vectors("u v w g h")


def gram(left, operator, right, hypotheses=(), conditions=()):
    """A claim about vectors."""
    return Gram(left=left, operator=operator, right=right, hypotheses=hypotheses, conditions=conditions)


f_x, f_y, f_z = sp.symbols("f_x f_y f_z", real=True)
VECTORS_TRUE = {
    "Jensen": gram(square(u + v + w), "<=", 3 * (square(u) + square(v) + square(w))),
    "Young": gram(square(u + v), "<=", (1 + q) * square(u) + (1 + 1 / q) * square(v)),
    "Young with 1/4": gram(dot(u, v), "<=", q * square(u) + square(v) / (4 * q)),
    "parallelogram": gram(square(u + v) + square(u - v), "==", 2 * square(u) + 2 * square(v)),
    "descent": gram(
        f_y,
        "<=",
        f_x - q / 2 * square(g),
        (below(f_y, f_x - q * dot(g, g) + L * q**2 / 2 * square(g)),),
        (below(q, 1 / L),),
    ),
    "a cocoercive step": gram(
        square(u - q * g), "<=", square(u), (below(square(g), L * dot(u, g)),), (below(q, 2 / L),)
    ),
    "a balanced multiplier": gram(
        square(g), "<=", square(q * u + g), (below(square(g), L**2 * square(u)),), (positive(q - 2 * L),)
    ),
    "inverse Lipschitz": gram(square(u), "<=", square(g) / q**2, (above(dot(g, u), q * square(u)),)),
    "orthogonal": gram(square(u + v), "==", square(u) + square(v), (equal(dot(u, v), 0),)),
}
VECTORS_FALSE = {
    "Jensen": gram(square(u + v + w), "<=", sp.Rational(59, 20) * (square(u) + square(v) + square(w))),
    "Young": gram(square(u + v), "<=", (1 + q) * square(u) + square(v) / q),
    "Young with 1/5": gram(dot(u, v), "<=", q * square(u) + square(v) / (5 * q)),
    "Young, no sign": gram(2 * dot(u, v), "<=", a_ * square(u) + square(v) / a_),
    "no parallelogram": gram(square(u + v), "==", square(u) + square(v)),
    "a step too large": gram(
        square(u - q * g), "<=", square(u), (below(square(g), L * dot(u, g)),), (below(q, sp.Rational(5, 2) / L),)
    ),
    "inverse Lipschitz": gram(square(u), "<=", square(g) / (2 * q**2), (above(dot(g, u), q * square(u)),)),
}


@pytest.mark.parametrize("name", VECTORS_TRUE)
def test_true_claims_about_vectors_are_certified(name):
    """Multipliers and squares, without z3."""
    decision = quadratic.decide(VECTORS_TRUE[name])
    assert (decision.answer, decision.certified) == (Answer.TRUE, "certificate"), decision


@pytest.mark.parametrize("name", VECTORS_FALSE)
def test_false_claims_about_vectors_are_refuted(name):
    """By rational vectors."""
    decision = quadratic.decide(VECTORS_FALSE[name])
    assert decision.false, decision
    assert "fails" in decision.evidence


def test_tampered_squares_are_rejected():
    """Another pivot or another factor is no factorisation."""
    matrix = sp.Matrix([[2, 1], [1, 2]])
    found = quadratic.factorise(matrix, lambda pivot: bool(pivot >= 0))
    assert found.check()
    assert not dataclasses.replace(found, pivots=(found.pivots[0] + 1, *found.pivots[1:])).check()
    assert not dataclasses.replace(found, matrix=matrix + sp.eye(2)).check()
    assert quadratic.factorise(sp.Matrix([[1, 2], [2, 1]]), lambda pivot: bool(pivot >= 0)) is None
    assert quadratic.factorise(sp.Matrix([[0, 1], [1, 1]]), lambda pivot: bool(pivot >= 0)) is None


# Identities and instances.


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        ((r + s) ** 3, r**3 + 3 * r**2 * s + 3 * r * s**2 + s**3, Answer.TRUE),
        (square(u - v), square(u) - 2 * dot(u, v) + square(v), Answer.TRUE),
        (1 / sp.sqrt(x), sp.sqrt(x) / x, Answer.TRUE),
        (1 / (1 - r) - 1, r / (1 - r), Answer.TRUE),
        ((r + s) ** 3, r**3 + 3 * r**2 * s + 3 * r * s**2, Answer.FALSE),
        (square(u - v), square(u) - dot(u, v) + square(v), Answer.FALSE),
        (sp.sqrt(x + y), sp.sqrt(x) + sp.sqrt(y), Answer.FALSE),
    ],
)
def test_identities(left, right, answer):
    """Proved by expansion or refuted at a point."""
    assert decide(Identity(left=left, right=right)).answer is answer


def delays(participation, factor=1):
    """The largest delay against every single one."""
    return [(participation.delay(t), factor * participation.tau_max) for t in range(participation.T)]


def sampled(draw, factor=1):
    """The variance of a sample mean without replacement, both sides exact."""
    clients, taken = 4, draw.whole(1, 4)
    values = [draw.rational() for _ in range(clients)]
    centre = mean(values)
    left = mean((mean(values[i] for i in chosen) - centre) ** 2 for chosen in subsets(clients, taken))
    spread = mean((value - centre) ** 2 for value in values)
    return left, factor * Fraction(clients - taken, taken * (clients - 1)) * spread


def averaged_noise(draw, power=1):
    """E||mean of n noises||^2 = sigma^2/n."""
    count, sigma = draw.whole(1, 4), draw.positive()
    total = sum((noise(i, sigma) for i in range(count)), NoisyRational()) / count
    return expect_square(total), sigma**2 / Fraction(count) ** power


def nothing(draw):
    """Passes over everything."""


def rooted(draw, factor=1):
    """Roots are compared with sixty digits."""
    value = draw.positive()
    return sp.sqrt(sp.Rational(value) ** 2 + 1), factor * (sp.Rational(value) + 1)


def enumerated(sides, operator, instances=None, kind=StepKind.EXPECTATION, **constants):
    """A claim on instances."""
    return Enumerated(kind=kind, sides=sides, operator=operator, instances=instances or Draws(), constants=constants)


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        (enumerated(delays, "<=", Matrices(), StepKind.COUNTING, factor=1), Answer.TRUE),
        (enumerated(delays, "<=", Matrices(), StepKind.COUNTING, factor=Fraction(9, 10)), Answer.FALSE),
        (enumerated(sampled, "==", factor=1), Answer.TRUE),
        (enumerated(sampled, "==", factor=Fraction(99, 100)), Answer.FALSE),
        (enumerated(averaged_noise, "==", power=1), Answer.TRUE),
        (enumerated(averaged_noise, "==", power=2), Answer.FALSE),
        (enumerated(rooted, "<", factor=1), Answer.TRUE),
        (enumerated(rooted, "<", factor=Fraction(99, 100)), Answer.FALSE),
    ],
)
def test_claims_on_instances(claim, answer):
    """All instances, exactly; a counterexample names its instance."""
    decision = decide(claim)
    assert decision.answer is answer
    assert decision.certified == ("instances" if answer is Answer.TRUE else "")
    assert ("matrix" if claim.kind is StepKind.COUNTING else "draw") in decision.evidence or answer is Answer.TRUE


def test_a_claim_whose_instances_are_all_passed_over_is_vacuous():
    """It is not proved."""
    decision = decide(enumerated(nothing, "<="))
    assert decision.answer is Answer.UNKNOWN
    assert decision.evidence.startswith("vacuous")


def test_counterexample_matrix_can_be_read_back():
    """The evidence is the instance: put in again, the claim fails there."""
    claim = enumerated(delays, "<=", Matrices(), StepKind.COUNTING, factor=Fraction(1, 2))
    text = decide(claim).evidence
    rows = text.split(" matrix ")[1].split(":")[0].split("/")
    matrix = ParticipationMatrix(tuple(tuple(sign == "1" for sign in row) for row in rows))
    assert any(left > right for left, right in delays(matrix, Fraction(1, 2)))


# Hygiene and mutants.


def test_contradicting_hypotheses_are_found():
    """Hypotheses x <= 1 and x >= 2 prove everything, so they prove nothing."""
    impossible = scalar(x, "<=", 0, below(x, 1), above(x, 2))
    assert hygiene.satisfied(impossible) == (False, "")
    found = finding.examine_step(step("toy/vacuous-1", impossible))
    assert found.vacuous
    assert found.verdict is finding.StepVerdict.UNKNOWN
    possible, witness = hygiene.satisfied(TRUE["a step size"])
    assert possible
    assert "gamma=" in witness


def test_witness_satisfies_the_hypotheses():
    """Evaluated by fractions."""
    hypotheses = (below(gamma, 1 / (32 * L * K)), above(n, 3 * m), equal(A * L, 2), below(x**2, A))
    point = SearchRegion(hypotheses, ()).witness()
    assert all(satisfied(hypothesis, point) for hypothesis in hypotheses)


def test_droppable_hypotheses_and_room_are_found():
    """The claim x + y <= 3 needs neither z >= 1 nor the constant 3."""
    claim = scalar(x + y, "<=", 3, below(x, 1, "first"), below(y, 1, "second"), above(z, 1, "third"))
    found = hygiene.examine(probe.Probe(claim))
    assert found.unused == ("third",)
    [room] = found.loose
    assert Fraction(room.refuted.split(" ")[0]) < 2 <= Fraction(room.proved.split(" ")[0])
    assert Fraction(room.proved.split(" ")[0]) - Fraction(room.refuted.split(" ")[0]) < Fraction(1, 10)


def test_remarks_are_counted_not_timed(monkeypatch):
    """However slow the machine is, the same questions are asked; where some are not, it is said."""
    claim = scalar(x + y, "<=", 3, below(x, 1, "first"), below(y, 1, "second"), above(z, 1, "third"))
    whole = hygiene.examine(probe.Probe(claim))
    asked = []
    slow = probe.Probe(claim)
    decide = slow.decide

    def later(*words):
        asked.append(words)
        now[0] += 1e3
        return decide(*words)

    now = [0.0]
    real = time.process_time
    monkeypatch.setattr(time, "process_time", lambda: real() + now[0])
    monkeypatch.setattr(slow, "decide", later)
    assert hygiene.examine(slow) == whole
    assert whole.complete
    assert asked
    few = hygiene.examine(probe.Probe(claim), 2)
    assert not few.complete
    monkeypatch.setattr(finding, "QUESTIONS", 2)
    found = finding.examine_step(step("toy/many-1", claim), room=True)
    assert not found.asked
    assert found.verdict is finding.StepVerdict.PROVED
    assert "1 asked about in part" not in audit_view.counts_text([found])
    monkeypatch.setattr(finding, "QUESTIONS", hygiene.QUESTIONS)
    whole = finding.examine_step(step("toy/many-1", claim), room=True)
    assert whole.asked
    assert "2 with slack, 1 examined in part" in audit_view.counts_text([found, whole])


def test_room_is_asked_about_only_where_that_is_wanted():
    """The verdict is the same; without it a step says that nothing was asked, and the counts say nothing of room."""
    claim = step(
        "toy/room-1", scalar(x + y, "<=", 3, below(x, 1, "first"), below(y, 1, "second"), above(z, 1, "third"))
    )
    short, whole = finding.examine_step(claim), finding.examine_step(claim, room=True)
    assert short.verdict is whole.verdict is finding.StepVerdict.PROVED
    assert (short.witness, short.vacuous) == (whole.witness, whole.vacuous)
    assert (short.unused, short.loose, short.asked) == ((), (), False)
    assert whole.unused == ("third",)
    assert len(whole.loose) == 1
    assert "room" not in audit_view.counts_text([short])
    assert "1 with slack" in audit_view.counts_text([whole])


def test_an_inequality_that_nothing_proves_is_searched_once(monkeypatch):
    """A search for a proof that came to its end is not made again; one that ran out of time is."""
    unproved = scalar(x**3 + 1, ">=", x**2 + sp.Rational(1, 100))
    calls = []
    monkeypatch.setattr(inequality, "_prove", lambda _: calls.append(1))
    monkeypatch.setattr(inequality, "searched", lambda *_: None)
    effort = dataclasses.replace(QUICK, solver=0)
    assert inequality.decide(unproved, effort).answer is Answer.UNKNOWN
    assert len(calls) == 1

    def endless(_):
        calls.append(1)
        raise OutOfTime

    monkeypatch.setattr(inequality, "_prove", endless)
    assert inequality.decide(unproved, effort).answer is Answer.UNKNOWN
    assert len(calls) == 3


def test_a_question_that_takes_too_long_is_the_last(monkeypatch):
    """Nothing is found without it, and it is said that not all was asked."""
    monkeypatch.setattr(hygiene, "SECONDS", 0.01)
    claim = scalar(x + y, "<=", 3, below(x, 1, "first"), below(y, 1, "second"), above(z, 1, "third"))
    asked = []
    slow = probe.Probe(claim)

    def forever(*words):
        asked.append(words)
        while True:
            sum(range(1000))

    monkeypatch.setattr(slow, "decide", forever)
    found = hygiene.examine(slow)
    assert (len(asked), found.loose, found.unused, found.complete) == (1, (), (), False)


def test_tight_constants_are_not_called_loose():
    """Nothing has room in the claims whose constants are sharp."""
    for name in ("AM-GM", "Young", "a step size", "absorbed"):
        assert not hygiene.examine(probe.Probe(TRUE[name])).loose, name
    assert not hygiene.examine(probe.Probe(VECTORS_TRUE["Young with 1/4"])).loose
    assert hygiene.examine(probe.Probe(VECTORS_TRUE["Jensen"])).loose == ()


def test_a_negative_constant_is_made_stronger_too():
    """-1/2 before a positive number on the right gets stronger downwards: to -1, where the hypothesis says so."""
    y, z = sp.Symbol("y", real=True), sp.Symbol("z", nonnegative=True)
    hypothesis = below(x, y - z)
    [room] = hygiene.examine(probe.Probe(scalar(x, "<=", y - z / 2, hypothesis))).loose
    assert (room.constant, room.proved) == ("-1/2 on the right", "-1")
    assert -Fraction(11, 10) < Fraction(room.refuted) < -1
    # Sharp constants: nothing smaller or larger does, on either side.
    for sharp in (scalar(x, "<=", y - z / 2, below(x, y - z / 2)), scalar(-z / 2 - y, "<=", -x, below(x, y + z / 2))):
        assert hygiene.examine(probe.Probe(sharp)).loose == ()
        tested = analysis.test_step(step("toy/negative-1", sharp))
        assert {m.fate for m in tested.mutants if not m.kind.structural} == {analysis.MutantStatus.REFUTED}


def test_every_mutant_of_sharp_claims_is_refuted():
    """Constants, exponents and directions."""
    claims = {
        "AM-GM": TRUE["AM-GM"],
        "a step size": TRUE["a step size"],
        "whole": TRUE["whole numbers"],
        "sampled": enumerated(sampled, "==", factor=1),
        "delays": enumerated(delays, "<=", Matrices(), StepKind.COUNTING, factor=1),
        "Young": VECTORS_TRUE["Young with 1/4"],
    }
    for name, claim in claims.items():
        tested = analysis.test_step(step(f"toy/{name}-1", claim))
        assert len(tested.mutants) >= 2, name
        # An exponent may be changed for the better: x**3 for x**2 where x <= 1. So may a quantity.
        assert analysis.summarise([tested]).all.share >= 0.8, tested
        plain = [m for m in tested.mutants if not m.kind.structural and not m.change.startswith("exponent")]
        assert {m.fate for m in plain} == {analysis.MutantStatus.REFUTED}, tested
    summary = analysis.summarise([tested])
    assert summary.all.share == 1.0
    assert all(reason == "proved as well" for _, _, reason in summary.survivors)


def test_mutants_of_a_loose_claim_survive_with_a_reason():
    """A share of 1 is less than 50, and even less than 1/20."""
    tested = analysis.test_step(step("toy/loose-1", scalar(x / (1 + x), "<=", 5000)))
    assert analysis.MutantStatus.HARMLESS in {m.fate for m in tested.mutants}
    summary = analysis.summarise([tested])
    assert ("toy/loose-1", "5000 on the right, -99.9%", "proved as well") in summary.survivors


def test_a_constant_that_no_instance_tells_counts_against_the_check():
    """Constants in claims on instances: one is tight, one has room of which an instance tells, one changes nothing."""

    def sides(draw, tight, loose, idle):
        value = draw.positive()
        return [(value, tight * value), (value, loose * value), (0, idle * value)]

    tested = analysis.test_step(step("toy/blind-1", enumerated(sides, "<=", tight=1, loose=30, idle=1)))
    changes = {m.change: (m.by, m.fate) for m in tested.mutants}
    assert changes["tight=1"] == ("-2%", analysis.MutantStatus.REFUTED)
    assert changes["loose=30"] == ("-99%", analysis.MutantStatus.REFUTED)
    assert changes["idle=1"] == ("-99.9%", analysis.MutantStatus.UNSEEN)
    plain = tuple(m for m in tested.mutants if not m.kind.structural)
    summary = analysis.summarise([dataclasses.replace(tested, mutants=plain)])
    assert summary.instances.share == 3 / 4
    assert {by: count for by, count in summary.noticed.items() if count} == {"2%": 1, "99%": 1}
    assert [change for _, change, _ in summary.survivors] == ["idle=1, -99.9%"]
    assert all(reason.startswith("no instance tells: ") for _, _, reason in summary.survivors)
    assert read(analysis.Tested, json.loads(json.dumps(data_of(tested)))) == tested


def test_forms_are_refuted_along_an_eigenvector():
    """A quadratic form of twelve vectors with one direction in which it is slightly negative."""
    many = vectors(" ".join(f"w{i}" for i in range(12)))
    mean = sum(many) / 12
    spread = sum(square(each - mean) for each in many)
    true = Gram(left=spread, operator="<=", right=sum(map(square, many)))
    false = dataclasses.replace(true, left=spread + sp.Rational(1001, 1000) * 12 * square(mean))
    assert quadratic.decide(true).true
    assert quadratic.decide(false, dataclasses.replace(FULL, generations=0, deep=0)).false


def test_roots_and_fractions_are_compared():
    """Max{1, sqrt(2)} at a point is neither an error nor a fraction."""
    point = {x: Fraction(1), y: Fraction(2)}
    assert holds(evaluate(sp.Max(x, sp.sqrt(y)), point), ">", Fraction(141, 100))
    assert evaluate(sp.Min(x, sp.sqrt(y)), point) == 1


# Verdicts, conclusions, errata.


def step(id_, check, of="pfl/lemma-3.1", **more):
    """A step."""
    return Step(id=id_, location=more.pop("location", "eq. (1)"), claim="claim", of=of, check=check, **more)


def test_verdicts():
    """PROVED, STANDARD, FALSE with and without a repair, UNKNOWN."""
    verdict = finding.StepVerdict
    wrong, right = FALSE["AM-GM, too strong"], TRUE["AM-GM"]
    cases = [
        (step("toy/a-1", right), verdict.PROVED, ""),
        (step("toy/a-2", dataclasses.replace(right, kind=StepKind.STANDARD)), verdict.STANDARD, ""),
        (step("toy/a-3", wrong, repaired=right, repair="1"), verdict.FALSE, "PROVED"),
        (step("toy/a-5", wrong, repaired=wrong), verdict.FALSE, "FALSE"),
        (step("toy/a-6", scalar(sp.exp(x), ">=", 1 + x)), verdict.UNKNOWN, ""),
        (step("toy/a-7", wrong, repaired=scalar(x, "<=", 0, below(x, 1), above(x, 2))), verdict.FALSE, "UNKNOWN"),
    ]
    for case, wanted, repaired in cases:
        found = finding.examine_step(case)
        assert (found.verdict, found.repaired) == (wanted, repaired), case.id
        assert read(finding.StepResult, json.loads(json.dumps(data_of(found)))) == found


def test_a_faulty_step_is_reported_and_hides_nothing():
    """An exception in a ledger's function is evidence, not a crash."""
    found = finding.examine_step(step("toy/faulty-1", enumerated(lambda draw: draw.missing, "<=")))
    assert found.verdict is finding.StepVerdict.UNKNOWN
    assert "AttributeError" in found.evidence


def made(id_, verdict, of, kind="scalar", repaired=""):
    """A finding with nothing but what conclusions read."""
    fields = dict.fromkeys(("location", "claim", "basis", "evidence", "repair", "repaired_evidence"), "text")
    rest = {"vacuous": False, "witness": "", "unused": (), "loose": (), "asked": True, "remark": "", "seconds": 0.0}
    return finding.StepResult(id=id_, kind=kind, of=of, verdict=verdict, repaired=repaired, **fields, **rest)


def test_conclusions_follow_from_steps_and_premises():
    """Corollary 3.8 of the first paper rests on Theorem 3.7, and that on lemmas."""
    verdict, standing = finding.StepVerdict, conclusions.ProofStanding
    statements = bounds.statements("pfl")
    premise = "pfl/theorem-3.7"
    assert premise in bounds.get("pfl/corollary-3.8").follows_from
    lemmas = {key for each in statements for key in each.follows_from} - {premise, "pfl/corollary-3.8"}

    def stand(*findings):
        rests = [made(f"pfl/l-{k}", verdict.PROVED, key) for k, key in enumerate(lemmas)]
        end = made("pfl/c-1", verdict.PROVED, "pfl/corollary-3.8")
        return conclusions.conclude([*rests, *findings, end], statements)["pfl/corollary-3.8"].standing

    assert stand(made("pfl/t-1", verdict.PROVED, premise)) is standing.HOLDS
    assert stand(made("pfl/t-1", verdict.CHECKED, premise)) is standing.CHECKED
    assert stand(made("pfl/t-1", verdict.FALSE, premise, repaired="CHECKED")) is standing.REPAIR
    assert stand() is standing.UNDECIDED
    assert stand(made("pfl/t-1", verdict.FALSE, premise, repaired="PROVED")) is standing.REPAIR
    assert stand(made("pfl/t-1", verdict.FALSE, premise)) is standing.UNDECIDED
    assert stand(made("pfl/t-1", verdict.UNKNOWN, premise)) is standing.UNDECIDED
    assert stand(made("pfl/t-1", verdict.FALSE, premise, "end-to-end")) is standing.UNDECIDED
    own = made("pfl/c-2", verdict.FALSE, "pfl/corollary-3.8", "end-to-end")
    assert stand(made("pfl/t-1", verdict.PROVED, premise), own) is standing.FALSE
    typo = made("pfl/t-1", verdict.TYPO, premise, repaired="PROVED")
    assert stand(typo) is standing.HOLDS
    assert stand(dataclasses.replace(typo, repaired="CHECKED")) is standing.CHECKED
    assert stand(dataclasses.replace(typo, kind="end-to-end")) is standing.REPAIR


def test_a_statement_that_lacks_an_assumption_is_not_called_false():
    """Nor one with an edge case, where the mended form stands; the reason names the kind."""
    false = made("pfl/t-1", finding.StepVerdict.FALSE, "pfl/lemma-3.3", "end-to-end", repaired="CHECKED")
    standings = {}
    for kind in FaultKind:
        found = conclusions.conclude([false.filed(fault("pfl/t-1", kind))], bounds.statements("pfl"))["pfl/lemma-3.3"]
        standings[kind.text] = found.standing.value
        assert (kind.text in found.text) == (found.standing is conclusions.ProofStanding.REPAIR)
    assert standings == {
        "wrong term": "false as printed",
        "missing term": "false as printed",
        "hidden assumption": "not refuted with repair",
        "edge case": "not refuted with repair",
        "misprint": "not refuted with repair",
    }


def test_a_misprint_is_one_only_where_the_repaired_form_stands():
    """Otherwise the step stays FALSE; what is not refuted has no fault."""
    verdict, misprint = finding.StepVerdict, fault("pfl/t-1", FaultKind.MISPRINT)
    assert made("pfl/t-1", verdict.FALSE, "pfl/lemma-3.3", repaired="PROVED").filed(misprint).verdict is verdict.TYPO
    assert made("pfl/t-1", verdict.FALSE, "pfl/lemma-3.3", repaired="FALSE").filed(misprint).verdict is verdict.FALSE
    assert made("pfl/t-1", verdict.PROVED, "pfl/lemma-3.3").filed(misprint).fault is None


def test_a_repaired_form_without_steps_rests_on_those_of_the_printed_one():
    """The first case of Corollary G.1 follows from the repaired theorem, whose repair is in the printed one's steps."""
    verdict, standing = finding.StepVerdict, conclusions.ProofStanding
    statements, theorem, case = bounds.statements("fedsum"), "fedsum/theorem-g.1", "fedsum/corollary-g.1-case-1"
    assert f"{theorem}-repaired" in bounds.get(case).follows_from
    for printed, wanted in (
        (made("fedsum/t-1", verdict.FALSE, theorem, "end-to-end", repaired="CHECKED"), standing.REPAIR),
        (made("fedsum/t-1", verdict.FALSE, theorem, "end-to-end"), standing.UNDECIDED),
    ):
        # What these two follow from is granted.
        premises = conclusions.premises_of(statements, {theorem})[case]
        assert theorem in premises
        others = [made(f"{key}-1", verdict.PROVED, key) for key in premises if key != theorem]
        findings = [printed, *others, made("fedsum/c-1", verdict.PROVED, case)]
        granted = [dataclasses.replace(each, follows_from=()) if each.key in premises else each for each in statements]
        assert conclusions.conclude(findings, granted)[case].standing is wanted


def fault(step_id, kind, *changes, also=()):
    """A fault that one step shows, or some more."""
    return Fault(
        steps=(step_id, *also), kind=kind, wrong="wrong", meant="meant", changes=changes, headline="a-9" in step_id
    )


def test_errata_are_ordered_by_consequence(monkeypatch):
    """What changes a theorem, headline claims, lemmas and edge cases, lines, misprints last; one per cause."""
    verdict, kind = finding.StepVerdict, FaultKind
    filed = (
        fault("pfl/a-1", kind.MISPRINT),
        fault("pfl/a-2", kind.MISPRINT, "pfl/theorem-3.7"),
        fault("pfl/a-3", kind.WRONG_TERM),
        fault("pfl/a-4", kind.EDGE_CASE, "pfl/theorem-3.7"),
        fault("pfl/a-6", kind.WRONG_TERM, "pfl/lemma-3.1", also=("pfl/a-5",)),
        fault("pfl/a-7", kind.MISSING_TERM, "pfl/theorem-3.7", "pfl/lemma-3.1"),
        fault("pfl/a-9", kind.ASSUMPTION),
    )
    monkeypatch.setattr(errata, "faults", lambda _: filed)
    by_id = {name: each for each in filed for name in each.steps}
    findings = [
        made(f"pfl/a-{k}", verdict.FALSE, "pfl/lemma-3.1", repaired="PROVED").filed(by_id[f"pfl/a-{k}"])
        for k in (*range(1, 8), 9)
    ]
    findings.append(made("pfl/a-8", verdict.PROVED, "pfl/lemma-3.5"))
    wrong = errata.errata(findings, conclusions.conclude(findings, bounds.statements("pfl")))
    assert [each.first.id for each in wrong] == [
        "pfl/a-7", "pfl/a-9", "pfl/a-4", "pfl/a-6", "pfl/a-3", "pfl/a-2", "pfl/a-1",
    ]  # fmt: skip
    assert [each.id for each in wrong[3].findings] == ["pfl/a-6", "pfl/a-5"]
    assert wrong[0].consequence == "changes pfl/theorem-3.7, pfl/lemma-3.1"


def test_errata_that_refute_a_theorem_come_before_those_that_change_it(monkeypatch):
    """Also where they are filed later; they name what they refute first, as the fault lists it."""
    kind, verdict = FaultKind, finding.StepVerdict
    both = ("pfl/theorem-3.7", "pfl/lemma-3.1")
    filed = (
        Fault(steps=("pfl/a-1",), kind=kind.ASSUMPTION, wrong="x", meant="y", changes=("pfl/theorem-3.7",)),
        Fault(steps=("pfl/a-2", "pfl/a-3", "pfl/a-4"), kind=kind.WRONG_TERM, wrong="x", meant="y", changes=both),
    )
    monkeypatch.setattr(errata, "faults", lambda _: filed)
    findings = [
        made("pfl/a-1", verdict.FALSE, "pfl/theorem-3.7", repaired="PROVED").filed(filed[0]),
        made("pfl/a-2", verdict.FALSE, "pfl/lemma-3.1", repaired="PROVED").filed(filed[1]),
        made("pfl/a-3", verdict.FALSE, "pfl/lemma-3.1", "end-to-end", repaired="PROVED").filed(filed[1]),
        made("pfl/a-4", verdict.FALSE, "pfl/theorem-3.7", "end-to-end", repaired="PROVED").filed(filed[1]),
    ]
    first, second = errata.errata(findings, conclusions.conclude(findings, bounds.statements("pfl")))
    assert (first.first.id, second.first.id) == ("pfl/a-2", "pfl/a-1")
    assert (first.refutes, second.refutes) == (both, ())
    assert first.consequence == "makes pfl/theorem-3.7, pfl/lemma-3.1 false as printed"
    assert second.consequence == "changes pfl/theorem-3.7"


def test_errata_of_steps_that_nobody_has_filed():
    """A false statement comes before a step without a repair, that before a repaired one."""
    verdict = finding.StepVerdict
    findings = [
        made("pfl/a-2", verdict.FALSE, "pfl/lemma-3.2", repaired="PROVED"),
        made("pfl/a-3", verdict.FALSE, "pfl/lemma-3.3"),
        made("pfl/a-4", verdict.FALSE, "pfl/lemma-3.4", "end-to-end", repaired="PROVED"),
    ]
    wrong = errata.errata(findings, conclusions.conclude(findings, bounds.statements("pfl")))
    assert [each.first.id for each in wrong] == ["pfl/a-4", "pfl/a-3", "pfl/a-2"]
    assert [each.refutes for each in wrong] == [("pfl/lemma-3.4",), (), ()]


def test_every_refuted_step_has_one_fault_and_no_other_has_any():
    """Of all papers; what a fault changes are statements of its paper, and a repaired form of a changed one exists."""
    papers = [paper for paper in bounds.PAPERS if ledger.has_ledger(paper)]
    known = {step.id: step for paper in papers for step in ledger.load(ledger.module_of(paper))}
    for paper in papers:
        listed = [name for each in faults(paper) for name in each.steps]
        assert len(listed) == len(set(listed)), paper
        assert set(listed) <= known.keys()
        for each in faults(paper):
            assert each.wrong.strip(), each.id
            assert each.meant.strip(), each.id
            assert all(bounds.get(key).key.startswith(f"{paper}/") for key in each.changes)
            assert each.kind is not FaultKind.MISPRINT or all(known[name].repaired for name in each.steps), each.id


@pytest.mark.long
def test_faults_are_those_of_the_audit():
    """Every step that the audit refutes is filed, and no other."""
    papers = [paper for paper in bounds.PAPERS if ledger.has_ledger(paper)]
    findings = ledger.audit([ledger.module_of(paper) for paper in papers])
    refuted = {each.id for each in findings if each.verdict.value in ("FALSE", "TYPO")}
    assert refuted == {name for paper in papers for each in faults(paper) for name in each.steps}


# Whole ledgers: cache, parallel workers, command.

LEDGER = """
import sympy as sp
from fractions import Fraction
from bounds.ledger.step import Draws, Enumerated, Identity, Scalar, Step, StepKind, below

x, y = sp.symbols("x y", positive=True)


def sides(draw, factor):
    value = draw.rational()
    return factor * value, abs(value)


STEPS = (
    Step(id="pfl/toy-1", location="eq. (1)", claim="2xy <= x^2 + y^2", of="pfl/lemma-3.3",
         check=Scalar(left=2 * x * y, operator="<=", right=x**2 + y**2)),
    Step(id="pfl/toy-2", location="eq. (2)", claim="(x+y)^2", of="pfl/lemma-3.3",
         check=Identity(left=(x + y) ** 2, right=x**2 + 2 * x * y + y**2)),
    Step(id="pfl/toy-3", location="eq. (3)", claim="v <= |v|", of="pfl/lemma-3.2",
         check=Enumerated(
             kind=StepKind.STANDARD, sides=sides, operator="<=", instances=Draws(), constants={"factor": 1})),
    Step(id="pfl/toy-4", location="eq. (4)", claim="x <= y", of="pfl/lemma-3.2",
         check=Scalar(left=x, operator="<=", right=y), repair="x <= y assumed",
         repaired=Scalar(left=x, operator="<=", right=y, hypotheses=(below(x, y),))),
)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A ledger of four steps in a module of its own, with an empty cache; ``write`` changes it."""
    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        (tmp_path / "toy_ledger.py").write_text(textwrap.dedent(text))
        sys.modules.pop("toy_ledger", None)
        content.module_digest.cache_clear()
        return "toy_ledger"

    write(LEDGER)
    return write


def worked_on(monkeypatch):
    """The ids of the steps that are really examined."""
    seen = []
    real = finding.examine_step

    def examined(step, **options):
        seen.append(step.id)
        return real(step, **options)

    monkeypatch.setattr(finding, "examine_step", examined)
    return seen


def test_ledger_is_cached_by_content(toy, monkeypatch):
    """A second audit examines nothing; a changed step is examined alone, a changed function too."""
    seen = worked_on(monkeypatch)
    progress = []
    first = ledger.audit(["toy_ledger"], progress=progress.append, workers=1)
    assert [f.verdict.value for f in first] == ["PROVED", "PROVED", "STANDARD", "FALSE"]
    assert len(seen) == 4
    assert progress == [0.25, 0.5, 0.75, 1.0]
    assert ledger.audit(["toy_ledger"], workers=1) == first
    assert len(seen) == 4
    toy(LEDGER.replace("right=x**2 + y**2", "right=x**2 + 2 * y**2"))
    ledger.audit(["toy_ledger"], workers=1)
    # The third step is a function of this file, and the file has changed.
    assert seen[4:] == ["pfl/toy-1", "pfl/toy-3"]
    toy(LEDGER.replace("return factor * value, abs(value)", "return factor * value, value - 1"))
    changed = ledger.audit(["toy_ledger"], workers=1)
    assert seen[6:] == ["pfl/toy-3"]
    assert changed[2].verdict is finding.StepVerdict.FALSE


@pytest.mark.usefixtures("toy")
def test_cache_depends_on_the_checkers(monkeypatch):
    """Another version of a checker examines everything again."""
    seen = worked_on(monkeypatch)
    ledger.audit(["toy_ledger"], workers=1)
    monkeypatch.setattr(content, "checker_digest", lambda: "another")
    ledger.audit(["toy_ledger"], workers=1)
    assert len(seen) == 8


@pytest.mark.usefixtures("toy")
def test_broken_cache_files_are_ignored(tmp_path):
    """Half a file counts as none."""
    first = ledger.audit(["toy_ledger"], workers=1)
    for file in (tmp_path / "cache" / "audit").iterdir():
        file.write_text(file.read_text()[:10])
    again = ledger.audit(["toy_ledger"], workers=1)
    assert [f.verdict for f in again] == [f.verdict for f in first]


@pytest.mark.usefixtures("toy")
def test_workers_agree_with_one_process():
    """Verdicts and evidence do not depend on where a step is examined."""
    alone = ledger.audit(["toy_ledger"], workers=1)
    for file in ledger.ResultStore().folder.iterdir():
        file.unlink()
    together = ledger.audit(["toy_ledger"], workers=2)
    assert [(f.verdict, f.evidence) for f in together] == [(f.verdict, f.evidence) for f in alone]


SLOW = """
import pathlib
import time
from bounds.ledger.step import Draws, Enumerated, StepKind, Step

def sides(draw):
    pathlib.Path("begun").touch()
    time.sleep(60)

check = Enumerated(kind=StepKind.EXPECTATION, sides=sides, operator="<=", instances=Draws(count=9))
STEPS = tuple(
    Step(id=f"pfl/slow-{k}", location="", claim="", of="pfl/lemma-3.1", check=check) for k in range(4)
)
"""


def test_an_interrupted_audit_ends_at_once_and_leaves_nothing_behind(tmp_path):
    """Ctrl-C reaches the workers too: none of them complains, no semaphore is leaked."""
    (tmp_path / "slow_ledger.py").write_text(SLOW)
    # A process that is started in the background may ignore interrupts from its first moment.
    code = (
        "import signal\nfrom ratecheck.auditing import ledger\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    ledger.audit(['slow_ledger'], workers=2)"
    )
    (tmp_path / "run.py").write_text(code)
    paths = os.pathsep.join([str(Path(bounds.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    run = subprocess.Popen(
        [sys.executable, "run.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "RATECHECK_CACHE": str(tmp_path / "cache")},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        for _ in range(1800):
            if (tmp_path / "begun").exists() or run.poll() is not None:
                break
            time.sleep(0.1)
        os.killpg(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=180)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    assert errors.strip().endswith("KeyboardInterrupt")
    assert errors.count("\nKeyboardInterrupt") == 1
    # The interrupt may come while the end of a wait is handled.
    assert errors.count("Traceback") == 1 + errors.count("During handling of the above exception")
    assert "leaked" not in errors


def test_two_steps_of_one_id_are_refused(toy):
    """Ids have to be unique."""
    toy(LEDGER.replace("pfl/toy-2", "pfl/toy-1"))
    with pytest.raises(ValueError, match="two steps 'pfl/toy-1'"):
        ledger.audit(["toy_ledger"], workers=1)


@pytest.fixture
def shown(toy, cli, monkeypatch):
    """The command line, with the toy as the ledger of the first paper and none of the others."""
    monkeypatch.setattr(public.ledger, "module_of", lambda _: toy(LEDGER))
    monkeypatch.setattr(public.ledger, "has_ledger", lambda paper: paper == "pfl")
    return cli


def test_json_contract(shown):
    """The fields that scripts rely on, and exit code 1 where something is false."""
    result = shown("audit", "pfl", "--json")
    assert result.returncode == 1
    rows = json.loads(result.stdout)["steps"]
    wanted = {"id", "paper", "location", "claim", "kind", "verdict", "certified", "evidence", "conclusion"}
    assert all(wanted <= row.keys() for row in rows)
    assert [row["id"] for row in rows] == [f"pfl/toy-{k}" for k in (1, 2, 3, 4)]
    assert [row["certified"] for row in rows] == [True, True, False, False]
    assert {row["conclusion"].split(":")[0] for row in rows} == {"holds as printed", "not refuted with repair"}
    assert all(row["paper"] == "pfl" for row in rows)


def test_text_has_ledger_conclusions_and_errata(shown):
    """Of all papers with a ledger; nothing is said of the others."""
    result = shown("audit")
    assert result.returncode == 1
    for part in (
        "pfl/lemma-3.3: holds as printed",
        "pfl/lemma-3.2: not refuted with repair",
        "errata",
        "x <= y assumed",
    ):
        assert part in result.stdout
    assert "no ledger" not in result.stderr
    detail = shown("audit", "--step", "pfl/toy-4")
    assert detail.returncode == 1
    assert "evidence" in detail.stdout
    assert shown("audit", "--step", "pfl/toy-1").returncode == 0


@pytest.mark.usefixtures("shown")
def test_one_step_is_examined_alone(monkeypatch):
    """And says nothing of its statement but where it refutes it."""
    seen = worked_on(monkeypatch)
    found = public.audit(step="pfl/toy-2")
    assert seen == ["pfl/toy-2"]
    assert found.conclusions["pfl/lemma-3.3"].text == (
        "undecided: this is one of its 2 steps; 'ratecheck audit pfl/lemma-3.3' examines all of its proof"
    )
    assert found.changed is None


def test_a_checked_step_says_what_its_instances_tell(shown, monkeypatch, toy):
    """CHECKED, never PROVED, with how many changed claims the instances refute."""
    text = LEDGER.replace("StepKind.STANDARD", "StepKind.EXPECTATION")
    monkeypatch.setattr(public.ledger, "module_of", lambda _: toy(text))
    data = json.loads(shown("audit", "--step", "pfl/toy-3", "--json").stdout)
    [row] = data["steps"]
    assert (row["verdict"], row["certified"], row["basis"]) == ("CHECKED", False, "instances")
    assert data["power"]["refuted"] == 3
    shown_text = shown("audit", "--step", "pfl/toy-3").stdout
    assert "the instances refute 3 of 3 claims with one thing changed" in shown_text
    whole = json.loads(shown("audit", "pfl/lemma-3.2", "--json").stdout)
    assert [each["id"] for each in whole["steps"]] == ["pfl/toy-3", "pfl/toy-4"]
    [conclusion] = whole["conclusions"]
    assert conclusion["standing"] == "not refuted with repair"


@pytest.mark.usefixtures("shown")
def test_a_statement_is_audited_with_what_it_follows_from(monkeypatch, toy):
    """Lemma 3.6's recursion follows from Lemma 3.3; a repaired form has the steps of the printed one."""
    text = LEDGER.replace('of="pfl/lemma-3.2"', 'of="pfl/lemma-3.6-recursion"', 1)
    text = text.replace('of="pfl/lemma-3.2"', 'of="pfl/lemma-a.2"', 1)
    monkeypatch.setattr(public.ledger, "module_of", lambda _: toy(text))
    seen = worked_on(monkeypatch)
    assert [each.id for each in public.audit("pfl/lemma-3.6-recursion", workers=1).steps] == [
        f"pfl/toy-{k}" for k in (1, 2, 3)
    ]
    assert len(seen) == 3
    assert [each.id for each in public.audit("pfl/lemma-a.2-repaired", workers=1).steps] == ["pfl/toy-4"]


def test_usage_errors(shown):
    """One line and exit code 2."""
    for arguments, message in (
        (("fedsum",), "has no ledger"),
        (("fedsum/theorem-d.1",), "has no ledger"),
        (("pfl/lemma-3.5",), "no step of the ledger is about pfl/lemma-3.5"),
        (("pfl/lemma-3.55",), "no statement 'pfl/lemma-3.55'"),
        (("nopaper",), "no paper"),
        (("--step", "pfl/toy-9"), "no step 'pfl/toy-9'"),
        (("flame", "--step", "pfl/toy-1"), "is not one of flame"),
    ):
        result = shown("audit", *arguments)
        assert result.returncode == 2
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_mutation_run(shown):
    """Counts, share and survivors."""
    result = shown("audit", "pfl", "--mutate", "--json")
    assert result.returncode == 0
    [data] = json.loads(result.stdout)["summaries"]
    assert (data["paper"], data["all"]["share"]) == ("pfl", 1.0)
    assert data["all"]["refuted"] >= 8
    assert data["survivors"] == []
    assert kept.mutations({"summaries": [data]})["pfl"]["all"] == data["all"]
    assert "refuted" in shown("audit", "pfl", "--mutate").stdout
    result = shown("audit", "--step", "pfl/missing-1", "--mutate")
    assert (result.returncode, result.stdout) == (2, "")
    assert "no step 'pfl/missing-1'" in result.stderr


# The mutation run that is kept for the docs.

KEPT = kept.load("mutations")


def test_the_kept_mutation_run_is_about_the_ledgers():
    """Every paper with a ledger, then all; of what may do harm at least 93% is refuted, of all 96%; each has a reason.

    What no instance refutes counts as harm, also where it is true.
    """
    papers = list(filter(ledger.has_ledger, bounds.PAPERS))
    assert [*KEPT] == [*papers, "all papers"]
    whole = KEPT["all papers"]
    for paper, each in KEPT.items():
        assert each["all"]["share"] >= (0.96 if each is whole else 0.93), paper
        assert each["algebra"]["share"] >= 0.96, paper
    status = analysis.MutantStatus
    fates = [fate.value for fate in status]
    for paper in papers:
        each = KEPT[paper]
        ids = {one.id for one in bounds.ledger.steps(paper)}
        assert each["steps"] <= len(ids)
        assert {row["id"] for row in each["survivors"]} <= ids
        for fate in (status.HARMLESS, status.OPEN, status.UNSEEN, status.ELSEWHERE):
            assert sum(row.get(fate.value, 0) for row in each["survivors"]) == each["all"][fate.value]
        no_stronger = sum(row.get(kept.NO_STRONGER, 0) for row in each["survivors"])
        assert no_stronger == sum(each["all"][fate.value] for fate in (status.SAME, status.WEAKER))
        for fate in fates:
            assert each["all"][fate] == sum(found[fate] for found in each["kinds"].values())
    for kind in ("all", "algebra", "instances"):
        for fate in fates:
            assert whole[kind][fate] == sum(KEPT[paper][kind][fate] for paper in papers)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "key", ["pfl/corollary-3.8-7", "pfl/lemma-a.2-3", "fedsum/theorem-d.1-8", "fedsum/lemma-b.2-4", "flame/theorem-1-6"]
)
def test_kept_survivors_are_those_of_the_checker(key):
    """For some steps that are quick."""
    [one] = [each for each in bounds.ledger.steps(key.partition("/")[0]) if each.id == key]
    tried = analysis.test_step(one).mutants
    rows = [row for each in KEPT.values() for row in each["survivors"] if row["id"] == key]
    left = [m for m in tried if m.fate not in (analysis.MutantStatus.REFUTED, analysis.MutantStatus.SENSELESS)]
    found = {"id": key, **kept.surviving([(m.text, m.reason) for m in left])}
    assert rows == ([found] if left else [])


@pytest.mark.long
def test_the_kept_mutation_run_is_that_of_the_checker():
    """Counts per paper, up to what a time limit changes."""
    for paper, each in list(KEPT.items())[:-1]:
        tested = ledger.mutate([ledger.module_of(paper)])
        found = analysis.summarise(tested, paper).fields()
        for kind in ("all", "algebra", "instances"):
            for fate in ("refuted", "proved as well"):
                assert found[kind][fate] == pytest.approx(each[kind][fate], rel=0.02, abs=5)


# The ledgers themselves.


def test_ledgers_are_well_formed():
    """Ids begin with the paper, `of` is a key of the catalogue, claims are plain characters, repairs are explained."""
    for paper in filter(ledger.has_ledger, bounds.PAPERS):
        steps = bounds.ledger.steps(paper)
        keys = {statement.key for statement in bounds.statements(paper)}
        assert len({each.id for each in steps}) == len(steps)
        for each in steps:
            assert each.id.startswith(f"{paper}/"), each.id
            assert each.of in keys, each.id
            assert each.claim.isascii(), each.id
            assert bool(each.repair) == (each.repaired is not None), each.id


def test_evaluation_agrees_with_mpmath():
    """Plain evaluation is SymPy's value at random points, exact where it is rational."""
    rng = random.Random(3)  # noqa: S311  # no secrets
    expressions = [
        (x + y) ** 3 / (1 + x),
        sp.sqrt(x * y + 1) - x,
        sp.Max(x, y) / sp.Min(x, 2),
        (x / y) ** sp.Rational(3, 2),
    ]
    for expr in expressions:
        for _ in range(20):
            point = {x: Fraction(rng.randint(1, 50), 7), y: Fraction(rng.randint(1, 50), 9)}
            value = evaluate(expr, point)
            put = {symbol: sp.Rational(number.numerator, number.denominator) for symbol, number in point.items()}
            wanted = mpmath.mpf(str(expr.subs(put).evalf(40)))
            found = mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value
            assert abs(float(found) - float(wanted)) <= 1e-12 * max(1, abs(float(wanted)))


def test_decision_is_plain_data():
    """What checkers return has an answer and says on what it rests."""
    assert Decision(answer=Answer.TRUE, certified="solver").true
