"""Exponents of SimFBO's orders: against closed forms, against the orders themselves, and with planted ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from planted_rates import planted

import bounds
from bounds.statement import Statement, number
from ratecheck.errors import InputError
from ratecheck.exponents import bilevel_orders as orders
from ratecheck.exponents.families.bilevel import CONSTANTS, Cause, family
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.order_exponent import compare

ORDER = "simfbo/theorem-1-order"
ORDERS = (ORDER, "simfbo/theorem-1-order-full", "simfbo/theorem-1-order-partial", "simfbo/theorem-2-order")
# What the worst case does, by (term, parameter): from the stationary variance of a linear recursion, the descent of its
# mean, and the fixed point of local steps on unlike clients, each at step sizes of the order of (38).
KNOWN = {
    ("partial participation", "T"): -0.5,
    ("partial participation", "tau_bar"): 0.5,
    ("full synchronisation", "T"): -0.5,
    ("full synchronisation", "P"): -0.5,
    ("full synchronisation", "n"): 0.0,
    ("full synchronisation", "tau_bar"): -0.5,
    ("local updates", "T"): -1.0,
    ("local updates", "P"): 0.0,
    ("local updates", "tau_bar"): 0.0,
}


@pytest.mark.parametrize("regime", Cause)
def test_the_family_keeps_to_its_constants(regime: Cause) -> None:
    """What the problems certify of themselves is within what the step sizes take for granted, and Phi is as curved."""
    for instance in family(regime, 1e-3):
        problem = instance.problem(6)
        x, y, v = instance.begin(problem)
        found = problem.constants(x, y, v, **instance.noises)
        assert found["mu_g"].value >= CONSTANTS["mu_g"] * (1 - 1e-12)
        for name in ("L_1", "L_2", "L_3", "sigma_f", "sigma_g", "beta_gh", "sigma_gh"):
            assert found[name].value <= CONSTANTS[name] * (1 + 1e-12), name
        gap = found["Phi_gap"].value + found["Delta_y"].value + found["Delta_v"].value
        assert gap == pytest.approx(1.0 if instance.start else 0.0, abs=1e-9)
        assert problem.hypergradient_map()[0][0, 0] == pytest.approx(instance.curvature)


def test_steps_have_the_order_and_keep_the_conditions() -> None:
    """The constants are the largest: the theorem's conditions hold with them, and one breaks with a little more."""
    statement, theorem = bounds.get(ORDER), bounds.get("simfbo/theorem-1")
    point = {"n": 16.0, "P": 4.0, "tau_bar": 8.0, "T": 1e8}
    steps = orders.admissible(statement, (Cause.DRIFT,), (point,))

    def broken(gamma: float, eta: float) -> set[str]:
        values = {**CONSTANTS, **point, "rho_bar": 8.0, "gamma_x": gamma * math.sqrt(4 / (8 * 1e8))}
        values |= dict.fromkeys(("eta_x", "eta_y", "eta_v"), eta / (8 * math.sqrt(1e8)))
        checks = [check for key in (theorem, bounds.get("simfbo/theorem-1-repaired")) for check in _checks(key, values)]
        assert all(check.holds is not None for check in checks)
        return {check.condition.name for check in checks if check.holds is False}

    def _checks(key: Statement, values: dict[str, float]):
        return key.check_conditions(key.complete(values)[0])

    assert not broken(steps.gamma * (1 - 1e-9), steps.eta * (1 - 1e-9))
    assert broken(steps.gamma * 1.001, steps.eta * 0.999)
    assert broken(steps.gamma * 0.999, steps.eta * 1.001)


def test_drift_is_that_of_the_fixed_point_of_local_steps() -> None:
    """Clients descend q_i x on curvatures H_i: their mean stops where the gradient is eta (K - 1)/2 mean(H_i q_i)."""
    values = {"n": 4.0, "P": 4.0, "tau_bar": 64.0, "T": 2e9}
    statement = bounds.get("simfbo/theorem-1-order-full")
    steps = orders.admissible(statement, (Cause.DRIFT,), (values,))
    found = orders.measured(statement, "local updates", values, steps=steps)
    assert (found.instance.spread, found.instance.bend) == ("x", "xx")
    eta = steps.eta / (64 * math.sqrt(2e9))
    # Q_i differs by 0.2 and the gradient by 1, so that mean(H_i q_i) = 0.2.
    assert found.left == pytest.approx((eta * 63 / 2 * 0.2) ** 2, rel=0.1)
    assert found.error < 1e-4 * found.left


