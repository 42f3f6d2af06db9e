"""Square roots of rationals as floats, rounded up."""

from __future__ import annotations

import math
from fractions import Fraction


def root_above(square: Fraction) -> float:
    """The least float whose square is no smaller, or one next to it.

    >>> root_above(Fraction(1, 4)), root_above(Fraction(1, 10**400))
    (0.5, 1e-200)
    """
    if not square:
        return 0.0
    # Near 1 the square is a float of full precision, however small or large it is.
    exponent = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    root = math.ldexp(math.sqrt(float(square / Fraction(4) ** exponent)), exponent)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
