"""Compilation of kernels, with an on-disk cache that a changed source can never be served from.

Numba's own cache looks only at the file of the compiled function: after an edit of a callee in another file it keeps
returning the old numbers. Here the cache folder's name contains a hash of all kernel sources, so any edit starts a new
folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from ratecheck.caching import cache_root

Function = Callable[..., Any]

_FOLDER = Path(__file__).parent


def cache_folder() -> Path:
    """The cache folder of the kernel sources as they are now, below ``RATECHECK_CACHE`` or the user's cache folder."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(_FOLDER.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return cache_root() / f"kernels-{digest.hexdigest()[:16]}"


def kernel(function: Function) -> Function:
    """Compile without the interpreter lock and without floating-point shortcuts.

    No fast-math: a lane's result must not depend on whether it was computed in a vector register or in a remainder
    loop, since that depends on how replicates are split into blocks.
    """
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)(function)
    finally:
        config.CACHE_DIR = before
