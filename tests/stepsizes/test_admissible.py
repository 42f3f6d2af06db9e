"""Admissible step sizes: intervals, prescriptions, optima and conflicts."""

import math
import re

import numpy as np
import pytest
import sympy as sp
from each_key import each_key
from short_theorem import DESCENT

import bounds
from bounds.symbols import Role
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.interval import Interval
from ratecheck.stepsizes.nearest import nearest
from ratecheck.stepsizes.optimum import minimise
from ratecheck.stepsizes.typable import steps_text
from ratecheck.views.theory.bound import evaluation_text
from ratecheck.views.theory.stepsizes import interval_text, step_sizes_text

RHO = bounds.get("flame/theorem-2-unbiased").vocabulary["rho"].symbol

CONSTANTS = {"L": 1.7, "F_0": 1.2, "B_0": 3.0, "b": 0.4, "sigma_u": 0.3, "sigma_v": 0.2}
SETTING = {"n": 10.0, "m": 4.0, "K": 7.0, "T": 300.0}


def given(statement, **extra):
    """Constants and settings for a statement, without the settings that it fixes itself."""
    return {k: v for k, v in {**CONSTANTS, **SETTING}.items() if k not in statement.settings} | extra


def with_step_sizes():
    """Every catalogue key about step sizes."""
    return [key for key in bounds.keys() if "gamma" in bounds.get(key).parameters]


def test_theorem_3_7_by_hand():
    """The interval ends of Theorem 3.7 are the numbers that its conditions give by hand."""
    answer = step_sizes(bounds.get("pfl/theorem-3.7"), {"n": 10, "m": 9, "K": 25, "L": 1})
    ends = {name: (i.low, i.high) for name, i in answer.admissible.items()}
    assert ends["gamma"] == (0.0, pytest.approx(1 / 800, rel=1e-13))
    assert ends["eta_u"] == (pytest.approx(3.0, rel=1e-13), math.inf)
    assert ends["eta_v"] == (pytest.approx(math.sqrt(10 / 9), rel=1e-13), math.inf)
    assert ends["gamma_u"] == (0.0, pytest.approx(1 / 2400, rel=1e-13))
    assert ends["gamma_v"] == (0.0, pytest.approx(math.sqrt(0.9) / 800, rel=1e-13))


def test_condition_in_two_step_sizes():
    """Lemma 3.5 limits gamma_u^2 + gamma_v^2: each alone reaches the radius, and less once the other is fixed."""
    statement = bounds.get("pfl/lemma-3.5")
    radius = math.sqrt(1 / (4 * 1.7**2 * 7 * 6))
    assert step_sizes(statement, given(statement)).admissible["gamma_u"].high == pytest.approx(radius, rel=1e-12)
    fixed = step_sizes(statement, given(statement, gamma_v=0.6 * radius))
    assert fixed.admissible["gamma_u"].high == pytest.approx(0.8 * radius, rel=1e-12)


@pytest.mark.parametrize("key", with_step_sizes())
def test_intervals_end_where_feasibility_ends(key):
    """Fixing a step size just inside its interval stays feasible, just outside it does not."""
    statement = bounds.get(key)
    for name, interval in step_sizes(statement, given(statement)).admissible.items():
        ends = [(interval.low, 1 + 1e-6), (interval.high, 1 - 1e-6)]
        for end, inwards in ends:
            if 0 < end < math.inf and interval.low < interval.high:
                assert step_sizes(statement, given(statement, **{name: end * inwards})).feasible
            if 0 < end < math.inf:
                outside = step_sizes(statement, given(statement, **{name: end / inwards**2}))
                assert not outside.feasible
                assert any(name in text for text in outside.conflict)


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/theorem-4.5"])
def test_optimum_beats_every_admissible_point(key):
    """No random admissible point has a bound more than 1% below the reported optimum."""
    statement = bounds.get(key)
    answer = step_sizes(statement, given(statement))
    rng = np.random.default_rng(1)
    for _ in range(300):
        steps = {
            "gamma": answer.admissible["gamma"].high * 10 ** rng.uniform(-3, 0),
            "eta_u": answer.admissible["eta_u"].low * 10 ** rng.uniform(0, 3),
        }
        evaluation = statement.evaluate(**given(statement, **steps))
        assert evaluation.applicable
        assert evaluation.value >= answer.optimal_bound / 1.0101


