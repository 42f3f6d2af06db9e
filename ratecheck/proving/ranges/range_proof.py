"""Proofs on a whole range of a parameter: potentials and multipliers that are polynomials in it.

What is known of a round are rational functions of a parameter x, which are reconstructed from their exact values at
many numbers and compared at others. These are decimals of 16 digits: a polynomial with whole coefficients that vanishes
at all of them has a leading coefficient that the product of their denominators divides, by Gauss's lemma, so that
functions whose coefficients have fewer than 300 digits are the same. That they are rational is read off the statement's
formulas, and of a method's own functions they are called with a number of which nothing is known.

Unknowns are z(x)/w(x) with polynomials z in Bernstein's basis of the range and w positive in it; numbers are
nonnegative on the range where their coefficients are. A matrix of polynomials in x is positive semidefinite on the
range exactly where it is a sum of squares plus another one times (x - low)(high - x), or (x - low) and (high - x) times
two of them. That is one semidefinite program more, whose answer is checked in fractions as any other.

Sources: Handelman, "Representing polynomials by positive linear functions on compact convex polyhedra" (1988); Choi,
Lam, Reznick, "Real zeros of positive semidefinite forms" (1980), for matrices of polynomials in one variable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.parsing import read
from bounds.sentences import words
from bounds.statement import Given, Statement, names_in
from ratecheck.algorithms.model.asking import UntoldNumber
from ratecheck.algorithms.model.batches import REFUSALS
from ratecheck.errors import InputError, did_you_mean
from ratecheck.proving.forms import ONE, Entry, Form, Key
from ratecheck.proving.polynomials import Polynomial, RationalFunction, bernstein, bernstein_basis, reconstructed
from ratecheck.proving.potentials import ProofPlan
from ratecheck.proving.program import Affine, Program, Requirement, solve
from ratecheck.proving.prove import ProofPart, SizedPlan, completed, proof_part, questions, verdict_on, ways
from ratecheck.proving.question import Question
from ratecheck.proving.reach import written
from ratecheck.proving.trials.trial import FEW, multiplied, said_against, trials
from ratecheck.settings.applicability import check_expectations

# Numbers of the parameter at which data are evaluated to find what functions they are, and to compare.
_FOUND, _COMPARED = 17, 8
# Numbers inside the range at which what is proved is tried on runs, beside its ends.
_TRIED = 2
# Where numbers of clients are that tell functions of n apart.
_MANY = 10**8
# Degrees of the unknown polynomials.
_DEGREES = (0, 1, 2)
_HAIR = Fraction(1, 10**9)
# Unknowns of a program that is still solved: more take minutes.
_LARGEST = 1500


@dataclass(frozen=True)
class ParameterRange:
    """All values x of a parameter with ``low`` < x <= ``high``; low itself is one where it is not 0."""

    name: str
    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        # Rounded inwards: what is printed is proved.
        low, high = (
            f"{float(Context(prec=10, rounding=way).divide(Decimal(end.numerator), Decimal(end.denominator))):.10g}"
            for end, way in ((self.low, ROUND_CEILING), (self.high, ROUND_FLOOR))
        )
        return f"{low} {'<' if self.low == 0 else '<='} {self.name} <= {high}"

    def points(self, count: int, *, whole: bool) -> list[float]:
        """So many numbers at no regular distances, of sixteen digits.

        They are inside but for ``whole`` ones, of which large ones follow.
        """
        low, width = float(self.low), float(self.high - self.low)
        spread = [low + width * (0.6180339887498949 * (k + 1) % 1) for k in range(count)]
        if not whole:
            return spread
        own = [*dict.fromkeys(float(math.floor(x)) for x in spread if math.floor(x) >= low)]
        return [*own, *(float(_MANY + 7919 * k * k) for k in range(1, count - len(own) + 1))]


@dataclass(frozen=True)
class RangePart:
    """A proof on a range: ``base`` is the plan at one number, ``functions`` are its requirements in the parameter.

    Each of ``part``'s unknowns is a coefficient in Bernstein's basis of one polynomial, over ``below``; the first is
    the factor. ``unknowns`` are their numbers by unknown of the base.
    """

    base: ProofPlan
    range: ParameterRange
    functions: tuple[RangeRequirement, ...]
    unknowns: Mapping[int, tuple[int, ...]]
    below: Polynomial
    part: ProofPart
    squares: Mapping[str, SquarePlaces]

    def value(self, unknown: int) -> Polynomial:
        """The polynomial of an unknown, times ``below``."""
        assert self.part.y is not None
        own = self.unknowns[unknown]
        if unknown == self.base.factor:
            return self.below.times(self.part.y[own[0]])
        return Polynomial.of_bernstein([self.part.y[u] for u in own], self.range.low, self.range.high)


@dataclass(frozen=True)
class SquarePlaces:
    """A sum of squares times (x - low)^up (high - x)^down; its rows are products of a vector and a power of x."""

    name: str
    requirement: Requirement
    block: str
    deviations: bool
    places: tuple[tuple[int, int], ...]
    up: int
    down: int


@dataclass(frozen=True)
class RangeRequirement:
    """A requirement whose coefficients are polynomials of the parameter, after it was multiplied by ``below``.

    Each of its facts is multiplied by a denominator of its own; all denominators are positive on the range.
    """

    base: Requirement
    left: Mapping[int | None, Mapping[Key, Polynomial]]
    right: Mapping[int | None, Mapping[Key, Polynomial]]
    facts: tuple[Mapping[Key, Polynomial], ...]
    below: Polynomial


@dataclass(frozen=True)
class RangeProof:
    """What is proved of a claim on a range at the numbers of everything else; ``parts`` is empty where nothing is.

    ``measured``: the right side has quantities of the run, which are on the left, and the factor is that of the rest.
    ``rounded`` are numbers beside the parameter of which the method has fractions near them.
    """

    statement: Statement
    values: Mapping[str, float]
    range: ParameterRange
    parts: tuple[RangePart, ...] = ()
    reason: str = ""
    measured: bool = False
    rounded: tuple[str, ...] = ()

    @property
    def factor(self) -> Fraction | None:
        """The right side times this is proved, for all values in the range; None where nothing is."""
        factors = [each.part.factor for each in self.parts]
        return None if not factors or None in factors else max(f for f in factors if f is not None)

    @property
    def every_T(self) -> bool:
        """Whether the same potential serves any number of rounds."""
        return all(each.base.every_T for each in self.parts)

    @property
    def verdict(self) -> str:
        """PROVED, PROVED UP TO 1e-9, or NOT PROVED."""
        return verdict_on(self.factor, rounded=bool(self.rounded), measured=self.measured)


def prove_on_range(statement: Statement, given: Given, wanted: str) -> RangeProof:
    """Look for a proof of the first claim on a range such as ``"gamma=0:1/L"``, whose ends are formulas.

    Raises `InputError` for what is no range, and where other numbers depend on the parameter.
    """
    check_expectations(statement, "prove")
    basic = words.basic(statement)
    target, given = basic.written, words.basic_names(statement, given)
    _check_alone(target)
    name, _, ends = wanted.partition("=")
    own = next(iter(words.basic_names(statement, {name: 1.0})))
    low, colon, high = ends.partition(":")
    if not colon or own not in target.vocabulary or own not in target.parameters:
        raise InputError(
            f"{wanted!r} is no range NAME=LOW:HIGH of {statement.key}; {did_you_mean(own, target.parameters)}"
        )
    if own in given or own in ("K", "T", "m"):
        raise InputError(f"{own} is given, or no number that may vary in a proof: a step size, a constant or n")
    anywhere, _ = completed(target, given)
    q = Question(target, anywhere)
    at = ParameterRange(name, *(q.number(sp.sympify(read(end, target.vocabulary))) for end in (low, high)))
    if not 0 <= at.low < at.high:
        raise InputError(f"{wanted!r}: 0 <= LOW < HIGH is needed")
    _check_fixed(q, given, own, at)
    nothing = RangeProof(statement, anywhere, at, measured=q.measures_right, rounded=q.rounded)
    if other := _not_rational(q, own, name):
        return replace(nothing, reason=other)
    reason = "no potential whose coefficients are polynomials of low degree was found; that refutes nothing"
    for plan_at in _plans(target, anywhere, own, at):
        try:
            parts = tuple(filter(None, (_on_range(each, at, whole=own == "n") for each in plan_at)))
        except InputError as error:
            reason = str(error)
            continue
        found = replace(nothing, parts=parts if len(parts) == len(plan_at) else ())
        if found.factor is not None and found.factor <= 1 + _HAIR:
            return _tried(found, basic, {**given}, own, whole=own == "n")
    return replace(nothing, reason=reason)


def _tried(found: RangeProof, basic: Statement, given: Given, own: str, *, whole: bool) -> RangeProof:
    """What is left of it after runs at numbers of the range: nothing where one exceeds what is proved."""
    assert found.factor is not None
    proved, called = multiplied(found.statement, [found.factor]), found.statement.vocabulary.called
    inside = [x for x in found.range.points(_TRIED, whole=whole) if x < _MANY]
    for x in dict.fromkeys([*([float(found.range.low)] if found.range.low else []), *inside, float(found.range.high)]):
        try:
            values, _ = completed(basic.written, {**given, own: x})
        except InputError:
            continue
        shown = {called(name): value for name, value in values.items()}
        seen = trials(found.statement, proved, shown, FEW, every_T=found.every_T)
        if seen.against is not None:
            return replace(found, parts=(), reason=f"{said_against(seen)} ({found.range.name}={x:.6g})")
    return found


def _check_fixed(q: Question, given: Given, own: str, at: ParameterRange) -> None:
    """Raise `InputError` where a number that is held fixed depends on the parameter."""
    target = q.statement
    rules = [*target.settings.items(), *((rule.symbol.name, rule.value) for rule in target.step_rules)]
    moved = [each for each, value in rules if own in names_in(sp.sympify(value)) and each not in given]
    for x in [float(at.low or at.high / 2), float(at.high), *at.points(5, whole=own == "n")]:
        there = Question(target, completed(target, {**given, own: x})[0]).values
        moved += [each for each in there if each != own and there[each] != q.values.get(each)]
    if moved:
        raise InputError(f"{moved[0]} depends on {at.name}: give {moved[0]}=... to hold it fixed")


def _check_alone(target: Statement) -> None:
    if len(target.claims) > 1:
        raise InputError(f"{target.key} has {len(target.claims)} claims, and a range is proved of one")


def _not_rational(q: Question, own: str, name: str) -> str:
    """What is no rational function of the parameter: a formula such as Min(1, gamma), or what the method computes."""
    target, claim = q.statement, q.statement.claims[0]
    formulas = [claim.bound, claim.metric.expr, *target.settings.values(), *(rule.value for rule in target.step_rules)]
    for each in formulas:
        symbols = [symbol for symbol in each.free_symbols if symbol.name == own]
        if symbols and each.is_rational_function(*symbols) is not True:
            return f"{each} is no rational function of {name}"
    return "" if _computed(q, own) else f"{q.name} does more with {name} than arithmetic"


def _computed(q: Question, own: str) -> bool:
    """Whether all that the method computes of the parameter are rational functions of it."""
    a, p = q.algorithm, q.parameters(0)
    untold: Any = UntoldNumber()
    p |= dict.fromkeys((own, "p", *(["m"] if q.m == q.n else [])) if own == "n" else (own,), untold)
    try:
        p |= {name: of(untold) for name, of in a.optional.items() if own == "n" and name not in q.values}
        rounds = [a.coefficients(t, q.T, p) for t in range(q.T if a.varying else 1)]
    except (InputError, *REFUSALS):
        return False
    return all(q.maps.arithmetic(p | coin | each) for each in rounds for _, coin in q.tosses)


PlanAt = Callable[[float], ProofPlan]


def _plans(target: Statement, values: Mapping[str, float], own: str, at: ParameterRange) -> Iterator[list[PlanAt]]:
    """Plans as functions of the parameter, those first that are proved at a number inside."""
    (middle,) = at.points(1, whole=own == "n")

    def asked(x: float, which: int) -> Question:
        return [*questions(target, {**values, own: x})][which]

    def plan_at(which: int, way: int, number: int) -> PlanAt:
        return lambda x: [*ways(asked(x, which))][way][number][0]()

    for which, q in enumerate(questions(target, {**values, own: middle})):
        for way, plans in enumerate(ways(q)):
            found = [solve(plan.program, {plan.factor: 1.0}) for plan in (make() for make, _ in plans)]
            if all(each is not None and each.cost < 1 + 1e-6 for each in found):
                yield [plan_at(which, way, number) for number in range(len(plans))]


# --- What a plan is as a function of the parameter ---


def _on_range(plan_at: PlanAt, at: ParameterRange, *, whole: bool) -> RangePart | None:
    """A proof of one plan on the range; None where none is found."""
    points = at.points(_FOUND + _COMPARED, whole=whole)
    plans = [plan_at(x) for x in points]
    base = plans[0]
    functions = tuple(_functions(plans, [*map(written, points)], at))
    every = Polynomial.of(1)
    for each in functions:
        every = every.multiple_of(each.below)
        scaled = each.right.get(base.factor, {}).get(ONE, Polynomial())
        if any(c < 0 for c in bernstein(scaled, scaled.degree, at.low, at.high)):
            # A smaller multiple of it is a weaker bound.
            raise InputError(f"its right side may be negative for {at}")
    ways_to_divide = dict.fromkeys((Polynomial.of(1), Polynomial.power(1), every.times(1 / every.at(at.high))))
    for degree, below in itertools.product(_DEGREES, ways_to_divide):
        program, unknowns, squares = _range_program(base, functions, at, degree, below)
        if len(program.names) > _LARGEST:
            break
        proposal = solve(program, {0: 1.0})
        if proposal is None or proposal.cost > 1 + 1e-6:
            continue
        plan = ProofPlan("range", program, 0, every_T=base.every_T)
        part = proof_part(SizedPlan(plan, None, proposal.cost))
        if part.factor is not None and part.factor <= 1 + _HAIR:
            return RangePart(base, at, functions, unknowns, below, part, squares)
    return None


def _functions(
    plans: Sequence[ProofPlan], points: Sequence[Fraction], at: ParameterRange
) -> Iterator[RangeRequirement]:
    """The requirements of plans at numbers as polynomials of the parameter."""
    programs = [plan.program for plan in plans]
    if any(program.names != programs[0].names or program.equal != programs[0].equal for program in programs):
        raise InputError("what is known of a round changes its form on this range")
    known: dict[tuple[Fraction, ...], RationalFunction] = {}

    def function(values: tuple[Fraction, ...]) -> RationalFunction:
        if values not in known:
            known[values] = reconstructed(points, values, _FOUND)
        return known[values]

    def forms(each: Sequence[Form]) -> dict[Key, RationalFunction]:
        keys = dict.fromkeys(key for form in each for key in form)
        return {key: function(tuple(form.get(key, Fraction(0)) for form in each)) for key in keys}

    def affine(each: Sequence[Affine]) -> dict[int | None, dict[Key, RationalFunction]]:
        unknowns = dict.fromkeys(u for one in each for u in one)
        return {u: forms([one.get(u, {}) for one in each]) for u in unknowns}

    for same in zip(*(program.required for program in programs), strict=True):
        left, right = affine([each.left for each in same]), affine([each.right for each in same])
        facts = [forms([each.facts[k][1].form for each in same]) for k in range(len(same[0].facts))]
        below = _denominator((q for side in (*left.values(), *right.values()) for q in side.values()), at)
        yield RangeRequirement(
            same[0],
            {u: _times(form, below) for u, form in left.items()},
            {u: _times(form, below) for u, form in right.items()},
            tuple(_times(fact, _denominator(fact.values(), at)) for fact in facts),
            below,
        )


def _times(form: Mapping[Key, RationalFunction], below: Polynomial) -> dict[Key, Polynomial]:
    """A form times a common denominator of its coefficients."""
    return {key: quotient.above_of(below) for key, quotient in form.items()}


def _denominator(quotients: Iterable[RationalFunction], at: ParameterRange) -> Polynomial:
    """A common denominator that is positive on the range; raises `InputError` where it may be 0."""
    below = Polynomial.of(1)
    for quotient in quotients:
        below = below.multiple_of(quotient.below)
    below = below.times(1 if below.at(at.high) > 0 else -1)
    if not below.positive_on(at.low, at.high):
        raise InputError(f"a denominator may be 0 for {at}")
    return below


def _range_program(
    base: ProofPlan, functions: Sequence[RangeRequirement], at: ParameterRange, degree: int, below: Polynomial
) -> tuple[Program, dict[int, tuple[int, ...]], dict[str, SquarePlaces]]:
    """The program whose unknowns are coefficients in Bernstein's basis, these by unknown of the base, and squares."""
    program = Program()
    squares: dict[str, SquarePlaces] = {}
    unknowns: dict[int, tuple[int, ...]] = {base.factor: (program.unknown("factor", signed=True),)}
    for u, (name, signed) in enumerate(zip(base.program.names, base.program.signed, strict=True)):
        if u != base.factor:
            unknowns[u] = tuple(program.unknown(f"{name} [{k}]", signed=signed) for k in range(degree + 1))
    basis = [bernstein_basis(degree, k, at.low, at.high) for k in range(degree + 1)]
    multipliers: dict[int | None, list[tuple[int | None, Polynomial]]] = {
        u: [*zip(own, basis, strict=False)] for u, own in unknowns.items()
    }
    multipliers |= {None: [(None, below)], base.factor: [(unknowns[base.factor][0], below)]}
    for each in functions:
        squares |= _require(program, each.base, _by_key(each, multipliers), at)
    if base.program.equal and below.degree > degree:
        raise InputError("an equation of the plan needs a higher degree")
    for equation in base.program.equal:
        for k, constant in enumerate(bernstein(below, degree, at.low, at.high)):
            program.equal.append(
                {None if u is None else unknowns[u][k]: v * (constant if u is None else 1) for u, v in equation.items()}
            )
    return program, unknowns, squares


