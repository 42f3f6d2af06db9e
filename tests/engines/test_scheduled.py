"""Groups that come and go by a schedule: against rounds one by one, averages over periods, and sums by hand."""

import itertools

import mpmath
import numpy as np
import pytest

from ratecheck.algorithms import METHODS
from ratecheck.engines.moments import expectation
from ratecheck.engines.setup import prepare
from ratecheck.engines.types import long_runs
from ratecheck.exponents.modes.modes import modes
from ratecheck.exponents.modes.scheduled import ScheduledRun, Stretch, delays
from ratecheck.participation import Periodic
from ratecheck.participation import delays as counted
from ratecheck.problems import Quadratic

SIZES = (2, 3)
STEPS = {"eta_g": 1.1, "eta_l": 0.02, "gamma_u": 0.05, "gamma_v": 0.07, "eta_u": 1.2, "eta_v": 1.3}
ANY = ("fedsum", "fedsum-b", "fedsum-cr")
# Where m is a number of the method, everybody takes part or nobody runs it.
ALWAYS = ("fedavg", "scaffold")
SCHEDULES = {
    "apart": [({0}, 1), ({1}, 2), ({0, 1}, 3)],
    "nobody at first": [(set(), 4), ({0, 1}, 1)],
    "half": [({0, 1}, 2), ({0}, 5)],
    "late": [({0}, 6), ({0, 1}, 1), (set(), 2)],
    "always": [({0, 1}, 1)],
}


def stretches(name):
    """A schedule as the engine takes it."""
    return tuple(Stretch(frozenset(groups), rounds) for groups, rounds in SCHEDULES[name])


