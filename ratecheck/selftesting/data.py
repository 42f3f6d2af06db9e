"""Dataclasses as JSON and back, by their types: reading a file back runs nothing that it contains."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from enum import Enum
from typing import Any, TypeVar

Result = TypeVar("Result")


def written(value: object) -> bytes:
    """A dataclass of numbers, texts, enums, dictionaries, tuples and such dataclasses."""
    return json.dumps(_plain(value)).encode()


def read(content: bytes, kind: type[Result]) -> Result:
    """The inverse of `written`; raises ValueError, KeyError or TypeError for anything else."""
    found: Result = _made(json.loads(content), kind)
    return found


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _made(data: Any, kind: Any) -> Any:
    """The data as what a type says."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (other,) = (each for each in inside if each is not type(None))
        return None if data is None else _made(data, other)
    if origin is tuple:
        return tuple(_made(each, inside[0]) for each in data)
    if origin is dict:
        return {name: _made(each, inside[1]) for name, each in data.items()}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: _made(data[field.name], hints[field.name]) for field in dataclasses.fields(kind)})  # type: ignore[operator]
    return kind(data) if isinstance(kind, type) and issubclass(kind, Enum) else data
