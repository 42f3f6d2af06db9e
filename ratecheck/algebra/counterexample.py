"""The points at which hypotheses hold: found in floating point, kept in rational numbers.

Every hypothesis that is linear in some symbol is solved for it, so that a point is made of free coordinates and of
places between the bounds that these leave for the other symbols. A search moves the coordinates to where a claim is
worst. What it finds is rounded to small fractions and evaluated again without floating point; only then it counts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from bounds.statement import Condition
from ratecheck.algebra.evaluate import Point, Undefined, Value, evaluate, holds, in_domain, satisfied, sign, size
from ratecheck.algebra.vectorised import compiled
from ratecheck.aliases import Array

_POPULATION = 256
_DENOMINATORS = (1, 2, 4, 12, 100, 10**4, 10**8, 10**14)
_LARGEST_WHOLE = 10**7
# What fails by less than this fails mostly in floating point alone.
_ROUNDING = -1e-9
_TRIED = 24
_SIMPLE = tuple(Fraction(x) for x in ("1", "2", "-1", "1/2", "3", "4", "10", "1/10", "100", "1/100", "0"))


@dataclass
class _Place:
    """The range of a symbol, given the symbols before it: above all ``lows``, below all ``highs``, or at ``values``."""

    symbol: sp.Symbol
    lows: list[sp.Expr] = field(default_factory=list)
    highs: list[sp.Expr] = field(default_factory=list)
    values: list[sp.Expr] = field(default_factory=list)

    @property
    def needs(self) -> set[sp.Symbol]:
        """The symbols that have to be chosen before."""
        return {s for expr in (*self.lows, *self.highs, *self.values) for s in expr.free_symbols}


class SearchRegion:
    """All points with ``hypotheses`` in the given ``symbols`` and those of the hypotheses."""

    def __init__(self, hypotheses: Sequence[Condition], symbols: Iterable[sp.Symbol], seed: int = 0) -> None:
        self.hypotheses = tuple(hypotheses)
        found = set(symbols).union(*(h.left.free_symbols | h.right.free_symbols for h in hypotheses))
        self._random = np.random.default_rng(seed)
        self.places = _plan(self.hypotheses, sorted(found, key=lambda s: s.name))
        self.symbols = [place.symbol for place in self.places]

    # --- floating point ---

    @functools.cached_property
    def _bounds(self) -> list[tuple[list[Callable[..., Any]], ...]]:
        return [
            tuple([self.function(expr) for expr in group] for group in (place.lows, place.highs, place.values))
            for place in self.places
        ]

    @functools.cached_property
    def _conditions(self) -> list[tuple[Callable[..., Any], Callable[..., Any], str]]:
        return [(self.function(h.left), self.function(h.right), h.operator) for h in self.hypotheses]

    def function(self, expr: sp.Expr) -> Callable[..., Any]:
        """An expression as a function of an array with a row per symbol."""
        return compiled(expr, self.symbols)

    def points(self, coordinates: Array) -> Array:
        """Coordinates (a row per symbol) as points."""
        points = np.zeros_like(coordinates)
        for row, (place, (lows, highs, values)) in enumerate(zip(self.places, self._bounds, strict=True)):
            z, symbol = coordinates[row], place.symbol
            low = np.full(z.shape, 0.0 if symbol.is_nonnegative else -np.inf)
            high = np.full(z.shape, 0.0 if symbol.is_nonpositive else np.inf)
            if symbol.is_integer and symbol.is_positive:
                low = np.ones(z.shape)
            for function in lows:
                low = np.fmax(low, function(points))
            for function in highs:
                high = np.fmin(high, function(points))
            points[row] = values[0](points) if values else _between(z, low, high)
            if symbol.is_integer and not values:
                up = np.ceil(low - 1e-9)
                points[row] = np.maximum(np.minimum(np.round(points[row]), np.floor(high + 1e-9)), up)
        return points

    def broken(self, points: Array) -> Array:
        """The sum of relative violations of the hypotheses; 0 where all hold."""
        total = np.zeros(points.shape[1])
        for left, right, operator in self._conditions:
            one, other = left(points), right(points)
            scale = np.abs(one) + np.abs(other) + 1e-300
            excess = {"<": one - other, "<=": one - other, ">": other - one, ">=": other - one}.get(operator)
            total += np.abs(one - other) / scale if excess is None else np.maximum(excess, 0) / scale
        for row, symbol in enumerate(self.symbols):
            wrong = points[row] < 0 if symbol.is_nonnegative else np.zeros(points.shape[1], bool)
            if symbol.is_positive:
                wrong = points[row] <= 0
            total += np.where(wrong, 1.0, 0.0)
        return np.where(np.isfinite(total), np.where(total < 1e-12, 0.0, total), 1e6)

    def start(self, count: int = _POPULATION) -> Array:
        """Random coordinates: wide, with many at the ends of what is allowed."""
        z = self._random.normal(0, 1.5, (len(self.places), count))
        wide = self._random.random(z.shape) < 0.3
        z = np.where(wide, 3 * z, z)
        for row, place in enumerate(self.places):
            if place.lows or place.highs:
                u = self._random.random(count)
                z[row] = np.select([u < 0.35, u < 0.5], [1.0, 0.0], self._random.random(count))
            elif place.symbol.is_nonnegative and not place.symbol.is_positive:
                z[row] = np.where(self._random.random(count) < 0.2, -60.0, z[row])
        return z

    def descend(self, score: Callable[[Array], Array], generations: int) -> Iterator[Array]:
        """Coordinates with ever smaller scores, the best so far after every few generations."""
        with np.errstate(all="ignore"):
            z = self.start()
            best = self._scored(z, score)
            scale = np.array([0.3 if p.lows or p.highs else 1.0 for p in self.places])[:, None]
            for generation in range(generations):
                order = np.argsort(best, kind="stable")[: _POPULATION // 4]
                z, best = z[:, order], best[order]
                if generation % 5 == 0:
                    yield z[:, :12]
                parents = z[:, self._random.integers(0, z.shape[1], 3 * _POPULATION // 4)]
                step = self._random.normal(0, 1, parents.shape) * np.exp(self._random.normal(-2, 2, parents.shape[1]))
                step *= self._random.random(parents.shape) < max(0.3, 1.5 / max(1, len(self.places)))
                children = parents + step * scale
                other = z[:, self._random.integers(0, z.shape[1], parents.shape[1])]
                mixed = (self._random.random(parents.shape) < 0.3) & (self._random.random(parents.shape[1]) < 0.3)
                children = np.where(mixed, other, children)
                for row, place in enumerate(self.places):
                    if place.lows or place.highs:
                        children[row] = np.clip(children[row], -0.2, 1.2)
                z = np.concatenate([z, children], axis=1)
                best = np.concatenate([best, self._scored(children, score)])
            order = np.argsort(best, kind="stable")[:12]
            yield z[:, order]

    def _scored(self, z: Array, score: Callable[[Array], Array]) -> Array:
        points = self.points(z)
        broken = self.broken(points)
        value = score(points)
        return np.where(broken > 0, 10 + broken, np.where(np.isfinite(value), value, 9.0))

    def sample(self, count: int = _POPULATION) -> Array:
        """Points at which the hypotheses hold, in floating point: none, a few or many."""
        with np.errstate(all="ignore"):
            points = self.points(self.start(count))
            return points[:, (self.broken(points) == 0) & np.isfinite(points).all(axis=0)]

    # --- rational numbers ---

    def exact(self, z: Array, denominator: int, fixed: Point | None = None) -> dict[sp.Symbol, Fraction] | None:
        """The point of one column of coordinates in fractions with small denominators; None where there is none.

        ``fixed`` gives values for free symbols in place of their coordinates.
        """
        point: dict[sp.Symbol, Fraction] = {}
        fixed = fixed or {}
        try:
            for place, coordinate in zip(self.places, z, strict=True):
                if place.symbol in fixed:
                    value: Fraction | None = fixed[place.symbol]
                else:
                    value = _exact_place(place, float(coordinate), point, denominator)
                if value is None or not in_domain(place.symbol, value):
                    return None
                point[place.symbol] = value
        except (Undefined, OverflowError, ValueError):
            return None
        return point if all(satisfied(h, point) for h in self.hypotheses) else None

    def witness(self) -> dict[sp.Symbol, Fraction] | None:
        """A rational point at which all hypotheses hold; None where none was found."""
        for coordinates in self.descend(lambda points: np.abs(np.log(np.abs(points) + 1e-9)).sum(axis=0) / 1e3, 16):
            for z in coordinates.T[:4]:
                for denominator in _DENOMINATORS[3:]:
                    point = self.exact(z, denominator)
                    if point is not None:
                        return point
        return None

    def counterexample(
        self, left: sp.Expr, operator: str, right: sp.Expr, generations: int = 30
    ) -> Counterexample | None:
        """A rational point at which ``left <operator> right`` fails and all hypotheses hold."""
        one, other = self.function(left), self.function(right)

        def score(points: Array) -> Array:
            a, b = one(points), other(points)
            gap = {"<=": b - a, "<": b - a, "==": -np.abs(b - a)}.get(operator, a - b)
            return gap / (np.abs(a) + np.abs(b) + 1e-300)

        tried = 0
        for coordinates in self.descend(score, generations):
            with np.errstate(all="ignore"):
                values = self._scored(coordinates, score)
            strict = operator in ("<", ">")
            for z, value in zip(coordinates.T, values, strict=True):
                if value > (1e-13 if strict else -1e-13):
                    break
                found = self._confirmed(z, left, operator, right)
                if found is not None:
                    return found
                tried += 1 if value < _ROUNDING else _TRIED // 6
                if tried > _TRIED:
                    return None
        return None

    def _confirmed(self, z: Array, left: sp.Expr, operator: str, right: sp.Expr) -> Counterexample | None:
        for denominator in _DENOMINATORS:
            point = self.exact(z, denominator)
            found = None if point is None else refutes(point, left, operator, right)
            if found is not None:
                return self._simpler(found, z, denominator, (left, operator, right))
        return None

    def _simpler(
        self, found: Counterexample, z: Array, denominator: int, claim: tuple[sp.Expr, str, sp.Expr]
    ) -> Counterexample:
        """A counterexample with simpler numbers, where those refute the claim too."""
        fixed: dict[sp.Symbol, Fraction] = {}
        for place in self.places:
            if place.values:
                continue
            for value in _SIMPLE:
                if value == found.point[place.symbol]:
                    break
                trial = {**fixed, place.symbol: value}
                point = self.exact(z, denominator, trial)
                other = None if point is None else refutes(point, *claim)
                if other is not None and size(other.point) < size(found.point):
                    found, fixed = other, trial
                    break
        return found


@dataclass(frozen=True)
class Counterexample:
    """A point and the two sides of the claim there."""

    point: Point
    left: Value
    right: Value


def refutes(point: Point, left: sp.Expr, operator: str, right: sp.Expr) -> Counterexample | None:
    """The counterexample at a point, if the claim has a meaning there and is false, with a margin for roots."""
    try:
        one, other = evaluate(left, point), evaluate(right, point)
    except Undefined:
        return None
    rational = isinstance(one, Fraction) and isinstance(other, Fraction)
    if not rational and sign(one, other) == 0:
        return None
    return None if holds(one, operator, other) else Counterexample(dict(point), one, other)


def confirmed(
    found: Counterexample, hypotheses: Iterable[Condition], left: sp.Expr, operator: str, right: sp.Expr
) -> bool:
    """Whether a counterexample is one: domains, hypotheses and both sides evaluated anew."""
    inside = all(in_domain(s, v) for s, v in found.point.items())
    return (
        inside
        and all(satisfied(h, found.point) for h in hypotheses)
        and refutes(found.point, left, operator, right) is not None
    )


def _between(z: Array, low: Array, high: Array) -> Array:
    """A coordinate as a place: in [0, 1] from end to end, or on a logarithmic scale where an end is open."""
    open_low, open_high = ~np.isfinite(low), ~np.isfinite(high)
    u = np.clip(z, 0, 1)
    size = np.where(z < -50, 0.0, np.exp(np.clip(z, -40, 40)))
    inside = np.where(u >= 1, high, low + u * (high - low))
    # Below a bound alone or above one alone: at the bound for z >= 1, else further and further away.
    off = np.where(z >= 1, 0.0, np.expm1(3 * np.clip(1 - z, 0, 8)))
    real = np.sinh(np.clip(z, -20, 20))
    zero_low = low == 0
    return np.select(
        [open_low & open_high, open_low, open_high & zero_low, open_high],
        [real, high - off * (np.abs(high) + 1) / 20, size, low + off * (np.abs(low) + 1) / 20],
        inside,
    )


def _rounded(value: float, denominator: int) -> Fraction:
    """A fraction near a float: with a small denominator, or in lowest digits where the number is tiny or huge."""
    if value == 0 or not math.isfinite(value):
        if value == 0:
            return Fraction(0)
        raise ValueError(value)
    exact = Fraction(value)
    near = exact.limit_denominator(denominator)
    if near != 0 and abs(near - exact) <= abs(exact) / 4:
        return near
    # The inverse of a number with a small denominator, for small values.
    inverse = (1 / exact).limit_denominator(denominator)
    return 1 / inverse if inverse != 0 else exact


def _exact_place(place: _Place, z: float, point: Point, denominator: int) -> Fraction | None:
    symbol = place.symbol
    if place.values:
        value = evaluate(place.values[0], point)
        return value if isinstance(value, Fraction) else None
    low, high = _exact_ends(place, point, denominator)
    if low is not None and high is not None and low > high:
        return None
    value = _exact_between(z, low, high, denominator, at_low=bool(place.lows))
    return _whole(value, low, high) if symbol.is_integer else value


def _exact_ends(place: _Place, point: Point, denominator: int) -> tuple[Fraction | None, Fraction | None]:
    """Between what a symbol may lie, given those before it."""
    symbol = place.symbol
    lows = [_inside(evaluate(expr, point), denominator, up=True) for expr in place.lows]
    highs = [_inside(evaluate(expr, point), denominator, up=False) for expr in place.highs]
    if symbol.is_nonnegative:
        lows.append(Fraction(1 if symbol.is_integer and symbol.is_positive else 0))
    if symbol.is_nonpositive:
        highs.append(Fraction(0))
    return max(lows, default=None), min(highs, default=None)


def _exact_between(
    z: float, low: Fraction | None, high: Fraction | None, denominator: int, *, at_low: bool
) -> Fraction:
    """The place that `_between` gives, in few digits."""
    if high is not None and z >= 1:
        return high
    if low is not None and high is not None:
        return low if z <= 0 else low + _rounded(z, denominator) * (high - low)
    if low is not None and at_low and z >= 1:
        return low
    ends = np.array([-np.inf if low is None else float(low)]), np.array([np.inf if high is None else float(high)])
    with np.errstate(all="ignore"):
        value = _rounded(float(_between(np.array([z]), *ends)[0]), denominator)
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def _whole(value: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction | None:
    """The nearest whole number within the ends; None where it is too large to be of use."""
    value = Fraction(math.floor(value + Fraction(1, 2)))
    if high is not None:
        value = min(value, Fraction(math.floor(high)))
    if low is not None:
        value = max(value, Fraction(math.ceil(low)))
    return value if value <= _LARGEST_WHOLE else None


def _inside(value: Value, denominator: int, *, up: bool) -> Fraction:
    """A fraction with few digits on the safe side of a bound."""
    if isinstance(value, Fraction):
        return value
    if value == 0:
        return Fraction(0)
    exact = Fraction(str(value))
    unit = Fraction(10) ** math.floor(math.log10(abs(float(value)))) / (4 * denominator)
    steps = exact / unit
    # One more step, since the bound itself has an error in its last digit.
    return (math.floor(steps) + 2 if up else math.ceil(steps) - 2) * unit


# --- Which hypothesis is solved for which symbol ---


def _plan(hypotheses: Sequence[Condition], symbols: Sequence[sp.Symbol]) -> list[_Place]:
    places = {symbol: _Place(symbol) for symbol in symbols}
    # Later hypotheses are mostly about quantities that depend on those of the earlier ones.
    later_first = hypotheses[::-1]
    for hypothesis in sorted(later_first, key=lambda h: h.operator != "=="):
        for symbol, kind, bound in _solved(hypothesis):
            place = places[symbol]
            if place.values or (kind == "==" and (place.lows or place.highs)):
                continue
            if _reaches(places, bound.free_symbols, symbol):
                continue
            if kind == "==":
                place.values.append(bound)
            else:
                (place.highs if kind == "<=" else place.lows).append(bound)
            break
    return _ordered(places)


def _reaches(places: dict[sp.Symbol, _Place], sources: Iterable[sp.Symbol], target: sp.Symbol) -> bool:
    """Whether some source is, or depends on, the target."""
    todo, seen = list(sources), set()
    while todo:
        symbol = todo.pop()
        if symbol == target:
            return True
        if symbol not in seen:
            seen.add(symbol)
            todo += places[symbol].needs
    return False


def _ordered(places: dict[sp.Symbol, _Place]) -> list[_Place]:
    done: dict[sp.Symbol, _Place] = {}

    def visit(symbol: sp.Symbol) -> None:
        if symbol not in done:
            for needed in sorted(places[symbol].needs, key=lambda s: s.name):
                visit(needed)
            done[symbol] = places[symbol]

    for symbol in places:
        visit(symbol)
    return list(done.values())


def _solved(hypothesis: Condition) -> Iterator[tuple[sp.Symbol, str, sp.Expr]]:
    """The ways to solve a hypothesis for a symbol: symbol, operator, bound."""
    mirrored = {"<=": ">=", "<": ">=", ">=": "<=", ">": "<=", "==": "=="}
    plain = {"<=": "<=", "<": "<=", ">=": ">=", ">": ">=", "==": "=="}
    left, right, operator = hypothesis.left, hypothesis.right, hypothesis.operator
    if left.is_Symbol and left not in right.free_symbols:
        yield left, plain[operator], right
    if right.is_Symbol and right not in left.free_symbols:
        yield right, mirrored[operator], left
    for numerator in _linear_forms(left - right):
        for symbol in sorted(numerator.free_symbols, key=lambda s: (bool(s.is_integer), s.name)):
            slope = sp.diff(numerator, symbol)
            if slope.has(symbol) or slope == 0:
                continue
            direction = _definite_sign(slope)
            if direction == 0:
                continue
            bound = -numerator.xreplace({symbol: sp.Integer(0)}) / slope
            yield symbol, plain[operator] if direction > 0 else mirrored[operator], bound
        yield from _squares(numerator, operator)


def _squares(numerator: sp.Expr, operator: str) -> Iterator[tuple[sp.Symbol, str, sp.Expr]]:
    """Upper and lower bounds on nonnegative symbols that occur as squares only."""
    mirrored = {"<=": ">=", "<": ">=", ">=": "<=", ">": "<=", "==": "=="}
    plain = {"<=": "<=", "<": "<=", ">=": ">=", ">": ">=", "==": "=="}
    for symbol in sorted(numerator.free_symbols, key=lambda s: s.name):
        slope = numerator.coeff(symbol, 2)
        rest = numerator.xreplace({symbol: sp.Integer(0)})
        if not symbol.is_nonnegative or slope == 0 or sp.expand(numerator - slope * symbol**2 - rest) != 0:
            continue
        direction = _definite_sign(slope)
        if direction:
            bound = sp.sqrt(-rest / slope)
            yield symbol, plain[operator] if direction > 0 else mirrored[operator], bound


# Changed claims of one step have the same hypotheses.
@functools.lru_cache(maxsize=1 << 12)
def _linear_forms(difference: sp.Expr) -> tuple[sp.Expr, ...]:
    if difference.has(sp.Max, sp.Min, sp.Abs):
        return ()
    numerator, denominator = sp.fraction(sp.together(difference))
    direction = _definite_sign(sp.expand(denominator))
    return (sp.expand(numerator) * direction,) if direction else ()


@functools.lru_cache(maxsize=1 << 12)
def _definite_sign(expr: sp.Expr) -> int:
    if expr.is_positive or expr.is_nonnegative:
        return 1
    if expr.is_negative or expr.is_nonpositive:
        return -1
    factored = sp.factor(expr)
    if factored.is_positive or factored.is_nonnegative:
        return 1
    return -1 if factored.is_negative or factored.is_nonpositive else 0
