"""Formulas with exponentials that fall far away, in a form whose intervals are finite there.

Far away x^2 exp(-x^2) is 0, but in intervals it is infinity times 0. With u = x^2 it is u exp(-u), of which the largest
value is known (`Decay`): so every power of x beside exp(-u) is written as a power of u and a quotient that stays
bounded. Hyperbolic functions are quotients of such exponentials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from ratecheck.algebra.boxes import Boxes, Decay, Same, Sigmoid, Softplus, on_boxes

# Parts of a formula up to which it is written so, powers of u that are tried, and summands that may result.
_LARGEST, _POWERS, _SUMMANDS = 400, 7, 60


def decayed(expr: sp.Expr, far: Mapping[sp.Symbol, Sequence[tuple[float, float]]]) -> sp.Expr | None:
    """An equal expression with `Decay` in it; None where there is nothing to gain, or no such form.

    ``far`` are the intervals of every variable in which it is to be finite, such as (0, 1/16) of s = 1/x.
    """
    if not expr.has(sp.exp, sp.cosh, sp.sinh, sp.tanh, Sigmoid, Softplus) or sp.count_ops(expr) > _LARGEST:
        return None
    written = _Exponentials(far)
    try:
        above, below = sp.fraction(sp.factor(sp.together(written.of(expr))))
    except sp.PolynomialError:
        return None
    summands = sp.Add.make_args(sp.expand(above))
    if not written.exponents or len(summands) > _SUMMANDS:
        return None
    return sp.Add(*(written.back(term / below) for term in summands))


class _Exponentials:
    """Exponentials as powers of symbols: ``exponents`` are u by the symbol that stands for exp(-u)."""

    def __init__(self, far: Mapping[sp.Symbol, Sequence[tuple[float, float]]]) -> None:
        self.far = far
        self.exponents: dict[sp.Symbol, sp.Expr] = {}

    def of(self, expr: sp.Expr) -> sp.Expr:
        """The expression with symbols for exponentials, also for those in hyperbolic functions."""
        rules = {sp.cosh: _cosh, sp.sinh: _sinh, sp.tanh: _tanh, Sigmoid: _sigmoid, Softplus: _softplus}
        for function, rule in rules.items():
            expr = expr.replace(function, lambda a, rule=rule: rule(a, self._positive(a)))
        inside = sorted({part.args[0] for part in expr.atoms(sp.exp)}, key=sp.default_sort_key)
        parts = {arg: self._by_variable(arg) for arg in inside}
        units = self._units([each for several in parts.values() for each in several])
        symbols = {unit: sp.Dummy("E", positive=True) for unit in units}
        known = {}
        for arg, several in parts.items():
            product = sp.Integer(1)
            for part in several:
                for unit in units:
                    power = sp.cancel(part / unit)
                    if power.is_Rational:
                        product *= symbols[unit] ** -power
                        break
                else:
                    product *= sp.exp(part)
            known[sp.exp(arg)] = product
        self.exponents = {symbol: unit for unit, symbol in symbols.items()}
        return expr.xreplace(known)

    def _positive(self, arg: sp.Expr) -> bool:
        """A guess at positivity far away, from one point; what is derived from it is right in any case."""
        at = {v: sp.Rational(sum(ends[0]) / 2) if math.isfinite(sum(ends[0])) else 1000 for v, ends in self.far.items()}
        return bool(sp.N(arg.subs(at)) > 0)

    def _by_variable(self, arg: sp.Expr) -> list[sp.Expr]:
        """The summands of an exponent, those of one variable together, as products where they have factors."""
        groups: dict[frozenset[sp.Symbol], sp.Expr] = {}
        for term in sp.Add.make_args(sp.expand(arg)):
            names = frozenset(term.free_symbols)
            groups[names] = groups.get(names, sp.Integer(0)) + term
        constant = groups.pop(frozenset(), sp.Integer(0))
        if len(groups) != 1:
            groups[frozenset()] = constant
            constant = sp.Integer(0)
        # Beside one variable a constant may make a square.
        groups = {names: each + constant for names, each in groups.items()}
        return [sp.factor(each) for each in groups.values()]

    def _units(self, parts: Sequence[sp.Expr]) -> list[sp.Expr]:
        """Positive exponents far away of which all others that fall or grow with them are whole multiples."""
        found: list[sp.Expr] = []
        for part in parts:
            if len(part.free_symbols) != 1:
                continue
            own = part if self._positive(part) else -part
            for place, unit in enumerate(found):
                ratio = sp.cancel(own / unit)
                if ratio.is_Rational:
                    found[place] = unit * sp.Rational(sp.gcd(ratio.p, ratio.q), ratio.q)
                    break
            else:
                found.append(own)
        return found

    def back(self, term: sp.Expr) -> sp.Expr:
        """A summand with exponentials again: powers of a variable beside one that falls as `Decay`."""
        powers = {symbol: power for symbol, power in term.as_powers_dict().items() if symbol in self.exponents}
        falling: dict[sp.Symbol, sp.Expr] = {}
        for symbol, power in powers.items():
            (variable,) = self.exponents[symbol].free_symbols
            falling[variable] = falling.get(variable, sp.Integer(0)) + power * self.exponents[symbol]
        factors = [factor for factor in sp.Mul.make_args(term) if factor.as_base_exp()[0] not in powers]
        whole = sp.Integer(1)
        for variable, u in falling.items():
            own = [f for f in factors if f.free_symbols == {variable} and not f.atoms(sp.Function)]
            own = [f for f in own if not f.free_symbols & self.exponents.keys()]
            factors = [f for f in factors if f not in own]
            whole *= self._beside(sp.Mul(*own), u, variable)
        exponentials = {symbol: sp.exp(-u) for symbol, u in self.exponents.items()}
        return whole * sp.Mul(*factors).xreplace(exponentials)

    def _beside(self, own: sp.Expr, u: sp.Expr, variable: sp.Symbol) -> sp.Expr:
        """own*exp(-u), with the least power of u with which the quotient is bounded far away."""
        for k in range(_POWERS):
            for quotient in _quotients(own, u**k, variable):
                if all(_bounded(quotient, variable, low, high) for low, high in self.far[variable]):
                    # Where u is 0 the one is infinite, far away the other.
                    return Same(own * sp.exp(-u), quotient * Decay(sp.Integer(k), u)) if k else quotient * sp.exp(-u)
        return own * sp.exp(-u)


def _quotients(above: sp.Expr, below: sp.Expr, variable: sp.Symbol) -> list[sp.Expr]:
    found = above / below
    if not found.is_rational_function(variable):
        return [found, sp.powsimp(sp.powdenest(sp.simplify(found), force=True))]
    found = sp.cancel(found)
    # Partial fractions have the variable in few places.
    return [found, sp.apart(found, variable)]


def _bounded(expr: sp.Expr, variable: sp.Symbol, low: float, high: float) -> bool:
    try:
        box = on_boxes(expr, {variable.name: Boxes(np.array(low), np.array(high))})
    except TypeError:
        return False
    return bool(box.known)


def _cosh(a: sp.Expr, positive: bool) -> sp.Expr:
    b = a if positive else -a
    return sp.exp(b) * (1 + sp.exp(-2 * b)) / 2


def _sinh(a: sp.Expr, positive: bool) -> sp.Expr:
    b, sign = (a, 1) if positive else (-a, -1)
    return sign * sp.exp(b) * (1 - sp.exp(-2 * b)) / 2


def _tanh(a: sp.Expr, positive: bool) -> sp.Expr:
    b, sign = (a, 1) if positive else (-a, -1)
    return sign * (1 - sp.exp(-2 * b)) / (1 + sp.exp(-2 * b))


def _sigmoid(a: sp.Expr, positive: bool) -> sp.Expr:
    return 1 / (1 + sp.exp(-a)) if positive else sp.exp(a) / (1 + sp.exp(a))


def _softplus(a: sp.Expr, positive: bool) -> sp.Expr:
    return a + Softplus(-a) if positive else Softplus(a)
