"""Scouts of methods whose functions are called row by row, against verdicts at drawn points."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.answers import excess_at, gap_at, gradient_at
from ratecheck.algorithms.momentum import OneStep
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.scouting import numbers
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.scout import Scout
from tests.scouting.test_scout import Agreement, searched

# The share of verdicts whose slack a scout knows, at least: it follows no long runs by calls.
_KNOWN = 0.4


def _square(vector):
    return np.sum(vector**2, axis=-1, keepdims=True)


class Clipped(OneStep):
    """Steps of a bounded length, whose sum the server measures."""

    linear = False
    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u", "length": "u"}
    message: ClassVar = {"x": "u"}
    measures = ("length",)

    def start_server(self, point, clients, p):
        return {"x": point["u"], "length": 0 * point["u"]}

    def step(self, local, gradient, p):
        size = np.sqrt(_square(gradient["u"]))
        return {**local, "x": local["x"] - p["gamma_u"] * gradient["u"] / np.maximum(1, size)}

    def aggregate(self, server, total, p):
        x = total["x"] / p["m"]
        return {"x": x, "length": server["length"] + np.sqrt(_square(x - server["x"]))}

    def measure(self, server, gradient, p):
        return {"length": server["length"][:, :1] + 0 * _square(gradient["u"])}


class Above(OneStep):
    """Polyak's steps, by how far f_i is above its infimum, or that of f."""

    linear = False
    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u"}
    also: ClassVar = {"above": excess_at("x"), "gap": gap_at("x")}

    def step(self, local, gradient, p):
        square = _square(gradient["u"])
        size = np.minimum(gradient["above"] / np.where(square > 0, square, 1), p["gamma_u"])
        size = np.where(gradient["gap"] > 0, size, size / 2)
        return {**local, "x": local["x"] - size * gradient["u"]}


class Ahead(OneStep):
    """A linear step along the gradient a step ahead."""

    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u"}
    local: ClassVar = {"x": "u", "ahead": "u", "v": "v"}
    also: ClassVar = {"there": gradient_at("ahead")}

    def begin(self, server, client, p):
        return {"x": server["x"], "ahead": server["x"] * (1 + p["gamma_u"]), "v": client["v"]}

    def step(self, local, gradient, p):
        return {**local, "x": local["x"] - p["gamma_u"] * gradient["there"]}


class Falling(OneStep):
    """Steps that fall from round to round, of clients that come in turn."""

    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u"}
    varying = ("share",)

    def coefficients(self, t, T, p):
        return {"share": 1 / (t + 1)}

    def aggregate(self, server, total, p):
        return {"x": (1 - p["share"]) * server["x"] + p["share"] * total["x"] / p["m"]}


class Prepared(OneStep):
    """Steps along a mean of gradients that starts with a full one."""

    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u", "d": "u"}
    client: ClassVar = {"v": "v", "g": "u"}
    local: ClassVar = {"x": "u", "v": "v"}
    full_start = True

    def start_client(self, point, gradient, p):
        return {"v": point["v"], "g": gradient["u"]}

    def start_server(self, point, clients, p):
        return {"x": point["u"], "d": clients["g"]}

    def step(self, local, gradient, p):
        return {**local, "x": gradient["u"]}

    def finish(self, server, client, local, p):
        return {"v": local["v"], "g": client["g"]}, {"x": local["x"]}

    def aggregate(self, server, total, p):
        d = (server["d"] + total["x"] / p["m"]) / 2
        return {"x": server["x"] - p["gamma_u"] * d, "d": d}


class Branching(OneStep):
    """A step whose function compares a parameter, and so takes no arrays of it."""

    linear = False
    step_sizes = ("gamma_u",)
    server: ClassVar = {"x": "u"}

    def step(self, local, gradient, p):
        return {**local, "x": local["x"] - (p["gamma_u"] if p["gamma_u"] < 1 else 1.0) * np.sign(gradient["u"])}


