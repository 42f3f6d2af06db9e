"""A function of several variables as a quadratic, functions of one linear combination each, and a rest.

f(x) = x'Qx/2 + b'x + c + sum_a phi_a(a'x) + r(x). The second derivatives of each phi_a lie between two numbers on the
whole line, so that the Hessian of the first parts lies between two matrices, whatever the dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy.simplify.fu import TR8

from ratecheck.algebra.boxes import Sigmoid, Softplus
from ratecheck.algebra.linear_algebra import minimum
from ratecheck.algebra.whole_line import X

# A direction, its first entry that is not 0 being 1.
Direction = tuple[sp.Rational, ...]


@dataclass(frozen=True)
class Ridges:
    """The parts of a function: rational ``Q`` (d, d) and ``linear`` (d, 1), and ``phi`` in `X` by direction.

    Where the variables are apart, so that ``Q`` is diagonal, directions are axes, and there is no ``rest``, ``apart``
    holds and the quadratic is part of the phi.
    """

    Q: sp.ImmutableMatrix
    linear: sp.ImmutableMatrix
    constant: sp.Expr
    phi: Mapping[Direction, sp.Expr]
    rest: sp.Expr

    @property
    def d(self) -> int:
        """The number of variables."""
        return int(self.Q.shape[0])

    @property
    def apart(self) -> bool:
        """Whether f is a sum of functions of one variable each."""
        axes = all(sum(entry != 0 for entry in a) == 1 for a in self.phi)
        return bool(self.rest == 0 and axes and self.Q.is_diagonal())

    @property
    def curves(self) -> tuple[sp.Expr, ...]:
        """The functions of one variable each whose sum it is, without the constant, in `X`; it has to be `apart`."""
        axes = [tuple(sp.Integer(int(k == c)) for k in range(self.d)) for c in range(self.d)]
        return tuple(
            self.Q[c, c] * X**2 / 2 + self.linear[c, 0] * X + self.phi.get(axis, sp.Integer(0))
            for c, axis in enumerate(axes)
        )


def mean(parts: Sequence[Ridges], weights: Sequence[sp.Rational]) -> Ridges:
    """The weighted sum of functions, direction by direction."""
    phi: dict[Direction, sp.Expr] = {}
    for part, weight in zip(parts, weights, strict=True):
        for a, function in part.phi.items():
            phi[a] = phi.get(a, sp.Integer(0)) + weight * function
    pairs = list(zip(parts, weights, strict=True))
    nothing = sp.zeros(*parts[0].Q.shape)
    return Ridges(
        sp.ImmutableMatrix(sum((weight * part.Q for part, weight in pairs), nothing)),
        sp.ImmutableMatrix(sum((weight * part.linear for part, weight in pairs), nothing[:, 0])),
        sum((weight * part.constant for part, weight in pairs), sp.Integer(0)),
        {a: function for a, function in phi.items() if function != 0},
        sum((weight * part.rest for part, weight in pairs), sp.Integer(0)),
    )


def ridges(f: sp.Expr, variables: Sequence[sp.Symbol]) -> Ridges:
    """The parts of f; what is none of the first ones is its rest."""
    d = len(variables)
    Q, linear, constant = sp.zeros(d, d), sp.zeros(d, 1), sp.Integer(0)
    phi: dict[Direction, sp.Expr] = {}
    rest = sp.Integer(0)
    for term in _terms(f, variables):
        if (polynomial := _quadratic(term, variables)) is not None:
            for exponents, number in polynomial.terms():
                places = [c for c, power in enumerate(exponents) for _ in range(power)]
                if len(places) == 2:
                    Q[places[0], places[1]] += number
                    Q[places[1], places[0]] += number
                elif places:
                    linear[places[0], 0] += number
                else:
                    constant += number
        elif (found := _ridge(term, variables)) is not None:
            phi[found[0]] = phi.get(found[0], sp.Integer(0)) + found[1]
        elif not term.has(*variables):
            constant += term
        else:
            rest += term
    return Ridges(sp.ImmutableMatrix(Q), sp.ImmutableMatrix(linear), constant, phi, rest)


def _terms(f: sp.Expr, variables: Sequence[sp.Symbol]) -> Iterable[sp.Expr]:
    """The summands of f, expanded where they are neither quadratics nor ridges."""
    for term in sp.Add.make_args(f):
        if _quadratic(term, variables) is None and _ridge(term, variables) is None:
            # Products of waves are sums of waves in other directions.
            yield from sp.Add.make_args(sp.expand(TR8(sp.expand(term)) if term.has(sp.sin, sp.cos) else term))
        else:
            yield term


def _quadratic(term: sp.Expr, variables: Sequence[sp.Symbol]) -> sp.Poly | None:
    """A polynomial of degree at most 2 with rational coefficients."""
    if not term.is_polynomial(*variables):
        return None
    found = sp.Poly(term, *variables)
    rational = all(number.is_Rational for number in found.coeffs())
    return found if found.total_degree() <= 2 and rational else None


def _ridge(term: sp.Expr, variables: Sequence[sp.Symbol]) -> tuple[Direction, sp.Expr] | None:
    """A direction a and phi in `X` with the term = phi(a'x); None where there are none.

    All its largest linear parts have to be multiples of one, up to constants.
    """
    inside: dict[sp.Expr, sp.Expr] = {}
    direction: Direction | None = None
    for part in _linear_parts(term, variables):
        gradient = [sp.diff(part, v) for v in variables]
        first = next(entry for entry in gradient if entry != 0)
        own = tuple(entry / first for entry in gradient)
        if not all(entry.is_Rational for entry in own) or (direction is not None and own != direction):
            return None
        direction = own
        inside[part] = first * X + part.subs(dict.fromkeys(variables, 0))
    if direction is None:
        return None
    found = term.xreplace(inside)
    return None if found.has(*variables) else (direction, found)


def _linear_parts(expr: sp.Expr, variables: Sequence[sp.Symbol]) -> Iterable[sp.Expr]:
    if not expr.has(*variables):
        return
    if expr.is_polynomial(*variables) and sp.Poly(expr, *variables).total_degree() == 1:
        yield expr
        return
    for part in expr.args:
        yield from _linear_parts(part, variables)


@dataclass(frozen=True)
class Radial:
    """A function phi(q(x)) of a convex quadratic q = least + z^2/2, z = ||A^(1/2) (x - x0)||, as ``psi`` in z = `X`.

    ``slope`` is phi'(q) in z. The Hessian is A^(1/2) M A^(1/2), where M has the eigenvalues phi' and psi''.
    """

    A: sp.ImmutableMatrix
    psi: sp.Expr
    slope: sp.Expr


def radials(rest: sp.Expr, variables: Sequence[sp.Symbol]) -> tuple[tuple[Radial, ...], sp.Expr]:
    """The radial parts of a function, and what is left."""
    found: list[Radial] = []
    others: list[sp.Expr] = []
    for term in sp.Add.make_args(rest):
        each = _radial(term, variables)
        if each is None:
            others.append(term)
        else:
            found.append(each)
    left = sp.Add(*others)
    # Numerators are expanded: x^2/(1 + x^2 + y^2) and y^2/(1 + x^2 + y^2) are one function.
    whole = _radial(sp.factor(sp.together(left)), variables) if len(others) > 1 else None
    return (*found, *([] if whole is None else [whole])), left if whole is None else sp.Integer(0)


def _radial(term: sp.Expr, variables: Sequence[sp.Symbol]) -> Radial | None:
    """The form of a function of one convex quadratic, which its largest parts of degree 2 are up to a factor."""
    t, term = sp.Dummy("t", real=True), sp.powsimp(term, combine="exp")
    inside: dict[sp.Expr, sp.Expr] = {}
    q: sp.Expr | None = None
    for part in _quadratic_parts(term, variables):
        constant = part.subs(dict.fromkeys(variables, 0))
        own = sp.expand(part - constant)
        if q is None:
            q = own
        ratio = sp.cancel(own / q)
        if not ratio.is_Rational:
            return None
        inside[part] = ratio * t + constant
    if q is None or (phi := term.xreplace(inside)).has(*variables):
        return None
    for sign in (1, -1):
        A = sp.hessian(sign * q, variables)
        b = [sp.diff(sign * q, v).subs(dict.fromkeys(variables, 0)) for v in variables]
        if not all(entry.is_Rational for entry in [*A, *b]):
            return None
        least = minimum(as_fractions(A), -as_fractions(sp.Matrix(b))[:, 0])
        if least is not None:
            at = sign * (sp.Rational(least.numerator, least.denominator) + X**2 / 2)
            return Radial(sp.ImmutableMatrix(A), phi.subs(t, at), sign * sp.diff(phi, t).subs(t, at))
    return None


def _quadratic_parts(expr: sp.Expr, variables: Sequence[sp.Symbol]) -> Iterable[sp.Expr]:
    if not expr.has(*variables):
        return
    if expr.is_polynomial(*variables) and sp.Poly(expr, *variables).total_degree() <= 2:
        yield expr
        return
    for part in expr.args:
        yield from _quadratic_parts(part, variables)


def as_fractions(matrix: sp.Matrix) -> Any:
    """A matrix of rationals as fractions."""
    found = np.empty(matrix.shape, dtype=object)
    for place in np.ndindex(*matrix.shape):
        found[place] = Fraction(int(matrix[place].p), int(matrix[place].q))
    return found


def stable(f: sp.Expr) -> sp.Expr:
    """A formula with log(1 + exp(u)), 1/(1 + exp(u)) and log(cosh(u)) as functions that do not overflow."""

    def is_one_and_exp(e: sp.Expr) -> bool:
        return bool(e.is_Add and len(e.args) == 2 and e.args[0] == 1 and isinstance(e.args[1], sp.exp))

    f = f.replace(
        lambda e: isinstance(e, sp.log) and is_one_and_exp(e.args[0]), lambda e: Softplus(e.args[0].args[1].args[0])
    )
    f = f.replace(
        lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.cosh),
        lambda e: Softplus(-2 * e.args[0].args[0]) + e.args[0].args[0] - sp.log(2),
    )
    f = f.replace(
        lambda e: e.is_Pow and e.exp.is_Integer and e.exp < 0 and is_one_and_exp(e.base),
        lambda e: Sigmoid(-e.base.args[1].args[0]) ** -e.exp,
    )
    return f.replace(lambda e: e.is_Mul and any(isinstance(each, sp.exp) for each in e.args), _of_exponential)


def _of_exponential(product: sp.Expr) -> sp.Expr:
    """exp(u)*Sigmoid(-u) = Sigmoid(u)."""
    for part in product.args:
        if isinstance(part, sp.exp) and Sigmoid(-part.args[0]) in product.args:
            rest = [each for each in product.args if each not in (part, Sigmoid(-part.args[0]))]
            return sp.Mul(*rest, Sigmoid(part.args[0]))
    return product
