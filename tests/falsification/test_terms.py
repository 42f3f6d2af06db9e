"""The search term by term: what is wrong in one term is found where that term decides the bound, at any size."""

import dataclasses

import numpy as np
import pytest

import bounds
import ratecheck as rc
from bounds.papers.textbook.pairs import PAIRS
from bounds.parsing import expression
from bounds.theorem import theorem
from ratecheck.engines.moments.expectation import Recorder
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.scouts import in_niche
from ratecheck.falsification.terms import by_term, in_parts
from ratecheck.outcome import Outcome
from ratecheck.views.checks.falsify import falsified_fields, falsified_text

KEY = "pfl/theorem-3.7"


def scaled(key, term, factor):
    """A statement with one term of its bound multiplied."""
    statement = bounds.get(key)
    claim = statement.claims[0]
    terms = {name: factor * value if name == term else value for name, value in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(2)
@pytest.mark.parametrize("key", [KEY, "fedsum/theorem-d.1-repaired", "flame/theorem-2-unbiased-wide-repaired"])
def test_every_term_of_a_sound_theorem_has_a_niche(key):
    """With an instance below the bound, on which this term is nearly all of it."""
    found = by_term(bounds.get(key))
    assert found.niches
    assert found.violation is None
    for niche in found.niches:
        assert 0 < niche.tightness < 1, niche.row.name
        assert niche.hard is not None
        assert niche.violation is None


def test_the_niche_of_the_initial_gap_has_the_known_constant():
    """Half of what gradient descent may lose at a fixed step is lost on one mode: 1/4 of this bound, 0.2564 found."""
    found = {niche.row.name: niche.tightness for niche in by_term(bounds.get(KEY)).niches}
    assert found["initial gap"] == pytest.approx(0.2564, abs=2e-3)


@pytest.mark.every(2)
@pytest.mark.parametrize(("term", "factor"), [("noise", 1 / 60), ("initial gap", 1 / 8), ("dissimilarity", 1 / 200)])
def test_a_term_that_is_too_small_is_found_though_others_hide_it(term, factor):
    """`verify` confirms the instance, which is one of that term's niche."""
    wrong = scaled(KEY, term, factor)
    found = by_term(wrong)
    assert found.violation is not None
    assert found.niches[-1].row.term == term
    assert found.violation.instance.verdict().outcome is Outcome.VIOLATED


@pytest.mark.usefixtures("no_scouts")
def test_a_search_ends_with_what_the_terms_show():
    """After a short search by verdicts that finds nothing; the instance has no shape, and is shrunk as any other."""
    wrong = scaled(KEY, "noise", 1 / 60)
    without = falsify(wrong, Budget(5, by_term=False, later=0))
    assert (without.outcome, without.terms) == (Outcome.INCONCLUSIVE, None)
    found = falsify(wrong, Budget(5))
    assert (found.outcome, found.shape, found.evaluations) == (Outcome.VIOLATED, None, 5)
    assert found.tightness > 1
    assert falsified_fields(found)["terms"][-1]["violation"]["confirmed"]
    assert rc.falsify(wrong, evaluations=5).as_latex()


@pytest.mark.long
def test_a_tighter_instance_of_a_term_takes_the_place_of_the_search_s():
    """After a short search of D.1: half of the bound is needed, of which five instances show less."""
    statement = bounds.get("fedsum/theorem-d.1-repaired")
    short, found = falsify(statement, Budget(5, by_term=False)), falsify(statement, Budget(5))
    assert short.tightness < 0.49 < found.tightness
    assert (found.outcome, found.shape) == (Outcome.INCONCLUSIVE, None)
    assert found.instance.verdict().worst.tightness == pytest.approx(found.tightness, rel=1e-3)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("gradient-descent-any", ""),
        ("moves", "no second moment of one round's variables"),
        ("mean-gap", "says little more than smoothness alone"),
    ],
)
def test_other_left_sides_than_squared_gradients(key, reason):
    """L may stand on the left alone; what no moment of one round is, and a bound that the start meets, are reasons."""
    every = [*bounds.statements("textbook"), *(pair.true for pair in PAIRS)]
    statement = next(each for each in every if each.key == f"textbook/{key}")
    found = by_term(statement)
    assert found.violation is None
    (niche,) = found.niches
    assert (niche.hard is None) == bool(reason)
    assert reason in niche.reason


def test_what_was_found_of_each_term_is_printed():
    """Its tightness and sizes; of a statement about other things why there is nothing."""
    text = falsified_text(falsify(bounds.get(KEY), Budget(5)))
    assert "  terms   noise: sigma_u: left / right 0.0" in text
    assert "at n=" in text
    text = falsified_text(falsify(bounds.get("pfl/lemma-3.1"), Budget(5)))
    assert "  terms   not looked at one by one: pfl/lemma-3.1 is about every round" in text


