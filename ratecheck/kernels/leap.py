"""The leap kernel: a client's K local steps as one affine map and one Gaussian draw of the same law.

State is flat: server (S, B) and client (n, C, B), the B replicates last.
"""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.random import NOISE, add_normals, counter_tag
from ratecheck.kernels.records import record_round
from ratecheck.kernels.rounds import combine, gather_members


class Leap(NamedTuple):
    """A round as arrays.

    ``rows`` (n, C+M, S+C+1) maps (server, client, 1) to (client', message), plus ``rates``/delay; ``factors``
    (n, C+M, r) times r normals is the noise; ``keep`` (n+1, S, S) and ``to_server`` (n+1, S, M) aggregate, by the
    number of participants. ``block`` (d,) and the places (slots, d) say where a variable's coordinates are in the flat
    state; ``projected`` lists the server's rows that are kept in the ball of ``radius``.
    """

    rows: Any
    rates: Any
    factors: Any
    keep: Any
    to_server: Any
    block: Any
    server_place: Any
    client_place: Any
    projected: Any
    radius: Any


@kernel
def fill_normals(z, t, client, keys, lanes):
    """Standard normals in the rows of z, from the stream of round t and one client."""
    z[:, :lanes] = 0.0
    for row in range(0, z.shape[0], 4):
        add_normals(row // 4, 0, t, counter_tag(NOISE, client), keys, 1.0, 1.0, 1.0, 1.0, row, z, lanes)


@kernel
def run_leaps(measured, leap, records, server, client, last, keys, masks, first_round, record):
    """Advance flat state by len(masks) rounds; ``record`` is (rounds, names, B)."""
    n, C, B = client.shape
    rows, rates, factors, keep, to_server = leap.rows, leap.rates, leap.factors, leap.keep, leap.to_server
    S, M = to_server.shape[1], to_server.shape[2]
    rank = factors.shape[2]
    d = len(leap.block)
    wide_server = np.zeros((leap.server_place.shape[0], d, B))
    wide_client = np.zeros((n, leap.client_place.shape[0], d, B))
    scratch = np.empty((4, B))
    inputs, outputs, part = np.empty((S + C + 1, B)), np.empty((C + M, B)), np.empty((C + M, B))
    z, total, new = np.empty((rank, B)), np.empty((M, B)), np.empty((S, B))
    delays, packed = np.empty(B), np.empty((2, B), dtype=np.uint64)
    members, participants = np.empty(B, dtype=np.int64), np.empty(B, dtype=np.int64)
    delayed = np.any(rates != 0.0)
    for t in range(masks.shape[0]):
        unfold(leap.server_place, server, wide_server)
        for i in range(n):
            unfold(leap.client_place, client[i], wide_client[i])
        record_round(measured, records, leap.block, wide_server, wide_client, scratch, record[t])
        total[:, :] = 0.0
        participants[:] = 0
        for i in range(n):
            lanes = gather_members(masks[t, i], first_round + t, last[i], keys, members, participants, packed, delays)
            if lanes == 0:
                continue
            for row in range(S):
                for lane in range(lanes):
                    inputs[row, lane] = server[row, members[lane]]
            for row in range(C):
                for lane in range(lanes):
                    inputs[S + row, lane] = client[i, row, members[lane]]
            inputs[S + C, :] = 1.0
            combine(rows[i], inputs, outputs, lanes)
            if delayed:
                combine(rates[i], inputs, part, lanes)
                for row in range(C + M):
                    for lane in range(lanes):
                        outputs[row, lane] += part[row, lane] / delays[lane]
            if rank:
                fill_normals(z, first_round + t, i, packed, lanes)
                combine(factors[i], z, part, lanes)
                for row in range(C + M):
                    for lane in range(lanes):
                        outputs[row, lane] += part[row, lane]
            for row in range(C):
                for lane in range(lanes):
                    client[i, row, members[lane]] = outputs[row, lane]
            for row in range(M):
                for lane in range(lanes):
                    total[row, members[lane]] += outputs[C + row, lane]
        for lane in range(B):
            count = participants[lane]
            for row in range(S):
                value = 0.0
                for k in range(S):
                    value += keep[count, row, k] * server[k, lane]
                for k in range(M):
                    value += to_server[count, row, k] * total[k, lane]
                new[row, lane] = value
        server[:, :] = new
        project_rows(leap.projected, leap.radius, participants, server)


@kernel
def unfold(place, flat, wide):
    """Copy flat state (S, B) to (slots, d, B); ``place`` (slots, d) says from which row, -1 from none."""
    for slot in range(place.shape[0]):
        for row in range(place.shape[1]):
            if place[slot, row] >= 0:
                wide[slot, row] = flat[place[slot, row]]


@kernel
def project_rows(projected, radius, participants, server):
    """Multiply the rows ``projected`` by min(1, radius/their norm), where anybody took part."""
    if radius == np.inf:
        return
    for lane in range(server.shape[1]):
        square = 0.0
        for row in projected:
            square += server[row, lane] * server[row, lane]
        if square > radius * radius and participants[lane] > 0:
            for row in projected:
                server[row, lane] *= radius / np.sqrt(square)
