"""The worst case over all smooth functions with noise of two values: every sign of it is followed."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import warnings
from itertools import product

import numpy as np
import pytest
from extras import needs_pep

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.falsification.performance_estimation.interpolation import Answers, recheck
from ratecheck.falsification.performance_estimation.pep import upper_bound
from ratecheck.falsification.performance_estimation.worst_case import worst_case

SMOOTH = ["smoothness", "noise", "full_participation", "no_personal"]
CONVEX = ["convexity", *SMOOTH]
STRONGLY = ["strong_convexity", *SMOOTH]
SAMPLED = [
    "smoothness", "convexity", "noise", "minimiser_heterogeneity", "uniform_sampling", "no_personal",
]  # fmt: skip
START = {"n": 1, "T": 3, "L": 2.0, "gamma_u": 0.3, "sigma_u": 0.8}


def own(left, right, assumptions=SMOOTH, over="every_round", conditions=(), algorithm="fedavg", **settings):
    """A statement about SGD, or several clients of another method."""
    return theorem(
        title="Noise", algorithm=algorithm, left=left, right=right, over=over, assumptions=assumptions,
        conditions=list(conditions), settings={"eta_u": 1, **(settings or {"K": 1, "m": "n"})},
        vocabulary="textbook", key="mine/noise",
    )  # fmt: skip


def enclosed(statement, **given):
    """The worst case, both values of which agree."""
    found = worst_case(statement, {**START, **given})
    for each in found.enclosures:
        assert each.lower.left <= each.upper.left + 1e-12 * each.size
        assert each.upper.left - each.lower.left <= 2e-5 * max(each.size, each.scale * 1e-2)
    return found


@needs_pep
@pytest.mark.parametrize(
    ("left", "right", "assumptions", "holds"),
    [
        ("fall", "-gamma_u*(1 - L*gamma_u/2)*G_u + L*gamma_u**2*sigma_u**2/(2*n)", SMOOTH, True),
        ("fall", "-gamma_u*(1 - L*gamma_u/2)*G_u + L*gamma_u**2*sigma_u**2/(2.1*n)", SMOOTH, False),
        ("nearer", "-gamma_u*2*mu*L/(mu + L)*dist2 + gamma_u**2*sigma_u**2/n", STRONGLY, True),
        ("nearer", "-gamma_u*2*mu*L/(mu + L)*dist2 + 0.95*gamma_u**2*sigma_u**2/n", STRONGLY, False),
        ("nearer", "-2*gamma_u*gap + gamma_u**2*sigma_u**2/n", CONVEX, True),
        ("nearer", "-2.5*gamma_u*gap + gamma_u**2*sigma_u**2/n", CONVEX, False),
        ("du2", "gamma_u**2*(G_u + sigma_u**2/n)", SMOOTH, True),
        ("du2", "gamma_u**2*(G_u + sigma_u**2/n**2)", SMOOTH, False),
        ("inner_u", "-gamma_u*G_u", SMOOTH, True),
        ("descent", "inner_u + L/2*du2", SMOOTH, True),
        ("descent", "inner_u + L/2.2*du2", SMOOTH, False),
    ],
)  # fmt: skip
def test_lemmas_about_one_stochastic_step(left, right, assumptions, holds):
    """Two clients: true ones hold, and those whose noise is too small are false."""
    given = {"mu": 0.3, "dist2_0": 1.3} if assumptions is STRONGLY else {}
    found = worst_case(own(left, right, assumptions), {**START, "n": 2, "T": 1, **given})
    assert found.violated is not holds
    if holds:
        assert found.outcome.startswith("HOLDS for noise of two opposite values")
    assert any("two equally likely values" in note for note in found.notes)


CONTRACTION = "(1 - gamma_u*mu)**(2*t)"
DISTANCE = f"{CONTRACTION}*dist2_0 + gamma_u**2*sigma_u**2*(1 - {CONTRACTION})/(1 - (1 - gamma_u*mu)**2)"


@needs_pep
def test_the_distance_of_sgd_has_its_known_worst_case():
    """The classical bound is reached by mu|x|^2/2 in every round; one hundredth less of it is violated."""
    given = {"mu": 0.3, "dist2_0": 1.3}
    found = enclosed(own("dist2", DISTANCE, STRONGLY, conditions=["gamma_u <= 2/(mu + L)"]), **given)
    assert found.outcome.startswith("HOLDS")
    assert all(each.tight for each in found.enclosures)
    less = own("dist2", f"0.99*({DISTANCE})", STRONGLY, conditions=["gamma_u <= 2/(mu + L)"])
    assert enclosed(less, **given).violated


@needs_pep
def test_values_of_sgd_are_those_of_a_tree_written_out_in_pepit():
    """Two steps on a convex function, with PEPit's class and its points, and none of this package."""
    with warnings.catch_warnings(action="ignore"):
        from PEPit import PEP, Point
        from PEPit.functions import SmoothStronglyConvexFunction
    L, gamma, sigma = 2.0, 0.3, 0.8
    problem = PEP()
    with contextlib.redirect_stdout(io.StringIO()):
        function = problem.declare_function(SmoothStronglyConvexFunction, L=L, mu=0.0)
    star = function.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - star) ** 2 <= 1.5)
    leaves = [x]
    for _ in range(2):
        after = []
        for point in leaves:
            noise = Point()
            problem.add_constraint(noise**2 <= sigma**2)
            after += [point - gamma * (function.gradient(point) + sign * noise) for sign in (1, -1)]
        leaves = after
    problem.set_performance_metric(sum(function(leaf) - function(star) for leaf in leaves) / 4)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
        wanted = problem.solve(verbose=0, solver="CLARABEL")
    statement = own("gap", "L*dist2_0 + sigma_u**2/L", CONVEX, over="last_round")
    found = enclosed(statement, dist2_0=1.5)
    assert found.upper.left == pytest.approx(wanted, rel=1e-5)
    assert found.lower.left == pytest.approx(wanted, rel=1e-5)


