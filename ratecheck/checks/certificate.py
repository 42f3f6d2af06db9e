"""Certificates: an inequality between rational functions that can be read off its coefficients.

A hypothesis A*x + B >= 0 that is linear in a symbol x is used up by a substitution. Where A and -B have no negative
coefficient it says x >= C with C = -B/A, so x = C + x' with a new x' >= 0. Where -A and B have none it says 1/x >= C
with C = -A/B, so x = 1/(C + x'). Where -A has none and B = 0 it says x = 0. If in the end neither the goal's numerator
nor its denominator has a negative coefficient, the goal is nonnegative (where a denominator vanishes, by continuity).
`Search` finds such substitutions; `Certificate.check` replays them without it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import sympy as sp
from sympy.polys.fields import FracElement, field
from sympy.polys.rings import PolyElement

from ratecheck.checks.polynomial import System, domain_hypotheses

# An identity that is false passes one test with probability at most its degree over 2**60.
_TESTS, _RANGE = 3, 2**60

Point = Mapping[sp.Symbol, Fraction]


class Kind(Enum):
    """What a hypothesis says about a symbol."""

    AT_LEAST = "x = C + x'"
    AT_MOST = "x = 1/(C + x')"
    ZERO = "x = 0"


@dataclass(frozen=True)
class Ratio:
    """A quotient of polynomials, not reduced."""

    numerator: PolyElement
    denominator: PolyElement

    @property
    def definite(self) -> bool:
        """No coefficient of numerator or denominator is negative."""
        return definite(self.numerator) and definite(self.denominator)

    def at(self, point: Point) -> Fraction:
        """The value at a point."""
        return _value(self.numerator, point) / _value(self.denominator, point)

    def put(self, x: int, above: PolyElement, below: PolyElement) -> Ratio:
        """With above/below for the generator number x."""
        numerator, up = _put(self.numerator, x, above, below)
        denominator, down = _put(self.denominator, x, above, below)
        if down > up:
            numerator *= below ** (down - up)
        else:
            denominator *= below ** (up - down)
        if definite(-denominator):
            numerator, denominator = -numerator, -denominator
        return Ratio(*_without_monomial(numerator, denominator))


@dataclass(frozen=True)
class Pivot:
    """Hypothesis number ``hypothesis``, (slope*x + rest)/denominator, used up by a substitution for ``symbol``.

    The new symbol has the name of the old one; ``slope``, ``rest`` and ``denominator`` are in the old ones.
    """

    hypothesis: int
    symbol: sp.Symbol
    kind: Kind
    slope: PolyElement
    rest: PolyElement
    denominator: PolyElement

    @property
    def justified(self) -> bool:
        """Whether the signs are those that its kind needs."""
        signs = {
            Kind.AT_LEAST: (self.slope, -self.rest),
            Kind.AT_MOST: (-self.slope, self.rest),
            Kind.ZERO: (-self.slope, -self.rest, self.rest),
        }[self.kind]
        return all(map(definite, (*signs, self.denominator))) and bool(self.slope)

    def old(self, point: Point) -> Point:
        """The old symbols' values at values of the new ones."""
        slope, rest, x = _value(self.slope, point), _value(self.rest, point), point[self.symbol]
        value = {
            Kind.AT_LEAST: lambda: x - rest / slope,
            Kind.AT_MOST: lambda: 1 / (x - slope / rest),
            Kind.ZERO: lambda: Fraction(0),
        }[self.kind]()
        return {**point, self.symbol: value}


@dataclass(frozen=True)
class Certificate:
    """Why ``system.goal`` is nonnegative: after the ``pivots`` it is ``goal``, which has no negative coefficient."""

    system: System
    pivots: tuple[Pivot, ...]
    goal: Ratio

    def check(self) -> bool:
        """Whether it proves the goal: signs of coefficients, and identities in exact arithmetic at random points."""
        rng = random.Random(0)  # noqa: S311  # no secrets
        identities = all(self._identities_hold(rng) for _ in range(_TESTS))
        return identities and self.goal.definite and all(pivot.justified for pivot in self.pivots)

    def _identities_hold(self, rng: random.Random) -> bool:
        point: Point = {s: Fraction(rng.randrange(1, _RANGE)) for s in symbols_of(self.system)}
        goal, points = self.goal.at(point), [point]
        for pivot in reversed(self.pivots):
            points.append(pivot.old(points[-1]))
        points.reverse()
        original, hypotheses = points[0], all_hypotheses(self.system)
        for pivot, here in zip(self.pivots, points[:-1], strict=True):
            x = here[pivot.symbol]
            claimed = (_value(pivot.slope, here) * x + _value(pivot.rest, here)) / _value(pivot.denominator, here)
            if _exactly(hypotheses[pivot.hypothesis], original) != claimed:
                return False
        return _exactly(self.system.goal, original) == goal


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
    return all(coefficient >= 0 for coefficient in poly.values())


