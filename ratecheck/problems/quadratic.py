"""Quadratic problems, whose constants are exact linear algebra."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bounds.printing.notation import Notation
from ratecheck.algebra.linear_algebra import minimum, rationals, semidefinite
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, floats, nonnegative, whole, within
from ratecheck.problems.constants import CANNOT_TELL, Certificate, Constant, Constants
from ratecheck.problems.forms import Forms
from ratecheck.problems.matrices import (
    condition_number,
    in_range,
    is_diagonal,
    largest_norm,
    least_solution,
    pseudo_inverse,
    rounded_mean,
    spd,
    spread,
    symmetric,
    unit,
)
from ratecheck.problems.npz import npz_arrays
from ratecheck.problems.problem import SingleLevel, WrittenProblem, affine_oracle
from ratecheck.problems.sentence import functions, quadratic

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle
    from ratecheck.problems.two_level.inner import InnerProblem

# Relative size below which an eigenvalue or a residual counts as the zero that it is in exact arithmetic.
_ZERO = 1e-12
_EPS = float(np.finfo(float).eps)
# Beyond it squares of gradients, which the constants contain, could leave the range of a float.
_LARGEST_START = 1e100
# Variables of a Hessian up to which it is looked at in rationals.
_RATIONAL = 24
# What is off by no more than this share is called exact.
_CALLED_EXACT = 1e-10
UNBOUNDED = "f is unbounded below"


class Quadratic(SingleLevel):
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

    @property
    def forms(self) -> Forms:
        """The f_i in floats, and ``exactly`` in rationals."""
        return Forms(self.H, self.g, self.d_u)

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
        seed: int = 0,
    ) -> Quadratic:
        """A seeded instance with smoothness L = 1, heterogeneous in what the parameters say.

        ``shared`` defaults to half of ``d``. ``condition`` is the condition number of each diagonal block (>= 1).
        ``coupling`` in [0, 1] is the size of H_uv relative to the largest that keeps H_i positive semidefinite.
        ``heterogeneity`` is the gradient dissimilarity at u = 0: the root of (1/n) sum_i ||g_u,i - mean||^2.
        ``curvature`` in [0, 1] blends a common H_uu (0: a dissimilarity bound b exists) into one per client (1); the
        blend is rescaled to norm 1.
        """
        n, d, seed = whole("n", n, 1), whole("d", d, 1), whole("seed", seed, 0)
        shared = d // 2 if shared is None else whole("shared", shared, 0, d, "a client has that many variables")
        check_size(float(n) * d * d, n=n, d=d)
        _check_parameters(coupling=coupling, condition=condition, heterogeneity=heterogeneity, curvature=curvature)
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
    def quadratic(self) -> Quadratic:
        """The problem itself."""
        return self

    def scaled(self, rows: NDArray[np.intp], a: float, w: float) -> Quadratic:
        """See `Problem.scaled`."""
        return Quadratic(self.H[rows] * a / w**2, self.g[rows] * a / w, self.d_u)

    def inner(self, lambda_: float) -> InnerProblem:
        """By linear algebra; see `SingleLevel.inner`."""
        from ratecheck.problems.two_level.inner import QuadraticInner

        return QuadraticInner(self, lambda_)

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`: the gradient and the proximal map are affine."""
        from ratecheck.problems.moreau import Moreau

        M, c = self.operator() if name == "gradient" else Moreau(self, lambda_).proximal_map()
        return affine_oracle(M, c, noise)

    def fields(self) -> dict[str, Any]:
        """See `Problem.fields`."""
        return {"H": self.H.tolist(), "g": self.g.tolist(), "shared": self.d_u}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """See `Problem.read`."""
        return cls(data["H"], data["g"], data["shared"])

    def without_variable(self, c: int) -> Quadratic:
        """See `ProblemData.without_variable`; one is left."""
        if self.d == 1:
            raise InputError("no variable to leave out")
        H, g = (np.delete(array, c, axis=1) for array in (self.H, self.g))
        return Quadratic(np.delete(H, c, axis=2), g, self.d_u - (c < self.d_u))

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`."""
        return functions("f", *self.formulas(notation), notation)

    def formulas(self, notation: Notation) -> tuple[list[str], list[str]]:
        """The names of the variables, and the function of every client as a formula."""
        # A single block is x, whatever the paper calls it.
        blocks = ("u", "v") if self.d_u and self.d_v else ("x", "x")
        names = [*notation.names(blocks[0], self.d_u), *notation.names(blocks[1], self.d_v)]
        return names, [quadratic(H, g, names, notation) for H, g in zip(self.H, self.g, strict=True)]

    @property
    def oracle_arrays(self) -> tuple[Array, ...] | None:
        """H and g; None in a subclass, which may depend on more."""
        return (self.H, self.g) if type(self) is Quadratic else None

    def operator(self) -> tuple[Array, Array]:
        """H (n, d, d) and g (n, d): the gradient of f_i is H_i w - g_i."""
        return self.H, self.g

    def minimizer(self) -> tuple[Array, Array] | None:
        """(u, v) of least norm at which f attains its infimum, v of shape (n, d_v); None where f is unbounded below."""
        if math.isinf(self.infimum()):
            return None
        joint, slope = self.joint()
        point = least_solution(joint, slope)
        return point[: self.d_u], point[self.d_u :].reshape(self.n, self.d_v)

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
        """Why there is no infimum: f is unbounded below, or float64 cannot tell."""
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
            self._gap(u, v),
            Constant.exact("B_0", B_0, "gradients at the start"),
            self._dissimilarity(),
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

    def _gap(self, u: Array, v: Array) -> Constant:
        return self.gap_from(self.value(u, v), 1.0)

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

    def _dissimilarity(self) -> Constant:
        return certified_dissimilarity(self.forms)


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
