"""Floats next to rationals, on a chosen side."""

from __future__ import annotations

import math
from fractions import Fraction


def rounded(x: Fraction, towards: float) -> float:
    """The float nearest to a rational, or the next one where that is on the wrong side; ``towards`` is inf or -inf.

    >>> rounded(Fraction(1, 4), math.inf), rounded(Fraction(10**400), -math.inf)
    (0.25, 1.7976931348623157e+308)
    """
    try:
        nearest = float(x)
    except OverflowError:
        nearest = math.inf if x > 0 else -math.inf
    wrong = nearest < x if towards > 0 else nearest > x
    return math.nextafter(nearest, towards) if wrong else nearest


def root_above(square: Fraction) -> float:
    """The least float whose square is no smaller, or one next to it; infinity where there is none.

    >>> root_above(Fraction(1, 4)), root_above(Fraction(1, 10**400))
    (0.5, 1e-200)
    """
    if not square:
        return 0.0
    # Near 1 the square is a float of full precision, however small or large it is.
    exponent = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    try:
        root = math.ldexp(math.sqrt(float(square / Fraction(4) ** exponent)), exponent)
    except OverflowError:
        return math.inf
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
