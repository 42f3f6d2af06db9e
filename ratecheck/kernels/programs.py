"""Rounds of methods whose functions are programs: a few operations on rows of numbers, a lane being a replicate.

An instruction is (operation, result, width, operand, step, operand, step, operand, step): row r of the result, of
``width`` rows, is made of row step * r after the first one of every operand, so that one row may serve for all. All
rows are in one array ``file`` (rows, B). Operations round as NumPy's do, and rows are added up in NumPy's order.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.constants import (
    ABSOLUTE,
    ADDED,
    ARGMAX,
    COPIED,
    DIVIDED,
    EQUAL,
    LARGER,
    LARGEST,
    LESS,
    NOT_MORE,
    ORDERED,
    PRODUCT,
    ROOT,
    SELECTED,
    SIGN,
    SMALLER,
    SUBTRACTED,
    SUMMED,
)
from ratecheck.kernels.oracle import oracle
from ratecheck.kernels.random import COIN, counter_tag, philox
from ratecheck.kernels.records import record_round
from ratecheck.kernels.rounds import gather_members

# So many terms NumPy adds up side by side.
_ABREAST = 8


class Programs(NamedTuple):
    """A method as instructions ``code`` (number, 9), those of function f being ends[f] ... ends[f + 1] - 1.

    Functions are begin, step, finish and aggregate. ``parts`` (6,) are the first rows of the server's variables, the
    client's, the local ones, the oracle's answer, messages, and parameters. ``columns`` (n, count) are parameters of
    every client, in the first rows of these; after them come the delay, the coin, the number of participants, and the
    weight of a local step, which is one of ``weights`` (n, 1 or K). ``messages`` is how many rows messages have, ``K``
    (n,) the local steps, ``shared`` how many of them have one sample, ``coin`` its probability times 2**32.
    ``averages``: a round without participants leaves the server as it is.
    """

    code: Any
    ends: Any
    parts: Any
    columns: Any
    weights: Any
    messages: Any
    K: Any
    shared: Any
    coin: Any
    averages: Any


@kernel_apart
def add_up(file, result, first, count, lanes):
    """Put the sum of ``count`` rows from ``first`` on into row ``result``: eight sums abreast from eight terms on."""
    if count < _ABREAST:
        for lane in range(lanes):
            file[result, lane] = -0.0
        for row in range(first, first + count):
            for lane in range(lanes):
                file[result, lane] += file[row, lane]
        return
    whole = first + count - count % _ABREAST
    for lane in range(lanes):
        a, b, c, d = file[first, lane], file[first + 1, lane], file[first + 2, lane], file[first + 3, lane]
        e, f, g, h = file[first + 4, lane], file[first + 5, lane], file[first + 6, lane], file[first + 7, lane]
        for row in range(first + _ABREAST, whole, _ABREAST):
            a += file[row, lane]
            b += file[row + 1, lane]
            c += file[row + 2, lane]
            d += file[row + 3, lane]
            e += file[row + 4, lane]
            f += file[row + 5, lane]
            g += file[row + 6, lane]
            h += file[row + 7, lane]
        file[result, lane] = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for row in range(whole, first + count):
        for lane in range(lanes):
            file[result, lane] += file[row, lane]


@kernel_apart
def order(file, result, first, count, place, lanes):
    """Put the number at ``place`` among the sorted rows into row ``result``; what is no number is the largest."""
    for lane in range(lanes):
        for row in range(first, first + count):
            x, below, equal = file[row, lane], 0, 0
            for other in range(first, first + count):
                y = file[other, lane]
                below += y < x or (math.isnan(x) and not math.isnan(y))
                equal += y == x or (math.isnan(x) and math.isnan(y))
            if below <= place < below + equal:
                file[result, lane] = x
                break


@kernel_apart
def reduce(operation, file, result, first, count, lanes):
    """Put the largest of the rows, or the number of the first that is, into row ``result``."""
    for lane in range(lanes):
        best, at = file[first, lane], 0
        for row in range(1, count):
            x = file[first + row, lane]
            if not math.isnan(best) and (x > best or math.isnan(x)):
                best, at = x, row
        file[result, lane] = best if operation == LARGEST else float(at)


@kernel
def least(x, y):
    """The smaller one; what is no number if there is one."""
    return x if x <= y or math.isnan(x) else y


@kernel
def sign(x):
    """1, -1, or x itself: 0, or what is no number."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)


