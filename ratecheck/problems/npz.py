"""Arrays by name in an ``.npz`` file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ratecheck.aliases import Array
from ratecheck.caching import opened
from ratecheck.errors import InputError


def npz_arrays(path: Path, needed: Sequence[str], others: Sequence[str] = ()) -> dict[str, Array]:
    """The arrays of these names, of ``others`` those that are there.

    Raises `InputError` for a file that is missing, that cannot be read, or that lacks one that is needed.
    """
    listed = ", ".join([*needed, *others])
    try:
        # Opened here: NumPy leaves a file open that turns out to be no archive.
        with opened(path) as file, np.load(file, allow_pickle=False) as stored:
            arrays = {key: np.asarray(stored[key]) for key in (*needed, *others) if key in stored.files}
    except FileNotFoundError:
        raise InputError(f"no file {path}: such a problem file is an .npz with {listed}") from None
    except Exception as error:  # noqa: BLE001  # a damaged archive fails in many ways
        reason = error.strerror if isinstance(error, OSError) else ""
        reason = reason or str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read as an .npz file: {reason}") from None
    if missing := {*needed} - arrays.keys():
        raise InputError(f"{path} lacks {', '.join(sorted(missing))}: it needs {listed}")
    return arrays
