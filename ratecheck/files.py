"""Files that are written whole or not at all, and targets that are checked before any work is done for them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ratecheck.caching import replace
from ratecheck.errors import InputError


def check_target(path: Path) -> None:
    """Raise `InputError` unless a file can be written there: known before minutes of computation.

    Folders that are missing are made when the file is written. What is no ordinary file, such as ``/dev/stdout``, needs
    no folder that can be written.
    """
    try:
        reason = _obstacle(path)
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:  # a null character
        raise InputError(f"{str(path)!r} cannot be written: {error}") from None
    if reason:
        raise InputError(f"{path} cannot be written: {reason}")


def _obstacle(path: Path) -> str:
    """Why no file can be written there, "" for no reason; raises `OSError` where the system says it."""
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.is_file():
        return ""
    place = Path(os.path.realpath(path))
    folder = next(parent for parent in place.parents if parent.exists())
    if not folder.is_dir():
        return f"{folder} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"no permission to write in {folder}"
    # Longer than the file system allows, full of what it refuses, or a link to itself.
    with contextlib.suppress(FileNotFoundError):
        path.stat()
    # Some folders take no file, whatever they permit.
    with tempfile.TemporaryFile(dir=folder):
        return ""


def check_new(path: Path) -> None:
    """Raise `InputError` unless a file can be written there that replaces nothing, in a folder that is there."""
    check_target(path)
    # A link that leads nowhere is there too.
    if path.is_symlink() or path.exists():
        raise InputError(f"{path} is there already and is left as it is: give another name")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}")


class UnsavedError(InputError):
    """A file cannot be written; ``result`` is what was found all the same, where somebody has it."""

    result: Any = None


def save(path: Path, content: str | bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file whole or not at all, its folders too; raises `UnsavedError`, an `InputError`, where that fails.

    ``content`` may be a function that writes. What is no ordinary file, such as ``/dev/stdout``, is written directly;
    a link stays a link, and what it points to is replaced.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.write(data) if isinstance(data, bytes) else data(file)
        else:
            replace(path.resolve(), data)
    except OSError as error:
        raise UnsavedError(f"{path} cannot be written: {error.strerror or error}") from None
