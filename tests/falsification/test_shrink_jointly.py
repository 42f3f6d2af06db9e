"""Counterexamples that a person can recompute: several numbers move at once, and what is printed of one agrees."""

from __future__ import annotations

import dataclasses
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from bounds.papers.textbook.pairs import PAIRS
from ratecheck.algebra.simplest import bits
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsify import falsify
from ratecheck.falsification.shrink import shrink, shrunk
from ratecheck.problems import Piecewise, Quadratic
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample

KEYS = [statement.key for statement in bounds.twins()]


def divided(key, factor):
    """The statement with the first right side divided by a number."""
    statement = bounds.get(key)
    claim, *others = statement.claims
    terms = {label: expr / sp.Integer(factor) for label, expr in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms), *others))


@pytest.fixture(scope="module")
def results():
    """The twins of the textbook, falsified and shrunk."""
    return {key: rc.falsify(key, evaluations=150) for key in KEYS}


@pytest.mark.parametrize("key", KEYS)
def test_headline_json_and_sentence_have_one_ratio(key, results):
    """Left side / right side read from the printed sentence; infinite where that has no bound, null in JSON."""
    result = results[key]
    assert result.outcome is rc.Outcome.VIOLATED
    left, right = map(
        Fraction, re.search(r"left (?:>= |~ )?(\S+) (?:>|!=) right (?:~ )?(\S+)", result.as_text()).groups()
    )
    ratio = float(left / right) if right > 0 else math.inf
    assert result.tightness == pytest.approx(ratio, rel=1e-5)
    assert result.search.by_instance
    written = result.to_dict()["tightness"]
    assert (math.inf if written is None else written) == pytest.approx(ratio, rel=1e-5)
    headline = str(result).splitlines()[0]
    assert float(headline.rsplit(" ", 1)[1]) == pytest.approx(ratio, rel=1e-3)
    assert "largest" not in headline


@pytest.mark.parametrize(
    "problem",
    [
        Quadratic([[[3.7]]], [[10388.0]], 1),
        Piecewise([[[-12.625]]], [[[3.7, 2.9]]], [[-10388.0]]),
    ],
)
def test_units_are_those_of_the_functions(problem):
    """Largest curvature and slope 1, whatever they were, by one change of all numbers."""
    statement = divided("textbook/gradient-descent", 100)
    instance = Instance(statement, problem, None, {"T": 9.0, "sigma_u": 0.0, "gamma_u": 0.21})
    small = shrink(instance).instance
    assert {abs(float(x)) for array in small.problem.arrays().values() for x in np.ravel(array)} <= {0.0, 1.0}
    assert small.given["T"] == 1


def test_clients_are_alike_or_opposite_together():
    """The dissimilarity is that of all of R: no client's curvature is changed beyond the run, and slopes are short."""
    (wrong,) = (pair.wrong for pair in PAIRS if pair.wrong.key == "textbook/local-gd-apart-each-client")
    small = shrunk(falsify(wrong, Budget(60))).shrunk
    text = WrittenCounterexample(small.instance, small.verdict).text
    assert "beyond" not in text
    assert all(abs(x) <= 4 for x in np.ravel(small.instance.problem.arrays()["g"]))


def test_numbers_that_hang_together_are_rounded_together():
    """Lemma 9 as printed, whose clients' lower levels have one slope A_i^-1 B_i: none of the four can move alone."""
    problem = rc.problems.Bilevel(
        A=[[[0.5275772557050407]], [[0.001]]],
        B=[[[1.0]], [[0.0018954569955136253]]],
        b=[[12.5], [-13.5]],
        Q=[[[0.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, -0.25]]],
        q=[[0.0, 0.25], [0.0, -1.75]],
    )
    steps = dict.fromkeys(("eta_x", "eta_y", "eta_v", "gamma_x", "gamma_y", "gamma_v"), 1.0)
    noise = dict.fromkeys(("sigma_f", "sigma_g", "sigma_gg"), 0.0)
    given = {"P": 2.0, "tau_bar": 1.0, "T": 1.0, **noise, **steps}
    small = shrink(Instance(bounds.get("simfbo/lemma-9"), problem, None, given))
    assert all(bits(float(x)) <= 8 for array in small.instance.problem.arrays().values() for x in np.ravel(array))


def test_digits_count_powers_of_two_by_half():
    """By hand: odd part, powers up to 2^3 one by one and then by half, a minus sign."""
    numbers = {0.0: 0, 1.0: 1, -1.0: 2, 2.0: 2, 0.5: 2, 3.0: 2, 0.75: 4, 8.0: 4, 16.0: 5, 1024.0: 8, 963.0: 10}
    assert {x: bits(x) for x in numbers} == numbers
