"""The FedSUM family on all engines, against a twin written from the paper's Algorithms 1-3."""

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

FAMILY = ("fedsum-b", "fedsum", "fedsum-cr")
STEPS = {"K": 3, "eta_g": 0.7, "eta_l": 0.02}
PROBLEM = Quadratic.synthetic(5, 4, 4, curvature=1.0, seed=3)
MATRIX = np.random.default_rng(0).random((40, 5)) < 0.4
MATRIX[7] = False  # a round without anybody


def twin(algorithm, matrix, K, eta_g, eta_l):
    """One noise-free run; yields the state of every round before it is played, and what the clients computed."""
    H, g = PROBLEM.H, PROBLEM.g
    N, d = g.shape
    x, y, h = np.zeros(d), np.zeros(d), np.zeros((N, d))
    z, a = np.zeros((N, d)), np.full(N, -1)
    for t, row in enumerate(matrix):
        before, corrections, total = (x.copy(), y.copy()), {}, np.zeros(d)
        for i in np.flatnonzero(row):
            if algorithm == "fedsum-b":
                fresh = H[i] @ x - g[i]
            else:
                correction = y - h[i]
                if algorithm == "fedsum-cr":
                    correction = N / (eta_g * eta_l * K) * (z[i] - x) / (t - a[i]) - h[i]
                corrections[i] = correction, h[i].copy(), a[i]
                w = x.copy()
                for _ in range(K):
                    w = w - eta_l / N * (H[i] @ w - g[i] + correction)
                fresh = N * (x - w) / (eta_l * K) - correction
            total += fresh - h[i]
            h[i], z[i], a[i] = fresh, x, t
        y = y + total
        x = x - eta_g * eta_l * K / N * y
        yield before, y.copy(), h.copy(), corrections


def gradient_norms(algorithm, matrix=MATRIX, **steps):
    """||grad f(x_t)||^2 per round by the twin."""
    runs = twin(algorithm, matrix, **{**STEPS, **steps})
    return np.array([np.sum((PROBLEM.H @ x - PROBLEM.g).mean(axis=0) ** 2) for (x, _), *_ in runs])


@pytest.mark.parametrize("engine", ["exact", "step", "leap"])
@pytest.mark.parametrize("algorithm", FAMILY)
def test_without_noise(algorithm, engine):
    """Every engine follows the paper's algorithm to rounding, rounds without anybody included."""
    if engine == "exact":
        metric = rc.exact(algorithm, PROBLEM, Trace(MATRIX), **STEPS).metric
    else:
        metric = rc.simulate(algorithm, PROBLEM, Trace(MATRIX), engine=engine, **STEPS).metric[0]
    np.testing.assert_allclose(metric, gradient_norms(algorithm), rtol=1e-10)