Row = Mapping[int | None, Polynomial]


def _by_key(
    each: RangeRequirement, multipliers: Mapping[int | None, Sequence[tuple[int | None, Polynomial]]]
) -> dict[Key, Row]:
    """What has to be nonnegative: by product, value or 1 its coefficient, affine in the unknown coefficients."""
    parts: list[tuple[int, int | None, Mapping[Key, Polynomial]]] = []
    parts += [(1, u, form) for u, form in each.right.items()] + [(-1, u, form) for u, form in each.left.items()]
    parts += [(1, u, form) for (u, _), form in zip(each.base.facts, each.facts, strict=True)]
    found: dict[Key, dict[int | None, Polynomial]] = {}
    for sign, u, form in parts:
        for (number, factor), (key, poly) in itertools.product(multipliers[u], form.items()):
            row = found.setdefault(key, {})
            row[number] = row.get(number, Polynomial()).plus(poly.times(factor).times(sign))
    return dict(found)


def _require(
    program: Program, base: Requirement, by_key: Mapping[Key, Row], at: ParameterRange
) -> dict[str, SquarePlaces]:
    """Have a form be nonnegative on the range: by key, of products, values and the constant, its affine coefficient."""
    scalars = {key: row for key, row in by_key.items() if not isinstance(key, Entry)}
    highest = max((poly.degree for row in scalars.values() for poly in row.values()), default=0)
    for j in range(highest + 1):
        affine: dict[int | None, Form] = {}
        for key, row in scalars.items():
            for number, poly in row.items():
                if c := bernstein(poly, highest, at.low, at.high)[j]:
                    affine.setdefault(number, {})[key] = c
        if affine:
            program.required.append(Requirement(f"{base.name} [{j}]", {}, affine))
    spaces: dict[tuple[str, bool], dict[Entry, Row]] = {}
    for entry, row in by_key.items():
        if isinstance(entry, Entry):
            spaces.setdefault((entry.block, entry.deviations), {})[entry] = row
    found: dict[str, SquarePlaces] = {}
    for (block, deviations), entries in sorted(spaces.items()):
        for each in _require_matrix(program, base, block, deviations, entries, at):
            found[each.name] = each
    return found


