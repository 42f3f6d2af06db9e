"""Bounds compared by size, at one setting, along one axis, or over two.

Each statement is evaluated with those of the given numbers that its paper knows, so that two papers may be compared by
giving the numbers of both. A statement known only up to a constant is drawn with the constant 1 and takes no part in
the decision which is smaller.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Statement
from bounds.symbols import ROUND, Domain, Role
from ratecheck.algebra.one_dimensional import arithmetic, bisect, whole
from ratecheck.aliases import Array, Progress
from ratecheck.complexity import tuned_bound as curve
from ratecheck.complexity.rounds import LARGEST, NO_VALUE
from ratecheck.errors import InputError, did_you_mean
from ratecheck.stepsizes.feasible_set import Memory

# Points along one axis, and along each of two.
_POINTS = {1: 61, 2: 49}
_MOST_POINTS = 10_000
# A range that begins at zero has its second point here, relative to its end.
_FIRST = 1e-3
# Bounds that differ by no more than this relative to their size are equal, and what `smallest` then says.
_TIE, TIE = 1e-10, -2
# Bisection of a crossing stops at this relative width.
_WIDTH = 1e-6


@dataclass(frozen=True)
class Axis:
    """Symbols that move together over ``values``, increasing; ``whole`` where only whole numbers will do."""

    names: tuple[str, ...]
    values: Array
    whole: bool

    @property
    def label(self) -> str:
        """The symbols' names."""
        return ", ".join(self.names)


@dataclass(frozen=True)
class Crossing:
    """Between ``low`` and ``high`` on the last axis the smallest bound changes from ``before`` to ``after``.

    Both are indices of statements. ``at`` is the value on the first axis where there are two, else None.
    """

    low: float
    high: float
    before: int
    after: int
    at: float | None


@dataclass(frozen=True)
class BoundComparison:
    """The answer of ``compare``.

    ``values`` has shape (statements, points of the first axis, points of the second), 1 for an axis that is not there;
    NaN where no step sizes are admissible, ``why`` then says what stands in the way. ``smallest`` (points, points) is
    the index of the statement with the smallest bound, -1 where there is none to tell, `TIE` where several are.
    ``notes`` are differences that a reader has to know: other left sides, other assumptions.
    """

    statements: tuple[Statement, ...]
    given: Mapping[str, float]
    axes: tuple[Axis, ...]
    values: Array
    smallest: NDArray[np.int64]
    crossings: tuple[Crossing, ...]
    why: Mapping[int, str]
    notes: tuple[str, ...]


def compare(
    statements: Sequence[Statement],
    given: Mapping[str, float],
    axes: Sequence[Axis] = (),
    *,
    progress: Progress | None = None,
) -> BoundComparison:
    """Compare the right sides of the statements' first claims.

    ``axes`` are at most two, as `read_axes` makes them. Raises `InputError` for fewer than two statements, for two with
    the same key, a name that none of them knows or that stands on an axis and is given as well, and for bounds that
    contain quantities of a run.
    """
    if len(statements) < 2:
        raise InputError("compare needs at least two statements: give KEY KEY ...")
    keys = [statement.key for statement in statements]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"two of the statements have the key {key!r}, by which the answer names them")
    for statement in statements:
        curve.check_right_side(statement)
    _check_names(statements, given, axes)
    evaluate = _Evaluator(statements, given, axes)
    shape = tuple(len(axis.values) for axis in axes) + (1,) * (2 - len(axes))
    values = np.full((len(statements), *shape), math.nan)
    for done, (i, j) in enumerate(itertools.product(*map(range, shape))):
        place = tuple(axis.values[k] for axis, k in zip(axes, (i, j), strict=False))
        values[:, i, j] = evaluate(place)
        if progress is not None:
            progress((done + 1) / values[0].size)
    smallest = np.apply_along_axis(evaluate.smallest, 0, values)
    return BoundComparison(
        statements=tuple(statements),
        given=given,
        axes=tuple(axes),
        values=values,
        smallest=smallest,
        crossings=tuple(_crossings(evaluate, axes, smallest)) if axes else (),
        why=evaluate.why,
        notes=tuple(_notes(statements)),
    )


