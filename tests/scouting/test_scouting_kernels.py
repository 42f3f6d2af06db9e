"""Kernels of batches against matrix powers and plain sums."""

from __future__ import annotations

import numpy as np
import pytest

from ratecheck.kernels import scouting as kernels


def test_repeated_maps_are_powers():
    """(I + E)^K - I and sum_{j<K} A^j M A'^j with A = I + E, for K from 0 on."""
    rng, counts = np.random.default_rng(0), np.array([0, 1, 2, 7, 100])
    E, B = 0.1 * rng.normal(size=(5, 3, 3)) - 0.3 * np.eye(3), rng.normal(size=(5, 3, 3))
    M = B @ np.swapaxes(B, 1, 2)
    change, noise = E.copy(), M.copy()
    kernels.repeated(change, noise, counts)
    for b, K in enumerate(counts.tolist()):
        A = np.eye(3) + E[b]
        powers = [np.linalg.matrix_power(A, j) for j in range(K + 1)]
        assert change[b] == pytest.approx(powers[K] - np.eye(3), rel=1e-12, abs=1e-14)
        assert noise[b] == pytest.approx(sum((P @ M[b] @ P.T for P in powers[:K]), np.zeros((3, 3))), rel=1e-12)


def test_small_changes_keep_their_digits():
    """(1 + e)^K - 1 for e = 1e-15, of which 1 + e has no digit."""
    change, noise = np.full((1, 1, 1), 1e-15), np.zeros((1, 1, 1))
    kernels.repeated(change, noise, np.array([10**6]))
    assert change[0, 0, 0] == pytest.approx(np.expm1(10**6 * np.log1p(1e-15)), rel=1e-12)


def runs(T):
    """Round maps, starts and quantities of two instances with a state of 4 entries, the last of which is 1."""
    rng, N, D, J, R = np.random.default_rng(1), 2, 4, 2, 5
    A = 0.4 * rng.normal(size=(N, 1, D, D))
    A[..., -1, :] = np.eye(D)[-1]
    F, w = 0.3 * rng.normal(size=(N, 1, J, D, D)), np.tile([0.7, -0.1], (N, 1, 1))
    F[..., -1, :] = 0.0
    B = rng.normal(size=(N, 1, D, D))
    B[..., -1, :] = 0.0
    m, C = rng.normal(size=(N, D)), np.zeros((N, D, D))
    m[:, -1] = 1.0
    C[:, :-1, :-1] = np.eye(D - 1)
    owner, constant = np.array([0, 0, 1, 1, 1]), rng.normal(size=(N, 2))
    left, right, factor = rng.normal(size=(N, R, D)), rng.normal(size=(N, R, D)), rng.normal(size=(N, R))
    return A, F, w, B @ np.swapaxes(B, 2, 3), m, C, left, right, factor, owner, constant, np.array(T)


def plain(A, F, w, Q, m, C, left, right, factor, owner, constant, T):
    """Quantities before each of T rounds of one instance, from the second moment S = E z z' alone."""
    S, found = C + np.outer(m, m), []
    for _ in range(T):
        products = factor * np.einsum("ri,ij,rj->r", left, S, right)
        found.append(constant + np.bincount(owner, products, len(constant)))
        S = A @ S @ A.T + np.einsum("j,jab,bc,jdc->ad", w, F, S, F) + Q
    return np.array(found).T


def test_rounds_and_their_means():
    """Mean and covariance, and squaring on second moments, give what one second moment gives round by round."""
    T = [7, 40]
    A, F, w, Q, m, C, left, right, factor, owner, constant, counts = runs(T)
    out = np.full((2, 2, max(T)), np.nan)
    which = np.zeros((2, max(T)), dtype=np.int64)
    kernels.rounds(A, F, w, Q, which, m, C, left, right, factor, owner, constant, counts, out)
    pairs = np.argwhere(np.triu(np.ones((4, 4))))
    assert pairs[-1].tolist() == [3, 3]
    means = np.empty((2, 2))
    place = np.array([[pairs.tolist().index(sorted((i, j))) for j in range(4)] for i in range(4)])
    maps = (A[:, 0], F[:, 0], w[:, 0], Q[:, 0], pairs, place)
    kernels.means(*maps, m, C, left, right, factor, owner, constant, counts, means)
    for b in range(2):
        wanted = plain(
            A[b, 0], F[b, 0], w[b, 0], Q[b, 0], m[b], C[b], left[b], right[b], factor[b], owner, constant[b], T[b]
        )
        assert out[b, :, : T[b]] == pytest.approx(wanted, rel=1e-11)
        assert np.isnan(out[b, :, T[b] :]).all()
        assert means[b] == pytest.approx(wanted.mean(axis=1), rel=1e-11)


def test_scheduled_rounds():
    """Two maps in a given order."""
    A, F, w, Q, m, C, left, right, factor, owner, constant, _ = runs([5, 5])
    A, F, w, Q = (np.concatenate([each, 0.5 * each], axis=1) for each in (A, F, w, Q))
    A[:, 1, -1, -1] = 1.0
    which, out = np.array([[0, 1, 1, 0, 1], [1, 0, 0, 1, 1]]), np.empty((2, 2, 5))
    kernels.rounds(A, F, w, Q, which, m, C, left, right, factor, owner, constant, np.array([5, 5]), out)
    for b in range(2):
        S = C[b] + np.outer(m[b], m[b])
        for t, k in enumerate(which[b].tolist()):
            products = factor[b] * np.einsum("ri,ij,rj->r", left[b], S, right[b])
            assert out[b, :, t] == pytest.approx(constant[b] + np.bincount(owner, products), rel=1e-11)
            S = A[b, k] @ S @ A[b, k].T + np.einsum("j,jab,bc,jdc->ad", w[b, k], F[b, k], S, F[b, k]) + Q[b, k]
