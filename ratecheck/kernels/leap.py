"""The leap kernel: a client's K local steps as one affine map and one Gaussian draw of the same law.

State is flat: server (S, B) and client (n, C, B), the B replicates last; the ``first`` arrays say which rows are the
iterate.
"""

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.oracle import quadratic_gradient
from ratecheck.kernels.random import NOISE, counter_tag, normals, philox
from ratecheck.kernels.rounds import combine, gather_members


@kernel
def fill_normals(z, t, client, keys, words, floats, bits, pair, lanes):
    """Standard normals in the rows of z, from the stream of round t and one client."""
    rows = z.shape[0]
    for block in range((rows + 3) // 4):
        philox(block, 0, t, counter_tag(NOISE, client), keys, words, lanes)
        for half in range(2):
            row = 4 * block + 2 * half
            if row < rows:
                normals(words, 2 * half, 2 * half + 1, floats, bits, pair[0], pair[1], lanes)
                for lane in range(lanes):
                    z[row, lane] = pair[0, lane]
                if row + 1 < rows:
                    for lane in range(lanes):
                        z[row + 1, lane] = pair[1, lane]


@kernel
def record_point(H, g, d_u, first_server, first_client, server, client, x, out, mean_u, record):
    """The records of `rounds.record_round` from flat state."""
    n, _, lanes = client.shape
    d = g.shape[1]
    mean_u[:, :] = 0.0
    record[:, :] = 0.0
    for i in range(n):
        for row in range(d_u):
            x[row, :] = server[first_server[row]]
        for row in range(d_u, d):
            x[row, :] = client[i, first_client[row - d_u]]
        quadratic_gradient(H[i], g[i], x, out, lanes)
        for row in range(d):
            for lane in range(lanes):
                square = out[row, lane] * out[row, lane]
                if row < d_u:
                    mean_u[row, lane] += out[row, lane] / n
                    record[2, lane] += square
                else:
                    record[1, lane] += square / n
    for row in range(d_u):
        for lane in range(lanes):
            record[0, lane] += mean_u[row, lane] * mean_u[row, lane]


@kernel
def run_leaps(
    H, g, d_u, first_server, first_client, rows, rates, factors, keep, to_server,
    server, client, last, keys, masks, first_round, record,
):  # fmt: skip
    """Advance flat state by len(masks) rounds.

    ``rows`` (n, C+M, S+C+1) maps (server, client, 1) to (client', message), plus ``rates``/delay; ``factors``
    (n, C+M, r) times r normals is the noise; ``keep`` (n+1, S, S) and ``to_server`` (n+1, S, M) aggregate, by the
    number of participants.
    """
    n, C, B = client.shape
    S, M = to_server.shape[1], to_server.shape[2]
    d, rank = g.shape[1], factors.shape[2]
    x, out, mean_u = np.empty((d, B)), np.empty((d, B)), np.empty((d, B))
    inputs, outputs, part = np.empty((S + C + 1, B)), np.empty((C + M, B)), np.empty((C + M, B))
    z, total, new = np.empty((rank, B)), np.empty((M, B)), np.empty((S, B))
    floats, pair, delays = np.empty(B), np.empty((2, B)), np.empty(B)
    words, packed = np.empty((4, B), dtype=np.uint64), np.empty((2, B), dtype=np.uint64)
    members, participants = np.empty(B, dtype=np.int64), np.empty(B, dtype=np.int64)
    delayed = np.any(rates != 0.0)
    for t in range(masks.shape[0]):
        record_point(H, g, d_u, first_server, first_client, server, client, x, out, mean_u, record[t])
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
                fill_normals(z, first_round + t, i, packed, words, floats, floats.view(np.int64), pair, lanes)
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
