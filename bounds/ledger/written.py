"""Expressions as they stand on paper, which SymPy would simplify where it builds them.

``written(r) * written(1 / r)`` is a product, not 1. An identity between such sides says what is printed; the ``value``
is the SymPy expression, which may be that of the other side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.ledger.vectors import Vector, dot, vectors


@dataclass(frozen=True)
class Written:
    """An operation on parts: "value" of a SymPy expression, "+", "*", "/", or "^" with a number."""

    operation: str
    parts: tuple[Any, ...]

    @property
    def value(self) -> sp.Expr:
        """What it is for SymPy."""
        if self.operation == "value":
            return self.parts[0]
        first, *others = map(value, self.parts)
        if self.operation == "+":
            return sp.Add(first, *others)
        if self.operation == "*":
            return sp.Mul(first, *others)
        return first / others[0] if self.operation == "/" else first ** others[0]

    def __add__(self, other: Any) -> Written:
        return Written("+", (self, written(other)))

    def __radd__(self, other: Any) -> Written:
        return Written("+", (written(other), self))

    def __sub__(self, other: Any) -> Written:
        return self + -1 * written(other)

    def __rsub__(self, other: Any) -> Written:
        return written(other) + -1 * self

    def __mul__(self, other: Any) -> Written:
        return Written("*", (self, written(other)))

    def __rmul__(self, other: Any) -> Written:
        return Written("*", (written(other), self))

    def __neg__(self) -> Written:
        return -1 * self

    def __truediv__(self, other: Any) -> Written:
        return Written("/", (self, written(other)))

    def __rtruediv__(self, other: Any) -> Written:
        return Written("/", (written(other), self))

    def __pow__(self, exponent: Any) -> Written:
        return Written("^", (self, sp.Rational(exponent)))


def written(expr: Any) -> Written:
    """A number or SymPy expression as a part that is left as it is."""
    return expr if isinstance(expr, Written) else Written("value", (sp.sympify(expr),))


def root(expr: Any) -> Written:
    """The square root."""
    return written(expr) ** sp.Rational(1, 2)


def value(side: Any) -> Any:
    """The SymPy expression of a side, written out or not."""
    return side.value if isinstance(side, Written) else side


def equations(*pairs: tuple[Vector, Vector]) -> tuple[sp.Expr, sp.Expr]:
    """Both sides of ``sum_k <p_k, left_k> = sum_k <p_k, right_k>`` for any vectors p_k: each left is its right."""
    probes = [vectors(f"any_{k}")[0] for k in range(1, len(pairs) + 1)]
    left, right = (sp.Add(*(dot(p, pair[turn]) for p, pair in zip(probes, pairs, strict=True))) for turn in (0, 1))
    return left, right