def written_out(period, sizes=SIZES):
    """The same for every client of its own."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    rows = [np.isin(group, list(stretch.groups)) for stretch in period for _ in range(stretch.rounds)]
    return Periodic(np.array(rows))


def both(name, period, h, g, *, sizes=SIZES, K, T, start, sigma, eta_l=0.02):
    """The run of five clients that an engine takes, and the average of the two groups."""
    problem = Quadratic(np.repeat(h, sizes)[:, None, None], np.repeat(g, sizes)[:, None], 1)
    steps = {k: {**STEPS, "eta_l": eta_l}[k] for k in METHODS[name].step_sizes}
    x0 = np.array([start])
    setup = prepare(
        name, problem, written_out(period, sizes), K=K, T=T, x0=x0, noise={"sigma_u": sigma}, step_sizes=steps
    )
    full = {k: float(np.ravel(v)[0]) for k, v in setup.step_sizes.items()}
    full |= {"m": float(sum(sizes))} if name in ALWAYS else {}
    run = ScheduledRun(METHODS[name], "u", K, T, full, period)
    return setup, run.averages(modes(h[None], g[None], sizes), start=start, noise=sigma**2)[0]


@pytest.mark.parametrize(
    ("name", "schedule"), [*itertools.product(ANY, SCHEDULES), *itertools.product(ALWAYS, ("always",))]
)
def test_rounds_one_by_one(name, schedule):
    """Unlike groups, start, slopes and noise together, over less than a period and over many, whole or not."""
    rng = np.random.default_rng([len(name), len(schedule)])
    h, g = rng.uniform(0.1, 1.0, 2), rng.normal(size=2)
    for T, K in itertools.product((1, 3, 7, 40, 123), (1, 4)):
        setup, found = both(name, stretches(schedule), h, g, K=K, T=T, start=1.3, sigma=0.6)
        assert found == pytest.approx(expectation.expect(setup).records["G_u"].mean(), rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize(("present", "sigma"), [({0}, 0.0), ({0}, 0.6), (set(), 0.6)])
def test_long_absences_over_very_many_rounds(name, present, sigma):
    """A hundred million rounds, of which a group or everybody misses three hundred at a time."""
    period = (Stretch(frozenset({0, 1}), 201), Stretch(frozenset(present), 300))
    h, g = np.array([0.9, 0.3]), np.array([1.0, -0.4])
    setup, found = both(name, period, h, g, K=5, T=10**8 + 77, start=1.3, sigma=sigma, eta_l=1e-5)
    expected = long_runs.average(setup)
    assert abs(found - expected.metric) <= min(expected.rounding, 1e-9 * expected.metric)


@pytest.mark.parametrize("name", ANY)
def test_what_is_preserved_does_not_drift(name):
    """Noise of ten thousand clients on a flat mode over a billion rounds: as much as of one with its share of it.

    The noise of FedSUM's first messages stays in what is remembered, and any loss there is multiplied by all rounds.
    """
    period = (Stretch(frozenset({0}), 1), Stretch(frozenset({0, 1}), 1))
    h = np.array([1e-6])
    many, few = (
        ScheduledRun(METHODS[name], "u", 17, 10**9, {"eta_g": 1.0, "eta_l": step}, period).averages(
            modes(h[:, None], np.zeros((1, 2)), (half, half)), noise=2 * half
        )
        for half, step in ((5000.0, 1e-3), (1.0, 1e-3))
    )
    assert many == pytest.approx(few, rel=1e-6, abs=0)


def test_nobody_comes_back():
    """FedSUM-B goes on along its first gradient: G_t = h^2 x_0^2 (1 - eta K h t)^2 over a hundred million rounds."""
    T, K, eta, start = 10**8, 3, 1e-10, 2.0
    h = np.array([1e-9, 1e-3, 1.0])
    period = (Stretch(frozenset({0}), 1), Stretch(frozenset(), T - 1))
    run = ScheduledRun(METHODS["fedsum-b"], "u", K, T, {"eta_g": 1.0, "eta_l": eta}, period)
    found = run.averages(modes(h[:, None], np.zeros((1, 1)), (4,)), start=start)
    with mpmath.workdps(40):
        c = [mpmath.mpf(eta) * K * mpmath.mpf(x) for x in h]
        sums = [1 - a * (T - 1) + a**2 * (T - 1) * (2 * T - 1) / 6 for a in c]
        expected = [float(mpmath.mpf(x) ** 2 * start**2 * s) for x, s in zip(h, sums, strict=True)]
    assert found == pytest.approx(expected, rel=1e-12, abs=0)


def test_noise_of_a_group_is_that_of_its_mean():
    """Clients that are alike are one client with their share of the noise."""
    run = ScheduledRun(
        METHODS["fedsum-b"], "u", 4, 1000, {"eta_g": 1.0, "eta_l": 0.01},
        (Stretch(frozenset({0}), 3), Stretch(frozenset(), 2)),
    )  # fmt: skip
    many, one = (
        run.averages(modes(np.array([[0.7]]), np.zeros((1, 1)), (n,)), start=1.0, noise=n * 0.01) for n in (100.0, 1.0)
    )
    assert many == pytest.approx(one, rel=1e-12, abs=0)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_delays_are_those_of_the_clients(schedule):
    """tau_max over rounds 0 ... T and tau_avg over 0 ... T-1, by less than a period and by many."""
    period = stretches(schedule)
    pattern = written_out(period)
    for T in (1, 2, 3, 5, 8, 13, 29, 100, 1001):
        taus = counted.per_round(pattern.repeats.rows(T + 1))
        assert delays(period, 2, T) == (taus.max(), pytest.approx(taus[:T].mean(), rel=1e-14, abs=0))


def test_delays_over_very_many_rounds():
    """Everybody for P - tau rounds and nobody for tau: tau (tau + 1)/(2 P) in the mean."""
    tau, length = 10**5, 10**6
    period = (Stretch(frozenset({0, 1}), length - tau), Stretch(frozenset(), tau))
    assert delays(period, 2, 10**6 * length) == (tau, pytest.approx(tau * (tau + 1) / (2 * length), rel=1e-14, abs=0))
