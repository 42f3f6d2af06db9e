"""The worst run over all functions of a class, from above: a performance-estimation problem.

Solved by Clarabel. The unknowns are the gradients and values that the run sees; the points follow by the algorithm's
own functions on combinations of these (`GramVector`). What is compared is maximised over all answers that meet

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

import importlib.util
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import ComparedRounds, DeterministicCase
from ratecheck.falsification.performance_estimation.gram import (
    GramNumber,
    GramProgram,
    GramSolution,
    GramVector,
    SolverFailedError,
    inner,
    together,
)
from ratecheck.falsification.snapshots import Lowest, Run, mean, total

_SOLVER = "CLARABEL"
# Primal and dual objectives of a converged solution agree to this accuracy, relative to a left side of L*F_0 at least.
_ACCURACY = 1e-6
# Its tolerances and ways to factorise, close ones first: which of them it meets depends on how a processor rounds.
_ATTEMPTS = ((1e-9, ""), (1e-8, ""), (1e-8, "faer"), (1e-8, "qdldl"), (1e-7, ""))
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

    ``vectors`` on norms, by the number of the unknown vector; ``numbers`` on absolute values, by that of the number.
    """

    start: float
    vectors: list[float] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def norm(self, point: GramVector) -> float:
        """A limit on the norm of a linear combination of the unknown vectors."""
        return sum(abs(weight) * self.vectors[k] for k, weight in point.weights.items())

    @property
    def known(self) -> bool:
        """Whether every unknown has a limit."""
        return all(map(math.isfinite, (*self.vectors, *self.numbers)))


@dataclass
class Unknowns:
    """A program, and limits on its unknowns."""

    program: GramProgram
    limits: UnknownLimits

    def vector(self, limit: float) -> GramVector:
        """A new unknown of at most that norm."""
        self.limits.vectors.append(limit)
        return self.program.vector()

    def number(self, limit: float) -> GramNumber:
        """A new unknown of at most that absolute value."""
        self.limits.numbers.append(limit)
        return self.program.number()


@dataclass(frozen=True)
class Formulation:
    """A performance-estimation problem without what is maximised, in the units of the scaled case.

    ``run`` is in its vectors. ``calls`` are the calls of the oracle in order, a client and the number of its answer
    each, and ``drawn`` the same for the noise.
    """

    unknowns: Unknowns
    run: Run
    functions: tuple[FunctionAnswers, ...]
    lowest: Lowest
    calls: tuple[tuple[int, int], ...]
    drawn: tuple[tuple[int, int], ...] = ()

    @property
    def sizes(self) -> UnknownLimits:
        """Limits on the unknowns."""
        return self.unknowns.limits

    def maximise(self, rounds: Sequence[GramNumber], **settings: float) -> Maximum:
        """Solve for the largest left side, or for the largest value that no round's left side is below.

        ``settings`` go to the solver. Raises `InputError` where it returns nothing.
        """
        known = self.unknowns.program
        program = GramProgram(known.vectors, known.numbers, list(known.conditions))
        objective = rounds[0] if len(rounds) == 1 else program.number()
        # First, so that a slice has their multipliers.
        program.conditions[:0] = [objective - left for left in rounds if left is not objective]
        for tolerance, way in _ATTEMPTS:
            close: dict[str, Any] = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
            close |= {"direct_solve_method": way} if way else {}
            solution = _solution(program, objective, **{**close, **settings})
            if isinstance(solution, GramSolution) and solution.status == "optimal":
                break
        if solution is None:
            raise UndecidedCaseError(f"undecided at these numbers: {_SOLVER} has failed; {_HINT}")
        if isinstance(solution, str):
            raise InputError(
                f"{_SOLVER} finds no largest left side (status {solution}): nothing that is assumed at the start "
                f"limits what the statement speaks of"
            )
        return Maximum(program, objective, tuple(rounds), solution)

    def safe(self, found: Maximum) -> float:
        """An upper bound on what was maximised, from the multipliers of a solution, right or wrong.

        The least of several left sides is at most any mean of them: here left is that with their multipliers as
        weights. With those of the other conditions, left - sum_c lambda_c e_c = constant + <A, G> + <a, F> in the Gram
        matrix G of the unknown vectors and the unknown numbers F. For D the diagonal of their sizes, <A, G> is at most
        the largest eigenvalue of DAD, if positive, times the number of vectors.
        """
        multipliers = np.maximum(found.solution.multipliers, 0.0)
        shares, others = np.split(multipliers, [len(multipliers) - len(self.unknowns.program.conditions)])
        shares = shares if shares.sum() > 0 else np.ones(len(found.rounds))
        left = together(found.rounds, shares / shares.sum())
        A, a, constant = self.unknowns.program.matrices(left - together(self.unknowns.program.conditions, others))
        D, F = np.array(self.sizes.vectors), np.array(self.sizes.numbers)
        largest = float(np.linalg.eigvalsh(D[:, None] * A * D)[-1])
        return float(constant + max(largest, 0.0) * len(A) + abs(a) @ F)


