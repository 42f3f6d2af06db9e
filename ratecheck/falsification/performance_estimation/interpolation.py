"""The worst deterministic run over all smooth functions, from below: an adversary that answers the oracle.

The adversary chooses gradients and function values at the points that the run visits; the points follow from the
gradients by the algorithm itself. What it finds are `Answers`, which `recheck` accepts only where functions with these
answers exist that meet every assumption of the statement, in exact rational arithmetic: no optimiser is trusted.

Client i has f_i(x) = h_i(x) + <c_i, x> with sum_i c_i = 0. What makes an instance valid:

- Triples (x_j, g_j, h_j) are values and gradients of some L-smooth function (not necessarily convex) if and only if
  h_i - h_j >= <g_i + g_j, x_i - x_j>/2 + ||g_i - g_j||^2/(4L) - L||x_i - x_j||^2/4 for all pairs (Taylor, Hendrickx,
  Glineur, "Exact worst-case performance of first-order methods for composite convex optimization", 2017,
  Theorem 3.10).
- If moreover h_j - ||g_j||^2/(2L) >= l for all j, one of these functions is nowhere below l. The largest of them is
  conv(min_j q_j + L||.||^2/2) - L||.||^2/2 with the parabolas q_j(x) = h_j + <g_j, x - x_j> + L||x - x_j||^2/2 (Azagra,
  Le Gruyer, Mudarra, "Explicit formulas for C^{1,1} and C^{1,omega}_conv extensions of 1-jets", 2018). As q_j >= l, the
  convex hull is at least that of l + L||.||^2/2, which is convex already. A minimiser need not be attained, and none is
  required.
- Then f = (1/n) sum_i f_i >= (1/n) sum_i l_i everywhere, since the tilts c_i cancel.
- With mu = 0 or more in place of -L the condition on pairs is that for convex and strongly convex functions: h_i - h_j
  >= <g_j, x_i - x_j> + ||g_i - g_j||^2/(2L) + mu/(2(1 - mu/L)) ||x_i - x_j - (g_i - g_j)/L||^2, of which mu = -L gives
  the one above (Theorem 4 there). Some of these functions then are nowhere below l, too: conv(min_j q_j) is convex.
- With bounded subgradients, which L = inf goes with, ||g_j|| <= M is required of every answer: the largest of the
  minorants that the condition names has no other slopes than these. Then f may have other minimisers than x*.
- With L = inf, for functions that need not be smooth, it is h_i - h_j >= <g_j, x_i - x_j> + mu/2 ||x_i - x_j||^2, and
  the largest of the minorants that it names is one of these functions; so it is with l among them if no h_j is below.
- Where f has a second, convex part h its answers are a function's of their own, with L = inf, and f is the sum of both.
- Where the oracle answers with an operator there are no values, and the condition on pairs is <g_i - g_j, x_i - x_j> >=
  ||g_i - g_j||^2/L of a cocoercive one, and >= mu ||x_i - x_j||^2 of a maximal monotone one, mu = 0 or more (Ryu,
  Taylor, Bergeling, Giselsson, "Operator splitting performance estimation", 2020, Section 3). x* is a zero of it.
- Where the statement speaks of a minimiser x*, the functions are convex, and the answers there are among the triples:
  slopes that add up to 0 make x* a minimiser of f. They are curved a little more than is required, so that f has no
  other.
- Where the statement assumes bounded dissimilarity all clients share one function h, so that
  (1/n) sum_i ||grad f_i - grad f||^2 = (1/n) sum_i ||c_i||^2 everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

import bounds
from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import ComparedRounds, DeterministicCase
from ratecheck.falsification.snapshots import Lowest, Run, Vector, mean, total
from ratecheck.inputs import floats, whole

# The adversary keeps this share below the smoothness that is allowed, and slightly below the other limits, so that
# rounding its answers to floats breaks nothing.
_MARGIN, _TRIFLE = 1e-6, 1e-12
_ROUNDING = 64 * np.finfo(float).eps
# The share of L by which functions are curved at least where f is to have one minimiser.
_UNIQUE = Fraction(1, 2**40)


@dataclass(frozen=True)
class Minimiser:
    """The point x* (d,), gradients (n - 1, d) there, of which the last client's is minus the sum, and values (n,)."""

    point: Array
    gradients: Array
    heights: Array


