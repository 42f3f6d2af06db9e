"""Moments of exchangeable clients against the exact engine, which knows nothing of exchangeability."""

import functools

import mpmath
import numpy as np
import pytest

from ratecheck.algorithms import METHODS
from ratecheck.engines.moments import expectation
from ratecheck.engines.setup import prepare
from ratecheck.engines.types import averages
from ratecheck.errors import InputError
from ratecheck.exponents.modes.exchangeable import ModeRun
from ratecheck.exponents.modes.modes import modes
from ratecheck.participation import Bernoulli, Uniform
from ratecheck.problems import Quadratic

pytestmark = pytest.mark.quick
BLOCKS = [
    *((name, block) for name in ("fedavg-p", "scaffold-p") for block in "uv"),
    *((name, "u") for name in ("fedavg", "scaffold", "fedsum", "fedsum-b")),
]


def _steps(name: str, rng: np.random.Generator) -> dict[str, float]:
    local = {"gamma_u": 0.05, "gamma_v": 0.07, "eta_l": 0.02}
    return {k: local.get(k, float(rng.uniform(1.0, 1.5))) for k in METHODS[name].step_sizes}


@pytest.mark.parametrize(("name", "block"), BLOCKS)
@pytest.mark.parametrize(("m", "K"), [(1, 1), (3, 4), (6, 7)])
def test_two_groups_agree_with_the_exact_engine(name: str, block: str, m: int, K: int) -> None:
    """Start, slopes and noise on one coordinate, with sampling."""
    rng = np.random.default_rng([len(name), m, K])
    sizes, start, sigma = (2, 4), 1.7, 0.6
    h, g = rng.uniform(0.1, 1.0, 2), rng.normal(size=2)
    problem = Quadratic(np.repeat(h, sizes)[:, None, None], np.repeat(g, sizes)[:, None], int(block == "u"))
    at = {"x0": np.array([start])} if block == "u" else {"v0": np.full((6, 1), start)}
    setup = prepare(
        name, problem, Uniform(6, m), K=K, T=200, noise={f"sigma_{block}": sigma}, step_sizes=_steps(name, rng), **at
    )
    expected = averages.average(setup).records[f"G_{block}"]
    run = ModeRun(METHODS[name], block, m, K, 200, setup.step_sizes)
    found = run.averages(modes(h[None], g[None], sizes), {f"G_{block}": 1.0}, start=start, noise=sigma**2)
    assert found == pytest.approx([expected], rel=1e-9)


@pytest.mark.parametrize(("m", "lambda_"), [(2, 3.0), (5, 2.0)])
def test_flame_agrees_with_the_exact_engine(m: int, lambda_: float) -> None:
    """The oracle is a proximal map, and every client keeps three variables."""
    sizes, h, g = (2, 3), np.array([0.9, 0.2]), np.array([1.0, -0.5])
    problem = Quadratic(np.repeat(h, sizes)[:, None, None], np.repeat(g, sizes)[:, None], 1)
    setup = prepare(
        "flame-exact", problem, Uniform(5, m), K=1, T=150, x0=np.array([1.2]),
        step_sizes={"rho": 2.5, "lambda_": lambda_},
    )  # fmt: skip
    # Round by round: powers of this map lose digits, and claim so.
    found = expectation.expect(setup).records
    steps = {k: float(np.ravel(v)[0]) for k, v in setup.step_sizes.items()}
    run = ModeRun(METHODS["flame-exact"], "u", m, 1, 150, steps)
    for name in ("grad_L2", "grad_theta2"):
        mine = run.averages(modes(h[None], g[None], sizes), {name: 1.0}, start=1.2)
        assert mine == pytest.approx([found[name].mean()], rel=1e-9)


