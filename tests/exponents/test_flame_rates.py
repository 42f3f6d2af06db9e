"""The rate card of FLAME's Theorem 2: its moments, what its instances are, planted exponents, and all cells."""

import dataclasses

import numpy as np
import pytest
import sympy as sp
from planted_rates import planted

import bounds
from ratecheck.engines.moments import expectation
from ratecheck.engines.setup import prepare
from ratecheck.exponents.card import Card, card
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.hard_instances import worst
from ratecheck.exponents.modes.flame_modes import FlameModes
from ratecheck.outcome import Outcome
from ratecheck.participation import Uniform
from ratecheck.problems import Quadratic

UNBIASED = "flame/theorem-2-unbiased-wide-repaired"
BIASED = "flame/theorem-2-biased-wide-repaired"
SETTING = {"m": 6.0, "s": 2.0, "T": 400.0, "lambda_": 4.0, "rho": 30.0, "alpha_min": 0.25, "L": 1.0, "gap": 2.0}


@pytest.mark.quick
@pytest.mark.parametrize("s", [1, 3, 5])
@pytest.mark.parametrize("quantity", ["grad_L2", "grad_theta2"])
def test_moments_agree_with_the_exact_engine(s: int, quantity: str) -> None:
    """Which follows w_i, pi_i and theta_i of every client and knows of no mode."""
    sizes, h, g = (2, 3), np.array([0.9, -0.2]), np.array([1.0, -0.5])
    problem = Quadratic(np.repeat(h, sizes)[:, None, None], np.repeat(g, sizes)[:, None], 1)
    steps = {"rho": 2.5, "lambda_": 3.0, "alpha": 0.3}
    setup = prepare("flame-exact", problem, Uniform(5, s), K=1, T=150, x0=np.array([1.2]), step_sizes=steps)
    expected = expectation.expect(setup).records[quantity].mean()
    found = FlameModes(h[None], g[None], sizes, s, 150, 3.0, 2.5, 0.3).averages({quantity: 1.0}, np.array([1.2]))
    assert found == pytest.approx([expected], rel=1e-9)


def _simulated(s: int, T: int, errors: str, chances: tuple[float, ...] | None, runs: int = 4000) -> dict[str, float]:
    """FLAME as the paper writes it, eqs. (9) to (12); with it the largest inner error on the way."""
    rng = np.random.default_rng(7)
    sizes, lambda_, rho, alpha, eps = (3, 4), 3.0, 1.9, 0.2, 0.49
    n = sum(sizes)
    h, g = np.repeat([0.4, 0.1], sizes), np.repeat([0.8, -0.6], sizes)
    theta = w_i = np.full((runs, n), 0.5)
    pi, w = np.zeros((runs, n)), np.full((runs, 1), 0.5)
    totals, inner = {"grad_L2": 0.0, "grad_theta2": 0.0}, 0.0
    for _ in range(T):
        by_theta = alpha * (h * theta - g) + lambda_ * alpha * (theta - w_i)
        by_w_i = pi + rho * (w_i - w) - lambda_ * alpha * (theta - w_i)
        by_w = (pi + rho * (w_i - w)).sum(axis=1) ** 2
        totals["grad_theta2"] += (by_theta**2).sum(axis=1).mean() / T
        totals["grad_L2"] += (by_w + (by_theta**2 + by_w_i**2 + (w_i - w) ** 2).sum(axis=1)).mean() / T
        order = rng.random((runs, n))
        if chances is not None:
            group = rng.random((runs, 1)) < chances[0]
            order += np.where(np.arange(n) < sizes[0], ~group, group)
        taken = order.argsort(axis=1).argsort(axis=1) < s
        e = np.sqrt(eps) * (rng.choice([-1.0, 1.0], (runs, n)) if errors == "random" else np.ones((runs, n)))
        new = (lambda_ * w_i + g + e / alpha) / (lambda_ + h)
        inner = max(inner, float(((alpha * (h * new - g) + lambda_ * alpha * (new - w_i)) ** 2).max()))
        moved = (lambda_ * alpha * new + rho * w - pi) / (lambda_ * alpha + rho)
        theta, w_i = np.where(taken, new, theta), np.where(taken, moved, w_i)
        pi = np.where(taken, pi + rho * (moved - w), pi)
        w = (w_i + pi / rho).mean(axis=1, keepdims=True)
    return {**totals, "inner error": inner}


