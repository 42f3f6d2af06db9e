"""Expressions as a mathematician would write them.

SymPy splits square roots of products of positive symbols, sqrt(n)/sqrt(m); a reader of a paper looks for sqrt(n/m).
"""

from __future__ import annotations

import sympy as sp

_HALF = sp.Rational(1, 2)


class _Kept(sp.UnevaluatedExpr):
    """Keeps what is under a root together; printers treat it as what it holds."""

    is_commutative = True


def shown(expr: sp.Expr) -> sp.Expr:
    """The expression with the square roots in every product gathered under one root. For printing only."""
    if not expr.args:
        return expr
    arguments = [shown(argument) for argument in expr.args]
    if not isinstance(expr, sp.Mul):
        return expr.func(*arguments)
    roots = [a for a in expr.args if isinstance(a, sp.Pow) and abs(a.exp) == _HALF]
    if len(roots) < 2:
        return expr.func(*arguments)
    inside = sp.Mul(*(shown(a.base) ** (2 * a.exp) for a in roots))
    rest = [shown(a) for a in expr.args if a not in roots]
    return sp.Mul(*rest, sp.Pow(_Kept(inside), _HALF))
