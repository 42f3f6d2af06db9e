"""Search along one number: bisection on a predicate, a root in logarithms, golden sections, the smallest integer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ratecheck.aliases import Array

N = TypeVar("N", bound=Any)

_GOLDEN = (math.sqrt(5) - 1) / 2
# What a root may be wrong by, relative to its logarithm or absolute, whichever is larger; steps towards it at most.
_ROOT, _STEPS = 4e-16, 200


def arithmetic(one: N, other: N) -> N:
    """The arithmetic mean of two numbers."""
    return (one + other) / 2


def geometric(one: float, other: float) -> float:
    """The geometric mean of two positive numbers; it neither overflows nor underflows."""
    return math.sqrt(one) * math.sqrt(other)


def whole(one: N, other: N) -> N:
    """The arithmetic mean of two integers, rounded down."""
    return (one + other) // 2


def bisect(
    holds: Callable[[N], bool | None],
    inside: N,
    outside: N,
    *,
    middle: Callable[[N, N], N] = arithmetic,
    close: Callable[[N, N], bool] = lambda inside, outside: False,  # noqa: ARG005  # to the last digit
    steps: int | None = None,
) -> tuple[N, N]:
    """Two numbers close to each other: ``holds`` is true of the first, which began as ``inside``, not of the second.

    Ends where they are ``close(inside, outside)``, where no number is left between them, after ``steps`` halvings and
    where ``holds`` answers None. ``holds`` is evaluated between the two numbers alone.
    """
    for _ in itertools.count() if steps is None else range(steps):
        if close(inside, outside):
            break
        between = middle(inside, outside)
        answer = holds(between) if inside < between < outside or outside < between < inside else None
        if answer is None:
            break
        inside, outside = (between, outside) if answer else (inside, between)
    return inside, outside


def bisect_each(
    holds: Callable[[Array], NDArray[np.bool_]], inside: Array, outside: Array, steps: int
) -> tuple[Array, Array]:
    """`bisect` for every entry of arrays of one shape."""
    import numpy as np

    for _ in range(steps):
        middle = arithmetic(inside, outside)
        answer = holds(middle)
        inside, outside = np.where(answer, middle, inside), np.where(answer, outside, middle)
    return inside, outside


def smallest_integer(holds: Callable[[int], bool], largest: int, stride: float) -> int | None:
    """The smallest integer from 1 on that ``holds`` is true of, if it stays true; None where there is none.

    Candidates grow by the factor ``stride`` up to ``largest``; the last step is bisected.
    """
    low, high = 0, 1
    while not holds(high):
        if high == largest:
            return None
        low, high = high, min(max(high + 1, int(high * stride)), largest)
    return bisect(holds, high, low, middle=whole)[0]


def golden_sections(
    function: Callable[[float], float], left: float, right: float
) -> Iterator[tuple[float, float, tuple[tuple[float, float], tuple[float, float]]]]:
    """Ever shorter intervals around a minimum of a unimodal function, each with (value, place) of two inner points."""
    one, two = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    at_one, at_two = function(one), function(two)
    while True:
        yield left, right, ((at_one, one), (at_two, two))
        if at_one <= at_two:
            right, two, at_two = two, one, at_one
            one = right - _GOLDEN * (right - left)
            at_one = function(one)
        else:
            left, one, at_one = one, two, at_two
            two = left + _GOLDEN * (right - left)
            at_two = function(two)


def ternary_each(function: Callable[[Array], Array], left: Array, right: Array, steps: int) -> Array:
    """Near-minimisers of convex functions, one for every entry of the arrays."""
    import numpy as np

    for _ in range(steps):
        third = (right - left) / 3.0
        higher = function(left + third) > function(right - third)
        left, right = np.where(higher, left + third, left), np.where(higher, right, right - third)
    return np.asarray(0.5 * (left + right))


def crossing(gap: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a monotone function of a positive number, from the side where it is not positive.

    Chandrupatla's bracketing on the logarithm: a product of powers is linear there and found at once.
    Source: Chandrupatla, Adv. Eng. Software 28 (1997), 145-149.
    """
    a, b, at_a, at_b = math.log(low), math.log(high), gap(low), gap(high)
    inside = low if at_a <= 0.0 else high
    if (at_a > 0.0) == (at_b > 0.0):
        return inside
    c, at_c, t = a, at_a, 0.5
    if math.isfinite(at_a) and math.isfinite(at_b):
        t = at_a / (at_a - at_b)
    for _ in range(_STEPS):
        width = abs(b - a)
        tolerance = _ROOT * max(1.0, abs(a), abs(b))
        if width <= 2 * tolerance:
            break
        t = min(max(t, tolerance / width), 1 - tolerance / width)
        log_x = a + t * (b - a)
        x = math.exp(log_x)
        at_x = gap(x)
        if at_x <= 0.0:
            inside = x
        if (at_x > 0.0) == (at_a > 0.0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = log_x, at_x
        t = _next(a, b, c, at_a, at_b, at_c)
    return inside


def _next(a: float, b: float, c: float, at_a: float, at_b: float, at_c: float) -> float:
    """Inverse quadratic interpolation where it can be trusted, the middle otherwise."""
    if not (math.isfinite(at_a) and math.isfinite(at_b) and math.isfinite(at_c)) or at_c in (at_a, at_b):
        return 0.5
    xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if not (phi * phi < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    straight = at_a / (at_b - at_a) * at_c / (at_b - at_c)
    return straight + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
