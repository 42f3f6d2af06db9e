"""Recording: quantities of the state before a round, for all replicates ("lanes") at once."""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.oracle import exact_gradient, values
from ratecheck.kernels.product import affine

# How a term is taken over the clients: see `ratecheck.algorithms.base.Over`.
MEANS = 1
VALUES = 2


class Records(NamedTuple):
    """What is recorded, as arrays.

    Record ``row_owner[r]`` gains the square of row r of ``rows`` (R, d) @ point - ``offset`` (R,), the point being the
    server's. ``group`` and ``slot`` (blocks,) say where the recorded point is, in server (0) or client (1) state. Term
    j adds to record ``owner[j]``, over the clients as ``over[j]`` says, ``factor[i, j]`` times the product of two
    vectors in block ``block[j]``, combined by ``left`` and ``right`` (n, J, server + client + 2) from state, gradient
    and the displacement from ``anchor`` (n, d). ``constant`` is added to each record.
    """

    rows: Any
    offset: Any
    row_owner: Any
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


@kernel
def record_round(source, records, block, server, client, scratch, record):
    """Fill record (names, B)."""
    for q in range(len(records.constant)):
        record[q, :] = records.constant[q]
    if len(records.row_owner) > 0:
        record_rows(records, block, server, record)
    if len(records.owner) > 0:
        record_terms(source, records, block, server, client, scratch, record)


@kernel
def record_rows(records, block, server, record):
    """Squares of affine maps of the server's point."""
    _, d, lanes = server.shape
    x, out = np.empty((d, lanes)), np.empty((len(records.row_owner), lanes))
    for row in range(d):
        if records.slot[block[row]] >= 0:
            x[row] = server[records.slot[block[row]], row]
        else:
            x[row] = 0.0
    affine(records.rows, records.offset, x, out, lanes)
    for row in range(len(records.row_owner)):
        q = records.row_owner[row]
        for lane in range(lanes):
            record[q, lane] += out[row, lane] * out[row, lane]


@kernel
def record_terms(source, records, block, server, client, scratch, record):
    """Products over the clients."""
    n, _, d, lanes = client.shape
    terms = len(records.owner)
    x, gradient = np.empty((d, lanes)), np.empty((d, lanes))
    left, right = np.empty(lanes), np.empty(lanes)
    means = np.zeros((terms, 2, d, lanes))
    for i in range(n):
        recorded_point(records, block, server, client[i], x)
        exact_gradient(source, i, x, gradient, lanes)
        for j in range(terms):
            if records.over[j] == VALUES:
                values(source, i, x, gradient, left, scratch[0], lanes)
                for lane in range(lanes):
                    record[records.owner[j], lane] += records.factor[i, j] * left[lane] / n
                continue
            for row in range(d):
                if block[row] != records.block[j]:
                    continue
                vector(records.left[i, j], row, server, client[i], gradient, x, records.anchor[i], left)
                vector(records.right[i, j], row, server, client[i], gradient, x, records.anchor[i], right)
                if records.over[j] == MEANS:
                    for lane in range(lanes):
                        means[j, 0, row, lane] += left[lane] / n
                        means[j, 1, row, lane] += right[lane] / n
                else:
                    for lane in range(lanes):
                        record[records.owner[j], lane] += records.factor[i, j] * left[lane] * right[lane] / n
    for j in range(terms):
        if records.over[j] == MEANS:
            for row in range(d):
                for lane in range(lanes):
                    record[records.owner[j], lane] += (
                        records.factor[0, j] * means[j, 0, row, lane] * means[j, 1, row, lane]
                    )


@kernel
def recorded_point(records, block, server, client, x):
    """Fill x (d, B) with the point at which a client's quantities are recorded, 0 where there is none."""
    for row in range(x.shape[0]):
        slot = records.slot[block[row]]
        if slot < 0:
            x[row] = 0.0
        elif records.group[block[row]] == 0:
            x[row] = server[slot, row]
        else:
            x[row] = client[slot, row]


@kernel
def vector(coefficients, row, server, client, gradient, x, anchor, out):
    """One coordinate of a combination of state, gradient and displacement."""
    servers, clients = server.shape[0], client.shape[0]
    out[:] = 0.0
    for k in range(servers):
        if coefficients[k] != 0.0:
            out += coefficients[k] * server[k, row]
    for k in range(clients):
        if coefficients[servers + k] != 0.0:
            out += coefficients[servers + k] * client[k, row]
    if coefficients[servers + clients] != 0.0:
        out += coefficients[servers + clients] * gradient[row]
    if coefficients[servers + clients + 1] != 0.0:
        out += coefficients[servers + clients + 1] * (x[row] - anchor[row])
