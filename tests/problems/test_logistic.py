"""Logistic regression: values and gradients against independent oracles, every certified constant under attack.

An attack searches for a point at which a constant would have to be larger. Each asserts both sides: the attack never
exceeds the constant, and comes close enough to it that a constant too small by that margin would be found out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from extras import needs_data
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, minimize

from ratecheck.errors import InputError
from ratecheck.problems.constants import Certificate
from ratecheck.problems.datasets import breast_cancer, digits, synthetic
from ratecheck.problems.logistic import Logistic

pytestmark = pytest.mark.filterwarnings("error")

Array = NDArray[np.float64]


def gaussian(n: int, N: int, d: int, seed: int = 0, **options: Any) -> Logistic:
    """Gaussian rows with labels of a fair coin."""
    generator = np.random.default_rng([seed, n, N, d])
    return Logistic(generator.standard_normal((n, N, d)), np.sign(generator.standard_normal((n, N))), **options)


PROBLEMS: dict[str, Callable[[], Logistic]] = {
    "coupled": lambda: gaussian(3, 7, 4, shared=2, rho=0.3),
    "fully shared": lambda: gaussian(3, 7, 3, shared=3, rho=0.1),
    "fully personal": lambda: gaussian(3, 7, 3, shared=0, rho=0.1),
    "no regulariser": lambda: gaussian(2, 9, 3, shared=1, rho=0.0),
    "regulariser only": lambda: Logistic(np.zeros((2, 3, 4)), np.ones((2, 3)), shared=2, rho=1.0),
    "one client": lambda: gaussian(1, 6, 4, shared=2, rho=0.05),
    "one sample": lambda: gaussian(4, 1, 3, shared=2, rho=0.05),
    "more features than samples": lambda: gaussian(2, 3, 8, shared=4, rho=0.05),
}
problems = pytest.mark.parametrize("problem", [pytest.param(make(), id=name) for name, make in PROBLEMS.items()])


def unpack(problem: Logistic, x: Array) -> tuple[Array, Array]:
    """The flat vector (u, v_1, ..., v_n) as the two arguments of a problem."""
    return x[: problem.d_u], x[problem.d_u :].reshape(problem.n, problem.d_v)


def point(problem: Logistic, seed: int, size: float = 1.0) -> Array:
    """A random flat point."""
    return size * np.random.default_rng(seed).standard_normal(problem.d_u + problem.n * problem.d_v)


def client(problem: Logistic, i: int) -> Logistic:
    """The problem of one client alone."""
    return Logistic(problem.A[i : i + 1], np.ones((1, problem.N)), shared=problem.d_u, rho=problem.rho)


def value_by_hand(problem: Logistic, features: Array, labels: Array, u: Array, v: Array) -> float:
    """The formula of the paper, term by term, in plain Python."""
    total = 0.0
    for i in range(problem.n):
        for row, label in zip(features[i], labels[i], strict=True):
            margin = label * sum(w * x for w, x in zip([*u, *v[i]], row, strict=True))
            total += math.log(1.0 + math.exp(-margin)) / (problem.n * problem.N)
        for block in (u, v[i]):
            square = sum(x * x for x in block)
            total += problem.rho * square / (1.0 + square) / problem.n
    return total


def attack(objective: Callable[[Array], float], starts: list[Array]) -> float:
    """The largest value that local searches from the starts find."""
    return max(max(objective(x), -float(minimize(lambda y: -objective(y), x).fun)) for x in starts)


def lowest(problem: Logistic, starts: list[Array]) -> float:
    """The smallest value of f that local searches find."""

    def both(x: Array) -> tuple[float, Array]:
        grad_u, grad_v = problem.gradients(*unpack(problem, x))
        return problem.value(*unpack(problem, x)), np.concatenate([grad_u.mean(axis=0), grad_v.ravel() / problem.n])

    runs = [minimize(both, x, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "gtol": 1e-9}) for x in starts]
    return min(float(run.fun) for run in runs)


def hessian(problem: Logistic, x: Array, step: float = 1e-5) -> Array:
    """Hessian of the first client's f_i by central differences of its gradient."""

    def gradient(y: Array) -> Array:
        return np.concatenate([g[0] for g in client(problem, 0).gradients(y[: problem.d_u], y[None, problem.d_u :])])

    columns = [(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in np.eye(problem.d)]
    return np.array(columns).T


def norm(matrix: Array) -> float:
    """Spectral norm; 0 for a matrix without entries."""
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0


def blocks(problem: Logistic, x: Array) -> dict[str, float]:
    """What each smoothness constant bounds, at one point, for the first client."""
    full, d_u = hessian(problem, x), problem.d_u
    parts = {"L_u": full[:d_u, :d_u], "L_v": full[d_u:, d_u:], "L_uv": full[:d_u, d_u:], "L_vu": full[d_u:, :d_u]}
    return {name: norm(part) for name, part in parts.items()}


def spread(problem: Logistic, x: Array) -> float:
    """``(1/n) sum_i |grad_u f_i|^2 - |grad_u f|^2`` at one point."""
    grad_u = problem.gradients(*unpack(problem, x))[0]
    return float(np.square(grad_u).sum(axis=1).mean() - np.square(grad_u.mean(axis=0)).sum())


def sample_gradients(problem: Logistic, x: Array) -> Array:
    """The gradient of every sample of the first client alone, shape (N, d)."""
    singles = (Logistic(row[None, None], [[1.0]], shared=problem.d_u, rho=problem.rho) for row in problem.A[0])
    return np.array(
        [np.concatenate([g[0] for g in s.gradients(x[: problem.d_u], x[None, problem.d_u :])]) for s in singles]
    )


@problems
def test_value_is_the_formula_of_the_paper(problem: Logistic) -> None:
    """Against the sum written out in plain Python, with features and labels apart."""
    labels = np.where(np.arange(problem.n * problem.N).reshape(problem.n, problem.N) % 3 == 0, -1.0, 1.0)
    features = problem.A * 2.0
    own = Logistic(features, labels, shared=problem.d_u, rho=problem.rho)
    u, v = unpack(problem, point(problem, 1))
    assert own.value(u, v) == pytest.approx(value_by_hand(own, features, labels, u, v), rel=1e-13)


@problems
@pytest.mark.parametrize("size", [0.3, 3.0])
def test_gradients_of_every_client_against_finite_differences(problem: Logistic, size: float) -> None:
    """Each client's gradient is the derivative of its own value."""
    u, v = unpack(problem, point(problem, 2, size))
    grad_u, grad_v = problem.gradients(u, v)
    assert (grad_u.shape, grad_v.shape) == ((problem.n, problem.d_u), (problem.n, problem.d_v))
    for i in range(problem.n):
        alone, x = client(problem, i), np.concatenate([u, v[i]])
        expected = approx_fprime(x, lambda y, alone=alone: alone.value(*unpack(alone, y)), 1e-7)
        np.testing.assert_allclose(np.concatenate([grad_u[i], grad_v[i]]), expected, atol=3e-6)


@problems
def test_value_is_the_mean_over_the_clients(problem: Logistic) -> None:
    """The value is the mean of those of the clients alone."""
    u, v = unpack(problem, point(problem, 3))
    singles = [client(problem, i).value(u, v[i : i + 1]) for i in range(problem.n)]
    assert problem.value(u, v) == pytest.approx(np.mean(singles), rel=1e-13)


@pytest.mark.parametrize("size", [1e3, 1e30, 1e90, 1e170])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_far_out_nothing_overflows(size: float, sign: float) -> None:
    """Finite values without a warning, the loss linear in the distance and the regulariser saturated."""
    problem = Logistic(np.ones((2, 3, 4)), np.ones((2, 3)), shared=2, rho=0.5)
    u, v = np.full(2, sign * size), np.full((2, 2), sign * size)
    expected = 1.0 if sign > 0 else 1.0 + 4.0 * size
    assert problem.value(u, v) == pytest.approx(expected, rel=1e-5)
    grad_u, grad_v = problem.gradients(u, v)
    np.testing.assert_allclose(np.concatenate([grad_u, grad_v]), 0.0 if sign > 0 else -1.0, atol=1e-8)


@problems
def test_no_hessian_exceeds_the_smoothness_constants(problem: Logistic) -> None:
    """Random points at all distances, for every block; L is the largest of the four."""
    constants = client(problem, 0).constants()
    bounds = {name: constants[name].value for name in ("L_u", "L_v", "L_uv", "L_vu")}
    for seed, size in enumerate([0.0, 1e-3, 0.1, 0.5, 1.0, 1.0, 2.0, 5.0]):
        met = blocks(problem, size * np.random.default_rng(seed).standard_normal(problem.d))
        assert {name for name in met if met[name] > bounds[name] * (1 + 1e-7) + 1e-9} == set()
    assert constants["L"].value == max(bounds.values())


@problems
def test_exact_smoothness_constants_are_attained_at_the_origin(problem: Logistic) -> None:
    """Whatever is called exact equals the finite-difference Hessian at the origin; L_u, L_v and L always are."""
    constants = client(problem, 0).constants()
    met = blocks(problem, np.zeros(problem.d))
    met["L"] = max(met.values())
    exact = {name for name in met if constants[name].certificate is Certificate.EXACT}
    assert exact >= {"L", "L_u", "L_v"}
    for name in exact:
        assert constants[name].value == pytest.approx(met[name], rel=1e-6, abs=1e-9)


def test_smoothness_is_that_of_the_worst_client() -> None:
    """Constants of several clients are the maximum over the constants of each."""
    problem = gaussian(4, 5, 4, shared=2)
    for name in ("L_u", "L_v", "L_uv", "L_vu", "L"):
        each = [client(problem, i).constants()[name].value for i in range(problem.n)]
        assert problem.constants()[name].value == pytest.approx(max(each), rel=1e-12)
        assert min(each) < max(each)


def test_coupling_at_points_that_silence_some_samples() -> None:
    """With independent rows every sample can be silenced or not: the worst choice gets within 40% of L_uv, or to it."""
    for seed in range(6):
        problem = gaussian(1, 4, 4, seed, shared=2, rho=0.2)
        bound = problem.constants()["L_uv"]
        choices = itertools.product([0.0, 30.0], repeat=4)
        best = max(blocks(problem, np.linalg.solve(problem.A[0], margins))["L_uv"] for margins in choices)
        assert bound.value / 1.4 <= best <= bound.value * (1 + 1e-6)


def test_coupling_is_exact_where_the_features_are_nonnegative() -> None:
    """Pixels: the cross Hessian is largest at the origin, whatever the labels, and the certificate says exact."""
    generator = np.random.default_rng(5)
    problem = Logistic(generator.random((1, 9, 5)), np.sign(generator.standard_normal((1, 9))), shared=2)
    bound = problem.constants()["L_uv"]
    assert bound.certificate is Certificate.EXACT
    assert bound.value == pytest.approx(blocks(problem, np.zeros(5))["L_uv"], rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 3.0, -3.0])