def _exactly(expr: sp.Expr, point: Point) -> Fraction:
    """A rational expression at a point."""
    value = sp.sympify(expr).xreplace({s: sp.Rational(v.numerator, v.denominator) for s, v in point.items()})
    return Fraction(int(value.p), int(value.q))


def _value(poly: PolyElement, point: Point) -> Fraction:
    """A polynomial at a point: a sum over its terms, over a common denominator for each symbol."""
    if not poly:
        return Fraction(0)
    degrees = poly.degrees()
    bases = [point[symbol] for symbol in poly.ring.symbols]
    above = [[base.numerator**e for e in range(d + 1)] for base, d in zip(bases, degrees, strict=True)]
    below = [[base.denominator**e for e in range(d + 1)] for base, d in zip(bases, degrees, strict=True)]
    total = Fraction(0)
    for monomial, coefficient in poly.terms():
        product = 1
        for up, down, exponent in zip(above, below, monomial, strict=True):
            product *= up[exponent] * down[-1 - exponent]
        total += Fraction(int(coefficient.numerator), int(coefficient.denominator)) * product
    for down in below:
        total /= down[-1]
    return total


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
    for monomial, coefficient in poly.terms():
        part = parts.setdefault(monomial[x], poly.ring.zero)
        part[(*monomial[:x], 0, *monomial[x + 1 :])] = coefficient
    return parts


def _without_monomial(one: PolyElement, other: PolyElement) -> tuple[PolyElement, PolyElement]:
    """Both divided by the monomial that divides all of their terms."""
    common = tuple(map(min, zip(*one.monoms(), *other.monoms(), strict=True)))
    if not any(common):
        return one, other
    divided = [{tuple(a - b for a, b in zip(m, common, strict=True)): c for m, c in p.terms()} for p in (one, other)]
    return one.ring.from_dict(divided[0]), one.ring.from_dict(divided[1])


# --- Search ---


