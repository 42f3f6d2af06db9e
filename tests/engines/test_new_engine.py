"""A new engine is one file: this one follows gradient descent on any problem, and verdicts rest on it."""

import json

import pytest
from click.testing import CliRunner
from plugin import forget, installed

from ratecheck.cli import group
from ratecheck.engines.engine import ENGINES
from ratecheck.problems import PiecewiseSamples

SOURCE = '''
"""Gradient descent in NumPy, on functions whose gradients are not affine."""

import numpy as np

from ratecheck.engines import setup as runs
from ratecheck.engines.engine import Engine
from ratecheck.engines.expected_records import Expectation
from ratecheck.problems.problem import Known


class Descent(Engine):
    name = "descent"

    def refuses(self, setup, wanted):
        if setup.method.name != "fedavg" or setup.K > 1 or setup.trace.rate < 1 or runs.is_random(setup):
            return "it follows gradient descent only"
        return "" if wanted.quantities == {"G_u"} else "it records G_u only"

    def cost(self, setup, wanted):
        return setup.T / 1000

    def follow(self, setup, wanted, progress=None):
        x, found = setup.point[0].copy(), []
        for _ in range(setup.T):
            slope = setup.problem.gradients(x, np.zeros((setup.problem.n, 0)))[0].mean(axis=0)
            found.append(slope @ slope)
            x -= setup.step_sizes["gamma_u"] * setup.step_sizes["eta_u"] * slope
        records = {"G_u": np.array(found)}
        errors = {"G_u": 1e-12 * records["G_u"]}
        return Expectation(records, errors, {"G_u": 1.0}, 1.0, notes=("gradient descent is followed in NumPy",))
'''
BASE = ("verify", "textbook/gradient-descent", "--problem", "logistic", "T=40")


@pytest.fixture(autouse=True)
def _descent(monkeypatch, tmp_path):
    """The engine, installed."""
    with monkeypatch.context() as patched:
        installed(patched, tmp_path, "descent_in_numpy", SOURCE, engines="descent = descent_in_numpy:Descent")
        yield
    forget()


def run(*words):
    """A command in this process: its exit code, and what it prints as JSON."""
    result = CliRunner().invoke(group, [*words, "--json"], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, json.loads(result.stdout)


def test_it_joins_by_its_entry_point():
    """Beside those that are there."""
    assert {"descent", "moments", "steps"} <= {*ENGINES}


def test_a_verdict_rests_on_it():
    """It is exact and comes before the simulation, which reaches the same left side."""
    code, found = run(*BASE)
    assert (code, found["verdict"], found["engine"]) == (0, "HOLDS", "exact")
    assert "gradient descent is followed in NumPy" in found["notes"]
    _, simulated = run(*BASE, "--engine", "step")
    assert simulated["engine"] == "step"
    assert found["claims"][0]["left"] == pytest.approx(simulated["claims"][0]["left"], rel=1e-9)


@pytest.mark.parametrize(
    ("key", "rounds"), [("textbook/gradient-descent", "T=1200"), ("textbook/stochastic-step", "T=4")]
)
def test_where_it_costs_too_much_or_refuses_another_one_follows(key, rounds):
    """A long run is simulated unless engine=exact asks for it, and so is one with noise."""
    _, found = run("verify", key, "--problem", "logistic", rounds)
    assert found["engine"] == "step"


def test_only_what_is_known_is_used():
    """Equal clients with two-valued samples are counted by type and not affine: no moments are asked."""
    problem = PiecewiseSamples([[[0.0]]], [[[0.0, 1.0]]], [[0.0]], clients=1000)
    able = {name for name, engine in ENGINES.items() if engine.needs <= problem.knows}
    assert {"mean field", "outcomes"} <= able
    assert not {"types", "long runs", "pieces"} & able
