"""Potentials: quadratic forms of the states, and a multiple of f - f*, that are found and not given.

A `ProofPlan` is a semidefinite program whose feasible points are proofs. With V_t the potential before round t, which
is the same for all rounds (one potential) or has coefficients of its own for each (a chain):

- mean: V_{t+1} <= V_t - metric_t + c and V >= 0, so that the mean of metric_t is at most V_0/T + c;
- chain: V_{t+1} <= V_t + c_t - w_t metric_t and w_r metric_r <= V_r, so that sum_t w_t metric_t <= V_0 + sum_t c_t;
- rate: V_{t+1} <= rho V_t + c and metric <= V, so that metric_t <= p_t V_0 + q_t c where p_0 = 1, q_0 = 0 and
  p_{t+1} >= rho p_t, q_{t+1} >= rho q_t + 1;
- step: what one round changes, from any state;
- run: no potential, all rounds of a short run at once.

Each of them is required of all vectors that satisfy what is known of a round.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import sympy as sp

from bounds.parsing import read
from ratecheck.errors import InputError
from ratecheck.proving.claim_data import LinearClaim, Tree, added, scaled
from ratecheck.proving.classes import Point
from ratecheck.proving.compared import Compared
from ratecheck.proving.forms import ONE, Form, VectorState, plus
from ratecheck.proving.program import Affine, Program, total
from ratecheck.proving.question import Question
from ratecheck.proving.rounds import PlayedRound, PlayedRun, RoundEnd, RunStart, start_of
from ratecheck.proving.vectors import Vectors

# Binary digits of a denominator from which on a number is taken a little larger, and digits that it has then.
_LONGEST_FRACTION, _SIGNIFICANT = 2500, 128


# Numbers of unknowns, or names of them.
KnownNumbers = Sequence[Fraction] | Mapping[int, str]


@dataclass(frozen=True)
class ProofPlan:
    """A program whose unknown ``factor`` multiplies the right side, and how many rounds a solution is about.

    ``potentials`` before each round, or the one for all, grow by at most the ``constants``, ``first`` bounds that of
    the start, and ``rho`` is what it shrinks by. These are numbers of unknowns.
    """

    kind: str
    program: Program
    factor: int
    every_T: bool
    potentials: tuple[Potential, ...] = ()
    constants: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()

    @property
    def named_numbers(self) -> tuple[int, ...]:
        """The unknowns that `summed` has to know."""
        return self.constants

    def summed(self, y: KnownNumbers) -> Iterator[tuple[str, LinearClaim]]:
        """How what holds of single rounds adds up to the claim, as claims about numbers, by name.

        ``y`` are the numbers of its unknowns, or names that stand for nonnegative numbers.
        """
        if self.shares and not isinstance(y, Mapping):
            # That takes shares that add up to 1.
            least, metrics = "least metric", [f"metric {t}" for t in range(len(self.shares))]
            weighed = [scaled(y[u], metric) for u, metric in zip(self.shares, metrics, strict=True) if y[u]]
            hypotheses = [(least, metric, y[u]) for u, metric in zip(self.shares, metrics, strict=True) if y[u]]
            yield "least of all rounds", LinearClaim([least, *metrics], least, added(weighed), hypotheses)


@dataclass(frozen=True)
class MeanPlan(ProofPlan):
    """One potential: metric_t <= V_t - V_{t+1} + c, so that the sum of T metrics is at most V_0 + c T."""

    first: int = 0

    @property
    def named_numbers(self) -> tuple[int, ...]:
        return (*self.constants, self.first)

    def summed(self, y: KnownNumbers) -> Iterator[tuple[str, LinearClaim]]:
        """One more round in the sum, and the sum over all rounds."""
        c, first = y[self.constants[0]], y[self.first]
        names = ["sum of metrics", "metric", "V_0", "V_t", "V_t+1", "t"]
        S, metric, V_0, V, after, t = names
        so_far = added([V_0, ["*", "-1", V], *_multiple(c, t)])
        one_more = added([V_0, ["*", "-1", after], *_multiple(c, t), *_multiple(c, "1")])
        falls = added([V, ["*", "-1", after], *_multiple(c, "1")])
        hypotheses = [(S, so_far, 1), (metric, falls, 1)]
        yield "sum of one more round", LinearClaim(names, added([S, metric]), one_more, hypotheses)
        names = ["sum of metrics", "V_0", "V_T", "T"]
        S, V_0, V, T = names
        total_of_rounds = added([V_0, ["*", "-1", V], *_multiple(c, T)])
        hypotheses = [(S, total_of_rounds, 1), (V_0, str(first), 1), ("0", V, 1)]
        yield "sum of all rounds", LinearClaim(names, S, added([str(first), *_multiple(c, T)]), hypotheses)


@dataclass(frozen=True)
class ChainPlan(ProofPlan):
    """A potential for each round: weighed metrics <= V_t - V_{t+1} + c_t, and the last of them <= V_t."""

    scaled: Fraction = Fraction(0)
    kept: Fraction = Fraction(0)

    def summed(self, y: KnownNumbers) -> Iterator[tuple[str, LinearClaim]]:
        """The sum over all rounds."""
        last, right = len(self.constants), self._right(y)
        V, metrics = ([f"{name} {t}" for t in range(last + 1)] for name in ("V", "weighed metric"))
        constants = [y[u] for u in self.constants]
        hypotheses = [
            (metrics[t], added([V[t], ["*", "-1", V[t + 1]], *_multiple(constants[t], "1")]), 1) for t in range(last)
        ]
        hypotheses += [(metrics[last], V[last], 1)]
        hypotheses += [(added([V[0], *(each for c in constants for each in _multiple(c, "1"))]), right, 1)]
        yield "sum of all rounds", LinearClaim([*V, *metrics], added(metrics), right, hypotheses)
        yield from super().summed(y)

    def _right(self, y: KnownNumbers) -> str:
        """The right side."""
        factor = y[self.factor]
        return factor if isinstance(factor, str) else str(factor * self.scaled + self.kept)

    @property
    def named_numbers(self) -> tuple[int, ...]:
        """The unknowns that `summed` has to know; a name of the factor is that of the right side."""
        return (*self.constants, self.factor)


@dataclass(frozen=True)
class RatePlan(ProofPlan):
    """One potential: V_{t+1} <= rho V_t + c and metric <= V, so that metric_t <= p_t V_0 + q_t c.

    ``grown`` are p_t and q_t of each round: powers of rho and their sums, or a little more.
    """

    first: int = 0
    rho: Fraction = Fraction(1)
    grown: Sequence[tuple[Fraction, Fraction]] = ()

    @property
    def named_numbers(self) -> tuple[int, ...]:
        """The unknowns that `summed` has to know; a name of the factor is that of the rate."""
        return (*self.constants, self.first, self.factor)

    def summed(self, y: KnownNumbers) -> Iterator[tuple[str, LinearClaim]]:
        """One more round, what follows for the metric, and that p_t and q_t grow as they have to."""
        c, first, named = y[self.constants[0]], y[self.first], y[self.factor]
        rho = named if isinstance(named, str) else self.rho
        names = ["V_t", "V_t+1", "p_t", "p_t+1", "q_t", "q_t+1"]
        V, after, p, next_p, q, next_q = names
        reached = added([*_multiple(first, p), *_multiple(c, q)])
        next_reached = added([*_multiple(first, next_p), *_multiple(c, next_q)])
        falls = added([scaled(rho, V), *_multiple(c, "1")])
        hypotheses = [(after, falls, Fraction(1)), (V, reached, rho)]
        hypotheses += [(scaled(rho, p), next_p, first), (added([scaled(rho, q), "1"]), next_q, c)]
        yield "bound after one more round", LinearClaim(names, after, next_reached, hypotheses)
        # Powers of a rate that has a name are taken as they are; without a rate p stays what it is.
        steps = () if isinstance(named, str) else itertools.pairwise(self.grown)
        for t, ((p_t, q_t), (p_next, q_next)) in enumerate(steps):
            if not t or self.rho != 1:
                grows = LinearClaim([], ["*", str(self.rho), str(p_t)], str(p_next), rest=p_next - self.rho * p_t)
                yield f"p of round {t + 1}", grows
            if c:
                sums = added([["*", str(self.rho), str(q_t)], "1"])
                yield f"q of round {t + 1}", LinearClaim([], sums, str(q_next), rest=q_next - self.rho * q_t - 1)
        metric, bound = "metric", "bound"
        hypotheses = [(metric, V, Fraction(1)), (V, bound, Fraction(1))]
        yield "bound on the metric", LinearClaim([metric, V, bound], metric, bound, hypotheses)


def _alone(unknown: int, factor: Fraction = Fraction(1)) -> Affine:
    """A multiple of an unknown number."""
    return {unknown: {ONE: factor}}


def _right(factor: int, scaled_part: Fraction, kept: Fraction) -> Affine:
    """A right side of which the factor multiplies a part."""
    return {factor: {ONE: scaled_part}, None: {ONE: kept}}


def _multiple(factor: Fraction | str, tree: Tree) -> list[Tree]:
    """A multiple of an expression as a list of terms, none where it is 0."""
    return [scaled(factor, tree)] if factor else []


class PotentialTerm(NamedTuple):
    """A product of two vectors that a potential may have: of means, of deviations from them, or on average."""

    kind: str
    first: str
    second: str

    def __str__(self) -> str:
        shown = f"||{self.first}||^2" if self.first == self.second else f"<{self.first}, {self.second}>"
        return f"{self.kind}{shown}"


# How formulas spell grad f(x).
_SPELLED = str.maketrans({"(": "_", ")": None})
MEANS, DEVIATIONS, AVERAGE = "", "deviations of ", "mean of "


class Potential:
    """Unknown coefficients of a potential."""

    def __init__(self, program: Program, q: Question, label: str, *, gradients: bool) -> None:
        self.q, self.program, self.label, self.gradients = q, program, label, gradients
        self.height = program.unknown(f"{label}: f - f*", signed=True) if q.has_values else None
        self.weights: dict[PotentialTerm, int] = {}

    @property
    def terms(self) -> list[tuple[str, int]]:
        """Names of its terms, with the unknowns that are their coefficients."""
        found = [] if self.height is None else [("f - f*", self.height)]
        return [*found, *((str(term), u) for term, u in self.weights.items())]

    def give(self, text: str) -> None:
        """Have it be one's own: a formula in gap, f - f*, and products of two vectors, as in ``gap + (x - before)**2``.

        The names are those of the method's variables and ``grad``, ``grad_NAME`` at another one where every round asks
        for it, and ``dev_NAME`` for a client's deviation from the mean over the clients. To be called once every term
        is known. Raises `InputError` for other formulas.
        """
        names = {name: sp.Symbol(name, real=True) for term in self.weights for name in (term.first, term.second)}
        symbols = {name.translate(_SPELLED).replace("grad f", "grad"): x for name, x in names.items()}
        own = {f"dev_{name}": sp.Symbol(f"dev_{name}", real=True) for name in symbols}
        origin = {slot: sp.Symbol(slot, real=True) for slot in self.q.origin_names if slot not in names}
        gap = sp.Symbol("gap", real=True)
        found = read(text, self.q.statement.vocabulary, {**symbols, **own, **origin, "gap": gap})
        self._check_moved(text, found, {**symbols, **origin})
        vectors = [*symbols.values(), *own.values()]
        poly = sp.Poly(sp.expand(found.xreplace(dict.fromkeys(origin.values(), sp.Integer(0)))), gap, *vectors)
        deviations = {x: symbols[name.removeprefix("dev_")] for name, x in own.items()}
        shown = {x: name for name, x in names.items()}
        pinned = dict.fromkeys(self.weights.values(), Fraction(0))
        for powers, c in poly.terms():
            used = [x for x, e in zip(poly.gens, powers, strict=True) for _ in range(e)]
            value = self.q.number(c)
            if used == [gap] and self.height is not None:
                pinned[self.height] = value
                continue
            kinds = {x in deviations for x in used}
            pair = [shown[deviations.get(x, x)] for x in used if x != gap]
            terms = [t for t in self.weights if sorted((t.first, t.second)) == sorted(pair) and len(used) == len(pair)]
            terms = [t for t in terms if t.kind == AVERAGE or {t.kind == DEVIATIONS} == kinds]
            if len(terms) != 1:
                known = ", ".join(map(str, self.weights))
                raise InputError(f"{text!r}: {sp.Mul(*used)} is no term of a potential here: f - f* (gap), {known}")
            pinned[self.weights[terms[0]]] = value
        if self.height is not None:
            pinned.setdefault(self.height, Fraction(0))
        self.program.equal += [{u: Fraction(1), None: -value} for u, value in pinned.items()]

    def _check_moved(self, text: str, found: sp.Expr, names: Mapping[str, sp.Symbol]) -> None:
        """Raise `InputError` where another origin would give another potential, and no minimiser is the origin."""
        if self.q.minimiser:
            return
        moved = sum(
            (w * sp.diff(found, names[name]) for name, w in self.q.moves.items() if name in names), sp.Integer(0)
        )
        if sp.expand(moved) != 0:
            raise InputError(f"{text!r} depends on where the origin is: {' - '.join(names)} are points or differences")

    def before(self, played: PlayedRound) -> Affine:
        """V before the round."""
        height = {} if self.height is None else played.height
        return self._at(played.vectors, played.state, height, self._asked(played.vectors, played.state, "x"))

    def after(self, played: PlayedRound) -> Affine:
        """V after the round, in expectation over its coin."""

        def at(outcome: RoundEnd) -> Affine:
            height = {} if self.height is None else played.height_after(outcome)
            if self.q.own_points:
                told = {"grad f": played.after(outcome).gradient} if self.gradients else {}
            else:
                told = {} if played.unknown_after else self._asked(played.vectors, outcome.raw, outcome.name)
            return self._at(played.vectors, outcome.after, height, told)

        return total(*((each.share, at(each)) for each in played.outcomes))

    def at_start(self, start: RunStart) -> Affine:
        """V before the first round."""
        height = {} if self.height is None else start.height
        return self._at(start.vectors, start.state, height, self._asked(start.vectors, start.raw, "x0"))

    def _asked(self, vectors: Vectors, state: VectorState, name: str) -> dict[str, Point]:
        """The gradients that it may have at a state, by name; ``name`` is what the recorded point is called."""
        points = self.q.asked(state) if self.gradients else {}
        return {
            f"grad f({also})" if also else "grad f": vectors.at(also or name, point).gradient
            for also, point in points.items()
        }

    def _at(self, vectors: Vectors, state: VectorState, height: Form, told: Mapping[str, Point]) -> Affine:
        """The potential at a state, by unknown."""
        found: dict[int | None, Form] = (
            {} if self.height is None else {self.height: plus((1, height), (-1, self.q.lowest))}
        )
        for term, form in _terms(self.q, vectors, state, told).items():
            if term not in self.weights:
                self.weights[term] = self.program.unknown(f"{self.label}: {term}", signed=False)
            found[self.weights[term]] = form
        return found


def _terms(q: Question, vectors: Vectors, state: VectorState, told: Mapping[str, Point]) -> dict[PotentialTerm, Form]:
    """The forms that a potential may have."""
    found: dict[PotentialTerm, Form] = {}
    for b in q.blocks:
        own = [(name, family, group) for group in ("server", "client") for name, family in q.named(state, group, b)]
        own += [(name, gradient[b], "client") for name, gradient in told.items()]
        for (one, x, g), (two, y, h) in itertools.combinations_with_replacement(own, 2):
            if b != q.shared:
                found[PotentialTerm(AVERAGE, one, two)] = vectors.draw.average(x, y)
                continue
            found[PotentialTerm(MEANS, one, two)] = vectors.draw.of_means(x, y)
            if g == h == "client" and q.n > 1:
                found[PotentialTerm(DEVIATIONS, one, two)] = vectors.draw.of_deviations(x, y)
    return found


def mean(q: Question, compared: Compared, *, gradients: bool, every_T: bool) -> ProofPlan:
    """One potential for a mean over the rounds: V_0/T + c <= a/T + b for ``every_T``, or the right side at T."""
    program = Program()
    factor, constant = program.unknown("factor", signed=True), program.unknown("constant", signed=True)
    V = Potential(program, q, "V", gradients=gradients)
    played = PlayedRound(q, 0)
    falls = total((1, V.before(played)), (-1, V.after(played)), (1, _alone(constant)))
    metric: Affine = {None: played.metric(compared)}
    program.require("round", metric, falls, played.facts, played.vectors.names)
    still = PlayedRound(q, 0, played=False)
    program.require("V >= 0", {}, V.before(still), still.facts, still.vectors.names)
    first = program.unknown("V_0", signed=True)
    start = start_of(q)
    program.require("start", V.at_start(start), _alone(first), start.facts, start.vectors.names)
    if every_T:
        assert q.in_rounds is not None
        for name, scaled_part, kept, unknown in zip(("V_0", "constant"), *q.in_rounds, (first, constant), strict=True):
            program.require(f"right side of {name}", _alone(unknown), _right(factor, scaled_part, kept))
    else:
        at_T: Affine = {first: {ONE: Fraction(1, q.T)}, constant: {ONE: Fraction(1)}}
        program.require("right side", at_T, _right(factor, compared.scaled, compared.kept))
    if q.potential:
        V.give(q.potential)
    return MeanPlan("mean", program, factor, every_T=every_T, potentials=(V,), constants=(constant,), first=first)


def chain(q: Question, compared: Compared, *, gradients: bool, weights: str = "last") -> ProofPlan:
    """A potential for each round: ``weights`` of the metric on the last round, the mean, or found for the best one."""
    program = Program()
    factor = program.unknown("factor", signed=True)
    last = q.T - 1 if compared.played is None else compared.played
    shares = (
        [program.unknown(f"weight of round {t}", signed=True) for t in range(last + 1)] if weights == "best" else []
    )
    if shares:
        program.equal.append({None: Fraction(-1), **{u: Fraction(1) for u in shares}})
    potentials = [Potential(program, q, f"V_{t}", gradients=gradients) for t in range(last + 1)]
    constants = [program.unknown(f"constant of round {t}", signed=True) for t in range(last)]

    def weighed(t: int, metric: Form) -> Affine:
        if shares:
            return {shares[t]: metric}
        if weights == "mean":
            return {None: plus((Fraction(1, last + 1), metric))}
        return {None: metric} if t == last else {}

    for t in range(last):
        played = PlayedRound(q, t)
        falls = total(
            (1, potentials[t].before(played)),
            (-1, potentials[t + 1].after(played)),
            (1, _alone(constants[t])),
        )
        metric = weighed(t, played.metric(compared))
        program.require(f"round {t}", metric, falls, played.facts, played.vectors.names)
    end = PlayedRound(q, last, played=compared.changes)
    metric = weighed(last, end.metric(compared))
    program.require(f"round {last}", metric, potentials[last].before(end), end.facts, end.vectors.names)
    start = start_of(q)
    begin = total((1, potentials[0].at_start(start)), *((1, _alone(u)) for u in constants))
    program.require("start", begin, _right(factor, compared.scaled, compared.kept), start.facts, start.vectors.names)
    return ChainPlan(
        "chain",
        program,
        factor,
        every_T=False,
        potentials=tuple(potentials),
        constants=tuple(constants),
        shares=tuple(shares),
        scaled=compared.scaled,
        kept=compared.kept,
    )


def rate(q: Question, every: Sequence[Compared], rho: Fraction, *, gradients: bool) -> ProofPlan:
    """One potential that shrinks by ``rho`` in every round, for the claims on all of these rounds."""
    program = Program()
    factor, constant = program.unknown("factor", signed=True), program.unknown("constant", signed=True)
    first = program.unknown("V_0", signed=True)
    V = Potential(program, q, "V", gradients=gradients)
    played = PlayedRound(q, 0)
    bound = total((rho, V.before(played)), (1, _alone(constant)))
    program.require("round", V.after(played), bound, played.facts, played.vectors.names)
    still = PlayedRound(q, 0, played=False)
    metric: Affine = {None: still.metric(every[0])}
    program.require("metric <= V", metric, V.before(still), still.facts, still.vectors.names)
    start = start_of(q)
    program.require("start", V.at_start(start), _alone(first), start.facts, start.vectors.names)
    at = {each.round: each for each in every}
    grown, longest = (
        [(Fraction(1), Fraction(0))],
        0 if rho.denominator.bit_length() > _SIGNIFICANT else _LONGEST_FRACTION,
    )
    while len(grown) <= max(r for r in at if r is not None):
        power, summed = grown[-1]
        # Exact powers are of no use where the rate itself is not.
        grown.append((shortened(power * rho, longest), shortened(summed * rho + 1, longest)))
    for t, (power, summed) in enumerate(grown):
        if t in at:
            reached: Affine = {first: {ONE: power}, constant: {ONE: summed}}
            program.require(f"right side of round {t}", reached, _right(factor, at[t].scaled, at[t].kept))
    if q.potential:
        V.give(q.potential)
    return RatePlan(
        "rate",
        program,
        factor,
        every_T=False,
        potentials=(V,),
        constants=(constant,),
        first=first,
        rho=rho,
        grown=tuple(grown),
    )


def shortened(number: Fraction, longest: int = _LONGEST_FRACTION) -> Fraction:
    """A number of short digits that is at least as large, where its own denominator has more binary digits.

    >>> shortened(Fraction(1, 3)), shortened(Fraction(1, 3), 1) - Fraction(1, 3) < Fraction(1, 2**126)
    (Fraction(1, 3), True)
    """
    if number.denominator.bit_length() <= longest:
        return number
    scale = 2 ** max(0, _SIGNIFICANT + number.denominator.bit_length() - number.numerator.bit_length())
    return Fraction(-(-number.numerator * scale // number.denominator), scale)


def one_step(q: Question, compared: Compared) -> ProofPlan:
    """What one round changes, from any state that the method's invariants allow."""
    program = Program()
    factor = program.unknown("factor", signed=True)
    played = PlayedRound(q, compared.played or 0)
    metric: Affine = {None: played.metric(compared)}
    program.require("round", metric, _right(factor, compared.scaled, compared.kept), played.facts, played.vectors.names)
    return ProofPlan("step", program, factor, every_T=q.alike)


def whole_run(q: Question, compared: Compared, *, weights: str = "last") -> ProofPlan:
    """All rounds of a short run together, without a potential; ``weights`` as those of a `chain`."""
    program = Program()
    factor = program.unknown("factor", signed=True)
    count = q.T if compared.round is None else compared.round + 1
    run = PlayedRun(q, count)
    metrics = [each.metric(compared) for each in run.rounds] if weights != "last" else [run.rounds[-1].metric(compared)]
    shares: list[int] = []
    if weights == "best":
        shares = [program.unknown(f"weight of round {t}", signed=True) for t in range(count)]
        program.equal.append({None: Fraction(-1), **{u: Fraction(1) for u in shares}})
        metric: Affine = dict(zip(shares, metrics, strict=True))
    else:
        metric = {None: plus(*((Fraction(1, len(metrics)), each) for each in metrics))}
    program.require("run", metric, _right(factor, compared.scaled, compared.kept), run.facts, run.vectors.names)
    return ProofPlan("run", program, factor, every_T=False, shares=tuple(shares))
