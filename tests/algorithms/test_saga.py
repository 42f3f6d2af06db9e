"""SAGA against an enumeration of all samples."""

import itertools

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.participation import Trace


def test_moments_are_those_of_all_samples():
    """Two of three clients in every round: E G_u by the formulas, over all sequences of samples."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 2, 2))
    quadratic = rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.1 * np.eye(2), rng.normal(size=(3, 2)), shared=2)
    M, c = quadratic.operator()
    start, gamma, T = np.array([1.0, -2.0]), 0.1, 4
    wanted = np.zeros(T)
    samples = [*itertools.combinations(range(3), 2)]
    for drawn in itertools.product(samples, repeat=T):
        x, memory = start, np.array([M[i] @ start - c[i] for i in range(3)])
        for t, sample in enumerate(drawn):
            now = np.array([M[i] @ x - c[i] for i in range(3)])
            wanted[t] += np.sum(now.mean(axis=0) ** 2) / len(samples) ** T
            chosen = list(sample)
            x = x - gamma * ((now - memory)[chosen].mean(axis=0) + memory.mean(axis=0))
            memory[chosen] = now[chosen]
    found = rc.exact("saga", quadratic, Trace.uniform(3, 2), K=1, T=T, x0=start, gamma_u=gamma)
    assert found.records["G_u"] == pytest.approx(wanted, rel=1e-12)


def test_its_noise_vanishes():
    """On clients with different minimisers, where sampling alone leaves an error."""
    quadratic = rc.problems.Quadratic.synthetic(n=4, d=3, shared=3, heterogeneity=2.0)
    run = {"K": 1, "T": 600, "gamma_u": 0.15}
    saga = rc.exact("saga", quadratic, Trace.uniform(4, 1), **run).records["G_u"]
    sampled = rc.exact("fedavg", quadratic, Trace.uniform(4, 1), eta_u=1.0, **run).records["G_u"]
    assert saga[-1] < 1e-6 * sampled[-1]
