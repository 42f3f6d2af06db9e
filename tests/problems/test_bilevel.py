"""Bilevel quadratics: everything against the definitions of f_i, g_i and Phi, every constant under attack.

The oracles know the two formulas of the problem, finite differences (exact on quadratics up to rounding) and SciPy's
optimisers, none of the linear algebra of the class.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from ratecheck.errors import InputError
from ratecheck.problems.constants import Certificate
from ratecheck.problems.two_level.bilevel import Bilevel

EXACT, UPPER_BOUND, ABSENT = Certificate.EXACT, Certificate.UPPER_BOUND, Certificate.ABSENT


def gaussian(n=3, d_x=2, d_y=3, seed=0, *, lower="own", b=1.0, p=None):
    """Random matrices; the lower levels ``own``, ``common``, or with a common slope A_i^-1 B_i of the solutions."""
    rng = np.random.default_rng([seed, n, d_x, d_y])
    root, Q = rng.standard_normal((n, d_y, d_y)), rng.standard_normal((n, d_x + d_y, d_x + d_y))
    A, B = root @ root.transpose(0, 2, 1) / d_y + 0.3 * np.eye(d_y), rng.standard_normal((n, d_y, d_x))
    if lower == "common":
        A, B = np.stack([A[0]] * n), np.stack([B[0]] * n)
    if lower == "slope":
        B = A @ B[0]
    Q = Q @ Q.transpose(0, 2, 1) / (d_x + d_y)
    return Bilevel(A, B, b * rng.standard_normal((n, d_y)), Q, rng.standard_normal((n, d_x + d_y)), p)


PROBLEMS = {
    "own lower levels": gaussian(),
    "common lower level": gaussian(lower="common"),
    "common slope": gaussian(4, 3, 2, lower="slope"),
    "unequal weights": gaussian(3, 4, 2, p=[0.2, 0.5, 0.3]),
    "one client": gaussian(1),
    "one of each": gaussian(2, 1, 1),
    "synthetic": Bilevel.synthetic(4, 3, 2, curvature=0.5, seed=3),
    "nonconvex upper level": Bilevel.synthetic(4, 3, 3, convex=False, curvature=0.3),
}
problems = pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in PROBLEMS.items()])


def upper(problem, i, x, y):
    """f_i(x, y)."""
    z = np.concatenate([x, y])
    return z @ problem.Q[i] @ z / 2 - problem.q[i] @ z


def lower(problem, i, x, y):
    """g_i(x, y)."""
    return y @ problem.A[i] @ y / 2 - y @ (problem.B[i] @ x + problem.b[i])


def slope(function, at):
    """Gradient by central differences, exact on quadratics up to rounding."""
    return np.array([function(at + e) - function(at - e) for e in np.eye(len(at)) / 2])


def solution(problem, x, w):
    """y*(x): Newton's method on G with differences of it, which on a quadratic needs one step."""

    def total(y):
        return sum(w_i * lower(problem, i, x, y) for i, w_i in enumerate(w))

    zero = np.zeros(problem.d_y)
    hessian = np.array([slope(total, e) - slope(total, zero) for e in np.eye(problem.d_y)])
    return -np.linalg.solve(hessian, slope(total, zero))


def value(problem, x, w):
    """Phi(x)."""
    y = solution(problem, x, w)
    return sum(w_i * upper(problem, i, x, y) for i, w_i in enumerate(w))


def point(problem, seed=0, size=1.0):
    """A random (x, y, v)."""
    z = size * np.random.default_rng([seed, 7]).standard_normal(problem.d)
    return np.split(z, [problem.d_x, problem.d_x + problem.d_y])


def weights(problem, seed=0):
    """Random positive weights with sum 1."""
    w = np.random.default_rng([seed, 11]).random(problem.n) + 0.1
    return w / w.sum()


# --- Solutions, values, gradients ---


