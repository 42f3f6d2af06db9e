"""The range of a parameter over which an exponent is measured, where that around the setting is no asymptotic one.

A range is straight where left side and bound each follow one power, one term decides the bound, and the bound says more
than smoothness alone. It is chosen by that and by where it lies, never by how the two exponents compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ratecheck.exponents import parameters as varied
from ratecheck.exponents.sweep import Sweep, part

# The least ratio of the ends of a range that is chosen, and of its points the least number.
DECADE = 10.0
_FEWEST = 4
# How many times a parameter is doubled, or a step size halved, beyond the setting's range, and how many rounds that may
# take in all where they are followed one by one.
_DOUBLINGS, _FOLLOWED = 5, 60_000
_MOVED = (varied.LOCAL_STEPS, varied.ROUNDS, varied.STEP_SIZE)


def straightest(sweep: Sweep, straight: Callable[[Sweep], bool]) -> Sweep | None:
    """The part of a sweep that reaches farthest to where rates are claimed among those that are ``straight``.

    Of those that reach equally far it is the widest. It spans a decade at least. None where no part does.
    """
    count = len(sweep.values)
    # Rates are claimed towards small step sizes and towards large values of everything else.
    small = sweep.role == varied.STEP_SIZE
    ends = range(count) if small else range(count - 1, -1, -1)
    for end in ends:
        others = range(count - 1, end, -1) if small else range(end)
        for other in others:
            low, high = min(end, other), max(end, other)
            wide = sweep.values[high] >= DECADE * sweep.values[low] * (1 - 1e-9)
            if wide and high - low + 1 >= _FEWEST and straight(found := part(sweep, slice(low, high + 1))):
                return found
    return None


def beyond(sweep: Sweep, rounds: float) -> Iterator[float]:
    """Values beyond the range, towards where the rate is claimed, while the rounds that they take are affordable.

    ``rounds`` are those of the setting; where they are more than are followed one by one, an average over them costs
    little however many they are.
    """
    if sweep.role not in _MOVED:
        return
    value, factor = (float(sweep.values[0]), 0.5) if sweep.role == varied.STEP_SIZE else (float(sweep.values[-1]), 2.0)
    left = _FOLLOWED if rounds <= _FOLLOWED else math.inf
    whole = sweep.role != varied.STEP_SIZE
    for _ in range(_DOUBLINGS):
        value *= factor
        left -= value if sweep.role == varied.ROUNDS else rounds
        if left < 0:
            return
        yield float(np.round(value)) if whole else value