@dataclass(frozen=True)
class Answers:
    """Answers of the clients' oracles in a run of ``case``.

    ``gradients[k]`` (J, d) and ``heights[k]`` (J,) are gradients and values of the k-th function h at the J points at
    which the run evaluates it, in the order in which it first does; there is one function per client, or a single one
    for all. ``tilts`` (n - 1, d) are c_1 ... c_{n-1}; the last client's is minus their sum. ``minimiser`` has the
    answers at x* where the statement needs one. Where gradients are stochastic, ``noises[k]`` (C, d) are what is added
    to the gradients of the k-th function, or taken from them, at the points at which a step is taken, in that order.
    """

    case: DeterministicCase
    gradients: tuple[Array, ...]
    heights: tuple[Array, ...]
    tilts: Array
    minimiser: Minimiser | None = None
    noises: tuple[Array, ...] = ()

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.gradients[0].shape[1])

    def save(self) -> dict[str, Any]:
        """Numbers and lists, for a file; `load` is the way back."""
        return {
            "key": self.case.statement.key,
            "values": dict(self.case.values),
            "gradients": [each.tolist() for each in self.gradients],
            "heights": [each.tolist() for each in self.heights],
            "tilts": self.tilts.tolist(),
            **({"minimiser": {k: v.tolist() for k, v in vars(self.minimiser).items()}} if self.minimiser else {}),
            **({"noises": [each.tolist() for each in self.noises]} if self.noises else {}),
        }

    @staticmethod
    def load(
        saved: Mapping[str, Any], statement: Statement | None = None, *, ignore_conditions: bool = False
    ) -> Answers:
        """What `save` gave, by default for the statement of the catalogue that it names.

        Raises `InputError` where something is missing, misshapen or outside the statement.
        """
        kinds = {"key": str, "values": dict, "gradients": list, "heights": list, "tilts": list}
        for name, kind in kinds.items():
            if not isinstance(saved.get(name), kind):
                raise InputError(f"the instance has no {name!r} that could be used: needed are {', '.join(kinds)}")
        named = statement or bounds.from_data(saved["key"], "the instance")
        case = DeterministicCase.of(named, saved["values"], ignore_conditions=ignore_conditions)
        gradients = tuple(_finite(f"gradients[{k}]", each, 2) for k, each in enumerate(saved["gradients"]))
        heights = tuple(_finite(f"heights[{k}]", each, 1) for k, each in enumerate(saved["heights"]))
        count = 1 if case.dissimilar else case.functions
        if not len(gradients) == len(heights) == count:
            raise InputError(
                f"{case.statement.key} at n={case.n} needs gradients and heights of {count} functions: there are "
                f"{len(gradients)} and {len(heights)}"
            )
        d = gradients[0].shape[1]
        tilts = _finite("tilts", saved["tilts"], 2) if case.n > 1 else np.zeros((0, d))
        if tilts.shape != (case.n - 1, d) or any(each.shape[1] != d for each in gradients):
            raise InputError(f"gradients and tilts need {d} coordinates each, and tilts {case.n - 1} rows")
        minimiser = _minimiser(saved.get("minimiser"), case, d)
        return Answers(case, gradients, heights, tilts, minimiser, _noises(saved.get("noises"), case, d))


@dataclass(frozen=True)
class VerifiedInstance:
    """Both sides at an instance that `recheck` accepted; ``left`` is exact but for one rounding.

    ``size`` is how large the left side would be if nothing in it cancelled.
    """

    left: float
    right: float
    size: float
    comparison: ComparedRounds

    @property
    def ratio(self) -> float:
        """Left side / right side; infinite where the right side is not positive."""
        return self.left / self.right if self.right > 0 else math.inf


