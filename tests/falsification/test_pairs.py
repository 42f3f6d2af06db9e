"""The pairs of true and wrong statements: each differs in one thing, and written instances refute the wrong one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bounds.papers.textbook.pairs import PAIRS, PairKind
from bounds.papers.textbook.statements import STATEMENTS, TWINS
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.families.any_curvature import ANY_CURVATURE
from ratecheck.families.quadratics import OPPOSED
from ratecheck.families.registry import shapes
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.problems import Certificate, Quadratic
from ratecheck.settings.applicability import foreign
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample

pytestmark = pytest.mark.quick

BY_WRONG = {pair.wrong.key.removeprefix("textbook/"): pair for pair in PAIRS}


def parts(statement):
    """What a pair may differ in, one entry each."""
    (claim,) = statement.claims
    return {
        "weights": claim.metric.weights,
        "over": claim.metric.over,
        **{f"term {label}": term for label, term in claim.terms.items()},
        **{f"condition {each.name}": each for each in statement.conditions},
        **{f"rule {each.symbol}": each for each in statement.step_rules},
        "relation": claim.relation,
        "products": statement.step_products,
        "settings": statement.settings,
        "assumptions": statement.assumptions,
        "algorithm": statement.algorithm,
    }


def test_there_are_enough_of_each_kind():
    """At least sixty, four of each kind, a fifth of them hard; and no key is used twice."""
    counts = Counter(pair.kind for pair in PAIRS)
    assert len(PAIRS) >= 60
    assert min(counts[kind] for kind in PairKind) >= 4
    assert sum(bool(pair.hard) for pair in PAIRS) >= len(PAIRS) / 5
    true = {pair.true.key: pair.true for pair in PAIRS}
    assert all(true[pair.true.key] is pair.true for pair in PAIRS)
    keys = [*true, *(pair.wrong.key for pair in PAIRS), *(each.key for each in (*STATEMENTS, *TWINS))]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong.key)
def test_a_pair_differs_in_one_thing(pair):
    """One term, condition, rule or part of the left side is changed or left out, and the titles say so."""
    true, wrong = parts(pair.true), parts(pair.wrong)
    assert len([name for name in true.keys() | wrong.keys() if true.get(name) != wrong.get(name)]) == 1
    assert pair.wrong.title.startswith(f"{pair.true.title}: ")
    assert pair.why.endswith(".")
    assert not foreign(pair.true)
    assert not foreign(pair.wrong)


def alike(n, slope=1.0):
    """N clients x^2/2 - slope*x."""
    return Quadratic(np.ones((n, 1, 1)), np.full((n, 1), slope), 1)


def apart(*curvatures):
    """Two clients with gradients of about -1 and 1 at x = 0, and these curvatures."""
    return Quadratic(np.array(curvatures, dtype=float)[:, None, None], np.array([[1.001], [-1.0]]), 1)


# One participant with gaps of twenty rounds.
GAPS = Trace(np.arange(100)[:, None] % 21 == 0)
INSTANCES = {
    # Within reach.
    "sgd-two-terms-noiseless": (alike(1, 1e-3), {"T": 50, "sigma_u": 1, "gamma_u": 0.5}),
    "sampled-move-sampling": (apart(1, 1), {"T": 1, "m": 1, "gamma_u": 1, "sigma_u": 0}),
    "gd-two": (alike(1), {"T": 4, "gamma_u": 2}),
    # Many clients, rounds or local steps.
    "sgd-loose-clients": (alike(6, 1e-3), {"T": 100, "sigma_u": 1, "gamma_u": 1}),
    "averaged-clients": (alike(6), {"T": 1, "K": 1, "m": 6, "gamma_u": 0.5, "eta_u": 1, "sigma_u": 0}),
    "drift-noise-clients": (alike(6, 1e-3), {"T": 1, "K": 8, "gamma_u": 1 / 80, "sigma_u": 1}),
    "sampled-loose-noise": (alike(6, 1e-3), {"T": 100, "m": 6, "sigma_u": 1, "gamma_u": 1}),
    "drift-rough-steps": (alike(1), {"T": 1, "K": 40, "gamma_u": 1 / 400}),
    "gaps-rounds": (alike(1, 1e-6), {"T": 100, "sigma_u": 1, "gamma_u": 1e-4}),
    "moves-rounds": (alike(1), {"T": 40, "gamma_u": 1}),
    "delayed-cap": (alike(1), {"T": 100, "m": 1, "K": 1, "step": 0.11, "eta_g": 1}),
    # Unequal curvatures where dissimilarity is bounded along the run.
    "local-gd-apart-drift": (apart(1, 0.5), {"T": 100, "K": 2, "gamma_u": 1 / 20}),
    "local-sgd-drift": (apart(1, 0.5), {"T": 100, "K": 2, "gamma_u": 1 / 20, "sigma_u": 0}),
    # Negative curvature, of one client or of all.
    "sampled-values-mean": (
        Quadratic([[[1.0]], [[-0.9]]], [[1.0], [-0.9]], 1),
        {"T": 144, "m": 1, "gamma_u": 0.25},
    ),
    "gradients-never-rise": (Quadratic(-np.ones((1, 1, 1)), np.ones((1, 1)), 1), {"T": 2, "gamma_u": 0.5}),
    "drift-cap": (Quadratic(-np.ones((1, 1, 1)), np.ones((1, 1)), 1), {"T": 1, "K": 8, "gamma_u": 1}),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_an_instance_refutes_the_wrong_one_alone(name):
    """A written instance within the assumptions violates the wrong statement, and not the true one."""
    problem, given = INSTANCES[name]
    pair, pattern = BY_WRONG[name], GAPS if name == "delayed-cap" else None
    given = {symbol: float(value) for symbol, value in given.items()}
    assert Instance(pair.wrong, problem, pattern, given).verdict().outcome is Outcome.VIOLATED
    assert Instance(pair.true, problem, pattern, given).verdict().outcome is not Outcome.VIOLATED


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["sgd-two-terms", "sampled-move", "drift", "cyclic-delay", "proximal", "delayed"])
def test_a_true_one_is_not_accused(name):
    """With a small budget."""
    (true,) = {pair.true.key: pair.true for pair in PAIRS if pair.true.key == f"textbook/{name}"}.values()
    assert falsify(true, Budget(30)).outcome is not Outcome.VIOLATED


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["local-gd-apart-drift", "drift-cap", "gradients-never-rise"])
def test_curvatures_of_any_sign_are_searched(name):
    """Unequal curvatures under bounded dissimilarity, and negative ones, refute what equal and positive ones do not.

    Either quadratics that continue otherwise beyond the run, or functions with kinks.
    """
    found = falsify(BY_WRONG[name].wrong, Budget(400, by_term=False))
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.family.quiet
    assert not found.verdict.supposes
    # A reader of the sentence is told of constants that the quadratics do not have.
    absent = {name for name in ("b", "F_0") if name in found.verdict.constants} - {*certified(found.instance)}
    sentence = WrittenCounterexample(found.instance, found.verdict).text
    assert all(f"{name} ~ " in sentence for name in absent)
    assert ("of functions that continue with another curvature beyond the box of the run" in sentence) == bool(absent)
    assert found.shape.family is ANY_CURVATURE or not absent


def test_clients_that_are_not_convex_are_searched():
    """Where f alone is assumed to be strongly convex."""
    pair = BY_WRONG["sampled-values-mean"]
    found = falsify(pair.wrong, Budget(400, by_term=False))
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.family is OPPOSED
    assert not any(shape.family is OPPOSED for shape in shapes(pair.true))


def certified(instance):
    """Names of the constants that the problem itself has."""
    return [name for name, each in instance.problem.constants().items() if each.certificate is not Certificate.ABSENT]


def test_vectors_are_any_where_no_martingale_is_assumed():
    """Equal vectors have the largest sum, and the sum of all of them is what is meant."""
    pair = BY_WRONG["sum-independent"]
    given = {"m": 4.0}
    assert Instance(pair.wrong, alike(4), None, given).verdict().outcome is Outcome.VIOLATED
    (found,) = Instance(pair.true, alike(4), None, given).verdict().comparisons
    assert (found.left, found.right) == (16.0, 16.0)


def test_coupled_blocks_are_searched():
    """A step size that is too long for shared and personal variables together."""
    assert falsify(BY_WRONG["two-blocks-two"].wrong, Budget(40, by_term=False)).outcome is Outcome.VIOLATED
    assert falsify(BY_WRONG["two-blocks-two"].true, Budget(40, by_term=False)).outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("name", ["averaged-clients", "clients-apart-clients"])
def test_ten_clients_in_two_groups_are_searched(name):
    """What holds for three clients."""
    found = falsify(BY_WRONG[name].wrong, Budget(400, by_term=False))
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.groups == 2
