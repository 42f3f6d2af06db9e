"""Rate cards where step sizes are those of the participation that is drawn: delays, exponents, planted exponents."""

import dataclasses
import functools

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.statement import Assumption
from ratecheck.exponents import card as cards
from ratecheck.exponents import regimes
from ratecheck.exponents.card import CellFinding, card
from ratecheck.exponents.families import drawn_delays
from ratecheck.exponents.hard_instances import worst
from ratecheck.outcome import Outcome
from ratecheck.participation import Bernoulli, Cyclic, Reshuffled, Uniform
from ratecheck.participation import delays as counted
from ratecheck.settings.setting import Options
from ratecheck.verification.verify import verify

CASE = "fedsum/corollary-g.1-case-{}"
ANY, UNIFORM, INDEPENDENT = "fedsum/corollary-4.1", CASE.format(1), CASE.format(2)
RESHUFFLED, CYCLIC = CASE.format(3), CASE.format(4)
NOISE, GAP, FIRST = "noise: sigma", "initial gap", "first gradients: F_0"
QUARTER = sp.Rational(1, 4)


def only(statement, name, parameter, seed=0):
    """One cell of the card, by the name of its row."""
    bound = regimes.Bound(statement)
    (row,) = [row for row in regimes.rows(statement, bound) if row.name == name]
    return cards._cell(statement, bound, row, parameter, seed)


@functools.cache
def cell(key, name, parameter):
    """The same by the statement's key."""
    return only(bounds.get(key), name, parameter)


def planted(key, term, parameter, power):
    """The statement with a term times parameter^power."""
    statement = bounds.get(key)
    symbol, claim = statement.vocabulary[parameter].symbol, statement.claims[0]
    terms = {label: each * symbol**power if label == term else each for label, each in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


# --- Delays ---


@pytest.mark.parametrize(("n", "S"), [(1, 1), (6, 2), (7, 1), (40, 4)])
@pytest.mark.parametrize("T", [1, 3, 8, 100])
def test_delays_of_turns_are_those_of_the_clients(n, S, T):
    """tau_max over rounds 0 ... T and tau_avg over 0 ... T-1."""
    found = drawn_delays.Drawn(Assumption.CYCLIC_BLOCKS, n, float(S), T).delays
    assert found == pytest.approx(counted.counted(Cyclic(n, S), T), rel=1e-14)


@pytest.mark.parametrize(("n", "S", "T"), [(40, 4, 3000), (8, 2, 9), (100, 1, 5000), (6, 3, 1), (5, 5, 30)])
def test_mean_delays_of_an_order_that_is_drawn_anew(n, S, T):
    """Against draws."""
    expected = counted.distribution(Reshuffled(n, S), T, 200).mean
    found = drawn_delays.Drawn(Assumption.RESHUFFLED_BLOCKS, n, float(S), T).delays
    assert found == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize(("n", "p", "T"), [(2, 0.5, 1000), (10, 0.9, 2000), (10, 0.1, 3000), (100, 0.05, 4000)])
def test_mean_delays_of_independent_clients(n, p, T):
    """Against sums of probabilities; the start, where nobody can have been away for long, is left out."""
    expected = counted.expectation(Bernoulli(p, n), T)
    assert drawn_delays.mean_delays(n, p, T) == pytest.approx(expected, rel=0.04, abs=0.05)


def test_sampled_clients_are_away_as_long_as_independent_ones():
    """Four of forty clients: against draws."""
    expected = counted.distribution(Uniform(40, 4), 3000, 200).mean
    assert drawn_delays.mean_delays(40, 0.1, 3000) == pytest.approx(expected, rel=0.04)


def test_all_probabilities_are_one():
    """Nobody is ever away."""
    assert drawn_delays.mean_delays(5, 1.0, 100) == (0.0, 0.0)


# --- What stands in for the mean over participations ---


@pytest.mark.long
@pytest.mark.parametrize("sigma", [0.0, 3.0])
@pytest.mark.parametrize("key", [UNIFORM, INDEPENDENT, RESHUFFLED])
def test_the_stand_in_is_near_the_mean_over_draws(key, sigma):
    """`verify` draws traces, each with step sizes of its own."""
    N, S, T = 8.0, 2.0, 300.0
    values = {"N": N, "K": 3.0, "T": T, "L": 1.0, "sigma": sigma, "Delta_f": 1.0, "F_0": 0.02}
    values |= {"delta": S / N} if key == INDEPENDENT else {"S": S}
    statement = bounds.get(key)
    hard = dataclasses.replace(worst(statement, values, "sigma" if sigma else None), runs=True)
    instance = hard.instance()
    verdict = verify(
        statement, instance.problem, instance.given, Options(engine="exact", replicates=60), start=instance.start
    )
    assert verdict.outcome is not Outcome.VIOLATED
    assert verdict.comparisons[0].left == pytest.approx(hard.left, rel=0.1)


def test_blocks_in_turns_are_an_instance():
    """`verify` runs it with the statement's own participation, and finds the same left side."""
    found = cell(CYCLIC, NOISE, "T")
    verdict = found.worst.hardest.instance().verdict()
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.comparisons[0].left == pytest.approx(found.worst.hardest.left, rel=1e-6, abs=0)


# --- Cards ---


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("key", "row", "parameter", "exponent"),
    [
        (ANY, NOISE, "tau_avg", 0.4), (ANY, GAP, "tau_max", 1.0), (CYCLIC, NOISE, "S", -0.5), (CYCLIC, NOISE, "N", 0.0),
        (CYCLIC, GAP, "N", 1.0), (CYCLIC, FIRST, "S", -1.0), (UNIFORM, NOISE, "K", -0.5), (UNIFORM, NOISE, "S", -0.5),
        (INDEPENDENT, NOISE, "delta", -0.5), (INDEPENDENT, NOISE, "K", -0.5), (RESHUFFLED, NOISE, "K", -0.5),
        (RESHUFFLED, GAP, "T", -1.0),
    ],
)  # fmt: skip
def test_exponents(key, row, parameter, exponent):
    """Where the term decides, it and the worst case have the same exponent."""
    found = cell(key, row, parameter)
    assert found.finding is CellFinding.ATTAINED
    assert found.worst.measured.exponent == pytest.approx(exponent, abs=0.03)


