"""Conditions solved for one step size: equalities, and pairs of inequalities that leave equality alone.

Bracketing finds a root to some thirteen digits; the formula gives it to the last one, so that 1/L is printed as 1/L.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import sympy as sp

from bounds.statement import Condition

# Longer formulas are left to bracketing.
_LONGEST = 60
# Where two conditions are compared before SymPy is called: far from values at which formulas agree by accident.
_PROBES = (0.37, 0.61, 0.83, 1.13, 1.31, 1.57, 1.91, 2.23, 2.71, 3.17)


@functools.cache
def root(condition: Condition, symbol: sp.Symbol) -> sp.Expr | None:
    """The positive ``symbol`` at which both sides are equal, where there is one formula for it; else None.

    The condition, its denominators cleared, has to be c_1 x^p + c_2 x^q = 0, which gives x = (-c_2/c_1)^(1/(p - q)).
    """
    difference = condition.left - condition.right
    if symbol not in difference.free_symbols or sp.count_ops(difference) > _LONGEST:
        return None
    slope = sp.diff(difference, symbol)
    if symbol not in slope.free_symbols:
        return -difference.subs(symbol, 0) / slope
    powers: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(sp.fraction(sp.together(difference))[0])):
        factor, rest = term.as_independent(symbol, as_Add=False)
        base, exponent = rest.as_base_exp()
        if rest != 1 and (base != symbol or not exponent.is_Rational):
            return None
        power = sp.S.Zero if rest == 1 else exponent
        powers[power] = powers.get(power, sp.S.Zero) + factor
    left = {power: factor for power, factor in powers.items() if sp.expand(factor) != 0}
    if len(left) != 2:
        return None
    (p, first), (q, second) = left.items()
    return (-second / first) ** (1 / (p - q))


def pinned(conditions: Sequence[Condition]) -> Iterator[Condition]:
    """The conditions that hold with equality or not at all: equalities, and inequalities that others turn round."""
    for condition in conditions:
        if condition.operator == "==" or any(_opposite(condition, other) for other in conditions):
            yield condition


@functools.cache
def _opposite(one: Condition, other: Condition) -> bool:
    """Whether two inequalities say that something is at most 0 and at least 0."""
    if one.symbols != other.symbols or not {one.operator, other.operator} <= {"<=", ">="}:
        return False
    first, second = _above(one), _above(other)
    if sp.count_ops(first) + sp.count_ops(second) > 2 * _LONGEST:
        return False
    symbols = sorted(first.free_symbols, key=str)
    for shift in range(3):
        point = {symbol: _PROBES[(k + 3 * shift) % len(_PROBES)] for k, symbol in enumerate(symbols)}
        values = [sp.N(side.subs(point)) for side in (first, second)]
        if not all(value.is_real for value in values) or values[0] * values[1] > 0:
            return False
    return bool((-sp.simplify(first / second)).is_positive)


def _above(condition: Condition) -> sp.Expr:
    """The expression that the inequality bounds by 0."""
    sign = 1 if condition.operator == "<=" else -1
    return sign * (condition.left - condition.right)
