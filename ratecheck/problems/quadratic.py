"""Quadratic problems, whose constants are exact linear algebra."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, floats, nonnegative, whole, within
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.matrices import largest_norm, spd, spread, symmetric, unit
from ratecheck.problems.npz import npz_arrays
from ratecheck.problems.problem import SingleLevel, WrittenProblem, affine_oracle
from ratecheck.problems.quadratic_functions import QuadraticFunctions, certified_dissimilarity
from ratecheck.problems.two_level.inner import InnerProblem, curvature, smoothness

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

_EPS = float(np.finfo(float).eps)
# Beyond it squares of gradients, which the constants contain, could leave the range of a float.
_LARGEST_START = 1e100


class Quadratic(QuadraticFunctions, SingleLevel):
    """n quadratics ``f_i(w) = w'H_i w/2 - g_i'w`` in ``w = (u, v_i)``, the first ``shared`` coordinates being u.

    ``H`` has shape (n, d, d) and is symmetric, ``g`` has shape (n, d). Raises `InputError` for other shapes, NaN or
    infinity, an asymmetric H_i, or ``shared`` outside 0 ... d.
    """

    kind: ClassVar[str] = "quadratic"
    affine: ClassVar[bool] = True
    symmetric: ClassVar[frozenset[str]] = frozenset({"H"})
    degrees: ClassVar[Mapping[str, int]] = {"H": 2, "g": 1}
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("quadratic", "synthetic"),
        WrittenProblem(".npz", "from_file", str, own_clients=True),
    )

    def __init__(self, H: ArrayLike, g: ArrayLike, shared: int) -> None:
        self.H, self.g = _checked(H, g)
        self.n, self.d = self.g.shape
        self.d_u = whole("shared", shared, 0, self.d, "a client has that many variables")
        self.d_v = self.d - self.d_u

    @classmethod
    def stacked(cls, H: ArrayLike, g: ArrayLike, shared: int) -> list[Quadratic]:
        """N problems with the functions ``H`` (N, n, d, d) and ``g`` (N, n, d), which are looked at all at once.

        Raises `InputError` as one of them does.
        """
        H, g = floats("H", H), floats("g", g)
        n, d = g.shape[1:]
        return [*cls(H.reshape(-1, d, d), g.reshape(-1, d), shared).divided(n, ("H", "g"))]

    @classmethod
    def synthetic(
        cls,
        n: int = 10,
        d: int = 10,
        shared: int | None = None,
        *,
        coupling: float = 0.0,
        condition: float = 10.0,
        heterogeneity: float = 1.0,
        curvature: float = 0.0,
        interpolation: float = 0.0,
        seed: int = 0,
    ) -> Quadratic:
        """A seeded instance with smoothness L = 1, heterogeneous in what the parameters say.

        ``shared`` defaults to half of ``d``. ``condition`` is the condition number of each diagonal block (>= 1).
        ``coupling`` in [0, 1] is the size of H_uv relative to the largest that keeps H_i positive semidefinite.
        ``heterogeneity`` is the gradient dissimilarity at u = 0: the root of (1/n) sum_i ||g_u,i - mean||^2.
        ``curvature`` in [0, 1] blends a common H_uu (0: a dissimilarity bound b exists) into one per client (1); the
        blend is rescaled to norm 1. ``interpolation`` = 1 gives all clients one minimiser, x* = 2 e_1, in exact
        arithmetic: g_i = -H_i x* in place of what ``heterogeneity`` says.
        """
        n, d, seed = whole("n", n, 1), whole("d", d, 1), whole("seed", seed, 0)
        shared = d // 2 if shared is None else whole("shared", shared, 0, d, "a client has that many variables")
        check_size(float(n) * d * d, n=n, d=d)
        _check_parameters(coupling=coupling, condition=condition, heterogeneity=heterogeneity, curvature=curvature)
        whole("interpolation", interpolation, 0, 1, "0 or 1")
        rng = np.random.default_rng([seed, n, d, shared])
        common = spd(rng, shared, condition)
        H = np.zeros((n, d, d))
        for i in range(n):
            own, personal = spd(rng, shared, condition), spd(rng, d - shared, condition)
            H[i, :shared, :shared] = unit((1 - curvature) * common + curvature * own)
            H[i, shared:, shared:] = personal
            mix = coupling * _coupling(rng, H[i, :shared, :shared], personal)
            H[i, :shared, shared:], H[i, shared:, :shared] = mix, mix.T
        g = rng.standard_normal((n, d))
        g[:, :shared] = g[:, :shared].mean(axis=0) + spread(g[:, :shared], heterogeneity)
        if interpolation:
            # A column doubled is exact, as no sum of columns would be.
            g = -2.0 * H[:, :, 0]
        return cls(H, g, shared)

    @classmethod
    def from_file(cls, path: str, shared: int | None = None) -> Quadratic:
        """The problem in an ``.npz`` file with arrays H, g and the number ``shared``, by default half of d.

        Raises `InputError` for a file that cannot be read or lacks an array.
        """
        arrays = npz_arrays(Path(path), ("H", "g"), ("shared",))
        d = arrays["g"].shape[-1] if arrays["g"].ndim else 0
        own: Any = arrays.get("shared", d // 2)
        return cls(arrays["H"], arrays["g"], own if shared is None else shared)

    @property
    def quadratic(self) -> QuadraticFunctions:
        """The problem itself."""
        return self

    def scaled(self, rows: NDArray[np.intp], a: float, w: float) -> Quadratic:
        return Quadratic(self.H[rows] * a / w**2, self.g[rows] * a / w, self.d_u)

    def inner(self, lambda_: float) -> QuadraticInner:
        """By linear algebra; see `SingleLevel.inner`."""
        return QuadraticInner(self, lambda_)

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`: the gradient and the proximal map are affine."""
        if name == "gradient":
            return affine_oracle(*self.operator(), noise)
        inner = self.inner(lambda_)
        inner.check()
        return affine_oracle(*inner.proximal_map(), noise)

    def fields(self) -> dict[str, Any]:
        return {"H": self.H.tolist(), "g": self.g.tolist(), "shared": self.d_u}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["H"], data["g"], data["shared"])

    def without_variable(self, c: int) -> Quadratic:
        """See `ProblemData.without_variable`; one is left."""
        if self.d == 1:
            raise InputError("no variable to leave out")
        H, g = (np.delete(array, c, axis=1) for array in (self.H, self.g))
        return Quadratic(np.delete(H, c, axis=2), g, self.d_u - (c < self.d_u))

    def on_line(self, direction: Array) -> Quadratic:
        curvature = self.H @ direction @ direction
        return Quadratic(curvature[:, None, None], (self.g @ direction)[:, None], min(self.d_u, 1))

    @property
    def oracle_arrays(self) -> tuple[Array, ...] | None:
        """H and g; None in a subclass, which may depend on more."""
        return (self.H, self.g) if type(self) is Quadratic else None

    def operator(self) -> tuple[Array, Array]:
        """H (n, d, d) and g (n, d): the gradient of f_i is H_i w - g_i."""
        return self.H, self.g

    def constants(
        self, u0: Array | None = None, v0: Array | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """Certified constants at the start (u0, v0), zeros by default, with additive noise of total size sigma.

        A constant that does not exist has the certificate `Certificate.ABSENT`. Raises `InputError` for a start of the
        wrong shape or a negative sigma.
        """
        u, v = self._point(u0, v0)
        sigma_u, sigma_v = nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v)
        H_uu, H_uv, H_vv = self.blocks()
        L_u, L_uv, L_v = (largest_norm(block) for block in (H_uu, H_uv, H_vv))
        B_0 = float(np.sum(self.gradients(u, v)[0] ** 2))
        return Constants(
            Constant.exact("L_u", L_u, "largest norm of H_uu,i"),
            Constant.exact("L_v", L_v, "largest norm of H_vv,i"),
            Constant.exact("L_uv", L_uv, "largest norm of H_uv,i"),
            Constant.exact("L_vu", L_uv, "largest norm of H_uv,i"),
            Constant.exact("L", max(L_u, L_v, L_uv), "largest of L_u, L_v, L_uv, L_vu"),
            self.gap_from(self.value(u, v), 1.0),
            Constant.exact("B_0", B_0, "gradients at the start"),
            certified_dissimilarity(self.forms),
            Constant.exact("sigma_u", sigma_u if self.d_u else 0.0, "additive Gaussian noise"),
            Constant.exact("sigma_v", sigma_v if self.d_v else 0.0, "additive Gaussian noise"),
        )

    def _point(self, u0: Array | None, v0: Array | None) -> tuple[Array, Array]:
        u = np.zeros(self.d_u) if u0 is None else floats("u0", u0)
        v = np.zeros((self.n, self.d_v)) if v0 is None else floats("v0", v0)
        for name, array, shape in (("u0", u, (self.d_u,)), ("v0", v, (self.n, self.d_v))):
            if array.shape != shape:
                raise InputError(f"{name} has the shape {array.shape}, the problem needs {shape}")
            if not (np.abs(array) <= _LARGEST_START).all():
                raise InputError(f"{name} has entries beyond {_LARGEST_START:g} or that are no numbers")
        return u, v


