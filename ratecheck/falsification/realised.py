"""The solver's worst case as functions: an instance that `recheck` accepts, slightly below the solver's upper bound.

A solution of the performance-estimation problem has the vectors and values of a worst run, up to the solver's accuracy,
so that some conditions are broken in the eighth digit. Beside it stands a run on a quadratic whose curvatures are
strictly inside of what is allowed, which meets every condition with slack. The two together, f(x, y) = (1 - e) f_1(x/r)
+ e f_2(y/s) with r^2 = 1 - e and s^2 = e, are a run whose conditions are the averages of theirs: the slack of the
second covers the solver's error in the first, and both sides are averages, too. The smallest share e for which the
exact check agrees is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import ComparedRounds, DeterministicCase
from ratecheck.falsification.performance_estimation.gram import GramSolution
from ratecheck.falsification.performance_estimation.interpolation import Answers, Minimiser, VerifiedInstance, recheck
from ratecheck.falsification.performance_estimation.pep import Formulation

# Shares of the quadratic, and its curvatures between the least and the largest one.
_SHARES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_CURVATURES = np.array([0.2, 0.45, 0.7])
# The norm of its first gradient, as a share of the largest that bounded subgradients may have.
_GENTLE = 0.5
# The norm of its noise, as a share of the largest.
_INSIDE = 0.7
# Directions in which the solver's vectors are shorter than this share of the longest are left out.
_FLAT = 1e-8
# What is kept below the limits at the start, so that rounding breaks none.
_TRIFLE = 1e-12


@dataclass(frozen=True)
class _RealisedRun:
    """Gradients (J_k, d) and values (J_k,) of every client, in the order of the run, and x* with what is there.

    ``slopes`` (n, d) and ``lows`` (n,) are gradients and values at x*, and ``gap`` is f at the start minus inf f, 0
    where f is not evaluated there. ``noises`` (C_k, d) are in order, too; there are none where gradients are exact.
    """

    gradients: tuple[Array, ...]
    heights: tuple[Array, ...]
    star: Array
    slopes: Array
    lows: Array
    gap: float
    noises: tuple[Array, ...] = ()

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.star)


class NoInstanceError(Exception):
    """The solver's worst run, with its errors, is that of no function that can be checked exactly."""


def realised(
    case: DeterministicCase, comparison: ComparedRounds, found: Formulation, solution: GramSolution
) -> tuple[Answers, VerifiedInstance]:
    """The instance, and what was checked of it, from a problem and its solution.

    Raises `NoInstanceError` where no share makes it one, such as where the steps are too small for floats.
    """
    worst, inside = _solution(case.scaled, found, solution), _quadratic(case.scaled, found)
    for share in _SHARES:
        instance = _answers(case, _beside(worst, inside, share))
        try:
            return instance, recheck(instance, comparison)
        except InputError:
            # The solver's errors are too large for so small a share of a function that pays for them.
            continue
    raise NoInstanceError


def _solution(scaled: DeterministicCase, found: Formulation, solution: GramSolution) -> _RealisedRun:
    """The run that the solver found, in as few coordinates as it takes."""
    triples = [function.answers[:] for function in found.functions]
    stars = [own.pop() for own in triples] if found.lowest.point is not None else []
    noisy = [function for function in found.functions if scaled.noise]
    rows = [solution.vector(slope) for own in triples for _, slope, _ in own]
    rows += [solution.vector(slope) for _, slope, _ in stars]
    rows += [scaled.noise * solution.vector(error) for function in noisy for error in function.noises]
    star = solution.vector(found.lowest.point) if found.lowest.point is not None else np.zeros_like(rows[0])
    every = np.array([*rows, star])
    _, sizes, axes = np.linalg.svd(every, full_matrices=False)
    every = every @ axes[sizes > _FLAT * sizes[0]].T
    parts = [*map(len, triples), len(stars), *(len(function.noises) for function in noisy), 1]
    *groups, (star,) = np.split(every, np.cumsum(parts)[:-1])
    gradients, slopes, noises = groups[: len(triples)], groups[len(triples)], groups[len(triples) + 1 :]
    heights = tuple(np.array([solution.number(height) for *_, height in own]) for own in triples)
    # Without a minimiser each function is bounded from below by itself.
    flatness = 0.0 if math.isinf(scaled.smoothness) else 1.0
    floors = [(h - flatness * (g**2).sum(axis=1) / 2).min() for g, h in zip(gradients, heights, strict=True)]
    lowest = solution.number(found.lowest.value) if stars else float(np.mean(floors))
    start = [solution.number(height) for height in found.run[0][0].values]
    return _RealisedRun(
        gradients=tuple(gradients),
        heights=heights,
        star=star,
        slopes=slopes,
        lows=np.array([solution.number(height) for *_, height in stars]),
        gap=float(np.sum(start) if scaled.composite else np.mean(start)) - lowest if start else 0.0,
        noises=tuple(noises),
    )


