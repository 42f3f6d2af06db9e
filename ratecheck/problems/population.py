"""Populations: many quadratic clients of a few types, at a cost that does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import floats, nonnegative, whole
from ratecheck.problems.constants import Constant, Constants
from ratecheck.problems.matrices import rounded_mean
from ratecheck.problems.problem import SingleLevel
from ratecheck.problems.quadratic import Quadratic
from ratecheck.problems.quadratic_functions import Forms, QuadraticObjective, certified_dissimilarity
from ratecheck.problems.sentence import arguments

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

# Clients in all: participation patterns hold a number for each.
LARGEST = 10**8
# Clients of a problem that is written out.
_LARGEST_FULL = 5000


class Population(QuadraticObjective, SingleLevel):
    """n = sum(counts) quadratic clients of a few types: f = (1/n) sum_g counts[g] f_g, f_g(w) = w'H_g w/2 - g_g'w.

    ``types`` is a `Quadratic` whose G clients are the types (or several, whose clients are listed one after the other),
    ``counts`` (G,) says how many clients there are of each. Clients are numbered by type: the first counts[0] are of
    type 0. A start v0 has one row per type, (G, d_v), and so has K where it differs: a list (G,). The constants and the
    moments are those of the `Quadratic` with all n clients, which `full` writes out.

    Raises `InputError` for counts that are no whole numbers >= 1, for another number of them than there are types, for
    types whose variables differ, and for more than 10^8 clients.

    >>> import ratecheck as rc
    >>> types = rc.problems.Quadratic([[[1.0]], [[1.0]]], [[1.0], [-1.0]], shared=1)
    >>> problem = rc.problems.Population(types, [600_000, 400_000])
    >>> problem.n, round(problem.constants()["b"].value, 6)
    (1000000, 0.979796)
    """

    kind: ClassVar[str] = "population"
    affine: ClassVar[bool] = True
    symmetric: ClassVar[frozenset[str]] = Quadratic.symmetric

    def __init__(self, types: Quadratic | Sequence[Quadratic], counts: ArrayLike) -> None:
        self.types = _joined(types)
        self.counts = _checked(counts, self.types.n)
        self.n, self.d = int(self.counts.sum()), self.types.d
        self.d_u, self.d_v = self.types.d_u, self.types.d_v
        if self.n > LARGEST:
            raise InputError(f'counts: {self.n} clients break "n <= {LARGEST}"')

    @property
    def forms(self) -> Forms:
        """The types' functions in floats, and ``exactly`` in rationals."""
        return Forms(self.types.H, self.types.g, self.d_u, self.counts)

    @property
    def multiplicities(self) -> NDArray[np.int64]:
        """``counts``."""
        return self.counts

    @property
    def distinct(self) -> int:
        """The number of types."""
        return len(self.counts)

    @property
    def representatives(self) -> Quadratic:
        """``types``."""
        return self.types

    @property
    def objective(self) -> Population:
        """The problem itself."""
        return self

    @property
    def starts(self) -> dict[str, tuple[int, ...]]:
        """x0 (d_u,) and v0 (G, d_v)."""
        return self.types.starts

    @property
    def sizes(self) -> str:
        types = f"{self.distinct} type{'s' if self.distinct > 1 else ''} of clients"
        return f"{types}, {super().sizes}"

    @property
    def shares(self) -> Array:
        """1/n each, (n,)."""
        return np.broadcast_to(np.float64(1 / self.n), (self.n,))

    def full(self) -> Quadratic:
        """The problem with all n clients one by one; raises `InputError` for more than 5,000."""
        if self.n > _LARGEST_FULL:
            raise InputError(
                f"n={self.n} clients one by one are too many, at most {_LARGEST_FULL}: follow the population by types, "
                "with engine=exact"
            )
        H, g = (np.repeat(part, self.counts, axis=0) for part in (self.types.H, self.types.g))
        return Quadratic(H, g, self.d_u)

    def by_row(self, name: str, values: Any) -> Any:
        """One entry per type, of values (G,) by type or (n,) by client, or one number; see `Problem.by_row`."""
        if np.isscalar(values):
            return values
        array = floats(name, values)
        if array.shape == (self.distinct,):
            return values
        if array.shape != (self.n,):
            raise InputError(
                f"{name} has the shape {array.shape}: give one number, or one per type of clients, {self.distinct} "
                "in all"
            )
        firsts = np.cumsum(self.counts) - self.counts
        low, high = np.minimum.reduceat(array, firsts), np.maximum.reduceat(array, firsts)
        if (low != high).any():
            g = int(np.flatnonzero(low != high)[0])
            raise InputError(
                f"{name} is {low[g]:g} for some and {high[g]:g} for other clients of type {g}: make them types of "
                "their own"
            )
        return array[firsts]

    def fields(self) -> dict[str, Any]:
        return {**self.types.fields(), "counts": self.counts.tolist()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(Quadratic.read(data), data["counts"])

    def with_clients(self, n: int) -> Population:
        """See `ProblemData.with_clients`: as many of each type in proportion, and one at least."""
        return self.with_arrays({"counts": np.maximum(np.round(self.counts * (n / self.n)), 1)})

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`: how many clients have which function."""
        names, written = self.types.formulas(notation)
        function = notation.name("f_i") + arguments(names, written)
        many = ["all"] if self.distinct == 1 else [str(count) for count in self.counts.tolist()]
        return [f"{notation.words(each)}{function} = {text}" for each, text in zip(many, written, strict=True)]

    def operator(self) -> tuple[Array, Array]:
        """H (G, d, d) and g (G, d) of the types: the gradient of f_g is H_g w - g_g."""
        return self.types.operator()

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """Raises `InputError`: clients are simulated one by one."""
        raise InputError(UNSIMULATED)

    # --- The objective ---

    @cached_property
    def _reduced(self) -> Quadratic:
        """One client per type, in coordinates v_g = vbar_g/sqrt(counts[g]): n f = sum_g of its functions.

        Where all clients of a type have the same v_i, |vbar_g|^2 is the sum of their |v_i|^2. Minimisers of least norm
        are such points.
        """
        scale = np.ones((self.distinct, self.d))
        scale[:, : self.d_u] = np.sqrt(self.counts)[:, None]
        H, g = self.types.H * scale[:, :, None] * scale[:, None, :], self.types.g * scale
        # Linear terms have the full count: g_v of every client, in coordinates that grew by its root.
        return Quadratic(H, g * np.sqrt(self.counts)[:, None], self.d_u)

    def mean(self) -> tuple[Array, Array]:
        return self._mean(self.types.H), self._mean(self.types.g)

    def joint(self) -> tuple[Array, Array]:
        """Hessian and linear term of n*f in (u, vbar_1, ..., vbar_G), vbar_g = sqrt(counts[g]) v_g."""
        return self._reduced.joint()

    def joint_point(self, u: Array, v: Array) -> Array:
        """A point u (d_u,), v (G, d_v) in the coordinates of `joint`."""
        return np.concatenate([u, (v * np.sqrt(self.counts)[:, None]).ravel()])

    def minimizer(self) -> tuple[Array, Array] | None:
        """(u, v) of least norm at which f attains its infimum, v (G, d_v); None where f is unbounded below."""
        found = self._reduced.minimizer()
        return None if found is None else (found[0], found[1] / np.sqrt(self.counts)[:, None])

    def infimum(self) -> float:
        return self._reduced.infimum() * self.distinct / self.n

    @property
    def no_minimum(self) -> str:
        """See `Quadratic.no_minimum`."""
        return self._reduced.no_minimum

    def value(self, u: Array, v: Array) -> float:
        """f(u, v) for u (d_u,) and v (G, d_v), all clients of a type at the same v."""
        return float(self._mean(self.forms.values(self.forms.points(u, v))))

    def gradients(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Partial gradients of the types' functions at u (d_u,) and v (G, d_v): arrays (G, d_u) and (G, d_v)."""
        return self.types.gradients(u, v)

    def _mean(self, values: Array) -> Array:
        """The mean over the clients of values (G, ...) by type."""
        return rounded_mean(values, self.counts)

    # --- Constants ---

    def constants(
        self, u0: Array | None = None, v0: Array | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """The constants that `full` certifies, at the start u0 (d_u,), v0 (G, d_v); see `Quadratic.constants`."""
        constants = self.types.constants(u0, v0, nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v))
        u = np.zeros(self.d_u) if u0 is None else floats("u0", u0)
        v = np.zeros((self.distinct, self.d_v)) if v0 is None else floats("v0", v0)
        B_0 = float(self.counts @ np.sum(self.gradients(u, v)[0] ** 2, axis=1))
        own = {
            "F_0": self._gap(u, v),
            "B_0": Constant.exact("B_0", B_0, "gradients at the start"),
            "b": certified_dissimilarity(self.forms),
        }
        return Constants(*(own.get(name, constant) for name, constant in constants.items()))

    @property
    def least_curvature(self) -> float:
        """The least eigenvalue of an H_g; see `Quadratic.least_curvature`."""
        return self.types.least_curvature

    def _gap(self, u: Array, v: Array) -> Constant:
        return self._reduced.gap_from(self.value(u, v), self.distinct / self.n)


UNSIMULATED = "a population is followed by engine=exact alone: to simulate its clients one by one, use its full()"


def _joined(types: Quadratic | Sequence[Quadratic]) -> Quadratic:
    if isinstance(types, Quadratic):
        return types
    if not isinstance(types, Sequence) or not types or not all(isinstance(each, Quadratic) for each in types):
        raise InputError("types: needed a Quadratic whose clients are the types, or a list of them")
    for k, each in enumerate(types):
        if (each.d_u, each.d_v) != (types[0].d_u, types[0].d_v):
            raise InputError(f"types: types[{k}] has {each.sizes}, types[0] has {types[0].sizes}: they have to agree")
    H, g = (np.concatenate([getattr(each, name) for each in types]) for name in ("H", "g"))
    return Quadratic(H, g, types[0].d_u)


def _checked(counts: ArrayLike, types: int) -> NDArray[np.int64]:
    array = floats("counts", counts)
    if array.shape != (types,):
        has = f"{len(array)} entries" if np.ndim(counts) == 1 else f"the shape {np.shape(counts)}"
        raise InputError(f"counts has {has}: give one number of clients per type, {types} in all")
    return np.array([whole(f"counts[{g}]", count, 1, LARGEST) for g, count in enumerate(array)], dtype=np.int64)
