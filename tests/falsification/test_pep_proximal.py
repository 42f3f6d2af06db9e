"""Proximal steps over all functions: known worst cases, PEPit's own examples, and runs of the functions in NumPy."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import bounds
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import Algorithm, U, square_of_mean
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.falsification.performance_estimation.interpolation import Answers, recheck
from ratecheck.falsification.performance_estimation.worst_case import worst_case
from ratecheck.falsification.performance_estimation.worst_functions import worst_functions
from ratecheck.selftesting.textbook import over_functions

CONVEX = ["convexity", "full_participation", "no_personal"]
SMOOTH = ["smoothness", "full_participation", "no_personal"]
POINT = {"n": 1, "m": 1, "K": 1, "beta": 1}


@pytest.fixture(autouse=True)
def pepit():
    """Skips where the extra is not installed."""
    pytest.importorskip("clarabel", reason="needs the extra pep")
    with warnings.catch_warnings(action="ignore"):
        pytest.importorskip("PEPit", reason="needs the extra pep")


class FedProx(Algorithm):
    """Every client takes a proximal step from the server's model, and the server averages."""

    name = title = "fedprox"
    step_sizes = ("lambda_",)
    blocks = (U,)
    oracle = "prox"
    server, client, local, message, recorded = {"x": U}, {}, {"x": U}, {"x": U}, ("G_u",)

    def start_client(self, point, gradient, p):
        """Nothing is kept."""
        return {}

    def start_server(self, point, clients, p):
        """The start."""
        return {"x": point[U]}

    def begin(self, server, client, p):
        """At the server's model."""
        return {"x": server["x"]}

    def step(self, local, gradient, p):
        """The minimiser."""
        return {"x": gradient[U]}

    def finish(self, server, client, local, p):
        """It is sent."""
        return {}, {"x": local["x"]}

    def aggregate(self, server, total, p):
        """The average."""
        return {"x": total["x"] / p["m"]}

    def records(self, server, client, gradient, p):
        """The squared gradient of the mean."""
        return {"G_u": (square_of_mean(gradient[U]),)}


class Admm(FedProx):
    """FedADMM with exact minimisers: the proximal step is taken from x - dual/lambda."""

    name = title = "admm-exact"
    client, local = {"dual": U}, {"asked": U, "w": U}

    def start_client(self, point, gradient, p):
        """Without a dual."""
        return {"dual": 0 * point[U]}

    def begin(self, server, client, p):
        """Where the minimiser is asked for."""
        return {"asked": server["x"] - client["dual"] / p["lambda_"], "w": server["x"]}

    def step(self, local, gradient, p):
        """The minimiser."""
        return {"asked": local["asked"], "w": gradient[U]}

    def finish(self, server, client, local, p):
        """Dual step."""
        dual = client["dual"] + p["lambda_"] * (local["w"] - server["x"])
        return {"dual": dual}, {"x": local["w"] + dual / p["lambda_"]}


@pytest.fixture
def own_methods(monkeypatch):
    """Methods of a user's own."""
    for each in (FedProx(), Admm()):
        monkeypatch.setitem(METHODS, each.name, Method(each.name, each.title, each, {"K": 1.0}, personal=False))


def point(left, right, over="last_round", assumptions=CONVEX, settings=POINT, algorithm="pfedme", **more):
    """A statement about the proximal point method, which is pFedMe with one client and one whole step."""
    rules = {"step_rules": {"eta": "1/lambda_"}} if algorithm == "pfedme" else {}
    return theorem(
        title="Proximal point", algorithm=algorithm, left=left, right=right, over=over, assumptions=assumptions,
        settings=settings, vocabulary="textbook", key="mine/point", **rules, **more,
    )  # fmt: skip


def enclosed(statement, **given):
    """The worst case, both values of which are right up to the accuracy of the solver."""
    found = worst_case(statement, given)
    for each in found.enclosures:
        assert each.lower.left <= each.upper.left + 1e-6 * each.size
        assert each.upper.left - each.lower.left <= 2e-5 * max(each.size, each.scale * 1e-2)
    return found


