"""Separable functions with piecewise constant curvature: Huber's, hinges that are smoothed, ramps, non-convex ones.

Every smooth function of one variable is a limit of such functions, and each of them is followed in rationals as a
quadratic is. What is true of quadratics alone is told from what is true of smooth functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bounds.printing.notation import Notation
from ratecheck.algebra.outward import root_above, rounded
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, floats, nonnegative, real, whole
from ratecheck.problems.constants import CANNOT_TELL, Constant, Constants
from ratecheck.problems.data import ProblemData
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.problems.matrices import spread
from ratecheck.problems.npz import npz_arrays
from ratecheck.problems.piecewise_quadratic.piecewise_gradients import PiecewiseGradients
from ratecheck.problems.problem import SingleLevel, WrittenProblem
from ratecheck.problems.sentence import functions

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

# Numbers of the arrays: constants are computed in rationals, breakpoint by breakpoint.
_LARGEST_SIZE = 20_000
_LARGEST = 1e60
# Constants that are roots.
ROOTS = frozenset({"b", "minimiser_heterogeneity", "gradient_bound", "dissimilarity_G", "dissimilarity_B"})
_EPS = float(np.finfo(float).eps)
# Gradients at breakpoints beyond which those that matter are told in floats first, and what these may be off.
_MANY, _OFF = 5_000, 1e-11
# What a round changes: measured beside what a method records, ``gap`` and ``distance2``.
CHANGES = frozenset({"change:gap", "change:distance2", "descent", "inner_u", "du2"})
_GAPS, _DISTANCES = ({name, f"change:{name}"} for name in ("gap", "distance2"))
_NO_GAP = "there is no gap: f is unbounded below"
_NO_DISTANCE = "there is no distance to the minimiser: f has none, or several"
_CANCEL = "far away the clients' curvatures cancel in f"
_NO_COMMON = "the clients' functions are not minimal at one point"


def _arrays(path: str) -> dict[str, Array]:
    return npz_arrays(Path(path), ("kinks", "curvatures", "slopes"))


class Piecewise(SingleLevel):
    """n clients with f_i(x) = sum_c phi_ic(x_c), each phi_ic'' constant between breakpoints; all variables are shared.

    ``kinks`` (n, d, J) ascend along the last axis, ``curvatures`` (n, d, J + 1) are the second derivatives left of the
    first breakpoint, between them and right of the last one, and ``slopes`` (n, d) are the derivatives at 0. All
    constants are exact, since f is evaluated in rationals: smoothness, the infimum, dissimilarity on all of R^d (which
    exists where the clients' outer curvatures agree), strong convexity, the Polyak-Lojasiewicz inequality.

    Raises `InputError` for shapes that do not fit, breakpoints that do not ascend, numbers that are not finite or
    larger than 1e60, and for more than 20,000 numbers.

    Huber's function, ``x^2/2`` up to 1 and ``|x| - 1/2`` beyond, from 3 on:

    >>> import ratecheck as rc
    >>> huber = rc.problems.Piecewise([[[-1.0, 1.0]]], [[[0.0, 1.0, 0.0]]], [[0.0]])
    >>> huber.value([3.0], [[]]), huber.constants([3.0])["F_0"].value, huber.constants()["L"].value
    (2.5, 2.5, 1.0)
    """

    kind: ClassVar[str] = "piecewise"
    piecewise: ClassVar[bool] = True
    stored: ClassVar[tuple[str, ...]] = ("kinks", "curvatures", "slopes")
    degrees: ClassVar[Mapping[str, int]] = {"curvatures": 2, "slopes": 1}
    points: ClassVar[frozenset[str]] = frozenset({"kinks"})
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("piecewise", "synthetic"),
        WrittenProblem("piecewise:", "from_file", _arrays, own_clients=True),
    )

    def __init__(self, kinks: ArrayLike, curvatures: ArrayLike, slopes: ArrayLike) -> None:
        self.curvatures, self.slopes = floats("curvatures", curvatures), floats("slopes", slopes)
        kinks = floats("kinks", kinks)
        if self.curvatures.ndim != 3 or 0 in self.curvatures.shape:
            raise InputError(f"curvatures: shape {self.curvatures.shape}; needed (n, d, J + 1), each at least 1")
        n, d, pieces = self.curvatures.shape
        # Without a breakpoint a list of lists says nothing of the last axis.
        self.kinks = kinks.reshape(n, d, 0) if kinks.size == 0 and pieces == 1 else kinks
        for name, array, shape in (("kinks", self.kinks, (n, d, pieces - 1)), ("slopes", self.slopes, (n, d))):
            if array.shape != shape:
                raise InputError(f"{name}: shape {array.shape}; needed {shape}, to fit curvatures {(n, d, pieces)}")
        self.kinks, self.curvatures, self.slopes = (
            bounded(name, getattr(self, name), _LARGEST) for name in self.stored
        )
        if (falling := self.kinks[:, :, 1:] < self.kinks[:, :, :-1]).any():
            i, c, j = (int(k) for k in np.argwhere(falling)[0])
            here, after = self.kinks[i, c, j], self.kinks[i, c, j + 1]
            raise InputError(f"kinks[{i}, {c}]: {here:g} is followed by {after:g}; needed ascending kinks")
        if self.curvatures.size > _LARGEST_SIZE:
            raise InputError(f"{self.curvatures.size} curvatures are more than {_LARGEST_SIZE}")
        self.n, self.d, self.d_u, self.d_v = n, d, d, 0

    @classmethod
    def stacked(cls, kinks: Array, curvatures: Array, slopes: Array) -> list[Piecewise]:
        """N problems by arrays (N, n, d, ...), which are looked at all at once; raises `InputError` as one does."""
        N, n, d = slopes.shape
        found, most = list[Piecewise](), max(_LARGEST_SIZE // max(curvatures[0].size, 1), 1)
        for first in range(0, N, most):
            parts = (each[first : first + most] for each in (kinks, curvatures, slopes))
            found += cls(*(part.reshape(-1, d, *part.shape[3:]) for part in parts)).divided(n, cls.stored)
        return found

    @classmethod
    def synthetic(
        cls,
        n: int = 10,
        d: int = 5,
        *,
        kinks: int = 2,
        curvature: float = 1.0,
        convex: bool = True,
        tails: float = 1.0,
        heterogeneity: float = 1.0,
        seed: int = 0,
    ) -> Piecewise:
        """A seeded instance with L = 1: random breakpoints, and curvatures between them, for every client its own.

        Far away all clients have the same curvature, which is positive, so that there is a minimum and a bound of the
        dissimilarity. ``curvature`` in [0, 1] blends curvatures of 1/2 into random ones from [0, 1], from [-1, 1] where
        f need not be ``convex``. ``heterogeneity`` is the dissimilarity of the gradients at 0. ``tails`` is a factor of
        the curvature far away: 0 for functions that are linear there, as steep to either side as to the other.
        """
        n, d, kinks, seed = whole("n", n, 1), whole("d", d, 1), whole("kinks", kinks, 0), whole("seed", seed, 0)
        check_size(float(n) * d * (2 * kinks + 2), n=n, d=d, kinks=kinks)
        if not 0 <= real("curvature", curvature) <= 1:
            raise InputError(f'curvature={curvature:g} breaks "0 <= curvature <= 1"')
        if real("tails", tails) < 0 or (tails == 0 and kinks < 2):
            raise InputError(f'tails={tails:g} breaks "tails >= 0", with kinks >= 2 where it is 0')
        rng = np.random.default_rng([seed, n, d, kinks])
        places = np.sort(rng.standard_normal((n, d, kinks)), axis=2)
        bent = rng.uniform(0.0 if convex else -1.0, 1.0, (n, d, kinks + 1))
        bent[..., [0, -1]] = rng.uniform(0.1, 1.0, (1, d, 1))
        bent = (1 - curvature) / 2 + curvature * bent
        bent[..., [0, -1]] *= tails
        bent /= np.abs(bent).max()
        slopes = rng.standard_normal((n, d))
        middle = slopes.mean(axis=0)
        if tails == 0:
            widths = np.diff(places)
            left = np.clip(-places[..., :-1], 0.0, widths)
            middle = (bent[..., 1:-1] * (left - widths / 2)).sum(axis=-1)
        return cls(places, bent, middle + spread(slopes, heterogeneity))

    @classmethod
    def from_file(cls, arrays: Mapping[str, Array]) -> Piecewise:
        """The problem in an ``.npz`` file with arrays ``kinks``, ``curvatures`` and ``slopes``."""
        return cls(arrays["kinks"], arrays["curvatures"], arrays["slopes"])

    # --- Exactly ---

    @cached_property
    def curves(self) -> list[list[ScalarFunction]]:
        """phi_ic by client and coordinate."""
        return [
            [
                ScalarFunction.of(
                    [*map(Fraction, self.kinks[i, c].tolist())],
                    [*map(Fraction, self.curvatures[i, c].tolist())],
                    Fraction(float(self.slopes[i, c])),
                )
                for c in range(self.d)
            ]
            for i in range(self.n)
        ]

    @cached_property
    def means(self) -> list[ScalarFunction]:
        """(1/n) sum_i phi_ic by coordinate."""
        return [ScalarFunction.mean([own[c] for own in self.curves]) for c in range(self.d)]

    @cached_property
    def lowest(self) -> Fraction | None:
        """Inf f; None where f is unbounded below."""
        return _sum(curve.infimum for curve in self.means)

    @cached_property
    def minimiser(self) -> list[Fraction] | None:
        """The only minimiser (d,); None where there is none, or several."""
        points = [point for curve in self.means if (point := curve.minimiser) is not None]
        return points if len(points) == self.d else None

    def exact(self, start: list[Fraction]) -> dict[str, Callable[[], Fraction | None]]:
        """The computation of each constant in rationals, by name; of `ROOTS` the square, None where there is none."""
        return {
            **dict.fromkeys(("L", "L_u"), lambda: max(map(abs, self._bent))),
            **dict.fromkeys(("L_v", "L_uv", "L_vu"), lambda: Fraction(0)),
            "F_0": lambda: self._gap(start),
            "B_0": lambda: self._squares(start),
            "mean_B_0": lambda: self._squares(start) / self.n,
            "b": lambda: _sum(map(self._spread2, range(self.d))),
            "convexity": lambda: min(self._bent),
            "weak_convexity": lambda: max(-min(self._bent), Fraction(0)),
            "strong_convexity": lambda: _positive(min(h for curve in self.means for h in curve.curvatures)),
            "clients_strong_convexity": lambda: _positive(min(self._bent)),
            "polyak_lojasiewicz": lambda: self._of_all(curve.dominance for curve in self.means),
            "quadratic_growth": lambda: self._of_all(curve.growth for curve in self.means),
            "distance2_0": lambda: self._distance2(start),
            "minimiser_heterogeneity": self._heterogeneity2,
            "gradient_bound": lambda: self._gradients.bound2,
            "dissimilarity_G": lambda: None if (pair := self._gradients.pair2) is None else pair[0],
            "dissimilarity_B": lambda: None if (pair := self._gradients.pair2) is None else pair[1],
            "interpolation": lambda: Fraction(0) if self._gradients.interpolates else None,
        }

    @cached_property
    def _gradients(self) -> PiecewiseGradients:
        return PiecewiseGradients(self.curves, self.means)

    @property
    def _bent(self) -> list[Fraction]:
        return [h for own in self.curves for curve in own for h in curve.curvatures]

    def _gap(self, start: list[Fraction]) -> Fraction | None:
        values = (curve.value(x) for curve, x in zip(self.means, start, strict=True))
        return None if self.lowest is None else sum(values, Fraction(0)) - self.lowest

    @staticmethod
    def _of_all(found: Iterable[Fraction | None]) -> Fraction | None:
        """The least over the coordinates; None where one has none."""
        each = [*found]
        return None if None in each else min(filter(None, each))

    def _distance2(self, start: list[Fraction]) -> Fraction | None:
        point = self.minimiser
        return None if point is None else _sum((x - y) ** 2 for x, y in zip(start, point, strict=True))

    def _heterogeneity2(self) -> Fraction | None:
        return None if self.minimiser is None else self._squares(self.minimiser) / self.n

    def _squares(self, point: list[Fraction]) -> Fraction:
        """sum_i ||grad f_i||^2."""
        pairs = ((curve, x) for own in self.curves for curve, x in zip(own, point, strict=True))
        return sum((curve.gradient(x) ** 2 for curve, x in pairs), Fraction(0))

    def _spread2(self, c: int) -> Fraction | None:
        """The largest (1/n) sum_i (d_c f_i - d_c f)^2: convex on every piece, so that it is reached at a breakpoint."""
        mean, own = self.means[c], [each[c] for each in self.curves]
        if len({curve.curvatures[0] for curve in own}) > 1 or len({curve.curvatures[-1] for curve in own}) > 1:
            return None
        # A breakpoint of one client may cancel in the mean.
        kinks = sorted({kink for curve in own for kink in curve.kinks}) or [Fraction(0)]
        if len(kinks) * self.n > _MANY:
            kinks = self._largest_in_floats(c, kinks)
        return max(
            sum(((curve.gradient(x) - mean.gradient(x)) ** 2 for curve in own), Fraction(0)) / self.n for x in kinks
        )

    def _largest_in_floats(self, c: int, kinks: list[Fraction]) -> list[Fraction]:
        """The breakpoints at which the spread of the gradients is largest, up to the rounding of floats."""
        x = np.array([float(kink) for kink in kinks])
        low, high = (np.pad(self.kinks[:, c], ((0, 0), side), constant_values=end)
                     for side, end in (((1, 0), -np.inf), ((0, 1), np.inf)))  # fmt: skip
        gradients = np.repeat(self.slopes[:, c, None], len(x), axis=1)
        for j in range(self.curvatures.shape[2]):
            ends = low[:, j, None], high[:, j, None]
            gradients += self.curvatures[:, c, j, None] * (np.clip(x, *ends) - np.clip(0.0, *ends))
        spreads = np.mean((gradients - gradients.mean(axis=0)) ** 2, axis=0)
        off = _OFF * float(np.abs(gradients).max())
        least = spreads.max() * (1 - _OFF) - 2 * off * (2 * math.sqrt(float(spreads.max())) + off)
        return [kinks[int(k)] for k in np.flatnonzero(spreads >= least)]

    # --- The interface ---

    def value(self, u: ArrayLike, v: ArrayLike) -> float:
        """f(u), 0 at 0; ``v`` is empty."""
        points = [Fraction(float(x)) for x in np.ravel(u)]
        return float(sum((curve.value(x) for curve, x in zip(self.means, points, strict=True)), Fraction(0)))

    def gradients(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Gradients of every f_i at u (d,): arrays (n, d) and (n, 0)."""
        points = [Fraction(float(x)) for x in np.ravel(u)]
        found = [[float(curve.gradient(x)) for curve, x in zip(own, points, strict=True)] for own in self.curves]
        return np.array(found), np.zeros((self.n, 0))

    def constants(
        self, u0: ArrayLike | None = None, v0: ArrayLike | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """See `SingleLevel.constants`; with those of the minimum, where there is one.

        Numbers that are no floats are rounded to the side on which they are as true.
        """
        point = np.zeros(self.d) if u0 is None else floats("u0", u0)
        if point.shape != (self.d,) or not np.isfinite(point).all():
            raise InputError(f"u0 has the shape {point.shape}, the problem needs {self.d} finite numbers")
        sigma_u, _ = nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v)
        start = [Fraction(float(x)) for x in point]
        nothing, no_minimiser = "no personal variables", "f has no minimiser, or several"
        apart = "different outer curvatures make the dissimilarity unbounded"
        flat = "||grad f||^2 / (f - inf f) comes as near to 0 as one likes"
        slow = "(f - inf f) / dist^2 comes as near to 0 as one likes, or minimisers lie apart"
        found = (
            ("L_u", "largest curvature", ""),
            ("L", "largest curvature", ""),
            ("F_0", "minimum, piece by piece", "f is unbounded below"),
            ("B_0", "gradients at the start", ""),
            ("b", "largest at a kink", apart),
            ("strong_convexity", "least curvature of f", "f is not strongly convex"),
            ("clients_strong_convexity", "least curvature of a client", "a client is not strongly convex"),
            ("polyak_lojasiewicz", "least ratio, at a kink or far away", flat),
            ("quadratic_growth", "least ratio, at a kink, on a piece or far away", slow),
            ("distance2_0", "distance to the minimiser", no_minimiser),
            ("minimiser_heterogeneity", "gradients at the minimiser", no_minimiser),
            *((name, nothing, "") for name in ("L_v", "L_uv", "L_vu")),
        )
        return Constants(
            *(self._constant(name, start, reason, absent) for name, reason, absent in found),
            Constant.exact("sigma_v", 0.0, nothing),
            Constant.exact("sigma_u", sigma_u, "additive Gaussian noise"),
        )

    def _constant(self, name: str, start: list[Fraction], reason: str, absent: str) -> Constant:
        exact = self.exact(start)[name]()
        if exact is None:
            return Constant.absent(name, absent)
        down = name in ("strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz", "quadratic_growth")
        value = root_above(exact) if name in ROOTS else _rounded(exact, down=down)
        if math.isinf(value):
            return Constant.absent(name, f"{CANNOT_TELL}: it is beyond the largest of floats")
        return Constant.exact(name, value, reason)

    def of_gradients(self, name: str) -> Constant | None:
        about = {
            "gradient_bound": ("largest at kinks", "a client is curved far away"),
            "dissimilarity_G": ("largest at a kink or on a piece", _CANCEL),
            "dissimilarity_B": ("from the curvatures far away", _CANCEL),
            "interpolation": ("the infimum of f is the mean of the clients' infima", _NO_COMMON),
        }
        return self._constant(name, [], *about[name]) if name in about else None

    def scaled(self, rows: NDArray[np.intp], a: float, w: float) -> Piecewise:
        return Piecewise(self.kinks[rows] * w, self.curvatures[rows] * a / w**2, self.slopes[rows] * a / w)

    def centre(self) -> tuple[Array, float]:
        if self.minimiser is None:
            raise InputError(_NO_DISTANCE)
        return np.array([float(x) for x in self.minimiser]), 0.0

    @property
    def doubts(self) -> dict[str, float]:
        """Errors of gaps beside what a run rounds: near the minimum these are differences of larger values."""
        if self.lowest is None:
            return {}
        # Several minimisers lie between breakpoints.
        between = np.abs(self.kinks).max(axis=(0, 2), initial=0.0)
        point = between if self.minimiser is None else np.abs([float(x) for x in self.minimiser])
        terms = (np.abs(self.slopes) + np.abs(self.curvatures).max(axis=2) * point) * point
        # Farther away the difference is less than what a run rounds.
        return {"gap": 64 * self.n * _EPS * float(terms.sum(axis=1).max())}

    def unmeasured(self, names: Collection[str], recorded: Collection[str], *, random: bool) -> str:
        """See `Problem.unmeasured`; what a round changes is measured in runs alone in which nothing is random."""
        return self.undefined(names, {*recorded} if random else {*recorded, *CHANGES})

    def undefined(self, names: Collection[str], known: Collection[str]) -> str:
        """Why one of these quantities is not ``known``, or has no value on these functions; empty where all have."""
        if unknown := sorted({*names} - {*known}):
            return f"{', '.join(unknown)} is not measured on piecewise quadratics: take a quadratic problem"
        if {*names} & _GAPS and self.lowest is None:
            return _NO_GAP
        return _NO_DISTANCE if {*names} & _DISTANCES and self.minimiser is None else ""

    @property
    def minimum_known(self) -> bool:
        """Always: see `lowest` and `minimiser`."""
        return True

    @cached_property
    def generalized_smoothness(self) -> tuple[float, float] | None:
        """See `Problem.generalized_smoothness`: the least L_1 with which half of L is enough, where there is one.

        A Hessian is diagonal, and no coordinate of a gradient is larger than its norm.
        """
        pieces = [each for client in self.curves for curve in client for each in curve.slopes()]
        half = max(abs(h) for h, _ in pieces) / 2
        steep = [(abs(h), least) for h, least in pieces if abs(h) > half]
        if not steep or min(least for _, least in steep) == 0:
            return None
        L_1 = Fraction(math.nextafter(float(max((h - half) / least for h, least in steep)), math.inf))
        L_0 = max(abs(h) - L_1 * least for h, least in pieces)
        return math.nextafter(float(L_0), math.inf), float(L_1)

    @property
    def least_curvature(self) -> float:
        """The least curvature of a client anywhere."""
        return float(self.curvatures.min())

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`; there is no proximal map."""
        from ratecheck.kernels.oracle import PIECEWISE, Oracle

        if name != "gradient":
            raise InputError(f"a {self.kind} problem has no {name} oracle: use a method that takes gradients")
        pieces = np.ascontiguousarray(np.concatenate([self.kinks, self.curvatures], axis=2))
        return Oracle(PIECEWISE, np.zeros((1, 1, 1)), np.ascontiguousarray(-self.slopes), pieces, 0.0, 0, 0, 0.0, noise)

    @property
    def bends(self) -> int:  # type: ignore[override]  # counted when needed
        """The number of breakpoints, of all clients and coordinates, at which the curvature changes."""
        return int(np.count_nonzero(np.diff(self.curvatures)))

    def straighter(self) -> Iterator[Callable[[Any], ProblemData]]:
        """See `ProblemData.straighter`: one breakpoint less for all, then a neighbour's curvature on a piece."""
        *rows, pieces = self.curvatures.shape
        yield from (partial(_without_kink, j=j) for j in reversed(range(pieces - 1)))
        for *row, j in np.ndindex(*rows, pieces):
            for other in (j - 1, j + 1):
                if 0 <= other < pieces:
                    yield partial(_bent_as, place=(*row, j), other=(*row, other))

    def without_variable(self, c: int) -> Piecewise:
        """See `ProblemData.without_variable`; one is left."""
        if self.d == 1:
            raise InputError("no variable to leave out")
        return self.with_arrays({name: np.delete(array, c, axis=1) for name, array in self.arrays().items()})

    def sentence(self, notation: Notation, noises: Mapping[str, str]) -> list[str]:
        names = notation.names("x", self.d)
        return functions("f", names, [_separable(curves, names, notation) for curves in self.curves], notation)


def _without_kink(problem: ProblemData, j: int) -> ProblemData:
    """The problem without the breakpoint j of every client and variable, and the piece to its left."""
    found = problem.arrays()
    return problem.with_arrays({name: np.delete(found[name], j, axis=2) for name in ("kinks", "curvatures")})


def _bent_as(problem: ProblemData, place: tuple[int, ...], other: tuple[int, ...]) -> ProblemData:
    """The problem with a piece of the curvature of another one."""
    curvatures = problem.arrays()["curvatures"]
    curvatures[place] = curvatures[other]
    return problem.with_arrays({"curvatures": curvatures})


def _separable(curves: Sequence[ScalarFunction], names: Sequence[str], notation: Notation) -> str:
    """A sum of functions of one variable each, up to a constant."""
    parts = [curve.formula(name, notation) for curve, name in zip(curves, names, strict=True)]
    parts = [part for part in parts if part != "0"]
    if len(parts) == 1 or notation.tex:
        return " + ".join(parts) or "0"
    return " + ".join(f"({part})" for part in parts) or "0"


def _positive(number: Fraction) -> Fraction | None:
    """The number; None unless it is positive."""
    return number if number > 0 else None


def _sum(values: Iterable[Fraction | None]) -> Fraction | None:
    """The sum; None where one of them is."""
    total = Fraction(0)
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _rounded(value: Fraction, *, down: bool = False) -> float:
    """The float next to a rational, on the side on which a constant is as true."""
    return rounded(value, -math.inf if down else math.inf)