@pytest.mark.parametrize("errors", ["alike", "random"])
@pytest.mark.parametrize("chances", [None, (0.2, 0.8)])
def test_inner_errors_and_skewed_draws_agree_with_a_plain_simulation(
    errors: str, chances: tuple[float, ...] | None
) -> None:
    """4000 runs; the errors are as large as eps_max allows and no larger."""
    seen = _simulated(2, 30, errors, chances)
    sizes, h, g = (3, 4), np.array([[0.4, 0.1]]), np.array([[0.8, -0.6]])
    kind = {"random_error": 0.7} if errors == "random" else {"error": 0.7}
    modes = FlameModes(h, g, sizes, 2, 30, 3.0, 1.9, 0.2, chances=chances, **kind)
    for quantity in ("grad_L2", "grad_theta2"):
        assert modes.averages({quantity: 1.0}, np.array([0.5])) == pytest.approx([seen[quantity]], rel=0.02)
    assert seen["inner error"] == pytest.approx(0.49)


@pytest.mark.parametrize(("key", "extra"), [(UNBIASED, {}), (BIASED, {"gamma_bar": 1.0})])
@pytest.mark.parametrize("m", [2.0, 5.0, 6.0])
def test_instances_spend_the_gap_and_verify_agrees(key: str, extra: dict[str, float], m: float) -> None:
    """What is certified of the instance is what the setting says; round by round the exact engine finds the left side.

    The shortcut that 'verify' takes here may know no more than its rounding: that it decides is not asked.
    """
    hard = worst(bounds.get(key), {**SETTING, **extra, "m": m, "eps_max": 0.0})
    instance = hard.instance()
    assert instance is not None
    less = {name: value for name, value in instance.given.items() if name != "gap"}
    verdict = dataclasses.replace(instance, given=less).verdict()
    assert verdict.outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE)
    assert verdict.values["gap"] == pytest.approx(2.0, rel=2e-9)
    (comparison,) = verdict.comparisons
    assert comparison.left == pytest.approx(hard.left, abs=comparison.error)
    assert isinstance(instance.problem, Quadratic)
    steps = {"rho": 30.0, "lambda_": 4.0, "alpha": 0.25}
    setup = prepare(
        "flame-exact", instance.problem, Uniform(int(m), 2), K=1, T=400, step_sizes=steps, x0=instance.start["x0"]
    )
    quantity = "grad_L2" if key == UNBIASED else "grad_theta2"
    assert hard.left == pytest.approx(expectation.expect(setup).records[quantity].mean() / m, rel=1e-8)


def test_inner_errors_keep_the_left_side_at_eps_max() -> None:
    """For ever, and with no run of 'verify', which solves inner problems exactly."""
    for T in (1e3, 1e6, 1e9):
        hard = worst(bounds.get(UNBIASED), {**SETTING, "T": T, "eps_max": 1e-3}, "eps_max")
        assert 1.0 <= hard.left / 1e-3 <= 5.0
        assert hard.instance() is None


@pytest.mark.long
@pytest.mark.parametrize("key", [UNBIASED, BIASED])
def test_a_gap_that_vanishes_too_fast_is_violated(key: str) -> None:
    """T^(-5/4): there is an instance, and 'verify' confirms it."""
    found = card(planted(bounds.get(key), "initial gap", "T", -sp.Rational(1, 4)), over=["T"])
    cell = next(cell for cell in found.cells if cell.row.term == "initial gap")
    assert cell.finding is CellFinding.EXCEEDED
    assert cell.violation is not None
    assert cell.violation.verdict is Outcome.VIOLATED


@pytest.mark.long
@pytest.mark.parametrize("key", [UNBIASED, BIASED])
@pytest.mark.parametrize(("name", "power", "loose"), [("T", 1, 0.25), ("s", 1, 0.25), ("m", 1, 0.25)])
def test_a_gap_that_vanishes_too_slowly_is_loose(key: str, name: str, power: int, loose: float) -> None:
    """By the quarter that was planted."""
    found = card(planted(bounds.get(key), "initial gap", name, sp.Rational(power, 4)), over=[name])
    cell = next(cell for cell in found.cells if cell.row.term == "initial gap")
    assert cell.finding is CellFinding.LOOSE
    assert cell.loose == pytest.approx(loose, abs=0.03)


LOOSE = {
    UNBIASED: {("inner error", "lambda_"), ("inner error", "alpha_min"), ("inner error", "rho")},
    BIASED: {("inner error", "gamma_bar")},
}


@pytest.mark.long
@pytest.mark.parametrize("key", [UNBIASED, BIASED])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_cell_has_a_verdict(key: str, seed: int) -> None:
    """The initial gap is attained in everything; the inner error, where it is loose, does not move at all."""
    found: Card = card(bounds.get(key), seed=seed)
    loose = {(cell.row.term, cell.parameter) for cell in found.cells if cell.finding is CellFinding.LOOSE}
    attained = {(cell.row.term, cell.parameter) for cell in found.cells if cell.finding is CellFinding.ATTAINED}
    assert loose == LOOSE[key]
    assert len(attained) + len(loose) == len(found.cells)
    for cell in found.cells:
        if cell.finding is CellFinding.LOOSE:
            assert cell.worst is not None
            assert abs(cell.worst.measured.exponent) < 0.1
