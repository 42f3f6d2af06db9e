"""The instances and values at which a claim with a changed number is tested.

A claim and its mutants have the same hypotheses, so the points at which these hold are looked for once: random ones,
and those at which the claim itself has the least slack. A mutant that is refuted there needs no search of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from bounds.ledger.step import Algebraic, Check, Draws, Enumerated, Gram, Number, Scalar, below, scalar_of
from bounds.ledger.vectors import factors, product_symbol
from bounds.statement import Condition
from ratecheck.algebra.counterexample import Counterexample, SearchRegion, confirmed, refutes
from ratecheck.algebra.evaluate import Point, Undefined, Value, holds, sides_text, sign
from ratecheck.aliases import Array
from ratecheck.auditing.decision import FULL, QUICK, Decision, Effort, unknown
from ratecheck.auditing.dispatch import decide, decide_enumerated
from ratecheck.auditing.enumerated import EnumeratedInstances, Instance, Pairs, instance_text, named, pairs
from ratecheck.auditing.export.coordinates import Coordinates
from ratecheck.auditing.inequality import refuted, searched
from ratecheck.auditing.mutation import mutants
from ratecheck.auditing.mutation.mutants import TWO_PERCENT, MutantStatus, PrintedConstant
from ratecheck.auditing.mutation.seeking import Seeker

_COMPARED = 40
_GENERATIONS = 30
_TRIED = 6
_FAILURES = 3
_NONE: Mapping[str, Number] = {}
_VANISHING = 60
_BLOCKS = 4
_DENOMINATORS = (1, 12, 10**4, 10**14)
_NO_MEANING = (TypeError, NameError, AttributeError, ZeroDivisionError, OverflowError, Undefined)


@dataclass(frozen=True)
class Probed:
    """The fate of a claim with other code, with the evidence; ELSEWHERE: both sides changed wherever one has."""

    fate: MutantStatus
    why: str


class _Comparing:
    """A claim and one with other code, from instance to instance."""

    def __init__(self, operator: str) -> None:
        self._operator = operator
        self._sign = {"<=": 1, "<": 1, ">=": -1, ">": -1}.get(operator, 0)
        self._same = self._weaker = True
        self._one_sided = False
        self._compared, self._errors, self._false = 0, list[str](), ""

    def raised(self, error: BaseException) -> None:
        """Note an instance on which the changed code failed."""
        self._errors.append(f"{type(error).__name__}: {' '.join(str(error).split())}"[:100])

    @property
    def settled(self) -> bool:
        """Whether no other instance matters: it is false, or fails wherever it was tried."""
        return bool(self._false and self._one_sided) or (len(self._errors) >= _FAILURES and not self._compared)

    def add(self, instance: Instance, printed: Pairs, other: Pairs) -> None:
        """Add an instance and the values of both forms on it."""
        failed = next((each for each in other if not holds(each[0], self._operator, each[1])), None)
        self._compared += len(other)
        if printed == other:
            return
        self._same = False
        self._one_sided |= len(printed) != len(other) or any(
            (old[0] == new[0]) != (old[1] == new[1]) for old, new in zip(printed, other, strict=True)
        )
        if failed is not None and not self._false:
            text = sides_text(failed[0], self._operator, failed[1])
            self._false = f"false on {instance_text(instance)}: {text}"
        if len(printed) == len(other):
            self._weaker &= all(self._follows(old, new) for old, new in zip(printed, other, strict=True))
        else:
            # Fewer of the same comparisons.
            self._weaker &= not Counter(other) - Counter(printed)

    def _follows(self, old: tuple[Value, Value], new: tuple[Value, Value]) -> bool:
        """Whether one comparison follows from another: it has at least its slack."""
        if all(isinstance(side, Fraction) for side in (*old, *new)):
            return self._sign != 0 and self._sign * (new[1] - new[0] - old[1] + old[0]) >= 0
        up, down = self._sign * sign(old[1], new[1]), self._sign * sign(new[0], old[0])
        return self._sign != 0 and up >= 0 and down >= 0

    @property
    def result(self) -> Probed:
        """After all instances."""
        if self._false and self._one_sided:
            return Probed(MutantStatus.REFUTED, self._false)
        if self._errors:
            return Probed(MutantStatus.SENSELESS, self._errors[0])
        if not self._compared:
            return Probed(MutantStatus.SENSELESS, "it is about no instance")
        said = f"{self._compared} comparisons"
        if self._same or not self._one_sided:
            return Probed(MutantStatus.SAME if self._same else MutantStatus.ELSEWHERE, said)
        return Probed(MutantStatus.WEAKER if self._weaker else MutantStatus.UNSEEN, said)


class Probe:
    """The points, or the instances, on which a claim is compared with its mutants."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self._family = EnumeratedInstances(check) if isinstance(check, Enumerated) else None

    @functools.cached_property
    def _points(self) -> _Points:
        assert not isinstance(self.check, Enumerated)
        return _Points(self.check)

    def settle(self) -> Decision:
        """Whether the claim itself holds."""
        return decide(self.check) if self._family is None else self.decide(self.check, FULL)

    def decide(self, mutant: Check, effort: Effort = QUICK, *, vanishing: bool = False) -> Decision:
        """Whether a mutant holds; with ``vanishing`` it is tried first where some quantities are 0."""
        if isinstance(mutant, Enumerated):
            assert self._family is not None
            return decide_enumerated(mutant, self._family, effort)
        found = self._points.counterexample(mutant)
        if found is None and vanishing:
            found = self._points.vanishing(mutant)
        if found is not None:
            return refuted(self._points.written(mutant), found)
        if vanishing and isinstance(mutant, Gram):
            for claim in orthogonal(mutant):
                there = searched(claim, effort.generations)
                if there is not None:
                    return refuted(claim, there)
        if isinstance(mutant, Gram) and mutant.operator in ("<", ">"):
            return unknown("no vectors were found at which both sides are equal")
        return decide(mutant, effort)

    def compare(self, sides: Callable[..., Any]) -> Probed:
        """The effect of other code for the sides of a claim, on its instances alone."""
        assert isinstance(self.check, Enumerated)
        found = _Comparing(self.check.operator)
        for instance, printed in self._instances:
            if printed is None:
                continue
            try:
                other = pairs(sides(instance.again(), **self.check.constants))
                found.add(instance, printed, other)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever code with something changed may do
                found.raised(error)
            if found.settled:
                break
        result = found.result
        if result.fate is not MutantStatus.UNSEEN:
            return result
        said = self.sought(sides, self.check.operator)
        return result if said is None else Probed(MutantStatus.REFUTED, said)

    def sought(self, sides: Callable[..., Any], operator: str, constants: Mapping[str, Number] = _NONE) -> str | None:
        """The evidence against a mutant on an instance that is looked for, where no other tells; None without one."""
        check = self.check
        assert isinstance(check, Enumerated)
        if not isinstance(check.instances, Draws):
            return None
        put = {**check.constants, **constants}

        def compared(draw: Any) -> Pairs:
            return pairs(sides(draw.again() if draw.tape else draw, **put))

        draw = self._seeker.failing(compared, operator)
        if draw is None:
            return None
        try:
            printed = pairs(check.sides(draw.again(), **check.constants))
        except (ZeroDivisionError, Undefined):
            return None
        # Where the claim itself fails nothing is known about the mutant.
        if not printed or not all(holds(left, check.operator, right) for left, right in printed):
            return None
        return "false on an instance that was looked for"

    @functools.cached_property
    def _seeker(self) -> Seeker:
        assert isinstance(self.check, Enumerated)
        assert isinstance(self.check.instances, Draws)
        return Seeker(named(self.check.sides), self.check.instances.count)

    @functools.cached_property
    def _instances(self) -> list[tuple[Instance, Pairs | None]]:
        """The instances of the claim with its comparisons."""
        assert self._family is not None
        assert isinstance(self.check, Enumerated)
        return [*self._family.rows(self.check.constants)]

    def direction(self, constant: PrintedConstant) -> int:
        """Whether the claim gets stronger with a smaller constant (-1) or a larger one (1); 0 where nothing moves."""
        try:
            moved = [
                self._lost(
                    mutants.changed(self.check, constant, constant.value + sign * abs(constant.value) * TWO_PERCENT)
                )
                for sign in (-1, 1)
            ]
        except _NO_MEANING:
            return -1
        if max(moved) <= 0:
            return 0
        return -1 if moved[0] >= moved[1] else 1

    def _lost(self, mutant: Check) -> float:
        """The slack that a mutant has lost against the claim, added up."""
        gaps = self._gaps(mutant)
        if gaps.shape != self._printed.shape:
            # A constant that says how much there is to compare.
            return 0.0
        return float(np.nansum(np.fmax(self._printed - gaps, 0)))

    @functools.cached_property
    def _printed(self) -> Array:
        return self._gaps(self.check)

    def _gaps(self, check: Check) -> Array:
        """The relative slack on every point, or the slack in every comparison on the first instances."""
        if not isinstance(check, Enumerated):
            return self._points.gaps(check)
        assert self._family is not None
        sign = -1 if check.operator in (">=", ">") else 1
        rows = itertools.islice(self._family.rows(check.constants), _COMPARED)
        return np.array([float(sign * (right - left)) for _, found in rows for left, right in found or ()])


