"""Bounds of the clients' gradients of quadratics at every point: G, the pair (G, B), a common minimiser.

Quadratics f_i(x) = x'H_i x/2 - g_i'x of shared variables, of which ``counts[i]`` clients have each. Other problems say
it themselves (`ratecheck.problems.problem.Problem.of_gradients`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.linear_algebra import Entries, rationals, semidefinite, solve
from ratecheck.aliases import Array
from ratecheck.problems import Constant
from ratecheck.problems.constants import CANNOT_TELL
from ratecheck.problems.matrices import is_diagonal
from ratecheck.problems.quadratic_functions import Forms

# Operations on rationals, n d^3, that are made while a search waits, and entries of diagonal matrices.
_RATIONAL, _ENTRIES = 200_000, 100_000
# What a constant that an eigenvalue gives is moved by, so that a matrix at the edge becomes semidefinite.
_MARGIN = 1e-9
# Gradients that are larger than this share of what they are made of are not 0 by rounding.
_APART = 1e-9
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class GradientFacts:
    """The facts of quadratics, of which a client's variables count as one vector."""

    forms: Forms

    @property
    def bound(self) -> Constant:
        """G with ||grad f_i|| <= G everywhere, which linear functions have alone."""
        if self.forms.H.any():
            why = "gradients of a curved quadratic have no bound; visited_gradients bounds those of a run"
            return Constant.absent("gradient_bound", why)
        largest = float(np.linalg.norm(self.forms.g, axis=1).max()) * (1 + 8 * _EPS)
        return Constant.exact("gradient_bound", largest, "linear functions")

    # --- A common minimiser ---

    @property
    def interpolation(self) -> Constant:
        """0 where one point minimises every f_i, decided in rationals."""
        name = "interpolation"
        if float(np.linalg.eigvalsh(self.forms.H)[:, 0].min()) < -_APART * float(np.abs(self.forms.H).max(initial=0.0)):
            return Constant.absent(name, "a client is not convex: it has no minimiser")
        x = np.linalg.lstsq(self.forms.H.reshape(-1, self.forms.H.shape[2]), self.forms.g.ravel(), rcond=None)[0]
        left = np.linalg.norm(self.forms.H @ x - self.forms.g, axis=1)
        size = float(np.abs(self.forms.H).max(initial=0.0) * np.linalg.norm(x) + np.abs(self.forms.g).max(initial=0.0))
        if (worst := float(left.max())) > _APART * size:
            why = f"at the point where they are smallest together a client has a gradient of {worst:.3g}"
            return Constant.absent(name, why)
        shared = self._shared_minimiser()
        if shared is None:
            why = f"{CANNOT_TELL} whether all clients have a minimiser in common, and there are too many for rationals"
            return Constant.absent(name, why)
        if not shared:
            why = "the clients' minimisers agree up to rounding only: numbers such as 0, 1 or 1/2 make them one point"
            return Constant.absent(name, why)
        return Constant.exact(name, 0.0, "one point where every client's gradient is 0, in rationals")

    def _shared_minimiser(self) -> bool | None:
        """Whether a point solves H_i x = g_i for all i, and no H_i is indefinite; None where that costs too much."""
        k, d = self.forms.g.shape
        if is_diagonal(self.forms.H):
            if k * d > _ENTRIES:
                return None
            diagonals = rationals(np.diagonal(self.forms.H, axis1=1, axis2=2))
            return all(_meet(h, g) for h, g in zip(diagonals.T, rationals(self.forms.g).T, strict=True))
        if k * d**3 > _RATIONAL:
            return None
        H, g = self.forms.exactly.H, self.forms.exactly.g
        if not all(semidefinite(each) for each in H):
            return False
        rows = ({**dict(enumerate(row)), d: right} for own, slope in zip(H, g, strict=True)
                for row, right in zip(own, slope, strict=True))  # fmt: skip
        return solve(rows, d) is not None

    # --- The pair (G, B) ---

    @cached_property
    def pair(self) -> tuple[float, float] | str:
        """(G, B) with (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2 everywhere, or why there is none.

        With A = (1/n) sum_i H_i, S = (1/n) sum_i H_i^2, e_i = grad f_i at a minimiser and c = (1/n) sum_i H_i e_i the
        right side minus the left one is G^2 - (1/n) sum_i ||e_i||^2 - 2 c'y + y'(B^2 A^2 - S) y. B^2 has to exceed the
        largest eigenvalue of A^-1 S A^-1 where c is not 0; twice that is taken, and the least G for it. No number is
        believed: the form is shown to be nonnegative, as a matrix in (y, 1).
        """
        tried = tuple(self._candidates())
        if not tried:
            return "the clients have curvature along a direction in which f has none"
        found = next((each for each in tried if self._dominates(*each)), None)
        return f"{CANNOT_TELL} whether a pair (G, B) near {tried[-1]} holds everywhere" if found is None else found

    @property
    def in_rationals(self) -> bool:
        """Whether `pair` is decided in rationals."""
        k, d = self.forms.g.shape
        return bool(k * d**3 <= _RATIONAL)

    def _mean(self, values: Array) -> Array:
        return np.asarray(np.tensordot(self.forms.each, values, axes=1) / self.forms.n)

    def _candidates(self) -> Iterator[tuple[float, float]]:
        A, S = self._mean(self.forms.H), self._mean(self.forms.H @ self.forms.H)
        values, vectors = np.linalg.eigh(A)
        kept = np.abs(values) > _APART * float(np.abs(values).max(initial=0.0))
        across = vectors[:, ~kept]
        if float(np.abs(across.T @ S @ across).max(initial=0.0)) > _APART * float(np.abs(S).max(initial=0.0)):
            return
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        least = float(np.linalg.eigvalsh(inverse @ S @ inverse).max(initial=1.0))
        e = self.forms.H @ (inverse @ self._mean(self.forms.g)) - self.forms.g
        apart = self._mean(np.sum(e**2, axis=1)) - float(np.sum(self._mean(e) ** 2))
        tight = math.sqrt(least) * (1 + _MARGIN)
        # Where all share a minimiser, or what is left at it is orthogonal to the curvatures.
        yield 0.0, tight
        yield math.sqrt(max(float(apart), 0.0)) * (1 + _MARGIN), tight
        B2 = 2 * least
        c = self._mean(np.einsum("kab,kb->ka", self.forms.H, e))
        more = float(c @ np.linalg.pinv(B2 * A @ A - S, rcond=_APART, hermitian=True) @ c)
        mean2 = float(np.sum(self._mean(e) ** 2))
        G2 = self._mean(np.sum(e**2, axis=1)) - B2 * mean2 + more
        for margin in (_MARGIN, 1e-6, 1e-3):
            yield math.sqrt(max(float(G2), 0.0)) * (1 + margin), math.sqrt(B2) * (1 + margin)

    def _dominates(self, G: float, B: float) -> bool:
        """Whether G^2 + B^2 ||grad f||^2 - (1/n) sum_i ||grad f_i||^2 is nonnegative everywhere, for certain."""
        if self.in_rationals:
            return semidefinite(self._form(self.forms.exactly, Fraction(G), Fraction(B)))
        size = G**2 + (B**2 + 1) * float(
            self._mean(np.sum(self.forms.H**2, axis=(1, 2)) + np.sum(self.forms.g**2, axis=1))
        )
        return bool(np.linalg.eigvalsh(self._form(self.forms, G, B))[0] > 16 * sum(self.forms.g.shape) * _EPS * size)

    def _form(self, forms: Forms, G: Any, B: Any) -> NDArray[Any]:
        """The quadratic form in (x, 1) as a matrix."""
        rows = np.concatenate([forms.H, -forms.g[:, :, None]], axis=2)
        mean = self._mean(rows)
        form = B**2 * mean.T @ mean - self._mean(np.swapaxes(rows, 1, 2) @ rows)
        form[-1, -1] += G**2
        return np.asarray(form)


def dominates(forms: Forms, value: Fraction) -> bool:
    """Whether f is convex and no eigenvalue of its Hessian lies between 0 and the value, of forms over the rationals.

    Where f has a minimum, ||grad f||^2 >= 2 value (f - inf f) then.
    """
    whole = np.tensordot(forms.each, forms.H, axes=1)
    return semidefinite(whole) and semidefinite(whole.dot(whole) - value * forms.n * whole)


def _meet(h: Entries, g: Entries) -> bool:
    """Whether h_i x = g_i has a solution for all i together, and no h_i is negative."""
    if any(each < 0 for each in h) or any(not a and b for a, b in zip(h, g, strict=True)):
        return False
    return len({Fraction(b) / a for a, b in zip(h, g, strict=True) if a}) <= 1
