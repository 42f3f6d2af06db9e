"""The rate card: exponents, constants in closed form, instances as `verify` sees them, and planted exponents."""

import dataclasses
import functools

import numpy as np
import planted_rates
import pytest
import sympy as sp

import bounds
from bounds.statement import Assumption
from ratecheck.errors import InputError
from ratecheck.exponents import card as cards
from ratecheck.exponents import hard_instances, regimes
from ratecheck.exponents.card import CellFinding, card
from ratecheck.outcome import Outcome

NEAR, QUARTER = 0.03, planted_rates.QUARTER


@functools.cache
def cell(key, name, parameter, seed=0):
    """One cell of a statement's card, by the name of its row."""
    return only(bounds.get(key), name, parameter, seed)


def only(statement, name, parameter, seed=0):
    """The same without the other rows."""
    bound = regimes.Bound(statement)
    (row,) = [row for row in regimes.rows(statement, bound) if row.name == name]
    return cards._cell(statement, bound, row, parameter, seed)


def planted(key, term, parameter, power):
    """The statement with a term times parameter^power."""
    return planted_rates.planted(bounds.get(key), term, parameter, power)


NOISE = "noise and dissimilarity: sigma_u"
# (statement, row, parameter, exponent, left over right): the noise of SGD on curvature L is gamma L sigma^2/(2 m), and
# where the start is all, on curvature L again, the sum of squares is F_0/(K T gamma).
KNOWN = [
    ("pfl/corollary-3.8", NOISE, "K", -0.5, 1 / 48),
    ("pfl/corollary-3.8", NOISE, "T", -0.5, 1 / 48),
    ("pfl/corollary-3.8", NOISE, "m", -0.5, 1 / 48),
    ("pfl/theorem-3.7", "noise: sigma_u", "K", 0.0, 1 / 24),
    ("pfl/theorem-3.7", "noise: sigma_u", "m", -1.0, 1 / 24),
    ("pfl/theorem-3.7", "initial gap", "K", -1.0, 1 / 4),
    ("pfl/theorem-3.7", "initial gap", "T", -1.0, 1 / 4),
    ("pfl/theorem-3.7", "drift: b", "K", 2.0, None),
    ("fedsum/theorem-d.1", "noise: sigma", "tau_max", 0.0, 1 / 30),
    ("fedsum/theorem-d.1", "noise: sigma", "tau_avg", 0.5, None),
    ("fedsum/theorem-d.1", "initial gap", "tau_max", 1.0, 1 / 2),
    ("fedsum/theorem-c.1", "initial gap", "T", -1.0, 1 / 2),
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("key", "row", "parameter", "exponent", "constant"), KNOWN)
def test_exponents_and_constants(key, row, parameter, exponent, constant):
    """Where the term decides, it and the worst case have the same exponent."""
    found = cell(key, row, parameter)
    assert found.finding is CellFinding.ATTAINED
    assert found.regime.share >= regimes.SHARE
    assert found.worst.predicted.exponent == pytest.approx(exponent, abs=NEAR)
    assert found.worst.measured.exponent == pytest.approx(exponent, abs=NEAR)
    if constant is not None:
        assert found.worst.constant == pytest.approx(constant, rel=0.04)


@pytest.mark.parametrize(
    ("key", "row", "parameter"),
    [
        ("pfl/corollary-3.8", NOISE, "K"),
        ("pfl/corollary-3.8", NOISE, "T"),
        ("pfl/theorem-3.7", "initial gap", "T"),
        ("fedsum/theorem-d.1", "noise: sigma", "tau_max"),
    ],
)
def test_worst_instances_hold(key, row, parameter):
    """Written out with every client, the exact engine finds the same left side."""
    hardest = cell(key, row, parameter).worst.hardest
    verdict = hardest.instance().verdict()
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.comparisons[0].left == pytest.approx(hardest.left, rel=1e-6, abs=0)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("key", "term", "row", "parameter"),
    [
        ("pfl/corollary-3.8", "noise and dissimilarity", NOISE, "T"),
        ("pfl/theorem-3.7", "initial gap", "initial gap", "T"),
        ("fedsum/theorem-d.1", "initial gap", "initial gap", "tau_max"),
    ],
)
def test_a_planted_exponent_is_exceeded_by_an_instance(key, term, row, parameter):
    """A quarter too good: the instance violates the planted statement, and not the printed one."""
    statement = planted(key, term, parameter, -QUARTER)
    found = only(statement, row, parameter)
    assert found.finding is CellFinding.EXCEEDED
    violation = found.violation
    assert violation.verdict is Outcome.VIOLATED
    seen = violation.instance.verdict()
    assert seen.outcome is Outcome.VIOLATED
    assert seen.comparisons[0].left == pytest.approx(violation.left, rel=1e-6, abs=0)
    assert seen.comparisons[0].right == pytest.approx(violation.bound, rel=1e-6, abs=0)
    printed = dataclasses.replace(violation.instance, statement=bounds.get(key))
    assert printed.verdict().outcome is Outcome.HOLDS


