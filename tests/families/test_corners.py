"""Corners of families: wrong statements that only one kind of instance shows, beside right ones."""

from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.outcome import Outcome

SEEDS: tuple[int, ...] = ()


@pytest.fixture(
    autouse=True, params=[pytest.param((0,), id="0"), pytest.param((1, 2), id="1, 2", marks=pytest.mark.long)]
)
def _seeds(request, monkeypatch):
    """One seed every time."""
    monkeypatch.setattr(f"{__name__}.SEEDS", request.param)


# What every run here is of, unless it says otherwise.
ONE_STEP = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}


def statement(key, *, left, right, over, algorithm="fedavg", more=(), conditions=("gamma_u <= 1/L",), settings=ONE_STEP,
              rules=None):  # fmt: skip
    """A statement about a run of every client."""
    return theorem(
        title="A run", key=f"own/{key}", algorithm=algorithm, left=left, right=right, over=over,
        assumptions=["smoothness", "full_participation", *more], conditions=list(conditions), settings=settings,
        step_rules=rules or {}, vocabulary="textbook",
    )  # fmt: skip


def outcomes(wrong, evaluations):
    """Searches of few evaluations at every seed."""
    budget = Budget(evaluations, by_term=False, functions=False, later=0)
    return [falsify(wrong, budget, seed=seed) for seed in SEEDS]


def accused(found):
    """Whether each search found a violation."""
    return [each.outcome is Outcome.VIOLATED for each in found]


# --- Hessians that do not commute ---


def local_steps(left):
    """With one minimiser of all clients a round of local steps brings the point nearer, but f may rise."""
    return statement(f"local-{left}", left=left, right=f"{left}_prev", over="every_round_but_first",
                     more=["convexity", "interpolation"], settings={**ONE_STEP, "K": 4})  # fmt: skip


def test_values_rise_where_hessians_do_not_commute():
    """Coordinate by coordinate they fall; distances fall whatever the Hessians are."""
    found = outcomes(local_steps("gap"), 100)
    assert accused(found) == [True] * len(SEEDS)
    assert {each.shape.family.name for each in found} == {"least squares of one sample for each client"}
    assert accused(outcomes(local_steps("dist2"), 100)) == [False] * len(SEEDS)


def test_hessians_of_rank_one_are_so_exactly():
    """Rational determinants are 0, gradients vanish at one point of all, and a_i a_i' has no negative eigenvalue."""
    cube = next(Cube(local_steps("gap"), s) for s in shapes(local_steps("gap")) if s.family.label.endswith("rank one"))
    rng = np.random.default_rng(0)
    for point in [*cube.hard(), *(cube.drawn(rng) for _ in range(50))]:
        problem = cube.problem(dict(zip(cube.coordinates, point, strict=True)))
        H, g = ([[Fraction(x) for x in np.ravel(each)] for each in part] for part in (problem.H, problem.g))
        for (a, b, c, d), (p, q) in zip(H, g, strict=True):
            assert a * d == b * c
            assert a >= 0 <= d
            assert a * q == c * p
            assert b * q == d * p


def test_statements_of_full_rank_have_no_such_shape():
    """Clients that are strongly convex each, or share their curvatures, are never of rank one."""
    for more in (["clients_strong_convexity"], ["dissimilarity"]):
        tried = shapes(statement("rank", left="gap", right="F_0", over="last_round", more=more))
        assert not [each for each in tried if each.family.label.endswith("rank one")]


# --- Curvatures that cancel on a slow graph ---


def tracking(condition):
    """4 F_0/(gamma T), and what gradients that are not tracked yet add."""
    right = "4*F_0/(gamma_u*T) + 8*L**2*gamma_u**2*B_0/(n*(1 - lambda_W)**3*T)"
    return statement("tracking", algorithm="gradient-tracking", left="G_u", right=right, over="mean_of_rounds",
                     more=["no_personal"], conditions=["gamma_u <= 1/L", condition, "lambda_W < 1"],
                     settings={"K": 1, "m": "n", "sigma_u": 0})  # fmt: skip


def test_curvatures_that_cancel_break_too_long_steps_on_a_graph():
    """Convex clients bear all of these steps; L and -0.99 L do not bear those above 1.04 (1 - lambda)/(L lambda)."""
    found = outcomes(tracking("gamma_u*L*lambda_W <= 5*(1 - lambda_W)/4"), 300)
    assert accused(found) == [True] * len(SEEDS)
    assert all(np.linalg.eigvalsh(each.instance.problem.H).min() < 0 for each in found)
    assert accused(outcomes(tracking("gamma_u*L*lambda_W <= (1 - lambda_W)**2/8"), 300)) == [False] * len(SEEDS)


# --- Runs down a hill ---


def steepest(rounds, factor):
    """The last gradient by the gap: 4^(T-1)/((4^(T-1) - 1)/2 + 4^(T-1)/2) where a run goes down a hill to its end."""
    return statement(f"hill-{rounds}", left="G_u", right=f"{factor}*L*F_0", over="last_round", conditions=(),
                     settings={**ONE_STEP, "T": rounds}, rules={"gamma_u": "1/L"})  # fmt: skip


@pytest.mark.parametrize(("rounds", "wrong", "right"), [(2, "11/10", "8/7"), (3, "51/50", "32/31")])
def test_a_run_down_a_hill_is_steepest_in_its_last_round(rounds, wrong, right):
    """Slopes are -1, -2, -4 on a hill of curvature -L: F_0 = (r^2 - 1)/2 + r^2/2 for the last, r."""
    assert accused(outcomes(steepest(rounds, wrong), 60)) == [True] * len(SEEDS)
    found = outcomes(steepest(rounds, right), 60)
    assert accused(found) == [False] * len(SEEDS)
    assert all(each.tightness == pytest.approx(1.0, abs=1e-9) for each in found)


