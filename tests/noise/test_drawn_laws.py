"""Laws that kernels draw: each beside a loop in NumPy, its certified moments beside many draws, and what runs have."""

import math

import numpy as np
import pytest
from scipy.special import stdtr

import ratecheck as rc
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.engines.setup import prepare, with_law
from ratecheck.kernels.random import NOISE, counter_tag, philox, stream_keys
from ratecheck.noise import Gaussian, NoNoise, Pareto, Relative, Signs, Sphere, Student, UniformNoise, build
from ratecheck.participation import Trace
from ratecheck.problems import Logistic, Quadratic

CLIENT, T, K, LANES = 2, 7, 3, 200_000
LAWS = [
    *(Gaussian(), Signs(), UniformNoise(), Sphere(), Student(5), Student(9, 3), Student(1.8, 1.2)),
    *(Pareto(5), Pareto(9, 3), Pareto(1.8, 1.2)),
]
S = np.array([0.3, 0.0, 1.2, 0.7, 0.1])


def words(block, keys):
    """The four words of a counter of the client's noise."""
    found = np.empty((4, keys.shape[1]), dtype=np.uint64)
    philox(block, K, T, counter_tag(NOISE, CLIENT), keys, found, keys.shape[1])
    return found


def normals(d, keys):
    """Standard normals (d, lanes), by the law that is there already."""
    out = np.zeros((d, keys.shape[1]))
    Gaussian().add(np.ones(d), CLIENT, T, K, out, keys)
    return out


def fine(w, lane):
    """A number in (0, 1) from 64 bits."""
    return (int(w[0, lane]) * 2**32 + int(w[1, lane]) + 0.5) / 2**64


