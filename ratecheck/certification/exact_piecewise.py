"""Constants of a piecewise quadratic problem, proved in rationals: what `exact_constants` has of quadratics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.certification.exact_constants import OF_RUN, Proved
from ratecheck.problems import Piecewise, PiecewiseSamples

# Constants of the problem, by what `Piecewise.exact` calls them.
_OWN = {
    "L": "L",
    "L_u": "L",
    "F_0": "F_0",
    "B_0": "B_0",
    "mean_B_0": "B_0",
    "b": "b2",
    "distance2_0": "distance2_0",
    "strong_convexity": "strong_convexity",
    "polyak_lojasiewicz": "polyak_lojasiewicz",
    "minimiser_heterogeneity": "minimiser_heterogeneity2",
    "gradient_bound": "gradient_bound2",
    "dissimilarity_G": "dissimilarity_G2",
    "dissimilarity_B": "dissimilarity_B2",
}
# Of those the ones that are roots.
_ROOTS = frozenset({"b", "minimiser_heterogeneity", "gradient_bound", "dissimilarity_G", "dissimilarity_B"})
_NONE = frozenset({"L_v", "L_uv", "L_vu"})


@dataclass(frozen=True)
class ProvedPiecewise(Proved):
    """The same of functions whose curvature is constant between kinks; see `Proved`."""

    problem: Piecewise | PiecewiseSamples  # type: ignore[assignment]  # in place of a quadratic

    # What concerns neither the functions nor inner problems.
    _known: ClassVar[frozenset[str]] = OF_RUN

    def fact(self, name: str) -> Number | None:
        """See `Proved.fact`."""
        if name in _NONE:
            return Fraction(0)
        if name not in _OWN:
            return super().fact(name)
        found = self.problem.exact(_OWN[name], self._start[0].tolist())
        if found is None:
            raise UndecidedError(f"{name} does not exist, in exact arithmetic")
        if name == "F_0" and found <= 0:
            raise UndecidedError("the start is a minimiser")
        if name == "mean_B_0":
            found = found / self.problem.n
        return Enclosure.of(found).sqrt().plain if name in _ROOTS else found

    @cached_property
    def _predicates(self) -> dict[str, tuple[float, Callable[[Fraction], bool]]]:
        """None: every constant is computed."""
        return {}
