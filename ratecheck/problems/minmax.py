"""Convex-concave quadratic min-max problems, whose oracle answers with a monotone operator that is no gradient.

Source of the notions (monotone, strongly monotone, cocoercive): Bauschke, Combettes, "Convex Analysis and Monotone
Operator Theory in Hilbert Spaces" (2017), Chapters 4, 20 and 22.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bounds.printing.notation import Notation
from ratecheck.algebra.linear_algebra import Entries, rationals, semidefinite
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, floats, nonnegative, whole, within
from ratecheck.problems.constants import CANNOT_TELL, Certificate, Constant, Constants
from ratecheck.problems.matrices import flat_share, is_diagonal, largest_norm, rounded_mean, spd, spread, symmetric
from ratecheck.problems.npz import npz_arrays
from ratecheck.problems.problem import SingleLevel, WrittenProblem, affine_oracle
from ratecheck.problems.quadratic_functions import Forms
from ratecheck.problems.sentence import functions, quadratic

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle
    from ratecheck.problems.two_level.inner import InnerProblem

_ARRAYS = ("A", "B", "C", "a", "c")
# Relative size below which an eigenvalue counts as the zero that it is in exact arithmetic, and largest number.
_ZERO, _LARGEST = 1e-12, 1e100
_EPS = float(np.finfo(float).eps)
# What a cocoercivity constant is moved by so that it can be proved, and variables up to which that is decided in
# rationals while a search waits.
_MARGIN, _RATIONAL = 1e-9, 24
# What is off by no more than this share is called exact.
_CALLED_EXACT = 1e-10
NO_ZERO = "the mean operator has no zero"
_NO_DISTANCE = f"there is no distance to a zero: {NO_ZERO}"


def _load(path: str) -> Mapping[str, Array]:
    return npz_arrays(Path(path), _ARRAYS)


class MinMax(SingleLevel):
    """n convex-concave quadratics, of which the mean is minimised over x and maximised over y.

    With::

        f_i(x, y) = x'A_i x/2 + x'B_i y - y'C_i y/2 - a_i'x + c_i'y

    The oracle answers with ``F_i(x, y) = (grad_x f_i, -grad_y f_i) = M_i z - (a_i, c_i)``, where z = (x, y) and
    M_i = [[A_i, B_i], [-B_i', C_i]]. M_i is not symmetric, so that F_i is no gradient; it is monotone, since its
    symmetric part has the blocks A_i and C_i. A saddle point is a zero of the mean F of the F_i.

    Shapes: ``A`` (n, d_x, d_x), ``B`` (n, d_x, d_y), ``C`` (n, d_y, d_y), ``a`` (n, d_x), ``c`` (n, d_y), with d_x and
    d_y at least 1. To methods of shared variables u is z, so that any of them can be run; methods that take partial
    gradients have the blocks x and y. The start is ``x0`` (d,), which holds x and y.

    Raises `InputError` where a shape does not fit, an entry is no number or larger than 1e100, or an A_i or C_i is not
    symmetric and positive semidefinite.

    >>> import ratecheck as rc
    >>> rotation = rc.problems.MinMax([[[0.0]]], [[[1.0]]], [[[0.0]]], [[0.0]], [[0.0]])
    >>> rotation.gradients([3.0, 4.0], [[]])[0]
    array([[ 4., -3.]])
    """

    kind: ClassVar[str] = "minmax"
    affine: ClassVar[bool] = True
    potential: ClassVar[bool] = False
    stored: ClassVar[tuple[str, ...]] = _ARRAYS
    symmetric: ClassVar[frozenset[str]] = frozenset({"A", "C"})
    degrees: ClassVar[Mapping[str, int]] = {"A": 2, "B": 2, "C": 2, "a": 1, "c": 1}
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("minmax", "synthetic"),
        WrittenProblem("minmax:", "from_file", _load, own_clients=True),
    )

    def __init__(self, A: ArrayLike, B: ArrayLike, C: ArrayLike, a: ArrayLike, c: ArrayLike) -> None:
        B_ = floats("B", B)
        if B_.ndim != 3 or 0 in B_.shape:
            raise InputError(f"B: shape {B_.shape}; needed (n, d_x, d_y), each at least 1")
        self.n, self.d_x, self.d_y = B_.shape
        self.B = bounded("B", B_, _LARGEST, B_.shape)
        self.A = _semidefinite("A", bounded("A", A, _LARGEST, (self.n, self.d_x, self.d_x)))
        self.C = _semidefinite("C", bounded("C", C, _LARGEST, (self.n, self.d_y, self.d_y)))
        self.a = bounded("a", a, _LARGEST, (self.n, self.d_x))
        self.c = bounded("c", c, _LARGEST, (self.n, self.d_y))
        self.d = self.d_u = self.d_x + self.d_y
        self.d_v = 0

    @classmethod
    def synthetic(
        cls,
        n: int = 10,
        d_x: int = 5,
        d_y: int = 5,
        *,
        coupling: float = 0.5,
        condition: float = 10.0,
        heterogeneity: float = 1.0,
        curvature: float = 0.0,
        seed: int = 0,
    ) -> MinMax:
        """A seeded instance whose operators have the Lipschitz constant L = 1.

        M_i is (1 - coupling) times the blocks A_i and C_i beside coupling times B_i, scaled so that the largest norm is
        1: ``coupling`` 0 is two separate problems, 1 is purely bilinear. ``condition`` (>= 1) is the condition number
        of A_i and C_i, and the quotient of the largest and the least singular value of B_i. ``curvature`` in [0, 1]
        blends operators that clients have in common into their own; ``heterogeneity`` is the root of
        (1/n) sum_i ||(a_i, c_i) - mean||^2. Raises `InputError` for a parameter outside its range.
        """
        n, d_x, d_y, seed = whole("n", n, 1), whole("d_x", d_x, 1), whole("d_y", d_y, 1), whole("seed", seed, 0)
        check_size(float(n) * (d_x + d_y) ** 2, n=n, d_x=d_x, d_y=d_y)
        limits = {"coupling": (coupling, 0, 1), "condition": (condition, 1, math.inf), "curvature": (curvature, 0, 1),
                  "heterogeneity": (heterogeneity, 0, math.inf)}  # fmt: skip
        for name, (value, low, high) in limits.items():
            within(name, value, low, high)
        rng = np.random.default_rng([seed, n, d_x, d_y])
        common, *own = (_blocks(rng, d_x, d_y, condition) for _ in range(n + 1))
        A, B, C = (
            np.array([(1 - curvature) * shared + curvature * each for each in single])
            for shared, single in zip(common, zip(*own, strict=True), strict=True)
        )
        A, B, C = (1 - coupling) * A, coupling * B, (1 - coupling) * C
        size = largest_norm(_matrices(A, B, C))
        linear = rng.standard_normal((n, d_x + d_y))
        linear = linear.mean(axis=0) + spread(linear, heterogeneity)
        return cls(A / size, B / size, C / size, linear[:, :d_x], linear[:, d_x:])

    @classmethod
    def from_file(cls, arrays: Mapping[str, Array]) -> MinMax:
        """The problem in an ``.npz`` file with arrays A, B, C, a and c."""
        return cls(*(arrays[name] for name in _ARRAYS))

    @property
    def layout(self) -> dict[str, int]:
        """Coordinates of u, which is (x, y), and of x and y by themselves for methods with partial gradients."""
        return {"u": self.d, "v": 0, "x": self.d_x, "y": self.d_y}

    @property
    def sizes(self) -> str:
        return f"{self.d_x} variables to minimise over and {self.d_y} to maximise over"

    def operator(self) -> tuple[Array, Array]:
        """M (n, d, d) and (a, c) (n, d): F_i(z) = M_i z - (a_i, c_i)."""
        return self._operator

    @cached_property
    def _operator(self) -> tuple[Array, Array]:
        return _matrices(self.A, self.B, self.C), np.concatenate([self.a, self.c], axis=1)

    @property
    def forms(self) -> Forms:
        """The F_i in floats, and ``exactly`` in rationals."""
        return Forms(*self._operator, self.d)

    @cached_property
    def mean(self) -> tuple[Array, Array]:
        """The means of the M_i (d, d) and of the (a_i, c_i) (d,)."""
        M, c = self._operator
        return rounded_mean(M), rounded_mean(c)

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`; raises `InputError` for proximal steps, which are resolvents here."""
        if name != "gradient":
            self.inner(lambda_)
        return affine_oracle(*self._operator, noise)

    def inner(self, lambda_: float) -> InnerProblem:
        """See `SingleLevel.inner`: proximal steps would be resolvents, which are not computed."""
        raise InputError(f"proximal steps on a {self.kind} problem are resolvents of its operator, not computed here")

    def gradients(self, u: Array, v: Array) -> tuple[Array, Array]:
        """F_i (n, d) at u = (x, y), and nothing (n, 0)."""
        M, c = self._operator
        return M @ np.asarray(u, dtype=float) - c, np.zeros((self.n, 0))

    def value(self, u: Array, v: Array) -> float:
        """f(x, y) = (1/n) sum_i f_i(x, y) at u = (x, y), which is minimised over x and maximised over y."""
        x, y = np.split(np.asarray(u, dtype=float), [self.d_x])
        A, B, C, a, c = (getattr(self, name).mean(axis=0) for name in _ARRAYS)
        return float(x @ A @ x / 2 + x @ B @ y - y @ C @ y / 2 - a @ x + c @ y)

    def without_variable(self, c: int) -> MinMax:
        """See `ProblemData.without_variable`: c counts those of x first, and of x and of y one is left."""
        over_x = c < self.d_x
        if (self.d_x if over_x else self.d_y) == 1:
            raise InputError("no variable to leave out")
        own, found = c - (0 if over_x else self.d_x), self.arrays()
        curved, linear = ("A", "a") if over_x else ("C", "c")
        changed = {
            curved: np.delete(np.delete(found[curved], own, axis=1), own, axis=2),
            linear: np.delete(found[linear], own, axis=1),
            "B": np.delete(found["B"], own, axis=1 if over_x else 2),
        }
        return self.with_arrays(changed)

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        """See `Problem.sentence`: f_i(x, y), which is minimised over x and maximised over y."""
        names = [*notation.names("x", self.d_x), *notation.names("y", self.d_y)]
        written = [
            quadratic(np.block([[A, B], [B.T, -C]]), np.concatenate([a, -c]), names, notation)
            for A, B, C, a, c in zip(self.A, self.B, self.C, self.a, self.c, strict=True)
        ]
        return functions("f", names, written, notation)

    # --- The saddle point ---

    @property
    def of_minimum(self) -> tuple[str, ...]:
        """See `Problem.of_minimum`: the distance to the zero."""
        return ("distance2",)

    def centre(self) -> tuple[Array, float]:
        """See `Problem.centre`: the zero of F of least norm."""
        if self.zero is None:
            raise InputError(_NO_DISTANCE)
        return self.zero[0], self.zero[1] / _EPS

    @property
    def several(self) -> str:
        return "" if self.zero is None or self.zero[2] else "F has several zeros"

    def unmeasured(self, names: Collection[str], recorded: Collection[str], *, random: bool) -> str:
        return _NO_DISTANCE if self.zero is None and "distance2" in names else ""

    @cached_property
    def zero(self) -> tuple[Array, float, bool] | None:
        """The zero of F of least norm (d,), how far it may be from the exact one, and whether it is the only one.

        None where F has no zero. Singular values below the rounding of the largest count as the zeros that they are.
        The error is the rest of the equation, with its rounding, over the least singular value that counts.
        """
        M, c = self.mean
        left, values, right = np.linalg.svd(M)
        kept = values > flat_share(len(values)) * values[0]
        along = left.T @ c
        if np.linalg.norm(along[~kept]) > _ZERO * np.linalg.norm(c):
            return None
        point = right[kept].T @ (along[kept] / values[kept])
        if not kept.any():
            return point, 0.0, False
        terms = self.d + 4
        least = float(values[kept][-1]) - terms * _EPS * float(values[0])
        rounding = terms * _EPS * (np.abs(M) @ np.abs(point) + np.abs(c))
        rest = float(np.linalg.norm(np.abs(M @ point - c) + rounding))
        tilted = 0.0 if kept.all() else terms * _EPS * float(values[0]) / least * float(np.linalg.norm(point))
        return point, (rest / least + tilted if least > 0 else math.inf), bool(kept.all())

    # --- Constants ---

    def constants(
        self, u0: Array | None = None, v0: Array | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """Certified constants at the start u0 = (x, y), zeros by default, with additive noise of total size sigma_u.

        ``L`` is the largest norm of an M_i and ``cocoercivity`` the least C with <F_i z - F_i w, z - w> >=
        ||F_i z - F_i w||^2/C for all i; ``strong_convexity`` the mu with which the mean is strongly monotone,
        ``convexity`` and ``clients_strong_convexity`` those of every client, ``distance2_0`` the squared distance of
        the start to the zero of least norm, ``minimiser_heterogeneity`` the root of (1/n) sum_i ||F_i||^2 at the zero,
        if there is one only. A constant
        that does not exist has the certificate `Certificate.ABSENT`. Raises `InputError` for a start of the wrong shape
        or a negative sigma.
        """
        z = np.zeros(self.d) if u0 is None else floats("u0", u0)
        if z.shape != (self.d,):
            raise InputError(f"u0 has the shape {z.shape}, the problem needs {(self.d,)}: x and y one after the other")
        B_0 = float(np.sum(self.gradients(z, np.zeros((self.n, 0)))[0] ** 2))
        return Constants(
            Constant.exact("L", self._lipschitz, "largest norm of an operator M_i"),
            self._cocoercivity,
            self._monotonicity,
            self._strong_monotonicity,
            self._clients_monotonicity,
            self._distance2(z),
            self._heterogeneity,
            Constant.exact("B_0", B_0, "operators at the start"),
            Constant.exact("sigma_u", nonnegative("sigma_u", sigma_u), "additive Gaussian noise"),
            Constant.exact("sigma_v", 0.0 * nonnegative("sigma_v", sigma_v), "no personal variables"),
        )

    @cached_property
    def _lipschitz(self) -> float:
        return largest_norm(self._operator[0])

    @cached_property
    def _monotonicity(self) -> Constant:
        least = min(float(np.linalg.eigvalsh(block).min()) for block in (self.A, self.C))
        return Constant("convexity", max(least, 0.0), Certificate.UPPER_BOUND, "least eigenvalue of the A_i and C_i")

    @cached_property
    def _clients_monotonicity(self) -> Constant:
        """The least eigenvalue of all A_i and C_i: every operator is strongly monotone with it."""
        name, what = "clients_strong_convexity", "least eigenvalue of the A_i and C_i"
        values = np.concatenate([np.linalg.eigvalsh(each).ravel() for each in (self.A, self.C)])
        least = float(values.min()) - 8 * self.d * _EPS * float(np.abs(values).max())
        if least <= 0:
            return Constant.absent(name, "an operator is not strongly monotone")
        return Constant(name, min(least, self._lipschitz), Certificate.LOWER_BOUND, what)

    @cached_property
    def least_eigenvalue(self) -> tuple[float, float]:
        """The least eigenvalue of the mean A and of the mean C, and what it may be off."""
        values = np.concatenate([np.linalg.eigvalsh(rounded_mean(block)) for block in (self.A, self.C)])
        # Those of diagonal matrices are entries.
        known = self.n == 1 and is_diagonal(self.A) and is_diagonal(self.C)
        return float(values.min()), 0.0 if known else 8 * self.d * _EPS * float(np.abs(values).max())

    @cached_property
    def _strong_monotonicity(self) -> Constant:
        """The least eigenvalue as the constant of strong monotonicity, rounded down."""
        least, off = self.least_eigenvalue
        name, what = "strong_convexity", "least eigenvalue of the symmetric part of the mean operator"
        if least <= off:
            return Constant.absent(name, f"the {what} is {max(least, 0.0):.6g}")
        # Where the operator is a multiple of the identity it may exceed L all the same.
        value = min(least - off, self._lipschitz)
        kind = Certificate.EXACT if off <= _CALLED_EXACT * least else Certificate.LOWER_BOUND
        return Constant(name, value, kind, what)

    @cached_property
    def _heterogeneity(self) -> Constant:
        """The root of (1/n) sum_i ||F_i(z*)||^2 at the only zero z* of F."""
        name = "minimiser_heterogeneity"
        if self.zero is None or not self.zero[2]:
            return Constant.absent(name, "F has no zero" if self.zero is None else "F has several zeros")
        value, error = self.forms.gradient_root(*self.zero[:2])
        if not math.isfinite(value):
            return Constant.absent(name, f"{CANNOT_TELL} where the zero of F is")
        kind = Certificate.EXACT if error <= _CALLED_EXACT * value else Certificate.UPPER_BOUND
        return Constant(name, value, kind, "operators at the zero of their mean, by linear algebra")

    @cached_property
    def nearly_cocoercive(self) -> float | None:
        """The least C with C (M_i + M_i')/2 - M_i'M_i positive semidefinite for all i, up to rounding; None for none.

        There is none where an M_i does not vanish along a direction in which its symmetric part does.
        """
        largest = 0.0
        for each in self._operator[0]:
            values, vectors = np.linalg.eigh((each + each.T) / 2)
            kept = values > flat_share(self.d) * max(float(values[-1]), 0.0)
            if float(np.abs(each @ vectors[:, ~kept]).max(initial=0.0)) > _ZERO * self._lipschitz:
                return None
            scaled = each @ (vectors[:, kept] / np.sqrt(values[kept]))
            largest = max(largest, float(np.linalg.norm(scaled, 2)) ** 2 if kept.any() else 0.0)
        return largest

    @cached_property
    def _cocoercivity(self) -> Constant:
        """The constant of cocoercivity that is proved, with a margin where that takes one."""
        name, largest = "cocoercivity", self.nearly_cocoercive
        if largest is None:
            why = "an operator turns a direction along which it is not strongly monotone"
            return Constant.absent(name, why)
        why = "largest eigenvalue of M_i'M_i relative to the symmetric part of M_i"
        if self.d > _RATIONAL:
            return Constant(name, largest * (1 + _MARGIN), Certificate.UPPER_BOUND, f"{why}, and a margin")
        for value, kind in ((largest, Certificate.EXACT), (largest * (1 + _MARGIN), Certificate.UPPER_BOUND)):
            if all(cocoercive(each, Fraction(value)) for each in rationals(self._operator[0])):
                return Constant(name, value, kind, why if kind is Certificate.EXACT else f"{why}, and a margin")
        why = f"{CANNOT_TELL} whether every operator is {largest:.6g}-cocoercive"
        return Constant.absent(name, why)

    def _distance2(self, z: Array) -> Constant:
        name, found = "distance2_0", self.zero
        if found is None:
            return Constant.absent(name, NO_ZERO)
        point, off, _ = found
        distance = float(np.linalg.norm(z - point))
        if not math.isfinite(off) or not math.isfinite(distance):
            return Constant.absent(name, f"{CANNOT_TELL} where the zero of F is")
        if off <= _CALLED_EXACT * distance:
            return Constant.exact(name, (distance + off) ** 2, "distance to the zero by linear algebra")
        why = "distance to the zero, with what the solution of the linear system may be off"
        return Constant(name, (distance + off) ** 2, Certificate.UPPER_BOUND, why)


def cocoercive(M: Entries, value: Fraction) -> bool:
    """Whether <Mz, z> >= ||Mz||^2/value for all z, for a matrix of rationals and a value of at least 0."""
    return semidefinite(value * (M + M.T) / 2 - M.T.dot(M))


def _blocks(rng: np.random.Generator, d_x: int, d_y: int, condition: float) -> tuple[Array, Array, Array]:
    """Random A, B and C, each of norm 1 and with that quotient of the largest and the least singular value."""
    A, C, few = spd(rng, d_x, condition), spd(rng, d_y, condition), min(d_x, d_y)
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0][:, :few] for d in (d_x, d_y))
    sizes = np.concatenate([[1.0], condition ** -rng.random(max(few - 2, 0)), [1.0 / condition]])[:few]
    return A, (left * sizes) @ right.T, C


def _matrices(A: Array, B: Array, C: Array) -> Array:
    """M_i = [[A_i, B_i], [-B_i', C_i]], (n, d, d)."""
    upper, lower = np.concatenate([A, B], axis=2), np.concatenate([-B.transpose(0, 2, 1), C], axis=2)
    return np.concatenate([upper, lower], axis=1)


def _semidefinite(name: str, blocks: Array) -> Array:
    """The blocks, made symmetric; `InputError` where one is not, or has a negative eigenvalue."""
    blocks = symmetric(name, blocks)
    for i, block in enumerate(blocks):
        if (least := float(np.linalg.eigvalsh(block)[0])) < -_ZERO * float(np.abs(block).max()):
            raise InputError(
                f'{name}[{i}] has the eigenvalue {least:.6g}, which breaks "{least:.3g} >= 0": needed a positive '
                "semidefinite matrix, so that f_i is convex in x and concave in y"
            )
    return blocks