@pytest.mark.parametrize("steps", [1, 3])
def test_the_proximal_point_method_has_the_worst_case_that_pepit_s_example_has(steps):
    """R^2/(4 gamma N), for functions that need not be smooth; half of it is violated."""
    from PEPit.examples.unconstrained_convex_minimization import wc_proximal_point

    theirs, known = wc_proximal_point(gamma=2.0, n=steps, solver="CLARABEL", verbose=-1)
    assert theirs == pytest.approx(known, rel=1e-5)
    given = {"T": steps + 1, "lambda_": 0.5, "dist2_0": 3.0}
    found = enclosed(point("gap", "lambda_*dist2_0/(4*(T - 1))"), **given)
    assert found.lower.left == pytest.approx(3 * known, rel=1e-5)
    assert found.worst.tight
    assert any("need not be smooth" in note for note in found.notes)
    assert enclosed(point("gap", "lambda_*dist2_0/(4.01*(T - 1))"), **given).violated


@pytest.mark.parametrize(("left", "assumptions"), [("gap", CONVEX), ("grad_F2", SMOOTH[1:])])
def test_smooth_functions_have_the_worst_case_of_pepit_s_own_class(left, assumptions):
    """The same run written in PEPit alone: values of convex functions, and envelopes of those that need not be."""
    from PEPit import PEP, Expression
    from PEPit.functions import SmoothConvexFunction, SmoothFunction
    from PEPit.primitive_steps import proximal_step

    problem, gamma, smooth = PEP(), 1 / 0.8, 0.5
    f = problem.declare_function(SmoothConvexFunction if left == "gap" else SmoothFunction, L=smooth)
    x = start = problem.set_initial_point()
    if left == "gap":
        star = f.stationary_point()
        problem.set_initial_condition((x - star) ** 2 <= 3)
        for _ in range(2):
            x, _, height = proximal_step(x, f, gamma)
        problem.set_performance_metric(height - f(star))
        given, right = {"dist2_0": 3.0}, "lambda_*dist2_0"
    else:
        squares, lowest = [], Expression()
        problem.add_constraint(f(start) - lowest <= 3)
        for _ in range(3):
            x, slope, _ = proximal_step(x, f, gamma)
            squares.append(slope**2)
        for _, slope, height in f.list_of_points:
            problem.add_constraint(height - lowest >= slope**2 / (2 * smooth))
        problem.set_performance_metric(sum(squares[1:], squares[0]) / 3)
        given, right = {"F_0": 3.0}, "2*lambda_*F_0/T"
    theirs = problem.solve(solver="CLARABEL", verbose=0)
    over = "last_round" if left == "gap" else "mean_of_rounds"
    found = enclosed(point(left, right, over, ["smoothness", *assumptions]), T=3, lambda_=0.8, L=smooth, **given)
    assert found.upper.safe
    assert found.upper.left == pytest.approx(theirs, rel=1e-5)
    assert found.lower.left == pytest.approx(theirs, rel=1e-5)
    assert not found.violated


def test_the_worst_function_is_run_in_numpy():
    """Max over affine minorants and the minimiser's value; its proximal step is found by a general optimiser."""
    from scipy.optimize import minimize

    found = enclosed(point("gap", "lambda_*dist2_0/20"), T=3, lambda_=0.5, dist2_0=3.0)
    assert found.violated
    instance = found.instance
    g, h = instance.gradients[0], instance.heights[0]
    # Answers are numbered as they are asked for: the step from the start, the slope there, and two further steps.
    start, first = np.zeros(instance.dimension), -g[0] / 0.5
    second = first - g[2] / 0.5
    at = np.array([first, start, second, second - g[3] / 0.5])
    star, lowest = instance.minimiser.point, instance.minimiser.heights[0]

    def value(z):
        return max(lowest, *(h + g @ z - (g * at).sum(axis=1)))

    u = np.zeros(instance.dimension)
    for wanted in (first, second):
        # min of t + lambda/2 ||z - u||^2 over (z, t) with t above every minorant.
        cuts = [{"type": "ineq", "fun": lambda y, j=j: y[-1] - h[j] - g[j] @ (y[:-1] - at[j])} for j in range(len(h))]
        cuts.append({"type": "ineq", "fun": lambda y: y[-1] - lowest})
        step = minimize(lambda y, u=u: y[-1] + 0.25 * ((y[:-1] - u) ** 2).sum(), np.append(u, value(u)), tol=1e-14,
                        constraints=cuts, method="SLSQP")  # fmt: skip
        u = step.x[:-1]
        np.testing.assert_allclose(u, wanted, atol=1e-3)
    assert value(star) == pytest.approx(lowest, abs=1e-9)
    assert (star**2).sum() <= 3
    assert value(u) - lowest == pytest.approx(found.lower.left, rel=1e-3)


