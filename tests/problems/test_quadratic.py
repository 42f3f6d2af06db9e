"""Quadratics: every certified constant under an attack that knows values and gradients alone.

An attack searches for a point at which a constant would have to be larger. It never exceeds the constant and comes
close to it, so that a constant too small or too large would be found out.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import bounds
from ratecheck.algebra.linear_algebra import minimum
from ratecheck.errors import InputError
from ratecheck.problems import Certificate, Quadratic
from ratecheck.problems.matrices import spd

EXACT, ABSENT = Certificate.EXACT, Certificate.ABSENT


def gaussian(n, d, shared, seed=0, *, convex=True, coupling=1.0):
    """H_i = A_i'A_i/d (or the symmetric part of a Gaussian matrix), Gaussian g_i; H_uv multiplied by ``coupling``."""
    rng = np.random.default_rng([seed, n, d, shared])
    A = rng.standard_normal((n, d, d))
    H = A.transpose(0, 2, 1) @ A / d + 0.1 * np.eye(d) if convex else (A + A.transpose(0, 2, 1)) / 2
    H[:, :shared, shared:] *= coupling
    H[:, shared:, :shared] *= coupling
    return Quadratic(H, rng.standard_normal((n, d)), shared)


def common_curvature(n, d, shared, seed=0):
    """The same H_uu for every client and no coupling: a dissimilarity bound exists."""
    problem = gaussian(n, d, shared, seed, coupling=0.0)
    H = problem.H.copy()
    H[:, :shared, :shared] = H[0, :shared, :shared]
    return Quadratic(H, problem.g, shared)


PROBLEMS = {
    "coupled": gaussian(3, 5, 2),
    "indefinite": gaussian(3, 5, 2, convex=False),
    "mostly coupling": gaussian(3, 5, 2, convex=False, coupling=4.0),
    "uncoupled": gaussian(3, 5, 2, coupling=0.0),
    "common curvature": common_curvature(4, 5, 3),
    "fully shared": gaussian(3, 4, 4),
    "fully personal": gaussian(3, 4, 0),
    "one client": gaussian(1, 4, 2),
    "one of each": gaussian(2, 2, 1),
    "synthetic": Quadratic.synthetic(5, 6, 3, coupling=0.7, curvature=0.4, seed=3),
}
problems = pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in PROBLEMS.items()])


def split(problem, x):
    """The flat vector (u, v_1, ..., v_n) as u and v."""
    return x[: problem.d_u], x[problem.d_u :].reshape(problem.n, problem.d_v)


def point(problem, seed=0, size=1.0):
    """A random flat point."""
    return size * np.random.default_rng([seed, 5]).standard_normal(problem.d_u + problem.n * problem.d_v)


def value(problem, x):
    """f, written anew: the mean of w'Hw/2 - g'w."""
    u, v = split(problem, x)
    return sum(
        (w := np.concatenate([u, v_i])) @ H @ w / 2 - g @ w
        for H, g, v_i in zip(problem.H, problem.g, v, strict=True)
    ) / problem.n  # fmt: skip


def slope(problem, x):
    """Gradient of f in the flat variables by central differences, exact on quadratics up to rounding."""
    steps = np.eye(len(x)) * 0.5
    return np.array([value(problem, x + e) - value(problem, x - e) for e in steps])


# --- Values and gradients ---


@problems
def test_value_is_the_mean_of_the_quadratics(problem):
    """``value`` against the definition."""
    for seed in range(5):
        x = point(problem, seed, 3.0)
        assert problem.value(*split(problem, x)) == pytest.approx(value(problem, x), rel=1e-12, abs=1e-12)


@problems
def test_gradients_are_the_finite_differences_of_the_value(problem):
    """grad_u f is the mean of the clients' grad_u f_i, and f changes by grad_v f_i/n with v_i."""
    for seed in range(5):
        x = point(problem, seed, 2.0)
        g_u, g_v = problem.gradients(*split(problem, x))
        assert g_u.shape == (problem.n, problem.d_u)
        assert g_v.shape == (problem.n, problem.d_v)
        found = np.concatenate([g_u.mean(axis=0), g_v.ravel() / problem.n])
        np.testing.assert_allclose(found, slope(problem, x), atol=1e-11)


