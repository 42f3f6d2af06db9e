"""Expressions as they stand on paper, which SymPy would simplify where it builds them.

``written(r) * written(1 / r)`` is a product, not 1. An identity between such sides says what is printed; the ``value``
is the SymPy expression, which may be that of the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class WrittenOperation:
    """An operation on parts: "value" of a SymPy expression, "+", "*", "/", "^" with a number, "max" or "min"."""

    operation: str
    parts: tuple[Any, ...]

    @property
    def value(self) -> sp.Expr:
        """Value as a SymPy expression."""
        if self.operation == "value":
            return self.parts[0]
        first, *others = map(value, self.parts)
        function = {"+": sp.Add, "*": sp.Mul, "max": sp.Max, "min": sp.Min}.get(self.operation)
        if function is not None:
            return function(first, *others)
        return first / others[0] if self.operation == "/" else first ** others[0]

    def __add__(self, other: Any) -> WrittenOperation:
        return WrittenOperation("+", (self, written(other)))

    def __radd__(self, other: Any) -> WrittenOperation:
        return WrittenOperation("+", (written(other), self))

    def __sub__(self, other: Any) -> WrittenOperation:
        return self + -1 * written(other)

    def __rsub__(self, other: Any) -> WrittenOperation:
        return written(other) + -1 * self

    def __mul__(self, other: Any) -> WrittenOperation:
        return WrittenOperation("*", (self, written(other)))

    def __rmul__(self, other: Any) -> WrittenOperation:
        return WrittenOperation("*", (written(other), self))

    def __neg__(self) -> WrittenOperation:
        return -1 * self

    def __truediv__(self, other: Any) -> WrittenOperation:
        return WrittenOperation("/", (self, written(other)))

    def __rtruediv__(self, other: Any) -> WrittenOperation:
        return WrittenOperation("/", (written(other), self))

    def __pow__(self, exponent: Any) -> WrittenOperation:
        return WrittenOperation("^", (self, sp.Rational(exponent)))


def written(expr: Any) -> WrittenOperation:
    """A number or SymPy expression as a part that is left as it is."""
    return expr if isinstance(expr, WrittenOperation) else WrittenOperation("value", (sp.sympify(expr),))


def sqrt(expr: Any) -> WrittenOperation:
    """The square root."""
    return written(expr) ** sp.Rational(1, 2)


def at(expr: sp.Expr, values: Mapping[sp.Symbol, Any]) -> WrittenOperation:
    """An expression with others in place of symbols, before that simplifies it: ``(n - m)*x`` at m = n is (n - n)*x."""
    if expr in values:
        return written(values[expr])
    if not any(symbol in values for symbol in expr.free_symbols):
        return written(expr)
    if expr.is_Pow and expr.exp.is_Rational:
        return at(expr.base, values) ** expr.exp if expr.exp > 0 else 1 / at(1 / expr, values)
    if expr.is_Mul:
        above, below = sp.fraction(expr)
        if below != 1:
            return at(above, values) / at(below, values)
    operation = {sp.Add: "+", sp.Mul: "*", sp.Max: "max", sp.Min: "min"}.get(expr.func)
    if operation is None:
        raise TypeError(f"{expr.func.__name__} is not written out")
    return WrittenOperation(operation, tuple(at(each, values) for each in ordered(expr)))


def ordered(expr: sp.Expr) -> Sequence[sp.Expr]:
    """The parts of an expression in the order in which SymPy prints them, which is the same in every process."""
    if expr.is_Add:
        found: Sequence[sp.Expr] = expr.as_ordered_terms()
    elif expr.is_Mul:
        found = expr.as_ordered_factors()
    elif isinstance(expr, (sp.Max, sp.Min)):  # whose arguments are a set
        found = sorted(expr.args, key=sp.default_sort_key)
    else:
        found = expr.args
    return found


def value(side: Any) -> Any:
    """The SymPy expression of a side, written out or not."""
    return side.value if isinstance(side, WrittenOperation) else side
