"""Local exponents d log(bound) / d log(parameter) of right-hand sides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import sympy as sp

from bounds.statement import Statement
from bounds.symbols import Role
from ratecheck.complexity.closed_form import closed_bound


def local_exponent(statement: Statement, parameter: str, held: Iterable[str], values: Mapping[str, float]) -> float:
    """Local exponent d log(bound) / d log(parameter) at the given values, for the first claim.

    The step sizes in ``held`` stay as they are, the others follow the statement's rules. At a kink (a tie in a maximum)
    it is the mean of the exponents on the two sides. NaN where it does not exist or is infinite.
    """
    quantity = statement.vocabulary[parameter]
    own = {parameter} if quantity.role is Role.STEP_SIZE else set()
    bound = closed_bound(statement, {*held, *own})
    # Numbers first: the derivative of sqrt(x) at a noise x that is zero throughout would be 0/0.
    curve = bound.xreplace({s: _float(values[s.name]) for s in bound.free_symbols - {quantity.symbol}})
    slope = sp.N((quantity.symbol * sp.diff(curve, quantity.symbol) / curve).xreplace(
        {quantity.symbol: _float(values[parameter])}
    ))  # fmt: skip
    return float(slope) if slope.is_real and slope.is_finite else math.nan


def _float(value: float) -> sp.Expr:
    """A number with digits to spare; zero as an exact zero, so that terms without noise vanish."""
    return sp.Float(value, 30) if value else sp.Integer(0)
