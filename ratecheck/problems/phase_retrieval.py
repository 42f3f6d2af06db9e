"""Phase retrieval: polynomials of degree 4 that are not convex and have no smoothness constant on the whole space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation, is_short
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, nonnegative, whole, within
from ratecheck.problems.constants import NO_PROOF, Certificate, Constant, Constants
from ratecheck.problems.npz import npz_arrays
from ratecheck.problems.problem import CalledOracle, Clients, SingleLevel, WrittenProblem
from ratecheck.problems.sentence import functions

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

_EPS = float(np.finfo(float).eps)
# Beyond it the fourth powers in f, and the squares of gradients, could leave the range of a float.
_LARGEST = 1e20
# Random data are multiples of 1/_GRID, so that consistent measurements are consistent in floats.
_GRID = 16
# Curvature below 0 by more than this share of the largest is no rounding.
_BENT = 1e-9
_OF_PERSONAL = ("L_v", "L_uv", "L_vu", "sigma_v")


def _load(path: str) -> Mapping[str, Array]:
    return npz_arrays(Path(path), ("A", "b"), ("s",))


def _variables(arrays: Mapping[str, Array], _: Mapping[str, Any]) -> int:
    return int(arrays["A"].shape[-1]) if arrays["A"].ndim else 0


class PhaseRetrieval(SingleLevel):
    """n clients with ``f_i(x) = (1/(4N)) sum_j ((a_ij'x + s_ij)^2 - b_ij^2)^2``, N real measurements each.

    ``A`` has shape (n, N, d), its rows are the a_ij; ``b`` and ``s`` have shape (n, N), and s is 0 by default. With
    s_ij = a_ij'z the variable x is measured from z, where runs begin by default: with s = 0 they would begin at a
    stationary point. ``signal`` (d,), if given, has (a_ij'x + s_ij)^2 = b_ij^2 for all i and j, so that
    inf f = 0 is attained there. All variables are shared.

    The objective is that of Chen, Chi, Fan and Ma, "Gradient descent with random initialization: fast global
    convergence for nonconvex phase retrieval", Math. Program. 176, 2019, for one client and s = 0; with s the
    measurements are those of Gao, Sun, Wang and Xu, "Phase retrieval from the magnitudes of affine linear
    measurements", Adv. Appl. Math. 93, 2018.

    Raises `InputError` for other shapes, for entries that are no numbers or beyond 1e20, and for a signal that does
    not have these measurements in exact arithmetic.
    """

    kind: ClassVar[str] = "phase-retrieval"
    compiled: ClassVar[bool] = False
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("phase-retrieval", "random"),
        WrittenProblem("phase-retrieval:", "from_arrays", _load, _variables, own_clients=True),
    )

    def __init__(self, A: ArrayLike, b: ArrayLike, s: ArrayLike | None = None, signal: ArrayLike | None = None) -> None:
        self.A = bounded("A", A, _LARGEST)
        if self.A.ndim != 3 or self.A.size == 0:
            raise InputError(f"A has the shape {self.A.shape}, needed is (n, N, d) with at least one of each")
        self.n, self.N, self.d = self.A.shape
        self.d_u, self.d_v = self.d, 0
        self.b = bounded("b", b, _LARGEST, (self.n, self.N))
        self.s = np.zeros((self.n, self.N)) if s is None else bounded("s", s, _LARGEST, (self.n, self.N))
        self.signal = None if signal is None else bounded("signal", signal, _LARGEST, (self.d,))
        if self.signal is not None and (wrong := self._contradicts(self.signal)):
            raise InputError(f"signal: {wrong}; needed is exactly (a_ij'x + s_ij)^2 = b_ij^2")

    @classmethod
    def random(
        cls, n: int = 4, N: int = 12, d: int = 2, *, start: float = 0.5, error: float = 0.0, seed: int = 0
    ) -> PhaseRetrieval:
        """Seeded normal measurements of a signal of length about 1, that are consistent where ``error`` is 0.

        ``start`` is about how far from 0, where f has no slope, runs begin; ``error`` is the standard deviation of
        what is added to every b_ij = |a_ij'z|. Numbers are multiples of 1/16, so that nothing is rounded without it.
        """
        n, N, d, seed = whole("n", n, 1), whole("N", N, 1), whole("d", d, 1), whole("seed", seed, 0)
        check_size(float(n) * N * d, n=n, N=N, d=d)
        start, error = within("start", start, 0, 1e3), within("error", error, 0, 1e3)
        rng = np.random.default_rng([seed, n, N, d])
        A = _rounded(rng.standard_normal((n, N, d)))
        z, first = (_direction(rng.standard_normal(d)) for _ in range(2))
        first = _rounded(start * first)
        b = np.abs(A @ z)
        if not error:
            return cls(A, b, A @ first, z - first)
        return cls(A, b + error * rng.standard_normal((n, N)), A @ first)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> PhaseRetrieval:
        """The problem with arrays A, b and possibly s, as an ``.npz`` file has them; raises `InputError` as it does."""
        return cls(arrays["A"], arrays["b"], arrays.get("s"))

    # --- Values and gradients ---

    def client_values(self, i: int, x: Array) -> Array:
        """Values of f_i at points x (d, k), an array (k,)."""
        with np.errstate(all="ignore"):
            t = self.A[i] @ x + self.s[i][:, None]
            return np.asarray(np.sum(_residuals(t, self.b[i][:, None]) ** 2, axis=0) / (4 * self.N))

    def client_gradient(self, i: int, x: Array) -> Array:
        """The gradient ``(1/N) sum_j (t_j^2 - b_j^2) t_j a_j`` with t = A_i x + s_i, at points x (d, k): (d, k)."""
        with np.errstate(all="ignore"):
            t = self.A[i] @ x + self.s[i][:, None]
            return np.asarray(self.A[i].T @ (_residuals(t, self.b[i][:, None]) * t) / self.N)

    def client_gradients(self, clients: Clients, x: Array) -> Array:
        """The gradients of clients (c,) at points x (c, d, k), (c, d, k)."""
        with np.errstate(all="ignore"):
            A = self.A[clients]
            t = A @ x + self.s[clients][..., None]
            return np.asarray(A.swapaxes(1, 2) @ (_residuals(t, self.b[clients][..., None]) * t) / self.N)

    def all_client_values(self, clients: Clients, x: Array) -> Array:
        """Values of clients (c,) at points x (c, d, k), (c, k)."""
        with np.errstate(all="ignore"):
            t = self.A[clients] @ x + self.s[clients][..., None]
            return np.asarray(np.sum(_residuals(t, self.b[clients][..., None]) ** 2, axis=1) / (4 * self.N))

    def hessian(self, i: int, x: Array) -> Array:
        """``(1/N) sum_j (3 t_j^2 - b_j^2) a_j a_j'`` (d, d) at x (d,)."""
        t = self.A[i] @ x + self.s[i]
        return self._weighted(i, 3 * t**2 - self.b[i] ** 2)

    def value(self, u: ArrayLike, v: ArrayLike) -> float:
        """The value f(u) at u (d,); ``v`` is empty."""
        point = np.asarray(u, dtype=float)[:, None]
        return math.fsum(float(self.client_values(i, point)[0]) for i in range(self.n)) / self.n

    def gradients(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Gradients of every f_i at u (d,): arrays (n, d) and (n, 0)."""
        point = np.asarray(u, dtype=float)[:, None]
        return np.stack([self.client_gradient(i, point)[:, 0] for i in range(self.n)]), np.zeros((self.n, 0))

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle | CalledOracle:
        """See `Problem.oracle`; there is no proximal map."""
        if name != "gradient":
            raise InputError(f"a {self.kind} problem has no {name} oracle: use a method that takes gradients")
        return CalledOracle(
            self.client_gradient, self.client_values, noise, self.client_gradients, self.all_client_values
        )

    # --- Constants ---

    def constants(
        self, u0: ArrayLike | None = None, v0: ArrayLike | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """See `SingleLevel.constants`; L and the dissimilarity exist in degenerate cases only.

        With a signal those of the minimum, too: it is the minimiser to which distances are measured, one of several.
        """
        point = np.zeros(self.d) if u0 is None else bounded("u0", u0, _LARGEST, (self.d,))
        sigma_u, _ = nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v)
        value, squares = self._at_most(point)
        flat = not self.A.any()
        degree = "f_i is a polynomial of degree 4, whose second derivatives have no bound"
        smooth = [
            Constant.exact(name, 0.0, "every f_i is constant") if flat else Constant.absent(name, degree)
            for name in ("L_u", "L")
        ]
        gap = (Certificate.UPPER_BOUND, "f is never negative")
        if self.signal is not None:
            gap = (Certificate.EXACT, "consistent measurements: f = 0 at the signal")
        return Constants(
            *smooth,
            Constant("F_0", value, *gap),
            Constant("B_0", squares, Certificate.UPPER_BOUND, "gradients at the start, and what they round"),
            self._dissimilarity(),
            self._convexity(),
            *self._of_minimiser(point),
            *(Constant.exact(name, 0.0, "no personal variables") for name in _OF_PERSONAL),
            Constant.exact("sigma_u", sigma_u, "additive Gaussian noise"),
        )

    def smoothness_on_ball(self, radius: float, centre: ArrayLike | None = None) -> Constant:
        """L of every f_i on the ball of this radius around ``centre`` (d,), 0 by default; an upper bound.

        There ``|a_j'x + s_j| <= r_j = |a_j'centre + s_j| + radius ||a_j||``, so that the Hessian lies between
        ``-(1/N) sum_j b_j^2 a_j a_j'`` and ``(1/N) sum_j max(3 r_j^2 - b_j^2, 0) a_j a_j'``. It says nothing of points
        outside, so that it is no L of a statement. Raises `InputError` for a negative radius or another shape.
        """
        radius = nonnegative("radius", radius)
        point = np.zeros(self.d) if centre is None else bounded("centre", centre, _LARGEST, (self.d,))
        largest = 0.0
        for i, A in enumerate(self.A):
            away = (np.abs(A @ point + self.s[i]) + radius * np.linalg.norm(A, axis=1)) + self._rounding(i, point)
            # What the sizes round is below 8 of the last digits of the larger term.
            up = np.maximum(3 * away**2 * (1 + 8 * self.d * _EPS) - self.b[i] ** 2 * (1 - 4 * _EPS), 0.0)
            largest = max(largest, self._norm(i, up), self._norm(i, self.b[i] ** 2))
        return Constant("L", largest, Certificate.UPPER_BOUND, f"Hessians on a ball of radius {radius:.6g}")

    @property
    def least_curvature(self) -> float:
        """``-max_i ||(1/N) sum_j b_j^2 a_j a_j'||``, which no Hessian has an eigenvalue below; attained where t = 0."""
        return -max(self._norm(i, self.b[i] ** 2) for i in range(self.n))

    def of_gradients(self, name: str) -> Constant | None:
        if name == "gradient_bound":
            if not self.A.any():
                return Constant.exact(name, 0.0, "every f_i is constant")
            return Constant.absent(name, "gradients are polynomials of degree 3")
        if name == "interpolation" and self.signal is not None:
            return Constant.exact(name, 0.0, "every f_i is 0 at the signal, and never negative")
        return None

    @property
    def minimum_known(self) -> bool:
        """Whether there is a signal, at which f = 0."""
        return self.signal is not None

    @property
    def lowest(self) -> Fraction | None:
        """0 with a signal."""
        return None if self.signal is None else Fraction(0)

    def centre(self) -> tuple[Array, float]:
        """See `Problem.centre`; the signal, without an error."""
        if self.signal is None:
            raise InputError("there is no distance to a minimiser: it is known of consistent measurements alone")
        return self.signal, 0.0

    @property
    def several(self) -> str:
        """See `Problem.several`: the phase is lost, so that nothing says that there is one."""
        return "f may have several minimisers: squares do not say which sign a_ij'x + s_ij has"

    def _at_most(self, x: Array) -> tuple[float, float]:
        """The value f(x) at x (d,), and the sum of the ||grad f_i||^2, both rounded up by what they may be off."""
        values, squares = [], []
        for i, A in enumerate(self.A):
            t = np.abs(A @ x + self.s[i])
            off = self._rounding(i, x)
            r = np.abs(_residuals(t, self.b[i])) + 2 * (t + off) * off + 8 * _EPS * (t + np.abs(self.b[i])) ** 2
            values.append(float(np.sum(r**2)) / (4 * self.N))
            gradient = self.client_gradient(i, x[:, None])[:, 0]
            near = np.abs(A).T @ (r * off + (r - np.abs(_residuals(t, self.b[i]))) * t + 4 * self.N * _EPS * r * t)
            squares.append(float(np.sum((np.abs(gradient) + near / self.N) ** 2)))
        more = 1 + 8 * (self.N + self.d + self.n) * _EPS
        exact = self._in_rationals(x) if self.A.size <= 4096 else None
        return exact if exact is not None else math.fsum(values) / self.n * more, math.fsum(squares) * more

    def _in_rationals(self, x: Array) -> float:
        """The value f(x), the next float above or the same."""
        total = sum((r**2 for r in self._differences(x)), Fraction(0)) / (4 * self.n * self.N)
        found = float(total)
        return found if Fraction(found) >= total else math.nextafter(found, math.inf)

    def _differences(self, x: Array) -> list[Fraction]:
        """(a_ij'x + s_ij)^2 - b_ij^2 in rationals, client by client."""
        point = [Fraction(each) for each in x.tolist()]
        found = []
        rows, shifts, sizes = self.A.reshape(-1, self.d).tolist(), self.s.ravel().tolist(), self.b.ravel().tolist()
        for row, s, b in zip(rows, shifts, sizes, strict=True):
            t = sum((Fraction(a) * each for a, each in zip(row, point, strict=True)), Fraction(s))
            found.append(t**2 - Fraction(b) ** 2)
        return found

    def _contradicts(self, signal: Array) -> str:
        """The first measurement that a point does not have, in words; empty where it has all."""
        for place, r in enumerate(self._differences(signal)):
            if r:
                i, j = divmod(place, self.N)
                return f"measurement {j}, client {i}: the square is off by {float(r):.3g}"
        return ""

    def _rounding(self, i: int, x: Array) -> Array:
        """What the numbers A_i x + s_i (N,) may be off."""
        return np.asarray((self.d + 4) * _EPS * (np.abs(self.A[i]) @ np.abs(x) + np.abs(self.s[i])))

    def _weighted(self, i: int, weights: Array) -> Array:
        """(1/N) sum_j weights_j a_j a_j'."""
        return np.asarray((self.A[i].T * weights) @ self.A[i] / self.N)

    def _norm(self, i: int, weights: Array) -> float:
        """The norm of `_weighted` with weights >= 0, rounded up."""
        found = float(np.linalg.eigvalsh(self._weighted(i, weights))[-1])
        # The trace bounds what sums and eigenvalues round.
        trace = float(np.sum(weights * np.sum(self.A[i] ** 2, axis=1))) / self.N
        return max(found, 0.0) + 8 * (self.N + self.d) * _EPS * trace

    def _dissimilarity(self) -> Constant:
        """0 of equal clients; along a coordinate with other fourth powers the gradients grow apart like x^3."""
        equal = all((array == array[0]).all() for array in (self.A, self.b, self.s))
        if equal or not self.A.any():
            return Constant.exact("b", 0.0, "all clients have the same function up to a constant")
        for c in range(self.d):
            powers = {sum(Fraction(a) ** 4 for a in row) for row in self.A[:, :, c].tolist()}
            if len(powers) > 1:
                why = f"gradients of clients grow apart like x^3 along coordinate {c}"
                return Constant.absent("b", why)
        return Constant.absent("b", f"{NO_PROOF} of a bound of the gradients' dissimilarity")

    def _convexity(self) -> Constant:
        """The least curvature of a client where that is 0; else a point at which one has negative curvature."""
        if not self.b.any():
            return Constant("convexity", 0.0, Certificate.LOWER_BOUND, "all b are 0: sums of fourth powers")
        why = f"{NO_PROOF} that every client is convex"
        for i, A in enumerate(self.A):
            x = np.linalg.lstsq(A, -self.s[i], rcond=None)[0]
            value = float(np.linalg.eigvalsh(self.hessian(i, x))[0])
            if value < -_BENT * (self._norm(i, 3 * (A @ x + self.s[i]) ** 2) + self._norm(i, self.b[i] ** 2)):
                why = f"client {i} has the curvature {value:.3g} at {np.array2string(x, precision=3, threshold=6)}"
                break
        return Constant.absent("convexity", why)

    def _of_minimiser(self, start: Array) -> list[Constant]:
        if self.signal is None:
            why = f"{NO_PROOF} of where f is minimal"
            names = ("distance2_0", "minimiser_heterogeneity")
            return [Constant.absent(name, why) for name in names]
        away = float(np.sum((start - self.signal) ** 2)) * (1 + 4 * (self.d + 2) * _EPS)
        return [
            Constant("distance2_0", away, Certificate.UPPER_BOUND, "distance to the signal"),
            Constant.exact("minimiser_heterogeneity", 0.0, "every f_i is minimal at the signal"),
        ]

    # --- As data, and in words ---

    def fields(self) -> dict[str, Any]:
        """See `Problem.fields`; the signal is no array of clients, and stands below a name of its own."""
        found: dict[str, Any] = {"A": self.A.tolist(), "b": self.b.tolist(), "s": self.s.tolist()}
        return found if self.signal is None else {**found, "signal": {"x": self.signal.tolist()}}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        signal = data.get("signal")
        return cls(data["A"], data["b"], data.get("s"), None if signal is None else signal["x"])

    def with_arrays(self, changed: Mapping[str, Array], **others: Any) -> Self:
        """See `ProblemData.with_arrays`; the signal goes where it does not have the other measurements."""
        try:
            return super().with_arrays(changed, **others)
        except InputError:
            if self.signal is None:
                raise
            return super().with_arrays(changed, **{**others, "signal": None})

    def without_variable(self, c: int) -> PhaseRetrieval:
        """See `ProblemData.without_variable`: x_c = 0, and the signal goes unless it has that; one is left."""
        if self.d == 1:
            raise InputError("no variable to leave out")
        kept = self.signal is not None and not self.signal[c]
        signal = np.delete(self.signal, c) if kept and self.signal is not None else None
        return PhaseRetrieval(np.delete(self.A, c, axis=2), self.b, self.s, signal)

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`; equal measurements of a client together."""
        names = notation.names("x", self.d)
        return functions("f", names, [self._formula(i, names, notation) for i in range(self.n)], notation)

    def _formula(self, i: int, names: list[str], notation: Notation) -> str:
        counts: dict[str, int] = {}
        for row, s, b in zip(self.A[i].tolist(), self.s[i].tolist(), self.b[i].tolist(), strict=True):
            parts = [(Fraction(a), name) for a, name in zip(row, names, strict=True) if a]
            if not parts:
                continue
            linear = notation.sum([*parts, *([(Fraction(s), "")] if s else [])])
            square = f"{linear}^2" if linear in names else f"({linear})^2"
            exact = Fraction(b) ** 2
            size = notation.fraction(exact) if is_short(exact) else f"{notation.given(abs(b))}^2"
            body = f"({square} - {size})^2" if b else f"{linear}^4" if linear in names else f"({linear})^4"
            counts[body] = counts.get(body, 0) + 1
        return notation.sum([(Fraction(count, 4 * self.N), body) for body, count in counts.items()])


def _residuals(t: Array, b: Array) -> Array:
    """``t^2 - b^2`` as a product, so that nothing cancels twice."""
    return np.asarray((t - b) * (t + b))


def _rounded(numbers: Array) -> Array:
    return np.asarray(np.round(_GRID * numbers) / _GRID)


def _direction(numbers: Array) -> Array:
    """A vector of length about 1, on the grid."""
    return _rounded(numbers / float(np.linalg.norm(numbers)))
