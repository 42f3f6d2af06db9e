"""Appendix B: Theorem 1, eqs. (31)-(33)."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw
from bounds.ledger.proof import Proof, gram, same
from bounds.ledger.step import Step, StepKind, above, below, positive
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.flame.proofs import runs
from bounds.papers.flame.proofs.common import alpha, drawn, dtheta, g, g_next, theta, theta_next, w_i
from bounds.papers.flame.statements import L, k, lambda_, mu

_step = Proof("flame/theorem-1", "Appendix B", first=2)

# Gradients of L_i by theta_i at theta_i^t and at theta_i^{t+1}, and the difference of those of f_i.
G, R, dg = vectors("G R dg")
_G_NEXT = alpha * (g_next + lambda_ * (theta_next - w_i))
_G = alpha * (g + lambda_ * (theta - w_i))
_CHANGE = alpha * dg + alpha * lambda_ * dtheta
_BOTH = 2 * alpha**2 * (L**2 + lambda_**2)
_SMOOTH = below(square(dg), L**2 * square(dtheta), "smoothness")
_LIPSCHITZ = below(square(R - G), _BOTH * square(dtheta), "(31)")
_MONOTONE = above(square(R - G), mu**2 * square(dtheta), "(32)")


def _bounds(draw: Draw) -> list[tuple[Fraction, Fraction]] | None:
    """Both sides of (14) for exact solutions, for the selected clients."""
    problem, state = runs.loose(draw, 3)
    mu = min(problem.lambda_ + h for h in problem.h)
    if mu <= 0:
        return None
    targets = runs.stationary(problem, state, (Fraction(0),) * problem.m)
    selected = range(draw.whole(1, 2))
    new = runs.after(problem, state, targets, selected)
    found = []
    for i in selected:
        gradient2 = runs.slope(problem, state, i, state.theta[i]) ** 2
        step2, weight = runs.steps2(state, new, i)[0], problem.alpha[i]
        found += [
            (gradient2 / (2 * weight**2 * (problem.L**2 + problem.lambda_**2)), step2),
            (step2, gradient2 / (weight * mu) ** 2),
        ]
    return found


STEPS: tuple[Step, ...] = (
    _step(
        "eq. (31), equality",
        "the change of grad_theta_i L_i is alpha_i (grad f_i(theta^{t+1}) - grad f_i(theta^t)) + alpha_i*lambda*dtheta",
        same(square(_G_NEXT - _G), square(alpha * (g_next - g) + alpha * lambda_ * (theta_next - theta))),
    ),
    _step(
        "eq. (31), first inequality",
        "||alpha_i*dg + alpha_i*lambda*dtheta||^2 <= 2*alpha_i^2 ||dg||^2 + 2*alpha_i^2*lambda^2 ||dtheta||^2",
        gram(square(_CHANGE), 2 * alpha**2 * square(dg) + 2 * alpha**2 * lambda_**2 * square(dtheta)),
        remark="dg = grad f_i(theta^{t+1}) - grad f_i(theta^t).",
    ),
    _step(
        "eq. (31), second inequality",
        "2*alpha_i^2 ||dg||^2 + 2*alpha_i^2*lambda^2 ||dtheta||^2 <= 2*alpha_i^2*(L^2 + lambda^2) ||dtheta||^2",
        gram(2 * alpha**2 * square(dg) + 2 * alpha**2 * lambda_**2 * square(dtheta), _BOTH * square(dtheta), _SMOOTH),
    ),
    _step(
        "strong convexity where f_i is convex",
        "L_i is mu-strongly convex by theta_i",
        gram(
            dot(_CHANGE, dtheta),
            alpha * lambda_ * square(dtheta),
            above(dot(dg, dtheta), sp.Integer(0), "convexity"),
            operator=">=",
        ),
        remark="mu is not printed: alpha_i*lambda here.",
    ),
    _step(
        "strong convexity where lambda is sufficiently large",
        "L_i is mu-strongly convex by theta_i",
        gram(
            dot(_CHANGE, dtheta),
            alpha * (lambda_ - L) * square(dtheta),
            _SMOOTH,
            operator=">=",
            where=(positive(lambda_ - L, "lambda"),),
        ),
        remark="Neither mu nor how large is printed: mu = alpha_i*(lambda - L), and lambda > L is enough.",
    ),
    _step(
        "eq. (32)",
        "||dtheta||^2 <= ||change of grad_theta_i L_i||^2/mu^2",
        gram(square(dtheta), square(R - G) / mu**2, above(dot(R - G, dtheta), mu * square(dtheta), "strong convexity")),
        remark="G and R are grad_theta_i L_i at theta_i^t and theta_i^{t+1}.",
    ),
    _step(
        "eqs. (14) and (33), first inequality, with the error that the approximation drops",
        "||grad_theta_i L_i||^2/B <= (1 + k) ||dtheta||^2 + (1 + 1/k)*eps_i/B for all k > 0, "
        "B = 2*alpha_i^2*(L^2 + lambda^2)",
        gram(square(G) / _BOTH, (1 + k) * square(dtheta) + (1 + 1 / k) * square(R) / _BOTH, _LIPSCHITZ),
        remark="Printed as an approximation, without eps_i and k, for eps_i much smaller than the squared gradient. "
        "This is what it approximates, eps_i = ||R||^2; with eps_i = 0 and k -> 0 it is the printed line.",
    ),
    _step(
        "eqs. (14) and (33), second inequality, with the error that the approximation drops",
        "||dtheta||^2 <= ((1 + k) ||grad_theta_i L_i||^2 + (1 + 1/k)*eps_i)/mu^2 for all k > 0",
        gram(square(dtheta), ((1 + k) * square(G) + (1 + 1 / k) * square(R)) / mu**2, _MONOTONE),
        remark="As above.",
    ),
    _step(
        "Theorem 1, eq. (14)",
        "both inequalities of (14) with exact inner solutions",
        drawn(_bounds, kind=StepKind.END_TO_END),
        remark="For the clients that take the step, as the proof has it with (13). A client that is not selected does "
        "not move, whatever its gradient. mu = alpha_i*min(lambda + h_i).",
    ),
)
