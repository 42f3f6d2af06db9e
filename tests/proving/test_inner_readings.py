"""What is read of inner problems, of a joint objective and of sizes: claims that explicit runs violate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

import bounds
import ratecheck as rc
from bounds.statement import Assumption, StepRule
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.baselines import PFedMe
from ratecheck.algorithms.flame import FlameExact
from ratecheck.algorithms.model.algorithm import square
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.proving.prove import completed, prove
from ratecheck.proving.question import Question
from ratecheck.views.proofs.prove import prove_text

_UNBIASED = "flame/theorem-2-unbiased-wide-repaired"
_INNER = ["smoothness", "full_participation", "no_personal"]
_EPS = symbol("eps", "where inner problems stop", fact="inner_error", domain="nonnegative")


class Onefold(FlameExact):
    """FLAME as a method of one's own."""

    name, title, times = "onefold", "FLAME", 1

    def records(self, server, client, gradient, p):
        found = FlameExact.records(self, server, client, gradient, p)
        terms = tuple(replace(each, factor=self.times * each.factor) for each in found["lagrangian"])
        return {**found, "lagrangian": terms}


class Tenfold(Onefold):
    """FLAME that records ten times its Lagrangian."""

    name, title, times = "tenfold", "FLAME, ten times its Lagrangian", 10


class Twice(PFedMe):
    """The difference of two solutions of one inner problem."""

    name, title, step_sizes = "twice", "two solutions", ("lambda_",)
    record_oracle, recorded = "gradient", ("apart2",)
    server = {"w": "u", "apart": "u"}  # noqa: RUF012  # as methods declare it
    local = {"w": "u", "y": "u", "z": "u"}  # noqa: RUF012
    message = {"apart": "u"}  # noqa: RUF012

    def start_server(self, point, clients, p):
        return {"w": point["u"], "apart": 0 * point["u"]}

    def begin(self, server, client, p):
        return {"w": server["w"], "y": server["w"], "z": server["w"]}

    def step(self, local, gradient, p):
        return {"w": local["w"], "y": gradient["u"], "z": local["y"]}

    def finish(self, server, client, local, p):
        return {}, {"apart": local["y"] - local["z"]}

    def aggregate(self, server, total, p):
        return {"w": server["w"], "apart": total["apart"] / p["m"]}

    def records(self, server, client, gradient, p):
        return {"apart2": (square(server["apart"]),)}


@pytest.fixture
def own():
    """The methods under names of their own, which other tests do not count."""
    methods = (Onefold(), Tenfold(), Twice())
    METHODS.update({each.name: Method(each.name, each.name, each, personal=False) for each in methods})
    yield
    for each in methods:
        del METHODS[each.name]


def test_the_gradient_of_an_envelope_is_no_inexact_one():
    """For f = x^2/2 an inner problem at 1 may stop where it begins if eps = 1: the step is 0, grad F^2 is 9/16."""
    F2 = symbol("F2", "||grad F||^2", role="measured", fact="grad_F2", domain="nonnegative")
    claim = theorem(
        title="the envelope below the step", algorithm="pfedme", assumptions=[*_INNER, "inner_accuracy"], left="F2",
        over="every_round", right="1.01*du2 + eps/10**6", conditions=[], settings={"K": 1, "m": "n"},
        symbols=[F2, _EPS], vocabulary="textbook",
    )  # fmt: skip
    numbers = {"eta": 1, "beta": 1, "lambda_": 3, "n": 1, "T": 3}
    assert prove(claim, {**numbers, "eps": 0}).verdict == "PROVED"
    assert prove(claim, {**numbers, "eps": 1}).verdict == "NOT PROVED"


@pytest.mark.usefixtures("own")
def test_one_inner_problem_has_many_inexact_solutions():
    """For f = 0 two of them are up to 2 sqrt(eps)/lambda apart, which is proved, and not a millionth of that."""
    apart2 = symbol("apart2", "||y - z||^2", role="measured", fact="apart2", domain="nonnegative")

    def claim(right):
        return theorem(
            title="apart", algorithm="twice", assumptions=[*_INNER, "inner_accuracy"], left="apart2",
            over="every_round", right=right, conditions=["lambda_ > L"], settings={"K": 2, "m": "n"},
            symbols=[apart2, _EPS], vocabulary="textbook",
        )  # fmt: skip

    numbers = {"lambda_": 3, "n": 1, "L": 1, "T": 2, "eps": 0.5}
    assert prove(claim("eps/10**6"), numbers).verdict == "NOT PROVED"
    assert prove(claim("3.99*eps/lambda_**2"), numbers).verdict == "NOT PROVED"
    # Strong convexity with lambda - L.
    assert prove(claim("4.01*eps/(lambda_ - L)**2"), numbers).verdict == "PROVED"


