"""Certificates: an inequality between rational functions that can be read off its coefficients.

A hypothesis A*x + B >= 0 that is linear in a symbol x is used up by a substitution. Where A and -B have no negative
coefficient it says x >= C with C = -B/A, so x = C + x' with a new x' >= 0. Where -A and B have none it says 1/x >= C
with C = -A/B, so x = 1/(C + x'). Where C is a monomial, C*(1 + x') stands for C + x' (they differ where C = 0, a
limit). Where -A has none and B = 0 it says x = 0. If in the end neither the goal's numerator nor its
denominator has a negative coefficient, the goal is nonnegative (where a denominator vanishes, by continuity).
`Search` finds such substitutions; `SubstitutionCertificate.check` replays them without it.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.polys.fields import FracElement, field
from sympy.polys.rings import PolyElement

from bounds.formula import Visitor
from ratecheck.algebra.polynomial import System, domain_hypotheses

# Identities are tested modulo a prime: a false one passes a test with probability at most its degree over the prime.
_TESTS, _PRIME = 3, 2**61 - 1

# A way to use up hypotheses is worth the algebra only if the goal is nonnegative at that many random points.
_SAMPLES, _ROUNDING = 200, 1e-9
# Ways looked at and ways expanded in the search for one part: counted, so that no answer depends on the machine's load.
_LOOKED_AT, _EXPANDED = 1000, 40
# Counterexamples: points drawn, those tried exactly, the share of zeros, and the logarithm that stands for 0.
_DRAWS, _DRAWS_KEPT, _ZEROS, _ZERO = 4000, 12, 0.5, -300.0

Point = Mapping[sp.Symbol, int]


class HypothesisKind(Enum):
    """What a hypothesis says about a symbol."""

    AT_LEAST = "x = C + x'"
    AT_MOST = "x = 1/(C + x')"
    ZERO = "x = 0"


Key = tuple[tuple[int, str, HypothesisKind], ...]


@dataclass(frozen=True)
class Ratio:
    """A quotient of polynomials, not reduced."""

    numerator: PolyElement
    denominator: PolyElement

    @property
    def definite(self) -> bool:
        """No coefficient of numerator or denominator is negative."""
        return definite(self.numerator) and definite(self.denominator)

    def at(self, point: Point) -> int:
        """The value at a point, modulo the prime."""
        return _value(self.numerator, point) * _inverse(_value(self.denominator, point)) % _PRIME

    def put(self, x: int, above: PolyElement, below: PolyElement) -> Ratio:
        """With above/below for the generator number x."""
        numerator, up = _put(self.numerator, x, above, below)
        denominator, down = _put(self.denominator, x, above, below)
        if down > up:
            numerator *= below ** (down - up)
        else:
            denominator *= below ** (up - down)
        return Ratio(*_without_monomial(numerator, denominator))


@dataclass(frozen=True)
class Pivot:
    """Hypothesis number ``hypothesis``, (slope*x + rest)/denominator, used up by a substitution for ``symbol``.

    The new symbol has the name of the old one; ``slope``, ``rest`` and ``denominator`` are in the old ones.
    """

    hypothesis: int
    symbol: sp.Symbol
    kind: HypothesisKind
    slope: PolyElement
    rest: PolyElement
    denominator: PolyElement

    @property
    def justified(self) -> bool:
        """Whether the signs are those that its kind needs."""
        signs = {
            HypothesisKind.AT_LEAST: (self.slope, -self.rest),
            HypothesisKind.AT_MOST: (-self.slope, self.rest),
            HypothesisKind.ZERO: (-self.slope, -self.rest, self.rest),
        }[self.kind]
        return all(map(definite, (*signs, self.denominator))) and bool(self.slope)

    @property
    def scaled(self) -> bool:
        """Whether the new symbol is relative to C, which keeps polynomials small where C is a monomial."""
        return len(self.slope) == len(self.rest) == 1

    def _above(self, bound: int, x: int) -> int:
        return bound * (1 + x) if self.scaled else bound + x

    def old(self, point: Point) -> Point:
        """The old symbols' values at values of the new ones."""
        slope, rest, x = _value(self.slope, point), _value(self.rest, point), point[self.symbol]
        value = 0
        if self.kind is HypothesisKind.AT_LEAST:
            value = self._above(-rest * _inverse(slope), x)
        elif self.kind is HypothesisKind.AT_MOST:
            value = _inverse(self._above(-slope * _inverse(rest), x))
        return {**point, self.symbol: value % _PRIME}


