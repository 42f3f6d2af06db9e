"""What is done for several clients at once, where functions of a method are called: a row is a client in a replicate.

Arrays are (rows, coordinates). Rows firsts[c] ... firsts[c+1]-1 are client clients[c], in replicates whose random
streams are the columns of ``keys`` (2, rows).
"""

import numpy as np

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.noise import add_law
from ratecheck.kernels.oracle import batch_values, exact_gradient, oracle, values
from ratecheck.kernels.random import COMPRESSION, NOISE, counter_tag, philox


@kernel
def widest(firsts):
    """The largest number of rows of a client."""
    most = 0
    for c in range(len(firsts) - 1):
        most = max(most, firsts[c + 1] - firsts[c])
    return most


@kernel
def load(rows, first, lanes, columns):
    """Put rows (R, d) from ``first`` on into the first lanes of columns (d, B)."""
    for lane in range(lanes):
        for row in range(rows.shape[1]):
            columns[row, lane] = rows[first + lane, row]


@kernel
def store(columns, first, lanes, rows):
    """Put the first lanes of columns (d, B) into rows (R, d) from ``first`` on."""
    for lane in range(lanes):
        for row in range(rows.shape[1]):
            rows[first + lane, row] = columns[row, lane]


@kernel
def answer_rows(source, clients, firsts, keys, t, k, x, out):
    """Fill out (R, d) with the stochastic answers of the clients' oracle at x (R, d) in local step k of round t."""
    d, B = x.shape[1], widest(firsts)
    point, answer = np.empty((d, B)), np.empty((d, B))
    words, streams = np.empty((4, B), dtype=np.uint64), np.empty((2, B), dtype=np.uint64)
    for c in range(len(clients)):
        first, lanes = firsts[c], firsts[c + 1] - firsts[c]
        load(x, first, lanes, point)
        for lane in range(lanes):
            streams[0, lane], streams[1, lane] = keys[0, first + lane], keys[1, first + lane]
        oracle(source, clients[c], t, k, point, answer, words, streams, lanes)
        store(answer, first, lanes, out)


@kernel
def value_rows(source, clients, firsts, keys, t, k, x, out):
    """Fill out (R,) with the clients' values at x (R, d): of a batch on the samples of local step k of round t."""
    d, B = x.shape[1], widest(firsts)
    point, gradient, found, scratch = np.empty((d, B)), np.empty((d, B)), np.empty(B), np.empty(B)
    words, streams = np.empty((4, B), dtype=np.uint64), np.empty((2, B), dtype=np.uint64)
    for c in range(len(clients)):
        first, lanes = firsts[c], firsts[c + 1] - firsts[c]
        load(x, first, lanes, point)
        for lane in range(lanes):
            streams[0, lane], streams[1, lane] = keys[0, first + lane], keys[1, first + lane]
        if source.batch > 0:
            batch_values(source, clients[c], t, k, point, found, words, streams, lanes)
        else:
            exact_gradient(source, clients[c], point, gradient, lanes)
            values(source, clients[c], point, gradient, found, scratch, lanes)
        for lane in range(lanes):
            out[first + lane] = found[lane]


@kernel
def add_law_rows(law, shape, noise, clients, firsts, keys, t, k, out):
    """Add the noise of the clients' local step k of round t to their answers out (R, d), as `noise.add_law` does."""
    B = widest(firsts)
    answer, streams = np.empty((out.shape[1], B)), np.empty((2, B), dtype=np.uint64)
    words = np.empty((4, B), dtype=np.uint64)
    for c in range(len(clients)):
        first, lanes = firsts[c], firsts[c + 1] - firsts[c]
        load(out, first, lanes, answer)
        for lane in range(lanes):
            streams[0, lane], streams[1, lane] = keys[0, first + lane], keys[1, first + lane]
        add_law(law, shape, noise, clients[c], t, k, answer, words, streams, lanes)
        store(answer, first, lanes, out)


@kernel
def noise_words(clients, firsts, keys, t, k, found):
    """Fill found (R, d) with the 32-bit words of the clients' noise in local step k of round t."""
    draw_words(NOISE, k, clients, firsts, keys, t, found)


