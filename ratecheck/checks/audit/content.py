"""What the verdict on a step depends on, as a hash: its own content and, for functions, the sources behind them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import mpmath
import numpy as np
import scipy
import sympy as sp

import bounds.proofs
from bounds.proofs.step import Step

_FOLDER = Path(__file__).parent


@functools.cache
def checker_digest() -> str:
    """A hash of the sources of the checkers and of the form of a ledger, and of the libraries' versions."""
    digest = hashlib.sha256()
    for library in (sp, np, scipy, mpmath):
        digest.update(f"{library.__name__} {library.__version__}\0".encode())
    forms = Path(bounds.proofs.__file__).parent
    sources = [
        *sorted(_FOLDER.glob("*.py")),
        _FOLDER.parent / "certificate.py",
        _FOLDER.parent / "polynomial.py",
        *(forms / f"{name}.py" for name in ("step", "vectors", "draw", "participation")),
    ]
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def step_digest(step: Step) -> str:
    """A hash of everything that the verdict on a step depends on but the checkers."""
    return hashlib.sha256(canonical(step).encode()).hexdigest()[:24]


def canonical(value: Any) -> str:
    """A text that is the same for the same content in every process."""
    for kinds, text in _TEXTS:
        if isinstance(value, kinds):
            return text(value)
    if dataclasses.is_dataclass(value):
        parts = [f"{f.name}={canonical(getattr(value, f.name))}" for f in dataclasses.fields(value)]
        return f"{type(value).__name__}({', '.join(parts)})"
    return repr(value)


def _mapping(value: Mapping[Any, Any]) -> str:
    items = sorted((canonical(k), canonical(v)) for k, v in value.items())
    return "{" + ", ".join(f"{k}: {v}" for k, v in items) + "}"


def _partial(value: functools.partial[Any]) -> str:
    return f"partial({canonical(value.func)}, {canonical(value.args)}, {canonical(value.keywords)})"


def _function(function: FunctionType) -> str:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    inside = "recursive" if function in cells else canonical(cells)
    named = f"{function.__module__}.{function.__qualname__}"
    code = _code(function.__code__)
    return f"{named}({code}, {inside}, {canonical(function.__defaults__ or ())}, {module_digest(function.__module__)})"


_TEXTS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (sp.Basic, sp.srepr),
    (Enum, lambda value: f"{type(value).__name__}.{value.name}"),
    (Mapping, _mapping),
    ((tuple, list), lambda value: "(" + ", ".join(map(canonical, value)) + ")"),
    (functools.partial, _partial),
    (FunctionType, _function),
)


def _code(code: CodeType) -> str:
    constants = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


@functools.cache
def module_digest(name: str) -> str:
    """A hash of a module's source and of those that it takes things from, within the same top-level package."""
    seen: dict[str, bytes] = {}
    todo = [name]
    top = name.partition(".")[0]
    while todo:
        current = todo.pop()
        module = sys.modules.get(current)
        if module is None or current in seen:
            continue
        seen[current] = _source(module)
        for value in vars(module).values():
            other = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(other, str) and other.partition(".")[0] == top:
                todo.append(other)
    digest = hashlib.sha256()
    for each in sorted(seen):
        digest.update(each.encode() + b"\0" + seen[each] + b"\0")
    return digest.hexdigest()[:24]


def _source(module: ModuleType) -> bytes:
    try:
        file = inspect.getsourcefile(module)
    except TypeError:
        return b""
    return Path(file).read_bytes() if file else b""


def sources_digest(module: str, find: Callable[[str], Any]) -> str:
    """A hash of every source that a ledger may be made of: its top-level package, without importing it."""
    spec = find(module.partition(".")[0])
    digest = hashlib.sha256(checker_digest().encode())
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    sources = [path for place in places for path in sorted(Path(place).rglob("*.py"))]
    if spec is not None and not places and spec.origin:
        sources = [Path(spec.origin)]
    for source in sources:
        digest.update(str(source).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:24]
