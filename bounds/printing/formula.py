"""Formulas in the form in which they are printed: products of powers, and sums of products.

SymPy's form is made for computing: it multiplies numbers into sums, -4*m + 4*n, splits roots, sqrt(n)/sqrt(m), and
sorts by the alphabet. Here a number is taken out of every sum, 4*(n - m), what stands under roots is kept together,
sqrt(n/m), and factors and terms have the order of the vocabulary. `FormulaReader` turns a SymPy expression into a
`PrintedProduct` and puts the names of defined quantities for their formulas on the way
(`bounds.printing.abbreviations`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy as sp

from bounds.numbers import exact

ONE = Fraction(1)
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Sum:
    """A sum of at least two products: number by factors. The numbers have no common divisor."""

    terms: frozenset[tuple[Factors, Fraction]]

    @cached_property
    def text(self) -> str:
        """Text that equal sums have, and no others."""
        return "+".join(sorted(PrintedProduct(number, factors).text for factors, number in self.terms))

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of all symbols in it."""
        return frozenset().union(*(PrintedProduct(number, factors).symbols for factors, number in self.terms))

    @property
    def balanced(self) -> bool:
        """Whether as many terms are negative as are not, so that the opposite sum is as good."""
        return 2 * sum(number < 0 for _, number in self.terms) == len(self.terms)

    @property
    def opposite(self) -> Sum:
        """The sum times -1."""
        return Sum(frozenset((factors, -number) for factors, number in self.terms))


@dataclass(frozen=True)
class Call:
    """A function of formulas, such as a maximum."""

    name: str
    arguments: tuple[PrintedProduct, ...]


