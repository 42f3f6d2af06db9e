"""Between which numbers a function of one variable lies on the whole line, proved by interval arithmetic.

The line is covered by three charts, x in [-R, R] and x = 1/s, x = -1/s for s in [0, 1/R], whose boxes are halved where
they may hold an extremum. Far away a formula in 1/s is often a quotient of which numerator and denominator vanish
together; simplified, it is a formula in s that does not. Every form of a formula gives a bound, and all of them hold.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from ratecheck.algebra.boxes import Boxes, bounds_in, sigmoid, softplus
from ratecheck.algebra.decay import decayed
from ratecheck.aliases import Array

# Where the middle chart ends, boxes at first and at most, and what is near enough.
_REACH, _FIRST, _MOST, _NEAR = 16.0, 256, 10_000, 1e-7
# Intervals of s that end before it are not halved.
_FINEST = 1e-9
# Parts of a formula that is not rational up to which it is simplified.
_SIMPLIFIED = 60
# What `sympy.lambdify` calls the functions of `ratecheck.algebra.boxes`.
NUMERIC: list[object] = [{"Softplus": softplus, "Sigmoid": sigmoid}, "numpy"]
# Names that no user's variable has.
X, _S = sp.Symbol("<x>", real=True), sp.Symbol("<s>", positive=True)


@dataclass(frozen=True)
class Range:
    """All values lie between ``low`` and ``high``, which may be infinite where no bound was found.

    ``least`` and ``most`` are values that floating point found.
    """

    low: float
    high: float
    least: float
    most: float


@functools.lru_cache(maxsize=4096)
def forms(expr: sp.Expr) -> tuple[sp.Expr, ...]:
    """The expression and simpler ones that equal it."""
    return _forms(expr, X)


@functools.lru_cache(maxsize=4096)
def _far(expr: sp.Expr, sign: int) -> tuple[sp.Expr, ...]:
    """The expression in X at sign/s, in forms that may have no singularity at s = 0."""
    mirrored = expr.subs(X, -X)
    if sign < 0 and mirrored in (expr, -expr):
        return tuple(form if mirrored == expr else -form for form in _far(expr, 1))
    # Simplified is one form alone: the others equal it, and simplifying takes longest.
    given, *others = (form.subs(X, sign / _S) for form in forms(expr))
    found = [*_forms(given, _S), *(each for form in others for each in _forms(form, _S, simplified=False))]
    falling = (decayed(each, {_S: [(0.0, _FINEST)]}) for each in found[:1])
    return tuple(dict.fromkeys([*found, *(each for each in falling if each is not None)]))


@functools.lru_cache(maxsize=4096)
def _forms(expr: sp.Expr, variable: sp.Symbol, *, simplified: bool = True) -> tuple[sp.Expr, ...]:
    """The expression itself, with its rational summands as one quotient or as partial fractions, and simplified.

    Powers of s are taken out of roots.
    """
    terms = sp.Add.make_args(expr)
    rational = [term for term in terms if term.is_rational_function(variable)]
    others = [_without_roots_of_quotients(term) for term in terms if not term.is_rational_function(variable)]
    quotient = sp.cancel(sp.Add(*rational))
    # Partial fractions have each variable in few places.
    found = [expr, *(sp.Add(form, *others) for form in (sp.factor(quotient), _partial_fractions(quotient, variable)))]
    if simplified and others and sp.count_ops(expr) <= _SIMPLIFIED:
        found += [sp.factor(sp.together(expr)), sp.simplify(expr)]
    return tuple(dict.fromkeys(found))


def _partial_fractions(quotient: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    try:
        return sp.apart(quotient, variable)
    except (NotImplementedError, sp.PolynomialError):
        return quotient


def _without_roots_of_quotients(expr: sp.Expr) -> sp.Expr:
    """Roots of p(s)/s^k as roots of p times powers of s, which is positive."""

    def is_root(e: sp.Expr) -> bool:
        return bool(e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer and e.base.is_rational_function(_S))

    def moved(e: sp.Expr) -> sp.Expr:
        above, below = sp.fraction(sp.cancel(sp.together(e.base)))
        number, powers = below.as_independent(_S)
        exponent = sp.degree(powers, _S) if powers.has(_S) else 0
        if powers != _S**exponent:
            return e
        return (above / number) ** e.exp * _S ** (-exponent * e.exp)

    return expr.replace(is_root, moved)


def on_interval(expr: sp.Expr, low: Array | float, high: Array | float) -> Boxes:
    """Bounds of an expression in `X` on intervals, by each of its forms.

    Raises TypeError for a function that there is no rule for.
    """
    box = Boxes(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    return by_each(forms(expr), {X.name: box})


def _on_far(expr: sp.Expr, sign: int, low: Array, high: Array) -> Boxes:
    """Enclosures of an expression at x = sign/s for s in (low, high]."""
    return by_each(_far(expr, sign), {_S.name: Boxes(low, high)})


def by_each(equal: Sequence[sp.Expr], values: dict[str, Boxes]) -> Boxes:
    """The intersection of the ranges of equal expressions, without those that no rule covers."""
    found: Boxes | None = None
    bounds = bounds_in(values)
    for form in equal:
        try:
            here = bounds(form)
        except TypeError:
            # What is simplified may have powers that are none; as it was given it has rules, or none helps.
            if found is None:
                raise
            continue
        found = here if found is None else found.meet(here)
    assert found is not None
    return found


@functools.lru_cache(maxsize=1024)
def on_line(expr: sp.Expr) -> Range:
    """Between which numbers an expression in `X` lies on the whole line.

    Raises TypeError for a function that there is no rule for.
    """
    if not expr.free_symbols:
        value = Boxes.around(expr)
        low, high, near = float(value.low), float(value.high), float(expr)
        return Range(low, high, near, near)
    return _on_charts((expr,), lambda boxes: boxes[0], lambda values: values[0])


def mean_square(exprs: Sequence[sp.Expr]) -> Range:
    """The range of (1/k) sum_j e_j(x)^2 of k expressions in `X` on the whole line."""
    share = Boxes.around(sp.Rational(1, len(exprs)))
    return _on_charts(
        tuple(exprs),
        lambda boxes: functools.reduce(Boxes.__add__, (each.power(sp.Integer(2)) for each in boxes)) * share,
        lambda values: np.asarray(sum(each**2 for each in values)) / len(values),
    )


def _on_charts(
    exprs: tuple[sp.Expr, ...], boxes_of: Callable[[list[Boxes]], Boxes], values_of: Callable[[list[Array]], Array]
) -> Range:
    """The range of a function of several expressions, given on boxes and on floats."""
    numeric = [sp.lambdify(X, expr, NUMERIC) for expr in exprs]

    def at(points: Array) -> Array:
        with np.errstate(all="ignore"):
            return values_of([np.broadcast_to(np.asarray(f(points), dtype=float), points.shape) for f in numeric])

    def middle(low: Array, high: Array) -> Boxes:
        return boxes_of([on_interval(expr, low, high) for expr in exprs])

    def far(sign: int, low: Array, high: Array) -> Boxes:
        return boxes_of([_on_far(expr, sign, low, high) for expr in exprs])

    ends = np.linspace(-_REACH, _REACH, _FIRST + 1), np.linspace(0, 1 / _REACH, _FIRST // 8 + 1)
    found = [
        _halving(middle, at, ends[0], -math.inf),
        _halving(functools.partial(far, 1), lambda s: at(1 / s), ends[1], _FINEST),
        _halving(functools.partial(far, -1), lambda s: at(-1 / s), ends[1], _FINEST),
    ]
    return Range(
        min(each.low for each in found), max(each.high for each in found),
        min(each.least for each in found), max(each.most for each in found),
    )  # fmt: skip


def _halving(
    box_of: Callable[[Array, Array], Boxes], at: Callable[[Array], Array], ends: Array, finest: float
) -> Range:
    """Extrema between the first and the last end: intervals are halved where they may hold one."""
    low, high = ends[:-1], ends[1:]
    least, most, kept = math.inf, -math.inf, [math.inf, -math.inf]
    while True:
        middle = (low + high) / 2
        values = at(middle)
        values = values[np.isfinite(values)]
        least, most = min(least, float(values.min(initial=math.inf))), max(most, float(values.max(initial=-math.inf)))
        box = box_of(low, high)
        margin = _NEAR * (1.0 + max(abs(least), abs(most))) if math.isfinite(least) else 0.0
        undone = (box.low < least - margin) | (box.high > most + margin)
        fine = bool(((middle <= low) | (middle >= high))[undone].any()) or bool((high[undone] < finest).any())
        last = not undone.any() or 2 * undone.sum() > _MOST or fine
        here = np.ones_like(undone) if last else ~undone
        kept = [
            min(kept[0], float(box.low[here].min(initial=math.inf))),
            max(kept[1], float(box.high[here].max(initial=-math.inf))),
        ]
        if last:
            return Range(kept[0], kept[1], least, most)
        low, high, middle = low[undone], high[undone], middle[undone]
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
