"""Which methods there are, asked by what reads a user's own statements.

Theory knows no methods: whoever runs them registers the function that knows, by its place ``module:function``, and it
is imported when a statement names a method.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

_PLACES: list[str] = []


def register(place: str) -> None:
    """Let the function at ``place``, such as ``ratecheck.algorithms:method``, raise `InputError` for unknown names."""
    _PLACES[:] = [place]


def check(name: str | None) -> None:
    """Raise `InputError` for a name that no method has; without whoever runs them, any may be one."""
    for place in _PLACES if name is not None else ():
        module, _, function = place.partition(":")
        known: Callable[[str | None], object] = getattr(importlib.import_module(module), function)
        known(name)
