"""A second look at longer runs takes from the first what it saw of these, and finds what one of its own would."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bounds
from ratecheck.falsification.scouts import Scouts
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.scouting.scout import Scout

pytestmark = pytest.mark.quick


def _points(cube, rng):
    return (cube.drawn(rng) for _ in itertools.count())


@pytest.mark.parametrize("key", ["pfl/theorem-4.5", "classics/dsgd-gradients"])
def test_second_look_is_that_of_its_own(key, monkeypatch):
    """Slack by point is the same up to rounding, and fewer points are evaluated."""
    statement = bounds.get(key)
    few = [*itertools.islice(shapes(statement, {}), 3)]
    first = Scouts([Cube(statement, shape) for shape in few], lambda: None)
    first.look(_points, 16, 0)
    known = first.of_rounds(2)
    assert 0 < len(known) < len(first.looked)
    looks, sight = [], Scout.sight
    for given in (known, {}):
        second = Scouts([Cube(statement, shape) for shape in few], lambda: None, 2, given)
        evaluated = []

        def counted(scout, points, fewest, to=evaluated):
            to.append(len(points))
            return sight(scout, points, fewest)

        monkeypatch.setattr(Scout, "sight", counted)
        second.look(_points, 16, 0)
        found = {(str(each.cube.shape), each.point.tobytes()): each.slack for each in second.seen}
        looks.append((found, sum(evaluated)))
    (own, less), (other, more) = looks
    shared = own.keys() & other.keys()
    assert len(shared) > 0.9 * max(len(own), len(other))
    np.testing.assert_allclose([own[k] for k in shared], [other[k] for k in shared], rtol=1e-6, atol=1e-9)
    assert less < 0.9 * more
    rounds = [each.instance.given["T"] for each in second.seen]
    assert min(rounds) == 2
