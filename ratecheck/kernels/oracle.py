"""Gradient kernels: what a client's oracle returns, for all replicates ("lanes") at once.

Points and gradients are (d, B) arrays, the B lanes innermost; only the first ``lanes`` of them are computed.
"""

import math

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.random import BATCH, NOISE, counter_tag, normals, philox

QUADRATIC = 0
LOGISTIC = 1


@kernel
def quadratic_gradient(H, g, x, out, lanes):
    """Fill out with H x - g for the first lanes of x (d, B).

    Two rows and four columns at a time: most of the cost is moving numbers, and so each is moved less often.
    """
    d = g.shape[0]
    for row in range(0, d - 1, 2):
        first, second = out[row], out[row + 1]
        for lane in range(lanes):
            first[lane] = -g[row]
            second[lane] = -g[row + 1]
        column = 0
        while column + 4 <= d:
            a0, a1, a2, a3 = H[row, column], H[row, column + 1], H[row, column + 2], H[row, column + 3]
            b0, b1, b2, b3 = H[row + 1, column], H[row + 1, column + 1], H[row + 1, column + 2], H[row + 1, column + 3]
            x0, x1, x2, x3 = x[column], x[column + 1], x[column + 2], x[column + 3]
            for lane in range(lanes):
                first[lane] += (a0 * x0[lane] + a1 * x1[lane]) + (a2 * x2[lane] + a3 * x3[lane])
                second[lane] += (b0 * x0[lane] + b1 * x1[lane]) + (b2 * x2[lane] + b3 * x3[lane])
            column += 4
        while column < d:
            a0, b0, x0 = H[row, column], H[row + 1, column], x[column]
            for lane in range(lanes):
                first[lane] += a0 * x0[lane]
                second[lane] += b0 * x0[lane]
            column += 1
    if d % 2:
        first = out[d - 1]
        for lane in range(lanes):
            first[lane] = -g[d - 1]
        for column in range(d):
            a0, x0 = H[d - 1, column], x[column]
            for lane in range(lanes):
                first[lane] += a0 * x0[lane]


@kernel
def add_regulariser(rho, x, out, first, last, scratch, lanes):
    """Add the gradient of rho*s/(1+s), s the squared norm of coordinates first ... last-1."""
    for lane in range(lanes):
        scratch[lane] = 1.0
    for row in range(first, last):
        for lane in range(lanes):
            scratch[lane] += x[row, lane] * x[row, lane]
    for lane in range(lanes):
        scratch[lane] = 2.0 * rho / (scratch[lane] * scratch[lane])
    for row in range(first, last):
        for lane in range(lanes):
            out[row, lane] += scratch[lane] * x[row, lane]


@kernel
def logistic_weight(z):
    """Derivative of log(1+exp(-z)), without overflow."""
    if z >= 0.0:
        e = math.exp(-z)
        return -e / (1.0 + e)
    return -1.0 / (1.0 + math.exp(z))


@kernel
def logistic_gradient(A, rho, d_u, x, out, margin, lanes):
    """Full gradient of a logistic client with rows c_l*(a_l, b_l) in A (N, d)."""
    N, d = A.shape
    for row in range(d):
        for lane in range(lanes):
            out[row, lane] = 0.0
    for sample in range(N):
        for lane in range(lanes):
            margin[lane] = 0.0
        for column in range(d):
            a = A[sample, column]
            for lane in range(lanes):
                margin[lane] += a * x[column, lane]
        for lane in range(lanes):
            margin[lane] = logistic_weight(margin[lane]) / N
        for column in range(d):
            a = A[sample, column]
            for lane in range(lanes):
                out[column, lane] += a * margin[lane]
    add_regulariser(rho, x, out, 0, d_u, margin, lanes)
    add_regulariser(rho, x, out, d_u, d, margin, lanes)


@kernel
def logistic_batch_gradient(A, rho, d_u, batch, x, out, margin, words, keys, t, i, k, lanes):
    """Gradient over ``batch`` samples drawn uniformly with replacement, for every lane its own."""
    N, d = A.shape
    for row in range(d):
        for lane in range(lanes):
            out[row, lane] = 0.0
    for draw in range(batch):
        if draw % 4 == 0:
            philox(draw // 4, k, t, counter_tag(BATCH, i), keys, words, lanes)
        for lane in range(lanes):
            sample = np.int64((words[draw % 4, lane] * np.uint64(N)) >> np.uint64(32))
            z = 0.0
            for column in range(d):
                z += A[sample, column] * x[column, lane]
            weight = logistic_weight(z) / batch
            for column in range(d):
                out[column, lane] += weight * A[sample, column]
    add_regulariser(rho, x, out, 0, d_u, margin, lanes)
    add_regulariser(rho, x, out, d_u, d, margin, lanes)


@kernel
def exact_gradient(kind, H, g, A, rho, d_u, i, x, out, margin, lanes):
    """Gradient of f_i."""
    if kind == QUADRATIC:
        quadratic_gradient(H[i], g[i], x, out, lanes)
    else:
        logistic_gradient(A[i], rho, d_u, x, out, margin, lanes)


@kernel
def oracle(kind, H, g, A, rho, d_u, batch, noise, i, t, k, x, out, margin, words, floats, bits, pair, keys, lanes):
    """One stochastic gradient per lane: mini-batch where ``batch`` > 0, plus Gaussian noise (d,) per coordinate."""
    d = x.shape[0]
    if kind == LOGISTIC and batch > 0:
        logistic_batch_gradient(A[i], rho, d_u, batch, x, out, margin, words, keys, t, i, k, lanes)
    else:
        exact_gradient(kind, H, g, A, rho, d_u, i, x, out, margin, lanes)
    for block in range((d + 3) // 4):
        silent = True
        for row in range(4 * block, min(4 * block + 4, d)):
            silent = silent and noise[row] == 0.0
        if silent:
            continue
        philox(block, k, t, counter_tag(NOISE, i), keys, words, lanes)
        for half in range(2):
            row = 4 * block + 2 * half
            if row >= d:
                break
            normals(words, 2 * half, 2 * half + 1, floats, bits, pair[0], pair[1], lanes)
            for lane in range(lanes):
                out[row, lane] += noise[row] * pair[0, lane]
            if row + 1 < d:
                for lane in range(lanes):
                    out[row + 1, lane] += noise[row + 1] * pair[1, lane]