def test_dissimilarity_survives_a_search_that_comes_close(offset: float) -> None:
    """Searches over (u, v) get within a factor of two of b (with an offset within 15%), and not beyond it."""
    generator = np.random.default_rng([7, int(abs(offset))])
    features = generator.standard_normal((4, 3, 5)) + offset
    problem = Logistic(features, np.ones((4, 3)), shared=2, rho=0.4)
    b = problem.constants()["b"]
    # Clients at opposite ends of their slopes are far apart: the search starts from every such pattern.
    ends = [
        np.concatenate([np.zeros(2), np.repeat(signs, 3) * 3.0]) for signs in itertools.product([-1.0, 1.0], repeat=4)
    ]
    best = math.sqrt(attack(lambda x: spread(problem, x), [*ends, *(point(problem, k, 2.0) for k in range(6))]))
    assert b.certificate is Certificate.UPPER_BOUND
    assert b.value / (2.0 if offset == 0.0 else 1.15) <= best <= b.value * (1 + 1e-9)


@problems
def test_dissimilarity_holds_at_random_points(problem: Logistic) -> None:
    """At no random point is the spread of the clients' gradients larger than b; a single client has none."""
    b = problem.constants()["b"].value
    worst = max(spread(problem, point(problem, k, 10.0 ** (k % 5 - 1))) for k in range(60))
    assert worst <= b**2 * (1 + 1e-9) + 1e-15
    assert (b == 0.0) == (problem.n == 1 or problem.d_u == 0 or not problem.A.any())


