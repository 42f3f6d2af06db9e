"""The interface of problems: what a run, a certificate and the command line use of one.

A problem is one file: a subclass of `Problem` in this folder, or one that another distribution names by an entry point
of the group ``ratecheck.problems``, as in ``mine = "my_package:Mine"``.
"""

from __future__ import annotations

import enum
import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bounds.printing.notation import Notation
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.noise import Gaussian, NoiseLaw
from ratecheck.problems.constants import Constant, Constants
from ratecheck.problems.data import ProblemData
from ratecheck.problems.matrices import flat_share, is_diagonal, solution_error
from ratecheck.problems.quadratic_functions import QuadraticFunctions, QuadraticObjective
from ratecheck.problems.two_level.inner import InnerProblem

if TYPE_CHECKING:
    from fractions import Fraction

    from ratecheck.kernels.oracle import Oracle

Form = TypeVar("Form", bound="Problem")
# Numbers of clients.
Clients = NDArray[np.int64]

# Quantities that take the minimum of f.
OF_MINIMUM = frozenset({"gap", "distance2", "change:distance2"})


class Known(enum.Enum):
    """Facts about a problem by which its runs are followed without sampling.

    The family is closed: a problem says which it has (`Problem.knows`), an engine which it needs (`Engine.needs`), and
    neither needs the other's class.
    """

    AFFINE = "every client's gradient is affine, with coefficients that `operator` has"
    PIECES = "every client's gradient is affine between breakpoints, in rationals"
    TYPES = "clients are counted by type: `multiplicities` says how many each row stands for"
    TWO_VALUED = "a sample is off by the same to either side, so that outcomes are followed and none is drawn"


@dataclass(frozen=True)
class WrittenProblem:
    """The form of a problem in ``--problem``: ``name``, or with a file ``name:PATH`` or ``PATH.suffix``.

    ``maker`` is the class method that makes the problem, "" for the class itself; its parameters are those that the
    command line may set. ``load`` turns the path that is written, "" where there is none, into its first argument;
    ``size`` counts the variables of a client, or the features that they belong to, from that argument and the other
    parameters, without building the problem. ``own_clients``: the number of clients is in the file; ``counted`` is a
    parameter with which it is. ``accepts`` says whether a file with that ending is of this form, else of another one.
    """

    name: str
    maker: str = ""
    load: Callable[[str], Any] | None = None
    size: Callable[[Any, Mapping[str, Any]], int] | None = None
    own_clients: bool = False
    counted: str = ""
    accepts: Callable[[str], bool] | None = None

    @property
    def form(self) -> str:
        """The form in messages, such as ``libsvm:PATH``."""
        return f"{self.name}PATH" if self.name.endswith(":") else f"PATH{self.name}" if self.suffix else self.name

    @property
    def suffix(self) -> bool:
        """Whether the name is the ending of a path."""
        return self.name.startswith(".")

    def path(self, text: str) -> str | None:
        """The path in a text of this form, "" without one; None for a text of another form."""
        if self.name.endswith(":"):
            return text.removeprefix(self.name) if text.startswith(self.name) else None
        if self.suffix:
            return text if text.endswith(self.name) else None
        return "" if text == self.name else None


@dataclass(frozen=True)
class CalledOracle:
    """An oracle in Python, for problems without a compiled one: engines call it for all replicates at once.

    ``gradient`` and ``values`` take a client's number and points x (d, k) and return (d, k) and (k,); ``noise`` (d,) is
    the standard deviation of the additive Gaussian noise. Where a problem has ``gradients`` and ``all_values``, these
    are called instead: they take numbers of clients (c,) and points (c, d, k) and return (c, d, k) and (c, k). Some of
    these points are 0, and nobody uses what is returned there.
    """

    gradient: Callable[[int, Array], Array]
    values: Callable[[int, Array], Array]
    noise: Array
    gradients: Callable[[Clients, Array], Array] | None = None
    all_values: Callable[[Clients, Array], Array] | None = None

    def gradients_at(self, clients: Clients, x: Array) -> Array:
        """The gradients of clients (c,) at points (c, d, k), (c, d, k)."""
        if self.gradients is not None:
            return self.gradients(clients, x)
        return np.stack([self.gradient(i, point) for i, point in zip(clients.tolist(), x, strict=True)])

    def values_at(self, clients: Clients, x: Array) -> Array:
        """The values of clients (c,) at points (c, d, k), (c, k)."""
        if self.all_values is not None:
            return self.all_values(clients, x)
        return np.stack([self.values(i, point) for i, point in zip(clients.tolist(), x, strict=True)])


