"""Runs of clients that are alike, far away: the same as simulated round by round, and in closed form."""

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.exponents.modes.alike import AlikeRun
from ratecheck.problems import Piecewise, Quadratic

# (method, step sizes): with memory of gradients, with inner and outer steps, with none.
RUNS = [
    ("fedavg", {"gamma_u": 0.03, "eta_u": 1.0}),
    ("fedavg", {"gamma_u": 0.03, "eta_u": 0.4}),
    ("scaffold", {"gamma_u": 0.02, "eta_u": 1.5}),
    ("fedsum-b", {"eta_g": 0.7, "eta_l": 0.05}),
    ("fedsum", {"eta_g": 0.7, "eta_l": 0.05}),
    ("fedsum-cr", {"eta_g": 0.7, "eta_l": 0.05}),
]
n, K, T = 3, 4, 6


def run(name, steps):
    """The run far away."""
    method = METHODS[name]
    return AlikeRun(method, float(n), K, T, method.resolve(steps, n))


def simulated(name, problem, steps, start):
    """||grad f||^2 of every round."""
    trace = rc.participation.Trace.full(n)
    return rc.simulate(name, problem, trace, K=K, T=T, x0=np.array([start]), **steps).metric[0]


@pytest.mark.parametrize(("name", "steps"), RUNS)
@pytest.mark.parametrize("h", [1.0, 0.2])
def test_quadratics_are_those_of_a_simulation(name, steps, h):
    """The last round and the mean, from the gradients h x that the simulation records."""
    metric = simulated(name, Quadratic(np.full((n, 1, 1), h), np.zeros((n, 1)), 1), steps, 2.0)
    found = run(name, steps)
    assert found.contraction(np.array([h]), T - 1)[0] ** 2 == pytest.approx(metric[-1] / (2 * h) ** 2, rel=1e-10)
    assert found.mean_square(np.array([h]))[0] == pytest.approx(metric.mean() / (2 * h) ** 2, rel=1e-10)


@pytest.mark.parametrize(("name", "steps"), RUNS)
def test_a_run_stays_on_the_slope_as_far_as_it_is_said_to(name, steps):
    """With the kink where the farthest gradient is asked it does, with a bowl that begins just above it does not."""
    descent = run(name, steps).descent()
    assert descent.farthest >= descent.last == pytest.approx((T - 1) * descent.first)
    for share, stays in ((1 + 1e-9, True), (1 - 1e-3, False)):
        # f' = 1 beyond the kink at 1; started so far above that the farthest point is at the kink, or below it.
        huber = Piecewise(np.full((n, 1, 1), 1.0), np.tile([1.0, 0.0], (n, 1, 1)), np.zeros((n, 1)))
        trajectory = simulated(name, huber, steps, 1 + share * descent.farthest)
        longer = run_one_more(name, huber, steps, 1 + share * descent.farthest)
        assert (trajectory == 1.0).all() == (stays or descent.farthest > descent.last)
        assert stays or not (longer == 1.0).all()


def run_one_more(name, problem, steps, start):
    """The same with one round more, which tells where the clients' local points have been."""
    trace = rc.participation.Trace.full(n)
    return rc.simulate(name, problem, trace, K=K, T=T + 1, x0=np.array([start]), **steps).metric[0]


def test_a_billion_rounds_in_closed_form():
    """(1 - gamma h)^(T - 1) and T - 1 steps downhill."""
    rounds = 10**9
    found = AlikeRun(METHODS["fedavg"], 1.0, 1, rounds, METHODS["fedavg"].resolve({"gamma_u": 0.5, "eta_u": 1.0}, 1))
    h = 1e-9
    assert found.contraction(np.array([h]), rounds - 1)[0] == pytest.approx(np.exp(-0.5), rel=1e-8)
    assert found.descent().last == pytest.approx(0.5 * (rounds - 1), rel=1e-12)
