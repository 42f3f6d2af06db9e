"""Methods in formulas: what `rc.method` prints, followed by a small interpreter of its own, is what the engines run."""

from __future__ import annotations

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS

N, K, ROUNDS, SIZE, START = 3, 2, 4, 0.3, 3.0
H, C = np.array([0.4, 1.0, 0.7]), np.array([1.0, -2.0, 0.5])
# Of functions that take arrays alone there are no formulas.
CALLED = {"greedy-coordinate-descent", "line-search", "conjugate-gradients"}


def followable(name):
    """Methods with one shared block, recorded at the server, whose rounds are all alike and where nothing is drawn."""
    method, own = METHODS[name], METHODS[name].algorithm
    alike = own.tabled and not own.uses_delay and {own.oracle, own.record_oracle} == {"gradient"} and own.point is None
    return alike and method.shared and not method.personal and name not in {"weighted-fedavg", "proximal-gradient"}


def computed(formulas, values):
    """All formulas of a part at once."""
    return {key: eval(text, {}, dict(values)) for key, text in formulas.items()}  # noqa: S307  # of this package


def gradients(shown, sizes):
    """Squared gradients before each round, of f_i = H_i (x - C_i)^2/2, by the formulas alone."""
    parts, algorithm = shown.formulas, shown.method.algorithm
    steps = int(shown.method.fixed.get("K", K))
    state = {"n": N, "m": N, "K": steps, "a_i": steps, "a_mean": steps, "a_ik": 1, "p_i": 1 / N, **sizes}
    state |= {"x0": START, "g_i0": H * (START - C), "mean": np.mean, "sum": lambda each: np.sum(each * np.ones(N))}
    first, point = next(iter(algorithm.local)), next(iter(algorithm.server))
    start = parts["at the start"]
    state |= computed({key: text for key, text in start.items() if key.endswith("_i")}, state)
    state |= computed({key: text for key, text in start.items() if not key.endswith("_i")}, state)
    found = []
    for _ in range(ROUNDS):
        found.append(np.mean(H * (state[point] - C)) ** 2)
        state |= computed(parts["a round"], state)
        for _ in range(steps):
            state["g_ik"] = H * (state[f"{first}_ik"] - C)
            state |= computed(parts["each step"], state)
        # What is sent and what a client keeps may have the same name.
        sent = computed(parts["sends"], state)
        state |= {**computed(parts.get("after them", {}), state), **computed(parts["server"], {**state, **sent})}
    return np.array(found)


def test_every_linear_method_has_formulas_and_no_other():
    """Functions are read off as they are; those of three methods compare or divide arrays."""
    assert {name for name in METHODS.built_in if not rc.method(name).formulas} == CALLED


@pytest.mark.parametrize("name", sorted(filter(followable, METHODS.built_in)))
def test_the_formulas_are_what_the_engines_run(name):
    """Four rounds on three quadratics of one variable, against exact expectations."""
    shown = rc.method(name)
    sizes = dict.fromkeys(shown.method.step_sizes, SIZE)
    problem = rc.problems.Quadratic(H.reshape(N, 1, 1), (H * C).reshape(N, 1), shared=1)
    run = {"K": int(shown.method.fixed.get("K", K)), "T": ROUNDS, "x0": [START], "records": ["G_u"]}
    exact = rc.exact(name, problem, rc.participation.Trace.full(N), **run, **sizes).records["G_u"]
    np.testing.assert_allclose(gradients(shown, sizes), exact, rtol=1e-9)


def test_a_usual_name_has_plain_step_sizes_and_what_it_implies():
    """Heavy ball is about one function, with gamma and beta."""
    shown = rc.method("heavy-ball").to_dict()
    assert shown["formulas"]["server"] == {"x": "beta*(x - before) + sum(x_i)", "before": "x"}
    assert (shown["clients"], shown["fixed"]["n"], [*shown["step_sizes"]]) == ("one function", 1, ["gamma", "beta"])


def test_defaults_and_what_is_drawn_are_said():
    """FLAME's alpha depends on n; a client of DIANA learns what was sent."""
    assert rc.method("flame").to_dict()["step_sizes"]["alpha"] == "1/n"
    diana = rc.method("diana")
    assert diana.formulas["sends"] == {"difference_i": "C(total_ik - h_i)"}
    assert diana.formulas["after them"] == {"h_i": "alpha*difference_i + h_i"}
    assert "probability q" in diana.to_dict()["where"]["C"]


def test_an_unknown_method_is_refused_with_those_that_are_near():
    """As a statement's key is."""
    with pytest.raises(rc.InputError, match="scaffold"):
        rc.method("scafold")


def test_a_method_of_ones_own_is_shown_by_its_functions(monkeypatch):
    """Whatever is registered."""

    class HalfSteps(type(METHODS["fedavg"].algorithm)):
        def step(self, local, gradient, p):
            return {**local, "u": local["u"] - p["gamma_u"] * gradient["u"] / 2}

    mine = rc.algorithms.Method("half-steps", "half steps", HalfSteps(), {"gamma_v": 1, "eta_v": 1}, personal=False)
    monkeypatch.setitem(METHODS._all(), "half-steps", mine)
    assert rc.method("half-steps").formulas["each step"] == {"u_ik": "u_ik - g_ik*gamma_u/2"}