def test_gradient_descent_over_a_billion_rounds_is_the_geometric_sum() -> None:
    """FedAvg with one step each is gradient descent: G_t = h^2 x_0^2 (1 - gamma h)^(2t)."""
    T, gamma = 10**9, 0.25
    h = np.array([1e-12, 1e-9, 1e-5, 1.0])
    run = ModeRun(METHODS["fedavg"], "u", 7, 1, T, {"gamma_u": gamma, "gamma_v": 1.0, "eta_u": 1.0, "eta_v": 1.0})
    found = run.averages(modes(h[:, None], np.zeros((1, 1)), (7,)), {"G_u": 1.0}, start=2.0)
    with mpmath.workdps(50):
        ratios = [(1 - mpmath.mpf(gamma) * mpmath.mpf(x)) ** 2 for x in h]
        exact = [float(4 * mpmath.mpf(x) ** 2 * (1 - r**T) / (1 - r) / T) for x, r in zip(h, ratios, strict=True)]
    assert found == pytest.approx(exact, rel=1e-8)


def test_noise_does_not_depend_on_how_many_clients_are_away() -> None:
    """Of clients that are alike, m of n sampled are as good as m alone."""
    steps = {"gamma_u": 1e-3, "gamma_v": 1.0, "eta_u": 50.0, "eta_v": 1.0}
    few, many = (
        ModeRun(METHODS["fedavg"], "u", 5, 20, 10**6, steps).averages(
            modes(np.array([[0.7]]), np.zeros((1, 1)), (n,)), {"G_u": 1.0}, noise=1.0
        )
        for n in (5, 10**6)
    )
    assert few == pytest.approx(many, rel=1e-9)


@pytest.mark.parametrize("name", ["fedsum", "fedsum-b"])
@pytest.mark.parametrize("p", [(0.15, 0.15), (0.6, 0.2), (1.0, 0.3), (1.0, 1.0)])
def test_independent_clients_agree_with_the_exact_engine(name: str, p: tuple[float, float]) -> None:
    """How many take part is random, nobody at times; start, slopes and noise on one coordinate."""
    rng = np.random.default_rng([len(name), int(100 * p[0])])
    sizes, start, sigma = (2, 4), 1.7, 0.6
    h, g = rng.uniform(0.1, 1.0, 2), rng.normal(size=2)
    problem = Quadratic(np.repeat(h, sizes)[:, None, None], np.repeat(g, sizes)[:, None], 1)
    setup = prepare(
        name, problem, Bernoulli(np.repeat(p, sizes)), K=4, T=150, x0=np.array([start]), noise={"sigma_u": sigma},
        step_sizes=_steps(name, rng),
    )  # fmt: skip
    expected = expectation.expect(setup).records["G_u"].mean()
    run = ModeRun(METHODS[name], "u", float(np.dot(sizes, p)), 4, 150, setup.step_sizes, p)
    found = run.averages(modes(h[None], g[None], sizes), {"G_u": 1.0}, start=start, noise=sigma**2)
    assert found == pytest.approx([expected], rel=1e-9)


@pytest.mark.parametrize("p", [None, (0.01,)])
def test_what_is_preserved_does_not_drift(p: tuple[float] | None) -> None:
    """The noise of stochastic gradient descent is the same over 10^12 rounds and over 10^15.

    FedSUM's server holds the sum of what ten thousand clients remember.
    """
    run = functools.partial(ModeRun, METHODS["fedsum"], "u", 100.0, 5)
    mode = modes(np.array([[1e-2]]), np.zeros((1, 1)), (1e4,))
    found = [run(T, {"eta_g": 1.0, "eta_l": 2e-5}, p).averages(mode, {"G_u": 1.0}, noise=1.0) for T in (10**12, 10**15)]
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    # A client stays away for N/S rounds in the mean, twice that in the mean square: eta h sigma^2/S.
    assert found[1] == pytest.approx([2e-5 * 1e-2 / 100], rel=0.02)


def test_a_delay_that_is_random_is_refused() -> None:
    """FedSUM-CR divides by the delay, FedAvg by how many take part."""
    with pytest.raises(InputError, match="no fixed linear map"):
        ModeRun(METHODS["fedsum-cr"], "u", 1, 1, 10, {"eta_g": 1.0, "eta_l": 0.1})
    steps = {"gamma_u": 0.1, "gamma_v": 1.0, "eta_u": 1.0, "eta_v": 1.0}
    with pytest.raises(InputError, match="no fixed linear map"):
        ModeRun(METHODS["fedavg"], "u", 1, 1, 10, steps, (0.5,))
