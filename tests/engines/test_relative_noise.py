"""Noise that grows with gradients: second moments beside recursions written out, and searches that have it."""

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS
from ratecheck.engines.engine import choose
from ratecheck.engines.moments import relative
from ratecheck.engines.request import RunRequest
from ratecheck.engines.setup import ready
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.participation import Bernoulli, Trace, Uniform
from ratecheck.problems import RelativeQuadratic
from ratecheck.views.checks.falsify import counterexample

VOCABULARY = theorem(
    "mean grad2 <= 2*F_0/(gamma*T)", method="sgd", given="smooth, noise", when="gamma <= 1/L"
).vocabulary
FEW = Budget(150, by_term=False, functions=False, later=0)


def followed(name, problem, trace, records=("distance2",), **run):
    """The expectation that is found, and the engine that finds it."""
    given = {"K": 1, "records": records, **run}
    setup = ready(RunRequest.of(name, problem, trace, given))
    wanted = Wanted(frozenset(records), VOCABULARY)
    engine, _ = choose(setup, wanted, "auto")
    return engine.follow(setup, wanted), engine.name


@pytest.mark.parametrize("sigma", [0.0, 0.4])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_sampled_clients_beside_a_recursion(sigma, m):
    """FedAvg with one local step: x' = x - gamma (mean of m of n gradients and their noise), in two coordinates."""
    n, gamma, rho, T = 3, 0.4, 0.8, 7
    rng = np.random.default_rng(4)
    h, g = rng.uniform(0.2, 1.0, (n, 2)), rng.normal(size=(n, 2))
    problem = RelativeQuadratic(np.stack([np.diag(each) for each in h]), g, 2, rho)
    star = g.mean(0) / h.mean(0)
    mean, second, expected = np.zeros(2), np.zeros((2, 2)), []
    for _ in range(T):
        expected.append(np.trace(second) - 2 * star @ mean + star @ star)
        # E g_i,a g_j,b over x, and the mean over pairs of clients that are drawn.
        outer = np.array([
            [
                h[i][:, None] * second * h[j] - np.outer(h[i] * mean, g[j]) - np.outer(g[i], h[j] * mean)
                + np.outer(g[i], g[j])
                for j in range(n)
            ]
            for i in range(n)
        ])  # fmt: skip
        own, whole = outer[range(n), range(n)].sum(0), outer.sum((0, 1))
        pair = (m - 1) / (n * (n - 1) * m)
        product = own / (n * m) + pair * (whole - own)
        added = sum((sigma**2 + rho * np.trace(outer[i, i])) / 2 * np.eye(2) for i in range(n)) / (n * m)
        steps = np.array([second * h[i] - np.outer(mean, g[i]) for i in range(n)]).mean(0)
        second = second - gamma * (steps + steps.T) + gamma**2 * (product + added)
        mean = mean - gamma * (h.mean(0) * mean - g.mean(0))
    trace = Uniform(n, m) if m < n else Trace.full(n)
    found, name = followed("fedavg", problem, trace, T=T, gamma_u=gamma, eta_u=1.0, sigma_u=sigma)
    assert name == "relative noise"
    np.testing.assert_allclose(found.records["distance2"], expected, rtol=1e-12)
    off = np.abs(found.records["distance2"] - expected)
    assert (off <= found.errors["distance2"] + 1e-15).all()
    assert (found.errors["distance2"] <= 1e-10 * np.array(expected) + 1e-15).all()


