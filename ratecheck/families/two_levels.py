"""Bilevel quadratics with one variable on each level: common Hessians, each client's own, and these with samples."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.certification.uncertified import takes_partial_gradients
from ratecheck.families import coordinates
from ratecheck.families.coordinates import BARELY
from ratecheck.families.family import Coordinates, Family, InstanceCube, InstanceShape
from ratecheck.families.quadratics import coupled, grouped
from ratecheck.families.statements import is_bilevel
from ratecheck.problems import Bilevel, BilevelSamples, Problem
from ratecheck.settings.applicability import method_of

# Local steps and rounds, of few clients and of many.
_NEAR, _NEAR_OF_MANY = (32.0, 32.0), (8.0, 8.0)
# Where all outcomes of samples are followed: local steps, rounds, and outcomes in the end, as a power of 2.
_SAMPLED, _OUTCOMES = (4.0, 8.0), 9
# What speaks of samples.
_OF_SAMPLES = frozenset({Assumption.BILEVEL_NOISE, Assumption.EVERY_SAMPLE})
_NAMES = ("lower", "x", "y")


@dataclass(frozen=True)
class TwoLevels(Family):
    """g_i = A y^2/2 - y (B x + b_i), f_i = [x; y]' Q [x; y]/2 - q_i' [x; y].

    A^-1 B is common to the clients, without which no bound beta_gh of their difference exists.
    """

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements about problems with a lower level."""
        return [InstanceShape(self, n, 1, 1, n) for n in (1, 2)] if is_bilevel(statement) else []

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        """Two groups, which differ in their local steps."""
        return (
            grouped(self, statement, n)
            if is_bilevel(statement) and not takes_partial_gradients(statement.algorithm)
            else ()
        )

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        return ("levels that are not quadratic",)

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return super().reach(statement, shape) or (_NEAR_OF_MANY if shape.groups else _NEAR)

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Curvatures of client 0, and slopes; couplings are read by no problem, and keep the points of old searches."""
        yield from (*(f"curvature {name}" for name in _NAMES), "slope coupling")
        yield from (f"slope {name} {i}" for i in range(cube.shape.n) for name in _NAMES)
        yield from self._own_axes(cube)
        yield from (f"coupling {i}" for i in range(coupled(cube)))

    def _own_axes(self, cube: InstanceCube) -> Iterator[str]:
        yield from ()

    def problem(self, cube: InstanceCube, at: Coordinates) -> Problem:
        return self.problems(cube, [at])[0]

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[Problem]:
        return Bilevel.stacked(*self._parts(cube, points))

    def _parts(self, cube: InstanceCube, points: Sequence[Coordinates]) -> tuple[Array, ...]:
        """A (N, n, 1, 1), B (N, n, 1, 1), b (N, n, 1), Q (N, n, 2, 2) and q (N, n, 2)."""
        slope, size = self._slopes(cube, points), (len(points), cube.shape.n, 1, 1)
        lower = _read(points, "curvature lower", lambda x: max(coordinates.curvature(x), 1 / coordinates.WIDE))
        common = _read(points, "slope coupling", coordinates.slope)
        upper = np.zeros((len(points), 1, 2, 2))
        for k, name in enumerate(("x", "y")):
            upper[:, 0, k, k] = _read(points, f"curvature {name}", coordinates.curvature)
        return (
            np.broadcast_to(lower[:, None, None, None], size),
            np.broadcast_to(common[:, None, None, None], size),
            slope["lower"][..., None],
            np.broadcast_to(upper, (*size[:2], 2, 2)),
            np.stack([slope["x"], slope["y"]], axis=2),
        )

    def _slopes(self, cube: InstanceCube, points: Sequence[Coordinates]) -> dict[str, Array]:
        """Slopes (N, n) of each kind."""
        clients, times = range(cube.shape.n), _read(points, "spread", coordinates.factor)
        slopes = {name: [_read(points, f"slope {name} {i}", coordinates.slope) for i in clients] for name in _NAMES}
        return {name: coordinates.apart(np.array(each), times).T for name, each in slopes.items()}


def _read(points: Sequence[Coordinates], name: str, value: coordinates.Value) -> Array:
    """The numbers (N,) of a coordinate of the points."""
    return np.array([value(at[name]) for at in points])


@dataclass(frozen=True)
class OwnHessians(TwoLevels):
    """Every client's own Hessians: A_i and B_i in proportion, Q_i coupled and of any sign while Phi is bounded below.

    v starts anywhere in its ball.
    """

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def _own_axes(self, cube: InstanceCube) -> Iterator[str]:
        yield from (f"curvature {name} {i}" for i in range(1, cube.shape.n) for name in _NAMES)
        yield from (f"cross {i}" for i in range(cube.shape.n))
        if method_of(cube.statement) is not None:
            yield "start v"

    def _parts(self, cube: InstanceCube, points: Sequence[Coordinates]) -> tuple[Array, ...]:
        n, slope = cube.shape.n, self._slopes(cube, points)

        def of_clients(name: str, bent: coordinates.Value) -> Array:
            names = (f"curvature {name}" + f" {i}" * (i > 0) for i in range(n))
            return np.stack([_read(points, each, bent) for each in names], axis=1)

        A = np.maximum(of_clients("lower", coordinates.curvature), 1 / coordinates.WIDE)
        B = A / A[:, :1] * _read(points, "slope coupling", coordinates.slope)[:, None]
        on_x, on_y = of_clients("x", coordinates.curvature), of_clients("y", coordinates.any_curvature)
        cross = np.stack([_read(points, f"cross {i}", coordinates.centred) for i in range(n)], axis=1)
        Y = B[:, :1] / A[:, :1]
        # Along (x, y*(x)) the curvature of Phi is that of the mean over the clients.
        bend = (on_x + 2 * Y * cross + Y**2 * on_y).mean(axis=1, keepdims=True)
        on_x = on_x + np.maximum(-2 * bend, 0.0)
        Q = np.stack([on_x, cross, cross, on_y], axis=2).reshape(len(points), n, 2, 2)
        q = np.stack([slope["x"], slope["y"]], axis=2)
        return A[..., None, None], B[..., None, None], slope["lower"][..., None], Q, q

    def start(self, cube: InstanceCube, at: Coordinates, problem: Problem) -> dict[str, list[float]]:
        """The start of v in the ball of radius L_f/mu_g: L_f is at least the largest gradient at x = y = 0."""
        two = problem.seen_as(Bilevel)
        if "start v" not in at or two is None:
            return {}
        radius = float(np.linalg.norm(two.q, axis=1).max() / two.A.min())
        return {"v0": [coordinates.centred(at["start v"]) * radius]}


@dataclass(frozen=True)
class TwoLevelSamples(OwnHessians):
    """Own Hessians, and samples of two values in first derivatives and in second ones of the lower level."""

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements about samples: constants along all outcomes of them."""
        if method_of(statement) is None or not {*statement.assumptions} & _OF_SAMPLES:
            return ()
        found = [*super().shapes(statement)]
        some = Assumption.UNIFORM_SAMPLING in statement.assumptions and found
        return [*found, InstanceShape(self, 2, 1, 1, 1)] if some else found

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        return *super().missed(others), "noise of more than two values, or in runs of more than 512 outcomes"

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return _SAMPLED

    def _own_axes(self, cube: InstanceCube) -> Iterator[str]:
        yield from super()._own_axes(cube)
        yield from (f"sample {name}" for name in ("f", "f side", "g", "gg", "gg side"))

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[Problem]:
        parts = zip(points, *self._parts(cube, points), strict=True)
        return [BilevelSamples(A, *others, **self._samples(cube, at, float(A.min()))) for at, A, *others in parts]

    def _samples(self, cube: InstanceCube, at: Coordinates, least: float) -> dict[str, Array]:
        """Noise of one size for all clients, where the statement does not say that there is none."""
        statement, n = cube.statement, cube.shape.n
        symbols = {fact: symbol for symbol, fact in statement.vocabulary.facts.items()}

        def size(fact: str, own: float) -> float:
            symbol = symbols.get(fact, "")
            if symbol in statement.settings:
                return float(statement.settings[symbol]) if statement.settings[symbol].is_number else 0.0
            return float(cube.fixed.get(symbol, own))

        # Where bounds hold for every sample each has a lower level that is strongly convex.
        rough, every = coordinates.or_zero(at["sample gg"]), Assumption.EVERY_SAMPLE in statement.assumptions
        f = size("sigma_f", coordinates.or_zero(at["sample f"])) * coordinates.side(at["sample f side"])
        gg = size("sigma_gg", least * min(rough, 0.999) if every else rough) * coordinates.side(at["sample gg side"])
        return {
            "noise_f": np.tile(f, (n, 1)),
            "noise_g": np.full((n, 1), size("sigma_g", coordinates.or_zero(at["sample g"]))),
            # The block of x and y stands twice in the Hessian.
            "noise_A": np.full((n, 1, 1), gg[1]),
            "noise_B": np.full((n, 1, 1), gg[0] / math.sqrt(2)),
        }

    def shortened(self, cube: InstanceCube, given: dict[str, float], problem: Problem, fewest: int) -> dict[str, float]:
        """With fewer rounds and local steps where the samples have too many outcomes else; those given stay."""
        run, found = cube.statement.vocabulary.run, dict(given)
        steps, rounds = run.get("local_steps", ""), run.get("rounds", "")
        sets = math.log2(math.comb(problem.n, cube.shape.size))

        def outcomes(setting: Mapping[str, float]) -> float:
            return setting.get(rounds, 1) * (setting.get(steps, 1) * problem.signs + sets)

        for name, least in ((rounds, max(fewest, cube.fewest_rounds)), (steps, 1), (rounds, 1)):
            while name in found and name not in cube.fixed and found[name] > least and outcomes(found) > _OUTCOMES:
                found[name] -= 1
        return found

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Points where y and v begin at their solutions, f is barely curved, and one noise alone moves them."""
        n = cube.shape.n
        rest = {"curvature lower": 1.0, "curvature y": BARELY, "slope coupling": 0.5, "spread": 0.5}
        rest |= {f"slope {name} {i}": 0.5 for i in range(n) for name in ("lower", "x")}
        rest |= {name: 1.0 for i in range(n) for name in (f"slope y {i}", f"curvature lower {i}")}
        rest |= {f"curvature y {i}": BARELY for i in range(1, n)} | {f"cross {i}": 0.5 for i in range(n)}
        for steps in (0.0, 0.7):
            for name, size, sides in (("f", 0.65, (0.0, 0.4)), ("g", 0.65, (0.0,)), ("gg", 0.59, (0.0, 0.4))):
                for side in sides:
                    yield cube.at(rest | {"local_steps": steps, f"sample {name}": size, f"sample {name} side": side})


_NAME = "bilevel quadratics with one variable on each level"
_OWN = f"{_NAME}, Hessians of each client's own, of any sign above"
_CENTRED = ("slope", "cross", "start")

TWO_LEVELS = TwoLevels(
    _NAME, "terms of the start and of clients that differ in their slopes", 70, noise=False, any_number=False
)
OWN_HESSIANS = OwnHessians(
    _OWN, "the constants of the upper level: f_i is concave where Phi is not", 71,
    label="own Hessians on both levels", noise=False, any_number=False, centred=_CENTRED,
)  # fmt: skip
SAMPLES = TwoLevelSamples(
    f"{_OWN}, noise of two values in first and second derivatives",
    "one noise alone, at a point where y and v begin at their solutions", 72,
    label="own Hessians on both levels, samples", noise=False, own_noise=True, any_number=False, simulated=False,
    centred=_CENTRED,
)  # fmt: skip
FAMILIES = (TWO_LEVELS, OWN_HESSIANS, SAMPLES)