def test_dissimilarity_does_not_grow_with_the_common_regulariser() -> None:
    """The regulariser's gradient in u is the same for every client: b does not depend on rho."""
    assert (
        gaussian(3, 5, 4, shared=2, rho=0.0).constants()["b"] == gaussian(3, 5, 4, shared=2, rho=9.0).constants()["b"]
    )


def lengths(problem: Logistic, x: Array) -> Array:
    """``G_u`` and ``G_v`` at a flat point."""
    of_u, of_v = problem.gradients(*unpack(problem, x))
    return np.array([np.square(of_u.mean(axis=0)).sum(), np.square(of_v).sum(axis=1).mean()])


@problems
def test_no_gradient_is_longer_than_the_longest(problem: Logistic) -> None:
    """Near, far and where a search ends, for either block."""
    longest = np.array([problem.largest_gradients[name] for name in ("G_u", "G_v")])
    points = [point(problem, seed, size) for seed in range(40) for size in (0.1, 1.0, 10.0, 1e3)]
    for which in range(2):
        start = max(points, key=lambda x, which=which: float(lengths(problem, x)[which]))
        points.append(minimize(lambda x, which=which: -lengths(problem, x)[which], start, method="Powell").x)
    assert (np.array([lengths(problem, x) for x in points]) <= longest).all()


