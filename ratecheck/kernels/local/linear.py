"""Gradients and values of linear models on sparse rows: loops over the entries of a row, for all lanes at once.

A row ``a`` with the target ``y`` adds ``factor * loss(a'x, y)`` to its client's function. A model with several outputs
has the variables of a feature side by side: coordinate ``c * outputs + o`` is that of feature ``c`` and output ``o``.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import HUBER_LOSS, LOGISTIC_LOSS, SOFTMAX_LOSS
from ratecheck.kernels.random import BATCH, counter_tag, philox
from ratecheck.kernels.vectors import add_sparse, sparse_product, weigh


class SparseRows(NamedTuple):
    """The rows of all clients, one after the other, as the kernels take them.

    Row ``l`` has the ``entries`` (1, nnz) at the ``columns`` (1, nnz), whole numbers as doubles, of the places from
    ``starts[l]`` up to ``starts[l + 1]``; client ``i`` has the rows from ``clients[i]`` up to ``clients[i + 1]``.
    ``targets`` are -1 and 1 (logistic), numbers (squared, Huber), or the number of a class (softmax); ``factors`` the
    weights of the rows in f_i. ``loss`` is a code of `ratecheck.kernels.constants`, ``delta`` the place where Huber's
    loss becomes linear, ``l2`` the weight of ||x||^2/2.
    """

    entries: Any
    columns: Any
    starts: Any
    clients: Any
    targets: Any
    factors: Any
    outputs: Any
    loss: Any
    delta: Any
    l2: Any


NO_ROWS = SparseRows(
    np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0), np.zeros(0),
    1, LOGISTIC_LOSS, 1.0, 0.0,
)  # fmt: skip


@kernel
def put_slopes(rows, targets, factors, z, lanes):
    """Put factor times the derivative of the loss in place of the outputs z (outputs, B), a row of its own per lane."""
    if rows.loss == LOGISTIC_LOSS:
        for lane in range(lanes):
            z[0, lane] *= targets[lane]
        weigh(-1.0, 0, z, lanes)
        for lane in range(lanes):
            z[0, lane] *= targets[lane] * factors[lane]
    elif rows.loss == SOFTMAX_LOSS:
        for lane in range(lanes):
            largest = z[0, lane]
            for output in range(1, rows.outputs):
                largest = max(largest, z[output, lane])
            total = 0.0
            for output in range(rows.outputs):
                z[output, lane] = math.exp(z[output, lane] - largest)
                total += z[output, lane]
            for output in range(rows.outputs):
                z[output, lane] *= factors[lane] / total
            z[int(targets[lane]), lane] -= factors[lane]
    else:
        for lane in range(lanes):
            slope = z[0, lane] - targets[lane]
            if rows.loss == HUBER_LOSS:
                slope = min(max(slope, -rows.delta), rows.delta)
            z[0, lane] = factors[lane] * slope


@kernel
def add_losses(rows, row, z, out, lanes):
    """Add the losses of a row with the outputs z (outputs, B), times its factor, to out (B,)."""
    target, factor = rows.targets[row], rows.factors[row]
    for lane in range(lanes):
        if rows.loss == LOGISTIC_LOSS:
            margin = target * z[0, lane]
            found = math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)
        elif rows.loss == SOFTMAX_LOSS:
            largest = z[0, lane]
            for output in range(1, rows.outputs):
                largest = max(largest, z[output, lane])
            total = 0.0
            for output in range(rows.outputs):
                total += math.exp(z[output, lane] - largest)
            found = math.log(total) + (largest - z[int(target), lane])
        else:
            away = abs(z[0, lane] - target)
            found = 0.5 * away * away
            if rows.loss == HUBER_LOSS and away > rows.delta:
                found = rows.delta * (away - 0.5 * rows.delta)
        out[lane] += factor * found


@kernel
def put_outputs(rows, row, x, z, lanes):
    """Fill z (outputs, B) with a'x of one row."""
    first, last = rows.starts[row], rows.starts[row + 1]
    for output in range(rows.outputs):
        sparse_product(rows.entries, rows.columns, first, last, rows.outputs, output, x, z, lanes)


