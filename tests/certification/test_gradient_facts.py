"""G, (G, B), a common minimiser, and what a run shows: against a search that tries to exceed each constant."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.certification.exact_constants import Proved, ProvedPiecewise
from ratecheck.problems import Certificate, Logistic, Piecewise, Population, Quadratic

RUN = {"trace": None, "T": None, "noise": {}, "lambda_": None, "weights": (), "start": {}}


def fact(problem, name):
    """The certified constant, of a run without noise."""
    return CertifiedCase(problem, None, None).fact(name)


def drawn(seed, n=3, d=2, *, shared_minimiser=False):
    """Positive definite quadratics, each with its own Hessian."""
    rng = np.random.default_rng(seed)
    H = rng.integers(-3, 4, (n, d, d)).astype(float)
    H = H @ H.transpose(0, 2, 1) + np.eye(d)
    points = np.broadcast_to(rng.integers(-2, 3, d), (n, d)) if shared_minimiser else rng.standard_normal((n, d))
    return Quadratic(H, np.einsum("iab,ib->ia", H, points), shared=d)


def kinked(seed, n=2, d=2, outer=None):
    """Functions with two kinks per coordinate; ``outer`` is their curvature far away."""
    rng = np.random.default_rng(seed)
    bent = rng.uniform(0.1, 1.0, (n, d, 3))
    if outer is not None:
        bent[..., [0, -1]] = outer
    return Piecewise(np.sort(rng.standard_normal((n, d, 2)), axis=2), bent, rng.standard_normal((n, d)))


def largest_excess(problem, G, B):
    """The largest (1/n) sum_i ||grad f_i||^2 - G^2 - B^2 ||grad f||^2 that a search from many points finds."""
    none = np.zeros((problem.n, 0))

    def room(x):
        gradients = problem.gradients(x, none)[0]
        return G**2 + B**2 * np.sum(gradients.mean(axis=0) ** 2) - np.mean(np.sum(gradients**2, axis=1))

    rng, found = np.random.default_rng(0), np.inf
    for scale in (0.1, 1.0, 10.0, 1e4):
        for start in rng.standard_normal((6, problem.d)) * scale:
            found = min(found, room(start), minimize(room, start, method="Nelder-Mead", options={"maxiter": 200}).fun)
    return -found


@pytest.mark.every(2)
@pytest.mark.parametrize("problem", [*(drawn(seed) for seed in range(4)), *(kinked(seed) for seed in range(3))])
def test_a_pair_of_dissimilarity(problem):
    """No point exceeds it, and a tenth less of G is exceeded somewhere, as is a B below the curvatures' own."""
    G, B = (fact(problem, f"dissimilarity_{name}") for name in "GB")
    assert largest_excess(problem, G.value, B.value) <= 1e-7 * G.value**2
    assert largest_excess(problem, 0.9 * G.value, B.value) > 0
    assert largest_excess(problem, G.value, 0.6 * B.value) > 0
    proved = (ProvedPiecewise if isinstance(problem, Piecewise) else Proved)(problem=problem, **RUN)
    for name, value in (("dissimilarity_G", G.value), ("dissimilarity_B", B.value)):
        assert proved.admits(name, Fraction(value))
        assert not proved.admits(name, Fraction(value) * Fraction(99, 100))


def test_the_pair_by_hand():
    """f_1 = x^2/2, f_2 = 3 x^2/2 - 4 x: A = 2, S = 5, minimiser 1, e = (1, -1), c = (1 - 3)/2.

    B^2 = 2*5/4 and G^2 = 1 + c^2/(B^2*4 - 5) = 1 + 1/5.
    """
    problem = Quadratic([[[1.0]], [[3.0]]], [[0.0], [4.0]], shared=1)
    assert fact(problem, "dissimilarity_B").value == pytest.approx(2.5**0.5, rel=1e-6)
    assert fact(problem, "dissimilarity_G").value == pytest.approx(1.2**0.5, rel=1e-6)
    twice = Population(problem, [5, 5])
    assert fact(twice, "dissimilarity_G").value == pytest.approx(1.2**0.5, rel=1e-6)


def test_a_pair_is_b_and_one_where_there_is_b():
    """Common Hessians, logistic losses, kinks that agree far away."""
    common = Quadratic([[[2.0]], [[2.0]]], [[1.0], [-3.0]], shared=1)
    logistic = Logistic.synthetic(3, 10, 4, shared=4)
    for problem in (common, logistic, kinked(1, outer=0.5)):
        b = problem.constants()["b"].value
        assert (fact(problem, "dissimilarity_G").value, fact(problem, "dissimilarity_B").value) == (b, 1.0)


