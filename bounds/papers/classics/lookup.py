"""One classic by its key: the file that names it is imported, and not the hundred others."""

from __future__ import annotations

import importlib
from pathlib import Path

from bounds.papers import classics
from bounds.statement import Statement


def find(key: str) -> Statement | None:
    """The statement of that key; None where no file of a chapter has it, or where sources cannot be read."""
    named = f'"{key.partition("/")[2]}"'
    for folder in classics.__path__:
        for file in sorted(Path(folder).glob("*/*.py")):
            if named not in file.read_text(encoding="utf-8"):
                continue
            module = importlib.import_module(f"{classics.__name__}.{file.parent.name}.{file.stem}")
            for each in getattr(module, "CLASSICS", ()):
                if each.statement.key == key:
                    found: Statement = each.statement
                    return found
    return None
