"""The numbers of an instance without its verdict."""

import numpy as np
import pytest

import bounds
from ratecheck.errors import InputError
from ratecheck.families.cube import Cube
from ratecheck.families.registry import later_shapes, shapes


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "classics/heavy-ball-values", "classics/dsgd-gradients"])
def test_they_are_those_of_the_verdict(key):
    """Step sizes that are chosen are those of the verdict."""
    statement, rng, seen = bounds.get(key), np.random.default_rng(0), 0
    for shape in [*shapes(statement, {})[:4], *[*later_shapes(statement)][:1]]:
        cube = Cube(statement, shape)
        try:
            instance = cube.decode(cube.drawn(rng))
            verdict = instance.verdict()
        except InputError:
            continue
        if verdict.comparisons:
            seen += 1
            assert instance.values() == verdict.values
    assert seen
