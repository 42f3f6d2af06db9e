"""Projections, regions, nearest points and optima where conditions tie step sizes together, against brute force."""

import dataclasses
import json
import math

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds import formula
from bounds.statement import compiled, number
from bounds.symbols import Domain, Role
from ratecheck.cli import _run
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.admissible_intervals import is_empty
from ratecheck.stepsizes.constraints import Fixed
from ratecheck.stepsizes.feasible_set import FeasibleSet
from ratecheck.stepsizes.nearest import nearest
from ratecheck.stepsizes.region import choose_axes, free_constants, region
from ratecheck.views.theory.stepsizes import step_sizes_text

TIED = ("simfbo/theorem-1", "simfbo/theorem-1-repaired", "simfbo/stepsizes", "simfbo/lyapunov-repaired")
FREE = ("gamma_x", "c_gamma_y", "c_gamma_v")
PFL = {"n": 10, "m": 9, "K": 25, "L": 1}
FLAME = {"m": 50, "s": 10, "T": 100, "L": 1, "lambda": 5, "alpha": 0.02, "eps_max": 0, "gap": 1}


def constants(statement, rng=None):
    """Constants of a statement: all 1, or random within a factor of three; n = 10, P = 5."""
    sizes = {"n": 10.0, "P": 5.0, "T": 1e6}
    values = {}
    for name in statement.parameters:
        quantity = statement.vocabulary[name]
        if quantity.role in (Role.SETTING, Role.CONSTANT):
            values[name] = sizes.get(name, 1.0 if rng is None else float(3 ** rng.uniform(-1, 1)))
    if {"alpha_min", "alpha_max"} <= values.keys():
        values["alpha_min"], values["alpha_max"] = sorted((values["alpha_min"], values["alpha_max"]))
    if "beta_gh" in values:
        values["beta_gh"] = max(values["beta_gh"], 1.0)
    return values


def admits(statement, values):
    """Whether conditions hold, by NumPy on arrays: nothing here is shared with the code under test."""
    result = True
    for condition in statement.hypotheses:
        if condition.symbols <= values.keys():
            sides = []
            for side in (condition.left, condition.right):
                expr = sp.sympify(side)
                with np.errstate(divide="ignore"):
                    sides.append(compiled(expr)(**{s.name: np.float64(1) * values[s.name] for s in expr.free_symbols}))
            compare = {"<=": np.less_equal, ">=": np.greater_equal, "<": np.less, ">": np.greater, "==": np.isclose}
            result = result & compare[condition.operator](*sides)
    return result


def extreme(statement, known, quantity, sign):
    """The least (1) or largest (-1) value of a product of powers of FREE, by grids that zoom in on the best point."""
    centre, width = np.log([1e-6, 1e3, 1e2]), np.full(3, 25.0)
    best = math.inf
    for _ in range(40):
        axes = [np.linspace(c - w, c + w, 21) for c, w in zip(centre, width, strict=True)]
        logs = np.meshgrid(*axes, indexing="ij")
        inside = admits(statement, {**known, **{n: np.exp(x) for n, x in zip(FREE, logs, strict=True)}})
        goal = np.where(inside, sign * sum(p * x for p, x in zip(quantity, logs, strict=True)), np.inf)
        place = np.unravel_index(np.argmin(goal), goal.shape)
        if goal[place] < best:
            best, centre = goal[place], np.array([axis[k] for axis, k in zip(axes, place, strict=True)])
        width *= 0.75
    return math.exp(sign * best)


