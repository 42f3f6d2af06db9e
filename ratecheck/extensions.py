"""What a folder of this package offers, and what other distributions add to it by entry points.

An entry point of the group ``ratecheck.problems`` and the like names an object, as in ``mine = "my_package:Mine"``. The
modules of a folder are imported, and entry points loaded, when a registry is first read.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, MutableMapping
from types import ModuleType
from typing import Any, Generic, TypeVar

from bounds.entry_points import entry_points
from ratecheck.errors import InputError

T = TypeVar("T")


def modules(package: str) -> list[ModuleType]:
    """All modules of a package and of its subpackages, imported, by name."""
    folder = importlib.import_module(package)
    return [importlib.import_module(each.name) for each in pkgutil.walk_packages(folder.__path__, f"{package}.")]


def plugins(group: str) -> Iterator[tuple[str, Any]]:
    """Names and objects of the entry points of a group; raises `InputError` for one that cannot be loaded."""
    for entry in entry_points(group):
        try:
            yield entry.name, entry.load()
        except Exception as error:  # noqa: BLE001  # whatever another distribution raises
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"the entry point {entry.name!r} of {group} ({entry.value}) fails: {reason}") from None


def classes(package: str, group: str, base: type[T]) -> list[type[T]]:
    """Subclasses of ``base`` defined in the modules of a package, and those that entry points of a group name."""
    found = [
        each
        for module in modules(package)
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, base) and each.__module__ == module.__name__
    ]
    for name, each in plugins(group):
        if not (isinstance(each, type) and issubclass(each, base)):
            raise InputError(f"the entry point {name!r} of {group} names no subclass of {base.__name__}")
        found.append(each)
    return found


def by_kind(package: str, group: str, base: type[T]) -> dict[str, type[T]]:
    """The classes of `classes` that have a ``kind`` of their own, by it; the first of several counts."""
    found: dict[str, type[T]] = {}
    for each in classes(package, group, base):
        if "kind" in vars(each):
            found.setdefault(vars(each)["kind"], each)
    return found


def named(package: str, attribute: str, group: str, base: type[T]) -> list[T]:
    """The objects of a kind in the tuples of that name in the modules of a package, and those of entry points.

    An entry point names one object or several; raises `InputError` for one that names another kind.
    """
    # Modules that import a registry may have it under that name.
    tuples = (vars(module).get(attribute, ()) for module in modules(package))
    found = [each for own in tuples if isinstance(own, tuple) for each in own]
    for name, each in plugins(group):
        several = [each] if isinstance(each, base) else [*each]
        if not all(isinstance(one, base) for one in several):
            raise InputError(f"the entry point {name!r} of {group} names no {base.__name__}")
        found += several
    return found


class Registry(MutableMapping[str, T], Generic[T]):
    """Objects by name, found by ``find`` when first needed and then kept; `forget` has them looked for again.

    What is set by name, as in ``METHODS["mine"] = ...``, is there in this process.
    """

    def __init__(self, find: Callable[[], dict[str, T]]) -> None:
        self._find, self._found, self._added = find, dict[str, T](), dict[str, T]()

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __setitem__(self, name: str, value: T) -> None:
        self._added[name] = self._all()[name] = value

    def __delitem__(self, name: str) -> None:
        del self._all()[name]
        self._added.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    @property
    def built_in(self) -> frozenset[str]:
        """The names that were found, and not set."""
        return frozenset(self._all()) - frozenset(self._added)

    def forget(self) -> None:
        """Search for the entries again at the next reading."""
        self._found = {}

    def _all(self) -> dict[str, T]:
        if not self._found:
            self._found = {**self._find(), **self._added}
        return self._found
