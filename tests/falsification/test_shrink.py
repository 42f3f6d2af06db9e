"""Shrinking: counterexamples become small and stay counterexamples, and are written as a person would write them."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from bounds.papers.textbook.pairs import PAIRS
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.shrink import shrink, shrunk
from ratecheck.outcome import Outcome
from ratecheck.participation import Bernoulli, Trace
from ratecheck.plain import plain as as_json
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample
from ratecheck.views.checks.falsify import counterexample, falsified_fields, falsified_text

# Statements that are false as printed, and true ones whose right side is divided: runs with means and with single
# rounds, with local steps, memory, two blocks of variables, a lower level, and none at all.
FALSE = (
    ("pfl/lemma-a.2", 1),
    ("simfbo/lemma-9", 1),
    ("pfl/theorem-3.7", 5),
    ("fedsum/corollary-e.3", 5),
    ("flame/lemma-3", 5),
)


def divided(key, factor):
    """The statement with the first right side divided by a number."""
    statement = bounds.get(key)
    if factor == 1:
        return statement
    claim, *others = statement.claims
    terms = {label: expr / sp.Integer(factor) for label, expr in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms), *others))


@pytest.fixture(scope="module")
def searches():
    """A violating instance of each false statement, shrunk."""
    return {case: shrunk(falsify(divided(*case), Budget(60))) for case in FALSE}


def sizes(instance):
    """Clients, variables, and all given whole numbers."""
    run = instance.statement.vocabulary.run
    given = {name: instance.given[name] for name in run.values() if name in instance.given}
    return {"n": instance.problem.n, "d": instance.problem.d, **given}


@pytest.mark.parametrize("case", FALSE)
def test_a_shrunk_instance_is_small_and_still_violates(case, searches, tmp_path):
    """Through a saved file, by what `verify --instance` does; no size grows, and no number has many digits."""
    found = searches[case]
    small = found.shrunk.instance
    small.save(tmp_path / "small.json")
    again = rc.verify(divided(*case), instance=tmp_path / "small.json")
    assert again.outcome is Outcome.VIOLATED
    assert all(check.holds is not False for check in again.verdicts[0].conditions)
    before, after = sizes(found.instance), sizes(small)
    assert all(after[name] <= before[name] for name in after)
    assert found.shrunk.after <= found.shrunk.before
    numbers = [*small.problem.arrays().values(), *small.given.values()]
    for number in (Fraction(float(x)) for each in numbers for x in np.ravel(each)):
        assert max(abs(number.numerator), number.denominator) < 1000


@pytest.mark.every(3)
@pytest.mark.parametrize("case", FALSE)
def test_a_shrunk_instance_shrinks_to_itself(case, searches):
    """Shrinking is a function of the instance, and what it returns is a fixed point of it."""
    found = searches[case]
    first, again = found.shrunk, shrink(found.instance)
    assert (again.instance.fields(), again.evaluations) == (first.instance.fields(), first.evaluations)
    fixed = shrink(first.instance)
    assert fixed.instance.fields() == first.instance.fields()
    assert fixed.before == fixed.after == first.after


def test_the_search_is_left_as_it_is(searches):
    """What the search found, its evaluations and its tightness are those without shrinking."""
    case = FALSE[0]
    plain = falsify(divided(*case), Budget(60))
    found = searches[case]
    assert found.instance.fields() == plain.instance.fields()
    assert (found.evaluations, found.tightness) == (plain.evaluations, plain.tightness)
    fields = as_json(falsified_fields(found))
    assert fields["shrunk"]["found"] == plain.instance.fields()
    assert fields["instance"] == found.shrunk.instance.fields()
    assert f"in {found.shrunk.evaluations} more evaluations" in falsified_text(found)


def test_a_known_counterexample_in_words(searches):
    """Lemma A.2 as printed, which three clients of which one is drawn refute: 1/3 by hand, 11/27 by the formula."""
    shown = counterexample(searches["pfl/lemma-a.2", 1])
    assert (
        shown.text
        == "three clients, X_1 = -1, X_2 = X_3 = 0, one of them drawn in every round: left 1/3 != right 11/27"
    )
    assert shown.latex == (
        r"three clients, $X_{1} = -1$, $X_{2} = X_{3} = 0$, one of them drawn in every round: "
        r"$\text{left }\frac{1}{3} \ne \text{right }\frac{11}{27}$"
    )


def test_sides_are_exact_where_they_look_so():
    """Gradient descent by hand in rationals gives the printed left side; what is irrational says that it is rounded."""
    statement, T, gamma = divided("pfl/theorem-3.7", 10**6), 3, Fraction(1, 32)
    given = {"K": 1.0, "T": float(T), "sigma_u": 0.0, "sigma_v": 0.0}
    x, left = Fraction(0), Fraction(0)
    for _ in range(T):
        gradient = (x - 2) / 2
        left, x = left + gradient**2 / T, x - 2 * gamma * gradient
    alone = Instance(statement, Quadratic([[[0.5]]], [[1.0]], 1), None, {"m": 1.0, **given})
    text = WrittenCounterexample(alone, alone.verdict()).text
    assert text.startswith("one client, f = (x - 2)^2/4, no noise, K = 1, T = 3, gamma = 1/16, ")
    assert f": left {left} > right " in text
    assert "~" not in text
    both = Instance(statement, Quadratic([[[1.0]], [[0.5]]], [[0.0], [0.5]], 1), None, {"m": 2.0, **given})
    text = WrittenCounterexample(both, both.verdict()).text
    assert text.startswith("two clients, f_1 = x^2/2, f_2 = (x - 1)^2/4, no noise, K = 1, T = 3, ")
    assert "eta_u ~ 1.41421" in text
    assert "left ~ " in text


def test_everything_that_matters_is_in_the_sentence():
    """Coupled variables, one that only has noise, unequal curvature, a start, and who takes part round after round."""
    statement = divided("fedsum/corollary-e.3", 10**3)
    problem = Quadratic([[[1.0, 0.5], [0.5, 1.0]], [[0.0, 0.0], [0.0, 0.0]]], [[0.0, 0.0], [0.25, 0.0]], 2)
    given = {"S": 2.0, "K": 1.0, "T": 3.0, "sigma": 0.0, "eta_g": 1.0, "eta_l": 0.5}
    trace = Trace([[1, 1], [1, 0], [1, 0]])
    instance = Instance(statement, problem, trace, given, {"x0": [1.0, -0.5]})
    verdict = instance.verdict()
    shown = WrittenCounterexample(instance, verdict)
    assert shown.text.startswith(
        "two clients, f_1 = x_1^2/2 + x_2^2/2 + x_1 x_2/2, f_2 = -x_1/4, both in round 0, client 1 in rounds 1 to 2, "
        "both in round 3, no noise, x0 = (1, -1/2), K = 1, T = 3, eta_g = 1, eta_l = 1/2; "
        "here tau_max = 2, L ~ 1.5: left "
    )
    assert r"$f_{1} = \frac{x_{1}^2}{2} + \frac{x_{2}^2}{2} + \frac{x_{1} x_{2}}{2}$" in shown.latex
    flat = Quadratic([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 0.0]], 1)
    given = {"m": 1.0, "K": 1.0, "T": 2.0, "sigma_u": 0.0, "sigma_v": 2.0}
    instance = Instance(divided("pfl/theorem-3.7", 10**3), flat, None, given)
    text = WrittenCounterexample(instance, instance.verdict()).text
    assert text.startswith("one client, f(u, v) = (u - 1)^2/2, K = 1, T = 2, sigma_v = 2, gamma = 1/32, ")


def test_who_takes_part_is_about_no_functions():
    """Eight clients, the probability of each, and the rounds on which the longest delay depends."""
    statement = divided("fedsum/lemma-f.2", 10)
    problem = Quadratic(np.zeros((8, 1, 1)), np.zeros((8, 1)), 1)
    given = {"T": 2.0, "S": 1.0, "K": 1.0, "sigma": 0.0, "delta": 0.5}
    instance = Instance(statement, problem, Bernoulli([0.5] * 8), given)
    shown = WrittenCounterexample(instance, instance.verdict())
    assert shown.text.startswith("eight clients, each taking part with probability 1/2, T = 2: left ")
    assert r"each taking part with probability $\frac{1}{2}$, $T = 2$" in shown.latex


def test_equal_clients_are_named_together():
    """Of eight equal vectors the first and the last."""
    slopes = np.array([[1.0]] + [[-2.0]] * 8)
    given = {"m": 1.0}
    instance = Instance(divided("pfl/lemma-a.2", 10), Quadratic(np.zeros((9, 1, 1)), slopes, 1), None, given)
    shown = WrittenCounterexample(instance, instance.verdict())
    assert shown.text.startswith("nine clients, X_1 = -1, X_2 = ... = X_9 = 2, one of them drawn in every round: left ")
    assert r"$X_{2} = \dots = X_{9} = 2$" in shown.latex


def test_a_side_beyond_the_range_of_floats_is_written():
    """A run that triples its distance from the minimum in each of 500 rounds: sum_t 9^t over 501 rounds, by hand."""
    (wrong,) = (pair.wrong for pair in PAIRS if pair.wrong.key == "textbook/scaffold-one-step-four")
    problem, given = Quadratic([[[1.0]]], [[1.0]], 1), {"T": 501.0, "gamma_u": 4.0, "eta_u": 1.0, "sigma_u": 0.0}
    instance = Instance(wrong, problem, None, given)
    written = WrittenCounterexample(instance, instance.verdict())
    digits = str((9**501 - 1) // (8 * 501))
    mean = f"{Fraction(int(digits[:12]), 10**11).__float__():.6g}"
    assert f"left ~ {mean}e+{len(digits) - 1} > right" in written.text
    assert rf"{mean} \cdot 10^{{{len(digits) - 1}}}" in written.latex
