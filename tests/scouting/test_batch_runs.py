"""Runs of batches against plain loops: all outcomes of samples, coins and signs are enumerated, one run at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import twins
import twins_flame

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.participation import Graph
from ratecheck.scouting.bent import BentBatch
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.facts import QuadraticBatch
from ratecheck.scouting.runs import LONGEST, Batch, BatchLaw, BatchRun, orbits

N = 3


def quadratics(shared=2, seed=0):
    """Two instances of three clients with two variables, strongly convex."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2, N, 2, 2))
    H = A @ np.swapaxes(A, 2, 3) / 2 + 0.3 * np.eye(2)
    return QuadraticBatch(H, rng.normal(size=(2, N, 2)), shared, rng.normal(size=(2, 1, 2)).repeat(N, axis=1), {}, {})


def batch(name, problems, law, *, K, T, noise=(0.0, 0.0), oracle=None, **sizes):
    """The batch of a method with the same K and T everywhere; step sizes are one number per instance."""
    count, _, d = problems.g.shape
    M, c = (problems.H, problems.g) if oracle is None else oracle
    return Batch(
        METHODS[name].algorithm, (problems.d_u, d - problems.d_u), M, c, problems.H, problems.g, problems.H, problems.g,
        problems.centre, problems.lowest, {key: np.array(value, dtype=float) for key, value in sizes.items()},
        np.full((count, N), K), np.tile(noise, (count, 1)), problems.start, np.full(count, T), law,
    )  # fmt: skip


SIZES = {"gamma_u": [0.1, 0.2], "gamma_v": [0.3, 0.05], "eta_u": [1.1, 0.7], "eta_v": [0.6, 1.0]}


def one(sizes, b):
    """The step sizes of an instance."""
    return {name: value[b] for name, value in sizes.items()}


def sampled_fedavg_p(H, g, start, sigma, *, m, K, T, gamma_u, gamma_v, eta_u, eta_v):
    """E G_u, E G_v and E B over all samples of m clients and all signs of noise +-sigma of every gradient's entries."""
    u, v, chance = start[:1, :1].copy(), start[:, 1:].T.copy(), np.ones(1)
    found = []
    for t in range(T):
        gradients = np.array([H[i] @ np.stack([u[:, 0], v[:, i]]) - g[i][:, None] for i in range(N)])
        quantities = [gradients[:, 0].mean(axis=0) ** 2, (gradients[:, 1] ** 2).mean(axis=0)]
        found.append([chance @ each for each in (*quantities, (gradients[:, 0] ** 2).sum(axis=0))])
        if t + 1 == T:
            break
        samples = [*itertools.combinations(range(N), m)]
        signs = [*itertools.product((1, -1), repeat=m * K * 2)]
        ends = []
        for sample, sign in itertools.product(samples, signs):
            noise = np.reshape(sign, (m, K, 2)) * sigma
            received, personal = 0.0, v.copy()
            for place, i in enumerate(sample):
                point = np.stack([u[:, 0], v[:, i]])
                for k in range(K):
                    gradient = H[i] @ point - g[i][:, None] + noise[place, k][:, None]
                    point = point - np.array([[gamma_u], [gamma_v]]) * gradient
                received = received + point[0]
                personal[:, i] = (1 - eta_v) * v[:, i] + eta_v * point[1]
            ends.append(((1 - eta_u) * u[:, 0] + eta_u / m * received, personal))
        u = np.concatenate([end[0] for end in ends])[:, None]
        v = np.concatenate([end[1] for end in ends])
        chance = np.tile(chance, len(ends)) / len(ends)
    return np.array(found).T


def test_sampled_clients_with_noise():
    """FedAvg-P with 2 of 3 clients: every record, exactly; and the same mean by squaring."""
    problems, sigma, T = quadratics(shared=1), np.array([0.4, 0.9]), 3
    run = BatchRun(batch("fedavg-p", problems, BatchLaw(m=2), K=2, T=T, noise=sigma, **SIZES))
    names = ["G_u", "G_v", "B"]
    found, means = run.by_round(names), run.mean(names)
    for b in range(2):
        wanted = sampled_fedavg_p(
            problems.H[b], problems.g[b], problems.start[b], sigma, m=2, K=2, T=T, **one(SIZES, b)
        )
        assert found[b] == pytest.approx(wanted, rel=1e-12)
        assert means[b] == pytest.approx(wanted.mean(axis=1), rel=1e-12)


