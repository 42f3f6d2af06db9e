"""Local steps one by one, with the points at which oracles are evaluated, and sums over those of two-level problems.

Arrays end with an axis of L lanes: replicates, of one round after the other.
"""

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.noise import add_law
from ratecheck.kernels.vectors import advance, affine

# Replicates that are followed together: their variables stay in the innermost cache.
_LANES = 64


@kernel_apart
def visit_step(source, K, table, first, t, k, local, points, noise, words, keys):
    """Make local step k of round t of an affine oracle in place, local being (n, slots, d, L).

    ``points`` and ``noise`` (n, d, L) are filled with where the oracles are evaluated and with what is added to their
    answers. Row first + i*d + c of ``table`` has the coefficients of coordinate c of client i, which makes K[i] steps.
    ``keys`` (2, L) are those of the replicates.
    """
    n, slots, d, L = local.shape
    M, c = source.M, source.c
    answer = np.empty((d, L))
    noise[:, :, :] = 0.0
    for i in range(n):
        point, drawn = points[i], noise[i]
        for row in range(d):
            for lane in range(L):
                point[row, lane] = local[i, 0, row, lane]
        add_law(source.law, source.shape, source.noise, i, t, k, drawn, words, keys, L)
        if k >= K[i]:
            continue
        affine(M[i], c[i], point, answer, L)
        for row in range(d):
            for lane in range(L):
                answer[row, lane] += drawn[row, lane]
        advance(slots, 1, table, first + i * d, 1, answer, 0, local[i], 0, d, d, L)


@kernel_apart
def visit_rounds(source, K, table, rounds, local, shares, starts, start, Q, q, d_x, norms2, sums, keys):
    """Make all local steps of ``rounds``, each of which has L/len(rounds) lanes of local (n, slots, d, L).

    ``norms2`` (2, L) are raised to those of `raise_norms2`, and ``sums`` are those of `add_to_sums`, where ``shares``
    (n, steps) of clients in them are given. ``table`` has the rows of one step after the other, the last one serves
    all that follow. ``keys`` (2, L/len(rounds)) are those of the replicates.
    """
    n, slots, d = local.shape[:3]
    B, W, summed, tables = keys.shape[1], min(keys.shape[1], _LANES), shares.shape[1] > 0, len(table) // (n * d)
    M, c, law, shape, size = source.M, source.c, source.law, source.shape, source.noise
    x, answer, noise, here = np.empty((slots, d, W)), np.empty((d, W)), np.empty((d, W)), np.empty((d, W))
    mean, sampled, drifts, largest = np.empty((d, W)), np.empty((d, W)), np.empty((len(sums[2]), W)), np.empty((1, W))
    gradient, squares, found = np.empty((Q.shape[1], W)), np.empty((2, W)), np.zeros((2, W))
    words, own_keys, longest = np.empty((4, W), dtype=np.uint64), np.empty((2, W), dtype=np.uint64), 0
    for i in range(n):
        longest = max(longest, K[i])
    for r in range(len(rounds)):
        for begin in range(0, B, W):
            lanes, at = min(W, B - begin), r * B + begin
            own_keys[:, :lanes] = keys[:, begin : begin + lanes]
            here[:, :lanes] = start[:, at : at + lanes]
            found[:, :] = 0.0
            for i in range(n):
                x[:, :, :lanes] = local[i, :, :, at : at + lanes]
                point = x[0]
                mean[:, :], sampled[:, :], drifts[:, :], largest[:, :] = 0.0, 0.0, 0.0, 0.0
                for k in range(longest):
                    noise[:, :] = 0.0
                    add_law(law, shape, size, i, rounds[r], k, noise, words, own_keys, lanes)
                    raise_norms2(Q[i], q[i], d_x, point, noise, gradient, squares, found, lanes)
                    if k >= K[i]:
                        continue
                    affine(M[i], c[i], point, answer, lanes)
                    if summed:
                        own = mean, sampled, drifts, largest[0]
                        add_to_sums(shares[i, k], starts, here, point, answer, noise, squares[0], *own, lanes)
                    for row in range(d):
                        for lane in range(lanes):
                            answer[row, lane] += noise[row, lane]
                    advance(slots, 1, table, (min(k, tables - 1) * n + i) * d, 1, answer, 0, x, 0, d, d, lanes)
                if summed:
                    sums[0][i, :, at : at + lanes] = mean[:, :lanes]
                    sums[1][i, :, at : at + lanes] = sampled[:, :lanes]
                    sums[2][:, i, at : at + lanes] = drifts[:, :lanes]
                    sums[3][i, at : at + lanes] = largest[0, :lanes]
            norms2[:, at : at + lanes] = found[:, :lanes]