@pytest.mark.every(3)
@pytest.mark.parametrize("key", TIED)
@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_are_projections(key, seed):
    """Where conditions tie gamma_x to both ratios, the ends are those that a search over all three finds."""
    statement = bounds.get(key)
    known = constants(statement, np.random.default_rng(seed))
    found = step_sizes(statement, known).admissible
    ends = {
        "gamma_x": ((1, 0, 0), -1), "gamma_y": ((1, 1, 0), -1), "gamma_v": ((1, 0, 1), -1),
        "c_gamma_y": ((0, 1, 0), 1), "c_gamma_v": ((0, 0, 1), 1),
    }  # fmt: skip
    for name, (quantity, sign) in ends.items():
        end = found[name].low if sign == 1 else found[name].high
        by_hand = extreme(statement, known, quantity, sign)
        # The search ends inside the region.
        assert sign * math.log(end / by_hand) <= 1e-9
        assert end == pytest.approx(by_hand, rel=0.02)
        assert step_sizes(statement, {**known, name: end * (1 + sign * 1e-6)}).feasible
        assert not step_sizes(statement, {**known, name: end * (1 - sign * 1e-6)}).feasible


@pytest.mark.parametrize("key", TIED)
def test_no_admissible_point_is_lost(key):
    """Every random point that meets all conditions lies in the intervals."""
    statement, rng = bounds.get(key), np.random.default_rng(3)
    known = constants(statement, rng)
    found = step_sizes(statement, known).admissible
    logs = rng.uniform(np.log([1e-9, 1e1, 1e0]), np.log([1e-2, 1e5, 1e5]), (40_000, 3))
    points = dict(zip(FREE, np.exp(logs).T, strict=True))
    inside = admits(statement, {**known, **points})
    assert inside.sum() > 100
    points |= {"gamma_y": points["gamma_x"] * points["c_gamma_y"], "gamma_v": points["gamma_x"] * points["c_gamma_v"]}
    for name, values in points.items():
        assert np.all(values[inside] >= found[name].low * (1 - 1e-12))
        assert np.all(values[inside] <= found[name].high * (1 + 1e-12))


def test_a_cap_that_vanishes_with_the_step_sizes_in_it():
    """A cap 1/(a/c_v + b/c_y) is zero, not infinite, where c_v or c_y is: here it makes the end of gamma_x."""
    statement = bounds.get("simfbo/theorem-1-repaired")
    given = {
        "n": 4, "P": 1, "T": 13, "tau_bar": 0.97, "rho_bar": 4.34, "alpha_min": 0.206, "alpha_max": 1.35, "c_a": 0.951,
        "beta_max": 0.579, "c_a_prime": 0.486, "mu_g": 5.14, "L_f": 0.113, "L_1": 0.26, "L_2": 7.71, "L_3": 0.227,
        "sigma_f": 2.69, "sigma_g": 0.946, "sigma_gg": 0.269, "beta_gh": 1.5, "sigma_gh": 0.112, "psi_gap": 7.44,
    }  # fmt: skip
    found = step_sizes(statement, given).admissible
    low = [found[name].low for name in ("c_gamma_y", "c_gamma_v")]
    c_y, c_v = np.meshgrid(*(x * np.geomspace(1, 1e3, 700) for x in low))
    values = given | {"c_gamma_y": c_y, "c_gamma_v": c_v}
    cap = np.inf
    for condition in statement.hypotheses:
        if condition.left == statement.vocabulary["gamma_x"].symbol:
            names = [symbol.name for symbol in condition.right.free_symbols]
            cap = np.minimum(cap, compiled(condition.right)(**{name: values[name] for name in names}))
    assert cap.max() <= found["gamma_x"].high * (1 + 1e-9)
    assert cap.max() >= found["gamma_x"].high * 0.98


def test_fixed_ratios_couple_local_step_sizes():
    """Lemma 3.5 with eta_u and eta_v given: gamma^2*(1/eta_u^2 + 1/eta_v^2) is at most the squared radius."""
    found = step_sizes(bounds.get("pfl/lemma-3.5"), {"K": 25, "L": 1, "eta_u": 1, "eta_v": 2}).admissible
    gamma = math.sqrt(1 / (4 * 25 * 24) / (1 + 1 / 4))
    for name, ratio in (("gamma", 1), ("gamma_u", 1), ("gamma_v", 2)):
        assert found[name].high == pytest.approx(gamma / ratio, rel=1e-9)
        assert found[name].open == (True, False)


