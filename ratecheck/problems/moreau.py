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
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.quadratic import Quadratic

LARGEST = 1e60  # of lambda_ and of the entries of a point: their products with the data stay floats
_EPS = float(np.finfo(float).eps)
_NEWTON_STEPS = 200  # far more than it takes; what it reached is checked


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

    def __init__(self, problem: Quadratic | Logistic, lambda_: float) -> None:
        if not isinstance(problem, Quadratic | Logistic):
            raise InputError(f"problem: needed a Quadratic or a Logistic, not {type(problem).__name__}")
        if problem.d_v:
            raise InputError(f'd_v={problem.d_v} breaks "d_v = 0": the envelope is that of a problem without v_i')
        self.problem, self.lambda_ = problem, positive("lambda_", lambda_)
        self.n, self.d = problem.n, problem.d
        if self.lambda_ > LARGEST:
            raise InputError(f'lambda_={self.lambda_:g} breaks "lambda_ <= {LARGEST:g}"; rescale the objective')
        kind = _Quadratics if isinstance(problem, Quadratic) else _Logistics
        self._inner: _Quadratics | _Logistics = kind(problem, self.lambda_)  # type: ignore[arg-type]  # fits its kind
        self.ell = self._inner.ell
        if not self.lambda_ > self.ell + self._inner.rounding:
            raise InputError(
                f'lambda_={self.lambda_:.10g} breaks "lambda_ > ell", without which the minimiser over theta is not '
                f"unique: {self.lambda_:.10g} > {self.ell:.10g}, the modulus of weak convexity of the f_i"
            )

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
        inner = self._quadratics("proximal_map")
        M = np.einsum("iab,ib,icb->iac", inner.bases, self.lambda_ / (inner.h + self.lambda_), inner.bases)
        return np.asarray((M + M.transpose(0, 2, 1)) / 2), -inner.shrunk(inner.problem.g) / self.lambda_

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
        if isinstance(self._inner, _Quadratics):
            return Constants(*self._inner.constants(), self.envelope().constants(w)["F_0"])
        gap = max(0.0, self.value(w) - self._inner.floor())
        why = "F(w0) - lower bound of the mean of the inf f_i"
        return Constants(*self._inner.constants(), Constant("F_0", gap, Certificate.UPPER_BOUND, why))

    def _quadratics(self, asked: str) -> _Quadratics:
        if not isinstance(self._inner, _Quadratics):
            raise InputError(f"{asked}: needed a quadratic problem; a {self.problem.kind} one has no closed form")
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


class _Quadratics:
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

    def shrunk(self, vectors: Array) -> Array:
        """``lambda (H_i + lambda I)^-1`` times one vector per client, shape (n, d)."""
        inner = np.einsum("iab,ia->ib", self.bases, vectors) * (self.lambda_ / (self.h + self.lambda_))
        return np.asarray(np.einsum("iab,ib->ia", self.bases, inner))

    def envelope_hessians(self) -> Array:
        H = np.einsum("iab,ib,icb->iac", self.bases, _curvature(self.h, self.lambda_), self.bases)
        return np.asarray((H + H.transpose(0, 2, 1)) / 2)

    def constants(self) -> tuple[Constant, ...]:
        L_F, L = float(np.abs(_curvature(self.h, self.lambda_)).max()), float(np.abs(self.h).max())
        return (
            _smoothness(
                L_F, self.lambda_, Certificate.EXACT, "largest |lambda h/(h + lambda)|, h an eigenvalue of H_i"
            ),
            Constant("L", L, Certificate.EXACT, "largest norm of H_i"),
            Constant("ell", self.ell, Certificate.EXACT, "smallest eigenvalue of the H_i"),
        )


