"""Admissible step sizes: intervals, prescriptions, optima and conflicts."""

import math

import numpy as np
import pytest

import bounds
from ratecheck.checks.admissible import step_sizes
from ratecheck.errors import InputError

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
