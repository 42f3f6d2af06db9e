"""Something done many times over, by doubling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Step = TypeVar("Step")


def repeated(step: Step, times: int, then: Callable[[Step, Step], Step]) -> Step:
    """A step ``times`` >= 1 times over, ``then(a, b)`` being a and then b: O(log times) of these.

    >>> repeated(3, 5, lambda a, b: a * b)
    243
    """
    found: Step | None = None
    while True:
        if times & 1:
            found = step if found is None else then(found, step)
        times >>= 1
        if not times:
            assert found is not None
            return found
        step = then(step, step)
