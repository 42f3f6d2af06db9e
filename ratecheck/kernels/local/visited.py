"""Local steps one by one, with the points at which oracles are evaluated, and sums over those of two-level problems.

Arrays end with an axis of L lanes: replicates, of one round after the other.
"""

import math

import numpy as np

from ratecheck.kernels.compile import kernel_apart
from ratecheck.kernels.noise import add_law
from ratecheck.kernels.vectors import advance, affine


@kernel_apart
def visit_step(source, K, table, first, rounds, k, local, points, noise, words, keys):
    """Make local step k of an affine oracle in place, local being (n, slots, d, L).

    ``points`` and ``noise`` (n, d, L) are filled with where the oracles are evaluated and with what is added to their
    answers. Row first + i*d + c of ``table`` has the coefficients of coordinate c of client i, which makes K[i] steps.
    ``keys`` (2, B) are those of the replicates, of which every one of the ``rounds`` has L/len(rounds).
    """
    n, slots, d, L = local.shape
    B, M, c = keys.shape[1], source.M, source.c
    law, shape, size = source.law, source.shape, source.noise
    answer, fresh = np.empty((d, L)), np.empty((d, B))
    for i in range(n):
        point, drawn = points[i], noise[i]
        for row in range(d):
            for lane in range(L):
                point[row, lane] = local[i, 0, row, lane]
        for r in range(len(rounds)):
            fresh[:, :] = 0.0
            add_law(law, shape, size, i, rounds[r], k, fresh, words, keys, B)
            for row in range(d):
                for lane in range(B):
                    drawn[row, r * B + lane] = fresh[row, lane]
        if k >= K[i]:
            continue
        affine(M[i], c[i], point, answer, L)
        for row in range(d):
            for lane in range(L):
                answer[row, lane] += drawn[row, lane]
        advance(slots, 1, table, first + i * d, 1, answer, 0, local[i], 0, d, d, L)


@kernel_apart
def add_step(M, c, shares, starts, start, points, noise, mean, sampled, drifts, largest):
    """Add a local step at points (n, d, L) to the sums over those of a round, with the ``shares`` (n,) of clients.

    ``mean`` and ``sampled`` (n, d, L) are of directions, without noise and with it, ``drifts`` (blocks, n, L) of
    squared distances to ``start`` (d, L), and ``largest`` (n, L) is the largest norm of the last block.
    """
    n, d, L = points.shape
    direction, square, last = np.empty((d, L)), np.empty(L), len(starts) - 2
    for i in range(n):
        share = shares[i]
        affine(M[i], c[i], points[i], direction, L)
        for row in range(d):
            for lane in range(L):
                mean[i, row, lane] += share * direction[row, lane]
                sampled[i, row, lane] += share * (direction[row, lane] + noise[i, row, lane])
        for block in range(len(starts) - 1):
            square[:] = 0.0
            for row in range(starts[block], starts[block + 1]):
                for lane in range(L):
                    way = points[i, row, lane] - start[row, lane]
                    square[lane] += way * way
            for lane in range(L):
                drifts[block, i, lane] += share * square[lane]
        if share > 0.0:
            square[:] = 0.0
            for row in range(starts[last], d):
                for lane in range(L):
                    square[lane] += points[i, row, lane] * points[i, row, lane]
            for lane in range(L):
                length = math.sqrt(square[lane])
                if length > largest[i, lane] or math.isnan(length):
                    largest[i, lane] = length


@kernel_apart
def largest_norms2(Q, q, d_x, points, noise, found):
    """Raise found (2, L) to the largest ||Q_i (x, y) - q_i||^2 over the clients, without noise and with it.

    Points and noise are those of (x, y, v), whose directions have the gradient's part of x and the negative of that of
    y, and so has their noise.
    """
    n, d, L = points.shape
    xy = Q.shape[1]
    gradient, squares, shift = np.empty((xy, L)), np.empty((2, L)), d - xy
    for i in range(n):
        affine(Q[i], q[i], points[i, :xy], gradient, L)
        squares[:, :] = 0.0
        for row in range(xy):
            at, sign = (row, 1.0) if row < d_x else (row + shift, -1.0)
            for lane in range(L):
                exact = gradient[row, lane]
                sample = exact + sign * noise[i, at, lane]
                squares[0, lane] += exact * exact
                squares[1, lane] += sample * sample
        for each in range(2):
            for lane in range(L):
                if squares[each, lane] > found[each, lane] or math.isnan(squares[each, lane]):
                    found[each, lane] = squares[each, lane]
