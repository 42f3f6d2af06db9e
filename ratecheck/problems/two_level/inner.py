"""Inner solvers: the minimisation over theta in a Moreau envelope, one for each kind of f_i.

Source: ``flame`` ("Personalized Federated Learning via ADMM with Moreau Envelope"), eq. (3).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.problems.constants import Certificate, Constant
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.quadratic import Quadratic

_EPS = float(np.finfo(float).eps)
_NEWTON_STEPS = 200  # far more than it takes; what it reached is checked


class InnerProblem(ABC):
    """The minimisation of ``f_i(theta) + (lambda/2) ||theta - w||^2`` over theta.

    ``ell`` is the modulus of weak convexity of the f_i, ``rounding`` what it may be off.
    """

    ell: float
    rounding: float

    @abstractmethod
    def prox(self, i: int, w: Array) -> Array:
        """The minimiser (d,) for client i at w (d,); raises `InputError` where rounding hides it."""

    @abstractmethod
    def value(self, i: int, theta: Array) -> float:
        """f_i(theta)."""

    @abstractmethod
    def constants(self) -> tuple[Constant, ...]:
        """L_F, L and ell of `Moreau.constants`."""

    @abstractmethod
    def floor(self) -> float:
        """A certified lower bound of the mean of the ``inf f_i``, below which no envelope falls."""


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
        """See `InnerProblem.prox`."""
        inner = self.bases[i].T @ (self.problem.g[i] + self.lambda_ * w)
        return np.asarray(self.bases[i] @ (inner / (self.h[i] + self.lambda_)))

    def value(self, i: int, theta: Array) -> float:
        """See `InnerProblem.value`."""
        return float(theta @ self.problem.H[i] @ theta / 2 - self.problem.g[i] @ theta)

    def floor(self) -> float:
        """The mean of the ``inf f_i``; -inf where one is unbounded below."""
        alone = Quadratic(self.problem.H, self.problem.g, 0)
        return alone.infimum()

    def shrunk(self, vectors: Array) -> Array:
        """``lambda (H_i + lambda I)^-1`` times one vector per client, shape (n, d)."""
        inner = np.einsum("iab,ia->ib", self.bases, vectors) * (self.lambda_ / (self.h + self.lambda_))
        return np.asarray(np.einsum("iab,ib->ia", self.bases, inner))

    def envelope_hessians(self) -> Array:
        """The Hessians (n, d, d) of the envelopes."""
        H = np.einsum("iab,ib,icb->iac", self.bases, curvature(self.h, self.lambda_), self.bases)
        return np.asarray((H + H.transpose(0, 2, 1)) / 2)

    def constants(self) -> tuple[Constant, ...]:
        """See `InnerProblem.constants`."""
        L_F, L = float(np.abs(curvature(self.h, self.lambda_)).max()), float(np.abs(self.h).max())
        return (
            smoothness(L_F, self.lambda_, Certificate.EXACT, "largest |lambda h/(h + lambda)|, h an eigenvalue of H_i"),
            Constant.exact("L", L, "largest norm of H_i"),
            Constant.exact("ell", self.ell, "smallest eigenvalue of the H_i"),
        )


class LogisticInner(InnerProblem):
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
        """See `InnerProblem.value`."""
        return self.clients[i].value(theta, np.zeros((1, 0)))

    def floor(self) -> float:
        """A certified lower bound of the mean of the ``inf f_i``, below which no envelope falls."""
        problem = self.problem
        alone = Logistic(problem.A, np.ones((problem.n, problem.N)), shared=0, rho=problem.rho)
        return alone.value(np.zeros(0), np.zeros((problem.n, problem.d))) - alone.constants()["F_0"].value

    def constants(self) -> tuple[Constant, ...]:
        """See `InnerProblem.constants`."""
        L = self.problem.constants()["L_u"]
        convex, weak = (abs(float(curvature(np.array(h), self.lambda_))) for h in (L.value, -self.ell))
        # The largest Hessian of the f_i is the one at 0, which is the prox of some w.
        if convex >= weak:
            L_F = smoothness(convex, self.lambda_, L.certificate, "lambda L/(lambda + L), where the prox is 0")
        else:
            L_F = smoothness(weak, self.lambda_, Certificate.UPPER_BOUND, "lambda ell/(lambda - ell)")
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


def curvature(h: Array, lambda_: float) -> Array:
    """``lambda h/(h + lambda)``: the eigenvalues of F_i from those of f_i, without a product that might overflow."""
    return np.asarray(lambda_ * (h / (h + lambda_)))


def smoothness(L_F: float, lambda_: float, certificate: Certificate, reason: str) -> Constant:
    """L_F, with a word where it is larger than lambda."""
    beyond = "; beyond lambda, because lambda < 2 ell" if L_F / lambda_ > 1 + 4 * _EPS else ""
    return Constant("L_F", L_F, certificate, reason + beyond)
