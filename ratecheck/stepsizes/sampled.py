"""Admissible values of one step size by sampling, where a condition is not monotone in it and has no one interval.

A condition such as gamma (1 - 2 L gamma) > 1/(10 L) holds between two values; it is evaluated on a logarithmic grid,
and the ends of the longest stretch of admissible values are found by bisection.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.stepsizes.interval import Interval

# Values that are tried, four of each power of 10, and halvings of what lies between two of them.
_GRID = tuple(float(x) for x in np.logspace(-12, 6, 73))
_HALVINGS = 30
# The same of a step size that is chosen later, of which there has to be one.
_LATER = tuple(float(x) for x in np.logspace(-4, 2, 25))


def sampled(statement: Statement, name: str, values: Mapping[str, float], later: Sequence[str] = ()) -> Interval | None:
    """The longest stretch of admissible values of a step size at these numbers; None where no value was found.

    Conditions that lack a symbol of those chosen ``later`` have to hold for some value of each of these. An end of the
    grid is taken to be none: beyond it the interval is open.
    """
    inside = [_admits(statement, {**values, name: x}, later) for x in _GRID]
    stretches = [
        [k for k, _ in run] for good, run in itertools.groupby(enumerate(inside), lambda each: each[1]) if good
    ]
    if not stretches:
        return None
    longest = max(stretches, key=len)
    ends = []
    for good, step in ((longest[0], -1), (longest[-1], 1)):
        if not 0 <= good + step < len(_GRID):
            ends.append(0.0 if step < 0 else math.inf)
            continue
        held, failed = _GRID[good], _GRID[good + step]
        for _ in range(_HALVINGS):
            middle = math.sqrt(held * failed)
            if _admits(statement, {**values, name: middle}, later):
                held = middle
            else:
                failed = middle
        ends.append(held)
    low, high = ends
    return Interval(low, high)


def _admits(statement: Statement, given: Mapping[str, float], later: Sequence[str]) -> bool:
    """Whether no condition is broken that has a value, for some value of what is chosen later."""
    try:
        found, _ = statement.complete(given)
    except InputError:
        return False
    known = [each for each in statement.hypotheses if each.symbols <= found.keys()]
    if not all(each.check(statement.key, found).holds for each in known):
        return False
    other = next((each for each in later if each not in found), None)
    if other is None or len(known) == len(statement.hypotheses):
        return True
    return any(_admits(statement, {**found, other: x}, ()) for x in _LATER)
