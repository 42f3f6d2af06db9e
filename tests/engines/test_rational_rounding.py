"""Square roots that are rounded up, of numbers of every size."""

import math
from fractions import Fraction

import numpy as np

from ratecheck.algebra.outward import root_above


def test_a_root_is_next_above():
    """The square of the float is no smaller, that of the second one below is."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        above, below, power = rng.integers([1, 1, -700], [10**6, 10**6, 600]).tolist()
        square = Fraction(above, below) * Fraction(10) ** power
        root = root_above(square)
        smaller = math.nextafter(math.nextafter(root, 0), 0)
        assert Fraction(smaller) ** 2 < square <= Fraction(root) ** 2
    assert root_above(Fraction(0)) == 0
