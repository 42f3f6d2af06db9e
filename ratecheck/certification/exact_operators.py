"""Constants of affine operators that are no gradients, proved in rationals, as `exact_constants` has of quadratics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ratecheck.algebra.enclosure import Number
from ratecheck.certification.certified_constants import DELAYS, MEAN_DELAYS
from ratecheck.certification.exact_constants import Proved
from ratecheck.problems import Certificate, MinMax
from ratecheck.problems.minmax import cocoercive

# What is known here beside the constants that are tested; the others speak of functions.
_KNOWN = frozenset(
    {
        "distance2_0", "B_0", "mean_B_0", "sigma", "sigma_u", "sigma_v", "selection_skew", "delta", *DELAYS,
        *MEAN_DELAYS, "relative_noise", "dimension",
    }
)  # fmt: skip


@dataclass(frozen=True)
class ProvedOperator(Proved):
    """The same of a min-max problem; see `Proved`. ``cocoercive``: L is the constant of cocoercivity."""

    problem: MinMax  # type: ignore[assignment]  # in place of a quadratic
    cocoercive: bool = False

    def fact(self, name: str) -> Number | None:
        """See `Proved.fact`."""
        return super().fact(name) if name in self._predicates or name in _KNOWN else None

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
