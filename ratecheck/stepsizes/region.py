"""The admissible region of two step sizes, the others free: its boundary and the conditions that make it.

A constant may stand on an axis too: it is then free like a step size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bounds.statement import Statement
from bounds.symbols import Domain, Role
from ratecheck.algebra.one_dimensional import bisect, geometric
from ratecheck.errors import InputError, did_you_mean
from ratecheck.stepsizes.admissible_intervals import is_empty, project
from ratecheck.stepsizes.constraints import Fixed, Intervals, ProductRule, Rule, short_name
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.interval import TINY, Interval

# Values of the first step size, evenly spaced on a logarithmic scale.
_POINTS = 41
# What is drawn of an interval without a positive or finite end: so many decades from its other end.
_DECADES = 3.0
# A corner, where the condition that makes the boundary changes, is located to this ratio.
_CORNER = 1e-9
_CLOSE = 1e-8
# An end moves by at most this share of the frame from one value to the next.
_STEP = 0.02

Vertex = tuple[float, float]


@dataclass(frozen=True)
class Edge:
    """A piece of the boundary, from left to right, and the conditions that make it together.

    Without conditions it is no boundary of the region but the frame beyond which the region goes on.
    """

    because: tuple[str, ...]
    points: tuple[Vertex, ...]


@dataclass(frozen=True)
class Region:
    """The region of admissible pairs of step sizes, some values of the others meeting all conditions with them.

    ``x`` are values of the first step size over its whole interval within the frame, ends included, and ``y`` the exact
    interval of the second at each. ``frame`` is what is covered of each axis: an interval that ends at zero or infinity
    is cut off there. ``vertices`` go round the region counterclockwise, first along its lower side; ``edges`` have the
    same points by the conditions that make the boundary there.
    """

    axes: tuple[str, str]
    frame: tuple[Vertex, Vertex]
    x: tuple[float, ...]
    y: tuple[Interval, ...]
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


def free_constants(statement: Statement, wanted: str | None, given: Mapping[str, float]) -> tuple[str, ...]:
    """The constants among the axes ``x,y`` that are wanted, which are then left free as step sizes are.

    Raises `InputError` for one that is given as well, or that takes whole numbers only.
    """
    names = [] if wanted is None else _names(statement, wanted)
    vocabulary = statement.vocabulary
    free = tuple(n for n in names if n in statement.parameters and vocabulary[n].role is not Role.STEP_SIZE)
    for name in free:
        if name in given or any(name in alias.targets and key in given for key, alias in vocabulary.aliases.items()):
            raise InputError(f"{name} is given and is an axis, too: leave out one of them")
        if vocabulary[name].domain is Domain.POSITIVE_INTEGER:
            raise InputError(f"{name} takes whole numbers only, and an axis of a region takes all positive ones")
    return free


def _names(statement: Statement, wanted: str) -> list[str]:
    """The names in ``x,y``, another name for a single symbol replaced by that symbol."""
    aliases = {name: tuple(alias.targets) for name, alias in statement.vocabulary.aliases.items()}
    names = [name.strip() for name in wanted.split(",")]
    return [aliases[name][0] if len(aliases.get(name, ())) == 1 else name for name in names]


def choose_axes(problem: FeasibleSet, admissible: Intervals, wanted: str | None) -> tuple[str, str]:
    """The two step sizes to be shown: those wanted as ``x,y``, or the free ones that conditions tie most.

    Raises `InputError` for names that are no free step sizes, and where fewer than two are free.
    """
    free = [name for name in problem.names if not admissible[name].single]
    if len(free) < 2:
        fixed = ", ".join(name for name in problem.names if name not in free)
        raise InputError(
            f"{problem.statement.key} leaves {' and '.join(free) or 'no step size'} free: a region has two"
            + (f" (fixed: {fixed})" if fixed else "")
        )
    if wanted is not None:
        names = _names(problem.statement, wanted)
        if len(names) != 2 or names[0] == names[1]:
            raise InputError(
                f"{wanted!r} is not of the form X,Y, two different step sizes, such as {free[0]},{free[1]}"
            )
        for name in names:
            if name not in free:
                why = "has one admissible value only" if name in problem.names else did_you_mean(name, free)
                raise InputError(f"{name} is no free step size of {problem.statement.key}; {why}")
        return names[0], names[1]
    return max(itertools.combinations(free, 2), key=lambda pair: _interest(problem, admissible, pair))


def _interest(problem: FeasibleSet, admissible: Intervals, axes: tuple[str, str]) -> tuple[bool, bool, int, int]:
    """More where the interval of one step size depends on the other, and not by the definition of a product alone."""
    section = _SectionIntervals(problem, admissible, axes)
    low, high = _frame(admissible[axes[0]], [])
    # Not quite the ends, where an interval may be a point.
    values = [low ** (1 - share) * high**share for share in (0.1, 0.5, 0.9)]
    found = [interval for interval in map(section.at, values) if interval is not None]
    ends = [{f"{end:.6e}" for end in side} for side in zip(*((i.low, i.high) for i in found), strict=True)]
    together = [rule for rule in problem.rules if {*axes} <= rule.symbols]
    tied = any(isinstance(rule, ProductRule) for rule in together)
    bound = {symbol.name for symbol in problem.statement.claims[0].bound.free_symbols}
    return any(len(side) > 1 for side in ends), not tied, len(together), len({*axes} & bound)


def region(problem: FeasibleSet, admissible: Intervals, axes: tuple[str, str], *marks: Mapping[str, float]) -> Region:
    """The region of two step sizes, by exact intervals of the second at values of the first.

    Between two values at which different conditions make the boundary the corner is located, so that the polygon is
    exact up to the curvature of its sides. The frame takes in the ``marks``, points that will be shown as well.
    """
    first, second = axes
    low, high = _frame(admissible[first], [mark[first] for mark in marks if first in mark])
    section = _SectionIntervals(problem, admissible, axes)
    step = math.log(high / low) / (_POINTS - 1)
    grid = {low * math.exp(k * step) for k in range(1, _POINTS - 1)} | {low, high}
    sections = {x: found for x in sorted(grid) if (found := section.at(x)) is not None}
    for left, right in itertools.pairwise(sorted(sections)):
        for side in (0, 1):
            sections.update(section.corners(left, right, side))
    span = Interval(min(i.low for i in sections.values()), max(i.high for i in sections.values()))
    frame = _frame(span, [mark[second] for mark in marks if second in mark])
    for left, right in itertools.pairwise(sorted(sections)):
        sections.update(section.steep(left, right, frame))
    x = tuple(sorted(sections))
    y = tuple(sections[each] for each in x)
    lower = [(each, _clipped(i.low, frame)) for each, i in zip(x, y, strict=True)]
    upper = [(each, _clipped(i.high, frame)) for each, i in zip(x, y, strict=True)]
    edges = [
        *section.edges(lower, 0, frame),
        *section.end(x[-1], 1, (lower[-1][1], upper[-1][1])),
        *section.edges(upper, 1, frame),
        *section.end(x[0], 0, (lower[0][1], upper[0][1])),
    ]
    if all(each.high <= each.low * (1 + _CLOSE) for each in y):
        # A curve, as where a product is prescribed.
        edges = section.edges(lower, 0, frame)
    vertices = tuple(dict.fromkeys((*lower, *reversed(upper))))
    return Region(axes=axes, frame=((low, high), frame), x=x, y=y, vertices=vertices, edges=tuple(edges))


def _close(left: float, right: float) -> bool:
    return right / left <= 1 + _CORNER


def _clipped(end: float, frame: Vertex) -> float:
    return min(max(end, frame[0]), frame[1])


def _frame(interval: Interval, marks: list[float]) -> tuple[float, float]:
    """The part of an axis that is shown: the interval with its positive and finite ends, or some decades of it."""
    low, high = interval.box
    seen = [x for x in marks if x > 0.0 and math.isfinite(x)]
    if interval.low <= 0.0 and math.isinf(interval.high):
        centre = seen[0] if seen else 1.0
        low, high = centre * 10**-_DECADES, centre * 10**_DECADES
    elif interval.low <= 0.0:
        low = high * 10**-_DECADES
    elif math.isinf(interval.high):
        high = low * 10**_DECADES
    inside = [x for x in seen if interval.contains(x)]
    if interval.low <= 0.0:
        low = min(low, *(x / 3 for x in inside), low)
    if math.isinf(interval.high):
        high = max(high, *(x * 3 for x in inside), high)
    return max(low, TINY), high


class _SectionIntervals:
    """Intervals of the second step size at values of the first, and why they end there."""

    def __init__(self, problem: FeasibleSet, admissible: Intervals, axes: tuple[str, str]) -> None:
        self.problem, self.admissible, self.axes = problem, admissible, axes
        self._found: dict[float, Interval | None] = {}

    def at(self, x: float) -> Interval | None:
        """The interval of the second step size; None where none is admissible."""
        if x not in self._found:
            rules = (*self.problem.all_rules, Fixed(self.axes[0], x))
            box = project(rules, self.admissible)
            self._found[x] = None if is_empty(box) else box[self.axes[1]]
        return self._found[x]

    def beside(self, x: float, side: int) -> tuple[str, ...]:
        """The condition at the lower (0) or upper (1) end of the section at x."""
        interval = self.at(x)
        return () if interval is None else self._named(interval.because[side])

    def _named(self, rules: Iterable[Rule]) -> tuple[str, ...]:
        made = [rule for rule in self.problem.all_rules if rule in {*rules}]
        # What a product passes on is made by the conditions on its factors, if there are any.
        made = [rule for rule in made if not isinstance(rule, ProductRule)] or made
        return tuple(map(short_name, made))

    def corners(self, left: float, right: float, side: int) -> dict[float, Interval]:
        """The values where the reason of an end changes between two others, by bisection."""
        before, after = self.beside(left, side), self.beside(right, side)
        if before == after:
            return {}

        def as_before(x: float) -> bool | None:
            """None for a third condition in between."""
            if self.at(x) is None or self.beside(x, side) == after:
                return False
            return True if self.beside(x, side) == before else None

        left, right = bisect(as_before, left, right, middle=geometric, close=_close)
        if not _close(left, right):
            middle = geometric(left, right)
            return self.corners(left, middle, side) | self.corners(middle, right, side)
        interval = self.at(right)
        return {} if interval is None else {right: interval}

    def steep(self, left: float, right: float, frame: Vertex) -> dict[float, Interval]:
        """Further values between two where an end moves by much of the frame."""
        one, two = self.at(left), self.at(right)
        if one is None or two is None or right / left < 1 + _CORNER:
            return {}
        height = math.log(frame[1] / frame[0])
        moves = (
            abs(math.log(_clipped(a, frame) / _clipped(b, frame)))
            for a, b in ((one.low, two.low), (one.high, two.high))
        )
        if max(moves) <= _STEP * height:
            return {}
        middle = geometric(left, right)
        interval = self.at(middle)
        if interval is None:
            return {}
        return {middle: interval, **self.steep(left, middle, frame), **self.steep(middle, right, frame)}

    def edges(self, points: list[Vertex], side: int, frame: Vertex) -> list[Edge]:
        """The lower or upper side, cut where the reason changes; a piece has the reason of its middle."""
        edges: list[Edge] = []
        for one, two in itertools.pairwise(points):
            middle = geometric(one[0], two[0])
            inside = self.at(middle)
            cut_off = inside is None or not frame[0] <= (inside.low, inside.high)[side] <= frame[1]
            reason = () if cut_off else self.beside(middle, side)
            if edges and edges[-1].because == reason:
                edges[-1] = Edge(reason, (*edges[-1].points, two))
            else:
                edges.append(Edge(reason, (one, two)))
        return edges

    def end(self, x: float, side: int, span: Vertex) -> list[Edge]:
        """The left (0) or right (1) side, where the sections end before they shrink to a point."""
        if span[1] <= span[0] * (1 + _CLOSE):
            return []
        end = (self.admissible[self.axes[0]].low, self.admissible[self.axes[0]].high)[side]
        if not math.isclose(x, end, rel_tol=_CLOSE):
            return [Edge((), ((x, span[0]), (x, span[1])))]
        because = self.admissible[self.axes[0]].because[side]
        return [Edge(self._named(because), ((x, span[0]), (x, span[1])))]
