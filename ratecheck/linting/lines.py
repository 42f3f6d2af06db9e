"""Line numbers of a statement's fields in a user's file."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=100)
def _assignments(content: bytes) -> dict[str, ast.Assign | ast.AnnAssign]:
    """The last assignment of each name; a file that was run can be read."""
    found: dict[str, ast.Assign | ast.AnnAssign] = {}
    for node in ast.parse(content).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, (ast.Assign, ast.AnnAssign)):
                found[target.id] = node
    return found


def line_of(path: str, name: str, field: str, part: str) -> int | None:
    """The line of a part of a field, else of the field, else of the statement; None where the file does not say."""
    try:
        node = _assignments(Path(path).read_bytes()).get(name)
    except (OSError, SyntaxError, ValueError):
        return None
    if node is None:
        return None
    call = node.value
    keywords = call.keywords if isinstance(call, ast.Call) else []
    value = next((each.value for each in keywords if each.arg == field), None)
    return node.lineno if value is None else _inside(value, part) or value.lineno


def _inside(value: ast.expr, part: str) -> int | None:
    """The line of an entry: of that key in a mapping, of that text in a list."""
    if isinstance(value, ast.Dict):
        keys = [key for key in value.keys if isinstance(key, ast.Constant) and key.value == part]
        return keys[0].lineno if keys else None
    if isinstance(value, (ast.List, ast.Tuple)):
        texts = [each for each in value.elts if isinstance(each, ast.Constant) and _alike(each.value, part)]
        return texts[0].lineno if texts else None
    return None


def _alike(written: object, part: str) -> bool:
    """A condition without a name is called by what it says, which is printed in another order."""
    return isinstance(written, str) and (
        written == part or sorted(written.replace(" ", "")) == sorted(part.replace(" ", ""))
    )
