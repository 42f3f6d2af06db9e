"""The worst deterministic run over all smooth functions, from above: a performance-estimation problem.

Solved by PEPit with Clarabel. The unknowns are the gradients and values that the run sees; the points follow by the
algorithm's own functions on PEPit's points. The left side is maximised over all answers that meet

- for each client i the interpolation conditions of L-smooth, not necessarily convex functions, which are necessary and
  sufficient for a function with these answers (Taylor, Hendrickx, Glineur 2017, Theorem 3.10);
- f(u^0) - f_* <= F_0 and f(u^t) - ||grad f(u^t)||^2/(2L) >= f_* at every server iterate u^t, f being the mean of the
  f_i. The second is what inf f = f_* implies: f is L-smooth, so that a step -grad f/L from u^t lowers it by at least
  ||grad f||^2/(2L). No minimiser is supposed to exist, since none has to: with a point at which the gradients of the
  clients add up to 0 among the unknowns, the problem would leave out functions that only approach their infimum;
- (1/n) sum_i ||grad f_i(u^t) - grad f(u^t)||^2 <= b^2 at every server iterate, where the statement assumes bounded
  dissimilarity, and sum_i ||grad f_i(u^0)||^2 <= B_0 where it has that constant.

Each of these is necessary for an instance of the statement, in any dimension. The second and third say less than the
statement, which speaks about all points, so the value is an upper bound: how close it is, `interpolation` tells from
below.

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
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import DeterministicCase, Snapshot, mean

# SCS, which is PEPit's choice unless told otherwise, returns values below the true worst case.
_SOLVER = "CLARABEL"
# Primal and dual objectives of a converged solution agree to this accuracy, relative to a left side of L*F_0 at least.
_ACCURACY = 1e-6
_HINT = "fewer local steps or rounds, or a smaller b or B_0, would help"


@dataclass(frozen=True)
class PepBound:
    """No run has a larger left side than ``left``; ``solver`` is the dual objective.

    ``safe`` says that what the solver got wrong has been added, so that only the rounding of floats is left.
    """

    left: float
    solver: float
    safe: bool


@dataclass
class UnknownLimits:
    """Limits on the unknowns of every instance of the statement, at F_0 = L = 1.

    ``vectors`` on norms, by PEPit's points; ``numbers`` on absolute values, by PEPit's expressions.
    """

    start: float
    vectors: dict[Any, float] = field(default_factory=dict)
    numbers: dict[Any, float] = field(default_factory=dict)

    def norm(self, point: Any) -> float:
        """A limit on the norm of a linear combination of the unknown vectors."""
        return sum(abs(weight) * self.vectors[leaf] for leaf, weight in point.decomposition_dict.items())


@dataclass(frozen=True)
class Formulation:
    """A performance-estimation problem without its metric, in units in which F_0 = L = 1; ``run`` is in its points."""

    problem: Any
    run: tuple[Snapshot, ...]
    functions: tuple[Any, ...]
    sizes: UnknownLimits

    def solve(self, **settings: float) -> tuple[float, str]:
        """The dual objective, and in what way the solver has not converged, empty where it has.

        ``settings`` go to the solver. Raises `InputError` where it returns nothing.
        """
        from cvxpy.error import SolverError

        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                # What the solver says about its accuracy is checked below.
                warnings.simplefilter("ignore")
                dual = float(self.problem.solve(verbose=0, solver=_SOLVER, **settings))
        except SolverError:
            raise InputError(f"{_SOLVER} has failed; {_HINT}") from None
        status, primal = self.problem.wrapper.prob.status, float(self.problem.objective.eval())
        converged = status == "optimal" and abs(dual - primal) <= _ACCURACY * max(1.0, abs(dual))
        return dual, "" if converged else f"status {status}, primal {primal:.9g}, dual {dual:.9g}"

    def safe(self, left: Any) -> float:
        """An upper bound on ``left``, the only metric, from the multipliers of the last solution, right or wrong.

        With the multipliers, left - sum_c lambda_c e_c = constant + <A, G> + <a, F> in the Gram matrix G of the unknown
        vectors and the unknown numbers F. For D the diagonal of their sizes, <A, G> is at most the largest eigenvalue
        of DAD, if positive, times the number of vectors.
        """
        from PEPit.tools.expressions_to_matrices import expression_to_matrices

        conditions = [*self.problem.list_of_constraints]
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


def formulate(case: DeterministicCase) -> Formulation:
    """The problem of a case; raises `InputError` where PEPit or Clarabel is not installed."""
    for package in ("PEPit", "clarabel"):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"the worst case over all smooth functions needs {package}: pip install 'ratecheck[pep]'")
    from PEPit import PEP, Expression, null_point

    scaled, problem = case.scaled, PEP()
    sizes = UnknownLimits(_largest_start(scaled))
    function = _smooth_function()
    functions = tuple(problem.declare_function(function, L=1.0, sizes=sizes) for _ in range(case.n))
    run = scaled.run(null_point, lambda i, x: functions[i].answer(x)[1])
    # f(u^0) is 0, since constants added to the f_i change nothing.
    floor = Expression()
    sizes.numbers[floor] = 1.0

    def gap(at: Snapshot) -> Any:
        return mean([function.answer(at.point)[2] for function in functions]) - floor

    problem.add_constraint(gap(run[0]) <= 1)
    for at in run:
        problem.add_constraint(gap(at) >= at.square(inner) / 2)
    if "B_0" in scaled.values:
        problem.add_constraint(run[0].squares(inner) <= scaled.values["B_0"])
    if case.dissimilar:
        for at in run:
            problem.add_constraint(at.dissimilarity(inner) <= scaled.values["b"] ** 2)
    return Formulation(problem, run, functions, sizes)


def _largest_start(scaled: DeterministicCase) -> float:
    """A limit on ||grad f_i(u^0)||, infinite where the statement has none.

    ||grad f(u^0)||^2 <= 2 L F_0, and ||grad f_i - grad f||^2 <= n b^2.
    """
    limits = [math.inf]
    if "B_0" in scaled.values:
        limits.append(math.sqrt(scaled.values["B_0"]))
    if scaled.dissimilar or scaled.n == 1:
        spread = math.sqrt(scaled.n) * scaled.values["b"] if scaled.n > 1 else 0.0
        limits.append(math.sqrt(2) + spread)
    return min(limits)


def _smooth_function() -> Any:
    """PEPit's class of smooth functions, with unknowns and conditions of order 1 where points are close together.

    As it stands the solver sees the answers at points of distance s as numbers that differ by s, and conditions on them
    of order s^2; it then stops early and returns values that are too small. So an answer is an increment of that at the
    nearest point p before it, g = g_p + s*w and h = h_p + <g_p + g, x - x_p>/2 + s^2*omega, and a condition is divided
    by s^2, where s is the distance in terms of the coefficients of the points. Smoothness limits the increments:
    ||w|| <= ||x - x_p||/s and |omega| <= ||x - x_p||^2/(4 s^2).
    """
    from PEPit import Expression, Point
    from PEPit.functions import SmoothFunction

    class Smooth(SmoothFunction):
        def __init__(self, sizes: UnknownLimits, **options: Any) -> None:
            super().__init__(**options)
            self.sizes = sizes

        def answer(self, x: Any) -> tuple[Any, Any, Any]:
            """The triple (point, gradient, value), a new one where the point is."""
            nearest = min(self.list_of_points, key=lambda known: _distance(x, known[0]), default=None)
            if nearest is None:
                nearest = x, self._vector(self.sizes.start), Expression(is_leaf=False, decomposition_dict={1: 0})
                self.add_point(nearest)
                return nearest
            point, gradient, value = nearest
            s = _distance(x, point)
            if s > 0:
                far = self.sizes.norm(x - point) / s
                new = gradient + s * self._vector(far)
                omega = Expression()
                self.sizes.numbers[omega] = far**2 / 4
                nearest = x, new, value + (gradient + new) * (x - point) / 2 + s**2 * omega
                self.add_point(nearest)
            return nearest

        def _vector(self, size: float) -> Any:
            """A new unknown of at most that norm."""
            unknown = Point()
            self.sizes.vectors[unknown] = size
            return unknown

        def set_smoothness_i_j(self, xi: Any, gi: Any, fi: Any, xj: Any, gj: Any, fj: Any) -> Any:
            condition = super().set_smoothness_i_j(xi, gi, fi, xj, gj, fj)
            return condition.expression / _distance(xi, xj) ** 2 <= 0

    return Smooth


def _distance(x: Any, y: Any) -> float:
    """Euclidean distance of two points in terms of their coefficients."""
    return math.hypot(*(x - y).decomposition_dict.values())


def inner(a: Any, b: Any) -> Any:
    """<a, b> for points of PEPit."""
    return a * b


def upper_bound(case: DeterministicCase, **settings: float) -> PepBound:
    """The largest left side of the case over all functions and dimensions, or a little more.

    ``settings`` go to the solver. Raises `InputError` where PEPit or Clarabel is not installed, where the solver
    returns nothing, and where it has not converged although its answer has to be trusted.
    """
    formulation = formulate(case)
    left = case.scaled.left(formulation.run, inner)
    formulation.problem.set_performance_metric(left)
    found, complaint = formulation.solve(**settings)
    safe = math.isfinite(formulation.sizes.start)
    if complaint and not safe:
        raise InputError(f"{_SOLVER} has not converged: {complaint}; {_HINT}")
    value = formulation.safe(left) if safe else found
    return PepBound(left=value * case.left_unit, solver=found * case.left_unit, safe=safe)
