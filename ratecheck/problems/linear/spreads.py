"""Bounds of gradients ``sum_l s_l a_l`` over sparse rows whose slopes s_l lie anywhere between two numbers each.

``rows`` is a CSR matrix (N, features); ``low`` and ``high`` are (N, outputs), with the rows' weights in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ratecheck.algebra.one_dimensional import ternary_each
from ratecheck.aliases import Array

_STEPS = 40


def ends(rows: Any, low: Array, high: Array) -> tuple[Array, Array]:
    """The least and the largest value of each coordinate of the sum, (features, outputs)."""
    positive, negative = rows.maximum(0), rows.minimum(0)
    return positive.T @ low + negative.T @ high, positive.T @ high + negative.T @ low


def steepest(rows: Any, low: Array, high: Array) -> float:
    """A bound of the length of the sum."""
    least, most = ends(rows, low, high)
    box = float(np.linalg.norm(np.maximum(-least, most)))
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    longest = np.linalg.norm(np.maximum(-low, high), axis=1)
    return min(box, float(longest @ lengths)) * (1 + 1e-12)


def box_spread(rows: list[Any], bounds: list[tuple[Array, Array]]) -> float:
    """A bound of ``sqrt((1/n) sum_i |g_i - mean g|^2)`` for the sums g_i of n clients.

    A coordinate of g_i lies between two numbers. The spread about the mean is at most that about any centre m:
    ``sum_j min_m (1/n) sum_i max((low_ij - m)^2, (high_ij - m)^2)``.
    """
    pairs = [ends(each, *slopes) for each, slopes in zip(rows, bounds, strict=True)]
    low, high = (np.stack([pair[side].ravel() for pair in pairs]) for side in (0, 1))

    def spread(m: Array) -> Array:
        return np.asarray(np.square(np.maximum(np.abs(low - m), np.abs(high - m))).mean(axis=0))

    # Any m is valid, so that stopping early costs tightness only.
    return float(np.sqrt(spread(ternary_each(spread, low.min(axis=0), high.max(axis=0), 60)).sum())) * (1 + 1e-12)


def ball_spread(rows: list[Any], bounds: list[tuple[Array, Array]], free: Array) -> float:
    """The bound of `box_spread` by Minkowski: the spread of the sums with slopes in the middle, and ``free`` (n,).

    These bound ``|sum_l t_l a_l|`` for slopes t_l off the middle.
    """
    middle = np.stack([(each.T @ (0.5 * (low + high))).ravel() for each, (low, high) in zip(rows, bounds, strict=True)])
    fixed = np.square(middle - middle.mean(axis=0)).sum(axis=1).mean()
    return float(np.sqrt(fixed) + np.sqrt(np.square(free).mean())) * (1 + 1e-12)


def sample_spread(rows: Any, low: Array, high: Array, longest: Array) -> float:
    """A bound of ``sqrt(Var_l(s_l a_l))``, l uniform over the rows; ``longest`` (N,) bounds the length of s_l.

    The variance is at most the mean square distance from any centre m, and with one output the square is largest at an
    end: ``Var <= (1/N) sum_l max(|low_l a_l - m|^2, |high_l a_l - m|^2)``, minimised over m by subgradient steps, of
    which the best counts. With several outputs m = 0.
    """
    if len(low) == 1:
        return 0.0
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    best = float((np.square(longest) * squares).mean())
    if low.shape[1] == 1:
        low, high = low[:, 0], high[:, 0]
        m = rows.T @ (0.5 * (low + high)) / len(low)
        for step in range(_STEPS):
            along = rows @ m
            at_low, at_high = low * (low * squares - 2 * along), high * (high * squares - 2 * along)
            best = min(best, float(m @ m + np.maximum(at_low, at_high).mean()))
            target = rows.T @ np.where(at_high > at_low, high, low) / len(low)
            m = m + (target - m) / (step + 2)
    return float(np.sqrt(best)) * (1 + 1e-12)
