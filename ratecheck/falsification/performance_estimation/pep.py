"""The worst run over all functions of a class, from above: a performance-estimation problem.

Solved by PEPit with Clarabel. The unknowns are the gradients and values that the run sees; the points follow by the
algorithm's own functions on PEPit's points. What is compared is maximised over all answers that meet

- for each client i the interpolation conditions of L-smooth functions of curvature at least mu, which are necessary and
  sufficient for a function with these answers (Taylor, Hendrickx, Glineur 2017, Theorems 3.10 and 4): mu = -L for
  functions that need not be convex, 0 for convex ones, mu for strongly convex ones;
- f(u^0) - f_* <= F_0 where F_0 is given, and f(u^t) - ||grad f(u^t)||^2/(2L) >= f_* at every server iterate u^t, f
  being the mean of the f_i. The second is what inf f = f_* implies: f is L-smooth, so that a step -grad f/L from u^t
  lowers it by at least ||grad f||^2/(2L). No minimiser is supposed to exist unless the statement speaks of one: with a
  point at which the gradients of the clients add up to 0 among the unknowns, the problem would leave out functions that
  only approach their infimum;
- where the statement speaks of a minimiser x*, or of strongly convex functions, the same at x*, where the gradients of
  the clients add up to 0, f(x*) = f_*, ||u^0 - x*||^2 <= R^2 where that distance is given, and
  (1/n) sum_i ||grad f_i(x*)||^2 <= b_*^2 where that is assumed;
- ||g|| <= M for every answer g, where subgradients are bounded: of a convex function, which then has L = inf, these
  conditions together are necessary and sufficient (Taylor, Hendrickx, Glineur 2017, composite, Theorem 3.5);
- where f has a second, convex part h, the same of h with L = inf and mu = 0, and f is the sum of both: at x* the
  gradient of the smooth part and a subgradient of h add up to 0;
- where the oracle answers with an operator, none of this but <g_i - g_j, x_i - x_j> >= ||g_i - g_j||^2/L of a
  cocoercive one, and >= mu ||x_i - x_j||^2 of a monotone one, mu = 0 or more, which are necessary and sufficient for an
  operator with these answers (Ryu, Taylor, Bergeling, Giselsson 2020, Section 3); x* is a zero of it;
- (1/n) sum_i ||grad f_i(u^t) - grad f(u^t)||^2 <= b^2 at every server iterate, where the statement assumes bounded
  dissimilarity, and sum_i ||grad f_i(u^0)||^2 <= B_0 where it has that constant.

A proximal step from x leads to y = x - g/lambda, g being an unknown gradient at y; functions that need not be smooth
have L = inf in all of this. Where clients are sampled, each choice of them ends in a point of its own, and an
expectation is the mean over these. Noise is that of an oracle which at the point x answers g + e or g - e, both equally
likely, with an unknown e of norm at most sigma for every point: each sign leads to points of its own as well. The value
is then an upper bound over such noise, which is a part of what the statement allows. The best of several rounds is at
least z, an unknown that no round's left side is below.

Each of these is necessary for an instance of the statement, in any dimension. Some say less than the statement, which
speaks about all points, so the value is an upper bound: how close it is, `interpolation` tells from below. A statement
that limits nothing at the start is restricted to starts with f(u^0) - f_* <= 1 or ||u^0 - x*||^2 <= 1.

The solver is not trusted either. Whatever multipliers lambda >= 0 it returns for the conditions e_c <= 0, the left side
is (left side - sum_c lambda_c e_c) + sum_c lambda_c e_c, of which the second part is not positive, and the first is a
constant plus small multiples of unknowns whose size is known beforehand (`UnknownLimits`). What the solver got wrong is
thus added to the value. It takes a limit on the clients' gradients at the start, which some statements with several
clients do not have: there the value is numeric, the dual objective of a solver that says it has converged.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import ComparedRounds, DeterministicCase
from ratecheck.falsification.snapshots import Lowest, Run, mean, total

# SCS, which is PEPit's choice unless told otherwise, returns values below the true worst case.
_SOLVER = "CLARABEL"
# Primal and dual objectives of a converged solution agree to this accuracy, relative to a left side of L*F_0 at least.
_ACCURACY = 1e-6
# Coefficients of points that differ by this, relative to them, are the same.
_ROUNDING = 1e-14
_HINT = "fewer local steps or rounds, or a smaller b or B_0, would help"


@dataclass(frozen=True)
class PepBound:
    """No run has a larger left side than ``left``; ``solver`` is the dual objective.

    ``safe`` says that what the solver got wrong has been added, so that only the rounding of floats is left.
    """

    left: float
    solver: float
    safe: bool


class UndecidedCaseError(InputError):
    """Nothing is wrong with the numbers, but the worst case is not enclosed at them."""


@dataclass
class UnknownLimits:
    """Limits on the unknowns of every instance of the statement, in the units of the scaled case.

    ``vectors`` on norms, by PEPit's points; ``numbers`` on absolute values, by PEPit's expressions.
    """

    start: float
    vectors: dict[Any, float] = field(default_factory=dict)
    numbers: dict[Any, float] = field(default_factory=dict)

    def norm(self, point: Any) -> float:
        """A limit on the norm of a linear combination of the unknown vectors."""
        return sum(abs(weight) * self.vectors[leaf] for leaf, weight in point.decomposition_dict.items() if weight)

    @property
    def known(self) -> bool:
        """Whether every unknown has a limit."""
        return all(map(math.isfinite, (*self.vectors.values(), *self.numbers.values())))


@dataclass(frozen=True)
class Formulation:
    """A performance-estimation problem without its metric, in the units of the scaled case; ``run`` is in its points.

    ``calls`` are the calls of the oracle in order, a client and the number of its answer each, and ``drawn`` the same
    for the noise. ``least`` are the left
    sides of which the least is maximised, each with the condition that it is at least that, where there are several.
    """

    problem: Any
    run: Run
    functions: tuple[Any, ...]
    sizes: UnknownLimits
    lowest: Lowest
    calls: tuple[tuple[int, int], ...]
    drawn: tuple[tuple[int, int], ...] = ()
    least: list[tuple[Any, Any]] = field(default_factory=list)

    def maximise(self, rounds: Sequence[Any], **settings: float) -> tuple[float, str]:
        """Solve for the largest left side, or for the largest value that no round's left side is below."""
        from PEPit import Expression

        metric = rounds[0] if len(rounds) == 1 else Expression()
        for left in rounds:
            condition = None
            if left is not metric:
                condition = metric <= left
                self.problem.add_constraint(condition)
            self.least.append((left, condition))
        self.problem.set_performance_metric(metric)
        return self.solve(**settings)

    def solve(self, **settings: float) -> tuple[float, str]:
        """The dual objective, and in what way the solver has not converged, empty where it has.

        ``settings`` go to the solver. Raises `InputError` where it returns nothing.
        """
        from cvxpy.error import SolverError

        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                # What the solver says about its accuracy is checked below.
                warnings.simplefilter("ignore")
                dual = self.problem.solve(verbose=0, solver=_SOLVER, **settings)
        except SolverError:
            raise UndecidedCaseError(f"undecided at these numbers: {_SOLVER} has failed; {_HINT}") from None
        status = self.problem.wrapper.prob.status
        if dual is None:
            raise InputError(
                f"{_SOLVER} finds no largest left side (status {status}): nothing that is assumed at the start limits "
                f"what the statement speaks of"
            )
        dual, primal = float(dual), float(self.problem.objective.eval())
        converged = status == "optimal" and abs(dual - primal) <= _ACCURACY * max(1.0, abs(dual))
        return dual, "" if converged else f"status {status}, primal {primal:.9g}, dual {dual:.9g}"

    def safe(self) -> float:
        """An upper bound on what was maximised, from the multipliers of the last solution, right or wrong.

        The least of several left sides is at most any mean of them: here left is that with their multipliers as
        weights. With those of the other conditions, left - sum_c lambda_c e_c = constant + <A, G> + <a, F> in the Gram
        matrix G of the unknown vectors and the unknown numbers F. For D the diagonal of their sizes, <A, G> is at most
        the largest eigenvalue of DAD, if positive, times the number of vectors.
        """
        from PEPit.tools.expressions_to_matrices import expression_to_matrices

        shares = [1.0 if each is None else max(float(each.eval_dual()), 0.0) for _, each in self.least]
        shares = shares if sum(shares) > 0 else [1.0] * len(shares)
        left = total([share / sum(shares) * side for share, (side, _) in zip(shares, self.least, strict=True)])
        own = {id(each) for _, each in self.least}
        conditions = [each for each in self.problem.list_of_constraints if id(each) not in own]
        conditions += [each for function in self.functions for each in function.list_of_class_constraints]
        A, a, constant = expression_to_matrices(left)
        for condition in conditions:
            multiplier = max(float(condition.eval_dual()), 0.0)
            B, b, shift = expression_to_matrices(condition.expression)
            A, a, constant = A - multiplier * B, a - multiplier * b, constant - multiplier * shift
        D, F = np.zeros(len(A)), np.zeros(len(a))
        for point, size in self.sizes.vectors.items():
            D[point.counter] = size
        for expression, size in self.sizes.numbers.items():
            F[expression.counter] = size
        largest = float(np.linalg.eigvalsh(D[:, None] * A * D)[-1])
        return float(constant + max(largest, 0.0) * len(A) + abs(a) @ F)