@pytest.mark.usefixtures("own")
def test_a_gap_is_that_of_the_objective_whatever_a_method_records():
    """Two clients, f_i = x^2/2 at 1: the gap is 1/2, as is sum_i ||grad_i||^2, which ten times the gap would bound."""

    def claim(method):
        g2 = symbol("g2", "by theta", role="measured", fact="grad_theta2", domain="nonnegative")
        gap = symbol("gap0", "L^0 - F^*", fact="lagrangian_gap", domain="nonnegative")
        rho = symbol("rho", "penalty", role="step_size", degrees=(1, -2))
        return theorem(
            title="small", algorithm=method, assumptions=[*_INNER, "exact_inner", "dual_start", "bounded_below"],
            left="g2", over="mean_of_rounds", right="4.5*gap0/T", conditions=["rho >= 2*lambda_", "lambda_ > L"],
            settings={"K": 1, "m": "n"}, symbols=[g2, gap, rho], vocabulary="textbook",
        )  # fmt: skip

    numbers = {"rho": 30, "lambda_": 3, "n": 2, "L": 1, "T": 1, "gap0": 1, "alpha": 0.5}
    proof = prove(claim("onefold"), numbers)
    assert proof.verdict == "PROVED"
    assert proof.factor is not None
    assert float(proof.factor) * 4.5 * 0.5 >= 0.5
    with pytest.raises(InputError, match="is not the objective at x\\^0"):
        prove(claim("tenfold"), numbers)


@pytest.mark.parametrize("s", [2, 3])
def test_what_is_prescribed_reads_the_names_of_the_paper(s):
    """The paper's m are clients, whoever takes part: 80/m is 80/3, and sqrt(m) is rounded."""
    theorem_2 = bounds.get(_UNBIASED)
    m, rho = (theorem_2.vocabulary[name].symbol for name in ("m", "rho"))

    def read(value):
        rule = StepRule(symbol=rho, value=value, at_least=False)
        statement = replace(theorem_2, step_rules=(rule,))
        return Question(statement, completed(statement, {"m": 3, "s": s, "lambda_": 3})[0])

    assert read(80 / m).parameters(0)["rho"] == Fraction(80, 3)
    assert read(60 / sp.sqrt(m)).rounded == ("rho",)


def test_step_sizes_of_which_a_statement_is_silent_are_said():
    """They are taken for its proof, as `verify` takes them."""
    claim = theorem(
        title="silent", algorithm="fedavg", assumptions=_INNER, left="G_u", over="mean_of_rounds",
        right="2*F_0/(gamma_u*T)", conditions=["gamma_u <= 1/L"], settings={"K": 1, "m": "n", "sigma_u": 0},
        vocabulary="textbook",
    )  # fmt: skip
    for given in ({}, {"eta_u": 1}):
        proof = prove(claim, given)
        assert proof.verdict == "PROVED"
        assert " eta_u=1\n" in prove_text(proof)
        assert ("eta_u" in proof.defaulted) == (not given)


def test_any_participation_is_not_that_of_everybody():
    """Of two clients of which one takes part the other one stays where its gradient is not 0: as `verify` shows."""
    claim = theorem(
        title="steps", algorithm="flame", assumptions=["smoothness", "exact_inner", "dual_start"], left="grad_theta2",
        over="every_round", right="alpha_max*alpha_min*(L + lambda_)**2*dtheta2", settings={}, vocabulary="flame",
        conditions=["lambda_ > L", "rho > lambda_"],
    )  # fmt: skip
    numbers = {"rho": 30, "lambda_": 3, "L": 1, "T": 3}
    with pytest.raises(InputError, match="no number of it says how many clients take part"):
        prove(claim, {**numbers, "m": 2})
    assert prove(claim, {**numbers, "m": 1}).verdict == "PROVED"
    assert rc.verify(claim, m=2, participation="cyclic", **numbers).outcome is Outcome.VIOLATED
    everybody = replace(claim, assumptions=(*claim.assumptions, Assumption.FULL_PARTICIPATION))
    assert prove(everybody, {**numbers, "m": 2}).verdict == "PROVED"
