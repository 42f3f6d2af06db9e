"""Machine code kept between runs and compilations counted, by what Numba does not promise to keep as it is."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import event, serialize, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import normalize_signature

from ratecheck import caching


@dataclass(frozen=True)
class Loading:
    """Machine code that other machine code calls, which has to be there first; compiled where none is kept."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        """Have it loaded or compiled."""
        getattr(importlib.import_module(self.module), self.name).for_kernels.compile(self.arguments)


def serve_kernels(compiled: Any, part: Any) -> None:
    """Have calls of the compiled function by other kernels go to ``part``, which Python cannot call."""
    compiled.for_kernels = part
    compiled.get_overload = part.get_overload
    # Numba compiles for every constant that is an argument anew; what is inlined knows its value in any case.
    compiled.get_call_template = lambda args, kws: part.get_call_template(
        tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
    )


class Apart:
    """The library of a kernel as its callers link it: without its code, which the process has once."""

    def __init__(self, library: Any, loading: Loading) -> None:
        self._library = library
        # What is kept of a caller names all that is loaded before it.
        self._reload_init = {loading, *library._reload_init}  # noqa: SLF001

    def _ensure_finalized(self) -> None:
        self._library._ensure_finalized()  # noqa: SLF001

    def _get_module_for_linking(self) -> Any:
        return self._nothing

    @cached_property
    def _nothing(self) -> Any:
        return _empty_module(self._library)


class KernelCache(NullCache):
    """The machine code of one kernel: a file for each signature and processor, with its checksum.

    A ``part`` is what kernels call; one that is ``apart`` is not copied into the machine code of those that call it.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, *, part: bool = False, apart: bool = False) -> None:
        self._function, self._store, self._on = function, caching.Store(folder), True
        self._part, self._apart = part, apart

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
                called, defined, before, parts = pickle.loads(content)  # noqa: S301
                for loading in before:
                    loading()
                # LLVM ends the process where machine code calls what is not there.
                if all(_is_there(name, target_context) for name in called):
                    target_context.codegen()._engine._defined_symbols.update(defined)  # noqa: SLF001
                    found = CompileResult._rebuild(target_context, *parts)  # noqa: SLF001
                    found.library._reload_init.update(before)  # noqa: SLF001
                    return found._replace(library=self._outside(sig, found.library))
        with _without_linear_algebra():
            target_context.refresh()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, where that is possible."""
        lasting = not data.library.has_dynamic_globals and all(loop.can_cache for loop in data.lifted)
        if self._on and lasting:
            (name, kind, (code, bitcode)), *parts = data._reduce()  # noqa: SLF001
            if self._apart or not self._part:
                # No other kernel has a copy: reading this would take longer than the machine code.
                bitcode = _empty_module(data.library).as_bitcode()
            called, defined = _names(data.library)
            before = tuple(data.library._reload_init)  # noqa: SLF001
            entry = (called, defined, before, ((name, kind, (code, bitcode)), *parts))
            self._store.put(self._key(sig, data.codegen), serialize.dumps(entry))
        if self._apart:
            for _, implementation in data.target_context._defns[data.entry_point].versions:  # noqa: SLF001
                implementation.libs = (self._outside(sig, data.library),)

    def _outside(self, sig: Any, library: Any) -> Any:
        """The library as callers link it."""
        if not self._apart:
            return library
        arguments, _ = normalize_signature(sig)
        return Apart(library, Loading(self._function.__module__, self._function.__qualname__, tuple(arguments)))

    def _key(self, sig: Any, codegen: Any) -> str:
        named = f"{self._function.__module__}.{self._function.__qualname__}"
        closure = serialize.dumps([cell.cell_contents for cell in self._function.__closure__ or ()])
        key = hashlib.sha256(f"{named} {sig} {codegen.magic_tuple()} {self._part} {self._apart}\0".encode())
        key.update(self._function.__code__.co_code + b"\0" + closure)
        return f"{named.rpartition('ratecheck.kernels.')[2]}-{key.hexdigest()[:24]}"


def _names(library: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The functions that the machine code of a library calls and does not have, and all names that it has.

    Functions of LLVM's own are not among them.
    """
    module = library._get_module_for_linking()  # noqa: SLF001
    called = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    defined = [each.name for each in (*module.functions, *module.global_variables) if not each.is_declaration]
    return tuple(called), tuple(defined)


def _empty_module(library: Any) -> Any:
    """A module of LLVM's without any code."""
    return llvm.parse_assembly(str(library.codegen._create_empty_module(library.name)))  # noqa: SLF001


def _is_there(symbol: str, target_context: Any) -> bool:
    """Whether the process has a function of this name."""
    engine = target_context.codegen()._engine  # noqa: SLF001
    return engine.is_symbol_defined(symbol) or llvm.address_of_symbol(symbol) is not None


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
