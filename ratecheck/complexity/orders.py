"""Compare two expressions up to constant factors: A = O(B), with a certificate, or a direction in which A/B explodes.

Both sides are quotients of sums of monomials (`monomials`), so that A = O(B) says that each monomial on one side is at
most a constant times the sum of those on the other, wherever the quantities may lie; `farkas` decides that.

A difference of two whole numbers c <= a, such as n - m or K - 1, is a quantity d of its own that replaces the larger
one, a = c + d. It is 0 or at least 1; the two cases are taken apart, so nothing is lost. A logarithm has no exponent:
it is refused, or held fixed on request, which is what a tilde over the O means. Quantities held fixed count as 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.statement import Condition
from bounds.symbols import Domain, Vocabulary
from ratecheck.complexity.farkas import Ray, Weights, decide
from ratecheck.complexity.monomials import (
    ONE,
    Monomial,
    MonomialReader,
    differences,
    is_mixed,
    is_negative,
    power,
    times,
)
from ratecheck.errors import InputError

# Values of x at which a quotient is shown along a direction.
_SHOWN = (10, 100, 1000)


@dataclass(frozen=True)
class Direction:
    """Quantities as powers of x along which the quotient grows at least like x^``growth``.

    ``powers`` has whole exponents by name, a difference such as ``n-m`` under that name; what it lacks is constant.
    ``differences`` has the larger and the smaller part of each by name, ``zero`` are those that are 0. ``ratios`` has
    the quotient at x = 10, 100, 1000.
    """

    powers: dict[str, int]
    growth: Fraction
    differences: dict[str, tuple[str, str]]
    zero: frozenset[str]
    ratios: tuple[float, ...]

    def point(self, x: int, names: Iterable[str]) -> dict[str, Fraction]:
        """Values of the quantities ``names`` at x; those that the direction leaves alone are 1."""
        return _point(self.powers, self.differences, self.zero, x, names)

    @property
    def text(self) -> str:
        """The direction in words, such as ``K = x^2, n-m = 0``."""
        parts = [f"{name} = {_power_text(exponent)}" for name, exponent in self.powers.items()]
        return ", ".join([*parts, *(f"{name} = 0" for name in sorted(self.zero))])

    @property
    def complexity(self) -> tuple[int, int]:
        """The number of quantities that the direction names, and the sum of the sizes of its exponents."""
        return len(self.powers) + len(self.zero), sum(map(abs, self.powers.values()))


@dataclass(frozen=True)
class Domination:
    """Whether A = O(B): the weights that prove it, one set per monomial and case, or the direction that refutes it."""

    certificates: tuple[Weights, ...]
    direction: Direction | None

    @property
    def holds(self) -> bool:
        """Whether A = O(B)."""
        return self.direction is None


@dataclass(frozen=True)
class Ordering:
    """Two orders: ``forward`` is left = O(right), ``backward`` is right = O(left)."""

    forward: Domination
    backward: Domination

    @property
    def same(self) -> bool:
        """Whether each is of the order of the other."""
        return self.forward.holds and self.backward.holds

    @property
    def text(self) -> str:
        """The relation of left to right in words."""
        return {
            (True, True): "the same order",
            (True, False): "of a smaller order",
            (False, True): "of a larger order",
            (False, False): "neither is of the order of the other",
        }[self.forward.holds, self.backward.holds]


def compare(
    left: sp.Expr,
    right: sp.Expr,
    vocabulary: Vocabulary,
    conditions: Sequence[Condition] = (),
    *,
    fixed: Iterable[str] = (),
    hide_logarithms: bool = False,
) -> Ordering:
    """Order of ``left`` against that of ``right`` where domains, ordered pairs and ``conditions`` hold.

    ``conditions`` compare sums of products of powers (``<=`` or ``>=``). Quantities in ``fixed`` are positive constants
    that the orders hide; nothing is said about how the hidden factor depends on them. With ``hide_logarithms`` every
    logarithm is such a constant. Real quantities that may be 0 are taken as positive: both sides are continuous, so a
    bound carries over. Raises `InputError` for an expression that is no sum of products of powers, a difference that
    is not one of an ordered pair, a logarithm that is not hidden, and a division by 0.
    """
    problem = _Problem((left, right), vocabulary, tuple(conditions), frozenset(fixed), hide_logarithms)
    return Ordering(problem.dominated(left, right), problem.dominated(right, left))


@dataclass(frozen=True)
class _Problem:
    """The data that both directions of a comparison share."""

    sides: tuple[sp.Expr, sp.Expr]
    vocabulary: Vocabulary
    conditions: tuple[Condition, ...]
    fixed: frozenset[str]
    hide_logarithms: bool

    def dominated(self, left: sp.Expr, right: sp.Expr) -> Domination:
        """Whether left = O(right)."""
        certificates: list[Weights] = []
        directions: list[Direction] = []
        for reader, facts in self._cases():
            for found in _decided(left, right, reader, facts):
                if isinstance(found, Weights):
                    certificates.append(found)
                else:
                    directions.append(_direction(found, left, right, reader))
        simplest = min(directions, key=lambda direction: direction.complexity, default=None)
        return Domination(tuple(certificates) if simplest is None else (), simplest)

    def _cases(self) -> Iterator[tuple[MonomialReader, list[Monomial]]]:
        """Every choice of the differences that are 0, and for each every way to meet the conditions, up to factors."""
        known = self._differences()
        for count in range(len(known) + 1):
            for zero in itertools.combinations(known, count):
                reader = MonomialReader(known, frozenset(zero), self.fixed, self.hide_logarithms)
                yield from ((reader, facts) for facts in self._facts(reader))

    def _differences(self) -> dict[str, tuple[sp.Symbol, sp.Expr]]:
        """Differences in both sides by name: the larger symbol, and the smaller one or the number 1."""
        found: dict[str, tuple[sp.Symbol, sp.Expr]] = {}
        for difference in sorted({each for side in self.sides for each in differences(side)}, key=str):
            larger, smaller = self._ordered(difference)
            found[f"{larger}-{smaller}"] = larger, smaller
        parts = [str(part) for pair in found.values() for part in pair if part != 1]
        for part in parts:
            if part in self.fixed:
                raise InputError(f"{part} occurs in a difference and cannot be held fixed")
            if parts.count(part) > 1:
                raise InputError(f"{part} occurs in two differences, of which only one can be a quantity of its own")
        return found

    def _ordered(self, difference: sp.Expr) -> tuple[sp.Symbol, sp.Expr]:
        plus = [term for term in difference.args if not is_negative(term)]
        minus = [-term for term in difference.args if is_negative(term)]
        if len(plus) == len(minus) == 1:
            for larger, smaller in ((plus[0], minus[0]), (minus[0], plus[0])):
                if self._never_below(larger, smaller):
                    return larger, smaller
        pairs = ", ".join(f"{small} <= {large}" for small, large in self.vocabulary.ordered) or "none"
        raise InputError(f"{difference} may be negative: a difference has to be of ordered whole numbers ({pairs})")

    def _never_below(self, larger: sp.Expr, smaller: sp.Expr) -> bool:
        if not (larger.is_Symbol and larger.is_integer):
            return False
        return bool(smaller == 1 or (smaller.is_integer and (str(smaller), str(larger)) in self.vocabulary.ordered))

    def _facts(self, reader: MonomialReader) -> Iterator[list[Monomial]]:
        """Monomials that are at most 1: one list for each way in which every condition can hold, up to factors."""
        exprs = [*self.sides, *(side for condition in self.conditions for side in (condition.left, condition.right))]
        names = sorted({symbol.name for expr in exprs for symbol in expr.free_symbols})
        pairs = [
            (self.vocabulary[small].symbol, self.vocabulary[large].symbol)
            for small, large in self.vocabulary.ordered
            # The sum that replaces the larger part of a difference is not below the smaller part.
            if {small, large} <= {*names} and f"{large}-{small}" not in reader.differences
        ]
        for condition in self.conditions:
            if condition.operator not in {"<=", ">="}:
                raise InputError(f"{condition.text}: a condition of an order is an inequality, <= or >=")
            sides = (condition.left, condition.right)
            pairs.append(sides if condition.operator == "<=" else sides[::-1])
        choices = []
        for small, large in pairs:
            lower, upper = reader.quotient(small).against(reader.quotient(large))
            choices += [[times(p, power(q, Fraction(-1))) for q in sorted(upper)] for p in sorted(lower)]
        sure: list[Monomial] = [((name, Fraction(-1)),) for name in self._at_least_one(names, reader)]
        for choice in itertools.product(*choices):
            yield [fact for fact in dict.fromkeys([*sure, *choice]) if fact != ONE]

    def _at_least_one(self, names: Sequence[str], reader: MonomialReader) -> list[str]:
        """Whole numbers among the quantities that are left, and the differences that are not 0."""
        gone = self.fixed | {larger.name for larger, _ in reader.differences.values()}
        whole = [name for name in names if self.vocabulary[name].domain is Domain.POSITIVE_INTEGER and name not in gone]
        return [*whole, *(name for name in reader.differences if name not in reader.zero)]


def _decided(
    left: sp.Expr, right: sp.Expr, reader: MonomialReader, facts: Sequence[Monomial]
) -> Iterator[Weights | Ray]:
    """The decision on left = O(right), monomial by monomial."""
    other = reader.quotient(right)
    # Taken one by one, the terms of a sum need no common denominator.
    for part in left.args if left.is_Add and not is_mixed(left) else (left,):
        goals, terms = reader.quotient(part).against(other)
        for goal in sorted(goals):
            yield decide(goal, sorted(terms), facts)


def _direction(ray: Ray, left: sp.Expr, right: sp.Expr, reader: MonomialReader) -> Direction:
    """The ray in whole exponents, with the quotient of the two sides along it."""
    scale = math.lcm(*(exponent.denominator for exponent in ray.powers.values()))
    powers = {name: int(exponent * scale) for name, exponent in ray.powers.items()}
    parts = {name: (str(larger), str(smaller)) for name, (larger, smaller) in reader.differences.items()}
    symbols = left.free_symbols | right.free_symbols
    ratios = []
    for x in _SHOWN:
        values = _point(powers, parts, reader.zero, x, [symbol.name for symbol in symbols])
        numbers = {symbol: sp.Rational(values[symbol.name]) for symbol in symbols}
        ratio = sp.N(left.xreplace(numbers) / right.xreplace(numbers), 30)
        ratios.append(float(ratio) if ratio.is_finite else math.inf)
    return Direction(powers, ray.growth * scale, parts, reader.zero, tuple(ratios))


def _point(
    powers: Mapping[str, int],
    parts: Mapping[str, tuple[str, str]],
    zero: frozenset[str],
    x: int,
    names: Iterable[str],
) -> dict[str, Fraction]:
    values = {name: Fraction(x) ** powers.get(name, 0) for name in (*names, *parts)}
    for name, (larger, smaller) in parts.items():
        values[larger] = values.get(smaller, Fraction(1)) + (0 if name in zero else values[name])
    return {name: values[name] for name in names}


def _power_text(exponent: int) -> str:
    size = "x" if abs(exponent) == 1 else f"x^{abs(exponent)}"
    return size if exponent > 0 else f"1/{size}"