@problems
def test_gradients_of_each_client_are_those_of_its_own_problem(problem):
    """Client by client: the row of client i is the gradient of the problem that has this client alone."""
    u, v = split(problem, point(problem))
    g_u, g_v = problem.gradients(u, v)
    for i in range(problem.n):
        alone = Quadratic(problem.H[i : i + 1], problem.g[i : i + 1], problem.d_u)
        expected = slope(alone, np.concatenate([u, v[i]]))
        np.testing.assert_allclose(np.concatenate([g_u[i], g_v[i]]), expected, atol=1e-11)


# --- Smoothness ---


def lipschitz_attack(problem, block, by):
    """Largest |change of grad_block f_i| / |change of variable ``by``|, by power iteration on gradient differences."""
    size = {"u": problem.d_u, "v": problem.d_v}
    if 0 in (size[block], size[by]):
        return 0.0
    u, v = split(problem, point(problem))
    at = dict(zip("uv", problem.gradients(u, v), strict=True))

    def change(i, variable, direction, of):
        moved_u = u + direction if variable == "u" else u
        moved_v = v.copy()
        if variable == "v":
            moved_v[i] += direction
        moved = dict(zip("uv", problem.gradients(moved_u, moved_v), strict=True))
        return moved[of][i] - at[of][i]

    best = 0.0
    for i in range(problem.n):
        direction = np.random.default_rng(i).standard_normal(size[by])
        for _ in range(300):
            direction /= np.linalg.norm(direction)
            image = change(i, by, direction, block)
            best = max(best, float(np.linalg.norm(image)))
            direction = change(i, block, image, by)  # the mixed second derivatives are each other's transpose
            if np.linalg.norm(direction) < 1e-12:
                break
    return best


@problems
def test_smoothness_constants_are_attained_and_never_exceeded(problem):
    """L_u, L_v, L_uv and L_vu: the attack ends within 0.1% below each; L is their maximum."""
    constants = problem.constants()
    for name, block, by in (("L_u", "u", "u"), ("L_v", "v", "v"), ("L_uv", "u", "v"), ("L_vu", "v", "u")):
        found, certified = lipschitz_attack(problem, block, by), constants[name]
        assert certified.certificate is EXACT
        assert certified.value * (1 - 1e-3) - 1e-9 <= found <= certified.value * (1 + 1e-9) + 1e-9
    assert constants["L"].value == max(constants[name].value for name in ("L_u", "L_v", "L_uv", "L_vu"))


def test_smoothness_is_that_of_the_worst_client():
    """One client with a block 100 times larger decides, not the average; spot values by hand."""
    H = np.array([np.diag([1.0, 2.0]), [[3.0, 7.0], [7.0, -100.0]], np.zeros((2, 2))])
    constants = Quadratic(H, np.zeros((3, 2)), 1).constants()
    assert [constants[name].value for name in ("L_u", "L_v", "L_uv", "L_vu", "L")] == [3.0, 100.0, 7.0, 7.0, 100.0]
    constants = Quadratic(H[:2] * [[1, 1], [1, 0.01]], np.zeros((2, 2)), 1).constants()
    assert [constants[name].value for name in ("L_u", "L_v", "L_uv", "L_vu", "L")] == [3.0, 1.0, 7.0, 7.0, 7.0]


# --- The initial gap ---


def lowest(problem):
    """The infimum of f as SciPy finds it, from values and differences of values alone."""
    best = min(
        (minimize(lambda x: value(problem, x), point(problem, seed), jac=lambda x: slope(problem, x), tol=1e-12)
         for seed in range(3)),
        key=lambda result: result.fun,
    )  # fmt: skip
    return float(best.fun)


def singular(*, in_range):
    """H_vv of rank 1 of 2 with coupling inside its range; g_v inside that range, or not."""
    H = np.zeros((2, 3, 3))
    H[:, 0, 0], H[:, 1, 1] = 2.0, 1.0
    H[0, 0, 1] = H[0, 1, 0] = 0.5
    g = np.array([[1.0, 1.0, 0.0], [-2.0, 0.5, 0.0]])
    if not in_range:
        g[1, 2] = 1e-3
    return Quadratic(H, g, 1)


def balanced():
    """Clients of opposite curvature in u whose mean is convex: f is bounded below although f_1 is not."""
    H = np.array([np.diag([-1.0, 1.0]), np.diag([3.0, 1.0])])
    return Quadratic(H, np.array([[1.0, 0.0], [2.0, 1.0]]), 1)