def _solution(program: GramProgram, objective: GramNumber, **settings: Any) -> GramSolution | str | None:
    """The answer of the solver, why there is none, or None where it has failed."""
    try:
        return program.maximise(objective, **settings)
    except SolverFailedError:
        return None


@dataclass(frozen=True)
class Maximum:
    """What the solver has found for the least of ``rounds``; ``program`` is what it was given."""

    program: GramProgram
    objective: GramNumber
    rounds: tuple[GramNumber, ...]
    solution: GramSolution

    @property
    def dual(self) -> float:
        """The dual objective."""
        return self.program.dual(self.objective, self.solution)

    @property
    def complaint(self) -> str:
        """In what way the solver has not converged, empty where it has."""
        dual, primal, status = self.dual, self.solution.number(self.objective), self.solution.status
        if status == "optimal" and abs(dual - primal) <= _ACCURACY * max(1.0, abs(dual)):
            return ""
        return f"status {status}, primal {primal:.9g}, dual {dual:.9g}"


def formulate(case: DeterministicCase, rounds: int = 0) -> Formulation:
    """The problem of a case over that many recorded points, by default T.

    Raises `InputError` where Clarabel is not installed.
    """
    if importlib.util.find_spec("clarabel") is None:
        raise InputError("the worst case over all smooth functions needs clarabel: pip install 'ratecheck[pep]'")
    scaled = case.scaled
    unknowns = Unknowns(GramProgram(), UnknownLimits(_largest_start(scaled)))
    kind = OperatorAnswers if scaled.operator else FunctionAnswers
    functions = tuple(kind(unknowns, scaled.smoothness, scaled.curvature, scaled.steepest) for _ in range(case.n))
    if case.composite:
        functions += (kind(unknowns, math.inf, 0.0, math.inf),)
    calls: list[tuple[int, int]] = []

    def noted(i: int, answer: Answer) -> Answer:
        calls.append((i, next(k for k, known in enumerate(functions[i].answers) if known is answer)))
        return answer

    drawn: list[tuple[int, int]] = []

    def noise(i: int, x: Any) -> Any:
        number = functions[i].noise(x)
        drawn.append((i, number))
        return scaled.noise * functions[i].noises[number]

    run = scaled.run(
        GramVector(),
        lambda i, x: noted(i, functions[i].answer(x))[1],
        value=lambda i, x: functions[i].answer(x)[2],
        rounds=rounds,
        prox=lambda i, x: noted(i, functions[i].prox(x, scaled.weight))[0],
        noise=noise,
    )
    if scaled.needs_minimiser:
        lowest = _minimiser(scaled, functions, unknowns)
    else:
        # The first value is 0, since constants added to the f_i change nothing. It is f(u^0), or no more.
        lowest = Lowest(unknowns.number(scaled.gap or 1.0))
    conditions = unknowns.program.conditions
    conditions += limited(scaled, run, lowest)
    conditions += above_infimum(scaled, run, functions[0].answers, lowest)
    conditions += bounded(scaled, functions)
    for function in functions:
        conditions += [unknown.square - 1.0 for unknown in function.noises]
    for function in functions:
        conditions += function.conditions()
    return Formulation(unknowns, run, functions, lowest, tuple(calls), tuple(drawn))


def limited(scaled: DeterministicCase, run: Run, lowest: Lowest) -> Iterator[GramNumber]:
    """What is assumed of the start and of how the clients differ: numbers that are at most 0."""
    if lowest.point is not None and scaled.radius2 is not None:
        yield lowest.point.square - scaled.radius2
    if scaled.heterogeneity:
        yield lowest.heterogeneity(inner) - scaled.heterogeneity
    if scaled.gap is not None:
        yield scaled.combined(run[0][0].values) - lowest.value - scaled.gap
    if "B_0" in scaled.values:
        yield run[0][0].squares(inner) - scaled.values["B_0"]
    if scaled.dissimilar:
        for at in (each for outcomes in run for each in outcomes if each.gradients):
            yield at.dissimilarity(inner) - scaled.values["b"] ** 2


