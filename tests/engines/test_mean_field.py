"""Noise of two values on functions with kinks: enclosures against all outcomes by brute force, and sampled runs.

The oracles are loops of FedAvg in plain Python and NumPy, with a gradient of their own.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algebra.enclosure import Enclosure, UndecidedError
from ratecheck.algorithms import METHODS
from ratecheck.engines import setup
from ratecheck.engines.outcomes import mean_field
from ratecheck.engines.rigorous.mean_field_runs import MeanFieldRun, without_memory
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Uniform
from ratecheck.problems import PiecewiseSamples

NAMES = ("G_u", "gap", "distance2", "B")
KINKS, CURVATURES, SLOPE, SIGMA, GAMMA = [-0.5, 1.0], [1.0, 0.125, 0.75], -0.375, 2.0, 0.25


def problem(n):
    """Equal clients, a function with two kinks."""
    return PiecewiseSamples([[KINKS]], [[CURVATURES]], [[SLOPE]], clients=n)


def ready(n, K, T, eta=1.0, **others):
    """A run in floats."""
    given = {"noise": {"sigma_u": SIGMA}, "records": NAMES, "step_sizes": {"gamma_u": GAMMA, "eta_u": eta}, **others}
    return setup.prepare("fedavg", problem(n), Uniform(n, n), K=K, T=T, x0=[0.25], **given)


def exact(n, K, T, eta=1.0, gamma=Fraction(GAMMA)):
    """The same in rationals."""
    return MeanFieldRun.of(
        METHODS["fedavg"], problem(n), Uniform(n, n), K=K, T=T, noise={"sigma_u": Fraction(SIGMA)},
        step_sizes={"gamma_u": gamma, "eta_u": Fraction(eta)}, start={"x0": [0.25]},
    )  # fmt: skip


def slope(x):
    """f', the sum of what each piece adds on the way from 0."""
    left, right = KINKS
    low, middle, high = CURVATURES
    return SLOPE + middle * np.clip(x, left, right) + low * np.minimum(x - left, 0) + high * np.maximum(x - right, 0)


def recorded(x, n):
    """What is recorded at points: f by the trapezoidal rule between kinks, on which f' is linear."""
    star = 1.0 + (0.375 - 0.125) / 0.75
    ends = sorted({*KINKS, star})

    def rise(x):
        inside = [e for e in ends if min(x, star) < e < max(x, star)]
        way = sorted([x, star, *inside], reverse=bool(x < star))
        return sum((b - a) * (slope(a) + slope(b)) / 2 for a, b in itertools.pairwise(way))

    square = slope(x) ** 2
    return {"G_u": square, "B": n * square, "distance2": (x - star) ** 2, "gap": np.vectorize(rise)(x)}


def by_brute_force(n, K, T, eta):
    """Means over every sequence of signs, one run for each."""
    totals = {name: np.zeros(T) for name in NAMES}
    count = 2 ** (n * K * (T - 1))
    for flat in itertools.product((1.0, -1.0), repeat=n * K * (T - 1)):
        signs, x = iter(flat), 0.25
        for t in range(T):
            for name, value in recorded(np.array([x]), n).items():
                totals[name][t] += value[0] / count
            if t == T - 1:
                break
            ends = []
            for _ in range(n):
                u = x
                for _ in range(K):
                    u -= GAMMA * (float(slope(u)) + next(signs) * SIGMA)
                ends.append(u)
            x = (1 - eta) * x + eta * sum(ends) / n
    return totals


@pytest.mark.parametrize(("n", "K", "T", "eta"), [(1, 3, 4, 1.0), (1, 1, 8, 0.5), (2, 1, 2, 1.0), (2, 2, 3, 1.5)])
def test_all_outcomes_are_those_of_brute_force(n, K, T, eta):
    """In rationals and in floats, with nothing left open."""
    totals = by_brute_force(n, K, T, eta)
    found = list(exact(n, K, T, eta).rounds(NAMES, 64))
    middles, widths = mean_field.expect(ready(n, K, T, eta))
    for name in NAMES:
        assert all(each[name].exact for each in found)
        np.testing.assert_allclose([float(each[name].low) for each in found], totals[name], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(middles[name], totals[name], rtol=1e-12, atol=1e-13)
        assert not widths[name].any()


@pytest.mark.parametrize(("n", "K", "T", "eta"), [(50, 3, 12, 1.0), (10**6, 4, 60, 1.0), (10**4, 2, 20, 1.25)])
def test_floats_agree_with_rationals(n, K, T, eta):
    """To 1e-12, both ends of every enclosure."""
    found = list(exact(n, K, T, eta).rounds(NAMES, 64))
    middles, widths = mean_field.expect(ready(n, K, T, eta))
    for name in NAMES:
        for end, ours in (("low", middles[name] - widths[name]), ("high", middles[name] + widths[name])):
            theirs = [float(getattr(each[name], end)) for each in found]
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * max(theirs))