def test_textbook_statements_on_proximal_steps():
    """True ones are not accused, and the wrong one is refuted."""
    for key, accused in (("proximal-point", False), ("envelopes", False), ("proximal-point-false", True)):
        found = over_functions(bounds.get(f"textbook/{key}"), 0)
        assert (found.accused, found.reason) == (accused, "")


def test_worst_functions_of_small_runs():
    """The search takes a step size that a rule sets from the rule."""
    for factor, violated in ((4, False), (5, True)):
        found = worst_functions(point("gap", f"lambda_*dist2_0/({factor}*(T - 1))"))
        assert found.cases
        assert found.violated is violated


@pytest.mark.usefixtures("own_methods")
def test_methods_of_one_s_own():
    """FedProx with one client is the proximal point method, at numbers whose reciprocal is no float, too."""
    settings = {"K": 1, "m": "n"}
    for factor, violated in ((4, False), (5, True)):
        prox = point("gap", f"lambda_*dist2_0/({factor}*(T - 1))", settings=settings, algorithm="fedprox")
        found = enclosed(prox, n=1, T=3, lambda_=0.3, dist2_0=3.0)
        assert found.violated is violated
        assert found.lower.left == pytest.approx(0.3 * 3 / 8, rel=1e-5)


@pytest.mark.usefixtures("own_methods")
def test_two_clients_and_their_duals_in_numpy():
    """ADMM with exact minimisers follows its answers: x_i = prox_i(x - dual_i/lambda), in plain NumPy."""
    both = ["minimiser_heterogeneity", "smoothness", *CONVEX]
    statement = point("dist2", "dist2_0/4", assumptions=both, settings={"K": 1, "m": "n"}, algorithm="admm-exact")
    found = enclosed(statement, n=2, T=3, lambda_=0.5, L=1.0, dist2_0=3.0, b_star=0.5)
    assert found.upper.safe
    assert found.violated
    instance = found.instance
    x, duals = np.zeros(instance.dimension), np.zeros((2, instance.dimension))
    saved = json.loads(json.dumps(instance.save()))
    assert recheck(Answers.load(saved, statement), found.worst.comparison) == found.lower
    # Answers are numbered as they are asked for: the step from the start, the gradient there, the gradient at the next
    # model, and the step of the second round.
    for k in (0, 3):
        w = np.array([x - (duals[i] + instance.gradients[i][k]) / 0.5 for i in range(2)])
        duals = duals + 0.5 * (w - x)
        x = (w + duals / 0.5).mean(axis=0)
    assert ((x - instance.minimiser.point) ** 2).sum() == pytest.approx(found.lower.left, rel=1e-9)


def test_a_weight_at_which_nothing_is_minimised_is_refused():
    """f_i + lambda/2 ||. - x||^2 is strictly convex only for lambda > L."""
    mean = point("grad_F2", "2*lambda_*F_0/T", "mean_of_rounds", SMOOTH)
    with pytest.raises(InputError, match=r'lambda_=0.5 breaks "lambda_ > L": 0.5 > 0.5 is false'):
        DeterministicCase.of(mean, {"T": 2, "lambda_": 0.5, "L": 0.5, "F_0": 1.0})
    assert not enclosed(mean, T=2, lambda_=0.75, L=0.5, F_0=1.0).violated


