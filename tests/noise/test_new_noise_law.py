"""A new noise law is one file: this one joins by an entry point, and runs with it have the certified variance."""

import numpy as np
import pytest
from plugin import forget, installed

import ratecheck as rc
from ratecheck.errors import InputError
from ratecheck.kernels.random import stream_keys
from ratecheck.noise import Gaussian, NoNoise, Signs, build
from ratecheck.participation import Trace
from ratecheck.problems import Bilevel, BilevelSamples, Logistic, Quadratic

SOURCE = '''
"""Noise that is uniform in an interval: xi_c in (-3^(1/2), 3^(1/2)), E xi_c^2 = 1, E xi_c^4 = 9/5."""

import math

from ratecheck.noise.law import IndependentNoise, NoiseLaw


class Even(IndependentNoise):
    kind = "even"
    fourth = 9 / 5

    def quantile(self, u):
        return math.sqrt(3) * (2 * u - 1)


class Relative(NoiseLaw):
    kind = "stretched"
    fourth = 1.0
    additive = False

    def __init__(self, rho=0.5):
        self.rho = rho

    def add(self, scale, i, t, k, out, keys):
        out *= 1 + self.rho
'''
RUN = {"K": 3, "T": 5, "gamma_u": 0.3, "gamma_v": 0.2, "eta_u": 1.2, "eta_v": 1.0, "sigma_u": 0.5, "sigma_v": 0.4}


@pytest.fixture
def even(monkeypatch, tmp_path):
    """Two laws of another distribution, installed."""
    with monkeypatch.context() as patched:
        entries = "even = even_noise:Even\nstretched = even_noise:Relative"
        installed(patched, tmp_path, "even_noise", SOURCE, noise=entries)
        yield build.build("even")
    forget()


def drawn(law, lanes=200_000, rows=6):
    """What a law adds to 0, by coordinate, (rows, lanes)."""
    out = np.zeros((rows, lanes))
    law.add(np.arange(1.0, rows + 1), 2, 7, 3, out, stream_keys(1, range(lanes)))
    return out / np.arange(1.0, rows + 1)[:, None]


def check_moments(law):
    """Mean 0, the certified moments, and coordinates that are uncorrelated, up to five standard errors."""
    xi = drawn(law)
    lanes = xi.shape[1]
    assert np.abs(xi.mean(axis=1)).max() <= 5 * np.sqrt(law.variance / lanes)
    off = np.abs(xi @ xi.T / lanes - law.variance * np.eye(len(xi)))
    assert off.max() < 5 * np.sqrt(max(law.fourth, law.variance**2) / lanes) + 1e-12
    eighth = float(np.mean(xi**8))
    assert np.abs((xi**4).mean(axis=1) - law.fourth).max() < 6 * np.sqrt(eighth / lanes) + 1e-12


@pytest.mark.parametrize("law", [Gaussian(), Signs(), NoNoise()], ids=lambda law: law.kind)
def test_what_is_drawn_has_the_certified_moments(law):
    """Of the laws of this package."""
    check_moments(law)
    assert sum((p for p, _ in law.outcomes), 0) in (0, 1)
    assert all(sum(p * x**power for p, x in law.outcomes) in (0, law.variance) for power in (1, 2))


def test_one_from_outside_has_them_too(even):
    """And is in the registry, beside those of this package."""
    check_moments(even)
    assert {"gaussian", "none", "signs", "even"} <= {*build.KINDS}


def test_a_run_has_the_certified_variance(even):
    """Expectations of second moments are those of the exact engine, which needs no more of a law than its variance."""
    problem, pattern = (
        Quadratic.synthetic(3, 4, 2, seed=1),
        Trace([[1, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 1]]),
    )
    expected = rc.exact("fedavg-p", problem, pattern, **RUN)
    replicates = 4000
    for law in (even, "even", "signs", Gaussian()):
        found = rc.simulate("fedavg-p", problem, pattern, noise=law, replicates=replicates, seed=5, **RUN)
        off = found.metric.mean(axis=0) - expected.metric
        assert (np.abs(off) <= 5 * found.metric.std(axis=0) / np.sqrt(replicates) + 1e-12 * expected.metric).all()
    one = rc.simulate("fedavg-p", problem, pattern, noise=even, replicates=7, seed=5, **RUN).metric
    first = rc.simulate("fedavg-p", problem, pattern, noise=even, replicates=2, seed=5, **RUN).metric
    np.testing.assert_array_equal(one[:2], first)


