"""Sparse matrices column by column, beside those of SciPy."""

import numpy as np
import scipy.sparse

from ratecheck.algebra.sparse_columns import SparseColumns


def test_entries_are_those_of_scipy():
    """In the same order, those in one place added up, and empty columns included."""
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (5, 3), (3, 8)):
        rows, columns = (rng.integers(size, size=12) for size in shape)
        data = rng.normal(size=12)
        ours, theirs = (
            SparseColumns.of(data, rows, columns, shape),
            scipy.sparse.csc_matrix((data, (rows, columns)), shape),
        )
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-14)


def test_nothing_is_in_zeros():
    """The quadratic part of a linear program has a start for every column."""
    ours = SparseColumns.zeros(3)
    assert (len(ours.data), len(ours.indices), ours.indptr.tolist(), ours.shape) == (0, 0, [0, 0, 0, 0], (3, 3))
