"""Bilevel instances that make one term of a rate needed: one-dimensional, with constants that no instance exceeds.

    g_i(x, y) = 0.4 y^2 - y (0.4 x + b_i),   f_i(x, y) = [x; y]' Q_i [x; y] / 2 - q_i' [x; y].

All have mu_g = 0.8, L_1 = 1, L_2 = L_3 = 0 and beta_gh = 1, and what is not zero of noise, spread and start is 1. The
curvature of Phi is chosen, down to where the run just does not get anywhere. A quadratic f_i is Lipschitz on bounded
sets only (L_f): with L_2 = L_3 = 0 no step-size rule depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ratecheck.aliases import Array
from ratecheck.problems import Bilevel

# Those of an upper bound; equal weights, and for every client as many local steps, each with the coefficient 1.
CONSTANTS: Mapping[str, float] = {
    "mu_g": 0.8,
    "L_2": 0.0,
    "L_3": 0.0,
    "sigma_gg": 0.0,
    **dict.fromkeys(("L_f", "L_1", "sigma_f", "sigma_g", "beta_gh", "sigma_gh", "psi_gap"), 1.0),
    **dict.fromkeys(("alpha_min", "alpha_max", "beta_min", "beta_max", "beta_max_prime", "c_a", "c_a_prime"), 1.0),
}
_A, _B, _Q_XY, _Q_YY = 0.8, 0.4, 0.25, 0.25
_SLOPE = _B / _A  # of y*(x)
# Largest Q_xx with |Q_i| <= 1, and where clients differ in an entry of Q_i by BEND.
_Q_XX, _BEND, _Q_XX_BENT = 0.9, 0.2, 0.5
_LOWER = 2 * _Q_XY * _SLOPE + _Q_YY * _SLOPE**2
STEEPEST = _Q_XX + _LOWER
# Where the linear terms of the clients may differ: in q_x, b or q_y, which is where x, y or v feel it.
_BLOCKS = ("x", "y", "v")
_ENTRIES: Mapping[str, tuple[int, int]] = {"xx": (0, 0), "xy": (0, 1), "yy": (1, 1)}


class Cause(Enum):
    """Which of a run's imperfections is there, and no other."""

    SAMPLING = "clients that differ, some take part, no noise, start at the solution"
    NOISE = "noise, clients alike, start at the solution"
    START = "clients alike, no noise, start off the solution"
    DRIFT = "clients that differ, all take part, no noise, start at the solution"


@dataclass(frozen=True)
class BilevelCase:
    """One instance: ``curvature`` of Phi, and what is not zero.

    ``noise`` is sigma_f or sigma_g, ``spread`` the block in which clients' linear terms differ, ``bend`` the entry of
    Q_i in which they do, and ``start`` the block that starts off the solution.
    """

    curvature: float
    noise: str = ""
    spread: str = ""
    bend: str = ""
    start: str = ""

    def __str__(self) -> str:
        known = (("noise ", self.noise), ("clients differ in ", self.spread), ("and in Q_", self.bend))
        parts = [f"{word}{value}" for word, value in (*known, ("start off in ", self.start)) if value]
        return ", ".join((f"curvature {self.curvature:.2g}", *parts))

    @property
    def noises(self) -> Mapping[str, float]:
        """The noise levels that are not zero."""
        return {self.noise: 1.0} if self.noise else {}

    def problem(self, n: int) -> Bilevel:
        """The instance with n clients; their linear terms have variance 1 where they differ."""
        signs = _spread(n)
        Q, q, b = np.zeros((n, 2, 2)), np.zeros((n, 2)), np.zeros((n, 1))
        Q[:] = [[self.curvature - _LOWER, _Q_XY], [_Q_XY, _Q_YY]]
        if self.bend:
            row, column = _ENTRIES[self.bend]
            Q[:, row, column] += _BEND * signs
            Q[:, column, row] = Q[:, row, column]
        if self.spread == "y":
            b[:, 0] = signs
        elif self.spread:
            q[:, 0 if self.spread == "x" else 1] = signs
        return Bilevel(np.full((n, 1, 1), _A), np.full((n, 1, 1), _B), b, Q, q)

    def begin(self, problem: Bilevel) -> tuple[Array, Array, Array]:
        """The solution x*, y*(x*), v*(x*), or one block off it: x by a gap of 1 of Phi, y or v by 1."""
        P, r = problem.hypergradient_map()
        x: Array = r / P[0]
        if self.start == "x":
            x = x + math.sqrt(2 / self.curvature)
        y, v = problem.y_star(x), problem.v_star(x)
        return x, y + float(self.start == "y"), v + float(self.start == "v")


def family(regime: Cause, flattest: float) -> tuple[BilevelCase, ...]:
    """The instances of a regime, with curvatures from ``flattest``, that of 1/(step size * T), to the steepest.

    Where the clients' curvatures differ, local steps subtract from that of their mean. Drift is therefore looked for
    where Phi is curved by a share of it: on a flatter one the run would leave all places where f_i is Lipschitz.
    """
    if regime is Cause.DRIFT:
        top = _Q_XX_BENT + _LOWER
        return tuple(
            BilevelCase(h, spread=block, bend=bend) for h in (top, top / 8) for block in _BLOCKS for bend in _ENTRIES
        )
    curvatures = np.geomspace(min(flattest, STEEPEST / 8), STEEPEST, 4)[::-1].tolist()
    if regime is Cause.NOISE:
        return tuple(BilevelCase(h, noise=noise) for h in curvatures for noise in ("sigma_f", "sigma_g"))
    if regime is Cause.START:
        return tuple(BilevelCase(h, start=block) for h in curvatures for block in _BLOCKS)
    return tuple(BilevelCase(h, spread=block) for h in curvatures for block in _BLOCKS)


def _spread(n: int) -> Array:
    """As many numbers as clients, with mean 0 and mean square 1: one half of the clients against the other."""
    signs = np.where(np.arange(n) < n // 2, -1.0, 1.0)
    signs -= signs.mean()
    size = math.sqrt(float(np.mean(signs**2)))
    return signs / size if size else signs