@dataclass(frozen=True)
class SubstitutionCertificate:
    """Why ``system.goal`` is nonnegative: after the ``pivots`` it is ``goal``, which has no negative coefficient."""

    system: System
    pivots: tuple[Pivot, ...]
    goal: Ratio
    at_zero: Mapping[sp.Symbol, SubstitutionCertificate | None] = dataclasses.field(default_factory=dict)

    @property
    def borders(self) -> set[sp.Symbol] | None:
        """Symbols that may be 0 where the substitutions say nothing; None where it takes more than one of them at 0.

        x = 1/(C + x') leaves out x = 0, and a hypothesis says nothing about x where its slope is 0. A slope is 0 only
        if each of its terms is, and a term only if one of its symbols is.
        """
        found: set[sp.Symbol] = set()
        replaced: set[sp.Symbol] = set()
        for pivot in self.pivots:
            if pivot.kind is HypothesisKind.AT_MOST:
                terms = [{pivot.symbol}]
            else:
                terms = [{s for s, e in zip(self.symbols, m, strict=True) if e} for m in pivot.slope.itermonoms()]
            # What replaced a symbol may be 0 whatever that was.
            zeros = [{s for s in term if s in replaced or not s.is_positive} for term in terms]
            usable = [zero for zero in zeros if not zero & replaced]
            if not usable:
                return None
            found |= min(usable, key=len)
            replaced.add(pivot.symbol)
        return found

    def completed(self) -> SubstitutionCertificate | None:
        """With certificates for the cases in which a symbol at a border is 0; None where one of them was not found."""
        borders = self.borders
        if borders is None:
            return None
        cases: dict[sp.Symbol, SubstitutionCertificate | None] = {}
        for symbol in sorted(borders, key=str):
            case = self.system.put({symbol: ZERO})
            if _void(case):
                cases[symbol] = None
                continue
            more = first_certificate(case)
            if more is None:
                return None
            cases[symbol] = more
        return dataclasses.replace(self, at_zero=cases)

    def check(self, *, interior: bool = False) -> bool:
        """Whether it proves the goal: signs of coefficients, and identities in exact arithmetic at random points.

        With ``interior`` only where no symbol at a border is 0; the rest is then a matter of continuity.
        """
        if interior:
            return self._interior_holds()
        borders = self.borders
        if borders is None or borders != set(self.at_zero):
            return False
        for symbol, more in self.at_zero.items():
            case = self.system.put({symbol: ZERO})
            if not (_void(case) if more is None else more.system == case and more.check()):
                return False
        return self._interior_holds()

    def _interior_holds(self) -> bool:
        rng = random.Random(0)  # noqa: S311  # no secrets
        if not (self.goal.definite and all(pivot.justified for pivot in self.pivots) and self._signs_hold()):
            return False
        return all(self._identities_hold(rng) for _ in range(_TESTS))

    def _signs_hold(self) -> bool:
        """Whether no symbol of the goal can be negative and, for a strict goal, some term is positive."""
        terms = [{s for s, e in zip(self.symbols, m, strict=True) if e} for m in self.goal.numerator.itermonoms()]
        if not all(symbol.is_nonnegative for term in terms for symbol in term):
            return False
        strict = [False] * (len(all_hypotheses(self.system)) - len(self.system.hypotheses)) + [*self.system.positive]
        positive = {symbol for symbol in self.symbols if symbol.is_positive}
        for pivot in self.pivots:
            (positive.add if strict[pivot.hypothesis] else positive.discard)(pivot.symbol)
        return not self.system.strict or any(term <= positive for term in terms)

    @property
    def symbols(self) -> Sequence[sp.Symbol]:
        """The generators of its polynomials."""
        return self.goal.numerator.ring.symbols

    def _identities_hold(self, rng: random.Random) -> bool:
        point: Point = {s: rng.randrange(1, _PRIME) for s in symbols_of(self.system)}
        goal, points = self.goal.at(point), [point]
        for pivot in reversed(self.pivots):
            points.append(pivot.old(points[-1]))
        points.reverse()
        original, hypotheses = points[0], all_hypotheses(self.system)
        for pivot, here in zip(self.pivots, points[:-1], strict=True):
            claimed = _value(pivot.slope, here) * here[pivot.symbol] + _value(pivot.rest, here)
            if (_modulo(hypotheses[pivot.hypothesis], original) * _value(pivot.denominator, here) - claimed) % _PRIME:
                return False
        return _modulo(self.system.goal, original) == goal


