"""Constants of the clients' functions in rationals: what a proof admits, beside eigenvalues client by client."""

from fractions import Fraction

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.certification.exact_constants import proved
from ratecheck.outcome import Outcome
from ratecheck.problems import MinMax, Piecewise, Quadratic

RNG = np.random.default_rng(5)
TIES = {
    "dist2 <= (1 - gamma*mu)**t*dist2_0": ("local-gd", "smooth, strongly convex", "gamma <= 1/L, K == 1"),
    "gap <= (1 - gamma*mu_QG/4)**t*F_0": ("gd", "smooth, convex, quadratic growth", "gamma <= 1/L"),
    "gap <= F_0*exp(gamma*rho_weak*t)": ("gd", "smooth, convex, weakly convex", "gamma <= 1/L"),
    "gap <= F_0*exp(L_1*t)": ("gd", "L0 L1 smooth", "gamma == 1/L_0"),
}


def _symmetric(k, shift):
    """Matrices (k, 3, 3) with eigenvalues of either sign, and ``shift`` more."""
    H = RNG.standard_normal((k, 3, 3))
    return (H + H.swapaxes(1, 2)) / 2 + shift * np.eye(3)


def _proved(problem):
    return proved(
        problem, cocoercive=False, trace=None, T=None, noise={}, lambda_=None,
        weights=[Fraction(1, problem.n)] * problem.n, start={},
    )  # fmt: skip


class TestExactConstantsOfClients:
    """Those by which ties at the start of a run are decided."""

    @pytest.mark.parametrize("shift", [0.0, 4.0])
    def test_of_quadratics(self, shift):
        """Least curvatures of the clients, of either sign, and what f has where these are positive."""
        H = _symmetric(3, shift)
        known = _proved(Quadratic(H, np.ones((3, 3)), 3))
        least = min(np.linalg.eigvalsh(each)[0] for each in H)
        largest = max(np.abs(np.linalg.eigvalsh(each)).max() for each in H)
        wanted = {"weak_convexity": max(-least, 0.0), "generalized_L0": largest, "generalized_L1": 0.0}
        if least > 0:
            mean = np.linalg.eigvalsh(H.mean(axis=0))[0]
            wanted |= {"clients_strong_convexity": least, "quadratic_growth": mean}
        for name, value in wanted.items():
            assert float(known.fact(name)) == pytest.approx(value, rel=1e-12, abs=1e-12)
            stronger, weaker = (-1, 1) if name in ("weak_convexity", "generalized_L0") else (1, -1)
            if value:
                assert known.admits(name, Fraction(value * (1 + weaker * 1e-9)))
                assert not known.admits(name, Fraction(value * (1 + stronger * 1e-9)))

    def test_of_operators(self):
        """The symmetric parts of the clients' matrices."""
        A, C = (np.array([np.diag(RNG.uniform(1, 2, 2)) for _ in range(3)]) for _ in range(2))
        B, a, c = RNG.standard_normal((3, 2, 2)), np.ones((3, 2)), np.ones((3, 2))
        known, least = _proved(MinMax(A=A, B=B, C=C, a=a, c=c)), float(min(A[A > 0].min(), C[C > 0].min()))
        assert float(known.fact("clients_strong_convexity")) == pytest.approx(least, rel=1e-12)
        assert not known.admits("clients_strong_convexity", Fraction(least) * Fraction(1000001, 1000000))

    def test_of_piecewise_quadratics(self):
        """The least curvature of a piece, and the inequality that implies growth, which is faster."""
        bent = _proved(Piecewise([[[-1.0, 1.0]]], [[[1.0, -0.5, 1.0]]], [[0.25]]))
        assert bent.fact("weak_convexity") == Fraction(1, 2)
        convex = _proved(Piecewise([[[-1.0, 1.0]]], [[[1.0, 0.5, 1.0]]], [[0.0]]))
        assert convex.fact("weak_convexity") == 0
        assert convex.fact("quadratic_growth") == convex.fact("polyak_lojasiewicz") == Fraction(1, 2)
        slope = _proved(Piecewise([[[0.0, 1.0]]], [[[1.0, 0.0, 1.0]]], [[-0.5]]))
        assert (slope.fact("quadratic_growth"), slope.fact("polyak_lojasiewicz")) == (Fraction(1, 2), Fraction(1, 5))

    @pytest.mark.parametrize("sentence", TIES)
    def test_ties_at_the_start_are_decided(self, sentence):
        """Both sides are equal there, whatever the constant is."""
        method, given, when = TIES[sentence]
        claim = theorem(sentence, method=method, given=given, when=when)
        more = {"n": 2} if method == "local-gd" else {}
        assert rc.verify(claim, d=2, T=4, **more).outcome is Outcome.HOLDS
