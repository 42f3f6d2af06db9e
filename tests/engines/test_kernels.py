"""Kernels against NumPy, and that a lane's bits depend neither on its place nor on the lanes beside it."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError
from scipy.special import expit

from ratecheck.kernels import oracle, vectors
from ratecheck.kernels.compile import kernel
from ratecheck.kernels.random import BATCH, counter_tag, normals, philox, stream_keys
from ratecheck.kernels.vectors import add_normals

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
        vectors.affine(matrix, c, x, out, lanes)
        vectors.add_product(matrix, x, total, lanes)
        np.testing.assert_allclose(out[:, :lanes], (M @ x - c[:, None])[:, :lanes], rtol=0, atol=1e-13)
        np.testing.assert_allclose(total[:, :lanes], (before + M @ x)[:, :lanes], rtol=0, atol=1e-13)
        np.testing.assert_array_equal(out[:, lanes:], before[:, lanes:])
        np.testing.assert_array_equal(total[:, lanes:], before[:, lanes:])


def test_affine_of_a_slice_of_a_matrix():
    """A matrix may have any strides."""
    M, c, x = points(1, 9, 14), points(2, 4), points(3, 7, 10)
    out = np.empty((4, 10))
    vectors.affine(M[1::2, ::2], c, x, out, 10)
    np.testing.assert_allclose(out, M[1::2, ::2] @ x - c[:, None], rtol=0, atol=1e-13)


def test_affine_refuses_what_it_cannot_address():
    """Whole numbers and transposed points are an error of types, not wrong numbers."""
    M, c, x = points(1, 3, 3), points(2, 3), points(3, 3, 8)
    with pytest.raises(TypingError, match="doubles"):
        vectors.affine(M.astype(np.int64), c, x, x.copy(), 8)
    with pytest.raises(TypingError, match="contiguous"):
        vectors.affine(M, c, np.asfortranarray(x), x.copy(), 8)


@pytest.mark.parametrize(("rows", "d"), [(1, 2), (5, 3), (7, 20), (20, 20)])
def test_products_of_a_lane_have_the_same_bits_anywhere(rows, d):
    """Whatever the number of lanes, the width of the array and the place."""
    M, c = points(1, rows, d), points(2, rows)

    def affine(x, lanes):
        out = np.empty((rows, x.shape[1]))
        vectors.affine(M, c, x, out, lanes)
        return out[:, :lanes]

    def sums(x, lanes):
        out = np.ones((rows, x.shape[1]))
        vectors.add_product(M, x, out, lanes)
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
    out = np.empty((2, 1 << 18))
    normals(words, 0, 1, out[0], out[1], 1 << 18)
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert (np.abs(out - expected) / radius).max() < 1e-14


def test_random_numbers_of_a_lane_have_the_same_bits_anywhere():
    """A normal depends on its key and counter alone."""

    def compute(keys, lanes):
        out = np.zeros((4, keys.shape[1]))
        noisy(keys, np.ones(4), 0, out, lanes)
        return out[:, :lanes]

    assert_independent_of_lanes(compute, stream_keys(1, range(70)))


# --- Logistic gradients ---


def test_logistic_weights_are_accurate_and_never_overflow():
    """The derivative of log(1+exp(-z)) to 1e-14 relative, in extremes too; NaN stays NaN."""
    z = np.concatenate([np.linspace(-750, 750, 30_001), np.logspace(-300, 2.8, 999), -np.logspace(-300, 6, 999), [0.0]])
    weights = z[None].copy()
    oracle.weigh_rows(-1.0, weights, z.size)
    ordinary = z < 700
    np.testing.assert_allclose(weights[0, ordinary], -expit(-z[ordinary]), rtol=1e-14)
    assert (np.abs(weights[0, ~ordinary]) < 1e-303).all()
    extremes = np.array([[1e6, -1e6, np.inf, -np.inf, 1e300, np.nan, 0.0, 710.0]])
    oracle.weigh_rows(-0.5, extremes, 8)
    np.testing.assert_allclose(extremes[0], [0, -0.5, 0, -0.5, 0, np.nan, -0.25, 0], rtol=0, atol=1e-300)


def logistic_reference(samples, x, rho, d_u):
    """Mean gradient over samples (B, N, d) at x (d, B), by NumPy."""
    weights = -expit(-np.einsum("bnd,db->bn", samples, x)) / samples.shape[1]
    gradient = np.einsum("bn,bnd->db", weights, samples)
    for part in (slice(0, d_u), slice(d_u, None)):
        gradient[part] += 2 * rho * x[part] / (1 + np.sum(x[part] ** 2, axis=0)) ** 2
    return gradient


def full(A, x, lanes, d_u=2):
    """The kernel's full gradient; lanes beyond those asked for are zero."""
    out = np.zeros_like(x)
    oracle.logistic_gradient(A, 0.3, d_u, x, out, lanes)
    return out


def mini_batch(A, batch, x, keys, lanes, d_u=2):
    """The kernel's gradient of a mini-batch; lanes beyond those asked for are zero."""
    out, words = np.zeros_like(x), np.empty((4, x.shape[1]), dtype=np.uint64)
    source = oracle.Oracle(
        oracle.LOGISTIC, np.zeros((1, 1, 1)), np.zeros((1, 1)), A[None], 0.3, d_u, batch, 0.0, np.zeros(A.shape[1])
    )
    oracle.oracle(source, 0, 5, 7, x, out, words, keys, lanes)
    return out


@pytest.mark.parametrize(("N", "d"), [(1, 2), (5, 3), (31, 7), (32, 8), (33, 9), (70, 20), (40, 64)])
@pytest.mark.parametrize(("lanes", "B"), LANES)
def test_logistic_gradients_equal_numpy(N, d, lanes, B):
    """Over all samples, and over batches of samples that the words of Philox select."""
    A, x = points(1, N, d), points(2, d, B)
    expected = logistic_reference(np.broadcast_to(A, (B, N, d)), x, 0.3, 2)
    expected[:, lanes:] = 0.0
    np.testing.assert_allclose(full(A, x, lanes), expected, rtol=0, atol=1e-13)
    keys = stream_keys(4, range(B))
    for batch in (1, 4, 11):
        words = np.empty(((batch + 3) // 4, 4, B), dtype=np.uint64)
        for block, row in enumerate(words):
            philox(block, 7, 5, counter_tag(BATCH, 0), keys, row, B)
        chosen = (words.reshape(-1, B)[:batch] * np.uint64(N)) >> np.uint64(32)
        expected = logistic_reference(A[chosen.T.astype(np.int64)], x, 0.3, 2)
        expected[:, lanes:] = 0.0
        np.testing.assert_allclose(mini_batch(A, batch, x, keys, lanes), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("d", [3, 8, 13, 20])
def test_logistic_gradients_of_a_lane_have_the_same_bits_anywhere(d):
    """Whatever the number of lanes, the width of the array and the place, and whether another lane is NaN."""
    A, keys = points(1, 41, d), stream_keys(2, range(1))
    x = points(5, d, 70)
    x[0, 33] = np.nan
    assert_independent_of_lanes(lambda x, lanes: full(A, x, lanes)[:, :lanes], x)

    def batch(x, lanes):
        return mini_batch(A, 5, x, np.repeat(keys, x.shape[1], axis=1), lanes)[:, :lanes]

    assert_independent_of_lanes(batch, x)
    assert np.isnan(full(A, x, 70)[0]).sum() == np.isnan(mini_batch(A, 5, x, np.repeat(keys, 70, axis=1), 70)[0]).sum()
    assert np.isnan(full(A, x, 70)[0]).sum() == 1