class Search:
    """Ways to use up the hypotheses of a system, up to a number of tries; ``parameter`` stays as it is."""

    def __init__(self, system: System, parameter: sp.Symbol | None = None) -> None:
        self.system, self.parameter = system, parameter
        self.symbols = symbols_of(system)
        self.field = field(self.symbols, sp.QQ)[0]
        self.ring = self.field.ring
        self.hypotheses = [self._ratio(each) for each in all_hypotheses(system)]
        self.goal = self._ratio(system.goal)
        self.tries = 0

    def _ratio(self, expr: sp.Expr) -> Ratio:
        element: FracElement = self.field.from_expr(sp.sympify(expr))
        numerator, denominator = element.numer, element.denom
        if all(coefficient <= 0 for coefficient in denominator.values()):
            numerator, denominator = -numerator, -denominator
        return Ratio(numerator, denominator)

    def parts(self) -> Iterator[tuple[sp.Expr, Search]]:
        """The goal as a sum of monomials in the symbols that no hypothesis restricts, each times a part of its own."""
        restricting = [*self.hypotheses, Ratio(self.goal.denominator, self.ring.one)]
        monomials = [m for h in restricting for p in (h.numerator, h.denominator) for m in p.monoms()]
        fixed = {i for m in monomials for i, exponent in enumerate(m) if exponent}
        free = [i for i, s in enumerate(self.symbols) if i not in fixed and s != self.parameter]
        groups: dict[tuple[int, ...], PolyElement] = {}
        for monomial, coefficient in self.goal.numerator.terms():
            rest = tuple(0 if i in free else e for i, e in enumerate(monomial))
            groups.setdefault(tuple(monomial[i] for i in free), self.ring.zero)[rest] = coefficient
        for key, numerator in groups.items():
            monomial = sp.Mul(*(self.symbols[i] ** e for i, e in zip(free, key, strict=True)))
            part = numerator.as_expr() / self.goal.denominator.as_expr()
            system = System(part, self.system.strict, self.system.hypotheses, self.system.restored)
            yield monomial, Search(system, self.parameter)

    def run(self) -> Iterator[Certificate]:
        """Without a parameter the first certificate, if one is found; with one, all candidates: see `threshold`.

        Few hypotheses make small polynomials, so the smallest sets of hypotheses come first.
        """
        domains = len(self.hypotheses) - len(self.system.hypotheses)
        self.tries = 0
        numbered = list(enumerate(self.hypotheses))
        for size in range(len(self.system.hypotheses) + 1):
            for subset in itertools.combinations(numbered[domains:], size):
                for certificate in self._explore(self.goal, [*numbered[:domains], *subset], ()):
                    yield certificate
                    if self.parameter is None:
                        return

    def _explore(
        self, goal: Ratio, hypotheses: list[tuple[int, Ratio]], pivots: tuple[Pivot, ...]
    ) -> Iterator[Certificate]:
        hypotheses = [(i, h) for i, h in hypotheses if not h.definite]
        if self.parameter is None and goal.definite:
            yield Certificate(self.system, pivots, goal)
            return
        for position, (index, hypothesis) in enumerate(hypotheses):
            choices = self._choices(index, hypothesis)
            others = hypotheses[:position] + hypotheses[position + 1 :]
            for pivot, x, above, below in choices:
                rest = [(i, h.put(x, above, below)) for i, h in others]
                yield from self._explore(goal.put(x, above, below), rest, (*pivots, pivot))
            if choices:
                return
        self.tries += 1
        if self.parameter is not None and not hypotheses:
            yield Certificate(self.system, pivots, goal)

    def _choices(self, index: int, hypothesis: Ratio) -> list[tuple[Pivot, int, PolyElement, PolyElement]]:
        """Pivots on a hypothesis: each with the position of its symbol and what is put in, above/below."""
        choices = []
        for x, symbol in enumerate(self.symbols):
            parts = by_power(hypothesis.numerator, x)
            if symbol == self.parameter or not set(parts) <= {0, 1} or 1 not in parts:
                continue
            slope, rest, own = parts[1], parts.get(0, self.ring.zero), self.ring.gens[x]
            for kind in Kind:
                pivot = Pivot(index, symbol, kind, slope, rest, hypothesis.denominator)
                if pivot.justified and (kind is not Kind.AT_MOST or rest):
                    choices.append((pivot, x, *_put_in(kind, slope, rest, own)))
        return sorted(choices, key=lambda choice: (choice[0].kind is Kind.AT_MOST, -choice[1]))


def _put_in(kind: Kind, slope: PolyElement, rest: PolyElement, own: PolyElement) -> tuple[PolyElement, PolyElement]:
    """Numerator and denominator of what stands for the symbol."""
    if kind is Kind.ZERO:
        return slope.ring.zero, slope.ring.one
    if kind is Kind.AT_LEAST:
        above, below = (-rest).cancel(slope)
        return above + below * own, below
    above, below = (-slope).cancel(rest)
    return below, above + below * own


def threshold(certificate: Certificate, parameter: sp.Symbol) -> sp.Expr:
    """The least value of the parameter from which on no coefficient is negative; infinite where there is none."""
    candidates = [sp.Integer(0)]
    for poly in (certificate.goal.numerator, certificate.goal.denominator):
        last = poly.ring.symbols.index(parameter)
        grouped: dict[tuple[int, ...], dict[int, sp.Rational]] = {}
        for monomial, coefficient in poly.terms():
            rest = (*monomial[:last], 0, *monomial[last + 1 :])
            grouped.setdefault(rest, {})[monomial[last]] = sp.Rational(coefficient)
        candidates += map(_nonnegative_from, grouped.values())
    return sp.Max(*candidates)


def _nonnegative_from(powers: Mapping[int, sp.Rational]) -> sp.Expr:
    """Where a univariate polynomial, by its coefficients, becomes nonnegative for good; at least 0."""
    if all(coefficient >= 0 for coefficient in powers.values()):
        return sp.Integer(0)
    if powers[max(powers)] < 0:
        return sp.oo
    poly = sp.Poly({(power,): coefficient for power, coefficient in powers.items()}, sp.Dummy())
    return max([sp.Integer(0), *sp.real_roots(poly)])


_ = Sequence
