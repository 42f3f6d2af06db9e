"""The Monte Carlo kernel: rounds of any algorithm (as linear maps) on any problem, replicates innermost.

Arrays end with an axis of B replicates ("lanes"). State is stored per variable slot and coordinate: server
(slots, d, B), client (n, slots, d, B). The first d_u coordinates use the coefficients of the shared space, the others
those of the personal one. In a round the replicates that sampled client i are gathered into the first lanes of the
local arrays, so that the K local steps run on contiguous lanes.
"""

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.oracle import exact_gradient, oracle
from ratecheck.kernels.random import BEFORE_FIRST_ROUND

# Per-round records.
RECORDS = ("G_u", "G_v", "B")


@kernel
def record_round(kind, H, g, A, rho, d_u, server, client, x, out, margin, mean_u, record):
    """Fill record (len(RECORDS), B): ||mean_i grad_u f_i||^2, mean_i ||grad_v f_i||^2, sum_i ||grad_u f_i||^2."""
    n, _, d, lanes = client.shape
    mean_u[:, :] = 0.0
    record[:, :] = 0.0
    for i in range(n):
        for row in range(d_u):
            x[row, :] = server[0, row]
        for row in range(d_u, d):
            x[row, :] = client[i, 0, row]
        exact_gradient(kind, H, g, A, rho, d_u, i, x, out, margin, lanes)
        for row in range(d_u):
            for lane in range(lanes):
                mean_u[row, lane] += out[row, lane] / n
                record[2, lane] += out[row, lane] * out[row, lane]
        for row in range(d_u, d):
            for lane in range(lanes):
                record[1, lane] += out[row, lane] * out[row, lane] / n
    for row in range(d_u):
        for lane in range(lanes):
            record[0, lane] += mean_u[row, lane] * mean_u[row, lane]


@kernel
def combine(coefficients, inputs, outputs, lanes):
    """Outputs = coefficients @ inputs, over the first lanes."""
    for o in range(coefficients.shape[0]):
        for lane in range(lanes):
            outputs[o, lane] = 0.0
        for k in range(coefficients.shape[1]):
            c = coefficients[o, k]
            if c != 0.0:
                for lane in range(lanes):
                    outputs[o, lane] += c * inputs[k, lane]


@kernel
def add_delayed(coefficients, inputs, delays, outputs, lanes):
    """Add (coefficients @ inputs) / delays to outputs, over the first lanes."""
    for o in range(coefficients.shape[0]):
        for k in range(coefficients.shape[1]):
            c = coefficients[o, k]
            if c != 0.0:
                for lane in range(lanes):
                    outputs[o, lane] += c * inputs[k, lane] / delays[lane]


@kernel
def start_state(kind, H, g, A, rho, d_u, batch, noise, K, start_client, start_server, point, server, client, keys):
    """Fill server and client state from point (n, d) and, where a method needs it, the mean of K gradients there."""
    n, clients, d, lanes = client.shape
    x, out, total = np.empty((d, lanes)), np.empty((d, lanes)), np.zeros((d, lanes))
    margin, floats, pair = np.empty(lanes), np.empty(lanes), np.empty((2, lanes))
    words = np.empty((4, lanes), dtype=np.uint64)
    inputs, outputs = np.zeros((max(2, 1 + clients), lanes)), np.empty((max(clients, server.shape[0]), lanes))
    needs_gradient = np.any(start_client[:, :, 1] != 0.0)
    mean = np.zeros((clients, d, lanes))
    for i in range(n):
        for row in range(d):
            x[row, :] = point[i, row]
        total[:, :] = 0.0
        if needs_gradient:
            for k in range(K):
                oracle(
                    kind, H, g, A, rho, d_u, batch, noise, i, BEFORE_FIRST_ROUND, k,
                    x, out, margin, words, floats, floats.view(np.int64), pair, keys, lanes,
                )  # fmt: skip
                total += out / K
        for row in range(d):
            space = 0 if row < d_u else 1
            inputs[0, :] = x[row]
            inputs[1, :] = total[row]
            combine(start_client[space], inputs, outputs, lanes)
            for o in range(clients):
                client[i, o, row, :] = outputs[o]
                mean[o, row, :] += outputs[o] / n
    for row in range(d):
        inputs[0, :] = point[0, row]
        for o in range(clients):
            inputs[1 + o, :] = mean[o, row]
        combine(start_server[0 if row < d_u else 1], inputs, outputs, lanes)
        for o in range(server.shape[0]):
            server[o, row, :] = outputs[o]


