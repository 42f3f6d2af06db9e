"""The finished parts of a self-test that was interrupted: it goes on where it stopped.

A file for each part, with its checksum, in a folder that is named by a hash of the arguments, of all code and of the
user's files that are tested: what was found under other circumstances is not taken up. A self-test that comes to
its end leaves nothing.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bounds
from ratecheck import caching
from ratecheck.caching import Store
from ratecheck.selftesting.data import Result, read, written

_LIBRARIES = ("mpmath", "numba", "numpy", "scipy", "sympy")


class Kept:
    """Results by the name of the part, in ``folder``; nothing is kept where that is None."""

    def __init__(self, folder: Path | None, key: str) -> None:
        self._store = Store(folder and folder / key, ".part")
        self.folder, self.found = self._store.folder, self._store.count()

    @classmethod
    def of(cls, keys: Iterable[str], plan: object) -> Kept:
        """The kept parts of a self-test of these statements."""
        root = caching.cache_root()
        return cls(None if root is None else root / "selftest", digest([*keys], plan))

    def get(self, name: str, kind: type[Result]) -> Result | None:
        """The result of a part, of a kind that is data, or None; nothing in a file is ever run."""
        content = self._store.get(name)
        try:
            return None if content is None else read(content, kind)
        except ValueError:
            return None

    def put(self, name: str, result: Any) -> None:
        """Keep the result of a part, where that is possible."""
        self._store.put(name, written(result))

    def clear(self) -> None:
        """Forget everything."""
        self._store.clear()


def digest(keys: list[str], plan: object) -> str:
    """The digest of the arguments, the versions, all code and the user's files among the keys."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES]
    digest = hashlib.sha256(repr((keys, plan, platform.python_version(), versions)).encode())
    for package in (bounds, caching):
        folder = Path(str(package.__file__)).parent
        for source in sorted(folder.rglob("*.py")):
            digest.update(str(source.relative_to(folder)).encode() + b"\0" + source.read_bytes() + b"\0")
    for key in filter(bounds.own.is_own, keys):
        digest.update(Path(bounds.own.split(key)[0]).read_bytes())
    return digest.hexdigest()[:24]