@pytest.mark.every(2)
@pytest.mark.parametrize("engine", ["step", "leap"])
@pytest.mark.parametrize("algorithm", FAMILY)
def test_with_noise(algorithm, engine):
    """The mean over replicates of either Monte Carlo engine agrees with the exact expectation."""
    trace, runs = Trace(MATRIX), 3000
    exact = rc.exact(algorithm, PROBLEM, trace, sigma=0.5, **STEPS).metric
    metric = rc.simulate(algorithm, PROBLEM, trace, sigma=0.5, engine=engine, seed=11, replicates=runs, **STEPS).metric
    error = metric.std(axis=0, ddof=1) / np.sqrt(runs)
    # 6 cases of 40 dependent rounds each: 4.5 standard errors are exceeded by chance with probability below 0.2%.
    assert (np.abs(metric.mean(axis=0) - exact) <= 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("algorithm", FAMILY)
def test_cyclic_participation_is_fixed(algorithm):
    """A deterministic pattern runs on the exact engine as the trace that it is."""
    pattern = Trace.cyclic(5, 2)
    metric = rc.exact(algorithm, PROBLEM, pattern, T=12, **STEPS).metric
    np.testing.assert_allclose(metric, gradient_norms(algorithm, pattern.fixed(12)), rtol=1e-10)


@pytest.mark.parametrize("algorithm", FAMILY)
def test_server_holds_the_sum_of_the_latest_averages(algorithm):
    """Equation (7): y^(t) is the sum over clients of the mean gradient of their latest round."""
    for _, y, h, _ in twin(algorithm, MATRIX, **STEPS):
        np.testing.assert_allclose(y, h.sum(axis=0), atol=1e-12)


def test_correction_of_cr_is_the_mean_of_the_intervening_sums():
    """Equation (11): -h_i plus the mean of y over the rounds since the client's last one."""
    sums, checked = [], 0
    for (_, _), y, _, corrections in twin("fedsum-cr", MATRIX, **STEPS):
        for correction, h, last in corrections.values():
            if last >= 0:
                np.testing.assert_allclose(correction, np.mean(sums[last:], axis=0) - h, atol=1e-9)
                checked += 1
        sums.append(y)
    assert checked > 20


def test_random_delays_are_refused_by_the_exact_engine():
    """FedSUM-CR depends on delays: under sampling, moments alone do not determine the next ones."""
    with pytest.raises(rc.InputError, match="draw a trace"):
        rc.exact("fedsum-cr", PROBLEM, Trace.uniform(5, 2), T=3, **STEPS)
    drawn = Trace(Trace.uniform(5, 2).draw(9, seed=4))
    run = rc.simulate("fedsum-cr", PROBLEM, Trace.uniform(5, 2), T=9, seed=4, **STEPS)
    np.testing.assert_allclose(rc.exact("fedsum-cr", PROBLEM, drawn, **STEPS).metric, run.metric[0], rtol=1e-10)


@pytest.mark.parametrize("algorithm", ["fedavg-p", "scaffold-p"])
def test_leap_agrees_with_exact(algorithm):
    """Under sampling and noise, leaps have the expectation of the exact engine, whatever K."""
    problem, trace = Quadratic.synthetic(5, 6, 3, coupling=0.5, curvature=1.0, seed=3), Trace.uniform(5, 2)
    for K in (1, 40):
        steps = {"gamma_u": 0.1 / K, "gamma_v": 0.12 / K, "eta_u": 1.5, "eta_v": 1.2}
        run = {"T": 30, "K": K, "sigma_u": 0.5, "sigma_v": 0.4, **steps}
        exact = rc.exact(algorithm, problem, trace, **run).metric
        metric = rc.simulate(algorithm, problem, trace, engine="leap", seed=2, replicates=3000, **run).metric
        error = metric.std(axis=0, ddof=1) / np.sqrt(3000)
        assert (np.abs(metric.mean(axis=0) - exact) <= 4.5 * error + 1e-12).all()


def test_leap_is_independent_of_threads_and_splits():
    """A replicate's leaps depend on seed and replicate alone."""
    run = {"engine": "leap", "sigma": 0.5, "seed": 5, **STEPS}
    one = rc.simulate("fedsum", PROBLEM, Trace(MATRIX), replicates=130, threads=1, **run).metric
    two = rc.simulate("fedsum", PROBLEM, Trace(MATRIX), replicates=130, threads=2, **run).metric
    few = rc.simulate("fedsum", PROBLEM, Trace(MATRIX), replicates=7, **run).metric
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[:7], few)


def test_leap_needs_a_quadratic():
    """Where the run is not affine, the error names the engine that would do."""
    with pytest.raises(rc.InputError, match="engine=step"):
        rc.simulate(
            "fedavg-p", rc.problems.Logistic.synthetic(n=2, N=4, d=4), Trace.full(2), T=2, K=1, engine="leap",
            gamma_u=0.1, gamma_v=0.1, eta_u=1, eta_v=1,
        )  # fmt: skip


def test_personal_variables_are_refused():
    """The family has one global model."""
    with pytest.raises(rc.InputError, match="use shared=4"):
        rc.exact("fedsum", Quadratic.synthetic(5, 4, 2), Trace.full(5), T=2, **STEPS)