_LENGTH = symbol("way", "sum of the lengths of steps", role="measured", fact="length")
_MORE = {"given": "smooth, convex", "when": "gamma*L <= 1"}
CASES = {
    "clipped": (Clipped, ["best grad2 <= F_0*(1 + L)/(gamma*T)"], _MORE),
    "measured": (Clipped, ["last way <= gamma*T"], {**_MORE, "symbols": [_LENGTH]}),
    "above": (Above, ["last gap <= dist2_0*max(L, 1/gamma)"], _MORE),
    "ahead": (Ahead, ["mean grad2 <= 5*L*F_0"], {"given": "smooth, convex", "when": "gamma*L <= 1/2"}),
    "falling": (
        Falling, ["mean grad2 <= 8*F_0*L + zeta**2"], {"given": "smooth, cyclic blocks", "when": "gamma*L <= 1"},
    ),
    "prepared": (
        Prepared, ["mean grad2 <= 8*F_0/(gamma*T) + L*gamma*sigma**2"],
        {"given": "smooth, noise, full participation", "when": "gamma*L <= 1/4"},
    ),
}  # fmt: skip


def _stated(monkeypatch, name, kind, claims, more):
    monkeypatch.setitem(METHODS, name, Method(name, name, kind(), {"K": 1}, personal=False))
    return theorem(*claims, method=name, **more)


@pytest.mark.parametrize("name", CASES)
def test_scouts_say_what_verdicts_say_of_functions_that_are_called(name, monkeypatch):
    """Norms, values, further points, measured quantities, and coefficients of rounds in which clients stay away."""
    found = Agreement().add(_stated(monkeypatch, name, *CASES[name]), 6, 6)
    assert not found.wrong
    assert found.known >= max(_KNOWN * found.judged, 5)


def test_scouts_say_what_verdicts_say_of_methods_that_are_not_linear():
    """Those of the catalogue: line search, conjugate gradients, greedy coordinates."""
    statements = [each for each in searched("classics") if not METHODS[each.algorithm].algorithm.linear]
    assert len(statements) >= 4
    for statement in statements:
        found = Agreement().add(statement, 4, 4)
        assert not found.wrong
        assert found.known >= max(_KNOWN * found.judged, 3)


def _sight(statement):
    cube = Cube(statement, shapes(statement)[0])
    rng = np.random.default_rng(0)
    return Scout(cube).sight(np.array([cube.drawn(rng) for _ in range(8)]))


def test_a_function_that_takes_no_arrays_has_no_scout(monkeypatch):
    """Instances of such a method are given verdicts."""
    statement = _stated(monkeypatch, "branching", Branching, ["best grad2 <= F_0*(1 + L)/(gamma*T)"], _MORE)
    with pytest.raises(Unscouted, match="is not read"):
        _sight(statement)


def test_noise_has_no_scout_where_functions_are_called(monkeypatch):
    """A run of calls is one run, and no expectation."""
    more = {"given": "smooth, convex, noise", "when": "gamma*L <= 1"}
    statement = _stated(monkeypatch, "noisy", Clipped, ["best grad2 <= F_0*(1 + L)/(gamma*T) + sigma**2"], more)
    with pytest.raises(Unscouted, match="noise"):
        _sight(statement)


def test_what_contradicts_the_settings_is_no_instance(monkeypatch):
    """A number that the statement fixes by others is no other one."""
    whole = {"role": "setting", "domain": "positive_integer", "default": 2}
    more = {
        "given": "smooth, cyclic blocks", "when": "gamma*L <= 1, period == n/m",
        "symbols": [symbol("period", "rounds of a period", **whole)],
    }  # fmt: skip
    statement = _stated(monkeypatch, "periods", Falling, ["mean grad2 <= 8*period*F_0*L + zeta**2"], more)
    values = {"period": np.array([1.0, 2.0, 3.0]), "n": np.full(3, 2.0), "m": np.ones(3)}
    assert numbers.admitted(statement, values, 3).tolist() == [False, True, False]
