"""Gradient kernels: what a client's oracle returns, for all replicates ("lanes") at once.

Points and gradients are (d, B) arrays, the B lanes innermost; only the first ``lanes`` of them are computed.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.product import affine
from ratecheck.kernels.random import BATCH, NOISE, counter_tag, normals, philox

AFFINE = 0
LOGISTIC = 1


class Oracle(NamedTuple):
    """What a client answers at a point x (d,).

    ``kind`` AFFINE: M_i x - c_i, with M (n, d, d) and c (n, d). LOGISTIC: the gradient of a logistic client with rows
    c_l*(a_l, b_l) in A (n, N, d), over ``batch`` samples (0: all), regularised by ``rho`` on the first ``d_u``
    coordinates and on the others. ``noise`` (d,) is the standard deviation of additive Gaussian noise.
    """

    kind: Any
    M: Any
    c: Any
    A: Any
    rho: Any
    d_u: Any
    batch: Any
    noise: Any


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
def exact_gradient(source, i, x, out, margin, lanes):
    """What client i answers without noise, over all samples."""
    if source.kind == AFFINE:
        affine(source.M[i], source.c[i], x, out, lanes)
    else:
        logistic_gradient(source.A[i], source.rho, source.d_u, x, out, margin, lanes)


@kernel
def oracle(source, i, t, k, x, out, scratch, words, keys, lanes):
    """One stochastic answer per lane: mini-batch where ``batch`` > 0, plus Gaussian noise per coordinate.

    ``scratch`` is (4, B) and ``words`` (4, B).
    """
    d = x.shape[0]
    if source.kind == LOGISTIC and source.batch > 0:
        logistic_batch_gradient(
            source.A[i], source.rho, source.d_u, source.batch, x, out, scratch[0], words, keys, t, i, k, lanes
        )
    else:
        exact_gradient(source, i, x, out, scratch[0], lanes)
    floats = scratch[1]
    bits = floats.view(np.int64)
    for block in range((d + 3) // 4):
        silent = True
        for row in range(4 * block, min(4 * block + 4, d)):
            silent = silent and source.noise[row] == 0.0
        if silent:
            continue
        philox(block, k, t, counter_tag(NOISE, i), keys, words, lanes)
        for half in range(2):
            row = 4 * block + 2 * half
            if row >= d:
                break
            normals(words, 2 * half, 2 * half + 1, floats, bits, scratch[2], scratch[3], lanes)
            for lane in range(lanes):
                out[row, lane] += source.noise[row] * scratch[2, lane]
            if row + 1 < d:
                for lane in range(lanes):
                    out[row + 1, lane] += source.noise[row + 1] * scratch[3, lane]


@kernel
def values(source, i, x, gradient, out, scratch, lanes):
    """Fill out (B,) with f_i at x, whose exact gradient is given; ``scratch`` is (B,)."""
    out[:lanes] = 0.0
    if source.kind == AFFINE:
        # With gradient M x - c, f = x'M x/2 - c'x = x'(gradient - c)/2.
        for row in range(x.shape[0]):
            for lane in range(lanes):
                out[lane] += 0.5 * x[row, lane] * (gradient[row, lane] - source.c[i, row])
        return
    A = source.A[i]
    N, d = A.shape
    for sample in range(N):
        scratch[:lanes] = 0.0
        for column in range(d):
            for lane in range(lanes):
                scratch[lane] += A[sample, column] * x[column, lane]
        for lane in range(lanes):
            z = scratch[lane]
            out[lane] += (math.log1p(math.exp(-abs(z))) + max(-z, 0.0)) / N
    for first, last in ((0, source.d_u), (source.d_u, d)):
        scratch[:lanes] = 0.0
        for row in range(first, last):
            for lane in range(lanes):
                scratch[lane] += x[row, lane] * x[row, lane]
        for lane in range(lanes):
            out[lane] += source.rho * scratch[lane] / (1.0 + scratch[lane])
