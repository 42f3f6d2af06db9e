"""What statements ask of code that they do not know: how they are shown in a notebook, and which methods can be run.

Such a function is registered by its place, ``module:function``, and imported when it is first needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

# The names of the hooks that raise `InputError` for an unknown method, and for a key that is not in the catalogue.
METHOD, STATEMENT = "method", "statement"
_PLACES: dict[str, str] = {}


def register(name: str, place: str) -> None:
    """Let the function at ``place``, such as ``bounds.printing.notebook:html``, be the hook of that name."""
    _PLACES[name] = place


def represented(form: str, value: object) -> str | None:
    """The object in a form (html, latex, markdown, text); None without a hook, which a notebook takes for no form."""
    function = _hook(form)
    return None if function is None else str(function(value))


def check_method(name: str | None) -> None:
    """Raise `InputError` for a name that no method has; without whoever runs them, any may be one."""
    function = _hook(METHOD)
    if function is not None and name is not None:
        function(name)


def check_statement(key: str) -> None:
    """Raise `InputError` for a key that the catalogue does not have."""
    function = _hook(STATEMENT)
    if function is not None:
        function(key)


def _hook(name: str) -> Callable[..., Any] | None:
    if name not in _PLACES:
        return None
    module, _, function = _PLACES[name].partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
