"""Conditions that hold with equality: solved for a step size, to the last digit where there is a formula for it."""

from __future__ import annotations

import math

import pytest
import sympy as sp

import ratecheck as rc
from bounds.papers.textbook.statements import STATEMENTS
from bounds.symbols import COMMON
from bounds.theorem import symbol, theorem
from ratecheck.errors import InputError
from ratecheck.selftesting.survey import default_instance
from ratecheck.settings.on_trace import on_trace, step_values
from ratecheck.settings.setting import resolve
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.choose import UNMET, chosen_values
from ratecheck.stepsizes.equations import pinned, root

ONE_STEP = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
AT = {"L": 0.3, "F_0": 0.3, "T": 100.0, "n": 4.0}


def stated(*conditions, settings=ONE_STEP, **more):
    """A theorem about gradient descent under these conditions."""
    return theorem(
        "Equalities",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right="4*F_0/(gamma_u*T)",
        conditions=conditions,
        settings=settings,
        **more,
    )


@pytest.mark.parametrize(
    ("conditions", "wanted"),
    [
        (["L*gamma_u == 1"], 1 / 0.3),
        (["1/(L*gamma_u) == 1"], 1 / 0.3),
        (["gamma_u*L >= 1", "gamma_u*L <= 1"], 1 / 0.3),
        (["gamma_u <= 1/L", "1 <= L*gamma_u"], 1 / 0.3),
        (["gamma_u**2 == 1/L"], (1 / 0.3) ** 0.5),
        (["sqrt(gamma_u)*L == 1 + T"], (101 / 0.3) ** 2),
        (["L*gamma_u + T == 100 + F_0"], 1.0),
        (["gamma_u*(sqrt(L) + sqrt(T)) == sqrt(T) - sqrt(L)"], (10 - 0.3**0.5) / (10 + 0.3**0.5)),
        # No formula: the root of e^x + x = 3, by Newton's method below.
        (["exp(L*gamma_u) + L*gamma_u == 3"], None),
        (["exp(L*gamma_u) <= 2", "exp(L*gamma_u) >= 2"], math.log(2) / 0.3),
    ],
)
def test_one_value_is_left_and_meets_every_condition(conditions, wanted):
    """Solved by hand; what `verify` would check holds at it."""
    if wanted is None:
        x = 1.0
        for _ in range(50):
            x -= (math.exp(x) + x - 3) / (math.exp(x) + 1)
        wanted = x / 0.3
    statement = stated(*conditions)
    answer = step_sizes(statement, AT)
    assert answer.feasible
    found = answer.admissible["gamma_u"]
    assert found.single
    assert found.low == pytest.approx(wanted, rel=1e-12)
    values, chosen = chosen_values(statement, AT)
    assert chosen["gamma_u"] == "largest admissible"
    assert all(check.holds for check in statement.check_conditions(values))


def test_the_formula_gives_the_last_digit():
    """1/L as Python divides, over many L at which bracketing is off by an ulp now and then."""
    statement = stated("L*gamma_u == 1")
    for k in range(1, 60):
        L = k / 37
        assert step_sizes(statement, {**AT, "L": L}).admissible["gamma_u"].low == pytest.approx(1 / L, rel=2e-16)


def test_several_step_sizes():
    """One equality leaves a curve, two a point; ends at infinity are infinity, not what stands for it."""
    free = {"m": "n", "sigma_u": 0, "K": 3}
    curve = step_sizes(stated("gamma_u*eta_u*K*L == 1/2", "L*K*gamma_u <= 1/8", settings=free), AT).admissible
    assert (curve["gamma_u"].low, curve["eta_u"].high) == (0.0, math.inf)
    assert curve["gamma_u"].high == pytest.approx(1 / 7.2)
    assert curve["eta_u"].low == pytest.approx(4)
    statement = stated("gamma_u*eta_u*K*L == 1/2", "gamma_u == 1/(10*K*L)", settings=free)
    point = step_sizes(statement, AT).admissible
    assert (point["gamma_u"].low, point["eta_u"].low) == pytest.approx((1 / 9, 5))
    values, _ = chosen_values(statement, AT)
    assert all(check.holds for check in statement.check_conditions(values))


def test_a_symbol_that_equals_a_formula():
    """The symbol q = L*gamma_u is solved for gamma_u; it cannot be given in its place."""
    q = symbol("q", "the step size in units of 1/L", equals="L*gamma_u")
    statement = stated("q == 1/2", symbols=[q])
    assert step_sizes(statement, AT).admissible["gamma_u"].low == pytest.approx(0.5 / 0.3)
    with pytest.raises(InputError, match=r"q is not free: .* has q = L\*gamma_u; give gamma_u="):
        step_sizes(statement, {**AT, "q": 0.5})
    assert statement.evaluate(**AT, gamma_u=1.0).values["q"] == pytest.approx(0.3)
    with pytest.raises(InputError, match=r"q=0.5 contradicts .* q = L\*gamma_u = 0.3"):
        statement.evaluate(**AT, gamma_u=1.0, q=0.5)