class _Points:
    """Points within the hypotheses of an algebraic claim, vectors being numbers."""

    def __init__(self, check: Algebraic) -> None:
        scalar = scalar_of(check)
        sides = [side for h in scalar.hypotheses for side in (h.left, h.right)]
        self._check = check
        self._coordinates = Coordinates(scalar.left, scalar.right, *sides)
        written = self.written(check)
        self._region = SearchRegion(written.hypotheses, written.left.free_symbols | written.right.free_symbols)
        self._fractions: dict[tuple[int, int], Point | None] = {}

    def written(self, check: Algebraic) -> Scalar:
        """A claim or its mutant in coordinates."""
        scalar = scalar_of(check)
        products = {s for side in (scalar.left, scalar.right) for s in sp.sympify(side).free_symbols if factors(s)}
        if products <= self._coordinates.products.keys():
            return self._coordinates.scalar(scalar, 1)
        # Vectors in each other's place have other inner products, of the same coordinates.
        sides = [side for h in scalar.hypotheses for side in (h.left, h.right)]
        return Coordinates(scalar.left, scalar.right, *sides).scalar(scalar, 1)

    @functools.cached_property
    def _places(self) -> Array:
        """Coordinates of points at which the hypotheses hold, a column each."""
        with np.errstate(all="ignore"):
            found = np.concatenate([self._region.start(), *self._region.descend(self._slack, _GENERATIONS)], axis=1)
            points = self._region.points(found)
            return found[:, (self._region.broken(points) == 0) & np.isfinite(points).all(axis=0)]

    @functools.cached_property
    def _floats(self) -> Array:
        with np.errstate(all="ignore"):
            return self._region.points(self._places)

    @functools.cached_property
    def _slack(self) -> Callable[[Array], Array]:
        return self._slack_of(self._check)

    def _slack_of(self, check: Algebraic) -> Callable[[Array], Array]:
        """The relative slack of a claim as a function of points; negative where it fails."""
        claim = self.written(check)
        one, other = self._region.function(claim.left), self._region.function(claim.right)

        def slack(points: Array) -> Array:
            left, right = one(points), other(points)
            gap = {"<=": right - left, "<": right - left, "==": -np.abs(right - left)}.get(claim.operator, left - right)
            return np.asarray(gap / (np.abs(left) + np.abs(right) + 1e-300))

        return slack

    def gaps(self, check: Algebraic) -> Array:
        """The relative slack of a claim or its mutant at every point."""
        with np.errstate(all="ignore"):
            return self._slack_of(check)(self._floats)

    def counterexample(self, mutant: Algebraic) -> Counterexample | None:
        """A point at which a mutant fails, in fractions and evaluated again, if it is one of those at hand."""
        try:
            gaps = self.gaps(mutant)
        except _NO_MEANING:
            return None
        claim = self.written(mutant)
        for column in np.argsort(gaps, kind="stable")[:_TRIED]:
            if not gaps[column] < (1e-13 if claim.operator in ("<", ">") else -1e-13):
                break
            for denominator in _DENOMINATORS:
                point = self._exact(column, denominator)
                found = None if point is None else self._fails(point, claim)
                if found is not None:
                    return found
        return None

    def vanishing(self, mutant: Algebraic) -> Counterexample | None:
        """A point at which a mutant fails where some quantities are 0: what is orthogonal, or equal, often is there.

        All that may vanish does, or all vectors do, or one or two quantities, or nothing at a point of its own.
        """
        claim = self.written(mutant)
        zero = [s for s in self._region.symbols if not s.is_positive and not s.is_integer]
        few = itertools.chain(((s,) for s in zero), itertools.combinations(zero, 2))
        vectors = tuple(s for s in zero if not s.is_nonnegative)
        sets = [(), tuple(zero), vectors, *itertools.islice(few, _VANISHING)]
        return next(
            (
                found
                for zeros in dict.fromkeys(sets)
                for point in self._starts
                if (found := self._fails({**point, **dict.fromkeys(zeros, Fraction(0))}, claim)) is not None
            ),
            None,
        )

    @functools.cached_property
    def _starts(self) -> list[Point]:
        """A few points, not all of which need to keep the hypotheses."""
        columns = range(min(_TRIED, self._places.shape[1]))
        found = [self._exact(column, denominator) for column in columns for denominator in _DENOMINATORS[:2]]
        odd = {s: Fraction(k + 2, 1 if s.is_integer else 2) for k, s in enumerate(self._region.symbols)}
        return [*filter(None, found), odd]

    def _fails(self, point: Point, claim: Scalar) -> Counterexample | None:
        found = refutes(point, claim.left, claim.operator, claim.right)
        if found is None:
            return None
        kept = confirmed(found, self._region.hypotheses, claim.left, claim.operator, claim.right)
        return found if kept else None

    def _exact(self, column: int, denominator: int) -> Point | None:
        """A point in fractions."""
        key = column, denominator
        if key not in self._fractions:
            self._fractions[key] = self._region.exact(self._places[:, column], denominator)
        return self._fractions[key]


