"""The code that runs here: machines that share work have to have the same."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from functools import cache
from pathlib import Path

# What a number may depend on.
_LIBRARIES = ("llvmlite", "mpmath", "numba", "numpy", "scipy", "sympy", "z3-solver")
_PACKAGES = ("bounds", "ratecheck")


@cache
def fingerprint() -> dict[str, str]:
    """Versions of Python and of libraries by name, and hashes of this program's sources."""
    found = {"Python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    root = Path(__file__).parents[2]
    for package in _PACKAGES:
        digest = hashlib.sha256()
        for source in sorted((root / package).rglob("*.py")):
            digest.update(str(source.relative_to(root)).encode() + b"\0" + source.read_bytes() + b"\0")
        found[f"the sources of {package}"] = digest.hexdigest()[:12]
    return found


def differences(mine: dict[str, str], other: dict[str, str]) -> str:
    """The differences, in words; empty where there are none."""
    return ", ".join(
        f"{name}: {other.get(name)} there, {mine[name]} here" for name in mine if mine[name] != other.get(name)
    )