def test_longest_gradients_are_nearly_attained() -> None:
    """One sample per client whose slope is driven to 1, and a regulariser alone at the distance 1/sqrt(3)."""
    one = gaussian(1, 1, 4, shared=2, rho=0.0)
    found = lengths(one, -1e3 * one.A[0, 0])
    assert found == pytest.approx([one.largest_gradients[name] for name in ("G_u", "G_v")], rel=1e-9)
    alone = PROBLEMS["regulariser only"]()
    x = np.tile([1 / math.sqrt(3), 0.0], 1 + alone.n)
    assert lengths(alone, x) == pytest.approx([alone.largest_gradients[name] for name in ("G_u", "G_v")], rel=1e-9)


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_batch_variance_against_every_possible_batch(batch: int) -> None:
    """The variance over all N^B equally likely batches, at random points and where a search finds it largest."""
    problem = gaussian(1, 4, 4, shared=2, rho=0.2, batch=batch)
    draws = np.array(list(itertools.product(range(4), repeat=batch)))

    def variance(x: Array, part: slice) -> float:
        gradients = sample_gradients(problem, x)[:, part]
        batches = gradients[draws].mean(axis=1)
        return float(np.square(batches - gradients.mean(axis=0)).sum(axis=1).mean())

    constants = problem.constants()
    for name, part in (("sigma_u", slice(0, 2)), ("sigma_v", slice(2, 4))):
        best = attack(lambda x, part=part: variance(x, part), [point(problem, k, 3.0) for k in range(5)])
        assert constants[name].certificate is Certificate.UPPER_BOUND
        assert constants[name].value / 1.35 <= math.sqrt(best) <= constants[name].value * (1 + 1e-9)


def test_batch_variance_is_that_of_the_worst_client() -> None:
    """With samples that agree in all clients but one, the bound is the one of that client; a lone sample has none."""
    rows = np.ones((3, 4, 2))
    rows[1] = np.random.default_rng(0).standard_normal((4, 2)) * 5
    problem = Logistic(rows, np.ones((3, 4)), shared=1, batch=1)
    worst = Logistic(rows[1:2], np.ones((1, 4)), shared=1, batch=1)
    assert problem.constants()["sigma_u"].value == pytest.approx(worst.constants()["sigma_u"].value, rel=1e-12)
    assert Logistic(rows[1:2, :1], [[1.0]], shared=1, batch=1).constants()["sigma_u"].value == 0.0


def test_noise_is_exact_without_batches_and_adds_up_in_square_with_them() -> None:
    """Additive noise alone is what was asked for; with batches the variances add."""
    full, batched = gaussian(2, 5, 4, shared=2), gaussian(2, 5, 4, shared=2, batch=3)
    alone = full.constants(sigma_u=0.3, sigma_v=0.7)
    sampled, together = batched.constants(), batched.constants(sigma_u=0.3, sigma_v=0.7)
    for name, added in (("sigma_u", 0.3), ("sigma_v", 0.7)):
        assert (alone[name].value, alone[name].certificate) == (added, Certificate.EXACT)
        assert together[name].value ** 2 == pytest.approx(added**2 + sampled[name].value ** 2, rel=1e-12)
        assert sampled[name].value > 0.1


