"""The leap kernel: a client's K local steps as one affine map and one Gaussian draw of the same law.

State is flat: server (S, B) and client (n, C, B), the B replicates last.
"""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.random import NOISE, counter_tag
from ratecheck.kernels.records import record_round
from ratecheck.kernels.rounds import gather_members
from ratecheck.kernels.variables import aggregate_round, project
from ratecheck.kernels.vectors import add_multiple, add_normals, add_product, add_scaled, affine, clear


class Leap(NamedTuple):
    """A round as arrays.

    ``rows`` (n, C+M, S+C) maps (server, client) to (client', message), less ``offset`` (n, C+M); where ``delayed``,
    plus ``rates``/delay, of the same shape. ``factors`` (n, C+M, r) times r normals is the noise. Where there is no
    client state, ``whole_rows`` (M, S), ``whole_offset`` (M,) and ``whole_factor`` (M, r) are the same for the sum of
    all clients' messages, used in rounds ``together`` (everybody takes part in all replicates), with normals from the
    stream of client 0; otherwise they are empty. ``aggregate`` and ``places`` are those of `aggregate_round`. Rows
    starts[b] ... starts[b+1]-1 of the coordinates are block b; the places (slots, d) say where a variable's coordinates
    are in the flat state; ``projected`` lists the server's rows that are kept in the ball of ``radius``.
    """

    rows: Any
    offset: Any
    rates: Any
    delayed: Any
    factors: Any
    whole_rows: Any
    whole_offset: Any
    whole_factor: Any
    aggregate: Any
    places: Any
    starts: Any
    server_place: Any
    client_place: Any
    projected: Any
    radius: Any


@kernel
def fill_normals(z, t, client, keys, lanes):
    """Standard normals in the rows of z, from the stream of round t and one client."""
    clear(z, 0, z.shape[0], lanes)
    for row in range(0, z.shape[0], 4):
        add_normals(row // 4, 0, t, counter_tag(NOISE, client), keys, 1.0, 1.0, 1.0, 1.0, row, z, lanes)


@kernel
def run_leaps(measured, leap, records, together, server, client, last, keys, masks, first_round, record):
    """Advance flat state by len(masks) rounds; ``record`` is (rounds, names, B).

    ``together`` (rounds,): whether everybody takes part in all replicates, not only in these.
    """
    n, C, B = client.shape
    S, M = server.shape[0], leap.offset.shape[1] - C
    d = leap.starts[-1]
    wide_server = np.zeros((leap.server_place.shape[0], d, B))
    wide_client = np.zeros((n, leap.client_place.shape[0], d, B))
    scratch, server_part, client_part = np.empty((4, B)), np.empty((S, B)), np.empty((C, B))
    out, z = np.empty((C + M, B)), np.empty((max(leap.factors.shape[2], leap.whole_factor.shape[1]), B))
    total, new, delays, packed = np.empty((M, B)), np.empty((S, B)), np.empty(B), np.empty((2, B), dtype=np.uint64)
    members, participants = np.empty(B, dtype=np.uint64), np.empty(B, dtype=np.int64)
    client_terms, gradient = len(records.owner) > 0, np.empty((1, d, B))
    for t in range(masks.shape[0]):
        now = first_round + t
        unfold(leap.server_place, server, wide_server)
        if client_terms:
            for i in range(n):
                unfold(leap.client_place, client[i], wide_client[i])
        record_round(measured, records, leap.starts, wide_server, wide_client, gradient, scratch, record[t])
        if together[t] and len(leap.whole_offset) > 0:
            participants[:] = n
            last[:, :] = now
            affine(leap.whole_rows, leap.whole_offset, server, total, B)
            add_noise(leap.whole_factor, z, now, 0, keys, total, B)
        else:
            participants[:] = 0
            clear(total, 0, M, B)
            for i in range(n):
                lanes = gather_members(masks, t, i, 0, now, last, keys, members, participants, packed, delays)
                if lanes == 0:
                    continue
                server_here, client_here, keys_here = server, client[i], keys
                if lanes < B:
                    server_here, client_here, keys_here = server_part, client_part, packed
                    gather_rows(server, members, server_part, lanes)
                    gather_rows(client[i], members, client_part, lanes)
                affine(leap.rows[i, :, :S], leap.offset[i], server_here, out, lanes)
                add_product(leap.rows[i, :, S:], client_here, out, lanes)
                if leap.delayed:
                    # As the rates of y/delay: the offset of the rates is zero, the state is scaled beforehand.
                    for lane in range(lanes):
                        delays[lane] = 1.0 / delays[lane]
                    add_scaled(SET, delays, server_here, 0, server_part, 0, S, lanes)
                    add_scaled(SET, delays, client_here, 0, client_part, 0, C, lanes)
                    add_product(leap.rates[i, :, :S], server_part, out, lanes)
                    add_product(leap.rates[i, :, S:], client_part, out, lanes)
                add_noise(leap.factors[i], z, now, i, keys_here, out, lanes)
                if lanes == B:
                    add_multiple(SET, 1.0, out, 0, client, i * C, C, B)
                    add_multiple(ADD, 1.0, out, C, total, 0, M, B)
                    continue
                for row in range(C):
                    for lane in range(lanes):
                        client[i, row, members[lane]] = out[row, lane]
                for row in range(M):
                    for lane in range(lanes):
                        total[row, members[lane]] += out[C + row, lane]
        aggregate_round(leap.aggregate, leap.starts, leap.places, participants, server, total, new, scratch[0])
        project(leap.projected, leap.radius, participants, server, scratch[0])


@kernel
def add_noise(factor, z, t, client, keys, out, lanes):
    """Add factor (R, r) times r normals from the stream of round t and one client to out (R, B)."""
    rank = factor.shape[1]
    if rank > 0:
        fill_normals(z[:rank], t, client, keys, lanes)
        add_product(factor, z[:rank], out, lanes)


@kernel
def gather_rows(state, members, packed, lanes):
    """Copy the member lanes of state (R, B) into the first lanes of packed (R, B)."""
    for row in range(state.shape[0]):
        for lane in range(lanes):
            packed[row, lane] = state[row, members[lane]]


@kernel
def unfold(place, flat, wide):
    """Copy flat state (R, B) to (slots, d, B); ``place`` (slots, d) says from which row, -1 from none."""
    for slot in range(place.shape[0]):
        for row in range(place.shape[1]):
            if place[slot, row] >= 0:
                for lane in range(flat.shape[1]):
                    wide[slot, row, lane] = flat[place[slot, row], lane]