@pytest.mark.parametrize(
    ("key", "axes"), [("simfbo/theorem-1", "gamma_x,c_gamma_v"), ("simfbo/lyapunov-repaired", "c_gamma_y,gamma_x")]
)
def test_region_against_sampling(key, axes):
    """A random point belongs to the polygon exactly where some value of the third step size meets all conditions."""
    statement, rng = bounds.get(key), np.random.default_rng(5)
    known = constants(statement, rng)
    answer = step_sizes(statement, known)
    chosen = choose_axes(answer.problem, answer.admissible, axes)
    found = region(answer.problem, answer.admissible, chosen)
    (third,) = set(FREE) - set(chosen)
    others = np.geomspace(1e-9, 1e9, 20_001)
    agreed = {True: 0, False: 0}
    for _ in range(150):
        x, y = (math.exp(rng.uniform(math.log(low / 3), math.log(high * 3))) for low, high in found.frame)
        if any(not low <= value <= high for value, (low, high) in zip((x, y), found.frame, strict=True)) and (
            answer.admissible[chosen[0]].contains(x) and answer.admissible[chosen[1]].contains(y)
        ):
            # Beyond the frame nothing is said.
            continue
        truth = bool(np.any(admits(statement, {**known, chosen[0]: x, chosen[1]: y, third: others})))
        sides = zip(*((i.low, i.high) for i in found.y), strict=True)
        logs = ([math.log(max(end, 1e-99)) for end in side] for side in sides)
        lower, upper = (np.interp(math.log(x), np.log(found.x), side, left=np.nan, right=np.nan) for side in logs)
        inside = bool(lower <= math.log(y) <= upper)
        if min(abs(math.log(y) - lower), abs(math.log(y) - upper)) < 0.01:
            continue
        assert inside == truth, (x, y)
        agreed[truth] += 1
    assert min(agreed.values()) >= 10


@pytest.mark.parametrize(
    ("key", "known", "axes"),
    [
        ("pfl/theorem-3.7", PFL, "gamma_u,eta_u"),
        ("pfl/lemma-3.5", PFL, "gamma_u,gamma_v"),
        ("simfbo/theorem-1-repaired", None, "gamma_y,gamma_v"),
    ],
)
def test_vertices_lie_on_the_boundary(key, known, axes):
    """Each vertex, but for those of the frame, has admissible points inwards and inadmissible ones outwards."""
    statement = bounds.get(key)
    known = constants(statement) if known is None else known
    problem = FeasibleSet.of(statement, known)
    admissible = problem.admissible()
    chosen = choose_axes(problem, admissible, axes)
    found = region(problem, admissible, chosen)
    assert len(found.vertices) >= 4
    centre = [math.exp(np.mean([math.log(v[k]) for v in found.vertices])) for k in (0, 1)]
    made = 0
    for edge in found.edges:
        for vertex in edge.points[1:-1] if edge.because else ():
            inwards, outwards = (
                {name: v * (c / v) ** step for name, v, c in zip(chosen, vertex, centre, strict=True)}
                for step in (1e-5, -1e-3)
            )
            assert problem.admits(inwards)
            assert not problem.admits(outwards)
            made += 1
    assert made > 20
    names = {condition.name for condition in statement.hypotheses}
    assert {name for edge in found.edges for name in edge.because} <= names