def test_logarithms_of_the_bound_are_loose():
    """The noise of sampled clients goes with the mean delay, which knows nothing of T: log(N T) is too much."""
    found = cell(UNIFORM, NOISE, "N")
    assert found.finding is CellFinding.LOOSE
    assert 0.03 < found.loose < 0.15


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("key", "term", "row", "parameter"),
    [
        (CYCLIC, "noise", NOISE, "K"),
        (INDEPENDENT, "noise", NOISE, "K"),
        (RESHUFFLED, "initial gap", GAP, "T"),
        pytest.param(ANY, "initial gap", GAP, "tau_max", marks=pytest.mark.long),
        pytest.param(CYCLIC, "initial gap", GAP, "N", marks=pytest.mark.long),
        pytest.param(UNIFORM, "initial gap", GAP, "T", marks=pytest.mark.long),
    ],
)
def test_planted_exponents(key, term, row, parameter):
    """A quarter too good is exceeded, a quarter too bad is loose by about that."""
    good = only(planted(key, term, parameter, -QUARTER), row, parameter)
    assert good.finding.passes
    assert good.violation.left > good.violation.bound
    if key in (UNIFORM, INDEPENDENT, RESHUFFLED):
        assert "'verify' has no such run" in good.reason
    bad = only(planted(key, term, parameter, QUARTER), row, parameter)
    assert bad.finding is CellFinding.LOOSE
    assert bad.loose == pytest.approx(0.25, abs=0.05)


# --- Long: whole cards ---

CARDS = (ANY, f"{ANY}-repaired", UNIFORM, INDEPENDENT, f"{INDEPENDENT}-repaired", RESHUFFLED, CYCLIC)


@pytest.mark.long
@pytest.mark.parametrize("key", CARDS)
def test_no_card_is_exceeded_and_seeds_move_no_exponent(key):
    """Exponents of cells that are attained with every seed; how near a logarithm is to a power may depend on it."""
    three = [card(bounds.get(key), seed=seed) for seed in (0, 1, 2)]
    assert not any(each.exceeded or each.open for each in three)
    for same in zip(*(each.cells for each in three), strict=True):
        assert all(each.worst is not None for each in same), same[0].reason
        if {each.finding for each in same} == {CellFinding.ATTAINED} and key in (ANY, f"{ANY}-repaired", CYCLIC):
            gains = [each.worst.gain.exponent for each in same]
            assert np.ptp(gains) <= 0.02, (same[0].row.name, same[0].parameter, gains)


@pytest.mark.long
@pytest.mark.parametrize("key", [ANY, UNIFORM, INDEPENDENT, RESHUFFLED, CYCLIC])
def test_every_planted_exponent(key):
    """A quarter too good, where the bound can be passed within twelve decades.

    The bound of the first gradients is too far above for that, and so is that of the noise of sampled clients in N, S.
    """
    wrong = []
    sampled = key in (UNIFORM, INDEPENDENT)
    for term, row in (("noise", NOISE), ("initial gap", GAP)):
        here = {"K", "T"} if sampled else {"N", "S", "K", "T", "tau_max", "tau_avg"}
        for parameter in sorted(here & {*cards.columns(bounds.get(key))}):
            good = only(planted(key, term, parameter, -QUARTER), row, parameter)
            if not good.finding.passes:
                wrong.append((row, parameter, good.finding, good.reason))
    assert not wrong
