"""Equal clients with one function of one variable, quadratic piece by piece, whose gradient samples have two values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import floats, whole
from ratecheck.noise import NoiseLaw, Signs
from ratecheck.problems.constants import Constant, Constants
from ratecheck.problems.data import ProblemData
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.problems.npz import npz_arrays
from ratecheck.problems.piecewise_quadratic.piecewise import Piecewise
from ratecheck.problems.population import LARGEST
from ratecheck.problems.problem import SingleLevel, WrittenProblem

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

# Levels of noise of a shared variable's gradients, the only ones that equal clients have.
# What is measured of a run.
RECORDED = frozenset({"G_u", "G_v", "B", "gap", "distance2"})
_OF_SHARED = ("sigma_u", "sigma")


def _arrays(path: str) -> dict[str, Array]:
    return npz_arrays(Path(path), ("kinks", "curvatures", "slopes", "clients"))


class PiecewiseSamples(SingleLevel):
    """``clients`` equal clients f_i = f of one variable, whose oracle answers f'(x) + s sigma_u, s = +-1 fair.

    ``kinks`` (1, 1, J), ``curvatures`` (1, 1, J + 1) and ``slopes`` (1, 1) are those of a `Piecewise` problem with one
    client and one variable. The noise is unbiased and of variance exactly sigma_u^2, the number that a run is given.
    Its runs are not drawn: all outcomes are followed where these are few, else the mean of a round, from which the
    point of very many clients is a little away (`ratecheck.engines.rigorous.mean_field_runs`).

    Raises `InputError` as `Piecewise` does, for more variables than one and for more than 10^8 clients.

    >>> import ratecheck as rc
    >>> ramp = rc.problems.PiecewiseSamples([[[0.0]]], [[[0.0, 1.0]]], [[0.0]], clients=1000)
    >>> ramp.n, ramp.constants([2.0])["F_0"].value, ramp.constants([2.0])["B_0"].value
    (1000, 2.0, 4000.0)
    """

    kind: ClassVar[str] = "piecewise-samples"
    degrees: ClassVar[Mapping[str, int]] = Piecewise.degrees
    points: ClassVar[frozenset[str]] = Piecewise.points
    law: NoiseLaw = Signs()
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("piecewise-samples:", "from_file", _arrays, own_clients=True),
    )

    def __init__(self, kinks: ArrayLike, curvatures: ArrayLike, slopes: ArrayLike, clients: int = 1) -> None:
        self.one = Piecewise(kinks, curvatures, slopes)
        if (self.one.n, self.one.d) != (1, 1):
            raise InputError(f"{self.one.n} functions of {self.one.d} variables; needed one function of one variable")
        self.n = whole("clients", clients, 1, LARGEST)
        self.d = self.d_u = 1
        self.d_v = 0

    @classmethod
    def from_file(cls, arrays: Mapping[str, Array]) -> PiecewiseSamples:
        """An ``.npz`` file with arrays ``kinks``, ``curvatures``, ``slopes`` and the number ``clients``."""
        return cls(arrays["kinks"], arrays["curvatures"], arrays["slopes"], int(np.ravel(arrays["clients"])[0]))

    @property
    def curve(self) -> ScalarFunction:
        """f, up to a constant."""
        return self.one.curves[0][0]

    @property
    def curvatures(self) -> Array:
        """The curvatures of the one function, (1, 1, J + 1)."""
        return self.one.curvatures

    @property
    def kinks(self) -> Array:
        """The breakpoints of the one function, (1, 1, J)."""
        return self.one.kinks

    @property
    def lowest(self) -> Fraction | None:
        """Inf f; None where f is unbounded below."""
        return self.one.lowest

    @property
    def minimiser(self) -> list[Fraction] | None:
        """The only minimiser (1,); None where there is none, or several."""
        return self.one.minimiser

    def exact(self, start: list[Fraction]) -> dict[str, Callable[[], Fraction | None]]:
        """See `Piecewise.exact`: B_0 is a sum over the clients, all others are those of one of them."""
        one = self.one.exact(start)
        return {**one, "B_0": lambda: None if (found := one["B_0"]()) is None else found * self.n}

    # --- The interface ---

    @property
    def multiplicities(self) -> NDArray[np.int64]:
        """All clients are of one type."""
        return np.array([self.n])

    @property
    def signs(self) -> int:
        """See `Problem.signs`: one for every client."""
        return self.n

    @property
    def distinct(self) -> int:
        """1."""
        return 1

    @property
    def representatives(self) -> Piecewise:
        """One client."""
        return self.one

    @property
    def shares(self) -> Array:
        """1/n each, (n,)."""
        return np.broadcast_to(np.float64(1 / self.n), (self.n,))

    @property
    def starts(self) -> dict[str, tuple[int, ...]]:
        """x0 (1,) and v0 (1, 0)."""
        return self.one.starts

    @property
    def sizes(self) -> str:
        return f"equal clients, {super().sizes}"

    def by_row(self, name: str, values: Any) -> Any:
        """See `Problem.by_row`: one number, or as many equal ones as there are clients."""
        if np.isscalar(values):
            return values
        array = floats(name, values)
        if array.shape not in ((1,), (self.n,)) or (array != array[0]).any():
            raise InputError(f"{name} has the shape {array.shape}: clients are equal, give one number")
        return array[:1]

    def value(self, u: ArrayLike, v: ArrayLike) -> float:
        """f(u), 0 at 0; ``v`` is empty."""
        return self.one.value(u, v)

    def gradients(self, u: Array, v: Array) -> tuple[Array, Array]:
        """The gradient of f at u, arrays (1, 1) and (1, 0)."""
        return self.one.gradients(u, v)

    def constants(
        self, u0: ArrayLike | None = None, v0: ArrayLike | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """See `Piecewise.constants`."""
        found = self.one.constants(u0, v0, sigma_u, sigma_v)
        total = float(self.n) * found["B_0"].value
        own = {
            "B_0": replace(found["B_0"], value=total),
            "sigma_u": replace(found["sigma_u"], reason="a sample is off by that, to either side with probability 1/2"),
        }
        return Constants(*{**found, **own}.values())

    def of_gradients(self, name: str) -> Constant | None:
        """The constant of one client."""
        return self.one.of_gradients(name)

    def unmeasured(self, names: Collection[str], recorded: Collection[str], *, random: bool) -> str:
        return self.one.undefined(names, RECORDED)

    @property
    def minimum_known(self) -> bool:
        """Always: see `lowest` and `minimiser`."""
        return True

    @property
    def least_curvature(self) -> float:
        """The least curvature anywhere."""
        return self.one.least_curvature

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`; raises `InputError`: nothing is drawn."""
        raise InputError(f"the samples of a {self.kind} problem are not drawn: use engine=exact")

    @property
    def bends(self) -> int:  # type: ignore[override]  # counted when needed
        """See `ProblemData.bends`: of the one function."""
        return self.one.bends

    def straighter(self) -> Iterator[Callable[[Any], ProblemData]]:
        """See `Piecewise.straighter`."""
        return self.one.straighter()

    def with_clients(self, n: int) -> PiecewiseSamples:
        return self.with_arrays({}, clients=n)

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`: also by how much samples are off, to either side with probability 1/2."""
        name, one = notation.name("x"), self.n == 1
        letter = "f" if one else notation.name("f_i")
        written = f"{'' if one else notation.words('all')}{letter} = {self.curve.formula(name, notation)}"
        sign = r"\pm" if notation.tex else "+-"
        off = [notation.name(symbol) for symbol, noise in noises.items() if noise in _OF_SHARED]
        return [written, *(f"{notation.words('sampled')}{letter}'({name}) {sign} {each}" for each in off)]

    def fields(self) -> dict[str, Any]:
        return {**self.one.fields(), "clients": self.n}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["kinks"], data["curvatures"], data["slopes"], data["clients"])