@pytest.mark.parametrize(("n", "eta"), [(50, 1.0), (4000, 0.75)])
def test_sampled_runs_are_inside(n, eta):
    """Means of replicates are between both ends up to their error, which for many clients are close to each other."""
    K, T, replicates, rng = 3, 8, 400, np.random.default_rng(n)
    x, sampled = np.full(replicates, 0.25), {name: [] for name in NAMES}
    for _ in range(T):
        for name, values in recorded(x, n).items():
            sampled[name].append((values.mean(), 5 * values.std() / np.sqrt(replicates) + 1e-12))
        u = np.repeat(x[:, None], n, axis=1)
        for _ in range(K):
            u -= GAMMA * (slope(u) + SIGMA * rng.choice([-1.0, 1.0], u.shape))
        x = (1 - eta) * x + eta * u.mean(axis=1)
    middles, widths = mean_field.expect(ready(n, K, T, eta))
    for name in NAMES:
        mean, error = np.array(sampled[name]).T
        assert (middles[name] - widths[name] <= mean + error).all()
        assert (mean - error <= middles[name] + widths[name]).all()
        # Not by being wide: what is open shrinks with the number of clients.
        assert widths[name].max() <= (8 if n < 100 else 0.9) * 50**-0.5 * middles[name].max()


def test_the_radius_bounds_the_distance_from_the_mean_of_a_round():
    """E|x_t - y_t|^2 by all outcomes of a short run of two clients is at most the square of the radius."""
    run = exact(2, 2, 3)
    laws = list(run.laws)
    y, radius = run.start, Fraction(0)
    for law in laws:
        square = sum(p * (x - y) ** 2 for x, p in law.atoms.items())
        assert square <= radius**2 or not square
        step = run._by_mean(type(law)({y: Fraction(1)}, radius), *run.mean(y))
        ((y, _),), radius = step.atoms.items(), step.radius
    # Nor is it far larger.
    assert square >= radius**2 / 8


@pytest.mark.parametrize("x", [-3.0, 0.25, 1.5])
def test_what_is_known_of_a_step_size_is_known_of_the_mean_of_a_round(x):
    """Of a step size between two numbers: the mean is off by no more than is said for any of them, nor by far less."""
    low, high = Fraction("0.249"), Fraction("0.251")
    mean, off = exact(1000, 4, 9, 0.75, Enclosure(low, high)).mean(Fraction(x))
    gammas = [low, Fraction("0.2494"), high]
    moved = [abs(exact(1000, 4, 9, 0.75, gamma).mean(Fraction(x))[0] - mean) for gamma in gammas]
    assert max(moved) <= off <= 40 * max(moved)
    assert exact(1000, 4, 9, 0.75).mean(Fraction(x))[1] == 0


def test_an_irrational_step_size_is_followed():
    """Both ends of what is recorded are those of the float next to it."""
    gamma = Enclosure.of(Fraction(1, 12)).sqrt()
    near = exact(1000, 3, 9, gamma=Fraction(float(gamma.middle)))
    for ours, theirs in zip(exact(1000, 3, 9, gamma=gamma).rounds(NAMES, 64), near.rounds(NAMES, 64), strict=True):
        for name in NAMES:
            assert float(ours[name].low) == pytest.approx(float(theirs[name].low), rel=1e-12, abs=1e-12)
            assert float(ours[name].high) == pytest.approx(float(theirs[name].high), rel=1e-12)
    with pytest.raises(UndecidedError, match="irrational"):
        exact(1, 3, 3, gamma=gamma)


def test_what_is_not_followed_is_refused():
    """Methods with memory, sampled clients, long rounds, other quantities."""
    assert without_memory(METHODS["fedavg"].algorithm)
    assert not any(without_memory(METHODS[name].algorithm) for name in ("scaffold", "fedsum", "flame"))
    sampled = setup.prepare("fedavg", problem(3), Uniform(3, 2), K=1, T=2, step_sizes={"gamma_u": 0.1, "eta_u": 1.0})
    with pytest.raises(InputError, match="everybody takes part"):
        mean_field.check(sampled)
    with pytest.raises(InputError, match="K=11 local steps in T=9 rounds"):
        mean_field.check(ready(3, 11, 9))


def test_noise_too_small_for_a_float():
    """Its variance is no float; the run is followed all the same, and is the one without noise."""
    given = {"K": 1, "T": 60, "step_sizes": {"gamma_u": Fraction(3, 10), "eta_u": Fraction(1)}, "start": {"x0": [0.25]}}
    tiny, none = (
        MeanFieldRun.of(METHODS["fedavg"], problem(50), Uniform(50, 50), noise={"sigma_u": sigma}, **given)
        for sigma in (Fraction(1, 10**170), Fraction(0))
    )
    last, still = tiny.laws[-1], none.laws[-1]
    assert last.atoms == still.atoms
    assert still.radius <= last.radius < still.radius + Fraction(1, 10**160)


def test_many_local_steps_of_the_only_round():
    """What comes after the last round is not followed, and does not count as work."""
    claim = theorem(
        title="A bound that is too small", algorithm="fedavg",
        left="G_u", over="mean_of_rounds", right="F_0/(10*gamma_u*K*T)",
        assumptions=["smoothness", "full_participation", "no_personal", "noise"], conditions=["gamma_u <= 1/L"],
        settings={"m": "n", "eta_u": 1},
    )  # fmt: skip
    found = rc.verify(claim, problem=problem(50), K=60, T=1, sigma_u=1, gamma_u=0.5)
    assert found.outcome is Outcome.VIOLATED