def test_a_right_side_that_is_written_as_one_sum_has_a_niche_for_every_summand():
    """A drift of clients a thousandth of what it is hides behind the initial gap on everything that is small."""
    drift = theorem(
        title="Drift", algorithm="fedavg", vocabulary="textbook", left="G_u", over="mean_of_rounds", key="own/drift",
        assumptions=["smoothness", "dissimilarity", "full_participation", "no_personal"],
        right="4*F_0/(gamma_u*K*T) + L**2*gamma_u**2*K**2*b**2/1000", conditions=["gamma_u*K*L <= 1/4"],
        settings={"m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    assert [*in_parts(drift).claims[0].terms] == ["4*F_0/(K*T*gamma_u)", "K**2*L**2*b**2*gamma_u**2/1000"]
    found = by_term(drift)
    assert [niche.refuted for niche in found.niches] == [False, True]
    assert in_parts(bounds.get("pfl/theorem-3.7")) is bounds.get("pfl/theorem-3.7")


def test_a_right_side_that_a_run_measures_is_not_looked_at_by_term():
    """It has no value at a setting: what is measured is no parameter that may be anything."""
    found = by_term(bounds.get("textbook/gradient-descent-moved"))
    assert not found.niches
    assert "contains du2, which differs from round to round" in found.reason


def test_a_niche_is_not_confirmed_by_a_run_that_takes_a_hundred_times_the_search(monkeypatch):
    """Nothing is squared of an averaged iterate, so that its 200,000 rounds would be followed one by one."""
    rounds = []
    record = Recorder.record
    monkeypatch.setattr(Recorder, "record", lambda *arguments: rounds.append(None) or record(*arguments))
    statement = theorem(
        title="SGD, averaged iterate",
        algorithm="fedavg",
        assumptions=["smoothness", "convexity", "noise", "full_participation", "no_personal"],
        left="gap",
        over="averaged_iterate",
        right="dist2_0/(gamma_u*T) + gamma_u*sigma_u**2/n",
        conditions=["gamma_u <= 1/(2*L)"],
        settings={"K": 1, "m": "n", "eta_u": 1},
        vocabulary="textbook",
    )
    found = falsify(statement, Budget(20, functions=False, later=0))
    assert found.terms.niches
    assert len(rounds) < 20_000


# Right sides of the classics with n for m, p for p^2, and a power of t that is too large.
WRONG = {
    "fedavg-sampled-distances": "dist2_0*(1 - K*eta_u*gamma_u*mu/2)**t + 3*L*gamma_u**2*sigma_u**2*(K - 1)/mu"
    " + 8*K*b_star**2*eta_u*gamma_u*(n - m)/(m*mu*max(1, n - 1)) + 4*eta_u*gamma_u*sigma_u**2/(n*mu)"
    " + 2*L*b_star**2*gamma_u**2*(K - 1)*(2*K - 1)/mu",
    "proxskip-distances": "(dist2_0 + b_star**2*gamma_u**2/(alpha*p_W**2*(1 - lambda_W)))"
    "*max((1 - gamma_u*mu_c)**2, 1 - alpha*p_W*(1 - lambda_W))**t",
    "extragradient-last-gradient": "dist2_0/(gamma_u**2*(t + 1)**(3/2)*(1 - L**2*gamma_u**2))",
}


@pytest.mark.parametrize("key", WRONG)
def test_a_term_is_found_wrong_though_the_start_is_tight(key):
    """The right side is one term, so that its summands are looked at; the first is tight at every small step."""
    statement = bounds.get(f"classics/{key}")
    (claim,) = statement.claims
    wrong = dataclasses.replace(claim, terms={"all": expression(WRONG[key], statement.vocabulary)})
    found = falsify(dataclasses.replace(statement, claims=(wrong,)), Budget(by_term=False, functions=False))
    assert found.outcome is Outcome.VIOLATED


def test_a_niche_prefers_what_the_term_is_worth():
    """Where the other term is tight, as in the first two, its share is worth nothing: 1 - left/right is the term's."""
    share, worth = np.array([0.3, 0.9, 1.0, 0.2]), np.array([0.1, 0.1, 0.5, 1.0])
    tightness = 1 - share * (1 - worth)
    slack, shares = (1 - tightness) / (1 + tightness), np.stack([1 - share, share], axis=1)
    values = in_niche(1)(slack, shares)
    assert values[0] == pytest.approx(values[1])
    assert values[2] < values[0] < values[3]
