"""Step sizes by the round, `ratecheck.algorithms.model.varying`, against recursions written out here."""

import math

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS

CURVATURE, START, SIGMA = np.array([1.0, 0.25]), np.array([1.0, -2.0]), 0.5
SC = {"method": "sgd", "given": "strongly convex, smooth"}
FALLING = "gamma == 2/(mu*(t + 2*L/mu))"


def squares(steps, weight):
    """sum_j w_j E x_j^2 of SGD with these step sizes on sum_j h_j x_j^2/2, noise of variance sigma^2 in all."""
    second, found = START**2, []
    for gamma in steps:
        found.append(weight @ second)
        second = (1 - gamma * CURVATURE) ** 2 * second + gamma**2 * SIGMA**2 / 2
    return [*found, weight @ second]


@pytest.fixture
def problem():
    """One client with these curvatures, whose minimiser is as far from 0 as `START`."""
    return rc.problems.Quadratic(np.diag(CURVATURE)[None], (CURVATURE * START)[None], shared=2)


def test_moments_are_those_of_the_recursion(problem):
    """Of round t the step size 2/(mu (t + 8)) here."""
    T = 12
    expected = squares((2 / (0.25 * (t + 8)) for t in range(T)), CURVATURE**2)
    run = rc.exact(
        "plain-sgd with gamma_t = 2/(mu*(t + 2*L/mu))", problem, rc.participation.Trace.full(1), K=1, T=T,
        sigma_u=SIGMA, mu_of_steps=0.25, L_of_steps=1.0, eta=1.0,
    )  # fmt: skip
    assert run.records["G_u"] == pytest.approx(expected[:-1], rel=1e-12)


@pytest.mark.parametrize("over", ["last dist2", "gap at the mean iterate"])
def test_a_theorem_has_the_run_of_its_schedule(problem, over):
    """Also one about the mean of the iterates."""
    sound = theorem(f"{over} <= 40*dist2_0*(L/mu)**2/T + 80*sigma**2/(mu**2*T)", **SC, when=FALLING)
    found = rc.verify(sound, problem=problem, T=12, sigma=SIGMA)
    assert found.outcome.value == "HOLDS"
    if over == "last dist2":
        expected = squares((2 / (0.25 * (t + 8)) for t in range(12)), np.ones(2))
        assert found.left == pytest.approx(expected[-1], rel=1e-9)


def test_the_usual_name_keeps_its_step_size(problem):
    """gamma_t may be a multiple of gamma, of which the bound speaks, and momentum may change as well."""
    root = theorem("best gap <= R_0**2/(gamma*sqrt(T)) + gamma*(1 + log(T))*L*F_0/sqrt(T)", method="gd",
                   given="convex, smooth", when="gamma_t == gamma/sqrt(t + 1), gamma <= 1/L")  # fmt: skip
    verdict = rc.verify(root, problem=problem, T=9, gamma=0.5).verdict
    assert verdict.outcome.value == "HOLDS"
    assert verdict.values["gamma"] == 0.5
    moving = theorem("last gap <= 4*L*R_0**2/(T + 1)**2", method="nesterov", given="convex, smooth",
                     when="gamma == 1/L, beta_t == (t - 1)/(t + 2)")  # fmt: skip
    fast = theorem("last gap <= 4*L*R_0**2/(T + 1)**2", method="fast-gradient-simplified", given="convex, smooth",
                   when="gamma == 1/L")  # fmt: skip
    left = [rc.verify(each, problem=problem, T=9).left for each in (moving, fast)]
    assert left[0] == pytest.approx(left[1], rel=1e-9)


def test_wrong_ones_fall():
    """A schedule is searched like every theorem."""
    false = theorem("last dist2 <= dist2_0*(L/mu)**2/T**2 + sigma**2/(20*mu**2*T)", **SC, when=FALLING)
    assert rc.falsify(false, evaluations=16).outcome.value == "VIOLATED"


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("gamma == 2/(mu*(t + kappa))", "no symbol 'kappa'"),
        ("beta == 1/(t + 1)", "sgd has no step size beta; it has gamma, eta"),
        ("gamma == 1/(mu*t)", "has no value in round t = 0"),
    ],
)
def test_what_cannot_be_a_schedule_is_said(when, said):
    """Names and values that a formula lacks."""
    with pytest.raises(rc.InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        rc.verify(theorem("last dist2 <= dist2_0", **SC, when=when), T=3)


def test_a_bound_that_speaks_of_one_step_size_is_refused():
    """There are as many as rounds."""
    with pytest.raises(rc.InputError, match="another one in every round, and the theorem speaks of one gamma"):
        theorem("last dist2 <= gamma*sigma**2", **SC, when=FALLING)


def test_names_are_read_back():
    """The registry has the method under the name that a statement has; its title says the schedule."""
    name = theorem("last dist2 <= dist2_0 + sigma**2*T/mu**2", **SC, when=FALLING).algorithm
    assert METHODS[name].name == name
    assert METHODS[f"averaged-{name}"].name == f"averaged-{name}"
    assert "gamma_t = 2/(mu*(t + 2*L/mu))" in METHODS[name].title
    now = METHODS[name].algorithm.coefficients(3, 9, {"mu_of_steps": 0.5, "L_of_steps": 1.0})
    assert math.isclose(now["gamma_t"], 4 / 7)


def test_a_constant_in_a_schedule_may_be_0(problem):
    """Such as the noise level."""
    sound = theorem("best gap <= L*R_0**2 + sigma", method="sgd", given="convex, smooth",
                    when="gamma == 1/(L + sigma*sqrt(t + 1))")  # fmt: skip
    assert rc.verify(sound, problem=problem, T=4, sigma=0).verdict.outcome.value == "HOLDS"
