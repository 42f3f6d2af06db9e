"""Averages over participants that repeat: against rounds one by one, 50 digits, and clients not taken together."""

import math

import mpmath as mp
import numpy as np
import pytest

import ratecheck as rc
from ratecheck.engines import setup
from ratecheck.engines.moments import expectation
from ratecheck.engines.moments.preserved import preserved
from ratecheck.engines.types import long_runs, periodic
from ratecheck.participation import Cyclic, Periodic, Trace
from ratecheck.problems import Quadratic

METHODS = {
    "fedavg": {"gamma_u": 0.1, "eta_u": 1.2},
    "scaffold": {"gamma_u": 0.1, "eta_u": 1.2},
    "fedsum": {"eta_g": 1.0, "eta_l": 0.05},
    "fedsum-b": {"eta_g": 1.0, "eta_l": 0.05},
    "fedsum-cr": {"eta_g": 1.0, "eta_l": 0.05},
    "flame": {"eta": 0.1, "rho": 1.0, "lambda_": 2.0},
    "mifa": {"eta_g": 0.5, "eta_l": 0.1},
    "fedavg-p": {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.2, "eta_v": 0.9},
    "scaffold-p": {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.2, "eta_v": 0.9},
}
PATTERNS = {
    # An idle stretch at first, rounds without anybody, and a client that comes late.
    "idle": Periodic([[1, 0, 0], [0, 1, 1], [0, 0, 0]], [[0, 0, 0], [1, 0, 0]]),
    "own periods": Periodic.every([1, 3, 4], [0, 2, 1]),
    "gone": Periodic([[1, 0, 0], [0, 1, 0]], [[0, 0, 1]]),
    "cyclic": Cyclic(3, 2),
}


def ready(name, pattern, problem=None, *, T, sigma=0.0, K=3, records=None, **steps):
    """A run."""
    shared = 1 if name.endswith("-p") else 2
    problem = problem or Quadratic.synthetic(pattern.n, 2, shared, coupling=0.4, curvature=1.0, seed=2)
    noise = {"sigma_u": sigma, "sigma_v": sigma} if name.endswith("-p") else {"sigma": sigma}
    sizes = {**METHODS[name], **steps}
    return setup.prepare(name, problem, pattern, K=K, T=T, noise=noise, records=records, step_sizes=sizes)


@pytest.mark.every(5)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_the_average_is_that_of_the_rounds(name, pattern, sigma):
    """Every record, over fewer rounds than a period and over many, within the errors of both."""
    for T in (1, 2, 3, 7, 29, 301):
        if pattern == "gone" and name == "fedsum-cr" and T > 29:
            continue
        run = ready(name, PATTERNS[pattern], T=T, sigma=sigma)
        slow, fast = expectation.expect(run), periodic.average(run)
        assert fast.rounding < 1e-6 * fast.metric
        for record, values in slow.records.items():
            assert abs(fast.records[record] - values.mean()) <= fast.errors[record] + slow.errors[record].mean()
            assert fast.records[record] == pytest.approx(values.mean(), rel=1e-11)


@pytest.mark.parametrize("T", [*range(1, 40), 127, 128, 129])
def test_any_number_of_rounds(T):
    """Every remainder, and every pattern of binary digits of the number of periods."""
    run = ready("fedsum-cr", PATTERNS["own periods"], T=T, sigma=0.2)
    assert periodic.average(run).metric == pytest.approx(expectation.expect(run).metric.mean(), rel=1e-12)


def test_unlike_clients():
    """Local steps of their own, and quantities of the value and the distance."""
    problem = Quadratic.synthetic(3, 2, 2, coupling=0.4, curvature=1.0, seed=2)
    records = ("G_u", "G_v", "gap", "distance2", "f", "B")
    run = ready("fedsum", PATTERNS["own periods"], problem, T=200, sigma=0.2, K=[1, 4, 2], records=records)
    slow, fast = expectation.expect(run), periodic.average(run)
    for record, values in slow.records.items():
        assert fast.records[record] == pytest.approx(values.mean(), rel=1e-10)


