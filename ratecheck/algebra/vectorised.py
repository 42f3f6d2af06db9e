"""Expressions as NumPy functions, written out directly: what a search evaluates is compiled often and used briefly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import sympy as sp

from bounds.formula import Visitor, of_arrays
from ratecheck.aliases import Array


def compiled(expr: sp.Expr, symbols: Sequence[sp.Symbol]) -> Callable[[Array], Array]:
    """An expression as a function of an array with a row per symbol; not a number where it is not real."""
    try:
        function = eval(f"lambda x: {_Written(symbols).visit(expr)}", {"np": np})  # noqa: S307  # from `_Written`
    except NotImplementedError:
        plain = of_arrays(list(symbols), expr)
        function = lambda x: plain(*x)  # noqa: E731

    def values(points: Array) -> Array:
        found = np.asarray(function(points))
        if np.iscomplexobj(found):
            found = np.where(found.imag == 0, found.real, np.nan)
        return np.broadcast_to(found.astype(float), points.shape[1:])

    return values


class _Written(Visitor[str]):
    """The text of a NumPy expression; raises NotImplementedError for a function without one."""

    rules: ClassVar = {
        sp.Add: lambda parts: f"({'+'.join(parts)})",
        sp.Mul: lambda parts: f"({'*'.join(parts)})",
        sp.Max: functools.partial(functools.reduce, "np.maximum({}, {})".format),
        sp.Min: functools.partial(functools.reduce, "np.minimum({}, {})".format),
    }

    def __init__(self, symbols: Sequence[sp.Symbol]) -> None:
        super().__init__()
        self._rows = {symbol: row for row, symbol in enumerate(symbols)}

    def symbol(self, symbol: sp.Symbol) -> str:
        return f"x[{self._rows[symbol]}]"

    def number(self, number: sp.Expr) -> str:
        return f"({float(number)!r})" if number.is_Rational else self.other(number)

    def operation(self, expr: sp.Expr) -> str:
        if not expr.is_Pow:
            return super().operation(expr)
        base, exponent = self.visit(expr.base), expr.exp
        if exponent == sp.Rational(1, 2):
            return f"np.sqrt({base})"
        if exponent.is_Integer and 1 < exponent < 5:
            return f"({'*'.join([base] * int(exponent))})"
        if exponent == -1:
            return f"np.divide(1.0, {base})"
        return f"np.power({base}, {self.visit(exponent)})"

    def other(self, expr: sp.Expr) -> str:
        raise NotImplementedError(f"{expr.func}")
