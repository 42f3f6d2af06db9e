"""The classics: kept answers agree with the literature, and are those that the commands give now."""

from __future__ import annotations

import dataclasses
import importlib
import warnings

import classics as script
import kept
import pytest
import sympy as sp
from extras import needs_pep

import bounds
import ratecheck as rc
from bounds.papers.classics.known import Standing
from bounds.papers.classics.statements import CHAPTERS, CLASSICS
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget
from ratecheck.falsification.falsify import falsify as search
from ratecheck.falsification.performance_estimation.worst_case import worst_case

KEPT = {row["key"]: row for row in kept.load("classics")}
BY_KEY = {each.statement.key: each for each in CLASSICS}
ENCLOSED = [key for key, row in KEPT.items() if "refused" not in row["worst"]]
# Made anew here, some of every kind: values, gradients, distances, steps, noise, proximal steps,
# several clients, subgradients, momentum that grows, operators, two parts.
ANEW = (
    "classics/gradient-descent-values",
    "classics/gradient-descent-nearer",
    "classics/strongly-convex-gradients-from-gap",
    "classics/sgd-distances",
    "classics/nonconvex-best-gradient",
    "classics/proximal-point-steps",
    "classics/clients-scaffold-distances",
    "classics/subgradient-best-value",
    "classics/optimized-gradient-values",
    "classics/fixed-point-krasnoselskii-mann",
    "classics/proximal-gradient-distances",
)


def test_they_stand_beside_the_catalogue():
    """With keys of their own, known to every command, and in no list of the papers."""
    keys = [each.statement.key for each in CLASSICS]
    assert len(keys) == len({*keys}) >= 60
    assert bounds.CLASSICS not in bounds.PAPERS
    assert not any(key.startswith(bounds.CLASSICS) for key in bounds.keys())
    assert [*rc.catalogue(bounds.CLASSICS)] == keys
    assert all(bounds.get(key) is BY_KEY[key].statement for key in keys)
    with pytest.raises(InputError, match="did you mean 'classics/gradient-descent-values'"):
        bounds.get("classics/gradient-descent-value")


def test_every_one_has_a_source_and_a_known_value_or_says_that_it_has_none():
    """A value is a formula of what is given at the numbers, the step sizes that are set, and the round."""
    for chapter, classics in CHAPTERS.items():
        assert classics, chapter
        for each in classics:
            source, known = each.statement.source, each.known
            assert source.paper
            assert source.number
            assert known.source
            assert (known.expr is None) == (known.standing is Standing.UNKNOWN)
            assert {name for name in known.at if name not in each.statement.vocabulary} == set()


def test_the_kept_rows_are_about_what_there_is():
    """One of each, in order, at the numbers and with the value that stand in the tree now."""
    assert [*KEPT] == [row["key"] for row in script.rows()] == [*BY_KEY]
    for key, row in KEPT.items():
        assert row["about"] == script.about(BY_KEY[key]), key


def test_nobody_is_accused():
    """All are true, or conjectures that nothing contradicts."""
    for row in KEPT.values():
        assert row["verify"].get("outcome") != "VIOLATED", row
        assert row["search"].get("outcome") != "VIOLATED", row
        assert row["worst"].get("outcome", "").partition(" ")[0] in ("", "HOLDS"), row


@pytest.mark.parametrize("key", [row["key"] for row in script.rows() if script.comparable(row)])
def test_the_worst_case_is_the_known_one(key):
    """Where the literature calls its value tight: from below, on a checked instance, and from above, within 0.1%."""
    assert script.agrees(KEPT[key]), KEPT[key]["worst"]


@pytest.mark.parametrize("key", ENCLOSED)
def test_no_worst_case_is_beyond_the_known_bound(key):
    """Where the known value is an upper bound only, nothing may exceed it."""
    worst = KEPT[key]["worst"]
    if worst["known"] is not None:
        assert worst["lower"] <= worst["known"] + 1e-6 * max(worst["scale"], abs(worst["known"]))


@pytest.mark.parametrize("key", ENCLOSED)
def test_what_says_twice_as_much_is_refuted_where_it_is_false(key):
    """It is false where the worst case is above the smaller right side, in the last round if there are several."""
    worst = KEPT[key]["worst"]
    if (
        worst["lower"] > float(sp.Rational(worst["false"]["factor"])) * worst["right"] * (1 + 1e-6) > 0
        or worst["tight"]
    ):
        assert worst["false"]["outcome"] == "VIOLATED"


def test_most_can_be_refuted():
    """What says twice as much is false of a tight theorem, so that the comparison above is about nearly all."""
    refuted = [key for key in ENCLOSED if KEPT[key]["worst"]["false"]["outcome"] == "VIOLATED"]
    assert len(refuted) >= 0.8 * len(ENCLOSED)