def fedsum_b(H, g, schedule, eta, K, sigma, x, T):
    """The average of E f'(x)^2 of FedSUM-B in one dimension, in 50 digits, from the end of the run to its start.

    E of the sum over k rounds is a quadratic form in the state before them: z'Wz + w, first by rounds of a period, then
    by doubling. The state is (x, y, h_1, ..., h_n, 1).
    """
    with mp.workdps(50):
        n = len(H)
        eta, sigma, H, g = mp.mpf(eta), mp.mpf(sigma), [mp.mpf(a) for a in H], [mp.mpf(a) for a in g]
        slope = mp.matrix([sum(H) / n, 0, *[0] * n, -sum(g) / n])
        Q = slope * slope.T
        rounds = []
        for row in schedule:
            A, N = mp.eye(n + 3), mp.zeros(n + 3)
            push = eta * K / n
            A[0, 1] = -push
            for i in np.flatnonzero(row):
                # y and h_i receive what h_i changes by, x the step along the new y.
                A[2 + i, :] = mp.matrix([[H[i], 0, *[0] * n, -g[i]]])
                for k, factor in ((1, 1), (0, -push)):
                    A[k, 0] += factor * H[i]
                    A[k, n + 2] -= factor * g[i]
                    A[k, 2 + i] -= factor
                load = mp.matrix([-push, 1, *[int(j == i) for j in range(n)], 0])
                N += sigma**2 / K * load * load.T
            rounds.append((A, N, Q, mp.mpf(0)))

        def then(one, two):
            (A, N, W, w), (B, M, V, v) = one, two
            trace = sum(V[i, j] * N[i, j] for i in range(n + 3) for j in range(n + 3))
            return B * A, B * N * B.T + M, W + A.T * V * A, w + v + trace

        def all_of(parts):
            whole = parts[0]
            for part in parts[1:]:
                whole = then(whole, part)
            return whole

        power, parts, count = all_of(rounds), [], T // len(rounds)
        while count:
            if count % 2:
                parts.append(power)
            power, count = then(power, power), count // 2
        parts += rounds[: T % len(rounds)]
        _, _, W, w = all_of(parts)
        z = mp.matrix([mp.mpf(x), 0, *[0] * n, 1])
        return float(((z.T * W * z)[0] + w) / T)


@pytest.mark.parametrize("sigma", [0.0, 1.0])
@pytest.mark.parametrize(("T", "eta"), [(10**5, 1e-2), (10**6 + 3, 1e-5), (10**9 + 5, 1e-3), (10**9, 1e-9)])
def test_fifty_digits(T, eta, sigma):
    """Slow modes (down to 1 - 1e-9 a round) and very many rounds, in numbers where nothing is lost."""
    H, g, schedule, K, x = [0.5, 1.0], [1.0, -2.0], [[1, 0], [0, 1], [0, 0]], 2, 3.0
    problem = Quadratic(np.reshape(H, (2, 1, 1)), np.reshape(g, (2, 1)), shared=1)
    run = setup.prepare(
        "fedsum-b", problem, Periodic(schedule), K=K, T=T, x0=[x], noise={"sigma": sigma},
        step_sizes={"eta_g": 1.0, "eta_l": eta},
    )  # fmt: skip
    found, expected = periodic.average(run), fedsum_b(H, g, schedule, eta, K, sigma, x, T)
    assert found.metric == pytest.approx(expected, rel=1e-12)
    assert abs(found.metric - expected) <= found.rounding
    assert found.rounding <= 1e-8 * expected


def groups_of_40():
    """40 clients in four groups, alike in all but their linear terms and, in pairs of groups, their schedule."""
    random = np.random.default_rng(3)
    kinds = np.repeat([0, 1], 20)
    H = np.array([[[1.0, 0.2], [0.2, 0.5]], [[0.3, 0.0], [0.0, 0.8]]])[kinds]
    schedule = Periodic.staggered(40, 2).schedule
    return Quadratic(H, random.standard_normal((40, 2)), shared=2), Periodic(schedule, np.zeros((3, 40)))


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fedsum", "fedsum-cr", "mifa"])
def test_clients_taken_together(name, monkeypatch):
    """A state of four clients for forty: rounds one by one on all of them, and squaring without groups."""
    problem, pattern = groups_of_40()
    run = ready(name, pattern, problem, T=60, sigma=0.5)
    grouped = periodic._PeriodicRun(run).grouped
    assert [len(members) for members in grouped.groups] == [10] * 4
    fast, slow = periodic.average(run), expectation.expect(run)
    for record, values in slow.records.items():
        assert abs(fast.records[record] - values.mean()) <= fast.errors[record] + slow.errors[record].mean()
        assert fast.records[record] == pytest.approx(values.mean(), rel=1e-10)
    singles = [np.array([i]) for i in range(40)]
    monkeypatch.setattr("ratecheck.engines.types.grouped.groups", lambda *_: singles)
    alone = periodic._PeriodicRun(run)
    assert alone.size > 40 or name == "fedavg"
    assert alone.averages()[0] == pytest.approx(list(fast.records.values()), rel=1e-11)


