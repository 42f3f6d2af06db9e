"""Methods that stay in a set are about the minimum on it, and are judged where that is the minimum."""

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.sets import EuclideanBall, IntervalBox, Simplex
from ratecheck.algorithms.momentum import OneStep
from ratecheck.outcome import Outcome

D = 3


class Kept(OneStep):
    """x <- P(x - gamma g) for a function P."""

    linear = False
    step_sizes = ("gamma_u",)
    measures = ("mapping2",)

    def __init__(self, inside, name="kept"):
        self.inside = inside
        self.server = {"x": "u"}
        self.name = self.title = name

    def aggregate(self, server, total, p):
        """The mean of where the participants ended, inside."""
        return {"x": self.inside(total["x"] / p["m"])}

    def measure(self, server, gradient, p):
        """The squared gradient mapping."""
        moved = (server["x"] - self.inside(server["x"] - p["gamma_u"] * gradient["u"])) / p["gamma_u"]
        return {"mapping2": (moved**2).sum(axis=-1, keepdims=True)}


class FrankWolfe(Kept):
    """x <- x + (v - x)/2 for the corner v that the gradient points away from."""

    def step(self, local, gradient, p):
        """The gradient is sent."""
        return {**local, "x": gradient["u"]}

    def aggregate(self, server, total, p):
        """A step to the corner."""
        return {"x": server["x"] + p["gamma_u"] / 2 * (self.inside.__self__.least(total["x"]) - server["x"])}


class FrankWolfeInWords(FrankWolfe):
    """x <- x + share (v - x) with shares that begin with 1, on a ball that no object says."""

    varying = ("share",)

    def coefficients(self, t, T, p):
        """2/(t + 2)."""
        return {"share": 2 / (t + 2)}

    def aggregate(self, server, total, p):
        """A step to the point of the ball that is least along the gradient."""
        g = total["x"]
        corner = -self.inside * g / np.maximum(np.linalg.norm(g, axis=-1, keepdims=True), 1e-300)
        return {"x": server["x"] + p["share"] * (corner - server["x"])}

    def measure(self, server, gradient, p):
        """Nothing of interest."""
        return {"mapping2": 0 * server["x"][:, :1]}


class Clipping(Kept):
    """x <- x - gamma P(g): gradients are clipped, and points go anywhere."""

    def step(self, local, gradient, p):
        """A step along what is left of the gradient."""
        return {**local, "x": local["x"] - p["gamma_u"] * self.inside(gradient["u"])}

    def aggregate(self, server, total, p):
        """The mean of where the participants ended."""
        return {"x": total["x"] / p["m"]}


def _ball(radius):
    return lambda x: x * np.minimum(1, radius / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300))


def _made_there(x):
    return EuclideanBall(1).project(x)


# f = ||x - c||^2/2 with c = (3, 0, 0): outside of the first sets, inside of the second ones.
SMALL = {
    "ball": EuclideanBall(1).project,
    "box": IntervalBox(-1, 1).project,
    "simplex": Simplex(D, -1).project,
    "in-words": _ball(1),
    "clip": lambda x: np.clip(x, -1, 1),
    "made-there": _made_there,
}
LARGE = {"ball": EuclideanBall(4).project, "box": IntervalBox(-3, 3).project, "in-words": _ball(4)}
C = np.array([3.0, 0.0, 0.0])
PROBLEM = rc.problems.Quadratic([np.eye(D)], [C], D)
RIGHT = {
    "last gap <= R_0**2/(2*gamma*T)": "smooth, convex",
    "last dist2 <= (1 - gamma*mu)**T*dist2_0": "smooth, strongly convex",
    "mean mapping2 <= L*R_0**2/(gamma*T)": "smooth, convex",
}


@pytest.fixture
def verified(monkeypatch):
    """The verdict on a sentence about a method that stays inside."""

    def verified(sentence, inside, given="smooth, convex", kind=Kept, gamma=0.5):
        monkeypatch.setitem(METHODS, "kept", Method("kept", "kept", kind(inside), {"K": 1}, personal=False))
        own = symbol("mapping2", "squared gradient mapping", role="measured", fact="mapping2", degrees=(2, -2))
        claim = theorem(sentence, method="kept", given=given, when="gamma <= 1/L", symbols=own)
        return rc.verify(claim, problem=PROBLEM, T=20, gamma=gamma)

    return verified


class TestConfinedMethods:
    """The projected gradient method converges to the minimum on its set, from which nothing here is measured."""

    @pytest.mark.parametrize("name", SMALL)
    def test_a_minimum_outside_accuses_nobody(self, verified, name):
        """Right theorems say nothing then, while a plain loop is as far from inf f as the claim does not allow."""
        for sentence, given in RIGHT.items():
            found = verified(sentence, SMALL[name], given)
            assert found.outcome is Outcome.NOT_APPLICABLE
            assert "kept stays in " in " ".join(str(found).split())
        x = np.zeros((1, D))
        for _ in range(20):
            x = SMALL[name](x - 0.5 * (x - C))
        assert np.sum((x - C) ** 2) / 2 > C @ C / (2 * 0.5 * 20)

    @pytest.mark.parametrize("name", LARGE)
    def test_a_minimum_inside_is_the_minimum(self, verified, name):
        """Right theorems hold and wrong ones fall."""
        found = {sentence: verified(sentence, LARGE[name], given).outcome for sentence, given in RIGHT.items()}
        assert {*found.values()} == {Outcome.HOLDS}
        assert verified("last gap <= R_0**2*1e-14/(2*gamma*T)", LARGE[name]).outcome is Outcome.VIOLATED

    def test_what_is_not_about_the_minimum_is_judged(self, verified):
        """F_0 is at least what it is on the set."""
        assert verified("mean mapping2 <= 2*F_0/(gamma*T)", SMALL["ball"]).outcome is Outcome.HOLDS
        assert verified("mean mapping2 <= F_0/(9*gamma*T)", SMALL["ball"]).outcome is Outcome.VIOLATED

    def test_linear_minimisation_stays_inside(self, verified):
        """Steps to corners from where a run begins."""
        for radius, outcome in ((1, Outcome.NOT_APPLICABLE), (4, Outcome.HOLDS)):
            inside = EuclideanBall(radius).project
            assert verified("last gap <= 9*R_0**2/(gamma*T)", inside, kind=FrankWolfe).outcome is outcome

    def test_linear_minimisation_in_words(self, verified):
        """The minimum is inside where a large gradient leads as far as that."""
        for radius, outcome in ((1, Outcome.NOT_APPLICABLE), (4, Outcome.HOLDS)):
            claim = "last gap <= 2*L*64/(T + 2)"
            assert verified(claim, radius, kind=FrankWolfeInWords, gamma=1).outcome is outcome

    def test_clipped_gradients_go_anywhere(self, verified):
        """A set that is asked for gradients is none in which the method stays."""
        assert verified("last gap <= R_0**2/(gamma*T)", SMALL["ball"], kind=Clipping).outcome is Outcome.HOLDS

    def test_a_mean_of_iterates_is_refused_in_words(self, verified):
        """It is one of linear methods; nobody has a method called averaged-kept."""
        with pytest.raises(rc.InputError, match="kept has no mean iterate here: means of iterates are those of linear"):
            verified("gap at the mean iterate <= R_0**2/(2*gamma*T)", SMALL["ball"])