@needs_pep
@pytest.mark.parametrize("key", ANEW)
def test_a_kept_worst_case_is_found_again(key):
    """Both ends of the enclosure."""
    found = script.last(worst_case(BY_KEY[key].statement, BY_KEY[key].known.at))
    worst = KEPT[key]["worst"]
    room = 1e-5 * max(worst["scale"], abs(worst["lower"]))
    assert found.lower.left == pytest.approx(worst["lower"], abs=room)
    assert found.upper.left == pytest.approx(worst["upper"], abs=room)


CONVEX = "unconstrained_convex_minimization"


@needs_pep
@pytest.mark.parametrize(
    ("key", "module", "asked", "here"),
    [
        ("gradient-descent-values", f"{CONVEX}.gradient_descent", {"L": 2, "gamma": 0.4}, {"L": 2, "gamma_u": 0.4}),
        ("proximal-point-values", f"{CONVEX}.proximal_point", {"gamma": 2}, {"lambda_": 0.5}),
        (
            "heavy-ball-values",
            f"{CONVEX}.heavy_ball_momentum",
            {"mu": 0.1, "L": 1, "alpha": 0.5, "beta": (0.95 * 0.5) ** 0.5},
            {"mu": 0.1, "L": 1, "gamma_u": 0.5},
        ),
        ("triple-momentum-values", f"{CONVEX}.triple_momentum", {"mu": 0.1, "L": 1}, {"mu": 0.1, "L": 1}),
    ],
)
def test_pepit_finds_the_same(key, module, asked, here):
    """Its own model of the same theorem, at two steps and a start of size 1, has the same worst case."""
    with warnings.catch_warnings(action="ignore"):
        example = importlib.import_module(f"PEPit.examples.{module}")
        ask = next(value for name, value in vars(example).items() if name.startswith("wc_"))
        theirs, _ = ask(**asked, n=2, wrapper="cvxpy", solver="CLARABEL", verbose=0)
    classic = BY_KEY[f"classics/{key}"]
    start = {name: 1 for name in ("F_0", "dist2_0") if name in classic.known.at}
    found = script.last(worst_case(classic.statement, {**classic.known.at, "T": 3, **start, **here}))
    assert found.lower.left <= theirs * (1 + 1e-4)
    assert found.upper.left == pytest.approx(theirs, rel=1e-4)


def _without(key, term):
    """The theorem with one term less."""
    statement = BY_KEY[f"classics/{key}"].statement
    (claim,) = statement.claims
    terms = {name: each for name, each in claim.terms.items() if name != term}
    assert len(terms) == len(claim.terms) - 1
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("key", "term"),
    [
        ("local-sgd-gradients", "drift"),
        ("fedavg-sampled-gradients", "sampling"),
        ("local-sgd-averaged-values", "drift"),
        ("fedavg-sampled-values", "noise"),
        ("fedavg-sampled-distances", "drift"),
        ("scaffold-values", "noise"),
        ("ef-sgd-gradients", "heterogeneity"),
        ("random-reshuffling-distances", "order"),
        ("incremental-gradient-distances", "order"),
        ("sampled-gradients", "sampling"),
        ("sampled-values", "sampling"),
        ("sampled-distances", "minimiser"),
    ],
)
def test_no_term_is_there_for_nothing(key, term):
    """Without it a theorem on local steps, samples, epochs or memories is false, and a short search finds it."""
    assert search(_without(key, term), Budget(120)).outcome is rc.Outcome.VIOLATED


@pytest.mark.parametrize(
    ("key", "instead"),
    [("scaffold-distances", "fedavg"), ("ef21-gradient-dominated", "compressed-sgd"), ("ef21-gradients", "ef-sgd")],
)
def test_they_are_about_their_own_methods(key, instead):
    """What corrects local steps or compression is needed: without it the same bound is false."""
    statement = dataclasses.replace(BY_KEY[f"classics/{key}"].statement, algorithm=instead)
    assert search(statement, Budget(120)).outcome is rc.Outcome.VIOLATED


def test_whole_epochs_alone_count():
    """The number of rounds is that of the epochs, and no other can be given."""
    key = "classics/incremental-gradient-distances"
    assert rc.verify(key, n=3).verdict.values["T"] == 10
    assert rc.verify(key, n=3, epochs=5).verdict.values["T"] == 16
    assert rc.bound(key, L=1, mu=0.1, n=3, gamma_u=0.1, b_star=1, dist2_0=1).evaluation.values["T"] == 10
    with pytest.raises(InputError, match=r"T=7 contradicts .*, which takes T = epochs.n . 1 = 10"):
        rc.verify(key, n=3, T=7)
    with pytest.raises(InputError, match=r"epochs=1.5: needed a whole number"):
        rc.verify(key, n=3, epochs=1.5)
    with pytest.raises(InputError, match=r"fixes the number of rounds, T = epochs.n . 1"):
        rc.rounds(key, eps=0.1, L=1, mu=0.1, n=3, b_star=1, dist2_0=1)
