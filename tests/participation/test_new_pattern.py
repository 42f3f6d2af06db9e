"""A new participation pattern is one file: this one is used from the command line and by the exact engines."""

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
from ratecheck.algorithms import METHODS
from ratecheck.certification.exact_constants import participations
from ratecheck.cli import group
from ratecheck.engines.rigorous.moment_runs import RigorousRun
from ratecheck.falsification.shrink import shrink
from ratecheck.participation import build
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample

SOURCE = '''
"""Pairs: in each round one of the couples (0, 1), (2, 3), ... with equal probability."""

from fractions import Fraction

import numpy as np

from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.kernels.random import uniform_subsets
from ratecheck.participation.model.law import Sets
from ratecheck.participation.model.pattern import Participation, PerRound, Written
from ratecheck.participation.uniform import Uniform


class Pairs(Participation):
    kind = "pairs"
    written = (Written("pairs", per_round=PerRound.OWN),)
    constant_law = True
    size = 2

    def __init__(self, n):
        self.n = whole("n", n, 2)
        if self.n % 2:
            raise InputError(f'n={self.n} breaks "n is even"')

    @property
    def rate(self):
        return 2 / self.n

    def law(self, t):
        couples = self.n // 2
        return Sets(tuple((Fraction(1, couples), (2 * k, 2 * k + 1)) for k in range(couples)))

    def masks(self, first_round, rounds, keys):
        one = np.ones((rounds, self.n // 2, keys.shape[1]), dtype=np.bool_)
        if self.n > 2:
            uniform_subsets(keys, first_round, self.n // 2, 1, one)
        return np.repeat(one, 2, axis=1)

    def check_rounds(self, T):
        pass

    def sentence(self, notation):
        return "both clients of a pair in every round" if self.n > 2 else ""

    @property
    def digits(self):
        return self.n

    def without_client(self, i):
        return Uniform(self.n - 1, min(self.n - 1, 2))

    def simpler(self):
        yield [lambda pattern: Uniform(pattern.n, pattern.n), lambda pattern: Uniform(pattern.n, 1)]

    def fields(self):
        return {"n": self.n}

    @classmethod
    def read(cls, data):
        return cls(data["n"])
'''


@pytest.fixture
def pairs(monkeypatch, tmp_path):
    """The pattern, installed."""
    with monkeypatch.context() as patched:
        installed(patched, tmp_path, "pairs_of_clients", SOURCE, participation="pairs = pairs_of_clients:Pairs")
        yield build.KINDS["pairs"]
    forget()


def run(*words):
    """A command in this process: its exit code, and what it prints as JSON."""
    result = CliRunner().invoke(group, [*words, "--json"], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, json.loads(result.stdout)


@pytest.mark.usefixtures("pairs")
def test_it_is_verified_from_the_command_line():
    """A statement about any participation is verified on traces of it; one about uniform sampling is not about it."""
    small = ("n=4", "T=8", "K=2")
    code, found = run("verify", "fedsum/lemma-c.1", *small, "--participation", "pairs")
    assert (code, found["verdict"]) == (0, "HOLDS")
    code, found = run("verify", "pfl/theorem-3.7", *small, "m=2", "--participation", "pairs")
    assert code == 3
    assert found["reasons"][0].startswith("a pattern of the kind pairs, but the statement is about m of n clients")


def test_the_exact_engine_follows_its_law(pairs):
    """Expectations are the means over all sequences of couples, each followed as a trace."""
    problem = Quadratic.synthetic(4, 2, 1, heterogeneity=2.0, seed=1)
    run_of = {
        "K": 2,
        "T": 3,
        "gamma_u": 0.3,
        "gamma_v": 0.2,
        "eta_u": 1.2,
        "eta_v": 1.0,
        "sigma_u": 0.2,
        "sigma_v": 0.1,
    }
    found = rc.exact("fedavg-p", problem, pairs(4), **run_of)
    couples = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
    each = [
        rc.exact("fedavg-p", problem, rc.participation.Trace(couples[[a, b, c]]), **run_of).metric
        for a in (0, 1)
        for b in (0, 1)
        for c in (0, 1)
    ]
    # What a method's theorems bound weighs records by the share of clients, which is 1/2 in all of these.
    np.testing.assert_allclose(found.metric, np.mean(each, axis=0), rtol=1e-10)


def test_the_rigorous_engine_encloses_its_expectation(pairs):
    """As the exact engine computes it; and delays are enumerated."""
    problem, sizes = Quadratic.synthetic(4, 1, 1, seed=3), {"gamma_u": 0.25, "eta_u": 1.0}
    run_of = {"K": 2, "T": 3, "noise": {"sigma_u": 0.5}, "step_sizes": sizes, "start": {}}
    found = RigorousRun.of(METHODS["fedavg"], problem, pairs(4), **run_of).averages(["G_u"], 80)["G_u"]
    wanted = rc.exact("fedavg", problem, pairs(4), K=2, T=3, sigma_u=0.5, **sizes).records["G_u"].mean()
    assert float(found.low) == pytest.approx(wanted, rel=1e-12)
    assert float(found.high) == pytest.approx(wanted, rel=1e-12)
    assert [q for q, _ in participations(pairs(4), 2)] == [Fraction(1, 4)] * 4


def test_it_is_written_and_read(pairs):
    """As text, as JSON data, and every set with its probability."""
    assert build.build("pairs", 6, None).n == 6
    assert build.read(build.fields(pairs(6))).n == 6
    assert [q for q, _ in pairs(6).law(0).support()] == [Fraction(1, 3)] * 3
    with pytest.raises(rc.InputError, match="n is even"):
        build.build("pairs", 5, None)


def test_its_counterexample_is_printed_and_shrunk(pairs):
    """By its own sentence, and to patterns that it offers itself."""
    statement = bounds.get("fedsum/lemma-c.1")
    wrong = dataclasses.replace(
        statement,
        claims=tuple(
            dataclasses.replace(claim, terms={label: expr / sp.Integer(10**4) for label, expr in claim.terms.items()})
            for claim in statement.claims
        ),
    )
    problem = Quadratic.synthetic(4, 1, 1, heterogeneity=2.0, seed=1)
    found = Instance(wrong, problem, pairs(4), {"S": 2.0, "K": 1.0, "T": 3.0, "sigma": 0.0})
    assert "both clients of a pair in every round" in WrittenCounterexample(found, found.verdict()).text
    alone = shrink(found)
    assert alone.instance.problem.n == 1
    assert alone.instance.participation.n == 1
    four = shrink(found, evaluations=60, fixed=["N"])
    assert four.instance.problem.n == 4
    assert four.instance.participation.kind != "pairs"
    assert "pair" not in WrittenCounterexample(four.instance, four.verdict).text