def _require_matrix(
    program: Program,
    base: Requirement,
    block: str,
    deviations: bool,
    entries: Mapping[Entry, Row],
    at: ParameterRange,
) -> Iterator[SquarePlaces]:
    """Have a matrix of polynomials be positive semidefinite on the range: sums of squares, two of them, weighed.

    M = S_0 + (x - low)(high - x) S_1 where its degree is even, else (x - low) S_0 + (high - x) S_1.
    """
    highest = max(poly.degree for row in entries.values() for poly in row.values())
    vectors = sorted({key.first for key, row in entries.items() if key.first == key.second and any(row.values())})
    up, down = Polynomial.of(-at.low, 1), Polynomial.of(at.high, -1)
    half = highest // 2
    name = f"{base.name}: {block}{' deviations' * deviations}"
    sums = [((1, 0), half), ((0, 1), half)] if highest % 2 else [((0, 0), half), ((1, 1), half - 1)]
    equations: dict[tuple[int, int, int], dict[int | None, Fraction]] = {}

    def count(first: int, second: int, unknown: int | None, poly: Polynomial, sign: int) -> None:
        for k, c in enumerate(poly.coefficients):
            row = equations.setdefault((first, second, k), {})
            row[unknown] = row.get(unknown, Fraction(0)) + sign * c

    for key, row in entries.items():
        for number, poly in row.items():
            count(key.first, key.second, number, poly, 1)
    for turn, (powers, degree) in enumerate(sums):
        weight = Polynomial.of(1)
        for factor, power in zip((up, down), powers, strict=True):
            weight = weight.times(factor) if power else weight
        places = [(v, k) for v in vectors for k in range(degree + 1)]
        gram: dict[int | None, Form] = {}
        for (i, (v, k)), (j, (w, m)) in itertools.combinations_with_replacement(enumerate(places, 1), 2):
            unknown = program.unknown(f"{name}, square {turn}: {v} x^{k}, {w} x^{m}", signed=False)
            both = Fraction(1 if i == j else 2)
            gram[unknown] = {Entry(name, deviations=False, first=i, second=j): both}
            count(v, w, unknown, weight.times(Polynomial.power(k + m)).times(both), -1)
        if gram:
            program.required.append(Requirement(f"{name}, square {turn}", {}, gram))
            yield SquarePlaces(f"{name}, square {turn}", base, block, deviations, tuple(places), *powers)
    program.equal += [row for row in equations.values() if any(row.values())]