def recheck(instance: Answers, comparison: ComparedRounds | None = None) -> VerifiedInstance:
    """Both sides at an instance, once every assumption has been checked in exact rational arithmetic.

    Follows the run anew from the stored answers, with the algorithm's functions on rational numbers. Raises
    `InputError` with both sides of the first inequality that is broken.
    """
    case, d = instance.case, instance.dimension
    comparison = comparison or case.comparisons[0]
    stored = _Stored(instance)
    zero = _exact(np.zeros(d))
    run = case.run(
        zero, stored.gradient, Fraction, stored.value, case.rounds(comparison), prox=stored.prox, noise=stored.noise
    )
    constants = {name: Fraction(value) for name, value in case.values.items()}
    classes = [(_flatness(case), _least_curvature(case))] * case.n
    if case.composite:
        classes.append((Fraction(0), Fraction(0)))
    star = _at_minimiser(instance)
    floors = []
    for k, (points, gradients, values) in enumerate(zip(stored.places, stored.slopes, stored.heights, strict=True)):
        flatness, curvature = classes[k]
        if not len(points) == len(gradients) == len(values):
            raise InputError(
                f"function {k} has {len(gradients)} gradients and {len(values)} heights: "
                f"the run evaluates {len(points)}"
            )
        triples = list(zip(points, gradients, values, strict=True))
        check = _check_operator if case.operator else _check_smooth
        check(k, [*triples, *star[k : k + 1]], flatness, curvature)
        if math.isfinite(case.steepest):
            for _, g, _ in triples:
                _check_limit("||g||^2 <= M^2", _dot(g, g), Fraction(case.steepest) ** 2)
        lowest = min(h - g @ g * flatness / 2 for _, g, h in triples)
        floors.append(star[k][2] if star else lowest)
    found = Lowest(case.combined(floors), star[0][0] if star else None, tuple(slope for _, slope, _ in star))
    _check_start(case, run, found)
    for k, own in enumerate(stored.noises):
        if len(own) != len(stored.noisy[k]):
            raise InputError(f"noises[{k}] has {len(own)} entries: the run evaluates {len(stored.noisy[k])} points")
        for error in own:
            _check_limit("||noise||^2 <= sigma_u^2", _dot(error, error), Fraction(case.noise) ** 2)
    if case.dissimilar:
        _check_limit(
            "(1/n) sum_i ||grad f_i - grad f||^2 <= b^2", mean([_dot(c, c) for c in stored.tilts]), constants["b"] ** 2
        )
    least = min(case.parts(run, _dot, Fraction, comparison, found), key=total)
    size = sum(abs(part) for part in least)
    return VerifiedInstance(float(total(least)), comparison.right, float(size), comparison)


class _Stored:
    """The answers of an instance in rational numbers, given out in the order in which a run uses them.

    ``places`` are the points of each function at which it was evaluated, so far.
    """

    def __init__(self, instance: Answers) -> None:
        self.case = instance.case
        self.slopes = [_exact(each) for each in instance.gradients]
        self.heights = [_exact(each) for each in instance.heights]
        tilts = [*_exact(instance.tilts)]
        none = _exact(np.zeros(instance.dimension))
        self.tilts = [*tilts, -total([none, *tilts]), *[none] * (self.case.functions - self.case.n)]
        self.places: list[list[Vector]] = [[] for _ in self.slopes]
        # The number of the answer by the point that it is at, and by the one from which a proximal step leads there.
        self.numbers: list[dict[tuple[Fraction, ...], int]] = [{} for _ in self.slopes]
        self.steps: list[dict[tuple[Fraction, ...], int]] = [{} for _ in self.slopes]
        self.noises = [_exact(each) for each in instance.noises]
        self.noisy: list[dict[tuple[Fraction, ...], int]] = [{} for _ in self.noises]

    def gradient(self, i: int, x: Vector) -> Vector:
        """Client i's gradient at a point; raises `InputError` where there is none left."""
        k = self._function(i)
        if tuple(x) not in self.numbers[k]:
            self.numbers[k][tuple(x)] = self._next(k)
            self.places[k].append(x)
        return self.slopes[k][self.numbers[k][tuple(x)]] + self.tilts[i]

    def prox(self, i: int, x: Vector) -> Vector:
        """The point y = x - g/lambda with client i's gradient g at y."""
        k = self._function(i)
        if tuple(x) not in self.steps[k]:
            j = self.steps[k][tuple(x)] = self._next(k)
            self.places[k].append(x - (self.slopes[k][j] + self.tilts[i]) / self.case.exact_weight)
            self.numbers[k].setdefault(tuple(self.places[k][j]), j)
        return self.places[k][self.steps[k][tuple(x)]]

    def noise(self, i: int, x: Vector) -> Vector:
        """What a stochastic gradient of client i at a point differs by from the gradient there, up to its sign."""
        k = self._function(i)
        j = self.noisy[k].setdefault(tuple(x), len(self.noisy[k]))
        if j >= len(self.noises[k]):
            raise InputError(f"noises[{k}] has {len(self.noises[k])} entries, but the run evaluates more points")
        return self.noises[k][j]

    def value(self, i: int, x: Vector) -> Fraction:
        """Client i's value at a point where its gradient was evaluated."""
        k = self._function(i)
        return Fraction(self.heights[k][self.numbers[k][tuple(x)]] + self.tilts[i] @ x)

    def _function(self, i: int) -> int:
        return 0 if self.case.dissimilar else i

    def _next(self, k: int) -> int:
        if len(self.places[k]) >= len(self.slopes[k]):
            raise InputError(f"gradients[{k}] has {len(self.slopes[k])} entries, but the run evaluates more points")
        return len(self.places[k])


