"""Sections 4.1 to 4.3: the updates (9)-(13) and what Algorithm 1 makes of them."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw
from bounds.ledger.step import Draws, Enumerated, Scalar, Step, StepKind, below, positive
from bounds.ledger.written import at
from bounds.papers.flame.proofs.common import FlamePart, X, alpha, same
from bounds.papers.flame.statements import L, lambda_, m, rho

_lemma_1 = FlamePart("lemma-1", "Section 4.2").step
_theorem_1 = FlamePart("theorem-1", "Section 4.3").step

h, slope, theta, w_i, w, pi, drift = sp.symbols("h slope theta w_i w pi drift", real=True)

# (8) for one client in one dimension, f_i(theta) = h*theta^2/2 - slope*theta.
_LAGRANGIAN = (
    alpha * (h * theta**2 / 2 - slope * theta + lambda_ / 2 * (theta - w_i) ** 2)
    + pi * (w_i - w)
    + rho / 2 * (w_i - w) ** 2
)
_GRADIENT = h * theta - slope
_SHRINKS = (1 - (h + lambda_) / (L + lambda_)) ** 2
_SMOOTH = (below(-L, h, "smoothness"), below(h, L, "smoothness"))

# With drift = sum of (w_i + pi_i/rho) over the clients, (12) is drift/m, and the part of L by w that depends on w is
# rho*m/2*w^2 - rho*drift*w.
_BY_W = sp.diff(rho * m / 2 * w**2 - rho * drift * w, w)


def _inner(draw: Draw, *, unused: int) -> tuple[Fraction, Fraction] | None:
    """What Algorithm 1 keeps of its H inner steps, against H gradient steps in closed form."""
    H, eta = draw.whole(1, 4), draw.positive(1)
    h, g, lambda_, w_i, theta = draw.rational(-1, 1), draw.rational(), draw.positive(), draw.rational(), draw.rational()
    if h + lambda_ == 0:
        return None
    iterates = [theta]
    for _ in range(H + 1):
        last = iterates[-1]
        iterates.append(last - eta * (h * last - g + lambda_ * (last - w_i)))
    goal = (g + lambda_ * w_i) / (h + lambda_)
    return iterates[H - unused], goal + (1 - eta * (h + lambda_)) ** H * (theta - goal)


def _inner_check(unused: int) -> Enumerated:
    return Enumerated(
        kind=StepKind.STANDARD, sides=_inner, operator="==", instances=Draws(), constants={"unused": unused}
    )


STEPS: tuple[Step, ...] = (
    _lemma_1(
        "1",
        "Algorithm 1, lines 10-15",
        "theta_i^{t+1} = theta_i^{t,H-1} is the result of H gradient steps on (9)",
        _inner_check(1),
        repaired=_inner_check(0),
        repair="theta_i^{t,H}",
        remark="One batch per h, quadratic f_i. As printed the last step is lost, and H = 1 moves nothing.",
    ),
    _lemma_1(
        "2",
        "eq. (10), second equality",
        "w_i^{t+1} = (lambda*alpha_i*theta_i^{t+1} + rho*w^t - pi_i^t)/(lambda*alpha_i + rho) minimises L_i",
        same(
            sp.diff(_LAGRANGIAN, w_i).subs(w_i, (X * theta + rho * w - pi) / (X + rho)),
            sp.Integer(0),
        ),
        remark="Where the derivative vanishes; L_i is convex in w_i.",
    ),
    _lemma_1(
        "3",
        "eq. (12), second equality",
        "w^{t+1} = (1/m) sum_i (w_i^{t+1} + pi_i^{t+1}/rho) minimises L",
        same(at(_BY_W, {w: drift / m}), sp.Integer(0)),
        remark="drift stands for the sum.",
    ),
    _lemma_1(
        "4",
        "eq. (13), equality",
        "||grad_theta_i L||^2 = ||alpha_i (grad f_i(theta_i) + lambda (theta_i - w_i))||^2",
        same(sp.diff(_LAGRANGIAN, theta) ** 2, (alpha * (_GRADIENT + lambda_ * (theta - w_i))) ** 2),
        remark="For quadratic f_i in one dimension.",
    ),
    _lemma_1(
        "5",
        "below eq. (13)",
        "(13) can be satisfied after O(nu*log(d/eps_i)) gradient steps, nu a condition number of (9)",
        Scalar(
            left=_SHRINKS,
            operator="<",
            right=sp.Integer(1),
            hypotheses=(*_SMOOTH, positive(lambda_ - L, "lambda")),
        ),
        remark=(
            "What a step of size 1/(L + lambda) leaves of the squared residual for f_i = h*theta^2/2 - slope*theta; at "
            "most (1 - 1/nu)^2 with nu = (lambda + L)/(lambda - L). To speak of a condition number is to have (9) "
            "strongly convex, lambda > L: Theorem 1 takes lambda large enough for it, and Proposition 1 has "
            "lambda > 2*L where f is not convex."
        ),
    ),
    _theorem_1(
        "1",
        "below eq. (14)",
        "E[g_i] = grad_theta_i L_i, with g_i of Algorithm 1, line 31",
        same(_GRADIENT + lambda_ * (theta - w_i), sp.diff(_LAGRANGIAN, theta)),
        repaired=same(alpha * (_GRADIENT + lambda_ * (theta - w_i)), sp.diff(_LAGRANGIAN, theta)),
        repair="alpha_i*g_i",
        remark="With unequal weights the s largest ||g_i|| are not the s largest gradients of L_i.",
    ),
)
