"""A theorem at numbers, proved from its method alone: potentials are looked for, and what is found is exact."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from bounds import words
from bounds.statement import Assumption, Claim, Given, Over, Relation, Statement
from bounds.symbols import Role
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import with_open_steps
from ratecheck.inputs import whole
from ratecheck.proving.potentials import ProofPlan, chain, mean, one_step, rate
from ratecheck.proving.program import certified, solve
from ratecheck.proving.question import Question
from ratecheck.stepsizes.feasible_set import step_names

# Numbers that are taken where none are given: constants of order 1, noise and dissimilarity below them.
DEFAULTS: Mapping[str, float] = {
    "n": 10, "m": 3, "K": 3, "T": 10, "L": 1.0, "mu": 0.1, "mu_PL": 0.1, "mu_c": 0.1, "F_0": 1.0, "dist2_0": 1.0,
    "sigma_u": 0.3, "sigma_v": 0.3, "b": 0.4, "B_0": 1.0, "b_star": 0.5, "M": 1.0, "G": 1.0, "lambda_": 1.0,
}  # fmt: skip
_ONE_FUNCTION = {
    Assumption.CONVEX_PART, Assumption.MONOTONE_OPERATOR, Assumption.COCOERCIVE_OPERATOR,
    Assumption.STRONGLY_MONOTONE_OPERATOR, Assumption.LIPSCHITZ_OPERATOR,
}  # fmt: skip
# A solver's optimum this close to 1 is one of a bound that cannot be improved.
_TIGHT = 1e-6
# What is added to a factor that has no inside, so that there is a proof.
_HAIR = Fraction(1, 10**9)
# By how much the factor that is proved may exceed the smallest one.
_ROOM = Fraction(1, 1000)
# Rounds of a run, unless a number is given, where a proof is looked for with one potential for all of them.
_LONG, _LONG_EVERY_ROUND = 1000, 100
# Rounds with a potential of their own; each is a block of the program.
_LONGEST_CHAIN = 40
# Plans that prove a claim together, with the round that each is about.
Way = Sequence[tuple[Callable[[], ProofPlan], int | None]]
# Rounds of a claim on every round, each of which is a chain.
_MOST_CHAINS = 12


@dataclass(frozen=True)
class ProofPart:
    """One proof: ``factor`` times the right side, by a plan and exact values of its unknowns.

    ``round`` is the one that it is about, None for all. ``smallest`` is the least factor that the solver finds.
    """

    plan: ProofPlan
    round: int | None
    smallest: float
    factor: Fraction | None
    y: Sequence[Fraction] | None

    @property
    def unknowns(self) -> Iterator[tuple[str, Fraction]]:
        """Names and values of the unknowns that are not 0."""
        if self.y is not None:
            yield from ((name, value) for name, value in zip(self.plan.program.names, self.y, strict=True) if value)


@dataclass(frozen=True)
class ProvedClaim:
    """What was found of one claim: the parts that prove it together.

    Where a right side has quantities that are ``measured`` along the run, these are on the left, and the factor is that
    of what is left on the right, which may be 0.
    """

    claim: str
    parts: tuple[ProofPart, ...]
    measured: bool = False
    nothing_left: bool = False

    @property
    def factor(self) -> Fraction | None:
        """The right side times this is proved; None where nothing is."""
        factors = [part.factor for part in self.parts]
        return None if not factors or None in factors else max(f for f in factors if f is not None)

    @property
    def smallest(self) -> float:
        """The least factor that the solver finds, infinite where it finds none."""
        return max((part.smallest for part in self.parts), default=math.inf)


@dataclass(frozen=True)
class PotentialProof:
    """All claims of a statement at its numbers."""

    statement: Statement
    values: Mapping[str, float]
    defaulted: tuple[str, ...]
    claims: tuple[ProvedClaim, ...]
    seconds: float

    @property
    def factor(self) -> Fraction | None:
        """The largest of the factors of the claims; None where one has none."""
        factors = [claim.factor for claim in self.claims]
        return None if None in factors else max(f for f in factors if f is not None)

    @property
    def verdict(self) -> str:
        """PROVED, PROVED UP TO 1e-9, or NOT PROVED."""
        if self.factor is None or self.factor > 1 + _HAIR:
            return "NOT PROVED"
        return "PROVED" if self.factor <= 1 else "PROVED UP TO 1e-9"

    @property
    def every_T(self) -> bool:
        """Whether the same potential serves any number of rounds."""
        return all(part.plan.every_T for claim in self.claims for part in claim.parts)


def prove(statement: Statement, given: Given) -> PotentialProof:
    """Look for a proof of every claim of a statement at numbers; those not given have defaults.

    Raises `InputError` for what no proof is looked for, and for numbers that break a condition.
    """
    begun = time.perf_counter()
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to prove")
    given, written = words.basic_names(statement, given), words.basic(statement).written
    if written.algorithm is None or written.algorithm not in METHODS:
        raise InputError(f"{statement.key} is not in reach of a proof: it is about no method")
    proof = None
    # A long run first: what is wrong of its length alone shows there, where one potential serves all rounds.
    for T in _lengths(written, given):
        values, defaulted = completed(written, given if T is None else {**given, "T": T})
        claims = tuple(_proved(Question(replace(written, claims=(claim,)), values), claim) for claim in written.claims)
        defaulted = defaulted if T is None else (*defaulted, "T")
        # Numbers are shown under the names that they have in the statement.
        called = statement.vocabulary.called
        shown = {called(name): value for name, value in values.items()}
        proof = PotentialProof(statement, shown, tuple(map(called, defaulted)), claims, time.perf_counter() - begun)
        if proof.verdict == "PROVED":
            break
    assert proof is not None
    return proof


def _lengths(statement: Statement, given: Given) -> tuple[int | None, ...]:
    """Numbers of rounds to try, one after the other; None for what is given, fixed or the default."""
    if "T" not in statement.vocabulary or "T" in given or "T" in statement.settings:
        return (None,)
    every = any(claim.metric.over not in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND) for claim in statement.claims)
    return (_LONG_EVERY_ROUND if every else _LONG, None)


def completed(statement: Statement, given: Given) -> tuple[dict[str, float], tuple[str, ...]]:
    """Numbers for everything that the statement needs, and the names of those that were not given.

    A step size that is left open is the largest admissible one, rounded down to three digits, or half of an end that
    is not admissible itself.
    """
    method = METHODS[statement.algorithm or ""]
    statement.check_names(given)
    defaults = dict(DEFAULTS)
    if _ONE_FUNCTION & {*statement.assumptions} or statement.settings.get("n") == 1:
        defaults |= {"n": 1, "m": 1}
    n = float(given.get("n", defaults["n"]))  # type: ignore[arg-type]
    everyone = method.full or Assumption.FULL_PARTICIPATION in statement.assumptions
    defaults["m"] = n if everyone else min(defaults["m"], n)
    taken = {*given, *statement.settings} | {*method.fixed} - {"n", "m", "T"}
    filled = {name: x for name, x in defaults.items() if name in statement.vocabulary and name not in taken}
    values, _ = statement.complete({**filled, **given})
    open_steps, approached = with_open_steps(statement, values)
    if approached:
        half = {name: end / 2 for name, end in approached.items()}
        open_steps, _ = with_open_steps(statement, statement.complete({**values, **half})[0])
    prescribed = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
    for name in step_names(statement):
        if name not in given and name not in prescribed and name not in values:
            open_steps = _rounded(statement, open_steps, name)
    for name in ("n", "m", "K", "T"):
        if name in open_steps:
            whole(name, open_steps[name], 1)
    missing = [
        name
        for name in statement.required
        if name not in open_steps and statement.vocabulary[name].role is not Role.MEASURED
    ]
    if missing:
        raise InputError(f"{statement.key} needs a value for {missing[0]}: give {missing[0]}=...")
    if broken := [check.broken for check in statement.check_conditions(open_steps) if check.holds is False]:
        raise InputError(" ".join(broken))
    names = tuple(name for name in open_steps if name not in given and name in statement.parameters)
    return open_steps, names


def _rounded(statement: Statement, values: dict[str, float], name: str) -> dict[str, float]:
    """The values with one that has three digits, where that is admissible."""
    x = values[name]
    if not x > 0 or not math.isfinite(x):
        return values
    unit = 10.0 ** (math.floor(math.log10(x)) - 2)
    trial = {**values, name: float(f"{math.floor(x / unit * (1 + 1e-12)) * unit:.12g}")}
    return trial if all(check.holds is not False for check in statement.check_conditions(trial)) else values


def _proved(q: Question, claim: Claim) -> ProvedClaim:
    """The best proof of one claim."""
    if claim.relation is not Relation.AT_MOST:
        raise q.out_of_reach(f"the claim {claim.name!r} is no upper bound")
    best: list[tuple[float, list[_Sized]]] = []
    rest = {"measured": q.measures_right, "nothing_left": all(each.right == 0 for each in q.compared)}
    for way in _ways(q):
        plans = _sized(way)
        if plans is None:
            continue
        smallest = max(each.smallest for each in plans)
        parts = tuple(_part(each) for each in plans) if smallest < 1 + _TIGHT else ()
        if parts and all(part.factor is not None and part.factor <= 1 + _HAIR for part in parts):
            return ProvedClaim(claim.name, parts, **rest)
        best.append((smallest, plans))
    for _, plans in sorted(best, key=lambda each: each[0])[:2]:
        parts = tuple(_part(each, room=True) for each in plans)
        if all(part.factor is not None for part in parts):
            return ProvedClaim(claim.name, parts, **rest)
    return ProvedClaim(claim.name, (), **rest)


@dataclass(frozen=True)
class _Sized:
    """A plan for a round with the least factor that the solver finds."""

    plan: ProofPlan
    round: int | None
    smallest: float


def _sized(way: Way) -> list[_Sized] | None:
    """The plans of a way with their least factors; None where one of them has none."""
    found = []
    for make, number in way:
        plan = make()
        proposal = solve(plan.program, {plan.factor: 1.0})
        if proposal is None:
            return None
        found.append(_Sized(plan, number, proposal.cost))
    return found


def _part(sized: _Sized, *, room: bool = False) -> ProofPart:
    """A proof with a factor near the smallest one."""
    plan, smallest = sized.plan, sized.smallest
    near = _above(Fraction(max(smallest, 0.0)) * (1 + _ROOM) + Fraction(1, 10**6))
    attempts = [(near, False), (Fraction(1), False), (Fraction(1), True)] if near <= 1 else []
    if not attempts and smallest < 1 + _TIGHT:
        attempts = [(Fraction(1), True), (1 + _HAIR, True)]
    for goal, faces in [*attempts, *([(near, True)] if room else [])]:
        y = certified(plan.program, {plan.factor: goal}, faces=faces)
        if y is not None:
            return ProofPart(plan, sized.round, smallest, goal, y)
    return ProofPart(plan, sized.round, smallest, None, None)


def _above(number: Fraction) -> Fraction:
    """A decimal of four digits that is not smaller."""
    digits = 4 - math.floor(math.log10(number)) if number < 1 else 4
    return Fraction(math.ceil(number * 10**digits), 10**digits)


def _ways(q: Question) -> Iterator[Way]:
    """The plans of which each list proves the claim, cheaper ones first."""
    first, over = q.compared[0], q.over
    if first.changes and first.round is not None:
        different = {(each.right, *sorted(each.weights.items())): each for each in q.compared}
        yield [(partial(one_step, q, each), each.round) for each in different.values()]
    # Gradients after a round depend on who took part.
    for gradients in (False,) if q.sampled else (False, True):
        if over in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
            for every_T in (True, False) if q.in_rounds is not None else (False,):
                yield [(partial(mean, q, first, gradients=gradients, every_T=every_T), None)]
        elif len(q.compared) > 1 and not first.changes:
            yield from ([(partial(rate, q, q.compared, rho, gradients=gradients), None)] for rho in _rates(q))
    for gradients in (False,) if q.sampled else (False, True):
        if over in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
            if q.T <= _LONGEST_CHAIN:
                kind = "mean" if over is Over.MEAN_OF_ROUNDS else "best"
                yield [(partial(chain, q, first, gradients=gradients, weights=kind), None)]
        elif (_LONGEST_CHAIN if len(q.compared) == 1 else _MOST_CHAINS) >= q.T:
            yield [(partial(chain, q, each, gradients=gradients), each.round) for each in q.compared]


def _rates(q: Question) -> Iterator[Fraction]:
    """By how much a potential may shrink in a round: as the right side does, and not at all."""
    right = [each.right for each in q.compared]
    if len(right) > 2 and right[0] != right[1]:
        found = (
            right[1] / right[0]
            if right[1] ** 2 == right[0] * right[2]
            else (right[2] - right[1]) / (right[1] - right[0])
        )
        if 0 < found < 1:
            yield found
    yield Fraction(1)
