"""Symbols, vectors and coefficients of the steps of this ledger."""

from __future__ import annotations

from functools import partial

import sympy as sp

from bounds.ledger import proof
from bounds.ledger.vectors import Vector, dot, square, vectors
from bounds.papers.flame.statements import L, lambda_, rho
from bounds.statement import Condition

drawn = partial(proof.drawn, count=60)

alpha = sp.Symbol("alpha", positive=True)
eps = sp.Symbol("eps", nonnegative=True)

theta, theta_next, w_i, w_i_next, w, w_next, pi, pi_next, g, g_next = vectors(
    "theta theta_next w_i w_i_next w w_next pi pi_next g g_next"
)
dtheta, dw_i = vectors("dtheta dw_i")

X = lambda_ * alpha


def young(weight: sp.Expr) -> sp.Expr:
    """The parameter q = (1/rho^2 - 1)*lambda^2*alpha^2 - (L*alpha + rho)/2 with which (38) uses (22)."""
    return (1 / rho**2 - 1) * lambda_**2 * weight**2 - (L * weight + rho) / 2


def gain(weight: sp.Expr) -> sp.Expr:
    """(lambda*alpha + rho)/2 - lambda^2*alpha^2*(1 + rho)/rho^2, of which c_1 is the least."""
    return (lambda_ * weight + rho) / 2 - lambda_**2 * weight**2 * (1 + rho) / rho**2


def descends(weight: sp.Expr) -> Condition:
    """The condition of Lemma 1 and Theorem 2 for a client of that weight."""
    return Condition(
        name="descent",
        left=lambda_**2 * weight**2 * (1 + rho) / rho**2,
        operator="<",
        right=(lambda_ * weight + rho) / 2,
    )


def pair_terms(theta: Vector, w_i: Vector, pi: Vector, w: Vector) -> sp.Expr:
    """A client's part of (8) without f_i: lambda*alpha/2 |theta - w_i|^2 + <pi, w_i - w> + rho/2 |w_i - w|^2."""
    return X / 2 * square(theta - w_i) + dot(pi, w_i - w) + rho / 2 * square(w_i - w)