def _quadratic(scaled: DeterministicCase, found: Formulation) -> _RealisedRun:
    """The run on one function for all clients, ||sqrt(c) (x - 1)||^2/2, whose limits at the start are met."""
    low = max(scaled.curvature, 0.0)
    c = low + _CURVATURES * (1 - low)
    centre = np.ones(len(c)) * math.sqrt(0.5 * min(_limits(scaled, c)))
    gradients: list[dict[int, Array]] = [{} for _ in found.functions]
    heights: list[dict[int, float]] = [{} for _ in found.functions]
    order = iter(found.calls)

    def oracle(_: int, x: Array) -> Array:
        i, k = next(order)
        gradients[i][k], heights[i][k] = c * (x - centre), float(c @ (x - centre) ** 2 / 2)
        return gradients[i][k]

    def prox(i: int, x: Array) -> Array:
        y = x - c * (x - centre) / (1 + c / scaled.weight) / scaled.weight
        oracle(i, y)
        return y

    count = [len(function.noises) for function in found.functions if scaled.noise]
    noises = [
        _INSIDE * scaled.noise * np.array([_direction(k, len(c)) for k in range(many)]).reshape(-1, len(c))
        for many in count
    ]
    drawn = iter(found.drawn)

    def noise(_: int, __: Array) -> Array:
        i, k = next(drawn)
        return np.asarray(noises[i][k])

    scaled.run(np.zeros(len(c)), oracle, rounds=len(found.run), prox=prox, noise=noise)
    n = scaled.functions
    return _RealisedRun(
        gradients=tuple(np.array([own[k] for k in sorted(own)]) for own in gradients),
        heights=tuple(np.array([own[k] for k in sorted(own)]) for own in heights),
        star=centre,
        slopes=np.zeros((n, len(c))),
        lows=np.zeros(n),
        gap=_parts(scaled) * float(c @ centre**2 / 2),
        noises=tuple(noises),
    )


def _parts(scaled: DeterministicCase) -> int:
    """The ratio of f to one of its functions where all are equal."""
    return 2 if scaled.composite else 1


def _direction(k: int, d: int) -> Array:
    """A vector of norm 1, another one for every number."""
    vector = np.cos(np.arange(1, d + 1) * (1 + k))
    return np.asarray(vector / np.linalg.norm(vector))


def _limits(scaled: DeterministicCase, c: Array) -> list[float]:
    """Squared sizes of the centre's coordinates at which the limits at the start would be reached."""
    limits = [1.0]
    if scaled.gap is not None:
        limits.append(2 * scaled.gap / (_parts(scaled) * float(c.sum())))
    if scaled.radius2 is not None:
        limits.append(scaled.radius2 / len(c))
    if math.isfinite(scaled.steepest):
        limits.append((_GENTLE * scaled.steepest) ** 2 / float((c**2).sum()))
    if "B_0" in scaled.values:
        limits.append(scaled.values["B_0"] / (scaled.n * float((c**2).sum())))
    return limits


def _beside(worst: _RealisedRun, inside: _RealisedRun, share: float) -> _RealisedRun:
    """The two runs in separate coordinates, the second with that share."""
    more, less = math.sqrt(1 - share), math.sqrt(share)

    def vectors(a: Array, b: Array) -> Array:
        return np.concatenate([more * a, less * b], axis=-1)

    def numbers(a: Array, b: Array) -> Array:
        return np.asarray((1 - share) * a + share * b)

    return _RealisedRun(
        gradients=tuple(map(vectors, worst.gradients, inside.gradients)),
        heights=tuple(map(numbers, worst.heights, inside.heights)),
        star=vectors(worst.star, inside.star),
        slopes=vectors(worst.slopes, inside.slopes) if len(worst.slopes) else np.zeros((0, 0)),
        lows=numbers(worst.lows, inside.lows) if len(worst.lows) else np.zeros(0),
        gap=float((1 - share) * worst.gap + share * inside.gap),
        noises=tuple(map(vectors, worst.noises, inside.noises)),
    )


def _answers(case: DeterministicCase, run: _RealisedRun) -> Answers:
    """The answers in the units of the case, scaled down to what the limits at the start allow.

    All vectors times s and all values times s^2 is another instance.
    """
    scaled, n = case.scaled, case.functions
    first = sum(float(own[0] @ own[0]) for own in run.gradients)
    use = [run.gap / scaled.gap] if scaled.gap is not None else []
    use += [float(run.star @ run.star) / scaled.radius2] if scaled.radius2 is not None else []
    use += [first / scaled.values["B_0"]] if "B_0" in scaled.values else []
    if math.isfinite(scaled.steepest):
        every = [*run.gradients, run.slopes.reshape(-1, run.dimension)]
        use += [float((each**2).sum(axis=1).max(initial=0.0)) / scaled.steepest**2 for each in every]
    use += [float((each**2).sum(axis=1).max(initial=0.0)) / scaled.noise**2 for each in run.noises]
    slopes = run.slopes[: n - 1].reshape(-1, run.dimension)
    if scaled.heterogeneity:
        last = slopes.sum(axis=0)
        use += [(float((slopes**2).sum()) + float(last @ last)) / (n * scaled.heterogeneity)]
    elif scaled.heterogeneity == 0:
        slopes = 0 * slopes
    # A run that hardly moves is left so: grown, it would be what the solver got wrong.
    shrink = (1 - _TRIFLE) / max(1.0, *use)
    of_f, of_x2 = case.units
    slope, height = math.sqrt(shrink * case.square_unit), shrink * of_f
    minimiser = None
    if case.needs_minimiser:
        point = math.sqrt(shrink * of_x2) * run.star
        minimiser = Minimiser(point, slope * slopes, height * run.lows)
    return Answers(
        case=case,
        gradients=tuple(slope * own for own in run.gradients),
        heights=tuple(height * own for own in run.heights),
        tilts=np.zeros((case.n - 1, run.dimension)),
        minimiser=minimiser,
        noises=tuple(slope * own for own in run.noises),
    )