@needs_pep
def test_no_quadratic_with_gaussian_noise_is_worse():
    """The exact engine: on quadratics only second moments count, which are those of means over noise of two values."""
    given = {**START, "F_0": 0.9}
    right = "2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2/n"
    case = DeterministicCase.of(own("G_u", right, over="mean_of_rounds", conditions=["gamma_u <= 1/L"]), given)
    upper = upper_bound(case).left
    assert upper <= 2 * 0.9 / (0.3 * 3) + 2 * 0.3 * 0.8**2
    rng, largest = np.random.default_rng(3), 0.0
    for _ in range(40):
        H = np.diag(rng.uniform(0.001, 2, size=2))
        x0 = rng.standard_normal(2)
        x0 *= np.sqrt(0.9 / (x0 @ H @ x0 / 2))
        quadratic = rc.problems.Quadratic(H[None], np.zeros((1, 2)), shared=2)
        run = rc.exact(
            "fedavg", quadratic, rc.participation.Trace.full(1), K=1, T=3, x0=x0, gamma_u=0.3, eta_u=1.0, sigma_u=0.8
        )
        largest = max(largest, run.records["G_u"].mean())
    assert 0.3 * upper < largest <= upper * (1 + 1e-9)


@pytest.mark.parametrize(
    ("algorithm", "n", "K", "T", "rounds"),
    [("fedavg", 1, 1, 4, 4), ("fedavg", 2, 2, 2, 2), ("scaffold", 1, 2, 2, 2), ("scaffold", 2, 1, 3, 3)],
)
def test_the_outcomes_have_the_moments_of_the_exact_engine(algorithm, n, K, T, rounds):
    """In one dimension noise of two values has the variance of Gaussian noise, and on quadratics nothing else counts.

    SCAFFOLD remembers the mean of K stochastic gradients at the start, so that it begins with several outcomes.
    """
    c, a, sigma = np.array([0.5, 1.3])[:n], np.array([0.7, -0.4])[:n], 0.8
    given = {"n": n, "K": K, "T": T, "L": 2.0, "gamma_u": 0.3, "eta_u": 1.0, "sigma_u": sigma, "F_0": 1.0}
    statement = own("G_u", "2*F_0/(gamma_u*T)", over="every_round", algorithm=algorithm, m="n")
    case = DeterministicCase.of(statement, given)
    run = case.run(
        np.zeros(1), lambda i, x: c[i] * (x - a[i]), value=lambda i, x: float(c[i] * (x - a[i]) @ (x - a[i]) / 2),
        rounds=rounds, noise=lambda *_: np.array([sigma]),
    )  # fmt: skip
    assert [len(each) for each in run] == case.branches(rounds)
    quadratic = rc.problems.Quadratic(c[:, None, None], (c * a)[:, None], shared=1)
    exact = rc.exact(
        algorithm, quadratic, rc.participation.Trace.full(n), K=K, T=T, gamma_u=0.3, eta_u=1.0, sigma_u=sigma
    )
    for t, comparison in enumerate(case.comparisons):
        left = case.left(run, lambda x, y: float(x @ y), comparison=comparison)
        assert left == pytest.approx(exact.records["G_u"][t], rel=1e-12)


