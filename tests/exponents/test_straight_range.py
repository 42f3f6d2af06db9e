"""The range over which an exponent is measured: on curves whose bend is known, on theorems, and for an order."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import bounds
import ratecheck as rc
from ratecheck.cli import _run
from ratecheck.exponents.scaling import Agreement, _straight, classify
from ratecheck.exponents.straight_range import DECADE, beyond, straightest
from ratecheck.exponents.sweep import Sweep
from ratecheck.statistics.exponent_fit import fit

X = np.geomspace(1.0, 1e4, 13)


def curve(measured, *terms, role="rounds", vacuous=None):
    """A sweep over X with this left side under the sum of these terms."""
    bound = np.sum(terms, axis=0)
    return Sweep(
        parameter="T", role=role, at=100.0, held=(), values=X, measured=measured, error=np.zeros_like(X), bound=bound,
        terms={f"term {k}": term for k, term in enumerate(terms)},
        vacuous=np.zeros(len(X), dtype=bool) if vacuous is None else vacuous,
        predicted=math.nan, fit=fit(X, measured), law=fit(X, bound), left_out=(),
    )  # fmt: skip


def test_the_range_lies_behind_the_bend():
    """1/(1 + T/100) is flat, then 1/T: the bound is 1/T, so that only the second law is one of many rounds."""
    sweep = curve(1 / (1 + X / 100), 1e3 / X)
    assert classify(sweep).agreement is Agreement.NOT_ASYMPTOTIC
    found = straightest(sweep, _straight)
    assert found.values[-1] == X[-1]
    assert found.values[-1] / found.values[0] >= DECADE
    assert found.values[0] > 100
    assert found.fit.exponent == pytest.approx(-1, abs=0.15)
    np.testing.assert_array_equal(found.bound, sweep.bound[-len(found.values) :])
    assert classify(found).agreement is Agreement.CONSISTENT


def test_small_step_sizes_are_the_far_end():
    """The same curve turned round: the range begins at the smallest value."""
    found = straightest(curve(1 / (1 + 100 / X), 1e3 * X, role="step_size"), _straight)
    assert found.values[0] == X[0]
    assert found.values[-1] < 100


def test_a_curve_that_bends_everywhere_has_no_range():
    """The exponent of exp(-log(T)^2/4) changes by more than one over a decade."""
    assert straightest(curve(np.exp(-(np.log(X) ** 2) / 4), 1e3 / X), _straight) is None


def test_a_bound_that_says_nothing_gives_no_range():
    """Straight as both sides are; where it says something from a value on, the range begins there."""
    straight = curve(1 / X, 1e3 / X, vacuous=np.ones(len(X), dtype=bool))
    assert straightest(straight, _straight) is None
    found = straightest(curve(1 / X, 1e3 / X, vacuous=X < 50), _straight)
    assert found.values[0] == X[X >= 50][0]


def test_the_choice_does_not_look_at_the_verdict():
    """A left side that gains on the bound is chosen over the same range as one that does not."""
    ranges = [straightest(curve(1e-4 * X**power + 1e-9, 1e5 / X), _straight).values for power in (-1.0, -0.5)]
    np.testing.assert_array_equal(*ranges)
    assert classify(straightest(curve(1e-4 * X**-0.5, 1e5 / X), _straight)).agreement is Agreement.INCONSISTENT


def test_what_is_affordable_is_counted_in_rounds():
    """Doublings while the rounds are few; where they are averaged over, so many doublings; nothing for participants."""
    sweep = curve(1 / X, 1e3 / X)
    assert [*beyond(sweep, 400.0)] == [20000.0, 40000.0]
    assert [*beyond(sweep, 1e8)] == [2e4, 4e4, 8e4, 16e4, 32e4]
    assert len([*beyond(curve(1 / X, 1e3 / X, role="local_steps"), 2e4)]) == 3
    assert [*beyond(curve(X, 1e5 * X, role="step_size"), 10.0)] == [2.0**-k for k in range(1, 6)]
    assert not [*beyond(curve(1 / X, 1e3 / X, role="participants"), 10.0)]


def test_rounds_until_the_rate_has_set_in():
    """From 100 to 1600 rounds the exponent changes from -0.42 to -0.76; further out it is near the bound's -1."""
    found = rc.scaling("pfl/theorem-3.11-tuned", over="T")
    (each,) = found.scaling.exponents
    assert each.agreement is Agreement.CONSISTENT
    assert each.sweep.values[-1] > 1600
    assert each.sweep.values[-1] / each.sweep.values[0] >= DECADE
    assert "the farthest of a decade or more" in each.chosen
    assert f"range   {each.chosen}" in str(found)
    assert found.to_dict()["exponents"]["T"]["chosen"] == each.chosen
    low, high = (rc.verify("pfl/theorem-3.11-tuned", T=T) for T in each.sweep.values[[0, -1]])
    ends = [verdict.left for verdict in (low, high)]
    assert ends == pytest.approx(each.sweep.measured[[0, -1]].tolist(), rel=1e-6)


def test_a_bend_that_stays_is_named():
    """With ten clients the left side bends in m; nothing else can be looked at."""
    (each,) = rc.scaling("pfl/theorem-3.7", over="m").scaling.exponents
    assert each.agreement is Agreement.NOT_ASYMPTOTIC
    assert "bends" in each.reason
    assert "from m = 1 to m = 10 there is no decade" in each.reason


@pytest.mark.parametrize("key", ["simfbo/theorem-1-order", "simfbo/theorem-2-order"])
def test_an_order_gets_an_answer(key, capsys):
    """No conclusion and why, and where its exponents are compared; not an error."""
    assert _run(["scaling", key]) == 3
    out = capsys.readouterr()
    assert "NO_CONCLUSION" in out.out
    assert "'ratecheck rates' of it compares exponents alone" in out.out
    assert out.err == ""
    assert _run(["scaling", key, "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert (data["scaling"], data["exponents"], data["key"]) == ("NO_CONCLUSION", {}, key)
    assert key in rc.scaling(bounds.get(key)).to_dict()["notes"][0]