def formulate(case: DeterministicCase, rounds: int = 0) -> Formulation:
    """The problem of a case over that many recorded points, by default T.

    Raises `InputError` where PEPit or Clarabel is not installed.
    """
    for package in ("PEPit", "clarabel"):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"the worst case over all smooth functions needs {package}: pip install 'ratecheck[pep]'")
    from PEPit import PEP, Expression, null_point

    scaled, problem = case.scaled, PEP()
    sizes = UnknownLimits(_largest_start(scaled))
    function = _operator() if scaled.operator else _smooth_function()
    functions = tuple(
        problem.declare_function(
            function, L=scaled.smoothness, mu=scaled.curvature, sizes=sizes, steepest=scaled.steepest
        )
        for _ in range(case.n)
    )
    if case.composite:
        functions += (problem.declare_function(function, L=math.inf, mu=0, sizes=sizes, steepest=math.inf),)
    calls: list[tuple[int, int]] = []

    def noted(i: int, answer: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        calls.append((i, next(k for k, known in enumerate(functions[i].list_of_points) if known is answer)))
        return answer

    drawn: list[tuple[int, int]] = []

    def noise(i: int, x: Any) -> Any:
        number = functions[i].noise(x)
        drawn.append((i, number))
        return scaled.noise * functions[i].noises[number]

    run = scaled.run(
        null_point,
        lambda i, x: noted(i, functions[i].answer(x))[1],
        value=lambda i, x: functions[i].answer(x)[2],
        rounds=rounds,
        prox=lambda i, x: noted(i, functions[i].prox(x, scaled.weight))[0],
        noise=noise,
    )
    if scaled.needs_minimiser:
        lowest = _minimiser(scaled, functions, sizes)
    else:
        # The first value is 0, since constants added to the f_i change nothing. It is f(u^0), or no more.
        lowest = Lowest(Expression())
        sizes.numbers[lowest.value] = scaled.gap or 1.0
    for condition in _conditions(scaled, run, functions, lowest):
        problem.add_constraint(condition)
    for function in functions:
        for unknown in function.noises:
            problem.add_constraint(unknown**2 <= 1)
    return Formulation(problem, run, functions, sizes, lowest, tuple(calls), tuple(drawn))


def _conditions(scaled: DeterministicCase, run: Run, functions: tuple[Any, ...], lowest: Lowest) -> Iterator[Any]:
    """What is assumed beside smoothness and curvature."""
    if lowest.point is not None and scaled.radius2 is not None:
        yield lowest.point**2 <= scaled.radius2
    if scaled.heterogeneity is not None:
        yield lowest.heterogeneity(inner) <= scaled.heterogeneity
    if scaled.gap is not None:
        yield scaled.combined(run[0][0].values) - lowest.value <= scaled.gap
    if scaled.operator or scaled.composite:
        answers = []
    elif scaled.n == 1:
        answers = [(slope**2, height) for _, slope, height in functions[0].list_of_points]
    else:
        # Where each client is at a point of its own, nothing is known of the mean but at the start.
        every = [(t, at) for t, outcomes in enumerate(run) for at in outcomes]
        shared = [at for t, at in every if at.values and (t == 0 or at.point is not None)]
        answers = [(at.square(inner), mean(at.values)) for at in shared]
    for square, height in answers:
        yield height - lowest.value >= square / (2 * scaled.smoothness)
    yield from _bounded(scaled, functions)
    if "B_0" in scaled.values:
        yield run[0][0].squares(inner) <= scaled.values["B_0"]
    if scaled.dissimilar:
        for at in (each for outcomes in run for each in outcomes if each.gradients):
            yield at.dissimilarity(inner) <= scaled.values["b"] ** 2


def _bounded(scaled: DeterministicCase, functions: tuple[Any, ...]) -> Iterator[Any]:
    """||g|| <= M for every answer, where subgradients are bounded."""
    if math.isfinite(scaled.steepest):
        for function in functions:
            for _, slope, _ in function.list_of_points:
                yield slope**2 <= scaled.steepest**2


def _minimiser(scaled: DeterministicCase, functions: tuple[Any, ...], sizes: UnknownLimits) -> Lowest:
    """A point at which the clients' gradients add up to 0, with the answers there."""
    from PEPit import Point

    point = Point()
    sizes.vectors[point] = _distance_to_minimiser(scaled)
    *others, last = functions
    answers = [function.answer(point) for function in others]
    # PEPit's own null point keeps what it was in the problem before.
    rest = -total([slope for _, slope, _ in answers]) if answers else Point(is_leaf=False, decomposition_dict={})
    answers.append(last.answer(point, rest))
    heights = [height for _, _, height in answers]
    return Lowest(scaled.combined(heights), point, tuple(slope for _, slope, _ in answers))


def _distance_to_minimiser(scaled: DeterministicCase) -> float:
    """A limit on ||u^0 - x*||, infinite where the statement has none."""
    limits = [math.inf]
    if scaled.radius2 is not None:
        limits.append(math.sqrt(scaled.radius2))
    if scaled.gap is not None and scaled.curvature > 0:
        limits.append(math.sqrt(2 * scaled.gap / scaled.curvature))
    return min(limits)


def _largest_start(scaled: DeterministicCase) -> float:
    """A limit on ||grad f_i(u^0)||, infinite where the statement has none.

    ||grad f(u^0)||^2 <= 2 L F_0, ||grad f(u^0)|| <= L R, ||grad f_i - grad f||^2 <= n b^2, and ||grad f_i(u^0) -
    grad f_i(x*)|| <= L R with ||grad f_i(x*)||^2 <= n b_*^2.
    """
    if scaled.composite:
        # The gradient of the smooth part need not be 0 at x*.
        return math.inf
    if math.isinf(scaled.smoothness):
        return scaled.steepest
    limits, alone = [math.inf], [math.inf]
    if scaled.gap is not None:
        alone.append(math.sqrt(2 * scaled.gap))
    if scaled.radius2 is not None:
        alone.append(math.sqrt(scaled.radius2))
    if "B_0" in scaled.values:
        limits.append(math.sqrt(scaled.values["B_0"]))
    if scaled.heterogeneity is not None:
        limits.append(math.sqrt(scaled.n * scaled.heterogeneity) + _distance_to_minimiser(scaled))
    if scaled.dissimilar or scaled.n == 1:
        spread = math.sqrt(scaled.n) * scaled.values["b"] if scaled.n > 1 else 0.0
        limits.append(min(alone) + spread)
    return min(limits)


class _Scaled:
    """What PEPit's class of smooth functions gets: unknowns and conditions of order 1 where points are close together.

    As it stands the solver sees the answers at points of distance s as numbers that differ by s, and conditions on them
    of order s^2; it then stops early and returns values that are too small. So an answer is an increment of that at the
    nearest point p before it, g = g_p + s*w and h = h_p + <g_p + g, x - x_p>/2 + s^2*omega, and a condition is divided
    by s^2, where s is the distance in terms of the coefficients of the points. Smoothness limits the increments:
    ||w|| <= ||x - x_p||/s and |omega| <= ||x - x_p||^2/(4 s^2).

    A proximal step from x leads to y = x - g/lambda with the gradient g at y, so that ||g|| <= ||grad f_i(x)||/(1 +
    mu/lambda). Functions that need not be smooth have L = inf, and their answers no limits but those of bounded
    subgradients: ||g|| <= M and |omega| <= M ||x - x_p||/s^2.
    """

    L: float
    mu: float
    has_values = True
    list_of_points: list[tuple[Any, Any, Any]]
    add_point: Callable[[tuple[Any, Any, Any]], None]

    def __init__(self, sizes: UnknownLimits, steepest: float, **options: Any) -> None:
        # It prints advice.
        with contextlib.redirect_stdout(io.StringIO()):
            super().__init__(**options)
        self.sizes, self.steepest = sizes, steepest
        self.proximal: list[tuple[Any, tuple[Any, Any, Any]]] = []
        # Unknowns of norm at most 1 by which noise is sigma, and the answers beside which they are.
        self.noises: list[Any] = []
        self._noisy: list[tuple[Any, Any, Any]] = []

    def answer(self, x: Any, gradient: Any = None) -> tuple[Any, Any, Any]:
        """The triple (point, gradient, value), a new one where the point is; the gradient may be given."""
        nearest = self._nearest(x)
        if nearest is not None and _same(x, nearest[0]):
            return nearest
        if nearest is None:
            return self._added(x, self._vector(self.sizes.start) if gradient is None else gradient)
        point, slope, _ = nearest
        s = _distance(x, point)
        far = self.sizes.norm(x - point) / s
        if gradient is None and self.smooth:
            gradient = slope + s * self._vector(far)
        elif gradient is None:
            gradient = 0 * slope + s * self._vector(self.steepest / s)
        return self._added(x, gradient, nearest, s, far)

    def noise(self, x: Any) -> int:
        """The number in ``noises`` of what stands beside the gradient at a point, a new one where none is known."""
        answer = self.answer(x)
        for number, known in enumerate(self._noisy):
            if known is answer:
                return number
        self._noisy.append(answer)
        self.noises.append(self._vector(1.0))
        return len(self.noises) - 1

    def prox(self, x: Any, weight: float) -> tuple[Any, Any, Any]:
        """The triple at the minimiser of f + weight/2 ||. - x||^2, a new one where none is known."""
        for known, answer in self.proximal:
            if _same(x, known):
                return answer
        nearest = self._nearest(x)
        if nearest is None:
            steepest = self.sizes.start
        else:
            steepest = self.sizes.norm(nearest[1]) + self.sizes.norm(x - nearest[0]) if self.smooth else self.steepest
        gradient = self._vector(steepest / (1 + self.mu / weight))
        point = x - gradient / weight
        if nearest is None:
            answer = self._added(point, gradient)
        else:
            answer = self._added(point, gradient, nearest, 1.0, self.sizes.norm(point - nearest[0]))
        self.proximal.append((x, answer))
        return answer

    @property
    def smooth(self) -> bool:
        """Whether L is finite."""
        return math.isfinite(self.L)

    def _nearest(self, x: Any) -> tuple[Any, Any, Any] | None:
        """The known answer at the point that is closest."""
        return min(self.list_of_points, key=lambda known: _distance(x, known[0]), default=None)

    def _added(
        self, x: Any, gradient: Any, near: tuple[Any, Any, Any] | None = None, s: float = 1.0, far: float = 0.0
    ) -> tuple[Any, Any, Any]:
        """A new triple; its value is 0 at first, and then an increment of that at the point ``near``."""
        from PEPit import Expression

        if near is None or not self.has_values:
            height = Expression(is_leaf=False, decomposition_dict={1: 0})
        else:
            point, slope, value = near
            omega = Expression()
            # Of a convex function the increment is between <slope, x - point> and <gradient, x - point>.
            rough = self.steepest * far / s if math.isfinite(self.steepest) else math.inf
            self.sizes.numbers[omega] = far**2 / 4 if self.smooth else rough
            height = value + (slope + gradient) * (x - point) / 2 + s**2 * omega
        self.add_point((x, gradient, height))
        return self.list_of_points[-1]

    def _vector(self, size: float) -> Any:
        """A new unknown of at most that norm."""
        from PEPit import Point

        unknown = Point()
        self.sizes.vectors[unknown] = size
        return unknown


def _smooth_function() -> Any:
    """PEPit's class of smooth functions, with answers as in `_Scaled`."""
    from PEPit.functions import SmoothStronglyConvexFunction

    class Smooth(_Scaled, SmoothStronglyConvexFunction):
        def set_smoothness_strong_convexity_constraint_i_j(
            self, xi: Any, gi: Any, fi: Any, xj: Any, gj: Any, fj: Any
        ) -> Any:
            condition = super().set_smoothness_strong_convexity_constraint_i_j(xi, gi, fi, xj, gj, fj)
            return condition.expression / _distance(xi, xj) ** 2 <= 0

    return Smooth


def _operator() -> Any:
    """A cocoercive operator, or a monotone one, in the place of PEPit's class of smooth functions."""

    class Operator(_smooth_function()):  # type: ignore[misc]
        has_values = False

        def set_smoothness_strong_convexity_constraint_i_j(
            self, xi: Any, gi: Any, fi: Any, xj: Any, gj: Any, fj: Any
        ) -> Any:
            x, g = xi - xj, gi - gj
            least = g**2 / self.L if self.smooth else self.mu * x**2
            return (least - g * x) / _distance(xi, xj) ** 2 <= 0

    return Operator


def _distance(x: Any, y: Any) -> float:
    """Euclidean distance of two points in terms of their coefficients."""
    return math.hypot(*(x - y).decomposition_dict.values())


def _same(x: Any, y: Any) -> bool:
    """Whether two points differ by the rounding of coefficients only."""
    size = max(math.hypot(*point.decomposition_dict.values()) for point in (x, y))
    return _distance(x, y) <= _ROUNDING * size


def inner(a: Any, b: Any) -> Any:
    """<a, b> for points of PEPit."""
    return a * b


def upper_bound(case: DeterministicCase, comparison: ComparedRounds | None = None, **settings: float) -> PepBound:
    """The largest left side of the case over all functions and dimensions, or a little more.

    ``settings`` go to the solver. Raises `InputError` where PEPit or Clarabel is not installed, where the solver
    returns nothing, and where it has not converged although its answer has to be trusted.
    """
    return solved(case, comparison or case.comparisons[0], **settings)[0]


def solved(case: DeterministicCase, comparison: ComparedRounds, **settings: float) -> tuple[PepBound, Formulation]:
    """The bound, and the problem with the solver's solution in it."""
    formulation = formulate(case, case.rounds(comparison))
    unit, scaled = case.left_unit(comparison), case.scaled_comparison(comparison)
    rounds = [total(each) for each in case.scaled.parts(formulation.run, inner, float, scaled, formulation.lowest)]
    found, complaint = formulation.maximise(rounds, **settings)
    safe = formulation.sizes.known
    if complaint and not safe:
        raise UndecidedCaseError(f"undecided at these numbers: {_SOLVER} has not converged: {complaint}; {_HINT}")
    value = formulation.safe() if safe else found
    return PepBound(left=value * unit, solver=found * unit, safe=safe), formulation
