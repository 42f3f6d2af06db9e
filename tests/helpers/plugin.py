"""Another distribution for a test: one module and its entry points, as an installer would lay them down."""

import importlib
import sys

from ratecheck.algorithms import METHODS
from ratecheck.engines.engine import ENGINES
from ratecheck.families.registry import FAMILIES
from ratecheck.noise import build as laws
from ratecheck.participation import build as patterns
from ratecheck.problems import build as problems


def installed(monkeypatch, folder, name, source, **groups):
    """Put a module there with the given entry points, such as ``problems="mine = mine:Mine"``, and look again."""
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: A guest for a test.\n")
    sections = (f"[ratecheck.{group}]\n{entries}\n" for group, entries in groups.items())
    (info / "entry_points.txt").write_text("\n".join(sections))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    forget()


def forget():
    """Have all registries look again."""
    for registry in (METHODS, ENGINES, FAMILIES, laws.KINDS, patterns.KINDS, problems.KINDS):
        registry.forget()
