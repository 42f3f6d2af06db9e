"""The range of a derivative on an interval, against its values at the ends and at breakpoints inside."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ratecheck.problems.functions.scalar_function import ScalarFunction


def slope(curve, x):
    """phi'(x) as the integral of the curvature from 0, in steps from one breakpoint to the next."""
    ends = (-math.inf, *curve.kinks, math.inf)
    pieces = zip(itertools.pairwise(ends), curve.curvatures, strict=True)
    return curve.slope + sum(h * (min(max(x, low), high) - min(max(0, low), high)) for (low, high), h in pieces)


@pytest.mark.parametrize("seed", range(20))
def test_range_is_that_of_ends_and_breakpoints(seed):
    """Ends on breakpoints, several pieces, curvatures of both signs, and no breakpoint at all."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 4))
    kinks = tuple(sorted({Fraction(int(k), 4) for k in rng.integers(-8, 9, count)}))
    curve = ScalarFunction(kinks, tuple(Fraction(int(h)) for h in rng.integers(-3, 4, len(kinks) + 1)), Fraction(1, 3))
    ends = [Fraction(k, 8) for k in range(-20, 21)]
    for low in ends:
        for high in ends[ends.index(low) :]:
            values = [slope(curve, x) for x in (low, high, *(k for k in kinks if low < k < high))]
            assert curve.gradients(low, high) == (min(values), max(values))