def starts(problem: Logistic) -> list[Array]:
    """Random starts of growing size, only the first where there are hundreds of variables."""
    return [point(problem, k, 10.0 ** (k - 2)) for k in range(1 if problem.A.size > 10_000 else 4)]


@pytest.mark.parametrize(
    ("problem", "slack"),
    [
        pytest.param(lambda: Logistic.synthetic(4, 60, 6, rho=0.0), 1 + 1e-6, id="noisy labels, convex"),
        pytest.param(lambda: Logistic.synthetic(4, 60, 6, shared=6, rho=1e-3), 1.02, id="noisy labels, shared"),
        pytest.param(lambda: Logistic.synthetic(4, 60, 6, shared=0, rho=0.01), 1.1, id="noisy labels, personal"),
        pytest.param(lambda: Logistic.synthetic(4, 60, 6, rho=0.05), 1.5, id="noisy labels, strong regulariser"),
        pytest.param(
            lambda: Logistic.synthetic(4, 60, 6, shared=6, heterogeneity=3.0, rho=0.05), 1.5, id="pulled apart"
        ),
        pytest.param(lambda: Logistic.from_table(synthetic(40, 9), 4, rho=0.0), 1.1, id="nearly separable"),
        pytest.param(
            lambda: Logistic.from_table(digits(), rho=0.05), 1.05, id="digits, one class per client", marks=needs_data
        ),
        pytest.param(
            lambda: Logistic.from_table(digits(), shared=64, rho=0.01), 1.05, id="digits, shared", marks=needs_data
        ),
        pytest.param(
            lambda: Logistic.from_table(digits(), how="iid", rho=0.01), 1.05, id="digits, all classes", marks=needs_data
        ),
        pytest.param(
            lambda: Logistic.from_table(breast_cancer(), rho=0.01), 1.05, id="breast cancer", marks=needs_data
        ),
        pytest.param(lambda: gaussian(3, 5, 4, shared=2, rho=5.0), 4.0, id="minimum near the origin"),
    ],
)
def test_gap_against_a_numerical_minimum(problem: Callable[[], Logistic], slack: float) -> None:
    """No search finds f lower than F_0 allows, and one comes within the given factor."""
    instance = problem()
    gap = instance.constants()["F_0"]
    found = instance.value(*unpack(instance, point(instance, 0, 0.0))) - lowest(instance, starts(instance))
    assert gap.certificate is Certificate.UPPER_BOUND
    assert found - 1e-9 <= gap.value <= slack * found


@given(
    data=st.data(),
    n=st.integers(1, 2),
    samples=st.integers(1, 6),
    d=st.integers(1, 3),
    rho=st.sampled_from([0.0, 0.01, 0.3, 3.0]),
)
@settings(max_examples=60, deadline=None)
def test_gap_holds_for_degenerate_data(data: st.DataObject, n: int, samples: int, d: int, rho: float) -> None:
    """Zero, repeated, dependent and separable columns and rows: F_0 is never below what a search finds."""
    count = n * samples * d
    entries = data.draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count))
    rows = np.array(entries, dtype=np.float64).reshape(n, samples, d)
    problem = Logistic(rows, np.ones((n, samples)), shared=data.draw(st.integers(0, d)), rho=rho)
    found = problem.value(*unpack(problem, point(problem, 0, 0.0))) - lowest(problem, starts(problem))
    assert problem.constants()["F_0"].value >= found - 1e-9


def test_gap_of_one_dimensional_data_is_known_in_closed_form() -> None:
    """Three rows +1 and one row -1: the infimum of the loss is the entropy of a quarter; separable data: 0."""
    entropy = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    mixed = Logistic([[[1.0], [1.0], [1.0], [1.0]]], [[1, 1, 1, -1]], shared=1, rho=0.0)
    assert mixed.constants()["F_0"].value == pytest.approx(math.log(2) - entropy, rel=1e-9)
    separable = Logistic([[[1.0], [2.0]]], [[1, 1]], shared=1, rho=0.0)
    assert separable.constants()["F_0"].value == pytest.approx(math.log(2), rel=1e-12)


