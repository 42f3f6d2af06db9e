"""The Monte Carlo kernel: rounds of any algorithm (as linear maps) on any problem, replicates innermost.

Arrays end with an axis of B replicates ("lanes"). State is stored per variable slot and coordinate: server
(slots, d, B), client (n, slots, d, B). Rows starts[b] ... starts[b+1]-1 are block b of the coordinates, which use the
same coefficients. In a round the replicates that sampled client i are gathered into the first lanes of the local
arrays, so that the K local steps run on contiguous lanes.
"""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.exchange import mix, transmit
from ratecheck.kernels.local.diagonal import diagonal_steps
from ratecheck.kernels.noise import add_law
from ratecheck.kernels.oracle import AFFINE, oracle
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.kernels.records import record_round, recorded_point
from ratecheck.kernels.variables import add_delayed, aggregate_round, combine, gather, project, scatter
from ratecheck.kernels.vectors import add_multiple, advance, affine, clear


class MethodArrays(NamedTuple):
    """An algorithm's coefficients, of a kind of clients in a round on the first axis.

    ``kind`` (n,) is that of a client and ``kinds`` how many there are, and ``varies`` says whether the first axis has
    the rounds of a call, one after the other, or the same for all rounds.

    ``starts`` (blocks + 1,), ``counts`` (4, blocks) the numbers of server, client, local and message variables, ``K``
    (n,), ``begin`` and, where ``delayed``, ``begin_rate`` (rows, blocks, locals, server + client) for the coefficients
    begin + begin_rate/delay, ``step`` (rows, ``weights`` = 1 or K, blocks, locals*(locals + 2)) on (local, gradient,
    1), output by output, ``diagonal`` a `Diagonal`, ``finish`` (rows, blocks, client + message, server + client +
    locals), ``compression`` and ``mixing`` what becomes of messages and of clients (see `exchange`), ``aggregate``
    (numbers, blocks, server, server + message), of a round or of each, by the number of participants, which
    ``counted`` (n + 1,) finds in it, ``places`` the first rows of server and message variables (see
    `aggregate_round`), ``projected`` the rows of the server's state (slots*d, B) that are kept in the ball of
    ``radius``, ``select`` how many of the participants stay when the ones with the largest scores are chosen (0: all),
    and ``score`` (rows, blocks, 1, server + client + 1), and ``known_start`` whether the first local step uses what is
    recorded: exact gradients at the recorded points, and ``copies`` how often a client may take part in a round, each
    time with noise of its own; ``masks`` are counts then.
    """

    kind: Any
    kinds: Any
    varies: Any
    starts: Any
    counts: Any
    K: Any
    begin: Any
    begin_rate: Any
    delayed: Any
    step: Any
    weights: Any
    diagonal: Any
    finish: Any
    compression: Any
    mixing: Any
    aggregate: Any
    counted: Any
    places: Any
    projected: Any
    radius: Any
    select: Any
    score: Any
    known_start: Any
    copies: Any


@kernel
def start_gradients(source, K, point, keys, mean):
    """Fill mean (n, d, B) with each client's mean of K[i] stochastic gradients at its row of point (n, d)."""
    n, d, B = mean.shape
    x, out = np.empty((d, B)), np.empty((d, B))
    words = np.empty((4, B), dtype=np.uint64)
    mean[:, :, :] = 0.0
    for i in range(n):
        for row in range(d):
            x[row, :] = point[i, row]
        for k in range(K[i]):
            oracle(source, i, BEFORE_FIRST_ROUND, k, x, out, words, keys, B)
            for row in range(d):
                for lane in range(B):
                    mean[i, row, lane] += out[row, lane] / K[i]