@kernel
def run_rounds(
    kind, H, g, A, rho, d_u, batch, noise, K, locals_, begin, begin_rate, step, finish, aggregate,
    server, client, last, keys, masks, first_round, record,
):  # fmt: skip
    """Advance the state by len(masks) rounds, recording each round's quantities before it is played.

    ``masks`` (rounds, n, B) says who takes part and ``last`` (n, B) in which round a client last did (-1: in none). The
    coefficients of ``begin`` are begin + begin_rate/delay; ``aggregate`` (n+1, 2, server, server+message) holds those
    of the server by the number of participants; ``record`` is (rounds, len(RECORDS), B).
    """
    n, clients, d, B = client.shape
    servers = server.shape[0]
    messages = finish.shape[1] - clients
    local = np.empty((locals_, d, B))
    packed_keys = np.empty((2, B), dtype=np.uint64)
    x, out, total = np.empty((d, B)), np.empty((d, B)), np.empty((messages, d, B))
    margin, floats, pair = np.empty(B), np.empty(B), np.empty((2, B))
    bits = floats.view(np.int64)
    words = np.empty((4, B), dtype=np.uint64)
    inputs = np.empty((servers + clients + locals_ + messages + 1, B))
    outputs = np.empty((servers + clients + locals_ + messages, B))
    delays = np.empty(B)
    delayed = np.any(begin_rate != 0.0)
    members, participants = np.empty(B, dtype=np.int64), np.empty(B, dtype=np.int64)
    for t in range(masks.shape[0]):
        record_round(kind, H, g, A, rho, d_u, server, client, x, out, margin, local[0], record[t])
        total[:, :, :] = 0.0
        participants[:] = 0
        for i in range(n):
            lanes = gather_members(
                masks[t, i], first_round + t, last[i], keys, members, participants, packed_keys, delays
            )
            if lanes == 0:
                continue
            for row in range(d):
                gather(server, client[i], row, members, inputs, lanes)
                combine(begin[0 if row < d_u else 1], inputs, outputs, lanes)
                if delayed:
                    add_delayed(begin_rate[0 if row < d_u else 1], inputs, delays, outputs, lanes)
                for o in range(locals_):
                    for lane in range(lanes):
                        local[o, row, lane] = outputs[o, lane]
            for k in range(K):
                oracle(
                    kind, H, g, A, rho, d_u, batch, noise, i, first_round + t, k,
                    local[0], out, margin, words, floats, bits, pair, packed_keys, lanes,
                )  # fmt: skip
                local_step(step, d_u, local, out, outputs, lanes)
            for row in range(d):
                gather(server, client[i], row, members, inputs, lanes)
                for o in range(locals_):
                    for lane in range(lanes):
                        inputs[servers + clients + o, lane] = local[o, row, lane]
                combine(finish[0 if row < d_u else 1], inputs, outputs, lanes)
                for o in range(clients):
                    for lane in range(lanes):
                        client[i, o, row, members[lane]] = outputs[o, lane]
                for o in range(messages):
                    for lane in range(lanes):
                        total[o, row, members[lane]] += outputs[clients + o, lane]
        aggregate_round(aggregate, d_u, participants, server, total, outputs)


@kernel
def gather_members(mask, t, last, keys, members, participants, packed_keys, delays):
    """Put the replicates in which a client takes part, their keys and their delays into the first lanes; how many."""
    lanes = 0
    for lane in range(len(mask)):
        if mask[lane]:
            members[lanes] = lane
            participants[lane] += 1
            packed_keys[0, lanes] = keys[0, lane]
            packed_keys[1, lanes] = keys[1, lane]
            delays[lanes] = t - last[lane]
            last[lane] = t
            lanes += 1
    return lanes


@kernel
def gather(server, client, row, members, inputs, lanes):
    """Copy one coordinate of server and client state of the member replicates into the first lanes of inputs."""
    for a in range(server.shape[0]):
        for lane in range(lanes):
            inputs[a, lane] = server[a, row, members[lane]]
    for a in range(client.shape[0]):
        for lane in range(lanes):
            inputs[server.shape[0] + a, lane] = client[a, row, members[lane]]


@kernel
def local_step(step, d_u, local, gradient, outputs, lanes):
    """One local step in place."""
    slots, d, _ = local.shape
    for row in range(d):
        coefficients = step[0 if row < d_u else 1]
        for o in range(slots):
            c = coefficients[o, slots]
            for lane in range(lanes):
                outputs[o, lane] = c * gradient[row, lane]
            for k in range(slots):
                c = coefficients[o, k]
                if c != 0.0:
                    for lane in range(lanes):
                        outputs[o, lane] += c * local[k, row, lane]
        for o in range(slots):
            for lane in range(lanes):
                local[o, row, lane] = outputs[o, lane]


@kernel
def aggregate_round(aggregate, d_u, participants, server, total, outputs):
    """New server state; every replicate with the coefficients of its own number of participants."""
    servers, d, B = server.shape
    messages = total.shape[0]
    for row in range(d):
        space = 0 if row < d_u else 1
        for o in range(servers):
            for lane in range(B):
                coefficients = aggregate[participants[lane], space, o]
                value = 0.0
                for k in range(servers):
                    value += coefficients[k] * server[k, row, lane]
                for k in range(messages):
                    value += coefficients[servers + k] * total[k, row, lane]
                outputs[o, lane] = value
        for o in range(servers):
            for lane in range(B):
                server[o, row, lane] = outputs[o, lane]
