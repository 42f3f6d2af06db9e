"""Blocks in an order that is drawn anew in each epoch, against the exact engine on every order that may be drawn."""

import itertools

import numpy as np
import pytest

from ratecheck.algorithms import METHODS
from ratecheck.engines.moments import expectation
from ratecheck.engines.setup import prepare
from ratecheck.errors import InputError
from ratecheck.exponents.modes.cyclic_modes import CyclicRun
from ratecheck.exponents.modes.modes import modes
from ratecheck.exponents.modes.reshuffled_modes import ReshuffledRun
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

STEPS = {"eta_g": 1.1, "eta_l": 0.02}


def orders(n, S):
    """All blocks of all orders, each as rounds of masks; orders within a block do not matter."""
    found = {
        tuple(tuple(sorted(order[k : k + S])) for k in range(0, n, S)) for order in itertools.permutations(range(n))
    }
    return [[[i in block for i in range(n)] for block in order] for order in sorted(found)]


def over_all_orders(name, n, S, T, g, *, h, K, start, sigma):
    """The mean over all orders of all epochs of what the exact engine says of each."""
    problem = Quadratic(np.full((n, 1, 1), h), np.array(g)[:, None], 1)
    epochs = -(-T // (n // S))
    total = 0.0
    every = list(itertools.product(orders(n, S), repeat=epochs))
    for drawn in every:
        rows = np.array([row for order in drawn for row in order][:T])
        setup = prepare(
            name, problem, Trace(rows), K=K, T=T, x0=np.array([start]), noise={"sigma_u": sigma}, step_sizes=STEPS
        )
        total += expectation.expect(setup).records["G_u"].mean()
    return total / len(every)


@pytest.mark.parametrize(
    ("name", "n", "S", "T", "g"),
    [
        ("fedsum", 2, 1, 7, (1.0, -1.0)), ("fedsum-b", 3, 1, 5, (1.0, 0.5, -1.5)),
        ("fedsum", 4, 2, 3, (1.0, 1.0, -3.0, 1.0)), ("fedsum", 3, 3, 4, (1.0, -0.5, -0.5)),
        pytest.param("fedsum", 4, 2, 6, (1.0, 0.0, -3.0, 2.0), marks=pytest.mark.long),
        pytest.param("fedsum-b", 6, 2, 5, (1.0, 0.0, -3.0, 2.0, 1.0, -1.0), marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_every_order(name, n, S, T, g):
    """Slopes, a start away from the minimiser and noise together; whole epochs and not."""
    case = {"h": 0.8, "K": 3, "start": 1.3, "sigma": 0.7}
    run = ReshuffledRun(METHODS[name], "u", S, case["K"], T, STEPS)
    found = run.averages(modes(np.full((1, n), case["h"]), np.array([g]), (1,) * n), start=1.3, noise=0.49)
    assert found == pytest.approx([over_all_orders(name, n, S, T, g, **case)], rel=1e-10)


def test_one_block_is_everybody():
    """Whatever the order; over ten billion rounds."""
    h, run = np.array([[1e-7], [1e-3], [0.5]]), (METHODS["fedsum"], "u", 3, 4, 10**10, STEPS)
    its = modes(h, np.zeros((3, 1)), (3.0,))
    expected = CyclicRun(*run).averages(its, start=1.0, noise=0.5)
    assert ReshuffledRun(*run).averages(its, start=1.0, noise=0.5) == pytest.approx(expected, rel=1e-7)


def test_slopes_are_forgotten():
    """Over any number of rounds they leave what the first epochs made of them: nothing drifts."""
    its = modes(np.full((1, 2), 0.5), np.array([[1.0, -1.0]]), (10.0, 10.0))
    few, many = (ReshuffledRun(METHODS["fedsum"], "u", 2, 4, T, STEPS).averages(its)[0] * T for T in (10**5, 10**10))
    assert few > 0
    assert many == pytest.approx(few, rel=1e-6)


def test_what_is_refused():
    """Clients of several curvatures, slopes that add up to something, methods that count delays or participants."""
    run = ReshuffledRun(METHODS["fedsum"], "u", 1, 1, 10, STEPS)
    with pytest.raises(InputError, match="one curvature"):
        run.averages(modes([[0.1, 0.2]], [[0.0, 0.0]], (1, 1)))
    with pytest.raises(InputError, match="add up to zero"):
        run.averages(modes([[0.1, 0.1]], [[1.0, 0.0]], (1, 1)))
    for name in ("fedsum-cr", "fedavg"):
        with pytest.raises(InputError, match="no fixed linear map"):
            ReshuffledRun(METHODS[name], "u", 1, 1, 10, {})