@kernel
def drawn_row(rows, i, word, x, lane, z, place):
    """The row of client i that a random word draws, as `batch_gradient` does; z[:, place] has its a'x in the lane."""
    count = np.uint64(rows.clients[i + 1] - rows.clients[i])
    drawn = ((np.uint64(word) & np.uint64(0xFFFFFFFF)) * count) >> np.uint64(32)
    row = rows.clients[i] + np.int64(drawn)
    for output in range(rows.outputs):
        total = 0.0
        for entry in range(rows.starts[row], rows.starts[row + 1]):
            total += rows.entries[0, entry] * x[rows.outputs * np.int64(rows.columns[0, entry]) + output, lane]
        z[output, place] = total
    return row


@kernel_apart
def linear_gradient(rows, i, x, out, lanes):
    """Fill out (d, B) with the gradient of client i over all of its rows, with that of the l2 term."""
    many = rows.outputs
    z, targets, factors = np.empty((many, x.shape[1])), np.empty(x.shape[1]), np.empty(x.shape[1])
    put_l2(rows, x, out, lanes)
    for row in range(rows.clients[i], rows.clients[i + 1]):
        put_outputs(rows, row, x, z, lanes)
        targets[:lanes] = rows.targets[row]
        factors[:lanes] = rows.factors[row]
        put_slopes(rows, targets, factors, z, lanes)
        first, last = rows.starts[row], rows.starts[row + 1]
        for output in range(many):
            add_sparse(rows.entries, rows.columns, first, last, many, output, z, out, lanes)


@kernel_apart
def linear_batch(rows, i, batch, k, t, keys, words, x, out, lanes):
    """Fill out (d, B) with gradients over ``batch`` rows of client i, drawn with replacement, for every lane its own.

    The draws are those of `batch_gradient`: a table that is stored densely has the same samples.
    """
    many = rows.outputs
    z, targets, factors = np.empty((many, x.shape[1])), np.empty(x.shape[1]), np.empty(x.shape[1])
    drawn = np.empty(x.shape[1], np.int64)
    scale = float(rows.clients[i + 1] - rows.clients[i]) / batch
    put_l2(rows, x, out, lanes)
    for draw in range(batch):
        if draw % 4 == 0:
            philox(np.int64(draw // 4), k, t, counter_tag(BATCH, i), keys, words, lanes)
        for lane in range(lanes):
            row = drawn_row(rows, i, words[draw % 4, lane], x, lane, z, lane)
            drawn[lane] = row
            targets[lane], factors[lane] = rows.targets[row], scale * rows.factors[row]
        put_slopes(rows, targets, factors, z, lanes)
        for lane in range(lanes):
            row = drawn[lane]
            for place in range(rows.starts[row], rows.starts[row + 1]):
                first, entry = many * np.int64(rows.columns[0, place]), rows.entries[0, place]
                for output in range(many):
                    out[first + output, lane] += entry * z[output, lane]


@kernel
def put_l2(rows, x, out, lanes):
    """Fill out (d, B) with l2 x."""
    if rows.l2 == 0.0:
        out[:, :lanes] = 0.0
        return
    for row in range(x.shape[0]):
        for lane in range(lanes):
            out[row, lane] = rows.l2 * x[row, lane]


@kernel_apart
def linear_values(rows, i, x, out, lanes):
    """Add the mean loss of client i and its l2 term at x to out (B,)."""
    z = np.empty((rows.outputs, x.shape[1]))
    for row in range(rows.clients[i], rows.clients[i + 1]):
        put_outputs(rows, row, x, z, lanes)
        add_losses(rows, row, z, out, lanes)
    add_l2(rows, x, out, lanes)


@kernel
def add_l2(rows, x, out, lanes):
    """Add l2 ||x||^2/2 to out (B,)."""
    if rows.l2 != 0.0:
        for row in range(x.shape[0]):
            for lane in range(lanes):
                out[lane] += 0.5 * rows.l2 * x[row, lane] * x[row, lane]


@kernel
def add_batch_losses(rows, i, batch, k, t, keys, words, x, out, lanes):
    """Add the mean loss of client i over the rows that `linear_batch` draws, and its l2 term, at x to out (B,)."""
    z, loss = np.empty((rows.outputs, 1)), np.empty(1)
    scale = float(rows.clients[i + 1] - rows.clients[i]) / batch
    for draw in range(batch):
        if draw % 4 == 0:
            philox(np.int64(draw // 4), k, t, counter_tag(BATCH, i), keys, words, lanes)
        for lane in range(lanes):
            row = drawn_row(rows, i, words[draw % 4, lane], x, lane, z, 0)
            loss[0] = 0.0
            add_losses(rows, row, z, loss, 1)
            out[lane] += scale * loss[0]
    add_l2(rows, x, out, lanes)
