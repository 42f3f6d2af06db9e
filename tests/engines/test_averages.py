"""Time averages by repeated squaring, and exact moments under independent participation."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

import ratecheck as rc
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

METHODS = {
    "fedavg": {"gamma_u": 0.1, "eta_u": 1.2},
    "scaffold": {"gamma_u": 0.1, "eta_u": 1.2},
    "fedsum": {"eta_g": 1.0, "eta_l": 0.1},
    "flame": {"eta": 0.1, "rho": 1.0, "lambda_": 2.0},
    "mifa": {"eta_g": 0.5, "eta_l": 0.1},
    "fedavg-p": {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.2, "eta_v": 0.9},
    "scaffold-p": {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.2, "eta_v": 0.9},
}
PATTERNS = {
    "full": Trace.full(2),
    "uniform": Trace.uniform(2, 1),
    "independent": Trace.bernoulli([0.3, 0.8]),
}


def noise_of(name, sigma):
    """Noise arguments of a method."""
    return {"sigma_u": sigma, "sigma_v": sigma} if name.endswith("-p") else {"sigma": sigma}


def problem_of(name, n=2, d=2, seed=2):
    """A quadratic with the blocks that a method needs."""
    shared = d // 2 if name.endswith("-p") else d
    return Quadratic.synthetic(n, d, shared, coupling=0.4, curvature=1.0, seed=seed)


@pytest.mark.every(2)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_the_average_is_that_of_the_rounds(name, pattern, sigma):
    """Both ways to the same number, within the error that the fast one reports."""
    run = {"T": 300, "K": 7, **noise_of(name, sigma), **METHODS[name]}
    slow = rc.exact(name, problem_of(name), PATTERNS[pattern], **run)
    fast = rc.exact_average(name, problem_of(name), PATTERNS[pattern], **run)
    assert fast.rounding < 1e-6 * fast.metric
    assert abs(fast.metric - slow.metric.mean()) <= fast.rounding + slow.rounding.mean()
    for record, values in slow.records.items():
        assert abs(fast.records[record] - values.mean()) <= fast.errors[record] + slow.errors[record].mean()


@pytest.mark.parametrize("T", [1, 2, 3, 7, 8, 9, 1023, 1024, 1025])
def test_any_number_of_rounds(T):
    """Every pattern of binary digits of T."""
    run = {"T": T, "K": 3, "sigma": 0.2, **METHODS["fedavg"]}
    slow = rc.exact("fedavg", problem_of("fedavg"), Trace.uniform(2, 1), **run).metric.mean()
    assert rc.exact_average("fedavg", problem_of("fedavg"), Trace.uniform(2, 1), **run).metric == pytest.approx(
        slow, rel=1e-12
    )


def test_a_billion_rounds_of_a_million_local_steps():
    """The average tends to the stationary variance, which a Lyapunov equation gives independently."""
    problem, K, T, sigma = problem_of("fedavg"), 10**6, 10**9, 0.3
    gamma = 1e-7
    found = rc.exact_average("fedavg", problem, Trace.full(2), K=K, T=T, sigma=sigma, gamma_u=gamma, eta_u=1.0)
    # One round: u' = mean_i (P_i u + q_i) + noise, P_i = (I - gamma H_i)^K, by eigenvalues.
    A, a, N = np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2))
    for H, g in zip(problem.H, problem.g, strict=True):
        values, vectors = np.linalg.eigh(H)
        power = np.exp(K * np.log1p(-gamma * values))
        A += (vectors * power) @ vectors.T / 2
        a += (vectors * ((1 - power) / values)) @ vectors.T @ g / 2
        squares = -np.expm1(2 * K * np.log1p(-gamma * values)) / (values * (2 - gamma * values)) * gamma
        N += (vectors * squares) @ vectors.T * sigma**2 / 2 / 4
    C, u = solve_discrete_lyapunov(A, N), np.linalg.solve(np.eye(2) - A, a)
    H, g = problem.H.mean(axis=0), problem.g.mean(axis=0)
    stationary = np.sum((H @ u - g) ** 2) + np.trace(H @ C @ H)
    assert found.metric == pytest.approx(stationary, rel=1e-6)
    assert found.rounding < 1e-6 * found.metric


def test_errors_of_the_average():
    """Patterns whose rounds differ, and large states, are refused with what to use instead."""
    with pytest.raises(rc.InputError, match="round by round"):
        rc.exact_average("fedavg", problem_of("fedavg"), Trace.sine(2, 1), T=5, K=1, **METHODS["fedavg"])
    large = Quadratic.synthetic(4, 60, 60)
    with pytest.raises(rc.InputError, match="more than 1000"):
        rc.exact_average("fedavg", large, Trace.uniform(4, 2), T=5, K=1, **METHODS["fedavg"])


def test_a_projection_is_not_averaged_over():
    """Rounds are not looked at one by one, so that nothing would tell whether the projection acted."""
    problem = rc.problems.Bilevel.synthetic(2, 1, 1)
    sizes = {f"{side}_{block}": 0.1 for side in ("eta", "gamma") for block in "xyv"}
    run = {"T": 5, "K": 1, "v0": [3.0], **sizes}
    assert rc.exact_average("simfbo", problem, Trace.full(2), **run).metric > 0
    with pytest.raises(rc.InputError, match="r=inf"):
        rc.exact_average("simfbo", problem, Trace.full(2), r=0.5, **run)


@pytest.mark.every(5)
@pytest.mark.parametrize("p", [[0.3, 0.3, 0.3], [0.2, 0.9, 0.5], [1.0, 0.4, 1.0]])
@pytest.mark.parametrize("name", METHODS)
def test_independent_participation_is_the_sum_over_all_traces(name, p):
    """The expectation over all 2^(nT) participation matrices, weighed by their probabilities."""
    n, T = 3, 2
    problem = problem_of(name, n, 4)
    run = {"K": 2, **noise_of(name, 0.3), **METHODS[name]}
    total = 0.0
    for entries in itertools.product([False, True], repeat=n * T):
        matrix = np.reshape(entries, (T, n))
        probability = np.prod(np.where(matrix, p, 1 - np.array(p)))
        if probability > 0:
            given = rc.exact(name, problem, Trace(matrix), **run)
            total = total + probability * np.array(list(given.records.values()))
    found = rc.exact(name, problem, Trace.bernoulli(p), T=T, **run)
    values, errors = (np.array(list(part.values())) for part in (found.records, found.errors))
    np.testing.assert_allclose(values, total, rtol=1e-12)
    assert (np.abs(values - total) <= errors + 1e-14 * total).all()


def test_probabilities_that_vary_by_round():
    """The sine pattern and a table p_i^t agree with the step engine's mean."""
    problem = problem_of("fedavg", 4, 3)
    run = {"T": 12, "K": 3, "sigma": 0.4, **METHODS["fedavg"]}
    table = np.random.default_rng(5).uniform(0.1, 1.0, (12, 4))
    for pattern in (Trace.sine(4, 2), Trace.bernoulli(table)):
        exact = rc.exact("fedavg", problem, pattern, **run).metric
        metric = rc.simulate("fedavg", problem, pattern, replicates=4000, seed=3, **run).metric
        error = metric.std(axis=0, ddof=1) / np.sqrt(4000)
        assert (np.abs(metric.mean(axis=0) - exact) <= 4.5 * error + 1e-12).all()
        # The comparison would notice a wrong probability.
        wrong = rc.exact("fedavg", problem, Trace.bernoulli(0.9, 4), **run).metric
        assert (np.abs(metric.mean(axis=0) - wrong) > 4.5 * error).any()


