"""Runs of equal clients with noise on piecewise quadratic functions: exactly, or by the mean of a round and a radius.

Every client makes K steps from the server's point x, u' = a u + c (f'(u) + s sigma) with a fair sign s, and the server
goes to alpha x + beta (mean of the ends). One client's ends have 2^K equally likely outcomes, of which ``m(x)`` is
alpha x + beta times the mean. A run whose outcomes are few is followed in all of them. Else ``y_0 = x_0`` and
``y_{t+1}`` is a number next to m(y_t), and the point x_t of the run obeys E|x_t - y_t|^2 <= e_t^2 with e_0 = 0 and

    e_{t+1} = sqrt(Lambda^2 e_t^2 + v/n) + |y_{t+1} - m(y_t)|.

Given x_t the ends of n clients are independent, so that x_{t+1} has the mean m(x_t) and the variance Var/n, where Var
is that of beta times one end; and m has the Lipschitz constant Lambda. With l = max |a + c f''| over the pieces a step
changes distances by a factor of at most l. When the signs of a client are known one after the other, the k-th moves the
expected end by at most |c| sigma l^(K - k) to either side, and these moves are uncorrelated: so Var is at most
v = beta^2 c^2 sigma^2 sum_{j < K} l^(2j).

What is recorded follows by Minkowski's inequality: E f'(x_t)^2 is between (|f'(y_t)| - L e_t)_+^2 and
(|f'(y_t)| + L e_t)^2, and so on. All numbers are rational, so that what is said of a run is proved. For an irrational
step size a rational a', c' next to it is taken: where u' is off by d, a step is off by at most
l d + |a - a'| |u'| + |c - c'| (|f'(u')| + sigma), and the radius grows by what the mean is off.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ratecheck.algebra.enclosure import Enclosure, UndecidedError
from ratecheck.algebra.outward import root_above, rounded
from ratecheck.algorithms.model.algorithm import Algorithm, Group, LinearMaps, U, Variables
from ratecheck.engines.rigorous.exact_run import ExactInputs, ExactRun, RunSize
from ratecheck.engines.rigorous.linear_forms import exact_answer, exact_parameters, in_round
from ratecheck.problems import Problem
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.problems.piecewise_quadratic.piecewise_samples import PiecewiseSamples

# Signs of a run up to which all outcomes are followed, and of a client's round up to which its ends are.
FEW, MOST = 12, 10
# Binary digits of the rationals that are taken for irrational numbers.
_DIGITS = 128
# Steps of a client, one for each outcome, that are followed in rationals.
_LONGEST = 400_000
# What a noisy step in one of its outcomes costs, in products of numbers.
_OUTCOME = 50


def without_memory(algorithm: Algorithm) -> bool:
    """Whether a round depends on the server's point alone: one shared variable each of server, local steps, message."""
    shared = [[*group.values()].count(U) for group in (algorithm.server, algorithm.local, algorithm.message)]
    return (
        algorithm.tabled
        and algorithm.asks_gradients
        and algorithm.projects is None
        and algorithm.point is None
        and not algorithm.uses_delay
        and U not in algorithm.client.values()
        and shared == [1, 1, 1]
        # Others may record something else under the same names.
        and algorithm.records_alone
    )


def all_outcomes(n: int, K: int, T: int) -> bool:
    """Whether all outcomes of a run are followed: before its last round there are few signs."""
    return n * K * (T - 1) <= FEW


