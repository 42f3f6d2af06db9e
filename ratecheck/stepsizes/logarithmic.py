"""Expressions as functions of the logarithms of step sizes, with their gradients.

A value is a sign and the logarithm of its absolute value, so that no power leaves the range of floats. In these
coordinates a sum of products of powers is convex, and a product of powers linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import sympy as sp

from bounds.formula import Visitor
from bounds.statement import names_in
from ratecheck.aliases import Array


@dataclass(frozen=True, eq=False)
class Signed:
    """``sign * exp(log)``, and the gradient of ``log``; sign 0 is zero."""

    sign: int
    log: float
    slope: Array


Logarithm = Callable[[Array], Signed]


def logarithm(expr: sp.Expr, names: Sequence[str], known: Mapping[str, float]) -> Logarithm:
    """The expression as a function of the logarithms of ``names``, the symbols in ``known`` having their values.

    Raises TypeError for an operation that is none of those of `bounds.formula`, and KeyError for a symbol that is
    neither known nor named.
    """
    return _LogarithmReader(names, known).read(expr)


def convex(expr: sp.Expr, names: Sequence[str], known: Mapping[str, float]) -> bool:
    """True where an expression is seen to be convex in the logarithms of ``names``, as posynomials are.

    So are products, positive powers and maxima of those; no term may be negative.
    """
    if not _has(expr, names):
        value = _LogarithmReader(names, known).visit(expr)
        return isinstance(value, Signed) and value.sign >= 0
    if expr.is_Symbol:
        return True
    if expr.is_Pow:
        rational, base = bool(expr.exp.is_Rational), expr.base
        return rational and convex(base, names, known) and (expr.exp > 0 or _monomial(base, names))
    if expr.is_Add or expr.is_Mul or isinstance(expr, sp.Max):
        return all(convex(part, names, known) for part in expr.args)
    return False


def _has(expr: sp.Expr, names: Sequence[str]) -> bool:
    return not names_in(expr).isdisjoint(names)


def _monomial(expr: sp.Expr, names: Sequence[str]) -> bool:
    """True of a monomial: a product of powers of the named symbols and of what does not contain them."""
    if expr.is_Symbol or not _has(expr, names):
        return True
    if expr.is_Pow:
        return bool(expr.exp.is_Rational) and _monomial(expr.base, names)
    return bool(expr.is_Mul) and all(_monomial(part, names) for part in expr.args)


class _LogarithmReader(Visitor["Signed | Logarithm"]):
    """One function of the logarithms per part of an expression; parts without step sizes are values."""

    def __init__(self, names: Sequence[str], known: Mapping[str, float]) -> None:
        super().__init__()
        self.places = {name: k for k, name in enumerate(names)}
        self.known = known
        self.flat = np.zeros(len(self.places))

    def read(self, expr: sp.Expr) -> Logarithm:
        node = self.visit(expr)
        return node if callable(node) else lambda _: node

    def number(self, number: sp.Expr | float) -> Signed:
        value = float(number)
        if value == 0.0:
            return Signed(0, -math.inf, self.flat)
        return Signed(1 if value > 0 else -1, math.log(abs(value)), self.flat)

    def operation(self, expr: sp.Expr) -> Signed | Logarithm:
        if expr.is_Pow:
            # T in (1 - gamma*mu)^T is known.
            known = {s: sp.Rational(self.known[s.name]) for s in expr.exp.free_symbols if s.name in self.known}
            exponent = expr.exp.xreplace(known)
            if exponent.is_Rational:
                return self._pow(self.visit(expr.base), exponent)
        combine = _COMBINED.get(expr.func)
        if combine is None:
            return self.other(expr)
        parts = [self.visit(part) for part in expr.args]
        constants = [part for part in parts if isinstance(part, Signed)]
        functions = [part for part in parts if not isinstance(part, Signed)]
        if not functions:
            return combine(constants)
        # What does not depend on step sizes is combined once.
        fixed = [combine(constants)] if constants else []
        return lambda logs: combine([*fixed, *(part(logs) for part in functions)])

    def symbol(self, symbol: sp.Symbol) -> Signed | Logarithm:
        if symbol.name in self.known:
            return self.number(self.known[symbol.name])
        place = self.places[symbol.name]
        slope = self.flat.copy()
        slope[place] = 1.0
        return lambda logs: Signed(1, float(logs[place]), slope)

    def _pow(self, base: Signed | Logarithm, exponent: sp.Rational) -> Signed | Logarithm:
        power, even = exponent.p / exponent.q, exponent.p % 2 == 0
        whole = exponent.q == 1

        def raised(value: Signed) -> Signed:
            if value.sign < 0 and not whole:
                return Signed(1, math.nan, value.slope)
            if value.sign == 0:
                return Signed(0 if power > 0 else 1, -math.inf if power > 0 else math.inf, value.slope)
            return Signed(1 if even else value.sign, power * value.log, power * value.slope)

        return raised(base) if isinstance(base, Signed) else lambda logs: raised(base(logs))


def _sum(parts: Sequence[Signed]) -> Signed:
    most = max(part.log for part in parts)
    if len(parts) == 1 or not math.isfinite(most):
        return max(parts, key=lambda part: part.log)
    weights = [part.sign * math.exp(part.log - most) for part in parts]
    total = math.fsum(weights)
    if total == 0.0:
        return Signed(0, -math.inf, parts[0].slope)
    slope = sum(weight / total * part.slope for weight, part in zip(weights, parts, strict=True))
    return Signed(1 if total > 0 else -1, most + math.log(abs(total)), np.asarray(slope))


def _product(parts: Sequence[Signed]) -> Signed:
    sign = math.prod(part.sign for part in parts)
    if sign == 0:
        return Signed(0, -math.inf, parts[0].slope)
    return Signed(sign, sum(part.log for part in parts), np.asarray(sum(part.slope for part in parts)))


def _order(part: Signed) -> tuple[int, float]:
    return part.sign, part.sign * part.log


def _log(parts: Sequence[Signed]) -> Signed:
    (part,) = parts
    if part.sign <= 0 or part.log == 0.0:
        return Signed(0 if part.sign > 0 else 1, -math.inf if part.sign > 0 else math.nan, part.slope)
    return Signed(1 if part.log > 0 else -1, math.log(abs(part.log)), part.slope / part.log)


def _exp(parts: Sequence[Signed]) -> Signed:
    (part,) = parts
    value = part.sign * math.exp(min(part.log, 700.0))
    return Signed(1, value, value * part.slope)


_COMBINED: dict[type[sp.Basic], Callable[[Sequence[Signed]], Signed]] = {
    sp.Add: _sum,
    sp.Mul: _product,
    sp.Max: partial(max, key=_order),
    sp.Min: partial(min, key=_order),
    sp.log: _log,
    sp.exp: _exp,
}
