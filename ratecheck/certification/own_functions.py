"""Constants that hold of weighted clients' functions f_i and of n p_i f_i alike.

A method that divides a gradient of n p_i f_i by n p_i takes its steps on f_i, and theorems about it mean the constants
of either. With s = 1/(n min p_i) >= 1, ||grad f_i|| <= s ||n p_i grad f_i||, and the noise of a gradient of f_i is at
most s times as large; so a mean of ||grad f_i||^2, by equal weights or by p_i, is at most s^2 times as large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ratecheck.aliases import Array
from ratecheck.problems import Certificate, Constant

# Unequal by no more than rounding.
_ALIKE = 1e-12
# Constants in proportion to a power of the clients' functions.
_POWERS: Mapping[str, int] = {
    **dict.fromkeys(("L", "L_u", "L_v", "L_uv", "L_vu", "sigma", "sigma_u", "sigma_v", "weak_convexity"), 1),
    **dict.fromkeys(("gradient_bound", "dissimilarity_G", "dissimilarity_B", "minimiser_heterogeneity"), 1),
    "generalized_L0": 1,
    "B_0": 2,
    "mean_B_0": 2,
}
# Those of single clients' functions that have no such power.
_OF_CLIENTS = frozenset({
    "b", "interpolation", "noise_moment", "sub_gaussian", "noise_bound", "growth_A", "growth_B", "growth_C",
    "lagrangian_gap", "joint_minimum", "inner_convexity",
})  # fmt: skip


def unequal(shares: Array) -> bool:
    """Whether weights (n,) of clients differ."""
    return bool(np.ptp(shares) * len(shares) > _ALIKE)


def of_both(fact: str, constant: Constant, shares: Array) -> Constant:
    """The constant of that fact, certified for the functions n p_i f_i, for these and for the f_i."""
    if constant.certificate is Certificate.ABSENT:
        return constant
    least, most = len(shares) * shares.min(), len(shares) * shares.max()
    why = f"{constant.reason}; of f_i and of n p_i f_i"
    if fact == "clients_strong_convexity":
        return replace(constant, value=constant.value / most, certificate=Certificate.LOWER_BOUND, reason=why)
    if power := _POWERS.get(fact):
        return replace(constant, value=constant.value / least**power, certificate=Certificate.UPPER_BOUND, reason=why)
    if fact in _OF_CLIENTS and constant.value:
        return Constant.absent(constant.name, "clients have unequal weights, and f_i another constant than n p_i f_i")
    return constant
