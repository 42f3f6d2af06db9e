"""Sparse matrices by columns beside SciPy's, whose fields the solver asks for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from ratecheck.algebra.sparse_columns import SparseColumns


@pytest.mark.quick
def test_fields_are_those_of_scipy() -> None:
    """Entries at one place are added, columns may be empty, and rows are in order."""
    rng = np.random.default_rng(0)
    for count in (0, 1, 5, 40):
        shape = (4, 6)
        rows, columns = rng.integers(0, 4, count).tolist(), rng.integers(0, 6, count).tolist()
        # Whole numbers, whose sums do not depend on the order.
        data = rng.integers(-9, 9, count).astype(float).tolist()
        found = SparseColumns.of(shape, data, rows, columns)
        expected = scipy.sparse.csc_matrix((data, (rows, columns)), shape=shape)
        assert expected.has_canonical_format
        assert (found.shape, found.has_canonical_format) == (expected.shape, True)
        for name in ("indptr", "indices", "data"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), (name, count)