BOUNDED = {name: PROBLEMS[name] for name in PROBLEMS if name not in ("indefinite", "mostly coupling")}
BOUNDED |= {
    "strong coupling": Quadratic.synthetic(4, 6, 3, coupling=0.99, condition=5.0, seed=1),
    "singular, slope in range": singular(in_range=True),
    "opposite curvatures": balanced(),
    "constant": Quadratic(np.zeros((2, 3, 3)), np.zeros((2, 3)), 1),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in BOUNDED.items()])
@pytest.mark.parametrize("start", [0.0, 2.0])
def test_the_initial_gap_is_what_a_minimiser_finds(problem, start):
    """F_0 = f(start) - inf f, with coupling; the default start is zero."""
    x = point(problem, 9, start)
    constants = problem.constants(*split(problem, x)) if start else problem.constants()
    assert constants["F_0"].certificate is EXACT
    assert constants["F_0"].value == pytest.approx(value(problem, x) - lowest(problem), rel=1e-7, abs=1e-9)
    assert problem.infimum() == pytest.approx(lowest(problem), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("condition", [1e4, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("shared", [4, 0], ids=["shared", "personal"])
def test_the_gap_of_a_badly_conditioned_quadratic_is_never_too_small(condition, shared):
    """The minimum in rationals; a full matrix of condition 10^6 was said to be unbounded below."""
    rng = np.random.default_rng(5)
    H = np.array([spd(rng, 4, condition) for _ in range(1 if shared else 3)] * (3 if shared else 1))
    problem = Quadratic(H, rng.standard_normal((3, 4)), shared)
    rational = np.vectorize(Fraction, otypes=[object])
    hessians, slopes = rational(problem.H), rational(problem.g)
    if shared:
        exact = -minimum(hessians[0], slopes.sum(axis=0) / 3)
    else:
        exact = -sum(minimum(*pair) for pair in zip(hessians, slopes, strict=True)) / 3
    gap = Fraction(problem.constants()["F_0"].value)
    assert exact * (1 - Fraction(1, 10**14)) <= gap <= exact * (1 + Fraction(condition) / 10**13)


def hessian(problem):
    """Hessian of f in the flat variables, by differences of differences."""
    zero = slope(problem, np.zeros(problem.d_u + problem.n * problem.d_v))
    return np.array([slope(problem, e) - zero for e in np.eye(len(zero))]), zero


UNBOUNDED = {
    "indefinite": PROBLEMS["indefinite"],
    "negative curvature in u": Quadratic(np.array([np.diag([-1.0, 1.0])]), np.zeros((1, 2)), 1),
    "negative curvature in one v_i": Quadratic(
        np.array([np.diag([1.0, 1.0]), np.diag([1.0, -1e-3])]), np.zeros((2, 2)), 1
    ),
    "negative mean curvature": Quadratic(np.array([np.diag([-3.0, 1.0]), np.diag([1.0, 1.0])]), np.zeros((2, 2)), 1),
    "coupling stronger than both blocks": Quadratic(np.array([[[1.0, 1.01], [1.01, 1.0]]]), np.zeros((1, 2)), 1),
    "coupling out of a singular block": Quadratic(np.array([[[1.0, 0.1], [0.1, 0.0]]]), np.zeros((1, 2)), 1),
    "slope out of the range in v": singular(in_range=False),
    "slope out of the range in u": Quadratic(np.zeros((2, 2, 2)), np.array([[1.0, 0.0], [1.0, 0.0]]), 1),
    "linear": Quadratic(np.zeros((1, 2, 2)), np.array([[0.0, 1.0]]), 1),
}


@pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in UNBOUNDED.items()])
def test_an_unbounded_function_has_no_initial_gap(problem):
    """F_0 does not exist, and a ray of negative curvature, or of none and negative slope, goes down without end."""
    constant = problem.constants()["F_0"]
    assert constant.certificate is ABSENT
    assert constant.value == math.inf
    assert problem.infimum() == -math.inf
    curvature, gradient = hessian(problem)
    values, vectors = np.linalg.eigh(curvature)
    flat = vectors[:, values < 1e-9]
    ray = vectors[:, 0] if values[0] < -1e-9 else -flat @ (flat.T @ gradient)
    ray = ray if ray @ gradient <= 0 else -ray
    near, far = (value(problem, length * ray / np.linalg.norm(ray)) for length in (1e6, 1e9))
    assert far < 100 * near < 0


def test_linear_terms_that_cancel_leave_f_bounded():
    """Slopes +1 and -1 in u without curvature: f is constant, and the clients differ by b = 1."""
    constants = Quadratic(np.zeros((2, 1, 1)), np.array([[1.0], [-1.0]]), 1).constants()
    assert constants["F_0"].value == 0.0
    assert constants["b"].value == 1.0


@pytest.mark.parametrize(
    ("H", "g"),
    [(np.diag([1.0, 0.0]), [1e8, 1.0]), ([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]], [0, 1e8, 1.0])],
    ids=["shared", "personal"],
)
def test_a_small_slope_beside_a_large_one_still_makes_f_unbounded(H, g):
    """The function w_1^2/2 - 1e8*w_1 - w_2 falls along w_2, whatever the size of the other slope."""
    shared = 2 if len(g) == 2 else 1
    assert Quadratic([H], [g], shared).constants()["F_0"].certificate is ABSENT