def above_infimum(scaled: DeterministicCase, run: Run, first: Sequence[Answer], lowest: Lowest) -> Iterator[GramNumber]:
    """The inequality ||grad f||^2/(2L) - (f - inf f) <= 0 wherever f is known; ``first`` are f_0's answers."""
    if scaled.operator or scaled.composite:
        return
    if scaled.n == 1:
        answers = [(slope.square, height) for _, slope, height in first]
    else:
        # Where each client is at a point of its own, nothing is known of the mean but at the start.
        every = [(t, at) for t, outcomes in enumerate(run) for at in outcomes]
        shared = [at for t, at in every if at.values and (t == 0 or at.point is not None)]
        answers = [(at.square(inner), mean(at.values)) for at in shared]
    for square, height in answers:
        yield square / (2 * scaled.smoothness) - (height - lowest.value)


def bounded(scaled: DeterministicCase, functions: Sequence[Answered]) -> Iterator[GramNumber]:
    """||g|| <= M for every answer, where subgradients are bounded."""
    if math.isfinite(scaled.steepest):
        for function in functions:
            for _, slope, _ in function.answers:
                yield slope.square - scaled.steepest**2


def _minimiser(scaled: DeterministicCase, functions: tuple[FunctionAnswers, ...], unknowns: Unknowns) -> Lowest:
    """A point at which the clients' gradients add up to 0, with the answers there."""
    point = unknowns.vector(_distance_to_minimiser(scaled))
    *others, last = functions
    # Gradients that have to be 0 are no unknowns: a program without an inside is solved to fewer digits.
    none = GramVector() if scaled.heterogeneity == 0 else None
    answers = [function.answer(point, none) for function in others]
    rest = -total([slope for _, slope, _ in answers]) if answers else GramVector()
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


# A point, the gradient there and the value.
Answer = tuple[GramVector, GramVector, GramNumber]


class Answered(Protocol):
    """What has given answers."""

    answers: list[Answer]


