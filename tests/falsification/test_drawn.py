"""The search of instances of which runs have to be drawn, and the bounds that no few runs decide."""

import contextlib
import time
from typing import ClassVar

import numpy as np
import pytest

from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.falsification.cube_search import Budget, Ended
from ratecheck.falsification.drawn import CONFIRMED, RANKED, DrawnSearch
from ratecheck.falsification.falsify import falsify
from ratecheck.falsification.shrink import shrink
from ratecheck.families.cube import Cube
from ratecheck.families.registry import drawn_shapes, shapes
from ratecheck.outcome import Outcome


class Normalised(OneStep):
    """SGD whose steps have one length."""

    linear = False
    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u"}
    measures = ("length",)

    def step(self, local, gradient, p):
        """The gradient as the message."""
        return {**local, "x": gradient["u"]}

    def aggregate(self, server, total, p):
        """A step of length gamma."""
        length = np.linalg.norm(total["x"], axis=-1, keepdims=True)
        return {"x": server["x"] - p["gamma_u"] * total["x"] / np.where(length > 0, length, 1)}

    def measure(self, server, gradient, p):
        """The norm of the gradient at the server's point."""
        return {"length": np.linalg.norm(gradient["u"], axis=-1, keepdims=True)}


NORM = symbol("norm1", "norm of the gradient", role="measured", fact="length", degrees=(1, -1), domain="nonnegative")


@pytest.fixture
def normalised(monkeypatch):
    """A method's name under which steps of one length are registered."""
    monkeypatch.setitem(
        METHODS, "normalised", Method("normalised", "normalised", Normalised(), {"K": 1}, personal=False)
    )
    more = {"method": "normalised", "given": "smooth, noise", "when": "n == 1, m == 1"}
    text = "mean norm1 <= F_0/(gamma*T) + L*gamma/2 + {}*sigma"
    return lambda noise, norm=NORM: theorem(text.format(noise), symbols=norm, **more)


def searched(statement, evaluations=160):
    """What a search of drawn runs finds."""
    search = DrawnSearch(statement, Budget(evaluations), RANKED, lambda *_: None, time.monotonic())
    with contextlib.suppress(Ended):
        search.all([Cube(statement, shape) for shape in drawn_shapes(statement)], np.random.default_rng(0))
    return search


def test_a_noise_term_that_is_too_small_is_found_of_a_method_that_is_not_linear(normalised):
    """Of normalised SGD the noise floor is sigma times a constant, whatever the step size; 2 of them are enough."""
    assert searched(normalised("2")).best is None
    found = searched(normalised("(1/20)"))
    _, instance, verdict, _ = found.best
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.replicates > RANKED.replicates
    assert verdict.level == CONFIRMED.level
    # By hand, with the same law and other draws.
    x, rng = np.zeros(200_000), np.random.default_rng(5)
    simple = shrink(instance, 200.0, verdict=verdict)
    given, problem = simple.instance.given, simple.instance.problem
    H, g = float(np.ravel(problem.H)[0]), float(np.ravel(problem.g)[0])
    total, gamma = 0.0, given.get("gamma", simple.verdict.values["gamma"])
    for _ in range(int(given["T"])):
        slope = H * x - g
        total = total + np.abs(slope)
        x = x - gamma * np.sign(slope + given["sigma"] * rng.standard_normal(x.shape))
    left = total / given["T"]
    assert left.mean() - 5 * left.std() / np.sqrt(len(x)) > simple.verdict.worst.right


def test_noise_on_piecewise_functions_is_drawn():
    """Where a function flattens noise is not pulled back; what it adds in every round bounds it."""
    more = {"method": "sgd", "given": "smooth, convex, noise", "when": "gamma <= 1/L"}
    wrong = theorem("last dist2 <= dist2_0 + 3*gamma*sigma**2/L", **more)
    assert searched(wrong).best[2].outcome is Outcome.VIOLATED
    right = theorem("last dist2 <= dist2_0 + T*gamma**2*sigma**2", **more)
    assert searched(right).best is None


