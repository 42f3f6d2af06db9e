"""Reading TOML with one-line errors: a table whose keys are taken one by one, and what is left over is unknown."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ratecheck.errors import InputError, did_you_mean

_REQUIRED: Any = object()
_KINDS = {str: "a text in quotes", list: "a list in brackets", dict: "a table", bool: "true or false"}


def read_toml(path: Path) -> Fields:
    """The file's top table; raises `InputError` where it cannot be read or is not TOML."""
    try:
        with path.open("rb") as file:
            return Fields(tomllib.load(file), str(path))
    except FileNotFoundError:
        raise InputError(f"no study file {path}") from None
    except RecursionError:
        raise InputError(f"{path} is no study: it has arrays in arrays, hundreds deep") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {' '.join(str(error).split())}") from None


class Fields:
    """One TOML table at ``place`` (the file and the way to the table, for messages).

    Every method takes a key and raises `InputError`, naming file and key, where it is missing or unusable. `finish`
    raises for keys that nobody took.
    """

    def __init__(self, data: Mapping[str, Any], place: str) -> None:
        self.data, self.place = data, place
        self._taken: set[str] = set()

    def error(self, key: str, problem: str) -> InputError:
        """The error about one key."""
        return InputError(f"{self.place}: {key}: {problem}")

    def finish(self, known: Iterable[str] = ()) -> None:
        """Raise `InputError` for the first key that nobody took; ``known`` are more keys to suggest."""
        for key in self.data:
            if key not in self._taken:
                hint = did_you_mean(key, self._taken.union(known))
                raise InputError(f"{self.place}: unknown key {key!r}; {hint}")

    def _take(self, key: str, default: Any) -> Any:
        self._taken.add(key)
        if key in self.data:
            return self.data[key]
        if default is _REQUIRED:
            raise InputError(f"{self.place}: the key {key!r} is missing")
        return default

    def _typed(self, key: str, kind: type, default: Any) -> Any:
        value = self._take(key, default)
        if value is not default and not isinstance(value, kind):
            raise self.error(key, f"{_KINDS[kind]} is needed, not {_shown(value)}")
        return value

    def text(self, key: str, default: str = _REQUIRED) -> str:
        """A text that is not empty."""
        value = self._typed(key, str, default)
        if key in self.data and not value.strip():
            raise self.error(key, "it is empty")
        return str(value)

    def word(self, key: str, known: Iterable[str], default: str = _REQUIRED) -> str:
        """One of the known words."""
        value, words = self.text(key, default), list(known)
        if value not in words:
            raise self.error(key, f"no {value!r} here; {did_you_mean(value, words)}")
        return value

    def number(
        self,
        key: str,
        default: float = _REQUIRED,
        *,
        least: float = -math.inf,
        above: float = -math.inf,
        below: float = math.inf,
    ) -> float:
        """A finite number with ``least <= value`` and ``above < value < below``."""
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.error(key, f"a number is needed, not {_shown(value)}")
        limits = ((value >= least, ">=", least), (value > above, ">", above), (value < below, "<", below))
        for holds, sign, limit in limits:
            if not holds and math.isfinite(limit):
                raise self.error(key, f'{value:g} breaks "{key} {sign} {limit:g}"')
        return float(value)

    def yes(self, key: str) -> bool:
        """True or false; false where the key is absent."""
        return bool(self._typed(key, bool, default=False))

    def whole(self, key: str, default: int = _REQUIRED, *, least: int = 1) -> int:
        """A whole number, at least ``least``."""
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(key, f"a whole number, at least {least}, is needed, not {_shown(value)}")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where the key is absent."""
        return bool(self._typed(key, bool, default=False))

    def items(self, key: str, default: list[Any] = _REQUIRED) -> list[Any]:
        """A list that is not empty."""
        values: list[Any] = self._typed(key, list, default)
        if key in self.data and not values:
            raise self.error(key, "the list is empty")
        return values

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; none where the key is absent."""
        return tuple(Fields({key: value}, self.place).text(key) for value in self.items(key, []))

    def shares(self, key: str, default: list[float]) -> tuple[float, ...]:
        """A list of numbers between 0 and 1, both excluded."""
        values = self.items(key, default)
        return tuple(Fields({key: value}, self.place).number(key, above=0, below=1) for value in values)

    def table(self, key: str) -> dict[str, Any]:
        """A table; empty where the key is absent."""
        return dict(self._typed(key, dict, {}))

    def fields(self, key: str, name: str = "") -> Fields:
        """A table to be read key by key; empty where the key is absent."""
        return Fields(self.table(key), f"{self.place}: {name or key}")

    def each(self, key: str, *, named_by: str) -> list[Fields]:
        """The tables of ``[[key]]``, placed by the value of ``named_by``, which they all have to have, each its own."""
        tables, found, names = self.items(key, []), [], set()
        for position, table in enumerate(tables, start=1):
            if not isinstance(table, dict):
                raise self.error(key, f"tables are needed, written [[{key}]]")
            name = Fields(table, f"{self.place}: {key} number {position}").text(named_by)
            if name in names:
                raise self.error(key, f"two have the {named_by} {name!r}")
            names.add(name)
            found.append(Fields(table, f"{self.place}: {key} {name!r}"))
        return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
