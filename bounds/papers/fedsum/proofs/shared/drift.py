"""Eqs. (59) and (95) as they hold: what the drift is at most, from the repaired lines before, and solved for it."""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import at_most
from bounds.ledger.step import Scalar, below, equal
from bounds.papers.fedsum.proofs.shared.terms import Gamma, X, tau
from bounds.papers.fedsum.symbols import F_0, K, L, N, T, eta, eta_l, sigma

DRIFT_CAP = below(100 * tau * eta_l**2 * K**2 * L**2, 1, "eta_l <= 1/(10*sqrt(tau_max)*K*L)")
# max{1, tau_max} as a symbol of its own.
m = sp.Symbol("max(1,tau_max)", positive=True)
M_FACTS = (
    below(100 * m * eta_l**2 * K**2 * L**2, 1, "cap with max{1, tau_max}"),
    below(1, m),
    below(tau, m),
    below(tau + 1, 2 * m),
)
NOISE = eta_l**2 * K**2 * T * sigma**2
MOVE = eta**2 * eta_l**2
# The right side, with what the lines before give when they are repaired.
MENDED_59 = (
    5 * NOISE / N
    + 5 * eta_l**2 / N**2 * K**2 * L**2 * X
    + sp.Rational(20, 3) * MOVE * (tau + 1) ** 2 * K**3 * L**2 / N**3 * Gamma
    + sp.Rational(20, 3) * MOVE / N**2 * (tau + 1) ** 2 * K**4 * T * sigma**2 * L**2
    + sp.Rational(10, 3) * eta_l**2 / N**2 * (tau + 1) * K**2 * L**2 * X
    + sp.Rational(10, 3) * NOISE / N
    + sp.Rational(4, 3) * eta_l**2 / N * K * (tau + 1) * Gamma
    + sp.Rational(4, 3) * NOISE
    + sp.Rational(8, 3) * eta_l**2 * K**3 * (tau + 1) * F_0 / N
)
# The sums over t, i in A_t and k of the terms of eq. (49), repaired, and of the server's part of eq. (48); the sum over
# t and i of E||x^a - x^a'||^2.
_T1, _T2, _T3, _T4, _T5, _first, _server, _between = sp.symbols("T1 T2 T3 T4 T5 first server between", nonnegative=True)
_K1, _K2 = K**2 / 2, K**3 / 3  # at least the sums of k and of k^2 over k < K
_MENDED_LINES = (
    below(
        X,
        (eta_l / N) ** 2 * (2 * (5 * (_T1 + _T2 + _T3 + _T4 + _T5) + 4 * _first) + 2 * _server),
        "eqs. (48) and (49), or (84) and (85), repaired",
    ),
    below(_T1, _K1 * N * T * sigma**2, "eq. (50) or (86)"),
    below(_T2, _K1 * L**2 * X, "eq. (51) or (87)"),
    below(_T3, _K2 * L**2 * _between, "eq. (52) or (88), first inequality"),
    below(
        _between,
        2 * eta**2 / N**2 * (N * (tau + 1) ** 2 * Gamma + N * T * (tau + 1) ** 2 * N * K * sigma**2),
        "eqs. (52) and (53), or (88) and (89), repaired",
    ),
    below(_T4, _K2 / K**2 * K * L**2 * (tau + 1) * X, "eq. (55) or (91), repaired"),
    below(_T5, _K2 / K**2 * N * T * K * sigma**2, "eq. (56) or (92)"),
    below(_first, _K2 * (tau + 1) * N * F_0, "first participations"),
    below(
        _server,
        _K2 / K**2 * 2 * (N * (tau + 1) * Gamma + N * T * N * K * sigma**2),
        "eqs. (57) and (58), or (93) and (94), repaired",
    ),
)


# The right side is rest + kept*X.
_rest, _kept = sp.symbols("rest kept", nonnegative=True)
_KEPT = sp.expand(MENDED_59).coeff(X)


def from_lines() -> Scalar:
    """The line from those before it, in the forms that hold."""
    return at_most(X, MENDED_59, *_MENDED_LINES)


def solved() -> Scalar:
    """The line solved for the drift, under the cap."""
    line = below(X, _rest + _kept * X, "the repaired line")
    cap, _, _, wider = M_FACTS
    return at_most(X, _rest / (1 - _kept), line, equal(_kept, _KEPT, "what it has of the sum itself"), cap, wider)


# Eqs. (60), (96), repaired.
MENDED_DRIFT = (
    12 * NOISE
    + 32 * MOVE / N**2 * m**2 * K**4 * T * sigma**2 * L**2
    + 32 * MOVE * m**2 * K**3 * L**2 / N**3 * Gamma
    + 4 * eta_l**2 / N * K * m * Gamma
    + sp.Rational(128, 21) * eta_l**2 * K**3 * m * F_0 / N
)
