"""The Monte Carlo kernel: rounds of any algorithm (as linear maps) on any problem, replicates innermost.

Arrays end with an axis of B replicates ("lanes"). State is stored per variable slot and coordinate: server
(slots, d, B), client (n, slots, d, B). ``block[row]`` says to which block of variables a coordinate belongs, and so
which coefficients it uses. In a round the replicates that sampled client i are gathered into the first lanes of the
local arrays, so that the K local steps run on contiguous lanes.
"""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.oracle import oracle
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.kernels.records import record_round, recorded_point


class Method(NamedTuple):
    """An algorithm's coefficients, of client i on the first axis.

    ``block`` (d,), ``K`` (n,), ``begin`` and ``begin_rate`` (n, blocks, locals, server + client) for the coefficients
    begin + begin_rate/delay, ``step`` (n, 1 or K, blocks, locals, locals + 1), ``finish`` (n, blocks, client + message,
    server + client + locals), ``aggregate`` (n + 1, blocks, server, server + message) by the number of participants,
    ``projected`` the slot and block of the server variable that is kept in the ball of ``radius``, ``select`` how many
    of the participants stay when the ones with the largest scores are chosen (0: all), and ``score`` (n, blocks,
    server + client + 1).
    """

    block: Any
    K: Any
    begin: Any
    begin_rate: Any
    step: Any
    finish: Any
    aggregate: Any
    projected: Any
    radius: Any
    select: Any
    score: Any


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
def start_state(source, method, start_client, start_server, point, server, client, keys):
    """Fill server and client state from point (n, d) and, where a method needs it, the mean of K gradients there.

    ``start_client`` is (n, blocks, client, 2), ``start_server`` (blocks, server, 1 + client).
    """
    n, clients, d, lanes = client.shape
    x, out, total = np.empty((d, lanes)), np.empty((d, lanes)), np.zeros((d, lanes))
    words = np.empty((4, lanes), dtype=np.uint64)
    inputs, outputs = np.zeros((max(2, 1 + clients), lanes)), np.empty((max(clients, server.shape[0]), lanes))
    needs_gradient = np.any(start_client[:, :, :, 1] != 0.0)
    mean = np.zeros((clients, d, lanes))
    for i in range(n):
        for row in range(d):
            x[row, :] = point[i, row]
        total[:, :] = 0.0
        if needs_gradient:
            for k in range(method.K[i]):
                oracle(source, i, BEFORE_FIRST_ROUND, k, x, out, words, keys, lanes)
                total += out / method.K[i]
        for row in range(d):
            inputs[0, :] = x[row]
            inputs[1, :] = total[row]
            combine(start_client[i, method.block[row]], inputs, outputs, lanes)
            for o in range(clients):
                client[i, o, row, :] = outputs[o]
                mean[o, row, :] += outputs[o] / n
    for row in range(d):
        inputs[0, :] = point[0, row]
        for o in range(clients):
            inputs[1 + o, :] = mean[o, row]
        combine(start_server[method.block[row]], inputs, outputs, lanes)
        for o in range(server.shape[0]):
            server[o, row, :] = outputs[o]


