"""Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011).

A draw is a pure function of (key, counter). The key belongs to a replicate, the counter says what the draw is for:
(word block, local step, round, client and purpose). So a draw does not depend on threads, on the order of evaluation or
on how many replicates run beside it, and nothing has to be stored. Words are 32 bits, kept in 64-bit integers so that
loops over lanes vectorise.
"""

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

from ratecheck.kernels.compile import kernel

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_ROUNDS = 10

# Purposes, in the upper bits of the counter's last word; the client takes the lower 28 bits.
NOISE = 0
BATCH = 1
PARTICIPATION = 2
_PURPOSE_BIT = 28

# The round number of draws made before round 0.
BEFORE_FIRST_ROUND = 0xFFFFFFFF


def stream_keys(seed: int, replicates: range) -> NDArray[np.uint64]:
    """Keys (2, replicates) of the random streams, from the named axes seed and replicate."""
    words = [hashlib.sha256(f"seed={seed};replicate={r}".encode()).digest()[:8] for r in replicates]
    return np.ascontiguousarray(np.frombuffer(b"".join(words), dtype="<u4").reshape(-1, 2).T.astype(np.uint64))


@kernel
def philox(c0, c1, c2, c3, keys, words, lanes):
    """Fill words[0:4, 0:lanes] with the Philox output at one counter for the keys (2, lanes)."""
    for lane in range(lanes):
        x0, x1, x2, x3 = np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)
        k0, k1 = keys[0, lane], keys[1, lane]
        for _ in range(_ROUNDS):
            p0 = _MULTIPLIER_0 * x0
            p1 = _MULTIPLIER_1 * x2
            x0, x1, x2, x3 = (p1 >> _SHIFT) ^ x1 ^ k0, p1 & _MASK, (p0 >> _SHIFT) ^ x3 ^ k1, p0 & _MASK
            k0 = (k0 + _WEYL_0) & _MASK
            k1 = (k1 + _WEYL_1) & _MASK
        words[0, lane] = x0
        words[1, lane] = x1
        words[2, lane] = x2
        words[3, lane] = x3


@kernel
def counter_tag(purpose, client):
    """The counter's last word."""
    return (purpose << _PURPOSE_BIT) | client


