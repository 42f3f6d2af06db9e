"""Changes from round to round of methods that compress or mix: against plain runs with every outcome enumerated."""

import itertools

import numpy as np
import pytest

from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.participation import Graph
from ratecheck.problems import Quadratic
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance

H = np.array([[[1.0, 0.25], [0.25, 0.5]], [[0.5, 0.0], [0.0, 0.75]]])
G = np.array([[1.0, 0.25], [0.25, -0.5]])
MEAN = H.mean(axis=0)
CENTRE = np.linalg.solve(MEAN, G.mean(axis=0))
GAMMA, Q = 0.5, 0.5


def gap(x):
    """The gap at a point."""
    return float((x - CENTRE) @ MEAN @ (x - CENTRE) / 2)


def changes(x, y):
    """What a round from x to y adds to the gap and to the squared distance, and how far it goes."""
    return np.array([gap(y) - gap(x), (y - CENTRE) @ (y - CENTRE) - (x - CENTRE) @ (x - CENTRE), (y - x) @ (y - x)])


def compressed(T, factor):
    """Expectations over all that two clients may send of two coordinates, round by round."""
    points, found = [(1.0, np.zeros(2))], []
    for _ in range(T):
        after, total = [], np.zeros(3)
        for (p, x), coins in itertools.product(points, itertools.product((0, 1), repeat=4)):
            sent = np.array(coins, dtype=float).reshape(2, 2) / Q
            y = x - GAMMA * factor * (sent * (H @ x - G)).mean(axis=0)
            after.append((p / 16, y))
            total += p / 16 * changes(x, y)
        points = after
        found.append(total)
    return np.array(found)


def mixed(T, W):
    """DSGD of two clients; quantities are those of the mean."""
    x, found = np.zeros((2, 2)), []
    for _ in range(T):
        y = W @ (x - GAMMA * (np.einsum("nij,nj->ni", H, x) - G))
        found.append(changes(x.mean(axis=0), y.mean(axis=0)))
        x = y
    return np.array(found)


def statement(algorithm, left, right="0", over="every_round", conditions=("gamma_u <= 1/L",), settings=None, more=()):
    """A statement about a round."""
    return theorem(
        title="A round", algorithm=algorithm, left=left, right=right, over=over, conditions=list(conditions),
        assumptions=["smoothness", "full_participation", *more], vocabulary="textbook", key="own/a-round",
        settings={"K": 1, "m": "n", "sigma_u": 0} if settings is None else settings,
    )  # fmt: skip


@pytest.mark.parametrize("k", range(3), ids=["fall", "nearer", "du2"])
@pytest.mark.parametrize("algorithm", ["compressed-sgd", "coordinate-descent", "dsgd"])
def test_they_are_those_of_plain_runs(algorithm, k):
    """The means over three rounds, and those over the first two, to rounding."""
    pattern = Graph.named("path", 2) if algorithm == "dsgd" else None
    given = {"gamma_u": GAMMA, "K": 1.0, "m": 2.0} | ({} if algorithm == "dsgd" else {"q": Q})
    for T in (2, 3):
        expected = mixed(T, pattern.mixing) if pattern is not None else compressed(T, 1.0 if "sgd" in algorithm else Q)
        own = statement(algorithm, ("fall", "nearer", "du2")[k], over="mean_of_rounds", settings={"sigma_u": 0})
        verdict = Instance(own, Quadratic(H, G, 2), pattern, {**given, "T": float(T)}, {}).verdict(Options())
        assert verdict.worst.left == pytest.approx(expected[:, k].mean(), rel=1e-12)


def test_what_happens_inside_a_round_stays_unknown():
    """One line says what is known."""
    own = statement("compressed-sgd", "E", settings={"sigma_u": 0})
    with pytest.raises(InputError, match=r"nothing is known inside a round: it records .* change from round to round"):
        Instance(own, Quadratic(H, G, 2), None, {"gamma_u": GAMMA, "q": Q, "K": 1.0, "m": 2.0, "T": 2.0}, {}).verdict()


ALONE = {"n": 1, "m": 1, "K": 1, "sigma_u": 0}
PAIRS = {
    # E f falls by gamma (1 - L gamma/(2 q)) ||grad f||^2 at least.
    "fall": (
        statement("compressed-sgd", "fall", "-gamma_u/2*G_u", conditions=["gamma_u <= 1/L"], settings=ALONE),
        statement("compressed-sgd", "fall", "-gamma_u/2*G_u", conditions=["gamma_u <= q/L"], settings=ALONE),
    ),
    # A coordinate moves with probability q.
    "du2": (
        statement("coordinate-descent", "du2", "gamma_u**2*q**2*G_u", settings=ALONE),
        statement("coordinate-descent", "du2", "gamma_u**2*q*G_u", settings=ALONE),
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
@pytest.mark.parametrize("name", PAIRS)
def test_statements_about_them_are_searched(name, seed):
    """The wrong one is accused, the right one is not."""
    budget = Budget(60, by_term=False, functions=False, later=0)
    wrong, right = (falsify(each, budget, seed=seed) for each in PAIRS[name])
    assert wrong.outcome is Outcome.VIOLATED
    assert right.outcome is Outcome.INCONCLUSIVE
    assert right.applicable > 20
