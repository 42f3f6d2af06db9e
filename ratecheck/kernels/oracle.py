"""Gradient kernels: what a client's oracle returns, for all replicates ("lanes") at once.

Points and gradients are (d, B) arrays, the B lanes innermost; only the first ``lanes`` of them are computed.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import GAUSSIAN
from ratecheck.kernels.local.linear import NO_ROWS, add_batch_losses, linear_batch, linear_gradient, linear_values
from ratecheck.kernels.local.proximal import logistic_prox
from ratecheck.kernels.noise import add_law
from ratecheck.kernels.random import BATCH, NOISE, counter_tag, philox
from ratecheck.kernels.vectors import add_part, add_product, affine, batch_gradient, weigh

AFFINE = 0
LOGISTIC = 1
PROXIMAL = 2
PIECEWISE = 3
SAMPLED = 4
LINEAR = 5

# Samples whose weights are computed at a time: they stay in the cache.
SAMPLES = 32


class Oracle(NamedTuple):
    """A client's answer at a point x (d,).

    ``kind`` AFFINE: M_i x - c_i, with M (n, d, d) and c (n, d). LOGISTIC: the gradient of a logistic client with rows
    c_l*(a_l, b_l) in A (n, N, d), over ``batch`` samples (0: all), regularised by ``rho`` on the first ``d_u``
    coordinates and on the others. PROXIMAL: the proximal map of that client with parameter ``lambda_``. PIECEWISE: in
    every coordinate the gradient -c_i at 0 and, in A (n, d, 2 J + 1), J breakpoints and then the J + 1 curvatures
    between them. SAMPLED: M and c have twice n entries, and the answer M_i x - c_i is off by M_(n+i) x - c_(n+i) to
    either side, with signs of their own for the first ``d_u`` coordinates and each half of the others. LINEAR: the
    gradient of a linear model on the sparse ``rows``, over ``batch`` of them, regularised as a logistic client.
    ``noise`` (d,) is the size of the noise and ``law`` with two numbers ``shape`` its law, see
    `ratecheck.kernels.noise.add_law`.
    """

    kind: Any
    M: Any
    c: Any
    A: Any
    rho: Any
    d_u: Any
    batch: Any
    lambda_: Any
    noise: Any
    law: Any = GAUSSIAN
    shape: Any = (0.0, 0.0)
    rows: Any = NO_ROWS


@kernel
def add_regulariser(rho, d_u, x, out, lanes):
    """Add the gradient of the regulariser: one term for the shared coordinates, one for the personal ones."""
    if rho != 0.0:
        add_part(rho, x, out, 0, d_u, lanes)
        add_part(rho, x, out, d_u, x.shape[0], lanes)


@kernel
def weigh_rows(factor, margins, lanes):
    """Put factor/(1+exp(z)) in place of the margins z (N, B)."""
    for row in range(len(margins)):
        weigh(factor, row, margins, lanes)


@kernel_apart
def logistic_gradient(A, rho, d_u, x, out, lanes):
    """Full gradient of a logistic client with rows c_l*(a_l, b_l) in A (N, d)."""
    N = A.shape[0]
    weights, zero = np.empty((min(N, SAMPLES), x.shape[1])), np.zeros(min(N, SAMPLES))
    out[:, :lanes] = 0.0
    for first in range(0, N, SAMPLES):
        part = A[first : first + SAMPLES]
        affine(part, zero, x, weights, lanes)
        weigh_rows(-1.0 / N, weights[: len(part)], lanes)
        add_product(part.T, weights, out, lanes)
    add_regulariser(rho, d_u, x, out, lanes)


@kernel
def within(pieces, j, x):
    """The point x moved into piece j of a row of J breakpoints (then J + 1 curvatures)."""
    last = (len(pieces) - 1) // 2
    if j > 0:
        x = max(x, pieces[j - 1])
    return min(x, pieces[j]) if j < last else x


@kernel_apart
def piecewise_gradient(A, c, x, out, lanes):
    """Gradient of a separable client: -c (d,) at 0, and what its curvatures in A (d, 2 J + 1) add up to from there.

    Every piece adds its curvature times the part of the way from 0 to x that lies in it, so that nothing cancels far
    away from the breakpoints.
    """
    count = (A.shape[1] + 1) // 2
    for row in range(x.shape[0]):
        for lane in range(lanes):
            total = -c[row]
            for j in range(count):
                way = within(A[row], j, x[row, lane]) - within(A[row], j, 0.0)
                total += A[row, count - 1 + j] * way
            out[row, lane] = total


@kernel_apart
def piecewise_values(A, c, x, out, lanes):
    """Add the values of a separable client, 0 at 0, to out (B,).

    With y and z the points of a piece next to 0 and to x, its curvature counts (z - y)^2/2 + (z - y) (x - z) times.
    """
    count = (A.shape[1] + 1) // 2
    for row in range(x.shape[0]):
        for lane in range(lanes):
            point = x[row, lane]
            total = -c[row] * point
            for j in range(count):
                start, end = within(A[row], j, 0.0), within(A[row], j, point)
                way = end - start
                total += A[row, count - 1 + j] * way * (0.5 * way + (point - end))
            out[lane] += total


@kernel_apart
def exact_gradient(source, i, x, out, lanes):
    """Client i's answer without noise, over all samples."""
    if source.kind in (AFFINE, SAMPLED):
        affine(source.M[i], source.c[i], x, out, lanes)
    elif source.kind == PIECEWISE:
        piecewise_gradient(source.A[i], source.c[i], x, out, lanes)
    elif source.kind == LINEAR:
        linear_gradient(source.rows, i, x, out, lanes)
        add_regulariser(source.rho, source.d_u, x, out, lanes)
    elif source.kind == PROXIMAL:
        logistic_prox(source.A[i], source.rho, source.lambda_, x, out, lanes)
    else:
        logistic_gradient(source.A[i], source.rho, source.d_u, x, out, lanes)


