"""Proofs about methods that ask for two gradients with one sample, held against exact runs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import bounds
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.proving.prove import PotentialProof, prove

OWN = '''
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.answers import gradient_at, value_at


class Storm(FedAvgP):
    """d = g(x; xi) + (1 - a) (d - g(x before; xi)), x+ = x - gamma d."""

    step_sizes = ("gamma_u", "a")
    server = {"x": "u", "before": "u", "d": "u"}
    client = {"g": "u", "v": "v"}
    local = {"x": "u", "before": "u", "new": "u", "old": "u", "v": "v"}
    message = {"new": "u", "old": "u"}
    also = {"old": gradient_at("before")}

    def start_client(self, point, gradient, p):
        return {"g": gradient["u"], "v": point["v"]}

    def start_server(self, point, clients, p):
        return {"x": point["u"], "before": point["u"], "d": clients["g"]}

    def begin(self, server, client, p):
        none = 0 * server["x"]
        return {"x": server["x"], "before": server["before"], "new": none, "old": none, "v": client["v"]}

    def step(self, local, gradient, p):
        return {**local, "new": gradient["u"], "old": gradient["old"]}

    def finish(self, server, client, local, p):
        return {"g": client["g"], "v": local["v"]}, {"new": local["new"], "old": local["old"]}

    def aggregate(self, server, total, p):
        d = total["new"] / p["m"] + (1 - p["a"]) * (server["d"] - total["old"] / p["m"])
        return {"x": server["x"] - p["gamma_u"] * d, "before": server["x"], "d": d}


class Valued(Storm):
    linear = False
    also = {"old": value_at("before")}


for name, algorithm in (("storm", Storm()), ("valued", Valued())):
    fixed = {"gamma_v": 1, "K": 1, "eta_u": 1, "eta_v": 1}
    METHODS[name] = Method(name, name, algorithm, fixed, personal=False)
BOUND = "2*F_0/(gamma_u*T) + sigma_u**2/(a*T) + 2*a*sigma_u**2"
storm, valued = (
    theorem(
        each, algorithm=each, assumptions=["smoothness", "no_personal", "full_participation", "noise"], left="G_u",
        over="mean_of_rounds", right=BOUND, conditions=["gamma_u*L <= 1/4"],
        symbols=symbol("a", "1 - momentum", role="setting"), vocabulary="textbook",
    )
    for each in ("storm", "valued")
)
'''


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file with two methods, which are forgotten at the end: other tests count methods."""
    path, known = tmp_path_factory.mktemp("own") / "one_sample.py", {*METHODS}
    path.write_text(OWN)
    yield path
    for name in {*METHODS} - known:
        del METHODS[name]


def left(proof: PotentialProof, h: float) -> float:
    """The mean of E f'(x)^2 on f = h/2 x^2 for all clients, by second moments; noise is the same at both points."""
    v = proof.values
    gamma, a, T = v["gamma_u"], v["a"], int(v["T"])
    # x, before, d; noise of the mean over n clients.
    d = np.array([h, -(1 - a) * h, 1 - a])
    step = np.array([[1.0, 0, 0] - gamma * d, [1.0, 0, 0], d])
    noise = np.array([-gamma * a, 0, a])
    x0 = np.sqrt(2 * v["F_0"] / h)
    start = np.array([x0, x0, h * x0])
    moments = np.outer(start, start) + np.diag([0, 0, v["sigma_u"] ** 2 / v["n"]])
    found = []
    for _ in range(T):
        found.append(h**2 * moments[0, 0])
        moments = step @ moments @ step.T + v["sigma_u"] ** 2 / v["n"] * np.outer(noise, noise)
    return float(np.mean(found))


@pytest.mark.parametrize(("a", "n"), [(1.0, 1), (0.5, 2), (0.2, 1)])
def test_bound_of_two_gradients_with_one_sample_holds_in_exact_runs(own: Path, a: float, n: int) -> None:
    """Whatever the noises at two points have to do with each other: additive noise is the same at both."""
    proof = prove(bounds.get(f"{own}:storm"), {"a": a, "n": n, "T": 10})
    assert proof.factor is not None
    v = proof.values
    right = 2 * v["F_0"] / (v["gamma_u"] * 10) + v["sigma_u"] ** 2 * (1 / (10 * a) + 2 * a)
    largest = max(left(proof, h) for h in np.linspace(0.02, 1, 50)) / right
    assert 0.1 < largest <= float(proof.factor)


def test_noise_at_two_points_need_not_be_the_same(own: Path) -> None:
    """With a = 1/5 the proved share is larger than that of additive noise: more is not assumed."""
    proof = prove(bounds.get(f"{own}:storm"), {"a": 0.2, "n": 1, "T": 1000, "gamma_u": 0.1})
    assert proof.factor is not None
    assert proof.factor > Fraction(1)


def test_what_is_beyond_one_round_of_gradients_is_said(own: Path) -> None:
    """Values of functions."""
    with pytest.raises(InputError, match="is not linear"):
        prove(bounds.get(f"{own}:valued"), {"a": 0.5})
