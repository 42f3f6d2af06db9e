"""Quadratics that are weighed unequally: clients with different shares of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.inputs import nonnegative, shares
from ratecheck.problems.problem import WrittenProblem
from ratecheck.problems.quadratic import Quadratic


class WeightedQuadratic(Quadratic):
    """``f = sum_i p_i f_i`` with weights p_i > 0 of sum 1 and quadratics ``f_i(w) = w'H_i w/2 - g_i'w``.

    It is the mean of the functions n p_i f_i, which are the clients' functions for all constants, such as L, and for
    all methods; ``shares`` are the p_i, by which a method comes back to f_i: its ``p["p"]``, as in weighted FedAvg.
    ``H`` (n, d, d) and ``g`` (n, d) are those of the f_i, kept as ``own``. Raises `InputError` as `Quadratic` does, and
    for weights that are not positive or do not add up to 1.

    >>> problem = WeightedQuadratic([[[1.0]], [[1.0]]], [[0.0], [4.0]], 1, p=[0.75, 0.25])
    >>> problem.minimizer()[0]
    array([1.])
    """

    kind: ClassVar[str] = "weighted-quadratic"
    proportions: ClassVar[str] = "p"
    written: ClassVar[tuple[WrittenProblem, ...]] = (WrittenProblem("weighted-quadratic", "synthetic"),)

    def __init__(self, H: ArrayLike, g: ArrayLike, shared: int, p: ArrayLike | None = None) -> None:
        super().__init__(H, g, shared)
        self.p: Array = shares("p", np.full(self.n, 1.0 / self.n) if p is None else p, self.n)
        self.own = self.H, self.g
        factor = self.n * self.p
        self.H, self.g = self.H * factor[:, None, None], self.g * factor[:, None]

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
        unequal: float = 1.0,
        seed: int = 0,
    ) -> WeightedQuadratic:
        """`Quadratic.synthetic` with weights p_i in proportion to i^(-``unequal``), i = 1 ... n; 0: equal ones."""
        own = Quadratic.synthetic(
            n, d, shared, coupling=coupling, condition=condition, heterogeneity=heterogeneity, curvature=curvature,
            interpolation=interpolation, seed=seed,
        )  # fmt: skip
        sizes = np.arange(1, own.n + 1) ** -nonnegative("unequal", unequal)
        return cls(own.H, own.g, own.d_u, sizes / sizes.sum())

    @property
    def shares(self) -> Array:
        """The weights p."""
        return self.p

    def fields(self) -> dict[str, Any]:
        """See `Problem.fields`: the f_i and their weights."""
        H, g = self.own
        return {"H": H.tolist(), "g": g.tolist(), "shared": self.d_u, "p": self.p.tolist()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["H"], data["g"], data["shared"], data["p"])

    def without_variable(self, c: int) -> WeightedQuadratic:
        left = Quadratic(*self.own, self.d_u).without_variable(c)
        return WeightedQuadratic(left.H, left.g, left.d_u, self.p)

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`: the f_i, and the clients' weights where these differ."""
        lines = Quadratic(*self.own, self.d_u).sentence(notation, noises)
        if np.ptp(self.p) == 0:
            return lines
        return [*lines, f"the weights in f are {notation.formula(notation.listed(self.p.tolist()))}"]