def _check_start(case: DeterministicCase, run: Run, lowest: Lowest) -> None:
    """Raise `InputError` unless start and minimiser are those of the statement."""
    if case.heterogeneity is not None:
        limit = Fraction(case.heterogeneity)
        _check_limit("(1/n) sum_i ||grad f_i(x*)||^2 <= b_*^2", lowest.heterogeneity(_dot), limit)
    if case.gap is not None:
        start = case.combined(run[0][0].values)
        _check_limit("f(u^0) - inf f <= F_0", start - lowest.value, Fraction(case.gap))
    if case.radius2 is not None and lowest.point is not None:
        _check_limit("||u^0 - x*||^2 <= R^2", _dot(lowest.point, lowest.point), Fraction(case.radius2))
    if "B_0" in case.values:
        _check_limit("sum_i ||grad f_i(u^0)||^2 <= B_0", run[0][0].squares(_dot), Fraction(case.values["B_0"]))


def _flatness(case: DeterministicCase) -> Fraction:
    """1/L, 0 for functions that need not be smooth."""
    return Fraction(0) if math.isinf(case.smoothness) else 1 / Fraction(case.smoothness)


def _least_curvature(case: DeterministicCase) -> Fraction:
    """The curvature that functions have at least, with a little more where only one minimiser may be."""
    unit, least = Fraction(case.curvature_unit), Fraction(case.curvature)
    if math.isfinite(case.steepest) or case.operator:
        # No function is curved everywhere and has bounded subgradients; nothing compared is about one minimiser, and
        # of an operator about one zero only where it is strongly monotone.
        return least
    return max(least, unit * _UNIQUE) if case.convex and case.needs_minimiser else least


def _at_minimiser(instance: Answers) -> list[tuple[Vector, Vector, Fraction]]:
    """The triples at x*, one for each client; empty where none is needed."""
    case, found = instance.case, instance.minimiser
    if not case.needs_minimiser:
        return []
    if found is None:
        raise InputError(f"{case.statement.key} speaks of a minimiser, and the instance has none")
    point, slopes = _exact(found.point), [*_exact(found.gradients)]
    slopes.append(-total([_exact(np.zeros(len(found.point))), *slopes]))
    return [(point, slope, height) for slope, height in zip(slopes, _exact(found.heights), strict=True)]


def _minimiser(saved: Any, case: DeterministicCase, d: int) -> Minimiser | None:
    """What `Answers.save` gave; raises `InputError` where something is missing or misshapen."""
    if not case.needs_minimiser:
        return None
    if not isinstance(saved, dict) or {"point", "gradients", "heights"} - saved.keys():
        raise InputError("the instance has no 'minimiser' with point, gradients and heights that could be used")
    point = _finite("minimiser.point", saved["point"], 1)
    n = case.functions
    gradients = _finite("minimiser.gradients", saved["gradients"], 2) if n > 1 else np.zeros((0, d))
    heights = _finite("minimiser.heights", saved["heights"], 1)
    if (point.shape, gradients.shape, heights.shape) != ((d,), (n - 1, d), (n,)):
        raise InputError(f"minimiser needs {d} coordinates, {n - 1} gradients and {n} heights")
    return Minimiser(point, gradients, heights)


