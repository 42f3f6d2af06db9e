"""Asynchronous SGD against plain replays, and an enumeration of all samples."""

import itertools

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.participation import Trace

GAMMA, START = 0.1, np.array([1.0, -2.0])


@pytest.fixture(scope="module")
def quadratic():
    """Three clients, two variables."""
    rng = np.random.default_rng(7)
    A = rng.normal(size=(3, 2, 2))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.1 * np.eye(2), rng.normal(size=(3, 2)), shared=2)


def replayed(quadratic, rounds):
    """G_u in every round, the clients of each being given."""
    M, c = quadratic.operator()
    x, models, found = START, [START] * 3, []
    for members in rounds:
        found.append(np.sum(np.mean([M[i] @ x - c[i] for i in range(3)], axis=0) ** 2))
        step = sum((M[i] @ models[i] - c[i] for i in members), np.zeros(2)) / max(len(members), 1)
        for i in members:
            models[i] = x
        x = x - GAMMA * step
    return np.array(found)


@pytest.mark.parametrize(
    "matrix",
    [
        np.eye(3)[np.arange(9) % 3],  # one after the other
        np.ones((6, 3)),  # all, each one round late
        [[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]],  # unlike, a round without any
    ],
)
def test_engines_agree_with_a_plain_replay(quadratic, matrix):
    """On given participants, to 1e-12."""
    matrix = np.array(matrix, dtype=bool)
    wanted = replayed(quadratic, [np.flatnonzero(row) for row in matrix])
    run = {"K": 1, "x0": START, "gamma_u": GAMMA}
    assert rc.exact("async-sgd", quadratic, Trace(matrix), **run).records["G_u"] == pytest.approx(wanted, rel=1e-12)
    for engine in ("step", "leap"):
        found = rc.simulate("async-sgd", quadratic, Trace(matrix), engine=engine, **run).records["G_u"][0]
        assert found == pytest.approx(wanted, rel=1e-12)


def test_moments_are_those_of_all_samples(quadratic):
    """One of three clients in every round."""
    wanted = np.mean([replayed(quadratic, np.array(s)[:, None]) for s in itertools.product(range(3), repeat=6)], axis=0)
    found = rc.exact("async-sgd", quadratic, Trace.uniform(3, 1), K=1, T=6, x0=START, gamma_u=GAMMA)
    assert found.records["G_u"] == pytest.approx(wanted, rel=1e-12)
    assert (np.abs(found.records["G_u"] - wanted) <= found.errors["G_u"] + 1e-13 * wanted).all()


def test_a_cyclic_gradient_is_n_rounds_late(quadratic):
    """Where it is not, a larger step size is stable: delays are what limits it."""
    run = {"T": 400, "gamma_u": 0.7}
    late = rc.exact("async-sgd", quadratic, Trace.cyclic(3, 1), K=1, **run).records["G_u"]
    fresh = rc.exact("fedavg", quadratic, Trace.cyclic(3, 1), K=1, eta_u=1.0, **run).records["G_u"]
    assert fresh[-1] < fresh[0]
    assert not late[-1] < 1e6 * late[0]


def test_a_pattern_by_name_has_the_participants_that_a_statement_fixes():
    """Where it says one client per round, ``cyclic`` is one client per round; another law than its own is said."""
    found = rc.verify("classics/async-cyclic-gradients", participation="cyclic", n=4, T=20)
    assert (found.outcome, found.left) == (
        rc.Outcome.HOLDS, rc.verify("classics/async-cyclic-gradients", n=4, T=20).left
    )  # fmt: skip
    other = rc.verify("classics/async-uniform-gradients", participation="cyclic", n=4, T=20)
    assert other.outcome is rc.Outcome.NOT_APPLICABLE
