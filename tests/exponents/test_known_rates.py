"""The rate card against textbooks: exponents that are known, and constants in closed form."""

import dataclasses
import functools

import known_rates as known
import mpmath
import numpy as np
import pytest

from ratecheck.engines.setup import prepare
from ratecheck.engines.types.averages import average
from ratecheck.exponents.card import CellFinding, card
from ratecheck.exponents.hard_instances import worst
from ratecheck.outcome import Outcome
from ratecheck.participation import Uniform
from ratecheck.problems import Quadratic
from ratecheck.statistics.exponent_fit import fit

NEAR = 0.03


@functools.cache
def cell(statement_of, row, parameter):
    """The cell of a row in one parameter."""
    (found,) = [each for each in card(statement_of(), over=[parameter]).cells if each.row.name == row]
    return found


def gd():
    """Gradient descent."""
    return known.GRADIENT_DESCENT


def sgd():
    """Stochastic gradient descent, tuned."""
    return known.SGD


def sampling():
    """FedAvg with one step of each participant, tuned."""
    return known.SAMPLING


def local_sgd():
    """K local steps of everybody."""
    return known.drift("fedavg")


EXPONENTS = [
    (gd, "initial gap", "T", -1.0),
    (gd, "initial gap", "L", 1.0),
    (gd, "initial gap", "F_0", 1.0),
    (sgd, "variance: sigma_u", "T", -0.5),
    (sgd, "variance: sigma_u", "n", -0.5),
    (sgd, "variance: sigma_u", "sigma_u", 1.0),
    (sgd, "initial gap", "n", 0.0),
    (sampling, "variance: b", "T", -0.5),
    (sampling, "variance: b", "n", 0.0),
    (sampling, "variance: b", "b", 1.0),
    (local_sgd, "drift: b", "K", 2.0),
    (local_sgd, "drift: b", "gamma_u", 2.0),
    (local_sgd, "drift: b", "b", 2.0),
    (local_sgd, "drift: b", "T", 0.0),
    (local_sgd, "initial gap", "K", -1.0),
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("statement", "row", "parameter", "exponent"), EXPONENTS)
def test_exponents(statement, row, parameter, exponent):
    """What the worst case found does, and what the textbook says."""
    found = cell(statement, row, parameter)
    assert found.finding is CellFinding.ATTAINED
    assert found.worst.measured.exponent == pytest.approx(exponent, abs=NEAR)
    assert found.worst.predicted.exponent == pytest.approx(exponent, abs=NEAR)


def test_gradient_descent_attains_its_bound():
    """A quadratic of curvature L is minimised in one step, after which 2 L F_0 has been seen once."""
    assert cell(gd, "initial gap", "T").worst.constant == pytest.approx(1.0, rel=1e-9, abs=0)


@pytest.mark.parametrize(("statement", "row"), [(sgd, "variance: sigma_u"), (sampling, "variance: b")])
def test_noise_is_a_quarter_of_its_bound(statement, row):
    """E G = L gamma variance/2 in the end, and that is sqrt(L F_0 variance/(2 T)): a quarter of the tuned term."""
    assert cell(statement, row, "T").worst.constant == pytest.approx(0.25, rel=0.01)


def test_fedavg_gains_as_the_root_of_its_participants():
    """Of a million clients, one to a thousand."""
    m = np.geomspace(1, 1000, 7).round()
    at = {"n": 1e6, "T": 1e8, "L": 1.0, "F_0": 1.0, "b": 10.0}
    left = np.array([worst(known.SAMPLING, {**at, "m": each}, "b").left for each in m])
    assert fit(m, left).exponent == pytest.approx(-0.5, abs=0.002)