@kernel
def run_rounds(source, measured, method, records, server, client, last, keys, masks, first_round, record):
    """Advance the state by len(masks) rounds, recording each round's quantities before it is played.

    ``source`` is the oracle of the local steps, ``measured`` that of the records. ``masks`` (rounds, n, B) says who
    takes part and ``last`` (n, B) in which round a client last did (-1: in none); ``record`` is (rounds, names, B).
    """
    n, clients, d, B = client.shape
    servers, locals_ = server.shape[0], method.step.shape[3]
    messages = method.finish.shape[2] - clients
    local = np.empty((locals_, d, B))
    packed_keys = np.empty((2, B), dtype=np.uint64)
    out, total = np.empty((d, B)), np.empty((messages, d, B))
    scratch = np.empty((4, B))
    words = np.empty((4, B), dtype=np.uint64)
    inputs = np.empty((servers + clients + locals_ + messages + 1, B))
    outputs = np.empty((servers + clients + locals_ + messages, B))
    delays = np.empty(B)
    delayed = np.any(method.begin_rate != 0.0)
    members, participants = np.empty(B, dtype=np.int64), np.empty(B, dtype=np.int64)
    for t in range(masks.shape[0]):
        record_round(measured, records, method.block, server, client, scratch, record[t])
        if method.select > 0:
            select_largest(measured, method, records, first_round + t, server, client, keys, masks[t])
        total[:, :, :] = 0.0
        participants[:] = 0
        for i in range(n):
            lanes = gather_members(
                masks[t, i], first_round + t, last[i], keys, members, participants, packed_keys, delays
            )
            if lanes == 0:
                continue
            for row in range(d):
                block = method.block[row]
                gather(server, client[i], row, members, inputs, lanes)
                combine(method.begin[i, block], inputs, outputs, lanes)
                if delayed:
                    add_delayed(method.begin_rate[i, block], inputs, delays, outputs, lanes)
                for o in range(locals_):
                    for lane in range(lanes):
                        local[o, row, lane] = outputs[o, lane]
            for k in range(method.K[i]):
                oracle(source, i, first_round + t, k, local[0], out, words, packed_keys, lanes)
                local_step(method.step[i, min(k, method.step.shape[1] - 1)], method.block, local, out, outputs, lanes)
            for row in range(d):
                gather(server, client[i], row, members, inputs, lanes)
                for o in range(locals_):
                    for lane in range(lanes):
                        inputs[servers + clients + o, lane] = local[o, row, lane]
                combine(method.finish[i, method.block[row]], inputs, outputs, lanes)
                for o in range(clients):
                    for lane in range(lanes):
                        client[i, o, row, members[lane]] = outputs[o, lane]
                for o in range(messages):
                    for lane in range(lanes):
                        total[o, row, members[lane]] += outputs[clients + o, lane]
        aggregate_round(method.aggregate, method.block, participants, server, total, outputs)
        project(method.projected, method.radius, method.block, participants, server, scratch)


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
def local_step(step, block, local, gradient, outputs, lanes):
    """One local step in place."""
    slots, d, _ = local.shape
    for row in range(d):
        coefficients = step[block[row]]
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
def aggregate_round(aggregate, block, participants, server, total, outputs):
    """New server state; every replicate with the coefficients of its own number of participants."""
    servers, d, B = server.shape
    messages = total.shape[0]
    for row in range(d):
        for o in range(servers):
            for lane in range(B):
                coefficients = aggregate[participants[lane], block[row], o]
                value = 0.0
                for k in range(servers):
                    value += coefficients[k] * server[k, row, lane]
                for k in range(messages):
                    value += coefficients[servers + k] * total[k, row, lane]
                outputs[o, lane] = value
        for o in range(servers):
            for lane in range(B):
                server[o, row, lane] = outputs[o, lane]


@kernel
def project(projected, radius, block, participants, server, scratch):
    """Multiply the projected server variable by min(1, radius/its norm), where anybody took part."""
    if radius == np.inf:
        return
    _, d, B = server.shape
    slot, where = projected
    norms = scratch[0]
    norms[:] = 0.0
    for row in range(d):
        if block[row] == where:
            norms += server[slot, row] ** 2
    for lane in range(B):
        norm = np.sqrt(norms[lane])
        if norm > radius and participants[lane] > 0:
            for row in range(d):
                if block[row] == where:
                    server[slot, row, lane] *= radius / norm


@kernel
def select_largest(measured, method, records, t, server, client, keys, masks):
    """Keep of each replicate's participants those with the largest scores; the first ones where scores are equal.

    A score is the norm of the method's vector at a stochastic gradient at the recorded point, drawn as if it were one
    more local step. What is no number counts as the largest.
    """
    servers, (n, clients, d, B) = server.shape[0], client.shape
    scores = np.zeros((n, B))
    x, out = np.empty((d, B)), np.empty((d, B))
    words = np.empty((4, B), dtype=np.uint64)
    for i in range(n):
        recorded_point(records, method.block, server, client[i], x)
        oracle(measured, i, t, method.K[i], x, out, words, keys, B)
        for row in range(d):
            coefficients = method.score[i, method.block[row], 0]
            for lane in range(B):
                entry = coefficients[servers + clients] * out[row, lane]
                for s in range(servers):
                    entry += coefficients[s] * server[s, row, lane]
                for c in range(clients):
                    entry += coefficients[servers + c] * client[i, c, row, lane]
                scores[i, lane] += entry * entry
        for lane in range(B):
            if np.isnan(scores[i, lane]):
                scores[i, lane] = np.inf
    chosen = np.zeros(n, dtype=np.bool_)
    for lane in range(B):
        for i in range(n):
            ahead = 0
            for j in range(n):
                larger = scores[j, lane] > scores[i, lane] or (scores[j, lane] == scores[i, lane] and j < i)
                if masks[j, lane] and larger:
                    ahead += 1
            chosen[i] = masks[i, lane] and ahead < method.select
        masks[:, lane] = chosen
