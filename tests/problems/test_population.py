"""Populations: every constant against the problem with all clients one by one."""

from __future__ import annotations

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.errors import InputError
from ratecheck.problems import Certificate, Population, Quadratic
from ratecheck.problems.build import fields, read


def types(G, d, shared, seed=0, *, common=False, coupling=1.0):
    """Convex types; with ``common`` and no coupling a dissimilarity bound exists."""
    rng = np.random.default_rng([seed, G, d, shared])
    root = rng.standard_normal((1 if common else G, d, d)) / np.sqrt(d)
    H = np.broadcast_to(root @ root.transpose(0, 2, 1) + 0.1 * np.eye(d), (G, d, d)).copy()
    H[:, :shared, shared:] *= coupling
    H[:, shared:, :shared] *= coupling
    return Quadratic(H, rng.standard_normal((G, d)), shared)


CASES = [
    Population(types(1, 2, 2), [4]),
    Population(types(2, 3, 2), [1, 5]),
    Population(types(3, 3, 0), [2, 1, 3]),
    Population(types(3, 4, 2, common=True, coupling=0.0), [2, 7, 3]),
    Population(types(2, 3, 3, common=True), [5, 6]),
    # Flat directions: minimisers of least norm, and no minimum at all.
    Population(Quadratic([np.diag([1.0, 0.0]), np.diag([2.0, 0.0])], [[1.0, 0.0], [3.0, 0.0]], 1), [3, 2]),
    Population(Quadratic([[[1, 1], [1, 1.0]]] * 2, [[1.0, 1.0], [2.0, 2.0]], 1), [3, 2]),
    Population(Quadratic([np.diag([1.0, 0.0])] * 2, [[1.0, 1.0], [3.0, 0.0]], 1), [3, 2]),
]


def by_client(problem, v):
    """Rows of types as rows of clients."""
    return np.repeat(v, problem.counts, axis=0)


@pytest.mark.parametrize("problem", CASES, ids=lambda p: f"{p.counts.tolist()}-{p.d_u}-{p.d_v}")
def test_constants_are_those_of_all_clients(problem):
    """At zero and at another start."""
    rng = np.random.default_rng(1)
    u, v = rng.standard_normal(problem.d_u), rng.standard_normal((problem.distinct, problem.d_v))
    full = problem.full()
    assert full.n == problem.n == problem.counts.sum()
    for here, there in ((None, None), ((u, v), (u, by_client(problem, v)))):
        found, wanted = (
            each.constants(*(start or ()), sigma_u=0.3, sigma_v=0.2) for each, start in ((problem, here), (full, there))
        )
        assert [*found] == [*wanted]
        for name, constant in wanted.items():
            assert found[name].certificate is constant.certificate, name
            assert found[name].reason == constant.reason
            if constant.certificate is not Certificate.ABSENT:
                assert found[name].value == pytest.approx(constant.value, rel=1e-12, abs=1e-14)
    assert problem.least_curvature == full.least_curvature
    assert problem.value(u, v) == pytest.approx(full.value(u, by_client(problem, v)), rel=1e-13)


@pytest.mark.parametrize("problem", CASES, ids=lambda p: f"{p.counts.tolist()}-{p.d_u}-{p.d_v}")
def test_the_minimum_is_that_of_all_clients(problem):
    """The infimum, and the minimiser of least norm."""
    full = problem.full()
    assert problem.infimum() == pytest.approx(full.infimum(), rel=1e-12)
    found, wanted = problem.minimizer(), full.minimizer()
    if wanted is None:
        assert found is None
        return
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-11)
    np.testing.assert_allclose(by_client(problem, found[1]), wanted[1], atol=1e-11)
    matrix, slope = problem.joint()
    np.testing.assert_allclose(matrix @ problem.joint_point(*found), slope, atol=1e-10 * problem.n)
    for part, mean in zip(problem.mean(), full.mean(), strict=True):
        np.testing.assert_allclose(part, mean, rtol=1e-13, atol=1e-15)


