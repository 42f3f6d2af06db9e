"""Compilation of kernels, with an on-disk cache that a changed source can never be served from.

Numba's own cache looks only at the file of the compiled function: after an edit of a callee in another file it keeps
returning the old numbers. A damaged file of it ends every later run, and where its folder cannot be written it writes
into the installation. Here the cache folder's name contains a hash of all kernel sources, so any edit starts a new
folder; an entry that is not as it was written is dropped and compiled again; and a folder that cannot be written means
that every run compiles.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba

from ratecheck import caching

Function = Callable[..., Any]

_FOLDER = Path(__file__).parent
# The versions of Numba with which the LLVM code and the cache were tested: from the first, before the second.
_TESTED = (0, 60), (0, 69)
# "plain" or "llvm" chooses the kernels whatever the version of Numba.
_CHOICE = "RATECHECK_KERNELS"
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def known() -> bool:
    """Whether Numba's internals are those that the LLVM code and the cache were written for."""
    version = tuple(int(part) for part in numba.__version__.split(".")[:2])
    return _TESTED[0] <= version < _TESTED[1]


def by_hand() -> bool:
    """Whether kernels are made of hand-written LLVM code, and not of its twin in plain Numba."""
    choice = os.environ.get(_CHOICE, "")
    return choice == "llvm" or (known() and choice != "plain")


def cache_folder() -> Path | None:
    """The cache folder of the kernel sources as they are now, below ``RATECHECK_CACHE`` or the user's cache folder."""
    root = caching.cache_root()
    return None if root is None else root / f"kernels-{version()}"


def version() -> str:
    """A hash of all kernel sources, with which of them are used and the versions of what compiles them."""
    return _hashed("llvm" if by_hand() else "plain")


@functools.cache
def _hashed(chosen: str) -> str:
    """The hash of the sources as this process found them: what it compiles was read then."""
    compilers = f"{numba.__version__} {llvmlite.__version__} {platform.python_version()} {platform.machine()}"
    digest = hashlib.sha256(f"{chosen} {compilers}".encode())
    for source in sorted(_FOLDER.rglob("*.py")):
        digest.update(str(source.relative_to(_FOLDER)).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class LazyKernel:
    """A function that is compiled when it is called, or when a kernel that calls it is.

    What Numba prepares of a function costs as much as to import a module, and most runs call few kernels.
    """

    def __init__(self, function: Function, *, apart: bool) -> None:
        functools.update_wrapper(self, function)
        self._apart = apart

    @functools.cached_property
    def _compiled(self) -> Any:
        """The function for Python, whose calls by kernels go to another, without what reads Python's arguments."""
        function: Function = self.__wrapped__
        jit: Any = numba.njit
        compiled = jit(**_OPTIONS)(function)
        folder = cache_folder() if known() else None
        if folder is None:
            return compiled
        from ratecheck.kernels.machine_code import KernelCache, serve_kernels

        part = jit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
        # As `Dispatcher.enable_caching` does, with a cache of ours.
        compiled._cache = KernelCache(function, folder)  # noqa: SLF001
        part._cache = KernelCache(function, folder, part=True, apart=self._apart)  # noqa: SLF001
        serve_kernels(compiled, part)
        return compiled

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function's result."""
        return self._compiled(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        """What Numba asks a compiled function for, its type first."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled, name)


def kernel(function: Function) -> Function:
    """Compile without the interpreter lock and without floating-point shortcuts; callers have a copy of the code.

    No fast-math: a lane's result must not depend on whether it was computed in a vector register or in a remainder
    loop, since that depends on how replicates are split into blocks.
    """
    return LazyKernel(function, apart=False)


def kernel_apart(function: Function) -> Function:
    """Compile as `kernel`, once for all callers: for what is large, so that no caller compiles it anew."""
    return LazyKernel(function, apart=True)


def underway() -> bool:
    """Whether something is being compiled at this moment; False where that is not known."""
    if not known():
        return False
    from ratecheck.kernels import machine_code

    return machine_code.underway()
