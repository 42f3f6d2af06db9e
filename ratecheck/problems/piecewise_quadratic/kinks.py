"""Absolute values, maxima and cases of one variable as functions that are quadratic piece by piece."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import sympy as sp

from ratecheck.errors import InputError
from ratecheck.problems.piecewise_quadratic.piecewise import Piecewise

# Rounds in which breakpoints of what is inside others are found.
_DEPTH = 6


def pieces(functions: Sequence[sp.Expr], variables: Sequence[sp.Symbol]) -> Piecewise:
    """The functions as a `Piecewise`; raises `InputError` where one is no such function, with the reason."""
    real = {v: sp.Symbol(v.name, real=True) for v in variables}
    found = [[_curve(part, real[v]) for v, part in zip(variables, _apart(f, real, i), strict=True)]
             for i, f in enumerate(functions)]  # fmt: skip
    most = max(len(kinks) for own in found for kinks, _, _ in own)
    n, d = len(functions), len(variables)
    places, curvatures, slopes = np.zeros((n, d, most)), np.zeros((n, d, most + 1)), np.zeros((n, d))
    for i, own in enumerate(found):
        for c, (kinks, bent, slope) in enumerate(own):
            lacking = most - len(kinks)
            # A breakpoint without a change is none.
            places[i, c] = [*map(float, kinks), *([float(kinks[-1]) if kinks else 0.0] * lacking)]
            curvatures[i, c] = [*map(float, bent), *([float(bent[-1])] * lacking)]
            slopes[i, c] = float(slope)
    return Piecewise(places, curvatures, slopes)


def _apart(f: sp.Expr, real: dict[sp.Symbol, sp.Symbol], i: int) -> list[sp.Expr]:
    """F as a sum of functions of one variable each."""
    parts = dict.fromkeys(real.values(), sp.Integer(0))
    for term in sp.Add.make_args(sp.expand(f.xreplace(real))):
        used = term.free_symbols
        if len(used) > 1:
            raise InputError(
                f"functions[{i}]: {term} has breakpoints and several variables: they are taken of one variable"
            )
        parts[next(iter(used), next(iter(parts)))] += term
    return list(parts.values())


def _curve(f: sp.Expr, x: sp.Symbol) -> tuple[list[sp.Rational], list[sp.Rational], sp.Rational]:
    """Breakpoints, curvatures between them, and the slope at 0; raises `InputError` where f is not of that form."""
    kinks: list[sp.Rational] = []
    for _ in range(_DEPTH):
        more = {root for point in _between(kinks) for root in _changes(f, x, point)} - {*kinks}
        if not more:
            break
        kinks = sorted({*kinks, *more})
    resolved = [_resolved(f, x, point) for point in _between(kinks)]
    for piece in resolved:
        if not piece.is_polynomial(x):
            raise InputError(f"{piece} is a piece of {f}: pieces are quadratic, with rational numbers")
    branches = [sp.Poly(piece, x) for piece in resolved]
    for branch in branches:
        if branch.degree() > 2 or not all(number.is_Rational for number in branch.all_coeffs()):
            raise InputError(f"{branch.as_expr()} is a piece of {f}: pieces are quadratic, with rational numbers")
    _check_joined(f, x, kinks, branches)
    bent = [sp.Rational(branch.coeff_monomial(x**2)) * 2 for branch in branches]
    at = next(k for k, branch in enumerate(branches) if k == len(kinks) or kinks[k] >= 0)
    return kinks, bent, branches[at].diff(x).eval(0)


def _check_joined(f: sp.Expr, x: sp.Symbol, kinks: Sequence[sp.Rational], branches: Sequence[sp.Poly]) -> None:
    """Raise `InputError` where a value or a derivative jumps."""
    for kink, left, right in zip(kinks, branches, branches[1:], strict=False):
        for what, before, after in (("value", left, right), ("derivative", left.diff(x), right.diff(x))):
            if (a := before.eval(kink)) != (b := after.eval(kink)):
                raise InputError(f"{f} is not smooth: at {x}={kink} its {what} jumps from {a} to {b}")
        if (here := f.subs(x, kink)) != left.eval(kink):
            raise InputError(f"{f} is not smooth: at {x}={kink} alone its value is {here}, not {left.eval(kink)}")


def _between(kinks: Sequence[sp.Rational]) -> list[sp.Rational]:
    """A point in each piece."""
    if not kinks:
        return [sp.Integer(0)]
    return [kinks[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(kinks)), kinks[-1] + 1]


def _changes(f: sp.Expr, x: sp.Symbol, point: sp.Rational) -> set[sp.Rational]:
    """Where what holds at a point of a piece may hold no longer."""
    roots: set[sp.Rational] = set()
    for switch in f.atoms(sp.Abs, sp.Max, sp.Min, sp.Piecewise, sp.sign, sp.Heaviside):
        for difference in _differences(switch):
            here = _resolved(difference, x, point)
            if not here.is_polynomial(x):
                raise InputError(f"{switch} is no function with quadratic pieces")
            found = sp.roots(sp.Poly(here, x)) if here.has(x) else {}
            real_roots = [root for root in found if root.is_real]
            if not all(root.is_Rational for root in real_roots):
                raise InputError(f"{switch} changes at {real_roots[0]}: breakpoints are taken at rational numbers")
            roots |= {*real_roots}
    return roots


def _differences(switch: sp.Expr) -> list[sp.Expr]:
    """Expressions whose sign says what a switch is."""
    if isinstance(switch, (sp.Max, sp.Min)):
        parts = switch.args
        return [a - b for k, a in enumerate(parts) for b in parts[:k]]
    if isinstance(switch, sp.Piecewise):
        relations = [each for _, condition in switch.args for each in condition.atoms(sp.core.relational.Relational)]
        return [each.lhs - each.rhs for each in relations]
    return [switch.args[0]]


def _resolved(f: sp.Expr, x: sp.Symbol, point: sp.Rational) -> sp.Expr:
    """What f is in the piece with this point, without switches."""
    if not f.has(sp.Abs, sp.Max, sp.Min, sp.Piecewise, sp.sign, sp.Heaviside):
        return f
    if isinstance(f, sp.Piecewise):
        for branch, condition in f.args:
            if condition == True or condition.subs(x, point) == True:  # noqa: E712  # of SymPy's logic
                return _resolved(branch, x, point)
        raise InputError(f"{f} has no value at {x}={point}")
    parts = [_resolved(part, x, point) for part in f.args]
    if isinstance(f, sp.Abs):
        return parts[0] if parts[0].subs(x, point) >= 0 else -parts[0]
    if isinstance(f, (sp.sign, sp.Heaviside)):
        above = parts[0].subs(x, point) > 0
        return sp.Integer(1) if above else sp.Integer(-1 if isinstance(f, sp.sign) else 0)
    if isinstance(f, (sp.Max, sp.Min)):
        choose = max if isinstance(f, sp.Max) else min
        return choose(parts, key=lambda part: part.subs(x, point))
    return sp.expand(f.func(*parts))
