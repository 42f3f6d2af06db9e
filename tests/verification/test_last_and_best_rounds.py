"""Claims on the last round alone, and on the best one: one round at least in which the left side is small enough."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import ratecheck as rc
from bounds.printing.statement_page import page
from bounds.printing.text import statement_text
from bounds.theorem import theorem
from ratecheck.engines.expected_records import Expectation
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.instance import Instance
from ratecheck.verification.proof import CostLimit, decided_rounds

FIELDS = {
    "algorithm": "fedavg", "vocabulary": "textbook", "left": "gap",
    "assumptions": ["smoothness", "noise", "convexity", "full_participation", "no_personal"],
    "settings": {"K": 1, "m": "n", "eta_u": 1},
}  # fmt: skip
STEEP = Quadratic(np.ones((2, 1, 1)), np.array([[1.0], [3.0]]), shared=1)


def about(over, right, **more):
    """A theorem on the gap of gradient descent."""
    return theorem("a round", over=over, right=right, **{**FIELDS, **more})


def outcomes(right, engine="exact", **given):
    """Of the same right side, by the rounds that it is said of."""
    return {
        over: rc.verify(about(over, right), problem=STEEP, T=4, engine=engine, **given).outcome.value
        for over in ("every_round", "last_round", "best_round")
    }


@pytest.mark.parametrize("engine", ["exact", "step"])
@pytest.mark.parametrize(
    ("gamma", "share", "each", "last", "best"),
    [
        # With h = 1 the gap is 2 (1 - gamma)^(2t): it falls, or grows beyond 2/L, and is F_0 = 2 at the start.
        (0.5, 0.1, "VIOLATED", "HOLDS", "HOLDS"),
        (0.5, 0.01, "VIOLATED", "VIOLATED", "VIOLATED"),
        (3.0, 1.5, "VIOLATED", "VIOLATED", "HOLDS"),
        (3.0, 0.9, "VIOLATED", "VIOLATED", "VIOLATED"),
        (0.5, 1.1, "HOLDS", "HOLDS", "HOLDS"),
    ],
)
def test_each_is_decided_by_its_own_rounds(engine, gamma, share, each, last, best):
    """Values that are known in closed form."""
    found = outcomes(f"{share}*F_0", engine, gamma_u=gamma, sigma_u=0)
    assert found == {"every_round": each, "last_round": last, "best_round": best}


def test_the_answer_names_the_round():
    """The last, or the one that is best."""
    last, best = (rc.verify(about(over, "9*F_0"), problem=STEEP, T=4, gamma_u=3.0, sigma_u=0)
                  for over in ("last_round", "best_round"))  # fmt: skip
    assert (last.worst.round, best.worst.round) == (3, 0)
    assert "round 3, the last one" in str(last)
    assert "round 0, the best one" in str(best)


def test_expectations_of_a_noisy_run():
    """The last round is judged by replicates as well; the best one by exact expectations only."""
    given = {"problem": STEEP, "T": 5, "gamma_u": 0.5, "sigma_u": 0.5, "n": 2}
    right = "F_0*(1 - gamma_u*L)**(2*T - 2) + gamma_u*sigma_u**2"
    assert rc.verify(about("last_round", right), engine="step", **given).outcome is Outcome.HOLDS
    assert rc.verify(about("last_round", "F_0/10**4"), engine="step", **given).outcome is Outcome.VIOLATED
    assert rc.verify(about("best_round", right), **given).outcome is Outcome.HOLDS
    open_ = rc.verify(about("best_round", right), engine="step", **given)
    assert open_.outcome is Outcome.NOT_APPLICABLE
    assert "not decided by replicates" in str(open_)


@pytest.mark.parametrize(
    ("gaps", "errors", "outcome"),
    [
        ([3.0, 1.0, 2.0], [0.1, 0.1, 0.1], Outcome.VIOLATED),
        ([3.0, -1.0, 2.0], [0.1, 0.1, 0.1], Outcome.HOLDS),
        # The lowest value is not known well enough; another round holds all the same.
        ([3.0, -5.0, -1.0], [0.1, 9.0, 0.1], Outcome.HOLDS),
        # None surely holds, and one may.
        ([3.0, 1.0, 2.0], [0.1, 0.1, 2.5], Outcome.INCONCLUSIVE),
        # A round without a number may be the one that holds, and another one that does is enough.
        ([3.0, np.nan, 2.0], [0.1, np.nan, 0.1], Outcome.INCONCLUSIVE),
        ([3.0, np.nan, -2.0], [0.1, np.nan, 0.1], Outcome.HOLDS),
    ],
)
def test_rounding_decides_for_the_best_round_only_what_it_may(gaps, errors, outcome):
    """A round holds surely, or every round fails surely."""
    statement = about("best_round", "F_0")
    (claim,) = statement.claims
    records = Expectation({"gap": 10.0 + np.array(gaps)}, {"gap": np.array(errors)}, {}, 1.0)
    found = sides.compared(claim, statement.vocabulary, {"F_0": 10.0}, records, given=("F_0",))
    assert sides.judged(found, claim)[0] is outcome


def test_interval_arithmetic_decides_the_same():
    """On rationals: one round that holds is enough, and all have to fail."""
    values = {"F_0": Fraction(2)}
    rounds = [{"gap": Fraction(x)} for x in (4, 1, 3)]
    for right, over, outcome, t in (
        ("F_0", "best_round", Outcome.HOLDS, 1),
        ("F_0/4", "best_round", Outcome.VIOLATED, 1),
        ("F_0", "last_round", Outcome.VIOLATED, 2),
        ("2*F_0", "last_round", Outcome.HOLDS, 2),
    ):
        claims = about(over, right).claims
        found = decided_rounds(claims, values, lambda _bits: iter(rounds), len(rounds), CostLimit(10.0, 3, 1e9))
        assert (found.outcome, found.round) == (outcome, t)


def proved(statement, **given):
    """The outcome in interval arithmetic."""
    return Instance(statement, STEEP, None, given).proof().outcome


def test_a_run_is_followed_in_interval_arithmetic():
    """The gaps are 2, 1/2, 1/8 and 1/32. A mean beside a single round is left open, not taken for every round."""
    given = {"T": 4.0, "gamma_u": 0.5, "sigma_u": 0.0}
    assert proved(about("last_round", "F_0/64"), **given) is Outcome.HOLDS
    assert proved(about("last_round", "F_0/65"), **given) is Outcome.VIOLATED
    assert proved(about("best_round", "F_0/64"), **given) is Outcome.HOLDS
    assert proved(about("best_round", "F_0/65"), **given) is Outcome.VIOLATED
    mean, last = about("mean_of_rounds", "F_0/2"), about("last_round", "F_0/60")
    assert proved(mean, **given) is Outcome.HOLDS
    both = dataclasses.replace(mean, claims=(*mean.claims, dataclasses.replace(last.claims[0], name="last")))
    assert proved(both, **given) is None
    assert rc.verify(both, problem=STEEP, **given).outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"over": "best_round", "relation": "=="}, "the relation has to be '<='"),
        ({"over": "best_round", "right": "gap_prev"}, "gap_prev is of the one before"),
        ({"over": "last_round", "right": "gap_prev"}, "gap_prev is of the one before"),
        ({"over": "last_round", "assumptions": ["drawn_step_sizes"]}, "are for means over the rounds"),
    ],
)
def test_what_such_a_claim_does_not_mean_is_refused(change, message):
    """Before anything is run."""
    with pytest.raises(rc.InputError, match=message):
        about(**{"right": "F_0", **change})


def test_the_printed_form_says_which_round():
    """As a formula and in words."""
    assert about("best_round", "F_0").claims[0].metric.latex.startswith(r"\min_{t<T} ")
    assert "for the last round, t = T-1" in statement_text(page(about("last_round", "F_0")))
