"""Differential evolution in the unit cube, of whole populations at a time.

R. Storn and K. Price, Differential evolution, J. Global Optimization 11 (1997): children are a parent moved along the
difference of two others, and take its place where they are no worse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ratecheck.aliases import Array

# The share of coordinates that a child takes over.
_CROSSOVER = 0.7


def evolve(
    valued: Callable[[Array], Array], population: Array, values: Array, generations: int, rng: np.random.Generator
) -> None:
    """Show ``valued`` the children (members, coordinates) of that many generations.

    ``values`` (members,) are those of the ``population``, the least being the best, and infinite where they are not
    known.
    """
    size = len(population)
    for _ in range(generations):
        best = population[int(np.argmin(values))]
        a, b = (population[rng.integers(size, size=size)] for _ in range(2))
        scale = rng.uniform(0.4, 1.0, (size, 1))
        # Half of the children start from the best point, the others from their parent on the way to it.
        base = np.where(rng.random((size, 1)) < 0.5, best, population + scale * (best - population))
        child = base + scale * (a - b)
        taken = rng.random(child.shape) < _CROSSOVER
        taken[np.arange(size), rng.integers(child.shape[1], size=size)] = True
        child = np.where(taken, child, population)
        # What leaves the cube comes back between its parent and the side that it crossed.
        side = np.clip(child, 0.0, 1.0)
        child = np.where(child == side, child, np.where(rng.random(child.shape) < 0.5, side, (side + population) / 2))
        new = valued(child)
        better = new <= values
        population, values = np.where(better[:, None], child, population), np.where(better, new, values)
