"""A study that extends another one: what its file gives takes the place of what the other file has.

    extends = "other.toml"          # in the folder of this file, or below it
    name = "..."                    # always its own
    [replace] OLD = "NEW"           # words, such as algorithms, in runs, varied values and the curves of claims

A table is filled up with the other's keys; anything else that is given, lists of figures and of claims too, replaces
the other's whole, an empty list takes it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ratecheck.errors import InputError
from ratecheck.studies.reading import checked, read_toml
from ratecheck.studies.storage.entries import FileName, Text, Word

# How many files extend one another at most.
_LONGEST = 32


class _Extension(BaseModel):
    """The keys of a file that extends another one; the rest is checked once it is filled up."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    extends: Word
    name: FileName
    replace: dict[str, Text] = {}


def read_study(path: Path) -> dict[str, Any]:
    """The top table of a study's file with what it extends; raises `InputError`, also where files extend each other."""
    return _read(path, ())


def _read(path: Path, extended_by: tuple[Path, ...]) -> dict[str, Any]:
    data = read_toml(path)
    if "extends" not in data:
        return data
    extension = checked(_Extension, data, str(path))
    chain, other = (*extended_by, path.resolve()), path.parent / extension.extends
    if not other.resolve().is_relative_to(path.parent.resolve()):
        raise InputError(f"{path}: extends: {extension.extends!r} is not in the folder of this file, as it has to be")
    if other.resolve() in chain:
        raise InputError(
            f"{path}: extends: {other} extends this file in turn; a study extends one that stands without it"
        )
    if len(chain) > _LONGEST:
        raise InputError(f"{path}: extends: more than {_LONGEST} files extend one another, as many as there may be")
    own = {key: value for key, value in data.items() if key not in ("extends", "replace")}
    found = _filled(own, _with(_read(other, chain), extension.replace))
    return {key: value for key, value in found.items() if value != []}


def _filled(own: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` where it has a key, else ``base``; tables likewise, key by key."""
    found = {**base, **own}
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            found[key] = _filled(value, base[key])
    return found


def _with(base: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The study with other words in its runs, its varied values and the curves of its claims."""
    parts = {"figure": ("run", "values"), "claim": ("curves", "against")}
    found = {**base, "run": _replaced(base.get("run", {}), names)}
    for key, inside in parts.items():
        if isinstance(base.get(key), list):
            found[key] = [_inside(table, inside, names) for table in base[key]]
    return found


def _inside(table: Any, keys: tuple[str, ...], names: Mapping[str, str]) -> Any:
    # What is no table is left to the checks of the study.
    if not isinstance(table, dict):
        return table
    return {key: _replaced(value, names) if key in keys else value for key, value in table.items()}


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_replaced(each, names) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, names) for key, each in value.items()}
    return names.get(value, value) if isinstance(value, str) else value
