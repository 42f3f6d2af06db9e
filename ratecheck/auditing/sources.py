"""The sources behind a module: its own and, of the same top-level packages, all that it imports, directly or not.

They are read from the files, without importing anything, so that an import inside of a function counts as well.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path


def behind(names: Iterable[str], packages: Iterable[str]) -> dict[str, bytes]:
    """Module name -> source, of the named modules and of all that they import from the given top-level packages."""
    within, found, todo = {*packages}, {}, [*names]
    while todo:
        name = todo.pop()
        if name in found or name.partition(".")[0] not in within:
            continue
        place = _place(name)
        if place is None:
            continue
        found[name] = place.read_bytes()
        todo += [name.rpartition(".")[0], *imports(name, place)]
    return found


def imports(name: str, place: Path) -> tuple[str, ...]:
    """The names of what a module may import: for ``from a import b`` both ``a`` and ``a.b``."""
    return _imports(name, place, place.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4096)
def _imports(name: str, place: Path, _changed: int) -> tuple[str, ...]:
    package = name if place.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(place.read_bytes())
    except (SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(_named(tree, package)))


def _named(tree: ast.Module, package: str) -> Iterator[str]:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        # What is imported for annotations alone decides nothing.
        for_types = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        todo += node.orelse if isinstance(node, ast.If) and for_types else ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _place(name: str) -> Path | None:
    """The file of a module; None where there is none of that name."""
    top, *parts = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # a module that was not found by an import
        spec = None
    if spec is None or spec.origin is None:
        return None
    place = Path(spec.origin)
    for part in parts:
        if place.name != "__init__.py":
            return None
        folder = place.parent
        found = (folder / part / "__init__.py", folder / f"{part}.py")
        place = next((each for each in found if each.is_file()), folder)
    return place if place.suffix == ".py" and place.is_file() else None
