"""Where results are kept between runs, and how: a cache that is damaged or cannot be written costs time, nothing else.

An entry carries the hash of its own content. What is cut off, edited or unreadable counts as absent, is computed again
and replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

_MARK = b"ratecheck 1 "


def cache_root() -> Path | None:
    """``RATECHECK_CACHE``, or ratecheck's part of the user's cache folder; None where there is no such folder."""
    root = os.environ.get("RATECHECK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "ratecheck"
    try:
        return Path(root).expanduser()
    except RuntimeError:  # no home
        return None


def read(path: Path) -> bytes | None:
    """What `write` put there; None for anything else."""
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return content if head == _head(content) else None


def write(path: Path, content: bytes) -> bool:
    """Keep it in one motion, so that no reader sees half of it; whether that was possible."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, _head(content) + b"\n" + content)
        return True
    return False


def _head(content: bytes) -> bytes:
    return _MARK + hashlib.sha256(content).hexdigest().encode()


def replace(path: Path, content: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write beside a file, then move: no reader and no interruption ever meets half of it.

    ``content`` may be a function that writes.
    """
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
        with contextlib.suppress(OSError):
            # The permissions of what is replaced.
            part.chmod(path.stat().st_mode & 0o777)
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