def test_drift_in_closed_form():
    """K local steps of clients w, 1 - w of which have curvatures h, 0 and slopes s, -w s/(1 - w), from x = 0.

    A round is x' - x* = rho (x - x*) with rho = 1 - w (1 - r^K), r = 1 - gamma h, x* = s/h - gamma K s/(1 - r^K).
    """
    found = cell(local_sgd, "drift: b", "K").worst
    at = found.hardest
    with mpmath.workdps(60):
        w = mpmath.mpf(at.sizes[0]) / sum(at.sizes)
        h, s, gamma = (mpmath.mpf(each) for each in (at.curvatures[0], at.slopes[0], at.values["gamma_u"]))
        K, T = int(at.values["K"]), int(at.values["T"])
        power = (1 - gamma * h) ** K
        rho = 1 - w * (1 - power)
        limit = w * h * (s / h - gamma * K * s / (1 - power))
        sums = 1 - 2 * (1 - rho**T) / (1 - rho) / T + (1 - rho ** (2 * T)) / (1 - rho**2) / T
        expected = float(limit**2 * sums)
    assert at.curvatures[1] == 0.0
    assert found.left[-1] == pytest.approx(expected, rel=1e-6, abs=0)


def test_scaffold_has_no_worst_case_of_drift():
    """A thousandfold b is a millionfold of FedAvg's worst case; what SCAFFOLD has is the numbers' rounding."""
    at = {"n": 4.0, "K": 50.0, "T": 1e5, "L": 1.0, "F_0": 1.0, "gamma_u": 1 / 1600}
    sizes = np.array([1.0, 10.0, 1000.0])
    fedavg, free = (
        np.array([worst(known.drift(method), {**at, "b": b}, "b").left for b in sizes])
        for method in ("fedavg", "scaffold")
    )
    assert fit(sizes, fedavg).exponent == pytest.approx(2.0, abs=1e-6)
    assert (free < 1e-9 * fedavg).all()


def left_side(method, b):
    """Exact: ten thousand rounds of five local steps, clients whose slopes differ by b."""
    h, g = np.array([1.0, 1.0, 0.0, 0.0]), b * np.array([1.0, 1.0, -1.0, -1.0])
    problem = Quadratic(h[:, None, None], g[:, None], 1)
    steps = {"gamma_u": 0.01, "eta_u": 1.0}
    setup = prepare(method, problem, Uniform(4, 4), K=5, T=10**4, x0=[1.0], noise={"sigma_u": 0.1}, step_sizes=steps)
    return average(setup).records["G_u"]


def test_scaffold_is_free_from_b():
    """A thousand times the dissimilarity moves FedAvg's left side a million times, and SCAFFOLD's not at all."""
    assert left_side("scaffold", 1000.0) == pytest.approx(left_side("scaffold", 1.0), rel=1e-6, abs=0)
    assert left_side("fedavg", 1000.0) > 1e4 * left_side("fedavg", 1.0)


@pytest.mark.parametrize(
    ("statement", "row", "parameter"),
    [(sgd, "variance: sigma_u", "T"), (sampling, "variance: b", "b"), (local_sgd, "initial gap", "K")],
)
def test_worst_instances_are_as_hard_in_verify(statement, row, parameter):
    """The left side of the instance at the last point, by the exact engine."""
    hardest = cell(statement, row, parameter).worst.hardest
    verdict = hardest.instance().verdict()
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.comparisons[0].left == pytest.approx(hardest.left, rel=1e-8, abs=0)


def test_what_verify_does_not_follow_is_confirmed_on_a_short_run():
    """A drift ten thousand times too small, on unlike curvatures over more rounds than are followed one by one."""
    statement = local_sgd()
    claim = statement.claims[0]
    terms = {**claim.terms, "drift": claim.terms["drift"] / 10**4}
    planted = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
    (found,) = [each for each in card(planted, over=["T"]).cells if each.row.name == "drift: b"]
    assert found.finding is CellFinding.EXCEEDED
    assert found.regime.values[0] > 10**7 > found.violation.at
    assert found.violation.verdict is Outcome.VIOLATED
    assert found.violation.left > found.violation.bound
