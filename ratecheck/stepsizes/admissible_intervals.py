"""Projections of the admissible region on the single step sizes, and the smallest sets of rules that conflict.

Narrowing rule by rule until nothing changes never loses an admissible value, and is exact where rules and step sizes
form a tree. Where they form cycles, one step size is fixed such that the rest is a tree; the ends of the others are
then the extremes over its values, found by a search that is exact where the region is convex in the logarithms of the
step sizes, as it is for conditions between sums of products of powers (the more so since every end found is taken
by a point of the region, and an end that narrowing leaves is none too wide if such a point takes it).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ratecheck.algebra.one_dimensional import bisect, geometric, golden_sections
from ratecheck.stepsizes.constraints import Intervals, Rule, emptied
from ratecheck.stepsizes.interval import HUGE, TINY, Interval, point

# Rules are applied at most so many times each: in a tree far fewer do, and what is cut more slowly is not cut at all.
_ROUNDS = 12
# An end is taken where the best found is this close to it; a search ends where it moves less than that.
_CLOSE = 2e-13
# The same where it is approached at an open end, which is looked at from just inside.
_NEAR = 1e-8
# An end that was searched for is moved inwards by this, so that rounding does not leave it outside.
_SAFE = 4e-13
_FINEST = 1e-13
# Decades from a finite end at which a half-open interval is sampled.
_DECADES = (0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 22.0, 34.0)
_POINTS = 13
# An end that still moves by this power of the other step size before an open end of that has no limit there.
_RUNAWAY = 0.05
# Samples are left out while there are more than so many.
_FEWEST = 3
# How far beside an extreme its reasons are looked up.
_BESIDE = 1e-7


def project(rules: Sequence[Rule], start: Intervals) -> Intervals:
    """The interval of each step size: its values for which some values of the others in ``start`` meet every rule.

    One of the intervals is empty where nothing does.
    """
    box = narrow(rules, start)
    if is_empty(box):
        return box
    for name in _cutset(rules, box):
        box = _Conditioned(rules, box, name).project()
        if is_empty(box):
            return box
    return box


def feasible(rules: Sequence[Rule], start: Intervals) -> bool:
    """Whether any values in ``start`` meet every rule."""
    box = narrow(rules, start)
    return not is_empty(box) and all(
        _Conditioned(rules, box, name).witness() is not None for name in _cutset(rules, box)
    )


def is_empty(intervals: Intervals) -> bool:
    """Whether some step size has no value left."""
    return any(interval.empty for interval in intervals.values())


def unrestricted(names: Iterable[str]) -> Intervals:
    """All positive numbers for each step size."""
    return {name: Interval() for name in names}


def narrow(rules: Sequence[Rule], start: Intervals, touched: Iterable[str] | None = None) -> Intervals:
    """Cut by each rule until nothing changes; with ``touched``, begin with the rules about these step sizes."""
    intervals = dict(start)
    first = None if touched is None else set(touched)
    queue = deque(rule for rule in rules if first is None or rule.symbols & first)
    waiting = set(queue)
    for _ in range(_ROUNDS * (len(rules) + 1)):
        if not queue:
            break
        rule = queue.popleft()
        waiting.discard(rule)
        before = [(name, intervals[name]) for name in rule.symbols]
        rule.narrow(intervals)
        changed = {name for name, interval in before if intervals[name] is not interval}
        if any(intervals[name].empty for name in changed):
            return intervals
        for other in rules:
            if other is not rule and other not in waiting and other.symbols & changed:
                queue.append(other)
                waiting.add(other)
    return intervals


def conflict(rules: Sequence[Rule], names: Iterable[str]) -> tuple[Rule, ...]:
    """A smallest set of rules that cannot hold together: no rule in it can be left out. They must conflict."""
    start = unrestricted(names)
    box = project(rules, start)
    reasons = frozenset().union(*(side for i in box.values() if i.empty for side in i.because))
    core = [rule for rule in rules if rule in reasons]
    if feasible(core, start):
        core = list(rules)
    for rule in list(core):
        without = [other for other in core if other is not rule]
        if not feasible(without, start):
            core = without
    return tuple(core)


def _cutset(rules: Sequence[Rule], box: Intervals) -> list[str]:
    """One step size out of each part of the rules that has a cycle, such that fixing it leaves a tree if any does."""
    chosen = []
    for part in _parts(rules, box):
        if not _is_tree(part, box):
            names = sorted({name for rule in part for name in rule.symbols if not box[name].single})
            used = {name: sum(name in rule.symbols for rule in part) for name in names}
            chosen.append(max(names, key=lambda name: (_is_tree(part, {**box, name: point(1.0)}), used[name])))
    return chosen


def _parts(rules: Sequence[Rule], box: Intervals) -> list[list[Rule]]:
    """The rules that tie free step sizes to each other, directly or through others."""
    parts: list[tuple[set[str], list[Rule]]] = []
    for rule in rules:
        names = {name for name in rule.symbols if not box[name].single}
        if len(names) < 2:
            continue
        together = [part for part in parts if part[0] & names]
        parts = [part for part in parts if not part[0] & names]
        merged = names.union(*(part[0] for part in together))
        parts.append((merged, [*(other for part in together for other in part[1]), rule]))
    return [part for _, part in parts]


def _is_tree(rules: Sequence[Rule], box: Intervals) -> bool:
    """Whether no two ways lead from one free step size to another."""
    group: dict[str, str] = {}

    def root(name: str) -> str:
        while name in group:
            name = group[name]
        return name

    for rule in rules:
        first, *others = sorted(name for name in rule.symbols if not box[name].single) or [""]
        for other in others:
            one, two = root(first), root(other)
            if one == two:
                return False
            group[one] = two
    return True


class _Conditioned:
    """The rules seen from one step size: what the others may be for each of its values."""

    def __init__(self, rules: Sequence[Rule], box: Intervals, name: str) -> None:
        self.box, self.name = box, name
        self.rules = next(part for part in _parts(rules, box) if any(name in rule.symbols for rule in part))
        self.others = sorted({other for rule in self.rules for other in rule.symbols} - {name})
        self._start = {other: box[other] for other in (*self.others, name)}
        self._known: dict[float, Intervals] = {}

    def _at(self, value: float) -> Intervals:
        if value not in self._known:
            box = narrow(self.rules, {**self._start, self.name: point(value)}, (self.name,))
            if not is_empty(box):
                for other in _cutset(self.rules, box):
                    box = _Conditioned(self.rules, box, other).project()
            self._known[value] = box
        return self._known[value]

    def slice(self, value: float) -> Intervals | None:
        """The intervals of the others where the step size has this value; None where nothing is admissible."""
        box = self._at(value)
        return None if is_empty(box) else box

    def witness(self) -> float | None:
        """A value of the step size for which the others have one: where the rules are missed by least, if at all."""
        interval = self.box[self.name]
        for place in (interval.centre, *_places(interval)):
            if self.slice(place) is not None:
                return place
        _smallest(self.depth, _places(interval), interval, 0.0)
        best = min(self._known, key=self.depth)
        return None if self.slice(best) is None else best

    def depth(self, value: float) -> float:
        """The violation of the rules at a value, as the logarithm of a ratio; 0 where they are met."""
        empty = [interval for interval in self._at(value).values() if interval.empty]
        return max((math.log(i.low / i.high) if i.high > 0.0 else math.inf for i in empty), default=0.0)

    def project(self) -> Intervals:
        """The box with exact intervals for this step size and for those tied to it."""
        inside = self.witness()
        if inside is None:
            everything = frozenset(self.rules).union(*(side for i in self._start.values() for side in i.because))
            least = min(map(self.depth, self._known))
            return {**self.box, self.name: emptied(self.box[self.name], everything, least)}
        strict = any(rule.strict for rule in self.rules)
        box = dict(self.box)
        box[self.name] = own = self._own(inside, strict=strict)
        places = [place for place in sorted({*_places(own), inside}) if self.slice(place) is not None]
        for other in self.others:
            if not box[other].single:
                for side in (0, 1):
                    box[other] = self._extreme(other, side, own, places, box[other], strict=strict)
        return box

    def _own(self, inside: float, *, strict: bool) -> Interval:
        """The interval of the step size itself: bisection between a value that is admissible and one that is not."""
        interval = self.box[self.name]
        for side, end in enumerate(interval.box):
            if self.slice(end) is None:
                last, outside = self._last(inside, end)
                empty = self._at(outside)
                because = frozenset[Rule]().union(*(i.because[0] for i in empty.values() if i.empty))
                if not strict:
                    last = last * (1 - _SAFE) if side else last * (1 + _SAFE)
                interval = _with_end(interval, side, last, because, strict=strict)
        return interval

    def _last(self, inside: float, outside: float) -> tuple[float, float]:
        """Neighbours of which the first is admissible and the second is not."""
        return bisect(
            lambda value: self.slice(value) is not None,
            inside,
            outside,
            middle=geometric,
            close=lambda inside, outside: abs(math.log(outside / inside)) <= _FINEST,
        )

    def _extreme(
        self, other: str, side: int, own: Interval, places: list[float], interval: Interval, *, strict: bool
    ) -> Interval:
        """The interval of another step size, its low (0) or high (1) end the extreme over all values of this one."""
        sign = 1 - 2 * side

        def end(value: float) -> float:
            found = self.slice(value)
            return math.inf if found is None else sign * _log_end(found[other], side)

        found = _smallest(end, places, own, sign * _log_end(interval, side))
        if found is None:
            return interval
        least, place, at_open = found
        because = frozenset[Rule]()
        # Where ends that rise and fall with this step size meet, both make the extreme.
        for near in (place * (1 - _BESIDE), place, place * (1 + _BESIDE)):
            if not own.cut(near, near, frozenset()).empty:
                box = self._at(near)
                because |= frozenset[Rule]().union(*(i.because[0] for i in box.values() if i.empty))
                because |= frozenset() if is_empty(box) else box[other].because[side]
            else:
                because |= own.because[near > place]
        end_found = math.exp(sign * least + (0.0 if strict or at_open else sign * _SAFE))
        return _with_end(interval, side, end_found, because, strict=strict or at_open)


def _log_end(interval: Interval, side: int) -> float:
    return math.log(min(max((interval.low, interval.high)[side], TINY), HUGE))


def _with_end(interval: Interval, side: int, end: float, because: frozenset[Rule], *, strict: bool) -> Interval:
    """The interval with another low (0) or high (1) end."""
    if side == 0:
        return replace(interval, low=end, because=(because, interval.because[1]), strict=(strict, interval.strict[1]))
    return replace(interval, high=end, because=(interval.because[0], because), strict=(interval.strict[0], strict))


def _places(interval: Interval) -> list[float]:
    """Values at which an interval is sampled: both ends, or near them, and more where an end is finite."""
    low, high = interval.box
    if high <= low:
        return [low]
    if interval.low == 0.0 and interval.high < math.inf:
        return sorted({low, *(high * 10**-decades for decades in _DECADES if high * 10**-decades > low)})
    if interval.low > 0.0 and interval.high == math.inf:
        return sorted({*(low * 10**decades for decades in _DECADES if low * 10**decades < high), high})
    step = math.log(high / low) / (_POINTS - 1) if high / low < math.inf else math.log(high) - math.log(low)
    return [low, *(low * math.exp(k * step) for k in range(1, _POINTS - 1)), high]


def _in_frame(places: list[float], values: list[float], interval: Interval) -> tuple[list[float], list[float]]:
    """The samples without those near an open end that are infinite only since another step size has left the frame.

    The extreme of one step size is convex in the logarithm of another. One that is finite and falls more slowly before
    an open end than at it does not run away there: what would stop it lies beyond the numbers that are looked at.
    """
    logs, far = [math.log(place) for place in places], math.log(HUGE)

    def beyond(one: int, two: int, three: int) -> bool:
        """Whether the first of three neighbours is infinite and the slope towards it is not that of the others."""
        if abs(values[one]) < far or abs(values[two]) >= far:
            return False
        last = (values[one] - values[two]) / abs(logs[one] - logs[two])
        before = (values[two] - values[three]) / abs(logs[two] - logs[three])
        return last < before - _CLOSE

    first, stop = 0, len(places)
    while (
        interval.open[0]
        and stop - first > _FEWEST
        and any(beyond(first + k, first + k + 1, first + k + 2) for k in range((stop - first) // 2))
    ):
        first += 1
    while (
        interval.open[1]
        and stop - first > _FEWEST
        and any(beyond(stop - k - 1, stop - k - 2, stop - k - 3) for k in range((stop - first) // 2))
    ):
        stop -= 1
    return places[first:stop], values[first:stop]


def _smallest(
    function: Callable[[float], float], places: list[float], interval: Interval, wanted: float
) -> tuple[float, float, bool] | None:
    """The least value over an interval, where it is taken, and whether it is only approached at an open end.

    Samples, then golden sections around the least of them; None once ``wanted``, which is a lower bound, is met.
    """
    places, values = _in_frame(places, [function(place) for place in places], interval)
    last, least = len(places) - 1, min(values)
    ends = {0} if interval.open[0] else set()
    ends |= {last} if interval.open[1] else set()
    # What is reached inside as well is not approached at an open end only.
    k = min(range(len(values)), key=lambda k: (values[k] > least + _CLOSE, k in ends, values[k]))
    at_open = k in ends
    unbounded = abs(wanted) >= math.log(HUGE) and at_open and last > 0
    beside = 1 if k == 0 else k - 1
    if unbounded and values[beside] - values[k] > _RUNAWAY * abs(math.log(places[beside] / places[k])):
        return None
    if at_open and values[k] <= wanted + _NEAR:
        return None
    best, place = values[k], places[k]
    left, right = math.log(places[max(k - 1, 0)]), math.log(places[min(k + 1, last)])
    sections = golden_sections(lambda x: function(math.exp(x)), left, right)
    next(sections)
    while best > wanted + _CLOSE and right - left > _FINEST * max(1.0, abs(left)):
        left, right, inner = next(sections)
        for at_x, x in inner:
            if at_x < best:
                at_open &= at_x > best - _CLOSE
                best, place = at_x, math.exp(x)
    return None if best <= wanted + _CLOSE else (best, place, at_open)
