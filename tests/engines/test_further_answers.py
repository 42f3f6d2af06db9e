"""Further points, values and full gradients of a step, and coins of a round: against plain loops and enumerations."""

import itertools
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
from recursive import Recursive

import ratecheck as rc
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.answers import (
    excess_at,
    full_gradient_at,
    full_value_at,
    gap_at,
    gradient_at,
    value_at,
)
from ratecheck.algorithms.model.cost import cost
from ratecheck.algorithms.momentum import OneStep
from ratecheck.errors import InputError
from ratecheck.problems.linear.losses import HuberLoss
from ratecheck.problems.linear.model import Labelled, LinearModel

GAMMA, CHANCE, START = 0.2, 0.3, np.array([1.0, -2.0])


class Lazy(Recursive):
    """PAGE over clients: full gradients with the coin's probability, else differences of stochastic ones."""

    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "chance")
    message = MappingProxyType({"new": "u"})
    also = MappingProxyType({"old": gradient_at("before"), "full": full_gradient_at("x")})
    coin, full_start = "chance", True

    def step(self, local, gradient, p):
        """By the coin."""
        new = p["coin"] * gradient["full"] + (1 - p["coin"]) * (gradient["u"] - gradient["old"])
        return {**local, "new": new, "old": local["old"]}

    def finish(self, server, client, local, p):
        """What is new."""
        return {"v": local["v"], "g": client["g"]}, {"new": local["new"]}

    def aggregate(self, server, total, p):
        """The estimate is kept where the coin is 0."""
        d = total["new"] / p["m"] + (1 - p["coin"]) * server["d"]
        return {"x": server["x"] - p["gamma_u"] * d, "before": server["x"], "d": d}


class CalledLazy(Lazy):
    """The same functions, called."""

    linear = False


class Marina(Lazy):
    """Differences are compressed."""

    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "q", "chance")
    message = MappingProxyType({"full": "u", "change": "u"})
    also = MappingProxyType({"old": gradient_at("before")})
    compressed = ("change",)

    def step(self, local, gradient, p):
        """Both gradients."""
        return {**local, "new": gradient["u"], "old": gradient["old"]}

    def finish(self, server, client, local, p):
        """By the coin."""
        change = (1 - p["coin"]) * (local["new"] - local["old"])
        return {"v": local["v"], "g": client["g"]}, {"full": p["coin"] * local["new"], "change": change}

    def aggregate(self, server, total, p):
        """As in `Lazy`."""
        return super().aggregate(server, {"new": total["full"] + total["change"]}, p)


class Watching(OneStep):
    """Gradient descent that keeps what it is given."""

    name, title = "watching", "watching"
    linear = False
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "offset")
    server = MappingProxyType({"x": "u"})
    local = MappingProxyType({"x": "u", "other": "u", "v": "v"})
    also = MappingProxyType(
        {
            "there": gradient_at("other"), "full": full_gradient_at("x"), "full_there": full_gradient_at("other"),
            "value": value_at("x"), "value_there": value_at("other"), "full_value": full_value_at("x"),
        }
    )  # fmt: skip

    def __init__(self, also=None, steps_per_sample=1):
        self.seen, self.steps_per_sample = [], steps_per_sample
        self.also = self.also if also is None else also

    def begin(self, server, client, p):
        """A second point beside the first."""
        return {"x": server["x"], "other": server["x"] + p["offset"], "v": client["v"]}

    def step(self, local, gradient, p):
        """What it is given is kept."""
        self.seen.append({"at": local["x"], "other": local["other"], **gradient})
        return super().step(local, gradient, p)


@pytest.fixture
def registered():
    """Register methods for a test alone."""
    before = set(METHODS)

    def register(name, algorithm, K=1.0):
        METHODS[name] = Method(name, name, algorithm, {"K": K}, personal=False)
        return algorithm

    yield register
    for name in set(METHODS) - before:
        del METHODS[name]