def key_of(pivots: Sequence[Pivot]) -> Key:
    """What can be tried on another goal: hypotheses, symbols and kinds."""
    return tuple((pivot.hypothesis, pivot.symbol.name, pivot.kind) for pivot in pivots)


def all_hypotheses(system: System) -> tuple[sp.Expr, ...]:
    """What the domains of the symbols say, and the hypotheses."""
    return (*domain_hypotheses(_mentioned(system), system.restored), *system.hypotheses)


def symbols_of(system: System) -> list[sp.Symbol]:
    """All symbols of a system, in alphabetical order."""
    return sorted(_mentioned(system), key=lambda symbol: (symbol.name, str(symbol)))


def _mentioned(system: System) -> set[sp.Symbol]:
    return sp.sympify(system.goal).free_symbols.union(*(each.free_symbols for each in system.hypotheses))


# --- Polynomials ---


def definite(poly: PolyElement) -> bool:
    """No coefficient is negative."""
    return all(coefficient >= 0 for coefficient in poly.itercoeffs())


def _modulo(expr: sp.Expr, point: Point) -> int:
    """A rational expression at a point, modulo the prime."""
    return _Modulo(point).visit(expr)


class _Modulo(Visitor[int]):
    rules: ClassVar = {
        sp.Add: lambda parts: sum(parts) % _PRIME,
        sp.Mul: lambda parts: math.prod(parts) % _PRIME,
    }

    def __init__(self, point: Point) -> None:
        super().__init__()
        self._point = point

    def symbol(self, symbol: sp.Symbol) -> int:
        return self._point[symbol]

    def number(self, number: sp.Expr) -> int:
        return int(number.p) * _inverse(int(number.q)) % _PRIME

    def operation(self, expr: sp.Expr) -> int:
        if not expr.is_Pow:
            return super().operation(expr)
        base, exponent = self.visit(expr.base), int(expr.exp)
        return pow(base if exponent >= 0 else _inverse(base), abs(exponent), _PRIME)


def _inverse(value: int) -> int:
    return pow(value, -1, _PRIME)


def _value(poly: PolyElement, point: Point) -> int:
    """A polynomial at a point, modulo the prime."""
    degrees = [max(exponents) for exponents in zip(*poly.itermonoms(), strict=True)] if poly else [0] * poly.ring.ngens
    tables = [
        [pow(point[symbol], e, _PRIME) for e in range(degree + 1)]
        for symbol, degree in zip(poly.ring.symbols, degrees, strict=True)
    ]
    total = 0
    for monomial, coefficient in poly.iterterms():
        product = int(coefficient)
        for table, exponent in zip(tables, monomial, strict=True):
            if exponent:
                product = product * table[exponent] % _PRIME
        total += product
    return total % _PRIME