def test_optimum_inside_the_interval_is_stationary():
    """With enough noise the best gamma of Theorem 4.5 is sqrt(4 F_0/(T K) / (148 L noise)), inside the interval."""
    statement = bounds.get("pfl/theorem-4.5")
    values = {"n": 10, "m": 10, "K": 5, "T": 10**6, "L": 1.0, "F_0": 1.0, "sigma_u": 3.0, "sigma_v": 1.0}
    by_hand = math.sqrt(4 / (10**6 * 5) / (148 * (0.9 + 1.0)))
    assert step_sizes(statement, values).optimal["gamma"] == pytest.approx(by_hand, rel=1e-6)


def test_conflict_is_minimal():
    """A conflict names the conditions that matter and no others."""
    statement = bounds.get("pfl/theorem-3.7")
    answer = step_sizes(statement, {"n": 10, "m": 9, "K": 25, "L": 1, "gamma": 0.1, "eta_v": 3})
    assert answer.conflict == ("gamma <= 1/(32*K*L)", "gamma == 0.1 (given)")
    chained = step_sizes(statement, {"n": 10, "m": 9, "K": 25, "L": 1, "gamma_u": 0.001})
    assert set(chained.conflict) == {
        "gamma <= 1/(32*K*L)",
        "eta_u >= sqrt(m)",
        "gamma == gamma_u*eta_u",
        "gamma_u == 0.001 (given)",
    }


def test_contradicting_products_conflict():
    """Two products that cannot both be gamma are a conflict, not an answer."""
    statement = bounds.get("pfl/theorem-3.7")
    values = {"n": 10, "m": 9, "K": 25, "L": 1, "gamma_u": 1e-4, "eta_u": 4, "gamma_v": 1e-4, "eta_v": 2}
    assert not step_sizes(statement, values).feasible


def test_missing_constant_is_named():
    """A condition without its constant is an error that names the constant."""
    with pytest.raises(InputError, match=r"need a value for L "):
        step_sizes(bounds.get("pfl/theorem-3.7"), {"n": 10, "m": 9, "K": 25})
    answer = step_sizes(bounds.get("pfl/theorem-3.7"), {"n": 10, "m": 9, "K": 25, "L": 1})
    assert answer.missing == ("F_0", "T", "b", "sigma_u", "sigma_v")


def test_statement_without_step_sizes():
    """Pure algebra has no step sizes to choose."""
    with pytest.raises(InputError, match="no step sizes"):
        step_sizes(bounds.get("pfl/lemma-a.2"), {"n": 3, "m": 2})


FLAME = {"m": 10, "s": 5, "T": 100, "L": 1, "lambda": 5, "eps_max": 0, "gap": 1, "alpha": 0.1, "gamma_bar": 0.5}


def plausible(statement):
    """Ones for all constants, and a setting of ten clients of which five take part."""
    sizes = {"n": 10.0, "N": 10.0, "m": 10.0, "s": 5.0, "S": 5.0, "P": 5.0, "T": 1e6}
    if statement.key.startswith("pfl/"):
        sizes["m"] = 5.0
    roles = (Role.SETTING, Role.CONSTANT)
    names = [name for name in statement.parameters if statement.vocabulary[name].role in roles]
    return {name: sizes.get(name, 1.0) for name in names if name not in statement.settings}


