"""The key of a verdict on a step, a hash: its own content and, for functions, the sources behind them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import platform
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import mpmath
import numpy as np
import scipy
import sympy as sp

from bounds.ledger.implication import Implication
from bounds.ledger.step import Gram, Identity, Scalar, Step
from ratecheck.auditing.sources import behind

# What decides: the modules behind these have a say in a verdict, and the script with z3, which is not imported.
_DECIDING = (
    "ratecheck.auditing.finding",
    "ratecheck.auditing.export.certificates",
    "ratecheck.auditing.mutation.analysis",
    "ratecheck.algebra.positivity.z3_process",
    "ratecheck.auditing.ledger",
)
_PACKAGES = ("ratecheck", "bounds")


@functools.cache
def checker_digest() -> str:
    """A hash of the sources that decide, and of the versions of Python and of the libraries."""
    digest = hashlib.sha256(f"{platform.python_version()} {versions()}\0".encode())
    _feed(digest, behind(_DECIDING, _PACKAGES))
    return digest.hexdigest()[:16]


def versions() -> str:
    """The versions of the libraries that decide; of z3 its files too, since it is started and not imported."""
    named = [f"{library.__name__} {library.__version__}" for library in (sp, np, scipy, mpmath)]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        named.append(f"z3 {importlib.metadata.version('z3-solver')}")
    spec = importlib.util.find_spec("z3")
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent
    if folder is not None:
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
        named += [f"{path.relative_to(folder)} {path.stat().st_size}" for path in files]
        named += [hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.suffix == ".py"]
    return ", ".join(named)


def _feed(digest: Any, sources: Mapping[str, bytes]) -> None:
    for name in sorted(sources):
        digest.update(name.encode() + b"\0" + sources[name] + b"\0")


def step_digest(step: Step) -> str:
    """A hash of everything that the verdict on a step depends on but the checkers."""
    return hashlib.sha256(canonical(step).encode()).hexdigest()[:24]


def implication_digest(implication: Implication) -> str:
    """A hash of everything that the answer for an implication depends on: of the statements, all there are."""
    digest = hashlib.sha256(f"{platform.python_version()} {versions()}\0{canonical(implication)}\0".encode())
    _feed(digest, behind(("ratecheck.auditing.implications", "ratecheck.algebra.positivity.z3_process"), _PACKAGES))
    digest.update(sources_digest("bounds", importlib.util.find_spec).encode())
    return digest.hexdigest()[:24]


def formulas_alone(step: Step) -> bool:
    """Whether `step_digest` has all of a step, wherever it was written: formulas of SymPy's own, and no function."""
    checks = [check for check in (step.check, step.repaired) if check is not None]
    return all(type(check) in (Identity, Scalar, Gram) and all(map(_plain, _formulas(check))) for check in checks)


def _formulas(check: Any) -> list[sp.Expr]:
    return [side for each in (check, *check.supposed) for side in (each.left, each.right)]


def _plain(expr: sp.Expr) -> bool:
    """Whether every part of a formula is of a class of SymPy, whose behaviour its version says."""
    return all(str(type(part).__module__).partition(".")[0] == "sympy" for part in sp.preorder_traversal(expr))


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
    """A hash of a module's source and of those behind it, within the same top-level package."""
    digest = hashlib.sha256()
    _feed(digest, behind([name], [name.partition(".")[0]]))
    return digest.hexdigest()[:24]


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
