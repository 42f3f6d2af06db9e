"""Bilevel quadratics: the problem class of federated bilevel optimisation on which everything is linear algebra.

Source: ``simfbo`` ("SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning"),
problem (1), the surrogate of Section 2.2 and Assumptions 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, floats, nonnegative, shares, whole, within
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.matrices import in_range, largest_norm, pseudo_inverse, spd, spread, symmetric, unit
from ratecheck.problems.problem import Problem, WrittenProblem, affine_oracle
from ratecheck.problems.sentence import arguments, quadratic, together

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

LARGEST = 1e20  # of an entry, and 1/LARGEST of an eigenvalue of A_i: products of five inputs stay floats

# Relative size below which a difference counts as the zero that it is in exact arithmetic.
_ZERO = 1e-12
_EPS = float(np.finfo(float).eps)


class Bilevel(Problem):
    """n clients that minimise ``Phi(x) = F(x, y*(x))`` over x, where ``y*(x)`` minimises ``G(x, y)`` over y.

    ``F = sum_i p_i f_i`` and ``G = sum_i p_i g_i`` with::

        f_i(x, y) = [x; y]' Q_i [x; y] / 2 - q_i' [x; y]      (upper level)
        g_i(x, y) = y' A_i y / 2 - y' (B_i x + b_i)           (lower level)

    Shapes: ``A`` (n, d_y, d_y), ``B`` (n, d_y, d_x), ``b`` (n, d_y), ``Q`` (n, d_x + d_y, d_x + d_y), ``q``
    (n, d_x + d_y), ``p`` (n,), 1/n each by default. A_i is positive definite, Q_i symmetric, p positive with sum 1.

    Every method that depends on the weights of the clients takes others as ``weights``: clients that work unequally
    lead SimFBO to the problem with w_i in the place of p_i (``simfbo``, Theorem 1).

    Attributes: ``n, d_x, d_y``, ``d = d_x + 2 d_y`` (the size of ``(x, y, v)``), ``A, B, b, Q, q, p``.
    Raises `InputError` where a shape does not fit, an entry is no number or larger than 1e20, a matrix is not symmetric
    or an A_i not positive definite, or the weights are not positive with sum 1. Source: ``simfbo``, problem (1).
    """

    kind: ClassVar[str] = "bilevel"
    proportions: ClassVar[str] = "p"
    affine: ClassVar[bool] = True
    bilevel: ClassVar[bool] = True
    stored: ClassVar[tuple[str, ...]] = ("A", "B", "b", "Q", "q", "p")
    symmetric: ClassVar[frozenset[str]] = frozenset({"A", "Q"})
    written: ClassVar[tuple[WrittenProblem, ...]] = (WrittenProblem("bilevel", "synthetic"),)
    noises: ClassVar[tuple[str, ...]] = ("sigma_f", "sigma_g")

    def __init__(
        self, A: ArrayLike, B: ArrayLike, b: ArrayLike, Q: ArrayLike, q: ArrayLike, p: ArrayLike | None = None
    ) -> None:
        B_ = floats("B", B)
        if B_.ndim != 3 or 0 in B_.shape:
            raise InputError(f"B: shape {B_.shape}; needed (n, d_y, d_x), each at least 1")
        self.n, self.d_y, self.d_x = B_.shape
        n, joint = self.n, self.d_x + self.d_y
        self.d = joint + self.d_y
        self.A = symmetric("A", bounded("A", A, LARGEST, (n, self.d_y, self.d_y)))
        self.B = bounded("B", B_, LARGEST, B_.shape)
        self.b = bounded("b", b, LARGEST, (n, self.d_y))
        self.Q = symmetric("Q", bounded("Q", Q, LARGEST, (n, joint, joint)))
        self.q = bounded("q", q, LARGEST, (n, joint))
        self._spectra: Array = np.asarray(np.linalg.eigvalsh(self.A), dtype=np.float64)
        _check_definite(self._spectra)
        self.p = shares("p", np.full(n, 1.0 / n) if p is None else p, n)

    @classmethod
    def stacked(cls, A: Array, B: Array, b: Array, Q: Array, q: Array) -> list[Bilevel]:
        """N problems of equal weights by arrays (N, n, ...), which are looked at all at once; raises as one does."""
        n = q.shape[1]
        whole = cls(*(each.reshape(-1, *each.shape[2:]) for each in (A, B, b, Q, q)))
        whole.p = shares("p", np.full(n, 1.0 / n), n)
        return [*whole.divided(n, ("A", "B", "b", "Q", "q", "_spectra"))]

    @classmethod
    def synthetic(
        cls,
        n: int = 10,
        d_x: int = 5,
        d_y: int = 5,
        *,
        condition: float = 10.0,
        heterogeneity: float = 1.0,
        curvature: float = 0.0,
        convex: bool = True,
        seed: int = 0,
    ) -> Bilevel:
        """A seeded instance with ``L_1 = 1`` and equal weights.

        ``condition`` (>= 1) bounds the condition number of every A_i and, where ``convex``, of every Q_i.
        ``heterogeneity`` is the spread of the linear terms: the root of (1/n) sum_i ||b_i - mean||^2, the same for q.
        ``curvature`` in [0, 1] blends A, B and Q common to all clients (0: Assumption 4 holds with ``beta_gh = 1``)
        into one of each per client (1). In between and at 1 the clients' lower-level solutions depend on x in
        different ways, so that no ``beta_gh, sigma_gh`` exist.
        ``convex=False`` makes every Q_i indefinite, but only along directions ``(-Y'e, e)`` that no curve
        ``(x, y*(x))`` has a component in: Phi stays convex and bounded below.
        """
        n, seed = whole("n", n, 1), whole("seed", seed, 0)
        d_x, d_y = whole("d_x", d_x, 1), whole("d_y", d_y, 1)
        check_size(float(n) * (d_x + d_y) ** 2, n=n, d_x=d_x, d_y=d_y)
        _check_parameters(condition=condition, heterogeneity=heterogeneity, curvature=curvature)
        rng = np.random.default_rng([seed, n, d_x, d_y])
        joint = d_x + d_y

        def blend(common: Array, own: Array) -> Array:
            return (1 - curvature) * common + curvature * own

        A = blend(spd(rng, d_y, condition), np.stack([spd(rng, d_y, condition) for _ in range(n)]))
        B = blend(unit(rng.standard_normal((d_y, d_x))), np.stack([_gaussian(rng, d_y, d_x) for _ in range(n)]))
        lower = largest_norm(lower_hessians(A, B))
        A, B = A / lower, B / lower
        Q = blend(spd(rng, joint, condition), np.stack([spd(rng, joint, condition) for _ in range(n)]))
        if not convex:
            Y = np.linalg.solve(A.mean(axis=0), B.mean(axis=0))
            unseen, _ = np.linalg.qr(np.vstack([-Y.T, np.eye(d_y)]))
            Q = Q - 2 * np.outer(unseen[:, 0], unseen[:, 0])
        Q = np.stack([unit(each) for each in Q])
        b, q = rng.standard_normal((n, d_y)), rng.standard_normal((n, joint))
        b, q = (each.mean(axis=0) + spread(each, heterogeneity) for each in (b, q))
        return cls(A, B, b, Q, q)

    def __repr__(self) -> str:
        return f"Bilevel(n={self.n}, d_x={self.d_x}, d_y={self.d_y})"

    @property
    def layout(self) -> dict[str, int]:
        """Sizes of the blocks of the joint variable, in its order."""
        return {"x": self.d_x, "y": self.d_y, "v": self.d_y}

    @property
    def starts(self) -> dict[str, tuple[int, ...]]:
        """x0 (d_x,), y0 (d_y,) and v0 (d_y,)."""
        return {"x0": (self.d_x,), "y0": (self.d_y,), "v0": (self.d_y,)}

    @property
    def sizes(self) -> str:
        return f"{self.d_x} upper and {self.d_y} lower variables"

    @property
    def shares(self) -> Array:
        """The weights p."""
        return self.p

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`: f_i and g_i, and the clients' weights where these differ."""
        names = [*notation.names("x", self.d_x), *notation.names("y", self.d_y)]
        zero = np.zeros((self.d_x, self.d_x))
        upper = [quadratic(Q, q, names, notation) for Q, q in zip(self.Q, self.q, strict=True)]
        lower = [
            quadratic(np.block([[zero, -B.T], [-B, A]]), np.concatenate([np.zeros(self.d_x), b]), names, notation)
            for A, B, b in zip(self.A, self.B, self.b, strict=True)
        ]
        weights = [notation.given(p) for p in self.p.tolist()]
        weighted = [f"p = ({', '.join(weights)})"] if len({*weights}) > 1 else []
        of = arguments(names, [*upper, *lower])
        written = [*together("f", of, upper, notation), *together("g", of, lower, notation)]
        return [*written, *self.sampled_sentence(notation), *weighted]

    def sampled_sentence(self, notation: Notation) -> list[str]:
        """By how much the samples of a problem that has its own are off, as formulas."""
        return []

    def noise(self, totals: Mapping[str, float]) -> Array:
        """See `Problem.noise`.

        grad f_i has d_x + d_y entries, of which x and v each see a part; of grad g_i only the part by y is evaluated.
        """
        upper = totals["sigma_f"] / math.sqrt(self.d_x + self.d_y)
        lower = totals["sigma_g"] / math.sqrt(self.d_y)
        return np.repeat([upper, lower, upper], [self.d_x, self.d_y, self.d_y])

    def certified(
        self, start: Mapping[str, Array], noise: Mapping[str, float], weights: Array | None = None
    ) -> Constants:
        known = {name: value for name, value in noise.items() if name in self.noises}
        return self.constants(start.get("x0"), start.get("y0"), start.get("v0"), **known, weights=weights)

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`; raises `InputError` for another one than the gradient."""
        if name != "gradient":
            raise InputError(f"a bilevel problem has no oracle {name!r}")
        return affine_oracle(*self.operator(), noise)

    def operator(self) -> tuple[Array, Array]:
        """``M`` (n, d, d) and ``c`` (n, d): ``M_i z - c_i`` is client i's direction at ``z = (x, y, v)``.

        Its blocks, in the order x, y, v, are ``grad_x f_i - grad_xy^2 g_i v`` (the hypergradient surrogate),
        ``grad_y g_i`` and ``grad_v R_i = grad_yy^2 g_i v - grad_y f_i``. Source: ``simfbo``, Section 2.2 and eq. (3).
        """
        x, y = slice(None, self.d_x), slice(self.d_x, self.d_x + self.d_y)
        v, xy = slice(self.d_x + self.d_y, None), slice(None, self.d_x + self.d_y)
        M, c = np.zeros((self.n, self.d, self.d)), np.zeros((self.n, self.d))
        M[:, x, xy], M[:, x, v], c[:, x] = self.Q[:, x], self.B.transpose(0, 2, 1), self.q[:, x]
        M[:, y, x], M[:, y, y], c[:, y] = -self.B, self.A, self.b
        M[:, v, xy], M[:, v, v], c[:, v] = -self.Q[:, y], self.A, -self.q[:, y]
        return M, c

    def y_map(self, weights: ArrayLike | None = None) -> tuple[Array, Array]:
        """``Y`` (d_y, d_x) and ``y0`` (d_y,) with ``y*(x) = Y x + y0``: the minimiser of ``sum_i w_i g_i(x, .)``."""
        w = self._weights(weights)
        return _solved(_mean(w, self.A), _mean(w, self.B), _mean(w, self.b))

    def v_map(self, weights: ArrayLike | None = None) -> tuple[Array, Array]:
        """``V`` (d_y, d_x) and ``v0`` (d_y,) with ``v*(x) = V x + v0``: the solution of ``grad_yy^2 G v = grad_y F``.

        The derivative is ``V = A^-1 (Q_yx + Q_yy Y)``, with weighted means: y*(x) moves as x does.
        Source: ``simfbo``, Section 2.2; its eq. (16) leaves the second term out.
        """
        w = self._weights(weights)
        J, shift = self._curve(w)
        Q_y, q_y = _mean(w, self.Q)[self.d_x :], _mean(w, self.q)[self.d_x :]
        return _solved(_mean(w, self.A), Q_y @ J, Q_y @ shift - q_y)

    def hypergradient_map(self, weights: ArrayLike | None = None) -> tuple[Array, Array]:
        """``P`` (d_x, d_x), the Hessian of Phi, and ``r`` (d_x,) with ``grad Phi(x) = P x - r``."""
        w = self._weights(weights)
        J, shift = self._curve(w)
        Q = _mean(w, self.Q)
        P = J.T @ Q @ J
        return (P + P.T) / 2, J.T @ (_mean(w, self.q) - Q @ shift)

    def y_star(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        """``y*(x)``, shape (d_y,), for x of shape (d_x,)."""
        Y, y0 = self.y_map(weights)
        return Y @ bounded("x", x, LARGEST, (self.d_x,)) + y0

    def v_star(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        """``v*(x)``, shape (d_y,), for x of shape (d_x,)."""
        V, v0 = self.v_map(weights)
        return V @ bounded("x", x, LARGEST, (self.d_x,)) + v0

    def hypergradient(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        """``grad Phi(x)``, shape (d_x,), for x of shape (d_x,). Source: ``simfbo``, Section 2.1."""
        P, r = self.hypergradient_map(weights)
        return P @ bounded("x", x, LARGEST, (self.d_x,)) - r

    def value(self, x: ArrayLike, weights: ArrayLike | None = None) -> float:
        """``Phi(x) = F(x, y*(x))`` for x of shape (d_x,)."""
        w = self._weights(weights)
        J, shift = self._curve(w)
        return self._upper(w, J @ bounded("x", x, LARGEST, (self.d_x,)) + shift)

    def infimum(self, weights: ArrayLike | None = None) -> float:
        """Inf Phi, or -inf where Phi is unbounded below."""
        w = self._weights(weights)
        J, shift = self._curve(w)
        P, r = self.hypergradient_map(w)
        Q, q = _mean(w, self.Q), _mean(w, self.q)
        size, length = _norm(Q), _norm(J)
        cut = self._rounding() * size * length**2
        inverse = pseudo_inverse(P, cut)
        slope = length * (_norm(q) + size * _norm(shift))
        if inverse is None or not in_range(P, cut, r[:, None], np.array([slope * self._rounding() / _ZERO])):
            return -math.inf
        return self._upper(w, shift) - float(r @ inverse @ r) / 2

    def constants(
        self,
        x0: ArrayLike | None = None,
        y0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        radius: float | None = None,
        sigma_f: float = 0.0,
        sigma_g: float = 0.0,
        sigma_gg: float = 0.0,
        weights: ArrayLike | None = None,
    ) -> Constants:
        """The constants of Assumptions 1 to 4 and the distances to optimality at the start (zeros by default).

        - ``mu_g``: every ``g_i(x, .)`` is mu_g-strongly convex. ``L_1``: all gradients of f_i and g_i are L_1-Lipschitz
          in (x, y). ``L_2, L_3``: the same for second and third derivatives.
        - ``L_f``: f_i is L_f-Lipschitz. A quadratic is not, on the whole space; with ``radius``, the constant for the
          ball ``||(x, y)|| <= radius``, which then has to contain the start.
        - ``sigma_f, sigma_g, sigma_gg``: roots of the total variances, those of the arguments: additive noise.
        - ``beta_gh, sigma_gh``: ``sum_i w_i ||grad_y g_i||^2 <= beta_gh^2 ||sum_i w_i grad_y g_i||^2 + sigma_gh^2``.
        - ``Phi_gap = Phi(x0) - inf Phi``, ``Delta_y = ||y0 - y*(x0)||^2``, ``Delta_v = ||v0 - v*(x0)||^2``: the parts
          of the Lyapunov function at the start (eq. (37)), whose coefficients are the theorem's own.

        Raises `InputError` for a start of the wrong shape or outside the ball, a negative sigma or radius, or weights
        that are not positive with sum 1. Source: ``simfbo``, Section 3.1.
        """
        w = self._weights(weights)
        starts = (("x0", x0, self.d_x), ("y0", y0, self.d_y), ("v0", v0, self.d_y))
        x, y, v = (bounded(name, np.zeros(size) if at is None else at, LARGEST, (size,)) for name, at, size in starts)
        noises = (("sigma_f", sigma_f), ("sigma_g", sigma_g), ("sigma_gg", sigma_gg))
        hessians = (self.Q, lower_hessians(self.A, self.B))
        L_1 = max(float(np.abs(np.linalg.eigvalsh(of_clients)).max()) for of_clients in hessians)
        return Constants(
            Constant.exact("mu_g", float(self._spectra.min()), "smallest eigenvalue of the A_i"),
            self._lipschitz(radius, math.hypot(_norm(x), _norm(y))),
            Constant.exact("L_1", L_1, "largest norm of the Hessians of f_i and g_i"),
            Constant.exact("L_2", 0.0, "f_i and g_i are quadratic"),
            Constant.exact("L_3", 0.0, "g_i is quadratic"),
            *(Constant.exact(name, nonnegative(name, sigma), "additive noise") for name, sigma in noises),
            *self._dissimilarity(w),
            self._gap(x, w),
            Constant.exact("Delta_y", float(np.sum((y - self.y_star(x, w)) ** 2)), "linear algebra"),
            Constant.exact("Delta_v", float(np.sum((v - self.v_star(x, w)) ** 2)), "linear algebra"),
        )

    def _weights(self, weights: ArrayLike | None) -> Array:
        return self.p if weights is None else shares("weights", weights, self.n)

    def _curve(self, w: Array) -> tuple[Array, Array]:
        """J and s with ``(x, y*(x)) = J x + s``."""
        Y, y0 = self.y_map(w)
        return np.vstack([np.eye(self.d_x), Y]), np.concatenate([np.zeros(self.d_x), y0])

    def _upper(self, w: Array, xy: Array) -> float:
        """F at one point (x, y)."""
        return float(xy @ _mean(w, self.Q) @ xy / 2 - _mean(w, self.q) @ xy)

    def _rounding(self) -> float:
        """Relative error of what is solved for with a mean of the A_i."""
        return _ZERO + 16 * self.d_y * _EPS * float(self._spectra.max() / self._spectra.min())

    def _gap(self, x: Array, w: Array) -> Constant:
        gap = self.value(x, w) - self.infimum(w)
        if math.isinf(gap):
            return Constant.absent("Phi_gap", "Phi is unbounded below")
        return Constant.exact("Phi_gap", max(gap, 0.0), "minimum by linear algebra")

    def _lipschitz(self, radius: float | None, start: float) -> Constant:
        """``L_f``: the largest gradient of an f_i."""
        if radius is not None and nonnegative("radius", radius) < start:
            raise InputError(f'radius={radius:g} breaks "radius >= ||(x0, y0)||"; nearest that does: {start:.6g}')
        if not self.Q.any():
            return Constant.exact(
                "L_f", float(np.linalg.norm(self.q, axis=1).max()), "largest ||q_i||: every f_i is linear"
            )
        if radius is None:
            return Constant.absent("L_f", "the gradient of a quadratic is unbounded; a radius would make it finite")
        largest = max(_largest_gradient(Q, q, float(radius)) for Q, q in zip(self.Q, self.q, strict=True))
        return Constant("L_f", largest, Certificate.UPPER_BOUND, f"on the ball ||(x, y)|| <= {radius:g} alone")

    def _dissimilarity(self, w: Array) -> tuple[Constant, Constant]:
        """``beta_gh`` and ``sigma_gh`` of Assumption 4.

        Where the mean of the ``h_i = A_i y - B_i x - b_i`` is 0, x is still free. So the h_i have to be bounded there,
        which says that all ``A_i^-1 B_i`` are the same. Then ``h_i = E_i h + e_i`` with h the mean, any vector,
        ``E_i = A_i A^-1 = I + D_i`` and ``e_i = A_i y0 - b_i``, both with ``sum_i w_i D_i = 0 = sum_i w_i e_i``, and::

            sum_i w_i ||h_i||^2 = h'(I + N) h + 2 s'h + k,     N = sum_i w_i D_i'D_i,  s = sum_i w_i D_i'e_i,
                                                               k = sum_i w_i ||e_i||^2.

        This exceeds ``beta^2 ||h||^2`` by at most ``k + s'((beta^2 - 1) I - N)^-1 s`` if ``beta^2 > 1 + ||N||``, by k
        if s = 0 and ``beta^2 = 1 + ||N||``. As ``s's <= ||N|| k``, ``beta^2 = 1 + 2 ||N||`` leaves at most 2k.
        """
        A, B = _mean(w, self.A), _mean(w, self.B)
        if all(largest_norm(each - mean) <= _ZERO * largest_norm(each) for each, mean in ((self.A, A), (self.B, B))):
            spread = float(w @ np.sum((self.b - _mean(w, self.b)) ** 2, axis=1))
            why = "common A_i and B_i"
            return Constant.exact("beta_gh", 1.0, why), Constant.exact(
                "sigma_gh", math.sqrt(spread), f"spread of the b_i; {why}"
            )
        Y, y0 = self.y_map(w)
        if largest_norm(self.B - self.A @ Y) > self._rounding() * float(self._spectra.max()) * _norm(Y):
            why = "the clients' solutions of the lower level depend on x with different slopes A_i^-1 B_i"
            return Constant.absent("beta_gh", why), Constant.absent("sigma_gh", why)
        D, e = np.linalg.solve(A, self.A - A).transpose(0, 2, 1), self.A @ y0 - self.b
        N, s = np.einsum("i,iab,iac->bc", w, D, D), np.einsum("i,iab,ia->b", w, D, e)
        norm, k = _norm(N), float(w @ np.sum(e**2, axis=1))
        if _norm(s) <= _ZERO * math.sqrt(norm * k):
            beta = Constant.exact(
                "beta_gh", math.sqrt(1 + norm), "root of ||sum_i w_i E_i'E_i||, E_i = A_i A^-1, A the mean"
            )
            return beta, Constant.exact("sigma_gh", math.sqrt(k), "spread at the solution of the lower level")
        why = f"beyond {math.sqrt(1 + norm):.6g}, the root of ||sum_i w_i E_i'E_i||, at which no sigma_gh exists"
        excess = k + float(s @ np.linalg.solve(2 * norm * np.eye(self.d_y) - N, s))
        return (
            Constant("beta_gh", math.sqrt(1 + 2 * norm), Certificate.UPPER_BOUND, why),
            Constant.exact("sigma_gh", math.sqrt(excess), "smallest for this beta_gh"),
        )


def _mean(weights: Array, of_clients: Array) -> Array:
    """``sum_i w_i a_i`` over the first axis."""
    return np.asarray(np.tensordot(weights, of_clients, axes=1))


def _solved(matrix: Array, slope: Array, offset: Array) -> tuple[Array, Array]:
    """The affine map ``x -> matrix^-1 (slope x + offset)``."""
    solution = np.asarray(np.linalg.solve(matrix, np.column_stack([slope, offset])), dtype=np.float64)
    return solution[:, :-1], solution[:, -1]


def _norm(array: Array) -> float:
    """Euclidean norm of a vector, spectral norm of a matrix."""
    return float(np.linalg.norm(array, 2))


def _check_definite(spectra: Array) -> None:
    for i, (low, high) in enumerate(zip(spectra[:, 0], spectra[:, -1], strict=True)):
        least = max(4 * len(spectra[i]) * _EPS * high, 1.0 / LARGEST)
        if low < least:
            raise InputError(
                f"A[{i}] has the smallest eigenvalue {low:.3g}; a strongly convex lower level needs it positive, "
                f"here at least {least:.3g} (its largest is {high:.3g})"
            )


def _check_parameters(condition: float, heterogeneity: float, curvature: float) -> None:
    within("condition", condition, 1)
    nonnegative("heterogeneity", heterogeneity)
    within("curvature", curvature, 0, 1)


def _gaussian(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """A Gaussian matrix scaled to norm 1."""
    return unit(rng.standard_normal((rows, columns)))


def lower_hessians(A: Array, B: Array) -> Array:
    """Hessians ``[[0, -B_i'], [-B_i, A_i]]`` of the g_i in (x, y)."""
    d_x = B.shape[2]
    H = np.zeros((len(A), d_x + A.shape[1], d_x + A.shape[1]))
    H[:, d_x:, d_x:], H[:, d_x:, :d_x], H[:, :d_x, d_x:] = A, -B, -B.transpose(0, 2, 1)
    return H


def _largest_gradient(Q: Array, q: Array, radius: float) -> float:
    """Largest ``||Q z - q||`` over ``||z|| <= radius``, by the dual of this trust-region problem, which has no gap.

    With the eigenvalues l_j of Q and q_j in its eigenbasis, for every ``m > max_j l_j^2``::

        ||Q z - q||^2 <= ||q||^2 + m radius^2 + sum_j (l_j q_j)^2 / (m - l_j^2),

    convex in m and least where ``radius^2 = sum_j (l_j q_j)^2 / (m - l_j^2)^2``. Every m gives a bound, so that
    stopping early is safe.
    """
    values, vectors = np.linalg.eigh(Q)
    size = float(np.abs(values).max())
    if size * radius <= _EPS * _norm(q):  # what is left to gain is rounding
        return _norm(q) + size * radius
    values = values / size
    squares, pull = values**2, values * (vectors.T @ q) / (size * radius)
    # In units of size^2: with m = max_j l_j^2 + high the sum is at most 1, with high = 0 it may be infinite.
    top = float(squares.max())
    _, high = bisect(lambda m: bool(np.sum((pull / (top - squares + m)) ** 2) > 1.0), 0.0, _norm(pull), steps=200)
    beyond = float(np.sum(pull**2 / (top - squares + high))) if high > 0.0 else 0.0
    return math.hypot(size * radius * math.sqrt(top + high + beyond), _norm(q))