@problems
def test_lower_solution_minimises_the_lower_level(problem):
    """``y_star`` against the definition, for p and for other weights, and as an affine map."""
    for seed in range(3):
        x = point(problem, seed, 2.0)[0]
        for given, w in ((None, problem.p), (weights(problem, seed), weights(problem, seed))):
            np.testing.assert_allclose(problem.y_star(x, given), solution(problem, x, w), atol=1e-9)
            Y, y0 = problem.y_map(given)
            np.testing.assert_allclose(Y @ x + y0, problem.y_star(x, given), atol=1e-12)


@problems
def test_value_and_hypergradient_are_those_of_the_composition(problem):
    """Phi(x) = F(x, y*(x)) and its central differences."""
    for seed in range(3):
        x, w = point(problem, seed, 2.0)[0], weights(problem, seed)
        assert problem.value(x, w) == pytest.approx(value(problem, x, w), rel=1e-9, abs=1e-9)
        assert problem.value(x) == pytest.approx(value(problem, x, problem.p), rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(
            problem.hypergradient(x, w), slope(lambda at, w=w: value(problem, at, w), x), atol=1e-8
        )
        P, r = problem.hypergradient_map(w)
        np.testing.assert_array_equal(P, P.T)
        np.testing.assert_allclose(P @ x - r, problem.hypergradient(x, w), atol=1e-12)


@problems
def test_linear_system_is_solved(problem):
    """grad_yy^2 G v*(x) = grad_y F(x, y*(x)), with differences of the definitions."""
    x, w = point(problem, 1)[0], weights(problem)
    y, v = solution(problem, x, w), problem.v_star(x, w)
    V, v0 = problem.v_map(w)
    np.testing.assert_allclose(V @ x + v0, v, atol=1e-12)

    def total(level, at):
        return sum(w_i * level(problem, i, x, at) for i, w_i in enumerate(w))

    curved = slope(lambda at: total(lower, at), y + v) - slope(lambda at: total(lower, at), y)
    np.testing.assert_allclose(curved, slope(lambda at: total(upper, at), y), atol=1e-8)


def test_derivative_of_the_linear_system_follows_the_lower_solution():
    """V = (yx + yy Y)/a in one dimension: the second term, which simfbo's eq. (16) leaves out, is there."""
    problem = Bilevel([[[2.0]]], [[[3.0]]], [[0.5]], [[[1.0, 0.25], [0.25, 4.0]]], [[0.0, 1.0]])
    V, v0 = problem.v_map()
    assert V[0, 0] == pytest.approx((0.25 + 4.0 * 1.5) / 2)
    assert v0[0] == pytest.approx((4.0 * 0.25 - 1.0) / 2)
    assert problem.v_star([2.0])[0] == pytest.approx(2 * V[0, 0] + v0[0])


@problems
def test_operator_holds_the_three_directions(problem):
    """Block by block against differences of f_i, g_i and R_i = v' grad_yy^2 g_i v/2 - v' grad_y f_i."""
    M, c = problem.operator()
    x, y, v = point(problem, 2)
    z = np.concatenate([x, y, v])
    assert problem.layout == {"x": problem.d_x, "y": problem.d_y, "v": problem.d_y}
    assert M.shape == (problem.n, problem.d, problem.d)
    for i in range(problem.n):

        def grad_y(level, x, y, i=i):
            return slope(lambda at: level(problem, i, x, at), y)

        def system(v, i=i):
            return v @ (grad_y(lower, x, y + v, i) - grad_y(lower, x, y, i)) / 2 - v @ grad_y(upper, x, y, i)

        mixed = slope(lambda at, i=i: v @ grad_y(lower, at, y, i), x)
        surrogate = slope(lambda at, i=i: upper(problem, i, at, y), x) - mixed
        expected = np.concatenate([surrogate, grad_y(lower, x, y), slope(system, v)])
        np.testing.assert_allclose(M[i] @ z - c[i], expected, atol=1e-9)


@problems
def test_operator_vanishes_in_y_and_v_and_is_the_hypergradient_in_x(problem):
    """At (x, y*(x), v*(x)) the weighted directions are (grad Phi(x), 0, 0)."""
    x, w = point(problem, 3)[0], weights(problem, 3)
    z = np.concatenate([x, problem.y_star(x, w), problem.v_star(x, w)])
    M, c = problem.operator()
    direction = np.einsum("i,ia->a", w, M @ z - c)
    expected = np.concatenate([problem.hypergradient(x, w), np.zeros(2 * problem.d_y)])
    np.testing.assert_allclose(direction, expected, atol=1e-10)


@problems
def test_weights_stand_for_those_of_the_problem(problem):
    """``weights=w`` gives what the problem with p = w gives."""
    w, x = weights(problem), point(problem)[0]
    other = Bilevel(problem.A, problem.B, problem.b, problem.Q, problem.q, w)
    assert problem.infimum(w) == other.infimum()
    assert repr(problem.constants(x, weights=w)) == repr(other.constants(x))
    np.testing.assert_array_equal(problem.v_star(x, w), other.v_star(x))


def test_weights_are_rescaled_to_their_sum():
    """Weights written down with ten digits mean those whose sum is 1."""
    p = np.array([0.3333333333, 0.3333333333, 0.3333333333])
    assert gaussian(p=p).p.sum() == pytest.approx(1.0, rel=1e-15)
    assert gaussian().infimum(p) == pytest.approx(gaussian().infimum(), rel=1e-14)


# --- Infimum ---


@problems
def test_infimum_is_what_an_optimiser_finds(problem):
    """BFGS on the composition; at the minimum the hypergradient is 0."""
    found = minimize(lambda x: value(problem, x, problem.p), np.zeros(problem.d_x), options={"gtol": 1e-9})
    assert problem.infimum() == pytest.approx(found.fun, rel=1e-6, abs=1e-7)
    assert problem.infimum() <= found.fun + 1e-9


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_infimum_scales_with_the_upper_level(scale):
    """No threshold is absolute."""
    problem = gaussian()
    scaled = Bilevel(problem.A, problem.B, problem.b, scale * problem.Q, scale * problem.q)
    assert scaled.infimum() == pytest.approx(scale * problem.infimum(), rel=1e-9)


def flat(q_x, *, bend=0.0):
    """Two variables x of which y = x_1 follows the first: Phi = x_1^2/2 + bend x_2^2/2 - q_x'x."""
    Q = np.diag([0.0, bend, 1.0])
    return Bilevel([[[2.0]]], [[[2.0, 0.0]]], [[0.0]], [Q], [[*q_x, 0.0]])


def test_infimum_where_phi_is_flat_or_unbounded():
    """A flat direction is bounded below without a slope along it, unbounded with one; so is negative curvature."""
    assert flat([3.0, 0.0]).infimum() == pytest.approx(-4.5)
    assert flat([3.0, 1.0]).infimum() == -math.inf
    assert flat([3.0, 0.0], bend=-1.0).infimum() == -math.inf
    gap = flat([3.0, 1.0]).constants()["Phi_gap"]
    assert (gap.value, gap.certificate) == (math.inf, ABSENT)


def test_phi_may_be_bounded_below_although_the_upper_level_is_not():
    """With y* = x and f = xy - y^2/4: Phi = 3 x^2/4."""
    problem = Bilevel([[[1.0]]], [[[1.0]]], [[0.0]], [[[0.0, 1.0], [1.0, -0.5]]], [[0.0, 0.0]])
    assert problem.infimum() == 0.0
    assert problem.constants(x0=[2.0])["Phi_gap"].value == pytest.approx(3.0)


# --- Smoothness and strong convexity ---


def lipschitz_attack(function, d, seed=0):
    """Largest curvature |d^2 function| by power iteration on differences of gradients at the origin."""
    at_zero, best = slope(function, np.zeros(d)), 0.0
    direction = np.random.default_rng(seed).standard_normal(d)
    for _ in range(300):
        direction /= np.linalg.norm(direction)
        image = slope(function, direction) - at_zero
        best = max(best, float(np.linalg.norm(image)))
        direction = image
    return best


@problems
def test_smoothness_is_attained_and_never_exceeded(problem):
    """L_1: the attack on all f_i and g_i in (x, y) jointly ends at it. L_2 = L_3 = 0: they are quadratics."""
    d = problem.d_x + problem.d_y
    found = max(
        lipschitz_attack(lambda z, i=i, level=level: level(problem, i, z[: problem.d_x], z[problem.d_x :]), d)
        for i in range(problem.n)
        for level in (upper, lower)
    )
    constants = problem.constants()
    assert constants["L_1"].certificate is EXACT
    assert found == pytest.approx(constants["L_1"].value, rel=1e-3)
    assert found <= constants["L_1"].value * (1 + 1e-9)
    assert constants["L_2"].value == constants["L_3"].value == 0.0


@problems
def test_strong_convexity_is_attained_and_never_undercut(problem):
    """mu_g: the least curvature of the g_i in y that an optimiser finds."""

    def curvature(y, i):
        x, zero = np.zeros(problem.d_x), np.zeros(problem.d_y)
        second = lower(problem, i, x, y) + lower(problem, i, x, -y) - 2 * lower(problem, i, x, zero)
        return second / (y @ y)

    starts = [y for seed in range(5) for y in [point(problem, seed)[1]]]
    found = min(minimize(curvature, y, args=(i,)).fun for y in starts for i in range(problem.n))
    mu_g = problem.constants()["mu_g"]
    assert mu_g.certificate is EXACT
    assert found == pytest.approx(mu_g.value, rel=1e-6)


@problems
def test_constants_imply_the_lipschitz_constants_of_the_solutions(problem):
    """simfbo, Lemma 4 with L_2 = 0: those of y*, v* and grad Phi are at most what eq. (13) makes of L_1 and mu_g."""
    constants = problem.constants()
    L_1, mu_g = constants["L_1"].value, constants["mu_g"].value
    L_y, L_tilde = L_1 / mu_g, L_1 + L_1**2 / mu_g
    for w in (None, weights(problem)):
        assert np.linalg.norm(problem.y_map(w)[0], 2) <= L_y
        assert np.linalg.norm(problem.v_map(w)[0], 2) <= math.sqrt(2 * (1 + L_y**2)) * L_1 / mu_g
        assert np.linalg.norm(problem.hypergradient_map(w)[0], 2) <= L_tilde * (1 + L_1 / mu_g)


# --- L_f ---


def steepest(problem, radius, seed=0):
    """Largest gradient of an f_i on the ball: fixed-point ascent of a convex function, from many starts."""
    best, rng = 0.0, np.random.default_rng(seed)
    for Q, q in zip(problem.Q, problem.q, strict=True):
        for _ in range(20):
            z = rng.standard_normal(len(q))
            for _ in range(300):
                z *= radius / max(np.linalg.norm(z), 1e-300)
                best = max(best, float(np.linalg.norm(Q @ z - q)))
                z = Q @ (Q @ z - q)
    return best


@pytest.mark.every(3)
@problems
@pytest.mark.parametrize("radius", [1e-6, 0.5, 3.0, 1e6])
def test_gradients_on_the_ball_attain_the_bound_and_stay_below(problem, radius):
    """L_f with a radius."""
    L_f = problem.constants(radius=radius)["L_f"]
    assert L_f.certificate is UPPER_BOUND
    assert f"<= {radius:g}" in L_f.reason
    found = steepest(problem, radius)
    assert found <= L_f.value * (1 + 1e-12)
    assert found == pytest.approx(L_f.value, rel=1e-6)


@pytest.mark.parametrize(
    ("Q", "q", "radius", "expected"),
    [
        ([2.0, 1.0], [0.0, 0.0], 3.0, 6.0),  # no linear term
        ([2.0, 0.0], [0.0, 5.0], 1.0, math.sqrt(29)),  # a linear term that Q does not see
        ([2.0, 1.0], [0.0, 1.0], 3.0, math.sqrt(4 * (9 - 1 / 9) + (1 / 3 + 1) ** 2)),  # the hard case: z_1 is free
        ([2.0, -1.0], [0.0, -1.0], 3.0, math.sqrt(4 * (9 - 1 / 9) + (1 / 3 + 1) ** 2)),  # the same, indefinite
        ([2.0, 1.0], [3.0, 4.0], 0.0, 5.0),  # one point
        ([1e-18, 1.0], [1e15, 1.0], 1.0, 1e15),  # the quadratic part is below rounding
    ],
)
def test_gradients_on_the_ball_by_hand(Q, q, radius, expected):
    """Diagonal upper levels whose largest gradient a pencil finds."""
    problem = Bilevel([[[1.0]]], [[[1.0]]], [[0.0]], [np.diag(Q)], [q])
    assert problem.constants(radius=radius)["L_f"].value == pytest.approx(expected, rel=1e-12)


def test_lipschitz_constant_without_a_ball():
    """Absent for quadratics, exact for linear upper levels."""
    problem = gaussian()
    L_f = problem.constants()["L_f"]
    assert (L_f.value, L_f.certificate) == (math.inf, ABSENT)
    linear = Bilevel(problem.A, problem.B, problem.b, 0 * problem.Q, problem.q)
    for radius in (None, 2.0):
        L_f = linear.constants(radius=radius)["L_f"]
        assert L_f.certificate is EXACT
        assert L_f.value == max(math.sqrt(q @ q) for q in problem.q)


# --- Heterogeneity ---


def two_sides(problem, z, w):
    """The sum and the mean of Assumption 4 at z = (x, y): sum_i w_i ||grad_y g_i||^2 and ||sum_i w_i grad_y g_i||^2."""
    x, y = z[: problem.d_x], z[problem.d_x :]
    each = np.array([slope(lambda at, i=i: lower(problem, i, x, at), y) for i in range(problem.n)])
    return float(w @ np.sum(each**2, axis=1)), float(np.sum((w @ each) ** 2))


def slack(problem, beta, sigma, z, w):
    """Right side minus left side of Assumption 4."""
    left, mean = two_sides(problem, z, w)
    return beta**2 * mean + sigma**2 - left


def shared_solution(seed=0):
    """Common slope, and all clients' solutions coincide: y = Y x + y0 for every client."""
    problem = gaussian(3, 2, 2, seed, lower="slope")
    b = problem.A @ np.array([1.0, -2.0])
    return Bilevel(problem.A, problem.B, b, problem.Q, problem.q)


def independent_of_x():
    """B = 0 is a common slope."""
    problem = gaussian(3, 2, 3)
    return Bilevel(problem.A, 0 * problem.B, problem.b, problem.Q, problem.q)


BOUNDED = {
    "common": gaussian(4, 2, 3, lower="common"),
    "common, weights": gaussian(3, 2, 2, lower="common", p=[0.2, 0.5, 0.3]),
    "common slope": gaussian(4, 3, 2, lower="slope"),
    "common slope, weights": gaussian(3, 1, 3, 5, lower="slope", p=[0.6, 0.1, 0.3]),
    "independent of x": independent_of_x(),
    "no linear term": gaussian(3, 2, 2, lower="slope", b=0.0),
    "one client": gaussian(1),
    "nearly common": Bilevel(
        [[[1.0]], [[1.0 + 1e-7]]], np.zeros((2, 1, 1)), [[0.0], [1.0]], [np.eye(2)] * 2, [[1, 1]] * 2
    ),
}
bounded = pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in BOUNDED.items()])