def test_a_constant_on_an_axis():
    """Lambda and rho of FLAME's repaired theorem: a random point is inside exactly if all conditions hold there."""
    statement = bounds.get("flame/theorem-2-unbiased-repaired")
    given = {"L": 0.1, "alpha": 0.02, "m": 50.0}
    free = free_constants(statement, "lambda,rho", given)
    assert free == ("lambda_",)
    answer = step_sizes(statement, given, free)
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(4000):
        lam = float(np.exp(rng.uniform(np.log(0.1), np.log(6))))
        # Around the thin region, which is close to a straight line in the logarithms.
        rho = float(0.113 * lam**0.667 * np.exp(rng.uniform(-0.6, 0.6)))
        values, _ = statement.complete({**given, "lambda": lam, "rho": rho})
        holds = all(check.holds is not False for check in statement.check_conditions(values))
        section = region_at(answer, lam)
        assert holds == (section is not None and section.low < rho < section.high), (lam, rho)
        inside += holds
    assert inside > 20
    assert not answer.optimal


def region_at(answer, lam):
    """The interval of rho at a value of lambda."""
    narrowed = answer.problem.admissible(Fixed("lambda_", lam))
    return None if is_empty(narrowed) else narrowed["rho"]


@pytest.mark.parametrize(
    ("axes", "given", "part"),
    [
        ("lambda,rho", {"lambda": 5.0}, "given and is an axis, too"),
        ("m,rho", {"lambda": 5.0}, "whole numbers only"),
    ],
)
def test_a_constant_on_an_axis_is_refused(axes, given, part):
    """One that is given as well, and one that takes whole numbers."""
    with pytest.raises(InputError, match=part):
        free_constants(bounds.get("flame/theorem-2-unbiased"), axes, given)


def test_what_a_statement_fixes_is_a_single_value():
    """A step size among the settings."""
    statement = dataclasses.replace(bounds.get("pfl/theorem-3.7"), settings={"eta_v": sp.Integer(2)})
    answer = step_sizes(statement, {"n": 10, "m": 5, "K": 5, "L": 1.0})
    assert (answer.admissible["eta_v"].low, answer.admissible["eta_v"].high) == (2.0, 2.0)


def test_corner_by_hand():
    """The region of Theorem 3.7 in gamma_u and eta_u is a triangle on logarithmic axes, its corner (1/2400, 3)."""
    problem = FeasibleSet.of(bounds.get("pfl/theorem-3.7"), PFL)
    found = region(problem, problem.admissible(), ("gamma_u", "eta_u"))
    assert max(x for x, _ in found.vertices) == pytest.approx(1 / 2400, rel=1e-9)
    for edge in found.edges:
        for x, y in edge.points if edge.because == ("gamma",) else ():
            assert x * y == pytest.approx(1 / 800, rel=1e-9)
    assert {edge.because for edge in found.edges} == {("eta_u",), ("gamma",), ()}


def test_nearest_by_hand():
    """gamma_u*eta_u = 0.01 has to shrink to 1/800: each by sqrt(8); one step size alone moves to its end."""
    statement = bounds.get("pfl/theorem-3.7")
    given = {**PFL, "gamma_u": 1e-3, "eta_u": 10.0}
    answer = step_sizes(statement, given)
    found = nearest(answer.problem, given, answer.core)
    assert found.steps["gamma_u"] == pytest.approx(1e-3 / math.sqrt(8), rel=1e-5)
    assert found.steps["eta_u"] == pytest.approx(10 / math.sqrt(8), rel=1e-5)
    assert step_sizes(statement, {**PFL, **found.steps}).feasible
    # gamma_u*eta_u <= 1/(32*K*L) as given: L <= 1/8 alone, or K <= 3, the largest whole number up to 25/8.
    assert found.constants["L"].value == pytest.approx(1 / 8, rel=1e-5)
    assert (found.constants["K"].value, found.constants["K"].upwards) == (3.0, False)
    text = step_sizes_text(answer, found)
    assert "nearest admissible: gamma_u=0.0003535" in text
    assert "K <= 3" in text


