"""The file of a cell: an ``.npz`` archive that ends with the checksum of its name and of all bytes before.

The checksum is the archive's comment, so `numpy.load` reads the file too. The same content is the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ratecheck.aliases import Array

Records = dict[str, Array]

# What says in words what the cell is, beside the arrays.
_ABOUT = "about"
_HEX = 64


def pack(name: str, records: Records, about: Mapping[str, Any]) -> bytes:
    """The file called ``name``: records (replicates, T), and what they are as JSON."""
    words = np.array(json.dumps(about, sort_keys=True))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        # By hand, because NumPy and newer versions of Python may write the time of day.
        for member, array in {_ABOUT: words, **records}.items():
            with archive.open(zipfile.ZipInfo(f"{member}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
        archive.comment = bytes(_HEX)
    # In its place at the end: a cell has megabytes, which are not copied once more for it.
    with buffer.getbuffer() as content:
        content[-_HEX:] = _checksum(name, content[:-_HEX])
    return buffer.getvalue()


def unpack(name: str, content: bytes) -> tuple[Records, dict[str, Any]] | None:
    """Records and what they are; None where the content is not as `pack` made it, under that name."""
    with memoryview(content) as view:
        whole = view[-_HEX:] == _checksum(name, view[:-_HEX])
    return read_arrays(content) if whole else None


def read_arrays(content: bytes) -> tuple[Records, dict[str, Any]] | None:
    """Records of a cell without its checksum, which files of earlier versions lack; None where they cannot be read."""
    if not content.startswith(b"PK"):
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {member: stored[member] for member in stored.files}
        about = json.loads(str(arrays.pop(_ABOUT)))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    shapes = {array.shape for array in arrays.values()}
    floats = all(array.dtype == np.float64 for array in arrays.values())
    whole = floats and len(shapes) == 1 and len(*shapes) == 2 and isinstance(about, dict)
    return (arrays, about) if whole else None


def _checksum(name: str, body: memoryview) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(body)
    return digest.hexdigest().encode()