@pytest.mark.parametrize("n", [1, 3])
def test_least_squares_with_fewer_rows_than_variables_is_bounded(n):
    """With 2 rows and 2 + 3 variables ||A_i w - c_i||^2/2 - ||c_i||^2/2 has the infimum -||c_i||^2/2."""
    for seed in range(20):
        rng = np.random.default_rng([seed, n])
        A, c = rng.standard_normal((n, 2, 5)), rng.standard_normal((n, 2))
        problem = Quadratic(np.einsum("ira,irb->iab", A, A), np.einsum("ira,ir->ia", A, c), 2)
        constant = problem.constants()["F_0"]
        assert constant.certificate is EXACT
        assert constant.value == pytest.approx((c**2).sum() / (2 * n), rel=1e-9)


# --- Gradients at the start, dissimilarity, noise ---


@problems
def test_gradients_at_the_start(problem):
    """B_0 = sum_i ||grad_u f_i||^2 at the given start and at zero, by finite differences of every client's f_i."""
    for x in (point(problem, 1), np.zeros(problem.d_u + problem.n * problem.d_v)):
        u, v = split(problem, x)
        total = 0.0
        for i in range(problem.n):
            alone = Quadratic(problem.H[i : i + 1], problem.g[i : i + 1], problem.d_u)
            total += np.sum(slope(alone, np.concatenate([u, v[i]]))[: problem.d_u] ** 2)
        constant = problem.constants(u, v)["B_0"] if x.any() else problem.constants()["B_0"]
        assert constant.value == pytest.approx(total, rel=1e-9, abs=1e-12)
        assert constant.certificate is EXACT


def dissimilarity(problem, x):
    """(1/n) sum_i ||grad_u f_i||^2 - ||grad_u f||^2, which Assumption 2.3 bounds by b^2."""
    g_u, _ = problem.gradients(*split(problem, x))
    return float((g_u**2).sum(axis=1).mean() - (g_u.mean(axis=0) ** 2).sum())


def coupled_alike():
    """The same H for every client, with coupling: the clients' v_i differ, and so do their gradients."""
    return Quadratic(np.tile([[2.0, 0.5], [0.5, 1.0]], (3, 1, 1)), np.zeros((3, 2)), 1)


def coupled_once():
    """Coupling in one client of four."""
    problem = common_curvature(4, 4, 2)
    H = problem.H.copy()
    H[2, 0, 3] = H[2, 3, 0] = 1e-3
    return Quadratic(H, problem.g, 2)


WITH_B = {
    "common curvature": common_curvature(4, 5, 3),
    "one client, coupled": gaussian(1, 4, 2),
    "fully personal": gaussian(3, 4, 0),
    "fully shared, common curvature": common_curvature(3, 4, 4),
    "no curvature": Quadratic(np.zeros((3, 2, 2)), np.arange(6.0).reshape(3, 2), 2),
    "synthetic": Quadratic.synthetic(5, 6, heterogeneity=2.5),
}
WITHOUT_B = {
    "different curvatures": gaussian(3, 4, 4),
    "coupled": gaussian(3, 5, 2),
    "coupled alike": coupled_alike(),
    "coupled once": coupled_once(),
    "synthetic with coupling": Quadratic.synthetic(5, 6, coupling=0.1),
    "synthetic with curvature": Quadratic.synthetic(5, 6, curvature=0.1),
}


@pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in WITH_B.items()])
def test_the_dissimilarity_bound_is_attained_everywhere(problem):
    """Common H_uu without coupling: the left side is b^2 at every point, near and far."""
    b = problem.constants()["b"]
    assert b.certificate is EXACT
    for seed in range(20):
        size = 10.0 ** (seed % 5 - 1)
        found = dissimilarity(problem, point(problem, seed, size))
        assert found == pytest.approx(b.value**2, rel=1e-9, abs=1e-12 * (1 + size**2))


@pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in WITHOUT_B.items()])
def test_no_dissimilarity_bound_exists_with_coupling_or_different_curvatures(problem):
    """The left side grows without end: a hundredfold for every tenfold distance."""
    b = problem.constants()["b"]
    assert b.certificate is ABSENT
    assert b.value == math.inf
    sizes = [dissimilarity(problem, point(problem, 1, size)) for size in (1e5, 1e6, 1e7)]
    assert sizes[2] > 50 * sizes[1] > 2500 * sizes[0] > 0


def test_noise_constants_are_the_totals_that_were_asked_for():
    """sigma_u and sigma_v are passed on as exact; zero by default."""
    problem = PROBLEMS["coupled"]
    given, silent = problem.constants(sigma_u=0.3, sigma_v=1.7), problem.constants()
    assert [(given[name].value, given[name].certificate) for name in ("sigma_u", "sigma_v")] == [
        (0.3, EXACT),
        (1.7, EXACT),
    ]
    assert [silent[name].value for name in ("sigma_u", "sigma_v")] == [0.0, 0.0]


@pytest.mark.every(3)
@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/fedavg-full", "pfl/parallel-sgd"])
@pytest.mark.parametrize("problem", [pytest.param(problem, id=name) for name, problem in BOUNDED.items()])
def test_what_smoothness_gives_at_the_start_is_never_exceeded(key, problem):
    """G_u + w*G_v <= trivial at random starts, whatever the weights: an attack on the trivial values."""
    metric = bounds.get(key).claims[0].metric
    for seed in range(20):
        x = point(problem, seed, 3.0)
        constants = problem.constants(*split(problem, x))
        g_u, g_v = problem.gradients(*split(problem, x))
        measured = {"G_u": (g_u.mean(axis=0) ** 2).sum(), "G_v": (g_v**2).sum() / problem.n}
        for m in {1, problem.n}:
            values = {"n": problem.n, "m": m, **{name: constants[name].value for name in ("L", "F_0")}}
            numbers = {symbol: values[symbol.name] for symbol in metric.trivial.free_symbols}
            weights = {
                symbol.name: float(w.subs({x: values[x.name] for x in w.free_symbols}))
                for symbol, w in metric.weights.items()
            }
            left = sum(weight * measured[name] for name, weight in weights.items())
            assert left <= float(metric.trivial.subs(numbers)) * (1 + 1e-9)


def test_what_smoothness_gives_is_attained():
    """One client, f = (u+v)^2/2: G_u + G_v = 4*L*F_0 at every point."""
    problem = Quadratic(np.ones((1, 2, 2)), np.zeros((1, 2)), 1)
    constants = problem.constants(np.array([1.0]), np.array([[2.0]]))
    g_u, g_v = problem.gradients(np.array([1.0]), np.array([[2.0]]))
    trivial = bounds.get("pfl/theorem-3.11").claims[0].metric.trivial
    at = {symbol: constants[symbol.name].value for symbol in trivial.free_symbols}
    assert float(trivial.subs(at)) == pytest.approx((g_u**2).sum() + (g_v**2).sum(), rel=1e-12)


# --- Synthetic instances ---

DIALS = pytest.mark.parametrize("seed", range(4))


@DIALS
@pytest.mark.parametrize("condition", [1.0, 3.0, 100.0])
def test_condition_is_that_of_every_diagonal_block(condition, seed):
    """Eigenvalues of every block run from exactly 1/condition to 1, so L = 1."""
    problem = Quadratic.synthetic(4, 7, 3, condition=condition, seed=seed)
    H_uu, _, H_vv = problem.blocks()
    for block in (*H_uu, *H_vv):
        values = np.linalg.eigvalsh(block)
        assert values[[0, -1]] == pytest.approx([1 / condition, 1.0], rel=1e-9)
    assert problem.constants()["L"].value == pytest.approx(1.0, rel=1e-12)


@DIALS
@pytest.mark.parametrize("coupling", [0.0, 0.3, 0.9, 1.0])
def test_coupling_is_relative_to_the_largest_that_is_convex(coupling, seed):
    """The smallest eigenvalue of [[I, C], [C', I]], C the coupling in the metric of the blocks, is 1 - coupling."""
    problem = Quadratic.synthetic(3, 6, 2, coupling=coupling, seed=seed)
    for H in problem.H:
        assert np.linalg.eigvalsh(H)[0] > -1e-12
        roots = [np.linalg.cholesky(block) for block in (H[:2, :2], H[2:, 2:])]
        C = np.linalg.solve(roots[0], np.linalg.solve(roots[1], H[:2, 2:].T).T)
        assert np.linalg.norm(C, 2) == pytest.approx(coupling, abs=1e-9)
    assert problem.constants()["L"].value == pytest.approx(1.0, rel=1e-12)