def test_a_planted_exponent_is_loose():
    """A quarter too bad."""
    found = only(planted("pfl/corollary-3.8", "noise and dissimilarity", "K", QUARTER), NOISE, "K")
    assert found.finding is CellFinding.LOOSE
    assert found.loose == pytest.approx(0.25, abs=0.02)
    assert "worse ones may exist" in found.reason


@pytest.mark.parametrize("parameter", ["m", "n"])
def test_what_is_not_reached(parameter):
    """eta_u is at least sqrt(m), so that sampling or noise is larger than the drift wherever m varies."""
    found = cell("pfl/theorem-3.7", "drift: b", parameter)
    assert found.finding is CellFinding.NOT_REACHED
    assert found.worst is None
    assert "% of the bound is this term" in found.reason
    assert "runs over 1.5 decades" in found.reason


def test_names_that_are_refused():
    """One line with what is near, or what is known."""
    for statement, over, expected in (
        ("pfl/theorem-3.7", ["tau"], "pfl/theorem-3.7 has nothing to vary by the name 'tau'"),
        ("pfl/theorem-3.7", ["K", "sigma"], "nothing to vary by the name 'sigma'.*sigma_u"),
        ("pfl/lemma-a.2", None, "pfl/lemma-a.2"),
    ):
        with pytest.raises(InputError, match=expected) as error:
            card(bounds.get(statement), over=over)
        assert "\n" not in str(error.value)


def test_order_of_names_does_not_matter():
    """Cells are drawn each by itself, so that the columns have one order and one content."""
    statement = bounds.get("pfl/parallel-sgd")
    one, other = (card(statement, over=over) for over in (["T", "L"], ["L", "T"]))
    assert [(c.row, c.parameter) for c in one.cells] == [(c.row, c.parameter) for c in other.cells]
    for mine, its in zip(one.cells, other.cells, strict=True):
        assert mine.regime == its.regime
        assert np.array_equal(mine.worst.left, its.worst.left)
    alone = card(statement, over=["L"])
    assert [c.regime for c in alone.cells] == [c.regime for c in one.cells if c.parameter == "L"]


@pytest.mark.parametrize(
    ("key", "row", "parameter"), [("pfl/corollary-3.8", NOISE, "K"), ("fedsum/theorem-d.1", "initial gap", "tau_max")]
)
def test_seeds_move_no_exponent(key, row, parameter):
    """Regimes differ, what happens in them does not."""
    found = [cell(key, row, parameter, seed) for seed in (0, 1, 2)]
    assert len({each.regime.values for each in found}) > 1
    assert np.ptp([each.worst.measured.exponent for each in found]) <= 0.02


# --- Long: whole cards, and every planted exponent ---

