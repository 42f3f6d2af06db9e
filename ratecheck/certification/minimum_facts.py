"""Facts on the minimum of quadratics: its place, and the curvature of f and of its clients.

Numbers come from eigenvalues and solutions of linear systems in floats, with what these may be off; where that does not
tell an eigenvalue from 0, rationals may. Proofs of the same constants are in `exact_constants`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ratecheck.aliases import Array
from ratecheck.certification.gradient_facts import dominates
from ratecheck.problems import Certificate, Constant
from ratecheck.problems.constants import CANNOT_TELL
from ratecheck.problems.matrices import is_diagonal, solution_error
from ratecheck.problems.quadratic_functions import QuadraticObjective

# The constants, each a property of `MinimumFacts`.
OF_MINIMUM = (
    "distance2_0", "strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz", "minimiser_heterogeneity",
)  # fmt: skip
_EPS = float(np.finfo(float).eps)
# What is off by no more than this share is called exact.
_CALLED_EXACT = 1e-10
# Variables for which a matrix is decided in rational arithmetic while a search waits.
_RATIONAL = 24


@dataclass(frozen=True)
class MinimumFacts:
    """The facts of f, from a start with u (d_u,) and v (k, d_v). ``smooth`` is L.

    Constants are None where f has personal variables, but for the distance.
    """

    problem: QuadraticObjective
    start: tuple[Array, ...]
    smooth: float

    @cached_property
    def _minimiser(self) -> tuple[Array, Array] | None:
        return self.problem.minimizer()

    @cached_property
    def _off(self) -> float:
        """The error bound of the computed minimiser."""
        assert self._minimiser is not None
        matrix, right = self.problem.joint()
        return solution_error(matrix, right, self.problem.joint_point(*self._minimiser))[0] * _EPS

    @property
    def distance2_0(self) -> Constant:
        """||u^0 - u*||^2 + (1/n) sum_i ||v_i^0 - v_i*||^2 to the minimiser of least norm, as ``distance2`` has it."""
        name = "distance2_0"
        if self._minimiser is None:
            return Constant.absent(name, self.problem.no_minimum)
        away = (start - point for start, point in zip(self.start, self._minimiser, strict=True))
        distance = math.sqrt(float(self.problem.forms.distance2(*away)))
        # What is an accusation by less than that is none.
        bound = (distance + self._off) ** 2
        if self._off <= _CALLED_EXACT * distance:
            return Constant.exact(name, bound, "distance to the minimiser by linear algebra")
        if not math.isfinite(self._off):
            return Constant.absent(name, f"{CANNOT_TELL} where the minimiser is")
        why = "distance to the minimiser, with what the solution of the linear system may be off"
        return Constant(name, bound, Certificate.UPPER_BOUND, why)

    @property
    def strong_convexity(self) -> Constant | None:
        """The least eigenvalue of the Hessian of f."""
        if self.problem.d_v:
            return None
        name, (values, off) = "strong_convexity", self._spectrum
        if values[0] > off[0]:
            return self._below(name, float(values[0]), float(off[0]), "least eigenvalue of the Hessian of f")
        why = f"the Hessian of f has the eigenvalue {values[0]:.6g}"
        if abs(values[0]) > 0 and abs(values[0]) <= off[0]:
            largest = float(np.abs(values).max())
            why = f"{CANNOT_TELL} the eigenvalue {values[0]:.3g} of the Hessian of f from 0 beside {largest:.3g}"
        return Constant.absent(name, why)

    @property
    def clients_strong_convexity(self) -> Constant | None:
        """The least eigenvalue of the clients' Hessians."""
        if self.problem.d_v:
            return None
        name, H = "clients_strong_convexity", self.problem.forms.H
        if is_diagonal(H):
            # An entry is the eigenvalue that it is.
            least, off = float(np.diagonal(H, axis1=1, axis2=2).min()), 0.0
        else:
            values = np.linalg.eigvalsh(H)
            off = 8 * H.shape[1] * _EPS * float(np.abs(values).max())
            least = float(values.min())
        if least > off:
            return self._below(name, least, off, "least eigenvalue of the clients' Hessians")
        why = f"a client's Hessian has the eigenvalue {least:.6g}"
        if abs(least) <= off > 0:
            why = f"{CANNOT_TELL} the eigenvalue {least:.3g} of a client's Hessian from 0"
        return Constant.absent(name, why)

    @property
    def polyak_lojasiewicz(self) -> Constant | None:
        """The least positive eigenvalue of the Hessian of f.

        Of a quadratic that is bounded below, ||grad f||^2 >= 2 mu (f - inf f) holds up to that eigenvalue.
        """
        if self.problem.d_v:
            return None
        name, (values, off) = "polyak_lojasiewicz", self._spectrum
        if (values < -off).any() or self._minimiser is None:
            return Constant.absent(name, self.problem.no_minimum)
        kept = np.flatnonzero(values > off)
        if not kept.size:
            return Constant.absent(name, "f has no curvature")
        k = int(kept[0])
        found = self._below(name, float(values[k]), float(off[k]), "least positive eigenvalue of the Hessian of f")
        # What is stored as 0 in a diagonal matrix is 0.
        sure = not values[:k].any() and not off[:k].any()
        if found.value <= 0 or not (sure or self._no_smaller(found.value)):
            why = f"{CANNOT_TELL} the least positive curvature of f from 0"
            return Constant.absent(name, why)
        return found

    @property
    def minimiser_heterogeneity(self) -> Constant | None:
        """((1/n) sum_i ||grad f_i(x*)||^2)^(1/2)."""
        name, curved = "minimiser_heterogeneity", self.strong_convexity
        if curved is None:
            return None
        if curved.certificate is Certificate.ABSENT:
            unsure = curved.reason.startswith(CANNOT_TELL)
            why = f"{CANNOT_TELL} whether f has one minimiser" if unsure else "f has no minimiser, or several"
            return Constant.absent(name, why)
        assert self._minimiser is not None
        value, error = self.problem.forms.gradient_root(self._minimiser[0], self._off)
        if not math.isfinite(value):
            return Constant.absent(name, f"{CANNOT_TELL} where the minimiser is")
        exact = error <= _CALLED_EXACT * value
        kind = Certificate.EXACT if exact else Certificate.UPPER_BOUND
        return Constant(name, value, kind, "gradients at the minimiser, by linear algebra")

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        return spectrum(self.problem)

    def _below(self, name: str, value: float, off: float, what: str) -> Constant:
        """An eigenvalue, rounded down by what it may be off."""
        # Where f is a multiple of ||x||^2 it may exceed L all the same.
        least = min(value - off, self.smooth)
        if off <= _CALLED_EXACT * value:
            return Constant.exact(name, least, what)
        return Constant(name, least, Certificate.LOWER_BOUND, f"{what}, rounded down by what it may be off")

    def _no_smaller(self, least: float) -> bool:
        """Whether no eigenvalue of the Hessian of f lies between 0 and ``least``, in rational arithmetic."""
        return self.problem.d <= _RATIONAL and dominates(self.problem.forms.exactly, Fraction(least))


def spectrum(problem: QuadraticObjective) -> tuple[Array, Array]:
    """The eigenvalues of the Hessian of f from the least one on, and what each of them may be off.

    Those of a diagonal matrix are its entries, each known to a share of itself.
    """
    forms, matrix = problem.forms, problem.mean()[0]
    if is_diagonal(forms.H):
        entries = np.diagonal(matrix)
        off = 0.0 if forms.n == 1 else (len(forms.g) + 4) * _EPS
        order = np.argsort(entries)
        sizes = np.tensordot(forms.each, np.abs(forms.H), axes=1).diagonal() / forms.n
        return np.asarray(entries[order], dtype=float), np.asarray(off * sizes[order], dtype=float)
    values = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
    return values, np.full(len(values), 8 * len(values) * _EPS * float(np.abs(values).max()))
