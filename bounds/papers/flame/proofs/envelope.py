"""Section 3.4: the Moreau envelope, eqs. (2)-(4), and Proposition 1.

The paper cites Proposition 1; its proof is one step, from grad F(w) = lambda*(w - prox(w)) = grad f(prox(w)).
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import Proof, at_most, gram, same
from bounds.ledger.step import Gram, Step, above, below
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.flame.statements import L, lambda_
from bounds.statement import Condition

_step = Proof("flame/proposition-1", "Section 3.4")

# A quadratic f is h*theta^2/2 in one dimension. Two points w and their proximal points differ by dw and dprox, and the
# gradients at the proximal points by dg = lambda*(dw - dprox); off is w - prox(w).
h = sp.Symbol("h", real=True)
bend, place = sp.symbols("bend place", positive=True)
longer = sp.Symbol("lambda_2", positive=True)
dw, dprox, dg, off = vectors("dw dprox dg w-prox")
_DW = dprox + dg / lambda_


def _joint(theta: sp.Expr, slope: sp.Expr, curvature: sp.Expr, at: sp.Expr) -> sp.Expr:
    """The function that (2) minimises."""
    return curvature * theta**2 / 2 - slope * theta + lambda_ / 2 * (at - theta) ** 2


def _least(bend: sp.Expr, place: sp.Expr, lambda_: sp.Expr) -> sp.Expr:
    """F(place) for f = bend*theta^2/2."""
    return bend * lambda_ * place**2 / (2 * (bend + lambda_))


def _gradient() -> Gram:
    """How far F(w + dw) is from its first-order approximation with lambda*(w - prox(w)), above and below."""
    f, f_next = sp.symbols("f_prox f_prox_next", real=True)
    above_, below_ = sp.symbols("above below", nonnegative=True)
    lipschitz = sp.Symbol("c", positive=True)
    value, value_next = f + lambda_ / 2 * square(off), f_next + lambda_ / 2 * square(off + dw - dprox)
    rest = value_next - value - lambda_ * dot(off, dw)
    return gram(
        sp.expand((above_ - below_) * rest),
        (above_ + 2 * below_ * lipschitz) * lambda_ / 2 * square(dw),
        below(below_ * value, below_ * (f_next + lambda_ / 2 * square(off - dprox)), "minimum (2) at w"),
        below(above_ * value_next, above_ * (f + lambda_ / 2 * square(off + dw)), "minimum (2) at w + dw"),
        below(
            below_ * lambda_ / (2 * lipschitz) * square(dprox),
            below_ * lambda_ * lipschitz / 2 * square(dw),
            "prox is Lipschitz",
        ),
    )


_SMOOTH = (below(square(dg), L**2 * square(dprox), "smoothness"),)
_CONVEX = (above(dot(dg, dprox), sp.Integer(0), "convexity"),)
_CHANGE = square(lambda_ * (_DW - dprox))

STEPS: tuple[Step, ...] = (
    _step(
        "eq. (3) against eq. (2)",
        "argmin {f(theta) + lambda/2 ||theta - w||} is where the minimum (2) is attained",
        same(_joint(sp.Min(place, lambda_ / (2 * bend)), sp.Integer(0), bend, place), _least(bend, place, lambda_)),
        repaired=same(
            _joint(lambda_ * place / (lambda_ + bend), sp.Integer(0), bend, place), _least(bend, place, lambda_)
        ),
        repair="the norm in (3) squared, as in (2)",
        remark="For f = bend*theta^2/2 and w = place > 0 the minimiser of (3) as printed is min(place, "
        "lambda/(2*bend)). Everything later uses the square.",
    ),
    _step(
        "below eq. (3)",
        "as lambda becomes smaller, F approaches f",
        at_most(
            bend * place**2 / 2 - _least(bend, place, lambda_),
            bend * place**2 / 2 - _least(bend, place, longer),
            below(lambda_, longer),
        ),
        repaired=at_most(
            bend * place**2 / 2 - _least(bend, place, lambda_),
            bend * place**2 / 2 - _least(bend, place, longer),
            below(lambda_, longer),
            operator=">=",
        ),
        repair="as lambda becomes larger",
        remark="f - F at w = place for f = bend*theta^2/2 and two values lambda <= lambda_2. Nothing is built on it.",
    ),
    _step(
        "Proposition 1, eq. (4)",
        "grad F(w) = lambda*(w - prox(w))",
        _gradient(),
        remark="As -lambda*c*||dw||^2 <= F(w + dw) - F(w) - <lambda*(w - prox(w)), dw> <= lambda/2*||dw||^2 for every "
        "dw, both sides with weights of their own; c is a Lipschitz constant of prox, which there is for ell < lambda "
        "where f + ell/2 ||.||^2 is convex.",
    ),
    _step(
        "Proposition 1, nonconvex f with an L-Lipschitz gradient",
        "F is lambda-smooth if lambda > 2*L",
        gram(
            _CHANGE,
            lambda_**2 * square(_DW),
            *_SMOOTH,
            where=(Condition(name="lambda", left=lambda_, operator=">", right=2 * L),),
        ),
        remark="||grad F(w_1) - grad F(w_2)||^2 by (4), with w = prox + grad f(prox)/lambda.",
    ),
    _step(
        "Proposition 1, weakly convex f",
        "F is lambda-smooth",
        gram(_CHANGE, lambda_**2 * square(_DW), *_CONVEX),
        remark="Weakly convex is set against nonconvex and read as convex, not necessarily strongly. Where it means "
        "that f + ell/2 ||.||^2 is convex, lambda >= 2*ell is needed: f = -theta^2/2 with lambda = 3/2 has F'' = -3.",
    ),
    _step(
        "Proposition 1, weakly convex f: the minimum in eq. (2)",
        "f(theta) + lambda/2 ||w - theta||^2 has a minimum",
        at_most(h + lambda_, sp.Integer(0), above(h, 0, "convexity"), operator=">"),
        remark="The curvature of the inner problem for f = h*theta^2/2, weakly convex as in the step before; with "
        "h >= -ell it takes lambda > ell.",
    ),
)