@pytest.fixture(scope="module")
def quadratic():
    """Three clients, two variables."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(3, 2, 2))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.2 * np.eye(2), rng.normal(size=(3, 2)), shared=2)


def scores(values, wanted):
    """How many standard errors the means over replicates are away."""
    return np.abs(values.mean(axis=0) - wanted) / (values.std(axis=0) / np.sqrt(len(values)))


def plain_storm(problem, T, a, sigma, runs):
    """E ||grad f(x_t)||^2 of STORM with everybody by a loop with draws of its own: values (runs, T)."""
    M, c = problem.operator()
    rng, n = np.random.default_rng(1), len(M)
    gradients = lambda x: np.einsum("ijk,rk->rij", M, x) - c  # noqa: E731
    noise = lambda: rng.normal(size=(runs, n, 2)) * sigma / np.sqrt(2)  # noqa: E731
    x = before = np.tile(START, (runs, 1))
    d, found = (gradients(x) + noise()).mean(axis=1), np.empty((runs, T))
    for t in range(T):
        found[:, t] = np.sum(gradients(x).mean(axis=1) ** 2, axis=1)
        xi = noise()
        d = (gradients(x) + xi).mean(axis=1) + (1 - a) * (d - (gradients(before) + xi).mean(axis=1))
        x, before = x - GAMMA * d, x
    return found


def test_the_same_sample_at_two_points(registered, quadratic):
    """Exact moments against a plain loop and against the step engine; with other samples they would be others."""
    registered("recursive", Recursive())
    T, run = 8, {"K": 1, "x0": START, "gamma_u": GAMMA, "a": 0.4, "sigma_u": 1.0}
    everybody = rc.participation.Trace.full(3)
    exact = rc.exact("recursive", quadratic, everybody, T=T, **run).records["G_u"]
    assert scores(plain_storm(quadratic, T, 0.4, 1.0, 20_000)[:, 1:], exact[1:]).max() < 3.3
    drawn = rc.simulate("recursive", quadratic, everybody, T=T, replicates=3_000, **run).records["G_u"]
    assert scores(drawn[:, 1:], exact[1:]).max() < 3.3
    average = rc.exact_average("recursive", quadratic, everybody, T=T, **run)
    assert average.metric == pytest.approx(exact.mean(), rel=1e-12)


def test_a_shared_coin_and_full_gradients(registered, quadratic):
    """Exact moments are those of an enumeration of coins and participants, and within their own error."""
    registered("lazy", Lazy())
    M, c = quadratic.operator()
    gradients = lambda x: M @ x - c  # noqa: E731
    T, pairs = 4, list(itertools.combinations(range(3), 2))
    wanted = np.zeros(T)

    def follow(t, chance, x, before, d):
        wanted[t] += chance * np.sum(gradients(x).mean(axis=0) ** 2)
        if t + 1 == T:
            return
        for coin, pair in itertools.product((1, 0), pairs):
            here, there = (gradients(point)[list(pair)].mean(axis=0) for point in (x, before))
            new = here if coin else d + here - there
            weight = chance * (CHANCE if coin else 1 - CHANCE) / len(pairs)
            follow(t + 1, weight, x - GAMMA * new, x, new)

    follow(0, 1.0, START, START, gradients(START).mean(axis=0))
    run = {"K": 1, "T": T, "x0": START, "gamma_u": GAMMA, "chance": CHANCE}
    # Noise that is the same at both points cancels, and full gradients have none.
    for sigma in (0.0, 2.0):
        found = rc.exact("lazy", quadratic, rc.participation.Trace.uniform(3, 2), sigma_u=sigma, **run)
        assert found.records["G_u"] == pytest.approx(wanted, rel=1e-12)
        assert (np.abs(found.records["G_u"] - wanted) <= found.errors["G_u"] + 1e-13 * wanted).all()


@pytest.mark.parametrize(("algorithm", "given"), [(Lazy, {}), (CalledLazy, {}), (Marina, {"q": 0.4})])
def test_runs_have_the_exact_moments(registered, quadratic, algorithm, given):
    """Sampling, coins and compression; functions that are called for arrays of coins do the same."""
    registered("coined", algorithm())
    registered("linear", Lazy() if algorithm is CalledLazy else algorithm())
    pattern = rc.participation.Trace.uniform(3, 2)
    run = {"K": 1, "T": 6, "x0": START, "gamma_u": GAMMA, "chance": CHANCE, "sigma_u": 0.5, **given}
    exact = rc.exact("linear", quadratic, pattern, **run).records["G_u"]
    drawn = rc.simulate("coined", quadratic, pattern, replicates=3_000, **run).records["G_u"]
    first = 2 if algorithm is Marina else 1
    assert scores(drawn[:, first:], exact[first:]).max() < 3.3


@pytest.mark.parametrize("noise", ["gaussian", "student:5", "relative:0.5"])
def test_noise_is_that_of_the_sample(registered, quadratic, noise):
    """What stochastic gradients have beside full ones: the same at both points, up to its size for relative noise."""
    watching = registered("watching", Watching())
    run = {"K": 1, "T": 1, "x0": START, "gamma_u": GAMMA, "offset": 1.5, "sigma_u": 1.0}
    rc.simulate("watching", quadratic, rc.participation.Trace.full(3), replicates=8, noise=noise, **run)
    seen = watching.seen[-1]
    M, c = quadratic.operator()
    client = np.repeat(np.arange(3), 8)
    for full, point in (("full", "at"), ("full_there", "other")):
        assert seen[full] == pytest.approx(np.einsum("rjk,rk->rj", M[client], seen[point]) - c[client])
    value = np.einsum("rj,rjk,rk->r", seen["at"], M[client], seen["at"]) / 2 - np.sum(c[client] * seen["at"], axis=1)
    assert seen["full_value"][:, 0] == pytest.approx(value)
    assert (seen["value"] == seen["full_value"]).all()
    xi, there = seen["u"] - seen["full"], seen["there"] - seen["full_there"]
    if noise.startswith("relative"):
        squares = (np.sum(seen[name] ** 2, axis=1, keepdims=True) for name in ("full", "full_there"))
        xi, there = (draw / np.sqrt(1 + 0.5 * s) for draw, s in zip((xi, there), squares, strict=True))
    assert np.abs(xi).min() > 0
    assert there == pytest.approx(xi, rel=1e-9, abs=1e-12)


def logistic_regression():
    """Dense rows and a regulariser that is not convex."""
    return rc.problems.Logistic.synthetic(n=3, d=4, N=20, shared=4, batch=2)


def huber_regression():
    """Sparse rows with weights."""
    rng = np.random.default_rng(2)
    clients = [
        Labelled(scipy.sparse.csr_matrix(rng.normal(size=(9, 4))), rng.normal(size=9), rng.uniform(0.5, 2.0, 9))
        for _ in range(3)
    ]
    return LinearModel(clients, HuberLoss(0.7), l2=0.1, batch=2)


@pytest.mark.parametrize("problem", [logistic_regression(), huber_regression()], ids=["dense", "sparse"])
def test_rows_are_those_of_the_sample(registered, problem):
    """Values on drawn rows have the gradients on drawn rows for slopes, at both points."""
    watching = registered("watching", Watching())
    found = {}
    for step in (0.0, 1e-5, -1e-5):
        watching.seen.clear()
        x0 = np.array([0.3, -0.2 + step, 0.1, 0.5])
        rc.simulate("watching", problem, rc.participation.Trace.full(3), K=1, T=1, x0=x0, gamma_u=GAMMA, offset=1.0,
                    replicates=8)  # fmt: skip
        found[step] = watching.seen[-1]
    for value, gradient in (("value", "u"), ("value_there", "there"), ("full_value", "full")):
        slope = (found[1e-5][value] - found[-1e-5][value])[:, 0] / 2e-5
        assert slope == pytest.approx(found[0.0][gradient][:, 1], rel=1e-6, abs=1e-8)
    assert np.abs(found[0.0]["u"] - found[0.0]["full"]).max() > 1e-3


@pytest.mark.parametrize("several", [1, 2])
def test_local_steps_with_one_sample(registered, quadratic, several):
    """The noise of the second of two local steps is that of the first where they have one sample."""
    watching = registered("watching", Watching(steps_per_sample=several), K=2.0)
    run = {"K": 2, "T": 1, "x0": START, "gamma_u": GAMMA, "offset": 1.0, "sigma_u": 1.0}
    rc.simulate("watching", quadratic, rc.participation.Trace.full(3), replicates=8, **run)
    first, second = (seen["u"] - seen["full"] for seen in watching.seen[-2:])
    assert np.allclose(first, second, atol=1e-12) == (several == 2)


def test_heights_above_infima(registered, quadratic):
    """f_i(x) - inf f_i and f_i(x) - inf f; both are refused by name where the infimum is not known."""
    watching = registered("watching", Watching({"excess": excess_at("x"), "gap": gap_at("x")}))
    run = {"K": 1, "T": 1, "gamma_u": GAMMA, "offset": 1.0}
    rc.simulate("watching", quadratic, rc.participation.Trace.full(3), replicates=1, x0=START, **run)
    M, c = quadratic.operator()
    values = START @ M @ START / 2 - c @ START
    lowest = -np.array([g @ np.linalg.solve(H, g) for H, g in zip(M, c, strict=True)]) / 2
    mean = -c.mean(axis=0) @ np.linalg.solve(M.mean(axis=0), c.mean(axis=0)) / 2
    assert watching.seen[-1]["excess"].reshape(3, -1)[:, 0] == pytest.approx(values - lowest)
    assert watching.seen[-1]["gap"].reshape(3, -1)[:, 0] == pytest.approx(values - mean)
    logistic = rc.problems.Logistic.synthetic(n=3, d=4, N=20, shared=4)
    with pytest.raises(InputError, match=r"inf f_i, which is known of quadratic problems"):
        rc.simulate("watching", logistic, rc.participation.Trace.full(3), replicates=1, **run)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"also": {"old": gradient_at("nowhere")}}, "'old' in also is at 'nowhere', no local variable"),
        ({"also": {"u": gradient_at("before")}}, "'u' in also is a block"),
        ({"also": {"f": value_at("x")}}, "values of functions is not linear"),
        ({"coin": "chance"}, "its coin 'chance' is none of its step_sizes"),
        ({"oracle": "prox"}, "those of methods with gradients"),
    ],
)
def test_definitions_are_checked(given, message):
    """When the method is made, in one line."""
    algorithm = type("Wrong", (Recursive,), given)()
    with pytest.raises(InputError, match=message):
        Method("wrong", "wrong", algorithm)


def test_who_does_not_follow_says_so(registered, quadratic):
    """Leaps, samples of several steps in moments, and coins without odds; costs count gradients at all points."""
    registered("recursive", Recursive())
    registered("lazy", Lazy())
    registered("twice", type("Twice", (Recursive,), {"steps_per_sample": 2})(), K=2.0)
    everybody, run = rc.participation.Trace.full(3), {"T": 3, "gamma_u": GAMMA}
    with pytest.raises(InputError, match=r"evaluates several points in a step"):
        rc.simulate("recursive", quadratic, everybody, K=1, a=0.4, engine="leap", **run)
    with pytest.raises(InputError, match="one noise"):
        rc.exact("twice", quadratic, everybody, K=2, a=0.4, sigma_u=1.0, **run)
    with pytest.raises(InputError, match=r'chance=1.5 breaks "0 < chance <= 1"'):
        rc.exact("lazy", quadratic, everybody, K=1, chance=1.5, **run)
    assert (cost("recursive").per_step, cost("lazy").per_step) == (2, None)
