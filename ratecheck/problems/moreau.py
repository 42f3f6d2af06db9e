"""Moreau envelopes: the objective that personalisation by ADMM minimises.

Source: ``flame`` ("Personalized Federated Learning via ADMM with Moreau Envelope"), Section 3.4 and problems (5), (6).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import floats, positive, whole
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.problem import SingleLevel
from ratecheck.problems.quadratic import Quadratic, QuadraticInner

LARGEST = 1e60  # of lambda_ and of the entries of a point: their products with the data stay floats
_EPS = float(np.finfo(float).eps)


class Moreau:
    """``F(w) = (1/n) sum_i F_i(w)`` with ``F_i(w) = min_theta f_i(theta) + (lambda/2) ||theta - w||^2``.

    ``problem`` gives the f_i; all its d variables have to be shared (``d_v = 0``). With ``ell`` the modulus of weak
    convexity (every ``f_i + (ell/2) ||.||^2`` is convex) the minimiser exists and is unique because ``lambda_ > ell``
    is required: ``ell = max(0, -smallest eigenvalue)`` of quadratics, ``rho/2`` of logistic regression.
    Minimising F is problem (5) of the paper; its joint form (6) has the same minimum.

    Attributes: ``problem, lambda_, n, d, ell``.
    Raises `InputError` where ``problem`` is of another kind or has personal variables, or ``lambda_`` is not above ell.
    Source: ``flame``, eqs. (2) to (6); there with weights alpha_i, for which `values` and `gradients` give every F_i.
    """

    kind = "moreau"

    def __init__(self, problem: SingleLevel, lambda_: float) -> None:
        if not isinstance(problem, SingleLevel):
            raise InputError(f"problem: needed a Quadratic or a Logistic, not {type(problem).__name__}")
        if problem.d_v:
            raise InputError(f'd_v={problem.d_v} breaks "d_v = 0": the envelope is that of a problem without v_i')
        self.problem, self.lambda_ = problem, positive("lambda_", lambda_)
        self.n, self.d = problem.n, problem.d
        if self.lambda_ > LARGEST:
            raise InputError(f'lambda_={self.lambda_:g} breaks "lambda_ <= {LARGEST:g}"; rescale the objective')
        self._inner = problem.inner(self.lambda_)
        self.ell = self._inner.ell
        self._inner.check()

    def __repr__(self) -> str:
        return f"Moreau({self.problem.kind}, n={self.n}, d={self.d}, lambda_={self.lambda_:g})"

    def prox(self, i: int, w: ArrayLike) -> Array:
        """The minimiser ``theta`` (d,) of ``f_i(theta) + (lambda/2) ||theta - w||^2`` at w (d,).

        Quadratics: ``(H_i + lambda I)^-1 (g_i + lambda w)``. Logistic regression: Newton's method, until the gradient
        is at the level of rounding; its norm divided by ``lambda - ell`` bounds the distance to the minimiser.
        Raises `InputError` for a client outside 0 ... n-1, a w of the wrong shape or beyond 1e60 in an entry, or where
        rounding hides the minimiser. Source: ``flame``, eq. (3), whose norm lacks its square.
        """
        return self._inner.prox(whole("i", i, 0, self.n - 1, "clients are numbered from 0"), self._point(w))

    def values(self, w: ArrayLike) -> Array:
        """Every ``F_i(w)``, shape (n,), for w of shape (d,). Source: ``flame``, eq. (2)."""
        w = self._point(w)
        thetas = self._proxes(w)
        inner = np.array([self._inner.value(i, theta) for i, theta in enumerate(thetas)])
        return inner + self.lambda_ / 2 * np.sum((thetas - w) ** 2, axis=1)

    def value(self, w: ArrayLike) -> float:
        """``F(w)`` for w of shape (d,)."""
        return float(self.values(w).mean())

    def gradients(self, w: ArrayLike) -> Array:
        """Every ``grad F_i(w) = lambda (w - prox_i(w))``, shape (n, d), for w of shape (d,).

        Source: ``flame``, eq. (4).
        """
        w = self._point(w)
        return self.lambda_ * (w - self._proxes(w))

    def gradient(self, w: ArrayLike) -> Array:
        """``grad F(w)``, shape (d,), for w of shape (d,)."""
        return np.asarray(self.gradients(w).mean(axis=0))

    def envelope(self) -> Quadratic:
        """The F_i of quadratics as quadratics ``F_i(w) = w'H w/2 - g'w + offsets_i``, without the `offsets`.

        ``H = lambda (I - lambda (H_i + lambda I)^-1)`` and ``g = lambda (H_i + lambda I)^-1 g_i``.
        Raises `InputError` for logistic regression.
        """
        inner = self._quadratics("envelope")
        return Quadratic(inner.envelope_hessians(), inner.shrunk(inner.problem.g), self.d)

    def proximal_map(self) -> tuple[Array, Array]:
        """(M, c) with M_i w - c_i = prox_i(w) for quadratics, arrays (n, d, d) and (n, d).

        Raises `InputError` for logistic regression, whose proximal map is not affine.
        """
        return self._quadratics("proximal_map").proximal_map()

    def proximal_map_error(self) -> tuple[Array, Array]:
        """Bounds of the errors of the entries of `proximal_map`.

        Of an eigenvalue h the computed one differs by a few units of the largest: lambda/(lambda + h) moves with it.
        """
        inner, lambda_, d = self._quadratics("proximal_map_error"), self.lambda_, self.d
        h = np.linalg.eigvalsh(inner.problem.H)
        apart = 16 * d * _EPS * (1 + np.abs(h).max(axis=1) / (lambda_ + h.min(axis=1)))
        steep = lambda_ / (lambda_ + h.min(axis=1))
        length = np.linalg.norm(inner.problem.g, axis=1) / lambda_
        entries = np.broadcast_to((apart * steep)[:, None, None], (self.n, d, d))
        return entries, np.broadcast_to((apart * steep * length)[:, None], (self.n, d))

    def offsets(self) -> Array:
        """``F_i(0) = -g_i'(H_i + lambda I)^-1 g_i/2`` of quadratics, shape (n,).

        Raises `InputError` for logistic regression.
        """
        inner = self._quadratics("offsets")
        g = inner.problem.g
        return np.asarray(-np.einsum("ia,ia->i", g, inner.shrunk(g)) / (2 * self.lambda_))

    def constants(self, w0: ArrayLike | None = None) -> Constants:
        """Certified constants; the start ``w0`` (d,) is zero by default.

        - ``L_F``: all grad F_i are L_F-Lipschitz. An eigenvalue h of a Hessian of f_i becomes the eigenvalue
          ``lambda h/(h + lambda)`` of one of F_i, which grows with h from -ell to L:
          ``L_F <= max(lambda L/(lambda + L), lambda ell/(lambda - ell))``. That is at most lambda if and only if
          ``lambda >= 2 ell``: Proposition 1 needs such a condition for weakly convex f too.
        - ``L``: all grad f_i are L-Lipschitz.
        - ``ell``: all f_i are ell-weakly convex; the minimisation over theta is (lambda - ell)-strongly convex.
        - ``F_0 = F(w0) - inf F``.

        Raises `InputError` for a start of the wrong shape. Source: ``flame``, Proposition 1 and Assumption 1.
        """
        w = self._point(np.zeros(self.d) if w0 is None else w0)
        if isinstance(self._inner, QuadraticInner):
            return Constants(*self._inner.constants(), self.envelope().constants(w)["F_0"])
        gap = max(0.0, self.value(w) - self._inner.floor())
        why = "F(w0) - lower bound of the mean of the inf f_i"
        return Constants(*self._inner.constants(), Constant("F_0", gap, Certificate.UPPER_BOUND, why))

    def joint_minimum(self, weights: Array) -> Constant | None:
        """FLAME's least value of ``sum_i alpha_i (f_i(theta_i) + (lambda/2) ||theta_i - w||^2)``, alpha = weights (n,).

        It is that of the weighted envelopes; a lower bound of it for logistic regression, and None there where weights
        differ. Source: ``flame``, problem (6).
        """
        n = self.n
        if isinstance(self._inner, QuadraticInner):
            envelope, scale = self.envelope(), n * weights
            weighted = Quadratic(envelope.H * scale[:, None, None], envelope.g * scale[:, None], self.d)
            lowest = weighted.infimum() + float(weights @ self.offsets())
            if math.isinf(lowest):
                return Constant.absent("joint_minimum", "the joint objective is unbounded below")
            return Constant.exact("joint_minimum", lowest, "minimum by linear algebra")
        if not np.allclose(weights, weights[0]):
            return None
        lowest = n * float(weights[0]) * self._inner.floor()
        return Constant("joint_minimum", lowest, Certificate.UPPER_BOUND, "lower bound of the envelopes")

    def lagrangian_gap(self, x: Array, weights: Array) -> Constant | None:
        """FLAME's L^0 - F^* at a start with theta_i = w_i = w = x and pi = 0, where L^0 = sum_i alpha_i f_i(x).

        None where `joint_minimum` is. Source: ``flame``, Lemma 4.
        """
        lowest = self.joint_minimum(weights)
        if lowest is None or lowest.certificate is Certificate.ABSENT:
            return None if lowest is None else Constant("lagrangian_gap", math.inf, lowest.certificate, lowest.reason)
        if isinstance(self._inner, QuadraticInner):
            problem = self._inner.problem
            start = float(weights @ (np.einsum("a,iab,b->i", x, problem.H, x) / 2 - problem.g @ x))
        else:
            start = self.n * float(weights[0]) * self.problem.value(x, np.zeros((self.n, 0)))
        return Constant(
            "lagrangian_gap", max(start - lowest.value, 0.0), lowest.certificate, "L^0 less the joint minimum"
        )

    def _quadratics(self, requested: str) -> QuadraticInner:
        if not isinstance(self._inner, QuadraticInner):
            raise InputError(f"{requested}: needed a quadratic problem; a {self.problem.kind} one has no closed form")
        return self._inner

    def _proxes(self, w: Array) -> Array:
        return np.stack([self._inner.prox(i, w) for i in range(self.n)])

    def _point(self, w: ArrayLike) -> Array:
        point = floats("w", w)
        if point.shape != (self.d,):
            raise InputError(f"w: shape {point.shape}; needed {(self.d,)}")
        if not (np.abs(point) <= LARGEST).all():
            raise InputError(f"w has entries beyond {LARGEST:g} or that are no numbers")
        return point