@kernel_apart
def add_step(M, c, shares, starts, start, points, noise, mean, sampled, drifts, largest2):
    """Add a local step at points (n, d, L) to the sums over those of a round, with the ``shares`` (n,) of clients.

    See `add_to_sums`; ``mean`` and ``sampled`` are (n, d, L), ``drifts`` (blocks, n, L) and ``largest2`` (n, L).
    """
    n, d, L = points.shape
    direction, square = np.empty((d, L)), np.empty(L)
    for i in range(n):
        affine(M[i], c[i], points[i], direction, L)
        own = mean[i], sampled[i], drifts[:, i], largest2[i]
        add_to_sums(shares[i], starts, start, points[i], direction, noise[i], square, *own, L)


@kernel
def add_to_sums(share, starts, start, point, direction, noise, square, mean, sampled, drifts, largest2, lanes):
    """Add a client's local step at its point (d, B) to the sums over those of a round.

    ``mean`` and ``sampled`` (d, B) are of directions, without noise and with it, ``drifts`` (blocks, B) of squared
    distances to ``start`` (d, B), and ``largest2`` (B,) is the largest squared norm of the last block. ``square`` (B,)
    is scratch.
    """
    last = len(starts) - 2
    for row in range(len(point)):
        for lane in range(lanes):
            mean[row, lane] += share * direction[row, lane]
            sampled[row, lane] += share * (direction[row, lane] + noise[row, lane])
    for block in range(len(starts) - 1):
        square[:] = 0.0
        for row in range(starts[block], starts[block + 1]):
            for lane in range(lanes):
                way = point[row, lane] - start[row, lane]
                square[lane] += way * way
        for lane in range(lanes):
            drifts[block, lane] += share * square[lane]
    if share > 0.0:
        square[:] = 0.0
        for row in range(starts[last], starts[last + 1]):
            for lane in range(lanes):
                square[lane] += point[row, lane] * point[row, lane]
        raise_to(largest2, square, lanes)


@kernel
def raise_norms2(Q, q, d_x, point, noise, gradient, squares, found, lanes):
    """Raise found (2, B) to a client's ||Q (x, y) - q||^2, without noise and with it.

    Point and noise (d, B) are those of (x, y, v), whose directions have the gradient's part of x and the negative of
    that of y, and so has their noise. ``gradient`` (len(q), B) and ``squares`` (2, B) are scratch.
    """
    xy, shift = len(q), len(point) - len(q)
    affine(Q, q, point[:xy], gradient, lanes)
    squares[:, :] = 0.0
    for row in range(xy):
        at, sign = (row, 1.0) if row < d_x else (row + shift, -1.0)
        for lane in range(lanes):
            exact = gradient[row, lane]
            sample = exact + sign * noise[at, lane]
            squares[0, lane] += exact * exact
            squares[1, lane] += sample * sample
    for each in range(2):
        raise_to(found[each], squares[each], lanes)


@kernel
def raise_to(found, numbers, lanes):
    """Raise entries to numbers that are larger, or not numbers."""
    for lane in range(lanes):
        number, old = numbers[lane], found[lane]
        # Without branches, which the machine could only guess.
        found[lane] = number if (number > old) | (number != number) else old  # noqa: PLR0124  # not a number