def test_control_variates_of_samples_and_of_given_clients():
    """Scaffold-P over all samples of 2 clients, and on a trace."""
    problems, T = quadratics(shared=1), 5
    samples = [np.isin(np.arange(N), sample) for sample in itertools.combinations(range(N), 2)]
    trace = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0]], dtype=bool)
    names = ["G_u", "G_v", "B"]
    for law, matrices in (
        (BatchLaw(m=2), [*itertools.product(samples, repeat=T - 1)]),
        (BatchLaw(matrices=[trace, trace]), [trace[:-1]]),
    ):
        found = BatchRun(batch("scaffold-p", problems, law, K=3, T=T, **SIZES)).by_round(names)
        for b in range(2):
            gradient = twins.quadratic(problems.H[b], problems.g[b], 1)
            u0, v0 = problems.start[b, 0, :1], problems.start[b, :, 1:]
            runs = [
                twins.scaffold_p(gradient, [*matrix, np.ones(N)], u0, v0, K=3, **one(SIZES, b)) for matrix in matrices
            ]
            for q, name in enumerate(names):
                assert found[b, q] == pytest.approx(np.mean([each[name] for each in runs], axis=0), rel=1e-11)


def test_clients_on_their_own():
    """FedAvg-P where every client comes with probability 0.3 or 0.8: all sets of every round."""
    problems, T, share = quadratics(shared=1), 4, np.array([0.3, 0.8])
    found = BatchRun(batch("fedavg-p", problems, BatchLaw(share=share), K=2, T=T, **SIZES)).by_round(["G_u", "B"])
    sets = np.array([*itertools.product((False, True), repeat=N)])
    for b in range(2):
        gradient = twins.quadratic(problems.H[b], problems.g[b], 1)
        chances = share[b] ** sets.sum(axis=1) * (1 - share[b]) ** (N - sets.sum(axis=1))
        wanted = np.zeros((2, T))
        for places in itertools.product(range(len(sets)), repeat=T - 1):
            matrix = [*sets[list(places)], np.ones(N)]
            run = twins.fedavg_p(
                gradient, matrix, problems.start[b, 0, :1], problems.start[b, :, 1:], K=2, **one(SIZES, b)
            )
            wanted += chances[list(places)].prod() * np.array([run["G_u"], run["B"]])
        assert found[b] == pytest.approx(wanted, rel=1e-11)


def test_mixing_with_a_probability():
    """Decentralised SGD: over all coins, on a path, with another probability in every instance."""
    problems, T, gamma = quadratics(), 6, [0.1, 0.2]
    W, mixes = Graph.named("path", 3, 0.3).mixing, np.array([0.3, 0.8])
    law = BatchLaw(m=N, mixing=np.array([W, W]), mixes=mixes)
    found = BatchRun(batch("dsgd", problems, law, K=1, T=T, gamma_u=gamma)).by_round(["G_u", "consensus2", "gap"])
    for b in range(2):
        H, g = problems.H[b], problems.g[b]
        best = np.linalg.solve(H.mean(axis=0), g.mean(axis=0))
        wanted = np.zeros((3, T))
        for coins in itertools.product((True, False), repeat=T):
            chance = np.prod([mixes[b] if coin else 1 - mixes[b] for coin in coins])
            x = problems.start[b].copy()
            for t, coin in enumerate(coins):
                mean = x.mean(axis=0)
                away = mean - best
                wanted[:, t] += chance * np.array([
                    np.sum((H.mean(axis=0) @ mean - g.mean(axis=0)) ** 2),
                    np.mean(np.sum((x - mean) ** 2, axis=1)),
                    away @ H.mean(axis=0) @ away / 2,
                ])  # fmt: skip
                x = x - gamma[b] * (np.einsum("nij,nj->ni", H, x) - g)
                x = W @ x if coin else x
        assert found[b, :2] == pytest.approx(wanted[:2], rel=1e-11)
        assert found[b, 2] == pytest.approx(wanted[2], rel=1e-9)


