"""Local steps in the eigenbasis of a client's matrix, where every coordinate is on its own.

An algorithm's functions act on each coordinate of a block alike, and Gaussian noise that is equal within a block has
the same law in every orthonormal basis of it. So where a symmetric matrix does not couple blocks, a client can change
to its eigenvectors before the local steps and back after them: a step then costs d operations instead of d*d.
"""

from typing import Any, NamedTuple

from ratecheck.kernels.compile import kernel_apart
from ratecheck.kernels.random import NOISE, counter_tag
from ratecheck.kernels.vectors import add_normals, advance, affine, clear


class Diagonal(NamedTuple):
    """Local steps in eigenbases, for the clients that ``used`` (n,) names.

    ``basis`` (n, d, d) has eigenvectors as columns, and each row of ``step`` (n, d, slots*(slots + 2)) a coordinate's
    coefficients for (local, standard normal, 1), output by output. ``noisy``: whether any is for the normals.
    """

    used: Any
    basis: Any
    step: Any
    noisy: Any


@kernel_apart
def diagonal_steps(diagonal, i, t, K, local, turned, zero, normals, keys, lanes):
    """K local steps of client i in place, local being (slots, d, B).

    ``turned`` (slots, d, B), ``zero`` (d,) and ``normals`` (4, B) are scratch, the second of zeros.
    """
    slots, d, _ = local.shape
    basis, table, noisy = diagonal.basis[i], diagonal.step, diagonal.noisy
    for slot in range(slots):
        affine(basis.T, zero, local[slot], turned[slot], lanes)
    clear(normals, 0, 4, lanes)
    # Four coordinates at a time, as many as a counter has normals for, go through all steps while in the cache.
    for row in range(0, d, 4):
        rows = min(4, d - row)
        if not noisy:
            advance(slots, K, table, i * d + row, 1, normals, 0, turned, row, rows, d, lanes)
            continue
        for k in range(K):
            clear(normals, 0, 4, lanes)
            add_normals(row // 4, k, t, counter_tag(NOISE, i), keys, 1.0, 1.0, 1.0, 1.0, 0, normals, lanes)
            advance(slots, 1, table, i * d + row, 1, normals, 0, turned, row, rows, d, lanes)
    for slot in range(slots):
        affine(basis, zero, turned[slot], local[slot], lanes)
