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
below. The value is numeric, the dual objective of an interior-point solver that says it has converged.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
import warnings
from dataclasses import dataclass
from typing import Any

from ratecheck.checks.deterministic import Case, Snapshot, mean
from ratecheck.errors import InputError

# SCS, which is PEPit's choice unless told otherwise, returns values below the true worst case.
_SOLVER = "CLARABEL"
# Primal and dual objectives of a converged solution agree to this accuracy, relative to a left side of L*F_0 at least.
_ACCURACY = 1e-6
_HINT = "fewer local steps or rounds, or a smaller b or B_0, would help"


@dataclass(frozen=True)
class Formulation:
    """A performance-estimation problem without its metric, in units in which F_0 = L = 1; ``run`` is in its points."""

    problem: Any
    run: tuple[Snapshot, ...]

    def solve(self) -> float:
        """The dual objective; raises `InputError` where the solver has not converged."""
        from cvxpy.error import SolverError

        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                # What the solver says about its accuracy is checked below.
                warnings.simplefilter("ignore")
                dual = float(self.problem.solve(verbose=0, solver=_SOLVER))
        except SolverError:
            raise InputError(f"{_SOLVER} has failed; {_HINT}") from None
        status, primal = self.problem.wrapper.prob.status, float(self.problem.objective.eval())
        if status != "optimal" or abs(dual - primal) > _ACCURACY * max(1.0, abs(dual)):
            raise InputError(
                f"{_SOLVER} has not converged: status {status}, primal {primal:.9g}, dual {dual:.9g}; {_HINT}"
            )
        return dual


def formulate(case: Case) -> Formulation:
    """The problem of a case; raises `InputError` where PEPit or Clarabel is not installed."""
    for package in ("PEPit", "clarabel"):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"the worst case over all smooth functions needs {package}: pip install 'ratecheck[pep]'")
    from PEPit import PEP, Expression, null_point

    scaled, problem = case.scaled, PEP()
    function = _smooth_function()
    functions = [problem.declare_function(function, L=1.0) for _ in range(case.n)]
    run = scaled.run(null_point, lambda i, x: functions[i].answer(x)[1])
    floor = Expression()

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
    return Formulation(problem, run)


def _smooth_function() -> Any:
    """PEPit's class of smooth functions, with unknowns and conditions of order 1 where points are close together.

    As it stands the solver sees the answers at points of distance s as numbers that differ by s, and conditions on them
    of order s^2; it then stops early and returns values that are too small. So an answer is an increment of that at the
    nearest point p before it, g = g_p + s*w and h = h_p + <g_p + g, x - x_p>/2 + s^2*omega, and a condition is divided
    by s^2, where s is the distance in terms of the coefficients of the points.
    """
    from PEPit import Expression, Point
    from PEPit.functions import SmoothFunction

    class Smooth(SmoothFunction):
        def answer(self, x: Any) -> tuple[Any, Any, Any]:
            """The triple (point, gradient, value), a new one where the point is."""
            nearest = min(self.list_of_points, key=lambda known: _distance(x, known[0]), default=None)
            if nearest is None:
                return x, *self.oracle(x)
            point, gradient, value = nearest
            s = _distance(x, point)
            if s > 0:
                new = gradient + s * Point()
                nearest = (x, new, value + (gradient + new) * (x - point) / 2 + s**2 * Expression())
                self.add_point(nearest)
            return nearest

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


def upper_bound(case: Case) -> float:
    """No run of the case has a larger left side, whatever its functions and dimension; numeric.

    Raises `InputError` where PEPit or Clarabel is not installed, or the solver has not converged.
    """
    formulation = formulate(case)
    formulation.problem.set_performance_metric(case.scaled.left(formulation.run, inner))
    return formulation.solve() * case.left_unit
