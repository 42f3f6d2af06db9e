"""Statements about operators and about functions: each is asked of what it is about, and refused elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.outcome import Outcome
from ratecheck.problems import MinMax, Quadratic
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance
from ratecheck.verification.verify import verify

OPERATORS = ("monotone_operator", "strongly_monotone_operator", "cocoercive_operator", "lipschitz_operator")
SADDLE = MinMax.synthetic(n=2, d_x=2, d_y=1, coupling=0.6)
FUNCTIONS = Quadratic.synthetic(n=2, d=3, shared=3)
ROTATION = MinMax([[[0.0]]], [[[1.0]]], [[[0.0]]], [[1.0]], [[0.0]])


def about(*assumptions, left="dist2", right="dist2_0", algorithm="gda", condition="gamma_u <= 1/L", over="every_round"):
    """A theorem on everybody, without noise."""
    return theorem(
        title="A theorem",
        algorithm=algorithm,
        assumptions=[*assumptions, "full_participation", "no_personal"],
        left=left,
        over=over,
        right=right,
        conditions=[condition] if condition else [],
        settings={"m": "n", "sigma_u": 0},
        vocabulary="textbook",
    )


def asked(statement, problem, **given):
    """The verdict in ten rounds."""
    return verify(statement, problem, {"T": 10.0, "K": 1.0, **given})


@pytest.mark.parametrize(
    "function",
    ["smoothness", "convexity", "strong_convexity", "polyak_lojasiewicz", "dissimilarity", "interpolation",
     "bounded_gradients", "minimiser_heterogeneity", "clients_strong_convexity", "gb_dissimilarity"],
)  # fmt: skip
@pytest.mark.parametrize("beside", [(), ("lipschitz_operator",)])
def test_what_is_said_of_functions_is_not_satisfied_by_an_operator(function, beside):
    """Whatever else is assumed; not in floating point, and not in rationals either."""
    statement = about(function, *beside, left="G_u", right="2*L**2*dist2_0", condition="")
    verdict = asked(statement, SADDLE)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "answers with an operator that is no gradient, but the statement assumes" in verdict.reasons[0]
    proof = Instance(statement, SADDLE, None, {"T": 3.0, "K": 1.0, "gamma_u": 0.1, "eta_u": 1.0}).proof()
    assert proof.outcome is Outcome.NOT_APPLICABLE


def test_a_statement_that_does_not_say_what_it_is_about_is_about_functions():
    """The answer says what it would assume."""
    verdict = asked(about(condition=""), SADDLE, gamma_u=0.1)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "it would assume one of monotone_operator, cocoercive_operator" in verdict.reasons[0]


@pytest.mark.parametrize("left", ["gap", "fall", "descent"])
def test_an_operator_has_no_values(left):
    """The answer lists what is measured; interval arithmetic does not decide it either."""
    statement = about("lipschitz_operator", "monotone_operator", left=left, right="100*L*dist2_0")
    verdict = asked(statement, SADDLE)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.reasons[0].startswith(f"{left} is not measured on a minmax problem")
    assert verdict.reasons[0].endswith("has no values: G_u, G_v, B, dist2 are")
    proof = Instance(statement, SADDLE, None, {"T": 3.0, "K": 1.0, "gamma_u": 0.1, "eta_u": 1.0}).proof()
    assert proof.outcome is not Outcome.HOLDS
    assert proof.outcome is not Outcome.VIOLATED


def test_the_gap_at_the_start_is_not_certified():
    """Nor is any other constant of functions."""
    verdict = asked(about("lipschitz_operator", left="G_u", right="2*L*F_0"), SADDLE)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "F_0 does not exist: this problem and participation do not certify it" in verdict.reasons


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("problem", [SADDLE, FUNCTIONS], ids=["saddle", "functions"])
def test_a_statement_about_operators_is_asked_of_both(operator, problem):
    """Gradients of convex functions are operators: (1 + gamma L)^2 is what every Lipschitz operator keeps to."""
    right = "(1 + gamma_u*L)**(2*t)*dist2_0"
    verdict = asked(about(operator, "lipschitz_operator", right=right, condition="gamma_u <= 1/L"), problem)
    assert verdict.outcome is Outcome.HOLDS, verdict.reasons


def test_gradients_of_what_is_not_convex_are_not_monotone():
    """They are Lipschitz all the same."""
    bent = Quadratic([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -0.5]]], [[1.0, 1.0], [0.0, 0.0]], shared=2)
    right = "(1 + gamma_u*L)**(2*t)*dist2_0"
    assert asked(about("lipschitz_operator", right=right), bent).outcome is Outcome.HOLDS
    verdict = asked(about("lipschitz_operator", "monotone_operator", right=right), bent)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "-0.5" in verdict.reasons[0]


def test_operators_are_of_shared_variables():
    """The certified L of two blocks is no Lipschitz constant of both together."""
    statement = theorem(
        title="A theorem", algorithm="fedavg-p", assumptions=["lipschitz_operator", "full_participation"], left="G_u",
        over="every_round", right="100*L", settings={"K": 1, "m": "n", "sigma_u": 0, "sigma_v": 0},
    )  # fmt: skip
    verdict = asked(statement, Quadratic.synthetic(n=2, d=4, shared=2), gamma_u=0.1, gamma_v=0.1, eta_u=1, eta_v=1)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "the problem has 2 others" in verdict.reasons[0]


def test_a_cocoercive_operator_bears_longer_steps_than_a_lipschitz_one():
    """The same words with the other L would be false here: the step of 2/L turns outwards."""
    statement = about("cocoercive_operator", condition="gamma_u <= 2/L")
    verdict = asked(statement, SADDLE)
    assert verdict.outcome is Outcome.HOLDS
    lipschitz = SADDLE.constants()["L"].value
    assert verdict.constants["L"].value > 1.5 * lipschitz
    with pytest.raises(rc.InputError, match='breaks "L >= '):
        asked(statement, SADDLE, L=lipschitz)
    turned = asked(about("lipschitz_operator", "monotone_operator", condition="gamma_u <= 2/L"), SADDLE)
    assert turned.outcome is Outcome.VIOLATED


def test_a_violation_is_proved_in_rationals():
    """On matrices that are not symmetric, and with noise."""
    verdict = asked(about("lipschitz_operator", "monotone_operator"), ROTATION)
    assert verdict.outcome is Outcome.VIOLATED
    assert any("VIOLATED is proved in interval arithmetic" in note for note in verdict.notes)


def test_nobody_is_accused_where_there_are_several_saddle_points():
    """A statement may mean the nearest one."""
    flat = MinMax(np.diag([0.0, 0.0])[None], [[[1.0], [0.0]]], [[[0.0]]], [[1.0, 0.0]], [[0.0]])
    verdict = asked(about("lipschitz_operator", "monotone_operator"), flat)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons[0].startswith("F has several zeros")


def test_without_a_zero_there_is_no_distance():
    """The problem says so."""
    none = MinMax([[[0.0]]], [[[0.0]]], [[[1.0]]], [[1.0]], [[0.0]])
    verdict = asked(about("lipschitz_operator", "monotone_operator"), none)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "the mean operator has no zero" in " ".join(verdict.reasons)


def test_methods_that_change_from_round_to_round_run_on_it():
    """Halpern's iteration of a cocoercive operator, a classic that is known to be tight."""
    assert rc.verify("classics/fixed-point-halpern", problem="minmax", T=8).outcome is Outcome.HOLDS


