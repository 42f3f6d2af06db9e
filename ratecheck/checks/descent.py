"""The least value of a function over the admissible region, where conditions tie step sizes to each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from ratecheck.checks.interval import HUGE, TINY, Interval
from ratecheck.checks.problem import Problem
from ratecheck.checks.projection import is_empty, project
from ratecheck.checks.rules import Intervals, Product, Restriction

# How far inside a strict condition a point lies, and how far off a product: logarithms of side over side.
_STRICT, _ROUNDING = 1e-9, 1e-12
# Gaps are cut off there, for the solver to have numbers.
_FAR = 500.0
# What counts of an infinite interval.
_DECADES = 2.0

Point = dict[str, float]


def descend(
    problem: Problem,
    admissible: Intervals,
    names: Sequence[str],
    value: Callable[[Point], float],
) -> Point | None:
    """The admissible values of ``names`` with the least ``value``; None where the region is empty or none was found.

    Sequential quadratic programming in the logarithms, from several admissible points; what it ends at is drawn
    towards an admissible point until it meets every rule itself.
    """
    import numpy as np
    from scipy.optimize import minimize

    inside = [
        found for fraction in (0.5, 0.1, 0.9) if (found := inner_point(problem, admissible, fraction)) is not None
    ]
    if not inside:
        return None
    names = list(names)
    every = sorted(inside[0])
    ranges = [tuple(math.log(end) for end in admissible[name].box) for name in every]
    inequalities = [rule for rule in problem.rules if not isinstance(rule, Product)]
    products = [rule for rule in problem.rules if isinstance(rule, Product)]

    def steps(logs: Sequence[float]) -> Point:
        return {
            name: math.exp(min(max(x, math.log(TINY)), math.log(HUGE))) for name, x in zip(every, logs, strict=True)
        }

    def room(logs: Sequence[float]) -> list[float]:
        at = steps(logs)
        return [-min(max(g, -_FAR), _FAR) - _STRICT * rule.strict for rule in inequalities for g in rule.gaps(at)]

    constraints = [{"type": "ineq", "fun": room}] if inequalities else []
    if products:
        constraints.append({"type": "eq", "fun": lambda logs: [rule.gaps(steps(logs))[0] for rule in products]})

    def objective(logs: Sequence[float]) -> float:
        at = steps(logs)
        return value({name: at[name] for name in names})

    best: Point | None = None
    for start in inside:
        logs = np.array([math.log(start[name]) for name in every])
        with np.errstate(all="ignore"):
            result = minimize(
                objective, logs, method="SLSQP", bounds=ranges, constraints=constraints,
                options={"maxiter": 300, "ftol": 1e-15},
            )  # fmt: skip
        if np.all(np.isfinite(result.x)):
            found = _drawn(problem, steps(result.x), inside[0])
            if found is not None and (best is None or value(_only(found, names)) < value(_only(best, names))):
                best = found
    return None if best is None else _only(best, names)


def _only(point: Point, names: Sequence[str]) -> Point:
    return {name: point[name] for name in names}


def inner_point(problem: Problem, admissible: Intervals, fraction: float = 0.5) -> Point | None:
    """An admissible point: one step size after the other is put at this fraction of what the others leave it."""
    box, point = admissible, {}
    for name in sorted(admissible, key=lambda name: -sum(name in rule.symbols for rule in problem.rules)):
        point[name] = x = _within(box[name], fraction)
        # With its interval as a start, rounding in one step is not held against the next.
        box = project(problem.all_rules, {**box, name: Interval(x, x)})
        if is_empty(box):
            return None
    return point


def _within(interval: Interval, fraction: float) -> float:
    """A value at a fraction of an interval's logarithmic length, of some decades of it where it is infinite."""
    low, high = interval.box
    if interval.low == 0.0 and interval.high == math.inf:
        return 10 ** (fraction - 0.5)
    if interval.low == 0.0:
        return high * 10 ** (_DECADES * (fraction - 1))
    if interval.high == math.inf:
        return low * 10 ** (_DECADES * fraction)
    return low if high <= low else math.exp(math.log(low) + fraction * math.log(high / low))


def _drawn(problem: Problem, point: Point, inside: Point) -> Point | None:
    """The first point on the way, straight in the logarithms, from a point to an admissible one that is admissible."""

    def at(share: float) -> Point:
        mixed = {name: point[name] ** (1 - share) * inside[name] ** share for name in point}
        for _, rule in itertools.product(range(len(problem.rules)), problem.rules):
            if isinstance(rule, Product):
                mixed[rule.product] = mixed[rule.local] * mixed[rule.outer]
        return mixed

    if meets(problem, at(0.0)):
        return at(0.0)
    low, high = 0.0, 1.0
    if not meets(problem, at(high)):
        return None
    while high - low > 1e-15 and (low == 0.0 or high - low > 1e-6 * high):
        middle = math.sqrt(low * high) if low else max(high * 1e-3, 1e-15)
        if meets(problem, at(middle)):
            high = middle
        elif middle <= low:
            break
        else:
            low = middle
    return at(high)


def meets(problem: Problem, point: Point) -> bool:
    """Whether values of all step sizes meet every condition, and every product and fixed value up to rounding."""
    for rule in problem.all_rules:
        limit = (-_STRICT / 2 if rule.strict else 0.0) if isinstance(rule, Restriction) else _ROUNDING
        if any(gap > limit for gap in rule.gaps(point)):
            return False
    return True