@kernel
def kept_rows(threshold, clients, firsts, keys, t, kept):
    """Fill kept (R, coordinates): what the clients send in round t, each with probability threshold / 2**32."""
    rows, coordinates = kept.shape
    words = np.empty((rows, coordinates), dtype=np.uint64)
    draw_words(COMPRESSION, 0, clients, firsts, keys, t, words)
    for row in range(rows):
        for j in range(coordinates):
            kept[row, j] = np.float64(words[row, j]) < threshold


@kernel
def draw_words(purpose, k, clients, firsts, keys, t, found):
    """Fill found (R, d) with words: of four coordinates at a time from the counter of their number divided by 4."""
    d, B = found.shape[1], widest(firsts)
    words, streams = np.empty((4, B), dtype=np.uint64), np.empty((2, B), dtype=np.uint64)
    for c in range(len(clients)):
        first, lanes = firsts[c], firsts[c + 1] - firsts[c]
        for lane in range(lanes):
            streams[0, lane], streams[1, lane] = keys[0, first + lane], keys[1, first + lane]
        for row in range(0, d, 4):
            philox(row // 4, k, t, counter_tag(purpose, clients[c]), streams, words, lanes)
            for lane in range(lanes):
                for j in range(row, min(row + 4, d)):
                    found[first + lane, j] = words[j - row, lane]


@kernel
def add_rows(rows, places, total):
    """Add rows (R, d) to total (P, d), each at its place and one after the other, so that shapes do not matter."""
    for row in range(len(places)):
        place = places[row]
        for j in range(total.shape[1]):
            total[place, j] += rows[row, j]


@kernel
def mix_clients(ends, neighbours, shares, x, mixed):
    """Fill mixed (n, width) with sum_j W_ij x_j: entries ends[i] ... ends[i+1]-1 of W are row i, in ``neighbours``."""
    mixed[:, :] = 0.0
    for i in range(len(mixed)):
        for e in range(ends[i], ends[i + 1]):
            j, share = neighbours[e], shares[e]
            for column in range(mixed.shape[1]):
                mixed[i, column] += share * x[j, column]


@kernel
def so_far(row, largest):
    """The largest of an earlier maximum and the sizes of a row (d,); NaN where there is one, as in `numpy.maximum`."""
    for value in row:
        if not np.isnan(largest) and not abs(value) <= largest:
            largest = abs(value)
    return largest


@kernel
def shares_of_rows(numbers, firsts, shares):
    """Fill shares (2, R, d), of points and of gradients, with numbers: client by client (2, d, replicates) each."""
    d = shares.shape[2]
    for c in range(len(firsts) - 1):
        first, count = firsts[c], firsts[c + 1] - firsts[c]
        for k in range(2):
            for j in range(d):
                for row in range(count):
                    shares[k, first + row, j] = numbers[2 * d * first + (k * d + j) * count + row]


@kernel
def nudge_points(x, shares, lanes, sizes, largest, out):
    """Fill out (R, d) with x, moved by shares (R, d) of the largest coordinate so far, times ``sizes`` (B,).

    That is the ``largest`` (B,) of the row's replicate, one of the ``lanes`` (R,).
    """
    for row in range(len(x)):
        lane = lanes[row]
        largest[lane] = so_far(x[row], largest[lane])
        for j in range(x.shape[1]):
            out[row, j] = x[row, j] + shares[row, j] * (sizes[lane] * largest[lane])


@kernel
def nudge_gradients(g, shares, lanes, sizes, zero, largest):
    """Move coordinates of g (R, d) by shares of themselves, as `nudge_points` does; what is small then becomes 0.

    That is up to the share ``zero`` (B,) of the largest coordinate so far, ``largest`` (B,).
    """
    for row in range(len(g)):
        lane = lanes[row]
        largest[lane] = so_far(g[row], largest[lane])
        for j in range(g.shape[1]):
            moved = g[row, j] * (1 + shares[row, j] * sizes[lane])
            g[row, j] = 0.0 if abs(moved) <= zero[lane] * largest[lane] else moved