def test_nearest_beats_sampling():
    """No random admissible point is nearer to given step sizes than the one that is named."""
    statement, rng = bounds.get("simfbo/theorem-1"), np.random.default_rng(2)
    known = constants(statement)
    given = {"gamma_x": 1e-3, "c_gamma_y": 2000.0, "c_gamma_v": 100.0}
    answer = step_sizes(statement, {**known, **given})
    found = nearest(answer.problem, {**known, **given}, answer.core).steps
    assert step_sizes(statement, {**known, **found}).feasible
    assert bool(admits(statement, {**known, **found}))
    logs = np.log(list(found.values())) + rng.normal(0, 0.05, (20_000, 3)) * rng.uniform(0, 1, (20_000, 1))
    inside = admits(statement, {**known, **dict(zip(found, np.exp(logs).T, strict=True))})
    assert inside.sum() > 100
    distances = np.sum((logs - np.log([given[name] for name in found])) ** 2, axis=1)
    least = sum(math.log(found[name] / given[name]) ** 2 for name in given)
    assert np.min(distances[inside]) >= least * (1 - 1e-5)


@pytest.mark.parametrize("key", ["flame/theorem-2-unbiased", "flame/theorem-2-unbiased-wide-repaired"])
@pytest.mark.parametrize("rho", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("m", "weight"), [(50, 0.02), (100, 0.01)])
def test_settings_of_the_experiments_of_flame(key, rho, m, weight):
    """The experiments of the paper (lambda = 5; rho = 0.01, 0.05, 0.1; weights 1/m) break its own condition.

    With x = lambda*alpha it is x^2*(1 + rho)/rho^2 < (x + rho)/2.
    """
    statement = bounds.get(key)
    given = {**FLAME, "m": m, "alpha": weight, "rho": rho}
    answer = step_sizes(statement, given)
    x = 5 * weight
    by_hand = x**2 * (1 + rho) / rho**2 < (x + rho) / 2 and rho >= x
    if key == "flame/theorem-2-unbiased":
        assert answer.feasible == by_hand
    assert not answer.feasible
    found = nearest(answer.problem, given, answer.core)
    end = step_sizes(statement, {k: v for k, v in given.items() if k != "rho"}).admissible["rho"].low
    assert found.steps["rho"] == pytest.approx(end, rel=1e-4)
    assert found.steps["rho"] > end
    assert statement.evaluate(**given | found.steps).applicable
    assert not step_sizes(statement, {**given, "rho": end * (1 - 1e-6)}).feasible


def test_limits_of_single_constants():
    """At each named limit something is admissible, a little before it nothing is."""
    statement = bounds.get("flame/theorem-2-unbiased-repaired")
    answer = step_sizes(statement, FLAME)
    assert not answer.feasible
    found = nearest(answer.problem, FLAME, answer.core)
    assert found.steps == {}
    assert set(found.constants) >= {"L"}
    for name, limit in found.constants.items():
        before = limit.value * (1 - 1e-4 if limit.upwards else 1 + 1e-4)
        assert step_sizes(statement, {**FLAME, name: limit.value}).feasible
        assert not step_sizes(statement, {**FLAME, name: before}).feasible


# Constants at which the best ratios are above their lower bounds, and tied to gamma_x.
BETWEEN = {"mu_g": 18.0, "L_1": 0.6, "L_2": 0.3, "L_3": 0.02, "L_f": 4.7, "sigma_f": 24.0, "beta_max": 1.5}
SMALL = {"mu_g": 28.0, "L_1": 0.04, "L_2": 0.07, "L_3": 0.2, "L_f": 4.0, "sigma_f": 19.0, "beta_max": 35.0}


