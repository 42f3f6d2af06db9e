"""Orders that are drawn anew in each epoch: exact moments against an enumeration of all of them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import bounds
import ratecheck as rc
from ratecheck.engines.moments.moment import Moment
from ratecheck.engines.types import epochs
from ratecheck.participation import Trace

START, GAMMA = np.array([1.0, -2.0]), 0.1


def clients(n):
    """That many of two variables."""
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, 2, 2))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.1 * np.eye(2), rng.normal(size=(n, 2)), shared=2)


def enumerated(quadratic, S, T):
    """E G_u before each of T rounds of one gradient step, by the formulas, over all orders of all epochs."""
    M, c = quadratic.operator()
    n = len(c)
    orders = [*itertools.permutations(range(n))]
    found, states = [], [START]
    while len(found) < T:
        after = []
        per_round = np.zeros(n // S)
        for x, order in itertools.product(states, orders):
            for t in range(n // S):
                per_round[t] += np.sum((M.mean(axis=0) @ x - c.mean(axis=0)) ** 2)
                block = list(order[t * S : (t + 1) * S])
                x = x - GAMMA * np.mean([M[i] @ x - c[i] for i in block], axis=0)  # noqa: PLW2901
            after.append(x)
        found += [*(per_round / len(states) / len(orders))]
        states = after
    return np.array(found[:T])


@pytest.mark.parametrize(("n", "S", "T"), [(3, 1, 8), (4, 2, 5), (4, 1, 7), (3, 3, 4)])
def test_moments_are_those_of_all_orders(n, S, T):
    """Within the error that is given; also of the orders that follow one another without a gap."""
    quadratic, run = clients(n), {"K": 1, "T": T, "x0": START, "gamma_u": GAMMA, "eta_u": 1.0}
    wanted = enumerated(quadratic, S, T)
    for wrap in (True, False):
        found = rc.exact("fedavg", quadratic, Trace.reshuffled(n, S, wrap=wrap), **run)
        off = np.abs(found.records["G_u"] - wanted)
        assert off.max() < 1e-12
        assert (off <= found.errors["G_u"] + 1e-15).all()
    sampled = rc.exact("fedavg", quadratic, Trace.uniform(n, S), **run).records["G_u"]
    if n > S:
        assert np.abs(sampled - wanted)[2:].min() > 1e-4


@pytest.mark.parametrize(
    ("name", "S", "given"),
    [("scaffold", 2, {"K": 3, "eta_u": 1.0}), ("saga", 1, {"K": 1}), ("ef-sgd", 1, {"K": 2, "q": 0.5})],
)
def test_sampled_runs_have_the_exact_moments(name, S, given):
    """Methods with memories, with noise, and with messages that are compressed."""
    quadratic, trace = clients(4), Trace.reshuffled(4, S)
    run = {"T": 9, "x0": START, "gamma_u": GAMMA, "sigma_u": 0.3, **given}
    exact = rc.exact(name, quadratic, trace, **run).records["G_u"]
    drawn = rc.simulate(name, quadratic, trace, replicates=4000, **run).records["G_u"]
    errors = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.abs((drawn.mean(axis=0) - exact)[1:] / errors[1:]).max() < 4.5


def test_equal_clients_count_as_one_kind():
    """They have the moments of clients that differ a little, and many of them are followed at little cost."""
    M, c = clients(2).operator()
    start = {"K": 2, "T": 9, "x0": START, "gamma_u": GAMMA, "eta_u": 1.0}

    def found(far):
        slopes = np.repeat(c, 2, axis=0)
        slopes[1] += far
        slopes[0] -= far
        quadratic = rc.problems.Quadratic(np.repeat(M, 2, axis=0), -slopes, shared=2)
        return rc.exact("fedavg", quadratic, Trace.reshuffled(4, 1), **start).records["G_u"]

    assert found(1e-9) == pytest.approx(found(0.0), rel=1e-6)
    assert found(0.5) != pytest.approx(found(0.0), rel=1e-3)


def test_a_mixture_carries_its_errors():
    """Mean and covariance are those of the mixture; errors are at least the means of the parts' errors."""
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(3):
        A, B, C = (X @ X.T for X in rng.normal(size=(3, 2, 2)))
        parts.append(Moment(rng.normal(size=2), A, B, C, np.zeros(2), np.zeros(2)))
    found = epochs.mixed([(2.0, each) for each in parts])
    second = np.mean([each.covariance + np.outer(each.mean, each.mean) for each in parts], axis=0)
    assert found.mean == pytest.approx(np.mean([each.mean for each in parts], axis=0))
    assert found.covariance + np.outer(found.mean, found.mean) == pytest.approx(second)
    for name in ("off", "rounding"):
        more = getattr(found, name) - np.mean([getattr(each, name) for each in parts], axis=0)
        assert np.linalg.eigvalsh(more).min() >= 0


@pytest.mark.parametrize(
    ("n", "trace", "method", "message"),
    [
        (12, Trace.reshuffled(12, 1), "fedavg", "an epoch of n=12 clients in blocks of 1 has 24576 pairs"),
        (3, Trace.reshuffled(3, 2), "fedavg", "needs uniform or independent sampling, or a fixed pattern"),
        (4, Trace.reshuffled(4, 2, epoch=1), "fedavg", "needs uniform or independent sampling, or a fixed pattern"),
        (4, Trace.reshuffled(4, 1), "fedsum-cr", "depends on delays"),
    ],
)
def test_what_is_not_followed(n, trace, method, message):
    """Too many sets, blocks that do not partition the clients, methods that ask when a client was there."""
    steps = {"gamma_u": 0.1, "eta_u": 1.0} if method == "fedavg" else {"eta_g": 0.1, "eta_l": 0.1}
    with pytest.raises(rc.InputError, match=message):
        rc.exact(method, clients(n), trace, K=1, T=3, **steps)


def test_a_verdict_is_exact():
    """Where what is compared is recorded before a round; what a round changes is sampled still."""
    order = bounds.get("classics/random-reshuffling-distances")
    found = rc.verify(order, n=5, epochs=4)
    assert (found.outcome, found.verdict.engine) == (rc.Outcome.HOLDS, "exact")
    (claim,) = order.claims
    terms = {name: term / 100 for name, term in claim.terms.items()}
    false = replace(order, claims=(replace(claim, terms=terms),))
    assert rc.verify(false, n=5, epochs=4).outcome is rc.Outcome.VIOLATED