def test_without_smoothness_functions_are_convex_and_the_answer_says_so():
    """Nothing else bounds their curvature."""
    found = enclosed(point("grad_F2", "2*lambda_*F_0/T", "mean_of_rounds", CONVEX[1:]), T=2, lambda_=0.5, F_0=1.0)
    assert found.case.narrowed == "it assumes no smoothness"
    assert any("computed over convex functions, since it assumes no smoothness" in note for note in found.notes)


def test_what_proximal_steps_say_nothing_of_is_refused():
    """A limit on the clients' gradients at the start."""
    with pytest.raises(InputError, match="no search respects B_0"):
        DeterministicCase.of(point("grad_F2", "B_0"), {"T": 2, "lambda_": 0.5, "B_0": 1.0})
    with pytest.raises(InputError, match="leaves lambda_ open"):
        DeterministicCase.of(point("gap", "lambda_*dist2_0"), {"T": 2, "dist2_0": 1.0})


LAGRANGIAN = symbol("grad_L2", "||grad L||^2", role="measured", fact="grad_L2", degrees=(2, -2))


def flame(algorithm, degrees=(1, -2), **settings):
    """A statement about FLAME with one client, whose Lagrangian's gradient mixes units."""
    return theorem(
        title="FLAME", algorithm=algorithm, left="grad_L2", over="mean_of_rounds", right="10*lambda_*F_0",
        assumptions=SMOOTH, settings={"n": 1, "m": "n", **settings}, vocabulary="textbook", key="mine/flame",
        symbols=[LAGRANGIAN, symbol("rho", "penalty", role="step_size", degrees=degrees)],
    )  # fmt: skip


def test_methods_that_record_at_the_clients_own_models():
    """FLAME with exact and with approximate inner solutions; there is no gap there, and no distance."""
    exact = enclosed(flame("flame-exact", K=1), T=3, lambda_=2.0, rho=1.0, F_0=1.0, L=1.0)
    assert exact.outcome == "HOLDS"
    inexact = enclosed(flame("flame"), T=2, K=2, lambda_=1.0, rho=1.0, F_0=1.0, L=1.0, eta=0.1)
    assert inexact.outcome == "HOLDS"
    gap = theorem(title="FLAME", algorithm="flame", left="gap", over="last_round", right="F_0", assumptions=SMOOTH,
                  settings={"n": 1, "m": "n"}, vocabulary="textbook")  # fmt: skip
    with pytest.raises(InputError, match="no run records gap"):
        DeterministicCase.of(gap, {"T": 2})


def test_what_changes_with_the_units_is_refused():
    """The problem is solved in units in which L = 1, where another run would be looked at.

    Planted error: what FLAME records mixes units, and a step size that does not say its own is another number there.
    """
    given = {"T": 3, "lambda_": 2.0, "rho": 1.0, "F_0": 1.0}
    with pytest.raises(InputError, match="changes with the units of f and x"):
        worst_case(flame("flame-exact", K=1), {**given, "L": 0.5})
    with pytest.raises(InputError, match="changes with the units of f and x"):
        worst_case(flame("flame-exact", degrees=(0, 0), K=1), {**given, "L": 0.5})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: 1.1 * own, r"no convex function 0 has these answers|R\^2"),
        (lambda own: own[:-1], "the run evaluates"),
    ],
)
def test_a_false_instance_is_refused(change, message):
    """Planted errors: answers that no convex function gives."""
    found = enclosed(point("gap", "lambda_*dist2_0"), T=3, lambda_=0.5, dist2_0=3.0)
    saved = found.instance.save()
    statement = found.case.statement
    recheck(Answers.load(saved, statement))
    gradients = [change(np.array(own)).tolist() for own in saved["gradients"]]
    with pytest.raises(InputError, match=message):
        recheck(Answers.load({**saved, "gradients": gradients}, statement))
