"""Methods whose coefficients differ from round to round: against plain NumPy, and refused where rounds are alike."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.errors import InputError

T = 6
ROOT = np.sqrt(2)


@pytest.fixture
def clients():
    """Three quadratics in two variables, by matrices and slopes."""
    rng = np.random.default_rng(11)
    H = np.array([np.diag(rng.uniform(0.2, 1.0, size=2)) for _ in range(3)])
    return H, rng.standard_normal((3, 2))


def thetas(count):
    """The sequence of accelerated methods."""
    found = [1.0]
    for _ in range(count):
        found.append((1 + np.sqrt(1 + 4 * found[-1] ** 2)) / 2)
    return found


def fast(slope, gamma):
    """Nesterov's: x by a gradient step from y, y beyond x."""
    theta = thetas(T)
    x = y = np.zeros(2)
    for t in range(T):
        yield x
        new = y - gamma * slope(y)
        y = new + (theta[t] - 1) / theta[t + 1] * (new - x)
        x = new


def simplified(slope, gamma):
    """The same with t/(t + 3)."""
    x = y = np.zeros(2)
    for t in range(T):
        yield x
        new = y - gamma * slope(y)
        y, x = new + t / (t + 3) * (new - x), new


def optimized(slope, gamma):
    """OGM for T - 1 steps, whose last theta is larger."""
    theta = thetas(T)
    theta[T - 1] = (1 + np.sqrt(1 + 8 * theta[T - 2] ** 2)) / 2
    x = y = np.zeros(2)
    for t in range(T):
        yield y
        new = y - gamma * slope(y)
        if t < T - 1:
            y = new + (theta[t] - 1) / theta[t + 1] * (new - x) + theta[t] / theta[t + 1] * (new - y)
        x = new


def for_gradient(slope, gamma):
    """OGM-G, with theta from the end."""
    theta = [thetas(T)[T - 1 - t] for t in range(T)]
    theta[0] = (1 + np.sqrt(1 + 8 * theta[1] ** 2)) / 2
    x = y = np.zeros(2)
    for t in range(T):
        yield y
        new = y - gamma * slope(y)
        if t < T - 1:
            b = (2 * theta[t + 1] - 1) / (2 * theta[t] - 1)
            y = new + (theta[t] - 1) * b / theta[t] * (new - x) + b * (new - y)
        x = new


def item(slope, gamma, q=0.2):
    """ITEM with its own sequence."""
    A, z, x = 0.0, np.zeros(2), np.zeros(2)
    for _ in range(T):
        yield z
        after = ((1 + q) * A + 2 * (1 + np.sqrt((1 + A) * (1 + q * A)))) / (1 - q) ** 2
        beta = A / ((1 - q) * after)
        delta = ((1 - q) ** 2 * after - (1 + q) * A) / (2 * (1 + q + q * A))
        y = (1 - beta) * z + beta * x
        g = slope(y)
        x, z, A = y - gamma * g, (1 - q * delta) * z + q * delta * y - delta * gamma * g, after


def halpern(slope, gamma):
    """Drawn back to the start, which is 0."""
    x = np.zeros(2)
    for t in range(T):
        yield x
        x = (t + 1) / (t + 2) * (x - gamma * slope(x))


def silver(slope, gamma):
    """1/L times sqrt(2), 2, sqrt(2), 2 + sqrt(2), ..., as printed."""
    x = np.zeros(2)
    for step in (ROOT, 2, ROOT, 2 + ROOT, ROOT, 2):
        yield x
        x = x - step * gamma * slope(x)


def linear(slope, gamma):
    """Steps that fall to 1/T of gamma."""
    x = np.zeros(2)
    for step in (5, 4, 3, 2, 1, 0):
        yield x
        x = x - step / 6 * gamma * slope(x)


TWINS = {
    "fast-gradient": fast,
    "fast-gradient-simplified": simplified,
    "optimized-gradient": optimized,
    "optimized-for-gradient": for_gradient,
    "item": item,
    "halpern": halpern,
    "silver": silver,
    "linearly-decreasing-steps": linear,
}


