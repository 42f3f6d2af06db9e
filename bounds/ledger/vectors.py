"""Vectors of unknown dimension, as linear combinations of named ones, and their inner products as SymPy symbols.

``x, y = vectors("x y")``; ``square(x - 2*y)`` is ``<x, x> - 4*<x, y> + 4*<y, y>`` with a symbol for each inner product.
An inequality between such expressions holds for all vectors exactly when the difference is a positive semidefinite
quadratic form (given hypotheses of the same kind).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

_SEPARATOR = "·"


@dataclass(frozen=True)
class Vector:
    """``sum_name coefficients[name] * name``; coefficients are SymPy scalars."""

    coefficients: Mapping[str, sp.Expr]

    def __add__(self, other: Vector) -> Vector:
        names = {**self.coefficients, **other.coefficients}
        zero = sp.Integer(0)
        return Vector({k: self.coefficients.get(k, zero) + other.coefficients.get(k, zero) for k in names})

    def __neg__(self) -> Vector:
        return -1 * self

    def __sub__(self, other: Vector) -> Vector:
        return self + -other

    def __rmul__(self, scalar: sp.Expr | int) -> Vector:
        return Vector({k: sp.sympify(scalar) * c for k, c in self.coefficients.items()})

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


def dot(one: Vector, other: Vector) -> sp.Expr:
    """The inner product."""
    return sp.expand(
        sp.Add(
            *(a * b * product_symbol(i, j) for i, a in one.coefficients.items() for j, b in other.coefficients.items())
        )
    )


def square(vector: Vector) -> sp.Expr:
    """The squared norm."""
    return dot(vector, vector)
