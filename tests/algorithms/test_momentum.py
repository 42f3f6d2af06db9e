"""Proximal point and constant momentum against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import ratecheck as rc

T = 6


@pytest.fixture
def clients():
    """Three quadratics in two variables, by matrices and slopes."""
    rng = np.random.default_rng(7)
    H = np.array([np.diag(rng.uniform(0.2, 1.0, size=2)) for _ in range(3)])
    return H, rng.standard_normal((3, 2))


def heavy_ball(slope, gamma=0.4, momentum=0.3):
    """x+ = x - gamma f'(x) + beta (x - x_before)."""
    x = before = np.zeros(2)
    for _ in range(T):
        yield x
        x, before = x - gamma * slope(x) + momentum * (x - before), x


def nesterov(slope, gamma=0.4, momentum=0.3):
    """A gradient step from the extrapolated point."""
    x = before = np.zeros(2)
    for _ in range(T):
        yield x
        y = x + momentum * (x - before)
        x, before = y - gamma * slope(y), x


def triple(slope, gamma=0.4, momentum=0.3, lookahead=0.2, extrapolation=0.6):
    """Xi, the point y of the gradient, and the answer x."""
    xi = before = np.zeros(2)
    for _ in range(T):
        yield xi + extrapolation * (xi - before)
        y = xi + lookahead * (xi - before)
        xi, before = xi + momentum * (xi - before) - gamma * slope(y), xi


@pytest.mark.parametrize(
    ("name", "twin", "sizes"),
    [
        ("polyak-momentum", heavy_ball, {"gamma_u": 0.4, "momentum": 0.3}),
        ("nesterov-momentum", nesterov, {"gamma_u": 0.4, "momentum": 0.3}),
        ("triple-momentum", triple, {"gamma_u": 0.4, "momentum": 0.3, "lookahead": 0.2, "extrapolation": 0.6}),
    ],
)
def test_momentum_is_that_of_numpy(clients, name, twin, sizes):
    """Squared gradients of the mean of three functions, by both engines."""
    H, g = clients
    wanted = [
        np.sum((H.mean(axis=0) @ x - g.mean(axis=0)) ** 2) for x in twin(lambda x: H.mean(axis=0) @ x - g.mean(axis=0))
    ]
    problem, full = rc.problems.Quadratic(H, g, shared=2), rc.participation.Trace.full(3)
    assert rc.exact(name, problem, full, K=1, T=T, **sizes).records["G_u"] == pytest.approx(wanted, rel=1e-12)
    assert rc.simulate(name, problem, full, K=1, T=T, **sizes).metric[0] == pytest.approx(wanted, rel=1e-12)


def test_the_proximal_point_is_that_of_numpy(clients):
    """The mean of the clients' minimisers of f_i + lambda/2 ||. - x||^2, two of three clients in a round."""
    H, g = clients
    members = [(0, 1), (1, 2), (0, 2), (0, 1), (1, 2), (0, 2)]
    x, wanted = np.zeros(2), []
    for chosen in members:
        wanted.append(np.sum((H.mean(axis=0) @ x - g.mean(axis=0)) ** 2))
        x = np.mean([np.linalg.solve(H[i] + 0.7 * np.eye(2), g[i] + 0.7 * x) for i in chosen], axis=0)
    trace = rc.participation.Trace([[i in chosen for i in range(3)] for chosen in members])
    problem = rc.problems.Quadratic(H, g, shared=2)
    found = rc.exact("proximal-point", problem, trace, K=1, T=T, lambda_=0.7).records["G_u"]
    assert found == pytest.approx(wanted, rel=1e-10)
    run = rc.simulate("proximal-point", problem, trace, K=1, T=T, lambda_=0.7)
    assert run.metric[0] == pytest.approx(wanted, rel=1e-10)
