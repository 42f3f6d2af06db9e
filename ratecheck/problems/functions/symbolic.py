"""Clients whose functions are given as formulas: gradients by SymPy, constants by interval arithmetic."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ratecheck.algebra.boxes import Boxes, on_boxes
from ratecheck.algebra.whole_line import NUMERIC, X, on_line
from ratecheck.aliases import Array
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import floats, nonnegative, real
from ratecheck.problems.constants import NO_PROOF, Certificate, Constant, Constants
from ratecheck.problems.functions.ridges import Ridges, ridges, stable
from ratecheck.problems.functions.symbolic_bounds import Bounds
from ratecheck.problems.problem import CalledOracle, Clients, SingleLevel
from ratecheck.problems.regular import brief, check_smooth, unknown

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

# What a user may declare: by name what it says, and whether a smaller value is as true.
DECLARABLE: Mapping[str, str] = {
    "L": "the largest norm of a client's Hessian",
    "infimum": "a number that no value of f is below",
    "b": "the largest dissimilarity of the gradients",
    "strong_convexity": "the least eigenvalue of the Hessian of f",
    "polyak_lojasiewicz": "mu with ||grad f||^2 >= 2 mu (f - inf f)",
}
_EPS = float(np.finfo(float).eps)
_OF_PERSONAL = ("L_v", "L_uv", "L_vu", "sigma_v")
# How far from the minimiser a point may be that stands for it.
_NEAR = 1e-9
_SPACE = "interval arithmetic on the whole space"
_SAID = "points that were tried do not contradict it"
# Numbers L_1 that are tried for (L_0, L_1)-smoothness, in this order.
_CHANGES = tuple(sp.Rational(2) ** k for k in (0, 1, 2, 3, 4, 5, 6, -1, -2))


class Symbolic(SingleLevel):
    """n clients with smooth functions f_i of d shared variables, given as SymPy expressions.

    Made by `ratecheck.problems.from_sympy`, which takes simpler forms where there are any. ``functions`` (n,) are
    expressions in ``variables`` (d,). ``declared`` are constants that the user vouches for, by the names of
    `DECLARABLE`: they are marked as such and tested, and taken where nothing better is proved.

    L, the infimum, strong convexity, the minimiser and the dissimilarity are proved by interval arithmetic on the whole
    space where that ends with a bound. Raises `InputError` for other symbols in the functions, for what is not shown to
    be smooth and real on the whole space, and for a function that is not understood.
    """

    kind: ClassVar[str] = "symbolic"
    compiled: ClassVar[bool] = False

    def __init__(
        self, functions: Sequence[sp.Expr], variables: Sequence[sp.Symbol], declared: Mapping[str, float] | None = None
    ) -> None:
        self.names = tuple(str(v) for v in variables)
        self.variables = tuple(sp.Symbol(name, real=True) for name in self.names)
        moved = dict(zip(variables, self.variables, strict=True))
        for f in dict.fromkeys(functions):
            check_smooth(f.xreplace(moved), self.variables)
        self.functions = tuple(stable(f.xreplace(moved)) for f in functions)
        self.n, self.d, self.d_u, self.d_v = len(functions), len(variables), len(variables), 0
        self.declared = _checked(declared or {})
        # A function of several clients is compiled once.
        different = dict.fromkeys(self.functions)
        slopes = {f: _numeric(f, [sp.diff(f, v) for v in self.variables], self.variables) for f in different}
        values = {f: _numeric(f, f, self.variables) for f in different}
        self._gradients, self._values = ([each[f] for f in self.functions] for each in (slopes, values))
        number = {f: k for k, f in enumerate(different)}
        self._function_of = np.array([number[f] for f in self.functions])
        zero = {v.name: Boxes.of(0.0) for v in self.variables}
        for f in self.functions:
            try:
                on_boxes(sp.Add(f, *sp.hessian(f, self.variables)), zero)
            except TypeError:
                raise InputError(unknown(f)) from None
        at_zero = self.value(np.zeros(self.d), np.zeros((self.n, 0)))
        if not (
            math.isfinite(at_zero) and np.isfinite(self.gradients(np.zeros(self.d), np.zeros((self.n, 0)))[0]).all()
        ):
            raise InputError("f or its gradient has no real value at 0, which is where runs start")

    @cached_property
    def parts(self) -> tuple[Ridges, ...]:
        """The clients' functions in parts."""
        return tuple(ridges(f, self.variables) for f in self.functions)

    @cached_property
    def bounds(self) -> Bounds:
        """The proved bounds of them."""
        return Bounds(self.parts, self.variables)

    def value(self, u: ArrayLike, v: ArrayLike) -> float:
        """F at u (d,); ``v`` is empty."""
        point = np.asarray(u, dtype=float)
        with np.errstate(all="ignore"):
            return math.fsum(float(f(*point)) for f in self._values) / self.n

    def gradients(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Gradients of every f_i at u (d,): arrays (n, d) and (n, 0)."""
        point = np.asarray(u, dtype=float)[:, None]
        return np.stack([self.client_gradient(i, point)[:, 0] for i in range(self.n)]), np.zeros((self.n, 0))

    def client_gradient(self, i: int, x: Array) -> Array:
        """The gradient of f_i at points x (d, k), an array (d, k)."""
        with np.errstate(all="ignore"):
            found = self._gradients[i](*x)
        return np.stack([np.broadcast_to(np.asarray(each, dtype=float), x.shape[1:]) for each in found])

    def client_values(self, i: int, x: Array) -> Array:
        """F_i at points x (d, k), an array (k,)."""
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(np.asarray(self._values[i](*x), dtype=float), x.shape[1:]))

    def client_gradients(self, clients: Clients, x: Array) -> Array:
        """The gradients of clients (c,) at points x (c, d, k), (c, d, k): one call for clients with equal functions."""
        found = np.empty_like(x)
        for rows in self._equal(clients):
            k = x.shape[2]
            here = self.client_gradient(int(clients[rows[0]]), x[rows].swapaxes(0, 1).reshape(self.d, -1))
            found[rows] = here.reshape(self.d, len(rows), k).swapaxes(0, 1)
        return found

    def all_client_values(self, clients: Clients, x: Array) -> Array:
        """Values of clients (c,) at points x (c, d, k), (c, k)."""
        found = np.empty((len(x), x.shape[2]))
        for rows in self._equal(clients):
            here = self.client_values(int(clients[rows[0]]), x[rows].swapaxes(0, 1).reshape(self.d, -1))
            found[rows] = here.reshape(len(rows), -1)
        return found

    def _equal(self, clients: Clients) -> list[Clients]:
        """The places of clients with equal functions."""
        numbers = self._function_of[clients]
        return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle | CalledOracle:
        """See `Problem.oracle`; there is no proximal map."""
        if name != "gradient":
            raise InputError(f"a {self.kind} problem has no {name} oracle: use a method that takes gradients")
        return CalledOracle(
            self.client_gradient, self.client_values, noise, self.client_gradients, self.all_client_values
        )

    # --- Constants ---

    def constants(
        self, u0: ArrayLike | None = None, v0: ArrayLike | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """See `SingleLevel.constants`; with those of the minimum, where something is known of it."""
        point = np.zeros(self.d) if u0 is None else floats("u0", u0)
        if point.shape != (self.d,) or not np.isfinite(point).all():
            raise InputError(f"u0 has the shape {point.shape}, the problem needs {self.d} finite numbers")
        sigma_u, _ = nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v)
        steep = [self.bounds.length(part, point) for part in self.parts]
        L = self._smoothness()
        squares = math.fsum(s**2 for s in steep) * (1 + 8 * _EPS)
        return Constants(
            Constant("L_u", L.value, L.certificate, L.reason),
            L,
            self._gap(point),
            Constant("B_0", squares, Certificate.UPPER_BOUND, "gradients at the start, in intervals"),
            self._dissimilarity(),
            *self._convexities(),
            *self._of_minimiser(point),
            *(Constant.exact(name, 0.0, "no personal variables") for name in _OF_PERSONAL),
            Constant.exact("sigma_u", sigma_u, "additive Gaussian noise"),
        )

    def _smoothness(self) -> Constant:
        ends = self.bounds.of_clients
        sizes = [max(-low, high) for low, high in ends]
        proved = max(sizes)
        why = ""
        if not math.isfinite(proved):
            f = self.functions[int(np.argmax(sizes))]
            why = f"{NO_PROOF} of a bound of the second derivatives of {brief(f)}"
            if (degree := self._degree(f)) > 2:
                why = f"{brief(f)} is a polynomial of degree {degree}, whose second derivatives have no bound"
        return self._chosen("L", proved, Certificate.UPPER_BOUND, f"Hessians, by {_SPACE}", why)

    def _degree(self, f: sp.Expr) -> int:
        """The degree of a polynomial, as far as its coefficients are seen not to be 0; 0 of another function."""
        if not f.is_polynomial(*self.variables):
            return 0
        terms = sp.Poly(f, *self.variables).terms()
        return max((sum(exponents) for exponents, number in terms if number.is_nonzero), default=0)

    def _chosen(self, name: str, proved: float, kind: Certificate, reason: str, absent: str) -> Constant:
        """What is proved, or what is declared where that is another number; see `DECLARABLE`."""
        said = self.declared.get(name)
        if said is None and math.isfinite(proved):
            return Constant(name, proved, kind, reason)
        if said is None:
            return Constant.absent(name, absent)
        # What follows from the proof needs no witness.
        follows = math.isfinite(proved) and (said <= proved if kind is Certificate.LOWER_BOUND else said >= proved)
        if follows:
            return Constant(name, said, kind, f"declared, and proved: {reason}")
        return Constant(name, said, Certificate.DECLARED, _SAID)

    def _gap(self, start: Array) -> Constant:
        first = self.bounds.value(self.bounds.whole, start)[1]
        lowest = self.bounds.minimum.low
        said = self.declared.get("infimum")
        if said is not None:
            if said > first:
                raise InputError(f"declared: infimum={said:g} is above f at the start, {first:.6g}")
            kind = Certificate.UPPER_BOUND if said <= lowest else Certificate.DECLARED
            return Constant("F_0", max(first - said, 0.0), kind, f"infimum={said:g}: {_SAID}")
        if not math.isfinite(lowest):
            why = f"{NO_PROOF} of a lower bound of f"
            return Constant.absent("F_0", why)
        gap = max(first - lowest, 0.0) * (1 + 4 * _EPS)
        return Constant("F_0", gap, Certificate.UPPER_BOUND, f"lower bound of f: {_SPACE}")

    def _dissimilarity(self) -> Constant:
        square, why = self.bounds.spread2
        why = why or f"{NO_PROOF} of a bound of the gradients' dissimilarity"
        proved = math.sqrt(square) * (1 + 4 * _EPS) if math.isfinite(square) else math.inf
        return self._chosen("b", proved, Certificate.UPPER_BOUND, f"gradients apart, by {_SPACE}", why)

    def _convexities(self) -> list[Constant]:
        least = min(low for low, _ in self.bounds.of_clients)
        if least >= 0:
            convex = Constant("convexity", least, Certificate.LOWER_BOUND, f"Hessians, by {_SPACE}")
        else:
            where = self._bent_down()
            why = f"{NO_PROOF} that every client is convex" if where is None else where
            convex = Constant.absent("convexity", why)
        # Where f is a multiple of ||x||^2 it may exceed L by rounding.
        mu = min(self.bounds.of_mean[0], self._smoothness().value)
        why = f"{NO_PROOF} that f is strongly convex"
        reason = f"Hessian of f, by {_SPACE}"
        curved = [
            self._chosen(name, mu if mu > 0 else math.inf, Certificate.LOWER_BOUND, reason, why)
            for name in ("strong_convexity", "polyak_lojasiewicz")
        ]
        found = [convex, *curved]
        name = "clients_strong_convexity"
        if least > 0:
            return [*found, Constant(name, least, Certificate.LOWER_BOUND, f"Hessians, by {_SPACE}")]
        why = f"{NO_PROOF} that every client is strongly convex"
        return [*found, Constant.absent(name, why)]

    def _bent_down(self) -> str | None:
        """A point at which a client's Hessian has a negative eigenvalue, in words; None where none was found.

        Floating point finds the point and a vector v, intervals show v'Hv < 0.
        """
        rng = np.random.default_rng(0)
        points = np.concatenate([s * rng.standard_normal((64, self.d)) for s in (0.3, 1.0, 3.0, 10.0, 100.0)]).T
        for i, f in enumerate(self.functions):
            entries = sp.hessian(f, self.variables)
            numeric = sp.lambdify(self.variables, list(entries), NUMERIC, cse=True)
            with np.errstate(all="ignore"):
                rows = np.stack(
                    [np.broadcast_to(np.asarray(e, dtype=float), points.shape[1:]) for e in numeric(*points)]
                )
            H = rows.T.reshape(-1, self.d, self.d)
            H = np.where(np.isfinite(H).all(axis=(1, 2))[:, None, None], H, 0.0)
            values, vectors = np.linalg.eigh(H)
            k = int(np.argmin(values[:, 0]))
            v = [Boxes.of(each) for each in vectors[k, :, 0]]
            box = {each.name: Boxes.of(float(x)) for each, x in zip(self.variables, points[:, k], strict=True)}
            form = [v[j] * v[c] * on_boxes(entries[j, c], box) for j, c in np.ndindex(self.d, self.d)]
            if functools.reduce(Boxes.__add__, form).high < 0:
                at = ", ".join(f"{name}={x:.3g}" for name, x in zip(self.names, points[:, k], strict=True))
                return f"client {i} has the curvature {values[k, 0]:.3g} at {at}"
        return None

    def _of_minimiser(self, start: Array) -> list[Constant]:
        minimum = self.bounds.minimum
        names = ("distance2_0", "minimiser_heterogeneity")
        if minimum.point is None or not math.isfinite(minimum.away):
            return [Constant.absent(name, f"{NO_PROOF} of where f is minimal") for name in names]
        away = (float(np.linalg.norm(start - minimum.point)) * (1 + 8 * _EPS) + minimum.away) ** 2
        largest = max(max(-low, high) for low, high in self.bounds.of_clients)
        lengths = [self.bounds.length(part, minimum.point) + largest * minimum.away for part in self.parts]
        reason = "a ball around a point that is nearly stationary"
        found = [
            Constant("distance2_0", away * (1 + 8 * _EPS), Certificate.UPPER_BOUND, f"the minimiser is in {reason}")
        ]
        if not math.isfinite(largest):
            return [*found, Constant.absent(names[1], f"{NO_PROOF} of a bound of the second derivatives")]
        root = math.sqrt(math.fsum(length**2 for length in lengths) / self.n) * (1 + 8 * _EPS)
        return [*found, Constant(names[1], root, Certificate.UPPER_BOUND, f"gradients in {reason}")]

    def of_gradients(self, name: str) -> Constant | None:
        """See `Problem.of_gradients`: a bound of the gradients, where there is one."""
        if name != "gradient_bound":
            return None
        found = self.bounds.steepest
        if not math.isfinite(found):
            return Constant.absent(name, f"{NO_PROOF} of a bound of the gradients")
        return Constant(name, found, Certificate.UPPER_BOUND, f"gradients, by {_SPACE}")

    @cached_property
    def generalized_smoothness(self) -> tuple[float, float] | None:
        """See `Problem.generalized_smoothness`: for one variable, where there is no L, with the first L_1 that does.

        Every x has ``|f''| <= L_0 + L_1 |f'|`` where L_0^2 is at least f''^2 - L_1^2 f'^2.
        """
        if self.d > 1 or math.isfinite(max(max(-low, high) for low, high in self.bounds.of_clients)):
            return None
        curves = [sp.sympify(f).subs(self.variables[0], X) for f in self.functions]
        for L_1 in _CHANGES:
            tops = [on_line(sp.expand(sp.diff(f, X, 2) ** 2 - L_1**2 * sp.diff(f, X) ** 2)).high for f in curves]
            if math.isfinite(max(tops)):
                return math.sqrt(max(0.0, *tops)) * (1 + 8 * _EPS), float(L_1)
        return None

    @property
    def least_curvature(self) -> float | None:
        """A lower bound of the eigenvalues of every client's Hessian."""
        least = min(low for low, _ in self.bounds.of_clients)
        return least if math.isfinite(least) else None

    @property
    def minimum_known(self) -> bool:
        """Whether the infimum lies between two numbers that are near, and the minimiser in a small ball."""
        return self.minimiser is not None and self.bounds.minimum.away <= _NEAR

    def centre(self) -> tuple[Array, float]:
        return np.asarray(self.minimiser), 0.0

    @property
    def lowest(self) -> float:
        """A lower bound of f."""
        return self.bounds.minimum.low

    @property
    def minimiser(self) -> Array | None:
        """A point (d,) near the minimiser; None where it is not known."""
        return self.bounds.minimum.point

    @property
    def doubts(self) -> dict[str, float]:
        """Errors of gaps and distances, beside what a run rounds."""
        minimum = self.bounds.minimum
        if minimum.point is None:
            return {}
        # A value is a sum of terms that may cancel.
        size = max(1.0, *(abs(self.bounds.value(f, minimum.point)[1]) for f in self.functions))
        reach = 4 * max(1.0, float(np.linalg.norm(minimum.point)))
        # Farther away the difference is less than what a run rounds.
        return {
            "gap": minimum.high - minimum.low + 64 * self.n * _EPS * size,
            "distance2": minimum.away * (minimum.away + reach),
        }


def _numeric(f: sp.Expr, what: Any, variables: Sequence[sp.Symbol]) -> Any:
    try:
        return sp.lambdify(variables, what, NUMERIC, cse=True)
    except (TypeError, ValueError, SyntaxError, NameError, NotImplementedError):
        raise InputError(unknown(f)) from None


def _checked(declared: object) -> dict[str, float]:
    if not isinstance(declared, Mapping) or not all(isinstance(name, str) for name in declared):
        raise InputError(f"declared is {declared!r}: give constants by name, such as {{'L': 3}}")
    for name in declared:
        if name not in DECLARABLE:
            raise InputError(f"declared: no constant {name!r}; {did_you_mean(name, DECLARABLE)}")
    found = {name: real(name, value) for name, value in declared.items()}
    for name, value in found.items():
        if name != "infimum" and value < 0:
            raise InputError(f'declared: {name}={value:g} breaks "{name} >= 0"')
    return found
