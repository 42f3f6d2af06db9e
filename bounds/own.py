"""Statements of a user's own, in a Python file: ``path/to/file.py:name`` stands where a key of the catalogue stands."""

from __future__ import annotations

import functools
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from bounds.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from bounds.statement import Statement

SUFFIX = ".py"


def is_own(key: str) -> bool:
    """Whether the key names a file, with or without the name of a statement in it."""
    return key.endswith(SUFFIX) or key.rpartition(":")[0].endswith(SUFFIX)


def statements(path: str) -> tuple[Statement, ...]:
    """All statements that the file at ``path`` defines, in its order; raises `InputError` where there are none."""
    found = tuple(_named(path).values())
    if not found:
        raise InputError(f"{path} defines no statement: assign a bounds.statement.Statement to a name in it")
    return found


def get(key: str) -> Statement:
    """The statement ``path/to/file.py:name``.

    Raises `InputError` where the file does not exist or does not run (with its line and error), or has no statement of
    that name.
    """
    path, _, name = (key, "", "") if key.endswith(SUFFIX) else key.rpartition(":")
    known = _named(path)
    if name in known:
        return known[name]
    if not known:
        raise InputError(f"{path} defines no statement: assign a bounds.statement.Statement to a name in it")
    if not name:
        raise InputError(f"which statement of {path}? give {path}:{next(iter(known))}; it has {', '.join(known)}")
    raise InputError(f"no statement {name!r} in {path}; {did_you_mean(name, known)}")


def addresses(path: str) -> dict[str, Statement]:
    """What `get` takes for each of the statements that the file defines."""
    return {f"{path}:{name}": statement for name, statement in _named(path).items()}


def _named(path: str) -> dict[str, Statement]:
    """The statements of a file by the name under which it defines them."""
    from bounds.statement import Statement

    return {name: value for name, value in vars(_module(path)).items() if isinstance(value, Statement)}


@functools.cache
def _module(path: str) -> ModuleType:
    """Run the file as a module of its own, which is not found by imports."""
    place = Path(path)
    if not place.is_file():
        raise InputError(f"no file {path!r}: give path/to/file.py:name, or a key that 'ratecheck list' prints")
    spec = importlib.util.spec_from_file_location(f"_own_statements_{place.stem}", place.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the user's code may raise anything
        raise InputError(f"{path} does not run: {_where(error, place)}{type(error).__name__}: {error}") from None
    finally:
        sys.dont_write_bytecode = written
    return module


def _where(error: BaseException, place: Path) -> str:
    """The last line of the file that the error passed through."""
    if isinstance(error, SyntaxError):
        return "" if error.lineno is None else f"line {error.lineno}, "
    own = str(place.resolve())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
    return f"line {lines[-1]}, " if lines else ""
