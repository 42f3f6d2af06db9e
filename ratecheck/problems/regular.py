"""Smoothness of a formula on the whole space: no pole, no jump, no kink, nothing that is not real.

A simplified form of a formula equals it only where it is defined, so that bounds by simplified forms are about
functions that are shown to be smooth first. That is shown from the inside out: every denominator is never 0, and what
stands under a root or in a logarithm is always positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import sympy as sp

from ratecheck.algebra.boxes import KNOWN
from ratecheck.errors import InputError
from ratecheck.problems.functions.ridges import ridges, stable
from ratecheck.problems.functions.symbolic_bounds import Bounds

# Functions that are smooth wherever their argument is.
_SMOOTH = (sp.Add, sp.Mul, sp.exp, sp.sin, sp.cos, sp.tanh, sp.sinh, sp.cosh, sp.atan, sp.asinh, sp.Symbol, sp.Number)
_SHORT = 60


def check_smooth(f: sp.Expr, variables: Sequence[sp.Symbol]) -> None:
    """Raise `InputError` unless f is shown to be smooth for all values of the ``variables``, which are real symbols."""
    for part in dict.fromkeys(sp.postorder_traversal(f)):
        if not part.free_symbols:
            if not (part.is_extended_real and part.is_finite):
                raise InputError(f"{brief(f)}: {part} is no real number")
        elif isinstance(part, (sp.Pow, sp.log)):
            _check_root(f, part, variables)
        elif isinstance(part, sp.Abs):
            if not _never_zero(part.args[0], variables):
                raise InputError(f"{brief(f)} is not smooth, or no proof was found: {brief(part)} has a kink at 0")
        elif not isinstance(part, _SMOOTH):
            raise InputError(unknown(f))


def _check_root(f: sp.Expr, part: sp.Expr, variables: Sequence[sp.Symbol]) -> None:
    inside, exponent = (part.args[0], None) if isinstance(part, sp.log) else part.args
    if exponent is not None and not exponent.is_Rational:
        raise InputError(unknown(f))
    if exponent is not None and exponent.is_Integer:
        if exponent < 0 and not _never_zero(inside, variables):
            raise InputError(
                f"{brief(f)} may have a pole or a jump: no proof was found that {brief(inside)} is never 0"
            )
        return
    if not _positive(inside, variables):
        raise InputError(
            f"{brief(f)} may not be smooth, or not real: no proof was found that {brief(inside)} is always positive"
        )


def _never_zero(expr: sp.Expr, variables: Sequence[sp.Symbol]) -> bool:
    return _positive(expr, variables) or _positive(-expr, variables)


def _positive(expr: sp.Expr, variables: Sequence[sp.Symbol]) -> bool:
    """Whether an expression, which is smooth, is shown to be positive: by the signs of its parts, or by intervals."""
    if expr.is_positive or expr.is_negative:
        return bool(expr.is_positive)
    if not expr.free_symbols:
        return False
    try:
        least = Bounds([ridges(stable(expr), variables)], variables).below_of_parts()
    except TypeError:
        return False
    return math.isfinite(least) and least > 0


def unknown(f: sp.Expr) -> str:
    """The message about a function that there is no rule for."""
    known = f"sums, products, powers whose roots have orders made of 2 and 3, and {', '.join(KNOWN)}"
    return f"{brief(f)} is not understood: known are {known}"


def brief(expr: sp.Expr) -> str:
    """An expression in a line."""
    text = " ".join(str(expr).split())
    return text if len(text) <= _SHORT else text[:_SHORT] + "..."
