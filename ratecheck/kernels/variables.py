"""Sums of multiples of variables, on all lanes at once.

An array (..., d, B) holds variables of d coordinates, lanes innermost; in it, the rows of the variables stand one after
the other. The algorithms' functions act on each coordinate of a block alike, so that each of them is a few sums of
multiples of the block's rows. (Rows are named by numbers, since slices of arrays cost more than such a sum: their
references are counted.)
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.lanes import DOUBLE, INDEX, Lanes, LaneTable, lanewise

# The largest number of local variables in a block: for each there is code that keeps them in registers.
SLOTS = 4
# What becomes of the rows to which something is added: first set them to zero, or keep them.
SET, ADD = 0, 1


def _add(mode, factor, x, x_row, out, out_row, count):
    builder, x, out = out.builder, x.since(x_row), out.since(out_row)
    with builder.if_else(builder.icmp_signed("==", mode, INDEX(SET))) as (first, later):
        with first, cgutils.for_range(builder, count) as loop:
            out[loop.index] = x[loop.index] * factor
        with later, cgutils.for_range(builder, count) as loop:
            out[loop.index] = out[loop.index].plus_product(x[loop.index], factor)


@lanewise
def add_multiple(mode, factor, x, x_row, out, out_row, count):
    """Add a number times ``count`` rows of x, from ``x_row`` on, to those of out; in mode SET only put it there."""
    _add(mode, factor, x, x_row, out, out_row, count)


@lanewise
def add_scaled(mode, factors, x, x_row, out, out_row, count):
    """The same with a factor of its own for each lane, factors (B,)."""
    _add(mode, factors[0], x, x_row, out, out_row, count)


@lanewise
def clear(out, row, count):
    """Fill rows with zeros."""
    with cgutils.for_range(out.builder, count) as loop:
        place = out.builder.add(row, loop.index)
        out[place] = out[place].all(0.0)


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


@kernel
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


@kernel
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
    add_multiple(SET, 1.0, new, 0, server, 0, new.shape[0], B)


@lanewise
def advance(slots, steps, table: LaneTable, table_row, stride, drive, drive_row, local, row, count, d):
    """Make ``steps`` > 0 steps of the local variables (slots, d, B) in ``count`` coordinates from ``row`` on.

    Each coordinate is for itself. Its coefficients for (local, drive, 1), output by output, are in one row of
    ``table``, those of the next one ``stride`` rows further; the drive is the same in every step.
    """
    builder = local.builder
    for size in range(1, SLOTS + 1):
        fits = builder.icmp_signed("==", slots, INDEX(size))
        with builder.if_then(fits), cgutils.for_range(builder, count) as loop:
            place = builder.add(table_row, builder.mul(loop.index, stride))
            rows = [builder.add(builder.add(row, loop.index), builder.mul(d, INDEX(o))) for o in range(size)]
            force = drive[builder.add(drive_row, loop.index)]
            factors = [[table[place, o * (size + 2) + k] for k in range(size + 2)] for o in range(size)]
            shifts = [force.all(of[size + 1]).plus_product(force, of[size]) for of in factors]
            for place, x in zip(rows, _stepped(steps, [local[r] for r in rows], factors, shifts), strict=True):
                local[place] = x


def _stepped(steps, start, factors, shifts):
    """One coordinate of all local variables after that many steps in registers; the first one is not in a loop."""
    builder = start[0].builder

    def step(old):
        new = []
        for of, shift in zip(factors, shifts, strict=True):
            # The point comes last: the other variables mostly do not change, and can be added beforehand.
            for k in reversed(range(len(old))):
                shift = shift.plus_product(old[k], of[k])  # noqa: PLW2901
            new.append(shift)
        return new

    places = [cgutils.alloca_once(builder, ir.VectorType(DOUBLE, x.value.type.count)) for x in start]
    for place, x in zip(places, step(start), strict=True):
        builder.store(x.value, place)
    with cgutils.for_range(builder, builder.sub(steps, INDEX(1))):
        old = [Lanes(builder, builder.load(place)) for place in places]
        for place, x in zip(places, step(old), strict=True):
            builder.store(x.value, place)
    return [Lanes(builder, builder.load(place)) for place in places]


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