@pytest.mark.parametrize("key", ["simfbo/theorem-1", "simfbo/theorem-1-repaired"])
@pytest.mark.parametrize("extra", [{}, {"psi_gap": 1e12}, {**BETWEEN, "psi_gap": 5e10}, {**SMALL, "psi_gap": 7e5}])
def test_optimum_over_the_true_region(key, extra):
    """Also where the best gamma_x lies on a condition that ties it to a ratio, no admissible point is better."""
    statement, rng = bounds.get(key), np.random.default_rng(4)
    known = {**constants(statement), **extra}
    answer = step_sizes(statement, known)
    assert not answer.entangled
    assert statement.evaluate(**known, **answer.optimal).applicable
    best = {name: answer.optimal[name] for name in FREE}
    bound = compiled(statement.claims[0].bound)
    tied = np.log(list(best.values())) + rng.normal(0, 1, (30_000, 3)) * 10 ** rng.uniform(-6, 0, (30_000, 1))
    points = dict(zip(FREE, np.exp(tied).T, strict=True)) | {"eta_x": 1e-9, "eta_y": 1e-9, "eta_v": 1e-9}
    inside = admits(statement, {**known, **points})
    assert inside.sum() > 300
    names = {s.name for s in statement.claims[0].bound.free_symbols}
    values = bound(**{k: v for k, v in {**known, **points}.items() if k in names})
    assert np.min(values[inside]) >= answer.optimal_bound * (1 - 1e-6)


def test_nothing_to_minimise():
    """A definition and a limit on step sizes are no bounds on an error: neither has a smallest value."""
    for key in ("simfbo/constants", "simfbo/stepsizes", "simfbo/stepsizes-repaired", "simfbo/young-parameters"):
        answer = step_sizes(bounds.get(key), constants(bounds.get(key)))
        assert (answer.optimal, answer.optimal_bound) == ({}, None)
        assert "smallest bound" not in step_sizes_text(answer)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gamma": 1e-80}, "gamma=1e-80"),
        ({"eta_u": 1e70}, "eta_u=1e+70"),
        ({"L": 1e100}, "leave only gamma <= 1.25e-103"),
        ({"L": 1e-320}, "has no value"),
        ({"K": 1e200, "L": 1e200}, "has no value"),
    ],
)
def test_numbers_out_of_range_are_refused(given, message):
    """Beyond 1e-60 and 1e60, or beyond floats, there is one clear line instead of a wrong interval."""
    with pytest.raises(InputError, match=r"choose units in which the numbers are nearer to 1") as error:
        step_sizes(bounds.get("pfl/theorem-3.7"), {**PFL, **given})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["pfl/lemma-3.5", "simfbo/theorem-1", "flame/theorem-2-unbiased-wide-repaired"])
@pytest.mark.parametrize("factor", [1e-280, 1e-40, 1e40, 1e280])
def test_extreme_constants_never_end_in_a_traceback(key, factor):
    """Each constant alone made tiny or huge: an answer, or one line."""
    statement = bounds.get(key)
    known = {**constants(statement), **{k: v for k, v in FLAME.items() if k in statement.parameters}}
    for name, value in known.items():
        if statement.vocabulary[name].domain is Domain.POSITIVE_INTEGER:
            continue
        try:
            answer = step_sizes(statement, {**known, name: value * factor})
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert step_sizes_text(answer)


def test_axes():
    """Chosen by how conditions tie the step sizes; unknown, equal or fixed ones are refused in one line."""
    answer = step_sizes(bounds.get("simfbo/theorem-1"), constants(bounds.get("simfbo/theorem-1")))
    problem, admissible = answer.problem, answer.admissible
    assert set(choose_axes(problem, admissible, None)) <= set(admissible)
    wrong = {"gamma_x": "of the form X,Y", "gamma_x,gamma_x": "different", "eta_x,eta_z": "did you mean"}
    for wanted, message in wrong.items():
        with pytest.raises(InputError, match=message):
            choose_axes(problem, admissible, wanted)
    single = step_sizes(bounds.get("flame/theorem-2-unbiased"), FLAME)
    with pytest.raises(InputError, match="a region has two"):
        choose_axes(single.problem, single.admissible, None)


