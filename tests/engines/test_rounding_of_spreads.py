"""How far clients are apart is a difference: what rounding leaves of it where they agree is no distance."""

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.participation import Graph
from ratecheck.problems import Piecewise

KEY = "classics/dsgd-consensus"


def verdict(graph, gamma_u, scale=1.0):
    """That on three clients that pull apart, f_i' being linear for |x| <= ``scale`` and constant beyond."""
    kinks, curvatures = np.tile([-scale, scale], (3, 1, 1)), np.tile([0.0, 1.0, 0.0], (3, 1, 1))
    problem = Piecewise(kinks, curvatures, scale * np.array([[1.0], [-1.0], [0.3]]))
    return rc.verify(KEY, problem=problem, participation=Graph.named(graph, 3), T=60, gamma_u=gamma_u, sigma_u=0)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_clients_that_agree_exactly(scale):
    """On a complete graph every round ends at the mean: the bound is 0, and so are the distances, up to rounding."""
    found = verdict("complete", 0.3, scale)
    assert found.outcome is not rc.Outcome.VIOLATED
    assert found.outcome is not rc.Outcome.NOT_APPLICABLE


def test_a_distance_is_still_one():
    """On a path clients are apart, and the bound is compared."""
    assert verdict("path", 0.2).outcome is rc.Outcome.HOLDS
