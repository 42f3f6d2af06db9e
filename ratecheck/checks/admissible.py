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

from bounds.statement import Condition, Statement, as_float, number
from bounds.symbols import Role
from ratecheck.errors import InputError

_TOLERANCE = 1e-12
_SWEEPS = 100
# An optimum that is only approached is reported where the bound is within this factor of its infimum.
_NEAR = 1.01
# Stand-ins for the open ends of an interval, far outside every sensible step size and inside the range of floats.
_TINY, _HUGE = 1e-60, 1e60

Reasons = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True)
class Interval:
    """Admissible values low <= value <= high; ``because`` names the conditions that set the two ends."""

    low: float = 0.0
    high: float = math.inf
    because: Reasons = (frozenset(), frozenset())

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
        return self.low > self.high * (1 + _TOLERANCE)

    def cut(self, low: float, high: float, because: frozenset[str]) -> Interval:
        """The intersection with [low, high]."""
        new = self
        if low > new.low * (1 + _TOLERANCE):
            new = replace(new, low=low, because=(because, new.because[1]))
        if high < new.high * (1 - _TOLERANCE):
            new = replace(new, high=high, because=(new.because[0], because))
        return new


@dataclass(frozen=True)
class StepSizes:
    """The answer of ``stepsize``.

    ``admissible`` maps each step size to its interval; ``prescribed`` holds what the statement sets (for "at least"
    rules the smallest value), ``optimal`` the minimiser of the bound over the region with the value of the bound there.
    ``approached`` names step sizes along which the bound keeps falling; their optimum is where it is within 1% of its
    infimum. ``conflict`` names a smallest set of conditions that cannot hold together (empty where feasible),
    ``missing`` the constants without which the bound cannot be minimised.
    """

    statement: Statement
    values: dict[str, float]
    admissible: dict[str, Interval]
    prescribed: dict[str, float]
    optimal: dict[str, float] = field(default_factory=dict)
    optimal_bound: float | None = None
    approached: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

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
    prescribed = {rule.symbol.name: number(rule.value, values) for rule in statement.step_rules}
    answer = StepSizes(statement=statement, values=values, admissible=intervals, prescribed=prescribed)
    if broken:
        # A condition without step sizes, which none of them can mend.
        return replace(answer, conflict=tuple(check.condition.text for check in broken))
    if any(interval.empty for interval in intervals.values()):
        return replace(answer, conflict=_conflict(rules, values, names, intervals))
    return _with_optimum(answer)


def _step_names(statement: Statement) -> tuple[str, ...]:
    return tuple(name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE)


Intervals = dict[str, Interval]


@dataclass(frozen=True)
class _Condition:
    """``excess(values) <= 0`` for each excess, monotone in each step size."""

    name: str
    symbols: frozenset[str]
    excesses: tuple[Callable[..., float], ...]

    @staticmethod
    def of(condition: Condition) -> _Condition:
        def difference(**values: float) -> float:
            return number(condition.left, values) - number(condition.right, values)

        def opposite(**values: float) -> float:
            return number(condition.right, values) - number(condition.left, values)

        excesses = {"<=": (difference,), ">=": (opposite,), "==": (difference, opposite)}[condition.operator]
        return _Condition(name=condition.text, symbols=condition.symbols, excesses=excesses)

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
        because = frozenset({self.name})
        point = {k: interval.centre for k, interval in others.items()}

        def at(**changes: float) -> float:
            return float(excess(**{**constants, **point, **changes}))

        for k, interval in others.items():
            low, high = interval.ends
            rising = at(**{name: current.centre, k: low}) <= at(**{name: current.centre, k: high})
            point[k] = low if rising else high
            because |= interval.because[0] if rising else interval.because[1]
        low, high = current.ends
        broken_low, broken_high = at(**{name: low}) > 0, at(**{name: high}) > 0
        if broken_low and broken_high:
            return replace(
                current, low=math.inf, high=0.0, because=(because | current.because[0] | current.because[1],) * 2
            )
        if broken_low:
            return current.cut(_root(lambda x: at(**{name: x}), low, high), math.inf, because)
        if broken_high:
            return current.cut(0.0, _root(lambda x: at(**{name: x}), low, high), because)
        return current


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
            self._cut(intervals, name, whole.low / part.high, high, whole.because, part.because[::-1])
        left, right = intervals[self.local], intervals[self.outer]
        high = math.inf if math.inf in (left.high, right.high) else left.high * right.high
        low = 0.0 if 0.0 in (left.low, right.low) else left.low * right.low
        self._cut(intervals, self.product, low, high, left.because, right.because)

    def _cut(self, intervals: Intervals, name: str, low: float, high: float, one: Reasons, two: Reasons) -> None:
        here = frozenset({self.name})
        cut = intervals[name].cut(low, math.inf, here | one[0] | two[0])
        intervals[name] = cut.cut(0.0, high, here | one[1] | two[1])


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


