"""A new algorithm is one file: this one is simulated, and a statement of one's own about it is verified."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from plugin import forget, installed

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.cost import cost
from ratecheck.cli import group
from ratecheck.problems import Quadratic

SOURCE = '''
"""Half steps: the server goes half of the way to the average of the clients' models, each K gradient steps away."""

from ratecheck.algorithms.model.algorithm import Algorithm, U
from ratecheck.algorithms.model.registered import Method


class Halves(Algorithm):
    name, title = "halves", "Halves"
    step_sizes = ("gamma_u",)
    server, client, local, message = {"x": U}, {}, {"x": U}, {"x": U}

    def start_client(self, point, gradient, p):
        return {}

    def start_server(self, point, clients, p):
        return {"x": point[U]}

    def begin(self, server, client, p):
        return {"x": server["x"]}

    def step(self, local, gradient, p):
        return {"x": local["x"] - p["gamma_u"] * gradient[U]}

    def finish(self, server, client, local, p):
        return {}, {"x": local["x"]}

    def aggregate(self, server, total, p):
        return {"x": server["x"] / 2 + total["x"] / (2 * p["m"])}


METHODS = (Method("halves", "Halves", Halves(), personal=False),)
'''

STATEMENT = '''
import sympy as sp

from bounds.statement import Assumption, Claim, Condition, Metric, Over, Relation, Source, Statement
from bounds.symbols import COMMON, Vocabulary

own = Vocabulary(COMMON)
L, F_0, T, n, gamma_u, G_u = (own[name].symbol for name in ("L", "F_0", "T", "n", "gamma_u", "G_u"))
average = Metric(latex="G", weights={G_u: sp.Integer(1)}, over=Over.MEAN_OF_ROUNDS, trivial=2 * L * F_0)


def half(key, factor):
    """The bound of gradient descent with half of the step size; the factor is 4."""
    return Statement(
        key=key,
        title="Half steps",
        source=Source(paper="Mine", number="Theorem 1", location="Section 1"),
        vocabulary=own,
        algorithm="halves",
        assumptions=(Assumption.SMOOTHNESS, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL),
        claims=(
            Claim(name="main", metric=average, relation=Relation.AT_MOST, terms={"gap": factor * F_0 / (gamma_u * T)}),
        ),
        conditions=(Condition(name="step size", left=gamma_u, operator="<=", right=2 / L),),
        step_rules=(),
        step_products=(),
        settings={"K": sp.Integer(1), "m": n, "sigma_u": sp.Integer(0)},
        follows_from=(),
        remark="",
    )


right, wrong = half("mine/right", 4), half("mine/wrong", sp.Rational(1, 100))
'''


@pytest.fixture
def halves(monkeypatch, tmp_path):
    """The algorithm, installed, and a file with statements about it."""
    with monkeypatch.context() as patched:
        installed(patched, tmp_path, "half_steps", SOURCE, algorithms="halves = half_steps:METHODS")
        (tmp_path / "mine.py").write_text(STATEMENT)
        yield tmp_path / "mine.py"
    forget()


@pytest.mark.parametrize(("name", "code"), [("right", 0), ("wrong", 1)])
def test_a_statement_about_it_is_verified(halves, name, code):
    """On the default problem of the command line."""
    words = ["verify", f"{halves}:{name}", "n=4", "T=30", "--json"]
    result = CliRunner().invoke(group, words, standalone_mode=False)
    assert result.exception is None, result.exception
    assert result.return_value == code
    found = json.loads(result.stdout)
    assert found["engine"] == "exact"
    assert found["verdict"] == ("VIOLATED" if code else "HOLDS")


@pytest.mark.usefixtures("halves")
def test_engines_simulate_it():
    """With one local step it is gradient descent with half of the step size; what it costs is read off it."""
    problem, pattern = Quadratic.synthetic(3, 2, 2), rc.participation.Trace.full(3)
    expected = rc.exact("fedavg", problem, pattern, K=1, T=5, gamma_u=0.2, eta_u=1.0).metric
    np.testing.assert_allclose(rc.exact("halves", problem, pattern, K=1, T=5, gamma_u=0.4).metric, expected, rtol=1e-12)
    found = rc.simulate("halves", problem, pattern, K=1, T=5, gamma_u=0.4).metric[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (cost("halves").received, cost("halves").sent) == ({"u": 1}, {"u": 1})


@pytest.mark.usefixtures("halves")
def test_it_does_not_replace_others():
    """The methods of this package keep their names."""
    assert "halves" in METHODS
    assert METHODS["fedavg"].title == "FedAvg"
