"""Recording: quantities of the state before a round, for all replicates ("lanes") at once."""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.oracle import AFFINE, SAMPLED, exact_gradient, values
from ratecheck.kernels.vectors import add_displacement, add_inner, add_multiple, affine, clear

# How a term is taken over the clients: see `ratecheck.algorithms.model.algorithm.TermOver`.
MEANS = 1
VALUES = 2


class Records(NamedTuple):
    """The quantities to record, as arrays.

    Record q gains the squares of rows row_starts[q] ... row_starts[q+1]-1 of ``rows`` (R, d) @ point - ``offset``
    (R,), the point being the server's. ``group`` and ``slot`` (blocks,) say where the recorded point is, in server (0)
    or client (1) state. Term j adds to record ``owner[j]``, over the clients as ``over[j]`` says, ``factor[i, j]``
    times the product of two vectors in block ``block[j]``, combined by ``left`` and ``right`` (n, J, server + client +
    2) from state, gradient and the displacement from ``anchor`` (n, d). ``constant`` is added to each record.
    ``answers``: whether any term needs a client's answer at the recorded point.
    """

    rows: Any
    offset: Any
    row_starts: Any
    group: Any
    slot: Any
    over: Any
    owner: Any
    block: Any
    factor: Any
    left: Any
    right: Any
    anchor: Any
    constant: Any
    answers: Any


@kernel_apart
def record_round(source, records, starts, server, client, gradients, scratch, record):
    """Fill record (names, B).

    Where a term needs them, ``gradients`` (n, d, B) receives the clients' exact answers at their recorded points, or
    the last one where it is (1, d, B).
    """
    for q in range(len(records.constant)):
        record[q, :] = records.constant[q]
    if len(records.offset) > 0:
        record_rows(records, starts, server, client, record)
    if len(records.owner) > 0:
        record_terms(source, records, starts, server, client, gradients, scratch, record)


@kernel
def recorded_point(records, starts, server, client, i, x):
    """Fill x (d, B) with client i's recorded point, zero where there is none."""
    d, lanes = x.shape
    for block in range(len(starts) - 1):
        first, size, slot = starts[block], starts[block + 1] - starts[block], records.slot[block]
        if slot < 0:
            clear(x, first, size, lanes)
        elif records.group[block] == 0:
            add_multiple(SET, 1.0, server, slot * d + first, x, first, size, lanes)
        else:
            add_multiple(SET, 1.0, client, (i * client.shape[1] + slot) * d + first, x, first, size, lanes)


@kernel
def record_rows(records, starts, server, client, record):
    """Squares of affine maps of the server's point."""
    _, d, lanes = server.shape
    x, out = np.empty((d, lanes)), np.empty((len(records.offset), lanes))
    recorded_point(records, starts, server, client, 0, x)
    affine(records.rows, records.offset, x, out, lanes)
    for q in range(len(record)):
        add_inner(1.0, out, out, records.row_starts[q], records.row_starts[q + 1], record, q, lanes)


@kernel
def record_terms(source, records, starts, server, client, gradients, scratch, record):
    """Products over the clients."""
    n, _, d, lanes = client.shape
    # Taken out of the tuples once: every time costs the counting of a reference.
    owner, over, block, factors, anchor = records.owner, records.over, records.block, records.factor, records.anchor
    lefts, rights, M, c = records.left, records.right, source.M, source.c
    affine_answers = source.kind in (AFFINE, SAMPLED)
    terms, width = len(owner), lefts.shape[2]
    x, left, right = np.empty((d, lanes)), np.empty((d, lanes)), np.empty((d, lanes))
    means = np.zeros((terms, 2, d, lanes))
    for i in range(n):
        recorded_point(records, starts, server, client, i, x)
        gradient = gradients[i % len(gradients)]
        if records.answers and affine_answers:
            affine(M[i], c[i], x, gradient, lanes)
        elif records.answers:
            exact_gradient(source, i, x, gradient, lanes)
        for j in range(terms):
            q, factor = owner[j], factors[i, j] / n
            if over[j] == VALUES:
                values(source, i, x, gradient, scratch[1], scratch[0], lanes)
                add_multiple(ADD, factor, scratch, 1, record, q, 1, lanes)
                continue
            first, last = starts[block[j]], starts[block[j] + 1]
            vector(lefts, i, j, anchor, first, last, server, client, gradient, x, left)
            same, other = True, left
            for k in range(width):
                same = same and lefts[i, j, k] == rights[i, j, k]
            if not same:
                other = right
                vector(rights, i, j, anchor, first, last, server, client, gradient, x, right)
            if over[j] == MEANS:
                add_multiple(ADD, 1.0 / n, left, first, means, 2 * j * d + first, last - first, lanes)
                add_multiple(ADD, 1.0 / n, other, first, means, (2 * j + 1) * d + first, last - first, lanes)
            else:
                add_inner(factor, left, other, first, last, record, q, lanes)
    for j in range(terms):
        if records.over[j] == MEANS:
            add_inner(records.factor[0, j], means[j, 0], means[j, 1], 0, d, record, records.owner[j], lanes)


@kernel
def vector(table, i, j, anchor, first, last, server, client, gradient, x, out):
    """Coordinates first ... last-1 of a term's combination of client i's state, gradient and displacement."""
    d, lanes = x.shape
    servers, clients, size = server.shape[0], client.shape[1], last - first
    clear(out, first, size, lanes)
    for k in range(servers + clients + 2):
        factor = table[i, j, k]
        if factor == 0.0:
            continue
        if k < servers:
            add_multiple(ADD, factor, server, k * d + first, out, first, size, lanes)
        elif k < servers + clients:
            add_multiple(ADD, factor, client, (i * clients + k - servers) * d + first, out, first, size, lanes)
        elif k == servers + clients:
            add_multiple(ADD, factor, gradient, first, out, first, size, lanes)
        else:
            add_displacement(factor, x, anchor, i, out, first, size, lanes)
