"""Machine code kept between runs and compilations counted, by what Numba does not promise to keep as it is."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core import event, serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys

from ratecheck import caching


class KernelCache(NullCache):
    """The machine code of one kernel: a file for each signature and processor, with its checksum."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._function, self._store, self._on = function, caching.Store(folder), True

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._store.folder)

    def enable(self) -> None:
        """Use the cache."""
        self._on = True

    def disable(self) -> None:
        """Compile whatever is in the cache, and keep nothing."""
        self._on = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None where there is none that is sound."""
        content = self._store.get(self._key(sig, target_context.codegen())) if self._on else None
        if content is not None:
            # What machine code calls of Numba's is its memory; what Numba can compile is not looked at before it does.
            rtsys.initialize(target_context)
            # The checksum says that it is what was written; not that this version can read it.
            with contextlib.suppress(Exception):
                return CompileResult._rebuild(target_context, *pickle.loads(content))  # noqa: S301, SLF001
        with _without_linear_algebra():
            target_context.refresh()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, where that is possible."""
        lasting = not data.library.has_dynamic_globals and all(loop.can_cache for loop in data.lifted)
        if self._on and lasting:
            self._store.put(self._key(sig, data.codegen), serialize.dumps(data._reduce()))  # noqa: SLF001

    def _key(self, sig: Any, codegen: Any) -> str:
        named = f"{self._function.__module__}.{self._function.__qualname__}"
        closure = serialize.dumps([cell.cell_contents for cell in self._function.__closure__ or ()])
        key = hashlib.sha256(f"{named} {sig} {codegen.magic_tuple()}\0".encode())
        key.update(self._function.__code__.co_code + b"\0" + closure)
        return f"{named.rpartition('ratecheck.kernels.')[2]}-{key.hexdigest()[:24]}"


@contextlib.contextmanager
def _without_linear_algebra() -> Iterator[None]:
    """Let Numba get ready without importing SciPy's linear algebra, which takes as long as all the rest.

    It only looks whether that is there, which an installed SciPy says as well; what is compiled imports it when needed.
    """
    looked = "numba.np.arraymath" in sys.modules
    if looked or importlib.util.find_spec("scipy") is None:
        yield
        return
    from numba.np import linalg

    here: Any = linalg
    known, here.ensure_blas = here.ensure_blas, lambda: None
    try:
        yield
    finally:
        # Another module may have bound it by name while it looked.
        here.ensure_blas = known
        reader: Any = sys.modules.get("numba.np.arraymath")
        if reader is not None:
            reader.ensure_blas = known


class _Underway(event.Listener):
    """Counts the compilations that are going on."""

    def __init__(self) -> None:
        self.count = 0

    def on_start(self, event: Any) -> None:
        """Count a compilation that starts."""
        self.count += 1

    def on_end(self, event: Any) -> None:
        """Count a compilation that ends."""
        self.count -= 1


_UNDERWAY = _Underway()
event.register("numba:compile", _UNDERWAY)


def underway() -> bool:
    """Whether something is being compiled at this moment."""
    return _UNDERWAY.count > 0