class QuadraticInner(InnerProblem):
    """The minimisation over theta for quadratic f_i, in the eigenbases of their Hessians."""

    def __init__(self, problem: Quadratic, lambda_: float) -> None:
        self.problem, self.lambda_ = problem, lambda_
        values, bases = np.linalg.eigh(problem.H)
        rounding = 4 * problem.d * _EPS * np.abs(values).max(axis=1, keepdims=True)
        # What rounding leaves of a zero would make a convex problem a weakly convex one.
        self.h: Array = np.where(np.abs(values) <= rounding, 0.0, values)
        self.bases: Array = np.asarray(bases, dtype=np.float64)
        self.ell = max(0.0, -float(self.h.min()))
        self.rounding = float(rounding.max()) if self.ell else 0.0

    def prox(self, i: int, w: Array) -> Array:
        inner = self.bases[i].T @ (self.problem.g[i] + self.lambda_ * w)
        return np.asarray(self.bases[i] @ (inner / (self.h[i] + self.lambda_)))

    def value(self, i: int, theta: Array) -> float:
        return float(theta @ self.problem.H[i] @ theta / 2 - self.problem.g[i] @ theta)

    def floor(self) -> float:
        """The mean of the ``inf f_i``; -inf where one is unbounded below."""
        return Quadratic(self.problem.H, self.problem.g, 0).infimum()

    def shrunk(self, vectors: Array) -> Array:
        """``lambda (H_i + lambda I)^-1`` times one vector per client, shape (n, d)."""
        inner = np.einsum("iab,ia->ib", self.bases, vectors) * (self.lambda_ / (self.h + self.lambda_))
        return np.asarray(np.einsum("iab,ib->ia", self.bases, inner))

    def proximal_map(self) -> tuple[Array, Array]:
        """(M, c) with M_i w - c_i = prox_i(w), arrays (n, d, d) and (n, d)."""
        M = np.einsum("iab,ib,icb->iac", self.bases, self.lambda_ / (self.h + self.lambda_), self.bases)
        return np.asarray((M + M.transpose(0, 2, 1)) / 2), -self.shrunk(self.problem.g) / self.lambda_

    def envelope_hessians(self) -> Array:
        """The Hessians (n, d, d) of the envelopes."""
        H = np.einsum("iab,ib,icb->iac", self.bases, curvature(self.h, self.lambda_), self.bases)
        return np.asarray((H + H.transpose(0, 2, 1)) / 2)

    def constants(self) -> tuple[Constant, ...]:
        L_F, L = float(np.abs(curvature(self.h, self.lambda_)).max()), float(np.abs(self.h).max())
        return (
            smoothness(L_F, self.lambda_, Certificate.EXACT, "largest |lambda h/(h + lambda)|, h an eigenvalue of H_i"),
            Constant.exact("L", L, "largest norm of H_i"),
            Constant.exact("ell", self.ell, "smallest eigenvalue of the H_i"),
        )


