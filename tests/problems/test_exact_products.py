"""Products of exact matrices, whole numbers and sparse ones."""

from fractions import Fraction

import numpy as np
import pytest

from ratecheck.algebra.enclosure import Enclosure
from ratecheck.algebra.linear_algebra import product, whole_product

_RANDOM = np.random.default_rng(7)


def _drawn(rows, columns, density, *, whole=False):
    """A matrix of random fractions, zeros of both types among them."""
    matrix = np.full((rows, columns), 0, dtype=object)
    for place in np.ndindex(rows, columns):
        if _RANDOM.random() < density:
            top, bottom = int(_RANDOM.integers(-9, 10)), int(_RANDOM.integers(1, 8))
            matrix[place] = top if whole else Fraction(top, bottom)
    return matrix


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 4, 2), (7, 5, 6), (2, 0, 3), (0, 3, 2)])
@pytest.mark.parametrize("density", [0.0, 0.15, 0.5, 1.0])
def test_the_products_are_those_entry_by_entry(shape, density):
    """Zeros of sparse matrices are passed over, and nothing else changes."""
    rows, inner, columns = shape
    for whole, multiply in ((False, product), (True, whole_product)):
        left, right = _drawn(rows, inner, density, whole=whole), _drawn(inner, columns, density, whole=whole)
        found = multiply(left, right)
        assert found.shape == (rows, columns)
        for i, j in np.ndindex(rows, columns):
            assert found[i, j] == sum((left[i, k] * right[k, j] for k in range(inner)), 0)


def test_a_number_that_is_known_in_an_interval_is_multiplied_as_one():
    """What is no rational is left to its own multiplication."""
    third = Enclosure(Fraction(1, 4), Fraction(1, 2))
    found = product(np.array([[third, Fraction(2)]], dtype=object), np.array([[Fraction(2)], [3]], dtype=object))
    assert (found[0, 0].low, found[0, 0].high) == (Fraction(13, 2), Fraction(7))