def read_axes(statements: Sequence[Statement], texts: Sequence[str], *, points: int | None = None) -> tuple[Axis, ...]:
    """Axes from ``K=1:1000``, ``m,S=1:10`` (two symbols that move together) or ``K=1:1000:20`` (so many points).

    The points are spaced geometrically, rounded where only whole numbers will do; ``points`` is their number where the
    text has none. Raises `InputError` for anything else and for more than two axes.
    """
    if len(texts) > len(_POINTS):
        raise InputError(f"{len(texts)} axes are given: a map has two at most")
    return tuple(_axis(statements, text, points or _POINTS[len(texts)]) for text in texts)


def _axis(statements: Sequence[Statement], text: str, count: int) -> Axis:
    left, equals, right = text.partition("=")
    names, ends = tuple(left.split(",")), right.split(":")
    if not equals or not all(names) or len(ends) not in (2, 3):
        raise InputError(f"{text!r} is not of the form NAME=LOW:HIGH, such as K=1:1000")
    try:
        low, high = float(ends[0]), float(ends[1])
        count = int(ends[2]) if len(ends) == 3 else count
    except ValueError:
        raise InputError(f"{text!r}: LOW and HIGH are numbers, POINTS a whole one, as in K=1:1000:20") from None
    if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high):
        raise InputError(f'{text!r} breaks "0 <= LOW < HIGH": {low:g} against {high:g}')
    if not 2 <= count <= _MOST_POINTS:
        raise InputError(f'{text!r} breaks "2 <= POINTS <= {_MOST_POINTS}"')
    known = [(s.vocabulary, name) for s in statements for name in names if name in s.vocabulary]
    domains = {vocabulary[target].domain for vocabulary, name in known for target in vocabulary.reach(name)}
    whole = Domain.POSITIVE_INTEGER in domains or any(vocabulary.facts.get(name) == ROUND for vocabulary, name in known)
    if whole:
        low, high = max(math.ceil(low), 1), math.floor(high)
        if low >= high:
            raise InputError(f"{text!r} has no two whole numbers, which {names[0]} needs")
        if high > LARGEST:
            raise InputError(f'{text!r} breaks "HIGH <= 2^53": beyond it floats skip whole numbers')
    return Axis(names, _ladder(low, high, count, whole=whole), whole)


def _ladder(low: float, high: float, count: int, *, whole: bool) -> Array:
    """``count`` points from low to high; 0 where it is the low end, then from a small part of the high one."""
    if low == 0.0 and count == 2:
        return np.array([low, high])
    if low == 0.0:
        return np.concatenate([[0.0], np.geomspace(_FIRST * high, high, count - 1)])
    points = np.geomspace(low, high, count)
    return np.unique(np.round(points)) if whole else points


def _check_names(statements: Sequence[Statement], given: Mapping[str, float], axes: Sequence[Axis]) -> None:
    moved = [name for one in axes for name in one.names]
    known = {quantity.name for s in statements for quantity in s.vocabulary if quantity.role is not Role.MEASURED}
    known |= {t for s in statements if (t := curve.round_symbol(s)) is not None}
    aliases = {name for s in statements for name in s.vocabulary.aliases}
    for name in [*given, *moved]:
        if name not in known | aliases:
            raise InputError(f"none of the statements has a parameter {name!r}; {did_you_mean(name, known | aliases)}")
    for name in moved:
        if moved.count(name) > 1:
            raise InputError(f"{name} stands on two axes")
        if name in given:
            raise InputError(f"{name} is given and stands on an axis: leave out one of them")
        if not any(_depends(s, name) for s in statements):
            raise InputError(f"no bound depends on {name}: nothing would change along this axis")


def _depends(statement: Statement, name: str) -> bool:
    """Whether a bound changes with a number."""
    counters = _counters(statement)
    counted = curve.round_symbol(statement) is not None or counters[0] in statement.parameters
    return name in statement.vocabulary and (not statement.unused({name: 1.0}) or (counted and name in counters))


def _counters(statement: Statement) -> tuple[str, str]:
    """The symbols of T and of the number t of a round, empty where there is none."""
    vocabulary = statement.vocabulary
    return vocabulary.run.get("rounds", ""), next(iter(vocabulary.counters), "")


