"""The worst run of a statement over all smooth functions, from above and from below."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bounds.statement import Given, Statement
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import ComparedRounds, DeterministicCase
from ratecheck.falsification.performance_estimation.interpolation import (
    Answers,
    VerifiedInstance,
    recheck,
    worst_instance,
)
from ratecheck.falsification.performance_estimation.pep import PepBound, UndecidedCaseError, solved
from ratecheck.falsification.performance_estimation.script import pepit_script
from ratecheck.falsification.realised import NoInstanceError, realised

# Step sizes at their caps are so up to the rounding of floats.
_ROUNDING = 1e-9
# What the solver leaves open where both values are right.
_ACCURACY = 1e-5
_DIGITS = 6
# The most points at which clients are evaluated; a semidefinite program of twice that size takes many minutes.
_LARGEST = 40


@dataclass(frozen=True)
class EnclosedRounds:
    """The largest left side of one comparison: at least ``lower.left``, exactly checked, and at most ``upper.left``.

    ``instance`` reaches the lower value. ``scale`` is what is measured where every quantity is 1 in units in which the
    smoothness and the start are. ``seconds`` is what each of the two values took, upper first.
    """

    upper: PepBound
    lower: VerifiedInstance
    instance: Answers
    scale: float
    seconds: tuple[float, float]

    @property
    def comparison(self) -> ComparedRounds:
        """The comparison whose left side is enclosed."""
        return self.lower.comparison

    @property
    def size(self) -> float:
        """The size of both sides without cancellation."""
        return self.lower.size + self.comparison.size

    @property
    def violated(self) -> bool:
        """Whether the checked instance has a larger left side than right side."""
        return self.lower.left - self.lower.right > _ROUNDING * self.size

    @property
    def holds(self) -> bool:
        """Whether no function has a larger left side than right side."""
        return self.upper.left <= self.lower.right

    @property
    def close(self) -> bool:
        """Whether no function has a left side that exceeds the right side by more than the solver leaves open."""
        return self.upper.left - self.lower.right <= _ACCURACY * (self.size if self.lower.right > 0 else self.scale)

    @property
    def tight(self) -> bool:
        """Whether a run reaches the right side, up to what the solver leaves open; 0 is always reached."""
        slack = _ACCURACY * self.size
        return self.lower.right > 0 and self.close and self.lower.right - self.lower.left <= slack

    @property
    def excess(self) -> float:
        """(left - right)/size of the checked instance."""
        return (self.lower.left - self.lower.right) / self.size if self.size else 0.0

    def to_json(self) -> dict[str, Any]:
        """Both values, their ratios to the right side, and the instance; the seconds say nothing of the statement."""
        right = self.lower.right
        return {
            "round": self.comparison.round,
            "right": right,
            "upper": self.upper.left,
            "upper_safe": self.upper.safe,
            "lower": self.lower.left,
            "upper_ratio": self.upper.left / right if right > 0 else None,
            "lower_ratio": self.lower.ratio if right > 0 else None,
            "violated": self.violated,
            "seconds": list(self.seconds),
        }


@dataclass(frozen=True)
class WorstCase:
    """The largest left sides of ``case``, of each round that the claim is about or of the mean over them."""

    case: DeterministicCase
    enclosures: tuple[EnclosedRounds, ...]

    @property
    def worst(self) -> EnclosedRounds:
        """The enclosure that fails by most, or comes closest to failing; of equal ones the last."""
        return max(self.enclosures, key=lambda each: (round(each.excess, _DIGITS), each.comparison.round or 0))

    @property
    def upper(self) -> PepBound:
        """The upper value of the worst."""
        return self.worst.upper

    @property
    def lower(self) -> VerifiedInstance:
        """The lower value of the worst."""
        return self.worst.lower

    @property
    def instance(self) -> Answers:
        """The instance of the worst."""
        return self.worst.instance

    @property
    def gap(self) -> float:
        """1 - lower/upper: what the two leave open."""
        return 1 - self.lower.left / self.upper.left if self.upper.left else 0.0

    @property
    def violated(self) -> bool:
        """Whether a checked instance has a larger left side than right side."""
        return any(each.violated for each in self.enclosures)

    @property
    def undecided(self) -> bool:
        """Whether the right side lies between the two values, and below the upper one by more than the solver errs."""
        return not self.violated and not all(each.holds or each.close for each in self.enclosures)

    def script(self, command: str) -> str:
        """A program for PEPit that asks for the same left side, the worst; ``command`` repeats the question here."""
        return pepit_script(self.case, self.worst.comparison, command)

    @property
    def outcome(self) -> str:
        """What the two values say at these numbers, in words."""
        if self.violated:
            return "VIOLATED"
        if self.undecided:
            return "undecided"
        # Nothing is said of what the program leaves out.
        among = " and ".join(_narrower(self.case))
        holds = f"HOLDS for {among}" if among else "HOLDS"
        if all(each.holds for each in self.enclosures):
            return holds
        return f"{holds} up to the accuracy of the solver ({_ACCURACY:g})"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the two values do not say."""
        scope = []
        if not self.upper.safe:
            scope.append("the upper value is numeric: the dual objective of a converged interior-point solver")
        if self.case.method.personal:
            scope.append("functions of shared variables only: personal ones, which the statement admits, are absent")
        first, *others = (claim.name for claim in self.case.statement.claims)
        if others:
            scope.append(f"the claim {first!r} alone: nothing is said of {', '.join(map(repr, others))}")
        if moved := self.worst.comparison.moved:
            scope.append(f"what the right side measures along the run is taken to the left: {', '.join(moved)}")
        if varying := self.case.method.algorithm.varying:
            scope.append(f"{', '.join(varying)} of every round taken as the floats that the method computes")
        scope += _restrictions(self.case)
        for name, end in self.case.approached.items():
            scope.append(f"{name}={self.case.values[name]!r} is just inside the open end {end!r}")
        return tuple(scope)

    def to_json(self) -> dict[str, Any]:
        """The worst, the rounds where there are several, the numbers, and the instance."""
        several = [each.to_json() for each in self.enclosures] if len(self.enclosures) > 1 else []
        return {
            "key": self.case.statement.key,
            "values": self.case.shown,
            **self.worst.to_json(),
            "gap": self.gap,
            "violated": self.violated,
            "tight": self.worst.tight,
            "notes": list(self.notes),
            "rounds": several,
            "instance": self.instance.save(),
        }