def test_no_other_value_of_such_a_symbol_is_searched():
    """A bound that falls with q would be refuted by a q larger than what it equals."""
    q = symbol("q", "the step size in units of 1/L", equals="L*gamma_u")
    true = theorem(
        "Gradient descent",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right="2*L*F_0/(q*T)",
        conditions=["q <= 1"],
        settings=ONE_STEP,
        symbols=[q],
    )
    found = rc.falsify(true, evaluations=30)
    assert found.outcome.value == "INCONCLUSIVE"
    assert found.tightness == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "condition",
    ["gamma_u*(1 - L*gamma_u) == 2/(9*L)", "gamma_u*(1 - L*gamma_u) >= 1/(8*L)", "gamma_u*(1 - L*gamma_u) <= 1/(8*L)"],
)
def test_what_is_not_monotone_is_said(condition):
    """Two roots: no interval is claimed, and neither that there is none."""
    with pytest.raises(InputError, match="is not monotone in gamma_u, so that it is not solved"):
        step_sizes(stated(condition), AT)
    # A hump that stays below has no admissible value, and that is found.
    assert not step_sizes(stated("gamma_u*(1 - L*gamma_u) >= 1/(3*L)"), AT).feasible


@pytest.mark.parametrize("conditions", [["L*gamma_u + 1 == 2*F_0"], ["gamma_u <= 1/L", "gamma_u >= 2/L"]])
def test_nothing_is_called_admissible_that_breaks_a_condition(conditions):
    """Solutions outside of the domain, and conflicts: no value is admissible, and the one that is taken says so."""
    statement = stated(*conditions)
    assert not step_sizes(statement, AT).feasible
    assert chosen_values(statement, AT)[1]["gamma_u"] == UNMET


@pytest.mark.parametrize("condition", ["eta*lambda_ <= 1", "eta*lambda_ == 1", "eta == 1/lambda_", "lambda_ >= L"])
def test_a_default_is_of_the_order_of_the_problem(condition):
    """What the conditions leave open towards 0 or infinity is not taken from what stands for these."""
    statement = theorem(
        "Envelopes",
        algorithm="pfedme",
        vocabulary="textbook",
        assumptions=["smoothness", "convexity", "full_participation", "no_personal"],
        left="grad_F2",
        over="mean_of_rounds",
        right="2*lambda_*F_0/T",
        conditions=[condition],
        settings={"m": "n", "sigma_u": 0, "beta": 1},
    )
    for L in (1e-3, 1.0, 1e4):
        values, chosen = chosen_values(statement, {"L": L, "F_0": 1.0, "T": 10.0, "n": 4.0, "K": 5.0})
        assert UNMET not in chosen.values()
        assert 1 <= values["lambda_"] / L <= 40
        assert "eta" not in statement.parameters or 1 / 41 <= values["eta"] * L <= 1
        assert all(check.holds for check in statement.check_conditions(values))


def test_no_default_of_the_textbook_is_absurd():
    """Step sizes of every statement at the instance that stands for it: their product with the scale is near 1."""
    for statement in STATEMENTS:
        instance = default_instance(statement)
        setting = resolve(instance.statement, instance.problem, instance.participation, instance.given)
        found = step_values(on_trace(setting, setting.traces()[0]))
        for name, why in found.chosen.items():
            assert 1e-6 < found.values[name] < 1e6, (statement.key, name, why)


def test_formulas_and_pairs():
    """What is solved and what is not; pairs that pin a value, and pairs that only look like it."""
    x, L = (COMMON[name].symbol for name in ("gamma_u", "L"))
    cases = {
        "gamma_u**2*L == gamma_u*L**3": L**2,
        "gamma_u**(3/2) == 8*L**3": 4 * L**2,
        "gamma_u + gamma_u**2 == L": None,
    }
    for text, wanted in cases.items():
        (condition,) = stated(text).conditions
        found = root(condition, x)
        assert found is wanted or sp.simplify(found - wanted) == 0
    only = stated("gamma_u*L >= 1", "gamma_u*L <= 2", "gamma_u <= 2/L", "gamma_u < 1/L").conditions
    assert list(pinned(only)) == []
    both = stated("gamma_u*L >= 1", "2*gamma_u <= 2/L", "gamma_u <= 3").conditions
    assert [each.text for each in pinned(both)] == ["L*gamma_u >= 1", "2*gamma_u <= 2/L"]
