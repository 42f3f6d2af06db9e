"""Steps along coordinates find what is at an edge of the cube, and leaders have a shorter run in reserve."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bounds
from ratecheck.falsification.scouts import Scouts
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes

pytestmark = pytest.mark.quick


@pytest.fixture
def scouts():
    """What a scout saw of some random points of one shape."""
    statement = bounds.get("pfl/theorem-4.5")
    found = Scouts([Cube(statement, next(iter(shapes(statement, {}))))], lambda: None)
    found.look(lambda cube, rng: (cube.drawn(rng) for _ in itertools.count()), 20, 0)
    return found


def test_steps_along_coordinates_are_better(scouts):
    """From the best of twenty random points they come to one that is much tighter."""
    before = scouts.ranked()[0].slack
    scouts.compass(scouts.scouted[0], 300)
    after = scouts.ranked()[0]
    assert after.slack < before
    assert (1 - after.slack) / (1 + after.slack) > 0.25
    assert ((after.point >= 0) & (after.point <= 1)).all()
    assert scouts.count <= 20 * 4 + 300 + 2 * len(after.point) + 6


def test_a_shorter_run_takes_the_place_of_a_leader(scouts):
    """It is the best of those with a tenth of the local steps."""

    def length(each):
        return np.prod([each.instance.given.get(name, 1.0) for name in ("K", "T")])

    longest = max(scouts.seen, key=length)
    found = scouts.shorter(longest)
    shorter = [each for each in scouts.seen if length(each) <= length(longest) / 10]
    assert found is min(shorter, key=lambda each: each.slack)
    assert scouts.shorter(min(scouts.seen, key=length)) is None