@kernel_apart
def oracle(source, i, t, k, x, out, words, keys, lanes):
    """One stochastic answer per lane: mini-batch where ``batch`` > 0, plus noise per coordinate.

    A batch is drawn uniformly with replacement, for every lane its own. ``words`` (4, B) is scratch.
    """
    if source.kind == LOGISTIC and source.batch > 0:
        batch_gradient(source.A[i], source.batch, k, t, counter_tag(BATCH, i), keys, words, x, out, lanes)
        add_regulariser(source.rho, source.d_u, x, out, lanes)
    elif source.kind == LINEAR and source.batch > 0:
        linear_batch(source.rows, i, source.batch, k, t, keys, words, x, out, lanes)
        add_regulariser(source.rho, source.d_u, x, out, lanes)
    else:
        exact_gradient(source, i, x, out, lanes)
    if source.kind == SAMPLED:
        add_samples(source, i, t, k, x, out, words, keys, lanes)
    add_law(source.law, source.shape, source.noise, i, t, k, out, words, keys, lanes)


@kernel_apart
def add_samples(source, i, t, k, x, out, words, keys, lanes):
    """Add what the samples of client i's local step k are off at x; ``words`` (4, B) is scratch."""
    d, d_u, first = x.shape[0], source.d_u, np.int64(0)
    away, half = np.empty(x.shape), np.uint64(1) << np.uint64(31)
    other = i + source.M.shape[0] // 2
    affine(source.M[other], source.c[other], x, away, lanes)
    philox(first, k, t, counter_tag(NOISE, i), keys, words, lanes)
    for row in range(d):
        word = 0 if row < d_u else 1 + (row - d_u) // ((d - d_u) // 2)
        for lane in range(lanes):
            size = away[row, lane]
            out[row, lane] += size if words[word, lane] >= half else -size


@kernel_apart
def values(source, i, x, gradient, out, scratch, lanes):
    """Fill out (B,) with f_i at x, whose exact gradient is given; ``scratch`` is (B,)."""
    out[:lanes] = 0.0
    if source.kind == AFFINE:
        # With gradient M x - c, f = x'M x/2 - c'x = x'(gradient - c)/2.
        for row in range(x.shape[0]):
            for lane in range(lanes):
                out[lane] += 0.5 * x[row, lane] * (gradient[row, lane] - source.c[i, row])
        return
    if source.kind == LINEAR:
        linear_values(source.rows, i, x, out, lanes)
        if source.rho != 0.0:
            add_penalties(source, x, out, scratch, lanes)
        return
    A = source.A[i]
    if source.kind == PIECEWISE:
        piecewise_values(A, source.c[i], x, out, lanes)
        return
    N, d = A.shape
    for sample in range(N):
        scratch[:lanes] = 0.0
        for column in range(d):
            for lane in range(lanes):
                scratch[lane] += A[sample, column] * x[column, lane]
        for lane in range(lanes):
            z = scratch[lane]
            out[lane] += (math.log1p(math.exp(-abs(z))) + max(-z, 0.0)) / N
    add_penalties(source, x, out, scratch, lanes)


@kernel
def add_penalties(source, x, out, scratch, lanes):
    """Add the values of the regulariser to out (B,), one term for the shared coordinates and one for the others."""
    for first, last in ((0, source.d_u), (source.d_u, x.shape[0])):
        scratch[:lanes] = 0.0
        for row in range(first, last):
            for lane in range(lanes):
                scratch[lane] += x[row, lane] * x[row, lane]
        for lane in range(lanes):
            out[lane] += source.rho * scratch[lane] / (1.0 + scratch[lane])


@kernel
def batch_values(source, i, t, k, x, out, words, keys, lanes):
    """Fill out (B,) with the mean loss of client i on the samples of local step k of round t, those of `oracle`."""
    out[:lanes] = 0.0
    if source.kind == LINEAR:
        add_batch_losses(source.rows, i, source.batch, k, t, keys, words, x, out, lanes)
    else:
        A = source.A[i]
        for draw in range(source.batch):
            if draw % 4 == 0:
                philox(np.int64(draw // 4), k, t, counter_tag(BATCH, i), keys, words, lanes)
            for lane in range(lanes):
                sample = np.int64((words[draw % 4, lane] * np.uint64(A.shape[0])) >> np.uint64(32))
                z = 0.0
                for row in range(x.shape[0]):
                    z += A[sample, row] * x[row, lane]
                out[lane] += (math.log1p(math.exp(-abs(z))) + max(-z, 0.0)) / source.batch
    if source.rho != 0.0:
        add_penalties(source, x, out, np.empty(x.shape[1]), lanes)
