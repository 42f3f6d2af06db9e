"""Which step sizes a statement admits, which it prescribes, and which minimise its bound.

The admissible interval of a step size is the projection of the admissible region on it: the values for which some
choice of the other step sizes meets every condition. Intervals are narrowed condition by condition until nothing
changes. That is exact here because every condition is monotone in each step size and the products between step sizes
form a tree.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import sympy as sp

from bounds.statement import Condition, Relation, Statement, as_float, number
from bounds.symbols import Role
from ratecheck.errors import InputError

_TOLERANCE = 1e-12
_SWEEPS = 100
# An optimum that is only approached is reported where the bound is within this factor of its infimum.
_NEAR = 1.01
# A bound that still halves over this ratio next to an open end has no positive infimum there.
_DECADES = 1e3
# How far inside an open end the bound is minimised, relative to it.
_INSIDE = 1e-9
# Stand-ins for the open ends of an interval, far outside every sensible step size and inside the range of floats.
_TINY, _HUGE = 1e-60, 1e60

Reasons = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True)
class Interval:
    """Admissible values from low to high; ``because`` names the conditions that set the two ends.

    An end is admissible itself unless ``strict`` says otherwise; zero and infinity never are.
    """

    low: float = 0.0
    high: float = math.inf
    because: Reasons = (frozenset(), frozenset())
    strict: tuple[bool, bool] = (False, False)

    @property
    def open(self) -> tuple[bool, bool]:
        """Whether the interval goes up to its ends without containing them."""
        return self.strict[0] or self.low == 0.0, self.strict[1] or math.isinf(self.high)

    @property
    def single(self) -> bool:
        """Whether only one value is admissible."""
        return self.low == self.high

    @property
    def box(self) -> tuple[float, float]:
        """The ends of a closed interval of positive numbers that leaves out open ends."""
        low = self.low * (1 + _INSIDE) if self.strict[0] else self.low
        high = self.high * (1 - _INSIDE) if self.strict[1] else self.high
        return max(low, _TINY), min(high, _HUGE)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as numbers that a condition can be evaluated at."""
        return self.low, min(self.high, _HUGE)

    @property
    def centre(self) -> float:
        """A number inside, on the scale of the interval."""
        low, high = self.ends
        return math.sqrt(max(low, _TINY)) * math.sqrt(high)

    @property
    def empty(self) -> bool:
        """Whether no value is left (with room for rounding)."""
        if any(self.open) and self.low >= self.high * (1 - _TOLERANCE):
            return True
        return self.low > self.high * (1 + _TOLERANCE)

    def cut(self, low: float, high: float, because: frozenset[str], *, strict: bool = False) -> Interval:
        """The intersection with [low, high], without these ends if ``strict``."""
        new = self
        if low > new.low * (1 + _TOLERANCE):
            new = replace(new, low=low, because=(because, new.because[1]), strict=(strict, new.strict[1]))
        elif strict and not new.open[0] and low >= new.low * (1 - _TOLERANCE):
            new = replace(new, because=(because, new.because[1]), strict=(True, new.strict[1]))
        if high < new.high * (1 - _TOLERANCE):
            new = replace(new, high=high, because=(new.because[0], because), strict=(new.strict[0], strict))
        elif strict and not new.open[1] and high <= new.high * (1 + _TOLERANCE):
            new = replace(new, because=(new.because[0], because), strict=(new.strict[0], True))
        return new


