"""The least value of a function over the admissible region, where conditions tie step sizes to each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from ratecheck.aliases import Array
from ratecheck.stepsizes.admissible_intervals import is_empty, project
from ratecheck.stepsizes.constraints import Intervals, ProductRule, Restriction
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.interval import HUGE, TINY, Interval
from ratecheck.stepsizes.logarithmic import Logarithm, logarithm

# How far inside a strict condition a point lies, how far off a product or another equation, and by how much both sides
# of a condition may seem to differ where they are equal: logarithms of side over side.
_STRICT, _ROUNDING, _EQUAL = 1e-9, 1e-12, 1e-13
# Gaps are cut off there, for the solver to have numbers.
_FAR = 500.0
# What counts of an infinite interval.
_DECADES = 2.0
# Directions of the equations whose singular values are below this are none.
_RANK = 1e-9
# What is drawn inwards is drawn by this factor more each time.
_INWARDS = 4.0
# Two descents that end at values so close have found the same.
_ALIKE = 1e-9
# The gradient of an equation that is linear in the logarithms differs by no more than this between two points.
_LINEAR = 1e-9

Point = dict[str, float]
# A value with its gradient, both in the logarithms.
Objective = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True, eq=False)
class _Gap:
    """The logarithm of the small side over the large one, negative where the condition holds, and its gradient."""

    small: Logarithm
    large: Logarithm
    strict: bool

    def at(self, logs: Array) -> tuple[float, Array]:
        small, large = self.small(logs), self.large(logs)
        slope = small.slope - large.slope
        if small.sign > 0 and large.sign > 0 and math.isfinite(small.log - large.log):
            return min(max(small.log - large.log, -_FAR), _FAR) + _STRICT * self.strict, slope
        return (_FAR if small.sign > large.sign else -_FAR), np.zeros_like(slope)


class LogRegion:
    """The region in the logarithms: the step sizes that equations leave free, and inequalities between them.

    A prescribed value, a product and any other equation between products of powers is linear there; the points that
    meet all of them are ``origin + basis @ free``.
    """

    def __init__(self, problem: FeasibleSet, admissible: Intervals, start: Mapping[str, float]) -> None:
        self.problem, self.names = problem, sorted(start)
        self.place = {name: k for k, name in enumerate(self.names)}
        self.low, self.high = np.log(np.array([admissible[name].box for name in self.names])).T
        self.single = {name: admissible[name].low for name in self.names if admissible[name].single}
        self.gaps: list[_Gap] = []
        self.curved: list[_Gap] = []
        logs = np.array([math.log(start[name]) for name in self.names])
        rows: list[Array] = [self._unit(name) for name in self.names if admissible[name].single]
        rows += [
            self._unit(r.product) - self._unit(r.local) - self._unit(r.outer)
            for r in problem.rules
            if isinstance(r, ProductRule)
        ]
        for rule in problem.rules:
            if isinstance(rule, Restriction) and not all(admissible[name].single for name in rule.symbols):
                rows += self._read(rule, logs)
        self.origin = logs
        self.basis = _null_space(np.array(rows), len(self.names))

    def _unit(self, name: str) -> Array:
        unit = np.zeros(len(self.names))
        unit[self.place[name]] = 1.0
        return unit

    def _read(self, rule: Restriction, logs: Array) -> list[Array]:
        """Sort an inequality into its list; the direction of an equation that is linear."""
        condition = rule.condition
        left, right = (logarithm(side, self.names, self.problem.values) for side in (condition.left, condition.right))
        if condition.operator != "==":
            small, large = (left, right) if condition.operator in ("<", "<=") else (right, left)
            self.gaps.append(_Gap(small, large, rule.strict))
            return []
        gap = _Gap(left, right, strict=False)
        here, beside = (gap.at(logs + shift)[1] for shift in (0.0, 0.1 + 0.01 * np.arange(len(logs))))
        if np.allclose(here, beside, rtol=_LINEAR, atol=_LINEAR):
            return [here]
        self.curved.append(gap)
        return []

    def steps(self, logs: Array) -> Point:
        """The step sizes; prescribed and multiplied ones follow from the others to the last digit."""
        point = {
            name: math.exp(min(max(x, math.log(TINY)), math.log(HUGE)))
            for name, x in zip(self.names, logs, strict=True)
        }
        return settled(self.problem, point, self.single)

    def constraints(self) -> list[dict[str, Any]]:
        """The constraints of the solver, as functions of the free directions."""
        basis, found = self.basis, []
        inside = [k for k in range(len(self.names)) if np.abs(basis[k]).max(initial=0.0) > _RANK]
        box = np.vstack([basis[inside], -basis[inside]])
        level = np.concatenate([self.origin[inside] - self.low[inside], self.high[inside] - self.origin[inside]])
        found.append({"type": "ineq", "fun": lambda z: level + box @ z, "jac": lambda _: box})
        for kind, gaps in (("ineq", self.gaps), ("eq", self.curved)):
            if gaps:
                found.append({
                    "type": kind,
                    "fun": lambda z, gaps=gaps: np.array([-g.at(self.origin + basis @ z)[0] for g in gaps]),
                    "jac": lambda z, gaps=gaps: -np.array([g.at(self.origin + basis @ z)[1] for g in gaps]) @ basis,
                })  # fmt: skip
        return found


def _null_space(rows: Array, size: int) -> Array:
    if not rows.size:
        return np.eye(size)
    _, values, directions = np.linalg.svd(rows)
    rank = int((values > _RANK * values.max()).sum())
    return np.asarray(directions[rank:].T)


def settled(problem: FeasibleSet, point: Mapping[str, float], single: Mapping[str, float]) -> Point:
    """The point with prescribed values and products substituted, to the last digit."""
    found, done = {**point, **single}, {*single}
    for rule in problem.rules:
        if not isinstance(rule, ProductRule):
            continue
        product, local, outer = rule.product, rule.local, rule.outer
        free = next((name for name in (product, outer, local) if name not in done), None)
        if free == product:
            found[product] = found[local] * found[outer]
        elif free is not None:
            found[free] = found[product] / found[local if free == outer else outer]
        done |= {product, local, outer}
    return found


def descend(
    problem: FeasibleSet, admissible: Intervals, objective: Callable[[Sequence[str]], Objective]
) -> Point | None:
    """The admissible step sizes with the least value; None where the region is empty or none was found.

    ``objective`` makes the function of the logarithms of the named step sizes, with its gradient. Sequential quadratic
    programming along what equations leave free, from admissible points until two of them end alike; what it ends at is
    drawn towards an admissible point until it meets every rule itself.
    """
    inside = _inner_points(problem, admissible)
    if not inside:
        return None
    if "shape" not in problem.kept:
        problem.kept["shape"] = LogRegion(problem, admissible, inside[0])
    shape: LogRegion = problem.kept["shape"]
    value = objective(shape.names)
    best: tuple[float, Point] | None = None
    for start in inside:
        found = _descended(shape, value, start)
        if found is not None and best is not None and abs(found[0] - best[0]) <= _ALIKE:
            return min(found, best, key=itemgetter(0))[1]
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


def _inner_points(problem: FeasibleSet, admissible: Intervals) -> list[Point]:
    if "inside" not in problem.kept:
        found = (inner_point(problem, admissible, fraction) for fraction in (0.5, 0.1, 0.9))
        problem.kept["inside"] = [point for point in found if point is not None]
    points: list[Point] = problem.kept["inside"]
    return points


def _descended(shape: LogRegion, value: Objective, start: Mapping[str, float]) -> tuple[float, Point] | None:
    """The end of a descent from one point, and the value there."""
    from scipy.optimize import minimize

    logs = np.array([math.log(start[name]) for name in shape.names])
    z = shape.basis.T @ (logs - shape.origin)
    with np.errstate(all="ignore"):
        result = minimize(
            lambda z: _along(value, shape, z), z, jac=True, method="SLSQP", constraints=shape.constraints(),
            options={"maxiter": 300, "ftol": 1e-15},
        )  # fmt: skip
    best: tuple[float, Point] | None = None
    for end in (result.x, z):
        if np.all(np.isfinite(end)):
            point = _drawn(shape, shape.origin + shape.basis @ end, shape.origin)
            if point is not None:
                reached = value(np.array([math.log(point[name]) for name in shape.names]))[0]
                if best is None or reached < best[0]:
                    best = reached, point
    return best


def _along(value: Objective, shape: LogRegion, z: Array) -> tuple[float, Array]:
    at, slope = value(shape.origin + shape.basis @ z)
    return at, slope @ shape.basis


def inner_point(problem: FeasibleSet, admissible: Intervals, fraction: float = 0.5) -> Point | None:
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


def _drawn(shape: LogRegion, logs: Array, inside: Array) -> Point | None:
    """The first point on the way, straight in the logarithms, from a point to an admissible one that is admissible."""
    for equal in (0.0, _EQUAL):
        share = 0.0
        while share <= 1.0:
            point = shape.steps(logs + share * (inside - logs))
            if meets(shape.problem, point, equal):
                return point
            share = max(_INWARDS * share, 1e-15)
    point = shape.steps(inside)
    return point if meets(shape.problem, point, _EQUAL) else None


def meets(problem: FeasibleSet, point: Point, equal: float = 0.0) -> bool:
    """Whether values of all step sizes meet every condition, and every product and fixed value up to rounding."""
    for rule in problem.all_rules:
        limit = _ROUNDING
        if isinstance(rule, Restriction) and rule.condition.operator != "==":
            limit = -_STRICT / 2 if rule.strict else equal
        if any(gap > limit for gap in rule.gaps(point)):
            return False
    return True
