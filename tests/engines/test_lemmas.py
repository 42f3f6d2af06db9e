"""Lemma quantities of the exact engine against a plain simulation of the paper's definitions."""

import numpy as np
import pytest

from ratecheck.algorithms.model.algorithm import RECORDS
from ratecheck.engines import setup
from ratecheck.engines.moments import lemmas
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

N, D, SHARED, K, T = 3, 4, 2, 3, 4
STEPS = {"gamma_u": 0.05, "gamma_v": 0.04, "eta_u": 1.6, "eta_v": 2.0}  # gamma = 0.08 both ways
GAMMA = 0.08
PROBLEM = Quadratic.synthetic(N, D, SHARED, coupling=0.5, curvature=0.7, seed=4)


def simulate(algorithm, trace, sigma, rng):
    """One run; the quantities of `bounds.symbols` per round, straight from the paper's definitions."""
    H, g = PROBLEM.H, PROBLEM.g
    rate = trace.rate
    noise = np.r_[np.full(SHARED, sigma / np.sqrt(SHARED)), np.full(D - SHARED, sigma / np.sqrt(D - SHARED))]
    x = np.zeros((N, D))  # (u, v_i) per client; the u parts stay equal

    def gradient(i, w):
        return H[i] @ w - g[i]

    def value(points):
        return np.mean([w @ H[i] @ w / 2 - g[i] @ w for i, w in enumerate(points)])

    def oracle(i, w):
        return gradient(i, w) + noise * rng.standard_normal(D)

    u, v = slice(None, SHARED), slice(SHARED, None)
    last = np.repeat(x[:, None], K, axis=1)
    c_i = np.array([np.mean([oracle(i, x[i])[u] for _ in range(K)], axis=0) for i in range(N)])
    c = c_i.mean(axis=0)
    rows = []
    for t in range(T):
        members = sorted(rng.permutation(N)[: trace.m]) if hasattr(trace, "m") else np.flatnonzero(trace.matrix[t])
        local, end = np.empty((N, K, D)), np.empty((N, D))
        for i in range(N):  # the virtual sequence of every client
            w = x[i].copy()
            for k in range(K):
                local[i, k] = w
                step = oracle(i, w)
                if algorithm == "scaffold-p":
                    step[u] += c - c_i[i]
                w = w - np.r_[np.full(SHARED, STEPS["gamma_u"]), np.full(D - SHARED, STEPS["gamma_v"])] * step
            end[i] = w
        sums = np.array([sum(gradient(i, w) for w in local[i]) for i in range(N)])
        before = np.array([sum(gradient(i, w) for w in last[i]) for i in range(N)])
        now = np.array([gradient(i, x[i]) for i in range(N)])
        mean_u, controlled = now[:, u].mean(axis=0), (sums - before)[:, u]
        new = x.copy()
        new[:, u] += STEPS["eta_u"] * np.mean([end[i][u] - x[i][u] for i in members], axis=0)
        for i in members:
            new[i, v] += STEPS["eta_v"] * (end[i][v] - x[i][v])
        rows.append(
            {
                "G_u": mean_u @ mean_u,
                "G_v": np.sum(now[:, v] ** 2) / N,
                "B": np.sum(now[:, u] ** 2),
                "E": np.sum((local - x[:, None]) ** 2),
                "C": np.sum((last - x[:, None]) ** 2),
                "T_1u": -GAMMA / N * np.sum(sums[:, u] @ mean_u),
                "T_1v": -GAMMA * rate / N * np.sum(now[:, v] * sums[:, v]),
                "T_2u": GAMMA**2 / N**2 * np.sum(sums[:, u].sum(axis=0) ** 2),
                "T_2v": GAMMA**2 * rate / N * np.sum(sums[:, v] ** 2),
                "T_3u": np.sum((sums[:, u] - sums[:, u].mean(axis=0)) ** 2),
                "S_3u": np.sum((controlled - controlled.mean(axis=0)) ** 2),
                "descent": value(new) - value(x),
                "inner_u": mean_u @ (new - x)[0, u],
                "inner_v": np.sum(now[:, v] * (new - x)[:, v]) / N,
                "du2": np.sum((new - x)[0, u] ** 2),
                "dv2": np.sum((new - x)[:, v] ** 2) / N,
            }
        )
        fresh = {i: c_i[i] - c + (x[i][u] - end[i][u]) / (K * STEPS["gamma_u"]) for i in members}
        c = c + sum(fresh[i] - c_i[i] for i in members) / N
        for i in members:
            c_i[i], last[i] = fresh[i], local[i]
        x = new
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def expected(algorithm, trace, sigma):
    """The same from the exact engine."""
    ready = setup.prepare(
        algorithm, PROBLEM, trace, K=K, T=T, noise={"sigma_u": sigma, "sigma_v": sigma}, step_sizes=STEPS
    )  # fmt: skip
    return lemmas.expect(ready).records


