"""Quadratics that continue otherwise beyond what a run sees: a finite b for unequal curvatures, F_0 for negative ones.

Gradients h_i x - g_i with unequal h_i are arbitrarily far apart, so that no b bounds them, and f has no minimum where
the mean curvature is negative. But a run sees nothing beyond the box of the points at which its clients evaluate
gradients. There, coordinate by coordinate, every client may continue with another curvature: the run stays what it is.

- Where the mean curvature is positive all clients continue with it: f = (1/n) sum_i f_i is the same function
  everywhere.
- Elsewhere all continue with the curvature L: f falls by f'^2/(2L) more beyond an end at which it still falls. Where
  nothing is said of an L they turn up sharply instead (``steep``): f is least at an end.

A proximal step of clients with f_i'' >= -rho and lambda > rho leads where it led, since f_i(y) + lambda/2 ||y - x||^2
remains strongly convex. The clients' common L stays what it is, and gradients grow no further apart than they are on
the box. Their mean squared distance from the mean is convex there, hence largest at an end of each coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.visits import box
from ratecheck.engines.setup import Setup, is_random
from ratecheck.errors import InputError
from ratecheck.problems.quadratic_functions import QuadraticFunctions

# Rounds and local steps of all clients in a run that is followed; more take seconds.
_MOST_ROUNDS, _MOST_STEPS = 10_000, 10**8
# Quantities of the round after the last one.
_LATER = "total_T"


@dataclass(frozen=True)
class Continued:
    """Quadratics with diagonal Hessians: ``curvature`` and ``slope`` (n, d), ``start`` (n, d), ``box`` (2, d).

    ``steep``: beyond the box they may be as curved as they like, or have a kink at its ends.
    """

    problem: QuadraticFunctions
    curvature: Array
    slope: Array
    start: Array
    box: Array
    steep: bool = False

    @classmethod
    def of(cls, setup: Setup, recorded: Iterable[str] = (), *, steep: bool = False) -> Self | None:
        """The functions of a run as they may continue, where quantities of these names are measured of it.

        None where the run is random or too long, where Hessians are not diagonal, for methods whose local steps are not
        followed or use something else than gradients, and for quantities that look beyond the last round.
        """
        problem = setup.problem.quadratic
        if not (setup.algorithm.asks_gradients or _proximal(setup)) or any(
            name.startswith(_LATER) for name in recorded
        ):
            return None
        if problem is None or is_random(setup) or setup.T > _MOST_ROUNDS or problem.n * setup.K * setup.T > _MOST_STEPS:
            return None
        try:
            ends = box(setup)
        except InputError:
            return None
        if not np.isfinite(ends).all():
            return None
        return cls(problem, np.diagonal(problem.H, axis1=1, axis2=2), problem.g, setup.point, ends, steep)

    @property
    def dissimilarity2(self) -> float:
        """The largest (1/n) sum_i ||grad_u f_i - grad_u f||^2."""
        shared = slice(self.problem.d_u)
        gradients = self.curvature[:, shared] * self.box[:, None, shared] - self.slope[:, shared]
        squares = np.mean((gradients - gradients.mean(axis=1, keepdims=True)) ** 2, axis=1)
        return float(squares.max(axis=0).sum())

    @property
    def gap(self) -> float:
        """The gap f - inf f at the start; infinite for linear clients, which have no L."""
        d_u, n = self.problem.d_u, self.problem.n
        shared = self._gaps(self.curvature[:, :d_u].mean(axis=0), self.slope[:, :d_u].mean(axis=0), self.start[0], 0)
        own = self._gaps(self.curvature[:, d_u:], self.slope[:, d_u:], self.start, d_u)
        return float(shared.sum() + own.sum() / n)

    def _gaps(self, h: Array, g: Array, start: Array, first: int) -> Array:
        """The gaps of h x^2/2 - g x by coordinate, for those coordinates from ``first`` on that ``h`` has."""
        here = slice(first, first + h.shape[-1])
        x, (low, high) = start[..., here], self.box[:, here]
        L = math.inf if self.steep else float(np.abs(self.curvature[:, here]).max(initial=0.0))

        def value(at: Array) -> Array:
            return h * at**2 / 2 - g * at

        with np.errstate(divide="ignore", invalid="ignore"):
            upwards = value(high) - np.minimum(h * high - g, 0.0) ** 2 / (2 * L)
            downwards = value(low) - np.maximum(h * low - g, 0.0) ** 2 / (2 * L)
            convex = (h * x - g) ** 2 / (2 * h)
        gaps = np.where(h > 0, convex, value(x) - np.minimum(upwards, downwards))
        return np.where(np.isnan(gaps), np.where((h == 0) & (g == 0), 0.0, np.inf), gaps)


def _proximal(setup: Setup) -> bool:
    """Whether clients make one proximal step each; what they minimise has one minimiser, or the run is refused."""
    return setup.algorithm.oracle == "prox" and setup.algorithm.record_oracle == "gradient" and setup.K == 1
