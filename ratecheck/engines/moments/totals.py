"""Sums of a quantity over a run: all of it, or the rounds that delays reach back to.

For a quantity q_t of rounds t = 0 ... T (round T may be requested although T rounds, 0 ... T-1, are the run), with
tau_t as in `participation.delays.per_round` and q_-1 = 0:

* ``total``: sum_{t<T} q_t, and ``total_T``: sum_{t<=T} q_t;
* ``windows``: sum_{t<T} sum_{t-tau_t <= p < t} q_p;
* ``delayed_windows``: sum_{t<T} tau_t sum_{t-tau_t <= p < t} q_p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array
from ratecheck.participation import delays

FORMS = ("total", "total_T", "windows", "delayed_windows")


def weights(form: str, matrix: ArrayLike, T: int) -> Array:
    """The weight of every round of ``matrix`` (T or more rows) in the sum."""
    tau = delays.per_round(matrix)
    counts = np.zeros(len(tau))
    if form in ("total", "total_T"):
        counts[: T + (form == "total_T")] = 1.0
        return counts
    for t in range(T):
        counts[max(t - tau[t], 0) : t] += tau[t] if form == "delayed_windows" else 1.0
    return counts
