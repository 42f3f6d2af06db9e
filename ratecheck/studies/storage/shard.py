"""One of several parts of a study, as an array of jobs runs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ratecheck.errors import InputError

T = TypeVar("T")

_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """Part ``number``, from 1, of ``count``."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """From a text such as "3/100"; raises `InputError` for anything else."""
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise InputError(f"--shard {text}: needed is NUMBER/COUNT, such as 3/100 for the third of 100 parts")
        number, count = map(int, found.groups())
        if not 1 <= number <= count:
            raise InputError(f"--shard {text} breaks 1 <= NUMBER <= COUNT: NUMBER={number}, COUNT={count}")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, items: Sequence[T]) -> list[T]:
        """The shard's part of a sequence, which is dealt in turn."""
        return list(items[self.number - 1 :: self.count])
