"""Clients that are alike are followed once in exact runs on piecewise quadratics, and those that are not one by one."""

from __future__ import annotations

import numpy as np
import pytest

from ratecheck.engines import setup
from ratecheck.engines.rigorous import piecewise_runs
from ratecheck.engines.rigorous.piecewise_runs import PiecewiseRun
from ratecheck.participation import Trace
from ratecheck.problems import Piecewise

pytestmark = pytest.mark.quick

_SIZES = {"gamma_u": 0.3, "eta_u": 0.7, "gamma_v": 0.1, "eta_v": 1.0}


def _run(together):
    """The first two of three clients have one function; they take part together in every round, or not."""
    kinks, curvatures = [[[-1.0, 1.0]]] * 2 + [[[-0.5, 2.0]]], [[[0.0, 1.0, 0.0]]] * 2 + [[[0.0, 0.3, 0.0]]]
    problem = Piecewise(kinks, curvatures, [[0.4], [0.4], [-0.7]])
    present = np.ones((6, 3), dtype=bool)
    present[1::2, 1] = together
    return setup.prepare(
        "fedavg-p", problem, Trace(present), K=3, T=6, records=("G_u", "f"), step_sizes=_SIZES, x0=[0.9]
    )


@pytest.mark.parametrize("together", [True, False])
def test_alike_clients_are_followed_once(together, monkeypatch):
    """Records are, digit by digit, those of runs that follow everybody, by fewer gradients where clients are alike."""
    counts, found, gradient = [], [], PiecewiseRun._gradient
    for kinds in (None, (0, 1, 2)):
        count = []

        def counted(run, i, point, count=count):
            count.append(i)
            return gradient(run, i, point)

        monkeypatch.setattr(PiecewiseRun, "_gradient", counted)
        if kinds is not None:
            monkeypatch.setattr(PiecewiseRun, "_kinds", kinds)
        records = piecewise_runs.expect(_run(together), ("G_u", "f")).records
        found.append({name: values.tolist() for name, values in records.items()})
        counts.append(len(count))
    assert found[0] == found[1]
    assert counts[0] < counts[1]


def test_whoever_has_been_away_is_another():
    """A client with the same function and another state, or parameter, has a round of its own."""
    before = {"x": np.array([1.0], dtype=object)}
    done = piecewise_runs._ClientRound(0, {"K": 3}, before, {}, {})
    assert done.serves(0, {"K": 3}, {"x": np.array([1.0], dtype=object)})
    assert not done.serves(1, {"K": 3}, before)
    assert not done.serves(0, {"K": 2}, before)
    assert not done.serves(0, {"K": 3}, {"x": np.array([2.0], dtype=object)})
