"""The textbook: true statements are not accused whatever their form, and each false twin is caught."""

from __future__ import annotations

import dataclasses

import pytest

import bounds
from bounds.papers.textbook import statements as textbook
from bounds.statement import Relation
from ratecheck.cli import _run
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.settings.defaults import completed
from ratecheck.verification.instance import Instance

KEYS = [statement.key for statement in bounds.statements(bounds.TEXTBOOK)]
TWINS = [statement.key for statement in bounds.twins()]
# What the default problem does not fix: steps about which nothing is said, and noise that exact oracles lack.
GIVEN = {"n": 3.0, "T": 12.0, "gamma_u": 0.7, "sigma_u": 0.0}


def test_there_are_enough_in_forms_enough():
    """At least 36 true statements and 10 twins, over all relations and rounds, and no two alike."""
    assert len({*KEYS, *TWINS}) == len(KEYS) + len(TWINS)
    assert len(KEYS) >= 36
    assert len(TWINS) >= 10
    claims = [claim for statement in textbook.STATEMENTS for claim in statement.claims]
    assert {claim.relation for claim in claims} == {Relation.AT_MOST, Relation.EQUAL}
    assert len({claim.metric.over for claim in claims}) == 4
    assert not any(key.startswith(bounds.TEXTBOOK) for key in bounds.keys())


@pytest.mark.every(4)
@pytest.mark.parametrize("key", KEYS)
def test_a_true_statement_is_not_accused(key):
    """By `verify` on the default problem, at its own steps or at given ones, nor by a short search."""
    statement = bounds.get(key)
    known = {k: v for k, v in GIVEN.items() if k not in statement.settings and not _prescribed(statement, k)}
    for given in ({"T": 20.0}, known):
        try:
            asked = completed(statement, given=given)
            verdict = Instance(statement, asked.problem, None, asked.values).verdict()
        except InputError:
            continue
        assert verdict.outcome is not Outcome.VIOLATED, verdict.worst
    assert falsify(statement, Budget(5)).outcome is not Outcome.VIOLATED


def _prescribed(statement, name):
    """Whether a rule or a cap says what a number is."""
    return any(name in condition.symbols for condition in statement.hypotheses)


@pytest.mark.long
@pytest.mark.parametrize("key", KEYS)
def test_a_true_statement_withstands_a_search(key):
    """The search with its default budget, from two seeds."""
    for seed in (0, 1):
        assert falsify(bounds.get(key), Budget(1000), seed=seed).outcome is not Outcome.VIOLATED


@pytest.mark.long
@pytest.mark.parametrize("key", TWINS)
def test_a_twin_is_caught(key):
    """The search violates each, and the instance it saves does so when asked again.

    Daily each is violated, shrunk and read in ``tests/falsification/test_shrink_jointly.py``.
    """
    found = falsify(bounds.get(key), Budget(150))
    assert found.outcome is Outcome.VIOLATED
    assert found.instance.verdict().outcome is Outcome.VIOLATED


def test_what_is_measured_of_different_vectors_is_not_compared():
    """Sums are of martingale differences, means of gradients: an identity between them would be called violated."""
    sums, mean = bounds.get("textbook/sum-of-vectors"), bounds.get("textbook/sample-mean")
    own = {name: sums.vocabulary[name].symbol for name in ("spread", "squares", "xbar2", "n")}
    (claim,) = sums.claims
    metric = dataclasses.replace(claim.metric, weights={own["spread"]: 1})
    wrong = dataclasses.replace(
        claim, metric=metric, relation=Relation.EQUAL, terms={"all": own["squares"] - own["n"] * own["xbar2"]}
    )
    found = falsify(dataclasses.replace(sums, claims=(wrong,)), Budget(5))
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert "spread, xbar2 and squares are measured of different vectors" in found.reasons[0]
    assert falsify(mean, Budget(5)).applicable


def test_it_is_taken_by_key(capsys, tmp_path, monkeypatch):
    """As any statement, though no catalogue lists it."""
    monkeypatch.chdir(tmp_path)
    assert _run(["verify", "textbook/gradient-descent", "n=2", "T=5"]) == 0
    assert _run(["falsify", "textbook/gradient-descent-false", "--evaluations", "40", "--json"]) == 1
    capsys.readouterr()