def _noises(saved: Any, case: DeterministicCase, d: int) -> tuple[Array, ...]:
    """What `Answers.save` gave; raises `InputError` where something is missing or misshapen."""
    if not case.noise:
        return ()
    if not isinstance(saved, list) or len(saved) != case.n:
        raise InputError(
            f"the instance has no 'noises' that could be used: needed is a list for each of {case.n} clients"
        )
    noises = tuple(_finite(f"noises[{k}]", each, 2) for k, each in enumerate(saved))
    if any(each.shape[1] != d for each in noises):
        raise InputError(f"noises need {d} coordinates each")
    return noises


def _finite(name: str, values: Any, dimensions: int) -> Array:
    """An array of finite numbers with that many axes."""
    array = floats(name, values)
    if array.ndim != dimensions or not np.isfinite(array).all():
        raise InputError(f"{name}: needed an array of finite numbers with {dimensions} axes")
    return array


def _exact(values: Array) -> Vector:
    """The floats as rational numbers."""
    flat = [Fraction(float(value)) for value in np.asarray(values).ravel()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(np.shape(values))


def _dot(a: Vector, b: Vector) -> Fraction:
    return Fraction(a @ b)


def _check_smooth(k: int, triples: Sequence[tuple[Vector, Vector, Fraction]], flatness: Fraction, mu: Fraction) -> None:
    """Raise `InputError` unless a function of curvature from mu to L has these points, gradients, values.

    ``flatness`` is 1/L, 0 for functions that need not be smooth.
    """
    for i, j in permutations(range(len(triples)), 2):
        (x_i, g_i, h_i), (x_j, g_j, h_j) = triples[i], triples[j]
        x, g = x_i - x_j, g_i - g_j
        bent = x - g * flatness
        least = _dot(g_j, x) + _dot(g, g) * flatness / 2 + mu / (2 * (1 - mu * flatness)) * _dot(bent, bent)
        if h_i - h_j < least:
            kind = "convex" if not flatness else "L-smooth" if mu < 0 else "convex L-smooth"
            raise InputError(
                f"no {kind} function {k} has these answers at its points {i} and {j}: "
                f"h_{i} - h_{j} >= {float(least):.17g} is broken by {float(h_i - h_j):.17g}"
            )


def _check_operator(
    k: int, triples: Sequence[tuple[Vector, Vector, Fraction]], flatness: Fraction, mu: Fraction
) -> None:
    """Raise `InputError` unless an operator has these answers at these points: cocoercive, or monotone for L = inf."""
    for i, j in permutations(range(len(triples)), 2):
        (x_i, g_i, _), (x_j, g_j, _) = triples[i], triples[j]
        x, g = x_i - x_j, g_i - g_j
        least = _dot(g, g) * flatness if flatness else mu * _dot(x, x)
        if _dot(g, x) < least:
            kind = "cocoercive" if flatness else "monotone"
            raise InputError(
                f"no {kind} operator {k} has these answers at its points {i} and {j}: "
                f"<g_{i} - g_{j}, x_{i} - x_{j}> >= {float(least):.17g} is broken by {float(_dot(g, x)):.17g}"
            )


def _check_limit(text: str, found: Fraction, limit: Fraction) -> None:
    if found > limit:
        raise InputError(f'the instance breaks "{text}": {float(found):.17g} <= {float(limit):.17g} is false')


def worst_instance(
    case: DeterministicCase, *, starts: int = 8, dimensions: tuple[int, ...] = (1, 2, 3), seed: int = 0
) -> Answers:
    """The instance with the largest left side that is found and that `recheck` accepts.

    Local search (SLSQP) from ``starts`` random starts per dimension; the same seed gives the same instance. Raises
    `InputError` where rounding spoils every one: where the steps are too small for answers in floats.
    """
    whole("starts", starts, 1)
    adversary = _Adversary(case)
    best: tuple[float, Answers] | None = None
    for d in dimensions:
        for start in range(starts):
            instance = adversary.answer(d, np.random.default_rng([seed, d, start]))
            try:
                left = recheck(instance).left
            except InputError:
                continue
            if best is None or left > best[0]:
                best = left, instance
    if best is None:
        raise InputError(
            f"{case.statement.key}: no instance survived its exact check; the steps are too small for floats"
        )
    return best[1]


class _Adversary:
    """The search as a program in unknown vectors z (N, d) (tilts, then gradients) and heights h (J,), at F_0 = L = 1.

    Neighbouring points are close together, and their answers are tied at the second order of the distance s. So the
    unknowns are increments: z_j = z_p + s*w_j and h_j = h_p + <g_p + g_j, x_j - x_p>/2 + s^2*omega_j, where p is the
    nearest point before j. In w and omega every limit is const + <line, omega> - <w, form w> >= 0 with numbers of
    order 1.
    """

    def __init__(self, case: DeterministicCase) -> None:
        self.case = case
        scaled = case.scaled
        self._record(scaled)
        self._chain()
        self.margin = max(_MARGIN, _ROUNDING / self.distances[self.distances > 0].min(initial=1.0) ** 2)
        self._limit(scaled)

    def _record(self, case: DeterministicCase) -> None:
        """Run on coefficients: every vector is a row of numbers on the unknown vectors."""
        n = case.n
        # Without dissimilarity there is nothing to choose.
        self.tilts = 0 if case.dissimilar and case.values["b"] == 0 else n - 1
        width = self.tilts + n * (int(case.values["T"]) * (int(case.values["K"]) + 1) + 1)
        units = np.eye(width)
        tilts = [*units[: self.tilts], *[-units[: self.tilts].sum(axis=0)] * (n - self.tilts)]
        places: dict[tuple[int, bytes], int] = {}
        points: list[Array] = []

        def oracle(i: int, x: Array) -> Array:
            key = (0 if case.dissimilar else i, (x + 0.0).tobytes())
            if key not in places:
                places[key] = len(points)
                points.append(x)
            return np.asarray(units[self.tilts + places[key]] + tilts[i])

        run = case.run(np.zeros(width), oracle)
        self.size = size = self.tilts + len(points)
        self.points = np.array(points)[:, :size]
        self.gradients = np.eye(size)[self.tilts :]
        self.owner = np.array([k for k, _ in places])
        self.roots = [int(np.flatnonzero(self.owner == k)[0]) for k in range(self.owner.max() + 1)]
        self.left, self.squares, self.dissimilarity = (
            form[:size, :size]
            for form in (case.left(run, _form), run[0][0].squares(_form), run[0][0].dissimilarity(_form))
        )

    def _chain(self) -> None:
        """The tables of z = ``increments`` @ w and h_j = <z, trapezoids_j z> + (``offsets`` @ omega)_j."""
        J = len(self.points)
        self.distances = np.zeros(J)
        self.increments, self.offsets = np.eye(self.size), np.eye(J)
        self.trapezoids = np.zeros((J, self.size, self.size))
        for j in range(J):
            before = np.flatnonzero(self.owner[:j] == self.owner[j])
            if not len(before):
                continue
            gaps = ((self.points[before] - self.points[j]) ** 2).sum(axis=1)
            p, s = int(before[gaps.argmin()]), math.sqrt(gaps.min())
            self.distances[j] = s
            row, parent = self.tilts + j, self.tilts + p
            self.increments[row] = self.increments[parent] + s * self.increments[row]
            self.offsets[j] = self.offsets[p] + s**2 * self.offsets[j]
            step = _form((self.gradients[p] + self.gradients[j]) / 2, self.points[j] - self.points[p])
            self.trapezoids[j] = self.trapezoids[p] + step

    def _limit(self, case: DeterministicCase) -> None:
        """The limits as ``const``, ``line`` and ``form``, and the left side, in w and omega."""
        J, L = len(self.points), 1 - self.margin
        const, line, form = [], [], []
        for i, j in permutations(range(J), 2):
            if self.owner[i] == self.owner[j]:
                x, g = self.points[i] - self.points[j], self.gradients[i] - self.gradients[j]
                ends = (self.gradients[i] + self.gradients[j]) / 2
                least = _form(ends, x) + _form(g, g) / (4 * L) - L / 4 * _form(x, x)
                scale = x @ x
                const.append(0.0)
                line.append((self.offsets[i] - self.offsets[j]) / scale)
                form.append((least - self.trapezoids[i] + self.trapezoids[j]) / scale)
        for j in range(J):
            const.append(0.0)
            line.append(self.offsets[j])
            form.append(_form(self.gradients[j], self.gradients[j]) / (2 * L) - self.trapezoids[j])
        const.append(1.0)
        line.append(-self.offsets[self.roots].mean(axis=0))
        form.append(np.zeros((self.size, self.size)))
        self.caps = [(form_, case.values[name] ** power) for name, form_, power in self._caps(case)]
        for cap, limit in self.caps:
            const.append(limit)
            line.append(np.zeros(J))
            form.append(cap)
        self.const, self.line = np.array(const), np.array(line)
        self.form = self.increments.T @ np.array(form) @ self.increments
        self.goal = self.increments.T @ self.left @ self.increments

    def _caps(self, case: DeterministicCase) -> list[tuple[str, Array, int]]:
        """Limits on the gradients alone: constant, quadratic form, power of the constant."""
        caps = [("B_0", self.squares, 1)] if "B_0" in case.values else []
        return [*caps, ("b", self.dissimilarity, 2)] if case.dissimilar and self.tilts else caps

    def answer(self, d: int, rng: np.random.Generator) -> Answers:
        """The local optimum that the search reaches from a random start."""
        from scipy.optimize import minimize

        shape, split = (self.size, d), self.size * d

        def objective(y: Array) -> tuple[float, Array]:
            w = y[:split].reshape(shape)
            pull = self.goal @ w
            return -float((w * pull).sum()), np.concatenate([-2 * pull.ravel(), np.zeros(len(y) - split)])

        def slack(y: Array) -> Array:
            w = y[:split].reshape(shape)
            return np.asarray(self.const + self.line @ y[split:] - ((self.form @ w) * w).sum(axis=(1, 2)))

        def slope(y: Array) -> Array:
            w = y[:split].reshape(shape)
            return np.hstack([-2 * (self.form @ w).reshape(len(self.const), -1), self.line])

        found = minimize(
            objective,
            self._start(d, rng),
            jac=True,
            method="SLSQP",
            constraints={"type": "ineq", "fun": slack, "jac": slope},
            options={"maxiter": 300, "ftol": 1e-12},
        )
        w, omega = found.x[:split].reshape(shape), found.x[split:]
        z = self.increments @ w
        heights = ((self.trapezoids @ z) * z).sum(axis=(1, 2)) + self.offsets @ omega
        return self._instance(z, heights)

    def _start(self, d: int, rng: np.random.Generator) -> Array:
        """Random increments, from gradients of norm sqrt(2) = sqrt(2 L F_0) and heights F_0 at the start of the run."""
        w = rng.normal(scale=0.5, size=(self.size, d))
        omega = rng.normal(scale=0.5, size=len(self.points))
        w[self.tilts + np.array(self.roots)] = math.sqrt(2) * np.eye(d)[0]
        omega[self.roots] = 1.0
        return np.concatenate([w.ravel(), omega])

    def _instance(self, z: Array, heights: Array) -> Answers:
        """The answers, scaled to meet the limits that are not homogeneous, in the units of the case."""
        gradients = z[self.tilts :]
        floors = [
            (heights[mine] - (gradients[mine] ** 2).sum(axis=1) / 2).min()
            for mine in (self.owner == k for k in range(len(self.roots)))
        ]
        use = max(
            [heights[self.roots].mean() - np.mean(floors)]
            + [((cap @ z) * z).sum() / limit if limit else 0.0 for cap, limit in self.caps]
        )
        shrink = (1 - _TRIFLE) / use
        slope = math.sqrt(shrink) * self.case.square_unit**0.5
        gap = shrink * self.case.values["F_0"]
        return Answers(
            case=self.case,
            gradients=tuple(slope * gradients[self.owner == k] for k in range(len(self.roots))),
            heights=tuple(gap * heights[self.owner == k] for k in range(len(self.roots))),
            tilts=slope * z[: self.tilts] if self.tilts else np.zeros((self.case.n - 1, z.shape[1])),
        )


def _form(a: Array, b: Array) -> Array:
    """The matrix of the quadratic form <a, b>."""
    outer = np.outer(a, b)
    return np.asarray((outer + outer.T) / 2)
