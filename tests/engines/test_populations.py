"""Moments of populations against the exact engine with all clients one by one, which knows nothing of types."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest
from twins import TWINS, quadratic

import ratecheck as rc
from ratecheck.algorithms import METHODS as REGISTERED
from ratecheck.algorithms import Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.engines.moments import expectation
from ratecheck.engines.setup import prepare
from ratecheck.engines.types import populations
from ratecheck.errors import InputError
from ratecheck.exponents.modes.exchangeable import ModeRun
from ratecheck.exponents.modes.modes import modes
from ratecheck.participation import Trace
from ratecheck.problems import Population, Quadratic

COUNTS = ([1], [2], [1, 1], [5], [1, 4], [5, 7], [2, 1, 5], [4, 4, 4])
TEXTBOOK = ("G_u", "G_v", "B", "f", "gap", "distance2")
# Methods with their parameters, and whether they have personal variables.
METHODS = {
    "fedavg-p": ({"gamma_u": 0.1, "gamma_v": 0.2, "eta_u": 1.1, "eta_v": 0.9}, True),
    "scaffold-p": ({"gamma_u": 0.1, "gamma_v": 0.2, "eta_u": 1.1, "eta_v": 0.9}, True),
    "fedavg": ({"gamma_u": 0.1, "eta_u": 1.2}, False),
    "scaffold": ({"gamma_u": 0.1, "eta_u": 1.0}, False),
    "fedsum-b": ({"eta_g": 1.0, "eta_l": 0.05}, False),
    "fedsum": ({"eta_g": 1.0, "eta_l": 0.05}, False),
    "flame": ({"eta": 0.05, "rho": 1.0, "lambda_": 2.0}, False),
    "flame-exact": ({"rho": 1.0, "lambda_": 2.0}, False),
}


def population(counts, d, shared, seed=0):
    """Convex types with different Hessians, not diagonal, and different linear terms."""
    rng = np.random.default_rng([seed, d, shared, *counts])
    root = rng.standard_normal((len(counts), d, d)) / np.sqrt(d)
    H = root @ root.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return Population(Quadratic(H, rng.standard_normal((len(counts), d)), shared), counts)


def starts(problem, seed=0):
    """The same start by type and client by client, zero in no coordinate."""
    rng = np.random.default_rng([seed, 7])
    x0, v0 = rng.standard_normal(problem.d_u), rng.standard_normal((problem.distinct, problem.d_v))
    return {"x0": x0, "v0": v0}, {"x0": x0, "v0": np.repeat(v0, problem.counts, axis=0)}


def assert_agree(found, wanted, relative=1e-12):
    """Equal to 1e-12 of the largest entry over the rounds, and within what both engines say of their rounding."""
    assert found.records.keys() == wanted.records.keys()
    for name, values in wanted.records.items():
        apart = np.abs(found.records[name] - values)
        assert (apart <= relative * np.abs(values).max()).all(), name
        assert (apart <= found.errors[name] + wanted.errors[name]).all(), name
        assert (found.errors[name] <= 1e-6 * np.abs(values).max()).all(), name


def both(name, problem, trace, *, K=3, T=12, noise=True, steps=None, **more):
    """The run by types, and client by client."""
    own, personal = METHODS[name]
    sigma = {"sigma_u": 0.3, "sigma_v": 0.2} if personal else {"sigma": 0.3}
    by_type, by_client = starts(problem)
    if not personal:
        del by_type["v0"], by_client["v0"]
    more |= {"K": 1 if name == "flame-exact" else K, "T": T, **(own if steps is None else steps)}
    more |= sigma if noise and name != "flame-exact" else {}
    return (
        rc.exact(name, problem, trace, **by_type, **more),
        rc.exact(name, problem.full(), trace, **by_client, **more),
    )


def sizes_of(n):
    """Numbers of participants: few, and all but few."""
    return [m for m in sorted({1, 2, n - 1, n}) if 1 <= m <= n]


@pytest.mark.every(5)
@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_sampling_agrees_with_the_engine_of_single_clients(name, counts):
    """Uniform sampling of 1, 2, n - 1 and n clients, with one and three local steps, with and without noise."""
    for m in sizes_of(sum(counts)):
        for K, noise, d in ((1, True, 1), (3, True, 2), (3, False, 2)):
            shared = d - 1 if METHODS[name][1] and d > 1 else d
            problem = population(counts, d, shared)
            assert_agree(*both(name, problem, Trace.uniform(problem.n, m), K=K, noise=noise))


@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("name", ["fedsum-b", "fedsum", "flame", "flame-exact"])
def test_independent_clients_with_a_probability_per_type(name, counts):
    """The server adds up what it receives, however many take part."""
    problem = population(counts, 2, 2)
    p = np.repeat(np.linspace(0.2, 0.9, len(counts)), counts)
    assert_agree(*both(name, problem, Trace.bernoulli(p)))
    assert_agree(*both(name, problem, Trace.bernoulli(np.stack([p, p**2, np.ones_like(p)] * 4))))


@pytest.mark.parametrize("name", ["fedavg-p", "scaffold-p", "fedavg"])
def test_independent_clients_where_the_server_divides_by_their_number(name):
    """The number of participants is random, none among them."""
    problem = population([3, 4], 2, 1 if METHODS[name][1] else 2)
    assert_agree(*both(name, problem, Trace.bernoulli(0.3, 7)))


@pytest.mark.parametrize("shared", [0, 1, 2])
def test_values_gaps_and_distances(shared):
    """What is recorded of the objective and its minimum, with variables of one kind or both."""
    problem = population([2, 5, 1], 2, shared)
    found = both("fedavg-p", problem, Trace.uniform(8, 3), records=TEXTBOOK)
    assert_agree(*found)
    assert found[0].records["gap"].min() > 0


def test_given_participants_of_whole_types():
    """A matrix whose rounds take all clients of a type or none, and a method whose steps depend on their delays."""
    problem = population([2, 3, 1], 2, 2)
    rows = [[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 1, 0], [1, 0, 0]]
    trace = Trace(np.repeat(rows, problem.counts, axis=1))
    steps = {"eta_g": 1.0, "eta_l": 0.05}
    assert_agree(*both("fedsum", problem, trace, T=6))
    assert_agree(*both("fedsum-b", problem, trace, T=6))
    start = {"x0": np.array([0.4, -1.3])}
    found = [rc.exact("fedsum-cr", each, trace, K=2, sigma=0.3, **steps, **start) for each in (problem, problem.full())]
    assert_agree(*found)


def test_local_steps_and_weights_by_type():
    """Different numbers of local steps by type, as a list by type or by client; weights alpha_i by client."""
    problem = population([2, 3], 2, 2)
    K = np.repeat([1, 4], problem.counts)
    own = METHODS["fedavg"][0]
    trace, start = Trace.uniform(5, 2), {"x0": np.array([0.4, -1.3])}
    wanted = rc.exact("fedavg", problem.full(), trace, K=K, T=8, sigma=0.2, **own, **start)
    for given in ([1, 4], K):
        assert_agree(rc.exact("fedavg", problem, trace, K=given, T=8, sigma=0.2, **own, **start), wanted)
    alpha = np.repeat([0.1, 0.3], problem.counts)
    assert_agree(*both("flame", problem, Trace.uniform(5, 2), steps={**METHODS["flame"][0], "alpha": alpha}))


@pytest.mark.parametrize("name", ["fedavg-p", "scaffold-p"])
def test_averages_over_long_runs(name):
    """Repeated squaring against round by round."""
    problem = population([3, 4], 2, 1)
    own, _ = METHODS[name]
    given = {"K": 2, "T": 300, "sigma_u": 0.3, "sigma_v": 0.2, **own}
    average = rc.exact_average(name, problem, Trace.uniform(7, 3), **given)
    rounds = rc.exact(name, problem, Trace.uniform(7, 3), **given)
    apart = abs(average.metric - rounds.metric.mean())
    assert apart <= average.rounding + rounds.rounding.mean()
    assert apart <= 1e-11 * average.metric


@pytest.mark.parametrize(
    ("name", "independent"),
    [*((name, False) for name in ("fedavg", "scaffold", "fedsum", "fedsum-b")), ("fedsum", True), ("fedsum-b", True)],
)
def test_a_million_clients_on_a_line_against_longer_numbers(name, independent):
    """Averages over the rounds, against the moments of one-dimensional modes, whose code and numbers are others."""
    counts, h, g, sigma, m, K, T = [600_000, 400_000], [0.9, 0.4], [1.0, -2.0], 0.6, 1000, 4, 200
    own = {"gamma_u": 0.05, "eta_u": 1.2} if name in ("fedavg", "scaffold") else {"eta_g": 1.1, "eta_l": 0.02}
    problem = Population(Quadratic(np.array(h)[:, None, None], np.array(g)[:, None], 1), counts)
    p = (0.002, 0.0005)
    trace = Trace.bernoulli(np.repeat(p, counts)) if independent else Trace.uniform(10**6, m)
    found = rc.exact(name, problem, trace, K=K, T=T, sigma=sigma, x0=np.array([1.7]), **own)
    mean = float(np.dot(p, counts)) if independent else m
    sizes = {**REGISTERED[name].resolve(own, 10**6)}
    run = ModeRun(REGISTERED[name], "u", mean, K, T, sizes, p if independent else None)
    for record in ("G_u", "B"):
        (wanted,) = run.averages(modes([h], [g], tuple(counts)), {record: 1.0}, start=1.7, noise=sigma**2)
        # Where one client in a thousand takes part, 1 - 0.001 in the map of a round is rounded, and so are its powers.
        assert found.records[record].mean() == pytest.approx(wanted, rel=1e-11)
        assert abs(found.records[record].mean() - wanted) <= found.errors[record].mean() + 1e-16 * wanted


def test_identical_clients_are_the_same_however_they_are_divided_into_types():
    """One type of n clients, and two types with the same function: nothing depends on what is called a type."""
    types = population([1], 2, 1, seed=5).types
    twice = Quadratic(np.repeat(types.H, 2, axis=0), np.repeat(types.g, 2, axis=0), 1)
    own, _ = METHODS["scaffold-p"]
    n = 10**5
    given = {"K": 3, "T": 20, "sigma_u": 0.3, "sigma_v": 0.2, "x0": np.array([0.7]), **own}
    one, two = (
        rc.exact("scaffold-p", each, Trace.uniform(n, 17), **given)
        for each in (Population(types, [n]), Population(twice, [1, n - 1]))
    )
    assert_agree(one, two)


@pytest.mark.parametrize("m", [1, 100])
def test_variance_of_the_first_round_by_hand(m):
    """One step of SGD from zero: E|grad f(u_1)|^2 = |grad f(mean u_1)|^2 + h^2 var, sampling without replacement."""
    counts, g, h, gamma, sigma = np.array([300_000, 700_000]), np.array([2.0, -1.0]), 0.5, 0.1, 0.4
    problem = Population(Quadratic(np.full((2, 1, 1), h), g[:, None], 1), counts)
    found = rc.exact("fedavg", problem, Trace.uniform(10**6, m), K=1, T=2, sigma=sigma, gamma_u=gamma, eta_u=1.0)
    mean = counts @ g / 10**6
    spread = counts @ (g - mean) ** 2 / 10**6
    variance = gamma**2 * (sigma**2 / m + spread / m * (10**6 - m) / (10**6 - 1))
    wanted = (h * gamma * mean - mean) ** 2 + h**2 * variance
    assert found.records["G_u"][1] == pytest.approx(wanted, rel=1e-13)


def test_the_number_of_clients_does_not_change_the_size_of_the_state():
    """A thousand clients or a hundred million: the same numbers are followed."""
    sizes = set()
    for n in (10, 10**3, 10**8):
        problem = population([n // 2, n - n // 2], 2, 1)
        ready = prepare(
            "scaffold-p", problem, Trace.uniform(n, 3), K=2, T=3, noise={}, step_sizes=METHODS["scaffold-p"][0]
        )
        sizes.add(populations.moments_of(ready).size)
    assert len(sizes) == 1


def test_what_is_followed_client_by_client_is_refused_in_one_line():
    """Each says what would do."""
    problem = population([2, 3], 2, 2)
    own = METHODS["fedavg"][0]

    def refused(match, name="fedavg", trace=None, engine=rc.exact, **more):
        with pytest.raises(InputError, match=match) as caught:
            engine(name, problem, trace or Trace.uniform(5, 2), **{"K": 2, "T": 3, **own, **more})
        assert "\n" not in str(caught.value)

    refused(r"use engine=exact, or its full\(\)", engine=rc.simulate)
    refused(r"use engine=exact, or its full\(\)", engine=lambda *args, **kw: rc.simulate(*args, engine="leap", **kw))
    refused("other clients of type 0: make them types", trace=Trace([[1, 0, 0, 1, 1]] * 3))
    refused("other clients of type 1: make them types", trace=Trace([[1, 1, 1, 1, 1], [1, 1, 0, 1, 1], [0] * 5]))
    refused("use its full", trace=Trace.markov(0.5, 0.5, 5))
    refused("the probability is 0.1 for some and 0.2 for other", trace=Trace.bernoulli([0.1, 0.2, 0.3, 0.3, 0.3]))
    refused("one probability, or use full", trace=Trace.bernoulli([0.1, 0.1, 0.3, 0.3, 0.3]))
    refused("K is 1 for some and 2 for other clients of type 1", K=[1, 1, 1, 2, 2])
    refused("one per type of clients, 2 in all", K=[1, 1, 1])
    with pytest.raises(InputError, match="depends on delays"):
        rc.exact("fedsum-cr", problem, Trace.uniform(5, 2), K=1, T=3, eta_g=1.0, eta_l=0.1)
    ready = prepare("fedavg", problem, Trace.uniform(5, 2), K=1, T=2, noise={}, step_sizes=own)
    with pytest.raises(InputError, match="clients one by one"):
        expectation.check_exact(ready)


class Lazy(OneStep):
    """A gradient step where the coin of the round is 1."""

    step_sizes, server, coin = ("gamma_u", "chance"), MappingProxyType({"x": "u"}), "chance"

    def step(self, local, gradient, p):
        """None where it is 0."""
        return {**local, "x": local["x"] - p["coin"] * p["gamma_u"] * gradient["u"]}


class Twice(OneStep):
    """Two gradient steps with one sample."""

    step_sizes, server, steps_per_sample = ("gamma_u",), MappingProxyType({"x": "u"}), 2


@pytest.mark.parametrize("engine", [rc.exact, rc.exact_average])
def test_what_types_do_not_follow_is_refused(monkeypatch, engine):
    """Noise that two steps share, as of clients one by one, and coins of a round; without noise both agree."""
    problem, everybody = population([2, 3], 1, 1), Trace.full(5)
    run = {"K": 2, "T": 4, "x0": [0.7], "gamma_u": 0.3, "records": ("G_u",)}
    monkeypatch.setitem(REGISTERED, "twice", Method("twice", "twice", Twice(), {"K": 2.0}, personal=False))
    monkeypatch.setitem(REGISTERED, "lazy", Method("lazy", "lazy", Lazy(), {"K": 1.0}, personal=False))
    for each in (problem, problem.full()):
        with pytest.raises(InputError, match="one sample for several local steps"):
            engine("twice", each, everybody, sigma_u=0.5, **run)
    found, wanted = (engine("twice", each, everybody, **run).records["G_u"] for each in (problem, problem.full()))
    assert found == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(InputError, match=r"tosses a coin in every round, which types do not: use its full\(\)"):
        engine("lazy", problem, everybody, chance=0.3, **{**run, "K": 1})
    assert engine("lazy", problem.full(), everybody, chance=0.3, **{**run, "K": 1}).records


def test_many_clients_of_whom_a_random_number_takes_part():
    """Where the server divides by how many there are, all numbers are gone through."""
    problem = population([2000, 3000], 2, 2)
    with pytest.raises(InputError, match="use uniform sampling"):
        rc.exact("fedavg", problem, Trace.bernoulli(0.1, 5000), K=1, T=2, **METHODS["fedavg"][0])


@pytest.mark.parametrize("name", ["fedavg-p", "scaffold-p"])
def test_everybody_against_the_plain_twin(name):
    """Without noise and sampling, against the plain loops in NumPy with all clients."""
    problem = population([2, 3, 1], 3, 2)
    by_type, by_client = starts(problem)
    own, _ = METHODS[name]
    found = rc.exact(name, problem, Trace.full(6), K=3, T=10, **own, **by_type)
    full = problem.full()
    wanted = TWINS[name](
        quadratic(full.H, full.g, full.d_u), np.ones((10, 6), dtype=bool), by_client["x0"], by_client["v0"], K=3, **own
    )
    for record in ("G_u", "G_v", "B"):
        np.testing.assert_allclose(found.records[record], wanted[record], rtol=1e-11)


# --- Verdicts ---


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("pfl/theorem-3.7", {"m": 4, "K": 3, "T": 50, "sigma_u": 0.3, "sigma_v": 0.2}),
        ("pfl/theorem-3.7", {"m": 4, "K": 3, "T": 5000, "sigma_u": 0.3, "sigma_v": 0.2}),
        ("pfl/theorem-4.5", {"m": 4, "K": 3, "T": 50, "sigma_u": 0.3, "sigma_v": 0.2}),
        ("flame/theorem-2-unbiased", {"s": 4, "T": 30, "rho": 1.5}),
    ],
)
def test_a_verdict_is_the_one_with_all_clients(key, given):
    """The same outcome and sides, whether clients are counted or listed."""
    problem = population([3, 7], 2, 2 if key.startswith("flame") else 1)
    H = np.tile(np.diag([1.0, 0.4]), (2, 1, 1))
    problem = Population(Quadratic(H, problem.types.g, problem.d_u), problem.counts)
    found, wanted = (rc.verify(key, problem=each, **given) for each in (problem, problem.full()))
    assert found.outcome is wanted.outcome
    assert found.verdict.engine == wanted.verdict.engine == "exact"
    assert found.left == pytest.approx(wanted.left, rel=1e-10)
    assert found.right == pytest.approx(wanted.right, rel=1e-10)


def test_a_verdict_on_a_million_clients():
    """The constants, the step sizes and the run."""
    types = Quadratic(np.tile(np.diag([1.0, 0.4]), (2, 1, 1)), [[1.0, 0.3], [-0.5, 1.0]], 1)
    problem = Population(types, [600_000, 400_000])
    found = rc.verify("pfl/theorem-3.7", problem=problem, m=1000, K=5, T=100, sigma_u=0.3, sigma_v=0.2)
    assert found.outcome is rc.Outcome.HOLDS
    assert "n=1000000, 2 types of clients" in str(found)


def test_statements_about_drawn_participations_are_refused():
    """Draws are client by client; so are replicates."""
    problem = population([2, 3], 2, 2)
    with pytest.raises(InputError, match=r"use its full\(\)"):
        rc.verify("fedsum/theorem-4.1", problem=problem, S=2, K=2, T=10, sigma=0.2)
    with pytest.raises(InputError, match=r"use its full\(\)"):
        rc.verify("fedsum/corollary-g.1-case-2", problem=problem, delta=0.5, K=2, T=10, sigma=0.2)
    trace = Trace([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]] * 5)
    found = rc.verify("fedsum/theorem-4.1", problem=problem, participation=trace, K=2, T=10, sigma=0.2)
    wanted = rc.verify("fedsum/theorem-4.1", problem=problem.full(), participation=trace, K=2, T=10, sigma=0.2)
    assert found.verdict.engine == "exact"
    assert found.outcome is wanted.outcome
    assert found.left == pytest.approx(wanted.left, rel=1e-10)
    with pytest.raises(InputError, match=r"use engine=exact, or its full\(\)"):
        rc.verify("pfl/theorem-3.7", problem=population([2, 3], 2, 1), engine="step", m=2, K=2, T=10, sigma_u=0.1)