@pytest.mark.parametrize("name", TWINS)
def test_the_run_is_that_of_numpy(clients, name):
    """Squared gradients of the mean of three functions, by both engines that follow such runs."""
    H, g = clients

    def slope(x):
        return H.mean(axis=0) @ x - g.mean(axis=0)

    wanted = [np.sum(slope(x) ** 2) for x in TWINS[name](slope, 0.7)]
    sizes = {"gamma_u": 0.7, **({"conditioning": 0.2} if name == "item" else {})}
    problem, full = rc.problems.Quadratic(H, g, shared=2), rc.participation.Trace.full(3)
    found = rc.exact(name, problem, full, K=1, T=T, **sizes)
    assert found.records["G_u"] == pytest.approx(wanted, rel=1e-10)
    assert np.abs(found.records["G_u"] - wanted).max() <= found.errors["G_u"].max() + 1e-13
    assert rc.simulate(name, problem, full, K=1, T=T, **sizes).metric[0] == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("name", ["fast-proximal-point", "halpern-proximal"])
def test_proximal_steps_are_those_of_numpy(clients, name):
    """Of one function: what is recorded of the second is the envelope's gradient."""
    H, g = clients[0][:1], clients[1][:1]
    weight, theta = 0.7, thetas(T)
    solve = np.linalg.inv(H[0] + weight * np.eye(2))
    x = y = np.zeros(2)
    wanted = []
    for t in range(T):
        prox = solve @ (g[0] + weight * y)
        if name == "halpern-proximal":
            wanted.append(weight**2 * np.sum((y - prox) ** 2))
            y = (t + 1) / (t + 2) * (2 * prox - y)
        else:
            wanted.append(np.sum((H[0] @ x - g[0]) ** 2))
            y, x = prox + (theta[t] - 1) / theta[t + 1] * (prox - x), prox
    problem, full = rc.problems.Quadratic(H, g, shared=2), rc.participation.Trace.full(1)
    record = "grad_F2" if name == "halpern-proximal" else "G_u"
    assert rc.exact(name, problem, full, K=1, T=T, lambda_=weight).records[record] == pytest.approx(wanted, rel=1e-9)
    assert rc.simulate(name, problem, full, K=1, T=T, lambda_=weight).records[record][0] == pytest.approx(
        wanted, rel=1e-9
    )


class Falling(FedAvgP):
    """FedAvg with local steps gamma_u/(t + 1), for any number of participants."""

    varying = ("share",)

    def coefficients(self, t, T, p):
        """The share of a step in round t."""
        return {"share": 1 / (t + 1)}

    def step(self, local, gradient, p):
        """A shorter step in every round."""
        return {"u": local["u"] - p["share"] * p["gamma_u"] * gradient["u"], "v": local["v"]}


@pytest.fixture
def falling():
    """Registers the method for one test."""
    METHODS["falling"] = Method("falling", "falling steps", Falling(), {"gamma_v": 1, "eta_v": 1}, personal=False)
    yield "falling"
    METHODS.pop("falling")


def test_sampling_and_noise_are_followed_with_the_coefficients_of_the_round(clients, falling):
    """All subsets of two of three clients in three rounds; noise adds its variance, as every map is affine."""
    H, g = clients
    gamma, sigma, dimension = 0.5, 0.3, 2
    states = [(np.zeros(2), np.zeros((2, 2)))]
    wanted = []
    for t in range(3):
        slopes = [H.mean(axis=0) @ x - g.mean(axis=0) for x, _ in states]
        noise = [np.trace(H.mean(axis=0) @ C @ H.mean(axis=0)) for _, C in states]
        wanted.append(np.mean([s @ s for s in slopes]) + np.mean(noise))
        after = []
        for x, C in states:
            for chosen in combinations(range(3), 2):
                step = gamma / (t + 1)
                A = np.mean([np.eye(2) - step * H[i] for i in chosen], axis=0)
                b = np.mean([step * g[i] for i in chosen], axis=0)
                after.append((A @ x + b, A @ C @ A.T + step**2 * sigma**2 / dimension / 2 * np.eye(2)))
        states = after
    problem, trace = rc.problems.Quadratic(H, g, shared=2), rc.participation.Trace.uniform(3, 2)
    sizes = {"K": 1, "T": 3, "gamma_u": gamma, "eta_u": 1.0, "sigma_u": sigma}
    assert rc.exact(falling, problem, trace, **sizes).records["G_u"] == pytest.approx(wanted, rel=1e-10)
    runs = rc.simulate(falling, problem, trace, replicates=4000, seed=1, **sizes).records["G_u"]
    assert np.abs(runs.mean(axis=0) - wanted).max() <= 5 * (runs.std(axis=0) / np.sqrt(4000)).max()


