"""Constants of the participations of a batch of instances, (N,) each: delays, and graphs by stacked linear algebra.

Numbers are those of `ratecheck.certification.certified_constants` without their certificates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import DELAYS, ROUNDING
from ratecheck.participation import Graph, Participation, delays


def _rate(W: Array) -> Array:
    """||W - 11'/n||_2 with the margin for its rounding; 0 where W = 11'/n."""
    n = W.shape[1]
    found = np.linalg.norm(W - 1 / n, 2, axis=(1, 2)) if n > 1 else np.zeros(len(W))
    return np.where(found > 0, found * (1 + ROUNDING) + ROUNDING, 0.0)


def _change(W: Array) -> Array:
    """||I - W||_2 with the margin for its rounding; infinite where W is not symmetric."""
    found = np.linalg.norm(np.eye(W.shape[1]) - W, 2, axis=(1, 2)) * (1 + ROUNDING)
    return np.where((np.swapaxes(W, 1, 2) == W).all(axis=(1, 2)), found, np.inf)


_OF_GRAPHS: Mapping[str, Callable[[Array], Array]] = {"mixing_rate": _rate, "mixing_change": _change}


def of_patterns(fact: str, patterns: Sequence[Participation], T: Array) -> Array | None:
    """The constant of that name of every pattern in a run of T (N,) rounds.

    None for another one, and where patterns are neither graphs nor matrices.
    """
    if fact in _OF_GRAPHS and {*map(type, patterns)} == {Graph}:
        return _OF_GRAPHS[fact](np.array([each.mixing for each in patterns]))
    if fact not in DELAYS or (T < 1).any():
        return None
    matrices = [each.matrix for each in patterns if each.matrix is not None]
    if len(matrices) < len(patterns):
        return None
    counted = delays.counted_together(matrices, T.astype(np.int64))[DELAYS.index(fact)]
    return np.where([matrix.all() for matrix in matrices], 0.0, counted)
