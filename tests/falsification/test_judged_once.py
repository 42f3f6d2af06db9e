"""An instance that violates a statement is judged once by a search, although scouts rank it first to the end."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

import bounds
from bounds.theorem import theorem
from ratecheck.falsification.cube_search import Budget, CubeSearch
from ratecheck.falsification.falsify import falsify
from ratecheck.outcome import Outcome

pytestmark = pytest.mark.quick

DESCENT = theorem(
    title="Gradient descent", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u", over="mean_of_rounds", right={"gap": "2*F_0/(gamma_u*T)"}, conditions=["gamma_u <= 1/L"],
    settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
)  # fmt: skip


def test_violating_instance_is_judged_once(monkeypatch):
    """Of a hundredth of a right bound, which falls at the first leader."""
    statement = bounds.get("pfl/theorem-4.5")
    claim, *others = statement.claims
    terms = {name: term / 100 for name, term in claim.terms.items()}
    wrong = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms), *others))
    judged, slack = Counter(), CubeSearch._slack

    def counted(search, cube, point, instance):
        judged[str(instance.fields())] += 1
        return slack(search, cube, point, instance)

    monkeypatch.setattr(CubeSearch, "_slack", counted)
    found = falsify(wrong, Budget(60, by_term=False, functions=False, later=0))
    assert found.outcome is Outcome.VIOLATED
    assert judged[str(found.instance.fields())] == 1
    assert {*judged.values()} == {1}


def test_attained_bound_is_searched_once(monkeypatch):
    """Of gradient descent, whose bound is attained in a run of one round: rounding below zero is no violation."""
    searched, narrow = [], CubeSearch._narrow

    def counted(search, *arguments):
        searched.append(search.start_reached)
        narrow(search, *arguments)

    monkeypatch.setattr(CubeSearch, "_narrow", counted)
    found = falsify(DESCENT, Budget(by_term=False, functions=False, later=0))
    assert searched == [True]
    assert found.tightness == pytest.approx(1.0, abs=1e-9)
    assert found.outcome is Outcome.INCONCLUSIVE
