"""The recheck in interval arithmetic: its cost, ties, rounds that are named, equalities, badly conditioned Hessians."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.theorem import theorem
from ratecheck.algebra import ball
from ratecheck.algebra.enclosure import Enclosure, UndecidedError, enclose, encloser
from ratecheck.algebra.running_error import Rounded, rounded
from ratecheck.engines.rigorous.moment_runs import RigorousRun
from ratecheck.outcome import Outcome
from ratecheck.problems import Certificate, Population, Quadratic
from ratecheck.verification import proof as proofs
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Comparison
from ratecheck.verification.verify import verify
from ratecheck.views.checks.verdict import verdict_fields, verdict_text
from ratecheck.views.numbers import sides

TWO = Quadratic([np.diag([0.3, 0.1])], [[0.3, 0.1]], 2)
ONE = Quadratic([[[0.3]]], [[0.3]], 1)
T, X = sp.Symbol("t", integer=True, nonnegative=True), sp.Symbol("x", real=True)


def gap(right, convexity="polyak_lojasiewicz", **fields):
    """A theorem about the gap of gradient descent in every round."""
    return theorem(
        title="", algorithm="fedavg", vocabulary="textbook", over="every_round", right=right,
        assumptions=["smoothness", convexity, "full_participation", "no_personal"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
        **{"left": "gap", "step_rules": {"gamma_u": "1/L"}, **fields},
    )  # fmt: skip


def asked(right, problem, rounds, **fields):
    """The verdict after so many rounds."""
    return verify(gap(right, **fields), problem, {"T": float(rounds)})


def rotated(*values, angle=0.3):
    """A full Hessian with these eigenvalues, up to rounding."""
    c, s = math.cos(angle), math.sin(angle)
    R = np.array([[c, -s], [s, c]])
    H = (R * values) @ R.T
    return Quadratic([(H + H.T) / 2], [[1.0, 1.0]], 2)


# --- The cost ---


@pytest.fixture(name="cost")
def _cost(monkeypatch):
    """Digits of every operation of the interval engine on sides, and rounds that it follows, by number of bits."""
    seen = {"digits": 0, "rounds": []}
    shortened, rounds = Enclosure.shortened, RigorousRun.rounds

    def counted(self, digits):
        found = shortened(self, digits)
        seen["digits"] = max(seen["digits"], *(each.bit_length() for each in found.high.as_integer_ratio()))
        return found

    def followed(self, names, bits):
        for each in rounds(self, names, bits):
            seen["rounds"].append(bits)
            yield each

    monkeypatch.setattr(Enclosure, "shortened", counted)
    monkeypatch.setattr(RigorousRun, "rounds", followed)
    return seen


@pytest.mark.parametrize("right", ["(1 - mu_PL/L)**t*F_0", "F_0/(t + 1)", "2*F_0/sqrt(t + 1)", "F_0*exp(-mu_PL*t/L)"])
def test_digits_do_not_grow_with_the_round(right, cost):
    """A power in t of a rational has t times its digits, which the sides of a round never need."""
    verdict = asked(right, TWO, 600)
    assert verdict.outcome is Outcome.HOLDS
    assert cost["digits"] < 10_000


def test_more_digits_are_for_open_rounds(cost):
    """Right sides below 2^-384 are asked again, and the tie at the start is decided in rationals of one round."""
    assert asked("(1 - mu_PL/L)**t*F_0", TWO, 1000).outcome is Outcome.HOLDS
    followed = {bits: cost["rounds"].count(bits) for bits in set(cost["rounds"])}
    assert followed == {384: 1000, 1024: 1000, ball.EXACT: 1}


@pytest.mark.parametrize("rounds", [5000, *(pytest.param(each, marks=pytest.mark.long) for each in (20_000, 25_000))])
def test_what_takes_too_long_is_said_to(rounds, cost):
    """The cost is counted and has a limit: beyond it the answer is that nothing is known, and why."""
    verdict = asked("(1 - mu_PL/L)**t*F_0", TWO, rounds)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert any("too long" in reason for reason in verdict.reasons)
    assert len(cost["rounds"]) <= 25_000
    assert 3072 not in cost["rounds"]


def test_exact_ties_are_decided_however_many_rounds():
    """One step reaches the minimiser: both sides are 0 from then on, which rationals tell in every round."""
    assert asked("(1 - mu_PL/L)**t*F_0", ONE, 3000).outcome is Outcome.HOLDS


def test_rationals_that_grow_are_given_up():
    """Digits grow with every step, and a run is followed in rationals only as long as they are few."""
    claim = gap("gap", relation="==").claims[0]
    long = Enclosure.of(Fraction(1, 3**40_000))

    def follow(bits):
        assert bits == ball.EXACT or bits >= 384
        yield {"gap": Enclosure.of(1)}
        yield {"gap": long if bits == ball.EXACT else Enclosure(Fraction(0), Fraction(1, 2**bits))}

    found = proofs.decided_rounds([claim], {}, follow, 2, proofs.CostLimit(2.0, 2, 1e7))
    assert found.outcome is None
    assert "round 1" in found.reason


# --- Powers ---


@pytest.mark.parametrize("base", [Fraction(2, 3), Fraction(-2, 3), Fraction(10**20 + 1, 10**20), Fraction(7, 2)])
@pytest.mark.parametrize("exponent", [0, 1, 2, 17, 400])
def test_powers_are_enclosed(base, exponent):
    """With few digits, against the power in rationals."""
    found = Enclosure.of(base).power(Fraction(exponent), 80)
    true = base**exponent
    assert found.low <= true <= found.high
    assert found.width <= abs(true) * Fraction(1, 2**60)
    around = Enclosure(base - Fraction(1, 1000), base + Fraction(1, 1000)).power(Fraction(exponent), 80)
    assert around.low <= true <= around.high


def test_tiny_powers_are_between_0_and_a_number():
    """What is far below the digits needs none of its own; what is far above is given up."""
    tiny = Enclosure.of(Fraction(1, 10)).power(Fraction(10**9), 80)
    assert 0 == tiny.low < tiny.high < Fraction(1, 10**300)
    with pytest.raises(UndecidedError, match="range"):
        Enclosure.of(10).power(Fraction(10**9), 80)


def test_zero_to_the_power_0_is_1():
    """In rationals, enclosed, with running errors and in floating point; also where 0 is known up to rounding."""
    for exponent in (T, 2 * T, T + T**2, 3 * T - T):
        for expr in (X**exponent, (1 - X) ** exponent * X ** (0 * T)):
            for t in (0, 1, 2):
                x = {X: 0} if expr.has(X**exponent) else {X: 1}
                value = int(t == 0)
                known = {"x": Fraction(x[X]), "t": Fraction(t)}
                assert enclose(expr, known) == Enclosure.of(value)
                assert encloser([expr], {"x": known["x"]}, 100)({"t": known["t"]}) == [Enclosure.of(value)]
            rounds = Rounded.of(np.arange(3.0))
            found = rounded(expr, {"x": Rounded.of(float(x[X]), 1e-13), "t": rounds})
            assert found.sure.all()
            assert np.abs(found.value - [1, 0, 0]).max() <= 1e-12
            assert (np.abs(found.value - [1, 0, 0]) <= found.error).all()


@pytest.mark.parametrize("exponent", ["t", "2*t", "t**2", "t*(t + 1)"])
def test_both_sides_are_known_where_a_power_of_0_stands(exponent):
    """With mu = L and gamma = 1/L the bound is F_0 in round 0 and 0 after it."""
    verdict = asked(f"(1 - mu_PL*gamma_u)**({exponent})*F_0", ONE, 6)
    assert verdict.outcome is Outcome.HOLDS
    assert "not known" not in verdict_text(verdict)


# --- What is named ---


def test_a_violation_names_a_round_in_which_it_is_one():
    """Round 0 is a tie, and only interval arithmetic tells that the later ones are none."""
    right = "F_0*(1 - mu_PL*gamma_u)**(2*t)*(1 - 1e-15*t)"
    verdict = asked(right, ONE, 5, step_rules={"gamma_u": "1/(2*L)"})
    assert verdict.outcome is Outcome.VIOLATED
    (found,) = verdict.comparisons
    assert found.round == verdict_fields(verdict)["claims"][0]["round"] > 0
    assert found.left > found.right
    assert found.left == pytest.approx(0.15 / 4**found.round, rel=1e-12)
    text = verdict_text(verdict)
    assert f"round {found.round}," in text
    left, right = sides(found)
    assert float(left) > float(right)
    assert "the sides differ by" in text


@pytest.mark.parametrize(
    ("left", "right", "error", "shown"),
    [
        (2.11251e7, 2.11249e7, 200.0, ("2.11e+07", "2.11e+07")),
        (2.11251e7, 2.11249e7, 1.0, ("2.113e+07", "2.112e+07")),
        (0.0375, 0.03749999999, 1e-14, ("0.0375", "0.03749999999")),
        (1.0, 1.0, 1e-14, ("1", "1")),
        (0.99999, 1.00001, 1e-3, ("1", "1")),
    ],
)
def test_digits_say_no_more_and_no_less_than_the_verdict(left, right, error, shown):
    """Sides that rounding parts are printed alike, those that differ with the digits in which they do."""
    assert sides(Comparison("main", 0, left, right, error, {}, left_error=error / 2, right_error=error)) == shown


# --- Equalities ---


@pytest.mark.parametrize("condition", ["gamma_u == 1/L", "1/L == gamma_u", "3*gamma_u*L == 3", "gamma_u - 1/L == 0"])
def test_an_equality_is_met_exactly(condition):
    """The float next to 1/0.3 stands for 1/L, so that the tie in round 0 is decided."""
    fields = {"step_rules": {}, "conditions": [condition]}
    verdict = verify(gap("F_0", **fields), TWO, {"T": 5.0, "gamma_u": 1 / 0.3})
    assert verdict.outcome is Outcome.HOLDS
    broken = verify(gap("F_0", **fields), TWO, {"T": 5.0, "gamma_u": 2.0})
    assert broken.outcome is Outcome.NOT_APPLICABLE


# --- Condition numbers ---


def test_eigenvalues_of_a_diagonal_matrix_are_its_entries():
    """However far apart: the constants exist, and the run is compared with them."""
    problem = Quadratic([np.diag([1e8, 1e-8])], [[1.0, 1.0]], 2)
    assert problem.constants()["F_0"].value == pytest.approx(0.5e8, rel=1e-14)
    assert problem.minimizer()[0] == pytest.approx([1e-8, 1e8], rel=1e-15)
    for convexity, name in (("polyak_lojasiewicz", "mu_PL"), ("strong_convexity", "mu")):
        verdict = asked(f"(1 - {name}/L)**t*F_0", problem, 5, convexity=convexity)
        assert verdict.outcome is Outcome.HOLDS
        assert verdict.constants[name].value == 1e-8
        assert verdict.constants[name].certificate is verdict.constants["F_0"].certificate is Certificate.EXACT
    twins = Population(problem, [3]).constants()["F_0"]
    assert twins.value == pytest.approx(0.5e8, rel=1e-12)
    flat = Quadratic([np.diag([1.0, 0.0])], [[1.0, 1.0]], 2)
    assert flat.constants()["F_0"].reason == "f is unbounded below"


def test_what_float64_cannot_tell_is_no_fact():
    """Of a full matrix the small eigenvalue may be 0; where it is, or is negative, that is said."""
    for convexity, name in (("polyak_lojasiewicz", "mu_PL"), ("strong_convexity", "mu")):
        verdict = asked(f"(1 - {name}/L)**t*F_0", rotated(1e8, 1e-8), 5, convexity=convexity)
        assert verdict.outcome is Outcome.NOT_APPLICABLE
        assert all("is not certified: float64 cannot tell" in reason for reason in verdict.reasons)
        assert "does not exist" not in verdict_text(verdict)
    for H in ([[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]):
        assert Quadratic([H], [[1.0, -1.0]], 2).constants()["F_0"].reason == "f is unbounded below"


@pytest.mark.parametrize("small", [1e-5, 1e-6, 1e-7])
def test_a_bound_is_not_called_exact(small):
    """Constants that are moved by what they may be off are bounds, on the side of the truth, as rationals tell."""
    problem = rotated(1e5, small)
    verdict = asked("(1 - mu/L)**t*F_0", problem, 3, convexity="strong_convexity")
    constants = verdict.constants
    assert constants["mu"].certificate is Certificate.LOWER_BOUND
    assert constants["F_0"].certificate is Certificate.UPPER_BOUND
    assert "lower bound" in verdict_text(verdict)
    (a, b), (_, d) = [[Fraction(x) for x in row] for row in problem.H[0]]
    mu = Fraction(constants["mu"].value)
    assert (a - mu) * (d - mu) - b * b >= 0
    lowest = (d - 2 * b + a) / (a * d - b * b) / 2
    assert constants["F_0"].value >= lowest
    # The gap that the run begins with is the whole of it, and not what is left without the small eigenvalue.
    (found,) = verdict.comparisons
    assert abs(found.left - float(lowest)) <= found.left_error


def test_a_hair_that_nothing_proves_accuses_nobody():
    """Slopes of +-978 leave one of 0.02, of which plain sums lose four digits: the gap at the start is F_0 to the last.

    Steps of the float next to 1/L break gamma_u >= 1/L in exact arithmetic, so that nothing is proved either way.
    """
    n, low, high = 5, 978.4992628996404, -978.456218380921
    H = [[[0.0033997889094125712]]] * n + [[[1.0]]] * n
    problem = Quadratic(H, [[low]] * n + [[high]] * n, 1)
    statement = theorem(
        title="Gradient descent", algorithm="fedavg", left="gap", over="every_round", vocabulary="textbook",
        assumptions=["smoothness", "polyak_lojasiewicz", "full_participation", "no_personal"], key="own/dominated",
        right="(1 - mu_PL/L)**(2*t)*F_0", conditions=["gamma_u <= 1/L", "gamma_u >= 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    exact = [sum(Fraction(float(x)) for x in np.ravel(part)) / (2 * n) for part in (problem.H, problem.g)]
    assert problem.constants()["F_0"].value == pytest.approx(float(exact[1] ** 2 / (2 * exact[0])), rel=1e-14)
    found = verify(statement, problem, {"T": 24, "L": 524.3809990159643, "gamma_u": 0.0019070103643659213})
    assert found.outcome is not Outcome.VIOLATED


# --- Equalities ---


@pytest.mark.parametrize(
    ("more", "outcome"), [("", Outcome.HOLDS), (" + 1e-20*dist2_0", Outcome.VIOLATED), (" + 1e-24*t", Outcome.VIOLATED)]
)
def test_an_equality_whose_sides_vanish_is_not_decided_by_their_parts(more, outcome):
    """|x^{t+1} - x*|^2 - |x^t - x*|^2 falls far below its rounding: what is added then is all of the right side."""
    claim = {"left": "nearer", "relation": "==", "convexity": "convexity", "step_rules": {"gamma_u": "1/(2*L)"}}
    verdict = verify(gap(f"gamma_u**2*G_u - 4*gamma_u*gap{more}", **claim), rotated(1.0, 0.5), {"T": 60.0})
    assert verdict.outcome is outcome
    assert any("in interval arithmetic" in note for note in verdict.notes)


def test_an_equality_whose_sides_vanish_in_long_runs_stays_open():
    """Following it in interval arithmetic takes too long, and float64 sees rounding alone."""
    claim = {"left": "nearer", "relation": "==", "convexity": "convexity", "step_rules": {"gamma_u": "1/(2*L)"}}
    coupled = Quadratic([np.full((9, 9), 0.05) + np.diag(np.linspace(0.2, 0.5, 9))], [np.ones(9)], 9)
    verdict = verify(gap("gamma_u**2*G_u - 4*gamma_u*gap", **claim), coupled, {"T": 2000.0})
    assert verdict.outcome is Outcome.INCONCLUSIVE


# --- Constants that are rounded ---


@pytest.mark.parametrize(("F_0", "outcome"), [(1.0, Outcome.VIOLATED), (1 - 1e-9, Outcome.NOT_APPLICABLE)])
def test_a_constant_next_to_the_true_one_stands_for_it(F_0, outcome):
    """Of the float next to the root of 2 half the square is 1.0000000000000002."""
    bowl, start = Quadratic([[[1.0]]], [[0.0]], 1), {"x0": np.array([2**0.5])}
    found = Instance(gap("F_0/100"), bowl, None, {"T": 3.0, "F_0": F_0}, start).proof()
    assert found.outcome is outcome
    assert found.notes == ("F_0=1.0 is moved to that of the problem, 1.0000000000000002",) * (F_0 == 1)


@pytest.mark.parametrize("size", [Fraction(10**400), Fraction(1, 10**400)])
def test_sides_beyond_the_range_of_floats_are_compared(size):
    """They agree to many digits, which is said, and is no proof."""
    claim = gap("gap", relation="==").claims[0]
    side = Enclosure(size, size * (1 + Fraction(1, 10**30)))
    found = proofs.decided_claims([claim], {}, {"gap": side})
    assert (found.outcome, found.agree) == (None, True)
    apart = Enclosure(size, size * (1 + Fraction(1, 10**3)))
    assert not proofs.decided_claims([claim], {}, {"gap": apart}).agree


def test_a_violation_has_a_number_to_show():
    """Few digits tell the sides apart while the left one ends nowhere near: more of them say how far."""
    claim, right = gap("1").claims[0], Enclosure(Fraction(1), Fraction(1))

    def decide(bits):
        wide = Enclosure(Fraction(2), Fraction(10**400) if bits < 1024 else Fraction(3))
        return proofs.decided_claims([claim], {}, {"gap": wide})

    assert decide(384).outcome is Outcome.VIOLATED
    found = proofs.until_decided(decide, proofs.CostLimit(1.0, 1000, 1e6))
    assert (found.outcome, found.left.high, found.right.high) == (Outcome.VIOLATED, 3, right.high)
    # What the work does not allow is left out, and the proof stays one.
    found = proofs.until_decided(decide, proofs.CostLimit(1.0, 1000, 1.0))
    assert (found.outcome, found.left.high) == (Outcome.VIOLATED, 10**400)