@kernel
def run_rounds(source, measured, method, records, server, client, last, keys, masks, first_round, record):
    """Advance the state by len(masks) rounds, recording each round's quantities before it is played.

    ``source`` is the oracle of the local steps, ``measured`` that of the records. ``masks`` (rounds, n, B) says who
    takes part and ``last`` (n, B) in which round a client last did (-1: in none); ``record`` is (rounds, names, B).
    """
    n, clients, d, B = client.shape
    servers, locals_, messages = server.shape[0], method.begin.shape[2], method.finish.shape[2] - clients
    # Taken out of the tuple once: every time costs the counting of a reference.
    begin, begin_rate, finish, K, kind = method.begin, method.begin_rate, method.finish, method.K, method.kind
    compression, mixing = method.compression, method.mixing
    # A call of an oracle counts those of all arrays of its source: an affine one is written out.
    affine_answers, M, c, noise = source.kind == AFFINE, source.M, source.c, source.noise
    law, shape = source.law, source.shape
    step, weights, diagonal, turns = method.step, method.weights, method.diagonal, method.diagonal.used
    starts, server_counts, client_counts = method.starts, method.counts[0], method.counts[1]
    local_counts, message_counts, blocks = method.counts[2], method.counts[3], len(starts) - 1
    local, turned, total = np.zeros((locals_, d, B)), np.empty((locals_, d, B)), np.zeros((messages, d, B))
    server_part, client_part, message = (
        np.empty((servers, d, B)),
        np.empty((1, clients, d, B)),
        np.empty((messages, d, B)),
    )
    client_new, new, server_rows = np.empty((clients, d, B)), np.empty((servers * d, B)), server.reshape(servers * d, B)
    point, client_packed, zero = local[0], client_part[0], np.zeros(d)
    out, scratch, delays, factors = np.empty((d, B)), np.empty((4, B)), np.empty(B), np.empty(B)
    gradients = np.empty((n if method.known_start else 1, d, B))
    words, packed_keys = np.empty((4, B), dtype=np.uint64), np.empty((2, B), dtype=np.uint64)
    # What one client sends, what it keeps once it knows that, and mixed clients: only where there are such.
    drawn, kept = np.zeros((1, messages if compression.used else 0, d, B)), np.empty((clients, d, B))
    own_message, mixed = drawn[0], np.empty((n if mixing.used else 0, d, B))
    numbers = method.aggregate.shape[0] // (masks.shape[0] if method.varies else 1)
    members, participants = np.empty(B, dtype=np.uint64), np.empty(B, dtype=np.int64)
    number = np.empty(B, dtype=np.int64)
    # Numba would compile a function anew for every literal argument.
    none, fill, add = np.int64(0), np.int64(SET), np.int64(ADD)
    for t in range(masks.shape[0]):
        now = first_round + t
        turn = t if method.varies else 0
        first_row, first_number = turn * method.kinds, turn * numbers
        record_round(measured, records, starts, server, client, gradients, scratch, record[t])
        if method.select > 0:
            select_largest(measured, method, records, now, first_row, server, client, keys, masks, t)
        clear(total, 0, messages * d, B)
        participants[:] = 0
        for each in range(n * method.copies):
            i, copy = each // method.copies, each % method.copies
            lanes = gather_members(masks, t, i, copy, now, last, keys, members, participants, packed_keys, delays)
            if lanes == 0:
                continue
            # Noise is counted on where the last copy of the client ended.
            before = copy * K[i]
            of_kind = first_row + kind[i]
            S, C, own, sent, words_of = server, client, i, total, keys
            if lanes < B:
                S, C, own, sent, words_of = server_part, client_part, 0, message, packed_keys
                gather(starts, server_counts, server, members, server_part, lanes)
                gather(starts, client_counts, client[i], members, client_packed, lanes)
                gather(starts, message_counts, total, members, message, lanes)
            combine(begin, of_kind, starts, local_counts, S, C, own, local, local, none, fill, lanes)
            if method.delayed:
                add_delayed(begin_rate, of_kind, starts, local_counts, S, C, own, delays, factors, local, lanes)
            if turns[i]:
                diagonal_steps(diagonal, i, now, K[i], local, turned, zero, scratch, words_of, lanes)
            else:
                for k in range(K[i]):
                    if k == 0 and method.known_start:
                        known_gradient(gradients[i], members, lanes, out)
                        add_law(law, shape, noise, i, now, before + k, out, words, words_of, lanes)
                    elif affine_answers:
                        affine(M[i], c[i], point, out, lanes)
                        add_law(law, shape, noise, i, now, before + k, out, words, words_of, lanes)
                    else:
                        oracle(source, i, now, before + k, point, out, words, words_of, lanes)
                    row = (of_kind * weights + min(k, weights - 1)) * blocks
                    for b in range(blocks):
                        first, size = starts[b], starts[b + 1] - starts[b]
                        advance(locals_, 1, step, row + b, 0, out, first, local, first, size, d, lanes)
            combine(finish, of_kind, starts, client_counts, S, C, own, local, client_new, none, fill, lanes)
            after, into, mode = client_new, sent, add
            if compression.used:
                into, mode = own_message, fill
            combine(finish, of_kind, starts, message_counts, S, C, own, local, into, clients, mode, lanes)
            if compression.used:
                transmit(
                    compression, of_kind, i, now, starts, client_counts, client_new, drawn, kept, sent,
                    words, words_of, lanes,
                )  # fmt: skip
                after = kept
            if lanes < B:
                scatter(starts, message_counts, message, members, total, lanes)
                scatter(starts, client_counts, after, members, client[i], lanes)
            else:
                for b in range(blocks):
                    size = starts[b + 1] - starts[b]
                    for slot in range(client_counts[b]):
                        row = slot * d + starts[b]
                        add_multiple(SET, 1.0, after, row, client, i * clients * d + row, size, B)
        if mixing.used:
            mix(mixing, now, client, mixed, words, keys)
        for lane in range(B):
            number[lane] = method.counted[participants[lane]]
        tables = method.aggregate[first_number : first_number + numbers]
        aggregate_round(tables, starts, method.places, number, server_rows, total, new, factors)
        project(method.projected, method.radius, participants, server_rows, scratch[0])


