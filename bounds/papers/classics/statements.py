"""All classics, in the order of the chapters and of their files."""

from __future__ import annotations

import importlib
import pkgutil
from types import MappingProxyType

from bounds.papers import classics
from bounds.papers.classics.known import Classic
from bounds.papers.classics.symbols import VOCABULARY
from bounds.statement import Statement

TITLE = "Classics: well-known theorems with their known worst cases"
LEFT_OUT: tuple[tuple[str, str], ...] = ()
# In this order; every file of a chapter has its own, as CLASSICS.
_CHAPTERS = (
    "smooth_convex",
    "strongly_convex",
    "smooth_nonconvex",
    "nonsmooth",
    "proximal",
    "accelerated",
    "fixed_points",
    "federated",
)


def _of_chapter(name: str) -> tuple[Classic, ...]:
    chapter = importlib.import_module(f"{classics.__name__}.{name}")
    files = sorted(module.name for module in pkgutil.iter_modules(chapter.__path__))
    found: list[Classic] = []
    for file in files:
        # A chapter may have a file with what its theorems share.
        found += getattr(importlib.import_module(f"{chapter.__name__}.{file}"), "CLASSICS", ())
    return tuple(found)


CHAPTERS: MappingProxyType[str, tuple[Classic, ...]] = MappingProxyType({name: _of_chapter(name) for name in _CHAPTERS})
CLASSICS: tuple[Classic, ...] = tuple(each for chapter in CHAPTERS.values() for each in chapter)
STATEMENTS: tuple[Statement, ...] = tuple(each.statement for each in CLASSICS)

__all__ = ["CHAPTERS", "CLASSICS", "LEFT_OUT", "STATEMENTS", "TITLE", "VOCABULARY"]