def orthogonal(check: Gram) -> Iterator[Scalar]:
    """A claim about vectors that are orthogonal to each other, and with two that are not: one about their squares.

    There are vectors of any squares, whatever equations these keep, while few such vectors have fractions as their
    coordinates.
    """
    claim = scalar_of(check)
    sides = [claim.left, claim.right, *(side for h in claim.hypotheses for side in (h.left, h.right))]
    symbols = {s for side in sides for s in sp.sympify(side).free_symbols}
    pairs_ = {s: found for s in symbols if (found := factors(s)) is not None}
    crossed = sorted((s for s, (one, other) in pairs_.items() if one != other), key=str)
    for kept in (None, *crossed[:_BLOCKS]):
        zero = {s: sp.Integer(0) for s in crossed if s is not kept}
        put = claim.put(zero)
        real = [] if kept is None else [below(kept**2, sp.Mul(*(product_symbol(each, each) for each in pairs_[kept])))]
        hypotheses = (each for each in put.hypotheses if not _empty(each))
        yield dataclasses.replace(put, hypotheses=(*hypotheses, *real))


def _empty(condition: Condition) -> bool:
    """Whether a condition says nothing any more, such as 0 = 0."""
    return bool(condition.left == condition.right and condition.operator in ("==", "<=", ">="))