def test_what_is_remembered_changes_nothing_else():
    """Where nothing of earlier rounds is asked for the state is smaller, and what is asked for is the same."""
    ready = setup.prepare(
        "scaffold-p", PROBLEM, Trace.uniform(N, 2), K=K, T=T, noise={"sigma_u": 0.3, "sigma_v": 0.2}, step_sizes=STEPS
    )  # fmt: skip
    fewer, every = lemmas.expect(ready, {"T_3u", "descent"}), lemmas.expect(ready)
    assert fewer.records.keys() == {*RECORDS, "T_3u", "descent"} <= every.records.keys()
    for name, values in fewer.records.items():
        allowed = fewer.errors[name] + every.errors[name]
        assert (np.abs(values - every.records[name]) <= allowed).all(), name
        assert (fewer.errors[name] <= 1e-7 * np.abs(values).max() + 1e-12).all(), name


@pytest.mark.parametrize("algorithm", ["fedavg-p", "scaffold-p"])
def test_without_noise(algorithm):
    """On a given trace and without noise, every quantity agrees to rounding."""
    trace = Trace([[1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 0, 0]])
    exact, plain = expected(algorithm, trace, 0.0), simulate(algorithm, trace, 0.0, np.random.default_rng(0))
    assert plain.keys() == exact.keys()
    for name, values in plain.items():
        # T_1v and T_2v carry the average share of clients, which a given trace has only on average.
        np.testing.assert_allclose(exact[name], values, rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.every(2)
@pytest.mark.parametrize("algorithm", ["fedavg-p", "scaffold-p"])
def test_with_noise_and_sampling(algorithm):
    """With noise and random clients, the mean over many plain runs agrees within its confidence band."""
    trace, runs = Trace.uniform(N, 2), 1500
    exact, rng = expected(algorithm, trace, 0.8), np.random.default_rng(7)
    samples = [simulate(algorithm, trace, 0.8, rng) for _ in range(runs)]
    worst = {}
    for name, values in exact.items():
        drawn = np.array([sample[name] for sample in samples])
        error = drawn.std(axis=0, ddof=1) / np.sqrt(runs)
        worst[name] = np.max(np.abs(drawn.mean(axis=0) - values) / (error + 1e-12))
    # 2 x 16 x 4 comparisons: 4.2 standard errors are exceeded by chance with probability about 0.4%.
    assert max(worst.values()) < 4.2, worst


def test_what_stays_at_rest_is_zero_within_its_error():
    """From the common minimiser control variates cancel every local step, however large the clients' gradients are."""
    problem = Quadratic([[[1.0]], [[0.0088]]], [[-2.588], [2.588]], shared=1)
    steps = {"gamma_u": 5.5e-4, "gamma_v": 3.9e-4, "eta_u": 1.0, "eta_v": 2**0.5}
    ready = setup.prepare("scaffold-p", problem, Trace.uniform(2, 1), K=16, T=14, noise=0.0, step_sizes=steps)
    found = lemmas.expect(ready)
    for name in ("G_u", "C", "E", "S_3u", "T_2u", "du2", "descent"):
        assert (np.abs(found.records[name]) <= found.errors[name]).all(), name
        assert (found.errors[name] < 1e-22).all(), name