# --- Starts at a minimiser ---


def floor(right):
    """Distances under noise of a level that the statement fixes."""
    return statement("floor", left="dist2", right=right, over="every_round", more=["noise", "convexity"],
                     settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": "1/100"})  # fmt: skip


def test_a_missing_noise_floor_shows_next_to_a_minimiser():
    """A level of noise that the statement fixes is small beside any other start."""
    assert accused(outcomes(floor("10**6*dist2_0"), 60)) == [True] * len(SEEDS)
    assert accused(outcomes(floor("dist2_0 + T*gamma_u**2*sigma_u**2/n"), 60)) == [False] * len(SEEDS)


# --- Three variables ---


def greedy(d):
    """The largest of d equal derivatives leaves 1 - 1/d of the gap."""
    return statement("greedy", algorithm="greedy-coordinate-descent", left="gap", right=f"F_0*(1 - mu/({d}*L))**t",
                     over="every_round", more=["strong_convexity"], conditions=["gamma_u == 1/L"],
                     settings={"m": "n", "sigma_u": 0, "n": 1})  # fmt: skip


def test_methods_that_move_one_variable_are_tried_in_three_and_eight():
    """In two the wrong rate of two is right, and in three that of three; of eight and fewer 1/8 is."""
    for d in (2, 3):
        found = outcomes(greedy(d), 60)
        assert accused(found) == [True] * len(SEEDS)
        assert {each.shape.d_u for each in found} <= {3, 8} - {d}
    assert accused(outcomes(greedy(8), 60)) == [False] * len(SEEDS)


def test_the_number_of_variables_is_that_given():
    """Every instance has it, also the shrunk one; families without it are left out."""
    budget = Budget(60, by_term=False, functions=False, later=0)
    assert {each.d_u for each in shapes(greedy(3), {"dim": 4.0})} == {4}
    found = falsify(greedy(3), budget, fixed={"dim": 4.0})
    assert found.outcome is Outcome.VIOLATED
    assert found.instance.problem.d == 4
    assert falsify(greedy(4), budget, fixed={"dim": 4.0}).outcome is Outcome.INCONCLUSIVE
    with pytest.raises(InputError, match='dim=50 breaks "1 <= dim <= 10"'):
        falsify(greedy(3), budget, fixed={"dim": 50.0})


# --- Numbers in an interval of their own ---


def in_an_interval(right, given):
    """A statement about a number between 1/2 and 1 that no step size has to do with."""
    share = symbol("share", "a free number", role="free")
    return theorem(f"mean grad2 <= {right}", method="gd", given="smooth", symbols=share, when=f"gamma <= 1/L, {given}")


@pytest.mark.parametrize("given", ["share > 1/2, share < 1", "share >= 51/100, share <= 99/100", "share == 3/4"])
def test_free_numbers_are_drawn_inside_their_interval(given):
    """Nearly all instances have one, whether a scout or a verdict looks at them."""
    wrong, right = in_an_interval("F_0*share/(2*gamma*T)", given), in_an_interval("4*F_0*share/(gamma*T)", given)
    assert accused(outcomes(wrong, 30)) == [True] * len(SEEDS)
    (found, *_) = outcomes(right, 30)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.applicable >= 0.8 * found.evaluations
    cube = Cube(right, shapes(right)[0])
    rng = np.random.default_rng(0)
    given = [cube.decode(cube.drawn(rng)).given["share"] for _ in range(20)]
    assert all(0.5 < each < 1 for each in given)


class PowerLaw(OneStep):
    """Steps that fall as a power of the round."""

    step_sizes = ("gamma_u", "power")
    server = MappingProxyType({"x": "u"})
    varying = ("share",)

    def coefficients(self, t, T, p):
        """What is left of the step in a round."""
        return {"share": (t + 1) ** -p["power"]}

    def step(self, local, gradient, p):
        """A shorter one in every round."""
        return {**local, "x": local["x"] - p["share"] * p["gamma_u"] * gradient["u"]}


def test_parameters_of_a_method_are_drawn_inside_their_interval(monkeypatch):
    """The powers with which sums of squares stay finite: next to none was tried otherwise."""
    monkeypatch.setitem(METHODS, "power-law", Method("power-law", "SGD", PowerLaw(), {"K": 1}, personal=False))
    wrong = theorem(
        "mean grad2 <= (2*F_0/gamma + L*gamma*sigma**2)/T", method="power-law", given="smooth, noise",
        symbols=symbol("power", "of the step", role="setting"),
        when="gamma <= 1/L, n == 1, m == 1, power > 1/2, power < 1",
    )  # fmt: skip
    (found, *_) = outcomes(wrong, 40)
    assert found.outcome is Outcome.VIOLATED
    assert found.applicable >= 0.9 * found.evaluations


def test_rounds_that_a_statement_makes_are_as_few_as_those_that_are_drawn():
    """T = 2**k - 1 with k = 16 would be 65,535 rounds with steps of their own."""
    found = theorem("last gap <= L*R_0**2", method="silver", given="smooth, convex", when="gamma == 1/L, T == 2**k - 1",
                    symbols=symbol("k", "levels", domain="positive_integer", role="free", default=3))  # fmt: skip
    cube = Cube(found, shapes(found)[0])
    with pytest.raises(InputError, match="more rounds than the 32 that are followed"):
        cube.decode(np.ones(cube.size))
    assert cube.decode(np.zeros(cube.size)).given["k"] == 1
