"""Blocks that take turns, against the exact engine, round by round and over a hundred million rounds."""

import itertools

import numpy as np
import pytest

from ratecheck.algorithms import METHODS
from ratecheck.engines.moments import expectation
from ratecheck.engines.setup import prepare
from ratecheck.engines.types import long_runs
from ratecheck.errors import InputError
from ratecheck.exponents.modes.cyclic_modes import CyclicRun
from ratecheck.exponents.modes.modes import modes
from ratecheck.participation import Cyclic
from ratecheck.problems import Quadratic

pytestmark = pytest.mark.quick
S, SIZES = 2, (4, 2)


def both(name, h, g, *, K, T, start, sigma, eta_l):
    """The run that an engine takes, and the average of the two groups."""
    problem = Quadratic(np.repeat(h, SIZES)[:, None, None], np.repeat(g, SIZES)[:, None], 1)
    setup = prepare(
        name, problem, Cyclic(sum(SIZES), S), K=K, T=T, x0=np.array([start]), noise={"sigma_u": sigma},
        step_sizes={"eta_g": 1.1, "eta_l": eta_l},
    )  # fmt: skip
    run = CyclicRun(METHODS[name], "u", S, K, T, setup.step_sizes)
    return setup, run.averages(modes(h[None], g[None], SIZES), start=start, noise=sigma**2)[0]


@pytest.mark.parametrize(("name", "T"), [*itertools.product(("fedsum", "fedsum-b"), (1, 2, 5, 31, 400, 2000))])
def test_rounds_one_by_one(name, T):
    """Noise where all have one curvature, slopes and unlike curvatures without it; fewer rounds than are followed."""
    for h, sigma in ((np.array([0.6, 0.6]), 0.6), (np.array([0.9, 0.2]), 0.0)):
        setup, found = both(name, h, np.array([1.0, -0.4]), K=4, T=T, start=1.3, sigma=sigma, eta_l=0.005)
        assert found == pytest.approx(expectation.expect(setup).records["G_u"].mean(), rel=1e-9, abs=0)


@pytest.mark.parametrize(("curvature", "sigma"), [((0.6, 0.6), 0.6), ((1e-7, 1e-7), 0.6), ((0.9, 0.0), 0.0)])
def test_what_is_left_is_one_mode(curvature, sigma):
    """A hundred million rounds."""
    h = np.array(curvature)
    setup, found = both("fedsum", h, np.array([1.0, -2.0]), K=5, T=10**8 + 7, start=1.3, sigma=sigma, eta_l=1e-4)
    expected = long_runs.average(setup)
    assert abs(found - expected.metric) <= 1e-7 * expected.metric + min(expected.rounding, 1e-6 * expected.metric)


def test_hundreds_of_blocks():
    """Over many rounds noise does as much as in stochastic gradient descent with S clients: eta h sigma^2/(2 S)."""
    h, eta = np.array([[1.0]]), 1e-6
    for blocks in (1, 300):
        run = CyclicRun(METHODS["fedsum"], "u", 3, 7, 10**12, {"eta_g": 1.0, "eta_l": eta})
        found = run.averages(modes(h, np.zeros((1, 1)), (3.0 * blocks,)), noise=4.0)
        assert found == pytest.approx([eta * 4.0 / (2 * 3)], rel=3e-3)


def test_what_is_refused():
    """Noise on unlike curvatures, and methods that divide by a delay or by how many take part."""
    with pytest.raises(InputError, match="one curvature"):
        both("fedsum", np.array([0.9, 0.2]), np.zeros(2), K=1, T=9, start=1.0, sigma=1.0, eta_l=0.01)
    for name in ("fedsum-cr", "fedavg"):
        with pytest.raises(InputError, match="no fixed linear map"):
            CyclicRun(METHODS[name], "u", 1, 1, 10, {})
