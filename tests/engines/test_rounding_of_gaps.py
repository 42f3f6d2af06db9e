"""Piecewise quadratic functions in the step engine: a gap is a difference of values, which are rounded."""

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.problems import Piecewise

KEY = "classics/greedy-coordinate-descent-values"


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_minimum_that_is_reached_up_to_rounding(scale):
    """With f = (x + scale)^2/2 one step of 1/L reaches the minimum, and the bound is 0 from then on."""
    problem = Piecewise(np.full((3, 1, 1), -10 * scale), np.ones((3, 1, 2)), np.full((3, 1), scale))
    found = rc.verify(KEY, problem=problem, T=6, gamma_u=1.0)
    assert found.outcome is rc.Outcome.INCONCLUSIVE


def test_a_gap_is_still_one():
    """With a curvature of 1/2 where the run is, and of 1 elsewhere, a step of 1/2 leaves 9/16 of the gap."""
    problem = Piecewise(np.full((1, 1, 1), -10.0), np.array([[[1.0, 0.5]]]), np.full((1, 1), 0.5))
    found = rc.verify(KEY, problem=problem, T=6, gamma_u=0.5)
    assert found.outcome is rc.Outcome.HOLDS
    assert found.worst.left == pytest.approx(0.25 * 9 / 16, rel=1e-9)