def uniform(law, s, answer, keys):
    """Coordinate by coordinate, lane by lane."""
    del law
    out = answer.copy()
    for c, lane in np.ndindex(out.shape):
        out[c, lane] += s[c] * math.sqrt(3) * (2 * (int(words(c // 4, keys)[c % 4, lane]) + 0.5) / 2**32 - 1)
    return out


def student(law, s, answer, keys):
    """Bailey's polar method."""
    nu, out = law.index, answer.copy()
    for c, lane in np.ndindex(out.shape):
        w = words(c, keys)
        length = math.sqrt(nu * (fine(w, lane) ** (-2 / nu) - 1))
        out[c, lane] += s[c] * law.shape[1] * length * math.cos(2 * math.pi * (int(w[2, lane]) + 0.5) / 2**32)
    return out


def radial(law, s, answer, keys):
    """A direction among the coordinates with noise, and a length."""
    z = normals(len(s), keys) * (s > 0)[:, None]
    out, w = answer.copy(), words(len(s), keys)
    for lane in range(out.shape[1]):
        R = law.shape[1] * fine(w, lane) ** (-1 / law.index) if isinstance(law, Pareto) else 1.0
        out[:, lane] += s * math.sqrt((s > 0).sum()) * z[:, lane] / np.linalg.norm(z[:, lane]) * R
    return out


def relative(law, s, answer, keys):
    """Normals of a variance that has a share of the answer's square."""
    share = law.relative * (answer**2).sum(axis=0) / len(s)
    return answer + np.sqrt(s[:, None] ** 2 + share) * normals(len(s), keys)


TWINS = {UniformNoise: uniform, Student: student, Pareto: radial, Sphere: radial, Relative: relative}


@pytest.mark.parametrize("law", [*LAWS[2:], Relative(0.7)], ids=str)
def test_what_is_drawn_is_that_of_a_loop(law):
    """By columns and by rows, and with the answers that it is added to."""
    keys = stream_keys(4, range(5))
    answer = np.random.default_rng(0).normal(size=(5, 5))
    expected = TWINS[type(law)](law, S, answer, keys)
    found = answer.copy()
    law.add(S, CLIENT, T, K, found, keys)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    rows = np.ascontiguousarray(answer.T)
    law.add_rows(S, np.array([CLIENT]), np.array([0, 5]), keys, T, K, rows)
    np.testing.assert_array_equal(rows, found.T)


def score(values, expected):
    """How many standard errors a mean is above what is expected."""
    return (values.mean() - expected) / (values.std() / math.sqrt(len(values)) + 1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("d", [1, 3])
def test_moments_are_the_certified_ones(law, d):
    """Equal where they are exact (one coordinate, or a law of lengths), else no larger; means and covariances too."""
    out = np.zeros((d, LANES))
    law.add(np.full(d, d**-0.5), CLIENT, T, K, out, stream_keys(1, range(LANES)))
    length = np.linalg.norm(out, axis=0)
    assert length.max() <= law.largest(d) * (1 + 1e-12)
    if law.fourth < math.inf:
        assert abs(score(length**2, law.variance)) <= 3.3
        assert all(abs(score(row, 0)) <= 3.3 for row in out)
        assert d == 1 or abs(score(out[0] * out[1], 0)) <= 3.3
    exact = isinstance(law, (Pareto, Sphere, Signs, Gaussian)) or (d == 1 and isinstance(law, Student))
    for order in (1.0, 1.2, 2.0, 3.0):
        # The mean of what has no variance has no standard error.
        if law.moment(2 * order, d) < math.inf:
            off = score(length**order, law.moment(order, d))
            assert off <= 3.3
            assert not exact or off >= -3.3
    if law.sub_gaussian(d) < math.inf:
        values = np.exp(np.square(length / law.sub_gaussian(d)))
        assert values.mean() <= math.e * 1.02


def test_moments_of_tails_without_variance():
    """Quantiles say what moments that exist on paper alone do not: those of Pareto's and of Student's law."""
    keys = stream_keys(1, range(LANES))
    for law, quantile, share in (
        (Pareto(1.8, 1.2), Pareto(1.8, 1.2).shape[1] / 0.3, 0.3**1.8),
        (Student(1.5), Student(1.5).shape[1] * 2.0, 2 * float(stdtr(1.5, -2.0))),
    ):
        out = np.zeros((1, LANES))
        law.add(np.ones(1), CLIENT, T, K, out, keys)
        assert abs(score((np.abs(out[0]) > quantile).astype(float), share)) <= 3.3
    assert Pareto(1.8, 1.2).moment(1.2, 4) == pytest.approx(1.0)
    assert Student(1.8, 1.2).moment(1.2, 1) == pytest.approx(1.0)
    assert Student(1.8, 1.2).moment(1.8, 1) == Pareto(1.8).moment(2.0, 1) == math.inf


STEPS = {"K": 3, "T": 5, "gamma_u": 0.3, "gamma_v": 0.2, "eta_u": 1.2, "eta_v": 1.0, "sigma_u": 0.5, "sigma_v": 0.4}


@pytest.mark.parametrize("law", ["uniform", "sphere", "student:9", "pareto:9"])
def test_linear_methods_have_the_moments_of_the_exact_engine(law):
    """Which needs no more of a law than its variance: in compiled rounds."""
    problem, pattern = Quadratic.synthetic(3, 4, 2, seed=1), Trace([[1, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0]])
    steps = {**STEPS, "T": 4}
    expected = rc.exact("fedavg-p", problem, pattern, **steps).metric
    found = rc.simulate("fedavg-p", problem, pattern, noise=law, replicates=4000, seed=5, **steps).metric
    off = (found.mean(axis=0) - expected)[1:] / (found.std(axis=0) / math.sqrt(4000))[1:]
    assert np.abs(off).max() <= 3.3


@pytest.mark.parametrize("sigma", [0.0, 0.4])
def test_second_moments_under_relative_noise(sigma):
    """E||x^{t+1}||^2 of SGD on one quadratic is a recursion of two numbers per coordinate, without any engine."""
    h, g, gamma, rho, T_ = np.array([0.5, 1.0]), np.array([1.0, -0.6]), 0.4, 0.8, 6
    problem = Quadratic(np.diag(h)[None], g[None], shared=2)
    mean, second, expected = np.zeros(2), np.zeros(2), []
    for _ in range(T_):
        square = h**2 * second - 2 * h * g * mean + g**2  # E (h x - g)^2
        expected.append(square.sum())
        added = gamma**2 * (sigma**2 + rho * square.sum()) / 2
        second = (1 - gamma * h) ** 2 * second + 2 * (1 - gamma * h) * gamma * g * mean + (gamma * g) ** 2 + added
        mean = mean - gamma * (h * mean - g)
    run = {"K": 1, "T": T_, "gamma_u": gamma, "eta_u": 1.0, "sigma_u": sigma}
    found = rc.simulate("fedavg", problem, Trace.full(1), noise=f"relative:{rho}", replicates=20_000, seed=3, **run)
    values = found.records["G_u"]
    off = (values.mean(axis=0) - expected)[1:] / (values.std(axis=0) / math.sqrt(20_000))[1:]
    assert np.abs(off).max() <= 3.3
    np.testing.assert_allclose(values[:, 0], expected[0])


def test_runs_of_several_laws_do_not_share_kernels():
    """What is prepared for a law serves that law alone."""
    problem, run = Quadratic.synthetic(2, 3, 3, seed=1), {"K": 2, "T": 3, "gamma_u": 0.3, "eta_u": 1.0, "sigma_u": 0.5}
    laws = ("gaussian", "signs", "student:5", "student:6", "gaussian")
    found = [rc.simulate("fedavg", problem, Trace.full(2), noise=law, seed=1, **run).metric[0, -1] for law in laws]
    assert len({*found}) == 4
    assert found[0] == found[-1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("student:1", 'student noise: nu=1 breaks "nu > 1"'),
        ("pareto:1.5,1.6", 'pareto noise: p=1.6 breaks "1 <= p < alpha = 1.5"'),
        ("relative:-1", 'relative noise: rho=-1 breaks "rho >= 0"'),
        ("student", "student does not take these numbers"),
        ("sphere:2", "sphere does not take these numbers"),
    ],
)
def test_numbers_of_laws_are_checked(text, why):
    """In one line."""
    with pytest.raises(rc.InputError, match=why):
        build.build(text)


def test_constants_of_laws():
    """Which have none where the law has none, and a margin where samples are drawn."""
    problem = Quadratic.synthetic(2, 4, 4, seed=1)

    def facts(law, problem=problem, sigma=0.5):
        case = CertifiedCase(problem, None, None, {"sigma_u": sigma}, law=law)
        names = ("relative_noise", "noise_order", "noise_moment", "sub_gaussian", "noise_bound")
        names = (*names, "growth_A", "growth_B", "growth_C")
        return {name: None if (each := case.fact(name)) is None else each.value for name in names}

    assert facts(Sphere()) == pytest.approx(
        {"relative_noise": 0, "noise_order": 2, "noise_moment": 0.5, "sub_gaussian": 0.5, "noise_bound": 0.5,
         "growth_A": 0, "growth_B": 1, "growth_C": 0.25}
    )  # fmt: skip
    heavy = facts(Pareto(1.8, 1.2))
    assert heavy["noise_moment"] == pytest.approx(0.5)
    assert heavy["noise_order"] == 1.2
    assert all(math.isnan(heavy[name]) or math.isinf(heavy[name]) for name in ("sub_gaussian", "growth_C"))
    grown = facts(Relative(2.0))
    assert (grown["growth_B"], grown["growth_C"], grown["relative_noise"]) == (3, 0.25, 2)
    # E exp(||noise||^2/s^2) is known in closed form for four normal coordinates.
    s = facts(Gaussian())["sub_gaussian"]
    assert (1 - 2 * 0.25 / 4 / s**2) ** -2 == pytest.approx(math.e)
    assert facts(NoNoise(), sigma=0.0)["sub_gaussian"] == 0


@pytest.mark.parametrize("batch", [1, 3])
def test_expected_smoothness_of_finite_sums(batch):
    """E||g||^2 over all samples is at most 2 A (f - inf f) + B ||grad f||^2 + C, near the start and far away."""
    problem = Logistic.synthetic(2, 6, 3, shared=3, batch=batch, seed=2)
    case = CertifiedCase(problem, None, None, {"sigma_u": 0.3}, law=Relative(0.5))
    A, B, C = (case.fact(f"growth_{each}").value for each in "ABC")
    points = [scale * np.random.default_rng(1).normal(size=3) for scale in (0.0, 0.1, 0.3, 1.0, 3.0, 30.0)]

    def values(u):
        return np.logaddexp(0, -problem.A @ u).mean(axis=1) + problem.rho * (u @ u) / (1 + u @ u)

    # No smaller than inf f_i, so that the right side below is no larger than what is certified.
    floor = np.min([values(u) for u in points], axis=0)
    for u in points:
        each = -problem.A / (1 + np.exp(problem.A @ u))[..., None] + problem.rho * 2 * u / (1 + u @ u) ** 2
        full = each.mean(axis=1)
        spread = np.square(each - full[:, None]).sum(axis=2).mean(axis=1) / batch
        square = np.square(full).sum(axis=1)
        assert (1.5 * (spread + square) + 0.3**2 <= 2 * A * (values(u) - floor) + B * square + C).all()


def test_compiled_rounds_and_called_ones_draw_the_same():
    """One oracle is compiled, with the noise in its kernel; the other is the same problem called in Python."""
    from ratecheck.engines.monte_carlo import stepwise
    from ratecheck.engines.monte_carlo.own_rounds import OwnRounds

    problem = Quadratic.synthetic(3, 4, 4, seed=1)
    steps = {"gamma_u": 0.3, "eta_u": 1.0}
    for law in ("pareto:1.6", "relative:0.5", "student:3", "uniform"):
        run = with_law(
            prepare("fedavg", problem, Trace.full(3), K=4, T=3, noise={"sigma_u": 0.2}, step_sizes=steps), law
        )
        compiled, called = (
            stepwise.simulate(run, replicates=5),
            stepwise.simulate(run, replicates=5, kernel=OwnRounds(run)),
        )
        np.testing.assert_allclose(compiled.metric, called.metric, rtol=1e-10)