@dataclass(frozen=True)
class Round:
    """The coefficients of a round (`Round.of`): ``begin`` u = begin x, then a, c, alpha and beta as above."""

    begin: Any
    a: Any
    c: Any
    alpha: Any
    beta: Any

    @staticmethod
    def of(algorithm: Algorithm, p: Mapping[str, Any], n: int) -> Round:
        """The coefficients of a method `without_memory` at parameters, in floats."""
        maps, block = LinearMaps(algorithm), algorithm.blocks.index(U)
        begin = maps.begin(p)[block, 0, 0]
        a, c = maps.step(p)[block, 0, :2]
        # Columns are server, client and local step by slot; rows client and message.
        message = maps.finish(p)[block, maps.client.slots]
        of_server, of_end = message[0], message[maps.server.slots + maps.client.slots]
        keep, total = maps.aggregate(p)[block, 0, :2]
        return Round(begin, a, c, keep + total * n * of_server, total * n * of_end)

    @staticmethod
    def enclosed(algorithm: Algorithm, p: Mapping[str, Any], n: int) -> Round:
        """The coefficients as enclosures, by the algorithm's functions of exact numbers."""
        server, client, local = algorithm.server, algorithm.client, algorithm.local
        point, sent = {block: block for block in algorithm.blocks}, algorithm.message

        def of(found: Any, group: Group) -> Enclosure:
            return Enclosure.of(np.ravel(found[next(name for name, block in group.items() if block == U)])[0])

        def message(x: int, u: int) -> Enclosure:
            return of(exact_answer(algorithm.finish, _at(server, x), _at(client, 0), _at(local, u), p)[1], sent)

        begin = of(exact_answer(algorithm.begin, _at(server, 1), _at(client, 0), p), local)
        a, c = (of(exact_answer(algorithm.step, _at(local, u), _at(point, 1 - u), p), local) for u in (1, 0))
        keep, total = (
            of(exact_answer(algorithm.aggregate, _at(server, x), _at(sent, 1 - x), p), server) for x in (1, 0)
        )
        parts = begin, a, c, keep + total * n * message(1, 0), total * n * message(0, 1)
        return Round(*(part.shortened(_DIGITS) for part in parts))

    def each(self, of: Callable[[Any], Any]) -> Round:
        """A function of every coefficient."""
        return Round(of(self.begin), of(self.a), of(self.c), of(self.alpha), of(self.beta))

    def stretch(self, curvatures: Sequence[Any]) -> tuple[Any, Any]:
        """The least and the largest derivative of a step."""
        slopes = [_ends(self.a + self.c * h) for h in curvatures]
        return min(low for low, _ in slopes), max(high for _, high in slopes)

    def lipschitz(self, curvatures: Sequence[Any], K: int) -> Any:
        """Lambda, or more: of m by its derivative, a mean of products of those of K steps."""
        low, high = self.stretch(curvatures)
        scale = self.beta * self.begin
        if low >= 0:
            return max(_size(self.alpha + scale * end**K) for end in (low, high))
        return _size(self.alpha) + _size(scale) * max(-low, high) ** K

    def variance(self, curvatures: Sequence[Any], K: int, sigma: Any) -> Any:
        """A bound v on the variance of beta times a client's end."""
        factor = max(map(abs, self.stretch(curvatures))) ** 2
        return (_size(self.beta * self.c) * sigma) ** 2 * sum(factor**j for j in range(K))


@dataclass(frozen=True)
class Law:
    """An enclosure of the law of the server's x: E|x - z|^2 <= radius^2, z having these ``atoms`` and probabilities.

    With a radius there is one atom; without one it is the law of x itself.
    """

    atoms: Mapping[Fraction, Fraction]
    radius: Fraction = Fraction(0)


