"""Symbols that several modules of this ledger share. Hats are left out: u_ik and v_ik are the virtual sequences."""

from __future__ import annotations

import sympy as sp

from bounds import symbols as s
from bounds.ledger.step import below
from bounds.ledger.vectors import Vector, square
from bounds.statement import Condition

# D is sum_ik E||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2, and D_v the same of the personal gradients.
D, D_v = sp.symbols("D D_v", nonnegative=True)
# M is the mean over rounds of the left side of a theorem, A the noise and dissimilarity in a corollary's root, and
# s the root in its step size.
M, A, root = sp.symbols("M A s", nonnegative=True)
# The cube root of n: n^(2/3) is r^2.
r = sp.Symbol("r", positive=True)


def smooth(after: Vector, middle: Vector, before: Vector, du: Vector, dv: Vector) -> tuple[Condition, ...]:
    """Smoothness along (u, v) -> (u, v + dv) -> (u + du, v + dv): the gradient is before, then middle, then after."""
    return (below(square(after - middle), s.L**2 * square(du)), below(square(middle - before), s.L**2 * square(dv)))