def test_no_pair():
    """Where f is flat and its clients are not."""
    apart = Quadratic([[[1.0]], [[-1.0]]], [[1.0], [-1.0]], shared=1)
    cancel = Piecewise([[[0.0]], [[0.0]]], [[[1.0, 1.0]], [[-1.0, 1.0]]], [[0.0], [0.0]])
    assert [fact(each, "dissimilarity_G").certificate for each in (apart, cancel)] == [Certificate.ABSENT] * 2
    assert "curvature along a direction" in fact(apart, "dissimilarity_B").reason
    assert fact(Quadratic.synthetic(3, 4, shared=2, coupling=0.5), "dissimilarity_G") is None


def test_many_variables_in_floats():
    """Beyond what rationals are asked for, the eigenvalues of the form decide."""
    problem = Quadratic.synthetic(20, 30, shared=30, curvature=1.0)
    G, B = (fact(problem, f"dissimilarity_{name}").value for name in "GB")
    rng = np.random.default_rng(1)
    for x in rng.standard_normal((200, 30)) * 10.0 ** rng.uniform(-2, 3, (200, 1)):
        gradients = problem.gradients(x, np.zeros((20, 0)))[0]
        assert np.mean(np.sum(gradients**2, axis=1)) <= G**2 + B**2 * np.sum(gradients.mean(axis=0) ** 2)


# --- One minimiser for all ---


def test_interpolation():
    """Decided in rationals: by 1e-16 beside it is none. By type as one by one."""
    shared = drawn(2, shared_minimiser=True)
    assert fact(shared, "interpolation").certificate is Certificate.EXACT
    assert fact(Population(shared, [2, 1, 1]), "interpolation").certificate is Certificate.EXACT
    # Where all share a minimiser G is 0.
    assert fact(shared, "dissimilarity_G").value == 0.0
    g = shared.g.copy()
    g[0, 0] = np.nextafter(g[0, 0], np.inf)
    nearly = fact(Quadratic(shared.H, g, shared=2), "interpolation")
    assert nearly.certificate is Certificate.ABSENT
    assert "up to rounding only" in nearly.reason
    assert "a gradient of" in fact(drawn(2), "interpolation").reason
    assert "not convex" in fact(Quadratic([[[1.0]], [[-0.5]]], [[0.0], [0.0]], shared=1), "interpolation").reason
    # Diagonal ones may be large; a flat client has minimisers everywhere, but not on a slope.
    diagonal = Quadratic([np.diag([1.0, 0.0]), np.diag([3.0, 2.0])], [[1.0, 0.0], [3.0, 5.0]], shared=2)
    assert fact(diagonal, "interpolation").certificate is Certificate.EXACT
    sloped = Quadratic(diagonal.H, [[1.0, 1e-3], [3.0, 5.0]], shared=2)
    assert fact(sloped, "interpolation").certificate is Certificate.ABSENT


def test_interpolation_with_kinks():
    """Functions with flat bottoms that overlap share a minimiser; bottoms that touch do; those apart do not."""
    for low, expected in ((0.5, True), (1.0, True), (1.5, False)):
        kinks = [[[-1.0, 1.0]], [[low, low + 1]]]
        slopes = [[0.0], [-low]]
        problem = Piecewise(kinks, [[[1.0, 0.0, 1.0]]] * 2, slopes)
        assert (fact(problem, "interpolation").certificate is Certificate.EXACT) == expected


# --- Bounded gradients ---


@pytest.mark.parametrize("problem", [kinked(seed, n=3, outer=0.0) for seed in range(3)])
def test_a_bound_of_gradients(problem):
    """It is reached at a kink, and exceeded nowhere."""
    G = fact(problem, "gradient_bound")
    assert G.certificate is Certificate.EXACT
    kinks = np.unique(problem.kinks)
    grid = np.array(np.meshgrid(kinks, kinks)).reshape(2, -1).T
    points = [*grid, *(np.random.default_rng(0).standard_normal((100, 2)) * 10)]
    sizes = [np.linalg.norm(problem.gradients(x, None)[0], axis=1).max() for x in points]
    assert max(sizes) == pytest.approx(G.value, rel=1e-12)
    assert ProvedPiecewise(problem=problem, **RUN).admits("gradient_bound", Fraction(G.value))
    assert not ProvedPiecewise(problem=problem, **RUN).admits("gradient_bound", Fraction(G.value) / 2)


def test_a_bound_of_gradients_of_other_problems():
    """Logistic losses are below it far away; a curved quadratic has none, a linear one its slope."""
    problem = Logistic.synthetic(3, 10, 4, shared=2, rho=0.1)
    G, rng = fact(problem, "gradient_bound"), np.random.default_rng(0)
    for scale in (0.1, 1.0, 100.0):
        for _ in range(50):
            u, v = rng.standard_normal(2) * scale, rng.standard_normal((3, 2)) * scale
            assert np.linalg.norm(np.concatenate(problem.gradients(u, v), axis=1), axis=1).max() <= G.value
    assert "visited_gradients" in fact(drawn(0), "gradient_bound").reason
    assert fact(kinked(0), "gradient_bound").certificate is Certificate.ABSENT
    linear = Quadratic(np.zeros((2, 2, 2)), [[3.0, 4.0], [1.0, 0.0]], shared=2)
    assert fact(linear, "gradient_bound").value == pytest.approx(5.0, rel=1e-14)


