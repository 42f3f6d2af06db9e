"""Vectors of clients, and quadratic forms in them, in a Hilbert space of random variables: <a, b> is E<a, b>.

Clients are exchangeable. A family (a_i) of one vector per client is split into its mean over the clients and the
deviations from it, and so is every Gram matrix: averaged over all orders of the clients it is a block M of the means,
<mean a, mean b>, and a block D of the deviations, (1/n) sum_i <a_i - mean a, b_i - mean b>. Both are positive
semidefinite, and n enters their coefficients only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

# Coefficients on unknown vectors, by their numbers.
Coefficients = Mapping[int, Fraction]


class Entry(NamedTuple):
    """An entry of a Gram matrix, ``first`` <= ``second``: of the means of a block of variables, or the deviations."""

    block: str
    deviations: bool
    first: int
    second: int


class Value(NamedTuple):
    """The mean over the clients of their functions' values at a point, or another unknown number, by name."""

    name: str


# Terms from which on a sum is one of whole numbers.
_MANY = 24
# What stands in a form beside entries and values: 1.
ONE = Value("1")
Key = Entry | Value
Form = dict[Key, Fraction]


@dataclass(frozen=True)
class KnownFact:
    """A form that is at most 0, or equal to 0 where ``equal``, under a name for people."""

    name: str
    form: Form
    equal: bool = False


def plus(*forms: tuple[Fraction | int, Mapping[Key, Fraction]]) -> Form:
    """The sum of multiples of forms."""
    if sum(len(form) for _, form in forms) > _MANY:
        return _plus_whole(forms)
    found: Form = {}
    for factor, form in forms:
        if factor:
            for key, value in form.items():
                found[key] = found.get(key, Fraction(0)) + factor * value
    return {key: value for key, value in found.items() if value}