def test_noise_is_that_of_a_linear_recursion() -> None:
    """A plain recursion of mean and covariance in (x, y, v), round by round, has the same average."""
    statement = bounds.get("simfbo/theorem-1-order-full")
    values, steps = {"n": 4.0, "P": 4.0, "tau_bar": 1.0, "T": 3000.0}, orders.Steps(gamma=0.02, eta=1.0)
    found = orders.measured(statement, "full synchronisation", values, regimes=(Cause.NOISE,), steps=steps)
    problem = found.instance.problem(4)
    M, _ = problem.operator()
    gamma = 0.02 * math.sqrt(4 / 3000)
    # (38) by hand at mu_g = 0.8, L_1 = 1: K_1, K_2 are over the ratios, L_y = 5/4.
    L_v = math.sqrt(2 / 0.64) * math.sqrt(1 + 1.25**2)
    c_y = 16 * math.sqrt((40 / 0.8 + 384 * 2 / 0.8**3) * 1.25 / 0.8)
    D = gamma * np.diag([1.0, c_y, 16 * math.sqrt(6 / 0.8 * L_v / 0.8)])
    # Total variance 1 of grad f in (x, y) is 1/2 an entry, of which x and v see one each.
    noise = np.diag([0.5, 0.0, 0.5] if found.instance.noise == "sigma_f" else [0.0, 1.0, 0.0]) / 4
    A, C, total = np.eye(3) - D @ M[0], np.zeros((3, 3)), 0.0
    for _ in range(3000):
        total += found.instance.curvature**2 * C[0, 0]
        C = A @ C @ A.T + D @ noise @ D
    assert found.left == pytest.approx(total / 3000, rel=1e-9)


@pytest.mark.every(2)
@pytest.mark.parametrize("parameter", ["T", "P"])
def test_noise_falls_with_the_root(parameter: str) -> None:
    """The textbook's rate of stochastic gradients, without a start that is off: T^(-1/2) and P^(-1/2)."""
    found = orders.exponent(bounds.get(ORDER), "full synchronisation", parameter, regimes=(Cause.NOISE,))
    assert found.measured == pytest.approx(-0.5, abs=0.01)
    assert found.low == pytest.approx(-0.5, abs=0.01) == found.high
    assert found.verdict is CellFinding.ATTAINED
    assert "noise" in found.where


def test_the_drift_does_not_fall_with_the_local_steps() -> None:
    """The proof of Lemma 8 lost a factor tau_bar: the printed M_3/(tau_bar T) is too good, by that factor."""
    found = orders.exponent(bounds.get(ORDER), "local updates", "tau_bar")
    assert found.predicted == pytest.approx(-1)
    assert found.measured == pytest.approx(0, abs=0.03)
    assert found.verdict is CellFinding.EXCEEDED
    assert found.values[-1] / found.values[0] == pytest.approx(64)


def test_without_noise_the_order_hides_the_initial_gap() -> None:
    """M_2 = 0 without noise, and P = n leaves M_3/(tau_bar T) alone: a start off the solution falls as T^(-1/2)."""
    statement = bounds.get("simfbo/theorem-1-order-full")
    noiseless = {**CONSTANTS, "sigma_f": 0.0, "sigma_g": 0.0, "n": 8.0, "P": 8.0, "tau_bar": 4.0, "T": 1e9}
    completed, _ = statement.bare.complete({**noiseless, "c_gamma_y": 1.0, "c_gamma_v": 1.0})
    assert number(statement.claims[0].terms["full synchronisation"], completed) == 0
    found = orders.exponent(statement, "local updates", "T", regimes=(Cause.START,))
    assert found.measured == pytest.approx(-0.5, abs=0.01)
    assert found.verdict is CellFinding.EXCEEDED


