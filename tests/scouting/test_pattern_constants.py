"""Constants of participations in batches are those that are certified one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bounds.statement import Assumption
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.families.who import TRACES, trace_matrix
from ratecheck.participation import Graph, Trace
from ratecheck.participation.build import assumed
from ratecheck.problems import Quadratic
from ratecheck.scouting.patterns import of_patterns

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
    np.testing.assert_array_equal(of_patterns(fact, graphs, np.ones(len(graphs))), values)
    if n > 2:
        assert np.isfinite(values).any()
        assert len({*values}) > len(_NAMES)


@pytest.mark.parametrize("fact", ["tau_max", "tau_avg"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_delays_are_the_certified_ones(fact, n):
    """Of traces of every name and several lengths, of runs that end before them and with them."""
    rounds = [1, 2, 5, 9, 9]
    traces = [Trace(trace_matrix(kind, n, 1, T + more)) for kind in TRACES for T in rounds for more in (0, 1, 4)]
    T = np.array([float(T) for _ in TRACES for T in rounds for _ in range(3)])
    problem = Quadratic.synthetic(n=n, d=1)
    certified = [CertifiedCase(problem, trace, int(t)).fact(fact).value for trace, t in zip(traces, T, strict=True)]
    np.testing.assert_array_equal(of_patterns(fact, traces, T), certified)
    assert np.isnan(of_patterns(fact, traces[-1:], T[-1:] + 9)).all() or n == 1


def test_other_constants_and_patterns_are_left_to_others():
    """What is no constant of a graph, and clients that are on none."""
    assert of_patterns("L", [Graph.named("ring", 3)], np.ones(1)) is None
    assert of_patterns("mixing_rate", [assumed(Assumption.FULL_PARTICIPATION, 3, 3, 1.0)], np.ones(1)) is None