@pytest.mark.parametrize(
    ("name", "m", "steps"),
    [
        ("fedavg", 2, {"gamma_u": 0.2, "eta_u": 1.5}),
        ("polyak-momentum", 2, {"gamma_u": 0.2, "momentum": 0.5}),
        ("fedvarp", 1, {"eta_l": 0.2, "eta_g": 1.0}),
        ("mifa", 1, {"eta_l": 0.2, "eta_g": 1.0}),
    ],
)
def test_means_of_runs(name, m, steps):
    """What runs have, which are drawn by other code."""
    problem, trace = RelativeQuadratic.synthetic(2, 3, 3, rho=0.6, seed=5), Uniform(2, m) if m < 2 else Trace.full(2)
    run = {"K": 1, "T": 6, "sigma_u": 0.3, **steps}
    found, engine = followed(name, problem, trace, **run)
    assert engine == "relative noise"
    drawn = rc.simulate(name, problem, trace, replicates=20_000, seed=3, records=("distance2",), **run)
    values = drawn.records["distance2"]
    off = (values.mean(axis=0) - found.records["distance2"])[1:] / (values.std(axis=0) / np.sqrt(20_000))[1:]
    assert np.abs(off).max() <= 3.3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"K": 2}, "rounds of one gradient of one block"),
        ({"name": "compressed-sgd", "q": 0.5}, "is followed for noise alone that does not depend on the point"),
        ({"trace": Bernoulli([0.5, 0.5])}, "given or drawn uniformly"),
    ],
)  # fmt: skip
def test_runs_that_are_simulated(change, why):
    """The reason is told where the exact engine is requested."""
    change = dict(change)
    name, trace = change.pop("name", "fedavg"), change.pop("trace", Trace.full(2))
    run = {"K": 1, "gamma_u": 0.2, "T": 3, **change} | ({} if "q" in change else {"eta_u": 1.0})
    setup = ready(RunRequest.of(name, RelativeQuadratic.synthetic(2, 3, 3), trace, run))
    with pytest.raises(InputError, match=why):
        relative.check(setup)


def test_projected_runs_are_not_affine():
    """Iterates leave a ball that their mean does not leave."""
    plain = METHODS["fedavg"].algorithm
    assert relative.follows(plain)
    assert not relative.follows(type("Projected", (type(plain),), {"projects": "u"})())


def sgd(left, right, given, when):
    """A theorem about SGD under such noise."""
    return theorem(f"{left} <= {right}", method="sgd", given=given, when=when)


GAP = "mean grad2", "2*F_0/(gamma*T) + L*gamma*sigma**2", "smooth, relative noise"
SAMPLES = "mean grad2", "2*F_0/(gamma*T) + L*gamma*C_es", "smooth, expected smoothness"
FALLS = "last dist2", "(1 - gamma*mu)**T*R_0**2 + gamma*sigma**2/mu", "smooth, strongly convex, relative noise"


@pytest.mark.parametrize(
    ("form", "wrong", "right"),
    [
        (GAP, "gamma <= 1/L", "gamma <= 1/(L*(1 + rho_noise))"),
        (SAMPLES, "gamma <= 1/L", "gamma <= 1/(L*B_es), A_es == 0"),
        (FALLS, "gamma <= 1/L", "gamma <= 1/(L*(1 + rho_noise))"),
    ],
)
def test_caps_that_do_not_shrink_with_the_noise(form, wrong, right):
    """A search finds them, and nothing where they do."""
    found = falsify(sgd(*form, wrong), FEW)
    assert found.outcome is Outcome.VIOLATED
    assert found.instance.problem.law.relative > 0
    assert "no noise" not in counterexample(found).text
    assert falsify(sgd(*form, right), FEW).outcome is not Outcome.VIOLATED
    # By hand: f = (x - 1)^2/2 from 0, gamma = 1 and rho = 1: E f'^2 is 1 in both rounds, and F_0 = 1/2.
    problem = RelativeQuadratic([[[1.0]]], [[1.0]], 1, rho=1.0)
    verdict = rc.verify(sgd(*GAP, "gamma <= 1/L"), problem=problem, T=2, gamma=1.0, sigma=0.0)
    assert (verdict.left, verdict.right) == pytest.approx((1.0, 0.5))


def test_proofs_in_exact_numbers_refuse_such_noise():
    """They follow noise that does not depend on the point."""
    problem = RelativeQuadratic([[[1.0]]], [[1.0]], 1, rho=1.0)
    tie = rc.verify(sgd("mean grad2", "F_0/(gamma*T)*2", GAP[2], "gamma <= 1/L"), problem=problem, T=1, gamma=1.0)
    assert tie.outcome is Outcome.INCONCLUSIVE


def test_files_and_scaling():
    """A problem reads back as it is, and keeps its noise under what makes it simpler."""
    problem = RelativeQuadratic.synthetic(2, 3, 2, rho=0.25)
    for other in (problem.read(problem.fields()), problem.without_variable(2), problem.scaled(np.array([1]), 2.0, 0.5)):
        assert other.law.relative == 0.25
    with pytest.raises(InputError, match="rho=-1 breaks"):
        RelativeQuadratic([[[1.0]]], [[1.0]], 1, rho=-1)