def test_formula_is_the_expression():
    """Plain Python agrees with SymPy's own evaluation, with and without known values."""
    rng = np.random.default_rng(6)
    statement = bounds.get("simfbo/lyapunov-repaired")
    for condition in statement.hypotheses:
        expr = sp.sympify(condition.right)
        values = {s.name: float(rng.uniform(0.5, 2)) for s in expr.free_symbols}
        truth = float(expr.evalf(30, subs={s: values[s.name] for s in expr.free_symbols}))
        assert number(expr, values) == pytest.approx(truth, rel=1e-13)
        named = [name for name in sorted(values) if name.startswith(("gamma", "c_gamma"))]
        rest = {name: value for name, value in values.items() if name not in named}
        assert formula.function(expr, named, rest)(*(values[n] for n in named)) == pytest.approx(truth, rel=1e-13)


def test_formula_out_of_range():
    """A known part that leaves the range of floats is no number; a division by zero is infinity."""
    x, y = sp.symbols("x y", positive=True)
    for expr in (x**2, 1 / x**2, x * y**2):
        with pytest.raises(formula.RangeError):
            formula.function(expr * sp.Symbol("z"), ["z"], {"x": 1e200, "y": 1e200})
    assert formula.function(1 / x, [], {"x": 0.0})() == math.inf


@pytest.fixture
def ratecheck(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = _run([*arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_plot_region(ratecheck, tmp_path):
    """The figure, the JSON fields, the point that would not do and the nearest that does."""
    words = ("pfl/theorem-3.7", *(f"{name}={value}" for name, value in PFL.items()))
    code, out, _ = ratecheck("plot", "region", *words, "gamma_u=0.001", "eta_u=10", "--json")
    data = json.loads(out)
    assert code == 0
    assert (tmp_path / "pfl-theorem-3.7-region.png").read_bytes().startswith(b"\x89PNG")
    assert data["axes"] == ["gamma_u", "eta_u"]
    assert data["points"]["given"] == {"gamma_u": 0.001, "eta_u": 10.0}
    assert data["points"]["nearest"]["eta_u"] == pytest.approx(10 / math.sqrt(8), rel=1e-5)
    code, out, _ = ratecheck("plot", "region", *words, "--axes", "gamma_u,eta_u", "--out", "r.svg")
    assert code == 0
    assert "written to r.svg" in out
    text = (tmp_path / "r.svg").read_text()
    assert "admissible" in text
    assert "eta_u &gt;= sqrt(m)" in text


def test_plot_region_refuses(ratecheck):
    """Nothing admissible ends with 3 and says why; too few step sizes and bad names with 2."""
    words = [f"{name}={value}" for name, value in FLAME.items()]
    code, out, err = ratecheck("plot", "region", "flame/theorem-2-unbiased-repaired", *words)
    assert (code, out) == (3, "")
    assert "not admissible" in err
    code, _, err = ratecheck("plot", "region", "flame/theorem-2-unbiased", *words)
    assert code == 2
    assert err.count("\n") == 1
    code, _, err = ratecheck("plot", "region", "pfl/theorem-3.7", "n=10", "m=9", "K=25", "L=1", "--axes", "gamma")
    assert code == 2
    assert "of the form X,Y" in err


def test_stepsize_region_and_nearest(ratecheck):
    """The region on request only; what would do where nothing is admissible."""
    words = ("pfl/theorem-3.7", *(f"{name}={value}" for name, value in PFL.items()))
    assert "region" not in json.loads(ratecheck("stepsize", *words, "--json")[1])
    data = json.loads(ratecheck("stepsize", *words, "--json", "--region", "gamma_u,eta_u")[1])
    assert len(data["region"]["vertices"]) > 4
    code, out, _ = ratecheck("stepsize", *words, "gamma=0.01", "--json")
    assert code == 3
    assert json.loads(out)["nearest"]["step_sizes"] == {"gamma": 0.00125}
    code, _, err = ratecheck("stepsize", *words, "gamma=0.01", "--region", "gamma_u,eta_u")
    assert code == 2
    assert "feasible set is empty" in err