def fedsum_cr(H, g, x, matrix, *, K, eta_l, eta_g):
    """Algorithm 3 without noise; B and G_u at x^t."""
    y, h, z, last = np.zeros(2), np.zeros((N, 2)), np.tile(x, (N, 1)), np.full(N, -1)
    found = []
    for t, row in enumerate(matrix):
        gradients = np.array([H[i] @ x - g[i] for i in range(N)])
        found.append([np.sum(gradients**2), np.sum(gradients.mean(axis=0) ** 2)])
        delta = np.zeros(2)
        for i in np.flatnonzero(row):
            correction = N / (eta_g * eta_l * K) * (z[i] - x) / (t - last[i]) - h[i]
            x_i = x.copy()
            for _ in range(K):
                x_i = x_i - eta_l / N * (H[i] @ x_i - g[i] + correction)
            new = N * (x - x_i) / (eta_l * K) - correction
            delta, h[i], z[i], last[i] = delta + new - h[i], new, x, t
        y = y + delta
        x = x - eta_g * eta_l * K / N * y
    return np.array(found).T


def test_delays_of_clients_in_turn():
    """FedSUM-CR: clients in turn, and in the other instance one that comes twice and one that waits."""
    problems, T = quadratics(), 7
    turns = np.eye(N, dtype=bool)[np.arange(T) % N]
    uneven = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1]], dtype=bool)
    sizes = {"eta_l": [0.2, 0.4], "eta_g": [0.8, 0.3]}
    run = BatchRun(batch("fedsum-cr", problems, BatchLaw(matrices=[turns, uneven]), K=2, T=T, **sizes))
    found = run.by_round(["B", "G_u"])
    for b, matrix in enumerate((turns, uneven)):
        wanted = fedsum_cr(problems.H[b], problems.g[b], problems.start[b, 0], matrix, K=2, **one(sizes, b))
        assert found[b] == pytest.approx(wanted, rel=1e-10)


def test_exact_proximal_steps():
    """FLAME with exact minimisers, weights of its own for every client, everybody there and on a trace."""
    problems, T = quadratics(), 5
    lambda_, rho, alpha = np.array([1.5, 4.0]), [0.7, 2.0], np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    inverse = np.linalg.inv(problems.H + lambda_[:, None, None, None] * np.eye(2))
    oracle = lambda_[:, None, None, None] * inverse, -np.einsum("bnij,bnj->bni", inverse, problems.g)
    trace = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1], [0, 1, 0]], dtype=bool)
    for law, matrix in ((BatchLaw(m=N), np.ones((T, N))), (BatchLaw(matrices=[trace, trace]), trace)):
        made = batch(
            "flame-exact", problems, law, K=1, T=T, oracle=oracle, rho=rho, lambda_=lambda_, alpha=alpha
        )  # fmt: skip
        found = BatchRun(made).by_round(["grad_L2", "grad_theta2"])
        for b in range(2):
            H, g = problems.H[b], problems.g[b]
            run = twins_flame.flame(
                lambda i, x, H=H, g=g: H[i] @ x - g[i], matrix, problems.start[b], problems.start[b],
                K=1, eta=0.0, rho=rho[b], lambda_=lambda_[b], alpha=alpha[b],
                exact=lambda i, w, H=H, g=g, b=b: np.linalg.solve(H[i] + lambda_[b] * np.eye(2), g[i] + lambda_[b] * w),
            )  # fmt: skip
            assert found[b] == pytest.approx(np.array([run["grad_L2"], run["theta2"]]), rel=1e-10)


def derivative(kinks, curvatures, slope, x):
    """phi'(x) = slope + the integral of phi'' from 0 to x, piece by piece."""
    ends = sorted({0.0, x, *(k for k in kinks if min(x, 0.0) < k < max(x, 0.0))})
    parts = [curvatures[np.searchsorted(kinks, (a + b) / 2)] * (b - a) for a, b in itertools.pairwise(ends)]
    return slope + np.sign(x) * sum(parts)


def level(kinks, curvatures, slope, x):
    """phi(x), the trapezoid rule being exact for a derivative that is linear between breakpoints."""
    ends = sorted({0.0, x, *(k for k in kinks if min(x, 0.0) < k < max(x, 0.0))})
    slopes = [derivative(kinks, curvatures, slope, end) for end in ends]
    parts = [
        (b - a) * (p + q) / 2
        for (a, b), (p, q) in zip(itertools.pairwise(ends), itertools.pairwise(slopes), strict=True)
    ]
    return np.sign(x) * sum(parts)