@needs_pep
def test_the_worst_noise_is_run_in_numpy():
    """Two local steps from the answers of the instance: the four ends have its values, which interpolate."""
    found = enclosed(own("gap", "L*dist2_0", CONVEX, "last_round", m="n"), K=2, T=2, dist2_0=1.1)
    instance, gamma = found.instance, START["gamma_u"]
    (g,), (h,), (e,) = instance.gradients, instance.heights, instance.noises
    assert (e**2).sum(axis=1).max() <= 0.8**2
    x = [np.zeros(instance.dimension)]
    x += [x[0] - gamma * (g[0] + sign * e[0]) for sign in (1, -1)]
    x += [x[j] - gamma * (g[j] + sign * e[j]) for j in (1, 2) for sign in (1, -1)]
    assert len(x) == len(g) == 7
    star, low = instance.minimiser.point, instance.minimiser.heights[0]
    assert star @ star <= 1.1
    assert np.mean(h[3:]) - low == pytest.approx(found.lower.left, rel=1e-9)
    points, slopes, values = [*x, star], [*g, 0 * star], [*h, low]
    for i, j in product(range(8), repeat=2):
        step, bend = points[i] - points[j], slopes[i] - slopes[j]
        assert values[i] - values[j] >= slopes[j] @ step + bend @ bend / 4 - 1e-12


@needs_pep
def test_noise_and_sampled_clients_together():
    """E||(1/m) sum_{i in S} (g_i + e_i)||^2 has sigma^2/m on top of what sampling adds; with sigma^2/n it is false."""
    of_sample = "gamma_u**2*(G_u + (n - m)/(m*(n - 1))*(B/n - G_u) + sigma_u**2/{})"
    given = {"n": 3, "m": 2, "T": 1, "L": 1.0, "gamma_u": 0.5, "b_star": 1.0}
    for share, holds in (("m", True), ("n", False)):
        found = worst_case(own("du2", of_sample.format(share), SAMPLED, K=1), {**START, **given})
        assert found.violated is not holds
        assert found.outcome.startswith("HOLDS") is holds


@needs_pep
def test_an_instance_with_noise_survives_a_file_and_is_checked():
    """Planted errors: noise that is too large, and noise that is missing."""
    statement = own("gap", "L*dist2_0", CONVEX, "last_round", m="n")
    found = enclosed(statement, K=1, T=2, dist2_0=1.1)
    saved = json.loads(json.dumps(found.instance.save()))
    loaded = Answers.load(saved, statement)
    assert recheck(loaded, found.worst.comparison).left == found.lower.left
    less = {**saved, "values": {**saved["values"], "sigma_u": 0.79}}
    with pytest.raises(InputError, match=r'breaks "\|\|noise\|\|\^2 <= sigma_u\^2"'):
        recheck(Answers.load(less, statement), found.worst.comparison)
    for noises, message in (
        ([[]], "noises"),
        ([[*saved["noises"][0], *saved["noises"][0]]], r"noises\[0\] has 2 entries: the run evaluates 1 points"),
        (None, "no 'noises'"),
    ):
        with pytest.raises(InputError, match=message):
            recheck(Answers.load({**saved, "noises": noises}, statement), found.worst.comparison)


@needs_pep
def test_without_noise_the_answer_is_that_of_exact_gradients():
    """sigma_u=0 and almost 0."""
    statement = own("gap", "L*dist2_0", CONVEX, "last_round")
    none, little = (enclosed(statement, T=3, dist2_0=1.0, sigma_u=sigma) for sigma in (0.0, 1e-5))
    assert not none.instance.noises
    assert little.upper.left == pytest.approx(none.upper.left, rel=1e-6)


@pytest.mark.parametrize(
    ("statement", "given", "message"),
    [
        (own("G_u", "2*F_0/gamma_u"), {"T": 10}, 'break "stochastic gradients <= 8": 9 <= 8 is false'),
        (own("gap", "F_0"), {"T": 6}, 'break "points of all outcomes <= 40": 63 <= 40 is false'),
        (own("G_u", "2*F_0/gamma_u", ["smoothness", "no_personal"]), {}, "assumes no noise"),
        (dataclasses.replace(own("G_u", "2*F_0/gamma_u"), title="SGD with Gaussian noise"), {}, "title says gaussian"),
        (own("G_u", "2*F_0/gamma_u + b**2", [*SMOOTH, "dissimilarity"], "mean_of_rounds"), {"n": 2, "b": 1.0},
         "bounded dissimilarity are modelled without noise"),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_refused(statement, given, message):
    """In one line, and with exit code 2 on the command line."""
    with pytest.raises(InputError, match=message) as error:
        worst_case(statement, {**START, "F_0": 1.0, **given})
    assert "\n" not in str(error.value)
