"""The settings of the papers' experiments against the theorems, with numbers by hand and conditions as plain Python."""

from fractions import Fraction

import pytest
import sympy as sp

import bounds
from bounds.ledger.experiment import Experiment, encoded, exact, experiments, ordered
from bounds.symbols import Domain
from ratecheck.stepsizes.coverage import CoverageVerdict, coverage, restricts_step_sizes
from ratecheck.stepsizes.coverage import _region as region

PAPERS = ("pfl", "fedsum", "flame", "simfbo")


def against(key):
    """The settings of a paper against a statement of it."""
    return coverage(bounds.get(key), experiments(key.partition("/")[0]))


def where(case):
    """The ranges of a case by the name of the condition."""
    return {each.name: each.where for each in case.conditions}


def test_pfl_by_hand():
    """From gamma = 0.001 and K = 25: L <= 1/(32*0.025) = 1.25, and 1/(72*0.025) = 5/9 as 9/10^(2/3) > 1."""
    (partial, full) = against("pfl/theorem-3.7")
    assert partial.verdict is CoverageVerdict.DEPENDS
    assert where(partial.cases[0]) == {"gamma": "L <= 1.25", "eta_u": "eta_u >= 3", "eta_v": "eta_v >= about 1.05409"}
    assert Fraction(1) / (32 * 25 * Fraction("0.001")) == Fraction("1.25")
    # K is varied in Fig. 1d, so that L and K are both unknown.
    assert full.verdict is CoverageVerdict.UNKNOWN
    assert "gamma: not decided without K, L" in full.cases[0].reason
    (scaffold,) = against("pfl/theorem-4.5")
    assert where(scaffold.cases[0])["gamma"] == "L <= 5/9 (about 0.555556)"
    assert Fraction(1) / (72 * 25 * Fraction("0.001")) == Fraction(5, 9)
    assert 9**3 > 10**2


def test_a_statement_about_full_participation_is_not_about_a_sample():
    """A sample, m = 9 of n = 10 is outside of Theorem 3.11; m = n is not."""
    partial, full = against("pfl/theorem-3.11")
    assert partial.verdict is CoverageVerdict.OUTSIDE
    assert "m = 9" in partial.cases[0].reason
    assert full.verdict is CoverageVerdict.UNKNOWN


def flame_by_hand(lambda_, rho, m):
    """Conditions of Theorem 2 in rationals: penalty, descent; and of the wide form at its most favourable values.

    For the wide form: rho > 2 a lambda^2 (1+k)/((1-share)(lambda-L)) > 2 a lambda for every k > 0, share in (0, 1) and
    L in (0, lambda), since lambda/(lambda - L) > 1; so that rho <= 2 a lambda excludes all of them.
    """
    x = Fraction(lambda_, m)
    rho = Fraction(rho)
    return rho >= x, x**2 * (1 + rho) / rho**2 < x / 2 + rho / 2, rho > 2 * x


@pytest.mark.parametrize("form", ["unbiased", "unbiased-repaired", "biased", "biased-repaired"])
def test_no_setting_of_flame_is_covered(form):
    """Seven settings, with every number of clients that may be meant: descent fails in each, penalty in most."""
    found = against(f"flame/theorem-2-{form}")
    assert len(found) == 7
    for each in found:
        assert each.verdict is CoverageVerdict.NOT_COVERED
        for case, values in zip(each.cases, each.experiment.cases(), strict=True):
            holds = {condition.name: condition.holds for condition in case.conditions}
            penalty, descent, _ = flame_by_hand(int(values["lambda_"]), str(values["rho"]), int(values["m"]))
            assert (holds["penalty"], holds["descent"]) == (penalty, descent)
            assert not descent


