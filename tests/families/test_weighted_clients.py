"""Clients of unequal weights: a search finds wrong statements among them, and accuses no right one."""

from __future__ import annotations

import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.families.cube import Cube
from ratecheck.families.registry import FAMILIES, shapes
from ratecheck.outcome import Outcome

BUDGET, PAIR = Budget(40), {"n": 2, "m": 1}


def about(right, **more):
    """The distance to the minimiser of f = sum_i p_i f_i, with f strongly convex."""
    given = ["smooth", "convex", "f strongly convex", *more.pop("given", ())]
    return theorem(f"dist2 <= {right}", given=given, when=["gamma <= 1/(2*L)", "K == 1"], key="own/weights", **more)


DRAWN = {"method": "drawn-fedavg", "given": ["weighted draws"]}
START, NOISE = "(1 - gamma*mu)**t*dist2_0", "2*gamma*zeta_star**2/mu"
RIGHT = {"drawn": about(f"{START} + {NOISE}/m", **DRAWN), "everybody": about(START, method="weighted-fedavg")}
# Right where all weights are 1/n.
WRONG = about(f"{START} + (n*p_min)**6*{NOISE}", **DRAWN)


@pytest.mark.parametrize("name", RIGHT)
def test_right_statements_are_not_accused(name):
    """Among what was searched are clients of unequal weights."""
    found = falsify(RIGHT[name], BUDGET, fixed=PAIR if name == "drawn" else {"n": 2})
    assert found.outcome is not Outcome.VIOLATED
    assert any("unequal weights" in each for each in found.searched.families)
    assert not any("unequal weights" in each for each in found.searched.missed)


def test_wrong_statement_is_refuted_by_unequal_weights_alone():
    """It has a factor that is 1 where all weights are alike, and the least weight is no bound that may be claimed."""
    found = falsify(WRONG, BUDGET, fixed=PAIR)
    assert found.outcome is Outcome.VIOLATED
    assert found.instance.problem.p.min() < found.instance.problem.p.max()


def test_weights_are_positive_and_add_up():
    """To 1, without rounding, at every point of the cube."""
    shape = next(each for each in shapes(RIGHT["drawn"]) if each.family is FAMILIES[UNEQUAL])
    cube = Cube(RIGHT["drawn"], shape)
    for point in cube.hard():
        p = cube.decode(point).problem.p
        assert p.min() > 0
        assert p.sum() == 1.0


UNEQUAL = "quadratics of clients with unequal weights"


def test_more_clients_are_drawn_than_there_are():
    """Again and again the same; without replacement that is refused."""
    assert rc.verify(RIGHT["drawn"], n=2, m=5, T=3).outcome is Outcome.HOLDS
    with pytest.raises(InputError, match='m=5 breaks "m <= n"'):
        rc.verify(about(START, method="weighted-fedavg", given=["sampling"]), n=2, m=5, T=3)
