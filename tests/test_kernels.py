"""Kernels against NumPy, and that a lane's bits depend neither on its place nor on the lanes beside it."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from ratecheck.kernels import product
from ratecheck.kernels.compile import kernel
from ratecheck.kernels.random import add_normals, normals, philox, stream_keys

SHAPES = [(1, 1), (2, 2), (3, 5), (4, 4), (5, 3), (6, 1), (7, 20), (20, 20), (33, 10), (0, 3), (3, 0)]
LANES = [(0, 4), (1, 1), (1, 64), (5, 7), (7, 8), (8, 8), (9, 12), (31, 33), (40, 64), (63, 64), (64, 64), (130, 131)]


def points(seed, *shape):
    """Standard normal entries."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def assert_independent_of_lanes(compute, x):
    """``compute`` maps arrays (., B) and a number of lanes to (., lanes); bits are those of a lane alone."""
    B = x.shape[1]
    alone = np.concatenate([compute(x[:, lane : lane + 1].copy(), 1) for lane in range(B)], axis=1)
    for lanes, width in LANES:
        if width <= B:
            np.testing.assert_array_equal(compute(x[:, :width].copy(), lanes), alone[:, :lanes])
            begin = B - width
            np.testing.assert_array_equal(compute(x[:, begin:].copy(), lanes), alone[:, begin : begin + lanes])


# --- Products ---


@pytest.mark.parametrize(("rows", "d"), SHAPES)
@pytest.mark.parametrize(("lanes", "B"), LANES)
def test_products_equal_numpy_and_leave_other_lanes_alone(rows, d, lanes, B):
    """Both products, for C and transposed matrices; lanes that are not asked for keep their content."""
    M, c, x, before = points(1, rows, d), points(2, rows), points(3, d, B), points(4, rows, B)
    for matrix in (M, np.asfortranarray(M)):
        out, total = before.copy(), before.copy()
        product.affine(matrix, c, x, out, lanes)
        product.add_product(matrix, x, total, lanes)
        np.testing.assert_allclose(out[:, :lanes], (M @ x - c[:, None])[:, :lanes], rtol=0, atol=1e-13)
        np.testing.assert_allclose(total[:, :lanes], (before + M @ x)[:, :lanes], rtol=0, atol=1e-13)
        np.testing.assert_array_equal(out[:, lanes:], before[:, lanes:])
        np.testing.assert_array_equal(total[:, lanes:], before[:, lanes:])


def test_affine_of_a_slice_of_a_matrix():
    """A matrix may have any strides."""
    M, c, x = points(1, 9, 14), points(2, 4), points(3, 7, 10)
    out = np.empty((4, 10))
    product.affine(M[1::2, ::2], c, x, out, 10)
    np.testing.assert_allclose(out, M[1::2, ::2] @ x - c[:, None], rtol=0, atol=1e-13)


def test_affine_refuses_what_it_cannot_address():
    """Whole numbers and transposed points are an error of types, not wrong numbers."""
    M, c, x = points(1, 3, 3), points(2, 3), points(3, 3, 8)
    with pytest.raises(TypingError, match="doubles"):
        product.affine(M.astype(np.int64), c, x, x.copy(), 8)
    with pytest.raises(TypingError, match="contiguous"):
        product.affine(M, c, np.asfortranarray(x), x.copy(), 8)


@pytest.mark.parametrize(("rows", "d"), [(1, 2), (5, 3), (7, 20), (20, 20)])
def test_products_of_a_lane_have_the_same_bits_anywhere(rows, d):
    """Whatever the number of lanes, the width of the array and the place."""
    M, c = points(1, rows, d), points(2, rows)

    def affine(x, lanes):
        out = np.empty((rows, x.shape[1]))
        product.affine(M, c, x, out, lanes)
        return out[:, :lanes]

    def sums(x, lanes):
        out = np.ones((rows, x.shape[1]))
        product.add_product(M, x, out, lanes)
        return out[:, :lanes]

    assert_independent_of_lanes(affine, points(5, d, 70))
    assert_independent_of_lanes(sums, points(5, d, 70))


# --- Random numbers ---


@kernel
def noisy(keys, scales, row, out, lanes):
    """Add four scaled rows of normals at counter (1, 2, 3, 4)."""
    add_normals(1, 2, 3, 4, keys, scales[0], scales[1], scales[2], scales[3], row, out, lanes)


def reference_normals(keys):
    """Four rows of normals at that counter, by NumPy from the words."""
    words = np.empty((4, keys.shape[1]), dtype=np.uint64)
    philox(1, 2, 3, 4, keys, words, keys.shape[1])
    uniform = (words.astype(float) + 0.5) / 2**32
    radius, angle = np.sqrt(-2 * np.log(uniform[0::2])), 2 * np.pi * (uniform[1::2] - 0.5)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(4, -1)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 6])
@pytest.mark.parametrize(("lanes", "B"), LANES)
def test_added_normals_are_those_of_box_muller(rows, lanes, B):
    """Up to four rows after the given one change, and only the lanes that are asked for."""
    keys, scales, before = stream_keys(3, range(B)), np.array([1.0, -2.0, 0.5, 3.0]), points(1, 1 + rows, B)
    out, expected = before.copy(), before.copy()
    noisy(keys, scales, 1, out, lanes)
    changed = min(rows, 4)
    expected[1 : 1 + changed, :lanes] += (scales[:, None] * reference_normals(keys))[:changed, :lanes]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-13)
    untouched = np.ones(out.shape, dtype=bool)
    untouched[1 : 1 + changed, :lanes] = False
    np.testing.assert_array_equal(out[untouched], before[untouched])


def test_normals_are_accurate_to_fourteen_digits():
    """Relative to the radius, over random words and the smallest and largest ones."""
    ends = np.array([0, 1, 2**30, 2**31 - 1, 2**31, 3 * 2**30, 2**32 - 2, 2**32 - 1], dtype=np.uint64)
    words = np.random.default_rng(1).integers(0, 2**32, size=(2, 1 << 18), dtype=np.uint64)
    words[:, :64] = np.stack(np.meshgrid(ends, ends)).reshape(2, -1)
    uniform = (words.astype(float) + 0.5) / 2**32
    radius, angle = np.sqrt(-2 * np.log(uniform[0])), 2 * np.pi * (uniform[1] - 0.5)
    out, scratch = np.empty((2, 1 << 18)), np.empty(1)
    normals(words, 0, 1, scratch, scratch.view(np.int64), out[0], out[1], 1 << 18)
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert (np.abs(out - expected) / radius).max() < 1e-14


def test_random_numbers_of_a_lane_have_the_same_bits_anywhere():
    """A normal depends on its key and counter alone."""

    def compute(keys, lanes):
        out = np.zeros((4, keys.shape[1]))
        noisy(keys, np.ones(4), 0, out, lanes)
        return out[:, :lanes]

    assert_independent_of_lanes(compute, stream_keys(1, range(70)))
