"""Where results are kept between runs, and how: a cache that is damaged or cannot be written costs time, nothing else.

An entry carries the hash of its own content. What is cut off, edited or unreadable counts as absent, is computed again
and replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

_MARK = b"ratecheck 1 "
_NAME = re.compile(r"[\w.-]{1,150}", re.ASCII)


def cache_root() -> Path | None:
    """``RATECHECK_CACHE``, or ratecheck's part of the user's cache folder; None where there is no such folder."""
    root = os.environ.get("RATECHECK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "ratecheck"
    try:
        return Path(root).expanduser()
    except RuntimeError:  # no home
        return None


class Store:
    """Entries by key, a file each that names its key and carries a checksum; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, suffix: str = "") -> None:
        self.folder, self._suffix = folder, suffix

    @classmethod
    def of(cls, part: str, suffix: str = "") -> Store:
        """The store of one part of ratecheck below `cache_root`."""
        root = cache_root()
        return cls(root and root / part, suffix)

    def path(self, key: str) -> Path:
        """The file of an entry: named by its key where that is a name, by a hash of it otherwise."""
        assert self.folder is not None
        name = key if _NAME.fullmatch(key) else hashlib.sha256(key.encode()).hexdigest()[:24]
        return self.folder / f"{name}{self._suffix}"

    def get(self, key: str) -> bytes | None:
        """The entry, or None where there is none that is as it was written."""
        content = None if self.folder is None else read(self.path(key))
        named, _, entry = (content or b"").partition(b"\n")
        return entry if content is not None and named == key.encode() else None

    def put(self, key: str, entry: bytes) -> None:
        """Keep an entry, where that is possible."""
        if self.folder is not None:
            write(self.path(key), key.encode() + b"\n" + entry)

    def count(self) -> int:
        """How many files there are."""
        return 0 if self.folder is None else len([*self.folder.glob(f"*{self._suffix}")])

    def clear(self) -> None:
        """Forget everything."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


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