class _Logistics:
    """The minimisation over theta for logistic regression, by Newton's method."""

    rounding = 0.0

    def __init__(self, problem: Logistic, lambda_: float) -> None:
        self.problem, self.lambda_ = problem, lambda_
        # The least eigenvalue of a Hessian of |x|^2/(1 + |x|^2) is -1/2, where |x| = 1; the loss is convex.
        self.ell = problem.rho / 2
        label = np.ones((1, problem.N))  # the rows of A have theirs in them
        self.clients = [Logistic(rows[None], label, shared=problem.d, rho=problem.rho) for rows in problem.A]

    def prox(self, i: int, w: Array) -> Array:
        """Newton's method on the gradient, whose norm every step reduces.

        The Hessian is positive definite, so that the norm falls along the Newton direction wherever it is not 0.
        """
        theta, slope = w, self._slope(i, w, w)
        for _ in range(_NEWTON_STEPS):
            if (found := self._step(i, w, theta, slope)) is None:
                break
            theta, slope = found
        left, lengths = float(np.linalg.norm(slope)), np.linalg.norm(self.problem.A[i], axis=1)
        # Bounds of what grad f_i and the change of the whole gradient per length are made of.
        gradient = float(lengths.mean()) + self.problem.rho
        curvature = float(np.mean(lengths**2)) / 4 + 2 * self.problem.rho + self.lambda_
        if not left <= 1e-12 * (gradient + curvature * float(np.linalg.norm(theta) + np.linalg.norm(w))):
            raise InputError(f"the minimiser at this w is hidden by rounding: a gradient of {left:.3g} is left")
        return theta

    def value(self, i: int, theta: Array) -> float:
        return self.clients[i].value(theta, np.zeros((1, 0)))

    def floor(self) -> float:
        """A certified lower bound of the mean of the ``inf f_i``, below which no envelope falls."""
        problem = self.problem
        alone = Logistic(problem.A, np.ones((problem.n, problem.N)), shared=0, rho=problem.rho)
        return alone.value(np.zeros(0), np.zeros((problem.n, problem.d))) - alone.constants()["F_0"].value

    def constants(self) -> tuple[Constant, ...]:
        L = self.problem.constants()["L_u"]
        convex, weak = (abs(float(_curvature(np.array(h), self.lambda_))) for h in (L.value, -self.ell))
        # The largest Hessian of the f_i is the one at 0, which is the prox of some w.
        if convex >= weak:
            L_F = _smoothness(convex, self.lambda_, L.certificate, "lambda L/(lambda + L), where the prox is 0")
        else:
            L_F = _smoothness(weak, self.lambda_, Certificate.UPPER_BOUND, "lambda ell/(lambda - ell)")
        kind = Certificate.UPPER_BOUND if self.ell else Certificate.EXACT
        return L_F, Constant("L", L.value, L.certificate, L.reason), Constant("ell", self.ell, kind, "rho/2")

    def _step(self, i: int, w: Array, theta: Array, slope: Array) -> tuple[Array, Array] | None:
        """The next iterate and its gradient; None where no step makes the gradient shorter any more."""
        step = np.linalg.solve(self._hessian(i, theta), slope)
        size, length = float(np.linalg.norm(slope)), 1.0
        while length > 1e-10:
            trial = theta - length * step
            reduced = self._slope(i, trial, w)
            if np.linalg.norm(reduced) < (1 - length / 4) * size:
                return trial, reduced
            length /= 2
        return None

    def _slope(self, i: int, theta: Array, w: Array) -> Array:
        return np.asarray(self.clients[i].gradients(theta, np.zeros((1, 0)))[0][0] + self.lambda_ * (theta - w))

    def _hessian(self, i: int, theta: Array) -> Array:
        """With ``r = 1 + |theta|^2`` and s_l the slope of sample l: the Hessian in theta.

        ``(1/N) sum_l s_l (1 - s_l) row_l row_l' + rho (2 I/r^2 - 8 theta theta'/r^3) + lambda I``.
        """
        rows, eye = self.problem.A[i], np.eye(len(theta))
        margins = rows @ theta
        weights = np.exp(-np.logaddexp(0.0, margins) - np.logaddexp(0.0, -margins))
        root = math.sqrt(1.0 + float(theta @ theta))
        unit = theta / root
        regulariser = (2 * eye - 8 * np.outer(unit, unit)) / root**2 / root**2
        return np.asarray((rows.T * weights) @ rows / len(rows) + self.problem.rho * regulariser + self.lambda_ * eye)


def _curvature(h: Array, lambda_: float) -> Array:
    """``lambda h/(h + lambda)``: the eigenvalues of F_i from those of f_i, without a product that might overflow."""
    return np.asarray(lambda_ * (h / (h + lambda_)))


def _smoothness(L_F: float, lambda_: float, certificate: Certificate, reason: str) -> Constant:
    beyond = "; beyond lambda, because lambda < 2 ell" if L_F / lambda_ > 1 + 4 * _EPS else ""
    return Constant("L_F", L_F, certificate, reason + beyond)
