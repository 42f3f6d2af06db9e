"""Regimes of a bound: settings at which one term is nearly all of the right side while a parameter varies.

Every term of a right side has exponents of its own, and they show where the other terms are small. A `Regime` is such
a place: one parameter runs over one and a half decades or more, everything else is held, every condition of the
statement holds, the term is at least `SHARE` of the bound, and the bound says something.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import sympy as sp

from bounds.formula import of_arrays
from bounds.statement import Statement, names_in
from bounds.symbols import Domain, Role
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import DELAYS, NOISE
from ratecheck.complexity.closed_form import closed
from ratecheck.exponents.families.drawn_delays import in_blocks
from ratecheck.exponents.families.flame import SKEWABLE
from ratecheck.settings.applicability import free_sizes

# The least share of the bound that a term has in its regime.
SHARE = 0.9
# Decades that a parameter runs over at least, and what is tried.
DECADES = 1.5
_WIDEST = 3.0
POINTS = 7
# A bound that is not at most this part of what smoothness alone gives says little; one below the second says much: long
# before, what the constants allow at the start has been lost.
_SAYS, _SAYS_MUCH = 0.1, 1e-4
# Settings per round of the search, of which some are kept, and how far, in units of a range, the next are from them.
TRIES, _ELITE = 2000, 60
_NARROWER = (0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01)
# A share beyond this is as good as all.
_ENOUGH = 0.999
# What a size may be, as powers of ten, where it is held and where it varies.
_RANGES = {"rounds": (1.0, 9.0), "local_steps": (0.0, 6.0), "clients": (0.0, 5.0), "participants": (0.0, 5.0)}
# The same where a left side that gains on a bound is followed.
_FAR = {"rounds": (1.0, 15.0), "local_steps": (0.0, 12.0), "clients": (0.0, 15.0), "participants": (0.0, 15.0)}
# The same where runs are followed step by step: their local steps in all are bounded elsewhere.
_SHORT = {"rounds": (0.7, 3.0), "local_steps": (0.0, 1.8), "clients": (0.0, 2.0), "participants": (0.0, 2.0)}
# Delays, and the least probability with which a client takes part: below a tenth, where its delay is the inverse.
_OF_DELAYS = {**dict.fromkeys(DELAYS, (0.0, 4.0)), "delta": (-4.0, -1.0)}
_SCALES, _STEPS, _PENALTIES, _OTHERS, _SKEWS = (-6.0, 6.0), (-14.0, 0.0), (-3.0, 4.0), (-2.0, 2.0), (-3.0, 0.0)
# How many blocks of participants there are at least, where their number varies, and at most.
_LEAST_BLOCKS, _FEW_BLOCKS, _MANY_BLOCKS = 2.0, 20.0, 700.0
# How many times as many clients as participants there are where the bound does not name them: more differ by more.
_UNNAMED = 10.0
# What it costs in the search by how many decades a term is off a power.
_STRAIGHT = 30.0
# Up to which a value of a term at some point may be that of 0.
_NOTHING = 1e-9
# What a decade of a size costs in the first search, and how much less in each that follows: these look at long runs.
_LARGE, _LESS = 0.05, 0.15
# Step sizes there: a fixed one that is to go with 10^16 local steps is smaller than any that is usual.
_FAR_STEPS = (-20.0, 0.0)
# How large those without units are.
_OUTER = 6.0
# Constants that the units of f and x decide: what is to be won at the start, and the smoothness.
UNITS = ("L", "F_0", "lagrangian_gap", "distance2_0")
# The mean square of the first gradients where it is to be small, in units of L times what is to be won.
FLAT = 1e-3
# Sizes of what disturbs a run, each of which may be zero.
DISTURBANCES = (*NOISE, "b", "B_0", "mean_B_0", "inner_error", "minimiser_heterogeneity")


def tied(statement: Statement) -> dict[str, str]:
    """Symbols of a list of numbers, one per client, that are one where the list has equal ones: each with the first."""
    reached = [[*alias.targets] for alias in statement.vocabulary.aliases.values() if alias.many]
    return {name: names[0] for names in reached for name in names[1:]}


@dataclass(frozen=True)
class TermRow:
    """A term of the bound, made large by one constant (``scale``; None: by what is to be won at the start)."""

    term: str
    scale: str | None

    @property
    def name(self) -> str:
        """The term as the statement names it, and the constant where several make it large."""
        return self.term if self.scale is None else f"{self.term}: {self.scale}"


@dataclass(frozen=True)
class Regime:
    """A row's term is at least ``share`` of the bound while ``parameter`` takes ``values`` and ``base`` is held."""

    row: TermRow
    parameter: str
    values: tuple[float, ...]
    base: Mapping[str, float]
    share: float

    def at(self, value: float) -> dict[str, float]:
        """The numbers at one value of the parameter."""
        return {**self.base, self.parameter: value}


