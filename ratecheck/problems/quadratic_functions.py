"""Quadratic functions of n clients, as linear algebra: their mean, its minimum and its gradients."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.printing.notation import Notation
from ratecheck.algebra.linear_algebra import minimum, rationals, semidefinite
from ratecheck.aliases import Array
from ratecheck.problems.constants import CANNOT_TELL, Certificate, Constant
from ratecheck.problems.matrices import (
    condition_number,
    in_range,
    is_diagonal,
    largest_norm,
    least_solution,
    pseudo_inverse,
    rounded_mean,
)
from ratecheck.problems.sentence import functions, quadratic

# Floats, or rationals as objects.
Numbers = NDArray[Any]
# Relative size below which an eigenvalue or a residual counts as the zero that it is in exact arithmetic.
_ZERO = 1e-12
_EPS = float(np.finfo(float).eps)
# Variables of a Hessian up to which it is looked at in rationals.
_RATIONAL = 24
# What is off by no more than this share is called exact.
_CALLED_EXACT = 1e-10
UNBOUNDED = "f is unbounded below"


@dataclass(frozen=True)
class Forms:
    """Functions f_i(w) = w'H_i w/2 - g_i'w of w = (u, v_i), u being the first ``d_u`` of the d coordinates.

    ``H`` (k, d, d) and ``g`` (k, d) are arrays of floats or of rationals, and so are the points at which the functions
    are evaluated. ``counts`` (k,) says how many clients have each function; None: one each. Where H is not symmetric,
    H_i w - g_i is an operator that is no gradient, and there are no values.
    """

    H: Numbers
    g: Numbers
    d_u: int
    counts: NDArray[np.int64] | None = None

    @cached_property
    def exactly(self) -> Forms:
        """The functions over the rationals that the floats are."""
        return replace(self, H=rationals(self.H), g=rationals(self.g))

    @cached_property
    def each(self) -> NDArray[np.int64]:
        """The number of clients with each function, (k,)."""
        return np.ones(len(self.g), dtype=np.int64) if self.counts is None else self.counts

    @property
    def n(self) -> int:
        """The number of clients."""
        return int(self.each.sum())

    def mean(self, values: Numbers) -> Any:
        """The mean over the clients of values (k, ...)."""
        if values.dtype == object:
            return np.tensordot(self.each, values, axes=1) / Fraction(self.n)
        return values.mean(axis=0) if self.counts is None else rounded_mean(values, self.counts)

    def blocks(self) -> tuple[Numbers, Numbers, Numbers]:
        """H_uu (k, d_u, d_u), H_uv (k, d_u, d_v) and H_vv (k, d_v, d_v)."""
        u, v = slice(None, self.d_u), slice(self.d_u, None)
        return self.H[:, u, u], self.H[:, u, v], self.H[:, v, v]

    def points(self, u: Numbers, v: Numbers) -> Numbers:
        """The points w of all functions, (k, d), at u (d_u,) and v (k, d_v)."""
        return np.concatenate([np.broadcast_to(u, (len(self.g), self.d_u)), v], axis=1)

    def gradients(self, w: Numbers) -> Numbers:
        """H_i w_i - g_i at points w (k, d), (k, d)."""
        return np.asarray(np.einsum("iab,ib->ia", self.H, w) - self.g)

    def gradient_root(self, point: Numbers, off: float) -> tuple[float, float]:
        """((1/n) sum_i ||H_i w - g_i||^2)^(1/2) at one point w (d,) for all, rounded up, and the error of a gradient.

        ``off`` is how far the point, in floats, may be from the one that is meant.
        """
        gradients = self.H @ point - self.g
        # What each gradient may be off: where the point is, and the rounding of products and sums.
        sizes = np.linalg.norm(self.H, 2, axis=(1, 2))
        terms = sizes * float(np.linalg.norm(point)) + np.linalg.norm(self.g, axis=1)
        errors = sizes * off + 4 * (self.g.shape[1] + 2) ** 1.5 * _EPS * terms
        norms = np.linalg.norm(gradients, axis=1) + errors
        return math.sqrt(float(self.each @ norms**2) / self.n) * (1 + 8 * _EPS), float(errors.max())

    def values(self, w: Numbers) -> Numbers:
        """f_i(w_i) at points w (k, d), (k,)."""
        return np.asarray(np.einsum("ia,iab,ib->i", w, self.H, w) / 2 - np.einsum("ia,ia->i", self.g, w))

    def joint(self) -> tuple[Numbers, Numbers]:
        """Hessian and linear term of sum_i f_i, one function per client, in (u, v_1, ..., v_k)."""
        k, d = self.g.shape
        d_u, d_v = self.d_u, d - self.d_u
        size = d_u + k * d_v
        joint, slope = np.zeros((size, size), self.H.dtype), np.zeros(size, self.g.dtype)
        for i in range(k):
            at = np.concatenate([np.arange(d_u), d_u + i * d_v + np.arange(d_v)])
            joint[np.ix_(at, at)] += self.H[i]
            slope[at] += self.g[i]
        return joint, slope

    def distance2(self, u: Numbers, v: Numbers) -> Any:
        """||u||^2 + (1/n) sum_i ||v_i||^2 of what lies between two points, u (d_u,) and v (k, d_v)."""
        return np.sum(u**2) + (self.each @ np.sum(v**2, axis=1) / self.n if v.size else 0)

    def dissimilarity2(self, vanishes: Callable[[Numbers], bool]) -> Any:
        """The largest (1/n) sum_i ||grad_u f_i - grad_u f||^2 at any point, or in words why there is none.

        ``vanishes`` says whether matrices (k, a, b) are 0, up to rounding where they are floats.
        """
        H_uu, H_uv, _ = self.blocks()
        if self.n > 1 and not vanishes(H_uv):
            return "coupling H_uv makes the dissimilarity unbounded"
        if not vanishes(H_uu - self.mean(H_uu)):
            return "different H_uu,i make the dissimilarity unbounded"
        g_u = self.g[:, : self.d_u]
        # The mean of equal floats may differ from them in the last digit.
        deviation = g_u - (g_u if (g_u == g_u[:1]).all() else self.mean(g_u))
        return self.mean(np.sum(deviation**2, axis=1))


class QuadraticObjective(ABC):
    """A quadratic objective f = (1/n) sum_i f_i of (u, v_1, ..., v_n), whose minimum is known by linear algebra.

    Rows stand for one client each, or for several that are alike: there are ``distinct`` rows v (distinct, d_v).
    """

    n: int
    d: int
    d_u: int
    d_v: int

    @property
    @abstractmethod
    def distinct(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def forms(self) -> Forms:
        """The f_i in floats, and ``exactly`` in rationals."""

    @abstractmethod
    def mean(self) -> tuple[Array, Array]:
        """The means over the clients of the H_i (d, d) and of the g_i (d,)."""

    @abstractmethod
    def joint(self) -> tuple[Array, Array]:
        """Hessian and linear term of n*f in (u, sqrt(clients of row r) v_r)."""

    @abstractmethod
    def joint_point(self, u: Array, v: Array) -> Array:
        """A point u (d_u,), v (distinct, d_v) in the coordinates of `joint`."""

    @abstractmethod
    def minimizer(self) -> tuple[Array, Array] | None:
        """(u, v) of least norm at which f attains its infimum; None where f is unbounded below."""

    @abstractmethod
    def infimum(self) -> float:
        """Inf f, or -inf where f is unbounded below."""

    @property
    @abstractmethod
    def no_minimum(self) -> str:
        """Why there is no infimum: f is unbounded below, or float64 cannot tell."""


class QuadraticFunctions(QuadraticObjective):
    """Functions ``f_i(w) = w'H_i w/2 - g_i'w`` in ``w = (u, v_i)``, ``H`` (n, d, d) and ``g`` (n, d).

    The first ``d_u`` of the d coordinates are u, the same for all clients.
    """

    H: Array
    g: Array

    @abstractmethod
    def on_line(self, direction: Array) -> Any:
        """The problem on the multiples t of a direction v, f_i(tv), with t as its one variable."""

    @property
    def distinct(self) -> int:
        """One row per client."""
        return self.n

    @property
    def forms(self) -> Forms:
        return Forms(self.H, self.g, self.d_u)

    def mean(self) -> tuple[Array, Array]:
        """The means of the H_i (d, d) and of the g_i (d,)."""
        return rounded_mean(self.H), rounded_mean(self.g)

    def joint_point(self, u: Array, v: Array) -> Array:
        """A point u (d_u,), v (n, d_v) in the coordinates of `joint`."""
        return np.concatenate([u, v.ravel()])

    def joint(self) -> tuple[Array, Array]:
        """Hessian and linear term of n*f in (u, v_1, ..., v_n)."""
        n, d_u = self.n, self.d_u
        joint, slope = self.forms.joint()
        H, g = self.mean()
        joint[:d_u, :d_u], slope[:d_u] = n * H[:d_u, :d_u], n * g[:d_u]
        return joint, slope

    def blocks(self) -> tuple[Array, Array, Array]:
        """H_uu (n, d_u, d_u), H_uv (n, d_u, d_v) and H_vv (n, d_v, d_v)."""
        return self.forms.blocks()

    def gradients(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Partial gradients of every f_i at u (d_u,) and v (n, d_v): arrays (n, d_u) and (n, d_v)."""
        gradient = self.forms.gradients(self.forms.points(u, v))
        return gradient[:, : self.d_u], gradient[:, self.d_u :]

    def value(self, u: Array, v: Array) -> float:
        """f(u, v) = (1/n) sum_i f_i(u, v_i)."""
        return float(np.mean(self.forms.values(self.forms.points(u, v))))

    def minimizer(self) -> tuple[Array, Array] | None:
        """(u, v) of least norm at which f attains its infimum, v of shape (n, d_v); None where f is unbounded below."""
        if math.isinf(self.infimum()):
            return None
        joint, slope = self.joint()
        point = least_solution(joint, slope)
        return point[: self.d_u], point[self.d_u :].reshape(self.n, self.d_v)

    def infimum(self) -> float:
        """Inf f, or -inf where f is unbounded below; by eliminating every v_i and then u.

        Where H is so badly conditioned that fewer than 12 digits are right, the infimum is rounded down by what it may
        be off, so that no gap is too small. Minus infinity, too, where nothing is left of it. Where no coordinates are
        coupled, each has the curvature that is stored, however different they are.
        """
        if is_diagonal(self.H):
            return self._infimum_by_coordinate()
        return self._infimum_by_elimination()[0]

    def _infimum_by_coordinate(self) -> float:
        joint, slope = self.joint()
        values = np.diagonal(joint)
        # Clients' entries of both signs cancel up to rounding; those of one sign do not.
        size = np.abs(self.H).sum(axis=0).diagonal()[: self.d_u]
        cut = np.concatenate([np.where(values[: self.d_u] == size, 0.0, self.n * _EPS * size), 0 * values[self.d_u :]])
        flat = np.abs(values) <= cut
        steep = _ZERO * float(np.abs(self.g).max(initial=0.0)) * self.n
        if (values < -cut).any() or (np.abs(slope[flat]) > steep).any():
            return -math.inf
        with np.errstate(all="ignore"):
            parts = np.where(flat, 0.0, slope * (slope / np.where(flat, 1.0, values))) / 2
        return -math.fsum(parts) / self.n if np.isfinite(parts).all() else -math.inf

    @property
    def no_minimum(self) -> str:
        joint, slope = self.joint()
        values = np.linalg.eigvalsh(joint)
        largest = float(np.abs(values).max(initial=0.0))
        below = bool(len(values)) and values[0] < -8 * len(values) * _EPS * largest
        if below or is_diagonal(self.H) or self._is_singular(joint, slope):
            return UNBOUNDED
        return f"{CANNOT_TELL} whether f is bounded below: {values[0]:.3g} beside {largest:.3g} may be 0"

    @staticmethod
    def _is_singular(joint: Array, slope: Array) -> bool:
        """Whether the Hessian has the eigenvalue 0 in rationals and f a slope along it."""
        if len(joint) > _RATIONAL:
            return False
        exact = rationals(joint)
        return semidefinite(exact) and minimum(exact, rationals(slope)) is None

    def _infimum_by_elimination(self) -> tuple[float, bool]:
        """Inf f by eliminating every v_i and then u, and whether ten digits of it are right."""
        H_uu, H_uv, H_vv = self.blocks()
        curvature, slope = rounded_mean(H_uu), rounded_mean(self.g[:, : self.d_u])
        lowest: Any = 0.0
        inner = 1.0
        size, slope_size = largest_norm(H_uu), float(np.abs(self.g).max(initial=0.0))
        for i in range(self.n):
            g_v = self.g[i, self.d_u :]
            cut = 4 * self.d * _EPS * largest_norm(H_vv[i : i + 1])
            inverse = pseudo_inverse(H_vv[i], cut)
            columns = np.column_stack([g_v, H_uv[i].T])
            if inverse is None or not in_range(H_vv[i], cut, columns, np.abs(columns).max(axis=0, initial=0.0)):
                return -math.inf, False
            curvature = curvature - H_uv[i] @ inverse @ H_uv[i].T / self.n
            slope = slope - H_uv[i] @ inverse @ g_v / self.n
            lowest -= g_v @ inverse @ g_v / (2 * self.n)
            inner = max(inner, condition_number(H_vv[i], cut))
        # Elimination subtracts; without coupling there is nothing to subtract.
        share = max(_ZERO, 4 * self.d * _EPS * inner) if H_uv.any() else 4 * self.d * _EPS
        inverse = pseudo_inverse(curvature, share * size)
        if inverse is None or not in_range(curvature, share * size, slope[:, None], np.array([slope_size])):
            return -math.inf, False
        outer = condition_number(curvature, share * size)
        lowest -= slope @ inverse @ slope / 2
        lost = 8 * self.d * _EPS * (inner * outer if H_uv.any() else max(inner, outer))
        if not math.isfinite(lowest):
            return -math.inf, False
        if lost <= _ZERO:
            return float(lowest), True
        return (float(lowest * (1 + lost)) if lost < 1 else -math.inf), lost <= _CALLED_EXACT

    def gap_from(self, value: float, share: float) -> Constant:
        """F_0 = value - share * inf f."""
        gap = value - share * self.infimum()
        if not math.isfinite(gap):
            return Constant.absent("F_0", self.no_minimum)
        if is_diagonal(self.H) or self._infimum_by_elimination()[1]:
            return Constant.exact("F_0", max(gap, 0.0), "minimum by linear algebra")
        why = "minimum by linear algebra, rounded down by what it may be off"
        return Constant("F_0", max(gap, 0.0), Certificate.UPPER_BOUND, why)

    @property
    def least_curvature(self) -> float:
        """The least eigenvalue of an H_i; 0 where it is below 0 by rounding alone."""
        values = np.linalg.eigvalsh(self.H)
        least = float(values.min())
        return 0.0 if -_ZERO * float(np.abs(values).max()) <= least < 0 else least

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`."""
        return functions("f", *self.formulas(notation), notation)

    def formulas(self, notation: Notation) -> tuple[list[str], list[str]]:
        """The names of the variables, and the function of every client as a formula."""
        # A single block is x, whatever the paper calls it.
        blocks = ("u", "v") if self.d_u and self.d_v else ("x", "x")
        names = [*notation.names(blocks[0], self.d_u), *notation.names(blocks[1], self.d_v)]
        return names, [quadratic(H, g, names, notation) for H, g in zip(self.H, self.g, strict=True)]


def certified_dissimilarity(forms: Forms) -> Constant:
    """The dissimilarity b in floats."""
    H_uu, H_uv, _ = forms.blocks()
    scale = _ZERO * max(largest_norm(H_uu), largest_norm(H_uv), 1e-300)
    found = forms.dissimilarity2(lambda matrices: largest_norm(matrices) <= scale)
    if isinstance(found, str):
        return Constant.absent("b", found)
    b, g_u = math.sqrt(float(found)), forms.g[:, : forms.d_u]
    size = float(np.linalg.norm(np.abs(g_u).max(axis=0))) if g_u.size else 0.0
    if 0.0 < b < size / 10:
        # Small differences of large numbers carry the rounding of these, which is covered from above.
        b += (len(g_u) + (2 if forms.counts is None else 4)) * _EPS * size
    return Constant.exact("b", b, "spread of the linear terms; common H_uu, no coupling")
