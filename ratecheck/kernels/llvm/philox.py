"""Philox words and normals for all lanes at once, as LLVM code; see `ratecheck.kernels.random`."""

from ratecheck.kernels.constants import (
    COSINE,
    LOGARITHM,
    MASK,
    MINUS_2_LOG_2,
    MULTIPLIER_0,
    MULTIPLIER_1,
    ROUNDS,
    SINE,
    WEYL_0,
    WEYL_1,
)  # fmt: skip
from ratecheck.kernels.llvm.lanes import lanewise

_ROOT_HALF = 0x3FE6A09E00000000  # the bits of a double just below sqrt(1/2)
_EXPONENT = 0xFFF0000000000000


def philox_words(counter, keys):
    """The four words (`Lanes`) at a counter (c0, c1, c2, c3), each in the lower half of 64 bits, and the keys' rows."""
    k0, k1 = keys[0], keys[1]
    x0, x1, x2, x3 = (k0.all(word) for word in counter)
    for _ in range(ROUNDS):
        p0, p1 = (x0 & MASK) * MULTIPLIER_0, (x2 & MASK) * MULTIPLIER_1
        x0, x1, x2, x3 = (p1 >> 32) ^ x1 ^ k0, p1, (p0 >> 32) ^ x3 ^ k1, p0
        k0, k1 = k0 + WEYL_0, k1 + WEYL_1
    return [word & MASK for word in (x0, x1, x2, x3)]


@lanewise
def fill_words(c0, c1, c2, c3, keys, words):
    """Fill words (4, B) with the Philox output."""
    for row, word in enumerate(philox_words((c0, c1, c2, c3), keys)):
        words[row] = word


def _box_muller(first, second):
    """Two normals from two 32-bit words (`Lanes`), to 1e-14.

    They are r*cos(a) and r*sin(a) with r**2 = -2 log((first+1/2) / 2**32) and a = 2 pi ((second+1/2) / 2**32 - 1/2).
    """
    number = first.to_double(plus=0.5)
    # number = mantissa * 2**power, the mantissa within a factor of sqrt(2) around 1.
    distance = number.bits() - _ROOT_HALF
    mantissa = (number.bits() - (distance & _EXPONENT)).double()
    # Numbers are at least 1/2: after adding one to the exponent, ``distance`` is not negative.
    power = ((distance + (1 << 52)) >> 52).to_double(plus=-33.0)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = (power * MINUS_2_LOG_2).plus_product(s, (s * s).polynomial(LOGARITHM))
    radius = square.sqrt()
    half = second.to_double(plus=0.5) * 2.0**-32 - 0.5
    q = half * half
    sine, cosine = half * q.polynomial(SINE), q.polynomial(COSINE)
    # The angle is twice that of sine and cosine.
    scaled = radius * sine
    scaled = scaled + scaled
    return radius.plus_product(-scaled, sine), scaled * cosine


@lanewise
def fill_normals(words, first, second, out_1, out_2):
    """Two rows (B,) of normals from two of the rows of words."""
    out_1[0], out_2[0] = _box_muller(words[first], words[second])


@lanewise
def add_normals(c0, c1, c2, c3, keys, scale_0, scale_1, scale_2, scale_3, row, out):
    """Add the scaled normals of one counter to the (up to) four rows of out (R, B) from ``row`` on."""
    words = philox_words((c0, c1, c2, c3), keys)
    out = out.since(row)
    for half, scales in enumerate(((scale_0, scale_1), (scale_2, scale_3))):
        with out.has(2 * half):
            pair = _box_muller(words[2 * half], words[2 * half + 1])
            for place, scale, normal in zip((2 * half, 2 * half + 1), scales, pair, strict=True):
                with out.has(place):
                    out[place] = out[place].plus_product(normal, scale)