@dataclass(frozen=True)
class StepSizes:
    """The answer of ``stepsize``.

    ``admissible`` maps each step size to its interval; ``prescribed`` holds what the statement sets (for "at least"
    rules the smallest value), ``defaults`` what is taken where neither the statement nor the caller says more.
    ``optimal`` is the minimiser of the bound over the region and ``optimal_bound`` the bound's infimum. ``approached``
    maps step sizes along which the bound keeps falling to the open end at which they do; their optimum is where it is
    within 1% of its infimum (``optimal`` is empty where that is zero or minus infinity). ``conflict`` names a smallest
    set of conditions that cannot hold together (empty where feasible), ``missing`` the constants without which the
    bound cannot be minimised. ``entangled`` says that no minimiser was found because the conditions tie the step sizes
    together.
    """

    statement: Statement
    values: dict[str, float]
    admissible: dict[str, Interval]
    prescribed: dict[str, float]
    defaults: dict[str, float] = field(default_factory=dict)
    optimal: dict[str, float] = field(default_factory=dict)
    optimal_bound: float | None = None
    approached: dict[str, float] = field(default_factory=dict)
    conflict: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    entangled: bool = False

    @property
    def feasible(self) -> bool:
        """Whether any step sizes are admissible."""
        return not self.conflict


def step_sizes(statement: Statement, given: Mapping[str, float]) -> StepSizes:
    """Admissible intervals, prescribed values and optimum at the given constants; step sizes may be fixed as well.

    Raises `InputError` for statements without step-size conditions, for bad values and for missing constants that a
    condition needs.
    """
    names = _step_names(statement)
    if not names or not (statement.hypotheses or statement.step_products):
        raise InputError(f"{statement.key} has no step sizes: there is nothing to choose")
    constants = {name: value for name, value in given.items() if name not in names}
    values, _ = replace(statement, step_rules=(), step_products=()).complete(constants)
    fixed = {name: as_float(name, value) for name, value in given.items() if name in names}
    for name, value in fixed.items():
        statement.vocabulary[name].check(value)
    rules: list[_Rule] = [_Condition.of(condition) for condition in statement.hypotheses]
    _require(statement, rules, values, names)
    rules += [_Product(p.product.name, p.local.name, p.outer.name) for p in statement.step_products]
    rules += [_Given(name, value) for name, value in fixed.items()]
    broken = [check for check in statement.check_conditions(values) if check.holds is False]
    intervals = narrow(rules, values, names)
    prescribed, defaults = _ruled(statement, {**values, **fixed}, values)
    answer = StepSizes(
        statement=statement, values=values, admissible=intervals, prescribed=prescribed, defaults=defaults
    )
    if broken:
        # A condition without step sizes, which none of them can mend.
        return replace(answer, conflict=tuple(check.condition.text for check in broken))
    if any(interval.empty for interval in intervals.values()):
        return replace(answer, conflict=_conflict(rules, values, names, intervals))
    return _with_optimum(answer, rules)