MAIN = (
    "pfl/theorem-3.7", "pfl/corollary-3.8", "pfl/theorem-3.11-tuned", "pfl/theorem-4.5", "pfl/corollary-4.6",
    "fedsum/theorem-c.1-repaired", "fedsum/theorem-d.1-repaired", "fedsum/theorem-e.1-repaired",
    "fedsum/theorem-4.1-repaired", "fedsum/theorem-g.1-repaired",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("key", MAIN)
def test_seeds_move_no_exponent_of_a_card(key):
    """Of cells that are attained."""
    three = [card(bounds.get(key), seed=seed) for seed in (0, 1, 2)]
    assert not any(each.exceeded or each.open for each in three)
    for same in zip(*(each.cells for each in three), strict=True):
        assert len({each.finding for each in same}) == 1, same[0]
        if same[0].finding is CellFinding.ATTAINED:
            gains = [each.worst.gain.exponent for each in same]
            assert np.ptp(gains) <= 0.02, (same[0].row.name, same[0].parameter, gains)


@pytest.mark.every(2)
@pytest.mark.parametrize("power", [-QUARTER, QUARTER])
def test_a_planted_exponent_is_listed_as_caught(power):
    """As the benchmark of all of them asks; a cell that says ATTAINED of a wrong exponent is none."""
    found = [each for each in planted_rates.rates("pfl/theorem-3.11-tuned", "T") if each.power == float(power)]
    assert len(found) == 3
    for each in found:
        assert each.wanted is (CellFinding.EXCEEDED if power < 0 else CellFinding.LOOSE)
        assert each.caught
        assert not dataclasses.replace(each, found=each.true).caught


def symbol(key, name):
    """A symbol of the statement's paper."""
    return bounds.get(key).vocabulary[name].symbol


# Slips of other kinds: an exponent inside a root, a sum that lost a part of its power, K - 1 under a root.
FORMS = {
    "m in a root": ("pfl/corollary-3.8", "noise and dissimilarity", NOISE, "m"),
    "1 + tau_avg": ("fedsum/theorem-4.1", "noise", "noise: sigma", "tau_avg"),
    "K - 1": ("pfl/theorem-3.7", "drift", "drift: b", "K"),
}


def slipped(form, key, expr):
    """The term with that slip."""
    x = symbol(key, FORMS[form][3])
    if form == "m in a root":
        sigma = symbol(key, "sigma_u")
        return expr.subs(sigma**2, sigma**2 / sp.sqrt(x))
    return expr * (1 + x) ** -QUARTER if form == "1 + tau_avg" else expr / sp.sqrt(x - 1)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_other_planted_forms(form):
    """Too good by the root of something."""
    key, term, row, parameter = FORMS[form]
    printed = bounds.get(key)
    claim = printed.claims[0]
    slip = slipped(form, key, claim.terms[term])
    assert slip != claim.terms[term]
    claim = dataclasses.replace(claim, terms={**claim.terms, term: slip})
    statement = dataclasses.replace(printed, claims=(claim, *printed.claims[1:]))
    assert only(statement, row, parameter).finding is CellFinding.EXCEEDED


@pytest.mark.parametrize(
    ("key", "change", "expected"),
    [
        (
            "pfl/corollary-3.8",
            {"extra": Assumption.MEAN_GRADIENT_BOUND},
            "nothing certifies its assumption: a bound on the mean",
        ),
        (
            "fedsum/corollary-g.1-case-3",
            {"extra": Assumption.UNIFORM_SAMPLING},
            "its participation, .*; what it follows from may have a card: fedsum/theorem-g",
        ),
        ("simfbo/theorem-2", {}, "try simfbo/theorem-2-order"),
    ],
)
def test_what_no_instance_meets_is_refused(key, change, expected):
    """A statement about other runs or functions is accused of nothing."""
    statement = bounds.get(key)
    if change:
        statement = dataclasses.replace(statement, assumptions=(*statement.assumptions, change["extra"]))
    with pytest.raises(InputError, match=expected):
        card(statement, over=["T"])


def test_rounding_passes_no_bound_with_very_many_clients():
    """Moments of Scaffold-P do not cancel: with so many clients the left side is theirs, and depends on n no more."""
    statement = bounds.get("pfl/corollary-4.6")
    setting = {"m": 6806.0, "K": 1.0, "T": 1.36e14, "L": 1.0, "sigma_u": 8.5e5, "sigma_v": 0.0, "F_0": 1.0}
    gamma, eta_u, eta_v = 1.366e-12, 82.4985, 8407.644
    setting |= {"gamma": gamma, "eta_u": eta_u, "eta_v": eta_v, "gamma_u": gamma / eta_u, "gamma_v": gamma / eta_v}
    few, many, most = (
        hard_instances.worst(statement, setting | {"n": n}, "sigma_u").left for n in (1e4 + 1, 5e11 + 1, 1e13 + 1)
    )
    assert few > 1e4 * many
    assert most == pytest.approx(many, rel=0.05)
    true = only(statement, "noise: sigma_u", "n")
    assert true.finding is CellFinding.ATTAINED
    assert true.violation is None
