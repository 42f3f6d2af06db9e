"""Delays: against their definitions, against full enumeration, and beside Lemmas F.1 to F.4."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.participation import Trace, Uniform, delays
from ratecheck.participation.delays import average, distribution, expectation, last_selection, maximum, per_round
from ratecheck.problems import Quadratic

BAND = 4.5


def random_matrices():
    """Sparse and dense, with empty rounds and clients that never come."""
    rng = np.random.default_rng(4)
    for T, n, share in itertools.product((1, 2, 7, 30), (1, 3, 8), (0.0, 0.1, 0.5, 0.9, 1.0)):
        yield rng.random((T, n)) < share


def by_definition(matrix):
    """a_{i,t} by eq. (2), literally, and tau_t by eq. (4)."""
    T, n = matrix.shape
    last = [[max([j for j in range(t + 1) if matrix[j, i]], default=-1) for i in range(n)] for t in range(T)]
    return last, [max(t - last[t][i] for i in range(n)) for t in range(T)]


def test_delays_are_those_of_the_definitions():
    """Last selections, delays per round, maximum and average, for every random matrix."""
    for matrix in random_matrices():
        last, tau = by_definition(matrix)
        assert last_selection(matrix).tolist() == last
        assert per_round(matrix).tolist() == tau
        assert maximum(matrix) == max(tau)
        assert average(matrix) == pytest.approx(sum(tau) / len(tau), rel=1e-15)
        assert maximum(Trace(matrix)) == max(tau)


def test_last_selection_follows_the_recursion():
    """Eq. (3): a_{i,t} = t if i takes part, else a_{i,t-1}, with a_{i,-1} = -1."""
    for matrix in random_matrices():
        before = np.full(matrix.shape[1], -1)
        for t, row in enumerate(last_selection(matrix)):
            before = np.where(matrix[t], t, before)
            assert np.array_equal(row, before)


def test_maximum_is_the_longest_run_of_misses():
    """The proof of Lemma F.1: tau_max is the longest run of consecutive rounds that some client misses."""
    for matrix in random_matrices():
        runs = [len(run) for column in matrix.T for run in "".join("01"[int(x)] for x in column).split("1")]
        assert maximum(matrix) == max(runs)


def test_full_participation_has_no_delay():
    """tau_max = tau_avg = 0 (so the step size 1/sqrt(tau_max) of Theorem 4.1 does not exist there)."""
    assert maximum(np.ones((5, 3)), T=4) == 0
    assert average(np.ones((5, 3)), T=4) == 0.0
    assert expectation(Trace.full(3), 4) == (0.0, 0.0)
    assert expectation(Trace.bernoulli(1.0, 3), 4) == (0.0, 0.0)
    assert distribution(Trace.full(3), 4, 2).tau_max.tolist() == [0, 0]


def test_the_maximum_includes_round_T_and_the_average_does_not():
    """One client that plays in round 0 only: tau_t = t; T = 3 has tau_max = 3 but tau_avg = (0+1+2)/3."""
    matrix = [[1], [0], [0], [0], [0]]
    assert maximum(matrix, T=3) == 3
    assert average(matrix, T=3) == 1.0
    assert maximum(matrix[:3]) == 2


@pytest.mark.parametrize("T", [1, 3, 6])
def test_without_round_T_the_maximum_falls_short_by_one_at_most(T):
    """Over all matrices of two clients: max over t < T <= tau_max <= max(that, tau_{T-1} + 1), both attained."""
    found = set()
    rng = np.random.default_rng(T)
    for _ in range(300):
        matrix = rng.random((T + 1, 2)) < 0.4
        known = maximum(matrix[:T])
        assert known <= maximum(matrix, T=T) <= max(known, per_round(matrix[:T])[-1] + 1)
        found.add(maximum(matrix, T=T) - known)
    assert found == {0, 1}


@pytest.mark.parametrize(("n", "S"), [(1, 1), (2, 1), (6, 2), (5, 2), (7, 3), (7, 5), (4, 4), (10, 1)])
def test_cyclic_delays_have_their_closed_form(n, S):
    """tau_max = ceil(n/S) - 1 from T = ceil(n/S) - 2 on; where S divides n, tau_t = min(t + 1, n/S - 1)."""
    top = math.ceil(n / S) - 1
    for T in range(max(1, top - 1), top + 20):
        found = expectation(Trace.cyclic(n, S), T)
        assert found.tau_max == top
        if n % S == 0:
            assert found.tau_avg == pytest.approx(np.mean([min(t + 1, top) for t in range(T)]), rel=1e-14)
        assert found.tau_max <= 2 * n / S  # Lemma F.4
        sampled = distribution(Trace.cyclic(n, S), T, 2)
        assert sampled.mean == pytest.approx(found)
        assert sampled.standard_error == (0.0, 0.0)


def enumerated(probability, sets, T):
    """E[tau_max] and E[tau_avg] over all sequences of T + 1 rows out of ``sets``; ``probability(t, row)``."""
    mean = np.zeros(2)
    for rows in itertools.product(sets, repeat=T + 1):
        weight = math.prod(probability(t, row) for t, row in enumerate(rows))
        tau = by_definition(np.array(rows, dtype=bool))[1]
        mean += weight * np.array([max(tau), sum(tau[:T]) / T])
    return mean


def rows_of(n):
    """All participation rows of n clients."""
    return list(itertools.product((0, 1), repeat=n))


INDEPENDENT = {
    "one client": (Trace.bernoulli(0.3, 1), 5),
    "two alike": (Trace.bernoulli(0.4, 2), 3),
    "two different": (Trace.bernoulli([0.2, 0.7]), 3),
    "one certain": (Trace.bernoulli([1.0, 0.6]), 3),
    "three": (Trace.bernoulli([0.3, 0.5, 0.9]), 2),
    "by round": (Trace.bernoulli([[0.2, 0.9], [1.0, 0.4], [0.5, 0.5], [0.3, 1.0]]), 3),
    "sine": (Trace.sine(2, 1, period=3), 3),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_expectation_of_independent_clients_is_the_enumerated_one(name):
    """Every sequence of sets with its probability."""
    pattern, T = INDEPENDENT[name]
    p = pattern.probabilities(0, T + 1)

    def probability(t, row):
        return math.prod(p[t, i] if taken else 1 - p[t, i] for i, taken in enumerate(row))

    assert expectation(pattern, T) == pytest.approx(enumerated(probability, rows_of(pattern.n), T), rel=1e-12)


def beyond(found, expected):
    """By how many standard errors the sampled means miss, at most."""
    pairs = zip(found.mean, found.standard_error, expected, strict=True)
    return max(abs(mean - value) / error for mean, error, value in pairs)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_distribution_of_independent_clients_has_the_computed_mean(name):
    """Within 4.5 standard errors; and a mean 5% off is noticed."""
    pattern, T = INDEPENDENT[name]
    found, expected = distribution(pattern, T, 20_000, seed=2), expectation(pattern, T)
    assert beyond(found, expected) < BAND
    assert beyond(found, [1.05 * value for value in expected]) > BAND


@pytest.mark.parametrize(
    "pattern",
    [Trace.bernoulli(0.2, 20), Trace.sine(20, 4), Trace.biased(40), Trace.bernoulli(np.linspace(0.1, 1.0, 7))],
    ids=["bernoulli", "sine", "biased", "by client"],
)
def test_distribution_agrees_with_the_expectation_over_many_rounds(pattern):
    """200 rounds, in which the sums over lengths are cut and taken in parts."""
    assert beyond(distribution(pattern, 200, 2000), expectation(pattern, 200)) < BAND


def test_expectation_does_not_depend_on_the_parts(monkeypatch):
    """Lengths one by one give what all lengths together give."""
    pattern = Trace.bernoulli([0.3, 0.3, 0.05])
    whole = expectation(pattern, 60)
    monkeypatch.setattr(delays, "_ENTRIES", 1)
    assert expectation(pattern, 60) == pytest.approx(whole, rel=1e-14)


def test_expectation_loses_nothing_where_its_sums_are_cut(monkeypatch):
    """Lengths up to T + 1 give what the lengths up to the cut give."""
    pattern = Trace.bernoulli([0.5, 0.3, 0.4])
    cut = expectation(pattern, 300)
    monkeypatch.setattr(delays._Misses, "_longest", lambda *_: 301)
    assert expectation(pattern, 300) == pytest.approx(cut, rel=1e-13)


@pytest.mark.parametrize(("n", "m", "T"), [(2, 1, 5), (3, 1, 3), (3, 2, 4), (4, 2, 2)])
def test_distribution_of_uniform_sampling_has_the_enumerated_mean(n, m, T):
    """All sequences of subsets, equally likely."""
    subsets = [row for row in rows_of(n) if sum(row) == m]
    expected = enumerated(lambda _t, _row: 1 / len(subsets), subsets, T)
    assert beyond(distribution(Trace.uniform(n, m), T, 20_000), expected) < BAND
    assert expectation(Trace.uniform(n, m), T) is None


def test_distribution_of_reshuffling_has_the_enumerated_mean():
    """Three clients one by one, T = 5: all pairs of orders of the two epochs."""
    orders = list(itertools.permutations(np.eye(3, dtype=bool)))
    taus = [by_definition(np.array([*first, *second]))[1] for first in orders for second in orders]
    expected = [np.mean([max(tau) for tau in taus]), np.mean([np.mean(tau[:5]) for tau in taus])]
    assert beyond(distribution(Trace.reshuffled(3, 1), 5, 20_000), expected) < BAND


@pytest.mark.parametrize(
    "pattern",
    [Trace.uniform(6, 2), Trace.markov(0.1, 0.4, 6), Trace.reshuffled(6, 4, wrap=False), Trace.sine(6, 2)],
    ids=["uniform", "markov", "reshuffled", "sine"],
)
def test_distribution_is_the_delays_of_the_drawn_matrices(pattern, monkeypatch):
    """Replicate by replicate the matrix that a simulation with that seed follows, whatever the blocks and chunks."""
    found = distribution(pattern, 50, 7, seed=3)
    for r in range(7):
        matrix = pattern.draw(51, seed=3, replicate=r)
        assert found.tau_max[r] == maximum(matrix, T=50)
        assert found.tau_avg[r] == pytest.approx(average(matrix, T=50), rel=1e-14)
    monkeypatch.setattr(delays, "_ENTRIES", 100)
    monkeypatch.setattr(delays, "_BLOCK", 3)
    again = distribution(pattern, 50, 5, seed=3)
    assert np.array_equal(again.tau_max, found.tau_max[:5])
    assert np.array_equal(again.tau_avg, found.tau_avg[:5])


def test_one_replicate_has_no_standard_error():
    """Infinite, not zero."""
    assert distribution(Trace.uniform(4, 2), 5, 1).standard_error == (math.inf, math.inf)


# --- Beside the paper's lemmas ---


@pytest.mark.parametrize(("N", "S", "T"), [(2, 1, 1), (3, 2, 5), (10, 1, 50), (10, 9, 200), (50, 10, 500)])
def test_lemma_f1_holds_for_uniform_sampling(N, S, T):
    """E[tau_max] <= 4 (N/S) ln(N T), the upper end of the band too."""
    found = distribution(Trace.uniform(N, S), T, 300)
    assert found.mean.tau_max + BAND * found.standard_error.tau_max <= 4 * N / S * math.log(N * T)


@pytest.mark.parametrize("T", [1, 2, 10, 300])
@pytest.mark.parametrize("p", [[0.5], [0.99], [0.05], [0.9, 0.9], [0.1] * 20, [0.05, 0.5, 1.0]], ids=str)
def test_lemma_f2_holds_for_independent_clients(p, T):
    """E[tau_max] <= (4/delta) max(ln(N T), ln(1/delta)), computed."""
    pattern = Trace.bernoulli(p)
    delta = pattern.delta
    assert expectation(pattern, T).tau_max <= 4 / delta * max(math.log(len(p) * T), math.log(1 / delta))


SHAPES = [(3, 1), (4, 2), (6, 2), (5, 2), (5, 3), (5, 4), (7, 3), (7, 4), (11, 4)]


@pytest.mark.parametrize(("N", "S"), SHAPES)
def test_lemma_f3_and_the_bounds_of_each_reading_hold(N, S):
    """2 ceil(N/S) - 2 where blocks wrap (attained) and ceil((2N-1)/S) - 1 where they run on: both below 4N/S."""
    wrapping = distribution(Trace.reshuffled(N, S), 400, 100).tau_max
    running = distribution(Trace.reshuffled(N, S, wrap=False), 400, 100).tau_max
    assert wrapping.max() == 2 * math.ceil(N / S) - 2
    assert running.max() <= math.ceil((2 * N - 1) / S) - 1
    assert max(wrapping.max(), running.max()) <= 4 * N / S


def test_the_proof_of_lemma_f3_bounds_the_delay_where_blocks_wrap_but_not_where_they_run_on():
    """2 floor(N/S) for N = 7, S = 4 is 2: wrapping blocks reach 2, blocks that run on reach 3."""
    assert distribution(Trace.reshuffled(7, 4), 400, 100).tau_max.max() == 2
    assert distribution(Trace.reshuffled(7, 4, wrap=False), 400, 100).tau_max.max() == 3


def test_lemma_f3_is_false_for_epochs_of_floor_n_over_s_rounds():
    """N = 3, S = 2: an epoch of floor(3/2) = 1 round leaves one client out each time, and delays grow with T."""
    found = distribution(Trace.reshuffled(3, 2, epoch=3 // 2), 20_000, 64)
    assert found.mean.tau_max - BAND * found.standard_error.tau_max > 4 * 3 / 2


def test_the_gap_between_two_selections_is_the_delay_plus_one():
    """Section D takes a_{i,t} - a_{i,a_{i,t}-1} <= tau_max; two clients in turn have tau_max = 1 and a gap of 2."""
    last = last_selection(Trace.cyclic(2, 1).fixed(10))
    gaps = [last[t, i] - last[last[t, i] - 1, i] for t in range(4, 10) for i in range(2)]
    assert expectation(Trace.cyclic(2, 1), 9).tau_max == 1
    assert max(gaps) == 2


# --- Messages ---

MATRIX = np.ones((5, 2))
MESSAGES = {
    "no round T": (lambda: maximum(MATRIX, T=5), ("T=5", "6 rows", "has 5")),
    "T zero": (lambda: maximum(MATRIX, T=0), ("T=0",)),
    "average beyond the rows": (lambda: average(MATRIX, T=6), ("T=6", "1 <= T <= 5")),
    "matrix with a two": (lambda: per_round([[0, 2]]), ("client 1 in round 0", "is 2")),
    "matrix of one axis": (lambda: last_selection([0, 1]), ("(2,)",)),
    "distribution T": (lambda: distribution(Trace.full(2), 0), ("T=0",)),
    "distribution replicates": (lambda: distribution(Trace.full(2), 3, 0), ("replicates=0",)),
    "distribution of a matrix": (lambda: distribution(Trace(MATRIX), 5), ("T=5", "round 5", "5 rows")),
    "expectation of a matrix": (lambda: expectation(Trace(MATRIX), 5), ("T=5", "round 5", "5 rows")),
    "expectation by round": (lambda: expectation(Trace.bernoulli(np.full((5, 2), 0.5)), 5), ("T=5", "round 5")),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_bad_input_is_named_in_one_line(case):
    """The offending value, and what would do."""
    call, parts = MESSAGES[case]
    with pytest.raises(rc.InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 200
    for part in parts:
        assert part in message


def test_selection_by_state_has_no_delays_of_its_own():
    """The candidates' delays would not be those of the participants."""
    for function in (delays.distribution, delays.expectation):
        with pytest.raises(rc.InputError, match="state of the run"):
            function(Trace.largest(5, 2, 3), T=10)
    with pytest.raises(rc.InputError, match="engine=step"):
        Trace.largest(5, 2, 3).draw(4)


def test_both_expected_delays_by_one_count_of_draws(monkeypatch):
    """Draws by which two expectations are estimated are followed once, and both are as `distribution` has them."""
    counted, calls = delays.distribution, []

    def counting(*arguments):
        calls.append(arguments)
        return counted(*arguments)

    monkeypatch.setattr(delays, "distribution", counting)
    case = CertifiedCase(Quadratic.synthetic(6), Uniform(6, 2), 15)
    found = [case.fact(name).value for name in ("mean_tau_max", "mean_tau_avg")]
    wanted = counted(*calls[0])
    assert len(calls) == 1
    for value, mean, error in zip(found, wanted.mean, wanted.standard_error, strict=True):
        assert value == pytest.approx(mean + 5 * error, rel=1e-12)
