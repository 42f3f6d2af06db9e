"""A file in the making, which nobody else makes meanwhile: its lock says so, and ends with its process."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and two runs at a time may compute the same
    fcntl = None  # type: ignore[assignment]


class Part:
    """The place where a file is written; ``lock`` is a descriptor of it that is locked, None where nothing can be."""

    def __init__(self, path: Path, lock: int | None) -> None:
        self._path, self._lock, self._moved = path, lock, False

    def finish(self, content: bytes, target: Path) -> None:
        """Write the content and move it to its place, in one motion.

        Nothing waits for the disk, which takes 5 ms and more: what a loss of power takes away, its checksum misses.
        """
        # In place of what a killed process may have left of it.
        self._path.write_bytes(content)
        self._path.replace(target)
        self._moved = True

    def close(self) -> None:
        """Let others have it; what was not finished is removed."""
        if not self._moved:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)


@contextmanager
def taken(path: Path) -> Iterator[Part | None]:
    """The part at ``path`` for this block, or None where another thread or living process is at it."""
    # What cannot be made is said where the file is written.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    part = _take(path)
    try:
        yield part
    finally:
        if part is not None:
            part.close()


def _take(path: Path) -> Part | None:
    while fcntl is not None:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            break
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return Part(path, descriptor)
        except FileNotFoundError:  # whoever had it has just moved it to its place: try again
            pass
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:  # a file system without locks
            os.close(descriptor)
            break
        os.close(descriptor)
    return Part(path.with_name(f"{path.name}.{uuid.uuid4().hex}"), None)
