"""A new problem is one file: this one is verified from the command line, in a file of an instance, and simulated."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner
from plugin import forget, installed

import bounds
import ratecheck as rc
from ratecheck.cli import group
from ratecheck.falsification.shrink import shrink
from ratecheck.problems import build
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample

SOURCE = '''
"""Ridge regression on random data: f_i(u, v_i) = ||A_i (u, v_i) - b_i||^2/(2N) + (mu/2) ||(u, v_i)||^2."""

import numpy as np

from ratecheck.errors import InputError
from ratecheck.inputs import positive, whole
from ratecheck.problems.problem import SingleLevel, WrittenProblem, affine_oracle
from ratecheck.problems.quadratic import Quadratic


class Ridge(SingleLevel):
    kind = "ridge"
    affine = True
    written = (WrittenProblem("ridge", "random"),)

    def __init__(self, A, b, mu, shared):
        self.A, self.b, self.mu = np.asarray(A, dtype=float), np.asarray(b, dtype=float), positive("mu", mu)
        self.n, self.N, self.d = self.A.shape
        self.d_u = whole("shared", shared, 0, self.d)
        self.d_v = self.d - self.d_u
        H = np.einsum("ila,ilb->iab", self.A, self.A) / self.N + self.mu * np.eye(self.d)
        self.form = Quadratic(H, np.einsum("ila,il->ia", self.A, self.b) / self.N, self.d_u)

    @classmethod
    def random(cls, n=4, N=6, d=3, shared=None, *, mu=0.1, seed=0):
        shape = (whole("n", n, 1), whole("N", N, 1), whole("d", d, 1))
        rng = np.random.default_rng([whole("seed", seed, 0), *shape])
        # The same rows for all clients: otherwise no bound of their gradients' dissimilarity exists.
        A = np.broadcast_to(np.eye(shape[2])[np.arange(shape[1]) % shape[2]], shape)
        return cls(A, rng.standard_normal(shape[:2]), mu, shape[2] // 2 if shared is None else shared)

    @property
    def quadratic(self):
        return self.form

    def operator(self):
        return self.form.operator()

    def value(self, u, v):
        return self.form.value(u, v)

    def gradients(self, u, v):
        return self.form.gradients(u, v)

    def constants(self, u0=None, v0=None, sigma_u=0.0, sigma_v=0.0):
        return self.form.constants(u0, v0, sigma_u, sigma_v)

    def inner(self, lambda_):
        return self.form.inner(lambda_)

    def oracle(self, name, noise, lambda_):
        return self.form.oracle(name, noise, lambda_)

    def sentence(self, notation, noises):
        return [f"f_{i + 1} = |{notation.given(A[0, 0])} x - ...|^2 + ..." for i, A in enumerate(self.A)]

    def without_variable(self, c):
        if self.d == 1:
            raise InputError("no variable to leave out")
        return Ridge(np.delete(self.A, c, axis=2), self.b, self.mu, self.d_u - (c < self.d_u))

    def fields(self):
        return {"A": self.A.tolist(), "b": self.b.tolist(), "mu": self.mu, "shared": self.d_u}

    @classmethod
    def read(cls, data):
        return cls(data["A"], data["b"], data["mu"], data["shared"])
'''


@pytest.fixture
def ridge(monkeypatch, tmp_path):
    """The problem, installed."""
    with monkeypatch.context() as patched:
        installed(patched, tmp_path, "ridge_regression", SOURCE, problems="ridge = ridge_regression:Ridge")
        yield build.KINDS["ridge"]
    forget()


def run(*words):
    """A command in this process: its exit code, and what it prints as JSON."""
    result = CliRunner().invoke(group, [*words, "--json"], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, json.loads(result.stdout)


@pytest.mark.usefixtures("ridge")
def test_it_is_verified_from_the_command_line():
    """With a parameter of its own, the statement's settings, and certified constants."""
    code, found = run("verify", "pfl/theorem-3.7", "--problem", "ridge", "mu=0.5", "n=4", "m=2", "T=10", "K=2")
    assert (code, found["verdict"]) == (0, "HOLDS")
    assert found["problem"] == "ridge: n=4, 1 shared and 2 personal variables, mu=0.5"
    assert found["engine"] == "exact"
    assert found["constants"]["L"] == {
        "value": pytest.approx(0.5 + 1 / 3),
        "certificate": "exact",
        "reason": "largest of L_u, L_v, L_uv, L_vu",
    }


def test_engines_simulate_it(ridge):
    """By steps and in expectation, as the quadratic that it is."""
    problem = ridge.random()
    run_of = {"K": 2, "T": 4, "gamma_u": 0.3, "gamma_v": 0.2, "eta_u": 1.0, "eta_v": 1.0}
    pattern = rc.participation.Trace.full(problem.n)
    expected = rc.exact("fedavg-p", problem.form, pattern, **run_of).metric
    np.testing.assert_array_equal(rc.exact("fedavg-p", problem, pattern, **run_of).metric, expected)
    np.testing.assert_allclose(rc.simulate("fedavg-p", problem, pattern, **run_of).metric[0], expected, rtol=1e-9)


def test_it_is_written_and_read(ridge):
    """As JSON data."""
    problem = ridge.random(mu=0.3)
    again = build.read(json.loads(json.dumps(build.fields(problem))))
    np.testing.assert_array_equal(again.form.H, problem.form.H)
    assert again.mu == 0.3


def test_its_counterexample_is_shrunk_and_printed(ridge):
    """By its own sentence and its own simpler neighbours: fewer clients and variables, rows with simpler numbers."""
    statement = bounds.get("pfl/theorem-3.7")
    (claim,) = statement.claims
    terms = {label: expr / sp.Integer(10**4) for label, expr in claim.terms.items()}
    wrong = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
    given = {"m": 2.0, "K": 1.0, "T": 2.0, "sigma_u": 0.0, "sigma_v": 0.0}
    small = shrink(Instance(wrong, ridge.random(2, 2, 2, shared=2, mu=0.3), None, given))
    assert isinstance(small.instance.problem, ridge)
    assert (small.instance.problem.n, small.instance.problem.d) == (1, 1)
    written = WrittenCounterexample(small.instance, small.verdict)
    number = Fraction(float(small.instance.problem.A[0, 0, 0]))
    assert written.text.startswith(f"one client, f_1 = |{number} x - ...|^2 + ..., no noise, ")
    assert written.latex.startswith("one client, $f_1 = |")
