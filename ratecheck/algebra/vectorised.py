"""Expressions as NumPy functions, written out directly: what a search evaluates is compiled often and used briefly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import sympy as sp

from ratecheck.aliases import Array


def compiled(expr: sp.Expr, symbols: Sequence[sp.Symbol]) -> Callable[[Array], Array]:
    """An expression as a function of an array with a row per symbol; not a number where it is not real."""
    names = {symbol: f"x[{row}]" for row, symbol in enumerate(symbols)}
    try:
        function = eval(f"lambda x: {_written(expr, names)}", {"np": np})  # noqa: S307  # from `_written`
    except NotImplementedError:
        plain = sp.lambdify(list(symbols), expr, modules="numpy")
        function = lambda x: plain(*x)  # noqa: E731

    def values(points: Array) -> Array:
        found = np.asarray(function(points))
        if np.iscomplexobj(found):
            found = np.where(found.imag == 0, found.real, np.nan)
        return np.broadcast_to(found.astype(float), points.shape[1:])

    return values


def _written(expr: sp.Expr, names: dict[sp.Symbol, str]) -> str:
    if expr.is_Symbol:
        return names[expr]
    if expr.is_Rational:
        return f"({float(expr)!r})"
    if expr.is_Pow:
        return _power(expr.base, expr.exp, names)
    parts = [_written(argument, names) for argument in expr.args]
    if expr.is_Add or expr.is_Mul:
        return f"({('+' if expr.is_Add else '*').join(parts)})"
    if expr.func in (sp.Max, sp.Min):
        name = "np.maximum" if expr.func is sp.Max else "np.minimum"
        text = parts[0]
        for part in parts[1:]:
            text = f"{name}({text}, {part})"
        return text
    raise NotImplementedError(f"{expr.func}")


def _power(base: sp.Expr, exponent: sp.Expr, names: dict[sp.Symbol, str]) -> str:
    text = _written(base, names)
    if exponent == sp.Rational(1, 2):
        return f"np.sqrt({text})"
    if exponent.is_Integer and 1 < exponent < 5:
        return f"({'*'.join([text] * int(exponent))})"
    if exponent == -1:
        return f"np.divide(1.0, {text})"
    return f"np.power({text}, {_written(exponent, names)})"
