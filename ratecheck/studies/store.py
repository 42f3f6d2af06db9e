"""The result store: one file per cell, named by a hash of everything that determines the result.

So an interrupted study goes on where it stopped, an edited study recomputes only what the edit touches, and two stores
are merged by copying their files together. A cell's result depends on its own key and on nothing else.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ratecheck import files
from ratecheck.algorithms import Method
from ratecheck.algorithms.algorithm import RECORDS
from ratecheck.aliases import Array
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.compile import version

Records = dict[str, Array]

# The folders of ratecheck whose code turns a setup into records.
_CODE = ("algorithms", "engines", "kernels", "participation", "problems")


def cell_key(setup: Setup, seed: int) -> str:
    """A hash of the run itself: the problem's arrays, method, step sizes, participation, start, noise, seed and code.

    Neither names of files and figures nor the number of replicates enter: a replicate depends on the seed and its own
    number alone.
    """
    digest = hashlib.sha256(code_version().encode())
    for field in fields(setup):
        _feed(digest, field.name, getattr(setup, field.name))
    _feed(digest, "seed", seed)
    return digest.hexdigest()[:32]


@cache
def code_version() -> str:
    """A hash of all code that has a say in the records, with the compiler's version; any edit of it counts."""
    digest, package = hashlib.sha256(version().encode()), Path(__file__).parents[1]
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
        for attribute, inner in sorted(vars(value).items()):
            # What starts with an underscore is remembered of earlier questions.
            if not attribute.startswith("_"):
                _feed(digest, f"{name}.{attribute}", inner)


class RunStore:
    """A folder of cells; raises `InputError` where the folder cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be used as a folder: {error.strerror or error}") from None

    def path(self, key: str) -> Path:
        """The file of a cell."""
        return self.folder / f"{key}.npz"

    def load(self, key: str, replicates: int) -> Records | None:
        """The first replicates of a cell, as many as there are up to ``replicates``; None where there is nothing.

        A file that cannot be read counts as absent: it is recomputed and replaced.
        """
        try:
            # Opened here, because NumPy leaves a file that is no archive open.
            with self.path(key).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {name: stored[name][:replicates] for name in RECORDS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, key: str, records: Records, about: Mapping[str, Any]) -> None:
        """Write a cell; ``about`` says in words what it is, for people, and is never read back."""
        arrays: dict[str, Any] = {"about": np.array(json.dumps(about, sort_keys=True)), **records}
        files.save(self.path(key), lambda file: np.savez(file, **arrays))


def merged(first: Records, more: Records) -> Records:
    """The replicates of one after those of the other."""
    return {name: np.concatenate([first[name], more[name]]) for name in first}