@kernel
def normals(words, first, second, floats, bits, out_1, out_2, lanes):
    """Two rows of standard normals from two rows of 32-bit words (Box-Muller).

    ``floats`` (lanes,) is scratch and ``bits`` its view as int64. Logarithm and sine are written out because the
    library's do not vectorise; both are accurate to 1e-13.
    """
    for lane in range(lanes):
        floats[lane] = (np.float64(words[first, lane]) + 0.5) * 2.0**-32
    for lane in range(lanes):
        pattern = bits[lane]
        exponent = (pattern >> 52) - 1023
        words[first, lane] = np.uint64(exponent + 64)
        bits[lane] = (pattern & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000
    for lane in range(lanes):
        # log(mantissa) = 2 atanh(s); the mantissa lies in [1, 2) and is centred around 1 first.
        mantissa = floats[lane]
        large = mantissa > 1.4142135623730951
        centred = mantissa * 0.5 if large else mantissa
        power = np.float64(np.int64(words[first, lane]) - 64) + (1.0 if large else 0.0)
        s = (centred - 1.0) / (centred + 1.0)
        q = s * s
        series = 1 / 13 + q * (1 / 15 + q * (1 / 17))
        series = 1 / 7 + q * (1 / 9 + q * (1 / 11 + q * series))
        log = 2.0 * s * (1.0 + q * (1 / 3 + q * (1 / 5 + q * series))) + power * 0.6931471805599453
        radius = math.sqrt(-2.0 * log)
        # The angle is 2*phi with phi in (-pi/2, pi/2): sine and cosine of phi by their series.
        phi = ((np.float64(words[second, lane]) + 0.5) * 2.0**-32 - 0.5) * math.pi
        q = phi * phi
        tail = -1 / 1307674368000 + q * (1 / 355687428096000 + q * (-1 / 121645100408832000))
        tail = -1 / 39916800 + q * (1 / 6227020800 + q * tail)
        sine = phi * (1.0 + q * (-1 / 6 + q * (1 / 120 + q * (-1 / 5040 + q * (1 / 362880 + q * tail)))))
        tail = -1 / 87178291200 + q * (1 / 20922789888000 + q * (-1 / 6402373705728000 + q / 2432902008176640000))
        tail = 1 / 40320 + q * (-1 / 3628800 + q * (1 / 479001600 + q * tail))
        cosine = 1.0 + q * (-0.5 + q * (1 / 24 + q * (-1 / 720 + q * tail)))
        out_1[lane] = radius * (1.0 - 2.0 * sine * sine)
        out_2[lane] = radius * (2.0 * sine * cosine)


@kernel
def uniform_subsets(keys, first_round, clients, sampled, masks):
    """Fill masks (rounds, clients, replicates) with uniform subsets of ``sampled`` clients (selection sampling)."""
    rounds, _, replicates = masks.shape
    words = np.empty((4, replicates), dtype=np.uint64)
    needed = np.empty(replicates, dtype=np.int64)
    for t in range(rounds):
        needed[:] = sampled
        for i in range(clients):
            if i % 4 == 0:
                philox(i // 4, 0, first_round + t, counter_tag(PARTICIPATION, 0), keys, words, replicates)
            left = clients - i
            for r in range(replicates):
                # Take client i with probability needed/left; a 32-bit word decides, exactly up to 2**-32.
                take = np.float64(words[i % 4, r]) * left < np.float64(needed[r]) * 4294967296.0
                masks[t, i, r] = take
                needed[r] -= take


@kernel
def independent_clients(keys, first_round, thresholds, masks):
    """Fill masks (rounds, clients, replicates): client i plays in round t with probability thresholds[t, i] / 2**32.

    A 32-bit word below the threshold decides, so a probability is met exactly up to 2**-32.
    """
    rounds, clients, replicates = masks.shape
    words = np.empty((4, replicates), dtype=np.uint64)
    for t in range(rounds):
        for i in range(clients):
            if i % 4 == 0:
                philox(i // 4, 0, first_round + t, counter_tag(PARTICIPATION, 0), keys, words, replicates)
            for r in range(replicates):
                masks[t, i, r] = np.float64(words[i % 4, r]) < thresholds[t, i]


@kernel
def random_order(keys, epoch, order, words):
    """Fill order (clients, replicates) with the permutation of that epoch (Fisher-Yates), uniform up to n * 2**-32."""
    clients, replicates = order.shape
    for i in range(clients):
        order[i, :] = i
    for i in range(clients):
        if i % 4 == 0:
            philox(i // 4, 0, epoch, counter_tag(PARTICIPATION, 0), keys, words, replicates)
        for r in range(replicates):
            j = i + np.int64((words[i % 4, r] * np.uint64(clients - i)) >> _SHIFT)
            order[i, r], order[j, r] = order[j, r], order[i, r]


@kernel
def reshuffled_blocks(keys, first_round, sampled, epoch, masks):
    """Fill masks (rounds, clients, replicates) with blocks of ``sampled`` clients out of random orders.

    With ``epoch`` > 0 there is a new order every ``epoch`` rounds, whose blocks wrap around within it; with 0 the
    orders follow one another without a gap.
    """
    rounds, clients, replicates = masks.shape
    words = np.empty((4, replicates), dtype=np.uint64)
    order = np.empty((clients, replicates), dtype=np.int64)
    drawn = -1
    masks[:, :, :] = False
    for t in range(rounds):
        for k in range(sampled):
            if epoch > 0:
                number = (first_round + t) // epoch
                place = ((first_round + t) % epoch * sampled + k) % clients
            else:
                number = ((first_round + t) * sampled + k) // clients
                place = ((first_round + t) * sampled + k) % clients
            if number != drawn:
                random_order(keys, number, order, words)
                drawn = number
            for r in range(replicates):
                masks[t, order[place, r], r] = True


@kernel
def two_state_chains(keys, first_round, start, join, stay, masks):
    """Fill masks (rounds, clients, replicates) with independent two-state Markov chains.

    Thresholds (clients,), probabilities times 2**32: client i is active in round 0 if the word of that round is below
    ``start``, and in a later round if its word is below ``stay`` (when it was active) or ``join`` (when it was not). A
    word below both or above both thus forgets the past; any other keeps the state (join < stay) or flips it. So the
    state in ``first_round`` follows from the latest forgetful round before it, and the number of flips since.
    """
    rounds, clients, replicates = masks.shape
    words = np.empty((4, replicates), dtype=np.uint64)
    settled = np.empty((4, replicates), dtype=np.bool_)
    active = np.empty((4, replicates), dtype=np.bool_)
    tag = counter_tag(PARTICIPATION, 0)
    if rounds == 0:
        return
    for block in range((clients + 3) // 4):
        width = min(4, clients - 4 * block)
        settled[:, :] = False
        active[:, :] = False
        open_lanes = width * replicates
        back = first_round
        while open_lanes > 0:
            philox(block, 0, back, tag, keys, words, replicates)
            for c in range(width):
                i = 4 * block + c
                low, high = min(join[i], stay[i]), max(join[i], stay[i])
                if back == 0:
                    low = high = start[i]
                for r in range(replicates):
                    if settled[c, r]:
                        continue
                    word = np.float64(words[c, r])
                    # Until it is settled, ``active`` holds whether the state has flipped since.
                    if word < low or word >= high:
                        active[c, r] = (word < low) != active[c, r]
                        settled[c, r] = True
                        open_lanes -= 1
                    elif stay[i] < join[i]:
                        active[c, r] = not active[c, r]
            back -= 1
        for c in range(width):
            for r in range(replicates):
                masks[0, 4 * block + c, r] = active[c, r]
        for t in range(1, rounds):
            philox(block, 0, first_round + t, tag, keys, words, replicates)
            for c in range(width):
                i = 4 * block + c
                for r in range(replicates):
                    threshold = stay[i] if masks[t - 1, i, r] else join[i]
                    masks[t, i, r] = np.float64(words[c, r]) < threshold
