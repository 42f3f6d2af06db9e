"""The papers of the catalogue, a folder each, with their statements and, where there are such, proofs and tables.

A paper is a package. Its module ``statements`` has STATEMENTS, TITLE, VOCABULARY and LEFT_OUT; the others are there
where the paper has such a part: ``lookup`` with ``find(key)``, which imports less than all of them, ``implications``
with IMPLICATIONS and AUDITED, ``tables`` with TABLES, ``experiments`` with EXPERIMENTS (the settings of its own
experiments), ``proofs`` with STEPS, ``faults`` with FAULTS (what is wrong with the steps that the audit refutes),
``refuted`` with REFUTED (what the audit calls false as printed).
A package of another distribution joins by an entry point of the group ``ratecheck.papers``: its name is the paper's
key, its value the package, as in ``mine = "my_package.mine"``.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import sys
from types import ModuleType

from bounds.entry_points import entry_points
from bounds.errors import InputError, did_you_mean

# Listed first, in this order; the last stands for the other work that the papers' tables quote. Other folders follow.
CATALOGUE: tuple[str, ...] = ("pfl", "fedsum", "flame", "simfbo", "baselines")
# Statements on which the checks are tried; they are no part of the catalogue.
TEXTBOOK = "textbook"
# Well-known theorems of other work, with the worst cases that the literature knows; no part of the catalogue either.
CLASSICS = "classics"
BESIDE: tuple[str, ...] = (CLASSICS, TEXTBOOK)


@functools.cache
def packages() -> dict[str, str]:
    """Key of a paper -> its package, first the catalogue's and then those of other distributions."""
    others = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    found = {paper: f"{__name__}.{paper}" for paper in (*CATALOGUE, *others)}
    for entry in entry_points("ratecheck.papers"):
        found.setdefault(entry.name, entry.value)
    return found


def names() -> tuple[str, ...]:
    """The short names of all papers, without what stands beside the catalogue."""
    return tuple(paper for paper in packages() if paper not in BESIDE)


def module_of(paper: str, name: str) -> str:
    """The module with a part of a paper, such as ``statements``; raises `InputError` for an unknown paper."""
    if paper not in packages():
        raise InputError(f"no paper {paper!r} in the catalogue; {did_you_mean(paper, packages())}")
    return f"{packages()[paper]}.{name}"


def has(paper: str, name: str) -> bool:
    """Whether a paper has a part; raises `InputError` for an unknown paper."""
    return importlib.util.find_spec(module_of(paper, name)) is not None


def imported(paper: str) -> bool:
    """Whether this process has imported the paper's package; raises `InputError` for an unknown paper."""
    return module_of(paper, "").rstrip(".") in sys.modules


def part(paper: str, name: str) -> ModuleType:
    """A part of a paper, imported; raises `InputError` for an unknown paper."""
    return importlib.import_module(module_of(paper, name))
