"""Laws of noise that kernels draw: by coordinate, by length and direction, and one that grows with the answer.

Draws are functions of key, client, round and local step alone. Points are (d, B) arrays, the B lanes innermost.
"""

import math

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import GAUSSIAN, RADIAL, RELATIVE, SIGNS, STUDENT
from ratecheck.kernels.random import NOISE, counter_tag, philox
from ratecheck.kernels.vectors import add_normals

_WORD, _HALF = 2.0**-32, 2.0**-64


@kernel_apart
def add_law(law, shape, noise, i, t, k, out, words, keys, lanes):
    """Add the noise of client i's local step k to out (d, B), its answer without; ``words`` (4, B) is scratch.

    ``noise`` (d,) is s. GAUSSIAN: s_c times a standard normal. SIGNS: s_c to either side. UNIFORM: uniform between
    -sqrt(3) s_c and sqrt(3) s_c. STUDENT: shape[1] s_c times Student's t with shape[0] degrees of freedom. RADIAL: a
    direction uniform on the sphere of the D coordinates with noise, times sqrt(D) s_c and a length: shape[1] U^(-1/a)
    with a = shape[0] and U uniform on (0, 1), or 1 for a = 0. RELATIVE: normal of the variance
    s_c^2 + shape[0] ||answer||^2/d.
    """
    if law == GAUSSIAN:
        add_gaussian(noise, i, t, k, out, keys, lanes)
    elif law == RELATIVE:
        add_relative(shape[0], noise, i, t, k, out, keys, lanes)
    elif is_zero(noise):
        return
    elif law == SIGNS:
        add_signs(noise, i, t, k, out, words, keys, lanes)
    elif law == STUDENT:
        add_student(shape, noise, i, t, k, out, words, keys, lanes)
    elif law == RADIAL:
        add_radial(shape, noise, i, t, k, out, words, keys, lanes)
    else:
        add_uniform(noise, i, t, k, out, words, keys, lanes)


@kernel
def is_zero(numbers):
    """Whether all entries are 0."""
    for number in numbers:  # noqa: SIM110  # `any` would have Numba's own functions compiled
        if number != 0.0:
            return False
    return True


@kernel
def entry(numbers, place):
    """An entry, or 0 beyond the last one."""
    return numbers[place] if place < len(numbers) else 0.0


@kernel
def add_gaussian(noise, i, t, k, out, keys, lanes):
    """Add the Gaussian noise of client i's local step k, of standard deviation noise[row], to out (d, B)."""
    for row in range(0, len(noise), 4):
        s0, s1, s2, s3 = entry(noise, row), entry(noise, row + 1), entry(noise, row + 2), entry(noise, row + 3)
        if s0 != 0.0 or s1 != 0.0 or s2 != 0.0 or s3 != 0.0:
            add_normals(row // 4, k, t, counter_tag(NOISE, i), keys, s0, s1, s2, s3, row, out, lanes)


@kernel
def add_signs(noise, i, t, k, out, words, keys, lanes):
    """Add noise[row] or -noise[row], with probability 1/2 each, to out (d, B); ``words`` (4, B) is scratch."""
    half, tag = np.uint64(1) << np.uint64(31), counter_tag(NOISE, i)
    for row in range(len(noise)):
        if row % 4 == 0:
            philox(row // 4, k, t, tag, keys, words, lanes)
        word, size = row % 4, noise[row]
        for lane in range(lanes):
            out[row, lane] += size if words[word, lane] >= half else -size


@kernel
def add_uniform(noise, i, t, k, out, words, keys, lanes):
    """Add sqrt(3) noise[row] times a number uniform on (-1, 1) to out (d, B); ``words`` (4, B) is scratch."""
    tag = counter_tag(NOISE, i)
    for row in range(len(noise)):
        if row % 4 == 0:
            philox(row // 4, k, t, tag, keys, words, lanes)
        word, size = row % 4, math.sqrt(3.0) * noise[row]
        for lane in range(lanes):
            out[row, lane] += size * (2.0 * ((np.float64(words[word, lane]) + 0.5) * _WORD) - 1.0)


@kernel
def fine_uniform(words, lane):
    """A number in (0, 1], uniform up to 2**-64, from the first two words of a lane: tails need more than 32 bits."""
    return np.float64(words[0, lane]) * _WORD + (np.float64(words[1, lane]) + 0.5) * _HALF


@kernel_apart
def add_student(shape, noise, i, t, k, out, words, keys, lanes):
    """Add shape[1] noise[row] times Student's t to out (d, B); ``words`` (4, B) is scratch.

    With nu = shape[0] degrees of freedom it is sqrt(nu (U^(-2/nu) - 1)) cos(2 pi V) for U, V uniform on (0, 1).
    Source: Bailey, "Polar generation of random variates with the t-distribution", Math. Comp. 62 (1994), 779-781.
    """
    tag, nu = counter_tag(NOISE, i), shape[0]
    for row in range(len(noise)):
        size = shape[1] * noise[row]
        if size == 0.0:
            continue
        philox(row, k, t, tag, keys, words, lanes)
        for lane in range(lanes):
            length = math.sqrt(nu * math.expm1(-2.0 / nu * math.log(fine_uniform(words, lane))))
            out[row, lane] += size * length * math.cos(2.0 * math.pi * ((np.float64(words[2, lane]) + 0.5) * _WORD))


@kernel_apart
def add_radial(shape, noise, i, t, k, out, words, keys, lanes):
    """Add sqrt(D) noise[row] times a direction uniform on the sphere, and a length, to out (d, B).

    The direction is that of normals in the D coordinates with noise. ``words`` (4, B) is scratch.
    """
    direction, noisy = np.zeros(out.shape), np.zeros(len(noise))
    tag, count = counter_tag(NOISE, i), 0
    for row in range(len(noise)):
        if noise[row] != 0.0:
            noisy[row] = 1.0
            count += 1
    add_gaussian(noisy, i, t, k, direction, keys, lanes)
    # Blocks of words below are those of the normals.
    philox(len(noise), k, t, tag, keys, words, lanes)
    for lane in range(lanes):
        square = 0.0
        for row in range(len(noise)):
            square += direction[row, lane] * direction[row, lane]
        if square == 0.0:
            continue
        length = 1.0 if shape[0] == 0.0 else shape[1] * math.exp(-math.log(fine_uniform(words, lane)) / shape[0])
        factor = length * math.sqrt(count / square)
        for row in range(len(noise)):
            out[row, lane] += noise[row] * factor * direction[row, lane]


@kernel_apart
def add_relative(rho, noise, i, t, k, out, keys, lanes):
    """Add normals of the variance noise[row]^2 + rho ||out||^2/d to out (d, B)."""
    d, drawn = out.shape[0], np.zeros(out.shape)
    add_gaussian(np.ones(d), i, t, k, drawn, keys, lanes)
    for lane in range(lanes):
        square = 0.0
        for row in range(d):
            square += out[row, lane] * out[row, lane]
        for row in range(d):
            out[row, lane] += math.sqrt(noise[row] * noise[row] + rho * square / d) * drawn[row, lane]
