"""Decisions on claims in probability, beside sums of binomial weights in rationals and many repetitions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ratecheck.outcome import Outcome
from ratecheck.statistics.binomial import chance_bounds, decide_chance, quantile, quantile_bounds

LEVEL = 0.01


def at_most(k, n, p):
    """P(B <= k) for a binomial B, in rationals."""
    p = Fraction(p)
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1)), Fraction(0))


@pytest.mark.parametrize(("kept", "runs"), [(0, 5), (3, 5), (5, 5), (17, 20), (40, 64)])
def test_bounds_are_where_binomial_tails_are_the_level(kept, runs):
    """The definition of Clopper and Pearson."""
    low, high = chance_bounds(kept, runs, LEVEL)
    if kept:
        assert float(1 - at_most(kept - 1, runs, low)) == pytest.approx(LEVEL)
    else:
        assert low == 0
    if kept < runs:
        assert float(at_most(kept, runs, high)) == pytest.approx(LEVEL)
    else:
        assert high == 1


def drawn(broken, runs=64, checks=1):
    """The first ``broken`` runs exceed the bound 1 in their last check."""
    left = np.zeros((runs, checks))
    left[:broken, -1] = 2.0
    return lambda wanted: (left[wanted.start : wanted.stop], np.ones((len(wanted), checks)))


@pytest.mark.parametrize("chance", [0.5, 0.8, 0.95])
def test_one_look_decides_as_binomial_tails_do(chance):
    """Of every number of runs that exceed the bound, in rationals."""
    for broken in range(65):
        found = decide_chance(drawn(broken), chance, LEVEL, 64, first=64)
        violated = at_most(64 - broken, 64, chance) < Fraction(LEVEL)
        holds = 1 - at_most(64 - broken - 1, 64, chance) <= Fraction(LEVEL) if broken < 64 else False
        expected = Outcome.VIOLATED if violated else Outcome.HOLDS if holds else Outcome.INCONCLUSIVE
        assert found.outcome is expected
        # The quantile is beyond the bound by its own confidence bound exactly where the claim is decided.
        assert (found.lower > 0) == violated
        assert (found.upper <= 0) == holds


def test_verdicts_err_with_the_stated_probability():
    """A claim that is true with nothing to spare, and one that is just false, looked at again and again."""
    rng, level, trials = np.random.default_rng(5), 0.1, 1500
    wrong = {Outcome.VIOLATED: 0, Outcome.HOLDS: 0}
    for _ in range(trials):
        values = rng.random((512, 1))

        def draw(wanted, values=values):
            return values[wanted.start : wanted.stop], np.full((len(wanted), 1), 0.9)

        for outcome, chance in ((Outcome.VIOLATED, 0.9), (Outcome.HOLDS, 0.9001)):
            wrong[outcome] += decide_chance(draw, chance, level, 512).outcome is outcome
    assert all(count <= level * trials + 3.3 * math.sqrt(level * trials) for count in wrong.values())


def test_all_checks_of_a_run_count_or_one_of_them():
    """A run that exceeds the bound in one round of three breaks a claim about every round, and not about the best."""
    draw = drawn(64, checks=3)
    assert decide_chance(draw, 0.9, LEVEL, 64).outcome is Outcome.VIOLATED
    assert decide_chance(draw, 0.9, LEVEL, 64).worst == 2
    assert decide_chance(draw, 0.9, LEVEL, 64, any_check=True).outcome is Outcome.HOLDS


def test_what_is_certain_is_refuted_by_a_run_and_never_confirmed():
    """No number of runs shows that something has the probability 1."""
    assert decide_chance(drawn(1), 1.0, LEVEL, 64).outcome is Outcome.VIOLATED
    assert decide_chance(drawn(0), 1.0, LEVEL, 64).outcome is Outcome.INCONCLUSIVE


def test_rounding_and_what_overflows():
    """A run within rounding neither meets nor exceeds the bound; an infinite left side exceeds it; NaN does neither."""

    def outcome(value, errors=0.0):
        sides = lambda wanted: (np.full((len(wanted), 1), value), np.ones((len(wanted), 1)))  # noqa: E731
        return decide_chance(sides, 0.5, LEVEL, 64, errors=lambda runs: np.full((runs, 1), errors)).outcome

    assert outcome(1.1) is Outcome.VIOLATED
    assert outcome(0.9) is Outcome.HOLDS
    assert outcome(1.1, 0.2) is outcome(0.9, 0.2) is outcome(1.0) is Outcome.INCONCLUSIVE
    assert outcome(math.inf) is outcome(math.inf, math.inf) is Outcome.VIOLATED
    assert outcome(math.nan) is Outcome.INCONCLUSIVE


def test_quantiles():
    """That of a share of so many values, and bounds that are order statistics."""
    values = np.arange(20.0)[:, None]
    assert quantile(values, 0.95)[0] == 18
    assert quantile(values, 1.0)[0] == 19
    assert quantile(np.array([1.0, math.nan]), 0.9) == math.inf
    low, high = quantile_bounds(values, 0.5, 0.05)
    # P(B <= 5) = 0.0207 and P(B <= 6) = 0.0577 for B of 20 values.
    assert (low[0], high[0]) == (5, 14)
    assert quantile_bounds(values, 0.99, 0.01)[1] == math.inf
