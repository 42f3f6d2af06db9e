"""Methods that ask for two gradients in a local step have no box, which is said and is no error of the program."""

from __future__ import annotations

import numpy as np
import pytest

from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.answers import gradient_at
from ratecheck.algorithms.momentum import OneStep
from ratecheck.certification.continued_functions import Continued
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo.visits import box
from ratecheck.errors import InputError
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

pytestmark = pytest.mark.quick


class Estimate(OneStep):
    """x <- x - gamma d, d being a gradient plus what is left of the last d less one at the point before."""

    step_sizes = ("gamma_u", "a")
    server = {"x": "u", "before": "u", "d": "u"}  # noqa: RUF012
    client = {"v": "v", "g": "u"}  # noqa: RUF012
    local = {"x": "u", "before": "u", "new": "u", "old": "u", "v": "v"}  # noqa: RUF012
    message = {"new": "u", "old": "u"}  # noqa: RUF012
    also = {"old": gradient_at("before")}  # noqa: RUF012

    def start_client(self, point, gradient, p):
        return {"v": point["v"], "g": gradient["u"]}

    def start_server(self, point, clients, p):
        return {"x": point["u"], "before": point["u"], "d": clients["g"]}

    def begin(self, server, client, p):
        none = 0 * server["x"]
        return {"x": server["x"], "before": server["before"], "new": none, "old": none, "v": client["v"]}

    def step(self, local, gradient, p):
        return {**local, "new": gradient["u"], "old": gradient["old"]}

    def finish(self, server, client, local, p):
        return {"v": local["v"], "g": client["g"]}, {"new": local["new"], "old": local["old"]}

    def aggregate(self, server, total, p):
        d = total["new"] / p["m"] + (1 - p["a"]) * (server["d"] - total["old"] / p["m"])
        return {"x": server["x"] - p["gamma_u"] * d, "before": server["x"], "d": d}


def test_two_gradients_have_no_box(monkeypatch):
    """No continuation is known then."""
    monkeypatch.setitem(METHODS, "estimate", Method("estimate", "estimate", Estimate(), {"K": 1}, personal=False))
    problem, trace = Quadratic(np.ones((2, 1, 1)), np.ones((2, 1)), 1), Trace(np.ones((3, 2), dtype=bool))
    run = setup.prepare("estimate", problem, trace, K=1, T=3, step_sizes={"gamma_u": 0.1, "a": 0.5}, noise={})
    with pytest.raises(InputError, match="more than one gradient"):
        box(run)
    assert Continued.of(run) is None