class Problem(ProblemData):
    """n clients with functions f_i, whose variables live on blocks of coordinates, d in all for a client.

    What an engine may do with a problem it reads off `knows`, a small closed family; `quadratic` and `seen_as` are the
    problem in a form, where it has it.
    """

    d: int
    # How the command line writes it; nothing where it cannot.
    written: ClassVar[tuple[WrittenProblem, ...]] = ()
    # Noise that may be added to the gradients: names of total standard deviations.
    noises: ClassVar[tuple[str, ...]]
    # Whether every client's gradient is affine: `operator` has its coefficients.
    affine: ClassVar[bool] = False
    # Whether every client's function is quadratic between breakpoints, which are rational.
    piecewise: ClassVar[bool] = False
    # Whether there is a lower level.
    bilevel: ClassVar[bool] = False
    # Whether the oracle is one of the kernels': False for a `CalledOracle`.
    compiled: ClassVar[bool] = True
    # The law of the noise of its gradients, unless a run has another one.
    law: NoiseLaw = Gaussian()
    # Whether what the oracle answers is the gradient of a function; else it is an operator, which has no values.
    potential: ClassVar[bool] = True
    # Samples that a local step draws; None where gradients are full.
    batch: int | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} n={self.n}: {self.sizes}>"

    @property
    @abstractmethod
    def layout(self) -> dict[str, int]:
        """Number of coordinates of each block, in the order of the joint variable."""

    @property
    @abstractmethod
    def starts(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parts of a starting point, in the order of the joint variable."""

    def start(self, given: Mapping[str, ArrayLike]) -> tuple[Array, ...]:
        """The parts of a starting point by `starts`, zeros where one is not given."""
        return tuple(np.asarray(given.get(name, np.zeros(shape)), dtype=float) for name, shape in self.starts.items())

    @property
    @abstractmethod
    def sizes(self) -> str:
        """The numbers of variables in words, such as ``5 shared and 5 personal variables``."""

    @abstractmethod
    def certified(
        self, start: Mapping[str, Array], noise: Mapping[str, float], weights: Array | None = None
    ) -> Constants:
        """The certified constants at a start by name (zeros where one is missing).

        ``weights`` (n,) are the clients' in the objective, None for the problem's own. Raises `InputError` for a start
        of the wrong shape or a negative noise.
        """

    @abstractmethod
    def noise(self, totals: Mapping[str, float]) -> Array:
        """Standard deviation per coordinate (d,) from totals by name, E||noise||^2 = total^2 of what it is about."""

    @abstractmethod
    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle | CalledOracle:
        """The oracle "gradient", or "prox" with parameter ``lambda_``, as the kernels take it, or one to be called."""

    @property
    def oracle_arrays(self) -> tuple[Array, ...] | None:
        """All arrays on which the oracle depends, so that a kernel made of them may be kept; None where unknown."""
        return None

    @property
    def shares(self) -> Array:
        """The clients' weights p_i (n,) in the objective: 1/n each unless a problem has others."""
        return np.full(self.n, 1 / self.n)

    @property
    def quadratic(self) -> QuadraticFunctions | None:
        """The problem as quadratics f_i, where it is one."""
        return None

    def seen_as(self, form: type[Form]) -> Form | None:
        """The problem in another kind's form, for those who follow that form alone; None where it has none."""
        return self if isinstance(self, form) else None

    @property
    def knows(self) -> frozenset[Known]:
        """The facts about the problem by which engines may follow its runs."""
        found = {
            Known.AFFINE: self.affine,
            Known.PIECES: self.piecewise,
            Known.TYPES: self.multiplicities is not None,
            Known.TWO_VALUED: bool(self.law.outcomes),
        }
        return frozenset(known for known, there in found.items() if there)

    @property
    def signs(self) -> int:
        """Random signs that the samples of all clients have in a local step, where outcomes are followed; else 0."""
        return 0

    @property
    def objective(self) -> QuadraticObjective | None:
        """The objective f as a quadratic whose minimum is known, where it is one."""
        return self.quadratic

    @property
    def minimum_known(self) -> bool:
        """Whether inf f and the minimiser are known, so that gaps and distances are measured."""
        return self.objective is not None

    @property
    def of_minimum(self) -> tuple[str, ...]:
        """The quantities that the minimum defines and that runs record: of ``gap`` and ``distance2``."""
        return ("gap", "distance2") if self.minimum_known else ()

    @property
    def lowest(self) -> Fraction | float | None:
        """Inf f, where it is known otherwise than by `objective`; None also where f is unbounded below."""
        return None

    def centre(self) -> tuple[Array, float]:
        """The point from which distances are measured, (d,) or (distinct, d), and what it may be off.

        It is the minimiser of least norm; the error is in units of rounding. Raises `InputError` where there is none.
        """
        objective = self.objective
        if objective is None:
            return np.zeros(self.d), 0.0
        found = objective.minimizer()
        if found is None:
            raise InputError(f"there is no distance to a minimiser: {objective.no_minimum}")
        u, v = found
        point = np.concatenate([np.broadcast_to(u, (objective.distinct, objective.d_u)), v], axis=1)
        return point, solution_error(*objective.joint(), objective.joint_point(u, v))[0]

    @property
    def several(self) -> str:
        """The reason for which distances could be measured to another minimiser; empty where there is one."""
        if self.objective is None:
            return ""
        joint = self.objective.joint()[0]
        values = np.linalg.eigvalsh(joint)
        # As for the minimiser itself.
        least = 0.0 if is_diagonal(joint) else flat_share(len(joint)) * abs(values).max()
        return "" if values[0] > least else "f has several minimisers"

    def unmeasured(self, names: Collection[str], recorded: Collection[str], *, random: bool) -> str:
        """Why one of these quantities is not measured on the problem; empty where all are.

        ``recorded`` are those that a run of the method records, ``random`` says whether replicates differ.
        """
        if unknown := sorted(() if self.minimum_known else {*names} & OF_MINIMUM):
            where = "on quadratic and piecewise problems, and where it is proved"
            return f"{', '.join(unknown)} is measured where the minimum is known: {where}"
        return ""

    @property
    def doubts(self) -> Mapping[str, float]:
        """Errors of recorded quantities, by name, beside what a run rounds."""
        return {}

    @property
    def multiplicities(self) -> NDArray[np.int64] | None:
        """The number of clients for each row of `operator` and `starts`; None where each stands for one."""
        return None

    @property
    def distinct(self) -> int:
        """Rows of `operator` and `starts`: clients, or types of them where one row stands for several clients."""
        return self.n

    def by_row(self, name: str, values: Any) -> Any:
        """Values given by client as one entry per row; raises `InputError` where clients of a row differ."""
        return values

    @property
    def representatives(self) -> Problem:
        """The problem of one client per row: itself, unless a row stands for several clients."""
        return self

    @property
    def single(self) -> SingleLevel:
        """The problem as one without a lower level; raises `InputError` where it has one."""
        raise InputError("needed a problem without a lower level")

    @property
    def largest_gradients(self) -> Mapping[str, float]:
        """Numbers that recorded quantities exceed at no point, by name; empty where none is known."""
        return {}

    def of_gradients(self, name: str) -> Constant | None:
        """A bound of gradients at every point, where that is no linear algebra; None where none is known.

        Names: gradient_bound, the largest ||grad f_i||; dissimilarity_G and dissimilarity_B, a pair (G, B) with
        (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2; interpolation, 0 where one point minimises every f_i.
        """
        return None

    def expected_smoothness(self, start: Mapping[str, Array]) -> tuple[float, float, float] | None:
        """(A, B, C) with E||g_i||^2 <= 2 A (f_i - inf f_i) + B ||grad f_i||^2 + C, for the samples that are drawn.

        g_i is a client's gradient over its samples, without noise that is added; ``start`` is a point of which values
        may be used. None where nothing is known.
        """
        del start
        return (0.0, 1.0, 0.0) if self.batch is None and not self.law.outcomes else None

    def operator(self) -> tuple[Array, Array]:
        """(M, c) with M_i x - c_i client i's gradient, (n, d, d) and (n, d); raises `InputError` if not affine."""
        raise InputError(f"the gradients of a {self.kind} problem are not affine")

    @property
    def generalized_smoothness(self) -> tuple[float, float] | None:
        """(L_0, L_1) with ||Hessian of f_i|| <= L_0 + L_1 ||grad f_i||, other than (L, 0); None where none is known."""
        return None

    @property
    def least_curvature(self) -> float | None:
        """A lower bound of the eigenvalues of every client's Hessian at every point; None where none is known."""
        return None

    def scaled(self, rows: NDArray[np.intp], a: float, w: float) -> Problem:
        """The functions a f_i(x/w) of these clients, of which any may come again.

        Raises `InputError` where the problem does not stay of its kind.
        """
        raise InputError(f"a {self.kind} problem is not continued: needed are quadratics, or piecewise quadratics")

    def has_noise(self, name: str) -> bool:
        """Whether the problem has the variables that a noise is about."""
        return True

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """The clients' functions as formulas, equal ones together, each up to a constant.

        ``noises`` maps the symbols of the levels of noise that a run has, none of them 0, to their names here, such as
        ``sigma_u``. By default the functions of the problem in the form of `quadratic`, or its kind in words.
        """
        if self.quadratic is not None:
            return self.quadratic.sentence(notation, noises)
        return [notation.phrase(f"a {self.kind} problem with {self.sizes}")]


class SingleLevel(Problem):
    """A problem f(u, v_1, ..., v_n) = (1/n) sum_i f_i(u, v_i) with d_u shared and d_v personal variables."""

    d_u: int
    d_v: int
    noises: ClassVar[tuple[str, ...]] = ("sigma", "sigma_u", "sigma_v")

    def _checked_point(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """A point of all variables as arrays; raises `InputError` for other shapes."""
        u, v = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
        if u.shape != (self.d_u,) or v.shape != (self.n, self.d_v):
            raise InputError(f"u, v: shapes {u.shape}, {v.shape}; needed {(self.d_u,)}, {(self.n, self.d_v)}")
        return u, v

    @abstractmethod
    def value(self, u: Array, v: Array) -> float:
        """f(u, v), for u (d_u,) and v (n, d_v)."""

    @abstractmethod
    def gradients(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Partial gradients of every f_i at u (d_u,) and v (n, d_v): arrays (n, d_u) and (n, d_v)."""

    @abstractmethod
    def constants(
        self, u0: Array | None = None, v0: Array | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """Certified constants at the start (u0, v0), zeros by default, with additive noise of total size sigma."""

    def inner(self, lambda_: float) -> InnerProblem:
        """Minimises f_i(theta) + (lambda/2) ||theta - w||^2 over theta; raises `InputError` where nothing does."""
        raise InputError(f"no inner solver for a {self.kind} problem")

    @property
    def single(self) -> SingleLevel:
        """The problem itself."""
        return self

    @property
    def layout(self) -> dict[str, int]:
        """Number of coordinates of u and of each v_i."""
        return {"u": self.d_u, "v": self.d_v}

    @property
    def starts(self) -> dict[str, tuple[int, ...]]:
        """x0 (d_u,) and v0 (n, d_v)."""
        return {"x0": (self.d_u,), "v0": (self.n, self.d_v)}

    @property
    def sizes(self) -> str:
        return f"{self.d_u} shared and {self.d_v} personal variables"

    def certified(
        self, start: Mapping[str, Array], noise: Mapping[str, float], weights: Array | None = None
    ) -> Constants:
        """See `Problem.certified`; ``sigma`` is the noise of the only block."""
        sigma_u, sigma_v = noise.get("sigma_u", 0.0), noise.get("sigma_v", 0.0)
        total = noise.get("sigma")
        if total is not None:
            sigma_u, sigma_v = (total, sigma_v) if self.d_u else (sigma_u, total)
        return self.constants(start.get("x0"), start.get("v0"), sigma_u, sigma_v)

    def noise(self, totals: Mapping[str, float]) -> Array:
        """See `Problem.noise`; raises `InputError` for ``sigma`` where there are two blocks."""
        sigma_u, sigma_v = totals["sigma_u"], totals["sigma_v"]
        if totals["sigma"]:
            if self.d_u and self.d_v:
                raise InputError("sigma is for problems with one block of variables; here give sigma_u and sigma_v")
            sigma_u, sigma_v = (totals["sigma"], sigma_v) if self.d_u else (sigma_u, totals["sigma"])
        noise = np.zeros(self.d)
        noise[: self.d_u] = sigma_u / math.sqrt(max(self.d_u, 1))
        noise[self.d_u :] = sigma_v / math.sqrt(max(self.d_v, 1))
        return noise

    def has_noise(self, name: str) -> bool:
        """Whether there are variables of the block."""
        return not ((name == "sigma_u" and not self.d_u) or (name == "sigma_v" and not self.d_v))


def affine_oracle(M: Array, c: Array, noise: Array) -> Oracle:
    """The oracle M_i x - c_i as the kernels take it."""
    from ratecheck.kernels.oracle import AFFINE, Oracle

    none = np.zeros((1, 1, 1))
    return Oracle(AFFINE, np.ascontiguousarray(M), np.ascontiguousarray(c), none, 0.0, 0, 0, 0.0, noise)
