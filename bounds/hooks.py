"""How an object shows itself in a notebook: for each form (html, latex, markdown) the function that writes it.

What is shown does not know what shows it: the function is named by its place, ``module:function``, and imported when it
is first needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

_PLACES: dict[str, str] = {}


def register(form: str, place: str) -> None:
    """Let the function at ``place``, such as ``bounds.printing.notebook:html``, write an object in a form."""
    _PLACES[form] = place


def represented(form: str, value: object) -> str | None:
    """The object in a form; None, which a notebook takes for no such form, where no function is registered."""
    if form not in _PLACES:
        return None
    module, _, name = _PLACES[form].partition(":")
    function: Callable[[object], str] = getattr(importlib.import_module(module), name)
    return function(value)