@each_key(bounds.keys())
def test_every_statement_has_an_answer(key):
    """Every key gives intervals that its own optimum and prescriptions lie in, a conflict, or has no step sizes."""
    statement = bounds.get(key)
    constants = plausible(statement)
    try:
        answer = step_sizes(statement, constants)
    except InputError as error:
        assert "no step sizes" in str(error)  # noqa: PT017
        return
    assert step_sizes_text(answer)
    assert not answer.entangled
    if not answer.feasible:
        return
    assert not answer.prescribed.keys() & answer.defaults.keys()
    for name, value in {**answer.optimal, **answer.defaults}.items():
        interval = answer.admissible[name]
        assert interval.low * (1 - 1e-12) <= value <= interval.high * (1 + 1e-12)
        assert 1e-50 < value < 1e50
    if answer.optimal:
        evaluation = statement.evaluate(**constants, **answer.optimal)
        assert evaluation.applicable
        assert answer.optimal_bound <= evaluation.value <= 1.0101 * answer.optimal_bound


def test_strict_condition_has_an_open_end():
    """The condition rho > 5 leaves 5 out: in the interval, as a given value, and for the minimiser."""
    statement = bounds.get("flame/theorem-2-biased-wide-repaired")
    answer = step_sizes(statement, FLAME)
    rho = answer.admissible["rho"]
    assert (rho.low, rho.high, rho.open) == (pytest.approx(5, rel=1e-12), math.inf, (True, True))
    assert "(5, inf)" in step_sizes_text(answer)
    # 2*alpha^2*gap*(L + lambda)^2/(T*gamma_bar*s) over alpha*(1 - share)*(lambda - L)/2, the limit for large rho.
    assert answer.optimal_bound == pytest.approx(2 * 0.01 * 36 / (100 * 0.5 * 5) / (0.1 * 0.5 * 4 / 2), rel=1e-6)
    assert answer.approached == {"rho": math.inf}
    assert step_sizes(statement, {**FLAME, "rho": 5 * (1 + 1e-9)}).feasible
    at_end = step_sizes(statement, {**FLAME, "rho": 5})
    assert set(at_end.conflict) == {
        "rho > 2*alpha_max*lambda_**2*(k + 1)/((1 - share)*(-L + lambda_))",
        "rho == 5 (given)",
    }


def test_end_that_needs_an_inadmissible_other_is_open():
    """gamma_u reaches the radius of Lemma 3.5 only with gamma_v = 0, which is no step size."""
    statement = bounds.get("pfl/lemma-3.5")
    assert step_sizes(statement, given(statement)).admissible["gamma_u"].open == (True, True)
    fixed = step_sizes(statement, given(statement, gamma_v=1e-3))
    assert fixed.admissible["gamma_u"].open == (True, False)


def test_optimum_at_zero_is_approached():
    """Where the bound falls towards eta_l = 0, a usable eta_l is given, and said to be one."""
    statement = bounds.get("fedsum/lemma-d.6")
    answer = step_sizes(statement, plausible(statement))
    assert answer.approached == {"eta_l": 0.0}
    assert 1e-4 < answer.optimal["eta_l"] < 0.1
    assert "approached as eta_l -> 0;" in step_sizes_text(answer)


def test_fixed_outer_step_size_ties_the_others():
    """With eta_g given, eta = eta_l*eta_g is one choice, not two."""
    statement = bounds.get("fedsum/lemma-d.6")
    answer = step_sizes(statement, {**plausible(statement), "eta_g": 0.5})
    assert answer.optimal["eta"] == pytest.approx(0.5 * answer.optimal["eta_l"], rel=1e-12)
    assert answer.approached == {}
    etas = np.geomspace(1e-5, 0.05, 2000)
    values = [statement.evaluate(**plausible(statement), eta_g=0.5, eta=eta).value for eta in etas]
    assert answer.optimal_bound == pytest.approx(min(values), rel=1e-4)
    assert answer.optimal_bound <= min(values)


def test_bound_without_minimiser():
    """A bound that falls to zero has an infimum and no minimiser; a negative pole is no optimum either."""
    statement = bounds.get("simfbo/proposition-3-repaired")
    answer = step_sizes(statement, plausible(statement))
    assert (answer.optimal, answer.optimal_bound, answer.approached) == ({}, 0.0, {"eta_v": 0.0})
    printed = bounds.get("flame/theorem-2-unbiased")
    pole = step_sizes(printed, plausible(printed))
    assert (pole.optimal, pole.optimal_bound) == ({}, -math.inf)


