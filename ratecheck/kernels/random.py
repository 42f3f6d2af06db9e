"""Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011).

A draw is a pure function of (key, counter). The key belongs to a replicate, the counter says what the draw is for:
(word block, local step, round, client and purpose). So a draw does not depend on threads, on the order of evaluation or
on how many replicates run beside it, and nothing has to be stored. Words are 32 bits, kept in 64-bit integers so that
loops over lanes vectorise.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.vectors import fill_normals, fill_words

_SHIFT = np.uint64(32)

# Purposes, in the upper bits of the counter's last word; the client takes the lower 28 bits.
NOISE = 0
BATCH = 1
PARTICIPATION = 2
COMPRESSION = 3
MIXING = 4
COIN = 5
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
    fill_words(c0, c1, c2, c3, keys, words, lanes)


@kernel
def counter_tag(purpose, client):
    """The counter's last word."""
    return (purpose << _PURPOSE_BIT) | client


@kernel
def normals(words, first, second, out_1, out_2, lanes):
    """Two rows (B,) of standard normals from two rows of 32-bit words (Box-Muller)."""
    fill_normals(words, first, second, out_1, out_2, lanes)


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
def weighted_clients(keys, first_round, weights, sampled, again, masks):
    """Add ``sampled`` draws of clients by their weights to masks (rounds, clients, replicates), which are 0.

    One after the other, of all clients or, unless ``again``, of those that are left.
    """
    rounds, clients, replicates = masks.shape
    words = np.empty((4, replicates), dtype=np.uint64)
    for t in range(rounds):
        for draw in range(sampled):
            if draw % 4 == 0:
                philox(draw // 4, 0, first_round + t, counter_tag(PARTICIPATION, 0), keys, words, replicates)
            for r in range(replicates):
                left, passed, chosen = 0.0, 0.0, 0
                for i in range(clients):
                    left += weights[i] * (again or not masks[t, i, r])
                # Exactly up to 2**-32.
                at = (np.float64(words[draw % 4, r]) + 0.5) * left / 4294967296.0
                for i in range(clients):
                    if again or not masks[t, i, r]:
                        passed, chosen = passed + weights[i], i
                        if at < passed:
                            break
                masks[t, chosen, r] += 1


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
def toss(purpose, keys, t, threshold, heads):
    """Fill heads (replicates) with the coins of round t for that purpose, 1 with probability threshold/2**32."""
    replicates = len(heads)
    words = np.empty((4, replicates), dtype=np.uint64)
    philox(0, 0, t, counter_tag(purpose, 0), keys, words, replicates)
    for r in range(replicates):
        heads[r] = np.float64(words[0, r]) < threshold


@kernel
def mixing_rounds(keys, t, threshold, mixed):
    """Fill mixed (replicates): whether clients on a graph are mixed after round t, with probability threshold/2**32."""
    toss(MIXING, keys, t, threshold, mixed)


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


@kernel
def renewals(keys, first_round, start, hazards, masks):
    """Fill masks (rounds, clients, replicates) with independent renewals of one law, whose last hazard is certain.

    Thresholds (ages,), probabilities times 2**32: in round 0 a client has been away for the first number of rounds
    whose ``start`` its word is below; afterwards one that has been away for ``a`` rounds is active if its word is below
    ``hazards[a]``. The state in ``first_round`` is where all ages lead from the latest round for which that is one age.
    """
    rounds, clients, replicates = masks.shape
    words = np.empty((4, replicates), dtype=np.uint64)
    # Where each age leads from the round that is looked at to the first one, per lane.
    leads = np.empty((4, replicates, hazards.size), dtype=np.int64)
    moved = np.empty(hazards.size, dtype=np.int64)
    settled = np.empty((4, replicates), dtype=np.bool_)
    tag = counter_tag(PARTICIPATION, 0)
    if rounds == 0:
        return
    for block in range((clients + 3) // 4):
        width = min(4, clients - 4 * block)
        settled[:, :] = False
        for c in range(4):
            for r in range(replicates):
                for a in range(hazards.size):
                    leads[c, r, a] = a
        open_lanes = width * replicates
        back = first_round
        while open_lanes > 0:
            philox(block, 0, back, tag, keys, words, replicates)
            for c in range(width):
                for r in range(replicates):
                    if settled[c, r]:
                        continue
                    word = np.float64(words[c, r])
                    same = True
                    for a in range(hazards.size):
                        to = 0 if word < hazards[a] else a + 1
                        if back == 0:
                            to = 0
                            while to < hazards.size - 1 and word >= start[to]:
                                to += 1
                        moved[a] = leads[c, r, to]
                        same = same and moved[a] == moved[0]
                    for a in range(hazards.size):
                        leads[c, r, a] = moved[a]
                    if same:
                        settled[c, r] = True
                        open_lanes -= 1
            back -= 1
        for c in range(width):
            for r in range(replicates):
                masks[0, 4 * block + c, r] = leads[c, r, 0] == 0
        for t in range(1, rounds):
            philox(block, 0, first_round + t, tag, keys, words, replicates)
            for c in range(width):
                for r in range(replicates):
                    age = leads[c, r, 0]
                    leads[c, r, 0] = 0 if np.float64(words[c, r]) < hazards[age] else age + 1
                    masks[t, 4 * block + c, r] = leads[c, r, 0] == 0
