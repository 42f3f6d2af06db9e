"""Participation patterns: their definitions, their laws, and that no draw depends on what is asked for beside it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ratecheck as rc
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.kernels import random as kernels
from ratecheck.participation import Renewal, Trace
from ratecheck.participation.delays import expectation, maximum
from ratecheck.problems import Quadratic

BAND = 4.5
MATRIX = np.random.default_rng(0).random((40, 5)) < 0.4
VARYING = np.random.default_rng(1).uniform(0.1, 1.0, (40, 5))

PATTERNS = {
    "trace": Trace(MATRIX),
    "full": Trace.full(5),
    "uniform": Trace.uniform(5, 2),
    "weighted": Trace.weighted([0.4, 0.3, 0.1, 0.1, 0.1], 2),
    "cyclic": Trace.cyclic(5, 2),
    "periodic": Trace.periodic([[1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 0]]),
    "periodic, eventually": Trace.periodic([[1, 0], [0, 1]], [[1, 1], [0, 0]]),
    "reshuffled": Trace.reshuffled(6, 2),
    "reshuffled, wrapping": Trace.reshuffled(5, 2),
    "reshuffled, running on": Trace.reshuffled(5, 3, wrap=False),
    "reshuffled, short epochs": Trace.reshuffled(5, 3, epoch=1),
    "reshuffled, long epochs": Trace.reshuffled(5, 2, epoch=7),
    "bernoulli": Trace.bernoulli(0.3, 5),
    "bernoulli by client": Trace.bernoulli([0.1, 0.3, 0.5, 0.9, 1.0]),
    "bernoulli by round": Trace.bernoulli(VARYING),
    "bernoulli by function": Trace.bernoulli(lambda t, i: (1 + i) / (6 + t), n=5, T=40),
    "sine": Trace.sine(5, 3),
    "biased": Trace.biased(5, group=2, first=0.9, step=0.2),
    "markov": Trace.markov(0.2, [0.3, 0.1, 0.5, 0.0, 1.0]),
    "markov, slow": Trace.markov(0.02, 0.03, 5),
    "markov, alternating": Trace.markov(0.97, 0.95, 5),
    "markov, periodic": Trace.markov(1.0, 1.0, 5),
    "markov from absence": Trace.markov(0.1, 0.1, 5, start=0.0),
    "renewal": Renewal([0.2, 0.0, 0.5, 0.3], 5),
    "renewal, periodic": Renewal([0.0, 0.0, 1.0], 5),
}


def keys_of(count, seed=1, first=0):
    """Stream keys of replicates ``first``, ``first`` + 1, ..."""
    return kernels.stream_keys(seed, range(first, first + count))


def words_of(clients, number, key):
    """The words (clients,) that round or epoch ``number`` gives to the clients of the replicate with that key."""
    words = np.empty((4, 1), dtype=np.uint64)
    found = []
    for block in range((clients + 3) // 4):
        kernels.philox(
            block,
            0,
            number,
            kernels.counter_tag(kernels.PARTICIPATION, 0),
            np.ascontiguousarray(key[:, None]),
            words,
            1,
        )
        found += [int(word) for word in words[:, 0]]
    return found[:clients]


def close(found, expected, count):
    """Whether frequencies over ``count`` draws lie within 4.5 standard errors of probabilities, everywhere."""
    found, expected = np.asarray(found), np.asarray(expected)
    return bool((np.abs(found - expected) <= BAND * np.sqrt(expected * (1 - expected) / count) + 1e-9).all())


# --- Every pattern ---


@pytest.mark.parametrize("name", PATTERNS)
def test_a_round_does_not_depend_on_how_rounds_and_replicates_are_split(name):
    """Every way of asking for a part of 40 rounds of 7 replicates gives that part of the whole, bit for bit."""
    pattern, keys = PATTERNS[name], keys_of(7)
    whole = pattern.masks(0, 40, keys)
    assert whole.shape == (40, pattern.n, 7)
    assert whole.dtype == np.bool_
    assert whole.flags.c_contiguous
    for first, rounds in [(t, 1) for t in range(40)] + [(0, 13), (13, 20), (33, 7), (1, 39)]:
        assert np.array_equal(pattern.masks(first, rounds, keys), whole[first : first + rounds])
    for chosen in ([3], [5, 0], [6, 5, 4, 3, 2, 1, 0]):
        part = pattern.masks(17, 9, np.ascontiguousarray(keys[:, chosen]))
        assert np.array_equal(part, whole[17:26][:, :, chosen])
    assert np.array_equal(pattern.masks(0, 40, keys), whole)
    assert pattern.masks(8, 0, keys).shape == (0, pattern.n, 7)


@pytest.mark.parametrize("name", PATTERNS)
def test_rate_is_the_average_share_of_clients(name):
    """Over 40 rounds (whole cycles of every pattern here but one) and 3,000 replicates, within 4.5 standard errors."""
    pattern, count = PATTERNS[name], 3000
    masks = pattern.masks(0 if name != "markov from absence" else 200, 40, keys_of(count))
    shares = masks.mean(axis=(0, 1))
    assert abs(shares.mean() - pattern.rate) <= BAND * shares.std() / math.sqrt(count) + 1e-9


@pytest.mark.parametrize("name", PATTERNS)
def test_replicates_differ_unless_the_pattern_says_that_it_is_fixed(name):
    """``fixed`` is the matrix of every replicate, or None and there are many."""
    pattern = PATTERNS[name]
    masks = pattern.masks(0, 30, keys_of(20))
    matrix = pattern.fixed(30)
    if matrix is None:
        assert len({masks[:, :, r].tobytes() for r in range(20)}) > 10
    else:
        assert matrix.shape == (30, pattern.n)
        assert (masks == matrix[:, :, None]).all()


@pytest.mark.parametrize("name", PATTERNS)
def test_a_simulation_follows_the_drawn_matrix(name):
    """Replicate r of a simulation equals, bit for bit, the same replicate on the matrix that ``draw`` returns for r."""
    pattern = PATTERNS[name]
    problem = Quadratic.synthetic(pattern.n, 3, 1)
    steps = {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}
    options = {"K": 2, "T": 12, "seed": 4, "replicates": 3, "sigma_u": 0.3, **steps}
    run = rc.simulate("scaffold-p", problem, pattern, **options)
    for r in range(3):
        given = rc.simulate("scaffold-p", problem, Trace(pattern.draw(12, seed=4, replicate=r)), **options)
        for quantity, values in run.records.items():
            assert np.array_equal(values[r], given.records[quantity][r])


def test_replicates_of_a_simulation_do_not_depend_on_blocks_chunks_or_threads(monkeypatch):
    """A pattern with memory, in one block and one chunk, in chunks of one round, and started at replicate 60."""
    problem, pattern = Quadratic.synthetic(5, 3, 1), PATTERNS["markov, slow"]
    steps = {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}
    ready = rc.engines.setup.prepare("fedavg-p", problem, pattern, K=2, T=15, noise={"sigma_u": 0.3}, step_sizes=steps)
    whole = stepwise.simulate(ready, seed=2, replicates=70, threads=1)
    monkeypatch.setattr(stepwise, "_CHUNK_ENTRIES", 1)
    part = stepwise.simulate(ready, seed=2, first_replicate=60, replicates=10, threads=2)
    assert np.array_equal(whole.metric[60:], part.metric)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_its_numbers(name):
    """Attributes are numbers and arrays alone, so that a result store can tell patterns apart by them."""
    assert all(isinstance(value, (int, float, np.ndarray)) or value is None for value in vars(PATTERNS[name]).values())


def test_streams_are_those_of_the_step_engine():
    """The keys by which delays are sampled are the keys by which the engine simulates."""
    assert np.array_equal(kernels.stream_keys(5, range(3, 9)), stepwise.stream_keys(5, range(3, 9)))


# --- Case 3 ---


@pytest.mark.parametrize(("n", "S"), [(1, 1), (4, 1), (6, 2), (5, 2), (7, 3), (7, 5), (4, 4)])
def test_cyclic_walks_through_the_clients(n, S):
    """A pointer that moves one client at a time, S times per round, and restarts after the last client."""
    pointer, expected = 0, np.zeros((30, n), dtype=bool)
    for t in range(30):
        for _ in range(S):
            expected[t, pointer] = True
            pointer = 0 if pointer == n - 1 else pointer + 1
    pattern = Trace.cyclic(n, S)
    assert np.array_equal(pattern.fixed(30), expected)
    assert np.array_equal(pattern.draw(30, seed=9), expected)
    assert pattern.rate == S / n
    cover = -(-n // S)
    assert all(expected[t : t + cover].any(axis=0).all() for t in range(30 - cover))


def test_cyclic_rounds_far_out_do_not_overflow():
    """Round 2^31 of 3 of 7 clients starts at client 2^31 * 3 mod 7."""
    first = 3 * 2**31 % 7
    found = np.flatnonzero(Trace.cyclic(7, 3).masks(2**31, 1, keys_of(1))[0, :, 0])
    assert set(found) == {(first + k) % 7 for k in range(3)}


# --- Case 4 ---


def order_of(n, epoch, key):
    """The random order of an epoch in plain Python: Fisher-Yates with the epoch's words."""
    order = list(range(n))
    for i, word in enumerate(words_of(n, epoch, key)):
        j = i + word * (n - i) // 2**32
        order[i], order[j] = order[j], order[i]
    return order