def two_groups(H, slopes, gamma, eta, K, T):
    """The average of H^2 E(u - u*)^2 over T rounds where one of two equally likely clients steps, to 50 digits."""
    with mpmath.workdps(50):
        H, gamma, eta = (mpmath.mpf(value) for value in (H, gamma, eta))
        slopes = [mpmath.mpf(slope) for slope in slopes]
        change = (1 - gamma * H) ** K - 1
        # u' = A u + q + s: s is what the client that comes differs by from both.
        A, moves = 1 + eta * change, [-eta * change / H * slope for slope in slopes]
        q = sum(moves) / 2
        variance = sum((move - q) ** 2 for move in moves) / 2
        powers = (1 - A ** (2 * T)) / (1 - A**2)
        start = (q / (1 - A)) ** 2
        return H**2 * (start * powers + variance * (T - powers) / (1 - A**2)) / T


# Step sizes of the clients far below those of the server: one round's map is 1 - 1e-9, and rounded by more than that.
@pytest.mark.parametrize(
    ("gamma", "eta", "K", "T"),
    [
        (3.472809822744976e-19, 29794442.507739153, 42387, 683),
        (4.236326642146944e-14, 1800872.9509360117, 3, 10752),
        (2.151e-21, 2.069e8, 10**6, 10**9),
        (2.63e-21, 5.109e7, 10**6, 10**9),
        (1.4e-15, 1.4e3, 222, 10**8),
        (1e-9, 2.0, 1000, 10**9),
    ],
)
def test_a_map_that_is_rounded_by_more_than_it_changes(gamma, eta, K, T):
    """The error is claimed to first order only where the exact moments are known to be near those that are found."""
    H, slopes = 0.0033045197800798216, (-730.0472717464042, 729.7317576663643)
    problem = Quadratic(np.full((10, 1, 1), H), np.repeat(slopes, 5).reshape(10, 1), 1)
    run = {"gamma_u": gamma, "eta_u": eta}
    found = rc.exact_average("fedavg", problem, Trace.uniform(10, 1), K=K, T=T, **run)
    exact = float(two_groups(H, slopes, gamma, eta, K, T))
    # Where even the average has no value, nothing is claimed.
    assert not abs(found.metric - exact) > found.rounding