def test_free_rules_are_defaults():
    """What a statement only suggests is no prescription, and follows the step sizes that are given."""
    statement = bounds.get("simfbo/theorem-1-repaired")
    answer = step_sizes(statement, plausible(statement))
    assert set(answer.prescribed) == {"c_gamma_y", "c_gamma_v"}
    assert set(answer.defaults) == {"gamma_x", "eta_x", "eta_y", "eta_v"}
    assert answer.defaults["gamma_x"] == pytest.approx(answer.admissible["gamma_x"].high, rel=1e-9)
    larger = step_sizes(statement, {**plausible(statement), "c_gamma_v": 1e4})
    assert larger.defaults["gamma_x"] < answer.defaults["gamma_x"]
    assert "default 0.001" in step_sizes_text(answer)


TUNED = {"n": 10, "m": 10, "K": 25, "T": 400, "L": 1, "F_0": 1, "sigma_u": 0.3, "sigma_v": 0.3}


def test_nearest_where_a_step_size_is_prescribed():
    """Corollary 4.6 prescribes gamma = eta_v*gamma_v: by hand eta_v goes up, and gamma_v too, by sqrt(gamma/given)."""
    statement, asked = bounds.get("pfl/corollary-4.6"), {"gamma": 0.0005, "eta_v": 1.0, "gamma_v": 0.00045}
    answer = step_sizes(statement, {**TUNED, **asked})
    found = nearest(answer.problem, {**TUNED, **asked}, answer.core)
    gamma = 1 / (72 * 25 + math.sqrt(37 * 25 * 400 * (0.09 + 0.009)))
    assert found.steps["gamma"] == pytest.approx(gamma, rel=1e-11)
    assert found.steps["eta_v"] == pytest.approx(math.sqrt(gamma / 0.00045), rel=1e-5)
    assert found.steps["gamma_v"] == pytest.approx(math.sqrt(gamma * 0.00045), rel=1e-5)
    assert step_sizes(statement, {**TUNED, **found.steps}).feasible


def test_no_constant_is_advised_in_place_of_step_sizes_that_would_do():
    """At T = 1 other step sizes would do: no larger T is said to be needed for any to be admissible."""
    constants = {"n": 18, "m": 5, "K": 833, "T": 1, "L": 7.06, "sigma_u": 2.085, "F_0": 0.1086}
    statement = bounds.get("pfl/scaffold-explicit")
    answer = step_sizes(statement, {**constants, "gamma_u": 61.7, "eta_u": 66.5})
    found = nearest(answer.problem, {**constants, "gamma_u": 61.7, "eta_u": 66.5}, answer.core)
    assert found.steps
    assert found.as_given
    assert step_sizes(statement, {**constants, **found.steps}).feasible
    assert "with other step sizes" not in step_sizes_text(answer, found)


def test_products_are_capped_where_the_cap_exceeds_one():
    """With large mu_g SimFBO caps gamma_y = gamma_x*c_gamma_y by 8/(3*rho_bar), as its condition says at once."""
    statement = bounds.get("simfbo/theorem-1")
    answer = step_sizes(statement, {**plausible(statement), "mu_g": 1e4})
    for name in ("gamma_y", "gamma_v"):
        assert answer.admissible[name].high == pytest.approx(8 / 3, rel=1e-9)
        assert answer.admissible[name].open == (True, False)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(1.23456789, 2.3456789), "[1.23457, 2.34567]"),
        (Interval(1.23456789, 2.3456789, strict=(True, True)), "(1.23456, 2.34568)"),
        (Interval(0.00125, math.inf), "[0.00125, inf)"),
        (Interval(0.0, 1 / 3), "(0, 0.333333]"),
        (Interval(1 / 3, 1 / 3), "0.3333333333333333 only"),
        (Interval(1.23456789, 1.234568), "[1.234568, 1.234568]"),
    ],
)
def test_ends_are_rounded_inwards(interval, text):
    """A closed end is admissible as printed, an open one is not, and the only value is printed in full."""
    assert interval_text(interval) == text


