"""Participation matrices: given, in files, and as text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.caching import bytes_of, opened
from ratecheck.errors import InputError
from ratecheck.inputs import described, floats
from ratecheck.participation.model.pattern import Matrix


def zeros_and_ones(name: str, given: ArrayLike) -> Matrix:
    """The matrix (rounds, n) of what is given; raises `InputError` for another shape and for other entries."""
    array = floats(name, given)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name} has the shape {array.shape}: it has to be T x n (rounds x clients)")
    if not np.isin(array, (0, 1)).all():
        t, i = (int(k) for k in np.argwhere(~np.isin(array, (0, 1)))[0])
        raise InputError(f"{name}: participation of client {i} in round {t} is {array[t, i]:g}, not 0 or 1")
    return array.astype(np.bool_)


def as_text(rows: Matrix) -> list[str]:
    """A string of zeros and ones per round."""
    return ["".join("01"[taken] for taken in row) for row in rows.tolist()]


def of_text(rows: Sequence[str]) -> list[list[int]]:
    """The inverse of `as_text`; raises `InputError` for other letters."""
    if wrong := [row for row in rows if set(row) - {"0", "1"}]:
        raise InputError(f"participation: the row {wrong[0]!r} has other letters than 0 and 1")
    return [[int(taken) for taken in row] for row in rows]


def read_matrix(path: str | os.PathLike[str]) -> Matrix:
    """The matrix (T, n) of zeros and ones in a file: one row per round, one column per client.

    ``.csv``: lines such as ``1,0,1`` without a header; lines at the end may be blank. ``.npz``: its only array, or the
    one called ``matrix``.

    Raises `InputError` in one line, with the file and, where there is one, the row and column (counting from 1), for
    another suffix, a file that cannot be read, no rows, rows of different length, and entries other than 0 and 1.
    """
    try:
        file = Path(path)
    except TypeError:
        raise InputError(f"path={path!r}: needed the path of a .csv or .npz file") from None
    readers = {".csv": _csv, ".npz": _npz}
    shown = " ".join(str(file).split())
    if file.suffix.lower() not in readers:
        raise InputError(f"{shown}: needed a .csv or .npz file")
    try:
        return readers[file.suffix.lower()](file, shown)
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror or error}") from None


def _csv(file: Path, shown: str) -> Matrix:
    try:
        text = bytes_of(file).decode("utf-8-sig")
    except ValueError:
        raise InputError(f"{shown}: is not a text file") from None
    lines = text.rstrip().splitlines()
    if not lines:
        raise InputError(f"{shown}: holds no rows")
    width = lines[0].count(",") + 1
    rows = np.empty((len(lines), width), dtype=np.bool_)
    for t, line in enumerate(lines):
        entries = [entry.strip() for entry in line.split(",")]
        for i, entry in enumerate(entries):
            if entry not in ("0", "1"):
                raise InputError(f"{shown}: row {t + 1}, column {i + 1} is {described(entry)}; needed 0 or 1")
        if len(entries) != width:
            raise InputError(f"{shown}: row {t + 1} has {len(entries)} columns, row 1 has {width}")
        rows[t] = [entry == "1" for entry in entries]
    return rows


def _npz(file: Path, shown: str) -> Matrix:
    try:
        # Opened here: NumPy leaves a file open that turns out to be no archive.
        with opened(file) as stored, np.load(stored, allow_pickle=False) as arrays:
            name = arrays.files[0] if len(arrays.files) == 1 else "matrix"
            array = np.asarray(arrays[name])
    except KeyError:
        raise InputError(f"{shown}: holds several arrays or none; needed one, or one called 'matrix'") from None
    except OSError:
        raise
    except Exception:  # noqa: BLE001  # the reader reports bad bytes by whatever its parser meets first
        raise InputError(f"{shown}: is not a .npz file of numbers") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{shown}: the array holds {array.dtype}; needed booleans or numbers")
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{shown}: the array has the shape {array.shape}; needed T x n, both at least 1")
    good: Any = np.isin(array, (0, 1))
    if not good.all():
        t, i = (int(k) for k in np.argwhere(~good)[0])
        raise InputError(f"{shown}: row {t + 1}, column {i + 1} is {described(str(array[t, i]))}; needed 0 or 1")
    return array.astype(np.bool_)
