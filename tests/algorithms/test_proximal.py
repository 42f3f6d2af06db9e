"""The proximal maps inside the engines, against the Moreau problems' own and against direct minimisation."""

import numpy as np
import pytest
import twins_baselines
import twins_flame
from scipy.optimize import minimize

import ratecheck as rc
from ratecheck.kernels.local.proximal import logistic_prox
from ratecheck.participation import Trace
from ratecheck.problems import Logistic, Moreau, Quadratic

LOGISTIC = Logistic.synthetic(n=3, N=8, d=4, shared=4, rho=0.3)
MATRIX = np.random.default_rng(4).random((6, 3)) < 0.6
START = np.random.default_rng(5).standard_normal(4)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("client", range(3))
def test_the_gradient_vanishes_at_the_proximal_point(client, scale):
    """To rounding, whatever the size of w, in every lane alike."""
    w = scale * np.random.default_rng(1).standard_normal((4, 5))
    theta = np.empty((4, 5))
    logistic_prox(LOGISTIC.A[client], LOGISTIC.rho, 0.8, w, theta, 5)
    for point, centre in zip(theta.T, w.T, strict=True):
        slope = LOGISTIC.gradients(point, np.zeros((3, 0)))[0][client] + 0.8 * (point - centre)
        assert np.linalg.norm(slope) <= 4e-16 * (1 + np.linalg.norm(centre))
    alone = np.empty((4, 1))
    logistic_prox(LOGISTIC.A[client], LOGISTIC.rho, 0.8, w[:, 3:4].copy(), alone, 1)
    np.testing.assert_array_equal(alone[:, 0], theta[:, 3])


def test_it_is_the_global_minimiser():
    """Against a general minimiser from several starts, just above the modulus of weak convexity."""
    lambda_, w = 0.16, np.array([[2.0], [-1.0], [0.5], [3.0]])
    theta = np.empty((4, 1))
    logistic_prox(LOGISTIC.A[0], LOGISTIC.rho, lambda_, w, theta, 1)

    def objective(x):
        return (
            np.logaddexp(0, -LOGISTIC.A[0] @ x).mean()
            + LOGISTIC.rho * (x @ x) / (1 + x @ x)
            + lambda_ / 2 * np.sum((x - w[:, 0]) ** 2)
        )

    starts = 3 * np.random.default_rng(0).standard_normal((5, 4))
    best = min(minimize(objective, start, tol=1e-12).fun for start in starts)
    assert objective(theta[:, 0]) <= best + 1e-12


def test_not_a_number_stays_one():
    """A diverged replicate does not hang."""
    w, theta = np.array([[np.nan], [1.0], [1.0], [np.inf]]), np.empty((4, 1))
    logistic_prox(LOGISTIC.A[0], LOGISTIC.rho, 0.8, w, theta, 1)
    assert not np.isfinite(theta).all()


def test_flame_with_exact_inner_solutions_on_logistic_regression():
    """The step engine against the twin with the Moreau problem's proximal map."""
    moreau, same = Moreau(LOGISTIC, 0.8), np.tile(START, (3, 1))
    wanted = twins_flame.flame(
        lambda i, x: LOGISTIC.gradients(x, np.zeros((3, 0)))[0][i], MATRIX, same, same, np.zeros((3, 4)),
        K=1, eta=0.0, rho=1.0, lambda_=0.8, alpha=np.full(3, 1 / 3), exact=moreau.prox,
    )["grad_L2"]  # fmt: skip
    run = rc.simulate("flame-exact", LOGISTIC, Trace(MATRIX), K=1, rho=1.0, lambda_=0.8, x0=START)
    np.testing.assert_allclose(run.records["grad_L2"][0], wanted, rtol=1e-10)


@pytest.mark.parametrize(
    "problem", [LOGISTIC, Quadratic.synthetic(3, 4, 4, curvature=1.0)], ids=["logistic", "quadratic"]
)
def test_pfedme_is_fedavg_on_the_envelopes(problem):
    """Against the twin, and on quadratics against FedAvg on the envelope problem."""
    moreau, sizes = Moreau(problem, 0.8), {"K": 3, "eta": 0.2, "beta": 0.9, "lambda_": 0.8, "x0": START}
    run = rc.simulate("pfedme", problem, Trace(MATRIX), **sizes).metric[0]
    path = twins_baselines.pfedme(
        lambda _, x: x, MATRIX, START, R=3, eta=0.2, lambda_=0.8, beta=0.9, exact=moreau.prox
    )["w"]  # fmt: skip
    np.testing.assert_allclose(run, [np.sum(moreau.gradient(w) ** 2) for w in path[:-1]], rtol=1e-9)
    if problem.kind == "quadratic":
        envelope = rc.exact("fedavg", moreau.envelope(), Trace(MATRIX), K=3, gamma_u=0.2, eta_u=0.9, x0=START).metric
        np.testing.assert_allclose(rc.exact("pfedme", problem, Trace(MATRIX), **sizes).metric, envelope, rtol=1e-10)


def test_errors():
    """A lambda that leaves the inner problem nonconvex, and engines that need an affine map."""
    sizes = {"K": 1, "rho": 1.0}
    with pytest.raises(rc.InputError, match="lambda_ > ell"):
        rc.simulate("flame-exact", LOGISTIC, Trace(MATRIX), lambda_=0.1, **sizes)
    for engine in (rc.exact, lambda *a, **k: rc.simulate(*a, engine="leap", **k)):
        with pytest.raises(rc.InputError, match="engine=step"):
            engine("flame-exact", LOGISTIC, Trace(MATRIX), lambda_=0.8, **sizes)
    with pytest.raises(rc.InputError, match="no noise"):
        rc.simulate("flame-exact", LOGISTIC, Trace(MATRIX), lambda_=0.8, sigma=0.1, **sizes)
