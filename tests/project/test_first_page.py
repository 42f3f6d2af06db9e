"""The first page and the README say the same, and no number that is not counted or computed."""

import re
from pathlib import Path

import first_page
import pytest
import sympy as sp

import bounds

ROOT = Path(__file__).parents[2]


def words(page):
    """A text with its whitespace collapsed."""
    return " ".join((ROOT / page).read_text().split())


def test_the_results_are_those_that_are_kept():
    """The sentence is made anew; the first page includes what is made."""
    assert first_page.results() in words("README.md")
    assert "_generated/results.md" in words("docs/index.md")


def test_the_counterexample_is_one():
    """What both pages print is the right side there, which no mean of squares is below."""
    (claim,) = bounds.get(first_page.PRINTED).claims
    at = {"eps_max": 1, "rho": 3, "gap": 0} | dict.fromkeys(
        ("m", "s", "T", "lambda_", "alpha_min", "alpha_max", "L"), 1
    )
    right = claim.bound.subs({symbol: at[symbol.name] for symbol in claim.bound.free_symbols})
    assert right == sp.Rational(-869, 182)
    assert all("-869/182" in words(page) for page in ("README.md", "docs/index.md"))


@pytest.mark.parametrize("key", [first_page.PRINTED, first_page.REPAIRED])
def test_the_picture_shows_one_bound_violated_and_the_other_not(key):
    """The last point of the picture; its titles count all."""
    (far,) = first_page.points(key, first_page.STATED[-1:])
    assert far.violated is (key == first_page.PRINTED)
    drawn = first_page.PLACE.read_text()
    assert re.search(r"VIOLATED at [1-9] of 9", drawn)
    assert "HOLDS at 9 points" in drawn