KEPT = [("fedsum", 3, [1.0]), ("scaffold", 4, [0.25]), ("scaffold", 3, []), ("fedavg", 3, [])]


@pytest.mark.parametrize(("name", "n", "factors"), KEPT)
def test_what_is_preserved(name, n, factors):
    """The sum of what clients hold, where the server's share of it is a float; along a run it is what it was."""
    pattern = Periodic.staggered(n, 2)
    run = ready(name, pattern, T=50)
    found = preserved(run, range(n), [n // 2, n - n // 2])
    assert [each.factor for each in found] == factors
    moments = expectation.Moments(run)
    for moment, _ in moments.rounds():
        for each in found:
            there = moments.server + moments.rounds_of.client.variable(each.block, each.client)
            held = sum(moment.mean[there + i * moments.client] for i in range(n))
            server = moment.mean[moments.rounds_of.server.variable(each.block, each.server)]
            assert server == pytest.approx(each.factor * held, abs=1e-12)


def test_clients_are_not_taken_together():
    """Where quantities are about single clients, or clients differ in what is not linear in their state."""
    problem, pattern = groups_of_40()
    assert len(periodic._PeriodicRun(ready("fedsum", pattern, problem, T=60, K=[1, 2] * 20)).grouped.groups) == 4
    assert len(periodic._PeriodicRun(ready("fedsum", pattern, problem, T=60, K=[1, 1, 2, 2] * 10)).grouped.groups) == 8
    own = Quadratic(problem.H, problem.g, shared=1)
    assert len(periodic._PeriodicRun(ready("fedavg-p", pattern, own, T=60)).grouped.groups) == 40


def test_many_clients_many_rounds():
    """300 clients in three groups cost what three do, and a matrix of 10^9 rounds is never made."""
    problem = Quadratic(np.ones((300, 1, 1)), np.random.default_rng(0).standard_normal((300, 1)), shared=1)
    run = ready("fedsum", Periodic.staggered(300, 3), problem, T=10**9, sigma=1.0, eta_l=0.01)
    assert periodic.pays(run)
    few = Quadratic(np.ones((3, 1, 1)), problem.g.reshape(100, 3, 1).mean(axis=0), shared=1)
    # The noise of a group's mean is that of one client divided by 100.
    same = ready("fedsum", Periodic.staggered(3, 3), few, T=10**9, sigma=0.1, eta_l=0.01 / 100)
    found = periodic.average(run).metric
    assert math.isfinite(found)
    assert found > periodic.average(same).metric


def test_a_run_that_blows_up():
    """No number, and no error that says otherwise."""
    run = ready("fedsum", PATTERNS["own periods"], T=10**6, eta_l=30.0)
    found = periodic.average(run)
    assert not math.isfinite(found.metric)


def test_what_is_refused():
    """Participants that end or are drawn, and projections; and `exact_average` finds the way by itself."""
    for pattern in (Trace(np.ones((5, 3))), Trace.uniform(3, 1)):
        with pytest.raises(rc.InputError, match="do not repeat"):
            periodic.average(ready("fedavg", pattern, T=5))
    large = Quadratic.synthetic(3, 200, 200)
    with pytest.raises(rc.InputError, match="round by round"):
        periodic.average(ready("fedsum", Periodic.every([1, 2, 5]), large, T=10**6))
    problem = Quadratic.synthetic(3, 2, 2, coupling=0.4, curvature=1.0, seed=2)
    run = ready("fedsum", PATTERNS["idle"], problem, T=1000)
    found = rc.exact_average("fedsum", problem, PATTERNS["idle"], K=3, T=1000, **METHODS["fedsum"])
    assert found.metric == periodic.average(run).metric
    assert long_runs.pays(run)


@pytest.mark.parametrize("T", [10**6, 10**9])
def test_verify_over_very_many_rounds(T):
    """A theorem for any participation, by its key."""
    verdict = rc.verify("fedsum/theorem-4.1", participation=Periodic.every([1, 3, 8, 8]), N=4, T=T)
    assert verdict.outcome.value == "HOLDS"
    found = verdict.to_dict()
    assert found["engine"] == "exact"
    assert found["values"]["tau_max"] == 7