def test_constants_of_a_hundred_million_clients_by_hand():
    """The constants b, F_0 and B_0 of two types on a line: f = u^2/2 - mean(g) u."""
    problem = Population(Quadratic([[[1.0]], [[1.0]]], [[1.0], [-1.0]], 1), [60_000_000, 40_000_000])
    constants = problem.constants()
    mean = 0.2
    assert constants["b"].value == pytest.approx(np.sqrt(1 - mean**2), rel=1e-14)
    assert constants["F_0"].value == pytest.approx(mean**2 / 2, rel=1e-13)
    assert constants["B_0"].value == pytest.approx(10**8, rel=1e-14)
    assert problem.shares.shape == (10**8,)


def test_several_quadratics_are_listed_one_after_the_other():
    """Each of one client, or of several types."""
    whole = types(3, 2, 1)
    parts = [Quadratic(whole.H[:1], whole.g[:1], 1), Quadratic(whole.H[1:], whole.g[1:], 1)]
    found = Population(parts, [1, 2, 3])
    np.testing.assert_array_equal(found.types.H, whole.H)
    np.testing.assert_array_equal(found.full().g, np.repeat(whole.g, [1, 2, 3], axis=0))


def test_instances_are_written_and_read():
    """As JSON data."""
    problem = Population(types(2, 2, 1), [3, 400])
    again = read(fields(problem))
    assert isinstance(again, Population)
    np.testing.assert_array_equal(again.counts, problem.counts)
    np.testing.assert_array_equal(again.types.H, problem.types.H)
    assert again.counts.dtype == problem.counts.dtype


@pytest.mark.parametrize(
    ("given", "counts", "message"),
    [
        (2, [1, 2, 3], "counts has 3 entries: give one number of clients per type, 2 in all"),
        (2, 5, "counts has the shape"),
        (2, [[1, 2]], "counts has the shape"),
        (2, [1, 0], r'counts\[1\]=0 breaks "1 <= counts\[1\]'),
        (2, [-3, 1], r"counts\[0\]=-3 breaks"),
        (2, [1, 2.5], r"counts\[1\]=2.5: needed a whole number"),
        (2, [1, np.nan], r"counts\[1\]"),
        (2, ["a", "b"], "counts: needed an array of numbers"),
        (2, [10**8, 1], '100000001 clients break "n <= 100000000"'),
        ([], [1], "needed a Quadratic whose clients are the types"),
        ("types", [1], "needed a Quadratic whose clients are the types"),
        (
            [types(1, 2, 1), types(1, 3, 1)],
            [1, 1],
            r"types\[1\] has 1 shared and 2 personal variables, types\[0\] has 1",
        ),
        ([types(1, 2, 1), types(1, 2, 2)], [1, 1], r"types\[1\] has 2 shared and 0 personal variables"),
    ],
)
def test_bad_input_is_one_line(given, counts, message):
    """What is wrong, and what would do."""
    with pytest.raises(InputError, match=message) as caught:
        Population(types(given, 2, 1) if isinstance(given, int) else given, counts)
    assert "\n" not in str(caught.value)


def test_too_many_clients_are_not_written_out():
    """Nor simulated."""
    problem = Population(types(2, 2, 2), [3000, 3000])
    with pytest.raises(InputError, match="at most 5000"):
        problem.full()
    with pytest.raises(InputError, match="engine=exact alone"):
        problem.oracle("gradient", np.zeros(2), 1.0)
    with pytest.raises(InputError, match="v0 has the shape"):
        rc.exact(
            "fedavg-p", Population(types(2, 2, 1), [3, 3]), rc.participation.Trace.uniform(6, 2), K=1, T=2,
            v0=np.zeros((6, 1)), gamma_u=0.1, gamma_v=0.1, eta_u=1.0, eta_v=1.0,
        )  # fmt: skip
