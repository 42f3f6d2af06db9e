"""Unknown vectors of a round, and what is known of them: answers of oracles, and noise."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bounds.statement import Assumption
from ratecheck.proving.classes import AnswerClass, Inner, OracleAnswer, Point
from ratecheck.proving.forms import ONE, ClientDraw, Form, KnownFact, Value, VectorFamily, plus, total
from ratecheck.proving.question import LOWEST, Question

# Multiples of one mixed variable that are added to another one.
_TOGETHER = tuple(sign * Fraction(size) for size in ("1/8", "1/2", "2", "8") for sign in (1, -1))


@dataclass
class Vectors:
    """Unknown vectors, numbered from 1, their ``names``, and what is known of them.

    Participants of a round are followed ``apart`` from the others where gradients after it are needed. ``answers`` are
    those of the clients' oracles, ``second`` those of a second part of the objective. ``members`` are points of the set
    in which a method stays, by name, with a vector of the normal cone there where one is known.
    """

    question: Question
    apart: bool = False
    names: list[str] = field(default_factory=list)
    families: list[VectorFamily] = field(default_factory=list)
    facts: list[KnownFact] = field(default_factory=list)
    answers: list[OracleAnswer] = field(default_factory=list)
    second: list[OracleAnswer] = field(default_factory=list)
    proximal: list[tuple[bool, Point, Point]] = field(default_factory=list)
    members: list[tuple[str, Point, Point | None]] = field(default_factory=list)
    _used: dict[str, int] = field(default_factory=dict)

    @property
    def draw(self) -> ClientDraw:
        """The draw of the round's participants."""
        return self.question.draw

    @property
    def count(self) -> int:
        """The number of the last vector."""
        return len(self.names)

    def shared(self, block: str, name: str) -> VectorFamily:
        """A new vector of the server's."""
        return self._kept(VectorFamily(block, self._new(name)))

    def clients(self, block: str, name: str) -> VectorFamily:
        """A new vector of every client."""
        q = self.question
        if q.n == 1:
            return self.shared(block, name)
        if not self.apart:
            mean = self._new(name)
            return self._kept(VectorFamily(block, mean, mean))
        mean, other = self._new(f"{name} of participants"), self._new(f"{name} of others")
        alone, rest = q.m == 1, q.n - q.m == 1
        others = VectorFamily(block, other, {} if rest else other)
        return self._kept(VectorFamily(block, mean, {} if alone else mean, other=others))

    def _new(self, name: str) -> dict[int, Fraction]:
        # Names tell vectors apart in a certificate.
        again = self._used[name] = self._used.get(name, 0) + 1
        self.names.append(name if again == 1 else f"{name} ({again})")
        return {self.count: Fraction(1)}

    def _kept(self, family: VectorFamily) -> VectorFamily:
        self.families.append(family)
        return family

    def drawn(self) -> None:
        """The round's participants are drawn now, independently of all vectors so far."""
        for a, b in itertools.combinations_with_replacement(self.families, 2):
            if a.block == b.block:
                for form in self.draw.exchangeable(a, b):
                    self.facts.append(KnownFact("draw of the participants", form, equal=True))

    def average(self, a: Point, b: Point) -> Form:
        """(1/n) sum_i <a_i, b_i> over all blocks."""
        return plus(*((1, self.draw.average(a[block], b[block])) for block in self.question.blocks))

    def mean_of(self, family: VectorFamily) -> VectorFamily:
        """The mean over all clients as a vector of the server's."""
        return VectorFamily(family.block, self.draw.mean_of(family).mean)

    def of_means(self, a: Point, b: Point) -> Form:
        """<mean a, mean b> over all blocks; personal variables have no mean over clients, and count on average."""
        shared, draw = self.question.shared, self.draw
        return plus(*((1, (draw.of_means if x == shared else draw.average)(a[x], b[x])) for x in self.question.blocks))

    def at(self, name: str, point: Point, *, local: bool = False) -> OracleAnswer:
        """The answer of the clients' oracles at a point, a new one unless it is known."""
        return self._answer(self.answers, self.question.classes, "f", name, point, local=local)

    def part(self, name: str, point: Point) -> OracleAnswer:
        """The answer of the second part at a point."""
        return self._answer(self.second, self.question.second_classes, "h", name, point)

    def _answer(
        self,
        known: list[OracleAnswer],
        kinds: tuple[AnswerClass, ...],
        f: str,
        name: str,
        point: Point,
        *,
        local: bool = False,
    ) -> OracleAnswer:
        for answer in known:
            if answer.point == point:
                return answer
        # New vectors say nothing of who took part.
        assert all(family.joined is None for family in point.values())
        gradient = {block: self.clients(block, f"grad {f}({name})") for block in self.question.blocks}
        return self._noted(known, kinds, f, OracleAnswer(name, point, gradient, {}, local))

    def _noted(
        self, known: list[OracleAnswer], kinds: tuple[AnswerClass, ...], f: str, answer: OracleAnswer
    ) -> OracleAnswer:
        # Values at different points are different numbers, whatever the points are called.
        while any(answer.name == each.name for each in known):
            answer = replace(answer, name=f"{answer.name}'")
        valued = all(kind.has_values for kind in kinds)
        value: Form = {Value(f"{f}({answer.name})"): Fraction(1)} if valued else {}
        known.append(replace(answer, value=value))
        return known[-1]

    def prox(
        self,
        name: str,
        point: Point,
        weight: Fraction,
        *,
        second: bool = False,
        local: bool = False,
        error: Fraction = Fraction(0),
    ) -> Point:
        """The minimiser of f_i + weight/2 ||. - point||^2, or of the second part: point - gradient there/weight.

        Or a point where the squared gradient of that is at most ``error``, another one whenever it is asked for.
        """
        for of_second, before, found in () if error else self.proximal:
            if of_second == second and before == point:
                return found
        f = "h" if second else "f"
        gradient = {block: self.clients(block, f"grad {f}({name})") for block in self.question.blocks}
        pull = dict(gradient)
        if error:
            left = {block: self.clients(block, f"error at {name}") for block in self.question.blocks}
            pull = {block: gradient[block] - left[block] for block in self.question.blocks}
            form = plus((1, self.average(left, left)), (-1, {ONE: error}))
            self.facts.append(KnownFact(f"inner error at {name}", form))
        nearest = {block: point[block] - pull[block].times(1 / weight) for block in point}
        known, kinds = (self.second, self.question.second_classes) if second else (self.answers, self.question.classes)
        self._noted(known, kinds, f, OracleAnswer(name, nearest, gradient, {}, local))
        if not error:
            self.proximal.append((second, point, nearest))
        return nearest

    def minimiser(self) -> None:
        """A minimiser at the origin: the clients' gradients there, and the second part's, add up to 0."""
        q = self.question
        origin = {b: VectorFamily(b) for b in q.blocks}
        gradient = dict(origin)
        if q.second_classes:
            gradient = {b: self.shared(b, "grad f(x*)") for b in q.blocks}
            value_there: Form = {Value("h*"): Fraction(1)}
            against = {b: g.times(-1) for b, g in gradient.items()}
            self.second.append(OracleAnswer("x*", origin, against, value_there))
        elif q.nearest:
            # Over the set, where -grad f(x*) is normal to it.
            gradient[q.shared] = self.clients(q.shared, "grad f(x*)")
            self.member("x*", origin, {q.shared: self.mean_of(gradient[q.shared]).times(-1)})
        elif q.n > 1:
            gradient[q.shared] = self._balanced(self.clients(q.shared, "grad f(x*)"))
        value: Form = {LOWEST: Fraction(1)} if q.has_values else {}
        self.answers.append(OracleAnswer("x*", origin, gradient, value))
        if q.heterogeneity is not None and q.n > 1:
            form = plus((1, self.average(gradient, gradient)), (-1, {ONE: q.heterogeneity**2}))
            self.facts.append(KnownFact("gradients at x*", form))

    def _balanced(self, family: VectorFamily) -> VectorFamily:
        """A new family with mean 0 over all clients, in the place of the last one."""
        self.families.pop()
        if family.other is None:
            return self._kept(VectorFamily(family.block, {}, family.own))
        mean = {number: -value * self.draw.m / self.draw.rest for number, value in family.mean.items()}
        return self._kept(replace(family, other=VectorFamily(family.block, mean, family.other.own)))

    def member(self, name: str, point: Point, normal: Point | None = None) -> None:
        """A point of the set in which the method stays, and a normal vector there: <normal, z - point> <= 0."""
        if normal is not None or all(point != each for _, each, _ in self.members):
            self.members.append((name, point, normal))

    def projected(self, name: str, point: VectorFamily) -> VectorFamily:
        """The point of the set that is nearest to one of the server's."""
        nearest = self.shared(point.block, name)
        self.member(name, {point.block: nearest}, {point.block: point - nearest})
        return nearest

    def inside(self) -> Iterator[KnownFact]:
        """What is known of normal vectors, at every point of the set."""
        for (a, at, normal), (b, other, _) in itertools.permutations(self.members, 2):
            if normal is not None:
                u = self.question.shared
                form = self.draw.of_means(normal[u], other[u] - at[u])
                yield KnownFact(f"normal to the set at {a}, {b}", form)

    def height(self, name: str, point: Point) -> Form:
        """The objective at a point of the server's, as a form."""
        value = self.at(name, point).value
        return plus((1, value), (1, self.part(name, point).value)) if self.question.second_classes else value

    def noise(
        self, name: str, block: str, *, times: Fraction = Fraction(1), sample: Sequence[VectorFamily] = ()
    ) -> VectorFamily:
        """The noise of one stochastic gradient per client: orthogonal to every vector before its ``sample``.

        Its variance is that of a gradient ``times`` a number. Of different clients it is independent.
        """
        q = self.question
        if not q.noise[block]:
            return VectorFamily(block)
        earlier_families = [each for each in self.families if each.block == block and each not in sample]
        e = self.clients(block, name)
        for earlier in earlier_families:
            for form in self.draw.products(earlier, e):
                self.facts.append(KnownFact("noise", form, equal=True))
        for each in (e, *(other for other in sample if other.block == block)):
            self.independent(e, each)
        limit = times * q.noise[block] ** 2
        self.facts.append(KnownFact("variance of the noise", plus((1, self.draw.average(e, e)), (-1, {ONE: limit}))))
        return e

    def compressed(self, message: VectorFamily, name: str) -> VectorFamily:
        """What is sent of a message v: C(v) with E C(v) = v given all before, independently of the other clients.

        E||C(v) - v||^2 = omega ||v||^2, so that C(v) - v is orthogonal to every vector before it.
        """
        q, block = self.question, message.block
        if message.constant or not q.compression:
            return message
        earlier_families = [each for each in self.families if each.block == block]
        error = self.clients(block, f"left out of {name}")
        for earlier in earlier_families:
            for form in self.draw.products(earlier, error):
                self.facts.append(KnownFact("compression", form, equal=True))
        self.independent(error, error)
        form = plus((1, self.draw.average(error, error)), (-q.compression, self.draw.average(message, message)))
        self.facts.append(KnownFact("variance of the compression", form, equal=True))
        return message + error

    def mixed(self, kept: Sequence[VectorFamily], mixes: Sequence[bool]) -> list[VectorFamily]:
        """The clients' variables after those that mix were averaged with the neighbours'.

        Means over the clients stay, and deviations d become W d with E||W d||^2 <= rate ||d||^2, which is said of each
        variable, and of sums and differences of two.
        """
        rate, found = self.question.contraction, list(kept)
        pairs: list[tuple[VectorFamily, VectorFamily]] = []
        for slot, vector in enumerate(kept):
            if slot < len(mixes) and mixes[slot] and vector.own:
                alone = VectorFamily(vector.block, {}, vector.own)
                after = VectorFamily(vector.block, {}, self._new(f"mixed {slot}")) if rate else alone.times(0)
                found[slot] = VectorFamily(vector.block, vector.mean) + after
                pairs.append((alone, after))
        weighed: list[tuple[tuple[Fraction | int, tuple[VectorFamily, VectorFamily]], ...]]
        weighed = [((1, pair),) for pair in pairs]
        for one, two in itertools.combinations(pairs, 2):
            weighed += [((1, one), (factor, two)) for factor in _TOGETHER]
        for parts in weighed:
            before, after = (total(kept[0].block, [(c, pair[side]) for c, pair in parts]) for side in (0, 1))
            form = plus((1, self.draw.average(after, after)), (-rate, self.draw.average(before, before)))
            self.facts.append(KnownFact("mixing", form))
        return found

    def independent(self, noise: VectorFamily, other: VectorFamily) -> None:
        """A client's noise is orthogonal to other clients' vectors: the deviations are n - 1 times the mean."""
        if self.question.n == 1:
            return
        for form in self.draw.of_different_clients(noise, other):
            self.facts.append(KnownFact("noise of other clients", form, equal=True))

    def interpolation(self) -> Iterator[KnownFact]:
        """What functions of the class with these answers satisfy at pairs of points, on average over clients.

        At every pair, or only where one of the two is no client's own: of K local points there are K^2 pairs.
        """
        q = self.question
        for answers, kinds, inner in (
            (self.answers, q.classes, self.average),
            (self.second, q.second_classes, self.average),
        ):
            yield from _pairs(answers, kinds, inner, local=q.every_pair)
        yield from self.inside()
        shared = [each for each in self.answers if each.point[q.shared].server] if q.shared in q.blocks else []
        yield from _pairs(shared, q.mean_classes, self.of_means, local=q.every_pair)

    def lower(self, answer: OracleAnswer) -> Iterator[KnownFact]:
        """What is known of inf f, and of the gradients, at a point where all clients are."""
        q, g = self.question, answer.gradient
        if q.own_points:
            yield from self._joint(answer)
            return
        if q.shared in q.blocks and not answer.point[q.shared].server:
            return
        square = self.of_means(g, g)
        gap = plus((1, answer.value), (-1, {LOWEST: Fraction(1)}))
        if q.has_values and not q.second_classes:
            # Beside a point of a set there need not be others of it.
            sharp = {} if q.L is None or q.nearest else square
            yield KnownFact(f"f* below f({answer.name})", plus((-1, gap), (1 / (2 * (q.L or Fraction(1))), sharp)))
        if q.pl is not None:
            yield KnownFact(f"gradient dominance at {answer.name}", plus((2 * q.pl, gap), (-1, square)))
        if q.dissimilarity is not None:
            away = self.draw.of_deviations(g[q.shared], g[q.shared])
            yield KnownFact(f"dissimilarity at {answer.name}", plus((1, away), (-1, {ONE: q.dissimilarity**2})))

    def _joint(self, answer: OracleAnswer) -> Iterator[KnownFact]:
        """What is known of the joint minimum at clients' points, where there is one.

        With w the mean of the x_i, h_i = f_i + lambda/2 ||. - w||^2 falls from x_i by ||grad h_i||^2/(2 (L + lambda)).
        """
        q, b = self.question, self.question.shared
        if Assumption.BOUNDED_BELOW in q.statement.assumptions and q.L is not None:
            away = answer.point[b] - self.mean_of(answer.point[b])
            slope = answer.gradient[b] + away.times(q.weight)
            form = plus(
                (1, {LOWEST: Fraction(1)}),
                (-1, answer.value),
                (-q.weight / 2, self.draw.average(away, away)),
                (1 / (2 * (q.L + q.weight)), self.draw.average(slope, slope)),
            )
            yield KnownFact(f"f* below the joint objective at {answer.name}", form)

    def bounded(self) -> Iterator[KnownFact]:
        """Bounded gradients, or subgradients."""
        if self.question.steepest is not None:
            for answer in self.answers:
                square = self.average(answer.gradient, answer.gradient)
                yield KnownFact(
                    f"bounded gradients at {answer.name}", plus((1, square), (-1, {ONE: self.question.steepest**2}))
                )

    def descent(self, at: OracleAnswer, step: Point, value: Form) -> KnownFact:
        """f(x + step) <= f(x) + <grad f(x), step> + L/2 ||step||^2, the server's step and the participants' own."""
        L = self.question.L
        assert L is not None
        form = plus(
            (1, value), (-1, at.value), (-1, self.average(at.gradient, step)), (-L / 2, self.average(step, step))
        )
        return KnownFact("smoothness along the step", form)


def _pairs(
    answers: list[OracleAnswer], kinds: tuple[AnswerClass, ...], inner: Inner, *, local: bool
) -> Iterator[KnownFact]:
    for kind in kinds:
        for a, b in itertools.permutations(answers, 2):
            if local or not (a.local and b.local):
                for form in kind.between(a, b, inner):
                    yield KnownFact(f"{kind.name} at {a.name}, {b.name}", form)
