"""Where to look whether a claim still holds after one of its numbers has changed.

A claim and its mutants have the same hypotheses, so the points at which these hold are looked for once: random ones,
and those at which the claim itself has the least slack. A mutant that is refuted there needs no search of its own.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bounds.ledger.step import Check, Enumerated, Gram, Identity, Scalar
from ratecheck.algebra.counterexample import Counterexample, SearchRegion, confirmed, refutes
from ratecheck.algebra.evaluate import Point, Undefined
from ratecheck.aliases import Array
from ratecheck.auditing.coordinates import Coordinates
from ratecheck.auditing.decide import decide, decide_enumerated
from ratecheck.auditing.decision import FULL, QUICK, Decision, Effort
from ratecheck.auditing.enumerated import EnumeratedInstances
from ratecheck.auditing.inequality import refuted
from ratecheck.auditing.mutation import mutants
from ratecheck.auditing.mutation.mutants import TWO_PERCENT, PrintedConstant

Algebraic: TypeAlias = Identity | Scalar | Gram

_COMPARED = 40
_GENERATIONS = 30
_TRIED = 6
_DENOMINATORS = (1, 12, 10**4, 10**14)
_NO_MEANING = (TypeError, NameError, AttributeError, ZeroDivisionError, OverflowError, Undefined)


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

    def decide(self, mutant: Check, effort: Effort = QUICK) -> Decision:
        """Whether a mutant holds."""
        if isinstance(mutant, Enumerated):
            assert self._family is not None
            return decide_enumerated(mutant, self._family, effort)
        found = self._points.counterexample(mutant)
        if found is not None:
            return refuted(self._points.written(mutant), found)
        return decide(mutant, effort)

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
        scalar = _scalar(check)
        sides = [side for h in scalar.hypotheses for side in (h.left, h.right)]
        self._check = check
        self._coordinates = Coordinates(scalar.left, scalar.right, *sides)
        written = self.written(check)
        self._region = SearchRegion(written.hypotheses, written.left.free_symbols | written.right.free_symbols)
        self._fractions: dict[tuple[int, int], Point | None] = {}

    def written(self, check: Algebraic) -> Scalar:
        """A claim or its mutant in coordinates."""
        return self._coordinates.scalar(_scalar(check), 1)

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
                found = None if point is None else refutes(point, claim.left, claim.operator, claim.right)
                if found is not None and confirmed(
                    found, self._region.hypotheses, claim.left, claim.operator, claim.right
                ):
                    return found
        return None

    def _exact(self, column: int, denominator: int) -> Point | None:
        """A point in fractions."""
        key = column, denominator
        if key not in self._fractions:
            self._fractions[key] = self._region.exact(self._places[:, column], denominator)
        return self._fractions[key]


def _scalar(check: Algebraic) -> Scalar:
    """A claim about numbers and vectors alike, with all that it supposes."""
    if isinstance(check, Scalar):
        return check
    if isinstance(check, Identity):
        return Scalar(left=check.left, operator="==", right=check.right)
    hypotheses = (*check.hypotheses, *check.conditions)
    return Scalar(left=check.left, operator=check.operator, right=check.right, hypotheses=hypotheses)
