"""Quadratic functions over a number type: the formulas that are the same in floats and in rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.linear_algebra import rationals
from ratecheck.problems.matrices import rounded_mean

# Floats, or rationals as objects.
Numbers = NDArray[Any]
_EPS = float(np.finfo(float).eps)


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
        return self.mean(np.sum((g_u - self.mean(g_u)) ** 2, axis=1))
