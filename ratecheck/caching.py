"""Where results are kept between runs, and how: a cache that is damaged or cannot be written costs time, nothing else.

An entry carries the hash of its own content. What is cut off, edited or unreadable counts as absent, is computed again
and replaced. That hash is no signature: verdicts are believed, and kernels run, as they are kept, so that what others
may write is not used.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

from ratecheck.errors import printable

_MARK = b"ratecheck 1 "
_NAME = re.compile(r"[\w.-]{1,150}", re.ASCII)


# The folders that were said not to be used, for the processes that this one starts as well.
_SAID = "RATECHECK_CACHE_NOT_USED"


def cache_root() -> Path | None:
    """``RATECHECK_CACHE``, or ratecheck's part of the user's cache folder, which is made where it is missing.

    None where there is no such folder, and where others may write to it, which is said once.
    """
    root = os.environ.get("RATECHECK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "ratecheck"
    try:
        place = Path(root).expanduser()
    except RuntimeError:  # no home
        return None
    with contextlib.suppress(OSError):
        _make(place)
    return place if _is_own(place) else None


def _make(folder: Path) -> None:
    """A folder, and those above it that are missing, for this user alone."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _is_own(folder: Path) -> bool:
    """Whether nobody else can change what a folder holds, or put another folder in its place; what can is said once."""
    real = Path(os.path.realpath(folder))
    open_to_others = next((each for each in real.parents if _writable_by_others(each, above=True)), None)
    if _writable_by_others(real):
        open_to_others = real
    if open_to_others is None:
        return True
    said = os.environ.get(_SAID, "").split(os.pathsep)
    if str(real) not in said and sys.stderr is not None:
        os.environ[_SAID] = os.pathsep.join([*said, str(real)])
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(
                f"note: others may write to {printable(str(open_to_others))}, so that nothing is taken from or kept in "
                f"{printable(str(folder))}: make it yours alone (chmod go-w), or set RATECHECK_CACHE to such a folder\n"
            )
    return False


def _writable_by_others(path: Path, *, above: bool = False) -> bool:
    """Whether another user than root may write to a file or folder; of a folder ``above``, replace what it holds."""
    try:
        found = path.stat()
    except OSError:  # there is nothing to be taken from
        return False
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are the user's
        return False
    if found.st_uid not in (0, os.geteuid()):
        return True
    if above and (found.st_mode & stat.S_ISVTX or (not found.st_mode & stat.S_IWOTH and _alone_in(found.st_gid))):
        return False
    return bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _alone_in(group: int) -> bool:
    """Whether a group is the one that many systems give each user, under the user's name."""
    import grp
    import pwd

    try:
        user, members = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return members.gr_name == user and {*members.gr_mem} <= {user}


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
        """The entry, or None where there is none that is as it was written, by this user."""
        content = None
        if self.folder is not None and _is_own(self.folder) and not _writable_by_others(self.path(key)):
            content = read(self.path(key))
        named, _, entry = (content or b"").partition(b"\n")
        return entry if content is not None and named == key.encode() else None

    def put(self, key: str, entry: bytes) -> None:
        """Keep an entry, for this user alone, where that is possible."""
        if self.folder is not None and _is_own(self.folder):
            write(self.path(key), key.encode() + b"\n" + entry, private=True)

    def count(self) -> int:
        """The number of files."""
        return 0 if self.folder is None else len([*self.folder.glob(f"*{self._suffix}")])

    def clear(self) -> None:
        """Forget everything."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def opened(path: Path) -> IO[bytes]:
    """A regular file, open for reading; raises `OSError` for any other, which may have no end, or nothing to read."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115  # the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no regular file")
    return file


def bytes_of(path: Path) -> bytes:
    """All that a regular file holds; raises `OSError` as `opened` does."""
    with opened(path) as file:
        return file.read()


def read(path: Path) -> bytes | None:
    """The content that `write` put there; None for anything else."""
    try:
        head, _, entry = bytes_of(path).partition(b"\n")
    except OSError:
        return None
    return entry if head == _head(entry) else None


def write(path: Path, content: bytes, *, private: bool = False) -> bool:
    """Keep it in one motion, so that no reader sees half of it; whether that was possible.

    What is ``private`` nobody but its user may write, whatever is usual for new files.
    """
    with contextlib.suppress(OSError):
        if private:
            _make(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, _head(content) + b"\n" + content, private=private)
        return True
    return False


def _head(content: bytes) -> bytes:
    return _MARK + hashlib.sha256(content).hexdigest().encode()


def replace(path: Path, content: bytes | Callable[[IO[bytes]], object], *, private: bool = False) -> None:
    """Write beside a file, then move: no reader and no interruption ever meets half of it.

    ``content`` may be a function that writes.
    """
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600 if private else 0o666)) as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
        with contextlib.suppress(OSError):
            # The permissions of what is replaced.
            if not private:
                part.chmod(path.stat().st_mode & 0o777)
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
