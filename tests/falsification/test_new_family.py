"""A new family is one file: a search finds in this one what no other family has, and says that it was searched."""

import numpy as np
import pytest
from plugin import forget, installed

from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.families.cube import Cube
from ratecheck.families.registry import FAMILIES, shapes
from ratecheck.outcome import Outcome

SOURCE = '''
"""Steep parabolas: f(x) = h (x - 1)^2/2 of one client, with h from 1 to 10."""

from dataclasses import dataclass

from ratecheck.families.family import Family
from ratecheck.families.family import InstanceShape
from ratecheck.problems import Quadratic
from ratecheck.settings.applicability import method_of


@dataclass(frozen=True)
class Steep(Family):
    def shapes(self, statement):
        method = method_of(statement)
        return [InstanceShape(self, 1, 1, 0, 1)] if method is not None and method.shared else []

    def axes(self, cube):
        yield "steepness"

    def problem(self, cube, at):
        h = 10 ** at["steepness"]
        return Quadratic([[[h]]], [[h]], 1)

    def hard(self, cube):
        yield cube.at({"steepness": 0.5, "spread": 0.5})


FAMILY = Steep("steep parabolas", "bounds that are right where L is at most 1")
'''
BUDGET = Budget(60, by_term=False, functions=False, later=0)


@pytest.fixture
def steep(monkeypatch, tmp_path):
    """The family, installed."""
    with monkeypatch.context() as patched:
        installed(patched, tmp_path, "steep_parabolas", SOURCE, families="steep = steep_parabolas:FAMILY")
        yield FAMILIES["steep parabolas"]
    forget()


def without_smoothness():
    """||grad f||^2 <= 2 L (f - f*) without the L: true of all functions of curvature at most 1."""
    return theorem(
        title="Gradients by the gap of convex functions, L left out", algorithm="fedavg", left="G_u", right="2*F_0",
        over="every_round", assumptions=["smoothness", "full_participation", "convexity"],
        conditions=["gamma_u <= 1/L"], settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
        key="own/no-smoothness",
    )  # fmt: skip


def test_a_search_finds_what_it_alone_contains(steep):
    """Its hard point violates the statement, and what was searched names it."""
    found = falsify(without_smoothness(), BUDGET)
    assert found.outcome is Outcome.VIOLATED
    assert found.shape.family is steep
    assert found.instance.problem.H.item() > 1
    assert any(each.startswith("steep parabolas, n in {1}, d in {1}") for each in found.searched.families)


def test_without_it_nothing_is_found():
    """No function of the other families has a curvature above 1."""
    found = falsify(without_smoothness(), BUDGET)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert not any("steep" in each for each in found.searched.families)


def test_it_comes_last_and_changes_no_other_family(steep):
    """Shapes and points of the others are as they were."""
    statement = without_smoothness()
    found = shapes(statement)
    assert [shape.family is steep for shape in found] == [False] * (len(found) - 1) + [True]
    forget()
    points = [Cube(statement, shape).drawn(np.random.default_rng(0)) for shape in found[:-1]]
    for shape, point in zip(shapes(statement), points, strict=False):
        np.testing.assert_array_equal(Cube(statement, shape).drawn(np.random.default_rng(0)), point)


def test_what_is_no_family_is_refused(monkeypatch, tmp_path):
    """One line with the name of the entry point."""
    with monkeypatch.context() as patched:
        installed(patched, tmp_path, "no_family", "FAMILY = [3]", families="three = no_family:FAMILY")
        with pytest.raises(InputError, match="the entry point 'three' of ratecheck\\.families names no Family"):
            list(FAMILIES)
    forget()


def test_every_family_says_what_it_is_hard_for():
    """By name and in words, in the order of a search."""
    families = [*FAMILIES.values()]
    assert len({each.name for each in families}) == len(families) >= 9
    assert all(each.hard_for for each in families)
    assert [each.place for each in families] == sorted({each.place for each in families})