@kernel_apart
def interpret(code, start, end, file, lanes):
    """Carry out instructions start ... end - 1 on the first lanes of ``file``."""
    for at in range(start, end):
        operation, result, width = code[at, 0], code[at, 1], code[at, 2]
        one, two, three = code[at, 3], code[at, 5], code[at, 7]
        if operation == SUMMED:
            add_up(file, result, one, two, lanes)
            continue
        if operation == ORDERED:
            order(file, result, one, two, three, lanes)
            continue
        if operation in (LARGEST, ARGMAX):
            reduce(operation, file, result, one, two, lanes)
            continue
        for row in range(width):
            # Rows are named by numbers: the references of slices would be counted.
            r, p, q, s = result + row, one + row * code[at, 4], two + row * code[at, 6], three + row * code[at, 8]
            if operation == COPIED:
                for lane in range(lanes):
                    file[r, lane] = file[p, lane]
            elif operation == ADDED:
                for lane in range(lanes):
                    file[r, lane] = file[p, lane] + file[q, lane]
            elif operation == SUBTRACTED:
                for lane in range(lanes):
                    file[r, lane] = file[p, lane] - file[q, lane]
            elif operation == PRODUCT:
                for lane in range(lanes):
                    file[r, lane] = file[p, lane] * file[q, lane]
            elif operation == DIVIDED:
                for lane in range(lanes):
                    file[r, lane] = file[p, lane] / file[q, lane]
            elif operation == SMALLER:
                for lane in range(lanes):
                    file[r, lane] = least(file[p, lane], file[q, lane])
            elif operation == LARGER:
                for lane in range(lanes):
                    file[r, lane] = -least(-file[p, lane], -file[q, lane])
            elif operation == LESS:
                for lane in range(lanes):
                    file[r, lane] = 1.0 if file[p, lane] < file[q, lane] else 0.0
            elif operation == NOT_MORE:
                for lane in range(lanes):
                    file[r, lane] = 1.0 if file[p, lane] <= file[q, lane] else 0.0
            elif operation == EQUAL:
                for lane in range(lanes):
                    file[r, lane] = 1.0 if file[p, lane] == file[q, lane] else 0.0
            elif operation == SELECTED:
                for lane in range(lanes):
                    file[r, lane] = file[q, lane] if file[p, lane] != 0.0 else file[s, lane]
            elif operation == ABSOLUTE:
                for lane in range(lanes):
                    file[r, lane] = abs(file[p, lane])
            elif operation == ROOT:
                for lane in range(lanes):
                    file[r, lane] = math.sqrt(file[p, lane])
            elif operation == SIGN:
                for lane in range(lanes):
                    file[r, lane] = sign(file[p, lane])


@kernel
def pack(state, members, lanes, file, first):
    """Copy the member lanes of state (rows, B), or all of them, into rows of ``file`` from ``first`` on."""
    for row in range(state.shape[0]):
        if lanes == state.shape[1]:
            for lane in range(lanes):
                file[first + row, lane] = state[row, lane]
        else:
            for lane in range(lanes):
                file[first + row, lane] = state[row, members[lane]]


@kernel
def put(file, row, values, lanes):
    """Copy values (B,) into a row of ``file``."""
    for lane in range(lanes):
        file[row, lane] = values[lane]


@kernel
def run_programs(
    source, measured, programs, records, starts, server, client, last, keys, masks, first_round, file, record
):
    """Advance the state by len(masks) rounds, as `run_rounds` does: ``server`` (slots, d, B) and ``client`` (n, ...).

    ``file`` (rows, B) has the numbers that stay, and anything elsewhere but zeros in the rows of local variables.
    """
    n, clients, d, B = client.shape
    servers, parts, ends, code, K = server.shape[0], programs.parts, programs.ends, programs.code, programs.K
    server_rows, total = server.reshape(servers * d, B), np.empty((programs.messages, B))
    client_rows = client.reshape(n, clients * d, B)
    S, C, L, A, M, P = parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]
    count = programs.columns.shape[1]
    delay, coin, number, weight = P + count, P + count + 1, P + count + 2, P + count + 3
    point, answer = file[L : L + d], file[A : A + d]
    members, participants = np.empty(B, dtype=np.uint64), np.empty(B, dtype=np.int64)
    words, packed_keys = np.empty((4, B), dtype=np.uint64), np.empty((2, B), dtype=np.uint64)
    delays, heads, scratch, gradients = np.empty(B), np.empty((1, B)), np.empty((4, B)), np.empty((1, d, B))
    none = np.int64(0)
    for t in range(masks.shape[0]):
        now = first_round + t
        record_round(measured, records, starts, server, client, gradients, scratch, record[t])
        philox(none, none, now, counter_tag(COIN, none), keys, words, B)
        for lane in range(B):
            heads[0, lane] = 1.0 if np.float64(words[0, lane]) < programs.coin else 0.0
        total[:] = 0.0
        participants[:] = 0
        for i in range(n):
            lanes = gather_members(masks, t, i, 0, now, last, keys, members, participants, packed_keys, delays)
            if lanes == 0:
                continue
            streams = keys if lanes == B else packed_keys
            pack(server_rows, members, lanes, file, S)
            pack(client_rows[i], members, lanes, file, C)
            pack(heads, members, lanes, file, coin)
            put(file, delay, delays, lanes)
            for column in range(count):
                for lane in range(lanes):
                    file[P + column, lane] = programs.columns[i, column]
            interpret(code, ends[0], ends[1], file, lanes)
            for k in range(K[i]):
                oracle(source, i, now, k - k % programs.shared, point, answer, words, streams, lanes)
                for lane in range(lanes):
                    file[weight, lane] = programs.weights[i, min(k, programs.weights.shape[1] - 1)]
                interpret(code, ends[1], ends[2], file, lanes)
            interpret(code, ends[2], ends[3], file, lanes)
            for row in range(programs.messages):
                for lane in range(lanes):
                    total[row, members[lane] if lanes < B else np.uint64(lane)] += file[M + row, lane]
            for row in range(clients * d):
                for lane in range(lanes):
                    client_rows[i, row, members[lane] if lanes < B else np.uint64(lane)] = file[C + row, lane]
        pack(server_rows, members, B, file, S)
        pack(total, members, B, file, M)
        pack(heads, members, B, file, coin)
        for lane in range(B):
            file[number, lane] = max(participants[lane], 1)
        interpret(code, ends[3], ends[4], file, B)
        for row in range(servers * d):
            for lane in range(B):
                if participants[lane] > 0 or not programs.averages:
                    server_rows[row, lane] = file[S + row, lane]
