"""An instance that violates a statement is judged once by a search, although scouts rank it first to the end."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

import bounds
from ratecheck.falsification.cube_search import Budget, CubeSearch
from ratecheck.falsification.falsify import falsify
from ratecheck.outcome import Outcome

pytestmark = pytest.mark.quick


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