def _with_optimum(answer: StepSizes) -> StepSizes:
    """Minimise the bound of the first claim over the step sizes in it."""
    bound, outers = _with_fixed_products(answer)
    free = [s.name for s in sorted(bound.free_symbols, key=str) if s.name in answer.admissible]
    missing = tuple(sorted({s.name for s in bound.free_symbols} - answer.values.keys() - set(free)))
    vocabulary = answer.statement.vocabulary
    measured = any(vocabulary[s.name].role is Role.MEASURED for s in bound.free_symbols)
    if not free or measured or answer.statement.order_only:
        return answer
    if missing:
        return replace(answer, missing=missing)

    def value(**steps: float) -> float:
        return number(bound, {**answer.values, **steps})

    boxes = {name: (max(i.low, _TINY), min(i.high, _HUGE)) for name, i in answer.admissible.items() if name in free}
    best = _coordinate_descent(value, boxes)
    infimum = value(**best)
    approached = []
    for name, (low, high) in boxes.items():
        if best[name] < high * (1 - 1e-6) or math.isfinite(answer.admissible[name].high):
            continue
        # The bound does not rise towards the open end: take the smallest step size that is nearly as good.
        at_low = value(**{**best, name: low})
        if not math.isclose(at_low, infimum, rel_tol=1e-12):
            approached.append(name)
        along = functools.partial(_along, value, best, name)
        best[name] = low if at_low <= _NEAR * infimum else _root(lambda x: along(x) - _NEAR * infimum, low, high)  # noqa: B023
    smallest = value(**best)
    for outer, (product, local) in outers.items():
        if product in best or answer.admissible[product].low == answer.admissible[product].high:
            best[outer] = best.get(product, answer.admissible[product].low) / local
    return replace(answer, optimal=best, optimal_bound=smallest, approached=tuple(approached))


def _with_fixed_products(answer: StepSizes) -> tuple[sp.Expr, dict[str, tuple[str, float]]]:
    """The bound with an outer step size written as product/local where the local one is fixed, and these pairs."""
    bound, outers = answer.statement.claims[0].bound, {}
    for rule in answer.statement.step_products:
        local = answer.admissible[rule.local.name]
        if local.low == local.high and rule.outer in bound.free_symbols:
            bound = bound.subs(rule.outer, rule.product / sp.Float(local.low, 17))
            outers[rule.outer.name] = (rule.product.name, local.low)
    return bound, outers


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
        if all(math.isclose(best[k], before[k], rel_tol=1e-10) for k in best):
            break
    return best


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Minimiser of a function that is unimodal in log x (sums of powers are), ends included."""
    if high <= low * (1 + _TOLERANCE):
        return low
    left, right = math.log(low), math.log(high)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(200):
        inner_left, inner_right = right - ratio * (right - left), left + ratio * (right - left)
        if function(math.exp(inner_left)) <= function(math.exp(inner_right)):
            right = inner_right
        else:
            left = inner_left
    return min((low, math.exp((left + right) / 2), high), key=function)