@bounded
@pytest.mark.parametrize("weighted", [False, True])
def test_dissimilarity_is_attained_and_never_exceeded(problem, weighted):
    """Assumption 4 at random points of all sizes; the least slack that an optimiser finds is 0: sigma_gh is exact."""
    w = weights(problem, 4) if weighted else problem.p
    constants = problem.constants(weights=w)
    beta, sigma = constants["beta_gh"], constants["sigma_gh"]
    assert beta.value >= 1.0
    assert sigma.certificate is EXACT
    rng = np.random.default_rng(0)
    for size in np.geomspace(1e-2, 1e8, 30):
        z = size * rng.standard_normal(problem.d_x + problem.d_y)
        left, mean = two_sides(problem, z, w)
        assert left <= (beta.value**2 * mean + sigma.value**2) * (1 + 1e-9)
    if sigma.value == 0.0 or 0.0 < beta.value - 1.0 < 1e-9:
        return  # nothing to attain, or only so far out that rounding hides it
    starts = rng.standard_normal((5, problem.d_x + problem.d_y))
    least = min(minimize(lambda z: slack(problem, beta.value, sigma.value, z, w), z).fun for z in starts)
    assert least == pytest.approx(0.0, abs=1e-6 * sigma.value**2)


@bounded
def test_dissimilarity_of_a_smaller_beta_is_unbounded(problem):
    """Below the smallest beta_gh, which the reason names where it is not taken, no sigma_gh would do."""
    beta = problem.constants()["beta_gh"]
    smallest = beta.value if beta.certificate is EXACT else float(beta.reason.split()[1].rstrip(","))
    assert smallest <= beta.value
    beta_2 = (1 - 1e-3) * smallest**2
    d, rng = problem.d_x + problem.d_y, np.random.default_rng(1)

    def growth(z):
        """Slack per |mean|^2 far out, where the linear terms do not count."""
        left, mean = two_sides(problem, 1e8 * z / np.linalg.norm(z), problem.p)
        return beta_2 - left / mean

    assert min(minimize(growth, rng.standard_normal(d), method="Nelder-Mead").fun for _ in range(5)) < 0.0


