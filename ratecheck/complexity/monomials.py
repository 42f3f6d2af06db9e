"""Expressions up to constant factors: quotients of sums of monomials, that is, of products of powers.

Sums, products, rational powers, maxima and minima of positive quantities are all of this form, up to constant factors:
(p + q)^r is max(p^r, q^r), max(p, q) is p + q, and 1/min(p, q) is 1/p + 1/q.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from ratecheck.errors import InputError

# A product of powers: names with exponents other than 0, sorted by name.
Monomial = tuple[tuple[str, Fraction], ...]
Monomials = frozenset[Monomial]

ONE: Monomial = ()


def times(one: Monomial, other: Monomial) -> Monomial:
    """The product."""
    powers = dict(one)
    for name, exponent in other:
        powers[name] = powers.get(name, Fraction(0)) + exponent
    return tuple(sorted((name, exponent) for name, exponent in powers.items() if exponent))


def power(one: Monomial, exponent: Fraction) -> Monomial:
    """The power."""
    return tuple((name, own * exponent) for name, own in one if exponent)


def product(one: Monomials, other: Monomials) -> Monomials:
    """The monomials of the product of two sums."""
    return frozenset(times(p, q) for p in one for q in other)


# Sums of monomials with positive exponents, to be multiplied.
Factors = Mapping[Monomials, Fraction]


@dataclass(frozen=True)
class Quotient:
    """sum(over) / product of the ``under`` up to constant factors; an empty ``over`` is 0.

    The denominator stays in factors of two terms or more, so that sums find a common one without growing.
    """

    over: Monomials
    under: Factors

    @property
    def inverse(self) -> Quotient:
        """One over it; raises `InputError` for 0."""
        if not self.over:
            raise InputError("an order divides by a quantity that is 0")
        over = expanded(self.under)
        if len(self.over) > 1:
            return Quotient(over, {self.over: Fraction(1)})
        (divisor,) = self.over
        return Quotient(frozenset(times(p, power(divisor, Fraction(-1))) for p in over), {})

    def plus(self, other: Quotient) -> Quotient:
        """The sum."""
        over = frozenset[Monomial]()
        for one, rest in ((self, other), (other, self)):
            over |= product(one.over, expanded(without(rest.under, one.under)))
        factors = {*self.under, *other.under}
        return Quotient(over, {f: max(self.under.get(f, _NONE), other.under.get(f, _NONE)) for f in factors})

    def times(self, other: Quotient) -> Quotient:
        """The product."""
        factors = {*self.under, *other.under}
        under = {f: self.under.get(f, _NONE) + other.under.get(f, _NONE) for f in factors}
        return Quotient(product(self.over, other.over), under)

    def to(self, exponent: Fraction) -> Quotient:
        """The power."""
        if exponent < 0:
            return self.inverse.to(-exponent)
        return Quotient(_raised(self.over, exponent), {f: own * exponent for f, own in self.under.items()})

    def against(self, other: Quotient) -> tuple[Monomials, Monomials]:
        """The monomials of both sides of self <= other, multiplied by the denominators."""
        left = product(self.over, expanded(without(other.under, self.under)))
        return left, product(other.over, expanded(without(self.under, other.under)))


_NONE = Fraction(0)


def expanded(factors: Factors) -> Monomials:
    """The monomials of a product of sums; of a power only the corners, up to a constant factor."""
    found = frozenset({ONE})
    for factor, exponent in factors.items():
        found = product(found, _raised(factor, exponent))
    return found


def without(factors: Factors, others: Factors) -> Factors:
    """The factors that are left after division by the others."""
    left = {factor: exponent - others.get(factor, _NONE) for factor, exponent in factors.items()}
    return {factor: exponent for factor, exponent in left.items() if exponent > 0}


def _raised(factor: Monomials, exponent: Fraction) -> Monomials:
    return frozenset(power(p, exponent) for p in factor)


ZERO, CONSTANT = Quotient(frozenset(), {}), Quotient(frozenset({ONE}), {})


def single(name: str) -> Quotient:
    """The quantity of that name."""
    return Quotient(frozenset({((name, Fraction(1)),)}), {})


def total(parts: Iterable[Quotient]) -> Quotient:
    """The sum."""
    found = ZERO
    for part in parts:
        found = found.plus(part)
    return found


def is_mixed(expr: sp.Expr) -> bool:
    """Whether a sum has a term that is written with a minus sign."""
    return bool(expr.is_Add and any(map(is_negative, expr.args)))


def is_negative(term: sp.Expr) -> bool:
    """Whether a term is written with a minus sign."""
    return bool(term.as_coeff_Mul()[0].is_negative)


def differences(expr: sp.Expr) -> Iterator[sp.Expr]:
    """The sums with a minus sign in an expression, factored: n - m of 1/m - 1/n."""
    if is_mixed(expr):
        expr = sp.factor(sp.together(expr))
        if expr.is_Add:
            yield expr
            return
    for argument in expr.args:
        yield from differences(argument)


@dataclass(frozen=True)
class MonomialReader:
    """Reads expressions as quotients.

    ``differences`` has the larger and the smaller part of each difference by name, such as ``n-m``; the larger one is
    replaced by the sum of the smaller and the difference, or by the smaller alone for those in ``zero``. Quantities in
    ``fixed`` count as 1, and so do logarithms with ``hide_logarithms``.
    """

    differences: Mapping[str, tuple[sp.Symbol, sp.Expr]]
    zero: frozenset[str]
    fixed: frozenset[str]
    hide_logarithms: bool

    def quotient(self, expr: sp.Expr) -> Quotient:
        """The expression up to constant factors; raises `InputError` where it is none of the form of this module."""
        expr = sp.sympify(expr)
        if expr.is_Pow and expr.exp.is_Rational:
            return self.quotient(expr.base).to(Fraction(expr.exp.p, expr.exp.q))
        if expr.is_Mul:
            return self._product(expr)
        if isinstance(expr, sp.Min):
            parts = [self.quotient(argument) for argument in expr.args]
            return ZERO if any(not part.over for part in parts) else total(part.inverse for part in parts).inverse
        if is_mixed(expr):
            return self._difference(expr)
        if expr.is_Add or isinstance(expr, sp.Max):
            return total(self.quotient(argument) for argument in expr.args)
        return self._atom(expr)

    def _atom(self, expr: sp.Expr) -> Quotient:
        if expr.is_Symbol:
            return self._symbol(expr)
        if expr.is_nonnegative and not expr.free_symbols:
            return CONSTANT if expr.is_positive else ZERO
        if isinstance(expr, sp.log) and self.hide_logarithms:
            return CONSTANT
        what = "a logarithm can only be hidden" if isinstance(expr, sp.log) else "no sum of products of powers"
        raise InputError(f"{expr} in an order: {what}")

    def _symbol(self, symbol: sp.Symbol) -> Quotient:
        if symbol.name in self.fixed:
            return CONSTANT
        if not symbol.is_nonnegative:
            raise InputError(f"{symbol} in an order: it may be negative")
        for name, (larger, smaller) in self.differences.items():
            if symbol == larger:
                least = self.quotient(smaller)
                return least if name in self.zero else least.plus(single(name))
        return single(symbol.name)

    def _product(self, expr: sp.Expr) -> Quotient:
        found, positive = CONSTANT, True
        reversed_differences = [smaller - larger for larger, smaller in self.differences.values()]
        for factor in expr.args:
            flip = bool(factor.is_negative) or factor in reversed_differences
            positive ^= flip
            found = found.times(self.quotient(-factor if flip else factor))
        if not positive and found.over:
            raise InputError(f"{expr} in an order: it is negative")
        return found

    def _difference(self, expr: sp.Expr) -> Quotient:
        for name, (larger, smaller) in self.differences.items():
            if expr == larger - smaller:
                return ZERO if name in self.zero else single(name)
        factored = sp.factor(sp.together(expr))
        if factored.is_Add:
            raise InputError(f"{expr} in an order: a difference that is not one of an ordered pair")
        return self.quotient(factored)