@DIALS
@pytest.mark.parametrize("heterogeneity", [0.0, 0.5, 20.0])
def test_heterogeneity_is_the_dissimilarity_at_zero(heterogeneity, seed):
    """At zero whatever coupling and curvature are, and b itself without these."""
    for options in ({}, {"coupling": 0.5, "curvature": 0.7}):
        problem = Quadratic.synthetic(5, 6, 4, heterogeneity=heterogeneity, seed=seed, **options)
        found = dissimilarity(problem, np.zeros(problem.d_u + problem.n * problem.d_v))
        assert found == pytest.approx(heterogeneity**2, rel=1e-9, abs=1e-12)
    assert Quadratic.synthetic(5, 6, 4, heterogeneity=heterogeneity).constants()["b"].value == pytest.approx(
        heterogeneity
    )


@DIALS
def test_curvature_blends_a_common_block_into_one_per_client(seed):
    """0: all H_uu equal. 1: each its own. Between: the blend of these two ends, of norm 1, and nothing else changes."""
    common, half, own = (Quadratic.synthetic(4, 6, 3, curvature=c, seed=seed) for c in (0.0, 0.5, 1.0))
    assert np.ptp(common.blocks()[0], axis=0).max() == 0.0
    assert np.ptp(own.blocks()[0], axis=0).max() > 0.1
    blend = (common.blocks()[0] + own.blocks()[0]) / 2
    unit = blend / np.linalg.norm(blend, 2, axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(half.blocks()[0], unit, atol=1e-12)
    np.testing.assert_array_equal(half.blocks()[2], common.blocks()[2])
    np.testing.assert_array_equal(half.g, common.g)


def test_defaults_sizes_and_seeds():
    """Half of the variables are shared; the same dials give the same numbers, another seed gives others."""
    problem = Quadratic.synthetic(seed=4)
    assert (problem.n, problem.d, problem.d_u, problem.d_v) == (10, 10, 5, 5)
    again, other = Quadratic.synthetic(seed=4), Quadratic.synthetic(seed=5)
    assert problem.H.tobytes() == again.H.tobytes()
    assert problem.g.tobytes() == again.g.tobytes()
    assert not np.allclose(problem.H, other.H)
    assert not np.allclose(problem.g, other.g)


@pytest.mark.parametrize("shared", [0, 4])
def test_one_block_alone(shared):
    """All variables personal, or all shared: the other block's constants are zero and L = 1."""
    constants = Quadratic.synthetic(3, 4, shared, coupling=0.5).constants()
    absent = ("L_u", "L_uv", "L_vu", "B_0", "b") if shared == 0 else ("L_v", "L_uv", "L_vu")
    assert [constants[name].value for name in absent] == [0.0] * len(absent)
    assert constants["L"].value == pytest.approx(1.0, rel=1e-12)


def test_smoothness_is_one_for_every_curvature():
    """The docstring promises L = 1, also without personal variables."""
    constants = Quadratic.synthetic(4, 6, 6, curvature=0.5).constants()
    assert constants["L"].value == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("dials", "parts"),
    [
        ({"n": 0}, ["n=0"]),
        ({"d": 0}, ["d=0"]),
        ({"shared": 11}, ["shared=11", "10"]),
        ({"n": 1.5}, ["n=1.5", "whole number"]),
        ({"shared": -1}, ["shared=-1"]),
        ({"coupling": -0.1}, ["coupling=-0.1"]),
        ({"coupling": 1.1}, ["coupling=1.1"]),
        ({"condition": 0.5}, ["condition=0.5"]),
        ({"condition": math.inf}, ["condition=inf"]),
        ({"heterogeneity": -1.0}, ["heterogeneity=-1"]),
        ({"heterogeneity": math.nan}, ["heterogeneity=nan"]),
        ({"curvature": 2.0}, ["curvature=2"]),
    ],
)
def test_a_dial_out_of_range_is_named_in_one_line(dials, parts):
    """The message has the dial and its value."""
    with pytest.raises(InputError) as caught:
        Quadratic.synthetic(**dials)
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)
