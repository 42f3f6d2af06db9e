"""What becomes of messages on their way and of clients on a graph: random compression, and mixing with neighbours."""

from typing import Any, NamedTuple

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.constants import ADD, SET
from ratecheck.kernels.random import COMPRESSION, MIXING, counter_tag
from ratecheck.kernels.vectors import add_multiple, clear, fill_words


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


@kernel
def compress(compression, i, t, message, words, keys, lanes):
    """Compress client i's message (slots, d, B) of round t; ``words`` (4, B) is scratch.

    The random words are those of `kept_coordinates`.
    """
    rows, q, threshold, d = compression.rows, compression.q, compression.threshold, message.shape[1]
    for j in range(len(rows)):
        if j % 4 == 0:
            fill_words(j // 4, 0, t, counter_tag(COMPRESSION, i), keys, words, lanes)
        slot, row, word = rows[j] // d, rows[j] % d, j % 4
        for lane in range(lanes):
            share = message[slot, row, lane] / q
            message[slot, row, lane] = share if words[word, lane] < threshold else 0.0


@kernel
def mix(mixing, t, client, mixed, words, keys):
    """Mix clients (n, slots, d, B) after round t in the replicates whose coin says so, x_i <- sum_j W_ij x_j.

    ``mixed`` (n, d, B) and ``words`` (4, B) are scratch. The coins are those of `mixing_rounds`.
    """
    n, slots, d, B = client.shape
    threshold, coins = mixing.threshold, 0
    fill_words(0, 0, t, counter_tag(MIXING, 0), keys, words, B)
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
            if mode == SET:
                clear(mixed, i * d, count, B)
        for i in range(n):
            if coins == B:
                add_multiple(SET, 1.0, mixed, i * d, client, i * slots * d + begin, count, B)
                continue
            for row in range(count):
                slot, place = (begin + row) // d, (begin + row) % d
                for lane in range(B):
                    if words[0, lane] < threshold:
                        client[i, slot, place, lane] = mixed[i, row, lane]
