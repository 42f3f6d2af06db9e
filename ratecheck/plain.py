"""Data as JSON has them, read off frozen dataclasses by the names of their fields, and back."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from enum import Enum
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Result = TypeVar("Result")


def plain(value: Any) -> Any:  # noqa: PLR0911  # one for each kind of value
    """A value as JSON has it: what has ``fields()`` by these, another dataclass by its fields, an enum by its value.

    Tuples and arrays are lists, paths texts; infinities and NaN, which JSON lacks, are None.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "fields"):
        return plain(value.fields())
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def read(kind: type[Result], data: Any) -> Result:
    """The inverse of `plain` for a dataclass, by the types of its fields; names that it lacks are passed over.

    Raises ValueError for other data.
    """
    found: Result = _adapter(kind).validate_python(data)  # type: ignore[arg-type]  # a class is hashable
    return found


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # What is written alone needs no reader.
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def picked(value: Any, /, *names: str, **renamed: str) -> dict[str, Any]:
    """Attributes of an object by their names, then, as in ``term="row.name"``, by others or as attributes of one.

    Without an object all of them are None.
    """
    places = {**{name: name for name in names}, **renamed}
    return {name: None if value is None else attrgetter(place)(value) for name, place in places.items()}


def picked_or_none(value: Any, /, *names: str, **renamed: str) -> dict[str, Any] | None:
    """The result of `picked`; None without an object."""
    return None if value is None else picked(value, *names, **renamed)