def test_piecewise_quadratics():
    """FedAvg with local steps on three clients and two coordinates: squared gradients, gaps and distances."""
    rng, T, K, gamma = np.random.default_rng(4), 6, 3, [0.2, 0.5]
    kinks = np.sort(rng.normal(size=(2, N, 2, 2)), axis=3)
    curvatures, slopes = rng.uniform(0.1, 1.0, size=(2, N, 2, 3)), rng.normal(size=(2, N, 2))
    made = [rc.problems.Piecewise(kinks[b], curvatures[b], slopes[b]) for b in range(2)]
    problems = BentBatch.of(made, [{}, {}], {}, {})
    whole = batch(
        "fedavg", problems, BatchLaw(m=N), K=K, T=T, gamma_u=gamma, gamma_v=[0, 0], eta_u=[1, 1], eta_v=[1, 1]
    )
    names = ["G_u", "gap", "distance2"]
    found = problems.followed(whole, np.arange(2), lambda run: run.by_round(names))
    means = problems.followed(whole, np.arange(2), lambda run: run.mean(names))
    for b in range(2):
        parts = [[(kinks[b, i, c], curvatures[b, i, c], slopes[b, i, c]) for i in range(N)] for c in range(2)]
        wanted = np.zeros((3, T))
        for own in parts:
            low, high = -50.0, 50.0
            for _ in range(200):
                middle = (low + high) / 2
                rising = sum(derivative(*each, middle) for each in own) > 0
                low, high = (low, middle) if rising else (middle, high)
            best = sum(level(*each, low) for each in own) / N
            x = 0.0
            for t in range(T):
                wanted[0, t] += (sum(derivative(*each, x) for each in own) / N) ** 2
                wanted[1, t] += sum(level(*each, x) for each in own) / N - best
                wanted[2, t] += (x - low) ** 2
                ends = []
                for each in own:
                    y = x
                    for _ in range(K):
                        y = y - gamma[b] * derivative(*each, y)
                    ends.append(y)
                x = sum(ends) / N
        assert found[b] == pytest.approx(wanted, rel=1e-8)
        assert means[b] == pytest.approx(wanted.mean(axis=1), rel=1e-8)


def test_long_runs():
    """Means by squaring are those of the rounds; beyond what is followed one by one there is no series."""
    problems, sizes = quadratics(shared=1), {**SIZES, "gamma_v": [0.3, 0.4], "gamma_u": [0.2, 0.3]}
    names, short = ["G_u", "G_v"], LONGEST
    made = batch("fedavg-p", problems, BatchLaw(m=2), K=2, T=short, noise=[0.1, 0.2], **sizes)
    run = BatchRun(made)
    assert run.mean(names) == pytest.approx(run.by_round(names).mean(axis=2), rel=1e-9)
    long = BatchRun(batch("fedavg-p", problems, BatchLaw(m=2), K=2, T=10**4, noise=[0.1, 0.2], **sizes))
    assert np.isnan(long.by_round(names)).all()
    # From some round on nothing changes.
    settled = run.by_round(names)[:, :, -1]
    total = run.by_round(names).sum(axis=2) + (10**4 - short) * settled
    assert long.mean(names) == pytest.approx(total / 10**4, rel=1e-9)


def test_what_is_not_recorded():
    """An unknown quantity is named."""
    run = BatchRun(batch("fedavg-p", quadratics(shared=1), BatchLaw(m=2), K=2, T=2, **SIZES))
    with pytest.raises(Unscouted, match="warmth is not recorded"):
        run.by_round(["warmth"])


def test_entries_of_clients_that_are_alike_are_one():
    """Of two like clients and a third one, with two entries each, and one of the server."""
    found, alone = orbits(1, 2, (0, 0, 2)), orbits(1, 2, (0, 1, 2))
    assert len(np.unique(alone)) == 8 * 9 // 2
    # (first, second) of one client and of two are other moments; which of two comes first does not matter.
    assert found[1, 2] == found[3, 4] != found[1, 4] == found[2, 3] == found[4, 1]
    assert found[1, 5] == found[3, 5] != found[5, 5]
    assert found[0, 2] == found[0, 4] != found[0, 6]
    # 1 and the server's: 3 and, by pair of kinds, 2 + 2, of which with them 4 each; then within and between clients.
    assert len(np.unique(found)) == 3 + 2 * 4 + (3 + 3) + 3 + 4
