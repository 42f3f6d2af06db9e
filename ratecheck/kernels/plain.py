"""Operations on all lanes at once in plain Numba: what `ratecheck.kernels.llvm` has, without any of Numba's internals.

The same formulas in the same order but for sums along samples, and without fused multiply-adds: random words are equal
bit for bit, all else to rounding. A lane goes through the same operations whatever its place.
"""

import math

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.constants import (
    COSINE,
    EXPONENTIAL,
    LOG2_E,
    LOG_2_HIGH,
    LOG_2_LOW,
    LOGARITHM,
    MASK,
    MINUS_2_LOG_2,
    MULTIPLIER_0,
    MULTIPLIER_1,
    ROUNDS,
    SET,
    SINE,
    WEYL_0,
    WEYL_1,
)  # fmt: skip

_MASK, _HALF_WORD = np.uint64(MASK), np.uint64(32)
_FACTORS = np.uint64(MULTIPLIER_0), np.uint64(MULTIPLIER_1)
_WEYL = np.uint64(WEYL_0), np.uint64(WEYL_1)
_ROOT_HALF = math.sqrt(0.5)


@kernel
def as_rows(array):
    """An array (..., B) as rows."""
    lanes = array.shape[-1]
    return array.reshape((array.size // max(lanes, 1), lanes))


# --- Products ---


@kernel
def affine(M, c, x, out, lanes):
    """Fill the first lanes of out (R, B) with M x - c, for M (R, d), c (R,) and x (d, B)."""
    for row in range(M.shape[0]):
        for lane in range(lanes):
            out[row, lane] = -c[row]
    add_product(M, x, out, lanes)


@kernel
def add_product(M, x, out, lanes):
    """Add M x to the first lanes of out (R, B), for M (R, d) and x (d, B)."""
    for row in range(M.shape[0]):
        for column in range(M.shape[1]):
            factor = M[row, column]
            for lane in range(lanes):
                out[row, lane] += factor * x[column, lane]


# --- Sums ---


@kernel
def add_multiple(mode, factor, x, x_row, out, out_row, count, lanes):
    """Add a number times ``count`` rows of x, from ``x_row`` on, to those of out; in mode SET only put it there."""
    x_rows, out_rows = as_rows(x), as_rows(out)
    for row in range(count):
        for lane in range(lanes):
            product = factor * x_rows[x_row + row, lane]
            out_rows[out_row + row, lane] = product if mode == SET else out_rows[out_row + row, lane] + product


@kernel
def add_scaled(mode, factors, x, x_row, out, out_row, count, lanes):
    """Add rows of x times a factor of its own for each lane, factors (B,)."""
    x_rows, out_rows = as_rows(x), as_rows(out)
    for row in range(count):
        for lane in range(lanes):
            product = factors[lane] * x_rows[x_row + row, lane]
            out_rows[out_row + row, lane] = product if mode == SET else out_rows[out_row + row, lane] + product


@kernel
def clear(out, row, count, lanes):
    """Fill rows with zeros."""
    as_rows(out)[row : row + count, :lanes] = 0.0


@kernel
def add_displacement(factor, x, anchor, i, out, first, count, lanes):
    """Add factor times x - anchor[i] to rows first ... first+count-1 of out (d, B), for anchor (n, d)."""
    for row in range(first, first + count):
        for lane in range(lanes):
            out[row, lane] += factor * (x[row, lane] - anchor[i, row])


@kernel
def add_inner(factor, left, right, first, last, out, q, lanes):
    """Add factor times the inner product of rows first ... last-1 of left and right (d, B) to row q of out."""
    inner = np.zeros(lanes)
    for row in range(first, last):
        for lane in range(lanes):
            inner[lane] += left[row, lane] * right[row, lane]
    for lane in range(lanes):
        out[q, lane] += factor * inner[lane]


@kernel
def advance(slots, steps, table, table_row, stride, drive, drive_row, local, row, count, d, lanes):
    """Make ``steps`` > 0 steps of the local variables (slots, d, B) in ``count`` coordinates from ``row`` on.

    Each coordinate is for itself. Its coefficients for (local, drive, 1), output by output, are in one row of
    ``table``, those of the next one ``stride`` rows further; the drive is the same in every step.
    """
    factors, x = as_rows(table), as_rows(local)
    old, shifts = np.empty((slots, lanes)), np.empty((slots, lanes))
    for coordinate in range(count):
        of = factors[table_row + coordinate * stride]
        for o in range(slots):
            constant, forced = of[o * (slots + 2) + slots + 1], of[o * (slots + 2) + slots]
            for lane in range(lanes):
                shifts[o, lane] = constant + drive[drive_row + coordinate, lane] * forced
        for _ in range(steps):
            for o in range(slots):
                for lane in range(lanes):
                    old[o, lane] = x[row + coordinate + d * o, lane]
            for o in range(slots):
                new = x[row + coordinate + d * o]
                for lane in range(lanes):
                    new[lane] = shifts[o, lane]
                for k in range(slots - 1, -1, -1):
                    factor = of[o * (slots + 2) + k]
                    for lane in range(lanes):
                        new[lane] += old[k, lane] * factor


# --- Functions ---


@kernel
def polynomial(coefficients, x):
    """The polynomial with these coefficients, the constant one first."""
    total = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        total = coefficients[k] + total * x
    return total


@kernel
def exponential(z):
    """The exponential to 1e-15, as if numbers beyond +-708 were +-708; NaN stays NaN."""
    if z > 708.0:
        z = 708.0
    elif z < -708.0:
        z = -708.0
    elif z != z:  # noqa: PLR0124  # not a number
        return z
    power = np.rint(z * LOG2_E)
    rest = z - power * LOG_2_HIGH - power * LOG_2_LOW
    return math.ldexp(polynomial(EXPONENTIAL, rest), int(power))


@kernel
def weigh(factor, row, margins, lanes):
    """Put factor/(1+exp(z)) in place of the margins z in one row."""
    for lane in range(lanes):
        margins[row, lane] = factor / (exponential(margins[row, lane]) + 1.0)


@kernel
def add_part(rho, x, out, first, last, lanes):
    """Add the gradient of rho*s/(1+s), s the squared norm of coordinates first ... last-1."""
    factors = np.ones(lanes)
    for row in range(first, last):
        for lane in range(lanes):
            factors[lane] += x[row, lane] * x[row, lane]
    for lane in range(lanes):
        factors[lane] = rho * 2.0 / (factors[lane] * factors[lane])
    for row in range(first, last):
        for lane in range(lanes):
            out[row, lane] += factors[lane] * x[row, lane]


@kernel
def sparse_product(entries, columns, first, last, many, output, x, out, lanes):
    """Put the sum of entries times x[many * column + output], places first ... last-1, into a row of out (many, B)."""
    out[output, :lanes] = 0.0
    for place in range(first, last):
        row = many * np.int64(columns[0, place]) + output
        for lane in range(lanes):
            out[output, lane] += entries[0, place] * x[row, lane]


@kernel
def add_sparse(entries, columns, first, last, many, output, factors, out, lanes):
    """Add entries times the row ``output`` of factors (many, B) to out[many * column + output]."""
    for place in range(first, last):
        row = many * np.int64(columns[0, place]) + output
        for lane in range(lanes):
            out[row, lane] += entries[0, place] * factors[output, lane]


# --- Random numbers ---


@kernel
def words_at(c0, c1, c2, c3, k0, k1):
    """The four words of Philox at a counter, for one key."""
    x0, x1, x2, x3 = np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)
    k0, k1 = np.uint64(k0), np.uint64(k1)
    for _ in range(ROUNDS):
        p0, p1 = (x0 & _MASK) * _FACTORS[0], (x2 & _MASK) * _FACTORS[1]
        x0, x1, x2, x3 = (p1 >> _HALF_WORD) ^ x1 ^ k0, p1, (p0 >> _HALF_WORD) ^ x3 ^ k1, p0
        k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
    return x0 & _MASK, x1 & _MASK, x2 & _MASK, x3 & _MASK


@kernel
def fill_words(c0, c1, c2, c3, keys, words, lanes):
    """Fill words (4, B) with the Philox output."""
    for lane in range(lanes):
        words[0, lane], words[1, lane], words[2, lane], words[3, lane] = words_at(
            c0, c1, c2, c3, keys[0, lane], keys[1, lane]
        )


@kernel
def box_muller(first, second):
    """Two normals from two 32-bit words, to 1e-14.

    They are r*cos(a) and r*sin(a) with r**2 = -2 log((first+1/2) / 2**32) and a = 2 pi ((second+1/2) / 2**32 - 1/2).
    """
    mantissa, power = math.frexp(np.float64(first) + 0.5)
    if mantissa < _ROOT_HALF:
        mantissa, power = 2.0 * mantissa, power - 1
    s = (mantissa - 1.0) / (mantissa + 1.0)
    radius = math.sqrt((power - 32.0) * MINUS_2_LOG_2 + s * polynomial(LOGARITHM, s * s))
    half = (np.float64(second) + 0.5) * 2.0**-32 - 0.5
    q = half * half
    sine, cosine = half * polynomial(SINE, q), polynomial(COSINE, q)
    # The angle is twice that of sine and cosine.
    scaled = 2.0 * (radius * sine)
    return radius - scaled * sine, scaled * cosine


@kernel
def fill_normals(words, first, second, out_1, out_2, lanes):
    """Two rows (B,) of normals from two of the rows of words."""
    for lane in range(lanes):
        out_1[lane], out_2[lane] = box_muller(words[first, lane], words[second, lane])


@kernel
def add_normals(c0, c1, c2, c3, keys, scale_0, scale_1, scale_2, scale_3, row, out, lanes):
    """Add the scaled normals of one counter to the (up to) four rows of out (R, B) from ``row`` on."""
    scales = (scale_0, scale_1, scale_2, scale_3)
    rows = min(4, out.shape[0] - row)
    for lane in range(lanes):
        w0, w1, w2, w3 = words_at(c0, c1, c2, c3, keys[0, lane], keys[1, lane])
        (n0, n1), (n2, n3) = box_muller(w0, w1), box_muller(w2, w3)
        normals = (n0, n1, n2, n3)
        for place in range(rows):
            out[row + place, lane] += normals[place] * scales[place]


@kernel
def batch_gradient(A, batch, k, t, tag, keys, words, x, out, lanes):  # noqa: ARG001  # no scratch is needed
    """Fill out (d, B) with gradients over ``batch`` samples of A (N, d), drawn at counter (., k, t, tag)."""
    N, d = A.shape
    out[:, :lanes] = 0.0
    for lane in range(lanes):
        for draw in range(batch):
            drawn = words_at(draw // 4, k, t, tag, keys[0, lane], keys[1, lane])
            sample = np.int64((drawn[draw % 4] * np.uint64(N)) >> _HALF_WORD)
            margin = 0.0
            for row in range(d):
                margin += A[sample, row] * x[row, lane]
            weight = -1.0 / batch / (exponential(margin) + 1.0)
            for row in range(d):
                out[row, lane] += weight * A[sample, row]
