"""Constants of affine operators that are no gradients, proved in rationals, as `exact_constants` has of quadratics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from ratecheck.certification.exact_constants import OF_OPERATORS, OF_RUN, Proved
from ratecheck.problems import Certificate, MinMax
from ratecheck.problems.minmax import cocoercive


@dataclass(frozen=True)
class ProvedOperator(Proved):
    """Certified constants of a min-max problem, see `Proved`; with ``cocoercive`` L is that of cocoercivity."""

    problem: MinMax  # type: ignore[assignment]  # in place of a quadratic
    cocoercive: bool = False

    _known: ClassVar[frozenset[str]] = OF_RUN | OF_OPERATORS

    @cached_property
    def _predicates(self) -> dict[str, tuple[float, Callable[[Fraction], bool]]]:
        """Constants that a test decides: what floating point says, and the test."""
        constants = self.problem.constants()
        found: dict[str, tuple[float, Callable[[Fraction], bool]]] = {}
        if not self.cocoercive:
            found["L"] = constants["L"].value, self._bounds_norms([self.problem.operator()[0]])
        elif (near := self.problem.nearly_cocoercive) is not None:
            found["L"] = near, self._bounds_cocoercivity
        if constants["strong_convexity"].certificate is not Certificate.ABSENT:
            found["strong_convexity"] = self.problem.least_eigenvalue[0], self._bounds_curvature
        return found

    def _bounds_cocoercivity(self, value: Fraction) -> bool:
        return value > 0 and all(cocoercive(M, value) for M in self._forms.H)