# --- Of a run ---

GRADIENTS = {
    "title": "Gradient descent on convex functions",
    "algorithm": "fedavg",
    "assumptions": [
        "smoothness", "convexity", "visited_gradients", "bounded_iterates", "full_participation", "no_personal",
    ],
    "left": "gap",
    "over": "mean_of_rounds",
    "right": "D**2/(2*gamma_u*T) + gamma_u*G_run**2/2",
    "settings": {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    "vocabulary": "textbook",
}  # fmt: skip


def test_what_a_run_shows():
    """The largest gradient and distance at the points of the run, by a loop of its own; a smaller one is refused."""
    problem = drawn(3, n=3, d=2)
    found = rc.verify(theorem(**GRADIENTS), problem=problem, T=6, gamma_u=0.02)
    assert found.outcome is rc.Outcome.HOLDS
    M, g = problem.mean()
    minimiser, x = np.linalg.solve(M, g), np.zeros(2)
    gradients, distances = [], []
    for _ in range(6):
        own = problem.H @ x - problem.g
        gradients.append(np.linalg.norm(own, axis=1).max())
        distances.append(np.linalg.norm(x - minimiser))
        x = x - 0.02 * own.mean(axis=0)
    assert max(gradients) <= found.constants["G_run"].value <= 1.06 * max(gradients)
    assert max(distances) <= found.constants["D"].value <= 1.06 * max(distances)
    assert found.constants["G_run"].certificate is Certificate.TRAJECTORY
    with pytest.raises(rc.InputError, match=r"G_run=.* breaks"):
        rc.verify(theorem(**GRADIENTS), problem=problem, T=6, gamma_u=0.02, G_run=0.9 * max(gradients))


def test_nothing_is_measured_in_a_random_run():
    """The largest gradient of draws is not that of everything that may be drawn."""
    fields = GRADIENTS | {"settings": {"K": 1, "m": "n", "eta_u": 1}}
    noisy = theorem(**fields | {"assumptions": [*GRADIENTS["assumptions"], "noise"]})
    found = rc.verify(noisy, problem=drawn(3), T=6, gamma_u=0.02, sigma_u=1.0)
    assert found.outcome is rc.Outcome.NOT_APPLICABLE
    assert "in runs without randomness alone" in str(found)


def test_functions_do_not_continue_where_gradients_are_bounded_everywhere():
    """A b of unequal curvatures is had by functions that continue otherwise, of which (G, B) may be another."""
    both = {
        **GRADIENTS,
        "assumptions": ["smoothness", "dissimilarity", "full_participation", "no_personal"],
        "left": "G_u",
        "right": "2*F_0/(gamma_u*T) + b**2",
    }
    problem = Quadratic([[[1.0]], [[3.0]]], [[0.0], [4.0]], shared=1)
    alone = rc.verify(theorem(**both), problem=problem, T=4, gamma_u=0.1)
    assert alone.constants["b"].certificate is Certificate.UPPER_BOUND
    both["assumptions"] = [*both["assumptions"], "gb_dissimilarity"]
    together = rc.verify(theorem(**both), problem=problem, T=4, gamma_u=0.1)
    assert together.constants["b"].certificate is Certificate.TRAJECTORY


def test_a_problem_in_the_place_of_a_statement():
    """It says which keyword it is."""
    with pytest.raises(rc.InputError, match=r"a Quadratic is no statement: give it as problem=\.\.\."):
        rc.verify("pfl/theorem-3.7", drawn(0))


def test_relative_noise():
    """Additive noise has it with rho = 0, and with every larger one."""
    sgd = theorem(
        title="SGD under relative noise",
        algorithm="fedavg",
        assumptions=["smoothness", "relative_noise", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right={"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/n"},
        conditions=["gamma_u <= 1/(L*(1 + rho_noise/n))"],
        settings={"K": 1, "m": "n", "eta_u": 1},
        vocabulary="textbook",
    )
    for given in ({}, {"rho_noise": 3.0}):
        found = rc.verify(sgd, problem=drawn(1), T=6, sigma_u=0.5, **given)
        assert found.outcome is rc.Outcome.HOLDS
        assert found.constants["rho_noise"].value == given.get("rho_noise", 0.0)
    reason = rc.verify(sgd, problem=drawn(1), T=6, sigma_u=0.5).constants["rho_noise"].reason
    assert "the noise of this run is additive" in reason
