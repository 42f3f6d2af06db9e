"""Balls, boxes and simplices: projections by the inequality that defines them, linear minimisers by many points."""

import numpy as np
import pytest

from ratecheck.algorithms.model.sets import EuclideanBall, IntervalBox, Simplex

RNG = np.random.default_rng(0)


def in_ball(count):
    """Points of the ball of radius 2 around (0.5, ...)."""
    away = RNG.standard_normal((count, 4))
    return 0.5 + 2.0 * away / np.maximum(1.0, np.linalg.norm(away, axis=1, keepdims=True))


SETS = {
    "ball": (EuclideanBall(2.0, 0.5), in_ball, lambda p: np.linalg.norm(p - 0.5, axis=1).max() <= 2 + 1e-12),
    "box": (IntervalBox(-1.0, [0.5, 1.0, 2.0, 3.0]), lambda k: RNG.uniform(-1, [0.5, 1, 2, 3], (k, 4)), None),
    "simplex": (
        Simplex(1.5, -0.4), lambda k: 1.5 * RNG.dirichlet([0.3] * 4, k) - 0.4,
        lambda p: p.min() >= -0.4 and np.allclose(p.sum(axis=1), -0.1, atol=1e-12),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_nearest_and_least_points(name):
    """P(x) is in the set and <x - P(x), z - P(x)> <= 0 for z in it; <g, v> is no larger than at any z, and reached."""
    members, points, inside = SETS[name]
    x, z = 3 * RNG.standard_normal((200, 4)), points(500)
    nearest, least = members.project(x), members.least(x)
    for found in (nearest, least):
        assert np.allclose(members.project(found), found, atol=1e-12)
        assert inside is None or inside(found)
    assert np.einsum("rd,rzd->rz", x - nearest, z[None] - nearest[:, None]).max() <= 1e-9
    assert (np.sum(x * least, axis=1)[:, None] <= x @ z.T + 1e-9).all()
    np.testing.assert_allclose(members.project(z), z, atol=1e-12)
    assert (members.gap(z[:200], x) >= -1e-9).all()
    np.testing.assert_array_equal(members.project(x[3:4]), nearest[3:4])


def test_the_gradient_mapping_is_the_gradient_inside():
    """Where a step stays inside; at the edge of an interval it is what is left of the step."""
    box = IntervalBox(0.0, 1.0)
    np.testing.assert_allclose(box.mapping(np.array([[0.5], [0.9]]), np.array([[1.0], [-1.0]]), 0.2), [[1.0], [-0.5]])