@pytest.mark.parametrize("form", ["unbiased", "biased"])
def test_nor_by_the_wide_form(form):
    """No L, k and share do: rho <= 2*alpha*lambda in each of them; in most no k meets the steps of w_i."""
    by_solver = 0
    for each in against(f"flame/theorem-2-{form}-wide-repaired"):
        for case, values in zip(each.cases, each.experiment.cases(), strict=True):
            possible = flame_by_hand(int(values["lambda_"]), str(values["rho"]), int(values["m"]))[2]
            assert not possible
            assert case.verdict is CoverageVerdict.NOT_COVERED
            x, rho = Fraction(int(values["lambda_"]), int(values["m"])), Fraction(str(values["rho"]))
            # x^2 (1 + 1/k)/rho > x^2/rho, so that no k > 0 meets the steps of w_i from here on.
            if x**2 / rho >= (x + rho) / 2:
                assert "is false" in case.reason
                assert "/k" in case.reason
            else:
                by_solver += 1
                assert "no values of L, " in case.reason
                assert "(z3)" in case.reason
    assert by_solver == 1


def test_fedsum_by_hand():
    """A step size that falls with t is not one number; eta_g = 1 is 1/sqrt(tau_max) for tau_max = 1 alone."""
    falling, constant, *_ = against("fedsum/theorem-4.1")
    assert falling.verdict is CoverageVerdict.NOT_COVERED
    assert "changes from round to round" in falling.cases[0].reason
    # The row of the condition says no for the same reason as the verdict.
    (row,) = (each for each in falling.cases[0].conditions if each.name == "eta_l")
    assert (row.holds, row.where) == (False, falling.cases[0].reason)
    assert constant.verdict is CoverageVerdict.UNKNOWN
    assert where(constant.cases[0])["eta_g"] == "tau_max = 1"
    assert where(against("fedsum/theorem-4.1-repaired")[1].cases[0])["eta_g"] == "tau_max <= 1"
    (basic,) = against("fedsum/theorem-c.1")
    assert any(each.here.startswith("0.1 ==") for each in basic.cases[0].conditions)


@pytest.mark.parametrize("form", ["", "-repaired"])
@pytest.mark.parametrize("number", ["1", "2"])
def test_no_setting_of_simfbo_is_covered(form, number):
    """Its step sizes of y and x have the ratio 4, 10/3 or 3, and c_gamma_y is hundreds where L_1 >= mu_g.

    With r = L_1/mu_g >= 1, and without L_2*L_f, which only adds: (768 L_1^2) L_1^2/mu_g^3 + 40 L_1^2/mu_g is
    mu_g (768 r^4 + 40 r^2), times L_1 at least 808 mu_g^2; the printed factor is 16/mu_g, the repaired one 8 r/mu_g.
    c_gamma_v is at least 16 sqrt(6) r (r^2 + 1)^(1/4) (2 r^2)^(1/4), repaired 8 r sqrt(6 (r^2 + 1) 2 r^2).
    """
    key = f"simfbo/theorem-{number}{form}"
    found = coverage(bounds.get(key), experiments("simfbo"), ordered("simfbo"))
    least = (8 if form else 16) * 808**0.5
    least_v = 8 * 24**0.5 if form else 16 * 12**0.5
    assert len(found) == (2 if number == "1" else 1)
    for each in found:
        assert each.verdict is CoverageVerdict.NOT_COVERED
        assert max(each.experiment.values[f"gamma_{name}"] for name in "yv") / each.experiment.values["gamma_x"] <= 4
        assert f"about {least:.6g}, the infimum of the right side where mu_g <= L_1" in each.cases[0].reason
        # The rows of the conditions that fail say no as the verdict does, and no other row does.
        failed = [row for row in each.cases[0].conditions if row.holds is False]
        assert [row.name for row in failed] == ["c_gamma_y", "c_gamma_v"]
        assert each.cases[0].reason == "; ".join(f"{row.text} is false: {row.where}" for row in failed)
        assert f"about {least_v:.6g}, the infimum" in failed[1].where
    # Without the order nothing is claimed: L_1 may be as small as it likes.
    assert all(each.verdict is CoverageVerdict.UNKNOWN for each in against(key))


