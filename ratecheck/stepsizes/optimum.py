"""The step sizes that minimise a bound over the admissible region."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from bounds import formula
from bounds.statement import names_in, number
from ratecheck.algebra.one_dimensional import crossing, golden_sections
from ratecheck.aliases import Array
from ratecheck.stepsizes.constraints import Fixed, Intervals, out_of_range
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.interval import HUGE, TINY, TOLERANCE, Interval, point
from ratecheck.stepsizes.logarithmic import convex, logarithm
from ratecheck.stepsizes.minimise import Objective, descend

_SWEEPS = 100
# The logarithm of a minimiser is located to this.
_FINEST = 1e-10
# An optimum that is only approached is reported where the bound is within this factor of its infimum.
_NEAR = 1.01
# A bound that still halves over this ratio next to an open end has no positive infimum there.
_DECADES = 1e3

# A bound that is so many times more negative at its minimiser than so close beside it falls without end there.
_POLE, _BESIDE = 30.0, 1e-6
# The logarithm of a step size far beyond all that are looked at.
_BEYOND = 1e4
# Where a bound may have several valleys, it is sampled at so many places, and so many decades close to both ends.
_VALLEYS, _NEAREST = 480, 10


@dataclass(frozen=True)
class Optimum:
    """A minimiser, the bound's infimum, and for the step sizes along which it is only approached the end where it is.

    ``point`` is then where the bound is within 1% of its infimum, if that is a number other than zero (``attainable``).
    """

    point: dict[str, float]
    infimum: float
    approached: dict[str, float]

    @property
    def attainable(self) -> bool:
        """Whether the bound comes as near to its infimum as that."""
        return math.isfinite(self.infimum) and not (self.approached and self.infimum == 0.0)


# The logarithm of a bound that is not positive, as it may be outside the region: as large as a float allows.
_NO_LOG = 700.0


def minimise(problem: FeasibleSet, admissible: Intervals, bound: sp.Expr) -> Optimum | None:
    """Minimise over the step sizes that occur in the bound; None where no admissible minimiser is found.

    First over the product of the intervals, which contains the region; where its minimiser is not admissible because
    conditions tie step sizes to each other, over the region itself.
    """
    bound, derived = _with_fixed_products(problem, admissible, bound)
    free = sorted(names_in(bound) & admissible.keys())
    value = _function(bound, free, problem)
    one_valley = convex(bound, free, problem.values)
    lowest = _coordinate_descent(value, {name: admissible[name].box for name in free}, one_valley=one_valley)
    if not one_valley and (pole := _pole(value, lowest, free)):
        return Optimum({}, -math.inf, pole)
    found = _off_the_ends(value, lowest, admissible)
    if not problem.admits(_completed(found, derived, admissible).point):
        tied = {name for rule in problem.rules if len(rule.symbols) > 1 for name in rule.symbols} & {*free}
        tied = {name for name in tied if not admissible[name].single}
        rest = {name: x for name, x in lowest.items() if name not in tied}
        inside = descend(problem, admissible, functools.partial(_logarithm, bound, {**problem.values, **rest}))
        if inside is None:
            return None
        kept = {name: inside[name] for name in tied}
        lowest = {**lowest, **kept}
        points = {**admissible, **{name: point(x) for name, x in kept.items()}}
        found = _off_the_ends(value, lowest, {**points, **_open_ended(problem, admissible, value, lowest, kept)})
        if not problem.admits(_completed(found, derived, admissible).point):
            found = _off_the_ends(value, lowest, points)
        if not problem.admits(_completed(found, derived, admissible).point):
            return None
    _check_inside(problem, bound, lowest, found)
    return _completed(found, derived, admissible)


def _open_ended(
    problem: FeasibleSet,
    admissible: Intervals,
    value: _BoundOfStepSizes,
    lowest: Mapping[str, float],
    kept: Mapping[str, float],
) -> Intervals:
    """The intervals beside the other step sizes ``kept`` of those towards 0 or infinity of which the bound is least."""
    found, least = {}, value(lowest)
    for name in kept:
        interval = admissible[name]
        ends = [end for end, limit in zip(interval.box, interval.ends, strict=True) if limit in (0.0, HUGE)]
        if any(value({**lowest, name: end}) <= least + TOLERANCE * abs(least) for end in ends):
            alone = problem.admissible(*(Fixed(other, x) for other, x in kept.items() if other != name))[name]
            found[name] = Interval(alone.low, alone.high)
    return found


def _check_inside(problem: FeasibleSet, bound: sp.Expr, lowest: Mapping[str, float], found: Optimum) -> None:
    """Raise `InputError` where the bound falls up to where step sizes are no longer looked at, and rises beyond."""
    names = sorted(found.approached.keys() & lowest.keys())
    if not names:
        return
    rest = {name: x for name, x in lowest.items() if name not in names}
    function = logarithm(bound, names, {**problem.values, **rest})
    ends = np.array([math.log(lowest[name]) for name in names])
    here = function(ends)
    for k, name in enumerate(names):
        limit = found.approached[name]
        if here.sign > 0 and limit in (0.0, math.inf):
            beyond = ends.copy()
            beyond[k] = -_BEYOND if limit == 0.0 else _BEYOND
            there = function(beyond)
            if there.sign > 0 and there.log > here.log + TOLERANCE:
                raise out_of_range(f"the {name} that minimises the bound of {problem.statement.key}")


def _logarithm(bound: sp.Expr, values: Mapping[str, float], names: Sequence[str]) -> Objective:
    """The logarithm of a bound and its gradient."""
    function = logarithm(bound, names, values)

    def at(logs: Array) -> tuple[float, Array]:
        found = function(logs)
        return (found.log, found.slope) if found.sign > 0 else (_NO_LOG, np.zeros_like(logs))

    return at


class _BoundOfStepSizes:
    """A bound as a function of step sizes by name; infinite where it leaves the range of floats or has no value."""

    def __init__(self, function: formula.Function, names: Sequence[str]) -> None:
        self._function, self._names = function, tuple(names)

    def __call__(self, steps: Mapping[str, float]) -> float:
        return self._at([steps[name] for name in self._names])

    def along(self, steps: Mapping[str, float], name: str) -> Callable[[float], float]:
        """As a function of one step size, the others being those given."""
        place, values = self._names.index(name), [steps[each] for each in self._names]

        def at(x: float) -> float:
            values[place] = x
            return self._at(values)

        return at

    def _at(self, values: list[float]) -> float:
        try:
            return float(self._function(*values))
        except (ArithmeticError, ValueError):
            return math.inf


def _function(bound: sp.Expr, names: list[str], problem: FeasibleSet) -> _BoundOfStepSizes:
    try:
        function = formula.function(bound, names, problem.values)
    except formula.RangeError:
        raise out_of_range(f"the bound of {problem.statement.key} overflows or underflows float64") from None
    return _BoundOfStepSizes(function, names)


def _completed(found: Optimum, derived: Mapping[str, tuple[sp.Expr, str]], admissible: Intervals) -> Optimum:
    """The optimum with the factors of products that `_with_fixed_products` has substituted."""
    best, approached = dict(found.point), dict(found.approached)
    for name, (expr, symbol) in derived.items():
        if symbol in best or admissible[symbol].single:
            best[name] = number(expr, {symbol: best.get(symbol, admissible[symbol].low)})
            if symbol in approached:
                approached[name] = number(expr, {symbol: approached[symbol]})
    return Optimum(best, found.infimum, approached)


def _with_fixed_products(
    problem: FeasibleSet, admissible: Intervals, bound: sp.Expr
) -> tuple[sp.Expr, dict[str, tuple[sp.Expr, str]]]:
    """The bound with one factor of a product put as the product over the other where one of the three is fixed.

    Also each such factor as an expression in the one symbol that is named beside it.
    """
    derived = {}
    for rule in problem.statement.step_products:
        for factor, other in ((rule.outer, rule.local), (rule.local, rule.outer)):
            fixed = next((s for s in (other, rule.product) if admissible[s.name].single), None)
            if fixed is None:
                continue
            inside = bound.free_symbols
            # A product that is fixed ties its factors only where the bound has both.
            if factor not in inside or (fixed == rule.product and other not in inside):
                continue
            expr = (rule.product / other).xreplace({fixed: sp.Float(admissible[fixed.name].low, 17)})
            bound = bound.xreplace({factor: expr})
            derived[factor.name] = (expr, (other if fixed == rule.product else rule.product).name)
            break
    return bound, derived


def _off_the_ends(value: _BoundOfStepSizes, best: Mapping[str, float], intervals: Intervals) -> Optimum:
    """Where the bound falls all the way to an open end, take what is farthest from it and nearly as good."""
    best, infimum = dict(best), value(best)
    ends = []
    for name, x in best.items():
        interval, (low, high) = intervals[name], intervals[name].box

        def at_end(end: float, limit: float, x: float = x, name: str = name) -> bool:
            # Beside an end such as 1 what counts is how far from it they are.
            away = 0.0 if math.isinf(limit) else limit
            near = math.isclose(abs(x - away), abs(end - away), rel_tol=1e-6)
            # Far out the bound is flat to the last digit, and any point there is as good.
            return near or value({**best, name: end}) <= infimum + TOLERANCE * abs(infimum)

        if interval.open[0] and at_end(low, interval.low):
            ends.append((name, interval.low, low, high))
        elif interval.open[1] and at_end(high, interval.high):
            ends.append((name, interval.high, high, low))
    approached, smallest = {}, infimum
    for k, (name, limit, end, other) in enumerate(ends, start=1):
        along = value.along(best, name)
        if not math.isclose(along(other), infimum, rel_tol=1e-12):
            approached[name] = limit
            if limit in (0.0, math.inf):
                inwards = end * (_DECADES if limit == 0.0 else 1 / _DECADES)
            else:
                inwards = limit + (end - limit) * _DECADES
            if along(inwards) > max(2 * infimum, infimum / 2):
                # No number yet: it falls to zero, or without end where it is negative already.
                smallest = 0.0 if infimum >= 0.0 else -math.inf
        # Each takes its part of what may be lost.
        allowed = infimum + (_NEAR - 1) * abs(infimum) * k / len(ends)
        if along(other) <= allowed:
            # Any value is as good: 1, if it lies inside.
            best[name] = other if TINY < other < HUGE else max(1.0, 10 * end) if end < other else min(1.0, end / 10)
        else:
            best[name] = crossing(functools.partial(_above, along, allowed), *sorted((end, other)))
    return Optimum(best, smallest, approached)


def _above(function: Callable[[float], float], level: float, x: float) -> float:
    return function(x) - level


def _coordinate_descent(
    value: _BoundOfStepSizes, boxes: Mapping[str, tuple[float, float]], *, one_valley: bool
) -> dict[str, float]:
    """Minimise one step size after the other until nothing moves; sums of powers have no other stationary points."""
    best = {name: math.sqrt(low) * math.sqrt(high) for name, (low, high) in boxes.items()}
    for _ in range(_SWEEPS):
        before = dict(best)
        for name, (low, high) in boxes.items():
            along = value.along(best, name)
            best[name] = _minimum(along, low, high) if one_valley else _deepest(along, low, high)
        # Where the bound is flat, the minimiser itself is known to half the digits only.
        if value(before) - value(best) <= TOLERANCE * abs(value(best)):
            break
    return best


def _deepest(function: Callable[[float], float], low: float, high: float) -> float:
    """Minimiser of a function that may have several valleys: the best of those that samples show.

    Where the function is flat rounding shows valleys everywhere; of such ones only the lowest is looked into.
    """
    places = _samples(low, high)
    values = [function(place) for place in places]
    lowest, found = values.index(min(values)), []
    for k, at in enumerate(values):
        left, right = max(k - 1, 0), min(k + 1, len(places) - 1)
        beside = (values[left], values[right])
        if at > min(beside) or math.isinf(at):
            continue
        if k == lowest or max(beside) - at > TOLERANCE * abs(at):
            found.append(_minimum(function, places[left], places[right]))
    return min([*found, low, high], key=function)


def _samples(low: float, high: float) -> list[float]:
    """Places on a logarithmic scale, denser towards both ends, where a denominator may vanish."""
    if high <= low * (1 + TOLERANCE):
        return [low]
    width = math.log(high) - math.log(low)
    shares = {k / _VALLEYS for k in range(1, _VALLEYS)}
    close = {10.0**-k for k in range(1, _NEAREST)}
    shares |= close | {1 - share for share in close}
    return [low, *(low * math.exp(share * width) for share in sorted(shares)), high]


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Minimiser of a function that is unimodal in log x (sums of powers are), ends included.

    By golden sections: where a denominator vanishes in between they close in on that place.
    """
    if high <= low * (1 + TOLERANCE):
        return low
    best = (math.inf, math.inf)
    for left, right, inner in golden_sections(lambda x: function(math.exp(x)), math.log(low), math.log(high)):
        best = min(best, *inner)
        if right - left <= _FINEST:
            break
    # The middle first: where the function is flat, it is as far from the ends as any.
    return min((math.exp((left + right) / 2), math.exp(best[1]), low, high), key=function)


def _pole(value: _BoundOfStepSizes, best: Mapping[str, float], free: Sequence[str]) -> dict[str, float]:
    """The step size at which a denominator vanishes next to the minimiser, the bound falling without end."""
    here = value(best)
    if here < 0.0:
        for name in free:
            along = value.along(best, name)
            near = (along(best[name] * (1 + sign * _BESIDE)) for sign in (-1, 1))
            if here < _POLE * min(*near, 0.0) and here < 0.0:
                return {name: best[name]}
    return {}
