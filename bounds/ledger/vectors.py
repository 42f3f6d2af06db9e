"""Vectors of unknown dimension, as linear combinations of named ones, and their inner products as SymPy symbols.

``x, y = vectors("x y")``; ``square(x - 2*y)`` is one symbol as it is written, an `InnerProduct`, and `expanded` it is
``<x, x> - 4*<x, y> + 4*<y, y>`` with a symbol for each inner product of named vectors.
An inequality between such expressions holds for all vectors exactly when the difference is a positive semidefinite
quadratic form (given hypotheses of the same kind).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import sympy as sp

_SEPARATOR = "·"


@dataclass(frozen=True)
class Vector:
    """``sum_name coefficients[name] * name``; coefficients are SymPy scalars.

    ``written`` is how it was put together, ("+", vector, ...) or ("*", scalar, vector), before anything cancelled; None
    of what is given by its coefficients.
    """

    coefficients: Mapping[str, sp.Expr]
    written: tuple[Any, ...] | None = field(default=None, compare=False, repr=False)

    def __add__(self, other: Vector) -> Vector:
        if self.empty or other.empty:
            return other if self.empty else self
        names = {**self.coefficients, **other.coefficients}
        zero = sp.Integer(0)
        sums = {k: self.coefficients.get(k, zero) + other.coefficients.get(k, zero) for k in names}
        return Vector(sums, ("+", self, other))

    @property
    def empty(self) -> bool:
        """Whether the vector is the sum of no named vectors."""
        return not self.coefficients

    @property
    def name(self) -> str | None:
        """The name of a named vector, and None of a combination."""
        named = self.written is None and list(self.coefficients.values()) == [1]
        return next(iter(self.coefficients)) if named else None

    @property
    def text(self) -> str:
        """How it was put together."""
        if self.written is None:
            return " + ".join(k if c == 1 else f"({c})*{k}" for k, c in self.coefficients.items()) or "0"
        operation, *parts = self.written
        if operation == "*":
            return f"({parts[0]})*({parts[1].text})"
        return " + ".join(part.text for part in parts)

    def __neg__(self) -> Vector:
        return -1 * self

    def __sub__(self, other: Vector) -> Vector:
        return self + -other

    def __rmul__(self, scalar: sp.Expr | int) -> Vector:
        factor = sp.sympify(scalar)
        if self.empty or factor == 1:
            return self
        return Vector({k: factor * c for k, c in self.coefficients.items()}, ("*", factor, self))

    def __mul__(self, scalar: sp.Expr | int) -> Vector:
        return scalar * self

    def __truediv__(self, scalar: sp.Expr | int) -> Vector:
        return (1 / sp.sympify(scalar)) * self

    def __radd__(self, zero: int) -> Vector:
        """Lets ``sum`` start from 0."""
        if zero != 0:
            raise TypeError("a vector cannot be added to a number")
        return self


def vectors(names: str) -> tuple[Vector, ...]:
    """Named vectors, from their names with spaces between them."""
    return tuple(Vector({name: sp.Integer(1)}) for name in names.split())


def product_symbol(one: str, other: str) -> sp.Symbol:
    """The symbol of the inner product of two named vectors, a square being nonnegative."""
    first, second = sorted((one, other))
    if first == second:
        return sp.Symbol(f"<{first}{_SEPARATOR}{second}>", nonnegative=True)
    return sp.Symbol(f"<{first}{_SEPARATOR}{second}>", real=True)


def factors(symbol: sp.Symbol) -> tuple[str, str] | None:
    """The two vectors of an inner product's symbol; None for any other symbol."""
    name = symbol.name
    if not (name.startswith("<") and name.endswith(">") and _SEPARATOR in name):
        return None
    one, _, other = name[1:-1].partition(_SEPARATOR)
    return one, other


class InnerProduct(sp.Symbol):
    """<one, other> of combinations of vectors as they were added up; ``expanded`` is the sum of products of named ones.

    A symbol for SymPy, so that what is printed differently on two sides does not cancel before it is proved.
    """

    __slots__ = ("one", "other")
    one: Vector
    other: Vector

    def __new__(cls, one: Vector, other: Vector) -> Self:
        """The symbol, named after both as they are written."""
        first, second = one.text, other.text
        name, kind = (f"||{first}||^2", "nonnegative") if first == second else (f"<{first}, {second}>", "real")
        found: Self = sp.Symbol.__xnew__(cls, name, **{kind: True})
        found.one, found.other = one, other
        return found

    def __getnewargs_ex__(self) -> tuple[tuple[Vector, Vector], dict[str, Any]]:
        """For pickles and copies."""
        return (self.one, self.other), {}

    @property
    def expanded(self) -> sp.Expr:
        """The sum over all pairs of named vectors."""
        pairs = ((i, j) for i in self.one.coefficients.items() for j in self.other.coefficients.items())
        return sp.expand(sp.Add(*(a * b * product_symbol(i, j) for (i, a), (j, b) in pairs)))

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """Symbols of the expanded product."""
        symbols: set[sp.Symbol] = self.expanded.free_symbols
        return symbols

    def _eval_expand_basic(self, **_: Any) -> sp.Expr:
        return self.expanded

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr:
        return self.expanded.subs(old, new)

    def xreplace(self, rule: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
        """With other symbols in place of those of what it is expanded."""
        return self._xreplace(rule)[0]

    def _xreplace(self, rule: Mapping[sp.Expr, sp.Expr]) -> tuple[sp.Expr, bool]:
        if self in rule:
            return rule[self], True
        found, changed = self.expanded._xreplace(rule)  # noqa: SLF001  # how SymPy goes through an expression
        return (found, True) if changed else (self, False)


def dot(one: Vector, other: Vector) -> sp.Expr:
    """The inner product."""
    if one.empty or other.empty:
        return sp.Integer(0)
    named = [vector.name for vector in (one, other)]
    return InnerProduct(one, other) if None in named else product_symbol(*map(str, named))


def square(vector: Vector) -> sp.Expr:
    """The squared norm."""
    return dot(vector, vector)


def expanded(expr: Any) -> Any:
    """An expression in products of named vectors; anything else as it is."""
    if not isinstance(expr, sp.Basic):
        return expr
    return expr.xreplace({each: each.expanded for each in expr.atoms(InnerProduct)})
