"""Inner problems: the minimisation over theta in a Moreau envelope, which each kind of f_i solves.

Source: ``flame`` ("Personalized Federated Learning via ADMM with Moreau Envelope"), eq. (3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.problems.constants import Certificate, Constant

_EPS = float(np.finfo(float).eps)


class InnerProblem(ABC):
    """The minimisation of ``f_i(theta) + (lambda/2) ||theta - w||^2`` over theta.

    ``ell`` is the modulus of weak convexity of the f_i, ``rounding`` what it may be off.
    """

    lambda_: float
    ell: float
    rounding: float

    def check(self) -> None:
        """Raise `InputError` unless lambda > ell, so that the minimiser over theta is unique."""
        if not self.lambda_ > self.ell + self.rounding:
            raise InputError(
                f'lambda_={self.lambda_:.10g} breaks "lambda_ > ell", without which the minimiser over theta is not '
                f"unique: {self.lambda_:.10g} > {self.ell:.10g}, the modulus of weak convexity of the f_i"
            )

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


def curvature(h: Array, lambda_: float) -> Array:
    """``lambda h/(h + lambda)``: the eigenvalues of F_i from those of f_i, without a product that might overflow."""
    return np.asarray(lambda_ * (h / (h + lambda_)))


def smoothness(L_F: float, lambda_: float, certificate: Certificate, reason: str) -> Constant:
    """L_F, with a word where it is larger than lambda."""
    beyond = "; beyond lambda, because lambda < 2 ell" if L_F / lambda_ > 1 + 4 * _EPS else ""
    return Constant("L_F", L_F, certificate, reason + beyond)
