"""Coordinate descent: plain NumPy twins, and theorems that are right and wrong."""

import dataclasses
import itertools

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from ratecheck.falsification.falsify import Budget
from ratecheck.falsification.falsify import falsify as search
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic

KEYS = [
    f"classics/{name}"
    for name in (
        "coordinate-descent-gradients",
        "coordinate-descent-values",
        "greedy-coordinate-descent-values",
        "greedy-coordinate-descent-gradients",
    )
]
H = np.array([[1.0, 0.3, 0.1], [0.3, 0.8, -0.2], [0.1, -0.2, 0.5]])
G = np.array([1.0, -0.4, 0.7])


def test_drawn_coordinates_are_followed_exactly():
    """The expected gap over all subsets of coordinates, three rounds deep."""
    problem, q, gamma = Quadratic([H], [G], 3), 0.4, 0.9
    lowest = problem.infimum()
    states, wanted = [(1.0, np.zeros(3))], []
    for _ in range(4):
        wanted.append(sum(weight * (x @ H @ x / 2 - G @ x - lowest) for weight, x in states))
        states = [
            (weight * q ** sum(drawn) * (1 - q) ** (3 - sum(drawn)), x - gamma * np.array(drawn) * (H @ x - G))
            for weight, x in states
            for drawn in itertools.product((0, 1), repeat=3)
        ]
    everybody = rc.participation.Trace.full(1)
    run = rc.exact("coordinate-descent", problem, everybody, K=1, T=4, gamma_u=gamma, q=q, records=["gap"])
    np.testing.assert_allclose(run.records["gap"], wanted, rtol=1e-9)
    runs = rc.simulate(
        "coordinate-descent", problem, everybody, K=1, T=4, gamma_u=gamma, q=q, records=["gap"], replicates=4096
    ).records["gap"]
    errors = runs.std(axis=0) / 64
    assert (np.abs(runs.mean(axis=0) - wanted) <= 5 * errors + 1e-12).all()


def test_all_coordinates_are_gradient_descent():
    """With q = 1."""
    problem, everybody = Quadratic([H, 2 * H], [G, -G], 3), rc.participation.Trace.full(2)
    setting = {"K": 1, "T": 6, "gamma_u": 0.4}
    found = rc.exact("coordinate-descent", problem, everybody, q=1.0, records=["gap"], **setting)
    wanted = rc.exact("fedavg", problem, everybody, eta_u=1.0, records=["gap"], **setting)
    np.testing.assert_allclose(found.records["gap"], wanted.records["gap"], rtol=1e-12)


def test_the_greedy_coordinate_is_the_steepest():
    """As many rounds by hand, of two clients' mean."""
    problem = Quadratic([H, 0.5 * H], [G, 0.2 * G], 3)
    mean, slope = 0.75 * H, 0.6 * G
    lowest, x, wanted = problem.infimum(), np.zeros(3), []
    for _ in range(8):
        wanted.append(x @ mean @ x / 2 - slope @ x - lowest)
        g = mean @ x - slope
        c = int(np.argmax(np.abs(g)))
        x = x.copy()
        x[c] -= 0.7 * g[c]
    run = rc.simulate(
        "greedy-coordinate-descent", problem, rc.participation.Trace.full(2), K=1, T=8, gamma_u=0.7, records=["gap"]
    )
    np.testing.assert_allclose(run.records["gap"][0], wanted, rtol=1e-9)


def changed(key, factor):
    """The classic with a right side that falls twice as fast, or is ``factor`` times as large."""
    statement = bounds.get(key)
    (claim,) = statement.claims
    t = statement.vocabulary["t"].symbol
    terms = {k: term.subs(t, 2 * t) if term.has(t) else factor * term for k, term in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(2)
@pytest.mark.parametrize("key", KEYS)
def test_right_forms_stand_and_wrong_ones_fall(key):
    """A search finds nothing against the theorems, and a violation of what says twice as much."""
    budget = Budget(evaluations=60)
    assert search(bounds.get(key), budget).verdict.outcome is not Outcome.VIOLATED
    assert search(changed(key, sp.Rational(1, 2)), budget).verdict.outcome is Outcome.VIOLATED
