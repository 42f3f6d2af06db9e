"""The gap of piecewise quadratic functions in random runs, beside all outcomes of a run, enumerated in rationals."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.engines.monte_carlo.stepwise import StepKernel
from ratecheck.engines.setup import prepare
from ratecheck.kernels.random import stream_keys
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.problems import Piecewise
from ratecheck.settings.setting import Options
from ratecheck.verification.verify import verify

# f' = min(max(x + 1/4, -1), 1): Huber's function with its minimiser at -1/4.
HUBER = Piecewise([[[-1.25, 0.75]]], [[[0.0, 1.0, 0.0]]], [[0.25]])
# f_1' = f' + 3 and f_2' = f' - 3.
APART = Piecewise([[[-1.25, 0.75]]] * 2, [[[0.0, 1.0, 0.0]]] * 2, [[3.25], [-2.75]])
GAMMA, T, START = Fraction(1, 4), 5, Fraction(1, 8)
BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed


def slope(x):
    """f'(x)."""
    return min(max(x + Fraction(1, 4), Fraction(-1)), Fraction(1))


def gap(x):
    """f(x) + f(-1/4): half a square up to 1 from the minimiser, linear beyond."""
    away = abs(x + Fraction(1, 4))
    return away**2 / 2 if away <= 1 else away - Fraction(1, 2)


def off(x):
    """What a step takes with noise of two values, or with the one of two clients that takes part."""
    return slope(x) + 3, slope(x) - 3


def sent(x):
    """What a step takes of a message that is sent, twice as large, with probability 1/2."""
    return 2 * slope(x), Fraction(0)


def outcomes(taken):
    """The points before every round, for each of the outcomes of a run's steps."""
    for which in itertools.product((0, 1), repeat=T - 1):
        points = [START]
        for side in which:
            points.append(points[-1] - GAMMA * taken(points[-1])[side])
        yield points


def means(points):
    """x^0 + (1/T) sum_{0 < s <= t} (x^s - x^0): the mean of the iterates in the last round."""
    return [START + sum(x - START for x in points[: t + 1]) / T for t in range(T)]


@pytest.mark.parametrize(
    ("method", "problem", "trace", "taken", "recorded", "more"),
    [
        ("fedavg", HUBER, Trace.full(1), off, list, {"eta_u": 1.0, "sigma_u": 3.0}),
        ("fedavg", APART, Trace.uniform(2, 1), off, list, {"eta_u": 1.0}),
        ("averaged-fedavg", HUBER, Trace.full(1), off, means, {"eta_u": 1.0, "sigma_u": 3.0, "iterate_share": 1 / T}),
        ("compressed-sgd", HUBER, Trace.full(1), sent, list, {"q": 0.5}),
    ],
    ids=["noise", "sampled clients", "mean iterate", "compression"],
)
def test_every_replicate_is_one_of_the_outcomes(method, problem, trace, taken, recorded, more):
    """Sixteen paths of equal probability: each is met, no other gap is recorded, and the mean is theirs."""
    runs = 2000
    found = rc.simulate(
        method, problem, trace, K=1, T=T, x0=[float(START)], gamma_u=float(GAMMA), noise="signs", records=("gap",),
        replicates=runs, seed=3, **more,
    ).records["gap"]  # fmt: skip
    exact = np.array([[float(gap(x)) for x in recorded(points)] for points in outcomes(taken)])
    distances = np.abs(found[:, None] - exact).max(axis=2)
    assert distances.min(axis=1).max() <= 1e-13
    assert {*distances.argmin(axis=1)} == {*range(2 ** (T - 1))}
    error = found.std(axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(found.mean(axis=0) - exact.mean(axis=0)) <= BAND * error + 1e-13).all()


def test_a_gap_is_not_negative_by_rounding():
    """At a minimiser whose value is no float differences of values are below 0, and a gap is none of them."""
    below = 0
    for seed in range(20):
        problem = Piecewise.synthetic(3, 1, seed=seed)
        run = {"K": 1, "T": 1, "x0": [float(problem.minimiser[0])], "records": ("gap",)}
        steps = {"gamma_u": 0.5, "eta_u": 1.0}
        kernel = StepKernel(prepare("fedavg", problem, Trace.full(3), **run, step_sizes=steps))
        below += bool(kernel.run(stream_keys(0, range(8)), lambda _: None).min() < 0)
        recorded = rc.simulate("fedavg", problem, Trace.full(3), **run, **steps).records["gap"]
        assert recorded.min() >= 0
        assert recorded.max() <= problem.doubts["gap"]
    assert below


def test_a_random_gap_far_below_rounding_accuses_nobody():
    """Half of the messages of GD on a strongly convex function: the gap falls by 1 - gamma mu, its record to 1e-16."""
    statement = theorem(
        "last gap <= (1 - gamma*mu)**T*F_0",
        method="compressed-sgd", given="smooth, strongly convex", when="gamma <= q/L, n == 1, m == 1, sigma == 0",
    )  # fmt: skip
    problem = Piecewise([[[-0.4, 1.3]]], [[[1.0, 0.7, 0.4]]], [[1.9]])
    found = [verify(statement, problem, {"T": T, "q": 0.5}, Options(replicates=128)) for T in (20, 400)]
    assert [each.outcome for each in found] == [Outcome.HOLDS, Outcome.INCONCLUSIVE]
    assert found[1].worst.left > found[1].worst.right


@pytest.mark.parametrize(("noise", "outcome"), [("2", Outcome.HOLDS), ("1/5", Outcome.VIOLATED)])
def test_a_statement_about_the_gap_is_measured(noise, outcome):
    """On Huber's function noise of 5 costs some 0.4 gamma sigma^2, on quadratics with gamma = 1/2 at most 1/3 of it."""
    statement = theorem(
        f"mean gap <= dist2_0/(2*gamma*T) + {noise}*gamma*sigma**2",
        method="sgd", given="smooth, convex, noise", when="gamma <= 1/(2*L)",
    )  # fmt: skip
    found = verify(statement, HUBER, {"T": 64, "gamma": 0.5, "sigma": 5.0})
    assert (found.outcome, found.engine) == (outcome, "step")
    assert found.replicates is not None