VALLEYS = (
    sp.Min(RHO / 200 + 200 / RHO, (RHO / 50_000 + 50_000 / RHO) / 2),
    sp.Min((RHO / 200 + 200 / RHO) / 2, RHO / 50_000 + 50_000 / RHO),
)


@pytest.mark.parametrize(("bound", "best"), list(zip(VALLEYS, (50_000.0, 200.0), strict=True)))
def test_the_deeper_of_two_valleys(bound, best):
    """Where a bound over rho has two valleys, the deeper one is found, whichever it is."""
    problem = FeasibleSet.of(bounds.get("flame/theorem-2-unbiased"), FLAME)
    found = minimise(problem, problem.admissible(), bound)
    assert found.point["rho"] == pytest.approx(best, rel=1e-4)
    assert found.infimum == pytest.approx(1.0, rel=1e-9)


def test_a_bound_without_minimum_inside_is_said_to_fall_without_end():
    """Where a denominator vanishes inside the region there is no smallest value."""
    problem = FeasibleSet.of(bounds.get("flame/theorem-2-unbiased"), FLAME)
    found = minimise(problem, problem.admissible(), 1 + 1 / (RHO - 300))
    assert found.infimum == -math.inf
    assert found.approached["rho"] == pytest.approx(300, rel=1e-6)


@pytest.mark.parametrize("excess", [1e-4, 1e-7, 1e-10])
def test_digits_that_differ_are_shown(excess):
    """Broken by a hair: both sides are printed with the digits that tell them apart, and a limit that can be typed."""
    given = {"n": 10, "m": 9, "K": 26, "T": 100, "L": 1, "F_0": 1, "b": 0.4, "sigma_u": 0.3, "sigma_v": 0.3}
    statement = bounds.get("pfl/theorem-3.7")
    evaluation = statement.evaluate(**given, gamma=(1 + excess) / (32 * 26))
    (check,) = evaluation.broken
    left, right = re.search(r"gamma=(\S+) breaks .* = (\S+)\. Largest", check.broken).groups()
    assert left != right
    limit = check.broken.rstrip(".").split()[-1]
    assert statement.evaluate(**given, gamma=float(limit)).applicable
    (row,) = [line for line in evaluation_text(statement, evaluation).splitlines() if line.startswith("BROKEN")]
    shown, _, cap = row.split("   ")[-1].split()
    assert shown != cap


def test_an_optimum_on_a_cap_can_be_typed():
    """Every digit of what is printed as the minimiser counts: typed, it meets all conditions, products included."""
    statement = bounds.get("fedsum/lemma-d.6-repaired")
    constants = {**plausible(statement), "L": 1.7, "K": 7.0, "tau_max": 3.0, "sigma": 0.1}
    answer = step_sizes(statement, constants)
    typed = steps_text(statement, constants, answer.optimal)
    assert answer.optimal
    assert all(len(text) <= len("1.23456e-05") for text in list(typed.values())[:1])
    values, _ = statement.complete({**constants, **{name: float(text) for name, text in typed.items()}})
    assert all(check.holds is not False for check in statement.check_conditions(values))


def test_conditions_that_conflict_are_evaluated():
    """Both limits at the numbers, by hand: 1/(10*2) and 0.5; what is a number already is left as it is."""
    fields = DESCENT | {"conditions": ["gamma_u <= 0.1/L", "gamma_u > 0.5"]}
    text = step_sizes_text(step_sizes(theorem(**fields), {"L": 2.0}))
    assert "  gamma_u <= 1/(10*L), which is gamma_u <= 0.05 at L=2\n  gamma_u > 1/2" in text
    below_zero = theorem(**DESCENT | {"conditions": ["gamma_u <= (1 - L)/L"]})
    assert "which is gamma_u <= -0.5 at L=2" in step_sizes_text(step_sizes(below_zero, {"L": 2.0}))
