"""Certificates: an inequality between rational functions that can be read off its coefficients.

A hypothesis A*x + B >= 0 that is linear in a symbol x is used up by a substitution. Where A and -B have no negative
coefficient it says x >= C with C = -B/A, so x = C + x' with a new x' >= 0. Where -A and B have none it says 1/x >= C
with C = -A/B, so x = 1/(C + x'). Where C is a monomial, C*(1 + x') stands for C + x' (they differ where C = 0, a
limit). Where -A has none and B = 0 it says x = 0. If in the end neither the goal's numerator nor its
denominator has a negative coefficient, the goal is nonnegative (where a denominator vanishes, by continuity).
`ratecheck.algebra.search` finds such substitutions; `SubstitutionCertificate.check` replays them without it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing

from ratecheck.algebra.positivity.polynomial import System, domain_hypotheses


class HypothesisKind(Enum):
    """The form of a hypothesis about a symbol."""

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

    def equals(self, other: Ratio) -> bool:
        """Whether two ratios are one rational function; equal terms need not be multiplied out."""
        if self.numerator == other.numerator and self.denominator == other.denominator:
            return True
        return bool(self.numerator * other.denominator == other.numerator * self.denominator)

    def put(self, x: int, above: PolyElement, below: PolyElement) -> Ratio:
        """The ratio with above/below substituted for the generator number x."""
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

    @property
    def value(self) -> tuple[PolyElement, PolyElement]:
        """Numerator and denominator of what stands for the symbol."""
        own = self.slope.ring.gens[self.slope.ring.symbols.index(self.symbol)]
        if self.kind is HypothesisKind.ZERO:
            return own.ring.zero, own.ring.one
        least = self.kind is HypothesisKind.AT_LEAST
        above, below = (-self.rest).cancel(self.slope) if least else (-self.slope).cancel(self.rest)
        top = above * (1 + own) if self.scaled else above + below * own
        return (top, below) if least else (below, top)


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

    def check(self, *, interior: bool = False) -> bool:
        """True where the certificate proves the goal: signs of coefficients and expanded polynomial identities agree.

        With ``interior`` only where no symbol at a border is 0; the rest is then a matter of continuity.
        """
        if interior:
            return self._interior_holds()
        borders = self.borders
        if borders is None or borders != set(self.at_zero):
            return False
        for symbol, more in self.at_zero.items():
            case = self.system.put({symbol: ZERO})
            if not (void(case) if more is None else more.system == case and more.check()):
                return False
        return self._interior_holds()

    def _interior_holds(self) -> bool:
        signs = self.goal.definite and all(pivot.justified for pivot in self.pivots) and self._signs_hold()
        return signs and self._identities_hold()

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

    def _identities_hold(self) -> bool:
        ring, hypotheses = self.goal.numerator.ring, all_hypotheses(self.system)
        goal = ratio_of(ring, self.system.goal)
        known = {pivot.hypothesis: ratio_of(ring, hypotheses[pivot.hypothesis]) for pivot in self.pivots}
        for pivot in self.pivots:
            x, hypothesis = ring.symbols.index(pivot.symbol), known[pivot.hypothesis]
            if any(monomial[x] for part in (pivot.slope, pivot.rest) for monomial in part.itermonoms()):
                return False
            claimed = Ratio(pivot.slope * ring.gens[x] + pivot.rest, pivot.denominator)
            if not hypothesis.equals(claimed):
                return False
            value = pivot.value
            goal, known = goal.put(x, *value), {i: each.put(x, *value) for i, each in known.items()}
        return goal.equals(self.goal)


def key_of(pivots: Sequence[Pivot]) -> Key:
    """The key of pivots, to be tried on another goal: hypotheses, symbols and kinds."""
    return tuple((pivot.hypothesis, pivot.symbol.name, pivot.kind) for pivot in pivots)


def all_hypotheses(system: System) -> tuple[sp.Expr, ...]:
    """The hypotheses of a system, after those from the domains of its symbols."""
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


def ratio_of(ring: PolyRing, expr: sp.Expr) -> Ratio:
    """A rational expression over a ring, with a denominator that is not negative if all its terms have one sign."""
    element = ring.to_field().from_expr(sp.sympify(expr))
    numerator, denominator = element.numer, element.denom
    if all(coefficient <= 0 for coefficient in denominator.itercoeffs()):
        numerator, denominator = -numerator, -denominator
    return Ratio(numerator, denominator)


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
    """Two polynomials divided by the monomial that divides all of their terms."""
    common = tuple(map(min, zip(*one.itermonoms(), *other.itermonoms(), strict=True)))
    if not any(common):
        return one, other
    divided = [
        {tuple(a - b for a, b in zip(m, common, strict=True)): c for m, c in p.iterterms()} for p in (one, other)
    ]
    return one.ring.from_dict(divided[0]), one.ring.from_dict(divided[1])


ZERO = sp.Integer(0)


def void(case: System) -> bool:
    """Whether a case says nothing: a hypothesis fails for numbers alone, the goal is 0, or it divides by 0."""
    if any(h.is_number and h.is_finite and h < 0 for h in case.hypotheses):
        return True
    return bool(case.goal.has(sp.zoo, sp.nan) or (case.goal == 0 and not case.strict))
