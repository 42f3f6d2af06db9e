"""Inner products of named vectors written out in coordinates, so that vectors can be looked for like numbers."""

from __future__ import annotations

import sympy as sp

from bounds.ledger.step import Scalar
from bounds.ledger.vectors import factors


class Coordinates:
    """The vectors whose inner products occur in some expressions."""

    def __init__(self, *expressions: sp.Expr) -> None:
        found = {s: factors(s) for expr in expressions for s in sp.sympify(expr).free_symbols}
        self.products = {symbol: pair for symbol, pair in found.items() if pair is not None}
        self.vectors = sorted({name for pair in self.products.values() for name in pair})

    def substitution(self, dimension: int) -> dict[sp.Symbol, sp.Expr]:
        """Every inner product as a sum over coordinates; in one dimension a vector is a number of its name."""

        def coordinate(name: str, k: int) -> sp.Symbol:
            return sp.Symbol(f"{name}_{k + 1}" if dimension > 1 else name, real=True)

        return {
            symbol: sp.Add(*(coordinate(one, k) * coordinate(other, k) for k in range(dimension)))
            for symbol, (one, other) in self.products.items()
        }

    def scalar(self, claim: Scalar, dimension: int) -> Scalar:
        """The claim for vectors of one dimension."""
        return claim.put(self.substitution(dimension))
