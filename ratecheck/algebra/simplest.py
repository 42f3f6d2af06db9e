"""Simple numbers: the simplest rational in an interval, and floats of fewer binary digits in the place of one."""

from __future__ import annotations

import math
from fractions import Fraction

# Binary digits to which numbers are rounded.
_DIGITS = (1, 2, 3, 4, 6, 8, 12)

# Powers of 2 beyond this one count by half.
_AT_A_GLANCE = 3


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


def bits(value: float) -> int:
    """Binary digits of a number: those of its odd part, one for a minus sign, and its power of 2, by half beyond 2^3.

    0 for 0. 1 has one, 2 and 1/2 two, 3/4 four; 1024 has eight and 963 ten, since a power of 2 is read at a glance.
    """
    numerator, denominator = float(value).as_integer_ratio()
    if not numerator:
        return 0
    power = abs((numerator & -numerator).bit_length() - denominator.bit_length())
    odd = abs(numerator) // (numerator & -numerator)
    return odd.bit_length() + min(power, _AT_A_GLANCE) + (max(power - _AT_A_GLANCE, 0) + 1) // 2 + (numerator < 0)


def simpler_numbers(value: float, limit: int) -> list[float]:
    """Numbers of fewer than ``limit`` binary digits in the place of one, simplest first.

    0, 1, -1 and 2, the number without its sign, powers of 2 between 1 and the number, and the number to a few binary
    digits. All of them are floats as they are: what is printed is what is meant.
    """
    if value == 0.0 or not math.isfinite(value):
        return [0.0, 1.0][: limit > 1 and value == 0.0]
    mantissa, exponent = math.frexp(abs(value))
    sign = math.copysign(1.0, value)
    near = {0.0, 1.0, -1.0, 2.0, 0.5, abs(value)}
    near |= {sign * math.ldexp(0.5, 1 + round((exponent - 1) * share)) for share in (0.25, 0.5, 0.75, 0.9, 1.0)}
    for digits in _DIGITS:
        scaled = math.ldexp(mantissa, digits)
        roundings = {math.floor(scaled), math.ceil(scaled)} if digits <= 3 else {round(scaled)}
        # Next to a power of 2, such as the open end 1 of an interval, the number on this side of it.
        roundings |= {math.floor(scaled)} if round(scaled) == 1 << digits else set()
        near |= {sign * math.ldexp(each, exponent - digits) for each in roundings}
    return sorted((x for x in near if bits(x) < limit), key=lambda x: (bits(x), abs(x - value)))