def _plus_whole(forms: Sequence[tuple[Fraction | int, Mapping[Key, Fraction]]]) -> Form:
    """The sum of multiples of long forms, added up as whole numbers over one denominator."""
    used = [(Fraction(factor), form) for factor, form in forms if factor]
    common = math.lcm(
        *(math.lcm(*(v.denominator for v in form.values())) * factor.denominator for factor, form in used)
    )
    found: dict[Key, int] = {}
    for factor, form in used:
        times, over = factor.numerator, common // factor.denominator
        for key, value in form.items():
            found[key] = found.get(key, 0) + times * value.numerator * (over // value.denominator)
    return {key: Fraction(value, common) for key, value in found.items() if value}


def independent(facts: Iterable[KnownFact]) -> Iterator[KnownFact]:
    """The facts without equations that follow from equations before them, of which no proof needs multiples.

    A solver that may add multiples of such an equation at will has no unique answer, and loses digits.
    """
    pivots: dict[Key, Form] = {}
    for fact in facts:
        if fact.equal:
            rest = dict(fact.form)
            while hit := next((key for key in rest if key in pivots), None):
                rest = plus((1, rest), (-rest[hit], pivots[hit]))
            if not rest:
                continue
            key = next(iter(rest))
            pivots[key] = {k: c / rest[key] for k, c in rest.items()}
        yield fact


def combined(*parts: tuple[Fraction | int, Coefficients]) -> dict[int, Fraction]:
    """The sum of multiples of coefficients."""
    found: dict[int, Fraction] = {}
    for factor, each in parts:
        if factor:
            for number, value in each.items():
                found[number] = found.get(number, Fraction(0)) + factor * value
    return {number: value for number, value in found.items() if value}


def product(block: str, a: Coefficients, b: Coefficients, *, deviations: bool) -> Form:
    """<a, b> in the entries of a Gram matrix."""
    # Over one denominator, so that whole numbers are added.
    over_a, over_b = (math.lcm(*(value.denominator for value in each.values())) for each in (a, b))
    lefts, rights = (
        [(number, value.numerator * (over // value.denominator)) for number, value in each.items()]
        for each, over in ((a, over_a), (b, over_b))
    )
    found: dict[tuple[int, int], int] = {}
    for i, left in lefts:
        for j, right in rights:
            place = (i, j) if i < j else (j, i)
            found[place] = found.get(place, 0) + left * right
    common = over_a * over_b
    return {Entry(block, deviations, *place): Fraction(value, common) for place, value in found.items() if value}


@dataclass(frozen=True)
class VectorFamily:
    """One vector per client of a ``block`` of variables; all alike where it is the server's.

    ``mean`` and ``own`` are coefficients of the mean over the clients and of a client's deviation from it.
    ``sampled`` is what the draw of the round's participants adds to all of them: the deviation of the participants'
    mean of that family from the mean over all clients. ``joined`` is what a client's vector has more where it takes
    part, None for nothing.

    Where participants are followed apart from the others, ``mean`` and ``own`` are those of the participants, and
    ``other`` has those of the others; None where all are alike.
    """

    block: str
    mean: Coefficients = field(default_factory=dict)
    own: Coefficients = field(default_factory=dict)
    sampled: Coefficients = field(default_factory=dict)
    joined: VectorFamily | None = None
    other: VectorFamily | None = None

    def __add__(self, other: VectorFamily) -> VectorFamily:
        """The sum of two families."""
        return total(self.block, ((1, self), (1, other)))

    def __sub__(self, other: VectorFamily) -> VectorFamily:
        """The difference of two families."""
        return total(self.block, ((1, self), (-1, other)))

    def times(self, factor: Fraction | int) -> VectorFamily:
        """The multiple of a family."""
        return total(self.block, ((factor, self),))

    @property
    def constant(self) -> bool:
        """True of the vector 0."""
        return not (self.mean or self.own or self.sampled or self.joined or (self.other and not self.other.constant))

    @property
    def server(self) -> bool:
        """Whether all clients have the same vector."""
        return not self.own and self.other is None

    @property
    def others(self) -> VectorFamily:
        """The family of those who do not take part, where these are followed apart."""
        return self if self.other is None else self.other


def total(block: str, parts: Iterable[tuple[Fraction | int, VectorFamily]]) -> VectorFamily:
    """The sum of multiples of families."""
    used = [(factor, family) for factor, family in parts if factor]
    joined = [(factor, family.joined) for factor, family in used if family.joined is not None]
    more = total(block, joined) if joined else None
    apart = any(family.other is not None for _, family in used)
    return VectorFamily(
        block,
        combined(*((factor, family.mean) for factor, family in used)),
        combined(*((factor, family.own) for factor, family in used)),
        combined(*((factor, family.sampled) for factor, family in used)),
        None if more is None or more.constant else more,
        other=total(block, ((factor, family.others) for factor, family in used)) if apart else None,
    )


@dataclass(frozen=True)
class VectorState:
    """Variables of the server and of a client, by block and slot."""

    server: Mapping[str, Sequence[VectorFamily]]
    client: Mapping[str, Sequence[VectorFamily]]

    def without(self, places: Collection[tuple[str, str, int]]) -> VectorState:
        """The state with 0 in these places, by group, block and slot."""

        def cleared(group: str, vectors: Mapping[str, Sequence[VectorFamily]]) -> dict[str, list[VectorFamily]]:
            return {
                b: [VectorFamily(b) if (group, b, k) in places else each for k, each in enumerate(row)]
                for b, row in vectors.items()
            }

        return VectorState(cleared("server", self.server), cleared("client", self.client))

    def seen_from(
        self,
        point: Mapping[str, VectorFamily],
        server: Mapping[str, Sequence[Fraction]],
        client: Mapping[str, Sequence[Fraction]],
    ) -> VectorState:
        """The differences from multiples of a point, which are by how much each variable moves where the point does."""

        def seen(
            vectors: Mapping[str, Sequence[VectorFamily]], weights: Mapping[str, Sequence[Fraction]]
        ) -> dict[str, list[VectorFamily]]:
            return {
                b: [each - point[b].times(w) for each, w in zip(row, weights[b], strict=True)]
                for b, row in vectors.items()
            }

        return VectorState(seen(self.server, server), seen(self.client, client))


@dataclass(frozen=True)
class ClientDraw:
    """A uniform draw of ``m`` of ``n`` clients, independent of the vectors that are drawn from."""

    n: int
    m: int

    @property
    def spread(self) -> Fraction:
        """(n - m)/(m (n - 1)): E||mean over the drawn - mean||^2 over the mean square of the deviations."""
        return Fraction(self.n - self.m, self.m * (self.n - 1)) if self.n > 1 else Fraction(0)

    @property
    def share(self) -> Fraction:
        """m/n."""
        return Fraction(self.m, self.n)

    @property
    def rest(self) -> int:
        """How many do not take part."""
        return self.n - self.m

    def of_means(self, a: VectorFamily, b: VectorFamily) -> Form:
        """E <mean_i a_i, mean_i b_i>."""
        a, b = self.mean_of(a), self.mean_of(b)
        return plus(
            (1, product(a.block, a.mean, b.mean, deviations=False)),
            (self.spread, product(a.block, a.sampled, b.sampled, deviations=True)),
        )

    def average(self, a: VectorFamily, b: VectorFamily) -> Form:
        """E (1/n) sum_i <a_i, b_i>."""
        if a.other is not None or b.other is not None:
            return plus(
                (self.share, _within(a, b)), (1 - self.share, _within(a.others, b.others, f"{a.block} of others"))
            )
        if a.joined is None and b.joined is None:
            return plus((1, self.of_means(a, b)), (1, product(a.block, a.own, b.own, deviations=True)))
        base = [VectorFamily(each.block, each.mean, each.own) for each in (a, b)]
        extra = [each.joined or VectorFamily(each.block) for each in (a, b)]
        # What the draw adds to all is beside the mean of what has joined, which the same clients make.
        drawn = [combined((1, each.sampled), (self.share, more.own)) for each, more in zip((a, b), extra, strict=True)]
        own = [combined((self.share, more.own)) for more in extra]
        return plus(
            (self.spread, product(a.block, drawn[0], drawn[1], deviations=True)),
            (-self.spread, product(a.block, own[0], own[1], deviations=True)),
            (1, self.average(*base)),
            (self.share, self.average(base[0], extra[1])),
            (self.share, self.average(extra[0], base[1])),
            (self.share, self.average(*extra)),
        )

    def of_deviations(self, a: VectorFamily, b: VectorFamily) -> Form:
        """E (1/n) sum_i <a_i - mean a, b_i - mean b>."""
        return plus((1, self.average(a, b)), (-1, self.of_means(a, b)))

    def mean_of(self, a: VectorFamily) -> VectorFamily:
        """The mean over all clients, as a family of the server's."""
        if a.other is not None:
            return VectorFamily(a.block, combined((self.share, a.mean), (1 - self.share, a.other.mean)))
        if a.joined is None:
            return a
        mean = combined((1, a.mean), (self.share, a.joined.mean))
        return VectorFamily(a.block, mean, {}, combined((1, a.sampled), (self.share, a.joined.own)))

    def products(self, a: VectorFamily, b: VectorFamily) -> Iterator[Form]:
        """All inner products of means and of deviations of two families, which are 0 where these are orthogonal."""
        for first, second in itertools.product(*({id(x): x for x in (y, y.others)}.values() for y in (a, b))):
            yield product(a.block, first.mean, second.mean, deviations=False)
        groups = [(a, b, a.block)]
        if a.other is not None and b.other is not None:
            groups.append((a.other, b.other, f"{a.block} of others"))
        for first, second, block in groups:
            if first.own and second.own:
                yield product(block, first.own, second.own, deviations=True)

    def of_different_clients(self, a: VectorFamily, b: VectorFamily) -> Iterator[Form]:
        """Forms that are 0 where E <a_i, b_j> = 0 for all i != j."""
        if a.other is not None and b.other is not None:
            yield product(a.block, a.mean, b.other.mean, deviations=False)
            yield product(a.block, a.other.mean, b.mean, deviations=False)
            return
        own = product(a.block, a.own, b.own, deviations=True)
        yield plus((1, own), (1 - self.n, product(a.block, a.mean, b.mean, deviations=False)))

    def exchangeable(self, a: VectorFamily, b: VectorFamily) -> Iterator[Form]:
        """Forms that are 0 for vectors from which the draw is independent: participants are like the others."""
        if a.server and b.server:
            return
        mixed = product(a.block, a.mean, b.others.mean, deviations=False)
        inside = product(a.block, a.mean, b.mean, deviations=False)
        outside = product(a.block, a.others.mean, b.others.mean, deviations=False)
        if a.server or b.server:
            yield plus((1, inside), (-1, outside))
            return
        yield plus((1, mixed), (-1, product(a.block, a.others.mean, b.mean, deviations=False)))
        # p = E <a_i, b_i> and q = E <a_i, b_j>: the means of k clients have p/k + q (k - 1)/k.
        yield plus((self.m, inside), (1 - self.m, mixed), (-self.rest, outside), (self.rest - 1, mixed))
        for size, mean, first, second, block in (
            (self.m, inside, a, b, a.block),
            (self.rest, outside, a.others, b.others, f"{a.block} of others"),
        ):
            if size > 1:
                own = product(block, first.own, second.own, deviations=True)
                yield plus((1, own), (1 - size, mean), (size - 1, mixed))


def _within(a: VectorFamily, b: VectorFamily, block: str = "") -> Form:
    """The mean of <a_i, b_i> over a group of clients."""
    means = product(a.block, a.mean, b.mean, deviations=False)
    return plus((1, means), (1, product(block or a.block, a.own, b.own, deviations=True)))