def test_constants_at_a_start_of_ones() -> None:
    """F_0 moves by the difference of the values, B_0 is the sum of the squared gradients there."""
    problem = gaussian(3, 5, 4, shared=2)
    u, v = np.ones(2), np.ones((3, 2))
    at_zero, at_one = problem.constants(), problem.constants(u, v)
    moved = problem.value(u, v) - problem.value(0 * u, 0 * v)
    assert at_one["F_0"].value - at_zero["F_0"].value == pytest.approx(moved, rel=1e-9)
    expected = sum(float(g @ g) for g in problem.gradients(u, v)[0])
    assert (at_one["B_0"].value, at_one["B_0"].certificate) == (pytest.approx(expected, rel=1e-12), Certificate.EXACT)


@pytest.mark.parametrize("factor", [1e-170, 1e-6, 1e6, 1e50])
def test_constants_scale_with_the_features(factor: float) -> None:
    """Without regulariser: L as the square, b and sigma in proportion, F_0 not at all; nothing over- or underflows."""
    options: dict[str, Any] = {"shared": 2, "rho": 0.0, "batch": 2}
    rows, labels = gaussian(3, 30, 4, shared=2).A, np.ones((3, 30))
    plain, scaled = (Logistic(t * rows, labels, **options).constants() for t in (1.0, factor))
    degrees = {"L": 2, "L_u": 2, "L_v": 2, "L_uv": 2, "L_vu": 2, "B_0": 2, "b": 1, "sigma_u": 1, "sigma_v": 1, "F_0": 0}
    for name, degree in degrees.items():
        assert scaled[name].value == pytest.approx(plain[name].value * factor**degree, rel=1e-7)
        assert plain[name].value > 0.0


@pytest.mark.parametrize(("shared", "absent"), [(0, ("L_u", "sigma_u", "b", "B_0")), (4, ("L_v", "sigma_v"))])
def test_constants_of_an_absent_block_are_exactly_zero(shared: int, absent: tuple[str, ...]) -> None:
    """Fully personal and fully shared: 0 and exact, with noise and batches asked for, and nothing else is 0."""
    constants = gaussian(3, 5, 4, shared=shared, batch=2).constants(sigma_u=0.5, sigma_v=0.5)
    zero = {*absent, "L_uv", "L_vu"}
    assert {name for name, c in constants.items() if c.value == 0.0} == zero
    assert {constants[name].certificate for name in zero} == {Certificate.EXACT}


def test_every_constant_is_there_with_a_reason() -> None:
    """The names that statements ask for, each with a reason of one phrase."""
    constants = Logistic.from_table(digits(), batch=8).constants()
    assert list(constants) == ["L_u", "L_v", "L_uv", "L_vu", "L", "F_0", "B_0", "b", "sigma_u", "sigma_v"]
    assert all(c.name == name and c.reason and "\n" not in c.reason for name, c in constants.items())


def test_digits_by_label_attains_its_dissimilarity_nearly() -> None:
    """One digit per client and personal parts that saturate every slope: b is within half a percent of what is met."""
    problem = Logistic.from_table(digits())
    b = problem.constants()["b"].value
    v = -1e3 * problem.A[:, :, problem.d_u :].mean(axis=1)
    met = math.sqrt(spread(problem, np.concatenate([np.zeros(problem.d_u), v.ravel()])))
    assert b / 1.005 <= met <= b


def test_from_table_defaults_to_the_setting_of_the_paper() -> None:
    """Ten clients, half of the features shared, about one digit per client; rows are features times label."""
    table = digits()
    problem = Logistic.from_table(table)
    assert (problem.n, problem.N, problem.d, problem.d_u, problem.d_v, problem.batch) == (10, 179, 64, 32, 32, None)
    assert problem.A.shape == (10, 179, 64)
    assert problem.A.flags.c_contiguous
    known = {row.tobytes() for row in (table.features * table.labels[:, None] + 0.0)}
    assert all(row.tobytes() in known for row in (problem.A + 0.0).reshape(-1, 64))
    positive = [(rows.max(axis=1) > 0.0).mean() for rows in problem.A]  # pixels are >= 0, so this is the share of +1
    assert positive == pytest.approx([0, 1, 0, 1, 0, 1, 0, 1, 0, 1], abs=0.1)