def _put(poly: PolyElement, x: int, above: PolyElement, below: PolyElement) -> tuple[PolyElement, int]:
    """``below**degree * poly`` with above/below for generator x, and that degree."""
    parts = by_power(poly, x)
    degree = max(parts, default=0)
    powers_above, powers_below = [poly.ring.one], [poly.ring.one]
    for _ in range(degree):
        powers_above.append(powers_above[-1] * above)
        powers_below.append(powers_below[-1] * below)
    total = poly.ring.zero
    for power, part in parts.items():
        total += part * powers_above[power] * powers_below[degree - power]
    return total, degree


def by_power(poly: PolyElement, x: int) -> dict[int, PolyElement]:
    """Coefficients of the powers of generator x."""
    parts: dict[int, PolyElement] = {}
    for monomial, coefficient in poly.iterterms():
        part = parts.setdefault(monomial[x], poly.ring.zero)
        part[(*monomial[:x], 0, *monomial[x + 1 :])] = coefficient
    return parts


def _without_monomial(one: PolyElement, other: PolyElement) -> tuple[PolyElement, PolyElement]:
    """Both divided by the monomial that divides all of their terms."""
    common = tuple(map(min, zip(*one.itermonoms(), *other.itermonoms(), strict=True)))
    if not any(common):
        return one, other
    divided = [
        {tuple(a - b for a, b in zip(m, common, strict=True)): c for m, c in p.iterterms()} for p in (one, other)
    ]
    return one.ring.from_dict(divided[0]), one.ring.from_dict(divided[1])


ZERO = sp.Integer(0)


def _void(case: System) -> bool:
    """Whether a case says nothing: a hypothesis fails for numbers alone, the goal is 0, or it divides by 0."""
    if any(h.is_number and h.is_finite and h < 0 for h in case.hypotheses):
        return True
    return bool(case.goal.has(sp.zoo, sp.nan) or (case.goal == 0 and not case.strict))


def first_certificate(system: System, hints: Sequence[Key] = ()) -> SubstitutionCertificate | None:
    """The first certificate that is found, the cases at its borders included; None where there is none."""
    for found in Search(system).run(hints=hints):
        return found.completed()
    return None


# --- Search ---