def _ruled(
    statement: Statement, given: Mapping[str, float], constants: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """What the step rules set, and what they only suggest; a rule may use what others set or what was given."""
    try:
        values, _ = statement.complete(given)
    except InputError:
        # Step sizes that contradict each other; the rules that need none of them still have a value.
        values = dict(constants)
    sets: dict[str, float] = {}
    suggests: dict[str, float] = {}
    for rule in statement.step_rules:
        if {symbol.name for symbol in rule.value.free_symbols} <= values.keys():
            (suggests if rule.free else sets)[rule.symbol.name] = number(rule.value, values)
    return sets, suggests


def _step_names(statement: Statement) -> tuple[str, ...]:
    return tuple(name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE)


Intervals = dict[str, Interval]


@dataclass(frozen=True)
class _Condition:
    """``excess(values) <= 0`` for each excess, or ``< 0`` if ``strict``; monotone in each step size."""

    name: str
    symbols: frozenset[str]
    strict: bool
    excesses: tuple[Callable[..., float], ...]

    @staticmethod
    def of(condition: Condition) -> _Condition:
        def difference(**values: float) -> float:
            return number(condition.left, values) - number(condition.right, values)

        def opposite(**values: float) -> float:
            return number(condition.right, values) - number(condition.left, values)

        excesses = {
            "<=": (difference,),
            "<": (difference,),
            ">=": (opposite,),
            ">": (opposite,),
            "==": (difference, opposite),
        }[condition.operator]
        strict = condition.operator in ("<", ">")
        return _Condition(name=condition.text, symbols=condition.symbols, strict=strict, excesses=excesses)

    def narrow(self, values: Mapping[str, float], intervals: Intervals) -> None:
        """Cut the interval of every step size in it, the others standing where they help most."""
        for excess in self.excesses:
            for name in sorted(self.symbols & intervals.keys()):
                others = {k: intervals[k] for k in self.symbols & intervals.keys() if k != name}
                constants = {k: values[k] for k in self.symbols if k not in intervals}
                intervals[name] = self._cut(excess, constants, name, intervals[name], others)

    def _cut(
        self,
        excess: Callable[..., float],
        constants: dict[str, float],
        name: str,
        current: Interval,
        others: Intervals,
    ) -> Interval:
        because, strict = frozenset({self.name}), self.strict
        point = {k: interval.centre for k, interval in others.items()}

        def at(**changes: float) -> float:
            return float(excess(**{**constants, **point, **changes}))

        for k, interval in others.items():
            low, high = interval.ends
            at_low, at_high = at(**{name: current.centre, k: low}), at(**{name: current.centre, k: high})
            rising = at_low <= at_high
            point[k] = low if rising else high
            # What helps most is not admissible itself, so neither is the value that it would allow.
            strict |= at_low != at_high and interval.open[0 if rising else 1]
            because |= interval.because[0] if rising else interval.because[1]
        low, high = current.ends

        def along(x: float) -> float:
            return at(**{name: x})

        broken_low, broken_high = self._broken(along, low), self._broken(along, high)
        if broken_low and broken_high:
            return replace(
                current, low=math.inf, high=0.0, because=(because | current.because[0] | current.because[1],) * 2
            )
        if broken_low:
            root = _root(along, low, high) if along(low) > 0 else low
            return current.cut(root, math.inf, because, strict=strict)
        if broken_high:
            root = _root(along, low, high) if along(high) > 0 else high
            return current.cut(0.0, root, because, strict=strict)
        return current

    def _broken(self, excess: Callable[[float], float], value: float) -> bool:
        """Whether the condition fails; a strict one fails also where both sides are equal but for rounding."""
        if excess(value) > 0:
            return True
        return self.strict and any(excess(value * factor) > 0 for factor in (1 - _TOLERANCE, 1 + _TOLERANCE))


@dataclass(frozen=True)
class _Product:
    """``product == local * outer``, by interval arithmetic."""

    product: str
    local: str
    outer: str

    @property
    def name(self) -> str:
        return f"{self.product} == {self.local}*{self.outer}"

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset({self.product, self.local, self.outer})

    def narrow(self, _: Mapping[str, float], intervals: Intervals) -> None:
        """Cut all three intervals."""
        for name, other in ((self.local, self.outer), (self.outer, self.local)):
            whole, part = intervals[self.product], intervals[other]
            high = math.inf if part.low == 0.0 else whole.high / part.low
            ends = Interval(whole.low / part.high, high, strict=_either(whole.open, part.open[::-1]))
            self._cut(intervals, name, ends, whole.because, part.because[::-1])
        left, right = intervals[self.local], intervals[self.outer]
        high = math.inf if math.inf in (left.high, right.high) else left.high * right.high
        low = 0.0 if 0.0 in (left.low, right.low) else left.low * right.low
        ends = Interval(low, high, strict=_either(left.open, right.open))
        self._cut(intervals, self.product, ends, left.because, right.because)

    def _cut(self, intervals: Intervals, name: str, ends: Interval, one: Reasons, two: Reasons) -> None:
        here = frozenset({self.name})
        cut = intervals[name].cut(ends.low, math.inf, here | one[0] | two[0], strict=ends.strict[0])
        intervals[name] = cut.cut(0.0, ends.high, here | one[1] | two[1], strict=ends.strict[1])


def _either(one: tuple[bool, bool], two: tuple[bool, bool]) -> tuple[bool, bool]:
    return one[0] or two[0], one[1] or two[1]


@dataclass(frozen=True)
class _Given:
    """A step size that the caller has fixed."""

    symbol: str
    value: float

    @property
    def name(self) -> str:
        return f"{self.symbol} == {self.value:g} (given)"

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset({self.symbol})

    def narrow(self, _: Mapping[str, float], intervals: Intervals) -> None:
        """Cut the interval to the one value."""
        intervals[self.symbol] = intervals[self.symbol].cut(self.value, self.value, frozenset({self.name}))


_Rule = _Condition | _Product | _Given


def _require(statement: Statement, rules: list[_Rule], values: dict[str, float], names: tuple[str, ...]) -> None:
    needed = {name for rule in rules for name in rule.symbols if name not in names}
    missing = sorted(needed - values.keys())
    if missing:
        listed = ", ".join(f"{name} ({statement.vocabulary[name].meaning})" for name in missing)
        raise InputError(f"the conditions of {statement.key} need a value for {listed}; give it as {missing[0]}=...")


def narrow(rules: Iterable[_Rule], values: Mapping[str, float], names: Iterable[str]) -> Intervals:
    """Intervals of the named step sizes under all rules."""
    rules = list(rules)
    intervals = {name: Interval() for name in names}
    for _ in range(_SWEEPS):
        before = dict(intervals)
        for rule in rules:
            rule.narrow(values, intervals)
            if any(interval.empty for interval in intervals.values()):
                return intervals
        if before == intervals:
            break
    return intervals


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a monotone function changes sign: bisection of the logarithm, then of the number, to the last bit."""
    sign = function(low) > 0
    low = max(low, _TINY)
    for _ in range(2000):
        middle = math.sqrt(low) * math.sqrt(high) if high > 4 * low else (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    return high if sign else low


def _conflict(
    rules: list[_Rule], values: dict[str, float], names: tuple[str, ...], intervals: dict[str, Interval]
) -> tuple[str, ...]:
    """A smallest conflicting set: start from the reasons of the empty interval and drop what is not needed."""

    def conflicting(subset: list[_Rule]) -> bool:
        return any(interval.empty for interval in narrow(subset, values, names).values())

    reasons = frozenset().union(*(side for i in intervals.values() if i.empty for side in i.because))
    core = [rule for rule in rules if rule.name in reasons]
    if not conflicting(core):
        core = list(rules)
    for rule in list(core):
        without = [other for other in core if other is not rule]
        if conflicting(without):
            core = without
    return tuple(rule.name for rule in core)


def _with_optimum(answer: StepSizes, rules: list[_Rule]) -> StepSizes:
    """Minimise the bound of the first claim over the step sizes in it."""
    bound, derived = _with_fixed_products(answer)
    free = [s.name for s in sorted(bound.free_symbols, key=str) if s.name in answer.admissible]
    missing = tuple(sorted({s.name for s in bound.free_symbols} - answer.values.keys() - set(free)))
    vocabulary = answer.statement.vocabulary
    measured = any(vocabulary[s.name].role is Role.MEASURED for s in bound.free_symbols)
    # The right side of a definition is no bound.
    defines = answer.statement.claims[0].relation is Relation.EQUAL
    if not free or measured or defines or answer.statement.order_only:
        return answer
    if missing:
        return replace(answer, missing=missing)

    def value(**steps: float) -> float:
        return number(bound, {**answer.values, **steps})

    best = _coordinate_descent(value, {name: answer.admissible[name].box for name in free})
    best, smallest, approached = _off_the_ends(value, best, answer.admissible)
    for name, (expr, symbol) in derived.items():
        if symbol in best or answer.admissible[symbol].single:
            best[name] = number(expr, {symbol: best.get(symbol, answer.admissible[symbol].low)})
            if symbol in approached:
                approached[name] = number(expr, {symbol: approached[symbol]})
    at_best = narrow([*rules, *(_Given(name, x) for name, x in best.items())], answer.values, answer.admissible)
    if any(interval.empty for interval in at_best.values()):
        return replace(answer, entangled=True)
    attainable = math.isfinite(smallest) and not (approached and smallest == 0.0)
    return replace(answer, optimal=best if attainable else {}, optimal_bound=smallest, approached=approached)


def _with_fixed_products(answer: StepSizes) -> tuple[sp.Expr, dict[str, tuple[sp.Expr, str]]]:
    """The bound with one factor of a product put as the product over the other where one of the three is fixed.

    Also each such factor as an expression in the one symbol that is named beside it.
    """
    bound, derived = answer.statement.claims[0].bound, {}
    for rule in answer.statement.step_products:
        for factor, other in ((rule.outer, rule.local), (rule.local, rule.outer)):
            fixed = next((s for s in (other, rule.product) if answer.admissible[s.name].single), None)
            inside = bound.free_symbols
            # A product that is fixed ties its factors only where the bound has both.
            if factor not in inside or fixed is None or (fixed == rule.product and other not in inside):
                continue
            expr = (rule.product / other).xreplace({fixed: sp.Float(answer.admissible[fixed.name].low, 17)})
            bound = bound.xreplace({factor: expr})
            derived[factor.name] = (expr, (other if fixed == rule.product else rule.product).name)
            break
    return bound, derived


def _off_the_ends(
    value: Callable[..., float], best: Mapping[str, float], intervals: Intervals
) -> tuple[dict[str, float], float, dict[str, float]]:
    """A minimiser, the infimum, and the open ends at which it is approached.

    Where the bound falls all the way to an open end, the step size farthest from it is taken that is nearly as good.
    """
    best, infimum = dict(best), value(**best)
    ends = []
    for name, x in best.items():
        interval, (low, high) = intervals[name], intervals[name].box

        def at_end(end: float, x: float = x, name: str = name) -> bool:
            # Far out the bound is flat to the last digit, and any point there is as good.
            near = math.isclose(x, end, rel_tol=1e-6)
            return near or value(**{**best, name: end}) <= infimum + _TOLERANCE * abs(infimum)

        if interval.open[0] and at_end(low):
            ends.append((name, interval.low, low, high))
        elif interval.open[1] and at_end(high):
            ends.append((name, interval.high, high, low))
    approached, smallest = {}, infimum
    for k, (name, limit, end, other) in enumerate(ends, start=1):
        along = functools.partial(_along, value, dict(best), name)
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
            best[name] = other if _TINY < other < _HUGE else 1.0
        else:
            best[name] = _root(functools.partial(_above, along, allowed), *sorted((end, other)))
    return best, smallest, approached


def _above(function: Callable[[float], float], level: float, x: float) -> float:
    return function(x) - level


def _along(value: Callable[..., float], point: Mapping[str, float], name: str, x: float) -> float:
    """The bound as a function of one step size."""
    return value(**{**point, name: x})


def _coordinate_descent(value: Callable[..., float], boxes: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Minimise one step size after the other until nothing moves; sums of powers have no other stationary points."""
    best = {name: math.sqrt(low) * math.sqrt(high) for name, (low, high) in boxes.items()}
    for _ in range(_SWEEPS):
        before = dict(best)
        for name, (low, high) in boxes.items():
            best[name] = _minimum(functools.partial(_along, value, best, name), low, high)
        # Where the bound is flat, the minimiser itself is known to half the digits only.
        if value(**before) - value(**best) <= _TOLERANCE * abs(value(**best)):
            break
    return best


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Minimiser of a function that is unimodal in log x (sums of powers are), ends included."""
    if high <= low * (1 + _TOLERANCE):
        return low
    left, right = math.log(low), math.log(high)
    ratio = (math.sqrt(5) - 1) / 2
    inner_left, inner_right = right - ratio * (right - left), left + ratio * (right - left)
    at_left, at_right = function(math.exp(inner_left)), function(math.exp(inner_right))
    while right - left > 1e-10:
        if at_left <= at_right:
            right, inner_right, at_right = inner_right, inner_left, at_left
            inner_left = right - ratio * (right - left)
            at_left = function(math.exp(inner_left))
        else:
            left, inner_left, at_left = inner_left, inner_right, at_right
            inner_right = left + ratio * (right - left)
            at_right = function(math.exp(inner_right))
    return min((low, math.exp((left + right) / 2), high), key=function)
