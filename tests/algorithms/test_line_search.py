"""Exact line search and conjugate gradients: plain NumPy twins, edges, and theorems that are right and wrong."""

import dataclasses

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget
from ratecheck.falsification.falsify import falsify as search
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic

METHODS = ("line-search", "conjugate-gradients")
KEYS = {name: f"classics/{name}-values" for name in METHODS}


def quadratics(n, d, seed=0, condition=30.0):
    """Clients with Hessians of their own, and linear terms."""
    rng = np.random.default_rng(seed)
    H = []
    for _ in range(n):
        basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
        H.append(basis @ np.diag(np.geomspace(1 / condition, 1, d)) @ basis.T)
    return Quadratic(H, rng.standard_normal((n, d)), d)


def twin(name, problem, T, start):
    """The gaps before each round, by the textbook's formulas on the mean of the clients' functions."""
    H, g = problem.H.mean(axis=0), problem.g.mean(axis=0)
    lowest = -g @ np.linalg.solve(H, g) / 2
    x, gaps, d, before = np.array(start, dtype=float), [], None, None
    for _ in range(T):
        gaps.append(x @ H @ x / 2 - g @ x - lowest)
        r = H @ x - g
        d = -r if d is None or name == "line-search" else -r + (r @ r) / (before @ before) * d
        x, before = x - (r @ d) / (d @ H @ d) * d, r
    return np.array(gaps)


def gaps(name, problem, T, start):
    """Those of the step engine."""
    trace = rc.participation.Trace.full(problem.n)
    return rc.simulate(name, problem, trace, K=2, T=T, x0=start, records=["gap", "G_u"]).records["gap"][0]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (1, 6), (3, 5)])
def test_the_textbook_run(name, n, d):
    """Also where several clients have other Hessians: the step is that of their mean."""
    problem, start = quadratics(n, d), np.arange(d) - 1.5
    found, wanted = gaps(name, problem, d, start), twin(name, problem, d, start)
    first = wanted[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-13 * first)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_conjugate_gradients_end_after_as_many_rounds_as_there_are_variables(d):
    """And no sooner, from a start with all eigenvectors; exact line search does not."""
    problem = quadratics(2, d, condition=5.0)
    found = gaps("conjugate-gradients", problem, d + 1, np.ones(d))
    assert found[d] <= 1e-20 * found[0]
    assert d == 1 or found[d - 1] > 1e-10 * found[0]
    if d > 2:
        assert gaps("line-search", problem, d + 1, np.ones(d))[d] > 1e-6 * found[0]


@pytest.mark.parametrize("name", METHODS)
def test_nothing_divides_by_zero(name):
    """At the minimiser the run stays; after it is reached it stays there, for ever."""
    problem = quadratics(1, 3)
    minimiser = problem.minimizer()[0]
    assert gaps(name, problem, 5, minimiser).max() < 1e-25
    flat = Quadratic([np.diag([1.0, 0.0])], [[1.0, 0.0]], 2)
    np.testing.assert_allclose(gaps(name, flat, 4, np.zeros(2)), [0.5, 0, 0, 0], rtol=1e-15)
    found = gaps(name, problem, 1000, np.ones(3))
    assert np.isfinite(found).all()
    assert found[-1] < 1e-25


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_units_do_not_matter(name, factor):
    """With f and x in other units the run is the same."""
    problem, start = quadratics(1, 4), np.array([1.0, -2, 0.5, 3])
    other = Quadratic(factor**0.5 * problem.H, factor * problem.g, 4)
    wanted = gaps(name, problem, 4, start)
    found = gaps(name, other, 4, factor**0.5 * start)
    np.testing.assert_allclose(found / found[0], wanted / wanted[0], rtol=1e-8)


def test_the_known_worst_case_is_reached():
    """Curvatures mu and L, and the same gradient along both: every round has the factor ((L-mu)/(L+mu))^2."""
    mu, L, T = 0.1, 1.0, 8
    problem = Quadratic([np.diag([mu, L])], [[0.0, 0.0]], 2)
    found = gaps("line-search", problem, T, np.array([1 / mu, 1 / L]))
    np.testing.assert_allclose(found / found[0], ((L - mu) / (L + mu)) ** (2 * np.arange(T)), rtol=1e-9)


def scaled(key, change):
    """The classic with another right side."""
    statement = bounds.get(key)
    (claim,) = statement.claims
    terms = {name: change(term, statement.vocabulary) for name, term in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


def power(term, vocabulary):
    """Half as many factors more than the theorem has: (...)^(3t) in the place of (...)^(2t)."""
    t = vocabulary["t"].symbol
    return term.subs(t, sp.Rational(3, 2) * t)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", METHODS)
def test_right_forms_stand(name):
    """A search finds nothing against the theorems."""
    assert search(bounds.get(KEYS[name]), Budget(evaluations=100)).verdict.outcome is not Outcome.VIOLATED


@pytest.mark.every(4)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("change", [power, lambda term, _: sp.Rational(1, 5) * term], ids=["power", "fifth"])
def test_wrong_forms_fall(name, change):
    """A search finds a violation of what says more."""
    assert search(scaled(KEYS[name], change), Budget(evaluations=200)).verdict.outcome is Outcome.VIOLATED


@pytest.mark.parametrize("name", METHODS)
def test_what_it_does_not_do_is_said(name):
    """No sampled clients, one gradient a round, no exact moments."""
    problem = quadratics(3, 2)
    with pytest.raises(InputError, match="needs every client in every round"):
        rc.simulate(name, problem, rc.participation.Trace.uniform(3, 1), K=2, T=2)
    with pytest.raises(InputError, match="K=1 contradicts"):
        rc.simulate(name, problem, rc.participation.Trace.full(3), K=1, T=2)
    with pytest.raises(InputError, match="is not linear"):
        rc.exact(name, problem, rc.participation.Trace.full(3), K=2, T=2)