def test_synthetic_heterogeneity_shows_in_the_gradients() -> None:
    """The spread of the clients' gradients at the start grows with the dial; the seed decides the data."""
    met = [spread(p, point(p, 0, 0.0)) for p in (Logistic.synthetic(heterogeneity=h, N=400) for h in (0.0, 1.0, 5.0))]
    assert 3 * met[0] < met[1] < met[2]
    np.testing.assert_array_equal(Logistic.synthetic(seed=3).A, Logistic.synthetic(seed=3).A)
    assert not np.array_equal(Logistic.synthetic(seed=3).A, Logistic.synthetic(seed=4).A)


GOOD: dict[str, Any] = {"features": np.ones((2, 3, 4)), "labels": np.ones((2, 3)), "shared": 2}


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        ({"features": np.full((2, 3, 4), np.nan)}, ["features[0, 0, 0]", "nan"]),
        ({"features": np.full((2, 3, 4), np.inf)}, ["features[0, 0, 0]", "inf"]),
        ({"features": np.full((2, 3, 4), 1e100)}, ["features[0, 0, 0]", "1e+100", "at most 1e+60"]),
        ({"features": np.ones((3, 4))}, ["features", "(3, 4)", "(n, N, d)"]),
        ({"features": np.ones((2, 0, 4))}, ["features", "(2, 0, 4)"]),
        ({"features": "text"}, ["features", "array of numbers"]),
        ({"labels": np.zeros((2, 3))}, ["labels[0, 0] is 0", "-1 or +1"]),
        ({"labels": np.full((2, 3), np.nan)}, ["labels[0, 0]", "nan"]),
        ({"labels": np.ones(6)}, ["labels", "(6,)", "(2, 3)"]),
        ({"shared": 5}, ["shared=5", "shared <= 4"]),
        ({"shared": -1}, ["shared=-1", "does: 0"]),
        ({"shared": 1.5}, ["shared=1.5", "whole number"]),
        ({"rho": -0.1}, ["rho=-0.1", "rho >= 0"]),
        ({"rho": math.nan}, ["rho=nan"]),
        ({"rho": math.inf}, ["rho=inf"]),
        ({"rho": 1e80}, ["rho=1e+80"]),
        ({"rho": "x"}, ["rho='x'", "number"]),
        ({"batch": 0}, ["batch=0", "does: 1"]),
        ({"batch": 4}, ["batch=4", "batch <= 3", "does: 3"]),
    ],
)
def test_bad_input_is_refused_in_one_line(change: dict[str, Any], fragments: list[str]) -> None:
    """The message names the argument, the value and what would do."""
    with pytest.raises(InputError) as caught:
        Logistic(**(GOOD | change))
    assert "\n" not in str(caught.value)
    assert [f for f in fragments if f not in str(caught.value)] == [], str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ({"u0": np.ones(3)}, ["u0", "(3,)", "(2,)"]),
        ({"v0": np.ones((2, 1))}, ["v0", "(2, 1)", "(2, 2)"]),
        ({"u0": np.array([0.0, np.nan])}, ["u0[1]", "nan"]),
        ({"sigma_u": -1.0}, ["sigma_u=-1"]),
        ({"sigma_v": math.inf}, ["sigma_v=inf"]),
    ],
)
def test_constants_refuse_a_bad_start_or_noise(arguments: dict[str, Any], fragments: list[str]) -> None:
    """Shapes, finiteness and signs of what a run starts from."""
    with pytest.raises(InputError) as caught:
        Logistic(**GOOD).constants(**arguments)
    assert "\n" not in str(caught.value)
    assert [f for f in fragments if f not in str(caught.value)] == [], str(caught.value)


def test_a_point_of_the_wrong_shape_is_refused() -> None:
    """Neither value nor gradients broadcast silently."""
    problem = Logistic(**GOOD)
    for call in (problem.value, problem.gradients):
        with pytest.raises(InputError, match=r"\(2,\), \(2,\); needed \(2,\), \(2, 2\)"):
            call(np.zeros(2), np.zeros(2))
