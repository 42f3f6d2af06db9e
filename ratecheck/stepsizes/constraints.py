"""Constraints on step sizes: conditions at given constants, products between step sizes, and values that are fixed.

Each rule narrows intervals: it cuts from every step size in it what no values of the others in their intervals can make
admissible. This is exact for one rule because a condition is monotone in each step size.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bounds import formula
from bounds.statement import Condition, names_in
from ratecheck.algebra.one_dimensional import crossing, golden_sections
from ratecheck.errors import BeyondFloatsError, InputError
from ratecheck.stepsizes.equations import root as root_of
from ratecheck.stepsizes.interval import HUGE, TINY, Interval
from ratecheck.stepsizes.typable import shortest

Intervals = dict[str, Interval]
Point = Mapping[str, float]

# Where a condition is looked at beyond the range of step sizes, to tell a matter of units from a contradiction.
_BEYOND = 1e100
_TOO_SMALL, _TOO_LARGE = 1e-10 * TINY, 1e10 * HUGE
# Both sides of a condition that agree to this many digits are equal.
_EQUAL = 1e-12
# Ends that agree to this share do not move with what stands for infinity.
_SAME_END = 1e-6
# By how much an interval may be empty, as the logarithm of a ratio.
_LEAST_DEPTH, _DEEPEST = 1e-11, 600.0
# At how many values a condition is looked at inside the interval that its ends leave, and what is no rounding there.
# Where a condition that both ends break is looked at in between, as shares of the logarithm; where that search ends.
_PLACES, _CLEARLY = 512, 1e-9
_INSIDE, _FINEST = tuple(k / 16 for k in range(1, 16)), 1e-10


class NotMonotoneError(InputError):
    """The admissible values of a condition are no interval that is found from its ends."""


def not_monotone(condition: Condition, name: str) -> NotMonotoneError:
    """The error for such a condition."""
    return NotMonotoneError(
        f'"{condition.text}" is not monotone in {name}, so that it is not solved for it: give {name}=..., '
        "which is then checked"
    )


def out_of_range(what: str) -> BeyondFloatsError:
    """The error for numbers whose units are hopeless."""
    return BeyondFloatsError(
        f"{what}: step sizes are sought between {TINY:g} and {HUGE:g}, and formulas evaluated in floating point; "
        "choose units in which the numbers are nearer to 1"
    )


@dataclass(frozen=True, eq=False)
class Inequality:
    """``small <= large`` at given constants, monotone in each of ``steps``; ``<`` if ``strict``.

    ``alone`` is the step size that makes up one side by itself and does not occur on the other, if there is one.
    ``roots`` gives some step sizes as functions of ``steps``, at which both sides are equal.
    """

    condition: Condition
    steps: tuple[str, ...]
    strict: bool
    small: formula.Function
    large: formula.Function
    alone: str | None
    bounded_above: bool
    roots: Mapping[str, formula.Function] = field(default_factory=dict)
    _rising: dict[str, bool] = field(default_factory=dict)

    def gap(self, values: list[float]) -> float:
        """log(small/large) at step sizes in the order of ``steps``: positive where broken."""
        try:
            small, large = self.small(*values), self.large(*values)
        except (ArithmeticError, ValueError):
            small = large = math.nan
        if not (small > 0.0 and large > 0.0):
            # What has no value is looked at more closely.
            small, large = self._side(self.small, values), self._side(self.large, values)
        if small > 0.0 and large > 0.0:
            if math.isinf(large):
                return -math.inf
            ratio = small / large
            return math.log(ratio) if 0.0 < ratio < math.inf else math.log(small) - math.log(large)
        return math.inf if small > large else -math.inf if small < large else 0.0

    def _side(self, side: formula.Function, values: list[float]) -> float:
        try:
            value = side(*values)
        except ZeroDivisionError:
            return _at_zero(side, values)
        except OverflowError:
            return math.inf
        except ValueError:
            raise BeyondFloatsError(
                f'"{self.condition.text}" has no value: it takes a root or a logarithm of a negative number'
            ) from None
        if math.isnan(value):
            raise out_of_range(f'"{self.condition.text}" has no value')
        return value

    def broken(self, gap: float) -> bool:
        """Whether a gap means that it fails; a strict one fails also where both sides are equal but for rounding."""
        return gap > 0.0 or (self.strict and gap > -_EQUAL)

    def narrow(self, intervals: Intervals, rule: Restriction) -> None:
        """Cut the interval of every step size in it, the others standing where they help most."""
        for name in self.steps:
            intervals[name] = self._cut(name, intervals, rule)

    def _cut(self, name: str, intervals: Intervals, rule: Restriction) -> Interval:
        current = intervals[name]
        because, strict = frozenset({rule}), self.strict
        place = self.steps.index(name)
        values = [intervals[other].centre for other in self.steps]
        endless = []
        for k, other in enumerate(self.steps):
            if k != place:
                interval = intervals[other]
                rising = self._rises(k, values, interval)
                values[k] = interval.ends[0 if rising else 1]
                # What helps most is not admissible itself, so neither is the value that it would allow.
                strict |= interval.open[0 if rising else 1]
                because |= interval.because[0 if rising else 1]
                if not rising and math.isinf(interval.high):
                    endless.append(k)
        cutting = self._cut_alone if self.alone == name else self._cut_between
        cut = cutting(name, current, values, because, strict=strict)
        if endless and cut is not current and not cut.empty:
            # An end that moves with what stands for infinity is none.
            nearer = [math.sqrt(HUGE) if k in endless else value for k, value in enumerate(values)]
            again = cutting(name, current, nearer, because, strict=strict)
            pairs = zip(cut.ends, again.ends, strict=True)
            if not all(math.isclose(one, two, rel_tol=_SAME_END) for one, two in pairs):
                return current
        return cut

    def _cut_between(
        self, name: str, current: Interval, values: list[float], because: frozenset[object], *, strict: bool
    ) -> Interval:
        """Cut by the gap along one step size, the others standing at ``values``."""
        place, at = self.steps.index(name), [*values]

        def along(x: float) -> float:
            at[place] = x
            return self.gap(at)

        low, high = current.ends
        at_low, at_high = along(low), along(high)
        if self.broken(at_low):
            if self.broken(at_high):
                # What is broken by rounding alone holds with equality, as it does where a value is checked.
                for end, at_end in ((high, at_high), (low, at_low)):
                    if not strict and at_end <= _EQUAL and 0.0 < end < HUGE:
                        return current.cut(end, end, because)
                return self._cut_beyond(name, current, along, because)
            root = self._root(name, along, max(low, TINY), high, values) if at_low > 0 else low
            return current.cut(_outside(along, root, -1) if strict else root, math.inf, because, strict=strict)
        if self.broken(at_high):
            if low == 0.0 and self.broken(along(TINY)):
                return current.cut(0.0, _TOO_SMALL, because)
            root = self._root(name, along, max(low, TINY), high, values) if at_high > 0 else high
            return current.cut(0.0, _outside(along, root, 1) if strict else root, because, strict=strict)
        return current

    def check_throughout(self, name: str, interval: Interval) -> None:
        """Raise `InputError` where it fails inside the values of its one step size that its ends leave."""
        low, high = interval.box
        if self.alone is not None or high <= low:
            return
        low, high = max(low, high * 1e-120), min(high, low * 1e120)
        for k in range(1, _PLACES):
            if self.gap([low * math.pow(high / low, k / _PLACES)]) > _CLEARLY:
                raise not_monotone(self.condition, name)

    def _root(self, name: str, along: Callable[[float], float], low: float, high: float, values: list[float]) -> float:
        """The root where both sides are equal, between the ends: by its formula where that is right to rounding."""
        if name in self.roots:
            with contextlib.suppress(ArithmeticError, ValueError):
                root = self.roots[name](*values)
                if low <= root <= high and abs(along(root)) <= _EQUAL:
                    return root
        return crossing(along, low, high)

    def _cut_beyond(
        self, name: str, current: Interval, along: Callable[[float], float], because: frozenset[object]
    ) -> Interval:
        """The interval where both ends are inadmissible: nothing is left, unless beyond the range that is looked at."""
        if current.low == 0.0 and not self.broken(along(1 / _BEYOND)):
            return current.cut(0.0, _TOO_SMALL, because)
        if math.isinf(current.high) and not self.broken(along(_BEYOND)):
            return current.cut(_TOO_LARGE, math.inf, because)
        least = min(along(end) for end in current.ends)
        self._check_inside(name, current, along, least)
        return emptied(current, because, least)

    def _check_inside(self, name: str, current: Interval, along: Callable[[float], float], at_ends: float) -> None:
        """Raise `InputError` where a condition that both ends break holds in between, or just there."""
        low, high = (math.log(end) for end in current.box)
        places = [low + share * (high - low) for share in _INSIDE]
        best = min(places, key=lambda place: along(math.exp(place)))
        if high <= low or along(math.exp(best)) >= at_ends:
            return
        step = _INSIDE[0] * (high - low)
        for left, right, inner in golden_sections(lambda x: along(math.exp(x)), best - step, best + step):
            if min(inner)[0] <= _EQUAL:
                raise not_monotone(self.condition, name)
            if right - left <= _FINEST:
                return

    def _cut_alone(
        self, name: str, current: Interval, values: list[float], because: frozenset[object], *, strict: bool
    ) -> Interval:
        """``current`` cut at the side of the condition that bounds ``name`` by itself."""
        end = self._side(self.large if self.bounded_above else self.small, values)
        if self.bounded_above:
            return current.cut(0.0, end, because, strict=strict) if end > 0.0 else emptied(current, because)
        return current.cut(end, math.inf, because, strict=strict) if end < math.inf else emptied(current, because)

    def _rises(self, k: int, values: list[float], interval: Interval) -> bool:
        """Whether the gap grows with the k-th step size; where it is flat the answer does not matter."""
        known = self._rising.get(self.steps[k])
        if known is not None:
            return known
        low, high = interval.ends
        at_low = self.gap([*values[:k], low, *values[k + 1 :]])
        at_high = self.gap([*values[:k], high, *values[k + 1 :]])
        if at_low != at_high:
            self._rising[self.steps[k]] = at_low < at_high
        return at_low <= at_high


def _roots(
    condition: Condition, steps: Sequence[str], constants: Mapping[str, float]
) -> Iterator[tuple[str, formula.Function]]:
    """The step sizes for which a condition is solved, each as a function of all."""
    for symbol in condition.left.free_symbols | condition.right.free_symbols:
        if symbol.name in steps and (solution := root_of(condition, symbol)) is not None:
            with contextlib.suppress(formula.RangeError):
                yield symbol.name, formula.function(solution, steps, constants)


def _at_zero(side: formula.Function, values: list[float]) -> float:
    """The limit of a side that divides by a step size of zero: infinity for a/x, but zero for 1/(a/x)."""
    with contextlib.suppress(ArithmeticError, ValueError):
        near, beside = (side(*(max(value, tiny) for value in values)) for tiny in (TINY, math.sqrt(TINY)))
        if near < beside:
            return 0.0
    return math.inf


def emptied(current: Interval, because: frozenset[object], depth: float = math.inf) -> Interval:
    """The interval without any value, and why; ``depth`` says by how much, as the logarithm of a ratio."""
    reasons = because | current.because[0] | current.because[1]
    return Interval(math.exp(min(max(depth, _LEAST_DEPTH), _DEEPEST)), 1.0, (reasons, reasons))


def _outside(gap: Callable[[float], float], root: float, sign: int) -> float:
    """A number next to a root at which the gap is seen to be positive, which the last digits of the root may hide."""
    for k in range(8):
        beside = root * (1 + sign * k * 2.0**-52)
        if gap(beside) > 0.0:
            return beside
    return root


@dataclass(frozen=True, eq=False)
class Restriction:
    """A condition of a statement at given constants: one inequality, or two for an equality."""

    condition: Condition
    symbols: frozenset[str]
    inequalities: tuple[Inequality, ...]

    @staticmethod
    def of(
        condition: Condition, constants: Mapping[str, float], names: frozenset[str], *, solve: bool = False
    ) -> Restriction:
        """At these constants, of the named step sizes, solved for those that do not make up a side with ``solve``.

        Raises `InputError` where it has no value there.
        """
        steps = tuple(sorted(condition.symbols & names))
        try:
            left, right = (formula.function(side, steps, constants) for side in (condition.left, condition.right))
        except formula.RangeError:
            raise out_of_range(f'"{condition.text}" has no value') from None
        symbols = [names_in(side) for side in (condition.left, condition.right)]
        alone = [
            side.name if side.is_Symbol and side.name in names and side.name not in other else None
            for side, other in zip((condition.left, condition.right), reversed(symbols), strict=True)
        ]
        strict = condition.operator in ("<", ">")
        roots = dict(_roots(condition, steps, constants)) if solve else {}

        def inequality(*, turned: bool) -> Inequality:
            # Turned, the right side is the small one: a bare left side is then bounded from below.
            small, large = (right, left) if turned else (left, right)
            which = alone[0] or alone[1]
            above = (alone[0] is not None) != turned
            return Inequality(condition, steps, strict, small, large, which, above, roots)

        turns = {"<=": (False,), "<": (False,), ">=": (True,), ">": (True,), "==": (False, True)}[condition.operator]
        return Restriction(condition, frozenset(steps), tuple(inequality(turned=turned) for turned in turns))

    @property
    def name(self) -> str:
        """The condition as printed in messages."""
        return self.condition.text

    @property
    def strict(self) -> bool:
        """Whether equality of both sides is not enough."""
        return any(inequality.strict for inequality in self.inequalities)

    def gaps(self, values: Point) -> list[float]:
        """The logarithm of small side over large side of each inequality."""
        return [i.gap([values[name] for name in i.steps]) for i in self.inequalities]

    def narrow(self, intervals: Intervals) -> None:
        """Cut the intervals of its step sizes."""
        for inequality in self.inequalities:
            inequality.narrow(intervals, self)
        if len(self.inequalities) > 1:
            # Both ends are the one root, which bracketing finds from either side.
            for name in self.symbols:
                interval = intervals[name]
                closed = not (any(interval.open) or interval.empty)
                if closed and math.isclose(interval.low, interval.high, rel_tol=_EQUAL):
                    intervals[name] = replace(interval, high=interval.low)


@dataclass(frozen=True, eq=False)
class ProductRule:
    """``product == local * outer``, by interval arithmetic."""

    product: str
    local: str
    outer: str
    strict = False

    @property
    def name(self) -> str:
        """The product as printed in messages."""
        return f"{self.product} == {self.local}*{self.outer}"

    @property
    def symbols(self) -> frozenset[str]:
        """The three step sizes."""
        return frozenset({self.product, self.local, self.outer})

    def gaps(self, values: Point) -> list[float]:
        """The logarithm of one side over the other, both ways round."""
        gap = math.log(values[self.product]) - math.log(values[self.local]) - math.log(values[self.outer])
        return [gap, -gap]

    def narrow(self, intervals: Intervals) -> None:
        """Cut all three intervals."""
        for name, other in ((self.local, self.outer), (self.outer, self.local)):
            whole, part = intervals[self.product], intervals[other]
            high = math.inf if part.low == 0.0 else whole.high / part.low
            # An interval that has shrunk to zero is empty, whatever the other one.
            low = whole.low / part.high if part.high > 0.0 else math.inf
            ends = Interval(low, high, strict=_either(whole.open, part.open[::-1]))
            self._cut(intervals, name, ends, (whole.because, part.because[::-1]))
        left, right = intervals[self.local], intervals[self.outer]
        high = math.inf if math.inf in (left.high, right.high) else left.high * right.high
        low = 0.0 if 0.0 in (left.low, right.low) else left.low * right.low
        ends = Interval(low, high, strict=_either(left.open, right.open))
        self._cut(intervals, self.product, ends, (left.because, right.because))

    def _cut(
        self, intervals: Intervals, name: str, ends: Interval, reasons: tuple[tuple[frozenset[object], ...], ...]
    ) -> None:
        here = frozenset({self})
        (low_one, high_one), (low_two, high_two) = reasons
        cut = intervals[name].cut(ends.low, math.inf, here | low_one | low_two, strict=ends.strict[0])
        intervals[name] = cut.cut(0.0, ends.high, here | high_one | high_two, strict=ends.strict[1])


def _either(one: tuple[bool, bool], two: tuple[bool, bool]) -> tuple[bool, bool]:
    return one[0] or two[0], one[1] or two[1]


@dataclass(frozen=True, eq=False)
class Fixed:
    """A step size that the caller has fixed."""

    symbol: str
    value: float
    strict = False

    @property
    def name(self) -> str:
        """The value as printed in messages."""
        return f"{self.symbol} == {shortest(self.value)} (given)"

    @property
    def symbols(self) -> frozenset[str]:
        """The one step size."""
        return frozenset({self.symbol})

    def gaps(self, values: Point) -> list[float]:
        """The logarithm of the ratio to the fixed value, both ways round."""
        gap = math.log(values[self.symbol] / self.value)
        return [gap, -gap]

    def narrow(self, intervals: Intervals) -> None:
        """Cut the interval to the one value."""
        intervals[self.symbol] = intervals[self.symbol].cut(self.value, self.value, frozenset({self}))


Rule = Restriction | ProductRule | Fixed


def short_name(rule: Rule) -> str:
    """The name of a condition in its statement, such as ``y step``; other rules in full."""
    return rule.condition.name if isinstance(rule, Restriction) else rule.name