@kernel
def known_gradient(gradient, members, lanes, out):
    """Copy the member lanes of gradient (d, B), or all of them, into the first lanes of out (d, B)."""
    d, B = gradient.shape
    for row in range(d):
        for place in range(lanes):
            out[row, place] = gradient[row, members[place] if lanes < B else np.uint64(place)]


@kernel
def gather_members(masks, t, i, copy, now, last, keys, members, participants, packed_keys, delays):
    """Put the replicates in which client i takes part, their keys and delays into the first lanes; how many they are.

    Those in which it does more than ``copy`` times. Where it is all of them, members and packed keys are left out:
    every lane is in its place.
    """
    B, lanes = masks.shape[2], 0
    for lane in range(B):
        lanes += masks[t, i, lane] > copy
    if lanes == B:
        for lane in range(B):
            participants[lane] += 1
            delays[lane] = now - last[i, lane]
            last[i, lane] = now
        return lanes
    # Without branches, which the machine could only guess.
    place = 0
    for lane in range(B):
        members[place] = lane
        place += masks[t, i, lane] > copy
    for place in range(lanes):
        lane = members[place]
        participants[lane] += 1
        packed_keys[0, place] = keys[0, lane]
        packed_keys[1, place] = keys[1, lane]
        delays[place] = now - last[i, lane]
        last[i, lane] = now
    return lanes


@kernel_apart
def select_largest(measured, method, records, now, first_row, server, client, keys, masks, t):
    """Keep of each replicate's participants those with the largest scores; the first ones where scores are equal.

    A score is the norm of the method's vector at a stochastic gradient at the recorded point, drawn as if it were one
    more local step. What is no number counts as the largest.
    """
    servers, (n, clients, d, B) = server.shape[0], client.shape
    scores, x, out = np.zeros((n, B)), np.empty((d, B)), np.empty((d, B))
    words, chosen = np.empty((4, B), dtype=np.uint64), np.zeros(n, dtype=np.bool_)
    for i in range(n):
        recorded_point(records, method.starts, server, client, i, x)
        oracle(measured, i, now, method.K[i], x, out, words, keys, B)
        for block in range(len(method.starts) - 1):
            coefficients = method.score[first_row + method.kind[i], block, 0]
            for row in range(method.starts[block], method.starts[block + 1]):
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
    for lane in range(B):
        for i in range(n):
            ahead = 0
            for j in range(n):
                larger = scores[j, lane] > scores[i, lane] or (scores[j, lane] == scores[i, lane] and j < i)
                if masks[t, j, lane] and larger:
                    ahead += 1
            chosen[i] = masks[t, i, lane] and ahead < method.select
        for i in range(n):
            masks[t, i, lane] = chosen[i]