def test_settings_with_values_inside_and_outside():
    """The same condition is met, broken, or left to L, as its numbers say: no verdict is the same for all."""
    statement = bounds.get("pfl/theorem-3.7")

    def verdict(**numbers):
        one = Experiment(
            place="", algorithms=("fedavg-p",), values=exact(**numbers), alternatives=(), varying={}, remark=""
        )
        (found,) = coverage(statement, [one])
        return found.verdict

    inside = {"n": 10, "m": 9, "K": 25, "gamma": "0.001", "eta_u": 3, "eta_v": 2}
    assert verdict(**inside) is CoverageVerdict.DEPENDS
    assert verdict(**inside, L="1.25") is CoverageVerdict.COVERED
    assert verdict(**inside, L="1.2500001") is CoverageVerdict.NOT_COVERED
    assert verdict(**inside | {"eta_u": "2.9"}) is CoverageVerdict.NOT_COVERED
    assert verdict(n=10, m=9) is CoverageVerdict.UNKNOWN
    clients = Experiment(
        place="",
        algorithms=("fedavg-p",),
        values=exact(**inside, L="1.25") | {"m": sp.Integer(9)},
        alternatives=(exact(m=9), exact(m=10)),
        varying={},
        remark="",
    )
    (found,) = coverage(statement, [clients])
    assert [case.verdict for case in found.cases] == [CoverageVerdict.COVERED, CoverageVerdict.NOT_COVERED]
    assert found.verdict is CoverageVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        ("x", "<=", "2", (None, "x <= 2")),
        ("x**2 - 3*x + 2", "<", "0", (None, "1 < x < 2")),
        ("x**2 - 3*x + 2", ">=", "0", (None, "x <= 1 or x >= 2")),
        ("1/(x - 1)", ">", "0", (None, "x > 1")),
        ("sqrt(x)", "<=", "3", (None, "x <= 9")),
        ("Max(1, x)", "==", "1", (None, "x <= 1")),
        ("x**2 + 1", ">", "0", (True, "")),
        ("1/x", "<", "0", (False, "")),
        ("exp(x)", "<", "2", None),
    ],
)
def test_where_a_condition_on_one_number_holds(left, operator, right, expected):
    """Quotients, roots, maxima; what is not read is not claimed."""
    x = sp.Symbol("x", positive=True)
    sides = (sp.sympify(each, locals={"x": x}) for each in (left, right))
    found = region([(next(sides), operator, next(sides))], x, Domain.POSITIVE)
    assert found == expected


def test_conditions_on_the_same_number_hold_together_or_nowhere():
    """Their ranges meet; where they do not, no value does."""
    x = sp.Symbol("x", positive=True)
    at_most, at_least, root = (x, "<=", sp.Integer(1)), (x, ">=", sp.Integer(2)), (sp.sqrt(x), "==", sp.Integer(1))
    assert region([at_most, at_least], x, Domain.POSITIVE) == (False, "")
    assert region([at_most, root], x, Domain.POSITIVE) == (None, "x = 1")
    assert region([at_most, (x, ">", sp.Rational(1, 2))], x, Domain.POSITIVE) == (None, "0.5 < x <= 1")
    assert against("fedsum/theorem-4.1")[1].cases[0].reason.endswith("it needs tau_max = 1")


def test_settings_are_numbers_of_the_paper():
    """Every paper was read; names are parameters, values in their domains, methods have a statement, order is kept."""
    for paper in PAPERS:
        assert encoded(paper)
        vocabulary = bounds.vocabulary(paper)
        methods = {each.algorithm for each in bounds.statements(paper)}
        for each in experiments(paper):
            assert {*each.algorithms} <= methods
            for values in each.cases():
                for name, value in values.items():
                    assert isinstance(value, sp.Rational)
                    vocabulary[name].check(float(value))
                assert all(
                    values[low] <= values[high] for low, high in vocabulary.ordered if {low, high} <= values.keys()
                )
    assert not encoded("baselines")
    assert experiments("mine.py") == ()


def test_what_restricts_no_step_size_is_not_compared():
    """A rate in orders, and an inequality of a proof."""
    assert not restricts_step_sizes(bounds.get("flame/theorem-1"))
    assert not restricts_step_sizes(bounds.get("simfbo/theorem-2-order"))
    assert against("flame/theorem-1") == ()