@dataclass(frozen=True)
class MeanFieldRun(ExactRun):
    """A run of equal clients with noise; see the module's docstring."""

    problem: PiecewiseSamples
    start: Fraction
    sigma: Fraction
    K: int
    T: int
    enclosed: Round

    doubt: ClassVar[str] = "it is not proved in exact arithmetic"
    must_be_proved: ClassVar[bool] = True

    @staticmethod
    def form(problem: Problem) -> PiecewiseSamples | None:
        return problem.seen_as(PiecewiseSamples)

    @staticmethod
    def products(run: RunSize) -> float:
        """See `ExactRun.products`; what comes after the last round that counts is not followed."""
        return _OUTCOME * (run.T - 1) * 2.0 ** min(run.K + 1, 64)

    @classmethod
    def followed(cls, given: ExactInputs) -> MeanFieldRun:
        """See `ExactRun.followed`; raises `UndecidedError` for what is not followed, is irrational, or long."""
        method, problem, K, T = given.method, given.problem, given.K, given.T
        equal = cls.form(problem)
        assert equal is not None
        if not without_memory(method.algorithm):
            raise UndecidedError(f"{method.spoken} with noise on functions that are not quadratic is not followed")
        if given.trace.rate != 1:
            raise UndecidedError("sampled clients on functions that are not quadratic are not followed")
        few = all_outcomes(problem.n, K, T)
        if not few and K > MOST:
            raise UndecidedError(f"rounds of more than {MOST} noisy local steps are not followed")
        if not few and 2 ** (K + 1) * T > _LONGEST:
            raise UndecidedError(f"more than {_LONGEST} outcomes of local steps are not followed rigorously")
        sigma = Enclosure.of(given.noise.get("sigma_u", 0))
        (parameters,) = exact_parameters(method, problem.n, K, given.step_sizes, rows=1)
        if not sigma.exact:
            raise UndecidedError("the noise is irrational")
        x0 = given.start.get("x0")
        point = Fraction(0) if x0 is None else Fraction(float(np.ravel(np.asarray(x0, dtype=float))[0]))
        enclosed = Round.enclosed(method.algorithm, in_round(parameters, problem.n), problem.n)
        run = MeanFieldRun(equal, point, sigma.low, K, T, enclosed)
        if few and run.off != run.off.each(lambda _: Fraction(0)):
            raise UndecidedError("all outcomes of a run with irrational step sizes")
        return run

    @cached_property
    def round(self) -> Round:
        """Rational coefficients in place of what may be irrational."""
        return self.enclosed.each(lambda each: each.middle)

    @cached_property
    def off(self) -> Round:
        """Bounds of the errors of the coefficients."""
        return self.enclosed.each(lambda each: each.width / 2)

    def rounds(self, names: Sequence[str], bits: int) -> Iterator[dict[str, Enclosure]]:
        """Expectations of recorded quantities before every round in turn; ``bits`` change nothing."""
        for law in self.laws:
            yield {name: self._recorded(name, law) for name in names}

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """Enclosures of the law of the server's point before every round."""
        return tuple(self._laws())

    def _laws(self) -> Iterator[Law]:
        few = all_outcomes(self.problem.n, self.K, self.T)
        law, before, after = Law({self.start: Fraction(1)}), None, (Fraction(0), Fraction(0))
        for t in range(self.T):
            yield law
            if t == self.T - 1:
                return
            if few:
                law = self._all_outcomes(law)
                continue
            (y,) = law.atoms
            if y != before:
                before, after = y, self.mean(y)
            law = self._by_mean(law, *after)

    def _all_outcomes(self, law: Law) -> Law:
        after: dict[Fraction, Fraction] = {}
        for x, p in law.atoms.items():
            sums = {Fraction(0): Fraction(1)}
            ends = self.ends(x)
            for _ in range(self.problem.n):
                sums = _added(sums, ends)
            for total, q in sums.items():
                point = self.round.alpha * x + self.round.beta * total / self.problem.n
                after[point] = after.get(point, Fraction(0)) + p * q
        return Law(after)

    def _by_mean(self, law: Law, mean: Fraction, off: Fraction) -> Law:
        """One round on, at the float next to m(y), which is known up to ``off``."""
        y = Fraction(float(mean))
        spread = (self.lipschitz * law.radius) ** 2 + self.variance / self.problem.n
        radius = Fraction(rounded(Fraction(root_above(spread)) + abs(y - mean) + off, math.inf))
        return Law({y: Fraction(1)}, radius)

    @cached_property
    def lipschitz(self) -> Fraction:
        """Lambda, or more."""
        return Fraction(self.enclosed.lipschitz(self.curve.curvatures, self.K))

    @cached_property
    def variance(self) -> Fraction:
        """A bound v on the variance of beta times a client's end."""
        return Fraction(self.enclosed.variance(self.curve.curvatures, self.K, self.sigma))

    @property
    def curve(self) -> ScalarFunction:
        """The function f of one variable that all clients have."""
        return self.problem.curve

    def ends(self, x: Fraction) -> dict[Fraction, Fraction]:
        """The law of the end of one client's local steps, by the rational coefficients."""
        return self._walked(x)[0]

    def _walked(self, x: Fraction) -> tuple[dict[Fraction, Fraction], Fraction]:
        """The law of x_K for x_0 = begin x, x_{k+1} = a x_k + c (f'(x_k) +- sigma), and the largest error of an end."""
        a, c, off = self.round.a, self.round.c, self.off.begin * abs(x)
        law, steepest = {self.round.begin * x: Fraction(1)}, max(map(abs, self.enclosed.stretch(self.curve.curvatures)))
        for _ in range(self.K):
            after: dict[Fraction, Fraction] = {}
            size = steep = Fraction(0)
            for u, p in law.items():
                gradient = self.curve.gradient(u)
                size, steep = max(size, abs(u)), max(steep, abs(gradient))
                kept = a * u + c * gradient
                for sign in (1, -1):
                    end = kept + sign * c * self.sigma
                    after[end] = after.get(end, Fraction(0)) + p / 2
            law = after
            off = steepest * off + self.off.a * size + self.off.c * (steep + self.sigma)
        return law, off

    def mean(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """m(x), and a bound of its error."""
        ends, off = self._walked(x)
        expected = sum((u * p for u, p in ends.items()), Fraction(0))
        off = self.off.alpha * abs(x) + self.off.beta * max(map(abs, ends)) + _size(self.enclosed.beta) * off
        return Fraction(self.round.alpha * x + self.round.beta * expected), off

    def _recorded(self, name: str, law: Law) -> Enclosure:
        """An expectation before a round."""
        if name == "G_v":
            return Enclosure.of(0)
        if name in ("G_u", "B"):
            found = self._square(law, self.curve.gradient, max(map(abs, self.curve.curvatures)))
            return found * self.problem.n if name == "B" else found
        if name == "gap" and self.problem.lowest is not None:
            return self._gap(law, self.problem.lowest)
        if name == "distance2" and self.problem.minimiser is not None:
            (star,) = self.problem.minimiser
            return self._square(law, lambda x: x - star, Fraction(1))
        raise UndecidedError(f"{name} is not recorded in runs with noise on functions that are not quadratic")

    def _square(self, law: Law, of: Any, steep: Fraction) -> Enclosure:
        """E of(x)^2 of a function with that Lipschitz constant."""
        if not law.radius:
            return Enclosure.of(sum((p * of(z) ** 2 for z, p in law.atoms.items()), Fraction(0)))
        (z,) = law.atoms
        size, off = abs(of(z)), steep * law.radius
        return Enclosure(max(size - off, Fraction(0)) ** 2, (size + off) ** 2)

    def _gap(self, law: Law, lowest: Fraction) -> Enclosure:
        """E f(x) - inf f, by f's tangent at the atom and its curvatures."""
        mean = sum((p * self.curve.value(z) for z, p in law.atoms.items()), Fraction(0)) - lowest
        if not law.radius:
            return Enclosure.of(mean)
        (z,) = law.atoms
        tangent, square = abs(self.curve.gradient(z)) * law.radius, law.radius**2 / 2
        low = mean - tangent + min(*self.curve.curvatures, Fraction(0)) * square
        return Enclosure(max(low, Fraction(0)), mean + tangent + max(*self.curve.curvatures, Fraction(0)) * square)


def _at(group: Group, value: int) -> Variables:
    """Variables of which the shared one is that."""
    found = {}
    for name, block in group.items():
        found[name] = np.empty(int(block == U), dtype=object)
        found[name][:] = Fraction(value)
    return found


def _ends(number: Any) -> tuple[Any, Any]:
    """The ends of an enclosure; a number is both."""
    return (number.low, number.high) if isinstance(number, Enclosure) else (number, number)


def _size(number: Any) -> Any:
    """The largest absolute value."""
    return max(map(abs, _ends(number)))


def _added(some: Mapping[Fraction, Fraction], others: Mapping[Fraction, Fraction]) -> dict[Fraction, Fraction]:
    """The law of the sum of two independent numbers."""
    found: dict[Fraction, Fraction] = {}
    for (x, p), (y, q) in itertools.product(some.items(), others.items()):
        found[x + y] = found.get(x + y, Fraction(0)) + p * q
    return found
