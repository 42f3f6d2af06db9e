"""Constants of a batch of quadratics, (N,) each; those that are rare are certified one by one.

Numbers are those of `ratecheck.certification` without their certificates. A constant that does not exist is infinite.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import U
from ratecheck.aliases import Array
from ratecheck.scouting.called_runs import run_of
from ratecheck.scouting.runs import Batch, BatchRun

# Relative size below which an eigenvalue counts as the zero that it is in exact arithmetic.
_ZERO = 1e-12


class ProblemBatch(ABC):
    """Problems of one kind and shape: what a scout has to know of them.

    ``H`` (N, n, d, d), ``g`` (N, n, d) are gradients H x - g where these are ``affine``, else zeros; ``start`` is
    (N, n, d), ``centre`` (N, n, d) a minimiser, NaN without one, ``lowest`` (N,) the infimum. The first ``d_u``
    variables are shared. ``called``: runs without randomness are also followed by calls of functions. ``noise`` has
    (N,) standard deviations by fact, ``parameters`` those of the method that are no step sizes, (N,) or (N, n). Facts
    that are ``visited`` are those of a run, which has records of these names (followed by _samples: of every sample);
    `fact` is the number from which on they are tried.
    """

    affine: ClassVar[bool] = True
    called: ClassVar[bool] = False
    visited: ClassVar[frozenset[str]] = frozenset()
    # What gives a constant, by name.
    _FACTS: ClassVar[Mapping[str, Callable[[Any], Array]]] = {}
    H: Array
    g: Array
    d_u: int
    start: Array
    noise: Mapping[str, Array]
    parameters: Mapping[str, Array]
    centre: Array
    lowest: Array

    @classmethod
    @abstractmethod
    def of(
        cls, problems: Sequence[Any], starts: Sequence[Mapping[str, Any]], noise: Mapping[str, Array],
        parameters: Mapping[str, Array],
    ) -> ProblemBatch:  # fmt: skip
        """The batch of these problems, from starts x0 and v0, zeros by default."""

    @property
    def n(self) -> int:
        """Clients."""
        return int(self.start.shape[1])

    def width(self, block: str) -> int:
        """Coordinates of a block."""
        return self.d_u if block == U else int(self.g.shape[2]) - self.d_u

    def fact(self, name: str) -> Array | None:
        """The constant of that name, (N,), infinite where it does not exist; None if it is certified one by one."""
        if name in self.noise:
            return self.noise[name]
        return self._FACTS[name](self) if name in self._FACTS else None

    def dimension(self) -> Array:
        """The number d of variables, (N,)."""
        return np.full(len(self.start), float(self.start.shape[2]))

    @abstractmethod
    def followed(self, batch: Batch, rows: NDArray[np.int64], read: Callable[[BatchRun], Array]) -> Array:
        """What is read of the runs of a batch on the problems in ``rows``."""


@dataclass(frozen=True)
class AffineBatch(ProblemBatch):
    """Problems that ``H`` (N, n, d, d) and ``g`` (N, n, d) say all of; see `ProblemBatch`."""

    called: ClassVar[bool] = True
    H: Array
    g: Array
    d_u: int
    start: Array
    noise: Mapping[str, Array]
    parameters: Mapping[str, Array]


def positive(values: Array, rounding: Array | float = 0.0) -> Array:
    """The numbers where they are positive, by more than ``rounding``, and infinity elsewhere."""
    return np.where(values > rounding, values, np.inf)


def infimum(values: Array, vectors: Array, r: Array, flat: Array, steep: Array) -> Array:
    """Inf over x of x'Px/2 - r'x, (N,), r being (N, d); minus infinity where that is unbounded below.

    P has these eigenvalues (N, d) and vectors (N, d, d). Eigenvalues up to ``flat`` (N, 1) count as 0, and so does r
    along an eigenvector up to ``steep`` (N, 1).
    """
    along = np.einsum("bij,bi->bj", vectors, r)
    level = np.abs(values) <= flat
    exists = ~((values < 0) & ~level).any(axis=1) & ~(level & (np.abs(along) > steep)).any(axis=1)
    least = -np.where(level, 0.0, along**2 / np.where(level, 1.0, values)).sum(axis=1) / 2
    return np.where(exists, least, -np.inf)


@dataclass(frozen=True)
class QuadraticBatch(AffineBatch):
    """Quadratics f_i(w) = w' H_i w/2 - g_i' w: H (N, n, d, d), g (N, n, d), of which ``d_u`` variables are shared."""

    @classmethod
    def of(
        cls, problems: Sequence[Any], starts: Sequence[Mapping[str, Any]], noise: Mapping[str, Array],
        parameters: Mapping[str, Array],
    ) -> QuadraticBatch:  # fmt: skip
        H, g = (np.array([getattr(each, name) for each in problems]) for name in ("H", "g"))
        d_u, start = problems[0].d_u, np.zeros_like(g)
        for k, own in enumerate(starts):
            for name, value in own.items():
                start[k, :, slice(0, d_u) if name == "x0" else slice(d_u, None)] = np.asarray(value, dtype=float)
        return cls(H, g, d_u, start, noise, parameters)

    def followed(self, batch: Batch, rows: NDArray[np.int64], read: Callable[[BatchRun], Array]) -> Array:
        return read(run_of(batch))

    @cached_property
    def gradient(self) -> Array:
        """The gradients at the start, (N, n, d)."""
        return np.einsum("bnij,bnj->bni", self.H, self.start) - self.g

    @cached_property
    def _joint(self) -> tuple[Array, Array]:
        """Hessian and linear term of n f in (u, v_1, ..., v_n)."""
        N, n, d = self.g.shape
        d_u, d_v = self.d_u, d - self.d_u
        H, g = np.zeros((N, d_u + n * d_v, d_u + n * d_v)), np.zeros((N, d_u + n * d_v))
        H[:, :d_u, :d_u], g[:, :d_u] = self.H[:, :, :d_u, :d_u].sum(axis=1), self.g[:, :, :d_u].sum(axis=1)
        for i in range(n if d_v else 0):
            here = slice(d_u + i * d_v, d_u + (i + 1) * d_v)
            H[:, here, here], g[:, here] = self.H[:, i, d_u:, d_u:], self.g[:, i, d_u:]
            H[:, :d_u, here] = self.H[:, i, :d_u, d_u:]
            H[:, here, :d_u] = self.H[:, i, d_u:, :d_u]
        return H, g

    @cached_property
    def _solved(self) -> tuple[Array, NDArray[np.bool_]]:
        """The minimiser of least norm of n f, and whether there is one."""
        H, g = self._joint
        values, vectors = np.linalg.eigh(H)
        size = np.abs(values).max(axis=1, keepdims=True)
        along = np.einsum("bij,bi->bj", vectors, g)
        flat = np.abs(values) <= 8 * H.shape[1] * np.finfo(float).eps * size
        steep = np.abs(along) > _ZERO * np.abs(g).max(axis=1, keepdims=True)
        exists = np.asarray(((values >= 0) | flat).all(axis=1) & ~(flat & steep).any(axis=1))
        with np.errstate(all="ignore"):
            point = np.where(flat, 0.0, along / np.where(flat, 1.0, values))
        return np.einsum("bij,bj->bi", vectors, point), exists

    @cached_property
    def centre(self) -> Array:  # type: ignore[override]  # computed when needed
        """A minimiser as points of the clients, (N, n, d); NaN where there is none."""
        N, n, d = self.g.shape
        point, exists = self._solved
        d_v = d - self.d_u
        found = np.empty((N, n, d))
        found[:, :, : self.d_u] = point[:, None, : self.d_u]
        found[:, :, self.d_u :] = point[:, self.d_u :].reshape(N, n, d_v)
        found[~exists] = np.nan
        return found

    @cached_property
    def lowest(self) -> Array:  # type: ignore[override]  # computed when needed
        """Inf f, (N,); minus infinity where f is unbounded below."""
        point, exists = self._solved
        return np.where(exists, -np.einsum("bi,bi->b", self._joint[1], point) / (2 * self.n), -np.inf)

    def _gap(self) -> Array:
        """f(x^0) - inf f = mean_i (x^0 - x*)' H_i (x^0 - x*)/2."""
        away = self.start - self.centre
        gap = np.einsum("bni,bnij,bnj->b", away, self.H, away) / (2 * self.n)
        return np.where(self._at_rest, 0.0, np.where(np.isnan(gap), np.inf, np.maximum(gap, 0.0)))

    @cached_property
    def _at_rest(self) -> NDArray[np.bool_]:
        """Whether grad f(x^0) is 0 but for rounding, (N,)."""
        size = np.einsum("bnij,bnj->bni", np.abs(self.H), np.abs(self.start)) + np.abs(self.g)
        shared = np.abs(self.gradient[:, :, : self.d_u].sum(axis=1)) <= _ZERO * size[:, :, : self.d_u].sum(axis=1)
        own = np.abs(self.gradient[:, :, self.d_u :]) <= _ZERO * size[:, :, self.d_u :]
        return np.asarray(shared.all(axis=1) & own.all(axis=(1, 2)))

    @cached_property
    def _mean_spectrum(self) -> Array:
        """The eigenvalues of the mean of H_i, ascending, (N, d)."""
        return np.linalg.eigvalsh(self.H.mean(axis=1))

    def _smoothness(self) -> Array:
        """L, the largest spectral norm of a client's blocks of its Hessian: shared, mixed, personal."""
        d_u = self.d_u
        parts = [self.H[:, :, :d_u, :d_u], self.H[:, :, :d_u, d_u:], self.H[:, :, d_u:, d_u:]]
        norms = [np.linalg.norm(part, 2, axis=(2, 3)).max(axis=1) for part in parts if 0 not in part.shape]
        return np.asarray(np.max(norms, axis=0))

    def _dissimilarity(self) -> Array:
        """The b with b^2 = mean_i |g_i - mean_j g_j|^2, where the shared rows of all H_i are one and uncoupled."""
        d_u = self.d_u
        common = np.abs(self.H[:, :, :d_u] - self.H[:, :1, :d_u])[:, :, :, :d_u].max(axis=(1, 2, 3), initial=0.0)
        coupled = np.abs(self.H[:, :, :d_u, d_u:]).max(axis=(1, 2, 3), initial=0.0)
        size = np.abs(self.H[:, :, :d_u]).max(axis=(1, 2, 3), initial=1e-300)
        slopes = self.g[:, :, :d_u]
        apart = np.sum((slopes - slopes.mean(axis=1, keepdims=True)) ** 2, axis=2).mean(axis=1)
        exists = (common <= _ZERO * size) & (coupled <= _ZERO * size) if self.n > 1 else np.ones(len(size), dtype=bool)
        return np.where(exists, np.sqrt(apart), np.inf)

    def _start_gradients(self) -> Array:
        """sum_i |grad_u f_i(x^0)|^2."""
        return np.asarray(np.sum(self.gradient[:, :, : self.d_u] ** 2, axis=(1, 2)))

    def _distance(self) -> Array:
        """|u^0 - u*|^2 + mean_i |v_i^0 - v_i*|^2 with the minimiser of least norm."""
        away = self.start - self.centre
        own = np.sum(away[:, 0, : self.d_u] ** 2, axis=1) + np.sum(away[:, :, self.d_u :] ** 2, axis=(1, 2)) / self.n
        return np.where(np.isnan(own), np.inf, np.where(self._at_rest, 0.0, own))

    def _least_curvature(self) -> Array:
        """The least eigenvalue of the mean of H_i, where it is positive."""
        values = self._mean_spectrum
        return positive(values[:, 0], 8 * values.shape[1] * np.finfo(float).eps * np.abs(values[:, -1]))

    def _least_of_clients(self) -> Array:
        """The least eigenvalue of any H_i, where it is positive."""
        return positive(np.linalg.eigvalsh(self.H).min(axis=(1, 2)))

    def _lojasiewicz(self) -> Array:
        """The least positive eigenvalue of the mean of H_i, where f has a minimum."""
        values = self._mean_spectrum
        size = np.abs(values).max(axis=1, keepdims=True)
        least = positive(values, 8 * values.shape[1] * np.finfo(float).eps * size).min(axis=1)
        return np.where(self._solved[1], least, np.inf)

    def _at_minimiser(self) -> Array:
        """b_*, the root of the mean of |grad f_i(x*)|^2, where x* is the only minimiser."""
        there = np.einsum("bnij,bnj->bni", self.H, self.centre) - self.g
        found = np.sqrt(np.sum(there**2, axis=2).mean(axis=1))
        return np.where(np.isfinite(self._least_curvature()), found, np.inf)

    def _weights(self) -> Array:
        """The clients' weights alpha_i, (N, n)."""
        given = self.parameters.get("alpha", np.full(len(self.g), 1 / self.n))
        return np.broadcast_to(given if given.ndim == 2 else given[:, None], (len(self.g), self.n))

    def _least_inner(self) -> Array:
        """The least alpha_i (lambda - ell), ell being the modulus of weak convexity."""
        weak = np.maximum(-np.linalg.eigvalsh(self.H).min(axis=(1, 2)), 0.0)
        return np.asarray(self._weights().min(axis=1) * (self.parameters["lambda_"] - weak))

    def _lagrangian_gap(self) -> Array:
        """sum_i alpha_i f_i at the start, less the least sum_i alpha_i F_i of the envelopes."""
        alpha, d = self._weights(), self.g.shape[2]
        shift = self.parameters["lambda_"][:, None, None, None]
        inverse = np.linalg.pinv(self.H + shift * np.eye(d), hermitian=True)
        point = np.einsum("bnij,bnj->bni", inverse, self.g)
        whole = np.einsum("bn,bnij->bij", alpha, shift * (self.H @ inverse))
        slope = np.einsum("bn,bni->bi", alpha, shift[..., 0] * point)
        offset = -np.einsum("bn,bni,bni->b", alpha, self.g, point) / 2
        values, vectors = np.linalg.eigh((whole + np.swapaxes(whole, 1, 2)) / 2)
        flat = 1e-12 * np.abs(values).max(axis=1, keepdims=True)
        steep = 1e-9 * np.abs(slope).max(axis=1, keepdims=True)
        lowest = offset + infimum(values, vectors, slope, flat, steep)
        value = np.einsum("bni,bnij,bnj->bn", self.start, self.H, self.start) / 2
        start = np.einsum("bn,bn->b", alpha, value - np.einsum("bni,bni->bn", self.g, self.start))
        weak = np.linalg.eigvalsh(self.H).min(axis=(1, 2)) + self.parameters["lambda_"] > 0
        return np.where(weak, np.maximum(start - lowest, 0.0), np.inf)

    def _mean_start_gradients(self) -> Array:
        """The mean of |grad_u f_i(x^0)|^2 over the clients."""
        return self._start_gradients() / self.n

    def _inner_error(self) -> Array:
        """Zeros: inner problems are solved exactly."""
        return np.zeros(len(self.g))

    _OF_ENVELOPES: ClassVar[Mapping[str, Callable[[Any], Array]]] = {
        "inner_convexity": _least_inner,
        "lagrangian_gap": _lagrangian_gap,
    }
    _FACTS: ClassVar[Mapping[str, Callable[[Any], Array]]] = {
        "L": _smoothness,
        "F_0": _gap,
        "b": _dissimilarity,
        "B_0": _start_gradients,
        "mean_B_0": _mean_start_gradients,
        "distance2_0": _distance,
        "strong_convexity": _least_curvature,
        "clients_strong_convexity": _least_of_clients,
        "polyak_lojasiewicz": _lojasiewicz,
        "minimiser_heterogeneity": _at_minimiser,
        "inner_error": _inner_error,
        "dimension": ProblemBatch.dimension,
    }
    # Of the minimum in all variables; with personal ones they are certified one by one.
    _OF_SHARED: ClassVar[frozenset[str]] = frozenset(
        {"strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz", "minimiser_heterogeneity"}
    )

    def fact(self, name: str) -> Array | None:
        if name in self._OF_ENVELOPES and "lambda_" in self.parameters:
            return self._OF_ENVELOPES[name](self)
        if self.d_u < self.H.shape[2] and name in self._OF_SHARED:
            return None
        return super().fact(name)
