"""Which part of the old version is which part of the new one: by name, then the only ones that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Part = TypeVar("Part")


@dataclass(frozen=True, kw_only=True)
class Matched(Generic[Part]):
    """``pairs`` are (old, new, how they were matched); ``gone`` and ``added`` have no partner."""

    pairs: tuple[tuple[Part, Part, str], ...]
    gone: tuple[Part, ...]
    added: tuple[Part, ...]


BY_NAME, ONLY_ONES = "by name", "the only ones left"


def last(key: str) -> str:
    """The name of a statement or of a step: what follows the last ``/`` of its key."""
    return key.rpartition("/")[2]


def match(old: Sequence[tuple[str, Part]], new: Sequence[tuple[str, Part]]) -> Matched[Part]:
    """Match (name, part) pairs, in the order of the old ones."""
    left = [*new]
    pairs: list[tuple[Part, Part, str]] = []
    gone: list[Part] = []
    for name, part in old:
        position = next((k for k, (other, _) in enumerate(left) if other == name), None)
        if position is None:
            gone.append(part)
        else:
            pairs.append((part, left.pop(position)[1], BY_NAME))
    added = [part for _, part in left]
    if len(gone) == len(added) == 1:
        pairs.append((gone.pop(), added.pop(), ONLY_ONES))
    return Matched(pairs=tuple(pairs), gone=tuple(gone), added=tuple(added))