def test_gaussian_noise_is_the_default():
    """By name it is the same to the last bit, on compiled oracles and with mini-batches."""
    pattern = Trace(np.ones((5, 3)))
    for problem in (Quadratic.synthetic(3, 4, 2, seed=1), Logistic.synthetic(n=3, N=8, d=4, shared=2, batch=2)):
        plain, named = (rc.simulate("fedavg-p", problem, pattern, **RUN, **law) for law in ({}, {"noise": "gaussian"}))
        np.testing.assert_array_equal(plain.metric, named.metric)


def test_other_noise_is_added_to_mini_batches(even):
    """The samples that are drawn stay the same; without a level of noise the run is that without it."""
    problem, pattern = Logistic.synthetic(n=3, N=8, d=4, shared=2, batch=2), Trace(np.ones((5, 3)))
    silent = {**RUN, "sigma_u": 0.0, "sigma_v": 0.0}
    plain = rc.simulate("fedavg-p", problem, pattern, **silent).metric
    np.testing.assert_allclose(
        rc.simulate("fedavg-p", problem, pattern, noise=even, **silent).metric, plain, rtol=1e-12
    )
    assert (rc.simulate("fedavg-p", problem, pattern, noise=even, **RUN).metric[:, 1:] != plain[:, 1:]).all()


@pytest.mark.usefixtures("even")
def test_noise_may_depend_on_the_point():
    """A law that multiplies gradients by 3/2 is one of larger step sizes; engines of moments refuse it."""
    problem, pattern = Quadratic.synthetic(3, 2, 2, seed=1), Trace(np.ones((4, 3)))
    longer = rc.simulate("fedavg", problem, pattern, K=2, gamma_u=0.3, eta_u=1.0).metric
    found = rc.simulate("fedavg", problem, pattern, K=2, gamma_u=0.2, eta_u=1.0, noise="stretched:0.5").metric
    np.testing.assert_allclose(found, longer, rtol=1e-12)
    with pytest.raises(InputError, match="stretched noise depends on the point, which the leap engine does not follow"):
        rc.simulate("fedavg", problem, pattern, K=2, gamma_u=0.2, eta_u=1.0, noise="stretched", engine="leap")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"noise": "evn"}, "no noise 'evn'; did you mean 'even'"),
        ({"noise": "even:2"}, "noise 'even:2': even does not take these numbers"),
        ({"noise": "stretched:x"}, "noise 'stretched:x': stretched does not take these numbers"),
        ({"noise": "none"}, "the noise is said to be none, and a sigma is above 0"),
        ({"noise": "signs", "engine": "leap"}, "the leap engine adds normal noise, and signs noise is not"),
    ],
)
@pytest.mark.usefixtures("even")
def test_errors_are_one_line(given, why):
    """With what would do."""
    with pytest.raises(InputError, match=why):
        rc.simulate("fedavg-p", Quadratic.synthetic(3, 4, 2), Trace(np.ones((5, 3))), **RUN, **given)


def test_samples_of_two_values_have_a_law_of_their_own():
    """All of their outcomes are followed."""
    b = Bilevel.synthetic(2, 1, 1)
    samples = BilevelSamples(b.A, b.B, b.b, b.Q, b.q, noise_g=np.ones((2, 1)))
    assert samples.law.outcomes
    steps = {
        "K": 1,
        "T": 2,
        "eta_x": 0.1,
        "eta_y": 0.1,
        "eta_v": 0.1,
        "gamma_x": 1.0,
        "gamma_y": 1.0,
        "gamma_v": 1.0,
        "r": 9.0,
    }
    with pytest.raises(InputError, match="the samples of a bilevel-samples problem have a law of their own"):
        rc.simulate("simfbo", samples, Trace(np.ones((2, 2))), noise="even", **steps)
