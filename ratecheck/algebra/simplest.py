"""The simplest rational in an interval."""

from __future__ import annotations

from fractions import Fraction


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the least denominator in [low, high], and the least size among these; low is positive.

    By continued fractions: where no whole number lies between, both ends have the same whole part.

    >>> simplest_between(Fraction(41, 100), Fraction(43, 100))
    Fraction(5, 12)
    """
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    part = whole - 1
    return part + 1 / simplest_between(1 / (high - part), 1 / (low - part))
