"""What other distributions add to this one: their entry points of a group such as ``ratecheck.papers``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, none of them loaded.

    The library that reads them takes half of the time of ``ratecheck --help`` to import, so it is read only where
    some file names the group.
    """
    if not any(_may_name(group, folder or ".") for folder in sys.path):
        return ()
    from importlib import metadata

    return tuple(metadata.entry_points(group=group))


def _may_name(group: str, folder: str) -> bool:
    """Whether a distribution that is installed in the folder may have such entry points: an archive may."""
    try:
        with os.scandir(folder) as found:
            places = [each.path for each in found if each.name.endswith((".dist-info", ".egg-info"))]
    except NotADirectoryError:
        return True
    except OSError:
        return False
    return any(group.encode() in _content(f"{place}/entry_points.txt") for place in places)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib takes a millisecond more to import
            return file.read()
    except OSError:
        return b""
