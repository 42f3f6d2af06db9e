"""Sweeps: fitted exponents on laws that are known, predicted ones against hand calculation and finite differences."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bounds
from bounds.statement import number
from ratecheck.complexity.closed_form import closed_bound
from ratecheck.errors import InputError
from ratecheck.exponents import parameters as varied
from ratecheck.exponents import sweep as module
from ratecheck.exponents.local_exponent import local_exponent
from ratecheck.exponents.sweep import survey
from ratecheck.problems import Logistic, Quadratic
from ratecheck.statistics.exponent_fit import LEVEL, fit
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.verification.verify import Options, verify

MEASURABLE = [s.key for s in bounds.statements("pfl") if module._measurable(s)]
CONSTANTS = {"L": 2.0, "F_0": 3.0, "B_0": 5.0, "b": 0.7, "sigma_u": 0.9, "sigma_v": 0.4}
SETTING = {"m": 3.0, "K": 4.0, "T": 30.0, "sigma_u": 0.3, "sigma_v": 0.3}
HELD = [(), ("gamma",), ("gamma_u", "eta_u"), ("gamma", "eta_u"), ("gamma_v",)]


def prescribes_gamma(key):
    """Whether the statement is a tuned one."""
    return "gamma" in varied.prescribed(bounds.get(key))


@pytest.fixture(scope="module")
def problem():
    """Four decoupled clients with a common curvature: every constant exists."""
    return Quadratic.synthetic(n=4, d=4, seed=1)


def allowed(statement, values):
    """The values without those that the statement itself fixes."""
    return {name: value for name, value in values.items() if name not in statement.settings}


# --- Predicted exponents ---


def test_noise_dominated_bound_falls_with_the_root_of_local_steps_and_clients():
    """corollary-3.8 with b = 0 at huge T: 8 sqrt(3 (sigma_u^2/m + m sigma_v^2/n) L F_0/(K T)) is all that is left."""
    statement = bounds.get("pfl/corollary-3.8")
    values = {**CONSTANTS, "b": 0.0, "n": 20.0, "m": 5.0, "K": 10.0, "T": 1e18}
    assert local_exponent(statement, "K", (), values) == pytest.approx(-0.5, abs=1e-6)
    assert local_exponent(statement, "m", (), {**values, "sigma_v": 0.0}) == pytest.approx(-0.5, abs=1e-6)
    assert local_exponent(statement, "m", (), {**values, "sigma_u": 0.0}) == pytest.approx(0.5, abs=1e-6)


def test_exponent_is_weighed_by_the_share_of_each_term():
    """At moderate T the exponent in K is -1/2 times the share of the noise: by hand, in plain floats."""
    n, m, K, T, L, F_0, sigma_u, sigma_v = 20.0, 5.0, 10.0, 400.0, 2.0, 3.0, 0.9, 0.4
    noise = 8 * math.sqrt(3 * (sigma_u**2 / m + m * sigma_v**2 / n) * L * F_0 / (K * T))
    rest = 129 * L * F_0 / T
    values = {**CONSTANTS, "b": 0.0, "n": n, "m": m, "K": K, "T": T}
    found = local_exponent(bounds.get("pfl/corollary-3.8"), "K", (), values)
    assert found == pytest.approx(-0.5 * noise / (noise + rest), rel=1e-12)


def test_exponent_in_gamma_by_hand():
    """theorem-3.7 is a/gamma + b*gamma + c*gamma^2 with fixed outer step sizes."""
    statement, gamma = bounds.get("pfl/theorem-3.7"), 1e-3
    values = {**CONSTANTS, "n": 10.0, "m": 4.0, "K": 5.0, "T": 100.0, "gamma": gamma, "eta_u": 2.5, "eta_v": 2.0}
    terms = {name: number(expr, values) for name, expr in statement.claims[0].terms.items()}
    weighed = -terms["initial gap"] + terms["dissimilarity"] + terms["noise"] + 2 * terms["drift"]
    found = local_exponent(statement, "gamma", ("eta_u", "eta_v"), values)
    assert found == pytest.approx(weighed / sum(terms.values()), rel=1e-12)


def test_outer_step_sizes_follow_their_rule_unless_they_are_held():
    """The drift term of theorem-3.7 is proportional to 1/eta_u^2: 1/m under the rule eta_u = sqrt(m), else constant."""
    statement = bounds.get("pfl/theorem-3.7")
    values = {**CONSTANTS, "n": 10.0, "m": 10.0, "K": 50.0, "T": 1e12, "gamma": 1.0, "eta_u": math.sqrt(10.0)}
    free = closed_bound(statement, ("gamma",))
    held = closed_bound(statement, ("gamma", "eta_u"))
    assert number(free, values) == pytest.approx(number(held, values), rel=1e-12)
    fewer = {**values, "m": 5.0}
    drift = number(statement.claims[0].terms["drift"], values)
    assert number(free, fewer) - number(held, fewer) == pytest.approx(drift, rel=1e-9)


@pytest.mark.parametrize(
    ("key", "held"), [(key, held) for key in MEASURABLE for held in HELD if held or prescribes_gamma(key)]
)
def test_closed_bound_is_what_evaluation_gives(key, held):
    """Rules put in on symbols and on numbers agree, whichever step sizes are given."""
    statement = bounds.get(key)
    chosen = {"gamma": 1e-3, "gamma_u": 1e-4, "gamma_v": 5e-4, "eta_u": 40.0}
    given = allowed(statement, {**CONSTANTS, "n": 9.0, "m": 9.0, "K": 1.0, "T": 50.0})
    given |= {name: chosen[name] for name in held}
    evaluation = statement.evaluate(**given)
    assert number(closed_bound(statement, held), evaluation.values) == pytest.approx(evaluation.value, rel=1e-12)


@pytest.mark.parametrize(
    ("key", "parameter"), [(key, name) for key in MEASURABLE for name in "Km" if name not in bounds.get(key).settings]
)
def test_predicted_exponent_is_the_slope_of_the_evaluated_bound(key, parameter):
    """Against central differences between whole neighbours, at values so large that these are close."""
    statement = bounds.get(key)
    values = allowed(statement, {**CONSTANTS, "n": 2000.0, "m": 1000.0, "K": 1000.0, "T": 1e6})
    held = () if prescribes_gamma(key) else ("gamma",)
    values |= dict.fromkeys(held, 1e-7)
    completed, _ = statement.complete(values)
    low, high = (statement.evaluate(**{**values, parameter: 1000.0 + shift}).value for shift in (-1, 1))
    slope = math.log(high / low) / math.log(1001 / 999)
    assert local_exponent(statement, parameter, held, completed) == pytest.approx(slope, rel=1e-4, abs=1e-9)


def test_exponent_is_nan_where_the_bound_has_a_vertical_tangent():
    """Without noise the first term is proportional to sqrt(n - m), whose slope at m = n is infinite."""
    values = {**CONSTANTS, "sigma_u": 0.0, "sigma_v": 0.0, "n": 5.0, "m": 5.0, "K": 2.0, "T": 10.0}
    assert math.isnan(local_exponent(bounds.get("pfl/corollary-3.8"), "m", (), values))
    assert local_exponent(bounds.get("pfl/corollary-3.8"), "m", (), {**values, "b": 0.0}) == 0.0


# --- Fits ---


@given(st.floats(-3, 3), st.floats(-6, 6), st.integers(3, 9))
@settings(deadline=None, max_examples=50)
def test_exact_power_law_is_recovered(exponent, scale, points):
    """Exponent, interval and both halves of c*x^p are p."""
    x = np.geomspace(2.0, 50.0, points)
    found = fit(x, math.exp(scale) * x**exponent)
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.low <= found.exponent <= found.high
    assert found.high - found.low < 1e-9
    assert not found.bent


def test_two_laws_in_one_range_are_called_bent():
    """1/x + 1 falls with exponent -1 first and with 0 in the end."""
    x = np.geomspace(0.01, 100.0, 9)
    found = fit(x, 1 / x + 1)
    assert found.bent
    assert found.ends[0] < -0.7 < -0.3 < found.ends[1]


def test_two_points_give_no_interval_and_one_point_nothing():
    """A line through two points has no scatter to judge it by."""
    found = fit(np.array([1.0, 2.0]), np.array([4.0, 2.0]))
    assert found.exponent == pytest.approx(-1.0)
    assert (found.low, found.high) == (-math.inf, math.inf)
    with pytest.raises(InputError, match="at least 2 points"):
        fit(np.array([1.0]), np.array([1.0]))


@pytest.mark.parametrize("shared", [False, True], ids=["own noise per point", "noise shared by all points"])
def test_interval_covers_the_true_exponent(shared):
    """Over 300 fits of noisy means the interval misses at most the promised share, and it is not trivially wide."""
    rng, x = np.random.default_rng(3), np.geomspace(1.0, 16.0, 5)
    misses, widths = 0, []
    for _ in range(300):
        noise = rng.standard_normal((1, 16)) if shared else rng.standard_normal((5, 16))
        samples = x[:, None] ** -0.5 * (1 + 0.1 * noise)
        found = fit(x, samples.mean(axis=1), samples)
        misses += not found.low <= -0.5 <= found.high
        widths.append(found.high - found.low)
    assert misses <= 300 * LEVEL
    assert np.median(widths) < (1e-6 if shared else 0.3)


# --- Values of a sweep ---


@given(st.floats(1e-6, 1e6), st.floats(1.0, 100.0))
@settings(deadline=None)
def test_ladder_of_a_number_ends_at_the_largest_admissible_value(at, room):
    """About seven admissible values, the given one among them, over a factor of 16."""
    limit = at * room
    values = varied.ladder(at, None, 7, lambda value: value <= limit, whole=False)
    assert at in values
    assert list(values) == sorted(set(values))
    assert 6 <= len(values) <= 8
    assert values[-1] == pytest.approx(min(limit, 4 * at), rel=1e-9)
    assert values[-1] <= limit
    assert max(b / a for a, b in itertools.pairwise(values)) < 2.2
    assert values[-1] / values[0] == pytest.approx(16, rel=1e-6)


@given(st.integers(1, 300), st.integers(0, 1000))
@settings(deadline=None)
def test_ladder_of_whole_numbers(at, room):
    """Whole, different, at least 1, admissible, and the given one among them."""
    values = varied.ladder(float(at), None, 7, lambda value: value <= at + room, whole=True)
    assert float(at) in values
    assert all(value.is_integer() and 1 <= value <= min(at + room, 4 * at) for value in values)
    assert len(values) == len(set(values)) <= 8


def test_clients_go_from_one_to_all():
    """The sweep over m is limited by n alone."""
    values = varied.ladder(9.0, (1.0, 10.0), 7, lambda _: True, whole=True)
    assert values == (1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 10.0)


# --- Surveys ---


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/corollary-3.8", "pfl/theorem-4.5", "pfl/theorem-3.11-tuned"])
def test_every_point_is_what_verify_says_there(problem, key):
    """Each point equals a verification on its own, with gamma prescribed anew or held at the given one."""
    statement = bounds.get(key)
    setting = allowed(statement, SETTING)
    found = survey(statement, problem, setting)
    assert {s.parameter for s in found.sweeps} | found.fixed.keys() == {"K", "m", "gamma"}
    for sweep in found.sweeps:
        held = {name: found.verdict.values[name] for name in sweep.held}
        assert ("gamma" in held) == (key in ("pfl/theorem-3.7", "pfl/theorem-4.5") and sweep.parameter != "gamma")
        for k in (0, -1):
            alone = verify(statement, problem, {**setting, **held, sweep.parameter: sweep.values[k]})
            assert sweep.measured[k] == pytest.approx(alone.comparisons[0].left, rel=1e-12)
            assert sweep.bound[k] == pytest.approx(alone.comparisons[0].right, rel=1e-12)
        assert sweep.at in sweep.values
        assert not sweep.left_out


def test_gamma_reaches_up_to_the_largest_admissible_value(problem):
    """From half of it, the sweep ends at it; from the default, which is it, likewise."""
    statement = bounds.get("pfl/theorem-3.7")
    found = survey(statement, problem, SETTING, vary=("gamma",))
    constants = {k: v for k, v in found.verdict.values.items() if "gamma" not in k and "eta" not in k}
    largest = step_sizes(statement, constants).admissible["gamma"].high
    assert found.sweeps[0].values[-1] == pytest.approx(largest, rel=1e-9)
    half = survey(statement, problem, {**SETTING, "gamma": largest / 2}, vary=("gamma",))
    assert half.sweeps[0].values[-1] == pytest.approx(largest, rel=1e-9)


def test_curves_over_rounds_end_at_the_verdict(problem):
    """The running mean and the bound at the last T are both sides of the verdict."""
    found = survey(bounds.get("pfl/theorem-3.7"), problem, SETTING, vary=("K",))
    rounds, comparison = found.rounds, found.verdict.comparisons[0]
    assert list(rounds.T) == list(range(1, 31))
    assert rounds.mean[-1] == pytest.approx(comparison.left)
    assert rounds.bound[-1] == pytest.approx(comparison.right)
    assert rounds.mean[0] == rounds.metric[0]
    assert np.mean(rounds.metric) == pytest.approx(rounds.mean[-1])
    assert not rounds.own_steps


def test_tuned_bound_over_rounds_has_its_own_step_sizes(problem):
    """Every T has the bound that evaluation gives with the step sizes prescribed for that T."""
    statement = bounds.get("pfl/corollary-3.8")
    found = survey(statement, problem, SETTING, vary=("K",))
    values = {k: v for k, v in found.verdict.values.items() if "gamma" not in k and "eta" not in k}
    expected = [statement.evaluate(**{**values, "T": float(t)}).value for t in found.rounds.T]
    assert found.rounds.own_steps
    np.testing.assert_allclose(found.rounds.bound, expected)


def test_bands_of_monte_carlo_contain_the_exact_expectation(problem):
    """Both engines on the same runs; a band misses a single point with probability 5%, the seed is fixed."""
    statement, noisy = bounds.get("pfl/corollary-3.8"), {**SETTING, "sigma_u": 3.0, "sigma_v": 3.0}
    exact = survey(statement, problem, noisy, vary=("K",))
    step = survey(statement, problem, noisy, Options(engine="step", replicates=64, seed=5), vary=("K",))
    inside = np.abs(step.rounds.metric - exact.rounds.metric) <= step.rounds.metric_error + 1e-12
    assert inside.mean() > 0.9
    assert (np.abs(step.rounds.mean - exact.rounds.mean) <= step.rounds.mean_error + 1e-12).mean() > 0.9
    common = np.isin(exact.sweeps[0].values, step.sweeps[0].values)
    assert common.sum() >= 3
    sampled = np.isin(step.sweeps[0].values, exact.sweeps[0].values)
    gap = np.abs(step.sweeps[0].measured[sampled] - exact.sweeps[0].measured[common])
    assert (gap <= step.sweeps[0].error[sampled]).all()
    assert (step.sweeps[0].error > 0).all()


def test_logistic_problems_are_surveyed_by_sampling():
    """Fewer points, the same reading."""
    found = survey(
        bounds.get("pfl/corollary-3.8"), Logistic.synthetic(n=3, N=10, d=4), {**SETTING, "m": 2.0, "T": 5.0},
        Options(replicates=4), vary=("K", "m"),
    )  # fmt: skip
    assert found.verdict.engine == "step"
    assert [len(sweep.values) for sweep in found.sweeps] == [5, 3]


def test_diverged_runs_are_left_out_and_said(problem):
    """Without its condition on gamma, theorem-3.7 admits step sizes that blow up, within 200 rounds beyond floats."""
    wrong = replace(bounds.get("pfl/theorem-3.7"), conditions=())
    found = survey(wrong, problem, {**SETTING, "T": 200.0, "gamma": 1.0}, vary=("gamma",))
    sweep = found.sweeps[0]
    assert any(reason.startswith("gamma=4 diverged") for reason in sweep.left_out)
    assert len(sweep.values) + len(sweep.left_out) == 7
    assert np.isfinite(sweep.measured).all()


def test_progress_grows_from_zero_to_one(problem):
    """Fractions never fall and end at 1."""
    seen = []
    survey(bounds.get("pfl/corollary-3.8"), problem, SETTING, vary=("K", "m"), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize(
    ("key", "given", "vary", "message"),
    [
        ("pfl/scaffold", {}, ("K",), "up to a constant; .* such as pfl/scaffold-explicit"),
        ("pfl/lemma-a.2", {}, ("K",), "no run"),
        ("pfl/lemma-3.5", {}, ("K",), "every round; .* such as pfl/theorem-3.7"),
        ("pfl/theorem-3.7", {"gamma": 1.0}, ("K",), "Largest admissible gamma"),
        ("pfl/corollary-3.8", {}, ("gamma",), "gamma cannot be varied: pfl/corollary-3.8 prescribes gamma"),
        ("pfl/theorem-3.11", {}, ("m",), "m cannot be varied: pfl/theorem-3.11 is about m = n"),
    ],
)
def test_what_cannot_be_plotted_is_refused(problem, key, given, vary, message):
    """One line that says what would do."""
    statement = bounds.get(key)
    with pytest.raises(InputError, match=message) as caught:
        survey(statement, problem, {**allowed(statement, SETTING), **given}, vary=vary)
    assert "\n" not in str(caught.value)
