"""A counterexample that starts where f is least: F_0 = 0 is outside its domain, and the answer is written."""

from typing import ClassVar

import numpy as np
import pytest

from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample


class Normalised(OneStep):
    """x <- x - gamma g/||g||, which noise drives away from the minimum."""

    linear = False
    step_sizes = ("gamma_u",)
    server: ClassVar[dict[str, str]] = {"x": "u"}

    def step(self, local, gradient, p):
        return {**local, "x": gradient["u"]}

    def aggregate(self, server, total, p):
        size = np.linalg.norm(total["x"], axis=-1, keepdims=True)
        return {"x": server["x"] - p["gamma_u"] * total["x"] / np.where(size > 0, size, 1)}


@pytest.fixture
def normalised(monkeypatch):
    """A bound that noise breaks."""
    monkeypatch.setitem(METHODS, "normed", Method("normed", "normed", Normalised(), {"K": 1}, personal=False))
    return theorem(
        "mean grad2 <= 2*L*F_0/T", method="normed", given="smooth, noise", when="n == 1, m == 1", key="own/normed"
    )


def test_is_written(normalised):
    """Without F_0, which has no exact number there."""
    parabola = Quadratic(np.ones((1, 1, 1)), np.zeros((1, 1)), shared=1)
    instance = Instance(normalised, parabola, None, {"K": 1.0, "T": 8.0, "sigma": 4.0, "gamma": 0.125})
    verdict = instance.verdict(SEARCHED)
    assert verdict.outcome is Outcome.VIOLATED
    text = WrittenCounterexample(instance, verdict).text
    assert text.startswith("one client, f = x^2/2")
    assert "F_0" not in text
