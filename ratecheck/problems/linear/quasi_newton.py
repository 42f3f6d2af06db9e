"""L-BFGS with a line search by halving: `scipy.optimize`, which takes as long to import as a data set to minimise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ratecheck.aliases import Array

# Pairs of steps and changes of the gradient that are kept, and how often a step is halved.
_KEPT, _HALVINGS = 10, 40
# A step has to fall by this share of what the slope promises; where a run ends: gradients, and relative falls.
_SHARE, _STEEP, _FALL = 1e-4, 1e-9, 1e-15


def minimised(value: Callable[[Array], tuple[float, Array]], x: Array, iterations: int) -> Array:
    """A point near a minimiser of a smooth function, from x on; ``value`` is the function with its gradient.

    After so many iterations at most. Where the function is not convex the point need not be near a minimiser.

    >>> minimised(lambda x: (float(x @ x), 2 * x), np.array([3.0, -4.0]), 20)
    array([0., 0.])
    """
    height, slope = value(x)
    pairs: list[tuple[Array, Array, float]] = []
    for _ in range(iterations):
        if np.abs(slope).max(initial=0.0) <= _STEEP:
            break
        step = _direction(slope, pairs)
        falls = float(step @ slope)
        share = 1.0 if pairs else min(1.0, 1.0 / float(np.linalg.norm(slope)))
        for _ in range(_HALVINGS):
            found, there = value(x + share * step)
            if found <= height + _SHARE * share * falls:
                break
            share /= 2
        else:
            break
        moved, turned = share * step, there - slope
        enough = height - found > _FALL * max(abs(height), abs(found), 1.0)
        x, height, slope = x + moved, found, there
        if not enough:
            break
        curved = float(moved @ turned)
        if curved > 0:
            pairs = [*pairs[1 - _KEPT :], (moved, turned, 1.0 / curved)]
    return x


def _direction(slope: Array, pairs: list[tuple[Array, Array, float]]) -> Array:
    """Against the gradient, by the inverse Hessian that the pairs approximate."""
    found, shares = -slope, []
    for moved, turned, inverse in reversed(pairs):
        shares.append(inverse * float(moved @ found))
        found = found - shares[-1] * turned
    if pairs:
        _, turned, inverse = pairs[-1]
        found = found / (inverse * float(turned @ turned))
    for (moved, turned, inverse), share in zip(pairs, reversed(shares), strict=True):
        found = found + (share - inverse * float(turned @ found)) * moved
    return found