@pytest.mark.every(3)
@pytest.mark.parametrize(("term", "parameter"), [("full synchronisation", "T"), ("partial participation", "tau_bar")])
@pytest.mark.parametrize("power", [-0.25, 0.25])
def test_a_planted_exponent(term: str, parameter: str, power: float) -> None:
    """A quarter too good is exceeded, a quarter too bad is loose by that much."""
    found = orders.exponent(planted(bounds.get(ORDER), term, parameter, sp.Rational(power)), term, parameter)
    assert found.measured - found.predicted == pytest.approx(-power, abs=0.03)
    assert found.verdict is (CellFinding.EXCEEDED if power < 0 else CellFinding.LOOSE)


@pytest.mark.long
@pytest.mark.parametrize("key", ORDERS)
def test_every_order(key: str) -> None:
    """Every printed exponent is attained, but for that of tau_bar in the drift; what is known is met; all plantings."""
    statement = bounds.get(key)
    for term in statement.claims[0].terms:
        for parameter in orders.parameters(statement):
            found = orders.exponent(statement, term, parameter)
            if key == "simfbo/theorem-1-order-partial" and term == "local updates":
                assert found.verdict is CellFinding.NOT_REACHED
                continue
            wrong = (term, parameter) == ("local updates", "tau_bar")
            assert found.verdict is (CellFinding.EXCEEDED if wrong else CellFinding.ATTAINED), (term, parameter)
            if (term, parameter) in KNOWN and (key, parameter) != ("simfbo/theorem-1-order-full", "n"):
                assert found.measured == pytest.approx(KNOWN[term, parameter], abs=0.02)
            assert np.all(found.errors < 1e-3 * found.lefts)
            if not wrong:
                for power in (-0.25, 0.25):
                    again = orders.exponent(planted(statement, term, parameter, sp.Rational(power)), term, parameter)
                    assert again.measured - again.predicted == pytest.approx(-power, abs=0.03)
                    assert again.verdict is (CellFinding.EXCEEDED if power < 0 else CellFinding.LOOSE)


def test_only_a_gain_throughout_is_an_accusation() -> None:
    """A left side that gains on the term in one half of the range only says nothing."""
    values, flat = (1.0, 10.0, 100.0), np.zeros(3)
    gains = compare("T", values, (1.0, 0.1, 0.01), np.array([1.0, 0.3, 0.09]), flat, "")
    assert (gains.verdict, gains.text) == (CellFinding.EXCEEDED, "EXCEEDED by T^0.48")
    part = compare("T", values, (1.0, 0.1, 0.01), np.array([1.0, 0.09, 0.08]), flat, "")
    assert part.verdict is CellFinding.NOT_REACHED
    loose = compare("T", values, (1.0, 0.1, 0.01), np.array([1.0, 0.05, 0.0025]), flat, "")
    assert loose.text == "LOOSE by T^0.30"


def test_a_large_error_accuses_nobody() -> None:
    """Nor does it acquit: a left side that is hardly known is no point of a law."""
    for end in (0.2, 0.1, 0.05):
        sure = compare("T", (1.0, 10.0), (1.0, 0.1), np.array([1.0, end]), np.array([0.005, 0.0]), "")
        assert sure.verdict is not CellFinding.NOT_REACHED
        found = compare("T", (1.0, 10.0), (1.0, 0.1), np.array([1.0, end]), np.array([0.5, 0.1]), "")
        assert found.verdict is CellFinding.NOT_REACHED


def test_what_is_not_measured_is_said_in_one_line() -> None:
    """Another statement, term or parameter."""
    with pytest.raises(InputError, match="theorem-1 and theorem-2 only"):
        orders.exponent(bounds.get("simfbo/theorem-1"), "local updates", "T")
    with pytest.raises(InputError, match=r"no term 'local update'.*did you mean 'local updates'"):
        orders.exponent(bounds.get(ORDER), "local update", "T")
    with pytest.raises(InputError, match="says nothing about 'K'"):
        orders.exponent(bounds.get(ORDER), "local updates", "K")
