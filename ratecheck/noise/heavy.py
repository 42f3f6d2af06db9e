"""Noise with heavy tails: moments of orders below the index of the tail, and none from it on."""

from __future__ import annotations

import math
from typing import ClassVar

from ratecheck.errors import InputError
from ratecheck.kernels.constants import RADIAL, STUDENT
from ratecheck.noise.law import CompiledNoise


class _Heavy(CompiledNoise):
    """A law of which E|R|^q, for the R that it is made of, is finite for q below the index of its tail.

    R is multiplied by a number: with a variance so that it is 1, without so that E|R|^order is.
    """

    # What the index is called in messages.
    name: ClassVar[str]

    def __init__(self, index: float, order: float | None = None) -> None:
        if not 1 < index < math.inf:
            raise InputError(f'{self.kind} noise: {self.name}={index:g} breaks "{self.name} > 1": it has no mean')
        chosen = order if order is not None else 2.0 if index > 2 else (1 + index) / 2
        if not 1 <= chosen < index:
            raise InputError(f'{self.kind} noise: p={chosen:g} breaks "1 <= p < {self.name} = {index:g}"')
        self.index, self.order = float(index), float(chosen)
        scaled = 2.0 if index > 2 else self.order
        self.shape = (self.index, self._raw(scaled) ** (-1 / scaled))
        self.variance = 1.0 if index > 2 else math.inf
        self.fourth = self.shape[1] ** 4 * self._raw(4.0) * self._spread if index > 4 else math.inf

    def __str__(self) -> str:
        return f"{self.kind}:{self.index:g},{self.order:g}"

    # E U^4/(E U^2)^2 at most, for the U by which R is multiplied in a coordinate.
    _spread: ClassVar[float]

    def _raw(self, order: float) -> float:
        """E|R|^order before it is scaled, for orders below the index."""
        raise NotImplementedError

    def _moment(self, order: float) -> float:
        """E|R|^order."""
        return self.shape[1] ** order * self._raw(order) if 0 < order < self.index else math.inf


class Student(_Heavy):
    """Independent xi_c with Student's t-distribution of nu > 1 degrees of freedom, scaled: ``student:NU`` or with p.

    E xi_c^2 = 1 for nu > 2, else E|xi_c|^p = 1, with p = (1 + nu)/2 where it is not given. Moments of orders below nu
    are finite. E|t|^q = nu^(q/2) Gamma((q+1)/2) Gamma((nu-q)/2)/(pi^(1/2) Gamma(nu/2)).
    """

    kind: ClassVar[str] = "student"
    name: ClassVar[str] = "nu"
    code: ClassVar[int] = STUDENT
    _spread: ClassVar[float] = 1.0

    def _raw(self, order: float) -> float:
        nu = self.index
        logs = math.lgamma((order + 1) / 2) + math.lgamma((nu - order) / 2) - math.lgamma(nu / 2)
        return math.exp(order / 2 * math.log(nu) + logs - math.log(math.pi) / 2)

    def moment(self, order: float, d: int) -> float:
        """See `NoiseLaw.moment`.

        For p >= 2 that of one coordinate, since the square is a mean of those of the coordinates; for p <= 2 at most
        the sum d^(1-p/2) E|xi_c|^p, and 1 where there is a variance.
        """
        one = self._moment(order)
        if order >= 2:
            return one
        return min(super().moment(order, d), d ** (1 - order / 2) * one)


class Pareto(_Heavy):
    """Noise of a direction that is uniform on the sphere and a length sigma R: ``pareto:ALPHA`` or ``pareto:ALPHA,P``.

    R has Pareto's distribution with the index alpha > 1, P(R > r) = (r/r_0)^(-alpha) from r_0 on. E R^2 = 1 for
    alpha > 2, else E R^p = 1, with p = (1 + alpha)/2 where it is not given: E||noise||^p = sigma^p.
    """

    kind: ClassVar[str] = "pareto"
    name: ClassVar[str] = "alpha"
    code: ClassVar[int] = RADIAL
    _spread: ClassVar[float] = 3.0

    def _raw(self, order: float) -> float:
        return self.index / (self.index - order)

    def moment(self, order: float, d: int) -> float:
        """See `NoiseLaw.moment`: that of R, whatever the number of coordinates."""
        del d
        return self._moment(order)
