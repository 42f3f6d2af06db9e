"""Laws of how many clients come, each on its own."""

from __future__ import annotations

import numpy as np

from ratecheck.aliases import Array


def count_probabilities(p: Array) -> Array:
    """P(|S| = c) for c = 0 ... n, clients being independent."""
    counts = np.zeros(len(p) + 1)
    counts[0] = 1.0
    for probability in p:
        counts[1:] = (1 - probability) * counts[1:] + probability * counts[:-1]
        counts[0] *= 1 - probability
    return counts


def inclusion_by_count(p: Array) -> tuple[Array, Array, Array]:
    """P(|S| = c), P(i in S, |S| = c) and P(i, j in S, |S| = c): arrays (n+1,), (n+1, n) and (n+1, n, n)."""
    n = len(p)
    one, two = np.zeros((n + 1, n)), np.zeros((n + 1, n, n))
    for i in range(n):
        rest = np.delete(p, i)
        one[1:, i] = p[i] * count_probabilities(rest)
        two[:, i, i] = one[:, i]
        for j in range(i):
            both = p[i] * p[j] * count_probabilities(np.delete(rest, j))
            two[2:, i, j] = two[2:, j, i] = both
    return count_probabilities(p), one, two
