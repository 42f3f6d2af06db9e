"""ratecheck: is a convergence theorem right, how tight is it, and which step sizes does it admit.

The public names are loaded when first used, so that the command line's help costs no numerical imports.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bounds import get
    from ratecheck import participation, problems
    from ratecheck.engines import exact_average
    from ratecheck.engines import exact_moments as exact
    from ratecheck.engines import run_steps as simulate
    from ratecheck.errors import InputError

_PUBLIC: dict[str, tuple[str, str | None]] = {
    "InputError": ("ratecheck.errors", "InputError"),
    "exact": ("ratecheck.engines", "exact_moments"),
    "exact_average": ("ratecheck.engines", "exact_average"),
    "get": ("bounds", "get"),
    "participation": ("ratecheck.participation", None),
    "problems": ("ratecheck.problems", None),
    "simulate": ("ratecheck.engines", "run_steps"),
}


def require_own_bounds() -> None:
    """Raise `ImportError` with one line where the imported ``bounds`` is an unrelated package of the same name."""
    bounds = importlib.import_module("bounds")
    if getattr(bounds, "DISTRIBUTION", None) != "ratecheck":
        place = getattr(bounds, "__file__", None) or "an unknown place"
        raise ImportError(
            f"the package 'bounds' at {place} is not ratecheck's: remove it, or install ratecheck elsewhere"
        )


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ratecheck' has no attribute {name!r}")
    require_own_bounds()
    module, attribute = _PUBLIC[name]
    loaded = importlib.import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


__all__ = ["InputError", "exact", "exact_average", "get", "participation", "problems", "simulate"]