def _checked(H: ArrayLike, g: ArrayLike) -> tuple[Array, Array]:
    H, g = floats("H", H), floats("g", g)
    if g.ndim != 2 or H.shape != (*g.shape, g.shape[1]) or g.size == 0:
        raise InputError(f"shapes {H.shape} of H and {g.shape} of g do not fit: they have to be (n, d, d) and (n, d)")
    return symmetric("H", bounded("H", H, _LARGEST_START)), bounded("g", g, _LARGEST_START)


def _check_parameters(**parameters: float) -> None:
    limits = {"coupling": (0, 1), "condition": (1, math.inf), "heterogeneity": (0, math.inf), "curvature": (0, 1)}
    for name, value in parameters.items():
        within(name, value, *limits[name])


def _coupling(rng: np.random.Generator, H_uu: Array, H_vv: Array) -> Array:
    """H_uu^(1/2) Q H_vv^(1/2) with ||Q|| = 1: any multiple below 1 keeps the joint matrix positive definite."""
    if 0 in (len(H_uu), len(H_vv)):
        return np.zeros((len(H_uu), len(H_vv)))
    Q = rng.standard_normal((len(H_uu), len(H_vv)))
    return _root(H_uu) @ (Q / np.linalg.norm(Q, 2)) @ _root(H_vv)


def _root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