class FunctionAnswers:
    """What an L-smooth function of curvature at least mu answers, in unknowns and conditions of order 1 everywhere.

    As they stand the solver sees the answers at points of distance s as numbers that differ by s, and conditions on
    them of order s^2; it then stops early and returns values that are too small. So an answer is an increment of that
    at the nearest point p before it, g = g_p + s*w and h = h_p + <g_p + g, x - x_p>/2 + s^2*omega, and a condition is
    divided by s^2, where s is the distance in terms of the coefficients of the points. Smoothness limits the
    increments: ||w|| <= ||x - x_p||/s and |omega| <= ||x - x_p||^2/(4 s^2).

    A proximal step from x leads to y = x - g/lambda with the gradient g at y, so that ||g|| <= ||grad f_i(x)||/(1 +
    mu/lambda). Functions that need not be smooth have L = inf, and their answers no limits but those of bounded
    subgradients: ||g|| <= M and |omega| <= M ||x - x_p||/s^2.
    """

    has_values = True

    def __init__(self, unknowns: Unknowns, smoothness: float, curvature: float, steepest: float) -> None:
        self.L, self.mu, self.steepest = smoothness, curvature, steepest
        self.unknowns, self.sizes = unknowns, unknowns.limits
        self.answers: list[Answer] = []
        self.proximal: list[tuple[GramVector, Answer]] = []
        # Unknowns of norm at most 1 by which noise is sigma, and the answers beside which they are.
        self.noises: list[GramVector] = []
        self._noisy: list[Answer] = []

    def answer(self, x: GramVector, gradient: GramVector | None = None) -> Answer:
        """The triple (point, gradient, value), a new one where the point is; the gradient may be given."""
        nearest = self._nearest(x)
        if nearest is not None and same_point(x, nearest[0]):
            return nearest
        if nearest is None:
            return self._added(x, self.unknowns.vector(self.sizes.start) if gradient is None else gradient)
        point, slope, _ = nearest
        s = _distance(x, point)
        far = self.sizes.norm(x - point) / s
        if gradient is None and self.smooth:
            gradient = slope + s * self.unknowns.vector(far)
        elif gradient is None:
            gradient = s * self.unknowns.vector(self.steepest / s)
        return self._added(x, gradient, nearest, s, far)

    def noise(self, x: GramVector) -> int:
        """The number in ``noises`` of what stands beside the gradient at a point, a new one where none is known."""
        answer = self.answer(x)
        for number, known in enumerate(self._noisy):
            if known is answer:
                return number
        self._noisy.append(answer)
        self.noises.append(self.unknowns.vector(1.0))
        return len(self.noises) - 1

    def prox(self, x: GramVector, weight: float) -> Answer:
        """The triple at the minimiser of f + weight/2 ||. - x||^2, a new one where none is known."""
        for known, answer in self.proximal:
            if same_point(x, known):
                return answer
        nearest = self._nearest(x)
        if nearest is None:
            steepest = self.sizes.start
        else:
            steepest = self.sizes.norm(nearest[1]) + self.sizes.norm(x - nearest[0]) if self.smooth else self.steepest
        gradient = self.unknowns.vector(steepest / (1 + self.mu / weight))
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

    def _nearest(self, x: GramVector) -> Answer | None:
        """The known answer at the point that is closest."""
        return min(self.answers, key=lambda known: _distance(x, known[0]), default=None)

    def _added(
        self, x: GramVector, gradient: GramVector, near: Answer | None = None, s: float = 1.0, far: float = 0.0
    ) -> Answer:
        """A new triple; its value is 0 at first, and then an increment of that at the point ``near``."""
        if near is None or not self.has_values:
            height = GramNumber()
        else:
            point, slope, value = near
            # Of a convex function the increment is between <slope, x - point> and <gradient, x - point>.
            rough = self.steepest * far / s if math.isfinite(self.steepest) else math.inf
            omega = self.unknowns.number(far**2 / 4 if self.smooth else rough)
            height = value + inner(slope + gradient, x - point) / 2 + s**2 * omega
        self.answers.append((x, gradient, height))
        return self.answers[-1]

    def conditions(self) -> Iterator[GramNumber]:
        """What has to be at most 0, of every two answers in either order, over their squared distance."""
        for first in self.answers:
            for second in self.answers:
                if first is not second:
                    yield self._condition(first, second) / _distance(first[0], second[0]) ** 2

    def _condition(self, first: Answer, second: Answer) -> GramNumber:
        """Theorem 4 of Taylor, Hendrickx, Glineur (2017)."""
        x, g, height = first[0] - second[0], first[1] - second[1], first[2] - second[2]
        bent = self.mu / (2 * (1 - self.mu / self.L)) * (x - g / self.L).square
        return inner(second[1], x) + g.square / (2 * self.L) + bent - height


class OperatorAnswers(FunctionAnswers):
    """What a cocoercive operator, or a monotone one, answers."""

    has_values = False

    def _condition(self, first: Answer, second: Answer) -> GramNumber:
        x, g = first[0] - second[0], first[1] - second[1]
        return (g.square / self.L if self.smooth else self.mu * x.square) - inner(g, x)


def _distance(x: GramVector, y: GramVector) -> float:
    """Euclidean distance of two points in terms of their coefficients."""
    return (x - y).length


def same_point(x: GramVector, y: GramVector) -> bool:
    """Whether two points differ by the rounding of coefficients only."""
    return _distance(x, y) <= _ROUNDING * max(x.length, y.length)


def upper_bound(case: DeterministicCase, comparison: ComparedRounds | None = None, **settings: float) -> PepBound:
    """The largest left side of the case over all functions and dimensions, or a little more.

    ``settings`` go to the solver. Raises `InputError` where Clarabel is not installed, where the solver returns
    nothing, and where it has not converged although its answer has to be trusted.
    """
    return solved(case, comparison or case.comparisons[0], **settings)[0]


def solved(
    case: DeterministicCase, comparison: ComparedRounds, **settings: float
) -> tuple[PepBound, Formulation, GramSolution]:
    """The bound, the problem, and the solver's solution of it."""
    formulation = formulate(case, case.rounds(comparison))
    unit, scaled = case.left_unit(comparison), case.scaled_comparison(comparison)
    rounds = [total(each) for each in case.scaled.parts(formulation.run, inner, float, scaled, formulation.lowest)]
    found = formulation.maximise(rounds, **settings)
    safe = formulation.sizes.known
    if (complaint := found.complaint) and not safe:
        raise UndecidedCaseError(f"undecided at these numbers: {_SOLVER} has not converged: {complaint}; {_HINT}")
    value = formulation.safe(found) if safe else found.dual
    return PepBound(left=value * unit, solver=found.dual * unit, safe=safe), formulation, found.solution