def own_couplings():
    """Common A_i and own B_i."""
    problem = gaussian()
    return Bilevel(problem.A[[0, 0, 0]], problem.B, problem.b, problem.Q, problem.q)


@pytest.mark.parametrize("problem", [gaussian(), own_couplings(), PROBLEMS["synthetic"], PROBLEMS["one of each"]])
def test_different_slopes_have_no_dissimilarity_bound(problem):
    """Along y = y*(x) the mean vanishes and the sum grows beyond every bound."""
    constants = problem.constants()
    assert constants["beta_gh"].certificate is constants["sigma_gh"].certificate is ABSENT
    x = point(problem)[0]
    sums = []
    for size in (1e2, 1e4):
        left, mean = two_sides(problem, np.concatenate([size * x, solution(problem, size * x, problem.p)]), problem.p)
        assert mean < 1e-9 * left
        sums.append(left)
    assert sums[1] > 1e3 * sums[0]


def test_dissimilarity_by_hand():
    """Two clients in one dimension, a = 1 and 3, b = -1 and 1: M = (1 + 9)/8, and the sum at y = 0 is 1."""
    problem = Bilevel([[[1.0]], [[3.0]]], np.zeros((2, 1, 1)), [[-1.0], [1.0]], [np.eye(2)] * 2, np.zeros((2, 2)))
    constants = problem.constants()
    # h_1 = y + 1, h_2 = 3y - 1, mean h = 2y: (h_1^2 + h_2^2)/2 = 5 y^2 - 2 y + 1 <= beta^2 4 y^2 + sigma^2.
    assert constants["beta_gh"].value ** 2 == pytest.approx(1.5)
    assert constants["beta_gh"].certificate is UPPER_BOUND
    assert constants["sigma_gh"].value ** 2 == pytest.approx(1 + 1)  # 1 - 2y - y^2 is largest at y = -1
    # With b = 1 and 3, so that both solutions are y = 1, the smallest beta has a sigma: 0.
    exact = Bilevel(problem.A, problem.B, [[1.0], [3.0]], problem.Q, problem.q).constants()
    assert exact["beta_gh"].value ** 2 == pytest.approx(1.25)
    assert exact["sigma_gh"].value == 0.0
    assert exact["beta_gh"].certificate is exact["sigma_gh"].certificate is EXACT


