"""TOML files, and their tables checked by models; what is wrong becomes one line that names the table and the key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ratecheck.errors import InputError, did_you_mean, unread

_Model = TypeVar("_Model", bound=BaseModel)
_BARE = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NEEDED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list in brackets",
    "tuple_type": "a list in brackets",
    "dict_type": "a table",
    "model_type": "a table",
}
_LIMITS = {
    "greater_than": (">", "gt"),
    "greater_than_equal": (">=", "ge"),
    "less_than": ("<", "lt"),
    "less_than_equal": ("<=", "le"),
}


# How deep tables and lists lie in one another at most: a study needs five levels.
_DEEPEST = 32


def read_toml(path: Path) -> dict[str, Any]:
    """The file's top table; raises `InputError` where it cannot be read, is not TOML, or is nested too deeply."""
    too_deep = f"{path} is no study: tables or arrays in one another, more than {_DEEPEST} deep"
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"no study file {path}") from None
    except RecursionError:
        raise InputError(too_deep) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise InputError(f"{path} is not TOML: {unread(error)}") from None
    # Dotted keys nest without recursion; what follows a value into its depth does not.
    level: list[Any] = [found]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
        level = [each for each in level if isinstance(each, (dict, list))]
    if level:
        raise InputError(too_deep)
    return found


def checked(model: type[_Model], data: dict[str, Any], place: str) -> _Model:
    """The table at ``place`` (the file and the way to the table) as a model; raises `InputError` where it is none."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # A misspelt key explains what is missing.
        first = min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
        where = _place(place, data, first)
        raise InputError(f"{where}: {_problem(model, first, where.rpartition(': ')[2])}") from None


def shown(value: object) -> str:
    """A value in a message: in one line, and cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no whole number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 40 else text[:37] + "..."


def no_word(word: str, known: list[str]) -> str:
    """The message on a word that is none of the known ones."""
    return f"no {shown(word)} here; {did_you_mean(word, known)}"


def bare(key: str) -> str:
    """A key in a message: in quotes where TOML needs them."""
    return key if _BARE.fullmatch(key) else shown(key)


def _place(place: str, data: Any, error: ErrorDetails) -> str:
    """The place of an error, in words: tables by their names, other entries of lists by the list's key.

    The way to an error also goes through the names of alternatives, which are no keys of the data.
    """
    way = error["loc"]
    said = error["type"] in ("missing", "extra_forbidden")  # the message has the last key
    for step, part in enumerate(way[:-1] if said else way, start=1):
        # A key of the file's own may be wrong by its absence.
        if isinstance(data, dict) and isinstance(part, str) and (part in data or step == 1):
            place, data = f"{place}: {bare(part)}", data.get(part)
        elif isinstance(data, list) and isinstance(part, int):
            data = data[part]
            if isinstance(data, dict):
                name = data.get("name")
                place += f" {shown(name)}" if isinstance(name, str) and name.strip() else f" number {part + 1}"
    return place


def _problem(model: type[BaseModel], error: ErrorDetails, key: str) -> str:
    """The fault of the value of the key, or of the table."""
    kind, way, value = error["type"], error["loc"], error["input"]
    if kind == "missing":
        return f"the key {way[-1]!r} is missing"
    if kind == "extra_forbidden":
        return f"unknown key {shown(way[-1])}; {did_you_mean(str(way[-1]), _keys(model, way[:-1]))}"
    if kind == "too_short":
        return "the list is empty"
    if kind in _LIMITS:
        sign, limit = _LIMITS[kind]
        return f'{shown(value)} breaks "{key} {sign} {error["ctx"][limit]:g}"'
    if kind in _NEEDED:
        return f"{_NEEDED[kind]} is needed, not {shown(value)}"
    # What models say in words of their own.
    return str(error["ctx"]["error"]) if kind == "value_error" else f"{error['msg']}, not {shown(value)}"


def _keys(model: type[BaseModel], way: tuple[int | str, ...]) -> set[str]:
    """The keys that the table at the end of the way may have."""
    models = [model]
    for part in way:
        fields = [each.model_fields[part] for each in models if isinstance(part, str) and part in each.model_fields]
        models = [inner for field in fields for inner in _models(field.annotation)] or models
        # Of several, the one that was meant is next on the way.
        models = [each for each in models if each.__name__ == part] or models
    return {key for each in models for key in each.model_fields}


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
