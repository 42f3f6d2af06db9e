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
# What PEPit's examples have besides, and why it is not here.
LEFT_OUT: tuple[tuple[str, str], ...] = (
    (
        "Polyak steps, line search on other functions than quadratics",
        "Steps from values, or by a search, are no oracle.",
    ),
    ("Frank-Wolfe", "A linear minimisation is no oracle here."),
    ("Bregman methods (NoLips, interior gradients)", "Distances are Euclidean."),
    ("Douglas-Rachford, three operators, alternating projections", "Their rates are of points that nothing records."),
    ("Block coordinate descent, Point-SAGA", "Their potentials are of blocks and memories that nothing records."),
    ("Inexact gradients and proximal steps", "The oracle's relative error is no noise."),
    ("Functions with a quadratic upper bound, with restricted secants", "Other classes of functions."),
    ("Differences of convex functions, online learning", "Their left sides are of two functions, or of changing ones."),
    ("Gradient flows", "Time is discrete."),
    ("Worst cases of low dimension", "The same theorems; dimension is free here."),
)
# In this order; every file of a chapter has its own, as CLASSICS.
_CHAPTERS = (
    "smooth_convex",
    "strongly_convex",
    "smooth_nonconvex",
    "nonsmooth",
    "proximal",
    "accelerated",
    "composite",
    "fixed_points",
    "saddle_points",
    "federated",
    "local_steps",
    "reshuffled",
    "variance_reduced",
    "compressed",
    "coordinates",
    "decentralised",
    "asynchronous",
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
