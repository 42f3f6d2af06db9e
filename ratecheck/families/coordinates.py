"""Coordinates of the unit cube as numbers: each a function of x in [0, 1], and the inverses that hard points need.

Ranges of several decades are logarithmic. What is hardest at an edge is at it on a stretch of the coordinate, so that
random points are there often.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ratecheck.aliases import Array
from ratecheck.participation import Graph
from ratecheck.stepsizes.interval import TINY, Interval

# A number by its coordinate.
Value = Callable[[float], float]

# A coordinate above this value is at its edge.
EDGE = 0.6
# Spans of logarithmic coordinates, as factors above and below 1.
WIDE = 1e3
# How near 0 a breakpoint is at least.
NEAREST = 0.01
# A coordinate of a curvature that is next to none, by `curvature` and by `any_curvature`.
BARELY = 0.3
# A coordinate of a noise of size 1, by `or_zero`.
OF_ONE = 0.65
# The least share of a step of mixing, and the largest of what keeps W nonnegative: clients would swap places.
_SLOWEST, _FASTEST = 0.02, 0.95
# The largest step size where any is admissible.
LARGE = 4.0
# Half the gradient of a start next to a minimiser or a zero, an exact float.
NEXT_TO_IT = 2.0**-21
# The least share of a message that is kept.
_LEAST_SHARE = 1 / 200


def curvature(x: float) -> float:
    """0, then logarithmic from 1e-3 to 1, then 1."""
    if x < 0.1:
        return 0.0
    return 1.0 if x > EDGE else WIDE ** ((x - EDGE) / (EDGE - 0.1))


def any_curvature(x: float) -> float:
    """-1 at 0, logarithmic to -1e-3 and from 1e-3 to 1, then 1."""
    if x < 0.3:
        return -(WIDE ** (-x / 0.3))
    return 1.0 if x > EDGE else WIDE ** ((x - EDGE) / (EDGE - 0.3))


def of_negative(number: float) -> float:
    """Where `any_curvature` is this negative number."""
    return -0.3 * math.log(-number) / math.log(WIDE)


def kink(x: float) -> float:
    """Both signs, logarithmic from 1e-2 to 10 away from 0."""
    size = NEAREST * 10 ** (3 * abs(2 * x - 1))
    return math.copysign(size, 2 * x - 1)


def of_kink(number: float) -> float:
    """Where `kink` is a positive number, or nearest to one that is smaller or larger."""
    return 0.5 + min(max(math.log10(number / NEAREST) / 6, 0.0), 0.5)


def slope(x: float) -> float:
    """From -1 to 1."""
    return 2 * x - 1


def centred(x: float) -> float:
    """-1 at 0, 0 in the middle, 1 at 1."""
    return max(min(3 * (x - 0.5), 1.0), -1.0) if abs(x - 0.5) > 0.1 else 0.0


def side(x: float) -> Array:
    """How a noise of size 1 is shared between two entries: one alone, the other alone, and both with either sign."""
    angle = math.pi * min(max((x - 0.1) / 0.6, 0.0), 1.0)
    if 0.3 < x < 0.5:
        angle = math.pi / 2
    return np.array([round(math.cos(angle), 15), round(math.sin(angle), 15)])


def mixing_share(x: float, graph: Graph) -> float:
    """How large a step of mixing is: logarithmic to 1, then 1, then to nearly the largest that there is."""
    if x < 0.5:
        return float(_SLOWEST ** (1 - 2 * x))
    largest = 1 / (1 - float(graph.mixing.diagonal().min()))
    return 1.0 + max((x - EDGE) / (1 - EDGE), 0.0) * max(_FASTEST * largest - 1, 0.0)


def probability(x: float) -> float:
    """Linear from 0.05 to 1, then 1."""
    return 1.0 if x > EDGE else max(x / EDGE, 0.05)


def share(x: float) -> float:
    """Logarithmic from 1/200 to 1, then 1: what is kept of a message, in whose powers wrong bounds differ."""
    return 1.0 if x > EDGE else _LEAST_SHARE ** (1 - x / EDGE)


def of_share(value: float) -> float:
    """The coordinate of a `share` of at most 1."""
    return EDGE * (1 - math.log(value) / math.log(_LEAST_SHARE))


def coupling(x: float) -> float:
    """0, then linear to nearly 1, with which a Hessian is nearly singular."""
    return 0.0 if x < 0.3 else 0.999 * (x - 0.3) / 0.7


def turn(x: float) -> float:
    """1 from the edge on, -1 below 0.1, and in between 0 and then logarithmic from 1e-3."""
    if x < 0.1:
        return -1.0
    return 0.0 if x < 0.2 else 1.0 if x > EDGE else WIDE ** ((x - EDGE) / (EDGE - 0.2))


def angle(x: float) -> float:
    """Logarithmic from pi/2000 to pi/2, then pi/2."""
    return math.pi / 2 * WIDE ** (min(x / EDGE, 1.0) - 1)


def factor(x: float) -> float:
    """Logarithmic, from 1e-3 to 1e3."""
    return WIDE ** (2 * min(max(x, 0.0), 1.0) - 1)


def of_factor(number: float) -> float:
    """Where `factor` is this number."""
    return 0.5 + math.log(number) / (2 * math.log(WIDE))


def or_zero(x: float) -> float:
    """0, then logarithmic from 1e-3 to 1e3."""
    return 0.0 if x < 0.3 else factor((x - 0.3) / 0.7)


def of_or_zero(number: float) -> float:
    """Where `or_zero` is this positive number."""
    return 0.3 + 0.7 * of_factor(number)


def whole(x: float, most: float) -> float:
    """Whole numbers from 1, logarithmic."""
    return float(math.floor(math.exp(x * math.log(most + 1)) + 1e-9)) if x < 1 else float(math.floor(most))


def inside(interval: Interval, x: float) -> float:
    """A point of an interval: its upper end where there is one, else its lower one, at the edge of the coordinate.

    Without either it is at most `LARGE`, twice what gradient descent bears on the curvatures that are tried.
    """
    low, high = interval.box
    if math.isfinite(interval.high):
        floor = max(low, high / WIDE)
        return high if x > EDGE else floor * (high / floor) ** (x / EDGE)
    if low <= TINY:
        return LARGE * WIDE ** (min(x / EDGE, 1.0) - 1)
    floor = low if low > 1e-30 else 1.0
    return floor if x > EDGE else floor * WIDE ** (1 - x / EDGE)


def between(low: float | Array, high: float | Array, x: float | Array) -> Array:
    """Points between the ends of an interval, logarithmic in what they are from both; ``high`` itself at the edge.

    What a theorem divides by is often the distance to the upper end, as 1 - beta is.
    """
    floor = np.maximum(low, high / WIDE)
    middle = np.maximum(floor, high / 2)
    place = 2 * np.minimum(np.asarray(x) / EDGE, 1.0)
    near_low = floor * (middle / floor) ** np.minimum(place, 1.0)
    near_high = high - (high - middle) * WIDE ** (1 - np.maximum(place, 1.0))
    return np.asarray(np.where(np.asarray(x) > EDGE, high, np.where(place < 1, near_low, near_high)))


def apart(slopes: Array, times: float | Array) -> Array:
    """Slopes of clients, (n, ...), each so many ``times`` as far from their mean: `factor` of the coordinate spread."""
    # As `np.mean`, without what that does besides: instances are decoded by the thousand.
    mean = np.add.reduce(slopes, axis=0) / len(slopes)
    return np.asarray(mean + times * (slopes - mean))
