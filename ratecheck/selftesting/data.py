"""Dataclasses as JSON and back, by their types: reading a file back runs nothing that it contains."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter

Result = TypeVar("Result")


def written(value: object) -> bytes:
    """A dataclass of numbers, texts, enums, dictionaries, tuples and such dataclasses."""
    return _adapter(type(value)).dump_json((value,))


def read(content: bytes, kind: type[Result]) -> Result:
    """The inverse of `written`; raises ValueError for anything else."""
    found: Result = _adapter(kind).validate_json(content)[0]
    return found


def _adapter(kind: Any) -> TypeAdapter[tuple[Any]]:
    # Settings are those of what a dataclass stands in.
    return TypeAdapter(tuple[kind], config=ConfigDict(ser_json_inf_nan="constants"))
