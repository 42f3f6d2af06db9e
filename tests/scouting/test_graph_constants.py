"""Constants of graphs in batches are those that are certified one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bounds.statement import Assumption
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.participation import Graph
from ratecheck.participation.build import assumed
from ratecheck.problems import Quadratic
from ratecheck.scouting.graphs import of_graphs

pytestmark = pytest.mark.quick

_NAMES = ("ring", "star", "path", "complete", "exponential")


@pytest.mark.parametrize("fact", ["mixing_rate", "mixing_change"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_constants_of_graphs_are_the_certified_ones(fact, n):
    """Of whole, slow and fast steps of mixing, directed graphs among them."""
    graphs = [Graph.named(name, n).moved(share) for name in _NAMES for share in (1.0, 0.3, 1e-4)]
    problem = Quadratic.synthetic(n=n, d=1)
    certified = [CertifiedCase(problem, graph, 1).fact(fact) for graph in graphs]
    values = [np.inf if constant.certificate.name == "ABSENT" else constant.value for constant in certified]
    np.testing.assert_array_equal(of_graphs(fact, graphs), values)
    if n > 2:
        assert np.isfinite(values).any()
        assert len({*values}) > len(_NAMES)


def test_other_constants_and_patterns_are_left_to_others():
    """What is no constant of a graph, and clients that are on none."""
    assert of_graphs("L", [Graph.named("ring", 3)]) is None
    assert of_graphs("mixing_rate", [assumed(Assumption.FULL_PARTICIPATION, 3, 3, 1.0)]) is None
