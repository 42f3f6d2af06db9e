"""Sections 4.1 to 4.3: the updates (9)-(13) and what Algorithm 1 makes of them."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw
from bounds.ledger.families import each, mean, per_client, squares
from bounds.ledger.proof import Proof, at_most, gram, same
from bounds.ledger.step import Enumerated, Gram, Step, StepKind, below, equal, positive
from bounds.ledger.vectors import Vector, dot, square, vectors
from bounds.papers.flame.proofs import common
from bounds.papers.flame.proofs.common import X, alpha, drawn, pair_terms
from bounds.papers.flame.statements import L, lambda_, m, rho

_lemma_1 = Proof("flame/lemma-1", "Section 4.2")
_theorem_1 = Proof("flame/theorem-1", "Section 4.3")

h, slope, theta, w_i, w, pi = sp.symbols("h slope theta w_i w pi", real=True)

# (8) for one client in one dimension, f_i(theta) = h*theta^2/2 - slope*theta.
_LAGRANGIAN = (
    alpha * (h * theta**2 / 2 - slope * theta + lambda_ / 2 * (theta - w_i) ** 2)
    + pi * (w_i - w)
    + rho / 2 * (w_i - w) ** 2
)
_GRADIENT = h * theta - slope
_SHRINKS = (1 - (h + lambda_) / (L + lambda_)) ** 2
_SMOOTH = (below(-L, h, "smoothness"), below(h, L, "smoothness"))

# Any step away from a point.
(_away,) = vectors("d")


def _least_by_client() -> Gram:
    """(8) at (10), which has the local model of one client, and away from it."""
    least = (X * common.theta_next + rho * common.w - common.pi) / (X + rho)
    at, off = (pair_terms(common.theta_next, point, common.pi, common.w) for point in (least, least + _away))
    return gram(off, at, operator=">=")


def _least_by_server() -> Gram:
    """Terms of (8) with w, at (12) and away from it."""
    local, dual = per_client("w_i_next pi_next", m)
    server = mean(local + 1 / rho * dual)

    def by_w(point: Vector) -> sp.Expr:
        return each(dual, local - point) + rho / 2 * squares(local - point)

    return gram(by_w(server + _away), by_w(server), operator=">=")


def _gradient_by_theta() -> Gram:
    """How L_i changes with theta_i: the gradient is what is linear in the step, with f_i that is differentiable."""
    f, f_next, rest = sp.symbols("f f_next rest", real=True)
    at, off = (pair_terms(point, common.w_i, common.pi, common.w) for point in (common.theta, common.theta + _away))
    gradient = alpha * (common.g + lambda_ * (common.theta - common.w_i))
    return gram(
        alpha * (f_next - f) + off - at,
        dot(gradient, _away) + X / 2 * square(_away) + alpha * rest,
        equal(f_next - f, dot(common.g, _away) + rest, "grad f_i, with a rest of smaller order"),
        operator="==",
    )


def _inner(draw: Draw, *, unused: int) -> tuple[Fraction, Fraction] | None:
    """Result of the H inner steps of Algorithm 1, against H gradient steps in closed form."""
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
    return drawn(_inner, "==", kind=StepKind.STANDARD, unused=unused)


STEPS: tuple[Step, ...] = (
    _lemma_1(
        "Algorithm 1, lines 10-15",
        "theta_i^{t+1} = theta_i^{t,H-1} is the result of H gradient steps on (9)",
        _inner_check(1),
        repaired=_inner_check(0),
        repair="theta_i^{t,H}",
        remark="One batch per h, quadratic f_i. As printed the last step is lost, and H = 1 moves nothing.",
    ),
    _lemma_1(
        "eq. (10), second equality",
        "w_i^{t+1} = (lambda*alpha_i*theta_i^{t+1} + rho*w^t - pi_i^t)/(lambda*alpha_i + rho) minimises L_i",
        _least_by_client(),
        remark="At any other point, by d, L_i is no smaller.",
    ),
    _lemma_1(
        "eq. (12), second equality",
        "w^{t+1} = (1/m) sum_i (w_i^{t+1} + pi_i^{t+1}/rho) minimises L",
        _least_by_server(),
        remark="At any other point, by d, L is no smaller.",
    ),
    _lemma_1(
        "eq. (13), equality",
        "||grad_theta_i L||^2 = ||alpha_i (grad f_i(theta_i) + lambda (theta_i - w_i))||^2",
        _gradient_by_theta(),
        remark="The two vectors in the norms are the same: the gradient of L_i, in products with any step d.",
    ),
    _lemma_1(
        "below eq. (13)",
        "(13) can be satisfied after O(nu*log(d/eps_i)) gradient steps, nu a condition number of (9)",
        at_most(_SHRINKS, sp.Integer(1), *_SMOOTH, positive(lambda_ - L, "lambda"), operator="<"),
        remark="What a step of size 1/(L + lambda) leaves of the squared residual for f_i = h*theta^2/2 - slope*theta; "
        "at most (1 - 1/nu)^2 with nu = (lambda + L)/(lambda - L). To speak of a condition number is to have (9) "
        "strongly convex, lambda > L: Theorem 1 takes lambda large enough for it, and Proposition 1 has "
        "lambda > 2*L where f is not convex.",
    ),
    _theorem_1(
        "below eq. (14)",
        "E[g_i] = grad_theta_i L_i, with g_i of Algorithm 1, line 31",
        same(_GRADIENT + lambda_ * (theta - w_i), sp.diff(_LAGRANGIAN, theta)),
        repaired=same(alpha * (_GRADIENT + lambda_ * (theta - w_i)), sp.diff(_LAGRANGIAN, theta)),
        repair="alpha_i*g_i",
        remark="With unequal weights the s largest ||g_i|| are not the s largest gradients of L_i.",
    ),
)