@dataclass(frozen=True)
class PrintedProduct:
    """A number times powers: symbols by name, whole numbers under a root, sums, calls; a group is a product."""

    number: Fraction
    factors: Factors

    @classmethod
    def of(cls, name: str) -> PrintedProduct:
        """A symbol by its name."""
        return cls(ONE, frozenset({(name, ONE)}))

    @cached_property
    def text(self) -> str:
        """Text that equal products have, and no others."""
        powers = sorted(f"{base_text(base)}^{_as_product(exponent).text}" for base, exponent in self.factors)
        return "*".join([str(self.number), *powers])

    @property
    def is_symbol(self) -> bool:
        """Whether the product is a symbol alone, or a number."""
        plain = all(isinstance(base, str) and exponent == 1 for base, exponent in self.factors)
        return not self.factors or (self.number == 1 and len(self.factors) == 1 and plain)

    @cached_property
    def bases(self) -> frozenset[Base]:
        """Bases of the product's powers."""
        return frozenset(base for base, _ in self.factors)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of all symbols in it."""
        found: set[str] = set()
        for base, exponent in self.factors:
            found |= {base} if isinstance(base, str) else base_symbols(base)
            if isinstance(exponent, PrintedProduct):
                found |= exponent.symbols
        return frozenset(found)


Base = str | int | Sum | Call | PrintedProduct
Exponent = Fraction | PrintedProduct
Factors = frozenset[tuple[Base, Exponent]]

UNIT = PrintedProduct(ONE, frozenset())


def base_text(base: Base) -> str:
    """Text that equal bases have, and no others."""
    if isinstance(base, Call):
        return f"{base.name}({','.join(argument.text for argument in base.arguments)})"
    return f"({base.text})" if isinstance(base, (Sum, PrintedProduct)) else str(base)


def base_symbols(base: Base) -> frozenset[str]:
    """Names of all symbols in a base."""
    if isinstance(base, Call):
        return frozenset().union(*(argument.symbols for argument in base.arguments))
    if isinstance(base, (Sum, PrintedProduct)):
        return base.symbols
    return frozenset({base} if isinstance(base, str) else ())


def times(*products: PrintedProduct) -> PrintedProduct:
    """The product."""
    number, powers = ONE, dict[Base, Exponent]()
    for product in products:
        number *= product.number
        for base, exponent in product.factors:
            powers[base] = _added(powers.get(base, Fraction(0)), exponent)
    for base in [base for base in powers if isinstance(base, int)]:
        exponent = powers.pop(base)
        assert isinstance(base, int)
        assert isinstance(exponent, Fraction)
        whole = math.floor(exponent)
        number *= Fraction(base) ** whole
        if exponent != whole:
            powers[base] = exponent - whole
    if number == 0:
        return PrintedProduct(number, frozenset())
    return PrintedProduct(number, frozenset((base, exponent) for base, exponent in powers.items() if exponent != 0))


def _added(one: Exponent, other: Exponent) -> Exponent:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one + other
    total = collect(_as_product(one), _as_product(other))
    return total.number if not total.factors else total


def _as_product(exponent: Exponent) -> PrintedProduct:
    return exponent if isinstance(exponent, PrintedProduct) else PrintedProduct(exponent, frozenset())


def collect(*products: PrintedProduct) -> PrintedProduct:
    """The sum, with the common divisor of the numbers before it; its sign is that of most terms."""
    terms: dict[Factors, Fraction] = {}
    for product in products:
        for factors, number in flat(product):
            terms[factors] = terms.get(factors, Fraction(0)) + number
    return of_terms(terms)


def flat(product: PrintedProduct) -> Iterable[tuple[Factors, Fraction]]:
    """The terms of a sum with a number before it; any other product is its own only term."""
    if len(product.factors) == 1:
        ((base, exponent),) = product.factors
        if isinstance(base, Sum) and exponent == 1:
            return [(factors, product.number * number) for factors, number in base.terms]
    return [(product.factors, product.number)]


def of_terms(terms: Mapping[Factors, Fraction]) -> PrintedProduct:
    """The sum of the terms as a number times a sum without common divisor."""
    kept = {factors: number for factors, number in terms.items() if number != 0}
    if not kept:
        return PrintedProduct(Fraction(0), frozenset())
    if len(kept) == 1:
        ((factors, number),) = kept.items()
        return PrintedProduct(number, factors)
    numerator = math.gcd(*(number.numerator for number in kept.values()))
    content = Fraction(numerator, math.lcm(*(number.denominator for number in kept.values())))
    if _mostly_negative(kept):
        content = -content
    total = Sum(frozenset((factors, number / content) for factors, number in kept.items()))
    return PrintedProduct(content, frozenset({(total, ONE)}))


def _mostly_negative(terms: Mapping[Factors, Fraction]) -> bool:
    negative = sum(number < 0 for number in terms.values())
    if 2 * negative != len(terms):
        return 2 * negative > len(terms)
    # A tie, such as n - m: either sign would do, but the same for both.
    return terms[min(terms, key=lambda factors: PrintedProduct(ONE, factors).text)] < 0


def power(product: PrintedProduct, exponent: Exponent) -> PrintedProduct:
    """The product to a power; for a broken exponent the caller answers for the signs."""
    if not isinstance(exponent, Fraction):
        return PrintedProduct(ONE, frozenset({(_base(product), exponent)}))
    if product.number < 0 and exponent.denominator > 1:
        product = _turned(product)
    raised = []
    for base, own in product.factors:
        total = own * exponent if isinstance(own, Fraction) else times(own, PrintedProduct(exponent, frozenset()))
        raised.append(PrintedProduct(ONE, frozenset({(base, total)})))
    return times(_number_power(product.number, exponent), *raised)


def _turned(product: PrintedProduct) -> PrintedProduct:
    """-(m - n) as n - m: a root has no sign to spare."""
    for base, exponent in product.factors:
        if isinstance(base, Sum) and isinstance(exponent, Fraction) and exponent % 2 == 1:
            return PrintedProduct(-product.number, product.factors - {(base, exponent)} | {(base.opposite, exponent)})
    return product


def _base(product: PrintedProduct) -> Base:
    if product.number == 1 and len(product.factors) == 1:
        ((base, exponent),) = product.factors
        if exponent == 1:
            return base
    return product


def _number_power(number: Fraction, exponent: Fraction) -> PrintedProduct:
    if exponent.denominator == 1:
        return PrintedProduct(number**exponent.numerator, frozenset())
    if number < 0:
        return PrintedProduct(ONE, frozenset({(PrintedProduct(number, frozenset()), exponent)}))
    parts = []
    for base, sign in ((number.numerator, 1), (number.denominator, -1)):
        for prime, count in sp.factorint(base).items():
            parts.append(times(PrintedProduct(ONE, frozenset({(int(prime), sign * count * exponent)}))))
    return times(*parts) if parts else UNIT


Fold = Callable[[PrintedProduct], PrintedProduct]


class FormulaReader:
    """Reads SymPy expressions; ``fold`` may put another form for every product and sum that is read."""

    def __init__(self, fold: Fold | None = None) -> None:
        self._fold: Fold = fold or (lambda product: product)
        self._known: dict[sp.Basic, PrintedProduct] = {}
        self._signed: set[str] = set()

    def read(self, expr: sp.Basic) -> PrintedProduct:
        """The expression as a product."""
        found = self._known.get(expr)
        if found is None:
            found = self._known[expr] = self._fold(self._read(expr))
        return found

    def _read(self, expr: sp.Basic) -> PrintedProduct:  # noqa: PLR0911  # one for each kind of expression
        if isinstance(expr, sp.Symbol):
            if not expr.is_nonnegative:
                self._signed.add(expr.name)
            return PrintedProduct.of(expr.name)
        if isinstance(expr, sp.Rational):
            return PrintedProduct(Fraction(int(expr.p), int(expr.q)), frozenset())
        if isinstance(expr, sp.Float):
            return self._read(exact(expr))
        if isinstance(expr, sp.Add):
            return collect(*map(self.read, expr.args))
        if isinstance(expr, sp.Mul):
            return times(*map(self.read, expr.args))
        if isinstance(expr, sp.Pow):
            return self._power(self.read(expr.base), self.read(expr.exp))
        if expr.args and all(isinstance(argument, sp.Expr) for argument in expr.args):
            return PrintedProduct(ONE, frozenset({(Call(type(expr).__name__, tuple(map(self.read, expr.args))), ONE)}))
        return PrintedProduct.of(str(expr))

    def _power(self, base: PrintedProduct, exponent: PrintedProduct) -> PrintedProduct:
        if exponent.factors:
            return power(base, exponent)
        if exponent.number.denominator > 1 and any(self._squared(*factor) for factor in base.factors):
            # The root of (a - b)^2 is |a - b|, not a - b.
            return PrintedProduct(ONE, frozenset({(base, exponent.number)}))
        return power(base, exponent.number)

    def _squared(self, base: Base, exponent: Exponent) -> bool:
        even = isinstance(exponent, Fraction) and exponent.denominator == 1 and exponent.numerator % 2 == 0
        return even and not self._nonnegative(base)

    def _nonnegative(self, base: Base) -> bool:
        if isinstance(base, str):
            return base not in self._signed
        if isinstance(base, Sum):
            return all(number > 0 for _, number in base.terms) and not base_symbols(base) & self._signed
        return isinstance(base, int)


# How a product is set: a sign, and a fraction whose halves are numbers, powers and roots in order.


@dataclass(frozen=True)
class Root:
    """The square root of a product."""

    inside: PrintedProduct


@dataclass(frozen=True)
class Power:
    """A base with a positive power."""

    base: Base
    exponent: Exponent


Item = int | Root | Power


@dataclass(frozen=True)
class Fractional:
    """A product as it is set: sign, numerator over denominator, and what follows; an empty half is 1."""

    negative: bool
    numerator: tuple[Item, ...]
    denominator: tuple[Item, ...]
    after: tuple[Item, ...]


@dataclass(frozen=True)
class Order:
    """The order in which factors and terms are set.

    ``rank`` is the position of a symbol in its vocabulary; ``settings`` are the symbols of the run, which say least
    about a term's kind; ``measured`` are the quantities that a claim bounds, which come last.
    """

    rank: Mapping[str, int]
    settings: frozenset[str]
    measured: frozenset[str]

    def fraction(self, product: PrintedProduct) -> Fractional:
        """The halves of the fraction as which a product is set, their factors in order."""
        product = _distributed(self._oriented(product))
        number = abs(product.number)
        above, below = number.numerator, number.denominator
        halves: tuple[list[Power], list[Power]] = ([], [])
        rooted = UNIT
        for base, exponent in product.factors:
            if isinstance(exponent, Fraction) and exponent.denominator == 2:
                if isinstance(base, int) and below % base == 0 and exponent == HALF:
                    # 1/sqrt(3) for sqrt(3)/3
                    below //= base
                    rooted = _inside(rooted, base, -1)
                else:
                    rooted = _inside(rooted, base, (2 * exponent).numerator)
                continue
            below_bar = exponent < 0 if isinstance(exponent, Fraction) else exponent.number < 0
            opposite = (
                -exponent if isinstance(exponent, Fraction) else times(PrintedProduct(-ONE, frozenset()), exponent)
            )
            halves[below_bar].append(Power(base, opposite if below_bar else exponent))
        sides: list[list[Item]] = []
        for whole, half in zip((above, below), halves, strict=True):
            sides.append([*([whole] if whole != 1 else []), *sorted(half, key=self._factor_key)])
        self._place_root(rooted, *sides)
        numerator, denominator = map(tuple, sides)
        # (m/n) G for m G/n.
        after = tuple(item for item in numerator if self._measured(item)) if denominator else ()
        if len(after) == len(numerator):
            after = ()
        return Fractional(product.number < 0, numerator[: len(numerator) - len(after)], denominator, after)

    def _oriented(self, product: PrintedProduct) -> PrintedProduct:
        """(P - n)/(1 - n) as (n - P)/(n - 1), and -(n - m) as m - n: either sign of a balanced sum would do."""
        number, others, turning = product.number, set(product.factors), list[tuple[Sum, Fraction]]()
        for base, exponent in product.factors:
            if isinstance(base, Sum) and base.balanced and isinstance(exponent, Fraction) and exponent.denominator == 1:
                others.discard((base, exponent))
                natural = self._natural(base)
                if not natural and exponent.numerator % 2:
                    number = -number
                turning.append((base if natural else base.opposite, exponent))
        if number < 0:
            for k, (base, exponent) in enumerate(turning):
                if exponent.numerator % 2:
                    turning[k] = (base.opposite, exponent)
                    number = -number
                    break
        return PrintedProduct(number, frozenset({*others, *turning}))

    def _natural(self, total: Sum) -> bool:
        """Whether a balanced sum has the sign in which it is usually met: n - 1, n - m, 1 - x."""
        terms = sorted((PrintedProduct(number, factors) for factors, number in total.terms), key=self._first_key)
        return terms[0].number > 0

    def _first_key(self, product: PrintedProduct) -> tuple[object, ...]:
        kind = 1 if not product.factors else 0 if product.symbols <= self.settings else 2
        return (kind, *self._ranks(product.symbols)[::-1], product.text)

    def _place_root(self, rooted: PrintedProduct, numerator: list[Item], denominator: list[Item]) -> None:
        if not rooted.factors and rooted.number == 1:
            return
        inside = self.fraction(rooted)
        above = bool(inside.numerator or inside.after)
        side, root = (numerator, rooted) if above else (denominator, power(rooted, -ONE))
        position = next((k for k, item in enumerate(side) if self._measured(item)), len(side))
        side.insert(position, Root(root))

    def _measured(self, item: Item) -> bool:
        if not isinstance(item, Power):
            return False
        if isinstance(item.base, Sum):
            return not self.measured.isdisjoint(item.base.symbols)
        return item.base in self.measured

    def _factor_key(self, factor: Power) -> tuple[object, ...]:
        base = factor.base
        if isinstance(base, str):
            return (4 if base in self.measured else 0, (self._rank(base),), (), base)
        kind = 4 if self._measured(factor) else {Sum: 1, Call: 2}.get(type(base), 3)
        return (kind, *self._ranks(base_symbols(base)), base_text(base))

    def _rank(self, name: str) -> int:
        return self.rank.get(name, len(self.rank))

    def _ranks(self, names: Iterable[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        names = list(names)
        own = sorted(self._rank(name) for name in names if name not in self.settings)
        return tuple(own), tuple(sorted(self._rank(name) for name in names if name in self.settings))

    def unbracketed(self, product: PrintedProduct) -> list[PrintedProduct]:
        """The terms of a product that is set as a sum: nothing stands before it."""
        product = _distributed(product)
        if len(product.factors) != 1 or product.number != 1:
            return []
        ((base, exponent),) = product.factors
        return self.terms(base) if isinstance(base, Sum) and exponent == 1 else []

    def terms(self, total: Sum) -> list[PrintedProduct]:
        """The terms of a sum in order: a positive one first, a number before what is added to it."""
        products = [PrintedProduct(number, factors) for factors, number in total.terms]
        return sorted(products, key=self._term_key)

    def _term_key(self, product: PrintedProduct) -> tuple[object, ...]:
        # 1 + x, but n - 1; else the simple before the involved.
        constant = not product.factors
        place = -1 if constant and product.number > 0 else int(constant)
        own, settings = self._ranks(product.symbols)
        return (product.number < 0, place, len(own), own, settings, product.text)

    def arguments(self, call: Call) -> list[PrintedProduct]:
        """The arguments of a call; those of a maximum or minimum in the order of terms."""
        if call.name not in {"Max", "Min"}:
            return list(call.arguments)
        return sorted(call.arguments, key=self._term_key)


def _distributed(product: PrintedProduct) -> PrintedProduct:
    """(a + b/2) x for (2 a + b) x/2: the sum takes a divisor that one of its numbers has."""
    divisor = product.number.denominator
    for base, exponent in product.factors if divisor > 1 else ():
        if isinstance(base, Sum) and exponent == 1 and any(number % divisor == 0 for _, number in base.terms):
            divided = Sum(frozenset((factors, number / divisor) for factors, number in base.terms))
            return PrintedProduct(
                product.number * divisor, product.factors - {(base, exponent)} | {(divided, exponent)}
            )
    return product


def _inside(rooted: PrintedProduct, base: Base, exponent: int) -> PrintedProduct:
    """Radicand times a power; numbers are kept as they are."""
    return times(rooted, power(PrintedProduct(ONE, frozenset({(base, ONE)})), Fraction(exponent)))
