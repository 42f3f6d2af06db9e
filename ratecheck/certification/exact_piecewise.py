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
from ratecheck.problems.piecewise_quadratic.piecewise import ROOTS


@dataclass(frozen=True)
class ProvedPiecewise(Proved):
    """Certified constants of piecewise quadratic functions; see `Proved`."""

    problem: Piecewise | PiecewiseSamples  # type: ignore[assignment]  # in place of a quadratic

    # What concerns neither the functions nor inner problems.
    _known: ClassVar[frozenset[str]] = OF_RUN

    def fact(self, name: str) -> Number | None:
        """See `Proved.fact`."""
        find = self.problem.exact(self._start[0].tolist()).get(name)
        if find is None:
            return super().fact(name)
        found = find()
        if found is None:
            raise UndecidedError(f"{name} does not exist, in exact arithmetic")
        if name == "F_0" and found <= 0:
            raise UndecidedError("the start is a minimiser")
        return Enclosure.of(found).sqrt().plain if name in ROOTS else found

    @cached_property
    def _predicates(self) -> dict[str, tuple[float, Callable[[Fraction], bool]]]:
        """None: every constant is computed."""
        return {}
