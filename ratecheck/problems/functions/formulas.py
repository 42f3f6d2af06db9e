"""Problems from SymPy expressions: the simplest form that the functions have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import sympy as sp

from bounds.numbers import assumed_beyond, exact
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.problems.functions.symbolic import Symbolic
from ratecheck.problems.piecewise_quadratic.kinks import pieces
from ratecheck.problems.piecewise_quadratic.piecewise import Piecewise
from ratecheck.problems.quadratic import Quadratic

# Larger numbers leave the floats that a run computes with.
_LARGEST = 10**100
# Smaller ones are rounded to few digits, or to 0.
_LEAST = sp.Rational(1, 10**300)
_REAL = sp.Symbol("x", real=True)
_SWITCHES = (sp.Abs, sp.Max, sp.Min, sp.Piecewise, sp.sign, sp.Heaviside)


def from_sympy(
    functions: sp.Expr | Sequence[sp.Expr],
    variables: Sequence[sp.Symbol] | sp.Symbol | None = None,
    *,
    clients: int | None = None,
    declared: Mapping[str, float] | None = None,
) -> Quadratic | Piecewise | Symbolic:
    """The problem whose clients have these functions: one expression each, or one for all ``clients`` (1 by default).

    All ``variables`` are shared, in the order given, by default in that of their names; a run starts at 0. They are any
    real numbers, so that SymPy may know no more of them: not that they are positive or whole. Decimal numbers are
    fractions, the shortest for a float.

    Quadratics become a `Quadratic` (without constants, which change nothing), and sums of functions of one variable
    that are quadratic piece by piece, with continuous derivatives, a `Piecewise`. All other smooth functions become a
    `Symbolic`, whose constants are proved by interval arithmetic; ``declared`` are constants that you vouch for
    (`ratecheck.problems.functions.symbolic.DECLARABLE`), for that form alone.

    Raises `InputError` for what is no expression, for symbols that are no variables or of which SymPy knows more than
    that they are real, for kinks, where a derivative jumps, for numbers beyond floats, and for functions that are not
    understood.

    >>> import sympy as sp
    >>> import ratecheck as rc
    >>> x, y = sp.symbols("x y")
    >>> rc.problems.from_sympy([x**2 + x * y + y**2 - x, x**2 + x * y + y**2 + y]).H[0].tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    single = not isinstance(functions, (list, tuple))
    several = [functions] * whole("clients", 1 if clients is None else clients, 1) if single else list(functions)
    if not several:
        raise InputError("functions is empty: give one expression, or one per client")
    if not single and clients is not None and clients != len(several):
        raise InputError(f"clients={clients} contradicts the {len(several)} functions: leave it out")
    found = [_read(f, i) for i, f in enumerate(several)]
    names = _variables(found, variables)
    quadratic: Quadratic | Piecewise | None = _quadratic(found, names)
    if quadratic is None and any(f.has(*_SWITCHES) for f in found):
        quadratic = pieces(found, names)
    if quadratic is not None:
        if declared:
            raise InputError(
                f"declared: {', '.join(declared)} of a {quadratic.kind} problem are known exactly: leave it out"
            )
        return quadratic
    return Symbolic(found, names, declared)


def _read(f: object, i: int) -> sp.Expr:
    """An expression with decimal numbers as fractions, whose symbols stand for all real numbers."""
    if isinstance(f, (int, float)):
        f = sp.sympify(f)
    if not isinstance(f, sp.Expr):
        raise InputError(
            f"functions[{i}] is {f!r}, no SymPy expression: write sympy.sympify(...), or use sympy.symbols"
        )
    if f.has(sp.oo, -sp.oo, sp.zoo, sp.nan, sp.AccumBounds):
        raise InputError(f"functions[{i}] has no finite value: it is {f}")
    _check_symbols(f.free_symbols)
    found = f.xreplace({number: exact(number) for number in f.atoms(sp.Float)})
    for number in found.atoms(sp.Rational):
        if abs(number) > _LARGEST:
            raise InputError(f"functions[{i}] has a number above 1e100 in it, {str(number)[:12]}...")
        if number and abs(number) < _LEAST:
            raise InputError(f"functions[{i}] has a number below 1e-300 in it, {str(number)[:12]}...")
    return found


def _check_symbols(symbols: Iterable[sp.Basic]) -> None:
    """Raise `InputError` for one of which SymPy knows more than that it is real, and may have simplified by that."""
    for each in sorted(symbols, key=str):
        if told := assumed_beyond(each, _REAL):
            raise InputError(
                f"variables: {each} is assumed to be {told}, by which SymPy may have simplified the functions; "
                f"variables are all real numbers: write sympy.symbols({str(each)!r}, real=True)"
            )


def _variables(functions: Sequence[sp.Expr], given: Sequence[sp.Symbol] | sp.Symbol | None) -> tuple[sp.Symbol, ...]:
    used = set().union(*(f.free_symbols for f in functions))
    if given is None:
        found = tuple(sorted(used, key=lambda each: each.name))
        if not found:
            raise InputError("the functions have no variables: give variables=[x, ...]")
    else:
        found = (given,) if isinstance(given, sp.Symbol) else tuple(given)
        if wrong := [each for each in found if not isinstance(each, sp.Symbol)]:
            raise InputError(f"variables: {wrong[0]!r} is no symbol: use sympy.symbols")
        _check_symbols(found)
    if others := sorted(str(each) for each in used - {*found}):
        known = ", ".join(map(str, found))
        raise InputError(
            f"{others[0]} is none of the variables {known}: put a number in its place with .subs, or add it"
        )
    twice = [each.name for k, each in enumerate(found) if each.name in {other.name for other in found[:k]}]
    if twice:
        raise InputError(f"variables: {twice[0]} comes twice")
    return found


def _quadratic(functions: Sequence[sp.Expr], variables: Sequence[sp.Symbol]) -> Quadratic | None:
    """The functions as quadratics; None where one is none."""
    d = len(variables)
    H, g = np.zeros((len(functions), d, d)), np.zeros((len(functions), d))
    for i, f in enumerate(functions):
        if not f.is_polynomial(*variables):
            return None
        polynomial = sp.Poly(f, *variables)
        if polynomial.total_degree() > 2:
            return None
        for exponents, number in polynomial.terms():
            places = [c for c, power in enumerate(exponents) for _ in range(power)]
            if not number.is_real:
                raise InputError(f"functions[{i}]: {number} is no real number")
            if places and not (_LEAST < abs(number) < _LARGEST):
                raise InputError(f"functions[{i}]: {number} is beyond the numbers that a run computes with")
            if len(places) == 2:
                H[i, places[0], places[1]] += float(number)
                H[i, places[1], places[0]] += float(number)
            elif places:
                g[i, places[0]] -= float(number)
    return Quadratic(H, g, d)
