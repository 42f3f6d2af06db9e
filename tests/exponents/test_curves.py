"""What pictures of rate cards show: a typical instance against the exact engine, the range, local steps."""

from __future__ import annotations

import numpy as np
import pytest

import bounds
from ratecheck.errors import InputError
from ratecheck.exponents import card as cards
from ratecheck.exponents.curves import against, curves
from ratecheck.exponents.hard_instances import typical
from ratecheck.exponents.local_steps import local_steps
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance

FULL = {"n": 100.0, "m": 100.0, "T": 1e9, "L": 1.0, "F_0": 1.0, "sigma_u": 10.0, "sigma_v": 0.0, "b": 1.0}


@pytest.mark.parametrize(("K", "T", "sigma", "b"), [(1, 40, 0.0, 0.0), (3, 100, 0.5, 0.7), (8, 1000, 2.0, 0.1)])
def test_a_typical_instance_is_what_the_exact_engine_says(K, T, sigma, b):
    """Eight coordinates written out for four clients, start, noise and slopes spread evenly."""
    statement = bounds.get("pfl/fedavg-partial")
    values = {"n": 4.0, "m": 2.0, "K": K, "T": T, "L": 2.0, "F_0": 3.0, "sigma_u": sigma, "b": b}
    h = 2.0 * np.geomspace(0.1, 1.0, 8)
    slopes = b / np.sqrt(8) * np.outer([1, 1, -1, -1], np.ones(8))
    start = np.sqrt(2 * 3.0 / h / 8)
    problem = Quadratic(np.broadcast_to(np.diag(h), (4, 8, 8)).copy(), slopes, 8)
    verdict = Instance(statement, problem, None, values, {"x0": start}).verdict()
    assert typical(statement, values) == pytest.approx(verdict.worst.left, rel=1e-8)


def test_a_typical_instance_is_no_worse_than_the_worst():
    """Nor is it out of proportion; a regime is followed beyond its ends, as far as the conditions go."""
    made = cards.card(bounds.get("pfl/theorem-3.11-tuned"), over=["T"])
    for each in curves(made):
        regime = each.cell.regime
        assert (each.typical <= (1 + 1e-9) * each.worst).all()
        assert (each.worst <= each.bound).all()
        assert set(regime.values) <= set(each.values)
        assert each.values[0] < regime.values[0]
        assert each.values[-1] <= 1e9
        inside = np.isin(each.values, regime.values)
        assert (each.term[inside] >= 0.9 * each.bound[inside]).all()


def test_what_is_drawn_by_default():
    """Local steps, participants, or clients where all take part, and rounds."""
    assert set(against(bounds.get("pfl/theorem-3.7"))) == {"K", "m", "T"}
    assert set(against(bounds.get("pfl/theorem-3.11-tuned"))) == {"K", "n", "T"}


def test_local_steps_help_all_clients_and_not_a_tenth_of_them():
    """FedAvg-P with heterogeneous clients: K^(-1/2) with m = n, nothing in the end with m < n; Scaffold-P: both."""
    ends = {}
    for key, m in (("pfl/corollary-3.8", 100.0), ("pfl/corollary-3.8", 10.0), ("pfl/corollary-4.6", 10.0)):
        found = local_steps(bounds.get(key), "", {**FULL, "m": m})
        assert (found.worst <= found.bound).all()
        ends[key, m] = np.log(found.worst[-1] / found.worst[-4]) / np.log(found.values[-1] / found.values[-4])
    full, part, scaffold = ends.values()
    assert full == pytest.approx(-0.5, abs=0.03)
    assert part == pytest.approx(0.0, abs=0.03)
    assert scaffold == pytest.approx(-0.5, abs=0.03)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("pfl/parallel-sgd", {}, "does not depend on local steps"),
        ("pfl/corollary-3.8", {"m": None}, "needs m"),
        ("pfl/theorem-3.7", {"gamma": 1.0}, "a condition is broken"),
    ],
)
def test_bad_settings(key, change, message):
    """One line."""
    setting = {name: value for name, value in {**FULL, **change}.items() if value is not None}
    with pytest.raises(InputError, match=message):
        local_steps(bounds.get(key), "", setting)