class Search:
    """Ways to use up the hypotheses of a system, up to a number of tries; ``parameter`` stays as it is."""

    def __init__(self, system: System, parameter: sp.Symbol | None = None) -> None:
        self.system, self.parameter = system, parameter
        self.symbols = symbols_of(system)
        self.field = field(self.symbols, sp.ZZ)[0]  # whole numbers are fast
        self.ring = self.field.ring
        self.hypotheses = [self._ratio(each) for each in all_hypotheses(system)]
        self.goal = self._oriented(self._ratio(system.goal))

    def _ratio(self, expr: sp.Expr) -> Ratio:
        element: FracElement = self.field.from_expr(sp.sympify(expr))
        numerator, denominator = element.numer, element.denom
        if all(coefficient <= 0 for coefficient in denominator.itercoeffs()):
            numerator, denominator = -numerator, -denominator
        return Ratio(numerator, denominator)

    def _oriented(self, ratio: Ratio) -> Ratio:
        """The ratio with a denominator that is positive at most random points where the hypotheses hold."""
        if definite(ratio.denominator):
            return ratio
        path = max(itertools.islice(self._paths(list(enumerate(self.hypotheses))), 8), key=len)
        logs = np.random.default_rng(0).uniform(-9.0, 9.0, (len(self.symbols), _SAMPLES))
        with np.errstate(all="ignore"):
            _to_old(path, logs)
            exponents, coefficients = _arrays(ratio.denominator)
            size = exponents @ logs
            values = (coefficients[:, None] * np.exp(size - np.max(size, axis=0))).sum(axis=0)
        return ratio if np.nanmedian(np.sign(values)) >= 0 else Ratio(-ratio.numerator, -ratio.denominator)

    def parts(self) -> Iterator[tuple[sp.Expr, Search]]:
        """The goal as a sum of monomials in the symbols that no hypothesis restricts, each times a part of its own."""
        restricting = [*self.hypotheses, Ratio(self.goal.denominator, self.ring.one)]
        monomials = [m for h in restricting for p in (h.numerator, h.denominator) for m in p.itermonoms()]
        fixed = {i for m in monomials for i, exponent in enumerate(m) if exponent}
        free = [i for i, s in enumerate(self.symbols) if i not in fixed and s != self.parameter]
        groups: dict[tuple[int, ...], PolyElement] = {}
        for monomial, coefficient in self.goal.numerator.iterterms():
            rest = tuple(0 if i in free else e for i, e in enumerate(monomial))
            groups.setdefault(tuple(monomial[i] for i in free), self.ring.zero)[rest] = coefficient
        for key, numerator in groups.items():
            monomial = sp.Mul(*(self.symbols[i] ** e for i, e in zip(free, key, strict=True)))
            part = numerator.as_expr() / self.goal.denominator.as_expr()
            yield monomial, Search(dataclasses.replace(self.system, goal=part), self.parameter)

    def run(self, value: Fraction | None = None, hints: Sequence[Key] = ()) -> Iterator[SubstitutionCertificate]:
        """Without a parameter the first certificate, if one is found; with one, a candidate for each way (`threshold`).

        Ways that worked elsewhere (``hints``) come first, then small sets of hypotheses, which make small polynomials.
        ``value`` is the parameter's, for which a candidate has to look right at random points.
        """
        seen: set[Key] = set()
        for path in itertools.islice(itertools.chain(self._followed(hints), self._ways()), _LOOKED_AT):
            if len(seen) == _EXPANDED:
                return
            key = key_of([step.pivot for step in path])
            if key in seen or not self._plausible(path, value):
                continue
            seen.add(key)
            goal = self.goal
            for step in path:
                goal = goal.put(step.x, step.above, step.below)
            if self.parameter is not None or goal.definite:
                yield SubstitutionCertificate(self.system, tuple(step.pivot for step in path), goal)
                if self.parameter is None:
                    return

    def _ways(self) -> Iterator[tuple[_Step, ...]]:
        domains = len(self.hypotheses) - len(self.system.hypotheses)
        numbered = list(enumerate(self.hypotheses))
        for size in range(len(self.system.hypotheses) + 1):
            for subset in itertools.combinations(numbered[domains:], size):
                for order in ([*numbered[:domains], *subset], [*subset, *numbered[:domains]]):
                    yield from self._paths(order)

    def _followed(self, hints: Sequence[Key]) -> Iterator[tuple[_Step, ...]]:
        for hint in hints:
            hypotheses, path = dict(enumerate(self.hypotheses)), []
            for index, name, kind in hint:
                steps = self._choices(index, hypotheses[index]) if index in hypotheses else []
                step = next((s for s in steps if (s.pivot.symbol.name, s.pivot.kind) == (name, kind)), None)
                if step is None:
                    break
                path.append(step)
                hypotheses = {i: h.put(step.x, step.above, step.below) for i, h in hypotheses.items() if i != index}
            else:
                yield tuple(path)

    def negative_points(self) -> Iterator[dict[sp.Symbol, Fraction]]:
        """Points at which the hypotheses that could be used up hold and the goal is negative, most negative first."""
        numbered = list(enumerate(self.hypotheses))
        domains = len(self.hypotheses) - len(self.system.hypotheses)
        orders = ([*numbered[domains:], *numbered[:domains]], numbered)
        paths = [path for order in orders for path in itertools.islice(self._paths(order), 8)]
        exponents, coefficients = _arrays(self.goal.numerator)
        if not len(coefficients):
            return
        for number, path in enumerate(sorted(paths, key=len, reverse=True)):
            logs = self._drawn(path, np.random.default_rng(number))
            new = logs.copy()
            with np.errstate(all="ignore"):
                _to_old(path, logs)
                size = exponents @ logs
                terms = coefficients[:, None] * np.exp(size - np.max(size, axis=0))
            totals = terms.sum(axis=0) / np.abs(terms).sum(axis=0)
            for draw in np.argsort(totals)[:_DRAWS_KEPT]:
                if not totals[draw] < -_ROUNDING:
                    break
                yield self._exact(path, new[:, draw])

    def _drawn(self, path: Sequence[_Step], rng: np.random.Generator) -> NDArray[np.float64]:
        """Logarithms of the new symbols: of many sizes, zeros among those that may be 0, whole numbers where needed."""
        logs = rng.uniform(-1.0, 1.0, (len(self.symbols), _DRAWS)) * rng.choice([1.0, 8.0, 24.0], _DRAWS)
        pivoted = {step.x for step in path}
        whole = {s for s in self.symbols if s - 1 in set(all_hypotheses(self.system))}
        for x, symbol in enumerate(self.symbols):
            if symbol in whole:
                with np.errstate(divide="ignore"):
                    logs[x] = np.log(np.floor(np.exp(np.abs(logs[x])) + (x not in pivoted)))
            if x in pivoted or not symbol.is_positive:
                logs[x] = np.where(rng.random(_DRAWS) < _ZEROS, _ZERO, logs[x])
        return np.maximum(logs, _ZERO)

    def _exact(self, path: Sequence[_Step], logs: NDArray[np.float64]) -> dict[sp.Symbol, Fraction]:
        """The old symbols' values, in fractions, at the new ones with few digits."""
        values = [Fraction(0) if log <= _ZERO else Fraction(f"{math.exp(log):.4g}") for log in logs]
        whole = {x for x, s in enumerate(self.symbols) if s - 1 in set(all_hypotheses(self.system))}
        values = [Fraction(round(math.exp(logs[x]))) if x in whole and v else v for x, v in enumerate(values)]
        for step in reversed(path):
            below = _at(step.below, values)
            if not below:
                break
            values[step.x] = _at(step.above, values) / below
        return dict(zip(self.symbols, values, strict=True))

    def _paths(
        self, hypotheses: Sequence[tuple[int, Ratio]], path: tuple[_Step, ...] = ()
    ) -> Iterator[tuple[_Step, ...]]:
        """Ways to use up hypotheses in that order, where they can be."""
        hypotheses = [(i, h) for i, h in hypotheses if not h.definite]
        for position, (index, hypothesis) in enumerate(hypotheses):
            choices = self._choices(index, hypothesis)
            others = hypotheses[:position] + hypotheses[position + 1 :]
            for step in choices:
                rest = [(i, h.put(step.x, step.above, step.below)) for i, h in others]
                yield from self._paths(rest, (*path, step))
            if choices:
                return
        yield path

    def _plausible(self, path: Sequence[_Step], value: Fraction | None) -> bool:
        """Whether the goal is nonnegative at random values of the new symbols."""
        rng = np.random.default_rng(0)
        logs = rng.uniform(-9.0, 9.0, (len(self.symbols), _SAMPLES))
        if self.parameter is not None and value is not None:
            logs[self.symbols.index(self.parameter)] = math.log(value)
        with np.errstate(all="ignore"):
            _to_old(path, logs)
            exponents, coefficients = _arrays(self.goal.numerator)
            terms = coefficients[:, None] * np.exp(exponents @ logs - np.max(exponents @ logs, axis=0))
        total, size = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        return not np.any(total < -_ROUNDING * size)

    def _choices(self, index: int, hypothesis: Ratio) -> list[_Step]:
        """Pivots on a hypothesis."""
        choices = []
        for x, symbol in enumerate(self.symbols):
            parts = by_power(hypothesis.numerator, x)
            if symbol == self.parameter or not set(parts) <= {0, 1} or 1 not in parts:
                continue
            slope, rest, own = parts[1], parts.get(0, self.ring.zero), self.ring.gens[x]
            for kind in HypothesisKind:
                pivot = Pivot(index, symbol, kind, slope, rest, hypothesis.denominator)
                if pivot.justified and (kind is not HypothesisKind.AT_MOST or rest):
                    choices.append(_Step(pivot, x, *_put_in(pivot, own)))
        return sorted(choices, key=lambda step: (step.pivot.kind is HypothesisKind.AT_MOST, -step.x))