def _narrower(case: DeterministicCase) -> Iterator[str]:
    """What the program is about where the statement is about more."""
    if case.noise:
        yield "noise of two opposite values"
    if case.narrowed:
        yield "convex functions"
    if case.each_strongly_convex:
        yield "clients that are each strongly convex"
    if case.method.personal:
        yield "shared variables alone"


def _restrictions(case: DeterministicCase) -> Iterator[str]:
    """The functions, starts and clients to which the program is restricted, where the statement does not say so."""
    if case.narrowed:
        yield f"computed over convex functions, since {case.narrowed}; convexity is not among its assumptions"
    if case.composite:
        yield "computed over a smooth function, with gradients, plus a convex one, with proximal steps"
    if case.operator:
        yield "computed over operators, which need not be gradients"
    if case.each_strongly_convex:
        yield "computed over clients that are each strongly convex; what is assumed is that their mean is"
    if math.isinf(case.smoothness) and not case.operator:
        bounded = ", and have bounded subgradients" if math.isfinite(case.steepest) else ""
        yield f"functions need not be smooth{bounded}: smoothness is not among its assumptions"
    if case.sampled:
        ways = math.comb(case.n, case.participants)
        yield f"in expectation over {ways} choices of the clients of the first round"
    if case.noise:
        yield (
            "computed over stochastic gradients with two equally likely values, at every point the gradient plus and "
            "minus one vector, drawn independently; the upper value says nothing of other noise"
        )
    if case.normalised:
        alike = "other starts may be worse" if case.noise else "both sides grow alike with it"
        yield f"starts with {case.normalised} at most 1; {alike}"


def worst_case(
    statement: Statement, given: Given, *, starts: int = 8, seed: int = 0, ignore_conditions: bool = False
) -> WorstCase:
    """Both values at the given numbers, step sizes prescribed or largest admissible where they are not given.

    The lower value is the solver's own worst run, made exact; of several clients that need not be convex, and whose
    mean is not all that counts, it is the best of ``starts`` local searches. Raises `InputError` as
    `DeterministicCase.of` and `solved` do, and for runs that are too long; `UndecidedCaseError` where the solver's run
    cannot be made exact.
    """
    case = DeterministicCase.of(statement, given, ignore_conditions=ignore_conditions)
    comparisons = case.comparisons
    if (points := max(map(case.evaluations, comparisons))) > _LARGEST and case.random:
        sizes = ", ".join(f"{name}={int(case.values[name])}" for name in ("n", "K", "T"))
        raise InputError(
            f'{sizes} break "points of all outcomes <= {_LARGEST}": {points} <= {_LARGEST} is false, and a worst case '
            f"over all functions takes too long. Smaller n, K or T would do."
        )
    if points > _LARGEST:
        n, K, T = (int(case.values[name]) for name in ("n", "K", "T"))
        raise InputError(
            f'n={n}, K={K}, T={T} break "n*(K*(T - 1) + 1) <= {_LARGEST}": {points} <= {_LARGEST} is false, and a '
            f"worst case over all functions takes too long. Smaller n, K or T would do, such as n=2, K=4, T=2."
        )
    return WorstCase(case, tuple(_enclosed(case, each, starts, seed) for each in comparisons))


def _enclosed(case: DeterministicCase, comparison: ComparedRounds, starts: int, seed: int) -> EnclosedRounds:
    case.check_units(comparison)
    start = time.perf_counter()
    upper, formulation, solution = solved(case, comparison)
    between = time.perf_counter()
    if case.n > 1 and case.searchable and not case.noise:
        # Clients that are each bounded from below, and alike but for linear terms where dissimilarity is bounded.
        instance = worst_instance(case, starts=starts, seed=seed)
        lower = recheck(instance, comparison)
    else:
        try:
            instance, lower = realised(case, comparison, formulation, solution)
        except NoInstanceError:
            raise UndecidedCaseError(
                f"undecided at these numbers: the left side is at most {upper.left:.6g}, says "
                "the solver, but its worst run is not found exactly enough to be checked. Other numbers may be "
                "decided, such as a smaller T, or mu and L further apart."
            ) from None
    weights = case.scaled_comparison(comparison).weights.values()
    scale = case.left_unit(comparison) * sum(map(abs, weights))
    return EnclosedRounds(upper, lower, instance, scale, (between - start, time.perf_counter() - between))