def places(n, S, t, reading):
    """(epoch, place in its order) of the S selections of round t, from the words of the definition."""
    if reading == "running on":
        return [divmod(t * S + k, n) for k in range(S)]
    rounds = math.ceil(n / S) if reading == "wrapping" else n // S
    return [(t // rounds, (t % rounds * S + k) % n) for k in range(S)]


READINGS = {
    "wrapping": Trace.reshuffled,
    "running on": lambda n, S: Trace.reshuffled(n, S, wrap=False),
    "proof": lambda n, S: Trace.reshuffled(n, S, epoch=n // S),
}
SHAPES = [(1, 1), (4, 1), (6, 2), (6, 3), (4, 4), (5, 2), (5, 3), (5, 4), (7, 3), (11, 4)]


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("n", "S"), SHAPES)
def test_reshuffled_takes_blocks_out_of_the_orders(n, S, reading):
    """Against a plain Python twin, 25 rounds of 3 replicates."""
    keys = keys_of(3, seed=8)
    masks = READINGS[reading](n, S).masks(0, 25, keys)
    for r, t in itertools.product(range(3), range(25)):
        expected = {order_of(n, epoch, keys[:, r])[place] for epoch, place in places(n, S, t, reading)}
        assert set(np.flatnonzero(masks[t, :, r])) == expected


@pytest.mark.parametrize(("n", "S"), [shape for shape in SHAPES if shape[0] % shape[1] == 0])
def test_readings_agree_where_the_block_size_divides_the_number_of_clients(n, S):
    """All three give the same bits, and every epoch partitions the clients."""
    keys = keys_of(4)
    first, *others = (make(n, S).masks(0, 6 * (n // S), keys) for make in READINGS.values())
    assert all(np.array_equal(first, other) for other in others)
    assert (first.reshape(6, n // S, n, 4).sum(axis=1) == 1).all()


@pytest.mark.parametrize(("n", "S"), [(5, 2), (5, 3), (5, 4), (7, 3), (11, 4)])
def test_readings_differ_as_documented_where_it_does_not(n, S):
    """Wrapping: always S, all clients in an epoch. Running on: every order once. Proof's: n mod S clients left out."""
    keys, R = keys_of(50), math.ceil(n / S)
    wrapping = Trace.reshuffled(n, S).masks(0, 8 * R, keys)
    assert (wrapping.sum(axis=1) == S).all()
    per_epoch = wrapping.reshape(8, R, n, 50).sum(axis=1)
    assert per_epoch.min() == 1
    assert per_epoch.max() == 2
    assert (per_epoch.sum(axis=1) == R * S).all()
    running = Trace.reshuffled(n, S, wrap=False).masks(0, 4 * n, keys)
    assert running.sum(axis=1).max() == S
    assert running.sum(axis=1).min() < S
    short = Trace.reshuffled(n, S, epoch=n // S).masks(0, 8 * (n // S), keys)
    per_epoch = short.reshape(8, n // S, n, 50).sum(axis=1)
    assert per_epoch.max() == 1
    assert (per_epoch.sum(axis=1) == n // S * S).all()


def test_orders_are_uniform_and_independent_between_epochs():
    """Chi-square over the 24 orders of 4 clients, and over the pairs of first clients in consecutive epochs."""
    masks = Trace.reshuffled(4, 1).masks(0, 40, keys_of(2400, seed=3))
    orders = masks.argmax(axis=1).reshape(10, 4, 2400)
    counts = np.unique(np.tensordot(4 ** np.arange(4), orders, axes=(0, 1)), return_counts=True)[1]
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-3
    pairs = np.unique(orders[::2, 0] * 4 + orders[1::2, 0], return_counts=True)[1]
    assert len(pairs) == 16
    assert stats.chisquare(pairs).pvalue > 1e-3


@pytest.mark.parametrize(("n", "S"), [(3, 2), (4, 3), (5, 2), (5, 3), (6, 4), (4, 2)])
def test_rate_of_running_on_is_the_enumerated_one(n, S):
    """Expected size of each block of a cycle, over all relative orders of two epochs."""
    sizes = []
    orders = list(itertools.permutations(range(n)))
    for t in range(n // math.gcd(n, S)):
        found = [divmod(t * S + k, n) for k in range(S)]
        old = [place for epoch, place in found if epoch == found[0][0]]
        new = [place for epoch, place in found if epoch != found[0][0]]
        # The first order may be taken as 0, 1, ..., n-1; the next is uniform.
        sizes.append(np.mean([len({*old, *(order[place] for place in new)}) for order in orders]))
    assert Trace.reshuffled(n, S, wrap=False).rate == pytest.approx(np.mean(sizes) / n, rel=1e-12)


# --- Case 2 ---


def test_bernoulli_compares_words_with_probabilities():
    """Client i plays in round t exactly when its word is below p_i^t * 2^32."""
    keys, pattern = keys_of(3, seed=6), PATTERNS["bernoulli by round"]
    masks = pattern.masks(0, 40, keys)
    for r, t in itertools.product(range(3), range(40)):
        expected = [word < p * 2**32 for word, p in zip(words_of(5, t, keys[:, r]), VARYING[t], strict=True)]
        assert masks[t, :, r].tolist() == expected


def test_bernoulli_frequencies_are_the_inclusion_probabilities():
    """For every client and pair of clients, constant probabilities, and for every round and client, varying ones."""
    pattern = Trace.bernoulli([0.1, 0.3, 0.5, 0.9, 1.0])
    assert pattern.inclusion.tolist() == [0.1, 0.3, 0.5, 0.9, 1.0]
    draws = pattern.masks(0, 20, keys_of(2000)).transpose(0, 2, 1).reshape(-1, 5).astype(float)
    both = np.outer(pattern.inclusion, pattern.inclusion)
    np.fill_diagonal(both, pattern.inclusion)
    assert close(draws.T @ draws / len(draws), both, len(draws))
    varying = Trace.bernoulli(VARYING)
    assert np.array_equal(varying.inclusion, VARYING)
    assert close(varying.masks(0, 40, keys_of(3000)).mean(axis=2), VARYING, 3000)


def test_bernoulli_rounds_are_independent_and_may_be_empty():
    """Chi-square of two consecutive rounds of two clients: 16 cells, the empty-empty one among them."""
    p = np.array([0.3, 0.6])
    masks = Trace.bernoulli(p).masks(0, 60, keys_of(500)).astype(int)
    code = masks[::2, 0] + 2 * masks[::2, 1] + 4 * masks[1::2, 0] + 8 * masks[1::2, 1]
    cells = [np.prod([q if bit else 1 - q for q, bit in zip([*p, *p], bits, strict=True)]) for bits in bits_of(4)]
    counts = np.bincount(code.ravel(), minlength=16)
    assert stats.chisquare(counts, np.array(cells) * counts.sum()).pvalue > 1e-3
    assert counts[0] > 0


def bits_of(width):
    """The bits of 0, 1, ..., 2^width - 1, lowest first."""
    return [[number >> k & 1 for k in range(width)] for number in range(2**width)]


def test_the_frequency_test_notices_a_wrong_probability():
    """Planted error: probabilities 3% too large are seen."""
    draws = Trace.bernoulli(0.5 * 1.03, 5).masks(0, 20, keys_of(2000))
    assert not close(draws.mean(axis=(0, 2)), np.full(5, 0.5), 40_000)


def test_bernoulli_forms_agree():
    """A number, a vector, a matrix and a function of the same probabilities give the same bits."""
    keys = keys_of(4)
    forms = [
        Trace.bernoulli(0.3, 5),
        Trace.bernoulli(np.full(5, 0.3)),
        Trace.bernoulli([0.3] * 5, n=5),
        Trace.bernoulli(np.full((30, 5), 0.3)),
        Trace.bernoulli(lambda _t, _i: 0.3, n=5, T=30),
    ]
    first, *others = (form.masks(7, 20, keys) for form in forms)
    assert all(np.array_equal(first, other) for other in others)
    assert {form.rate for form in forms} == {0.3}
    assert {form.delta for form in forms} == {0.3}
    assert Trace.bernoulli(1.0, 3).masks(0, 50, keys).all()


def test_bernoulli_keeps_its_own_probabilities():
    """What becomes of the caller's array does not matter."""
    p = np.array([0.5, 1.0])
    pattern = Trace.bernoulli(p)
    p[:] = 0.0
    assert pattern.inclusion.tolist() == [0.5, 1.0]


def test_sine_is_pattern_p3():
    """S/N (0.3 sin(pi t/5) + 0.7) with S = 20, N = 100: values by hand, a period of 10, and a mean of 14 clients."""
    pattern = Trace.sine(100, 20)
    p = pattern.probabilities(0, 40)
    assert p.shape == (40, 100)
    assert (p == p[:, :1]).all()
    by_hand = {0: 0.14, 1: 0.17526711513754838, 2: 0.19706339097770922, 5: 0.14, 8: 0.08293660902229079}
    for t, value in by_hand.items():
        assert p[t, 3] == pytest.approx(value, rel=1e-14)
    assert np.allclose(p[:10], p[10:20], rtol=1e-13)
    assert np.array_equal(pattern.probabilities(17, 9), p[17:26])
    assert pattern.rate * 100 == pytest.approx(14)
    assert pattern.delta == pytest.approx(0.08)
    assert p.min() >= pattern.delta
    assert close(pattern.masks(0, 20, keys_of(400)).mean(axis=(1, 2)), p[:20, 0], 40_000)


@pytest.mark.parametrize("period", [1, 2, 2.5, 7.3, 10])
def test_sine_rate_is_the_long_run_average(period):
    """Over 100,000 rounds, for whole, rational and other periods."""
    t = np.arange(100_000)
    p = 0.5 * (-0.2 * np.sin(2 * np.pi * t / period) + 0.6)
    assert Trace.sine(4, 2, amplitude=-0.2, level=0.6, period=period).rate == pytest.approx(p.mean(), abs=1e-5)


def test_biased_is_the_papers_appendix_h8():
    """Clients 1-11: 0.5, 12-22: 0.45, 23-33: 0.4, ..., client 100: 0.05; independent clients."""
    pattern = Trace.biased()
    assert pattern.n == 100
    expected = np.concatenate([np.full(11, value) for value in np.arange(50, 0, -5) / 100])[:100]
    assert np.allclose(pattern.inclusion, expected, rtol=1e-12)
    assert (pattern.inclusion[99], pattern.inclusion[98]) == (pytest.approx(0.05), pytest.approx(0.1))
    assert Trace.biased(110).inclusion[-1] == pytest.approx(0.05)


# --- Markov chains ---

CHAINS = {
    "mixed": ([0.2, 0.7, 0.01, 1.0, 0.4, 0.3], [0.3, 0.9, 0.02, 0.5, 0.0, 0.7], None),
    "started elsewhere": ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 1, 0.5, 0, 1, 0.2]),
    "periodic": ([1.0] * 6, [1.0] * 6, None),
}


@pytest.mark.parametrize("name", CHAINS)
def test_markov_is_the_chain_run_from_round_0(name):
    """Against a plain Python twin that goes forward through all rounds: looking back loses nothing."""
    join, leave, start = CHAINS[name]
    keys, pattern = keys_of(4, seed=12), Trace.markov(join, leave, start=start)
    start = [j / (j + q) for j, q in zip(join, leave, strict=True)] if start is None else start
    masks = np.concatenate([pattern.masks(t, 7, keys) for t in range(0, 140, 7)])
    for r in range(4):
        state = [False] * 6
        for t in range(140):
            stay = [1 - q for q in leave]
            chances = start if t == 0 else [stay[i] if state[i] else join[i] for i in range(6)]
            state = [word < p * 2**32 for word, p in zip(words_of(6, t, keys[:, r]), chances, strict=True)]
            assert masks[t, :, r].tolist() == state


@pytest.mark.parametrize("name", ["markov", "markov, slow", "markov, alternating", "markov, periodic"])
def test_markov_is_stationary_with_its_transition_probabilities(name):
    """Marginals pi_i in rounds 0, 1, 2 and 31, and the joint law of rounds 0, 1, 2, within 4.5 standard errors."""
    pattern, count = PATTERNS[name], 20_000
    pi = pattern.join / (pattern.join + pattern.leave)
    assert np.array_equal(pattern.stationary, pi)
    masks = pattern.masks(0, 3, keys_of(count))
    assert close(masks.mean(axis=2), np.broadcast_to(pi, (3, 5)), count)
    assert close(pattern.masks(31, 1, keys_of(count))[0].mean(axis=1), pi, count)
    for i in range(5):
        transition = np.array([[1 - pattern.join[i], pattern.join[i]], [pattern.leave[i], 1 - pattern.leave[i]]])
        law = [(1 - pi[i], pi[i])[a] * transition[a, b] * transition[b, c] for a, b, c in bits_of(3)]
        code = masks[0, i] + 2 * masks[1, i] + 4 * masks[2, i]
        assert close(np.bincount(code, minlength=8) / count, law, count)


def test_markov_clients_are_independent():
    """Pairs of clients are present together with probability pi_i pi_j."""
    pattern = Trace.markov([0.2, 0.5, 0.3], [0.3, 0.1, 0.3])
    draws = pattern.masks(25, 1, keys_of(20_000))[0].astype(float)
    pi = pattern.stationary
    together = np.outer(pi, pi) + np.diag(pi - pi**2)
    assert close(draws @ draws.T / 20_000, together, 20_000)


def test_markov_from_a_given_start_relaxes_geometrically():
    """P(present in round t) = pi + (start - pi)(1 - join - leave)^t."""
    pattern, count = Trace.markov(0.1, 0.2, 1, start=1.0), 20_000
    masks = pattern.masks(0, 12, keys_of(count))
    assert close(masks[:, 0].mean(axis=1), 1 / 3 + (1 - 1 / 3) * 0.7 ** np.arange(12), count)


def test_markov_without_memory_is_bernoulli():
    """With join + leave = 1 the same words decide in the same way: the same bits."""
    keys = keys_of(5)
    chain, coin = Trace.markov(0.25, 0.75, 6), Trace.bernoulli(0.25, 6)
    assert np.array_equal(chain.masks(3, 30, keys), coin.masks(3, 30, keys))


def test_markov_looks_back_no_further_than_it_has_to():
    """A call for round 2^31 of a chain that forgets within some rounds returns at once, and is stationary there."""
    masks = Trace.markov(0.2, 0.3, 4).masks(2**31, 1, keys_of(20_000))
    assert close(masks[0].mean(axis=1), np.full(4, 0.4), 20_000)


# --- Random delays ---


@pytest.mark.parametrize("name", ["renewal", "renewal, periodic"])
def test_renewal_is_the_run_of_ages_from_round_0(name):
    """Against a plain Python twin that goes forward through all rounds, and against other blocks of rounds."""
    keys, pattern = keys_of(3, seed=8), PATTERNS[name]
    later = [sum(pattern.gaps[k:]) for k in range(len(pattern.gaps))]
    masks = np.concatenate([pattern.masks(t, 7, keys) for t in range(0, 140, 7)])
    assert np.array_equal(masks, pattern.masks(0, 140, keys))
    for r in range(3):
        away = [0] * 5
        for t in range(140):
            for i, word in enumerate(words_of(5, t, keys[:, r])):
                if t == 0:
                    away[i] = sum(word >= 2**32 * sum(later[: k + 1]) / sum(later) for k in range(len(later) - 1))
                else:
                    away[i] = 0 if word < 2**32 * pattern.gaps[away[i]] / later[away[i]] else away[i] + 1
            assert masks[t, :, r].tolist() == [a == 0 for a in away]


def test_renewal_has_its_rate_and_the_law_of_its_gaps():
    """Stationary from round 0 on, and gaps between reports as they were given, within 4.5 standard errors."""
    pattern, count = PATTERNS["renewal"], 20_000
    masks = pattern.masks(0, 9, keys_of(count))
    assert pattern.rate == pytest.approx(1 / 2.9)
    assert close(masks.mean(axis=2), np.full((9, 5), pattern.rate), count)
    reported = masks[0, 0]
    gaps = masks[1:5, 0, reported].argmax(axis=0) + 1
    assert close(np.bincount(gaps, minlength=5)[1:] / len(gaps), pattern.gaps, len(gaps))


@pytest.mark.parametrize(("T", "n"), [(3, 2), (6, 1), (2, 3)])
def test_renewal_delays_are_those_of_all_its_runs(T, n):
    """E[tau_max] and E[tau_avg] against the sum over every run of every client: Fractions, no recursion."""
    gaps = [Fraction(1, 4), Fraction(0), Fraction(3, 4)]
    later = [sum(gaps[k:]) for k in range(3)]
    runs = {(a,): later[a] / sum(later) for a in range(3)}
    for _ in range(T):
        runs = {
            (*run, a): chance * (gaps[run[-1]] / later[run[-1]] if a == 0 else 1 - gaps[run[-1]] / later[run[-1]])
            for run, chance in runs.items()
            for a in (0, run[-1] + 1)
            if a < 3
        }
    longest = mean = Fraction(0)
    for each in itertools.product(runs.items(), repeat=n):
        chance = math.prod(p for _, p in each)
        delays = [max(min(run[t], t + 1) for run, _ in each) for t in range(T + 1)]
        longest, mean = longest + chance * max(delays), mean + chance * Fraction(sum(delays[:T]), T)
    assert expectation(Renewal([0.25, 0, 0.75], n), T) == pytest.approx((float(longest), float(mean)), rel=1e-12)


# --- The exact engine's side ---


def test_uniform_keeps_its_inclusion_probabilities():
    """m/n and m(m-1)/(n(n-1)); 0 pairs among one client."""
    assert Trace.uniform(5, 2).inclusion == (0.4, 0.1)
    assert Trace.full(1).inclusion == (1.0, 0.0)


def test_a_fixed_pattern_reaches_the_exact_engine_as_a_trace():
    """Noise-free expectation on the cyclic pattern's matrix equals its simulation."""
    problem, pattern = Quadratic.synthetic(5, 3, 1), Trace.cyclic(5, 2)
    options = {"K": 2, "gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}
    exact = rc.exact("fedavg-p", problem, Trace(pattern.fixed(8)), **options)
    run = rc.simulate("fedavg-p", problem, pattern, T=8, **options)
    assert np.allclose(run.metric[0], exact.metric, rtol=1e-10)


# --- Files ---


@pytest.mark.parametrize("text", ["1,0,1\n0,1,1\n", "\ufeff1, 0 ,1\r\n0,1,1\r\n\r\n", "1,0,1\n0,1,1"])
def test_csv_is_read(tmp_path, text):
    """With and without a final line end, with Windows' line ends, byte-order mark and blanks."""
    file = tmp_path / "trace.csv"
    file.write_bytes(text.encode())
    trace = Trace.from_file(file)
    assert trace.matrix.tolist() == [[True, False, True], [False, True, True]]
    assert Trace.from_file(str(file)).n == 3


@pytest.mark.parametrize("dtype", [bool, int, float, np.uint8])
def test_npz_is_read(tmp_path, dtype):
    """Booleans and numbers, under any name when alone and as ``matrix`` beside others."""
    np.savez(tmp_path / "alone.npz", anything=MATRIX.astype(dtype))
    np.savez_compressed(tmp_path / "beside.npz", rate=0.4, matrix=MATRIX.astype(dtype))
    for name in ("alone", "beside"):
        assert np.array_equal(Trace.from_file(tmp_path / f"{name}.npz").matrix, MATRIX)


@dataclass(frozen=True)
class Bad:
    """A file that is refused, and what the message says."""

    name: str
    content: bytes | dict
    parts: tuple[str, ...]


BAD_FILES = {
    "entry": Bad("t.csv", b"0,1\n1,2\n", ("t.csv", "row 2", "column 2", "'2'", "0 or 1")),
    "header": Bad("t.csv", b"client0,client1\n1,0\n", ("row 1", "column 1 is no number")),
    "long entry": Bad("t.csv", b"0," + b"x" * 10_000, ("row 1", "column 2 is no number")),
    "gap": Bad("t.csv", b"0,1\n\n1,1\n", ("row 2", "empty")),
    "trailing comma": Bad("t.csv", b"0,1,\n", ("row 1", "column 3", "empty")),
    "ragged": Bad("t.csv", b"0,1\n1,1\n1\n", ("row 3", "1 columns", "row 1 has 2")),
    "no rows": Bad("t.csv", b"\n \n", ("holds no rows",)),
    "not text": Bad("t.csv", b"\xff\xfe\x00\x01", ("not a text file",)),
    "suffix": Bad("t.txt", b"0,1\n", ("t.txt", ".csv or .npz")),
    "npz entry": Bad("t.npz", {"a": [[0, 1], [3, 1]]}, ("t.npz", "row 2", "column 1", "'3'")),
    "npz NaN": Bad("t.npz", {"a": [[0, math.nan]]}, ("row 1", "column 2", "'nan'")),
    "npz of one axis": Bad("t.npz", {"a": [0, 1]}, ("(2,)", "T x n")),
    "npz of words": Bad("t.npz", {"a": [["0", "1"]]}, ("booleans or numbers",)),
    "npz of objects": Bad("t.npz", {"a": np.array([[None]], dtype=object)}, ("not a .npz file of numbers",)),
    "npz without a matrix": Bad("t.npz", {"a": [[1]], "b": [[1]]}, ("several", "'matrix'")),
    "npz without anything": Bad("t.npz", {}, ("several arrays or none",)),
    "npz that is none": Bad("t.npz", b"0,1\n", ("not a .npz file",)),
    "npz empty": Bad("t.npz", b"", ("not a .npz file",)),
    "npz cut off": Bad("t.npz", b"PK\x03\x04abc", ("not a .npz file",)),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_named_in_one_line(tmp_path, case):
    """File, row and column, and what is wrong there."""
    bad = BAD_FILES[case]
    file = tmp_path / bad.name
    if isinstance(bad.content, bytes):
        file.write_bytes(bad.content)
    else:
        np.savez(file, **bad.content)
    check_message(lambda: Trace.from_file(file), (str(file), *bad.parts), limit=200 + len(str(file)))


def test_a_missing_file_a_folder_and_no_path_are_named(tmp_path):
    """With the reason of the operating system."""
    (tmp_path / "folder.csv").mkdir()
    check_message(lambda: Trace.from_file(tmp_path / "none.csv"), ("none.csv", "No such file"), limit=300)
    check_message(lambda: Trace.from_file(tmp_path / "none.npz"), ("none.npz", "No such file"), limit=300)
    check_message(lambda: Trace.from_file(tmp_path / "folder.csv"), ("folder.csv", "directory"), limit=300)
    check_message(lambda: Trace.from_file(3), ("path=3",), limit=200)


# --- Messages ---


def check_message(call, parts, limit=200):
    """An `InputError` of one line with the given parts."""
    with pytest.raises(rc.InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < limit
    for part in parts:
        assert part in message


NAN, INF = float("nan"), float("inf")
MESSAGES = {
    "cyclic S above n": (lambda: Trace.cyclic(3, 4), ("S=4", "1 <= S <= 3")),
    "cyclic S zero": (lambda: Trace.cyclic(3, 0), ("S=0",)),
    "cyclic n zero": (lambda: Trace.cyclic(0, 1), ("n=0",)),
    "reshuffled S fractional": (lambda: Trace.reshuffled(3, 1.5), ("S=1.5", "whole")),
    "reshuffled epoch zero": (lambda: Trace.reshuffled(3, 2, epoch=0), ("epoch=0", "epoch >= 1")),
    "reshuffled epoch without wrap": (lambda: Trace.reshuffled(3, 2, wrap=False, epoch=2), ("epoch", "wrap=True")),
    "bernoulli zero": (lambda: Trace.bernoulli(0.0, 3), ("probability 0 of client 0", "0 < p <= 1")),
    "bernoulli above 1": (lambda: Trace.bernoulli([0.5, 1.5]), ("1.5", "client 1", "0 < p <= 1")),
    "bernoulli NaN": (lambda: Trace.bernoulli([[0.5], [NAN]]), ("nan", "client 0 in round 1")),
    "bernoulli without n": (lambda: Trace.bernoulli(0.5), ("n=...",)),
    "bernoulli other n": (lambda: Trace.bernoulli([0.5, 0.5], n=3), ("n=3", "2 clients")),
    "bernoulli T of an array": (lambda: Trace.bernoulli([0.5, 0.5], T=3), ("T is for", "p(t, i)")),
    "bernoulli three axes": (lambda: Trace.bernoulli(np.ones((2, 2, 2))), ("(2, 2, 2)", "(T, n)")),
    "bernoulli of nobody": (lambda: Trace.bernoulli([]), ("(0,)",)),
    "bernoulli a word": (lambda: Trace.bernoulli("often", 3), ("p", "numbers")),
    "bernoulli ragged": (lambda: Trace.bernoulli([[0.5, 0.5], [0.5]]), ("p", "numbers")),
    "bernoulli function without T": (lambda: Trace.bernoulli(lambda _t, _i: 0.5, n=3), ("T=...",)),
    "bernoulli function above 1": (
        lambda: Trace.bernoulli(lambda t, _i: t + 0.5, n=2, T=2), ("1.5", "client 0 in round 1")
    ),
    "bernoulli function of words": (lambda: Trace.bernoulli(lambda _t, _i: "x", n=2, T=2), ("p(0, 0)='x'",)),
    "bernoulli rounds": (lambda: Trace.bernoulli(VARYING).draw(41), ("T=41", "40")),
    "sine S above n": (lambda: Trace.sine(3, 4), ("S=4",)),
    "sine negative": (lambda: Trace.sine(10, 2, amplitude=0.7), ("level=0.7", "|amplitude|")),
    "sine above 1": (lambda: Trace.sine(10, 9, level=1.0), ("level=1", "<= 1", "1.17")),
    "sine period": (lambda: Trace.sine(10, 2, period=0), ("period=0",)),
    "sine NaN": (lambda: Trace.sine(10, 2, amplitude=NAN), ("amplitude=nan",)),
    "biased too many": (lambda: Trace.biased(111), ("n=111", "0 < p_i <= 1", "to 0")),
    "biased negative": (lambda: Trace.biased(200), ("n=200", "to -0.4")),
    "biased group": (lambda: Trace.biased(group=0), ("group=0",)),
    "biased above 1": (lambda: Trace.biased(first=1.2), ("first=1.2",)),
    "markov join zero": (lambda: Trace.markov(0.0, 0.5, 3), ("join=0", "client 0", "0 < join <= 1")),
    "markov leave above 1": (lambda: Trace.markov(0.5, [0.5, 1.5]), ("leave=1.5", "client 1", "0 <= leave <= 1")),
    "markov start negative": (lambda: Trace.markov(0.5, 0.5, 2, start=-0.1), ("start=-0.1",)),
    "markov NaN": (lambda: Trace.markov(NAN, 0.5, 2), ("join=nan",)),
    "markov infinite": (lambda: Trace.markov(0.5, INF, 2), ("leave=inf",)),
    "markov without n": (lambda: Trace.markov(0.5, 0.5), ("n=...",)),
    "markov shapes": (lambda: Trace.markov([0.5, 0.5], [0.5] * 3), ("join: 2", "leave: 3")),
    "markov other n": (lambda: Trace.markov([0.5, 0.5], 0.5, n=4), ("n: 4", "join: 2")),
    "renewal sum": (lambda: Renewal([0.5, 0.4], 3), ("sum to 0.9",)),
    "renewal ends with 0": (lambda: Renewal([1, 0], 3), ("last one above 0",)),
    "renewal order": (lambda: Renewal.between(4, 1, 3), ("LOW=4", "LOW <= HIGH")),
    "markov two axes": (lambda: Trace.markov(np.ones((2, 2)), 0.5), ("join", "(2, 2)")),
    "draw T": (lambda: Trace.full(3).draw(0), ("T=0",)),
    "draw replicate": (lambda: Trace.full(3).draw(3, replicate=-1), ("replicate=-1",)),
    "fixed beyond the matrix": (lambda: Trace(MATRIX).fixed(41), ("T=41", "40 rows")),
    "simulation beyond the probabilities": (
        lambda: rc.simulate("fedavg-p", Quadratic.synthetic(5, 3, 1), Trace.bernoulli(VARYING), K=1, T=41,
                            gamma_u=0.1, gamma_v=0.1, eta_u=1.0, eta_v=1.0),
        ("T=41", "40"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MESSAGES)
def test_bad_input_is_named_in_one_line(case):
    """The offending value, and what would do."""
    call, parts = MESSAGES[case]
    check_message(call, parts)


def test_the_page_has_the_readings_of_reshuffled_as_they_are():
    """Names, what a block is filled up from, and the bound on the delay, each against the pattern itself."""
    page = (Path(__file__).parents[2] / "docs" / "participation.md").read_text()
    same, following, short = (
        next(line for line in page.splitlines() if line.startswith(f"| `{name}"))
        for name in ("wrap=True", "wrap=False", "epoch=R")
    )
    assert "start of the same order" in same
    assert r"2\lceil n/S\rceil - 2" in same
    assert "start of the next order" in following
    assert r"\lceil (2n-1)/S\rceil - 1" in following
    assert "no bound" in short
    n, S, keys = 7, 4, keys_of(40, seed=2)
    for pattern, most in (
        (Trace.reshuffled(n, S), 2 * -(-n // S) - 2),
        (Trace.reshuffled(n, S, wrap=False), -(-(2 * n - 1) // S) - 1),
    ):
        masks = pattern.masks(0, 400, keys)
        assert max(maximum(masks[:, :, replicate]) for replicate in range(40)) == most
    # The same order fills the last block up: two rounds of an epoch share one client, and reach all.
    masks = Trace.reshuffled(n, S).masks(0, 2, keys)
    assert (masks.sum(axis=1) == S).all()
    assert masks.any(axis=0).all()
    # The next one does where wrap=False: seven rounds hold four orders, so every client exactly four times, or less.
    assert (Trace.reshuffled(n, S, wrap=False).masks(0, n, keys).sum(axis=0) <= S).all()
    kept = Trace.reshuffled(n, S, epoch=n // S).masks(0, 400, keys)
    assert max(maximum(kept[:, :, replicate]) for replicate in range(40)) > 4 * n / S
    assert "FedSUM, Case 4" in next(line for line in page.splitlines() if "`reshuffled(n, S)`" in line)
    assert "FedSUM, Case 3" in next(line for line in page.splitlines() if "`cyclic(n, S)`" in line)
