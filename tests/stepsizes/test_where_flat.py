"""What a minimiser costs: none is looked for where it decides nothing, and flat bounds have no valleys."""

from __future__ import annotations

import math

import pytest

from bounds.theorem import theorem
from ratecheck.stepsizes import admissible
from ratecheck.stepsizes.choose import LARGEST, NEAR, chosen_values
from ratecheck.stepsizes.optimum import _deepest

AT = {"L": 2.0, "F_0": 1.0, "T": 10.0, "n": 1.0, "sigma": 1.0}


def stated(condition):
    """A theorem about gradient descent whose bound falls and rises."""
    right = "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*sigma**2"
    return theorem(right, method="gd", given="smooth, noise", when=condition)


@pytest.mark.parametrize(("condition", "wanted", "searches"), [("gamma*L <= 1", LARGEST, 0), ("gamma*L < 1", NEAR, 1)])
def test_a_largest_step_size_is_taken_without_the_minimiser(monkeypatch, condition, wanted, searches):
    """Only beside an open end the bound may be infinite, which its least value tells."""
    done = []
    minimise = admissible.minimise
    monkeypatch.setattr(admissible, "minimise", lambda *asked: done.append(1) or minimise(*asked))
    values, chosen = chosen_values(stated(condition), AT)
    assert values["gamma"] == pytest.approx(0.5)
    assert chosen["gamma"] == wanted
    assert len(done) == searches


def test_a_flat_function_is_sampled_and_little_more():
    """1 + x - x is 1 up to rounding, whose valleys cost nothing; one that is deeper than what is flat is found."""
    asked = []

    def flat(x):
        asked.append(x)
        return 1 + x - x

    _deepest(flat, 1e-6, 4.0)
    assert len(asked) < 700
    found = _deepest(lambda x: min(1.0, abs(math.log(x))), 1e-60, 1e80)
    assert found == pytest.approx(1.0, rel=1e-9)
    # Of two valleys beside a flat stretch the deeper one.
    two = _deepest(lambda x: min(1.0, 0.5 + abs(math.log(x / 8)), abs(math.log(x / 2)) + 0.25), 1e-6, 1e6)
    assert two == pytest.approx(2.0, rel=1e-9)