@pytest.mark.parametrize(
    ("text", "right", "wrong", "more"),
    [
        ("gap at the mean iterate <= dist2_0/(2*gamma*T) + {}*gamma*sigma**2", "1/2", "1/8",
         {"method": "sgd", "given": "smooth, convex, noise", "when": "gamma <= 1/L"}),
        ("gap at the mean iterate <= dist2_0/(2*gamma*T) + {}", "gamma*sigma**2/2", "sigma**2/(2*mu*T)",
         {"method": "sgd", "given": "smooth, strongly convex, noise", "when": "gamma <= 1/L"}),
        ("{} gap <= dist2_0/(2*gamma*T) + 3*gamma*zeta**2*(n - m)/(10*m*max(1, n - 1))", None, "last",
         {"method": "fedavg", "given": "smooth, convex, sampling", "when": "gamma <= 1/(4*L), K == 1"}),
        ("mean gap <= dist2_0/(2*gamma*T) + gamma*(G**2 + {}*sigma**2)/2", "1", "1/4",
         {"method": "sgd", "given": "smooth, convex, bounded_gradients, noise", "when": "gamma <= 1/L"}),
        ("gap <= dist2_0/(2*gamma*(t + 1)) + {}*gamma*sigma**2", None, "3/10",
         {"method": "sgd", "given": "smooth, convex, noise", "when": "gamma <= 1/(4*L)"}),
    ],
    ids=["mean iterate", "strongly convex", "sampled clients", "bounded gradients", "every round"],
)  # fmt: skip
def test_a_bound_of_the_gap_that_is_right_of_quadratics_alone_is_found(text, right, wrong, more):
    """Averages of long runs forget the step size on quadratics only, and flat functions let noise go further."""
    found = searched(theorem(text.format(wrong), **more), 80)
    _, instance, verdict, _ = found.best
    assert (verdict.outcome, verdict.level) == (Outcome.VIOLATED, CONFIRMED.level)
    assert instance.problem.kind == "piecewise"
    assert right is None or searched(theorem(text.format(right), **more), 80).best is None


def test_each_instance_is_looked_at_once():
    """Where little is hoped for a few points are looked at first, and the next ones after them."""
    statement = theorem("last gap <= dist2_0/(2*gamma*T) + gamma*sigma**2", method="sgd", given="smooth, convex, noise",
                        when="gamma <= 1/(4*L)")  # fmt: skip
    search = DrawnSearch(statement, Budget(60), RANKED, lambda *_: None, time.monotonic())
    search.worth = 1.0
    seen = []
    slack = search.slack
    search.slack = lambda cube, point: seen.append(point.tobytes()) or slack(cube, point)
    search.evolve = search.polish = lambda *_: None
    with contextlib.suppress(Ended):
        search.all([Cube(statement, shape) for shape in drawn_shapes(statement)], np.random.default_rng(0))
    assert len(seen) == len({*seen}) > 20


def test_without_anything_random_nothing_is_drawn():
    """A method that is linear has no drawn runs where there is no noise and everybody takes part."""
    quiet = theorem("last gap <= dist2_0/(2*gamma*T)", method="gd", given="smooth, convex", when="gamma <= 1/L")
    assert drawn_shapes(quiet) == []


def test_what_is_known_by_drawn_runs_alone_has_a_verdict():
    """Bounded gradients exclude quadratics, and compression the exact engines: some instance is shown all the same."""
    statement = theorem(
        "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*G**2 + 4*L**2*gamma**2*(1 - q)*G**2/q**2",
        method="ef-sgd", given="smooth, bounded_gradients", when="n == 1, m == 1",
    )  # fmt: skip
    found = falsify(statement, Budget(200))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.verdict.replicates is not None
    assert any("drawn" in each for each in found.searched.families)


def test_identical_clients_have_one_function():
    """Delays of ten clients that take turns: the step size has to fall with the delay, not with its root."""
    more = {"method": "async-sgd", "given": "smooth, homogeneous"}
    for shape in shapes(theorem("mean grad2 <= 2*F_0/(gamma*T)", when="gamma <= 1/(2*L*tau), sigma == 0", **more)):
        assert shape.n == 1 or shape.groups == 1
    wrong = theorem("mean grad2 <= 2*F_0/(gamma*T)", when="gamma <= 1/(2*L*sqrt(tau)), sigma == 0", **more)
    assert falsify(wrong, Budget(300)).outcome is Outcome.VIOLATED


def test_what_rests_on_a_supposition_stays_open(normalised):
    """A quantity that may be negative has no bound without one on its kurtosis."""
    signed = symbol("norm1", "norm of the gradient", role="measured", fact="length", degrees=(1, -1))
    wrong = normalised("0", signed)
    search = searched(wrong, 60)
    assert search.best is None
    assert "kurtosis" in search.unconfirmed.why
    search.hardest()
    assert search.best is None or search.best[2].outcome is not Outcome.VIOLATED