def _counted(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """The numbers that a statement knows; the last of T rounds is round T-1, so that T and t say each other."""
    found = {name: value for name, value in values.items() if name in statement.vocabulary}
    T, t = _counters(statement)
    if curve.round_symbol(statement) is not None and T in found:
        found.setdefault(t, found[T] - 1)
    elif t in found and T in statement.parameters and T not in statement.settings:
        found.setdefault(T, found[t] + 1)
    return found


class _Evaluator:
    """The bounds of all statements at a place on the axes, each with the numbers that it knows."""

    def __init__(self, statements: Sequence[Statement], given: Mapping[str, float], axes: Sequence[Axis]) -> None:
        self._statements, self._given, self._axes = statements, given, axes
        self._decided = [not statement.order_only for statement in statements]
        self.why: dict[int, str] = {}
        self._memories: list[Memory] = [{} for _ in statements]

    def __call__(self, place: Iterable[float]) -> Array:
        moved = {name: value for a, value in zip(self._axes, place, strict=True) for name in a.names}
        values = {**self._given, **moved}
        return np.array([self._one(k, statement, values) for k, statement in enumerate(self._statements)])

    def _one(self, index: int, statement: Statement, values: Mapping[str, float]) -> float:
        point = curve.at(statement, _counted(statement, values), memory=self._memories[index])
        if point.value is None:
            self.why.setdefault(index, "; ".join(point.broken))
            return math.nan
        if not math.isfinite(point.value):
            self.why.setdefault(index, NO_VALUE)
            return math.nan
        return point.value

    def smallest(self, values: Array) -> int:
        """Index of the smallest bound among those with a value and known constants.

        -1 for fewer than two of them, `TIE` where another one is equal to it but for rounding.
        """
        known = np.where(self._decided, values, math.nan)
        if np.isfinite(known).sum() < 2:
            return -1
        least = int(np.nanargmin(known))
        equal = [math.isclose(value, known[least], rel_tol=_TIE) for value in known if math.isfinite(value)]
        return least if sum(equal) == 1 else TIE


def _crossings(evaluate: _Evaluator, axes: Sequence[Axis], smallest: NDArray[np.int64]) -> Iterable[Crossing]:
    """The points where the smallest bound changes along the last axis, by bisection between neighbouring points."""
    last = axes[-1]
    lines = smallest if len(axes) > 1 else smallest.T
    for k, found in enumerate(lines):
        line = _without_touches(found)
        at = float(axes[0].values[k]) if len(axes) > 1 else None
        for i in np.flatnonzero(line[:-1] != line[1:]):
            before = int(line[i])
            # A third bound may be the smallest in between: the change away from the first one is what is sought.
            low, high = bisect(
                lambda x: evaluate.smallest(evaluate(_place(at, x))) == before,  # noqa: B023  # called at once
                float(last.values[i]),
                float(last.values[i + 1]),
                middle=whole if last.whole else arithmetic,
                close=lambda low, high: high - low <= (1 if last.whole else _WIDTH * high),
            )
            after = evaluate.smallest(evaluate(_place(at, high)))
            # Where two curves cross they are equal for a moment.
            yield Crossing(low, high, before, int(line[i + 1]) if after == TIE else after, at)


def _without_touches(line: NDArray[np.int64]) -> NDArray[np.int64]:
    """The line with a tie at a single point, where two curves cross, counted to what is before it."""
    found = line.copy()
    for i in range(1, len(line) - 1):
        if line[i] == TIE and TIE not in (line[i - 1], line[i + 1]):
            found[i] = found[i - 1]
    return found


def _place(at: float | None, value: float) -> tuple[float, ...]:
    return (value,) if at is None else (at, value)


def _notes(statements: Sequence[Statement]) -> Iterable[str]:
    first = statements[0]
    for statement in statements:
        if statement.order_only:
            yield f"{statement.key} is known only up to a constant: drawn with 1 in its place, and never called smaller"
    for statement in statements[1:]:
        left, right = first.claims[0].metric.expr, statement.claims[0].metric.expr
        if left != right:
            yield f"other left sides: {first.key} bounds {left}, {statement.key} bounds {right}"
    counted = [s for s in statements if curve.round_symbol(s) is not None]
    if counted and len(counted) < len(statements):
        for statement in counted:
            yield f"{statement.key} bounds round {curve.round_symbol(statement)}: the last of T rounds is T-1"
    shared = set(first.assumptions).intersection(*(s.assumptions for s in statements))
    for statement in statements:
        own = [assumption.value for assumption in statement.assumptions if assumption not in shared]
        if own:
            yield f"assumed by {statement.key}, but not by all: {', '.join(own)}"
