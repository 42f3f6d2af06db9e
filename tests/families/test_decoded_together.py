"""Points that are decoded together are the problems that they are one by one."""

from __future__ import annotations

import numpy as np
import pytest

import bounds
from ratecheck.families.cube import Cube
from ratecheck.families.registry import later_shapes, shapes

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("key", ["pfl/theorem-4.5", "classics/dsgd-gradients", "simfbo/theorem-1-repaired"])
def test_problems_are_those_of_single_points(key):
    """Of every shape, to the last bit."""
    statement = bounds.get(key)
    for shape in (*shapes(statement), *later_shapes(statement)):
        cube, rng = Cube(statement, shape), np.random.default_rng(0)
        points = [dict(zip(cube.coordinates, cube.drawn(rng).tolist(), strict=True)) for _ in range(5)]
        for at, together in zip(points, cube.problems(points), strict=True):
            alone = vars(cube.problem(at))
            assert together is not None
            assert vars(together).keys() == alone.keys(), shape
            for name, value in vars(together).items():
                assert np.array_equal(value, alone[name]), (shape, name)
