"""Quadratics whose stochastic gradients have noise that grows with the gradient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bounds.printing.notation import Notation
from ratecheck.noise import Relative
from ratecheck.problems.problem import WrittenProblem
from ratecheck.problems.quadratic import Quadratic


class RelativeQuadratic(Quadratic):
    """Quadratics ``f_i(w) = w'H_i w/2 - g_i'w``, with gradients of the variance ``sigma^2 + rho ||grad f_i||^2``.

    ``H`` (n, d, d), ``g`` (n, d) and ``shared`` are those of `Quadratic`; the noise has the law `Relative`. Raises
    `InputError` as `Quadratic` does, and for ``rho`` below 0.

    >>> RelativeQuadratic([[[1.0]]], [[2.0]], 1, rho=0.5).law.relative
    0.5
    """

    kind: ClassVar[str] = "relative-quadratic"
    written: ClassVar[tuple[WrittenProblem, ...]] = (WrittenProblem("relative-quadratic", "synthetic"),)

    def __init__(self, H: ArrayLike, g: ArrayLike, shared: int, rho: float = 1.0) -> None:
        super().__init__(H, g, shared)
        self.law = Relative(rho)

    @classmethod
    def synthetic(
        cls, n: int = 10, d: int = 10, shared: int | None = None, *, rho: float = 1.0, seed: int = 0, **options: float
    ) -> RelativeQuadratic:
        """`Quadratic.synthetic` with this ``rho``."""
        own = Quadratic.synthetic(n, d, shared, seed=seed, **options)
        return cls(own.H, own.g, own.d_u, rho)

    def scaled(self, rows: NDArray[np.intp], a: float, w: float) -> RelativeQuadratic:
        return self._with(super().scaled(rows, a, w))

    def without_variable(self, c: int) -> RelativeQuadratic:
        return self._with(super().without_variable(c))

    def _with(self, own: Quadratic) -> RelativeQuadratic:
        return RelativeQuadratic(own.H, own.g, own.d_u, self.law.relative)

    def fields(self) -> dict[str, Any]:
        # A list, as all numbers that may be simpler.
        return {**super().fields(), "rho": [self.law.relative]}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["H"], data["g"], data["shared"], *data["rho"])

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`: the f_i, and the part of the variance that grows."""
        of = "f" if self.n == 1 else notation.name("f_i")
        square = rf"\|\nabla {of}\|^2" if notation.tex else f"||grad {of}||^2"
        grown = f"{notation.words('gradients with noise of the variance')}{notation.given(self.law.relative)} {square}"
        return [*super().sentence(notation, noises), grown]
