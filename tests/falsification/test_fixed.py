"""Numbers that a search leaves as they are."""

from types import MappingProxyType

import numpy as np
import pytest

import bounds
import ratecheck as rc
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.fixed import checked
from ratecheck.outcome import Outcome

KEY = "pfl/theorem-3.7"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "fixed", [{"K": 3.0}, {"T": 7.0}, {"n": 5.0}, {"n": 5.0, "m": 4.0}, {"sigma_u": 0.0}, {"gamma": 0.001}]
)
def test_every_instance_has_them(fixed):
    """The worst one does, and it is the search's own: without them another one is found."""
    found = falsify(bounds.get(KEY), Budget(12), fixed=fixed)
    assert found.applicable > 0
    values = {**found.verdict.values, "n": found.instance.problem.n}
    assert {name: values[name] for name in fixed} == fixed
    assert found.terms is None
    assert found.functions is None


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ({"L": 2.0}, "L=2: the search takes L from the problems that it tries; it can fix n, m, K, T,"),
        ({"K": 1.5}, "K=1.5: needed a whole number"),
        ({"n": 500.0}, 'n=500 breaks "1 <= n <= 40" (clients are followed one by one); nearest that does: 40'),
        ({"n": 2.0, "m": 3.0}, "the search has no instances with n=2, m=3"),
        ({"gamma": -1.0}, "gamma=-1"),
        ({"gama": 1.0}, "gama"),
    ],
)
def test_what_cannot_be_fixed_is_refused(fixed, said):
    """In one line, before anything is searched."""
    with pytest.raises(InputError) as caught:
        falsify(bounds.get(KEY), Budget(10), fixed=fixed)
    assert said in str(caught.value)


@pytest.mark.every(2)
@pytest.mark.parametrize("fixed", [{"T": 5}, {"n": 3}, {"K": 2, "n": 3}, {"gamma_u": 0.25}])
def test_a_shrunk_counterexample_has_them(fixed):
    """What was not to be varied is not made simpler either."""
    false = theorem(
        title="A bound that is too small by far",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right="F_0/(1000*T*K*gamma_u)",
        conditions=["gamma_u <= 1/(2*L*K)"],
        settings={"sigma_u": 0, "eta_u": 1},
    )
    free, kept = (rc.falsify(false, evaluations=40, **given).search for given in ({}, fixed))
    had = kept.shrunk.instance
    assert {name: had.problem.n if name == "n" else had.given[name] for name in fixed} == fixed
    assert free.shrunk.after[0] == 1
    assert kept.shrunk.after < kept.shrunk.before


def test_what_the_statement_sets_is_refused():
    """Even with the same value: it is no choice."""
    with pytest.raises(InputError) as caught:
        checked(bounds.get("pfl/fedavg-full"), {"m": 3.0})
    assert "sets m itself" in str(caught.value)


def test_the_command_and_the_call_take_them(cli):
    """As NAME=VALUE, and by name."""
    found = cli("falsify", KEY, "--evaluations", "20", "K=2", "n=2")
    assert found.returncode == 0
    assert "  among   quadratics, n in {2}" in found.stdout
    assert "K = 2" in found.stdout
    assert rc.falsify(KEY, evaluations=20, K=2, n=2).instance.given["K"] == 2.0
    refused = cli("falsify", KEY, "L=3")
    assert refused.returncode == 2
    assert "the search takes L from the problems that it tries" in refused.stderr


def _without_order(order):
    """A false theorem that fixes the rounds by a number of its own."""
    return theorem(
        title="One client after another, without what their order costs",
        algorithm="fedavg",
        assumptions=[order, "smoothness", "convexity", "strong_convexity", "no_personal"],
        left="dist2",
        over="last_round",
        right="(1 - gamma_u*n*mu)**epochs*dist2_0",
        conditions=["gamma_u <= 1/(2*n*L)"],
        settings={"K": 1, "m": 1, "eta_u": 1, "sigma_u": 0, "T": "n*epochs + 1"},
        symbols=symbol("epochs", "epochs", domain="positive_integer", role="free", default=3),
        vocabulary="textbook",
    )


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("order", "words"), [("cyclic_blocks", "a fixed order"), ("reshuffled_blocks", "an order drawn anew in each epoch")]
)
def test_whole_epochs_are_searched(order, words):
    """All runs are of whole epochs, and the counterexample says in which order the clients come."""
    found = rc.falsify(_without_order(order), evaluations=40, n=3)
    assert found.outcome is rc.Outcome.VIOLATED
    values = found.search.verdict.values
    assert values["T"] == values["n"] * values["epochs"] + 1
    assert f"one of them in every round in {words}" in found.as_text()


def test_epochs_are_fixed_or_as_verified():
    """As other numbers are, if whole; with one client there is no order and the theorem holds."""
    false = _without_order("cyclic_blocks")
    assert falsify(false, Budget(40), fixed={"epochs": 4.0}).verdict.values["epochs"] == 4
    with pytest.raises(InputError, match=r"epochs=1.5: needed a whole number"):
        falsify(false, Budget(10), fixed={"epochs": 1.5})
    assert rc.verify(false, n=1).outcome is rc.Outcome.HOLDS


class InPairs(OneStep):
    """A method for an even number of variables."""

    linear = False
    step_sizes = ("gamma_u",)
    server = MappingProxyType({"x": "u"})
    measures = ("largest",)

    def step(self, local, gradient, p):
        """A step of gradient descent."""
        return {**local, "x": local["x"] - p["gamma_u"] * gradient["u"]}

    def measure(self, server, gradient, p):
        """The length of the longest pair."""
        pairs = gradient["u"].reshape(len(gradient["u"]), -1, 2)
        return {"largest": np.linalg.norm(pairs, axis=-1).max(axis=-1)[:, None]}


def test_a_method_that_needs_a_dimension_is_given_one(monkeypatch):
    """As `verify` takes it; an error in another one says which it was, and how another is searched."""
    monkeypatch.setitem(METHODS, "in-pairs", Method("in-pairs", "Pairs", InPairs(), {"K": 1}, personal=False))
    longest = symbol("largest", "longest pair of the gradient", role="measured", fact="largest", degrees=(1, -1))
    more = {"method": "in-pairs", "given": "smooth", "symbols": longest, "when": "gamma <= 1/L"}
    right, wrong = (theorem(f"mean largest <= {factor}*sqrt(F_0/(gamma*T))", **more) for factor in ("2", "(1/8)"))
    budget = Budget(10, by_term=False, functions=False, later=0)
    with pytest.raises(InputError, match=r"on an instance with d=1: d=\.\.\. searches"):
        falsify(right, budget)
    found = falsify(wrong, budget, fixed={"d": 4.0})
    assert found.outcome is Outcome.VIOLATED
    assert found.instance.problem.d_u == 4
