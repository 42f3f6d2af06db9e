"""Sums of multiples of variables, on all lanes at once.

An array (..., d, B) holds variables of d coordinates, lanes innermost; in it, the rows of the variables stand one after
the other. The algorithms' functions act on each coordinate of a block alike, so that each of them is a few sums of
multiples of the block's rows. (Rows are named by numbers, since slices of arrays cost more than such a sum: their
references are counted.)
"""

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.vectors import add_multiple, add_scaled, clear


@kernel
def combine(table, i, starts, counts, server, client, member, local, out, output, first_mode, lanes):
    """Fill the variables out (slots, d, B) with table[i] (blocks, outputs, inputs) times (server, client, local).

    They are the outputs from ``output`` on, counts[b] of them in block b, which is coordinates starts[b] ...
    starts[b+1]-1; with ``first_mode`` ADD the products are added to them. Inputs are server (slots, d, B),
    client[member] (slots, d, B) and, as far as there are coefficients for them, local (slots, d, B).
    """
    S, C, d = server.shape[0], client.shape[1], out.shape[1]
    for block in range(len(counts)):
        first = starts[block]
        size = starts[block + 1] - first
        for o in range(counts[block]):
            row, mode = o * d + first, first_mode
            for k in range(table.shape[3]):
                factor = table[i, block, output + o, k]
                if factor != 0.0:
                    if k < S:
                        add_multiple(mode, factor, server, k * d + first, out, row, size, lanes)
                    elif k < S + C:
                        add_multiple(mode, factor, client, (member * C + k - S) * d + first, out, row, size, lanes)
                    else:
                        add_multiple(mode, factor, local, (k - S - C) * d + first, out, row, size, lanes)
                    mode = ADD
            if mode == SET:
                clear(out, row, size, lanes)


@kernel_apart
def add_delayed(table, i, starts, counts, server, client, member, delays, factors, out, lanes):
    """Add table[i] times (server, client) / delays to out, all as in `combine`; ``factors`` (B,) is scratch."""
    S, C, d = server.shape[0], client.shape[1], out.shape[1]
    for block in range(len(counts)):
        first = starts[block]
        size = starts[block + 1] - first
        for o in range(counts[block]):
            for k in range(table.shape[3]):
                factor = table[i, block, o, k]
                if factor != 0.0:
                    for lane in range(lanes):
                        factors[lane] = factor / delays[lane]
                    if k < S:
                        add_scaled(ADD, factors, server, k * d + first, out, o * d + first, size, lanes)
                    else:
                        row = (member * C + k - S) * d + first
                        add_scaled(ADD, factors, client, row, out, o * d + first, size, lanes)


@kernel_apart
def aggregate_round(aggregate, starts, places, participants, server, total, new, factors):
    """Server state (..., B) after a round; every replicate with the coefficients of its own number of participants.

    ``aggregate`` is (n + 1, blocks, server, server + message) by that number. Variable k of server and message has
    starts[b+1] - starts[b] rows in block b, of the server's state or of the messages' sum ``total``, and ``places``
    (blocks, server + message) says from which row on, -1 if there is none. ``new`` (rows, B) and ``factors`` (B,) are
    scratch.
    """
    slots, B = aggregate.shape[2], new.shape[1]
    for block in range(places.shape[0]):
        size = starts[block + 1] - starts[block]
        for o in range(slots):
            place, mode = places[block, o], SET
            if place < 0:
                continue
            for k in range(aggregate.shape[3]):
                # Whether a term is left out must not depend on how many take part in the other lanes.
                used = False
                for count in range(aggregate.shape[0]):
                    used = used or aggregate[count, block, o, k] != 0.0
                if not used:
                    continue
                for lane in range(B):
                    factors[lane] = aggregate[participants[lane], block, o, k]
                if k < slots:
                    add_scaled(mode, factors, server, places[block, k], new, place, size, B)
                else:
                    add_scaled(mode, factors, total, places[block, k], new, place, size, B)
                mode = ADD
            if mode == SET:
                clear(new, place, size, B)
    # Rows of no variable stay as they are: in ``new`` they are whatever was in memory.
    for block in range(places.shape[0]):
        for o in range(slots):
            place = places[block, o]
            if place >= 0:
                add_multiple(SET, 1.0, new, place, server, place, starts[block + 1] - starts[block], B)


@kernel
def gather(starts, counts, state, members, packed, lanes):
    """Copy the variables of the member lanes of state (slots, d, B) into the first lanes of packed (slots, d, B)."""
    for block in range(len(counts)):
        for slot in range(counts[block]):
            for row in range(starts[block], starts[block + 1]):
                for lane in range(lanes):
                    packed[slot, row, lane] = state[slot, row, members[lane]]


@kernel
def scatter(starts, counts, packed, members, state, lanes):
    """Copy the variables in the first lanes of packed (slots, d, B) to the member lanes of state (slots, d, B)."""
    for block in range(len(counts)):
        for slot in range(counts[block]):
            for row in range(starts[block], starts[block + 1]):
                for lane in range(lanes):
                    state[slot, row, members[lane]] = packed[slot, row, lane]


@kernel
def project(rows, radius, participants, server, scratch):
    """Multiply these rows of server (R, B) by min(1, radius/norm) where anybody took part; ``scratch`` is (B,)."""
    if radius == np.inf:
        return
    B = server.shape[1]
    for lane in range(B):
        scratch[lane] = 0.0
    for row in rows:
        for lane in range(B):
            scratch[lane] += server[row, lane] * server[row, lane]
    for lane in range(B):
        norm = np.sqrt(scratch[lane])
        scratch[lane] = radius / norm if norm > radius and participants[lane] > 0 else 1.0
    for row in rows:
        for lane in range(B):
            server[row, lane] *= scratch[lane]