def test_dissimilarity_of_shared_solutions_is_rounding():
    """Where all clients have the same solution, the sum is 0 there."""
    assert shared_solution().constants()["sigma_gh"].value < 1e-12


def test_common_lower_levels_have_the_spread_of_b():
    """beta_gh = 1 and sigma_gh^2 the weighted variance of b, as for identical g_i in the paper."""
    problem = gaussian(3, 2, 2, lower="common", p=[0.2, 0.5, 0.3])
    constants = problem.constants()
    variance = sum(p * np.sum((b - problem.p @ problem.b) ** 2) for p, b in zip(problem.p, problem.b, strict=True))
    assert constants["beta_gh"].value == 1.0
    assert constants["sigma_gh"].value == pytest.approx(math.sqrt(variance))


# --- The start ---


@problems
def test_distances_at_the_start(problem):
    """Phi_gap, Delta_y and Delta_v against the definitions; they vanish at the optimum."""
    x, y, v = point(problem, 9)
    constants = problem.constants(x, y, v)
    expected = value(problem, x, problem.p) - problem.infimum()
    assert constants["Phi_gap"].value == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert constants["Phi_gap"].certificate is EXACT
    assert constants["Delta_y"].value == pytest.approx(np.sum((y - solution(problem, x, problem.p)) ** 2), rel=1e-8)
    assert constants["Delta_v"].value == pytest.approx(np.sum((v - problem.v_star(x)) ** 2), rel=1e-12)
    P, r = problem.hypergradient_map()
    best = np.linalg.lstsq(P, r, rcond=None)[0]
    optimum = problem.constants(best, problem.y_star(best), problem.v_star(best))
    assert optimum["Phi_gap"].value == pytest.approx(0.0, abs=1e-9)
    assert optimum["Delta_y"].value == optimum["Delta_v"].value == 0.0
    at_zero = problem.constants()["Phi_gap"].value
    assert at_zero == pytest.approx(problem.value(np.zeros(problem.d_x)) - problem.infimum(), abs=1e-12)


