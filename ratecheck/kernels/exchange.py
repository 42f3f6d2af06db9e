"""What becomes of messages on their way and of clients on a graph: random compression, and mixing with neighbours."""

from typing import Any, NamedTuple

import numpy as np

from ratecheck.kernels.compile import kernel_apart
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.random import COMPRESSION, MIXING, counter_tag, philox
from ratecheck.kernels.variables import combine
from ratecheck.kernels.vectors import add_multiple


class Compression(NamedTuple):
    """Rows of a message of which each is sent, divided by ``q``, with the probability ``threshold``/2**32; else 0.

    ``rows`` (R,) are those of a message (slots*d, B) in the order of their random words, and ``sent`` (rows, blocks,
    client, client + message) is the client once it knows what was sent. ``used``: whether anything is compressed.
    """

    used: Any
    rows: Any
    threshold: Any
    q: Any
    sent: Any


class Mixing(NamedTuple):
    """A mixing matrix W (n, n) by its rows: entries ``first[i]`` ... ``first[i + 1]`` - 1 are the W_ij of client i.

    ``neighbour`` has their j and ``weight`` the shares. What is mixed are ``counts[k]`` rows of a client's state
    (slots*d, B) from ``rows[k]`` on, after rounds whose random word is below ``threshold``. ``used``: whether clients
    are mixed at all.
    """

    used: Any
    first: Any
    neighbour: Any
    weight: Any
    rows: Any
    counts: Any
    threshold: Any


@kernel_apart
def transmit(compression, table_row, i, t, starts, counts, client, message, known, total, words, keys, lanes):
    """Compress what client i sends in round t, bring the client up to date, and add what is sent to ``total``.

    ``client`` (slots, d, B) are its variables, counts[b] of them in block b, and ``message`` (1, slots, d, B) what it
    has to say, which becomes what is sent; ``known`` is filled with the client that knows it. ``words`` (4, B) is
    scratch.
    """
    rows, q, threshold, d = compression.rows, compression.q, compression.threshold, message.shape[2]
    none, fill, tag = np.int64(0), np.int64(SET), counter_tag(COMPRESSION, i)
    for j in range(len(rows)):
        if j % 4 == 0:
            philox(j // 4, none, t, tag, keys, words, lanes)
        slot, row, word = rows[j] // d, rows[j] % d, j % 4
        for lane in range(lanes):
            share = message[0, slot, row, lane] / q
            message[0, slot, row, lane] = share if words[word, lane] < threshold else 0.0
    # The coefficients have no columns for local variables, whose place the client takes here.
    combine(compression.sent, table_row, starts, counts, client, message, none, client, known, none, fill, lanes)
    for slot in range(message.shape[1]):
        for row in range(d):
            for lane in range(lanes):
                total[slot, row, lane] += message[0, slot, row, lane]


@kernel_apart
def mix(mixing, t, client, mixed, words, keys):
    """Mix clients (n, slots, d, B) after round t in the replicates whose coin says so, x_i <- sum_j W_ij x_j.

    ``mixed`` (n, d, B) and ``words`` (4, B) are scratch. Rows of W add up to 1, so that none is empty. The coins are
    those of `mixing_rounds`.
    """
    n, slots, d, B = client.shape
    threshold, coins, none = mixing.threshold, 0, np.int64(0)
    philox(none, none, t, counter_tag(MIXING, none), keys, words, B)
    for lane in range(B):
        coins += words[0, lane] < threshold
    if coins == 0:
        return
    for k in range(len(mixing.rows)):
        begin, count = mixing.rows[k], mixing.counts[k]
        for i in range(n):
            mode = SET
            for place in range(mixing.first[i], mixing.first[i + 1]):
                row = mixing.neighbour[place] * slots * d + begin
                add_multiple(mode, mixing.weight[place], client, row, mixed, i * d, count, B)
                mode = ADD
        for i in range(n):
            if coins == B:
                add_multiple(SET, 1.0, mixed, i * d, client, i * slots * d + begin, count, B)
                continue
            for row in range(count):
                slot, place = (begin + row) // d, (begin + row) % d
                for lane in range(B):
                    if words[0, lane] < threshold:
                        client[i, slot, place, lane] = mixed[i, row, lane]
