"""Figures of bounds beside left sides that are lost in rounding, and of bounds that are violated."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem


def contraction(factor=1):
    """Gradient descent on a strongly convex function, every round."""
    return theorem(
        title="Linear rate", algorithm="fedavg", left="dist2", over="every_round_but_first", vocabulary="textbook",
        assumptions=["smoothness", "strong_convexity", "full_participation", "no_personal"], key="own/linear",
        right=f"{factor}*(1 - gamma_u*mu)**(2*t)*dist2_0", conditions=["gamma_u <= 2/(L + mu)"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip


@pytest.fixture(scope="module")
def drawn():
    """The figure and its data; 600 rounds bring the bound to 1e-48."""
    return rc.plot(contraction(), n=3, T=600, gamma_u=0.9)


def test_a_left_side_is_drawn_as_far_as_it_is_known(drawn):
    """Not above the bound: what is left of it there is rounding, of which the data have the size."""
    (line,) = (each for each in drawn.figure.axes[0].get_lines() if str(each.get_label()).startswith("left side"))
    assert "no number beyond rounding at" in line.get_label()
    left = np.asarray(line.get_ydata(), dtype=float)
    (course,) = json.loads(json.dumps(drawn.to_dict()))["courses"]
    right, off = np.array(course["right"]), np.array(course["left_rounding"])
    assert np.isnan(left[-1])
    assert right[-1] < 1e-40
    assert off[-1] > 1e-20
    known = ~np.isnan(left)
    assert known[:50].all()
    assert (left[known] <= right[known]).all()
    assert (left[known] > off[known]).all()


def test_a_figure_of_a_violated_bound_says_so(drawn):
    """In its title, as in the text beside it."""
    wrong = rc.plot(contraction("0.1"), n=3, T=30, gamma_u=0.9)
    assert "\nVIOLATED: " in wrong.figure.get_suptitle()
    assert "VIOLATED" not in drawn.figure.get_suptitle()
    right = rc.plot(contraction(), n=3, T=30, gamma_u=0.9)
    assert "\nHOLDS on this problem: " in right.figure.get_suptitle()
