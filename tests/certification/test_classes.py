"""Constants of classes of functions: every one is met at many points, tight where it is called exact, or refused."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.problems import Certificate, MinMax, Piecewise, Quadratic, from_sympy
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.problems.phase_retrieval import PhaseRetrieval

X = sp.Symbol("x")
RNG = np.random.default_rng(0)


def fact(problem, name):
    """What a problem certifies."""
    return CertifiedCase(problem, None, None).fact(name)


@pytest.mark.parametrize("f", [X**4 / 4 - X**2, (X - 3) ** 4, X**6 / 100 - X**3], ids=str)
def test_formulas_without_l(f):
    """|f''| <= L_0 + L_1 |f'| on a grid, by derivatives of SymPy; there is no L."""
    problem = from_sympy(f)
    L_0, L_1 = (fact(problem, f"generalized_L{k}").value for k in (0, 1))
    x = np.linspace(-30, 30, 20_001)
    slope, bent = (np.abs(sp.lambdify(X, sp.diff(f, X, k))(x)) for k in (1, 2))
    assert (bent <= L_0 + L_1 * slope).all()
    assert fact(problem, "L").certificate is Certificate.ABSENT


def test_piecewise_quadratics_that_are_steep_where_they_are_curved():
    """Half of L is enough, by slopes at random points; with a flat curved piece it is (L, 0)."""
    problem = Piecewise([[[-1.0, 1.0]]], [[[1.0, 0.25, 1.0]]], [[0.2]])
    L_0, L_1 = (fact(problem, f"generalized_L{k}").value for k in (0, 1))
    x = RNG.uniform(-9, 9, 4000)
    bent = np.where(np.abs(x) < 1, 0.25, 1.0)
    slope = 0.2 + np.clip(x, -1, 1) * 0.25 + np.where(x > 1, x - 1, 0) + np.where(x < -1, x + 1, 0)
    assert L_0 < 1
    assert (bent <= L_0 + L_1 * np.abs(slope)).all()
    assert problem.curves[0][0].slopes() == [
        (1, Fraction(1, 4) - Fraction(0.2)), (Fraction(1, 4), 0), (1, Fraction(1, 4) + Fraction(0.2)),
    ]  # fmt: skip
    assert [fact(Quadratic([[[2.0]]], [[1.0]], 1), f"generalized_L{k}").value for k in (0, 1)] == [2, 0]


def test_weak_convexity_and_quadratic_growth():
    """Eigenvalues of the clients, and the least positive one of f; convex functions have 0."""
    H = np.array([np.diag([1.0, -0.25, 0.0]), np.diag([1.0, 0.75, 0.0])])
    problem = Quadratic(H, np.zeros((2, 3)), 3)
    assert fact(problem, "weak_convexity").value == pytest.approx(0.25)
    assert fact(problem, "quadratic_growth").value == pytest.approx(0.25)
    assert fact(Quadratic(np.abs(H), np.zeros((2, 3)), 3), "weak_convexity").value == 0
    assert fact(Quadratic(-H, np.zeros((2, 3)), 3), "quadratic_growth").certificate is Certificate.ABSENT
    # No larger than L, or statements would be refused whose rho_weak is at most L.
    assert 1 - 1e-6 < fact(from_sympy(sp.cos(X)), "weak_convexity").value <= 1
    assert fact(from_sympy(-(X**4)), "weak_convexity").certificate is Certificate.ABSENT
    # Curvature may be bounded below where it has no bound above.
    assert fact(from_sympy(X**4 / 4 - X**2), "weak_convexity").value == pytest.approx(2)
    steep = PhaseRetrieval([[[1.0], [2.0]]], [[1.0, 1.0]])
    assert fact(steep, "weak_convexity").value == pytest.approx(2.5)


def test_monotone_clients():
    """The least eigenvalue of all A_i and C_i, and of gradients that of all Hessians."""
    one = np.ones((2, 1, 1))
    saddle = MinMax(A=[[[0.5]], [[2.0]]], B=one, C=one, a=np.zeros((2, 1)), c=np.zeros((2, 1)))
    assert fact(saddle, "clients_strong_convexity").value == pytest.approx(0.5)
    flat = MinMax(A=0 * one, B=one, C=one, a=np.zeros((2, 1)), c=np.zeros((2, 1)))
    assert fact(flat, "clients_strong_convexity").certificate is Certificate.ABSENT
    problem = Quadratic([[[0.5]], [[2.0]]], [[0.0], [1.0]], 1)
    assert fact(problem, "clients_strong_convexity").value == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(40))
def test_growth_of_piecewise_quadratics(seed):
    """The least of 2 (f - inf f)/dist^2 on a fine grid and far away, no less than the constant of gradients."""
    rng = np.random.default_rng(seed)
    kinks = sorted(Fraction(int(x), 4) for x in rng.integers(-8, 9, 3))
    phi = ScalarFunction.of(kinks, [Fraction(int(h), 2) for h in (2, *rng.choice([-1, 0, 1], 2), 1)], Fraction(1, 4))
    low = [x for x in phi._stationary if phi.value(x) == phi.infimum]
    assert phi.dominance is None or phi.growth >= phi.dominance
    if phi.value((low[0] + low[-1]) / 2) != phi.infimum:
        assert phi.growth is None
        return
    grid = [Fraction(k, 64) for k in range(-2560, 2560)] + [Fraction(-1000), Fraction(1000)]
    away = [(x, max(low[0] - x, x - low[-1])) for x in grid]
    least = min(2 * (phi.value(x) - phi.infimum) / y**2 for x, y in away if y > 0)
    assert float(phi.growth) <= float(least) <= 1.01 * float(phi.growth)


CLAIMS = {
    "quadratic growth": (
        {"method": "gd", "given": "smooth, convex, quadratic growth", "when": "gamma <= 1/L"},
        "last dist2 <= dist2_0/(1 + gamma*mu_QG)**T", "last dist2 <= dist2_0/(1 + gamma*mu_QG)**(4*T)",
    ),
    "quadratic growth of values": (
        {"method": "gd", "given": "smooth, convex, quadratic growth", "when": "gamma <= 1/L"},
        "last gap <= (1 - gamma*mu_QG/4)**T*F_0", "last gap <= (1 - gamma*mu_QG)**T*F_0",
    ),
    "weakly convex": (
        {"method": "proximal-point", "given": "smooth, weakly convex", "when": "lambda_ >= 2*rho_weak, lambda_ >= L/4"},
        "mean grad2 <= 2*(lambda_ + L)*F_0/T", "mean grad2 <= (lambda_ + L)*F_0/(9*T)",
    ),
    "monotone clients": (
        {"method": "gda", "given": "lipschitz operator, clients strongly monotone", "when": "gamma <= mu_c/L**2"},
        "last dist2 <= (1 - gamma*mu_c)**T*dist2_0", "last dist2 <= (1 - gamma*mu_c)**(3*T)*dist2_0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_theorems_about_these_classes(name):
    """The right form holds and is not accused; the wrong one is refuted by the search."""
    more, right, wrong = CLAIMS[name]
    assert rc.verify(theorem(right, **more), T=20).outcome.name == "HOLDS"
    assert rc.falsify(theorem(right, **more), evaluations=40, seed=1).outcome.name != "VIOLATED"
    assert rc.falsify(theorem(wrong, **more), evaluations=80, seed=1).outcome.name == "VIOLATED"
