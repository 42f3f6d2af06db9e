"""The result store: one file per cell, named by a hash of everything that determines the result.

So an interrupted study goes on where it stopped, an edited study recomputes only what the edit touches, two stores are
merged by copying their files together, and two runs share one. A cell's result depends on its own key and on nothing
else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ratecheck import caching
from ratecheck.algorithms import Method
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.files import UnsavedError
from ratecheck.kernels.compile import version
from ratecheck.problems import Problem
from ratecheck.studies.storage.cell_file import Records, pack, read_arrays, unpack
from ratecheck.studies.storage.part import Part, taken

__all__ = ["Records", "RunStore", "cell_key", "code_version", "merged"]

# The folders of ratecheck whose code turns a setup into records.
_CODE = ("algorithms", "engines", "kernels", "noise", "participation", "problems")
# Digits of a key, and the names of files.
_KEY = 32
_NAME = re.compile(r"[0-9a-f]{32}-(\d{1,9})-(\d{1,9})\.npz", re.ASCII)
_OLD_NAME = re.compile(r"[0-9a-f]{32}\.npz")


def cell_key(setup: Setup, seed: int, test: Problem | None = None) -> str:
    """A hash of the run itself: the problem's arrays, method, step sizes, participation, start, noise, seed and code.

    Neither names of files and figures nor the number of replicates enter: a replicate depends on the seed and its own
    number alone. ``test`` has the samples on which its models are tested, if they are.
    """
    digest = hashlib.sha256(code_version().encode())
    for field in fields(setup):
        _feed(digest, field.name, getattr(setup, field.name))
    _feed(digest, "seed", seed)
    if test is not None:
        _feed(digest, "test", test)
        digest.update((Path(__file__).parents[1] / "models.py").read_bytes())
    return digest.hexdigest()[:_KEY]


@cache
def code_version() -> str:
    """A hash of all code that has a say in the records, with the versions of compiler and NumPy; any edit counts."""
    digest, package = hashlib.sha256(f"{version()} {np.__version__}".encode()), Path(__file__).parents[2]
    for source in sorted(path for folder in _CODE for path in (package / folder).glob("**/*.py")):
        digest.update(str(source.relative_to(package)).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def _feed(digest: Any, name: str, value: object) -> None:
    """Add a value with its name: arrays by content, problems and participation by their public attributes."""
    digest.update(f"\0{name} {type(value).__name__}\0".encode())
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Method):
        digest.update(value.name.encode())
    elif isinstance(value, Mapping):
        for key, inner in sorted(value.items()):
            _feed(digest, f"{name}.{key}", inner)
    elif isinstance(value, tuple):
        for position, inner in enumerate(value):
            _feed(digest, f"{name}.{position}", inner)
    elif isinstance(value, (int, float, str)) or value is None:
        digest.update(repr(value).encode())
    else:
        # Two laws of the noise may have no attributes, and differ.
        digest.update(type(value).__qualname__.encode())
        for attribute, inner in sorted(vars(value).items()):
            # What starts with an underscore is remembered of earlier questions.
            if not attribute.startswith("_"):
                _feed(digest, f"{name}.{attribute}", inner)


class RunStore:
    """A folder of cells; raises `InputError` where the folder cannot be written.

    A file ``ab/KEY-FIRST-LAST.npz`` holds the replicates from FIRST to before LAST of the cell KEY = ab..., and is
    never changed: more replicates are another file. ``damaged`` lists the files that were met and are not as they were
    written; they count as absent, and are replaced when their cell is computed again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.damaged = folder, list[Path]()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._adopt()
        except OSError as error:
            raise InputError(f"{folder} cannot be used as a folder: {error.strerror or error}") from None

    def load(self, key: str, replicates: int) -> Records | None:
        """The first replicates of a cell, as many as there are up to ``replicates``; None where there is nothing."""
        found = self.read(key, replicates)
        return None if found is None else found[0]

    def read(self, key: str, replicates: int | None = None) -> tuple[Records, dict[str, Any]] | None:
        """The first replicates of a cell with its description in words; all replicates by default."""
        files, have = self.files(key), 0
        wanted = max((last for _, last in files.values()), default=0) if replicates is None else replicates
        parts: list[Records] = []
        about: dict[str, Any] = {}
        while have < wanted:
            useful = {path: last for path, (first, last) in files.items() if first <= have < last}
            if not useful:
                break
            path = max(useful, key=lambda path: (min(useful[path], wanted), -useful[path]))
            first, last = files.pop(path)
            if (content := self._content(path, last - first)) is not None:
                records, about = content
                parts.append({name: array[have - first : wanted - first] for name, array in records.items()})
                have = last
        return (merged(*parts), about) if parts else None

    def cells(self) -> list[str]:
        """Every cell of which there is a file."""
        return sorted({path.name[:_KEY] for path in self.folder.glob("??/*.npz") if _NAME.fullmatch(path.name)})

    def count(self, key: str) -> int:
        """The number of first replicates of a cell by the names of its files."""
        have = 0
        for first, last in sorted(place for path, place in self.files(key).items() if path.is_file()):
            have = max(have, last) if first <= have else have
        return have

    def files(self, key: str) -> dict[Path, tuple[int, int]]:
        """The files of a cell, each with its first replicate and the one after its last."""
        names = {path: _NAME.fullmatch(path.name) for path in (self.folder / key[:2]).glob(f"{key}-*.npz")}
        return {path: (int(name[1]), int(name[2])) for path, name in names.items() if name}

    def taken(self, key: str) -> AbstractContextManager[Part | None]:
        """The right to compute a cell, for the block; None where another run is at it."""
        return taken(self.folder / key[:2] / f".{key}.part")

    def save(self, part: Part, key: str, first: int, records: Records, about: Mapping[str, Any]) -> None:
        """Write the replicates of a cell from ``first`` on; ``about`` says in words what it is.

        Raises `UnsavedError`, an `InputError`, where the file cannot be written.
        """
        count = len(next(iter(records.values())))
        target = self.folder / key[:2] / f"{key}-{first}-{first + count}.npz"
        try:
            part.finish(pack(target.name, records, about), target)
            for path in self.damaged:
                if path != target and path.name.startswith(key):
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise UnsavedError(f"{target} cannot be written: {error.strerror or error}") from None

    def _content(self, path: Path, count: int) -> tuple[Records, dict[str, Any]] | None:
        try:
            content = unpack(path.name, caching.bytes_of(path))
        except FileNotFoundError:
            return None
        except OSError:
            content = None
        # Of another shape than it says: whole, but nothing of ours.
        if content is None or next(iter(content[0].values())).shape != (count, content[1].get("T")):
            if path not in self.damaged:
                self.damaged.append(path)
            return None
        return content

    def _adopt(self) -> None:
        """Give the files of earlier versions, ``KEY.npz`` without a checksum, their present place and form."""
        for path in self.folder.glob("*.npz"):
            if not _OLD_NAME.fullmatch(path.name):
                continue
            try:
                found = read_arrays(caching.bytes_of(path))
            except OSError:  # another run is at it, or it is no file of ours
                continue
            if found is None:
                self.damaged.append(path)
            else:
                with self.taken(path.stem) as part:
                    if part is None:
                        continue
                    self.save(part, path.stem, 0, *found)
            path.unlink(missing_ok=True)


def merged(*parts: Records) -> Records:
    """The replicates of one after those of the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
