"""Vectors that are known by their inner products alone, and the semidefinite programs over these.

Unknown vectors v_0, v_1, ... of any dimension have a Gram matrix G, which is positive semidefinite, and unknown numbers
are beside them. A `GramVector` is a combination of the v_k, a `GramNumber` an affine function of G and of the numbers:
sums, multiples and inner products of vectors are made with the operators of Python, so that a method's own functions
follow its run in them. `GramProgram` has Clarabel maximise such a number where others are at most 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from ratecheck.aliases import Array

_Key = TypeVar("_Key")
_ROOT2 = math.sqrt(2.0)

# How the statuses of Clarabel at which it has an answer are named in messages, and those at which there is none.
_ANSWERED = {"Solved": "optimal", "AlmostSolved": "optimal_inaccurate", "MaxIterations": "user_limit",
             "MaxTime": "user_limit"}  # fmt: skip
_WITHOUT = {"PrimalInfeasible": "infeasible", "DualInfeasible": "unbounded",
            "AlmostPrimalInfeasible": "infeasible_inaccurate",
            "AlmostDualInfeasible": "unbounded_inaccurate"}  # fmt: skip


class SolverFailedError(Exception):
    """Clarabel has neither an answer nor a reason why there is none."""


def _sum(left: Mapping[_Key, float], right: Mapping[_Key, float], factor: float = 1.0) -> dict[_Key, float]:
    """Left + factor * right, without zeros."""
    found = dict(left)
    for key, weight in right.items():
        value = found.get(key, 0.0) + factor * weight
        if value:
            found[key] = value
        else:
            found.pop(key, None)
    return found


def _multiple(weights: Mapping[_Key, float], factor: float) -> dict[_Key, float]:
    return {key: factor * weight for key, weight in weights.items() if factor * weight}


@dataclass(frozen=True, eq=False)
class GramVector:
    """sum_k ``weights[k]`` v_k; times another vector it is their inner product."""

    weights: Mapping[int, float] = field(default_factory=dict)

    # Numbers of NumPy leave the arithmetic to vectors.
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: GramVector) -> GramVector:
        return GramVector(_sum(self.weights, other.weights))

    def __sub__(self, other: GramVector) -> GramVector:
        return GramVector(_sum(self.weights, other.weights, -1.0))

    def __neg__(self) -> GramVector:
        return GramVector(_multiple(self.weights, -1.0))

    def __mul__(self, factor: float) -> GramVector:
        return GramVector(_multiple(self.weights, float(factor)))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> GramVector:
        return GramVector({key: weight / float(divisor) for key, weight in self.weights.items()})

    @property
    def square(self) -> GramNumber:
        """Squared norm."""
        return inner(self, self)

    @property
    def length(self) -> float:
        """Euclidean norm of the weights."""
        return math.hypot(*self.weights.values())


@dataclass(frozen=True, eq=False)
class GramNumber:
    """sum of ``products[k, m]`` <v_k, v_m> over k <= m, of ``numbers[k]`` times the k-th number, and ``constant``."""

    products: Mapping[tuple[int, int], float] = field(default_factory=dict)
    numbers: Mapping[int, float] = field(default_factory=dict)
    constant: float = 0.0

    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: GramNumber | float) -> GramNumber:
        return self._plus(other, 1.0)

    __radd__ = __add__

    def __sub__(self, other: GramNumber | float) -> GramNumber:
        return self._plus(other, -1.0)

    def __rsub__(self, other: float) -> GramNumber:
        return (-self)._plus(other, 1.0)

    def __neg__(self) -> GramNumber:
        return self * -1.0

    def __mul__(self, factor: float) -> GramNumber:
        factor = float(factor)
        products, numbers = _multiple(self.products, factor), _multiple(self.numbers, factor)
        return GramNumber(products, numbers, factor * self.constant)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> GramNumber:
        divisor = float(divisor)
        products = {key: weight / divisor for key, weight in self.products.items()}
        numbers = {key: weight / divisor for key, weight in self.numbers.items()}
        return GramNumber(products, numbers, self.constant / divisor)

    def _plus(self, other: GramNumber | float, factor: float) -> GramNumber:
        if not isinstance(other, GramNumber):
            return GramNumber(self.products, self.numbers, self.constant + factor * float(other))
        return GramNumber(
            _sum(self.products, other.products, factor),
            _sum(self.numbers, other.numbers, factor),
            self.constant + factor * other.constant,
        )


def inner(a: GramVector, b: GramVector) -> GramNumber:
    """<a, b>."""
    found: dict[tuple[int, int], float] = {}
    for k, left in a.weights.items():
        for m, right in b.weights.items():
            pair = (k, m) if k <= m else (m, k)
            found[pair] = found.get(pair, 0.0) + left * right
    return GramNumber(found)


@dataclass(frozen=True)
class GramSolution:
    """What the solver has found: ``coordinates`` (N, d) of the unknown vectors, (M,) ``numbers``, ``multipliers``.

    There is a multiplier of at least 0 for each condition, up to what the solver got wrong, in their order.
    ``status`` says in a word how it ended.
    """

    status: str
    coordinates: Array
    numbers: Array
    multipliers: Array

    def vector(self, vector: GramVector) -> Array:
        """The (d,) coordinates of a combination."""
        found = np.zeros(self.coordinates.shape[1])
        for k, weight in vector.weights.items():
            found += weight * self.coordinates[k]
        return found

    def number(self, number: GramNumber) -> float:
        """The value of a function of the Gram matrix and the numbers."""
        found = number.constant
        for (k, m), weight in number.products.items():
            found += weight * float(self.coordinates[k] @ self.coordinates[m])
        for k, weight in number.numbers.items():
            found += weight * float(self.numbers[k])
        return found


@dataclass
class GramProgram:
    """How many unknown ``vectors`` and ``numbers`` there are, and ``conditions``: what has to be at most 0."""

    vectors: int = 0
    numbers: int = 0
    conditions: list[GramNumber] = field(default_factory=list)

    def vector(self) -> GramVector:
        """A new unknown vector."""
        self.vectors += 1
        return GramVector({self.vectors - 1: 1.0})

    def number(self) -> GramNumber:
        """A new unknown number."""
        self.numbers += 1
        return GramNumber(numbers={self.numbers - 1: 1.0})

    def matrices(self, number: GramNumber) -> tuple[Array, Array, float]:
        """A symmetric (N, N) and a (M,) array, and a constant: <A, G> + <a, numbers> + constant."""
        A, a = np.zeros((self.vectors, self.vectors)), np.zeros(self.numbers)
        for (k, m), weight in number.products.items():
            A[k, m] += weight / 2
            A[m, k] += weight / 2
        for k, weight in number.numbers.items():
            a[k] = weight
        return A, a, number.constant

    def maximise(self, objective: GramNumber, **settings: Any) -> GramSolution | str:
        """The solver's answer, or in a word why there is none; ``settings`` go to the solver.

        Raises `SolverFailedError`.
        """
        import clarabel  # type: ignore[import-untyped]
        import scipy.sparse as sp

        pairs = self.vectors * (self.vectors + 1) // 2
        rows: list[int] = []
        columns: list[int] = []
        weights: list[float] = []
        for row, condition in enumerate(self.conditions):
            found = self._row(condition, pairs)
            rows += [row] * len(found)
            columns += found.keys()
            weights += found.values()
        own = len(self.conditions)
        # The triangle of the Gram matrix, column by column, as Clarabel takes it: sqrt(2) times what is off the
        # diagonal. The unknowns themselves are not scaled, with which it gets farther.
        rows += range(own, own + pairs)
        columns += range(pairs)
        weights += [-1.0 if k == m else -_ROOT2 for m in range(self.vectors) for k in range(m + 1)]
        matrix = sp.csc_matrix((weights, (rows, columns)), shape=(own + pairs, pairs + self.numbers))
        right = np.concatenate([[-condition.constant for condition in self.conditions], np.zeros(pairs)])
        linear = np.zeros(pairs + self.numbers)
        for column, weight in self._row(objective, pairs).items():
            linear[column] = -weight
        options = clarabel.DefaultSettings()
        options.verbose = False
        for name, value in settings.items():
            setattr(options, name, value)
        cones = [clarabel.NonnegativeConeT(own), clarabel.PSDTriangleConeT(self.vectors)]
        free = sp.csc_matrix((pairs + self.numbers, pairs + self.numbers))
        answer = clarabel.DefaultSolver(free, linear, matrix, right, cones, options).solve()
        status = str(answer.status)
        if status in _WITHOUT:
            return _WITHOUT[status]
        if status not in _ANSWERED:
            raise SolverFailedError(status)
        x = np.array(answer.x)
        return GramSolution(
            _ANSWERED[status],
            _coordinates(_gram(x[:pairs], self.vectors)),
            x[pairs:],
            np.array(answer.z)[:own],
        )

    def _row(self, number: GramNumber, pairs: int) -> dict[int, float]:
        """The coefficients of a number without its constant by column of the solver's unknowns."""
        found = {m * (m + 1) // 2 + k: weight for (k, m), weight in number.products.items()}
        return found | {pairs + k: weight for k, weight in number.numbers.items()}

    def dual(self, objective: GramNumber, solution: GramSolution) -> float:
        """The dual objective: what the multipliers leave of the constant."""
        least = [condition.constant for condition in self.conditions]
        return objective.constant - math.fsum(np.asarray(least) * solution.multipliers)


def _gram(triangle: Array, size: int) -> Array:
    """The symmetric matrix whose upper triangle is given column by column."""
    found = np.zeros((size, size))
    # Row by row of the lower triangle is column by column of the upper one.
    found[np.tril_indices(size)] = triangle
    return found + np.tril(found, -1).T


def _coordinates(gram: Array) -> Array:
    """Rows whose inner products a Gram matrix has; eigenvalues below 0, which are errors, are taken for 0."""
    values, basis = np.linalg.eigh(gram)
    return np.asarray(np.linalg.qr((np.sqrt(np.maximum(values, 0.0)) * basis).T, mode="r")).T


def together(numbers: Sequence[GramNumber], weights: Iterable[float]) -> GramNumber:
    """The combination of several numbers."""
    found = GramNumber()
    for number, weight in zip(numbers, weights, strict=True):
        found = found + number * weight
    return found