def test_the_mean_of_such_iterates_is_recorded_too(clients):
    """Averaged iterates of the fast gradient method."""
    H, g = clients
    points = [*fast(lambda x: H.mean(axis=0) @ x - g.mean(axis=0), 0.7)]
    slope = H.mean(axis=0) @ np.mean(points, axis=0) - g.mean(axis=0)
    problem, full = rc.problems.Quadratic(H, g, shared=2), rc.participation.Trace.full(3)
    found = rc.exact("averaged-fast-gradient", problem, full, K=1, T=T, gamma_u=0.7, iterate_share=1 / T)
    assert found.records["G_u"][-1] == pytest.approx(slope @ slope, rel=1e-10)


def test_what_takes_all_rounds_for_the_same_refuses(clients, falling):
    """By name, in one line, and never with the coefficients of round 0."""
    H, g = clients
    problem, full = rc.problems.Quadratic(H, g, shared=2), rc.participation.Trace.full(3)
    sizes = {"K": 1, "T": 10**6, "gamma_u": 0.5, "eta_u": 1.0}
    line = "falling has another share in every round, and .* takes all rounds for the same: the exact and the step"
    with pytest.raises(InputError, match=line):
        rc.exact_average(falling, problem, full, **sizes)
    with pytest.raises(InputError, match=line):
        rc.exact_average(falling, problem, rc.participation.Trace.cyclic(3, 1), **sizes)
    with pytest.raises(InputError, match=line):
        rc.simulate(falling, problem, full, engine="leap", **{**sizes, "T": 10})
    many = rc.problems.Population(problem, [5, 6, 7])
    with pytest.raises(InputError, match=line):
        rc.exact(falling, many, rc.participation.Trace.full(18), **{**sizes, "T": 10})


@pytest.mark.parametrize("left", ["du2", "descent", "G_u + 0*du2"])
def test_what_happens_between_two_rounds_is_not_measured_of_such_methods(falling, left):
    """Lemma quantities are refused, or measured round by round: a step of round 5 is not one of round 0."""
    statement = theorem(
        title="Falling steps", algorithm=falling, assumptions=["smoothness", "full_participation", "no_personal"],
        left=left, over="every_round", right="10**6*F_0*(1 + L)*(1 + gamma_u**2*L)",
        settings={"K": 1, "m": "n", "sigma_u": 0}, conditions=["gamma_u <= 1/L"],
    )  # fmt: skip
    if "0*" in left:
        assert rc.verify(statement, T=5, n=3).outcome.name == "HOLDS"
        return
    with pytest.raises(InputError, match="falling has another share in every round"):
        rc.verify(statement, T=5, n=3)


def test_a_mean_over_rounds_is_searched_and_verified_round_by_round(falling):
    """Where every round were alike the search would square over a million of them."""
    bound = theorem(
        title="Falling steps", algorithm=falling, assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u", over="mean_of_rounds", right="2*L*F_0", conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    )  # fmt: skip
    assert rc.verify(bound, T=50).outcome.name == "HOLDS"
    found = rc.falsify(bound, evaluations=10)
    assert found.outcome.name == "INCONCLUSIVE"
    assert found.tightness <= 1
    half = theorem(
        title="Falling steps", algorithm=falling, assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u", over="mean_of_rounds", right="L*F_0/2", conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    )  # fmt: skip
    assert rc.falsify(half, evaluations=30).outcome.name == "VIOLATED"


def test_item_says_what_is_wrong_with_equal_curvatures(clients):
    """Q = 1 has no sequence."""
    problem = rc.problems.Quadratic(*clients, shared=2)
    with pytest.raises(InputError, match='conditioning=1 breaks "conditioning < 1"'):
        rc.exact("item", problem, rc.participation.Trace.full(3), K=1, T=3, gamma_u=0.5, conditioning=1.0)