def test_noise_levels_are_passed_through():
    """They are the caller's, exact."""
    constants = gaussian().constants(sigma_f=0.1, sigma_g=0.2, sigma_gg=0.3)
    assert [constants[name].value for name in ("sigma_f", "sigma_g", "sigma_gg")] == [0.1, 0.2, 0.3]


# --- Seeded instances ---


@pytest.mark.parametrize("curvature", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("convex", [True, False])
def test_dials_do_what_they_say(curvature, convex):
    """L_1 = 1, the spreads, the condition numbers, the indefinite upper levels, and a bounded Phi throughout."""
    problem = Bilevel.synthetic(6, 3, 4, condition=5.0, heterogeneity=2.0, curvature=curvature, convex=convex, seed=8)
    constants = problem.constants()
    assert constants["L_1"].value == pytest.approx(1.0)
    assert np.linalg.cond(problem.A).max() <= 5.0 * (1 + 1e-9)
    for linear in (problem.b, problem.q):
        spread = np.mean(np.sum((linear - linear.mean(axis=0)) ** 2, axis=1))
        assert spread == pytest.approx(4.0)
    assert (constants["beta_gh"].certificate is EXACT) == (curvature == 0.0)
    if curvature == 0.0:
        assert constants["sigma_gh"].value == pytest.approx(2.0)
    least = np.linalg.eigvalsh(problem.Q)[:, 0]
    assert (least > 0).all() if convex else (least < -0.1).all()
    assert math.isfinite(problem.infimum())


def test_instances_are_reproducible():
    """The seed alone decides."""
    first, again, other = (Bilevel.synthetic(seed=seed) for seed in (1, 1, 2))
    for name in ("A", "B", "b", "Q", "q"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert not np.array_equal(getattr(first, name), getattr(other, name))
    assert repr(first) == "Bilevel(n=10, d_x=5, d_y=5)"
    assert (first.d, first.kind) == (15, "bilevel")


# --- Input that is refused ---

GOOD = {
    "A": np.eye(2)[None],
    "B": np.ones((1, 2, 1)),
    "b": np.zeros((1, 2)),
    "Q": np.eye(3)[None],
    "q": np.zeros((1, 3)),
    "p": None,
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"B": np.ones((2, 1))}, r"B: shape \(2, 1\); needed \(n, d_y, d_x\)"),
        ({"B": np.ones((1, 2, 0))}, r"B: shape"),
        ({"A": np.eye(3)[None]}, r"A: shape \(1, 3, 3\); needed \(1, 2, 2\)"),
        ({"b": np.zeros(2)}, r"b: shape"),
        ({"Q": np.eye(2)[None]}, r"Q: shape"),
        ({"q": np.zeros((2, 3))}, r"q: shape"),
        ({"b": [[0.0, math.nan]]}, r"b\[0, 1\] is nan"),
        ({"q": [[0.0, 1e21, 0.0]]}, r"q\[0, 1\] is 1e\+21"),
        ({"A": "no"}, "A: needed an array of numbers"),
        ({"Q": [[[1, 1, 0], [0, 1, 0], [0, 0, 1]]]}, r"Q\[0\] differs from its transpose by 1"),
        ({"A": [[[1, 1], [0, 1]]]}, r"A\[0\] differs from its transpose"),
        ({"A": [[[1, 0], [0, -0.5]]]}, r"A\[0\] has the smallest eigenvalue -0.5"),
        ({"A": [[[1, 1], [1, 1]]]}, r"A\[0\] has the smallest eigenvalue"),
        ({"p": [0.5]}, r'"sum of p = 1": 0.5 = 1'),
        ({"p": [0.0]}, r'p\[0\]=0 breaks "p > 0"'),
        ({"p": [0.5, 0.5]}, r"p: shape \(2,\); needed \(1,\)"),
    ],
)
def test_bad_arrays_are_refused(changed, message):
    """One line that names the array and what is wrong with it."""
    with pytest.raises(InputError, match=message) as error:
        Bilevel(**{**GOOD, **changed})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda problem: problem.value([1.0]), r"x: shape \(1,\); needed \(2,\)"),
        (lambda problem: problem.y_star([1.0, math.inf]), r"x\[1\] is inf"),
        (lambda problem: problem.infimum([1.0, 1.0, 1.0]), r'weights breaks "sum of weights = 1": 3 = 1'),
        (lambda problem: problem.hypergradient([0, 0], [2.0, -2.0, 1.0]), r"weights\[1\]=-2"),
        (lambda problem: problem.constants(x0=[1.0]), r"x0: shape"),
        (lambda problem: problem.constants(y0=[1.0]), r"y0: shape"),
        (lambda problem: problem.constants(v0=[1.0]), r"v0: shape"),
        (lambda problem: problem.constants(sigma_gg=-1), "sigma_gg=-1"),
        (lambda problem: problem.constants(radius=-1), "radius=-1"),
        (lambda problem: problem.constants(x0=[3, 0], y0=[0, 4, 0], radius=1), r"nearest that does: 5"),
        (lambda _: Bilevel.synthetic(condition=0.5), r'condition=0.5 breaks "condition >= 1"'),
        (lambda _: Bilevel.synthetic(curvature=2), r"curvature=2 .* nearest that does: 1"),
        (lambda _: Bilevel.synthetic(heterogeneity=-1), "heterogeneity=-1"),
        (lambda _: Bilevel.synthetic(n=0), "n=0"),
        (lambda _: Bilevel.synthetic(d_x=0), "d_x=0"),
        (lambda _: Bilevel.synthetic(d_y=0), "d_y=0"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    """One line that names the argument."""
    with pytest.raises(InputError, match=message) as error:
        call(gaussian())
    assert "\n" not in str(error.value)


def test_arrays_are_copied():
    """What the caller does to an array afterwards does not reach the problem."""
    arrays = {name: np.array(value, dtype=float) for name, value in GOOD.items() if value is not None}
    problem = Bilevel(**arrays)
    for array in arrays.values():
        np.add(array, 1.0, out=array)
    np.testing.assert_array_equal(problem.b, GOOD["b"])
    np.testing.assert_array_equal(problem.B, GOOD["B"])
    np.testing.assert_array_equal(problem.q, GOOD["q"])