class Bound:
    """The right side of a statement's first claim as functions of arrays, prescribed step sizes put in."""

    def __init__(self, statement: Statement) -> None:
        statement = statement.written
        self.statement = statement
        vocabulary = statement.vocabulary
        claim = statement.claims[0]
        required = set(statement.required)
        self.steps = tuple(p for p in statement.parameters if vocabulary[p].role is Role.STEP_SIZE and p in required)
        self._terms = {label: self._closed(term) for label, term in claim.terms.items()}
        self._conditions = tuple(
            (self._closed(each.left), each.operator, self._closed(each.right)) for each in statement.hypotheses
        )
        trivial = claim.metric.trivial if claim.metric.trivial is not None else _at_start(statement)
        self._trivial = None if trivial is None else self._closed(trivial)
        exprs = [*self._terms.values(), *(side for c in self._conditions for side in (c[0], c[2]))]
        exprs += [] if self._trivial is None else [self._trivial]
        exprs += map(sp.sympify, claim.metric.weights.values())
        # What the right side does not name differs from run to run all the same.
        self.named = frozenset(name for expr in exprs for name in names_in(expr))
        names = self.named | free_sizes(statement)
        self.names = tuple(name for name in vocabulary.order if name in names)

    def _closed(self, expr: sp.Expr) -> sp.Expr:
        vocabulary = self.statement.vocabulary
        alike = {vocabulary[name].symbol: vocabulary[first].symbol for name, first in tied(self.statement).items()}
        return closed(self.statement, sp.sympify(expr), self.steps).xreplace(alike)

    @cached_property
    def _compiled(self) -> dict[sp.Expr, Any]:
        return {}

    def _value(self, expr: sp.Expr, values: Mapping[str, Array]) -> Array:
        if expr not in self._compiled:
            pairs = {"Max": lambda *a: reduce(np.maximum, a), "Min": lambda *a: reduce(np.minimum, a)}
            names = sorted(names_in(expr))
            symbols = [self.statement.vocabulary[name].symbol for name in names]
            self._compiled[expr] = names, of_arrays(symbols, expr, pairs)
        names, function = self._compiled[expr]
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        with np.errstate(all="ignore"):
            return np.asarray(np.broadcast_to(function(*(values[name] for name in names)), shape), dtype=float)

    def terms(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The terms by name."""
        return {label: self._value(expr, values) for label, expr in self._terms.items()}

    def slack(self, values: Mapping[str, Array]) -> Array:
        """0 where every condition holds; below, by how many decades in all the sides are on the wrong side.

        A billionth of a side is as good as equal.
        """
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        found = np.zeros(shape)
        for left, operator, right in self._conditions:
            a, b = self._value(left, values), self._value(right, values)
            with np.errstate(all="ignore"):
                near = 1e-9 * np.maximum(np.abs(a), np.abs(b))
                fine = {
                    "<=": a <= b + near, ">=": a >= b - near, "<": a < b, ">": a > b, "==": np.abs(a - b) <= near,
                }[operator]  # fmt: skip
                apart = np.abs(np.log10(np.abs(a)) - np.log10(np.abs(b)))
            found -= np.where(fine, 0.0, 1e-3 + np.nan_to_num(apart, nan=1e3, posinf=1e3))
        return found

    def trivial(self, row: TermRow, values: Mapping[str, Array]) -> Array | None:
        """The bound that smoothness alone gives, of the block that the row's noise is in; None where none is known."""
        if self._trivial is None:
            return None
        facts, weights = self.statement.vocabulary.facts, self.statement.claims[0].metric.weights
        block = facts.get(row.scale or "", "").removeprefix("sigma_")
        mine = [weight for quantity, weight in weights.items() if facts.get(quantity.name) == f"G_{block}"]
        part = mine[0] / sp.Add(*weights.values()) if mine else sp.Integer(1)
        return self._value(self._trivial, values) * self._value(self._closed(part), values)

    def symbols(self, label: str) -> frozenset[str]:
        """Names of what a term depends on."""
        return names_in(self._terms[label])

    def is_zero(self, label: str, zeros: Sequence[str]) -> bool:
        """Whether a term vanishes where these constants are zero."""
        vocabulary = self.statement.vocabulary
        expr = self._terms[label].xreplace({vocabulary[name].symbol: sp.Integer(0) for name in zeros})
        if expr == 0 or not expr.free_symbols:
            return bool(sp.simplify(expr) == 0)
        # What has a value somewhere is not 0; to simplify it takes longer.
        some = {symbol: sp.Rational(3 + 2 * k, 2 + k) for k, symbol in enumerate(sorted(expr.free_symbols, key=str))}
        value = expr.xreplace(some).evalf()
        return not (value.is_finite and abs(value) > _NOTHING) and bool(sp.simplify(expr) == 0)


def _at_start(statement: Statement) -> sp.Expr | None:
    """The bound by smoothness at the start, of values, distances and gradients; None of other quantities.

    With a minimiser x*: f - f* is at most L/2 ||x - x*||^2, and ||grad f||^2 at most 2 L (f - f*).
    """
    vocabulary = statement.vocabulary
    L, gap, distance2 = (
        next((vocabulary[s].symbol for s in statement.parameters if vocabulary.facts.get(s) == fact), None)
        for fact in ("L", "F_0", "distance2_0")
    )
    gaps = [each for each in (gap, None if L is None or distance2 is None else L * distance2 / 2) if each is not None]
    known = {"distance2": distance2, "gap": sp.Min(*gaps) if gaps else None}
    known["G_u"] = None if L is None or not gaps else 2 * L * known["gap"]
    weights = statement.claims[0].metric.weights
    parts = {known.get(vocabulary.facts.get(symbol.name, "")) for symbol in weights}
    if None in parts:
        return None
    return sp.Add(*(w * known[vocabulary.facts[symbol.name]] for symbol, w in weights.items()))


def rows(statement: Statement, bound: Bound | None = None) -> tuple[TermRow, ...]:
    """The terms of the first claim, one row for each constant that alone makes a term large."""
    bound = bound or Bound(statement)
    scales = disturbances(statement, bound)
    found = []
    for label in statement.claims[0].terms:
        mine = [name for name in scales if name in bound.symbols(label)]
        if not mine or not bound.is_zero(label, mine):
            found.append(TermRow(label, None))
            continue
        alone = [s for s in mine if not bound.is_zero(label, [other for other in mine if other != s])]
        found += [TermRow(label, s) for s in alone] or [TermRow(label, None)]
    return tuple(found)


def disturbances(statement: Statement, bound: Bound) -> tuple[str, ...]:
    """Names of the constants that may be zero."""
    facts = statement.vocabulary.facts
    return tuple(name for name in bound.names if facts.get(name) in DISTURBANCES)


def find(
    statement: Statement,
    row: TermRow,
    parameter: str,
    *,
    seed: int = 0,
    which: int = 0,
    between: tuple[float, float] | None = None,
    short: bool = False,
    bound: Bound | None = None,
    tries: int = TRIES,
) -> Regime | str:
    """The regime of a row in one parameter; otherwise why there is none inside the conditions.

    A random search over the logarithms of all numbers, narrowed down to the best of them a few times. ``which`` counts
    searches: each begins a decade later in the parameter than the one before, looks at larger sizes, and keeps step
    sizes another decade below their caps. ``between`` are the least and the largest value of the parameter, where sizes
    may be beyond all that is usual; with ``short`` sizes are those of runs that are followed step by step; there are
    so many ``tries`` each time.
    """
    bound = bound or Bound(statement)
    rng = np.random.default_rng([seed, which, zlib.crc32(f"{statement.key} {row.name} {parameter}".encode())])
    draws = _Draws.of(statement, bound, row, parameter, between, short=short).later(which if between is None else 0)
    spare = 10.0**which if between is None else 1.0
    unit = rng.random((tries, len(draws.ranges)))
    best: tuple[float, Array] | None = None
    for spread in _NARROWER:
        values = draws.values(unit)
        seen = _Seen.of(bound, row, parameter, values, spare)
        score = seen.score(values, draws)
        order = np.argsort(-score)
        if best is None or score[order[0]] > best[0]:
            best = float(score[order[0]]), unit[order[0]].copy()
        kept = unit[order[:_ELITE]]
        unit = np.clip(kept[rng.integers(0, _ELITE, tries)] + spread * rng.standard_normal(unit.shape), 0.0, 1.0)
        unit[0] = best[1]
    assert best is not None
    values = draws.values(best[1][None])
    seen = _Seen.of(bound, row, parameter, values, spare)
    over = f"while {parameter} runs over {DECADES:g} decades"
    if not seen.inside[0]:
        return f"no setting was found at which every condition holds {over}"
    if seen.share[0] < SHARE:
        terms = bound.terms(values)
        # Alone, a positive term is the whole bound.
        if len(terms) == 1 or not (terms[row.term] > 0).any():
            return f"the term is not positive {over}, as far as was searched"
        larger = max((label for label in terms if label != row.term), key=lambda label: float(terms[label].max()))
        part = f"{100 * seen.share[0]:.2g}%"
        return f'at most {part} of the bound is this term {over}, as far as was searched: "{larger}" is larger'
    if seen.worth[0] > _SAYS:
        return f"it leads only where the bound says little more than smoothness alone does {over}"
    points = tuple(dict.fromkeys(float(x) for x in values[parameter][0]))
    base = {name: float(each[0, 0]) for name, each in values.items() if name != parameter}
    return Regime(row, parameter, points, base, float(seen.share[0]))


@dataclass(frozen=True)
class _Seen:
    """What settings are like, (tries,): conditions, least share of the term, bound over what smoothness gives.

    ``slack`` is zero inside all conditions and negative outside; ``bend`` is by how many decades the term is off a
    power of the parameter.
    """

    slack: Array
    share: Array
    worth: Array
    bend: Array

    @property
    def inside(self) -> Array:
        """Whether every condition holds at every point."""
        return np.asarray(self.slack >= 0)

    @staticmethod
    def of(bound: Bound, row: TermRow, parameter: str, values: Mapping[str, Array], spare: float) -> _Seen:
        """``spare`` is the factor by which step sizes could be larger."""
        terms = bound.terms(values)
        total = sum(terms.values(), np.zeros(1))
        with np.errstate(all="ignore"):
            share = np.where(total > 0, terms[row.term] / total, 0.0).min(axis=1)
            trivial = bound.trivial(row, values)
            worth = np.zeros(len(share)) if trivial is None else (total / trivial).max(axis=1)
            x, y = np.log10(values[parameter]), np.log10(terms[row.term])
            chord = y[:, :1] + (y[:, -1:] - y[:, :1]) * (x - x[:, :1]) / (x[:, -1:] - x[:, :1])
            bend = np.nan_to_num(np.abs(y - chord).max(axis=1), nan=np.inf)
        finite = np.isfinite(total).all(axis=1) & np.isfinite(share)
        inside = bound.slack(values)
        if spare > 1.0:
            inside = np.minimum(inside, bound.slack({**values, **{p: spare * values[p] for p in bound.steps}}))
        slack = np.where(finite, inside.min(axis=1), -1e6)
        return _Seen(slack, np.where(finite, share, 0.0), worth, bend)

    def score(self, values: Mapping[str, Array], draws: _Draws) -> Array:
        """The larger the better: first what is needed, then wide ranges, bounds that say much, and small sizes."""
        with np.errstate(all="ignore"):
            poor = np.log10(np.maximum(1 - self.share, 1 - _ENOUGH)) - math.log10(1 - _ENOUGH)
            little = np.log10(np.clip(np.nan_to_num(self.worth, nan=np.inf), _SAYS_MUCH, 1e300) / _SAYS_MUCH)
        axis = values[draws.parameter]
        width = np.log10(axis[:, -1]) - np.log10(axis[:, 0])
        size = sum((np.log10(values[name][:, 0]) for name in draws.sizes), np.zeros(1))
        usable = np.where(self.share >= SHARE, 10.0, 0.0) + np.where(self.worth <= _SAYS, 10.0, 0.0)
        usable += 3 * np.log10(np.maximum(self.share, 1e-12)) - _STRAIGHT * np.minimum(self.bend, 1.0)
        inside = np.where(self.inside, 30.0, np.maximum(self.slack, -30.0))
        return np.asarray(inside + usable - 3 * poor - 2 * little + width - draws.large * size)


@dataclass(frozen=True)
class _Draws:
    """Settings from numbers between 0 and 1: ``ranges`` are (name, lowest, highest) decades, the width first.

    There are at least ``apart`` times as many clients as participants; a decade of a size costs ``large``.
    """

    statement: Statement
    parameter: str
    ranges: tuple[tuple[str, float, float], ...]
    fixed: Mapping[str, float]
    whole: frozenset[str]
    sizes: tuple[str, ...]
    apart: float
    blocks: bool = False
    large: float = _LARGE

    @staticmethod
    def of(
        statement: Statement,
        bound: Bound,
        row: TermRow,
        parameter: str,
        between: tuple[float, float] | None,
        *,
        short: bool = False,
    ) -> _Draws:
        vocabulary = statement.vocabulary
        reach = _FAR if between is not None else _SHORT if short else _RANGES
        ranges: list[tuple[str, float, float]] = [("", DECADES, _WIDEST)]
        fixed: dict[str, float] = {}
        for name in bound.names:
            taken = sp.sympify(statement.settings.get(name, sp.nan))
            span = float(taken) if taken.is_real else _span(statement, row, parameter, name, reach)
            if isinstance(span, float):
                fixed[name] = span
            else:
                ranges.append((name, *span))
        if between is not None:
            ends = math.log10(between[0]), math.log10(between[1])
            ranges = [(name, *(ends if name == parameter else (low, high))) for name, low, high in ranges]
        whole = frozenset(name for name in bound.names if vocabulary[name].domain is Domain.POSITIVE_INTEGER)
        counts = {name for role, name in vocabulary.run.items() if role in _RANGES}
        sizes = tuple(name for name in bound.names if name in counts and name != parameter)
        apart = 1.0 if vocabulary.run.get("clients") in bound.named else _UNNAMED
        apart = SKEWABLE if vocabulary.facts.get(parameter) == "selection_skew" else apart
        blocks = in_blocks(statement)
        if blocks:
            apart = _LEAST_BLOCKS
        if blocks and parameter in (vocabulary.run["clients"], vocabulary.run["participants"]):
            apart, ranges[0] = _FEW_BLOCKS, ("", DECADES, DECADES)
        return _Draws(statement, parameter, tuple(ranges), fixed, whole, sizes, apart, blocks)

    @property
    def _counted(self) -> tuple[str, ...]:
        run = self.statement.vocabulary.run
        return tuple(run[role] for role in ("clients", "participants") if role in run)

    def later(self, decades: float) -> _Draws:
        """The draws whose parameter begins so many decades later, while `DECADES` of its range are left.

        As many are between the clients and the participants, where that one is varied.
        """
        ranges = [
            (name, min(low + decades, high - DECADES) if name == self.parameter and high - low > DECADES else low, high)
            for name, low, high in self.ranges
        ]
        counted = self.parameter in self._counted and not self.blocks
        apart = max(self.apart, 10.0**decades) if counted else self.apart
        return replace(self, ranges=tuple(ranges), apart=apart, large=_LARGE - _LESS * decades)

    def values(self, unit: Array) -> dict[str, Array]:
        """(tries, points) per name: every column alike but those of the parameter."""
        tries, shape = len(unit), (len(unit), POINTS)
        steps = np.linspace(0.0, 1.0, POINTS)
        found = {name: np.full(shape, value) for name, value in self.fixed.items()}
        _, narrow, wide = self.ranges[0]
        width = narrow + unit[:, 0] * (wide - narrow)
        for column, (name, low, high) in enumerate(self.ranges[1:], 1):
            if name == self.parameter:
                span = np.minimum(width, high - low)
                first = low + unit[:, column] * (high - low - span)
                logarithm = first[:, None] + span[:, None] * steps
            else:
                logarithm = np.repeat((low + unit[:, column] * (high - low))[:, None], POINTS, axis=1)
            number = np.asarray(10.0**logarithm)
            found[name] = np.round(number) if name in self.whole else number
        assert all(len(each) == tries for each in found.values())
        self._join(found)
        return found

    def _join(self, found: dict[str, Array]) -> None:
        """At most n participants; a mean delay below the largest one; at least two rounds."""
        run, facts = self.statement.vocabulary.run, self.statement.vocabulary.facts
        n, m, T = (run.get(role, "") for role in ("clients", "participants", "rounds"))
        if n in found and m in found:
            if self.parameter == m:
                found[n] = np.maximum(found[n], np.ceil(self.apart * found[m][:, -1:]))
            else:
                most = np.floor(found[n].min(axis=1, keepdims=True) / self.apart)
                found[m] = np.minimum(found[m], np.maximum(most, 1.0))
            self._whole_blocks(found, n, m)
        most, mean = (next((s for s in found if facts.get(s) == fact), "") for fact in DELAYS)
        if most:
            found[most] = np.round(found[most])
        if most and mean:
            # One absence of tau rounds in a period has a mean delay of tau/2 at most.
            if self.parameter == mean:
                found[most] = np.maximum(found[most], np.ceil(2 * found[mean].max(axis=1, keepdims=True)))
            else:
                found[mean] = np.minimum(found[mean], found[most].min(axis=1, keepdims=True) / 2)
        if most and T in found:
            length = found[most] + 1
            if mean:
                length = found[most] * length / np.maximum(2 * found[mean], 1e-300)
            least = 10 * length.max(axis=1, keepdims=True)
            found[T] = np.maximum(found[T], np.ceil(least if self.parameter != T else least[:, :1]))
        if T in found:
            found[T] = np.maximum(found[T], 2.0)
        self._first_gradients(found)

    def _whole_blocks(self, found: dict[str, Array], n: str, m: str) -> None:
        """Not too many blocks of participants."""
        if not self.blocks:
            return
        if self.parameter == m:
            found[n] = np.minimum(found[n], _MANY_BLOCKS * found[m][:, :1])
        else:
            found[m] = np.maximum(found[m], np.ceil(found[n].max(axis=1, keepdims=True) / _MANY_BLOCKS))

    def _first_gradients(self, found: dict[str, Array]) -> None:
        """Set the first gradients, where the term is not theirs, to `FLAT` F_0 L, as at a start in a flat direction."""
        facts = self.statement.vocabulary.facts
        name, gap, L = (next((s for s in found if facts.get(s) == f), "") for f in ("mean_B_0", "F_0", "L"))
        if name in self.fixed and gap and L:
            found[name] = FLAT * found[gap] * found[L]


def _span(
    statement: Statement, row: TermRow, parameter: str, name: str, reach: Mapping[str, tuple[float, float]]
) -> tuple[float, float] | float:
    """The decades within which a number is drawn, or the number that it has; ``reach`` are those of sizes."""
    vocabulary = statement.vocabulary
    fact, quantity = vocabulary.facts.get(name), vocabulary[name]
    role = next((role for role, symbol in vocabulary.run.items() if symbol == name), "")
    if role in reach:
        low, high = reach[role]
        return (max(low, math.log10(_fewest(statement, row, parameter))) if role == "clients" else low), high
    if fact in _OF_DELAYS:
        return _OF_DELAYS[fact]
    if quantity.role is Role.STEP_SIZE or (quantity.role is Role.SETTING and quantity.f_degree > 0):
        least, most = _FAR_STEPS if reach is _FAR else _STEPS
        # In units of 1/L a step size is at most about 1; without units, as of a server, it may make up for small ones.
        # A penalty has the units of L.
        return _PENALTIES if quantity.f_degree > 0 else (least, most if quantity.f_degree else _OUTER)
    if name == row.scale or (fact in UNITS and name == parameter):
        return _SCALES
    if name == parameter:
        return _SKEWS if fact == "selection_skew" else _OTHERS
    fixed = {**dict.fromkeys(UNITS, 1.0), **dict.fromkeys(DISTURBANCES, 0.0), "selection_skew": 1.0}
    default = fixed.get(fact or "", quantity.default)
    return _OTHERS if default is None else default


def _fewest(statement: Statement, row: TermRow, parameter: str) -> int:
    """The least number of clients.

    A single client has no dissimilarity, which matters in the terms of a difference and where nothing limits it; a
    single block is full participation.
    """
    facts, differences = statement.vocabulary.facts, {"b", "B_0", "mean_B_0", "minimiser_heterogeneity"}
    if facts.get(parameter) == "selection_skew":
        return SKEWABLE
    if in_blocks(statement):
        return int(_FEW_BLOCKS if parameter == statement.vocabulary.run["clients"] else _LEAST_BLOCKS)
    return 2 if facts.get(row.scale or "") in differences or not {*facts.values()} & differences else 1