@dataclass(frozen=True)
class _Step:
    """A pivot with the position of its symbol and what is put in, above/below."""

    pivot: Pivot
    x: int
    above: PolyElement
    below: PolyElement


def _to_old(path: Sequence[_Step], logs: NDArray[np.float64]) -> None:
    """Turn the new symbols' logarithms into the old ones', in place."""
    for step in reversed(path):
        logs[step.x] = _log_value(step.above, logs) - _log_value(step.below, logs)


def _at(poly: PolyElement, values: Sequence[Fraction]) -> Fraction:
    """A polynomial in fractions."""
    total = Fraction(0)
    for monomial, coefficient in poly.iterterms():
        total += int(coefficient) * math.prod(v**e for v, e in zip(values, monomial, strict=True) if e)
    return total


def _arrays(poly: PolyElement) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exponents (terms, symbols) and coefficients (terms)."""
    exponents = np.array([m for m, _ in poly.iterterms()], dtype=np.float64)
    return exponents, np.array([float(c) for _, c in poly.iterterms()])


def _log_value(poly: PolyElement, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of a polynomial without negative coefficients."""
    exponents, coefficients = _arrays(poly)
    if not len(coefficients):
        return np.full(logs.shape[1], -np.inf)
    size: NDArray[np.float64] = np.logaddexp.reduce(exponents @ logs + np.log(coefficients)[:, None], axis=0)
    return size