def test_rounding_covers_random_ill_conditioned_runs():
    """A hundred of them, some of which are known to many digits and some to none."""
    rng, known = np.random.default_rng(0), 0
    H, slopes = 0.0033045197800798216, (-730.0472717464042, 729.7317576663643)
    problem = Quadratic(np.full((2, 1, 1), H), np.reshape(slopes, (2, 1)), 1)
    for _ in range(100):
        eta, K, T = 10 ** rng.uniform(0, 10), int(10 ** rng.uniform(0, 6)), int(10 ** rng.uniform(1, 9))
        gamma = 10 ** rng.uniform(-14, -5) / (eta * K * H)
        run = {"gamma_u": gamma, "eta_u": eta}
        found = rc.exact_average("fedavg", problem, Trace.uniform(2, 1), K=K, T=T, **run)
        if not found.rounding < np.inf:
            continue
        exact = float(two_groups(H, slopes, gamma, eta, K, T))
        assert abs(found.metric - exact) <= found.rounding
        known += found.rounding < 1e-3 * exact
    assert known > 20


@pytest.mark.parametrize(
    ("gamma", "eta", "K", "T"),
    [
        (4.8219957135327987e-17, 1481751257.6232498, 61412, 150),
        (3.6657308328688634e-15, 4429685795.892315, 29, 19),
        (6.400529501753488e-12, 1530785643.1332605, 10, 94),
        (1e-12, 1e5, 100, 300),
    ],
)
def test_rounds_of_a_map_that_is_rounded_by_more_than_it_changes(gamma, eta, K, T):
    """Round by round: second moments of a map that is no longer one of moments are covered, negative ones too."""
    H, slopes = 0.0033045197800798216, (-730.0472717464042, 729.7317576663643)
    problem = Quadratic(np.full((2, 1, 1), H), np.reshape(slopes, (2, 1)), 1)
    found = rc.exact("fedavg", problem, Trace.uniform(2, 1), K=K, T=T, gamma_u=gamma, eta_u=eta)
    exact = float(two_groups(H, slopes, gamma, eta, K, T))
    assert abs(found.metric.mean() - exact) <= found.rounding.mean()
    assert eta > 1e6 or found.rounding.mean() < 1e-3 * exact