def test_replicates_agree_with_the_exact_engine():
    """A statistical verdict, on the step engine."""
    statement = theorem(
        title="A theorem", algorithm="extragradient",
        assumptions=["lipschitz_operator", "monotone_operator", "noise", "full_participation", "no_personal"],
        left="dist2", over="last_round", right="dist2_0 + 8*T*gamma_u**2*sigma_u**2", conditions=["gamma_u <= 1/(2*L)"],
        settings={"n": 1, "m": 1, "K": 2}, vocabulary="textbook",
    )  # fmt: skip
    one = MinMax.synthetic(n=1, d_x=2, d_y=2)
    given = {"T": 10.0, "sigma_u": 0.3}
    exact, step = (verify(statement, one, given, Options(engine=engine)) for engine in ("exact", "step"))
    assert exact.outcome is step.outcome is Outcome.HOLDS
    assert step.worst.left == pytest.approx(exact.worst.left, rel=0.1)


def test_the_number_of_local_steps_of_a_method_need_not_be_said():
    """An extragradient step takes two, and nothing else is asked, neither by default nor in a search."""
    statement = theorem(
        title="A theorem", algorithm="extragradient",
        assumptions=["lipschitz_operator", "monotone_operator", "full_participation", "no_personal"], left="dist2",
        over="every_round_but_first", right="dist2_0", conditions=["gamma_u <= 1/L"],
        settings={"n": 1, "m": 1, "sigma_u": 0}, vocabulary="textbook",
    )  # fmt: skip
    verdict = rc.verify(statement, T=5)
    assert verdict.outcome is Outcome.HOLDS
    found = rc.falsify(statement, evaluations=30)
    assert found.search.applicable > 20
    assert not any("K to" in each for each in found.search.searched.families)


def test_the_default_problem_is_one_that_the_statement_is_about():
    """Gradient descent ascent on functions is gradient descent; partial gradients have no such reading."""
    functions = about("smoothness", "convexity", condition="gamma_u <= 1/L", over="every_round_but_first")
    assert rc.verify(functions, T=5).verdict.problem.startswith("quadratic")
    operators = about("cocoercive_operator", condition="gamma_u <= 1/L", over="every_round_but_first")
    assert rc.verify(operators, T=5).verdict.problem.startswith("minmax")
    partial = about("smoothness", algorithm="alternating-gda", left="G_u", right="L*dist2_0", condition="")
    verdict = rc.verify(partial, T=5)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "takes partial gradients, which only min-max problems have" in verdict.verdict.reasons[0]


def test_how_far_a_round_moves_is_measured_of_operators():
    """Extragradient steps on a rotation: |x^{t+1} - x^t|^2 = gamma^2 (1 + gamma^2) |x^t|^2."""
    gamma, T, square, total = 0.9, 32, 1.0, 0.0
    for _ in range(T):
        total += gamma**2 * (1 + gamma**2) * square / T
        square *= 1 - gamma**2 + gamma**4
    claim = theorem(
        "mean step2 <= R_0**2",
        method="extragradient",
        given="lipschitz operator, monotone operator",
        when="gamma*L < 1",
    )
    found = rc.verify(claim, problem=ROTATION, T=T, gamma=gamma)
    assert found.verdict.worst.left == pytest.approx(total, rel=1e-12)