def _put_in(pivot: Pivot, own: PolyElement) -> tuple[PolyElement, PolyElement]:
    """Numerator and denominator of what stands for the symbol."""
    if pivot.kind is HypothesisKind.ZERO:
        return own.ring.zero, own.ring.one
    least = pivot.kind is HypothesisKind.AT_LEAST
    above, below = (-pivot.rest).cancel(pivot.slope) if least else (-pivot.slope).cancel(pivot.rest)
    top = above * (1 + own) if pivot.scaled else above + below * own
    return (top, below) if least else (below, top)


def threshold(certificate: SubstitutionCertificate, parameter: sp.Symbol) -> sp.Expr:
    """The least value of the parameter from which on no coefficient is negative; infinite where there is none."""
    found = set()
    for poly in (certificate.goal.numerator, certificate.goal.denominator):
        last = poly.ring.symbols.index(parameter)
        grouped: dict[tuple[int, ...], dict[int, int]] = {}
        for monomial, coefficient in poly.iterterms():
            rest = (*monomial[:last], 0, *monomial[last + 1 :])
            grouped.setdefault(rest, {})[monomial[last]] = int(coefficient)
        found |= {_descending(powers) for powers in grouped.values()}
    # Few of the many polynomials decide; those are solved exactly.
    sizes = {coefficients: _last_root(coefficients) for coefficients in found if min(coefficients) < 0}
    largest = max(sizes.values(), default=0.0)
    if math.isinf(largest):
        return sp.oo
    deciding = [coefficients for coefficients, root in sizes.items() if root >= largest * (1 - 1e-6)]
    roots = [root for each in deciding for root in sp.real_roots(sp.Poly(each, sp.Dummy()))]
    return max([sp.Integer(0), *roots], key=lambda root: sp.N(root, 30))


def _descending(powers: Mapping[int, int]) -> tuple[int, ...]:
    """The coefficients of a univariate polynomial without their common factor, highest power first."""
    common, low, high = math.gcd(*powers.values()), min(powers), max(powers)
    return tuple(powers.get(power, 0) // common for power in range(high, low - 1, -1))


def _last_root(coefficients: tuple[int, ...]) -> float:
    """The largest positive root, 0 where there is none; infinite where the polynomial ends negative."""
    if coefficients[0] < 0:
        return math.inf
    roots = np.roots([float(each) for each in coefficients])
    return max([0.0, *(float(root.real) for root in roots if abs(root.imag) <= 1e-6 * abs(root))])
